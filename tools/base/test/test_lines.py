# SPDX-License-Identifier: GPL-2.0
import unittest

from base.lines import Lines


class Heard(Lines):
    def __init__(self):
        self.lines = []

    def hear(self, line):
        self.lines.append(line)


class TestLines(unittest.TestCase):
    def test_line_in_parts_is_heard_once_it_is_complete(self):
        heard = Heard()
        heard.write(b"one\ntw")
        self.assertEqual(heard.lines, ["one"])
        heard.write(b"o\n\nthree")
        heard.flush()
        self.assertEqual(heard.lines, ["one", "two", ""])

    def test_bytes_that_are_no_text(self):
        heard = Heard()
        heard.write(b"a\xff\n")
        self.assertEqual(heard.lines, ["a\N{REPLACEMENT CHARACTER}"])
