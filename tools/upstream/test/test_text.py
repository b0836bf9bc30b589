# SPDX-License-Identifier: GPL-2.0
"""Lines that are put into a text."""

import unittest

from testbed.common import Trouble
from upstream.text import after, before, blank_lines, edited


class Edits(unittest.TestCase):
    def test_lines_stand_at_their_place(self):
        text = edited("x", "a\nb\nc\n", [before("^b", "1\n"), after(r"^b\n", "2\n")])
        self.assertEqual(text, "a\n1\nb\n2\nc\n")

    def test_place_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(Trouble, "Makefile of Linux 9 has 0 places, not 1, like"):
            edited("Makefile of Linux 9", "a\n", [before("^b", "1\n")])

    def test_place_that_is_there_twice_is_refused(self):
        with self.assertRaisesRegex(Trouble, "has 2 places, not 1"):
            edited("x", "b\nb\n", [before("^b", "1\n")])

    def test_blank_lines_are_single_and_within(self):
        self.assertEqual(blank_lines("\na\n\n\n\nb\n\n"), "a\n\nb\n")
