# SPDX-License-Identifier: GPL-2.0
"""What the simulation takes and refuses, and what it says. That it can be trusted is
shown by the step "simulation" of tools/check.
"""

import subprocess
import unittest

from base.common import Failure
from base.driver import BROKEN
from base.test import InFolder
from base.testbeds import SIMULATED, TESTBEDS
from host.simulate import program

TOOL = program.HERE / "simulate"
BUILT = None


def setUpModule():
    global BUILT
    BUILT = program.build()


def run(costs=program.DEFAULT_COSTS, places=False, **settings):
    short = {"cpus": 4, "duration_us": 50, "warmup_us": 10}
    return program.run(BUILT, {"lock": "mcs", **short, **settings}, costs, places)


def values_of(**settings):
    return program.values_of(run(**settings))


class CostTables(InFolder):
    """A mistake is refused, with the line."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "mine.ini"
        self.text = program.DEFAULT_COSTS.read_text()

    def refused(self, text):
        self.path.write_text(text)
        with self.assertRaises(Failure) as caught:
            run(self.path)
        return str(caught.exception).replace(str(self.path), "mine.ini")

    def line_of(self, word):
        return next(number for number, line in enumerate(self.text.splitlines(), 1)
                    if line.startswith(word))

    def test_ours_are_taken(self):
        for path in program.COSTS.values():
            self.assertIn("verdict PASS", run(path))

    def test_a_table_names_itself(self):
        self.path.write_text(self.text.replace("name = A", "name = mine"))
        self.assertIn("\ncosts mine\n", run(self.path))

    def test_what_is_wrong_is_said_with_its_line(self):
        for old, new, said in (
                ("memory = 90", "memory = near",
                 f":{self.line_of('memory')}: memory is \"near\", not a number from 0 to 1000000"),
                ("refill = 8", "refil = 8",
                 f":{self.line_of('refill')}: there is no cost \"refil\""),
                (self.text, f"{self.text}hit = 2\n",
                 f":{len(self.text.splitlines()) + 1}: hit is there twice"),
                (self.text, f"hit 1\n{self.text}", ":1: \"hit 1\" is not NAME = NUMBER"),
                ("fence = 5", "#", ": fence is missing"),
                ("other_socket = 120", "other_socket = 20",
                 ": the order must be hit < same_socket <= other_socket")):
            with self.subTest(said=said):
                self.assertEqual(self.refused(self.text.replace(old, new)), f"mine.ini{said}")

    def test_a_file_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(Failure, "cannot read the cost table .*none.ini"):
            run(self.path.with_name("none.ini"))


class Settings(unittest.TestCase):
    def refused(self, **settings):
        with self.assertRaises(Failure) as caught:
            run(**settings)
        return str(caught.exception)

    def test_an_unknown_lock_is_refused_with_those_that_there_are(self):
        said = self.refused(lock="nonsense")
        self.assertRegex(said, "lock=nonsense: takes one of clh_nb .* mcs_nb_paper broken")

    def test_an_unknown_setting_is_refused(self):
        self.assertEqual(self.refused(colour=1),
                         "simulate: colour=1: there is no such setting")

    def test_numbers_out_of_range_are_refused_with_the_range(self):
        for settings, words in (({"cpus": 0}, "from 1 to 256"), ({"cpus": 257}, "from 1 to 256"),
                                ({"sockets": 9}, "from 1 to 8"), ({"cpus": "4*cpus"}, "from"),
                                ({"duration_us": 0}, "from 1"), ({"seed": -1}, "from 0"),
                                ({"stop_us": -1}, "from 0"), ({"stop_waiters": 2}, "from 0 to 1"),
                                ({"impatient_permille": 1001}, "from 0 to 1000")):
            self.assertIn(f"takes a number {words}", self.refused(**settings), settings)

    def test_what_does_not_fit_together_is_refused(self):
        for settings, words in (({"sockets": 5}, "must not be more than cpus"),
                                ({"cores": 5}, "must not be more than cpus"),
                                ({"cores": 2, "sockets": 2}, "shared cores are of one socket"),
                                ({"backoff_ns": 9, "backoff_max_ns": 8}, "backoff_max_ns"),
                                ({"patience_ns": "9-8"}, "LOW not above HIGH"),
                                ({"retry": "never"}, "give_up, at_once or back_off")):
            self.assertIn(words, self.refused(**settings), settings)

    def test_times_may_be_multiples_of_the_number_of_cpus(self):
        values = values_of(cpus=8, cs_ns="10*cpus", ncs_ns="20*cpus", patience_ns="200*cpus")
        self.assertEqual((values["cs_ns"], values["ncs_ns"], values["patience_ns"]),
                         (80, 160, 1600))


class Results(unittest.TestCase):
    def test_the_misses_add_up(self):
        values = values_of(lock="nbq_spin_sockets", cpus=12, sockets=3, patience_ns=500)
        sources = sum(values[f"misses_{name}"]
                      for name in ("same_socket", "other_socket", "memory"))
        kinds = sum(values[f"misses_{name}"] for name in ("lock", "node", "pool", "other"))
        self.assertGreater(values["misses"], 0)
        self.assertEqual(sources, values["misses"])
        self.assertEqual(kinds, values["misses"])

    def test_attempts_are_acquisitions_and_failures(self):
        values = values_of(lock="clh_nb", cpus=12, patience_ns=500)
        self.assertGreater(values["timeouts"], 0)
        self.assertEqual(values["attempts"], values["acquisitions"] + values["timeouts"] +
                         values["no_node"])

    def test_one_socket_has_no_transfers_from_another(self):
        values = values_of(lock="mcs_nb", cpus=16)
        self.assertEqual(values["misses_other_socket"], 0)
        self.assertEqual(values["socket_handoffs"], values["acquisitions"])

    def test_a_failed_attempt_is_late_by_its_polls(self):
        values = values_of(lock="clh_nb", cpus=8, patience_ns=1000)
        self.assertGreater(values["overshoot_samples"], 0)
        self.assertLess(values["overshoot_ns_p50"], 1000)

    def test_the_places_name_lines_of_the_shipped_text(self):
        text = run(lock="clh_nb", cpus=16, places=True)
        found = program.places_of(BUILT, text)
        self.assertEqual(sum(place.misses for place in found),
                         program.values_of(text)["misses"])
        self.assertEqual([place.misses for place in found],
                         sorted((place.misses for place in found), reverse=True))
        self.assertIn("nbq_clh_poll", [place.function for place in found])
        self.assertTrue(all(place.where != "?" for place in found))

    def test_in_an_order_no_waiter_is_passed(self):
        values = values_of(lock="mcs", cpus=8)
        self.assertGreater(values["passed_samples"], 0)
        self.assertEqual((values["passed_max"], values["passed_after_samples"]), (0, 0))

    def test_without_an_order_it_is_known_for_how_long_the_passed_had_waited(self):
        values = values_of(lock="tas_b", cpus=8, duration_us=500)
        self.assertGreater(values["passed_max"], 10)
        self.assertLess(values["passed_after_ns_p50"], values["passed_after_ns_max"])
        # An attempt that began after another one, and passes it, begins in its wait.
        self.assertLess(values["passed_after_ns_max"],
                        max(values["wait_ns_max"], values["longest_gap_ns"]))

    def test_late_are_those_that_began_so_much_later(self):
        def counts(late_ns):
            values = values_of(lock="tas_b", cpus=8, duration_us=500, passed_late_ns=late_ns)
            return [[values[f"{name}_{figure}"] for figure in ("samples", "mean_permille", "max")]
                    for name in ("passed", "passed_late")]
        of_all, all_are_late = counts(0)
        self.assertEqual(of_all, all_are_late)
        longest = values_of(lock="tas_b", cpus=8, duration_us=500)["passed_after_ns_max"]
        _, some = counts(longest // 4)
        _, none = counts(10**9)
        self.assertTrue(0 < some[1] < of_all[1] and some[2] < of_all[2], (some, of_all))
        self.assertEqual(none, [of_all[0], 0, 0])

    def test_absences_of_cpus_show_in_the_longest_wait(self):
        steady = values_of(lock="mcs", duration_us=1000)
        away = values_of(lock="mcs", duration_us=1000, away_every_ns=200000, away_ns=100000)
        self.assertLess(steady["wait_ns_max"], 10000)
        self.assertGreater(away["wait_ns_max"], 100000)

    def test_a_socket_that_stops_leaves_the_lock_to_the_others(self):
        values = values_of(lock="mcs", sockets=2, stop_us=10, warmup_us=50)
        self.assertEqual((values["verdict"], values["thread_min"]), ("PASS", 0))
        self.assertEqual(values["acquisitions"], values["socket_handoffs"])
        self.assertLess(values["wait_ns_max"], 10000)

    def test_waiters_that_stop_are_away_up_to_the_end(self):
        steady = values_of(lock="mcs", sockets=2, stop_us=10)
        values = values_of(lock="mcs", sockets=2, stop_us=10, stop_waiters=1)
        self.assertEqual(values["verdict"], "PASS")
        self.assertGreater(steady["acquisitions"], 10 * values["acquisitions"])


class Sockets(unittest.TestCase):
    """What becomes of the hybrid's turns."""

    def test_no_turn_goes_to_a_socket_without_a_head(self):
        gave_up = {"cpus": 24, "cs_ns": 4000, "patience_ns": "20000-80000"}
        preempted = {"cpus": 16, "cs_ns": 2000, "stop_waiters": 1}
        for seeds, load in (
                # In these runs the socket's last head had seen a successor, which gave up first.
                ((3, 4, 7, 8), gave_up),
                # Those of its socket are preempted, too: none of them acts for it.
                ((1, 3, 4), preempted)):
            for seed in seeds:
                stopped, whole = (
                    values_of(lock="nbq_spin_sockets", sockets=8, duration_us=2000, warmup_us=1400,
                              seed=seed, stop_us=stop_us, **load)["acquisitions"]
                    for stop_us in (1000, 0))
                self.assertGreater(stopped, 0.97 * whole, (seed, load))


class Tool(unittest.TestCase):
    def said(self, *words):
        done = subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_it_prints_a_row_for_each_machine(self):
        status, text, _ = self.said("--locks", "mcs,clh", "--cpus", "2", "8", "--sockets", "1",
                                    "2", "--set", "duration_us=50")
        rows = text.splitlines()[2:]
        self.assertEqual(status, 0)
        self.assertIn("cost table A", text)
        self.assertEqual([row.split()[:3] for row in rows],
                         [[lock, sockets, cpus] for lock in ("mcs", "clh")
                          for sockets in "12" for cpus in "28"])

    def test_bad_words_end_in_a_sentence(self):
        for words, sentence in ((("--locks", "nonsense"), "there is no lock type \"nonsense\""),
                                (("--costs", "z"), "there is no cost table z"),
                                (("--cpus", "300"), "300 is not a number from 1 to 256"),
                                (("--set", "seed=1"), "seed has an option of its own"),
                                (("--set", "nonsense=1"), "there is no setting nonsense"),
                                (("--cpus", "2", "--sockets", "4"), "more sockets than CPUs")):
            status, _, said = self.said(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(sentence, said)
            self.assertNotIn("Traceback", said)

    def test_the_tools_know_its_lock_types(self):
        self.assertEqual([name for name, _ in program.lock_types(program.build())],
                         [*TESTBEDS[SIMULATED].locks, BROKEN])

    def test_a_verdict_that_is_not_pass_shows(self):
        status, _, said = self.said("--locks", "broken", "--cpus", "4", "--set",
                                    "duration_us=50")
        self.assertEqual(status, 1)
        self.assertIn("broken, 4 CPUs: FAIL two holders were seen", said)


if __name__ == "__main__":
    unittest.main()
