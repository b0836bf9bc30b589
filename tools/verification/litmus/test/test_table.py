# SPDX-License-Identifier: GPL-2.0
"""The table of ordered accesses: each mistake in it, or in the code, is told."""

import unittest

from testbed.c_text import without_comments
from testbed.common import Trouble
from verification.litmus.accesses import MARKED, ORDERED, calls
from verification.litmus.litmus_test import LitmusTest
from verification.litmus.table import compared, judged, read_rows

CODE = """
/* Not an access: xchg(&lock->tail, node). */
#define nbq_step(access)	({ access; })

static struct nbq_node *join(struct nbq_clh *lock,
			     struct nbq_node *node)
{
	WRITE_ONCE(node->prev, NULL);
	return nbq_step(xchg(&lock->tail,
			     node));
}

static bool look(const struct nbq_node *pred)
{
	if (smp_load_acquire(&pred->prev))
		return true;
	return smp_load_acquire(&pred->prev) == f(1, (2));
}
"""
PAGE = """
CLH-NB (``nbqlock/a.c``)
========================

``a-reset``: ``WRITE_ONCE(node->prev, NULL)`` in ``join()``
  - marked: x. [``a/is-it-so``]
``a-join``
  - ``xchg(&lock->tail, node)`` in
    ``join()``
  - release: x,
    y. [``a/is-it-so``,
    ``a/is-it-so-again``]
  - acquire, spare: x. [``a/is-it-so``]
``a-look``: ``smp_load_acquire(&pred->prev)`` in ``look()``
  - acquire: x. [``a/is-it-so``]
``a-look-again``: ``smp_load_acquire(&pred->prev)`` in ``look()``
  - none: x. [``a/is-it-so``]
"""
HEAD = "C x\n(*\n * Result: Never\n *)\n"
SO = """
	WRITE_ONCE(*prev, 0); // a-reset: marked
	r0 = xchg(tail, 1); // a-join: release, acquire spare
	r1 = smp_load_acquire(prev); // a-look: acquire
	r2 = smp_load_acquire(prev); // a-look-again
"""
AGAIN = "	r0 = xchg(tail, 1); // a-join: release\n"


def told_of_code(code=CODE, page=PAGE):
    text = without_comments(code)
    return compared(read_rows(page), [*calls("a.c", text, ORDERED),
                                      *calls("a.c", text, MARKED)])


def told_of_tests(page=PAGE, **texts):
    texts = {"is-it-so": SO, "is-it-so-again": AGAIN, **texts}
    return judged(read_rows(page), {f"a/{name}": LitmusTest(f"a/{name}", HEAD + text)
                                    for name, text in texts.items() if text})


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


class CodeAndTable(unittest.TestCase):

    def test_that_they_agree(self):
        self.assertEqual(told_of_code(), [])

    def test_an_access_without_a_row(self):
        code = changed(CODE, "	if (smp", "	smp_wmb();\n	if (smp")
        self.assertIn("no row for smp_wmb() in look()", told_of_code(code)[0])

    def test_an_access_that_is_there_once_more(self):
        code = changed(CODE, "		return true;",
                       "		return smp_load_acquire(&pred->prev);")
        self.assertEqual(len(told_of_code(code)), 1)

    def test_a_row_without_code(self):
        code = changed(CODE, "return nbq_step(xchg(&lock->tail,\n			     node));", "return 0;")
        self.assertEqual(told_of_code(code), [
            "no code for the row xchg(&lock->tail, node) in join() (a-join)"])

    def test_a_marked_row_whose_store_is_plain(self):
        code = changed(CODE, "WRITE_ONCE(node->prev, NULL)", "node->prev = NULL")
        self.assertEqual(len(told_of_code(code)), 1)

    def test_an_access_that_is_weaker_than_its_row(self):
        code = changed(CODE, "nbq_step(xchg(", "nbq_step(xchg_relaxed(")
        self.assertEqual(len(told_of_code(code)), 2)

    def test_an_access_in_another_function(self):
        self.assertEqual(len(told_of_code(changed(CODE, "look(", "peek("))), 4)

    def test_an_access_in_another_file(self):
        self.assertEqual(len(told_of_code(page=changed(PAGE, "a.c", "b.c"))), 7)

    def test_two_rows_of_one_name(self):
        page = changed(PAGE, "``a-look-again``", "``a-look``")
        self.assertEqual(told_of_code(page=page), ["two rows are called a-look"])

    def test_rows_that_cannot_be_read(self):
        for old, new in ((" [``a/is-it-so``]", ""), ("- release", "- strong"),
                         (" in\n    ``join()``", ""), ("acquire, spare", "acquire or spare")):
            with self.assertRaises(Trouble):
                read_rows(changed(PAGE, old, new))


class TestsAndTable(unittest.TestCase):

    def test_that_they_agree(self):
        self.assertEqual(told_of_tests(), [])

    def test_a_line_whose_test_does_not_show_it(self):
        self.assertEqual(told_of_tests(**{"is-it-so-again": None}),
                         ["a-join, release: not so in a/is-it-so-again"])

    def test_a_line_without_a_test(self):
        page = changed(PAGE, "- acquire: x. [``a/is-it-so``]", "- acquire: x. [none]")
        self.assertEqual(told_of_tests(page), ["a-look, acquire: no litmus test",
                                                 "a-look, acquire: a/is-it-so shows it, too"])

    def test_a_test_that_the_line_does_not_name(self):
        more = {"another": "	r0 = xchg(tail, 1); // a-join: release\n"}
        self.assertEqual(told_of_tests(**more),
                         ["a-join, release: a/another shows it, too"])

    def test_spare_where_it_is_needed(self):
        self.assertIn("a-join, acquire, spare: not so in a/is-it-so",
                      told_of_tests(**{"is-it-so": SO.replace("acquire spare", "acquire")}))

    def test_two_orders_of_one_line(self):
        page = changed(changed(PAGE, "- release:", "- release and acquire:"),
                       "  - acquire, spare: x. [``a/is-it-so``]\n", "")
        both = {"is-it-so": SO.replace("acquire spare", "acquire"),
                "is-it-so-again": AGAIN.replace("release", "release, acquire")}
        self.assertEqual(told_of_tests(page, **both), [])
        self.assertEqual(told_of_tests(page), ["a-join, acquire: not so in a/is-it-so",
                                               "a-join, acquire: not so in a/is-it-so-again"])

    def test_needed_where_it_is_spare(self):
        self.assertEqual(told_of_tests(changed(PAGE, "acquire, spare", "acquire")),
                         ["a-join, acquire: not so in a/is-it-so"])

    def test_an_order_without_a_line(self):
        self.assertEqual(told_of_tests(**{"is-it-so": SO.replace("a-look-again",
                                                                   "a-look-again: acquire")}),
                         ["no line for a-look-again, acquire, of a/is-it-so"])

    def test_a_name_that_no_row_has(self):
        self.assertIn("no line for a-lock, , of a/is-it-so",
                      told_of_tests(**{"is-it-so": SO + "	smp_wmb(); // a-lock\n"}))

    def test_a_barrier_of_the_caller_has_no_row(self):
        more = {"caller": "	r0 = xchg(tail, 1); // a-join\n	smp_mb(); // caller: full\n"}
        self.assertEqual(told_of_tests(**more), [])

    def test_a_test_that_cannot_fail(self):
        more = {"another": "	r0 = xchg(tail, 1); // a-join: acquire spare\n"}
        self.assertEqual(told_of_tests(**more), ["a/another: cannot fail"])
