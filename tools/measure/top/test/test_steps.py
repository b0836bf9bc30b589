# SPDX-License-Identifier: GPL-2.0
"""What perf and the histograms have of the same run."""

import unittest

from base.driver import Run
from measure.top.steps import perf_waits, top_waits
from measure.top.test import samples

PERF = """@perf run
[ perf record: Captured and wrote 0.087 MB /tmp/perf.data (472 samples) ]
# output: contended, total wait, address, symbol, type
236, 1080864694, ffffffffc0a01040, , spinlock
3, 64694, ffffffff82005000, jiffies_lock, spinlock
@perf-over
"""


class Waits(unittest.TestCase):
    def setUp(self):
        self.run_of_both = Run("run")
        self.run_of_both.output = PERF
        self.run_of_both.seen = ({"begin": samples.waiters(("a", 0)) + samples.holders(
            ("a", 1, 200), ("a", -1, 36))}, None)

    def test_rows_of_perf(self):
        self.assertEqual(perf_waits(self.run_of_both),
                         {"ffffffffc0a01040": 236, "ffffffff82005000": 3})

    def test_no_perf(self):
        self.run_of_both.output = ""
        self.assertEqual(perf_waits(self.run_of_both), {})

    def test_histogram_adds_up_over_holders(self):
        self.assertEqual(top_waits(self.run_of_both), {"ffffffffc0a01040": 236})
