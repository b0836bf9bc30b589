# SPDX-License-Identifier: GPL-2.0
"""tools/nbq bench: its exit status, and that what was measured is kept."""

import contextlib
import io
import json
import os
from pathlib import Path
import signal
from types import SimpleNamespace
import unittest
from unittest import mock

from bench import cli, cli_bench, compare
from bench.test.samples import SAMPLE, SIMULATED, Folders, NoPlace, changed, pretend_pass
from testbed.common import Trouble

FILE = changed(SAMPLE, "a(clh_nb) > 1", "jain(clh_nb, cpus=1, cs_ns=0) < 1",
               "some_metric", "jain")


class Commands(Folders, unittest.TestCase):

    def command(self, place, text=FILE, share=None, **more):
        """The exit status, and what was printed; it draws nothing."""
        options = SimpleNamespace(names=[str(self.file("mine.ini", text))], list=False,
                                  quick=False, rounds=None, locks=None, testbed=None,
                                  out=self.folder / "out", share=share, **more)
        printed = io.StringIO()
        with mock.patch.object(cli_bench, "setup"), \
                mock.patch.object(cli_bench, "place_on", return_value=place), \
                mock.patch.object(cli_bench, "draw", return_value=True) as self.draw, \
                contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            return cli_bench.run(options), printed.getvalue()

    def kept(self):
        """What is in the only folder: a scenario's result."""
        folder, = (self.folder / "out").iterdir()
        self.assertTrue((folder / "machine.json").exists())
        return json.loads((folder / "mine.json").read_text())

    def test_a_verdict_that_is_no_pass_is_seen_in_the_status(self):
        status, printed = self.command(NoPlace())
        self.assertEqual(status, 0)
        self.assertIn("clh_nb", printed)
        self.assertTrue(self.kept()["complete"])
        self.assertTrue(self.draw.called)

        def fail_one(runs):
            pretend_pass(runs)
            runs[0].text = "verdict FAIL two holders were seen\n"
        status, printed = self.command(NoPlace(make=fail_one))
        self.assertEqual(status, 1)
        self.assertIn("two holders", printed)

    def test_figures_that_cannot_be_drawn_are_seen_in_the_status(self):
        with mock.patch("bench.plot.draw", side_effect=Trouble("no gnuplot")), \
                mock.patch.object(cli_bench, "say") as said:
            self.assertFalse(cli_bench.draw(Path("somewhere")))
        self.assertIn("no gnuplot; tools/nbq report somewhere tries again",
                      said.call_args[0][0])

    def test_the_result_is_shared_if_that_is_asked_for(self):
        file = self.folder / "shared.json"
        status, printed = self.command(NoPlace(), share=file)
        self.assertEqual(status, 0)
        self.assertIn("has the above of this machine", printed)
        self.assertEqual(len(compare.Side(file).scenarios), 1)

    def test_a_file_that_is_there_is_refused_before_anything_is_measured(self):
        file = self.file("there.json", "kept")
        with self.assertRaisesRegex(Trouble, "not overwritten"):
            self.command(NoPlace(), share=file)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(file.read_text(), "kept")

    def test_what_was_measured_before_an_interruption_is_kept(self):
        def stopped(runs):
            pretend_pass(runs[:3])
            raise KeyboardInterrupt
        status, printed = self.command(NoPlace(make=stopped))
        self.assertEqual(status, cli.STOPPED)
        self.assertIn("what had been measured is in", printed)
        found = self.kept()
        self.assertEqual((found["complete"], len(found["runs"])), (False, 3))
        self.assertFalse(self.draw.called)

    def test_a_folder_that_cannot_be_made_is_found_before_anything_else(self):
        self.file("out", "")
        place = NoPlace()
        with self.assertRaisesRegex(Trouble, "out is no folder to write to"):
            self.command(place)
        self.assertEqual(place.made, [])

    def test_a_second_file_of_the_same_name_is_refused(self):
        (self.folder / "other").mkdir()
        names = [str(self.file("mine.ini", FILE)), str(self.file("other/mine.ini", FILE))]
        with self.assertRaisesRegex(Trouble, "two scenarios have the name mine"):
            cli_bench.chosen(SimpleNamespace(names=names, quick=False, rounds=None,
                                             locks=None, testbed=None))

    def test_options_change_every_scenario(self):
        path = self.file("mine.ini", SAMPLE.split("[plot")[0])
        plan, = cli_bench.chosen(SimpleNamespace(names=[str(path)], quick=True, rounds=7,
                                                 locks=None, testbed=None))
        self.assertEqual((plan.rounds, plan.load["duration_ms"]), (7, 10))


class Beds(Folders, unittest.TestCase):

    def chosen(self, testbed=None, **texts):
        names = [str(self.file(f"{name}.ini", text.split("[plot")[0]))
                 for name, text in texts.items()]
        options = SimpleNamespace(names=names, quick=False, rounds=None, locks=None,
                                  testbed=testbed)
        return [(plan.name, plan.testbed) for plan in cli_bench.chosen(options)]

    def test_a_scenario_is_run_on_its_bed_and_simulated_if_it_says_so(self):
        self.assertEqual(self.chosen(both=SIMULATED, one=SAMPLE), [
            ("both", "uml"), ("both-simulated", "simulated"), ("one", "uml")])

    def test_a_bed_that_is_asked_for_is_the_only_one(self):
        self.assertEqual(self.chosen("simulated", both=SIMULATED, one=SAMPLE), [
            ("both-simulated", "simulated"), ("one-simulated", "simulated")])
        self.assertEqual(self.chosen("debian-6.1", both=SIMULATED), [("both", "debian-6.1")])

    def test_of_all_scenarios_those_for_a_bed_are_run_on_it(self):
        with mock.patch.object(cli_bench, "files", return_value={
                "both": self.file("both.ini", SIMULATED.split("[plot")[0]),
                "one": self.file("one.ini", SAMPLE.split("[plot")[0])}):
            self.assertEqual(self.chosen("simulated"), [("both-simulated", "simulated")])
            self.assertEqual(len(self.chosen("uml")), 2)
            self.assertEqual(self.chosen("icount"), [])


class Arguments(unittest.TestCase):

    def test_rounds_have_a_limit(self):
        self.assertEqual(cli.rounds("1000"), 1000)
        for text in ("0", "1001"):
            with self.assertRaises(cli.argparse.ArgumentTypeError):
                cli.rounds(text)

    def test_writing_is_not_disturbed_by_signals(self):
        heard = []
        before = signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        with cli.undisturbed():
            os.kill(os.getpid(), signal.SIGTERM)
        self.assertEqual(heard, [])
        os.kill(os.getpid(), signal.SIGTERM)
        self.assertEqual(heard, [1])
