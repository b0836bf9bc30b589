# SPDX-License-Identifier: GPL-2.0
"""Makes the runs that a scenario asks for, in guests, and collects their results."""

from bench.testbeds import SIMULATED, TESTBEDS, WHOLE_KERNELS
from bench.guests import complaints, lose, lose_current, make_in_guests, show_log
from bench.host_busy import BusyHost
from bench.kernels import KernelsPlace
from bench.listener import Listener
from bench.results import PASS, RunRecord, ScenarioResult, parse_result
from bench.simulated import SimulatedPlace
from testbed.common import Trouble, cores, guest_cpus
from testbed.guest_cli import loaded
from testbed.stress import Run, SPARE_SECONDS, lock_types, run_stress


class PlannedRun(Run):
    """A run of a scenario: of a lock, at a point, in a round."""

    def __init__(self, name, lock, round, point, settings, seconds):
        super().__init__(name, **settings)
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
                         {**parse_result(self.text), **self.host} if evaluated else {}, verdict)


class GuestPlace:
    """A testbed that is ready: its kernel and modules are built, its locks known."""

    def __init__(self, name):
        self.name = name
        self.testbed = TESTBEDS[name]
        self.kernel = self.testbed.kernel()
        self.modules = loaded(self.kernel)
        self.machine = self.testbed.machine(self.kernel)
        self.types = lock_types(self.machine, self.modules,
                                cpus=min(guest_cpus(), self.testbed.most_cpus))

    version = property(lambda self: self.kernel.version)
    most_cpus = property(lambda self: self.testbed.most_cpus)
    meaning = property(lambda self: self.testbed.meaning)

    def cpu_list(self, cpus):
        return f"0-{cpus - 1}"

    def make(self, runs, cpus, progress):
        """Make runs in guests with so many CPUs. Returns what went wrong, in sentences."""
        return make_in_guests(
            runs, lambda left: self.make_in_one_guest(left, cpus, progress), progress)

    def make_in_one_guest(self, runs, cpus, progress):
        listener = Listener(runs, progress)
        longest = max(run.seconds for run in runs)
        planned = sum(run.seconds for run in runs)
        outcome = run_stress(
            self.machine, runs, cpus, self.modules, quiet=True, sink=listener,
            timeout=self.testbed.slowness * planned + SPARE_SECONDS,
            silence=self.testbed.slowness * longest + SPARE_SECONDS)
        problems = []
        if outcome.problem:
            lose_current(runs, listener, outcome.problem, progress)
            problems.append(outcome.problem)
        problems += complaints(outcome)
        if problems:
            show_log(outcome, progress)
        # Without a problem the script was at its end: so is every run.
        if not outcome.problem:
            lose([run for run in runs if not run.settled], "the guest did not make the run",
                 progress)
        return problems


def place_on(testbed, locks=("all",)):
    """A testbed, made ready for these locks."""
    if testbed not in TESTBEDS:
        raise Trouble(f"there is no testbed \"{testbed}\"; there are {', '.join(TESTBEDS)}")
    if testbed in WHOLE_KERNELS:
        return KernelsPlace(locks, testbed)
    return SimulatedPlace() if testbed == SIMULATED else GuestPlace(testbed)


class Job:
    """A scenario, to be run in a place."""

    def __init__(self, scenario, place):
        self.scenario = scenario
        self.place = place
        self.locks = scenario.lock_names([lock.name for lock in place.types])
        self.points = scenario.points(scenario.cores(cores()), place.most_cpus)
        self.groups = {}	# (number of CPUs, how busy the host is): runs in their order
        most = max(point["cpus"] for point in self.points)
        if most > place.most_cpus:
            raise Trouble(f"{scenario.path or scenario.name}: {most} CPUs are more than "
                          f"{place.meaning} has, {place.most_cpus}")
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
                    seconds = self.scenario.seconds_of(point, cores())
                    group.append(PlannedRun(f"run-{len(group)}", lock, number, point,
                                            settings, seconds))

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
        at_end = False
        try:
            for (cpus, busy), runs in self.groups.items():
                with BusyHost(busy) as host:
                    self.make_group(runs, cpus, host, progress, result)
            at_end = True
        finally:
            progress.clear()
            result.runs = [run.record() for run in self.runs if run.settled]
            result.complete = at_end and all(run.complete for run in self.runs)
        return result

    def make_group(self, runs, cpus, host, progress, result):
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
