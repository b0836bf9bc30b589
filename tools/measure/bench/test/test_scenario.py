# SPDX-License-Identifier: GPL-2.0
"""Scenario files: what they mean, and that what is wrong in them is named."""

import unittest

from base.common import Failure
from measure import results
from measure import scenario as scenarios
from measure.bench import scenario_file
from measure.test.samples import SAMPLE, SIMULATED, Folders

AIMED = SAMPLE + """\
[aim fast]
title = Fast
metric = some_metric
lock = clh_nb
against = mcs
aim = at least 0.5
where = cpus=1 2, cs_ns=500
"""
# One of the simulated testbed's own, and one of the other that has its parameters.
OWN = ("= 1000\nduration_ms = 200", "= max\nduration_us = 9", "rounds = 3", "testbed = simulated",
       "duration_ms = 10\n", "")
HOST_BUSY = "it takes whole processes for each core of the "

# What is wrong: what to change in AIMED, and words of the sentence.
WRONG = (
    ("[load]", "[loads]", "unknown section [loads]"),
    ("[plot rate]", "[plot]", "unknown section [plot]"),
    ("[load]", "[load more]", "unknown section [load more]"),
    ("rounds = 3", "rouds = 3", "[scenario] rouds: unknown key"),
    ("log = y", "size = y", "[plot rate] size: unknown key"),
    ("[plot rate]", "[plots]\ny = jain\n[plot rate]", "[plots] y: unknown key"),
    ("paper =", "papers =", "papers: unknown key"),
    ("against =", "than =", "[aim fast] than: unknown key"),
    ("title = A title\n    on two lines\n", "", "title: is missing"),
    ("source = Nobody 2002, figure 1\n", "", "source: is missing"),
    ("locks = all -clh        # but one\n", "", "locks: is missing"),
    ("y = some_metric\n", "", "[plot rate] y: is missing"),
    ("y = some_metric\n", "y = jain\nhistogram = wait\n", "[plot rate] y: is not for a figure"),
    ("y = some_metric\n", "histogram = waits\n", "[plot rate] histogram: is waits, not one of"),
    ("holds = a(clh_nb) > 1\n", "", "[finding better] holds: is missing"),
    ("aim = at least 0.5\n", "", "[aim fast] aim: is missing"),
    ("rounds = 3", "rounds = 0", "[scenario] rounds: is \"0\""),
    ("rounds = 3", "rounds = many", "rounds: is \"many\""),
    ("rounds = 3", "testbed = none", "testbed: there is no testbed \"none\""),
    ("rounds = 2", "rounds = few", "[quick] rounds: is \"few\""),
    ("-clh ", "cl-h ", "locks: \"cl-h\""),
    ("all -clh", "-clh", "locks: begins with"),
    ("patience_ns", "patience_us", "patience_us: unknown parameter"),
    ("cs_ns = 0 500", "ms_ns = 0 500", "[sweep] ms_ns: unknown"),
    ("cs_ns = 500\n[plot", "ms = 5\n[plot", "[quick] ms: unk"),
    ("= 1000", "= soon", "patience_ns: does not take \"soon\""),
    ("= 1000", "= 9-8", "patience_ns: does not take \"9-8\""),
    ("cs_ns = 0 500", "cs_ns = -5", "cs_ns: does not take \"-5\""),
    ("= 200", "= 0", "[load] duration_ms: does not take \"0\""),
    ("cs_ns = 0 500", "patience_ns = 1 2", "[sweep] patience_ns: it is in [load], too"),
    ("= 1000", "= 1000\ncpus = 3 4", "[load] cpus: takes one value"),
    ("cs_ns = 0 500", "cs_ns = 0 0", "cs_ns: a value is there twice"),
    ("cs_ns = 0 500", "cs_ns =", "[sweep] cs_ns: takes"),
    ("cpus = 1 2\n", "cpus = 0\n", "cpus: \"0\" is not a number of CPUs"),
    ("cpus = 1 2\n", "cpus = 1.5\n", "cpus: \"1.5\" is not a number"),
    ("cpus = 1 2\n", "cpus = 65\n", "cpus: \"65\" is not a number"),
    ("cpus = 1 2\n", "cpus = 1\ncpus_per_core = 1\n", "cannot both be"),
    ("x = cpus", "x = ncs_ns", "[plot rate] x: \"ncs_ns\" is no"),
    ("panel = cs_ns", "panel = y", "panel: \"y\" is no axis"),
    ("panel = cs_ns", "panel = cpus", "is the x axis already"),
    ("log = y", "locks = clh", "[plot rate] locks: the"),
    ("log = y", "locks = a b c d e f", "[plot rate] locks: are 6; a figure has 5 at most"),
    ("log = y", "where = cs_ns=7", "cs_ns is never 7"),
    ("log = y", "log = z", "[plot rate] log: is z"),
    ("rounds = 3", "rounds = 3\nrounds = 4", "is not a scenario file"),
    ("[load]", "what is this\n[load]", "is not a scenario file"),
    ("[aim fast]", "[aim]", "unknown section [aim]"),
    ("at least 0.5", "much", "[aim fast] aim: is \"much\", not"),
    ("at least 0.5", "at least -1", "aim: is \"at least -1\""),
    ("against = mcs", "against = clh", "against: the lock \"clh\" is not one"),
    ("cs_ns=500\n", "sooner\n", "[aim fast] where: \"sooner\" is not"),
    ("cs_ns=500\n", "cs_ns=7\n", "where: cs_ns is never 7"),
    ("at least 0.5", "at least 0.5\nmedian_of = ncs_ns", "median_of: \"ncs_ns\" is no axis"),
    ("cs_ns = 0 500", "host_busy = 0.5", f"host_busy: does not take \"0.5\": {HOST_BUSY}"),
    ("= 1000", "= 1000\nhost_busy = 17", "busy: does not take \"17\""),
    ("cs_ns = 500\n[plot", "host_busy = some\n[plot", "[quick] host_busy: does not take \"some\""),
    (AIMED[:AIMED.index("[load]")], "", "there is no section [scenario]"),
    ("[plot rate]", "[simulated quick]\nrounds = 1\n[plot rate]",
     "[simulated quick]: there is no section [simulated]"),
)
# The same of SIMULATED.
WRONG_SIMULATED = (
    ("duration_us = 500", "chain = 2", "[simulated] chain: the simulation has"),
    ("duration_us", "duration_s", "[simulated] duration_s: unknown"),
    ("= 500\ncpus", "= 0\ncpus", "duration_us: does not take \"0\""),
    ("8 256", "8 257", "[simulated] cpus: \"257\" is not a number of CPUs (up"),
    ("sockets = 1 8", "sockets = 9", "sockets: does not take \"9\""),
    ("duration_us = 500", "costs = none", "costs: does not take \"none\""),
    ("rounds = 1\n", "chain = 2\n", "[simulated quick] chain: "),
    ("[simulated]", "[quick]", "already exists"),
    ("duration_us = 500", "host_busy = 1",
     "[simulated] host_busy: the simulation has no such parameter, there is"),
    ("patience_ns = 1000", "host_busy = 1", "no kernel: there is no host_busy; there are sockets"),
    ("rounds = 3", "testbed = simulated", "[load] duration_ms: the simulation has no"),
    ("patience_ns = 1000", "chain = 2", "no kernel: there is no chain; there are sockets"),
    ("duration_ms = 200", "sockets = 2",
     "[load] sockets: the stress driver has no such parameter"),
    ("cpus = 8 256", "cpus_per_core = 1 2", "sample.ini: on a simulated machine cpus_per_co"),
    (*OWN, "[simulated]: the scenario's testbed is that al"),
)


class Files(Folders, unittest.TestCase):

    def test_every_mistake_is_named(self):
        for text, mistakes in ((AIMED, WRONG), (SIMULATED, WRONG_SIMULATED)):
            for *words, said in mistakes:
                with self.subTest(words), self.assertRaises(Failure) as caught:
                    self.scenario(*words, text=text)
                self.assertIn("sample.ini", str(caught.exception))
                self.assertIn(said, str(caught.exception))

    def test_what_cannot_be_read_or_is_known_to_the_caller_only_is_named(self):
        self.scenario(metrics=["some_metric"])
        (self.folder / "x.ini").write_bytes(b"\xff\xfe\x00")
        self.file("machine.ini", SAMPLE)
        self.file("counts.ini", SAMPLE)
        self.file("plot.ini", SAMPLE)
        self.file("aim.ini", AIMED.replace("y = some_metric", "y = jain"))
        self.assertEqual((results.MACHINE, results.COUNTS), ("machine.json", "counts.json"))

        def refuse(text, scenario):
            self.assertEqual((text, scenario.name), ("a(clh_nb) > 1", "plot"))
            raise Failure("nonsense")
        for name, options, words in (
                ("none", {}, "cannot read .*none.ini"), ("x", {}, "x.ini is not a scenario file"),
                ("machine", {}, "needs another name"), ("counts", {}, "needs another name"),
                ("plot", {"metrics": ["jain"]}, r"plot.ini: \[plot rate\] y: .*\"some_metric\"; t"),
                ("aim", {"metrics": ["jain"]}, r"\[aim fast\] metric: .*\"some_metric\"; there a"),
                ("plot", {"check_finding": refuse}, r"\[finding better\] holds: nonsense")):
            with self.subTest(name), self.assertRaisesRegex(Failure, words):
                scenario_file.read(self.folder / f"{name}.ini", **options)

    def test_what_it_says_is_read(self):
        plan = self.scenario(text=AIMED)
        self.assertEqual(plan.title, "A title on two lines")
        self.assertEqual(plan.source, "Nobody 2002, figure 1")
        self.assertEqual((plan.rounds, plan.testbed), (3, "uml"))
        self.assertEqual(plan.load, {"patience_ns": 1000, "duration_ms": 200})
        self.assertEqual(vars(plan.plots[0]), {
            "name": "rate", "title": "Rate", "x": "cpus", "y": "some_metric", "log": "y",
            "panel": "cs_ns", "where": {}, "locks": [], "histogram": None})
        self.assertEqual(plan.findings[0].holds, "a(clh_nb) > 1")
        aim, = plan.aims
        self.assertEqual((aim.is_least, aim.limit, aim.against), (True, 0.5, "mcs"))
        self.assertEqual(aim.where, {"cpus": [1, 2], "cs_ns": [500]})
        # Values with blanks have commas between them.
        self.assertEqual(self.scenario("cs_ns = 0 500", "contexts = task, task softirq",
                                       "panel = cs_ns\n", "", "cs_ns = 500\n", "")
                         .sweep["contexts"], ["task", "task softirq"])

    def test_a_histogram_is_drawn_instead_of_a_metric_and_asked_for_in_each_run(self):
        self.assertEqual(self.scenario().histograms, ())
        plan = self.scenario("y = some_metric\n", "histogram = wait\n", metrics=[])
        self.assertEqual((plan.plots[0].histogram, plan.plots[0].y, plan.histograms),
                         ("wait", None, ("wait",)))

    def test_what_it_does_not_say_has_defaults(self):
        plan = self.scenario(text="[scenario]\ntitle = t\nsource = s\nlocks = all\n")
        self.assertEqual((plan.rounds, plan.testbed, plan.load), (5, "uml", {}))
        self.assertEqual(plan.points(4), [{"cpus": 4}])
        plot, = self.scenario("[plot rate]", "[plots]\nlog = x\nwhere = cpus=2\n[plot rate]",
                              "x = cpus\n", "").plots
        self.assertEqual((plot.x, plot.log, plot.where), ("cpus", "y", {"cpus": [2]}))

    def test_sections_may_come_in_any_order(self):
        head, tail = SAMPLE.split("[sweep]")
        sweep, rest = tail.split("[quick]")
        self.assertEqual(self.scenario(text=f"[sweep]{sweep}{head}[quick]{rest}").plan(),
                         self.scenario().plan())
        with self.assertRaisesRegex(Failure, r"\[sweep\] cs_ns: it is in \[load\], too"):
            self.scenario(text="[sweep]\ncs_ns = 1 2\n[load]\ncs_ns = 3\n")

    def test_a_plan_survives_being_data(self):
        for plan in (self.scenario(text=AIMED), self.scenario(text=SIMULATED).on("simulated")):
            again = scenarios.from_plan(plan.name, plan.title, plan.source, plan.plan())
            self.assertEqual(again.plan(), plan.plan())
            # One from before there were aims has none.
            older = {key: value for key, value in plan.plan().items() if key != "aims"}
            self.assertEqual(scenarios.from_plan(plan.name, "", "", older).aims, [])
            # Those of figures with grey lines name the others.
            older = {**plan.plan(), "plots": [
                {**{key: plot[key] for key in plot if key != "locks"}, "colour": ["clh"]}
                for plot in plan.plan()["plots"]]}
            self.assertEqual(scenarios.from_plan(plan.name, "", "", older).plots, plan.plots)


class OnTheSimulatedBed(Folders, unittest.TestCase):

    def simulated(self, *words, text=SIMULATED):
        return self.scenario(*words, text=text).on("simulated")

    def test_the_section_changes_what_the_file_says(self):
        plan = self.scenario(text=SIMULATED)
        other = plan.on("simulated")
        self.assertEqual((plan.name, plan.testbed, plan.rounds), ("sample", "uml", 3))
        self.assertEqual((other.name, other.testbed, other.rounds),
                         ("sample-simulated", "simulated", 4))
        self.assertEqual(other.load, {"patience_ns": "200*cpus", "duration_us": 500})
        self.assertEqual(other.sweep, {"cpus": [8, 256], "cs_ns": [0, 500], "sockets": [1, 8]})
        self.assertEqual(other.settings("mcs", {"cpus": 8, "cs_ns": 0}), {
            "lock": "mcs", "cpus": 8, "duration_us": 500, "patience_ns": "200*cpus", "cs_ns": 0})
        self.assertIs(other.on("simulated"), other)
        quick = other.quickened()
        self.assertEqual((quick.rounds, quick.sweep["cpus"]), (1, [8]))
        self.assertEqual(quick.sweep["cs_ns"], [0, 500])

    def test_the_kernels_lock_is_answered_by_its_model_or_left_out(self):
        self.assertEqual(self.simulated().lock_names(["clh_nb", "qspinlock"]),
                         ["clh_nb", "qspinlock"])
        self.assertEqual(self.simulated("clh_nb raw_spinlock rqspinlock",
                                        "all -raw_trylock -raw_spinlock").locks,
                         ["all", "-qspinlock"])

    def test_only_what_has_a_beds_parameters_goes_there(self):
        self.assertEqual(self.simulated(text=SAMPLE).load, {"patience_ns": 1000})
        with self.assertRaisesRegex(Failure, "sample.ini: a simulated .* there is no own_clock, "
                                    "threads, chain; there are sockets, cores,"):
            self.simulated("duration_ms = 200", "own_clock = 1\nthreads = 3\nchain = 2",
                           text=SAMPLE)
        plan = self.scenario(*OWN)
        self.assertEqual(plan.on("simulated").name, "sample")
        with self.assertRaisesRegex(Failure, "user-mode Linux: there is no duration_us; there"):
            plan.on("uml")

    def test_the_simulated_machine_has_cores_of_its_own(self):
        for said, cores, wanted in (
                ("cpus = 8 256", 256, {(None, 8), (None, 256)}),
                ("cores = 8\ncpus_per_core = 1 2", 8, {(None, 8), (None, 16)}),
                ("cores = 8 32\ncpus_per_core = 1 2", 32, {(8, 8), (8, 16), (32, 32), (32, 64)})):
            plan = self.simulated("cpus = 8 256", said)
            self.assertEqual(plan.cores(2), cores)
            self.assertEqual({(point.get("cores"), point["cpus"])
                              for point in plan.points(cores, 256)}, wanted)

    def test_an_estimate_grows_with_cpus_and_is_shared_by_the_cores(self):
        plan = self.simulated()
        few, many = ({"cpus": cpus, "cs_ns": 0, "sockets": 1} for cpus in (8, 256))
        self.assertGreater(plan.seconds_of(many, 2), 10 * plan.seconds_of(few, 2))
        self.assertAlmostEqual(plan.seconds(1), 2 * plan.seconds(2))


class Meaning(Folders, unittest.TestCase):

    def test_points_are_all_combinations_of_the_axes(self):
        self.assertEqual(self.scenario().points(2), [
            {"cpus": 1, "cs_ns": 0}, {"cpus": 1, "cs_ns": 500},
            {"cpus": 2, "cs_ns": 0}, {"cpus": 2, "cs_ns": 500}])
        fixed = self.scenario("cpus = 1 2\n", "", "= 1000", "= 1000\ncpus = 3")
        self.assertEqual([point["cpus"] for point in fixed.points(2)], [3, 3])
        # So many a core are whole, and not doubled.
        plan = self.scenario("cpus = 1 2", "cpus_per_core = 0.25 0.5 1 1.5 4")
        for cores, most, wanted in ((2, 64, [1, 2, 3, 8]), (1, 64, [1, 2, 4]),
                                    (16, 30, [4, 8, 16, 24, 30])):
            self.assertEqual(plan.cpu_counts(cores, most), wanted)

    def test_settings_are_load_and_point(self):
        point = {"cpus": 2, "cs_ns": 500}
        wanted = {"lock": "mcs", "cpus": "0-1", "threads": 2, "patience_ns": 1000,
                  "duration_ms": 200, "cs_ns": 500}
        self.assertEqual(self.scenario().settings("mcs", point), wanted)
        plan = self.scenario("= 1000", "= 1000\nthreads = 7\nhost_busy = 2")
        self.assertEqual(plan.settings("mcs", point), {**wanted, "threads": 7})
        self.assertEqual(plan.host_busy(point), 2)
        # As long as the driver has it, unless it is said.
        plan = self.scenario("duration_ms = 200\n", "")
        self.assertEqual(plan.settings("mcs", point), {**wanted, "duration_ms": 1000})
        self.assertAlmostEqual(plan.seconds_of(point, 2), 1.1)

    def test_a_busy_host_is_an_axis_and_nothing_that_the_driver_is_told(self):
        plan = self.scenario("cs_ns = 0 500", "host_busy = 0 1\ncs_ns = 0 500")
        last = plan.points(1)[-1]
        self.assertEqual(last, {"cpus": 2, "host_busy": 1, "cs_ns": 500})
        self.assertEqual(plan.host_busy(last), 1)
        self.assertNotIn("host_busy", plan.settings("mcs", last))
        still = self.scenario()
        self.assertEqual(plan.seconds(2), 2 * still.seconds(2))
        self.assertIsNone(still.host_busy(still.points(1)[0]))

    def test_quick_changes_rounds_parameters_and_axes(self):
        plan = self.scenario()
        quick = plan.quickened()
        self.assertEqual((quick.rounds, quick.load["duration_ms"]), (2, 10))
        self.assertEqual(quick.points(2), [{"cpus": 1, "cs_ns": 500}, {"cpus": 2, "cs_ns": 500}])
        self.assertTrue(quick.plan()["quick"])
        self.assertEqual((plan.rounds, len(plan.points(2))), (3, 4))
        quick = self.scenario("rounds = 2", "rounds = 2\ncpus = 3",
                              "cpus = 1 2", "cpus_per_core = 1 2").quickened()
        self.assertEqual((quick.axes(), quick.cpu_counts(2)), (["cpus", "cs_ns"], [3]))

    def test_locks_are_those_of_the_kernel_that_are_named_and_not_dropped(self):
        for words, there, wanted in (("all -clh", ["clh_nb", "clh", "mcs"], ["clh_nb", "mcs"]),
                                     ("mcs, clh mcs", ["clh_nb", "clh", "mcs"], ["mcs", "clh"])):
            self.assertEqual(self.scenario("all -clh", words).lock_names(there), wanted)
        for words, there, said in (
                ("all rqspinlock", ["clh", "mcs"], 'sample.ini: .*"rqspinlock"; there are clh, m'),
                ("all -clh", ["mcs"], '"clh"; there are mcs')):
            with self.assertRaisesRegex(Failure, said):
                self.scenario("all -clh", words).lock_names(there)

    def test_an_estimate_grows_with_what_there_is_to_do(self):
        plan = self.scenario()
        # 4 points of 0.2 s, 3 rounds, 10 locks
        self.assertAlmostEqual(plan.seconds(2, locks=10), 4 * 3 * 10 * 0.3, delta=5)
        self.assertGreater(plan.seconds(2, locks=20), plan.seconds(2, locks=10))
        self.assertLess(plan.quickened().seconds(2), plan.seconds(2))
