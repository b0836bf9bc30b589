# SPDX-License-Identifier: GPL-2.0
"""Moving drivers: what is read from files and pages."""

import unittest

from base.common import Failure
from studies.moving.drivers import Lock, is_left, with_include
from studies.moving.steps import PAGE as MOVING
from studies.moving.steps import rows


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
