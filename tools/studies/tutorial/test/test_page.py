# SPDX-License-Identifier: GPL-2.0
"""The tutorial: what is read from the page, and how outputs are compared."""

import unittest

from base.common import Failure
from studies.tutorial.page import PAGE, breaks_a_promise, commands, is_as_shown, tracked, unread


class TutorialTest(unittest.TestCase):
    def test_every_file_is_on_the_page(self):
        self.assertEqual(unread(PAGE.read_text(), tracked()), [])
        self.assertEqual(unread("", ["new.c", "Makefile"]), ["new.c"])

    def test_a_command_without_output_is_refused(self):
        with self.assertRaises(Failure):
            commands("   $ tools/nbq guest true\n\nText.\n")

    def test_a_command_that_the_tests_do_not_know_is_refused(self):
        typed, = commands("   $ tools/check docs\n\n.. literalinclude:: tutorial/docs.txt\n")
        with self.assertRaisesRegex(Failure, "types tools/check docs, and only"):
            typed.run()

    def test_places_of_mistakes_are_compared(self):
        typed = {one.name: one for one in commands(PAGE.read_text())}["mistakes"]
        shown = typed.path.read_text()
        self.assertTrue(is_as_shown(typed, shown, shown))
        self.assertFalse(is_as_shown(typed, shown.replace(":3:", ":4:"), shown))

    def test_outputs_are_compared_without_their_figures(self):
        typed = {one.name: one for one in commands(PAGE.read_text())}
        shown = typed["timeout"].path.read_text()
        self.assertTrue(is_as_shown(typed["timeout"], shown, shown))
        self.assertFalse(is_as_shown(typed["timeout"], shown + "more\n", shown))
        lost = typed["bounded"].path.read_text().replace("deadlocks:0", "deadlocks:1")
        self.assertTrue(breaks_a_promise(typed["bounded"], lost, lost))
