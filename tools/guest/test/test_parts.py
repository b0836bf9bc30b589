# SPDX-License-Identifier: GPL-2.0
"""Parts of a guest's output and log: whose they are, and that they end."""

import unittest

from guest.parts import BEGIN, END, Part, part_of


class Outcome:
    log = f"x\n[ 1.0] {BEGIN}a\none\n[ 1.1] {END}a 0\n[ 1.2] {BEGIN}a_b\n"
    output = f"{BEGIN}a\ntwo\n{END}a 3\n{BEGIN}a_b\nthree\n"


class PartsTest(unittest.TestCase):
    def test_each_part_has_its_own_and_its_status(self):
        for name, wanted in (("a", ("\ntwo\n", True, 3)), ("a_b", ("\nthree\n", True, None)),
                             ("c", ("", False, None))):
            self.assertEqual(part_of(Outcome.output, name), wanted)

    def test_a_part_that_fails_or_was_not_reached_is_complained_about(self):
        for name, output, complaint in (("a", "two", "exit status 3"),
                                        ("a_b", "three", "exit status None")):
            part = Part(name, "true")
            part.take(Outcome)
            self.assertEqual((part.output.strip(), part.complaint), (output, complaint))
        self.assertEqual(part_of(Outcome.log, "a")[0].split("[")[0], "\none\n")
