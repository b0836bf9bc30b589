# SPDX-License-Identifier: GPL-2.0
"""Runs that are made once more, and those that are not."""

from types import SimpleNamespace
import unittest

from base.driver import Run
from measure.stress import LONGER, ROUNDS, Unseen, until_seen
from module.disturbed import ENOUGH, at_once
from module.shapes import (FREED_WRITTEN, TWO_HOLDERS, acquires, backs_off, broken_run, draws,
                           ends_deadlocks_early, gives_up, shaped, tries_again)
from module.stress import survives

MS = 1000000


def result(run, verdict="PASS", **figures):
    """Give a run a result."""
    lines = [f"{name} {value}" for name, value in figures.items()]
    run.text = "\n".join([*lines, f"verdict {verdict}", ""])
    run.complete = True
    return run


class Rounds(unittest.TestCase):
    def test_what_is_only_unseen_is_made_again_and_longer(self):
        unseen, seen, failed = ("PASS", 0), ("PASS", 1), ("FAIL so", 7)
        for results, problem, rounds, complaint in (
                ([seen], None, 1, ""), ([unseen, unseen, seen], None, 3, ""),
                ([unseen] * ROUNDS, None, ROUNDS, "none"), ([failed], None, 1, "FAIL so"),
                ([unseen, failed], None, 2, "FAIL so"), ([unseen], "hung", 1, "none")):
            run = Run("run", lambda run: not run.number("timeouts") and Unseen("none"),
                      duration_ms=10)
            made = []

            def make(runs):
                self.assertEqual((runs, run.text), ([run], ""))
                verdict, timeouts = results[len(made)]
                made.append(run.settings["duration_ms"])
                result(run, verdict, timeouts=timeouts)
                return SimpleNamespace(problem=problem)

            self.assertEqual(len(until_seen([run], make)), rounds)
            self.assertEqual(made, [10 * LONGER ** number for number in range(rounds)])
            self.assertEqual(run.complaint, complaint)

    def test_only_runs_that_lack_something_are_made_again(self):
        first = Run("first", lambda run: "wrong", duration_ms=1)
        second = Run("second", lambda run: run.number("timeouts") < 2 and Unseen("few"),
                     duration_ms=1)
        made = []

        def make(runs):
            made.append([run.name for run in runs])
            for run in runs:
                result(run, timeouts=len(made))
            return SimpleNamespace(problem=None)

        until_seen([first, second], make)
        self.assertEqual(made, [["first", "second"], ["second"]])


class Judges(unittest.TestCase):
    """What is wrong, what was only not seen, and what is right."""

    def expect(self, run, *rows, **common):
        """rows: (whether it was only not seen, words of the complaint, figures)."""
        for unseen, words, figures in rows:
            complaint = result(run, **{**common, **figures}).complaint
            self.assertIn(words, complaint)
            self.assertEqual((bool(complaint), isinstance(complaint, Unseen)),
                             (bool(words), unseen), complaint)

    def test_timeouts_that_did_not_come(self):
        self.expect(Run("run", survives(2, True), lock="clh_nb"),
                    (True, "no wait timed out", {"timeouts": 0}), (False, "", {"timeouts": 1}),
                    (False, "99 nodes", {"timeouts": 0, "nodes_max": 99}),
                    (False, "FAIL so", {"timeouts": 0, "verdict": "FAIL so"}),
                    nodes_max=4, acquisitions=5)

    def test_a_thread_that_never_acquired(self):
        self.expect(Run("run", acquires), (True, "never acquired", {"thread_min": 0}))

    def test_attempts_for_each_acquisition_depend_on_the_host(self):
        # The holder was away for all but the end of the run; or it was not.
        starved = {"attempts": 400, "acquisitions": 2}
        busy = {"attempts": 40000, "acquisitions": 100}
        for judge, rows in (
                (gives_up, [(False, "", starved), (False, "without a retry", busy)]),
                (tries_again, [(True, "few attempts", {**starved, "attempts": 20}),
                               (False, "", {**starved, "attempts": 4000})]),
                (backs_off, [(False, "", {**starved, "attempts": 100}),
                             (False, "in spite of pauses", busy)])):
            self.expect(shaped("run", "clh_nb", judge, ncs_ns=2 * MS, backoff_max_ns=8 * MS), *rows,
                        elapsed_ns=200 * MS, thread_min=1, timeouts=300)

    def test_medians_need_samples(self):
        self.expect(Run("run", draws), (True, "attempts failed", {"failed_wait_samples": 3}),
                    (False, "less than 1.5 ms", {"failed_wait_samples": 300}),
                    failed_wait_ns_p50=MS)

    def test_deadlocks_that_end_late(self):
        self.expect(Run("run", ends_deadlocks_early, patience_ns=40000 * MS), *(
            (False, words, {"failed_wait_ns_max": most * MS, "failed_wait_ns_p50": half * MS})
            for words, most, half in (("", 3000, 1), ("noticed after more than 2 s", 3000, 2500),
                                      ("noticed after more than 20 s", 21000, 1))),
                    timeouts=0, deadlocks=9, thread_min=1)

    def test_what_is_told_at_once(self):
        many = {"deadlocks_hardirq": ENOUGH, "failed_wait_samples": ENOUGH}
        self.expect(Run("run", at_once(["hardirq"])), (False, "", many),
                    (True, "fewer than", {"deadlocks_hardirq": 5, "failed_wait_samples": 5}),
                    (True, "deadlocks_hardirq", {"deadlocks_hardirq": 0}),
                    (False, "timed out", {"deadlocks_hardirq": 0, "timeouts": 1}),
                    (False, "one of ten", {**many, "failed_wait_ns_p90": 2 * MS}),
                    timeouts=0, failed_wait_ns_p90=900)

    def test_a_lock_that_excludes_nobody(self):
        run = broken_run()
        self.expect(run, (True, "it has passed", {}),
                    (True, FREED_WRITTEN, {"verdict": f"FAIL {TWO_HOLDERS}"}),
                    (False, "", {"verdict": f"FAIL {TWO_HOLDERS}, {FREED_WRITTEN}"}))
        run.complete = False
        self.assertIn("no verdict", run.complaint)
        self.assertNotIsInstance(run.complaint, Unseen)
