# SPDX-License-Identifier: GPL-2.0
"""tools/nbq bench: its exit status, and that what was measured is kept."""

import json
import os
from pathlib import Path
import signal
import unittest
from unittest import mock

from base.common import Failure
from measure import cli, compare
from measure.bench import cli_bench
from measure.test.samples import (SAMPLE, SIMULATED, Folders, NoPlace, captured, changed,
                                  options_of, pretend_pass)

FILE = changed(SAMPLE, "a(clh_nb) > 1", "jain(clh_nb, cpus=1, cs_ns=0) < 1",
               "some_metric", "jain")


class Commands(Folders, unittest.TestCase):

    def command(self, place, *words):
        """The exit status, and what was printed; it draws nothing."""
        options = options_of(cli_bench, self.file("mine.ini", FILE), "--out", self.folder / "out",
                             *words)
        with captured() as (out, said), mock.patch.object(cli_bench, "setup"), \
                mock.patch.object(cli_bench, "place_on", return_value=place) as self.placed, \
                mock.patch.object(cli_bench, "draw", return_value=True) as self.draw:
            return cli_bench.run(options), out.getvalue() + said.getvalue()

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
        with mock.patch("measure.bench.plot.draw", side_effect=Failure("no gnuplot")), \
                mock.patch.object(cli_bench, "say") as said:
            self.assertFalse(cli_bench.draw(Path("somewhere")))
        self.assertIn("no gnuplot; tools/nbq report somewhere tries again",
                      said.call_args[0][0])

    def test_the_result_is_shared_if_that_is_asked_for(self):
        file = self.folder / "shared.json"
        status, printed = self.command(NoPlace(), "--share", file)
        self.assertEqual(status, 0)
        self.assertIn("has the above of this machine", printed)
        self.assertEqual(len(compare.Side(file).scenarios), 1)

    def test_modules_are_for_guests_and_known_to_be_none_before_anything_is_built(self):
        module = self.folder / "module"
        module.mkdir()
        with self.assertRaisesRegex(Failure, "module has no Kbuild"):
            self.command(NoPlace(), "--module", module)
        (module / "Kbuild").write_text("obj-m := x.o\n")
        with self.assertRaisesRegex(Failure, "for guests of the stress driver, in which none"):
            self.command(NoPlace(), "--module", module, "--testbed", "simulated")
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(self.command(NoPlace(), "--module", module)[0], 0)
        self.assertEqual(self.placed.call_args.args[2], [module])

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

    def test_what_cannot_be_written_is_found_before_anything_is_measured(self):
        place, there = NoPlace(), self.file("there.json", "kept")
        with self.assertRaisesRegex(Failure, "not overwritten"):
            self.command(place, "--share", there)
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(there.read_text(), "kept")
        self.file("out", "")
        with self.assertRaisesRegex(Failure, "out is no folder to write to"):
            self.command(place)
        self.assertEqual(place.made, [])


class Chosen(Folders, unittest.TestCase):

    def chosen(self, *words, **texts):
        names = [self.file(f"{name}.ini", text.split("[plot")[0]) for name, text in texts.items()]
        return [(plan.name, plan.testbed)
                for plan in cli_bench.chosen(options_of(cli_bench, *names, *words))]

    def test_options_change_every_scenario_and_none_is_there_twice(self):
        path = self.file("mine.ini", SAMPLE.split("[plot")[0])
        plan, = cli_bench.chosen(options_of(cli_bench, path, "--quick", "--rounds", 7))
        self.assertEqual((plan.rounds, plan.load["duration_ms"]), (7, 10))
        (self.folder / "other").mkdir()
        with self.assertRaisesRegex(Failure, "two scenarios have the name mine"):
            self.chosen(self.file("other/mine.ini", path.read_text()), mine=SAMPLE)

    def test_a_scenario_is_run_on_its_beds_or_on_the_one_that_is_asked_for(self):
        both, one, simulated = ("both", "uml"), ("one", "uml"), ("both-simulated", "simulated")
        beds = {"both": SIMULATED, "one": SAMPLE}
        self.assertEqual(self.chosen(**beds), [both, simulated, one])
        self.assertEqual(self.chosen("--testbed=simulated", **beds),
                         [simulated, ("one-simulated", "simulated")])
        self.assertEqual(self.chosen("--testbed=debian-6.1", both=SIMULATED),
                         [("both", "debian-6.1")])
        # Of all scenarios those that are for it.
        with mock.patch.object(cli_bench, "files", return_value={
                name: self.file(f"{name}.ini", text.split("[plot")[0])
                for name, text in beds.items()}):
            for testbed, wanted in (("simulated", [simulated]), ("uml", [both, one]),
                                    ("icount", [])):
                self.assertEqual(self.chosen(f"--testbed={testbed}"), wanted)


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
