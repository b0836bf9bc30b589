# SPDX-License-Identifier: GPL-2.0
"""A study: what is read of loads, claims, turns, the table, the exit status, its step."""

import contextlib
import io
import sys
from types import ModuleType, SimpleNamespace
import unittest
from unittest import mock

from base.case import STEPS, Case
from base.common import PROJECT
from studies.frame import Guest, Load, Made, Study, Values, cell, rounds, side_by_side, study

TEXT = """\
[    1.5] [T1] noise here
[    1.5] the_load: task.attempts 7
[    1.6] the_load: task.attempts 9
late 1.5
wrong: two threads have the lock
ring x00
"""


class Boot(Guest):
    """A guest whose one load prints a text."""

    def __init__(self, text, status=0, complaints=()):
        load = Load("load", "", {"some came": lambda values: values["came"]})
        load.output, load.status = text, status
        super().__init__(None, [load])
        self.outcome = SimpleNamespace(problem=None, complaints=complaints, log="", log_path=None,
                                       output="")

    def run(self):
        return self


TESTBED = SimpleNamespace(name="x", version="x", machine=lambda: None)


def module_of(texts, **more):
    """A study of sides with the outputs of their loads."""
    module = ModuleType("studies.made_up.study", "Counts.\n\nMore.")
    vars(module).update({
        "needs": lambda options: ([], []), "SIDES": dict.fromkeys(texts, TESTBED),
        "PARTS": {"one": lambda name, side, machine, options: Boot(texts[side])},
        "ROWS": {"that came": cell("came")}, "OPTIONS": (rounds(2),), **more})
    return module


def run(texts, *words, **more):
    """(exit status, what it prints)"""
    out = io.StringIO()
    with mock.patch.object(sys, "argv", ["nbq made-up", *words]), \
            mock.patch("studies.frame.setup"), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(io.StringIO()):
        status = Study(module_of(texts, **more)).body()
    return status, out.getvalue().splitlines()


class Read(unittest.TestCase):
    def test_lines_of_a_name_and_a_value_count_the_last_of_each(self):
        values = Values(TEXT)
        self.assertEqual(values, {"task.attempts": 9, "late": 1.5, "ring": "x00"})
        self.assertEqual(values.all("task.attempts"), [7, 9])
        self.assertEqual(values.below("task"), {"attempts": 9})

    def test_a_claim_that_does_not_hold_or_has_no_value_is_a_complaint(self):
        for text, status, words in (("came 1\n", 0, ""), ("came 0\n", 0, "not so: some came"),
                                    ("", 0, "was not printed"), ("came 1\nx\n", 2, "status 2: x")):
            complaint = Boot(text, status).parts[0].complaint
            self.assertEqual(bool(complaint), bool(words))
            self.assertIn(words, complaint)


class Command(unittest.TestCase):
    def test_a_table_has_a_column_for_each_side(self):
        status, lines = run({"old": "came 3\n", "new": "came 4\n"})
        self.assertEqual([line.split() for line in lines],
                         [["load", "old", "new"], ["one", "that", "came", "3", "4"]])
        self.assertEqual(status, 0)

    def test_sides_take_turns(self):
        options = SimpleNamespace(rounds=2)
        found = Study(module_of({"old": "", "new": ""})).guests(options)
        self.assertEqual([side for _, side, _ in found], ["old", "new", "new", "old"])

    def test_the_exit_status_says_that_a_load_fails_and_the_command_stops_there(self):
        begun = []
        parts = {"one": lambda name, side, *_: begun.append(side) or Boot("came 0\n")}
        self.assertEqual(run({"old": "", "new": ""}, PARTS=parts), (1, []))
        self.assertEqual(begun, ["old"])
        status, lines = run({"old": "came 0\n", "new": "came 4\n"}, STOPS=False)
        self.assertEqual((status, len(lines)), (1, 2))
        self.assertEqual(run({"old": "came 0\n", "new": "came 4\n"}, STOPS=False,
                             JUDGED=("new",))[0], 0)

    def test_the_exit_status_says_that_a_kernel_complains_or_a_claim_fails(self):
        sides = {"old": "came 1\n"}
        self.assertEqual(run(sides, PARTS={"one": lambda *_: Boot("came 1\n", 0, ["BUG"])})[0], 1)
        for came, status in ((1, 0), (2, 1)):
            claims = {"they came": lambda made, came=came: made.guests("one", "old")[1].parts[0]
                      .values["came"] == came}
            self.assertEqual(run(sides, CLAIMS=claims)[0], status)

    def test_parts_can_be_chosen(self):
        parts = {name: lambda name, *_: Boot(f"came {len(name)}\n") for name in ("a", "bb")}
        _, lines = run({"old": ""}, "bb", PARTS=parts, CHOSEN="part")
        self.assertEqual(lines[1].split(), ["bb", "that", "came", "2"])
        with self.assertRaises(SystemExit):
            run({"old": ""}, "c", PARTS=parts, CHOSEN="part")

    def test_a_value_that_one_side_lacks_is_a_dash(self):
        made = Made()
        made.add("one", "old", Boot("came 1\n"))
        made.add("one", "new", Boot("went 1\n"))
        made.add("one", "hung", Boot("came 1\n", None))
        self.assertEqual(side_by_side(made, {"came": cell("came"), "none": cell("none")}),
                         [("load", "", "old", "new", "hung"), ("one", "came", "1", "-", "-")])


class Step(unittest.TestCase):
    def cases(self, texts, **more):
        module = module_of(texts, **more)
        with mock.patch.dict(sys.modules, {module.__name__: module}), mock.patch.dict(STEPS), \
                contextlib.redirect_stderr(io.StringIO()):
            study(module.__name__)
            self.assertEqual(STEPS["made-up"].__doc__, "Counts.")
            return [(case.name, case.status) for case in STEPS["made-up"]()
                    if isinstance(case, Case)]

    def test_each_load_guest_and_claim_is_a_case(self):
        claims = {"it came": lambda made: made["one"], "it went": lambda made: 0}
        with mock.patch("guest.cases.log_excerpt", return_value=""):
            found = self.cases({"old": "came 1\n", "new": "came 0\n"}, CLAIMS=claims)
        self.assertEqual(found, [
            ("made-up, old: load", "ok"),
            ("made-up, old: one: the guest ends, its kernel log is clean", "ok"),
            ("made-up, new: load", "FAIL"),
            ("made-up, new: one: the guest ends, its kernel log is clean", "ok"),
            ("made-up: it came", "ok"), ("made-up: it went", "FAIL")])

    def test_a_study_with_a_step_of_its_own_gets_no_other(self):
        module = module_of({})
        with mock.patch.dict(sys.modules, {module.__name__: module}), mock.patch.dict(STEPS):
            STEPS["own"] = SimpleNamespace(__module__=module.__name__)
            study(module.__name__)
            self.assertNotIn("made-up", STEPS)

    def test_each_study_is_found(self):
        for path in (PROJECT / "tools/studies").glob("*/study.py"):
            self.assertRegex(path.read_text(), r"(?s)\nVERBS = \{.*\nbody = study\(__name__\)\n$")
