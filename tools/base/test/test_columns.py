# SPDX-License-Identifier: GPL-2.0
"""Tables that fit a terminal."""

import contextlib
import io
import unittest
from unittest import mock

from base.common import columns, in_two, print_columns, wrapped

ROWS = [("lock", "attempts in all", "failed", "99.9 % within"),
        ("a", "1", "2", "3 us"), ("longer", "1000", "20", "4.5 us")]


@contextlib.contextmanager
def on_terminal(width):
    """What is printed there; without a width, to a file."""
    out = io.StringIO()
    out.isatty = lambda: width is not None
    with mock.patch("sys.stdout", out), \
            mock.patch.dict("os.environ", {"COLUMNS": str(width or 80)}):
        yield out


class Columns(unittest.TestCase):
    def test_a_table_that_fits_is_as_it_is_without_a_terminal(self):
        wide = columns(ROWS, right=(1, 2))
        self.assertEqual(wide, [
            "lock    attempts in all  failed  99.9 % within",
            "a                     1       2  3 us",
            "longer             1000      20  4.5 us"])
        self.assertEqual(columns(ROWS, (1, 2), len(wide[0])), wide)

    def test_heads_get_two_lines_before_a_table_is_parted(self):
        self.assertEqual([in_two(text) for text in ("99.9 % within", "lock", "")],
                         [("99.9 %", "within"), ("", "lock"), ("", "")])
        self.assertEqual(columns(ROWS, (1, 2), 45), [
            "        attempts          99.9 %",
            "lock      in all  failed  within",
            "a              1       2  3 us",
            "longer      1000      20  4.5 us"])

    def test_each_part_has_the_first_column_and_every_cell_is_in_one(self):
        parted = columns(ROWS, (1, 2), 20)
        self.assertEqual(parted, [
            "        attempts", "lock      in all", "a              1", "longer      1000", "",
            "lock    failed", "a            2", "longer      20", "",
            "        99.9 %", "lock    within", "a       3 us", "longer  4.5 us"])

    def test_a_single_wide_cell_is_not_lost(self):
        self.assertIn("x" * 50, "".join(columns([("a", "b"), ("x" * 50, "y" * 50)], width=20)))
        self.assertEqual(columns([("a", "b")], width=80), ["a  b"])

    def test_a_terminal_limits_tables_and_text_and_a_file_does_not(self):
        for terminal, longest in ((None, len(columns(ROWS)[0])), (30, 30)):
            with on_terminal(terminal) as out:
                print_columns(ROWS)
                text = wrapped("word " * 50)
            self.assertLessEqual(max(map(len, out.getvalue().splitlines())), longest)
            self.assertEqual("" in out.getvalue().splitlines(), terminal == 30)
            self.assertLessEqual(max(map(len, text.splitlines())), terminal or 100)
