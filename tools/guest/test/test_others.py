# SPDX-License-Identifier: GPL-2.0
"""Loads that others wrote: their names, and the figures in what they print."""

import shutil
import subprocess
import unittest

from base import parameters
from guest import loads_of_others as others

STRESS_NG = """\
stress-ng: info:  [5] dispatching hogs: 2 switch
stress-ng: metrc: [5] stressor       bogo ops real time  usr time  sys time   bogo ops/s
stress-ng: metrc: [5]                           (secs)    (secs)    (secs)   (real time)
stress-ng: metrc: [5] switch           173889      1.25      0.05      0.40    173751.34
stress-ng: metrc: [5] miscellaneous metrics:
stress-ng: metrc: [5] switch             11502.82 nanosecs per context switch (pipe method)
"""
SAID = {
    "stress-ng-switch": (STRESS_NG, "173889 1.25"),
    "stress-ng-futex": (STRESS_NG, ""),
    "perf-messaging": ("# 2 groups == 80 processes run\n\n     Total time: 0.136 [sec]\n",
                       "200 0.136"),
    "perf-futex": ("Averaged 1052160 operations/sec (+- 2.68%), total secs = 3\n", "6312960 3"),
    "perf-mem": ("       1.392305 GB/sec\n", "20 0.5"),
    "hackbench": ("Each sender will pass 100 messages of 100 bytes\nTime: 0.080\n", "200 0.080"),
    "sysbench-threads": ("    total time:                          4.0291s\n"
                         "    total number of events:              7\n", "7 4.0291"),
    "make": ("  LD  libsubcmd-in.o\n", "1 0.5"),
}


class Loads(unittest.TestCase):
    def test_its_loads_are_those_that_a_scenario_can_name(self):
        self.assertEqual(tuple(others.LOADS), parameters.LOADS_OF_OTHERS)

    def test_the_figures_are_those_that_a_program_prints(self):
        for name, (said, figures) in SAID.items():
            with self.subTest(load=name):
                done = subprocess.run(
                    [shutil.which("busybox"), "awk", "-v", "n=2", "-v", "s=3", "-v", "took=0.5",
                     others.LOADS[name].figures], input=said, text=True, stdout=subprocess.PIPE,
                    check=True)
                self.assertEqual(done.stdout.strip(), figures)


if __name__ == "__main__":
    unittest.main()
