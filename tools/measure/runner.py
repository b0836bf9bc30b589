# SPDX-License-Identifier: GPL-2.0
"""Makes the runs that a scenario asks for, in a place, and collects their results."""

from base.common import cores
from base.driver import Run
from measure.host_busy import BusyHost
from measure.host_load import HostLoad
from measure.results import PASS, RunRecord, ScenarioResult


class PlannedRun(Run):
    """A run of a scenario: of a lock, at a point, in a round."""

    def __init__(self, name, lock, round, point, settings, seconds, wanted=()):
        super().__init__(name, **settings)
        self.wanted = wanted
        self.lock = lock
        self.round = round
        self.point = point
        self.seconds = seconds
        self.lost = None	# why there is no result, if the guest is to blame
        self.host = {}		# figures of the host that it was made on

    @property
    def settled(self):
        """Whether something has become of it."""
        return self.complete or bool(self.lost)

    @property
    def label(self):
        point = ", ".join(f"{axis} {value}" for axis, value in self.point.items())
        return f"{self.lock}, {point}"

    def record(self):
        verdict = f"no verdict: {self.lost}" if self.lost else self.verdict
        evaluated = verdict == PASS or verdict.startswith("FAIL")
        return RunRecord(self.lock, self.round, self.point, self.settings,
                         {**self.figures, **self.host} if evaluated else {}, verdict,
                         self.histograms if evaluated else {})


class Job:
    """A scenario, to be run in a place."""

    def __init__(self, scenario, place):
        self.scenario = scenario
        self.place = place
        self.locks, self.points = scenario.check([lock.name for lock in place.types],
                                                 place.most_cpus, place.meaning)
        # The time of guests is dealt to the runs that are made in them.
        self.share = scenario.seconds_of_guests(self.points, len(self.locks)) / \
            (len(self.points) * len(self.locks) * scenario.rounds)
        self.groups = {}	# (number of CPUs, how busy the host is): runs in their order
        for point in self.points:
            self.groups.setdefault(self.group_of(point), [])
        for key, group in self.groups.items():
            self.plan(group, [point for point in self.points if self.group_of(point) == key])

    def group_of(self, point):
        return point["cpus"], self.scenario.host_busy(point)

    def plan(self, group, points):
        """Rounds in turn; every other one backwards, so that no lock is always first."""
        for number in range(self.scenario.rounds):
            for point in points:
                for lock in self.locks if number % 2 == 0 else reversed(self.locks):
                    settings = self.scenario.settings(lock, point)
                    settings["cpus"] = self.place.cpu_list(point["cpus"])
                    seconds = self.scenario.seconds_of(point, cores()) + self.share
                    group.append(PlannedRun(f"run-{len(group)}", lock, number, point,
                                            settings, seconds, self.scenario.histograms))

    @property
    def runs(self):
        return [run for group in self.groups.values() for run in group]

    def announce(self, progress):
        progress.plan(sum(run.seconds for run in self.runs), len(self.runs))

    def make(self, progress, result=None):
        """Make all runs. Returns the ScenarioResult, which is filled in as they end.

        result: one from new_result(), kept if this is interrupted.
        """
        result = result or self.new_result()
        load = HostLoad()
        at_end = False
        try:
            for (cpus, busy), runs in self.groups.items():
                if busy is None:
                    result.problems += self.place.make(runs, cpus, progress)
                else:
                    self.make_on_busy_host(busy, runs, cpus, progress, result)
            at_end = True
        finally:
            progress.clear()
            if not self.scenario.is_simulated:
                # There, threads of the kernel make the runs.
                result.host = load.figures(with_others=self.place.name != "here")
            result.runs = [run.record() for run in self.runs if run.settled]
            result.complete = at_end and all(run.complete for run in self.runs)
        return result

    def make_on_busy_host(self, busy, runs, cpus, progress, result):
        with BusyHost(busy) as host:
            try:
                result.problems += self.place.make(runs, cpus, progress)
            finally:
                for run in runs:
                    run.host = host.figures()
                result.problems += host.problems()

    def new_result(self):
        return ScenarioResult(self.scenario, self.locks, self.points, self.place.version)


def well(result):
    """Whether a ScenarioResult is what one hopes for: complete, every verdict PASS."""
    return result.complete and not result.problems and \
        all(run.passed for run in result.runs)
