# SPDX-License-Identifier: GPL-2.0
"""The loads on the hybrid's kernel: what is wrong with a run."""

import unittest

from base.parameters import LOADS
from measure.results import RunRecord
from studies.whole_kernel import study

GOOD = {"workers": 4, "finished": 4, "operations": 10, "least": 2, "most": 3,
        "nbq_deadlocks": 0, "nbq_exhaustions": 0}


def run(verdict="PASS", **changes):
    return RunRecord("nbq_spin", 0, {"cpus": 4, "load": "open"}, {}, {**GOOD, **changes}, verdict)


class Runs(unittest.TestCase):

    def test_a_good_one_has_nothing_wrong(self):
        self.assertEqual(study.wrong_with_load(run()), "")

    def test_each_thing_that_can_be_wrong_is_said(self):
        for changes, words in (({"finished": 3}, "3 of 4 workers finished"),
                               ({"operations": 0, "least": 0, "most": 0}, "0 operations"),
                               ({"least": 4}, "4 to 3 a worker"),
                               ({"nbq_deadlocks": 1}, "1 deadlocks"),
                               ({"verdict": "FAIL worker 1: open: no"}, "worker 1")):
            self.assertIn(words, study.wrong_with_load(run(**changes)))

    def test_the_plan_has_every_load_once(self):
        plan = study.plan_of(["nbq_spin"], 4, 1000)
        self.assertEqual([(point["cpus"], point["load"]) for point in plan.points(2)],
                         [(4, load) for load in LOADS])

    def test_the_plan_in_qemu_is_for_its_testbed(self):
        plan = study.plan_of(["nbq_spin"], 4, 1000, "kernel-x86_64")
        self.assertEqual(plan.testbed, "kernels-x86_64")
        self.assertTrue(all(point["cpus"] == 4 for point in plan.points(2)))
