# SPDX-License-Identifier: GPL-2.0
"""Result folders for the tests: figures made by a formula, through results.py."""

from pathlib import Path

from base.testbeds import WHOLE_KERNELS
from measure import results
from measure.bench import result_folder
from measure.bench.kernels import SIDES
from measure.results import RunRecord, ScenarioResult
from measure.scenario import Scenario

CORES = 2
LOCKS = ("clh_nb", "mcs_nb", "swap_nb", "nbq_spin", "raw_spinlock", "raw_trylock",
         "rqspinlock", "tas_b", "tas_b_try", "clh", "mcs", "clh_try", "mcs_try",
         "clh_nb_paper", "mcs_nb_paper")
SIMULATED_LOCKS = (*(lock for lock in LOCKS if lock not in (
    "raw_spinlock", "raw_trylock", "rqspinlock")), "qspinlock", "pv_qspinlock",
    "virt_spin_lock", "nbq_spin_sockets", "nbq_spin_pv", "cna", "hmcs")
NODES = {"clh_nb": 3, "mcs_nb": 4, "swap_nb": 4, "nbq_spin": 2,
         "clh_nb_paper": 40, "mcs_nb_paper": 30}
MACHINE = {"format": results.FORMAT, "kernel": "7.2.12", "testbed": "uml",
           "kernels": {"uml": "7.2.12"}, "cpu_model": "A processor", "cores": CORES,
           "memory_mb": 4096, "host_kernel": "6.1.0-mine", "compiler": "gcc 12",
           "commit": "0123456789ab", "date": "2026-01-02T03:04:05Z",
           "command": "nbq bench figure5", "quick": False}


def scenario_of(plots=(), sweep=None, locks=("all",), name="trial", rounds=3, **load):
    found = Scenario(name, "A trial", "nowhere", list(locks), rounds)
    found.load = {"duration_ms": 100, "cs_ns": 100, "ncs_ns": 0, "patience_ns": 1000, **load}
    found.sweep = sweep or {"cpus": [1, 2, 4]}
    found.plots = list(plots)
    return found


def run(lock="clh_nb", round=0, point=None, verdict="PASS", settings=None, **result):
    """A run whose result is what is given."""
    return RunRecord(lock, round, point or {"cpus": 2}, settings or {}, result, verdict)


class EveryFigure(dict):
    """A result in which no figure is missing, and the names that were asked for."""

    def __init__(self, whole, given):
        super().__init__(given)
        self.whole = whole
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, self.whole)


def made_up(scenario, lock, number, point):
    """A whole result that differs with lock, round and point, and adds up."""
    settings = scenario.settings(lock, point)
    weight = 1 + list(dict.fromkeys([*LOCKS, *SIMULATED_LOCKS, *SIDES])).index(lock)
    crowd = max(1, point["cpus"] / CORES) ** 2
    elapsed = settings.get("duration_ms", 1000) * 1000000
    attempts = round(elapsed / (400 * crowd * (1 + weight / 20)) * (1 + number / 20))
    waits = lock in ("raw_spinlock", "tas_b", "clh", "mcs", "rqspinlock")
    timeouts = 0 if waits else round(attempts * (1 - 1 / crowd) * weight / 20)
    times = {f"{name}_ns_{short}": scale * weight * crowd * factor
             for name, scale in (("wait", 100), ("failed_wait", 900), ("overshoot", 50),
                                 ("handoff", 80), ("own_wait", 90), ("own_overshoot", 40),
                                 ("away", 20), ("passed_after", 70))
             for short, factor in (("mean", 2), ("p50", 1), ("p90", 3), ("p99", 9),
                                   ("p999", 30), ("max", 100))}
    busy = scenario.host_busy(point)
    host = {} if busy is None else {
        "host_busy_processes": CORES * busy, "host_busy_cores": CORES,
        "host_busy_permille": 1000 * busy // (1 + busy)}
    return {"threads": point["cpus"], **settings, **host, "cpus_online": point["cpus"],
            "elapsed_ns": elapsed,
            "attempts": attempts, "acquisitions": attempts - timeouts, "timeouts": timeouts,
            "handoffs": (attempts - timeouts) // 2,
            "acquisitions_per_second": (attempts - timeouts) * 10**9 // elapsed,
            "thread_stddev": attempts // 50, "jain_permille": 1000 - 10 * weight,
            "longest_gap_ns": 1000000 * weight, "wait_samples": attempts - timeouts,
            "failed_wait_samples": timeouts, "overshoot_samples": timeouts,
            "handoff_samples": attempts // 3, "own_wait_samples": attempts - timeouts,
            "own_overshoot_samples": timeouts, "away_samples": timeouts,
            "passed_after_samples": attempts, **times,
            "passed_samples": attempts // 2, "passed_mean_permille": 100 * weight,
            "passed_p99": 1, "passed_p999": 1, "passed_max": weight,
            "passed_late_samples": attempts // 2, "passed_late_mean_permille": weight,
            "passed_late_p99": 0, "passed_late_p999": 0, "passed_late_max": weight // 4,
            "costs": "A", "success_misses": 60 + number, "success_misses_of": 10,
            "failure_misses": 50, "failure_misses_of": 10, "misses": 50 * attempts,
            "socket_handoffs": (attempts - timeouts) // 4,
            "suspensions": 10, "suspension_ns_mean": settings.get("suspend_ns", 0) + 1000,
            "nodes_max": NODES.get(lock, 0) * point["cpus"], "empty_loop_ps": 1500,
            "pair_ps": 1000 * number + 20000, "failed_try_ps": 5000,
            "clock_read_ps": 35000, "operations": attempts, "workers": point["cpus"],
            "finished": point["cpus"], "least": attempts // point["cpus"] // 2,
            "most": attempts // point["cpus"], "limit_ms": 60000}


def changed_by(change):
    """For result_of(): what is made up, with what change(lock, number, point) says instead."""
    def made(scenario, lock, number, point):
        return {**made_up(scenario, lock, number, point), **change(lock, number, point)}
    return made


def rated(rate):
    """For result_of(): rate(lock, number, point) acquisitions per second; None: 1000."""
    def change(*words):
        won = rate(*words)
        won = 1000 if won is None else won
        return {"elapsed_ns": 10**9, "attempts": won, "acquisitions": won}
    return changed_by(change)


def result_of(scenario, made=made_up, verdict=lambda run: "PASS", there=None):
    """A ScenarioResult of all runs that a scenario asks for, of the locks that are there."""
    known = SIMULATED_LOCKS if scenario.is_simulated else LOCKS
    locks = scenario.lock_names(there or (SIDES if scenario.testbed in WHOLE_KERNELS else known))
    points = scenario.points(scenario.cores(CORES), 256)
    result = ScenarioResult(scenario, locks, points, "7.2.12")
    for point in result.points:
        for number in range(scenario.rounds):
            for lock in locks:
                one = RunRecord(lock, number, point, scenario.settings(lock, point),
                                made(scenario, lock, number, point), "",
                                {name: [[64, 65, 9], [1024 + 32 * number, 1055 + 32 * number, 1]]
                                 for name in scenario.histograms})
                one.verdict = verdict(one)
                result.runs.append(one)
    result.complete = True
    return result


def folder_of(path, *found, **machine):
    """A result folder with these ScenarioResults, and what is to be said of the machine."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    results.write_new(path / results.MACHINE, results.as_json({**MACHINE, **machine}))
    for result in found:
        result_folder.write_scenario(path, result)
    return path
