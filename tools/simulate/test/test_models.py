# SPDX-License-Identifier: GPL-2.0
"""The models of other people's locks: what is known of each lock shows in the simulation."""

import functools
from pathlib import Path
import re
import tempfile
import unittest

from simulate import program

MODELS = ("qspinlock", "pv_qspinlock", "cna", "hmcs")
# Each CPU is away for 1 ms in 11, and the run is long enough that it matters.
AWAY = {"cpus": 32, "away_every_ns": 10_000_000, "away_ns": 1_000_000,
        "warmup_us": 1000, "duration_us": 6000}
# 16 virtual CPUs on 4 processors, in turns that are longer than a paravirtual waiter polls.
SHARED = {"cpus": 16, "cores": 4, "slice_ns": 1_000_000, "warmup_us": 1000,
          "duration_us": 12_000}
PLE = {"ple_window_ns": 1365}
EIGHT_SOCKETS = {"cpus": 64, "sockets": 8}
# Of CPU time, for a run that takes less than a second: one that never ends is an error.
LIMIT_SECONDS = 120
BUILT = None


def setUpModule():
    global BUILT
    BUILT = program.build()


class Run:
    """A run of a lock, and what the tests ask of it."""

    def __init__(self, lock, settings, costs=program.DEFAULT_COSTS):
        text = program.run(BUILT, {"lock": lock, **settings}, costs, cpu_seconds=LIMIT_SECONDS)
        self.values = program.values_of(text)

    def __getattr__(self, name):
        return self.values[name]

    @property
    def rate(self):
        return self.acquisitions_per_second

    @property
    def misses_each(self):
        return self.misses / self.acquisitions

    @property
    def share_on_socket(self):
        return self.socket_handoffs / self.acquisitions


@functools.lru_cache(maxsize=None)
def cached(lock, settings):
    return Run(lock, dict(settings))


def run(lock, **settings):
    """A run of 0.3 ms unless a length is given; the same one is not run again."""
    whole = {"duration_us": 300, "warmup_us": 100, **settings}
    return cached(lock, tuple(sorted(whole.items())))


class ModelTest(unittest.TestCase):
    def assert_flat(self, few, many, part=0.02):
        """Neither what is reached nor what it costs depends on the number of CPUs."""
        self.assertAlmostEqual(few.rate / many.rate, 1, delta=part)
        self.assertAlmostEqual(few.misses_each / many.misses_each, 1, delta=part)


class AllModelsTest(ModelTest):
    def test_excludes_and_serves_every_cpu(self):
        for lock in MODELS:
            for machine in ({"cpus": 1}, {"cpus": 3, "sockets": 3},
                            {"cpus": 16, "sockets": 8, "ncs_ns": 8000}):
                with self.subTest(lock=lock, **machine):
                    result = run(lock, **machine)
                    self.assertEqual(result.verdict, "PASS")
                    self.assertGreater(result.thread_min, 0)
                    self.assertEqual(result.unfinished, 0)

    def test_flat_on_one_socket(self):
        for lock in MODELS:
            with self.subTest(lock=lock):
                self.assert_flat(run(lock, cpus=8), run(lock, cpus=64))

    def test_no_misses_alone(self):
        for lock in (*MODELS, "virt_spin_lock"):
            with self.subTest(lock=lock):
                self.assertLess(run(lock, cpus=1).misses_each, 0.01)


class QspinlockTest(ModelTest):
    def test_more_misses_than_mcs(self):
        # The word is polled by the head, taken by each contender, written by the holder.
        for cpus in (8, 64):
            self.assertGreater(run("qspinlock", cpus=cpus).misses_each,
                               1.5 * run("mcs", cpus=cpus).misses_each)

    def test_second_cpu_is_served_faster(self):
        # It waits with the pending bit: no queue node has to be handed the headship.
        self.assertGreater(run("qspinlock", cpus=2).rate, run("qspinlock", cpus=8).rate)

    def test_first_come_first_served(self):
        self.assertGreater(run("qspinlock", **EIGHT_SOCKETS).jain_permille, 970)


class PvQspinlockTest(ModelTest):
    def test_goes_on_when_cpus_are_away(self):
        # While a CPU is away, no waiter of qspinlock queued behind it gets the lock.
        self.assertLess(run("qspinlock", **AWAY).rate, run("qspinlock", cpus=32).rate / 10)
        self.assertGreater(run("pv_qspinlock", **AWAY).rate,
                           run("pv_qspinlock", cpus=32).rate / 2)

    def test_waiters_halt_only_behind_preempted_ones(self):
        # How long a CPU takes to wake up matters then, and not to a run without absences.
        with tempfile.TemporaryDirectory() as folder:
            slow = Path(folder) / "slow.ini"
            text = program.DEFAULT_COSTS.read_text()
            slow.write_text(re.sub(r"^wake_up = \d+", "wake_up = 200000", text, flags=re.M))
            self.assertNotEqual(slow.read_text(), text)
            for settings, halts in ((AWAY, True), ({"cpus": 32, "duration_us": 300}, False)):
                runs = [Run("pv_qspinlock", settings, costs).acquisitions
                        for costs in (program.DEFAULT_COSTS, slow)]
                self.assertEqual(runs[0] != runs[1], halts)

    def test_halted_waiters_are_woken(self):
        # No waiter stays halted: all are served in a run of some absences, and end it.
        result = run("pv_qspinlock", **{**AWAY, "duration_us": 20_000})
        self.assertEqual((result.verdict, result.unfinished), ("PASS", 0))
        self.assertGreater(result.thread_min, 0)

    def test_head_ends_stealing(self):
        # On a socket the pending bit comes in time, and the order is that of the queue.
        self.assertGreater(run("pv_qspinlock", cpus=64).jain_permille, 990)

    def test_steals_when_the_head_is_far_away(self):
        # Between sockets the lock is free again before the next head asks for it.
        self.assertLess(run("pv_qspinlock", **EIGHT_SOCKETS).jain_permille, 700)


class VirtSpinLockTest(ModelTest):
    def test_excludes(self):
        for machine in ({"cpus": 1}, {"cpus": 3, "sockets": 3}, {"cpus": 16, "sockets": 8}):
            result = run("virt_spin_lock", **machine)
            self.assertEqual((result.verdict, result.unfinished), ("PASS", 0))

    def test_falls_with_the_number_of_cpus(self):
        self.assertLess(run("virt_spin_lock", cpus=64).rate,
                        run("virt_spin_lock", cpus=2).rate / 2)

    def test_goes_on_when_cpus_are_away(self):
        self.assertGreater(run("virt_spin_lock", **AWAY).rate, 10 * run("qspinlock", **AWAY).rate)

    def test_knows_no_order(self):
        # Another socket asks for the line when the holder's has acquired the lock again.
        self.assertEqual(run("virt_spin_lock", cpus=3, sockets=3).thread_min, 0)
        self.assertGreater(run("qspinlock", cpus=3, sockets=3).thread_min, 100)


class HypervisorTest(ModelTest):
    """What a guest asks of a host with fewer processors than the guest has CPUs."""

    def test_bare_queue_waits_for_preempted_cpus(self):
        self.assertLess(run("qspinlock", **SHARED).rate, run("qspinlock", cpus=4).rate / 100)

    def test_pause_loop_exiting_lets_the_queue_go_on(self):
        self.assertGreater(run("qspinlock", **SHARED, **PLE).rate,
                           10 * run("qspinlock", **SHARED).rate)

    def test_pause_loop_exiting_changes_nothing_for_a_cpu_with_its_own_processor(self):
        for settings in ({"cpus": 4}, {"cpus": 1}):
            self.assertEqual(run("qspinlock", **settings, **PLE).acquisitions,
                             run("qspinlock", **settings).acquisitions)

    def test_idle_core_takes_a_waiting_cpu(self):
        # Halted waiters leave cores without work.
        settings = {**SHARED, "cpus": 8}
        self.assertGreater(run("pv_qspinlock", **settings, migrate=1).rate,
                           1.2 * run("pv_qspinlock", **settings).rate)

    def test_woken_cpu_preempts(self):
        # Else it waits for its turn while others steal the lock.
        settings = {**SHARED, "ncs_ns": 10_000}
        self.assertLess(run("pv_qspinlock", **settings, wake_preempts=1).longest_gap_ns,
                        run("pv_qspinlock", **settings).longest_gap_ns / 2)

    def test_excludes_and_loses_no_kick(self):
        settings = {**SHARED, **PLE, "migrate": 1, "wake_preempts": 1}
        for lock in ("virt_spin_lock", "pv_qspinlock", "nbq_spin", "nbq_spin_pv"):
            with self.subTest(lock=lock):
                result = run(lock, **settings)
                self.assertEqual((result.verdict, result.unfinished), ("PASS", 0))

    def test_preempted_cpu_goes_on_on_another_core(self):
        # A run in which one is pulled away while the turn of its old core is over.
        result = run("pv_qspinlock", cpus=32, cores=8, ncs_ns=10_000, slice_ns=3_000_000,
                     warmup_us=3000, duration_us=24_000, migrate=1, wake_preempts=1, seed=2, **PLE)
        self.assertEqual((result.verdict, result.unfinished), ("PASS", 0))

    def test_same_seed_gives_the_same_run(self):
        settings = {**SHARED, **PLE, "migrate": 1, "wake_preempts": 1}
        self.assertEqual(Run("pv_qspinlock", settings).values,
                         Run("pv_qspinlock", settings).values)

    def test_lock_that_is_told_is_the_setting(self):
        told = Run("nbq_spin", {**SHARED, "paravirt": 1})
        self.assertEqual(run("nbq_spin_pv", **SHARED).acquisitions, told.acquisitions)


class SocketsTest(ModelTest):
    def test_kept_on_the_socket(self):
        for lock in ("cna", "hmcs"):
            with self.subTest(lock=lock):
                self.assertGreater(run(lock, **EIGHT_SOCKETS).share_on_socket, 0.9)
        self.assertLess(run("qspinlock", **EIGHT_SOCKETS).share_on_socket, 0.25)

    def test_faster_than_qspinlock_there(self):
        for lock in ("cna", "hmcs"):
            with self.subTest(lock=lock):
                self.assertGreater(run(lock, **EIGHT_SOCKETS).rate,
                                   1.5 * run("qspinlock", **EIGHT_SOCKETS).rate)


class CnaTest(ModelTest):
    def test_other_sockets_wait_for_long(self):
        # One release in 65536 lets them in: here that takes more than 20 ms.
        machine = {"cpus": 4, "sockets": 2, "ncs_ns": 0, "warmup_us": 0}
        self.assertEqual(run("cna", **machine, duration_us=5000).thread_min, 0)
        result = run("cna", **machine, duration_us=40_000)
        self.assertGreater(result.thread_min, 0)
        self.assertGreater(result.longest_gap_ns, 20_000_000)

    def test_one_socket_costs_little(self):
        self.assertGreater(run("cna", cpus=64).rate, 0.8 * run("mcs", cpus=64).rate)


class HmcsTest(ModelTest):
    def test_passes_64_times_on_a_socket(self):
        result = run("hmcs", **EIGHT_SOCKETS, duration_us=1000)
        self.assertAlmostEqual(result.share_on_socket, 63 / 64, delta=0.003)

    def test_sockets_take_turns(self):
        # A round of 8 sockets is 512 acquisitions, and 0.15 ms.
        result = run("hmcs", **EIGHT_SOCKETS, duration_us=1000)
        self.assertGreater(result.jain_permille, 970)
        self.assertLess(result.longest_gap_ns, 200_000)

    def test_one_socket_costs_little(self):
        self.assertGreater(run("hmcs", cpus=64).rate, 0.9 * run("mcs", cpus=64).rate)


if __name__ == "__main__":
    unittest.main()
