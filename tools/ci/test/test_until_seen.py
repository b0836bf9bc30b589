# SPDX-License-Identifier: GPL-2.0
"""Runs that are made once more, and those that are not."""

import unittest

from ci.survival import lacks_stress
from testbed.disturbed import ENOUGH, above_own_cpu, told_at_once
from testbed.shapes import (FREED_WRITTEN, TWO_HOLDERS, acquires, backs_off, broken_run, draws,
                            ends_deadlocks_early, gives_up, is_found_out,
                            is_found_out_in_both_ways, shaped, tries_again)
from testbed.driver import Run
from testbed.stress import LONGER, ROUNDS, Unseen, is_unseen, problem_with, until_seen

MS = 1000000


class Outcome:
    problem = None


def result(run, verdict="PASS", **figures):
    """Give a run a result."""
    lines = [f"{name} {value}" for name, value in figures.items()]
    run.text = "\n".join([*lines, f"verdict {verdict}", ""])
    run.complete = True
    return run


class Rounds(unittest.TestCase):

    def make_until_seen(self, results, problem=None):
        """[(duration, figures) of each round] of a run that has these timeouts in turn."""
        run = Run("run", duration_ms=10)
        made = []

        def make(runs):
            self.assertEqual(runs, [run])
            self.assertEqual(run.text, "")
            made.append(run.settings["duration_ms"])
            verdict, timeouts = results[len(made) - 1]
            result(run, verdict, timeouts=timeouts)
            outcome = Outcome()
            outcome.problem = problem
            return outcome

        def complaint(run):
            return problem_with(run, lambda run: not run.number("timeouts") and Unseen("none"))

        outcomes = until_seen([run], make, complaint)
        self.assertEqual(len(outcomes), len(made))
        return made, complaint(run)

    def test_what_is_seen_at_once_is_made_once(self):
        self.assertEqual(self.make_until_seen([("PASS", 1)]), ([10], False))

    def test_what_is_not_seen_is_made_once_more_and_longer(self):
        made, complaint = self.make_until_seen([("PASS", 0), ("PASS", 0), ("PASS", 3)])
        self.assertEqual(made, [10, 10 * LONGER, 10 * LONGER ** 2])
        self.assertFalse(complaint)

    def test_what_is_never_seen_fails_after_all_rounds(self):
        made, complaint = self.make_until_seen([("PASS", 0)] * ROUNDS)
        self.assertEqual(len(made), ROUNDS)
        self.assertEqual(complaint, "none")

    def test_a_failure_is_never_tried_again(self):
        made, complaint = self.make_until_seen([("FAIL two holders were seen", 0)])
        self.assertEqual(len(made), 1)
        self.assertEqual(complaint, "FAIL two holders were seen")

    def test_a_failure_in_a_later_round_stays(self):
        made, complaint = self.make_until_seen([("PASS", 0), ("FAIL so", 7)])
        self.assertEqual((len(made), complaint), (2, "FAIL so"))

    def test_a_guest_that_was_lost_is_the_last(self):
        made, _ = self.make_until_seen([("PASS", 0)], problem="hung")
        self.assertEqual(len(made), 1)

    def test_only_runs_that_lack_something_are_made_again(self):
        first, second = Run("first", duration_ms=1), Run("second", duration_ms=1)
        made = []

        def make(runs):
            made.append([run.name for run in runs])
            for run in runs:
                result(run, timeouts=len(made) if run is second else 1)
            return Outcome()

        until_seen([first, second], make, lambda run: run.number("timeouts") < 2 and (
            Unseen("few") if run is second else "wrong"))
        self.assertEqual(made, [["first", "second"], ["second"]])


class Judges(unittest.TestCase):
    """What is wrong, what was only not seen, and what is right."""

    def expect(self, judge, run, unseen, words=""):
        complaint = judge(run)
        self.assertIn(words, complaint or "")
        self.assertEqual((bool(complaint), is_unseen(complaint)),
                         (True, unseen) if words else (False, False), complaint)

    def test_timeouts_that_did_not_come(self):
        def judge(run):
            return lacks_stress(2, run, True)

        run = Run("run", lock="clh_nb")
        figures = {"nodes_max": 4, "acquisitions": 5}
        self.expect(judge, result(run, timeouts=0, **figures), True, "no wait timed out")
        self.expect(judge, result(run, timeouts=1, **figures), False)
        self.expect(judge, result(run, timeouts=0, nodes_max=99), False, "99 nodes")
        self.expect(judge, result(run, "FAIL so", timeouts=0), False, "FAIL so")

    def test_a_thread_that_never_acquired(self):
        self.expect(acquires, result(Run("run"), thread_min=0), True, "never acquired")

    def test_attempts_for_each_acquisition_depend_on_the_host(self):
        run = shaped("run", "clh_nb", ncs_ns=2 * MS, backoff_max_ns=8 * MS)
        figures = {"elapsed_ns": 200 * MS, "thread_min": 1, "timeouts": 300}
        # The holder was away for all but the end of the run.
        starved = result(run, attempts=400, acquisitions=2, **figures)
        self.expect(gives_up, starved, False)
        self.expect(tries_again, result(run, attempts=20, acquisitions=2, **figures), True,
                    "few attempts")
        self.expect(tries_again, result(run, attempts=4000, acquisitions=2, **figures), False)
        self.expect(backs_off, result(run, attempts=100, acquisitions=2, **figures), False)
        busy = result(run, attempts=40000, acquisitions=100, **figures)
        self.expect(gives_up, busy, False, "without a retry")
        self.expect(backs_off, busy, False, "in spite of pauses")

    def test_medians_need_samples(self):
        run = result(Run("run"), failed_wait_samples=3, failed_wait_ns_p50=MS)
        self.expect(draws, run, True, "attempts failed")
        run = result(run, failed_wait_samples=300, failed_wait_ns_p50=MS)
        self.expect(draws, run, False, "less than 1.5 ms")

    def test_deadlocks_that_end_late(self):
        run = Run("run", patience_ns=40000 * MS)
        late = {"timeouts": 0, "deadlocks": 9, "thread_min": 1}
        self.expect(ends_deadlocks_early, result(run, failed_wait_ns_max=3000 * MS,
                                                 failed_wait_ns_p50=MS, **late), False)
        self.expect(ends_deadlocks_early, result(run, failed_wait_ns_max=3000 * MS,
                                                 failed_wait_ns_p50=2500 * MS, **late), False,
                    "noticed after more than 2 s")
        self.expect(ends_deadlocks_early, result(run, failed_wait_ns_max=21000 * MS,
                                                 failed_wait_ns_p50=MS, **late), False,
                    "noticed after more than 20 s")

    def test_what_is_told_at_once(self):
        def judge(run):
            return told_at_once(run, ["hardirq"])

        run = above_own_cpu("clh_nb", ["hardirq"], 100)
        told = {"timeouts": 0, "failed_wait_ns_p90": 900}
        self.expect(judge, result(run, deadlocks_hardirq=ENOUGH, failed_wait_samples=ENOUGH,
                                  **told), False)
        self.expect(judge, result(run, deadlocks_hardirq=5, failed_wait_samples=5, **told),
                    True, "fewer than")
        self.expect(judge, result(run, deadlocks_hardirq=0, **told), True, "deadlocks_hardirq")
        self.expect(judge, result(run, deadlocks_hardirq=0, timeouts=1), False, "timed out")
        self.expect(judge, result(run, deadlocks_hardirq=ENOUGH, failed_wait_samples=ENOUGH,
                                  timeouts=0, failed_wait_ns_p90=2 * MS), False, "one of ten")

    def test_a_lock_that_excludes_nobody(self):
        run = broken_run()
        self.expect(is_found_out, result(run), True, "it has passed")
        self.expect(is_found_out, result(run, f"FAIL {TWO_HOLDERS}"), False)
        self.expect(is_found_out_in_both_ways, result(run, f"FAIL {TWO_HOLDERS}"), True,
                    FREED_WRITTEN)
        self.expect(is_found_out_in_both_ways,
                    result(run, f"FAIL {TWO_HOLDERS}, {FREED_WRITTEN}"), False)
        run.complete = False
        self.expect(is_found_out, run, False, "no verdict")
