# SPDX-License-Identifier: GPL-2.0
"""Moving drivers, the tutorial: what is read from files and pages."""

import unittest

from studies.moving.steps import PAGE as MOVING, rows
from base.common import Failure
from studies.moving.drivers import Lock, is_left, with_include
from studies.tutorial.page import PAGE, breaks_a_promise, commands, is_as_shown, tracked, unread


class MovingTest(unittest.TestCase):
    def test_a_lock_is_a_field_or_a_name(self):
        self.assertIn("S=pch_gpio", Lock("pch_gpio.spinlock").definitions)
        self.assertIn("L=list_lock", Lock("list_lock").definitions)
        for text in ("", "a-b", "a.b.c", "&lock"):
            with self.assertRaisesRegex(Failure, "STRUCT.FIELD"):
                Lock(text)

    def test_include_is_behind_those_without_condition(self):
        text = "#include <a.h>\n#ifdef B\n#include <b.h>\n#endif\nint x;\n"
        self.assertTrue(with_include(text, False).startswith(
            "#include <a.h>\n#include <nbqlock/nbqlock.h>\n#ifdef B\n"))
        self.assertIn("<nbqlock/types.h>", with_include(text, True))
        self.assertEqual(with_include(with_include(text, False), False),
                         with_include(text, False))

    def test_what_is_left(self):
        lock = Lock("s.lock")
        self.assertTrue(is_left("\traw_spin_lock_nest_lock(&p->lock, &q->lock);", lock))
        self.assertTrue(is_left("\ttake(&p->lock);", lock))
        self.assertFalse(is_left("\tnbq_spin_lock(&p->lock);", lock))
        self.assertFalse(is_left("\t__must_hold(&p->lock)", lock))
        self.assertFalse(is_left("\traw_spin_lock(&p->lock_of_another);", lock))

    def test_page_has_its_table(self):
        self.assertGreater(len(rows(MOVING.read_text())), 10)
        with self.assertRaises(Failure):
            rows("no table")


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
