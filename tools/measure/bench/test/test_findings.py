# SPDX-License-Identifier: GPL-2.0
"""findings.py: what a "holds" line may say, and when it is said to hold."""

import unittest

from measure.bench.findings import (FAILS, HOLDS, UNCLEAR, UNKNOWN, Finding, Malformed, check,
                                    evaluated)
from measure.bench.metrics import Context
from measure.bench.test.synthetic import run
from measure.scenario import Scenario


def rates(lock, *percents, **point):
    """Rounds with these success rates."""
    return [run(lock, number, point or {"cpus": 2}, attempts=1000, acquisitions=10 * percent)
            for number, percent in enumerate(percents)]


A, B = "success_rate(clh_nb)", "success_rate(mcs_nb)"


class Grammar(unittest.TestCase):
    def test_all_that_is_known(self):
        finding = Finding("success_rate(clh_nb, cpus=max)\n"
                          " > 2 * success_rate(clh_try, cpus=max)")
        self.assertEqual((finding.locks, finding.axes), (["clh_nb", "clh_try"], ["cpus"]))
        for text in (f"{A} < 1", f"-{A} * (2 + 3.5) / 4 - 1 >= max({B}, min(1, {A}))",
                     f"{A} < 1 and ({B} > 2 or {B} <= 1)", f"0 <= {A} < {B} <= 100",
                     "success_rate(clh_nb, retry=at_once, patience_ns=10, cpus=min) < 1",
                     "success_rate(clh_nb, patience_ns='0-10') < 1"):
            with self.subTest(text=text):
                Finding(text)

    def test_what_is_not_known_is_refused_with_a_sentence(self):
        for text, part in (
                ("", "not a comparison"), ("1 <", "not a comparison"),
                (A, "does not compare"), ("1", "does not compare"), ("(1, 2)", "does not compare"),
                (f"1 and {A}", "does not compare"), (f"{A} and 1 < 2", "not a comparison"),
                ("min() < 1", "not a comparison"), ("figure7 < 1", "not a comparison"),
                ("1 / 0 < 1", "not a comparison"), (f"max({A}, (1, 2)) < 1", "not a comparison"),
                (f"abs({A}) < 1", "not known"), ("speed(clh_nb) < 1", "no metric \"speed\""),
                ("success_rate() < 1", "one lock"), ("success_rate(1) < 1", "one lock"),
                ("success_rate(a, b) < 1", "\"b=\" is not AXIS=VALUE"),
                ("success_rate(a, **b) < 1", "is not AXIS=VALUE"),
                ("success_rate(a, cpus=1, cpus=2) < 1", "names an axis twice"),
                ("success_rate(a, cpus=400*cores) < 1", "is not AXIS=VALUE"),
                (f"success_rate({A}) < 1", "not known"),
                (f"success_rate(a, cpus={A}) < 1", "not known"),
                ("__import__('os').system('true') < 1", "no metric"),
                *((text, "not known") for text in (
                    "True", f"{A} == 1", f"{A} in {B}", f"not {A} < 1", f"{A} ** 2 < 1",
                    f"{A} // 2 < 1", f"{A} % 2 < 1", "clh_nb < 1", "'a' < 1", "1j < 1",
                    "min(1, key=2) < 1", "(lambda: 1)() < 1", "[1][0] < 2", "(1).real < 2",
                    "(1 if 1 else 2) < 3", "f'{1}' < 1", "(a := 1) < 2")),
                (f"jain(a, {', '.join(f'x{axis}=1|2|3' for axis in range(40))}) < 1", "more than"),
                ("1 < 2 " + "and 1 < 2 " * 300, "more than")):
            with self.subTest(text=text[:50]):
                with self.assertRaisesRegex(Malformed, part):
                    Finding(text)
        with self.assertRaises(Malformed):	# not a crash
            Finding("(" * 900 + "1" + ")" * 900 + " <")


class AgainstAScenario(unittest.TestCase):
    def setUp(self):
        self.scenario = Scenario("test")
        self.scenario.locks = ["all", "-mcs"]
        self.scenario.sweep = {"cpus_per_core": [1.0, 2.0], "patience_ns": [1, 2]}

    def test_its_axes_their_values_and_locks_are_those_of_the_scenario(self):
        for words, refused in (
                ("clh_nb, cpus=max, patience_ns=1", None),
                ("clh_nb, cpus_per_core=2, patience_ns=1", None),
                ("clh_nb, cpus=3, patience_ns='1'", None),
                ("clh_nb, cpus=max", "does not say which patience_ns"),
                ("clh_nb, patience_ns=1", "does not say which cpus"),
                ("clh_nb, patience_ns=1, cpus=2, retry=at_once", "no axis, or there twice"),
                ("clh_nb, patience_ns=1, cpus=2, cpus_per_core=1", "no axis, or there twice"),
                ("clh_nb, cpus=max, patience_ns=7", "patience_ns is never 7; it is 1, 2"),
                ("mcs, cpus=max, patience_ns=1", "\"mcs\" is not one")):
            with self.subTest(words):
                if refused is None:
                    check(f"success_rate({words}) < 1", self.scenario)
                else:
                    with self.assertRaisesRegex(Malformed, refused):
                        check(f"success_rate({words}) < 1", self.scenario)
        self.scenario.locks = ["clh"]
        with self.assertRaisesRegex(Malformed, "\"clh_nb\" is not one"):
            check("success_rate(clh_nb, cpus=max, patience_ns=1) < 1", self.scenario)

    def test_the_simulated_machine_need_not_be_named(self):
        Finding("jain(clh) > 1").check_axes({"sockets": [1, 8], "costs": ["a", "b"]})
        with self.assertRaisesRegex(Malformed, "does not say which retry"):
            Finding("jain(clh) > 1").check_axes({"retry": ["at_once", "give_up"]})


HIGH = rates("clh_nb", 50, 60, 70)
RUNS = {
    "apart": HIGH + rates("mcs_nb", 10, 20, 30), "mixed": HIGH + rates("mcs_nb", 10, 20, 55),
    "one": rates("clh_nb", 40, 50, 60), "still": rates("clh_nb", 50),
    "about 50": rates("clh_nb", 40, 60, 60),
    "ends": [run for cpus, rate in ((2, 90), (16, 10), (8, 50))
             for run in rates("clh_nb", rate, cpus=cpus)],
    "cores": rates("clh_nb", 90, cpus=2) + rates("clh_nb", 10, cpus=8),
    "few": rates("clh_nb", 50, cpus=1) + rates("clh_nb", 90, cpus=4),
    "words": rates("clh_nb", 90, cpus=2, retry="at_once") +
             rates("clh_nb", 10, cpus=2, retry="back_off"),
    "so much": [run("clh_nb", point={"cpus": 2, "ncs_ns": value}, nodes_max=nodes)
                for value, nodes in ((200, 3), ("400*cpus", 5), ("max", 7))],
    "model": [run("qspinlock", nodes_max=3)],
}
HERE, SIMULATED = Context(2), Context(2, testbed="simulated")
# Of which of these, the line, its word, on which machine.
WORDS = (
    # What all rounds say.
    ("apart", f"{A} > {B}", HOLDS, HERE), ("apart", f"{A} < {B}", FAILS, HERE),
    ("apart", f"{A} > 1.6 * {B}", HOLDS, HERE), ("apart", f"{A} <= 70 and {A} >= 50", HOLDS, HERE),
    ("mixed", f"{A} > 50", UNCLEAR, HERE), ("mixed", f"{A} < 70", UNCLEAR, HERE),
    # Ranges go through arithmetic.
    *(("one", line, wanted, HERE) for line, wanted in (
        (f"{A} + 10 > 49.9", HOLDS), (f"{A} - 10 < 50.1", HOLDS), (f"100 - {A} > 39.9", HOLDS),
        (f"100 - {A} > 41", UNCLEAR), (f"-{A} < -39", HOLDS), (f"{A} / 2 < 30.1", HOLDS),
        (f"60 / {A} < 1.51", HOLDS), (f"60 / {A} > 1.1", UNCLEAR), (f"{A} * -2 < -79", HOLDS),
        (f"{A} - {A} < 1", UNCLEAR), (f"max({A}, 55) >= 55", HOLDS),
        (f"min({A}, 45) > 41", UNCLEAR))),
    # A divisor may be 0.
    ("about 50", f"1 / ({A} - 50) < 1", UNCLEAR, HERE),
    # What is missing matters only if the rest leaves it open.
    *(("still", line, wanted, HERE) for line, wanted in (
        (f"{A} / (50 - {A}) > 1", UNKNOWN), (f"max({A}, {B}) > 1", UNKNOWN),
        (f"{A} > 99 and {B} > 1", FAILS), (f"{A} > 1 and {B} > 1", UNKNOWN),
        (f"{A} > 1 or {B} > 1", HOLDS), (f"{A} > 99 or {B} > 1", UNKNOWN),
        (f"1 < {A} < {B}", UNKNOWN))),
    # min and max are the ends of the axis.
    ("ends", "success_rate(clh_nb, cpus=max) <= 10", HOLDS, HERE),
    ("ends", "success_rate(clh_nb, cpus=min) >= 90", HOLDS, HERE),
    ("ends", "success_rate(clh_nb, cpus=8) <= 50", HOLDS, HERE),
    ("ends", "success_rate(clh_nb, cpus=3) <= 50", UNKNOWN, HERE),
    # So many a core are those of the machine, rounded as in a scenario.
    *(("cores", "success_rate(clh_nb, cpus_per_core=1) > 80", wanted, Context(cores))
      for cores, wanted in ((2, HOLDS), (8, FAILS), (4, UNKNOWN))),
    ("few", "success_rate(clh_nb, cpus_per_core=1.9) > 80", HOLDS, HERE),
    ("few", "success_rate(clh_nb, cpus_per_core=0.2) < 80", HOLDS, HERE),
    # A value may be a word, or so much for each CPU.
    ("words", "success_rate(clh_nb, retry=at_once) > 80", HOLDS, HERE),
    ("words", "success_rate(clh_nb, retry=back_off) > 80", FAILS, HERE),
    ("so much", "nodes_max(clh_nb, ncs_ns=max) > 6", HOLDS, HERE),
    ("so much", "nodes_max(clh_nb, ncs_ns=400*cpus) > 4", HOLDS, HERE),
    # The kernel's lock is answered by its model where it is simulated.
    ("model", "nodes_max(raw_spinlock) > 2", UNKNOWN, HERE),
    ("model", "nodes_max(raw_spinlock) > 2", HOLDS, SIMULATED),
)


class Judging(unittest.TestCase):
    def test_a_line_holds_or_does_not_by_all_rounds_or_is_not_clear(self):
        for runs, line, wanted, context in WORDS:
            with self.subTest(line=line, runs=runs):
                self.assertEqual(evaluated(line, RUNS[runs], context).word, wanted)
        with self.assertRaisesRegex(Malformed, "more than one point"):
            evaluated("success_rate(clh_nb, cpus=2) > 80", RUNS["words"])

    def test_the_report_gets_the_numbers_what_is_missing_and_what_the_medians_say(self):
        said = evaluated(f"{A} > 2 * {B}", RUNS["apart"]).details()
        for part in ("60 > 2 * 20", f"{A} = 60 % (50 to 70)", f"{B} = 20 % (10 to 30)"):
            self.assertIn(part, said)
        missing = evaluated(f"{A} > {B}", RUNS["still"])
        self.assertEqual((missing.word, missing.missing), (UNKNOWN, [B]))
        self.assertIn(B, missing.details())
        unclear = evaluated(f"{A} > {B}", RUNS["mixed"])
        self.assertEqual((unclear.word, unclear.leans), (UNCLEAR, True))
        self.assertEqual(evaluated(f"{A} < {B}", RUNS["mixed"]).leans, False)
        self.assertIn("within the spread", unclear.verdict())

    def test_a_figure_may_be_of_each_of_several_locks_and_values(self):
        finding = Finding("min(jain(clh_nb|mcs_nb, cs_ns=0|10*cpus, cpus=2)) > 1")
        self.assertEqual(finding.text, "min(jain(clh_nb, cs_ns=0, cpus=2), jain(clh_nb, "
                         "cs_ns=10*cpus, cpus=2), jain(mcs_nb, cs_ns=0, cpus=2), jain(mcs_nb, "
                         "cs_ns=10*cpus, cpus=2)) > 1")
        with self.assertRaisesRegex(Malformed, "does not compare"):
            Finding("jain(clh_nb|mcs_nb) > 1")
