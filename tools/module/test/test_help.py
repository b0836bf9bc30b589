# SPDX-License-Identifier: GPL-2.0
"""Help on a terminal of 80 columns."""

import io
import os
import subprocess
import unittest
from unittest import mock

from base.commands import program_of
from base.common import PROJECT

PROGRAMS = ("tools/nbq", "tools/check", "tools/ship/record", "tools/host/simulate/simulate",
            "tools/host/simulate/rules", "tools/studies/moving/convert",
            "tools/host/explore/explore", "tools/host/litmus/run",
            "tools/host/weak_memory/run", "tools/host/mutate/mutate")


def help_of(*words):
    """What a program of Python's prints on such a terminal."""
    out = io.StringIO()
    program = program_of(words[0])
    with mock.patch.dict(os.environ, {"COLUMNS": "80"}), mock.patch("sys.stdout", out), \
            mock.patch("sys.argv", [*words, "--help"]):
        try:
            (program.body if hasattr(program, "body") else program.main)()
        except SystemExit:
            pass
    return out.getvalue()


def verbs():
    program = program_of("tools/nbq")
    return [action.dest for action in program.new_parser()[1]._choices_actions]


class Help(unittest.TestCase):
    def test_no_line_is_wider(self):
        texts = {" ".join(words): help_of(*words) for words in
                 [(program,) for program in PROGRAMS] +
                 [("tools/nbq", verb) for verb in verbs()]}
        texts["tools/setup"] = subprocess.run(
            [PROJECT / "tools/setup", "--help"], text=True, stdout=subprocess.PIPE,
            check=True).stdout
        self.assertGreater(len(texts), 30)
        for name, text in texts.items():
            wide = [line for line in text.expandtabs().splitlines() if len(line) > 80]
            self.assertTrue(text and not wide, name + "\n" + "\n".join(wide))
