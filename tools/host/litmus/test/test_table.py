# SPDX-License-Identifier: GPL-2.0
"""The table of ordered accesses: each mistake in it, or in the code, is told."""

import unittest

from base.c_text import without_comments
from base.common import Failure
from host.litmus.accesses import MARKED, ORDERED, calls
from host.litmus.litmus_test import LitmusTest
from host.litmus.table import compared, judged, read_rows

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

    def test_what_is_told_of_a_change_of_the_code(self):
        self.assertEqual(told_of_code(), [])
        for old, new, number, first in (
                ("	if (smp", "	smp_wmb();\n	if (smp", 1, "no row for smp_wmb() in look()"),
                # One access more than rows
                ("		return true;", "		return smp_load_acquire(&pred->prev);", 1, ""),
                ("return nbq_step(xchg(&lock->tail,\n			     node));", "return 0;", 1,
                 "no code for the row xchg(&lock->tail, node) in join() (a-join)"),
                # A row that is marked, and the store is plain
                ("WRITE_ONCE(node->prev, NULL)", "node->prev = NULL", 1, ""),
                # An access that is weaker than its row, and in another function
                ("nbq_step(xchg(", "nbq_step(xchg_relaxed(", 2, ""),
                ("look(", "peek(", 4, "")):
            with self.subTest(new):
                told = told_of_code(changed(CODE, old, new))
                self.assertEqual(len(told), number)
                self.assertIn(first, told[0])

    def test_what_is_told_of_a_change_of_the_table(self):
        self.assertEqual(len(told_of_code(page=changed(PAGE, "a.c", "b.c"))), 7)
        page = changed(PAGE, "``a-look-again``", "``a-look``")
        self.assertEqual(told_of_code(page=page), ["two rows are called a-look"])

    def test_rows_that_cannot_be_read(self):
        for old, new in ((" [``a/is-it-so``]", ""), ("- release", "- strong"),
                         (" in\n    ``join()``", ""), ("acquire, spare", "acquire or spare")):
            with self.assertRaises(Failure):
                read_rows(changed(PAGE, old, new))


class TestsAndTable(unittest.TestCase):

    def test_what_is_told_of_a_change_of_the_tests(self):
        self.assertEqual(told_of_tests(), [])
        for texts, told in (
                ({"is-it-so-again": None}, ["a-join, release: not so in a/is-it-so-again"]),
                # A test that the line does not name
                ({"another": "	r0 = xchg(tail, 1); // a-join: release\n"},
                 ["a-join, release: a/another shows it, too"]),
                # An order without a line
                ({"is-it-so": SO.replace("a-look-again", "a-look-again: acquire")},
                 ["no line for a-look-again, acquire, of a/is-it-so"]),
                # A barrier of the caller has no row.
                ({"caller": "	r0 = xchg(tail, 1); // a-join\n	smp_mb(); // caller: full\n"},
                 []),
                ({"another": "	r0 = xchg(tail, 1); // a-join: acquire spare\n"},
                 ["a/another: cannot fail"])):
            with self.subTest(texts):
                self.assertEqual(told_of_tests(**texts), told)
        self.assertIn("a-join, acquire, spare: not so in a/is-it-so",
                      told_of_tests(**{"is-it-so": SO.replace("acquire spare", "acquire")}))
        self.assertIn("no line for a-lock, , of a/is-it-so",
                      told_of_tests(**{"is-it-so": SO + "	smp_wmb(); // a-lock\n"}))

    def test_what_is_told_of_a_change_of_the_table(self):
        for old, new, told in (
                ("- acquire: x. [``a/is-it-so``]", "- acquire: x. [none]",
                 ["a-look, acquire: no litmus test", "a-look, acquire: a/is-it-so shows it, too"]),
                ("acquire, spare", "acquire", ["a-join, acquire: not so in a/is-it-so"])):
            with self.subTest(new):
                self.assertEqual(told_of_tests(changed(PAGE, old, new)), told)

    def test_two_orders_of_one_line(self):
        page = changed(changed(PAGE, "- release:", "- release and acquire:"),
                       "  - acquire, spare: x. [``a/is-it-so``]\n", "")
        both = {"is-it-so": SO.replace("acquire spare", "acquire"),
                "is-it-so-again": AGAIN.replace("release", "release, acquire")}
        self.assertEqual(told_of_tests(page, **both), [])
        self.assertEqual(told_of_tests(page), ["a-join, acquire: not so in a/is-it-so",
                                               "a-join, acquire: not so in a/is-it-so-again"])
