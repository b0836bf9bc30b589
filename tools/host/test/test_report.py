# SPDX-License-Identifier: GPL-2.0
"""The report: what it says of results, good and bad."""

import unittest

from host import report
from host.explore.configurations import TYPES

CONFIGURATION = {"lock": "clh", "name": "two_twice", "program": "0.0:A?,A? 1.0:A?,A?",
                 "pool": 2, "checks": 0, "passed": True, "failure": None, "schedule": None,
                 "missed": 1e-12, "seconds": 0.5, "states": 1500, "transitions": 3000,
                 "ends": 20, "quiet": 5, "longest": 60, "steps_to_abandon": 2,
                 "steps_to_release": 4}
TWO_HOLD = {"passed": False, "failure": "two hold the lock", "schedule": "aabb"}


def litmus(what, expected, outcome):
    return {"test": "clh/can-it-be", "what": what, "expected": expected, "outcome": outcome,
            "seconds": 0.25, "passed": expected == outcome, "detail": ""}


def mutant(name, excuse=None, **killers):
    return {"name": f"clh_nb.c nbq_clh_skip {name}", "identity": name, "commit": "0123",
            "killers": killers, "seconds": dict.fromkeys(killers, 2), "excuse": excuse}


def joined(lines):
    return "\n".join(lines)


class ExplorerTest(unittest.TestCase):
    def test_each_lock_type_has_a_name_and_a_section(self):
        self.assertEqual(set(report.NAMES), set(TYPES))
        text = joined(report.explorer_section([{**CONFIGURATION, "lock": lock}
                                               for lock in TYPES]))
        for name in report.NAMES.values():
            self.assertIn(f"{name}\n{'-' * len(name)}\n", text)

    def test_states_are_added_up(self):
        line = report.explorer_line([CONFIGURATION, CONFIGURATION])
        self.assertEqual(line, "2 configurations explored, 3,000 states in all: nothing wrong")

    def test_a_failure_is_counted_and_named(self):
        rows = [CONFIGURATION, {**CONFIGURATION, **TWO_HOLD}]
        self.assertIn("1 with something wrong", report.explorer_line(rows))
        self.assertIn("two hold the lock", joined(report.explorer_section(rows)))

    def test_own_steps_are_the_most_of_all_configurations(self):
        more = {**CONFIGURATION, "steps_to_abandon": 1, "steps_to_release": 5}
        self.assertEqual(report.own_steps([CONFIGURATION, more]), [("CLH-NB", 2, 5)])


class LitmusTest(unittest.TestCase):
    ROWS = [litmus("as shipped", "never", "never"),
            litmus("without clh-look's acquire", "sometimes", "sometimes"),
            litmus("without clh-join's acquire", "never", "never")]

    def test_variants_of_a_test_share_a_row(self):
        self.assertEqual(report.litmus_line(self.ROWS),
                         "1 litmus test, 3 runs: all as expected")
        self.assertIn('"Can it be?","clh","never","clh-look\'s acquire",'
                      '"clh-join\'s acquire","0.8"', joined(report.litmus_section(self.ROWS)))

    def test_what_was_not_expected_is_marked(self):
        rows = [*self.ROWS, litmus("without clh-tail's release", "sometimes", "never")]
        self.assertIn("1 not as expected", report.litmus_line(rows))
        self.assertIn("clh-tail's release **(FAIL)**", joined(report.litmus_section(rows)))


def acquisitions(mistake="", error="", ended=True):
    return {"lock": "spin", "configuration": "granted", "model": "rc11", "program": "X L | L",
            "mistake": mistake, "error": error, "ended": ended, "complete": 1200, "blocked": 30,
            "seconds": 4.0, "passed": bool(error) == bool(mistake)}


class MixturesTest(unittest.TestCase):
    FOUND = {"seed": 1, "schedules": 2000, "operations": 300000, "steps": 4000000,
             "failure": "", "failed_seed": 0,
             "calls": [{"lock": "nbq_clh", "operation": "lock_timeout", "zero": 1234,
                        "other": 56}], "events": {"deadlocks detected": 7890}}

    def test_what_was_seen_is_counted(self):
        self.assertEqual(report.mixtures_line(self.FOUND),
                         "2,000 random schedules over all lock types, 300,000 operations, "
                         "4,000,000 steps: nothing wrong")
        section = joined(report.mixtures_section(self.FOUND))
        self.assertIn('"``nbq_clh``","lock_timeout","1,234","56"', section)
        self.assertIn('"deadlocks detected","7,890"', section)

    def test_a_failure_has_its_seed(self):
        found = {**self.FOUND, "failure": "exclusion", "failed_seed": 77}
        self.assertIn("seed 77 **fails**: exclusion", report.mixtures_line(found))


class WeakMemoryTest(unittest.TestCase):
    def line_and_section(self, *runs, missing=""):
        found = {"missing": missing, "runs": list(runs)}
        return report.weak_memory_line(found), joined(report.weak_memory_section(found))

    def test_without_genmc_it_does_not_count_as_passed(self):
        line, section = self.line_and_section(missing="no GenMC")
        self.assertIn("**not run**, no GenMC", line)
        self.assertIn("Not run: no GenMC.", section)

    def test_what_did_not_end_is_named(self):
        line, section = self.line_and_section(acquisitions(), acquisitions(ended=False))
        self.assertIn("nothing wrong, 1 did not end", line)
        self.assertIn('"hybrid","granted","``X L | L``","rc11","1,200","30","4.0","pass"', section)
        self.assertIn('"rc11","\\-","\\-","4.0","did not end"', section)

    def test_an_error_is_wrong(self):
        line, section = self.line_and_section(acquisitions(error="Non-Atomic race!"))
        self.assertIn("1 with something wrong", line)
        self.assertIn("Non-Atomic race! **(FAIL)**", section)

    def test_a_weakening_that_is_not_noticed_is_wrong(self):
        line, section = self.line_and_section(acquisitions("poll: READ_ONCE", "race"),
                                              acquisitions("call free"))
        self.assertIn("1 of 2 weakenings noticed **(FAIL)**", line)
        self.assertIn('"call free","hybrid","granted","rc11","4.0","**not noticed**"', section)


class MutantsTest(unittest.TestCase):
    ROWS = [mutant("store one;", host="steps: claim", litmus=None),
            mutant("store two;", host=None),
            mutant("call three;", "the same", host=None)]
    FOUND = {"layers": ["host", "litmus"], "mutants": ROWS}

    def test_they_are_counted_by_what_became_of_them(self):
        self.assertEqual(report.mutants_line(self.FOUND),
                         "3 mutants: 1 explained, 1 killed, 1 survived")

    def test_a_file_has_a_row_and_a_rule_a_column(self):
        text = joined(report.mutants_section(self.FOUND))
        self.assertIn('"clh_nb.c","2 (1)","1 (1)"', text)
        self.assertIn('"0123","3"', text)

    def test_a_layer_has_a_row(self):
        text = joined(report.mutants_section(self.FOUND))
        self.assertIn('"host","3","1","1","6 s"', text)
        self.assertIn('"litmus","1","0","0","2 s"', text)

    def test_a_survivor_has_its_reason(self):
        text = joined(report.mutants_section(self.FOUND))
        self.assertIn('"clh_nb.c nbq_clh_skip call three;","the same"', text)
        self.assertIn('"clh_nb.c nbq_clh_skip store two;","**unexplained**"', text)

