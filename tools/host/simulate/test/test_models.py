# SPDX-License-Identifier: GPL-2.0
"""The models of other people's locks: what is known of each lock shows in the simulation."""

import functools
from pathlib import Path
import re
import tempfile
import unittest

from host.simulate import program

QUEUES = ("qspinlock", "pv_qspinlock", "cna", "hmcs")
# Each CPU is away for 1 ms in 11, and the run is long enough that it matters.
AWAY = {"cpus": 32, "away_every_ns": 10_000_000, "away_ns": 1_000_000,
        "warmup_us": 1000, "duration_us": 6000}
# 16 virtual CPUs on 4 processors, in turns that are longer than a paravirtual waiter polls.
SHARED = {"cpus": 16, "cores": 4, "slice_ns": 1_000_000, "warmup_us": 1000,
          "duration_us": 12_000}
PLE = {"ple_window_ns": 1365}
MOVING = {**SHARED, **PLE, "migrate": 1, "wake_preempts": 1}
EIGHT_SOCKETS = {"cpus": 64, "sockets": 8}
THREE_SOCKETS = {"cpus": 3, "sockets": 3}
FOR_CNA = {"cpus": 4, "sockets": 2, "ncs_ns": 0, "warmup_us": 0}
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


def ratio(figure, one, other):
    """Of a figure of two runs, each (lock, settings)."""
    return getattr(run(one[0], **one[1]), figure) / getattr(run(other[0], **other[1]), figure)


# What is known: figure, run, other run, the ratio of the two at least and at most.
KNOWN = {
    "qspinlock makes more misses than MCS: heads poll the word, take it and write it": [
        ("misses_each", ("qspinlock", {"cpus": cpus}), ("mcs", {"cpus": cpus}), 1.5, None)
        for cpus in (8, 64)],
    "the second CPU of qspinlock waits with the pending bit: no headship is handed over": [
        ("rate", ("qspinlock", {"cpus": 2}), ("qspinlock", {"cpus": 8}), 1, None)],
    "while a CPU is away, no waiter of qspinlock queued behind it gets the lock": [
        ("rate", ("qspinlock", AWAY), ("qspinlock", {"cpus": 32}), 0, 1 / 10)],
    "pv_qspinlock goes on when CPUs are away": [
        ("rate", ("pv_qspinlock", AWAY), ("pv_qspinlock", {"cpus": 32}), 1 / 2, None)],
    "virt_spin_lock goes on when CPUs are away": [
        ("rate", ("virt_spin_lock", AWAY), ("qspinlock", AWAY), 10, None)],
    "virt_spin_lock falls with the number of CPUs": [
        ("rate", ("virt_spin_lock", {"cpus": 64}), ("virt_spin_lock", {"cpus": 2}), 0, 1 / 2)],
    "a queue waits for preempted CPUs that share cores": [
        ("rate", ("qspinlock", SHARED), ("qspinlock", {"cpus": 4}), 0, 1 / 100)],
    "pause-loop exiting lets the queue go on": [
        ("rate", ("qspinlock", {**SHARED, **PLE}), ("qspinlock", SHARED), 10, None)],
    "pause-loop exiting changes nothing for a CPU with its own processor": [
        ("acquisitions", ("qspinlock", {"cpus": cpus, **PLE}), ("qspinlock", {"cpus": cpus}), 1, 1)
        for cpus in (1, 4)],
    "halted waiters leave cores without work, which take others": [
        ("rate", ("pv_qspinlock", {**SHARED, "cpus": 8, "migrate": 1}),
         ("pv_qspinlock", {**SHARED, "cpus": 8}), 1.2, None)],
    "a woken CPU that waits for its turn waits while others steal the lock": [
        ("longest_gap_ns", ("pv_qspinlock", {**SHARED, "ncs_ns": 10_000, "wake_preempts": 1}),
         ("pv_qspinlock", {**SHARED, "ncs_ns": 10_000}), 0, 1 / 2)],
    "a lock with vcpu_is_preempted() is the lock with that setting": [
        ("acquisitions", ("nbq_spin_pv", SHARED), ("nbq_spin", {**SHARED, "paravirt": 1}), 1, 1)],
    "locks with queues of sockets are faster there": [
        ("rate", (lock, EIGHT_SOCKETS), ("qspinlock", EIGHT_SOCKETS), 1.5, None)
        for lock in ("cna", "hmcs")],
    "and cost little on one": [
        ("rate", (lock, {"cpus": 64}), ("mcs", {"cpus": 64}), least, None)
        for lock, least in (("cna", 0.8), ("hmcs", 0.9))],
    "neither what a queue reaches nor what it costs depends on the number of CPUs of a socket": [
        (figure, (lock, {"cpus": 8}), (lock, {"cpus": 64}), 0.98, 1.02)
        for lock in QUEUES for figure in ("rate", "misses_each")],
}
# Figure, run, least and most.
ALONE = {
    "no misses alone": [("misses_each", lock, {"cpus": 1}, 0, 0.01)
                        for lock in (*QUEUES, "virt_spin_lock")],
    "qspinlock is first come, first served": [
        ("jain_permille", "qspinlock", EIGHT_SOCKETS, 970, None),
        ("thread_min", "qspinlock", THREE_SOCKETS, 100, None)],
    "virt_spin_lock has no order: a socket asks for the line when the lock is acquired again": [
        ("thread_min", "virt_spin_lock", THREE_SOCKETS, 0, 0)],
    "on a socket the pending bit comes in time, and the order is that of the queue": [
        ("jain_permille", "pv_qspinlock", {"cpus": 64}, 990, None)],
    "between sockets the lock is free again before the next head asks for it": [
        ("jain_permille", "pv_qspinlock", EIGHT_SOCKETS, 0, 700)],
    "a lock with queues of sockets is kept on the socket, others are not": [
        ("share_on_socket", "cna", EIGHT_SOCKETS, 0.9, None),
        ("share_on_socket", "qspinlock", EIGHT_SOCKETS, 0, 0.25)],
    "hmcs passes 64 times on a socket": [
        ("share_on_socket", "hmcs", {**EIGHT_SOCKETS, "duration_us": 1000}, 0.981, 0.988)],
    "the sockets of hmcs take turns: a round of 8 is 512 acquisitions, and 0.15 ms": [
        ("jain_permille", "hmcs", {**EIGHT_SOCKETS, "duration_us": 1000}, 970, None),
        ("longest_gap_ns", "hmcs", {**EIGHT_SOCKETS, "duration_us": 1000}, 0, 200_000)],
    # One release in 65536 lets them in: here that takes more than 20 ms.
    "other sockets wait for long with cna": [
        ("thread_min", "cna", {**FOR_CNA, "duration_us": 5000}, 0, 0),
        ("thread_min", "cna", {**FOR_CNA, "duration_us": 40_000}, 1, None),
        ("longest_gap_ns", "cna", {**FOR_CNA, "duration_us": 40_000}, 20_000_000, None)],
}
# Every CPU is served, and none loses a kick.
SERVED = [(lock, machine) for lock in QUEUES
          for machine in ({"cpus": 1}, THREE_SOCKETS, {"cpus": 16, "sockets": 8, "ncs_ns": 8000})]
SERVED += [("pv_qspinlock", {**AWAY, "duration_us": 20_000})]
# Not each of these serves all in so short a run.
ENDED = [("virt_spin_lock", machine)
         for machine in ({"cpus": 1}, THREE_SOCKETS, {"cpus": 16, "sockets": 8})]
ENDED += [(lock, MOVING) for lock in ("virt_spin_lock", "pv_qspinlock", "nbq_spin", "nbq_spin_pv")]
# A CPU is pulled away while the turn of its old core is over.
ENDED += [("pv_qspinlock", {**MOVING, "cpus": 32, "cores": 8, "ncs_ns": 10_000,
                            "slice_ns": 3_000_000, "warmup_us": 3000, "duration_us": 24_000,
                            "seed": 2})]


class Models(unittest.TestCase):
    def assert_between(self, value, least, most):
        self.assertGreaterEqual(value, least)
        if most is not None:
            self.assertLessEqual(value, most)

    def test_what_is_known_of_a_run_against_another(self):
        for claim, rows in KNOWN.items():
            for figure, one, other, least, most in rows:
                with self.subTest(claim, figure=figure, run=one):
                    self.assert_between(ratio(figure, one, other), least, most)

    def test_what_is_known_of_a_run(self):
        for claim, rows in ALONE.items():
            for figure, lock, settings, least, most in rows:
                with self.subTest(claim, figure=figure, lock=lock):
                    self.assert_between(getattr(run(lock, **settings), figure), least, most)

    def test_excludes_and_ends(self):
        for lock, machine in (*SERVED, *ENDED):
            with self.subTest(lock=lock, **machine):
                result = run(lock, **machine)
                self.assertEqual((result.verdict, result.unfinished), ("PASS", 0))
                self.assertTrue(result.thread_min or (lock, machine) in ENDED)

    def test_paravirtual_waiters_halt_only_behind_preempted_ones(self):
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

    def test_same_seed_gives_the_same_run_on_shared_cores(self):
        self.assertEqual(Run("pv_qspinlock", MOVING).values, Run("pv_qspinlock", MOVING).values)


if __name__ == "__main__":
    unittest.main()
