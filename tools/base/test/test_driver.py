# SPDX-License-Identifier: GPL-2.0
"""What the stress driver prints, as figures."""

import unittest

from base.driver import Run, listed, marked_histograms, read_figures


class Figures(unittest.TestCase):

    def test_numbers_are_numbers_and_lists_of_cpus_are_not(self):
        found = read_figures("lock clh_nb\ncpus 0\nthreads 2\nleaked -1\n"
                             "rate 1.5\npatience_ns max\nverdict FAIL a, b\n")
        self.assertEqual(found, {"lock": "clh_nb", "cpus": "0", "threads": 2, "leaked": -1,
                                 "rate": 1.5, "patience_ns": "max", "verdict": "FAIL a, b"})

    def test_lock_types_of_other_modules_come_behind_the_broken_one(self):
        own = "clh_nb: ours\nraw_spinlock: the kernel's (no timeout)\n"
        for text, names in ((own, []), (own + "broken: x\n", []),
                            (own + "broken: x\nmine: y (no timeout)\n", ["mine"])):
            found = listed(text)
            self.assertEqual([lock.name for lock in found if not lock.is_own], names)
            self.assertEqual([lock.name for lock in found if lock.is_own],
                             ["clh_nb", "raw_spinlock"])

    def test_histograms_that_are_wanted_are_told_apart_from_the_result(self):
        run = Run("one", lock="clh_nb")
        run.text = marked_histograms("histogram from to count\nwait 0 0 5\nwait 64 65 1\n"
                                     "passed 1 1 2\n") + "threads 2\nverdict PASS\n"
        run.complete = True
        self.assertEqual((run.histograms, run.command), ({}, "stress_run one lock=clh_nb"))
        run.wanted = ("wait", "away")
        self.assertEqual(run.histograms, {"wait": [[0, 0, 5], [64, 65, 1]]})
        self.assertEqual(run.command, "histograms='wait|away'\nstress_run one lock=clh_nb")
        self.assertEqual((run.verdict, run.figures), ("PASS", {"threads": 2, "verdict": "PASS"}))

    def test_marks_of_the_guest_are_no_results(self):
        self.assertEqual(read_figures("@status 0\nno\nthreads 2\n"), {"threads": 2})
