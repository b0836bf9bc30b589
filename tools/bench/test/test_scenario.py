# SPDX-License-Identifier: GPL-2.0
"""Scenario files: what they mean, and that what is wrong in them is named."""

import unittest

from bench import results
from bench import scenario as scenarios, scenario_file
from bench.test.samples import SAMPLE, SIMULATED, Folders, changed
from testbed.common import Trouble

AIMED = SAMPLE + """\
[aim fast]
title = Fast
metric = some_metric
lock = clh_nb
against = mcs
aim = at least 0.5
where = cpus=1 2, cs_ns=500
"""

# What is wrong: what to change in the sample, and words of the sentence.
WRONG = {
    "a section nobody knows": ("[load]", "[loads]", "unknown section [loads]"),
    "a plot without a name": ("[plot rate]", "[plot]", "unknown section [plot]"),
    "a load with a name": ("[load]", "[load more]", "unknown section [load more]"),
    "a key nobody knows": ("rounds = 3", "rouds = 3", "[scenario] rouds: unknown key"),
    "a plot's key nobody knows": ("log = y", "size = y", "[plot rate] size: unknown key"),
    "a key for all plots nobody knows": ("[plot rate]", "[plots]\ny = jain\n[plot rate]",
                                         "[plots] y: unknown key"),
    "a finding's key nobody knows": ("paper =", "papers =", "papers: unknown key"),
    "no title": ("title = A title\n    on two lines\n", "", "title: is missing"),
    "no source": ("source = Nobody 2002, figure 1\n", "", "source: is missing"),
    "no locks": ("locks = all -clh        # but one\n", "", "locks: is missing"),
    "no y": ("y = some_metric\n", "", "[plot rate] y: is missing"),
    "no claim": ("holds = a(clh_nb) > 1\n", "", "[finding better] holds: is missing"),
    "no rounds": ("rounds = 3", "rounds = 0", "[scenario] rounds: is \"0\""),
    "a testbed nobody knows": ("rounds = 3", "testbed = none",
                            "testbed: there is no testbed \"none\""),
    "rounds in words": ("rounds = 3", "rounds = many", "rounds: is \"many\""),
    "quick rounds in words": ("rounds = 2", "rounds = few", "[quick] rounds: is \"few\""),
    "a lock's name with a dash": ("-clh ", "cl-h ", "locks: \"cl-h\""),
    "only dropped locks": ("all -clh", "-clh", "locks: begins with"),
    "a parameter nobody knows": ("patience_ns", "patience_us", "patience_us: unknown parameter"),
    "an axis nobody knows": ("cs_ns = 0 500", "ms_ns = 0 500", "[sweep] ms_ns: unknown"),
    "a quick parameter nobody knows": ("cs_ns = 500\n[plot", "ms = 5\n[plot", "[quick] ms: unk"),
    "a parameter that takes numbers": ("= 1000", "= soon", "patience_ns: does not take \"soon\""),
    "a range backwards": ("= 1000", "= 9-8", "patience_ns: does not take \"9-8\""),
    "a negative time": ("cs_ns = 0 500", "cs_ns = -5", "cs_ns: does not take \"-5\""),
    "no duration": ("= 200", "= 0", "[load] duration_ms: does not take \"0\""),
    "a parameter both ways": ("cs_ns = 0 500", "patience_ns = 1 2", "it is in [load], too"),
    "a value twice": ("cs_ns = 0 500", "cs_ns = 0 0", "cs_ns: a value is there twice"),
    "an axis without values": ("cs_ns = 0 500", "cs_ns =", "[sweep] cs_ns: takes"),
    "no CPU": ("cpus = 1 2", "cpus = 0", "cpus: \"0\" is not a number of CPUs"),
    "half a CPU": ("cpus = 1 2", "cpus = 1.5", "cpus: \"1.5\" is not a number"),
    "too many CPUs": ("cpus = 1 2", "cpus = 65", "cpus: \"65\" is not a number"),
    "CPUs both ways": ("cpus = 1 2", "cpus = 1\ncpus_per_core = 1", "cannot both be"),
    "an x that is no axis": ("x = cpus", "x = ncs_ns", "[plot rate] x: \"ncs_ns\" is no"),
    "a panel that is no axis": ("panel = cs_ns", "panel = y", "panel: \"y\" is no axis"),
    "a colour for a lock that is not run": ("log = y", "colour = clh", "[plot rate] colour: the"),
    "a figure of points that are never run": ("log = y", "where = cs_ns=7", "cs_ns is never 7"),
    "a panel that is x": ("panel = cs_ns", "panel = cpus", "is the x axis already"),
    "a scale nobody knows": ("log = y", "log = z", "[plot rate] log: is z"),
    "a key twice": ("rounds = 3", "rounds = 3\nrounds = 4", "is not a scenario file"),
    "a line that is nothing": ("[load]", "what is this\n[load]", "is not a scenario file"),
    "an aim without a name": ("[aim fast]", "[aim]", "unknown section [aim]"),
    "an aim's key nobody knows": ("against =", "than =", "[aim fast] than: unknown key"),
    "no aim": ("aim = at least 0.5\n", "", "[aim fast] aim: is missing"),
    "an aim in words": ("at least 0.5", "much", "[aim fast] aim: is \"much\", not"),
    "an aim that is negative": ("at least 0.5", "at least -1", "aim: is \"at least -1\""),
    "an aim of a lock that is not run": ("against = mcs", "against = clh",
                                         "against: the lock \"clh\" is not one"),
    "an aim at no axis": ("cs_ns=500\n", "sooner\n", "[aim fast] where: \"sooner\" is not"),
    "an aim where nothing is run": ("cs_ns=500\n", "cs_ns=7\n", "where: cs_ns is never 7"),
    "a part of a busy process": ("cs_ns = 0 500", "host_busy = 0.5", "[sweep] host_busy: does not "
                                 "take \"0.5\": it takes whole processes for each core of the "),
    "too many busy processes": ("= 1000", "= 1000\nhost_busy = 17", "busy: does not take \"17\""),
    "busy processes for the driver's files": ("cs_ns = 500\n[plot", "host_busy = some\n[plot",
                                              "[quick] host_busy: does not take \"some\""),
    "no head": (AIMED[:AIMED.index("[load]")], "", "there is no section [scenario]"),
}


class Files(Folders, unittest.TestCase):

    def test_every_mistake_is_named(self):
        for what, (old, new, words) in WRONG.items():
            with self.subTest(what), self.assertRaises(Trouble) as caught:
                self.scenario(changed(old, new, AIMED))
            self.assertIn("sample.ini", str(caught.exception), what)
            self.assertIn(words, str(caught.exception), what)

    def test_a_name_that_is_taken_in_the_results_is_refused(self):
        for name in (results.MACHINE, results.COUNTS):
            path = self.file(f"{name.removesuffix('.json')}.ini", SAMPLE)
            with self.assertRaisesRegex(Trouble, "needs another name"):
                scenario_file.read(path)

    def test_a_metric_that_there_is_not_is_named(self):
        self.scenario(metrics=["some_metric"])
        for text, words in ((changed("y = some_metric", "y = other"), "plot rate. y"),
                            (changed("metric = some_metric", "metric = other", AIMED),
                             "aim fast. metric")):
            with self.assertRaisesRegex(Trouble, rf"sample.ini: .{words}: .*\"other\"; there a"):
                self.scenario(text, metrics=["some_metric"])

    def test_a_claim_that_cannot_be_judged_is_named(self):
        def refuse(text, scenario):
            self.assertEqual((text, scenario.name), ("a(clh_nb) > 1", "sample"))
            raise Trouble("nonsense")
        with self.assertRaisesRegex(Trouble, r"sample.ini: \[finding better\] holds: nons"):
            self.scenario(check_finding=refuse)

    def test_a_file_that_is_not_there_or_no_text_is_named(self):
        (self.folder / "x.ini").write_bytes(b"\xff\xfe\x00")
        for name, words in (("none.ini", "cannot read .*none.ini"),
                            ("x.ini", "x.ini is not a scenario file")):
            with self.assertRaisesRegex(Trouble, words):
                scenario_file.read(self.folder / name)

    def test_what_it_says_is_read(self):
        plan = self.scenario()
        self.assertEqual(plan.title, "A title on two lines")
        self.assertEqual(plan.source, "Nobody 2002, figure 1")
        self.assertEqual((plan.rounds, plan.testbed), (3, "uml"))
        self.assertEqual(plan.load, {"patience_ns": 1000, "duration_ms": 200})
        self.assertEqual(vars(plan.plots[0]), {
            "name": "rate", "title": "Rate", "x": "cpus", "y": "some_metric", "log": "y",
            "panel": "cs_ns", "where": {}, "colour": []})
        self.assertEqual(plan.findings[0].holds, "a(clh_nb) > 1")
        aim = self.scenario(AIMED).aims[0]
        self.assertEqual((aim.is_least, aim.limit, aim.against), (True, 0.5, "mcs"))
        self.assertEqual(aim.where, {"cpus": [1, 2], "cs_ns": [500]})

    def test_what_a_plot_does_not_say_is_that_of_all_or_cpus(self):
        text = changed("[plot rate]", "[plots]\nlog = x\nwhere = cpus=2\n[plot rate]",
                       changed("x = cpus\n", ""))
        plot, = self.scenario(text).plots
        self.assertEqual((plot.x, plot.log, plot.where), ("cpus", "y", {"cpus": [2]}))

    def test_what_it_does_not_say_has_defaults(self):
        plan = self.scenario("[scenario]\ntitle = t\nsource = s\nlocks = all\n")
        self.assertEqual((plan.rounds, plan.testbed, plan.load), (5, "uml", {}))
        self.assertEqual(plan.points(4), [{"cpus": 4}])

    def test_sections_may_come_in_any_order(self):
        head, tail = SAMPLE.split("[sweep]")
        sweep, rest = tail.split("[quick]")
        self.assertEqual(self.scenario(f"[sweep]{sweep}{head}[quick]{rest}").plan(),
                         self.scenario().plan())
        with self.assertRaisesRegex(Trouble, r"\[sweep\] cs_ns: it is in \[load\], too"):
            self.scenario("[sweep]\ncs_ns = 1 2\n[load]\ncs_ns = 3\n")

    def test_one_number_of_cpus_may_stand_in_load(self):
        plan = self.scenario(changed("cpus = 1 2\n", "", changed(
            "= 1000", "= 1000\ncpus = 3", SAMPLE)))
        self.assertEqual([point["cpus"] for point in plan.points(2)], [3, 3])
        with self.assertRaisesRegex(Trouble, r"\[load\] cpus: takes one value"):
            self.scenario(changed("= 1000", "= 1000\ncpus = 3 4", SAMPLE))

    def test_a_value_with_blanks_is_told_by_commas(self):
        plan = self.scenario(changed("cs_ns = 0 500", "contexts = task, task softirq",
                                     changed("panel = cs_ns\n", "", changed(
                                         "cs_ns = 500\n", "", SAMPLE))))
        self.assertEqual(plan.sweep["contexts"], ["task", "task softirq"])

    def test_a_plan_survives_being_data(self):
        for plan in (self.scenario(AIMED), self.scenario(SIMULATED).on("simulated")):
            again = scenarios.from_plan(plan.name, plan.title, plan.source, plan.plan())
            self.assertEqual(again.plan(), plan.plan())
            # One from before there were aims has none.
            older = {key: value for key, value in plan.plan().items() if key != "aims"}
            self.assertEqual(scenarios.from_plan(plan.name, "", "", older).aims, [])


# The same of a sample that has a section [simulated].
WRONG_SIMULATED = {
    "a driver's parameter": ("duration_us = 500", "chain = 2",
                             "[simulated] chain: the simulation has"),
    "a parameter that nobody has": ("duration_us", "duration_s",
                                    "[simulated] duration_s: unknown"),
    "no time at all": ("= 500\ncpus", "= 0\ncpus", "duration_us: does not take \"0\""),
    "too many CPUs": ("8 256", "8 257", "[simulated] cpus: \"257\" is not a number of CPUs (up"),
    "too many sockets": ("sockets = 1 8", "sockets = 9", "sockets: does not take \"9\""),
    "a cost table that is not there": ("duration_us = 500", "costs = none",
                                       "costs: does not take \"none\""),
    "a quick parameter of the driver": ("rounds = 1\n", "chain = 2\n", "[simulated quick] chain: "),
    "only a quick one": ("[simulated]", "[quick]", "already exists"),
    "a busy host": ("duration_us = 500", "host_busy = 1",
                    "[simulated] host_busy: the simulation has no such parameter, there is"),
    "a busy host in the load": ("patience_ns = 1000", "host_busy = 1",
                                "no kernel: there is no host_busy; there are sockets"),
    "an own testbed": ("rounds = 3", "testbed = simulated",
                       "[load] duration_ms: the simulation has no"),
    "a driver's parameter for it in the load": ("patience_ns = 1000", "chain = 2",
                                           "no kernel: there is no chain; there are sockets"),
    "its parameter for the driver": ("duration_ms = 200", "sockets = 2",
                                "[load] sockets: the stress driver has no such parameter"),
}


class OnTheSimulatedBed(Folders, unittest.TestCase):

    def test_every_mistake_is_named(self):
        for what, (old, new, words) in WRONG_SIMULATED.items():
            with self.subTest(what), self.assertRaises(Trouble) as caught:
                self.scenario(changed(old, new, SIMULATED))
            self.assertIn(words, str(caught.exception), what)

    def test_a_quick_section_needs_the_other_one(self):
        with self.assertRaisesRegex(Trouble, r"\[simulated quick\]: there is no section \[sim"):
            self.scenario(changed("[plot rate]", "[simulated quick]\nrounds = 1\n[plot rate]"))

    def test_a_scenario_of_that_bed_needs_no_section_for_it(self):
        text = changed("= 1000\nduration_ms = 200", "= max\nduration_us = 9", changed(
            "rounds = 3", "testbed = simulated", changed("duration_ms = 10\n", "", SIMULATED)))
        with self.assertRaisesRegex(Trouble, r"\[simulated\]: the scenario's testbed is that al"):
            self.scenario(text)

    def test_the_section_changes_what_the_file_says(self):
        plan = self.scenario(SIMULATED)
        other = plan.on("simulated")
        self.assertEqual((plan.name, plan.testbed, plan.rounds), ("sample", "uml", 3))
        self.assertEqual((other.name, other.testbed, other.rounds),
                         ("sample-simulated", "simulated", 4))
        self.assertEqual(other.load, {"patience_ns": "200*cpus", "duration_us": 500})
        self.assertEqual(other.sweep, {"cpus": [8, 256], "cs_ns": [0, 500],
                                       "sockets": [1, 8]})
        self.assertEqual(other.settings("mcs", {"cpus": 8, "cs_ns": 0}), {
            "lock": "mcs", "cpus": 8, "duration_us": 500, "patience_ns": "200*cpus",
            "cs_ns": 0})
        self.assertIs(other.on("simulated"), other)

    def test_its_quick_pass_is_not_that_of_the_other_bed(self):
        quick = self.scenario(SIMULATED).on("simulated").quickened()
        self.assertEqual((quick.rounds, quick.sweep["cpus"]), (1, [8]))
        self.assertEqual(quick.sweep["cs_ns"], [0, 500])

    def test_the_kernels_lock_is_answered_by_its_model_or_left_out(self):
        other = self.scenario(SIMULATED).on("simulated")
        self.assertEqual(other.lock_names(["clh_nb", "qspinlock"]), ["clh_nb", "qspinlock"])
        both = changed("clh_nb raw_spinlock rqspinlock", "all -raw_trylock -raw_spinlock",
                       SIMULATED)
        self.assertEqual(self.scenario(both).on("simulated").locks, ["all", "-qspinlock"])

    def test_without_the_section_only_a_scenario_that_has_none_of_its_parameters_goes(self):
        other = self.scenario(SAMPLE).on("simulated")
        self.assertEqual(other.load, {"patience_ns": 1000})
        strange = changed("duration_ms = 200", "own_clock = 1\nthreads = 3\nchain = 2")
        with self.assertRaisesRegex(Trouble, "sample.ini: a simulated .* there is no own_clock, "
                                    "threads, chain; there are sockets, cores,"):
            self.scenario(strange).on("simulated")

    def test_what_is_simulated_goes_nowhere_else(self):
        text = changed("= 1000\nduration_ms = 200", "= max\nduration_us = 9", changed(
            "rounds = 3", "testbed = simulated", changed("duration_ms = 10\n", "")))
        self.assertEqual(self.scenario(text).on("simulated").name, "sample")
        with self.assertRaisesRegex(Trouble, "user-mode Linux: there is no duration_us; there"):
            self.scenario(text).on("uml")

    def test_the_simulated_machine_has_cores_of_its_own(self):
        other = self.scenario(SIMULATED).on("simulated")
        self.assertEqual(other.cores(2), 256)
        self.assertEqual(other.points(other.cores(2))[0],
                         {"cpus": 8, "cs_ns": 0, "sockets": 1})
        few = self.scenario(changed("cpus = 8 256", "cores = 8\ncpus_per_core = 1 2",
                                    SIMULATED)).on("simulated")
        self.assertEqual(few.cores(2), 8)
        self.assertEqual(few.cpu_counts(few.cores(2), 256), [8, 16])
        several = self.scenario(changed("cpus = 8 256", "cores = 8 32\ncpus_per_core = 1 2",
                                        SIMULATED)).on("simulated")
        self.assertEqual(several.cores(2), 32)
        self.assertEqual({(point["cores"], point["cpus"])
                          for point in several.points(several.cores(2), 256)},
                         {(8, 8), (8, 16), (32, 32), (32, 64)})
        with self.assertRaisesRegex(Trouble, "sample.ini: on a simulated machine cpus_per_co"):
            self.scenario(changed("cpus = 8 256", "cpus_per_core = 1 2", SIMULATED))

    def test_an_estimate_grows_with_cpus_and_is_shared_by_the_cores(self):
        plan = self.scenario(SIMULATED).on("simulated")
        few, many = ({"cpus": cpus, "cs_ns": 0, "sockets": 1} for cpus in (8, 256))
        self.assertGreater(plan.seconds_of(many, 2), 10 * plan.seconds_of(few, 2))
        self.assertAlmostEqual(plan.seconds(1), 2 * plan.seconds(2))


class Meaning(Folders, unittest.TestCase):

    def test_points_are_all_combinations(self):
        self.assertEqual(self.scenario().points(2), [
            {"cpus": 1, "cs_ns": 0}, {"cpus": 1, "cs_ns": 500},
            {"cpus": 2, "cs_ns": 0}, {"cpus": 2, "cs_ns": 500}])

    def test_cpus_per_core_are_whole_and_not_doubled(self):
        plan = self.scenario(changed("cpus = 1 2", "cpus_per_core = 0.25 0.5 1 1.5 4"))
        self.assertEqual(plan.cpu_counts(2), [1, 2, 3, 8])
        self.assertEqual(plan.cpu_counts(1), [1, 2, 4])
        self.assertEqual(plan.cpu_counts(16, most=30), [4, 8, 16, 24, 30])

    def test_settings_are_load_and_point(self):
        point = {"cpus": 2, "cs_ns": 500}
        wanted = {"lock": "mcs", "cpus": "0-1", "threads": 2, "patience_ns": 1000,
                  "duration_ms": 200, "cs_ns": 500}
        self.assertEqual(self.scenario().settings("mcs", point), wanted)
        plan = self.scenario(changed("= 1000", "= 1000\nthreads = 7\nhost_busy = 2"))
        self.assertEqual(plan.settings("mcs", point), {**wanted, "threads": 7})
        self.assertEqual(plan.host_busy(point), 2)
        # As long as the driver has it, unless it is said.
        plan = self.scenario(changed("duration_ms = 200\n", ""))
        self.assertEqual(plan.settings("mcs", point), {**wanted, "duration_ms": 1000})
        self.assertAlmostEqual(plan.seconds_of(point, 2), 1, delta=0.1)

    def test_a_busy_host_is_an_axis_and_nothing_that_the_driver_is_told(self):
        plan = self.scenario(changed("cs_ns = 0 500", "host_busy = 0 1\ncs_ns = 0 500"))
        self.assertEqual(plan.points(1)[-1], {"cpus": 2, "host_busy": 1, "cs_ns": 500})
        self.assertEqual(plan.host_busy(plan.points(1)[-1]), 1)
        self.assertNotIn("host_busy", plan.settings("mcs", plan.points(1)[-1]))
        still = self.scenario()
        self.assertEqual(plan.seconds(2), 2 * still.seconds(2))
        self.assertIsNone(still.host_busy(still.points(1)[0]))

    def test_quick_changes_rounds_parameters_and_axes(self):
        plan = self.scenario()
        quick = plan.quickened()
        self.assertEqual((quick.rounds, quick.load["duration_ms"]), (2, 10))
        self.assertEqual(quick.points(2), [{"cpus": 1, "cs_ns": 500},
                                           {"cpus": 2, "cs_ns": 500}])
        self.assertTrue(quick.plan()["quick"])
        self.assertEqual((plan.rounds, len(plan.points(2))), (3, 4))

    def test_quick_cpus_replace_cpus_per_core(self):
        plan = self.scenario(changed("rounds = 2", "rounds = 2\ncpus = 3", changed(
            "cpus = 1 2", "cpus_per_core = 1 2", SAMPLE)))
        self.assertEqual(plan.quickened().axes(), ["cpus", "cs_ns"])
        self.assertEqual(plan.quickened().cpu_counts(2), [3])

    def test_locks_are_those_of_the_kernel_that_are_named_and_not_dropped(self):
        for words, there, wanted in (
                ("all -clh", ["clh_nb", "clh", "mcs"], ["clh_nb", "mcs"]),
                ("mcs, clh mcs", ["clh_nb", "clh", "mcs"], ["mcs", "clh"]),
                ("all rqspinlock", ["clh", "mcs"], 'sample.ini: .*"rqspinlock"; there are clh, m'),
                ("all -clh", ["mcs"], '"clh"; there are mcs')):
            plan = self.scenario(changed("all -clh", words))
            if isinstance(wanted, list):
                self.assertEqual(plan.lock_names(there), wanted)
            else:
                with self.assertRaisesRegex(Trouble, wanted):
                    plan.lock_names(there)

    def test_an_estimate_grows_with_what_there_is_to_do(self):
        plan = self.scenario()
        # 4 points of 0.2 s, 3 rounds, 10 locks
        self.assertAlmostEqual(plan.seconds(2, locks=10), 4 * 3 * 10 * 0.2, delta=15)
        self.assertGreater(plan.seconds(2, locks=20), plan.seconds(2, locks=10))
        self.assertLess(plan.quickened().seconds(2), plan.seconds(2))
