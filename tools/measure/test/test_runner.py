# SPDX-License-Identifier: GPL-2.0
"""Running a scenario: order, what a guest says, and guests that are lost."""

import io
from types import SimpleNamespace
import unittest
from unittest import mock

from base.common import Failure, cores
from base.progress import Progress
from measure import host_busy, runner
from measure.bench import guests, places
from measure.test.samples import Folders, NoPlace, planned, pretend_pass

OUTPUT = """@run {name}
sh: noise
@status 0
lock {lock}
acquisitions_per_second 1000
verdict {verdict}
@end
"""


def quiet():
    return Progress(io.StringIO())


class Jobs(Folders, unittest.TestCase):

    def test_locks_take_turns_in_a_guest_and_every_other_round_is_backwards(self):
        place = NoPlace()
        result = runner.Job(self.scenario(), place).make(quiet())
        self.assertEqual([(cpus, len(runs)) for cpus, runs in place.made], [(1, 12), (2, 12)])
        order = [(run.round, run.lock) for run in place.made[1][1] if run.point["cs_ns"]]
        self.assertEqual(order, [
            (0, "clh_nb"), (0, "raw_spinlock"), (1, "raw_spinlock"), (1, "clh_nb"),
            (2, "clh_nb"), (2, "raw_spinlock")])
        self.assertEqual(len(result.runs), 24)
        self.assertTrue(runner.well(result))

    def interrupted(self, make, *words):
        """The result of a job in whose runs make() is stopped."""
        job = runner.Job(self.scenario(*words), NoPlace(make=make))
        result = job.new_result()
        with self.assertRaises(KeyboardInterrupt):
            job.make(quiet(), result)
        self.assertFalse(result.complete)
        self.assertFalse(runner.well(result))
        return result

    def test_an_interruption_keeps_what_was_made_and_is_not_complete(self):
        def first(runs):
            runs[0].text, runs[0].complete = "x 1\nverdict PASS\n", True
            raise KeyboardInterrupt

        def last(runs):
            pretend_pass(runs)
            if runs[0].point["cpus"] == 2:
                raise KeyboardInterrupt
        self.assertEqual([run.result["x"] for run in self.interrupted(first).runs], [1])
        self.assertEqual(len(self.interrupted(last).runs), 24)

    def test_a_problem_of_a_guest_and_a_failing_verdict_are_kept_and_not_well(self):
        def complain(runs):
            for run in runs:
                run.text, run.complete = "lost_updates 3\nverdict FAIL x\n", True
            return ["the kernel complained"]
        result = runner.Job(self.scenario(), NoPlace(make=complain)).make(quiet())
        self.assertEqual(result.problems, ["the kernel complained"] * 2)
        self.assertEqual((result.runs[0].verdict, result.runs[0].result["lost_updates"]),
                         ("FAIL x", 3))
        self.assertTrue(result.complete)
        self.assertFalse(runner.well(result))
        for problems, verdict, well in (([], "FAIL x", False), ([], "PASS", True),
                                        (["it complained"], "PASS", False)):
            result.problems = problems
            for run in result.runs:
                run.verdict = verdict
            self.assertEqual(runner.well(result), well)

    def test_the_host_is_busy_while_the_runs_that_ask_for_it_are_made(self):
        hosts = []

        class Host(host_busy.BusyHost):
            def __enter__(self):
                hosts.append((self.number, len(place.made)))
                self.number = 0
                return super().__enter__()

            def figures(self):
                return {"host_busy_processes": hosts[-1][0]}

        place = NoPlace()
        plan = self.scenario("cs_ns = 0 500", "host_busy = 0 1", "panel = cs_ns\n", "",
                             "cs_ns = 500\n", "")
        with mock.patch.object(runner, "BusyHost", Host):
            result = runner.Job(plan, place).make(quiet())
        self.assertEqual(hosts, [(0, 0), (cores(), 1), (0, 2), (cores(), 3)])
        self.assertEqual([cpus for cpus, _ in place.made], [1, 1, 2, 2])
        self.assertTrue(runner.well(result))
        for run in result.runs:
            self.assertEqual(run.result["host_busy_processes"],
                             cores() * run.point["host_busy"])
            self.assertNotIn("host_busy", run.settings)

    def test_a_busy_host_is_said_of_what_was_made_before_an_interruption(self):
        def stopped(runs):
            pretend_pass(runs)
            raise KeyboardInterrupt
        result = self.interrupted(stopped, "= 1000", "= 1000\nhost_busy = 1")
        self.assertEqual({run.result["host_busy_cores"] for run in result.runs}, {cores()})

    def test_more_cpus_than_there_can_be_and_a_bed_that_is_not_there_are_refused(self):
        with self.assertRaisesRegex(Failure, "sample.ini: 2 CPUs are more than nowhere has"):
            runner.Job(self.scenario(), NoPlace(most_cpus=1))
        with self.assertRaisesRegex(Failure, 'no testbed "moon"; there are uml'):
            places.place_on("moon")


class Hearing(unittest.TestCase):

    def test_a_run_is_known_as_soon_as_it_ends_whatever_the_pieces(self):
        runs = planned(2)
        progress = quiet()
        progress.plan(0.1, 2)
        heard = guests.Listener(runs, progress)
        seen = []
        progress.going = lambda *look: seen.append(look)
        text = OUTPUT.format(name="run-0", lock="clh", verdict="PASS").replace(
            "@status", "@progress running elapsed_ms 500 of 2000 acquisitions 7000\n"
            "@progress idle\n@status") + "@run run-1\nhalf"
        for letter in text:
            heard.write(letter.encode())
        self.assertEqual([run.complete for run in runs], [True, False])
        self.assertEqual(runs[0].record().result["acquisitions_per_second"], 1000)
        self.assertIs(heard.run, runs[1])
        # Progress is no part of the result.
        self.assertEqual(seen, [(500, 7000)])
        self.assertNotIn("progress", runs[0].text)
        self.assertEqual(runs[0].verdict, "PASS")

    def test_a_run_that_was_refused_or_did_not_start_has_a_reason_and_no_result(self):
        for said, verdict in (
                ("@refused cs_ns=x\n@because cs_ns: takes a number",
                 "the driver refused cs_ns=x (cs_ns: takes a number)"),
                # What stands there is the result of the run before.
                ("@status 1\nlock clh\nverdict PASS", "no verdict: the run did not start")):
            runs = planned(1)
            guests.Listener(runs, quiet()).write(f"@run run-0\n{said}\n@end\n".encode())
            self.assertEqual((runs[0].record().verdict, runs[0].record().result), (verdict, {}))


class Guests(unittest.TestCase):

    def make(self, count, *stories):
        """The runs and problems on a testbed whose guests end as told.

        stories: how many runs a guest makes, and its problem or the complaint of its kernel.
        """
        place = places.GuestPlace.__new__(places.GuestPlace)
        place.machine = place.modules = None
        place.testbed = SimpleNamespace(slowness=1)
        self.guests = []

        def guest(_machine, runs, _cpus, _modules, sink, **_options):
            made, problem, *complaints = stories[len(self.guests)]
            self.guests.append([run.name for run in runs])
            for run in runs[:made]:
                sink.write(OUTPUT.format(name=run.name, lock="clh", verdict="PASS").encode())
            if made < len(runs) and problem != "it never came up":
                sink.write(f"@run {runs[made].name}\n".encode())
            return SimpleNamespace(problem=problem, complaints=complaints, log="", log_path="log")
        runs, progress = planned(count), quiet()
        progress.plan(0.1 * count, count)
        with mock.patch.object(places, "run_stress", guest), mock.patch.object(guests, "say"):
            problems = place.make(runs, 1, progress)
        self.assertEqual(progress.ended, count)
        return [run.record().verdict for run in runs], problems

    def test_a_lost_guest_takes_one_run_with_it(self):
        verdicts, problems = self.make(4, (1, "the guest hung"), (2, None))
        self.assertEqual(problems, ["the guest hung"])
        self.assertEqual(self.guests[1], ["run-2", "run-3"])
        self.assertEqual(verdicts, ["PASS", "no verdict: the guest hung", "PASS", "PASS"])

    def test_a_guest_that_does_not_come_up_takes_all_with_it(self):
        verdicts, _ = self.make(3, (0, "it never came up"))
        self.assertEqual(len(self.guests), 1)
        self.assertEqual(verdicts, ["no verdict: it never came up"] * 3)

    def test_after_three_lost_guests_the_rest_is_given_up(self):
        verdicts, problems = self.make(5, *[(0, "panic")] * 3)
        self.assertEqual((len(self.guests), len(problems)), (3, 3))
        self.assertIn("after 3 guests", verdicts[4])

    def test_a_run_that_the_guest_left_out_is_lost_and_a_complaint_is_a_problem(self):
        verdicts, problems = self.make(2, (1, None, "WARNING: x"))
        self.assertIn("did not make the run", verdicts[1])
        self.assertEqual((verdicts[0], problems), ("PASS", ["the kernel complained: WARNING: x"]))
