# SPDX-License-Identifier: GPL-2.0
"""What is made of a litmus test: what the code has, and each step weaker."""

from pathlib import Path
import tempfile
import unittest

from base.common import PROJECT, Failure
from host.litmus.litmus_test import LitmusTest
from host.litmus.variants import Code, outcome_of, variants

HEAD = "C x\n(*\n * Result: Never\n *)\n"


def made_of(*lines):
    return LitmusTest("a/x", HEAD + "\n".join(lines) + "\n")


class Fixed:
    """A code that has what it is told."""

    def __init__(self, **primitives):
        self.primitives = primitives

    def primitive(self, name):
        return self.primitives.get(name.replace("-", "_"))


def texts(test, only_shipped=False, **primitives):
    """{what: (text behind the head, expected)}."""
    return {variant.what: (variant.text.removeprefix(HEAD).strip(), variant.expected)
            for variant in variants(test, Fixed(**primitives), only_shipped)}


class Weakened(unittest.TestCase):

    def lines(self, line, primitive, what):
        found = texts(made_of(line), a_x=primitive)[f"without a-x's {what} in P0"]
        return found[0].split("//")[0].strip()

    def test_each_primitive_by_one_step(self):
        for primitive, line, order, weaker in (
                ("smp_load_acquire", "r0 = smp_load_acquire(r1);", "acquire",
                 "r0 = READ_ONCE(*r1);"),
                ("smp_store_release", "smp_store_release(p, r0);", "release",
                 "WRITE_ONCE(*p, r0);"),
                ("xchg", "r0 = xchg(p, 1);", "acquire", "r0 = xchg_release(p, 1);"),
                ("xchg", "r0 = xchg(p, 1);", "release", "r0 = xchg_acquire(p, 1);"),
                ("xchg", "r0 = xchg(p, 1);", "atomic",
                 "r0 = READ_ONCE(*p); WRITE_ONCE(*p, 1);"),
                ("cmpxchg_release", "r0 = cmpxchg_release(p, 1, 2);", "release",
                 "r0 = cmpxchg_relaxed(p, 1, 2);"),
                ("cmpxchg_relaxed", "r0 = cmpxchg_relaxed(p, 1, 2);", "atomic",
                 "r0 = READ_ONCE(*p); if (r0 == 1) WRITE_ONCE(*p, 2);"),
                ("atomic_inc_return", "r0 = atomic_inc_return(p);", "acquire",
                 "r0 = atomic_inc_return_release(p);"),
                ("WRITE_ONCE", "WRITE_ONCE(*p, 0);", "marked", "*p = 0;"),
                ("cmpxchg_acquire", "r0 = cmpxchg_acquire(p, 1, 2);", "atomic",
                 "r0 = READ_ONCE(*p); if (r0 == 1) WRITE_ONCE(*p, 2);"),
                ("smp_mb", "smp_mb();", "full", "smp_rmb();"),
                ("smp_rmb", "smp_rmb();", "read", ""),
                ("smp_wmb", "smp_wmb();", "write", "")):
            with self.subTest(primitive=primitive, order=order):
                self.assertEqual(self.lines(f"{line} // a-x: {order}", primitive, order),
                                 weaker)

    def test_what_each_kind_must_end_in(self):
        test = made_of("r0 = xchg(p, 1); // a-x: release, acquire spare",
                       "smp_wmb(); // a-y: write shared",
                       "r1 = xchg(q, 1); // a-z: release shared")
        self.assertEqual(
            {what: expected for what, (_, expected) in
             texts(test, a_x="xchg", a_y="smp_wmb", a_z="xchg").items()},
            {"as shipped": "never", "without a-x's release in P0": "sometimes",
             "without a-x's acquire in P0": "never", "without a-y's write in P0": "never",
             "without a-z's release in P0": "never",
             "without a-y's write in P0 and a-z's release in P0": "sometimes"})

    def test_what_the_caller_does_alone(self):
        test = made_of("r0 = xchg(p, 1); // a-x: release shared, acquire spare",
                       "r1 = smp_load_acquire(q); // caller: acquire shared")
        made = texts(test, a_x="xchg")
        self.assertEqual(made["with the caller's orders alone"][1], "never")
        self.assertIn("xchg_relaxed(p, 1)", made["with the caller's orders alone"][0])
        self.assertIn("smp_load_acquire(q)", made["with the caller's orders alone"][0])
        self.assertIn("without a-x's release in P0 and caller's acquire in P0", made)

    def test_both_halves_of_a_swap(self):
        test = made_of("r0 = xchg(p, 1); // a-x: release shared, acquire shared")
        what = "without a-x's release in P0 and a-x's acquire in P0"
        self.assertIn("xchg_relaxed(p, 1)", texts(test, a_x="xchg")[what][0])

    def test_marks_that_cannot_be_read(self):
        for line in ("r0 = xchg(p, 1); // a-x: strong", "r0 = READ_ONCE(*p); // a-x: acquire",
                     "r0 = *p; // a-x", "r0 = xchg(p, 1); // see below"):
            with self.subTest(line=line), self.assertRaises(Failure):
                made_of(line)
        with self.assertRaises(Failure):
            LitmusTest("a/x", "C x\n")


class Shipped(unittest.TestCase):

    def test_what_the_code_has_is_put_in(self):
        test = made_of("r0 = smp_load_acquire(p); // a-x: acquire", "smp_wmb(); // a-y",
                       "WRITE_ONCE(*p, 0); // a-z")
        self.assertEqual(texts(test, True, a_x="READ_ONCE", a_y="", a_z="a plain access"), {
            "as shipped, READ_ONCE for a-x, nothing for a-y, a plain access for a-z":
            ("r0 = READ_ONCE(*p); // a-x: acquire\n // a-y\n*p = 0; // a-z", "never")})

    def test_one_text_for_locks_that_have_the_same(self):
        test = made_of("r0 = xchg(p, 1); // a-x, b-x: release", "r1 = xchg(q, 1); // c-x")
        self.assertEqual(list(texts(test, True, a_x="xchg", b_x="xchg", c_x="xchg")),
                         ["as shipped"])
        self.assertEqual(list(texts(test, True, a_x="xchg", b_x="xchg_acquire", c_x="xchg")),
                         ["as shipped", "as shipped, xchg_acquire for b-x"])

    def test_a_barrier_of_the_caller_is_not_looked_for_in_the_code(self):
        test = made_of("r0 = xchg(p, 1); // a-x", "smp_mb(); // caller: full")
        self.assertEqual({what: expected for what, (_, expected) in
                          texts(test, a_x="xchg").items()},
                         {"as shipped": "never", "without caller's full in P0": "sometimes"})

    def test_an_access_that_is_gone(self):
        variant, = variants(made_of("r0 = xchg(p, 1); // a-x"), Fixed(), True)
        self.assertEqual((variant.text, variant.problem),
                         ("", "the code has no such access any more: a-x"))


class TheCode(unittest.TestCase):
    """What is read from the project's own, and from copies with a weaker access."""

    def primitive(self, name, file, old, new):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "nbqlock").mkdir()
            for path in (PROJECT / "nbqlock").glob("*.[ch]"):
                text = path.read_text()
                if path.name == file:
                    self.assertIn(old, text)
                    text = text.replace(old, new, 1)
                (Path(folder) / "nbqlock" / path.name).write_text(text)
            return Code(Path(folder)).primitive(name)

    def test_weaker_accesses_are_seen(self):
        for name, file, old, new, primitive in (
                ("clh-poll", "clh_nb.c", "smp_load_acquire(&pred->prev)",
                 "READ_ONCE(pred->prev)", "READ_ONCE"),
                ("clh-poll", "clh_nb.c", "smp_load_acquire(&pred->prev)", "pred->prev", None),
                ("clh-abandon-prev", "clh_nb.c", "smp_store_release(&node->prev, pred)",
                 "WRITE_ONCE(node->prev, pred)", "WRITE_ONCE"),
                ("mcs-link", "mcs_nb.c", "state = xchg(&pred->next",
                 "state = xchg_release(&pred->next", "xchg_release"),
                ("mcs-enqueue-next", "mcs_nb.c", "WRITE_ONCE(node->next, NULL)",
                 "node->next = NULL", "a plain access"),
                ("wait-recheck", "wait_deadlock.c",
                 "smp_load_acquire(&waiting->blocker.tagged) == blocker.tagged",
                 "READ_ONCE(waiting->blocker.tagged) == blocker.tagged", "READ_ONCE"),
                ("wait-follow", "wait_deadlock.c",
                 "blocker->tagged = smp_load_acquire(&waiting->blocker.tagged)",
                 "blocker->tagged = READ_ONCE(waiting->blocker.tagged)", "READ_ONCE"),
                ("wait-epoch", "wait_deadlock.c",
                 "atomic_long_inc_return(&nbq_epochs)",
                 "atomic_long_inc_return_relaxed(&nbq_epochs)", "atomic_inc_return_relaxed"),
                ("spin-take", "spin_word.h", "return try_cmpxchg_acquire(",
                 "return try_cmpxchg_relaxed(", "cmpxchg_relaxed"),
                ("spin-take-uncontended", "spin.h", "if (!try_cmpxchg_acquire(",
                 "if (!try_cmpxchg_relaxed(", "cmpxchg_relaxed"),
                ("wait-holder", "wait_holder.c", "	smp_mb();\n	holder =",
                 "	smp_rmb();\n	holder =", "smp_rmb"),
                ("wait-begin", "wait_holder.c", "		smp_mb();\n	}\n", "", ""),
                ("wait-withdraw", "wait_deadlock.h", "	smp_wmb();\n", "", "")):
            with self.subTest(name=name, new=new):
                self.assertEqual(self.primitive(name, file, old, new), primitive)


class Outcome(unittest.TestCase):

    def test_what_herd7_says(self):
        for said, outcome in (
                ("Observation x Never 0 3\n", "never"),
                ("Observation x Sometimes 1 3\n", "sometimes"),
                ("Observation x Always 1 0\n", "sometimes"),
                ("Flag data-race\nObservation x Never 0 3\n", "sometimes"),
                ("Flag mixed-accesses\nObservation x Never 0 3\n", "flagged"),
                ("Warning: File \"x\": unexpected 'lock'\n", "not understood")):
            with self.subTest(said=said):
                self.assertEqual(outcome_of(said), outcome)
