# SPDX-License-Identifier: GPL-2.0
"""A result for other people: what is in it, what must not be, and that compare reads it."""

from pathlib import Path
from types import SimpleNamespace
import unittest

from base import hardware
from base.common import Failure
from measure import compare
from measure.bench import cli_folder, share
from measure.bench.test import synthetic
from measure.bench.test.synthetic import folder_of
from measure.test.samples import Folders, captured, scenario_result

HARDWARE = {"cpus": "2", "l2": "1 MiB", "load_average": 0.5, "hostname": "gauss"}
MACHINE = {"host_kernel": "6.12.5-gauss-of-alice", "hardware": HARDWARE,
           "command": "nbq bench --out /home/alice/secret"}
PROBLEM = "cannot read /home/alice/secret/x.log: alice@gauss.example.org said no"
LSCPU = """{"lscpu": [
    {"field": "CPU(s):", "data": "2", "children": [{"field": "On-line", "data": "0,1"}]},
    {"field": "Vendor ID:", "data": "V", "children": [
        {"field": "Model name:", "data": "M", "children": [
            {"field": "Socket(s):", "data": "1"}]}]}]}"""


class Shared(Folders, unittest.TestCase):

    def result(self, name="results", **machine):
        result = scenario_result({"clh": [1, 2, 3, 4]})
        result.problems = [PROBLEM]
        result.runs[0].verdict = f"no verdict: {PROBLEM}"
        return folder_of(self.folder / name, result, **{**MACHINE, **machine})

    def test_nothing_private_is_in_the_file(self):
        share.share(self.result(), self.folder / "shared.json")
        text = (self.folder / "shared.json").read_text()
        for word in ("alice", "gauss", "secret", "example", "home", "command", "hostname"):
            self.assertNotIn(word, text)
        self.assertIn("cannot read x.log: ... said no", text)

    def test_what_one_must_know_of_the_machine_is_in_it(self):
        machine = share.share(self.result(), self.folder / "shared.json")["machine"]
        for key in set(share.MACHINE) & set(synthetic.MACHINE):
            self.assertEqual(machine[key], synthetic.MACHINE[key])
        self.assertEqual(machine["host_kernel"], "6.12.5")
        self.assertEqual(machine["hardware"], {"cpus": "2", "l2": "1 MiB", "load_average": 0.5})
        path = self.result("without", hardware={})
        self.assertEqual(share.share(path, self.folder / "s.json")["machine"]["hardware"], {})

    def test_compare_reads_it(self):
        path = self.result()
        share.share(path, self.folder / "shared.json")
        a, b = compare.Side(path), compare.Side(self.folder / "shared.json")
        found, alone = compare.compare(a, b)
        self.assertEqual([line.ratio for line in found], [1])
        self.assertEqual(alone, [])
        # The name of a kernel's build is not shared, and no reason not to compare.
        self.assertEqual(compare.differences(a, b), [])

    def test_a_file_that_is_there_and_a_folder_without_results_are_refused(self):
        path = self.result()
        file = self.file("there.json", "kept")
        with self.assertRaisesRegex(Failure, "not overwritten"):
            share.share(path, file)
        self.assertEqual(file.read_text(), "kept")
        (path / "sample.json").unlink()
        with self.assertRaisesRegex(Failure, "no results to share"):
            share.share(path, self.folder / "new.json")

    def test_the_command_prints_what_it_says_of_the_machine(self):
        options = SimpleNamespace(folder=self.result(), file=self.folder / "s.json")
        with captured() as (out, said):
            self.assertEqual(cli_folder.write_shared(options), 0)
        self.assertIn('"l2": "1 MiB"', out.getvalue())
        self.assertIn("1 scenario", said.getvalue())


class Hardware(unittest.TestCase):

    def test_fields_of_lscpu_are_found_at_any_depth(self):
        self.assertEqual(hardware.processors(LSCPU), {"cpus": "2", "vendor": "V", "sockets": "1"})

    def test_without_lscpu_there_is_nothing(self):
        for text in (None, "", "no JSON", "{}", '{"lscpu": 1}'):
            self.assertEqual(hardware.processors(text), {})

    def test_distribution_is_name_and_release(self):
        self.assertEqual(hardware.distribution('NAME="Debian GNU"\nID=debian\nVERSION_ID="13"\n'),
                         "debian 13")
        self.assertEqual(hardware.distribution("ID=arch\n"), "arch")

    def test_of_this_machine_only_what_is_named(self):
        found = hardware.hardware()
        self.assertLessEqual(set(found), set(share.HARDWARE))
        self.assertIn("load_average", found)


class Names(unittest.TestCase):

    def test_of_a_path_its_last_part_is_left(self):
        self.assertEqual(share.without_names("see /a/b/c.log, and /d"), "see c.log, and d")
        self.assertEqual(share.without_names("12/13 ns of a/b"), "12/13 ns of a/b")
        self.assertEqual(share.without_names("7.2.12 (build@host) ok"), "7.2.12 ... ok")
        self.assertEqual(share.without_names(f"no {Path.home()}/x"), "no x")
