# SPDX-License-Identifier: GPL-2.0
"""The times that tools/host/programs/count prints."""

import subprocess
import unittest

from base.common import PROJECT

COUNT = PROJECT / "tools/host/programs/count"


class Times(unittest.TestCase):
    # Every lock is measured, beside the word of the same run; those that heed a patience fail, too.
    def test_each_lock_has_a_row_and_the_word_is_one(self):
        lines = subprocess.run([COUNT, "--time"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        rows = {line[:13].strip(): line[13:].split() for line in lines[lines.index("") + 2:]}
        self.assertEqual(rows["a word"][3], "1.00")
        for lock, tries in (("clh_nb", True), ("swap_nb", True), ("nbq_spin", True),
                            ("mcs_try", True), ("clh", False), ("tas_b", False)):
            self.assertEqual(len(rows[lock]), 4 + tries, lock)
            self.assertTrue([float(cell) for cell in rows[lock]], lock)
