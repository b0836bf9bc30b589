# SPDX-License-Identifier: GPL-2.0
"""A busy host: what others had of the cores, and that it is said."""

import io
import os
import re
import unittest
from unittest import mock

from bench import cli_bench, report_head
from measure import cli_stress, compare, results, runner
from measure.host_load import AT_START, HostLoad, is_busy, warning
from measure.progress import Progress
from measure.scenario import Scenario
from measure.test.samples import (SAMPLE, Folders, NoPlace, captured, options_of,
                                  scenario_result)

TICKS = os.sysconf("SC_CLK_TCK")
BUSY, IDLE = {"load_average": 0.5, "cores": 2, "others_permille": 400}, \
    {"load_average": 2.0, "cores": 2, "others_permille": 20}


def stat(*cpus):
    """/proc/stat; of each CPU the seconds in user, nice, system, idle, steal."""
    rows = [(user, nice, system, idle, 0, 0, 0, steal, user, nice)
            for user, nice, system, idle, steal in cpus]
    lines = [f"cpu  {' '.join(str(TICKS * sum(each)) for each in zip(*rows))}"]
    lines += [f"cpu{number} {' '.join(str(TICKS * each) for each in row)}"
              for number, row in enumerate(rows)]
    return "\n".join([*lines, "intr 5 4", "ctxt 7"])


class Counting(unittest.TestCase):
    def figures(self, before, after, own, cpus=(0, 1), load=0.5):
        texts, owns = iter((before, after)), iter((0, own))
        with mock.patch("os.sched_getaffinity", return_value=set(cpus)):
            found = HostLoad(lambda: next(texts), lambda: next(owns), (load, 0, 0))
            return found.figures()

    def test_others_had_what_the_cores_worked_and_this_process_did_not(self):
        before = stat((5, 5, 5, 5, 0), (1, 1, 1, 1, 0))
        # In 10 s of 2 cores they worked 14 s, 1 of them for another machine.
        after = stat((8, 6, 7, 8, 1), (5, 3, 2, 4, 0))
        figures = self.figures(before, after, 9)
        self.assertEqual(figures, {"load_average": 0.5, "cores": 2, "others_permille": 250})
        self.assertEqual(self.figures(before, after, 14)["others_permille"], 0)
        # More than there was, by ticks that are counted elsewhere.
        self.assertEqual(self.figures(before, after, 20)["others_permille"], 0)

    def test_cores_that_this_process_may_not_use_do_not_count(self):
        before = stat((0, 0, 0, 0, 0), (0, 0, 0, 0, 0))
        after = stat((0, 0, 0, 9, 0), (9, 0, 0, 0, 0))
        for cpus, others in (((0,), 0), ((1,), 1000), ((0, 1), 500)):
            self.assertEqual(self.figures(before, after, 0, cpus)["others_permille"], others)

    def test_this_machine_can_be_counted(self):
        load = HostLoad()
        while load.seconds()[0] == load.before[0]:
            pass
        self.assertIn(load.figures()["others_permille"], range(1001))
        self.assertEqual(load.figures(with_others=False).keys(), {"load_average", "cores"})

    def test_the_load_of_earlier_runs_is_not_that_of_others(self):
        with mock.patch("os.getloadavg", return_value=(99, 0, 0)):
            self.assertEqual(HostLoad().load, round(AT_START[0], 2))

    def test_busy_is_more_load_than_cores_before_or_a_tenth_meanwhile(self):
        for host, busy in (({}, False), (IDLE, False), (BUSY, True),
                           ({**IDLE, "load_average": 2.1}, True),
                           ({**IDLE, "others_permille": 100}, False),
                           ({**IDLE, "others_permille": 101}, True)):
            self.assertEqual((is_busy(host), bool(warning(host))), (busy, busy))
        self.assertIn("40 % of the cores", warning(IDLE, BUSY))


class Said(Folders, unittest.TestCase):
    def result_of(self, host=BUSY, place="uml", **plan):
        """Of runs that are pretended."""
        there = NoPlace()
        there.name = place
        with mock.patch.object(HostLoad, "figures", return_value=host) as self.figures:
            job = runner.Job(Scenario("mine", sweep={"cpus": [1]}, **plan), there)
            return job.make(Progress(io.StringIO()))

    def test_results_keep_it_but_those_of_a_simulation(self):
        result = self.result_of()
        self.assertEqual(result.host, BUSY)
        self.assertEqual(results.from_data(result.as_data(), "x").host, BUSY)
        older = result.as_data()
        del older["host"]
        self.assertEqual(results.from_data(older, "x").host, {})
        self.assertEqual(self.result_of(testbed="simulated").host, {})

    def test_where_the_kernel_makes_the_runs_its_threads_are_not_others(self):
        for place, with_others in (("uml", True), ("here", False)):
            self.result_of(place=place)
            self.assertEqual(self.figures.call_args, mock.call(with_others=with_others))

    def said_by(self, command, host, *words):
        options = options_of(command, *words)
        with captured() as (out, said), mock.patch.object(command, "setup"), \
                mock.patch.object(command, "place_on", return_value=NoPlace()), \
                mock.patch.object(cli_bench, "draw", return_value=True), \
                mock.patch.object(HostLoad, "figures", return_value=host):
            command.run(options)
        return out.getvalue(), said.getvalue()

    def test_stress_and_bench_say_it_before_and_with_the_results(self):
        mine = self.file("mine.ini", re.sub(r"\[(plot|finding).*", "", SAMPLE, flags=re.DOTALL))
        for command, words in (
                (cli_stress, ("--locks", "clh_nb", "--cpus", 1, "--rounds", 1)),
                (cli_bench, (mine, "--out", self.folder / "out"))):
            printed, said = self.said_by(command, BUSY, *words)
            self.assertIn("The host was busy", printed)
            self.assertIn("the host is busy", said)
            printed, said = self.said_by(command, IDLE, *words)
            self.assertNotIn("was busy", printed)
            self.assertNotIn("is busy", said)

    def test_the_report_and_a_comparison_say_it(self):
        found = [self.result_of(host) for host in (IDLE, BUSY)]
        said = report_head.other_work(found)
        self.assertIn("2 to 40 % of the cores' time; the host was busy in 1 of 2 experiments", said)
        self.assertNotIn("busy", report_head.other_work(found[:1]))
        self.assertEqual(report_head.other_work([scenario_result({"clh_nb": [1]})]), "")
        sides = [mock.Mock(scenarios={"x": result}) for result in found]
        self.assertRegex(" ".join(compare.doubts(*sides)), "B: The host was busy")
