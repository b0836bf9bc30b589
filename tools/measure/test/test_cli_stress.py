# SPDX-License-Identifier: GPL-2.0
"""tools/nbq stress --testbed simulated: what it takes, and a short run of the real thing."""

import json
from pathlib import Path
import subprocess
import sys
import unittest

from base.common import Failure
from base.driver import HISTOGRAMS
from measure import stress_command
from measure.bench import cli_stress
from measure.test.samples import Folders, NoPlace, options_of

NBQ = Path(__file__).resolve().parents[2] / "nbq"


def simulated_place():
    place = NoPlace(("clh_nb", "qspinlock"), most_cpus=256)
    place.name = "simulated"
    return place


class Arguments(Folders, unittest.TestCase):

    def test_what_a_guest_alone_can_do_is_refused_elsewhere_by_a_sentence(self):
        (self.folder / "Kbuild").write_text("obj-m := x.o\n")
        module = ("--module", self.folder)
        figure = ("--figure", f"wait={self.folder}/x.svg")
        stress_command.check(options_of(cli_stress, *module, *figure))
        stress_command.check(options_of(cli_stress, "--here", *figure))
        for words, sentence in (
                (("--here", *module), "--module is for a guest; here, insmod loads it"),
                (("--testbed", "simulated", *module), "the simulation loads no modules"),
                (("--testbed", "simulated", *figure), "the simulation has no histograms"),
                (("--module", self.folder / "none"), "none has no Kbuild"),
                ((*figure, *figure), "name the same file"),
                ((*figure, "--json", self.folder / "x.svg"), "name the same file"),
                (("--figure", f"wait={self.folder}/no/x.svg"), "no folder to write to")):
            with self.subTest(words), self.assertRaisesRegex(Failure, sentence):
                stress_command.check(options_of(cli_stress, *words))

    def test_a_figure_is_of_a_histogram_and_an_svg_or_png(self):
        self.assertEqual(cli_stress.figure("handoff=x.png"), ("handoff", Path("x.png")))
        for text in ("handoff", "handoff=x.pdf", "late=x.svg", "x.svg"):
            with self.assertRaisesRegex(cli_stress.argparse.ArgumentTypeError, "own_wait, passed"):
                cli_stress.figure(text)

    def test_locks_of_other_modules_are_among_the_default_ones(self):
        place = NoPlace(("clh_nb", "clh", "mine"))
        place.types[2].is_own = False
        for words, wanted in (((), ["clh_nb", "mine"]), (("--locks", "clh"), ["clh"])):
            plan = stress_command.contended(options_of(cli_stress, *words), place)
            self.assertEqual(plan.locks, wanted)

    def test_histograms_come_with_what_they_are_for(self):
        for words, wanted in (((), ()), (("--json", "x"), HISTOGRAMS), (("--csv", "x"), HISTOGRAMS),
                              (("--figure", "wait=x.svg", "--figure", "wait=x.png"), ("wait",))):
            plan = stress_command.contended(options_of(cli_stress, *words), NoPlace())
            self.assertEqual(plan.histograms, wanted)


class Simulated(Folders, unittest.TestCase):

    def plans(self, *words):
        options = options_of(cli_stress, "--testbed", "simulated", *words)
        stress_command.check(options)
        place = simulated_place()
        return stress_command.contended(options, place), stress_command.alone(options, place)

    def test_its_defaults_are_for_many_processors_and_a_short_time(self):
        contended, alone = self.plans()
        self.assertEqual(contended.sweep["cpus"], [8, 64])
        self.assertEqual(contended.load, {"cs_ns": 200, "ncs_ns": 200, "duration_us": 2000})
        self.assertEqual(contended.locks, ["clh_nb", "qspinlock"])
        self.assertEqual(alone.locks[-1], "qspinlock")
        self.assertNotIn("sample_every", alone.load)

    def test_its_parameters_are_set_and_its_patience_may_grow_with_the_cpus(self):
        contended, _ = self.plans("--set", "sockets=8", "--set", "ncs_ns=400*cpus",
                                  "--patience", "200*cpus", "--seconds", "0.001")
        self.assertEqual(contended.load, {"cs_ns": 200, "ncs_ns": "400*cpus", "sockets": 8,
                                          "duration_us": 1000})
        self.assertEqual(contended.sweep["patience_ns"], ["200*cpus"])

    def test_the_other_testbeds_parameters_are_refused_by_a_sentence(self):
        for words, sentence in (
                (("--testbed", "simulated", "--set", "chain=2"),
                 "the simulation has no such parameter"),
                (("--set", "sockets=2"), "the stress driver has no such parameter"),
                (("--patience", "200*cpus"), "patience_ns does not take \"200[*]cpus\" there")):
            with self.subTest(words), self.assertRaisesRegex(Failure, sentence):
                stress_command.check(options_of(cli_stress, *words))

    def test_the_kernels_lock_is_answered_by_its_model(self):
        contended, _ = self.plans("--locks", "raw_spinlock,clh_nb")
        self.assertEqual(contended.locks, ["qspinlock", "clh_nb"])

    def test_a_short_run_from_the_command_line(self):
        path = self.folder / "stress.json"
        done = subprocess.run(
            [sys.executable, NBQ, "stress", "--testbed", "simulated", "--locks", "mcs,clh_nb",
             "--cpus", "4", "--rounds", "1", "--seconds", "0.001", "--json", path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, check=False)
        if "Unavailable" in done.stderr or "x86-64" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("misses", done.stdout)
        self.assertIn("of qspinlock", done.stdout)
        runs = json.loads(path.read_text())["scenarios"][0]["runs"]
        self.assertEqual([run["lock"] for run in runs], ["mcs", "clh_nb"])
        self.assertGreater(runs[0]["result"]["misses"], 0)
