# SPDX-License-Identifier: GPL-2.0
"""Result files: they come back as they were, and are never written over."""

import csv
import datetime
import json
import unittest
from unittest import mock

from base import hardware
from base.common import Failure, folder_can_be_written, must_not_be
from measure import results
from measure.bench import result_folder
from measure.test.samples import Folders, record, scenario_result


class Written(Folders, unittest.TestCase):

    def make(self):
        result = scenario_result({"clh_nb": [10, 20], "mcs": [5, 6]}, cpus=2)
        result.runs.append(record("mcs", 2, cpus=2, verdict="no verdict: the guest hung"))
        result.problems.append("the guest hung")
        result.complete = False
        folder = result_folder.new_folder(self.folder)
        results.write_new(folder / "machine.json",
                          results.as_json(hardware.machine({"uml": "7.2"})))
        result_folder.write_scenario(folder, result)
        return folder, result

    def test_a_folder_comes_back_as_it_was(self):
        folder, result = self.make()
        found = results.open_folder(folder)
        again = found.scenarios["sample"]
        self.assertEqual(again.as_data(), result.as_data())
        self.assertEqual((again.locks, again.points, again.complete, again.problems),
                         (["clh_nb", "mcs"], [{"cpus": 2}], False, ["the guest hung"]))
        self.assertEqual(found.machine["kernel"], "7.2")
        self.assertTrue(found.machine["cpu_model"])
        data = json.loads((folder / "sample.json").read_text())
        self.assertEqual(data["format"], 1)
        self.assertEqual(set(data["runs"][0]),
                         {"lock", "round", "point", "settings", "result", "verdict"})

    def test_histograms_come_back_and_are_a_cell_each_of_a_table(self):
        result = scenario_result({"clh_nb": [10, 20]})
        result.runs[0].histograms = {"wait": [[0, 0, 7], [64, 65, 2]]}
        path = results.write_new(self.folder / "x.json", results.as_json(result.as_data()))
        again = results.from_data(results.read_json(path), path)
        self.assertEqual([run.histograms for run in again.runs], [result.runs[0].histograms, {}])
        self.assertIn("[64, 65, 2]", path.read_text())
        rows = list(csv.DictReader(results.as_csv([result]).splitlines()))
        self.assertEqual([row["histogram_wait"] for row in rows], ["0-0:7 64-65:2", ""])

    def test_runs_of_a_lock_come_by_round(self):
        _, result = self.make()
        result.runs.reverse()
        self.assertEqual([run.round for run in result.runs_of("mcs", cpus=2)], [0, 1, 2])
        self.assertEqual(result.runs_of("mcs", cpus=3), [])

    def test_a_table_has_a_row_for_each_run(self):
        folder, _ = self.make()
        with open(folder / "sample.csv", newline="") as handle:
            rows = list(csv.DictReader(handle))
        self.assertEqual(len(rows), 5)
        self.assertEqual(rows[1]["acquisitions_per_second"], "20")
        self.assertEqual((rows[3]["lock"], rows[3]["round"], rows[3]["point_cpus"]),
                         ("mcs", "1", "2"))
        self.assertEqual((rows[4]["verdict"], rows[4]["acquisitions"]),
                         ("no verdict: the guest hung", ""))

    def test_two_runs_of_the_same_second_have_folders_of_their_own(self):
        now = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
        first, second = (result_folder.new_folder(self.folder, now) for _ in range(2))
        self.assertNotEqual(first, second)
        self.assertTrue(first.name.startswith("20260102T030405Z-"))
        self.assertTrue(second.is_dir())
        with self.assertRaisesRegex(Failure, "x is not a folder|cannot make"):
            result_folder.new_folder(self.file("x", ""))

    def test_where_no_folder_can_be_made_is_known_before(self):
        folder_can_be_written(self.folder / "not" / "there" / "yet")
        for path in (self.file("x", ""), self.folder / "x" / "y"):
            with self.assertRaisesRegex(Failure, "x is no folder to write to"):
                folder_can_be_written(path)
        with mock.patch("os.access", return_value=False), \
                self.assertRaisesRegex(Failure, f"{self.folder} is no folder to write to"):
            folder_can_be_written(self.folder / "new")

    def test_nothing_is_written_over(self):
        folder, result = self.make()
        path = self.file("old", "mine")
        for write in (lambda: results.write_new(path, "yours"), lambda: must_not_be(path),
                      lambda: result_folder.write_scenario(folder, result)):
            with self.assertRaisesRegex(Failure, "(old|sample.json) is there already"):
                write()
        self.assertEqual(path.read_text(), "mine")
        self.assertEqual(sorted(self.folder.iterdir()), sorted([folder, path]))
        for write, words in ((lambda: must_not_be(self.folder / "none" / "x"),
                              "no folder to write to"),
                             (lambda: results.write_new(self.folder / "none" / "x", ""),
                              "cannot write")):
            self.assertRaisesRegex(Failure, words, write)


class Foreign(Folders, unittest.TestCase):

    def test_names_that_have_changed_are_read(self):
        old = {"bed": "uml", "plan": {"bed": "uml"}, "runs": [{"result": {"walk_max": 3}}]}
        self.assertEqual(results.modern(old), {
            "testbed": "uml", "plan": {"testbed": "uml"},
            "runs": [{"result": {"skipped_max": 3}}]})

    def test_what_is_no_result_is_named(self):
        self.file("machine.json", '{"format": 1}')
        for text, words in (("nonsense", "is not JSON"), ("[]", "not a result"),
                            ('{"format": 2}', "another version"),
                            ('{"format": 1, "scenario": "x"}', "not the result of")):
            self.file("x.json", text)
            with self.subTest(text), self.assertRaisesRegex(Failure, f"x.json .*{words}"):
                results.open_folder(self.folder)
        (self.folder / "machine.json").unlink()
        with self.assertRaisesRegex(Failure, "has no machine.json"):
            results.open_folder(self.folder)
        with self.assertRaisesRegex(Failure, "is not a folder of results"):
            results.open_folder(self.folder / "none")
