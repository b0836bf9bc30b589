# SPDX-License-Identifier: GPL-2.0
"""Scenarios: which locks to measure under which loads.

scenario_file.py reads them; nbq stress makes them of its options.
"""

from dataclasses import dataclass, field
import itertools
from pathlib import Path
import re
from typing import Optional

from base import parameters
from base.common import MOST_CPUS, Failure, cores
from base.parameters import NUMBER
from base.testbeds import HERE, SIMULATED, TESTBEDS, WHOLE_KERNELS, stand_in

CPU_AXES = {"cpus": NUMBER, "cpus_per_core": r"\d+(?:\.\d+)?"}
DEFAULT_DURATION_MS = 1000	# the driver's
DEFAULT_DURATION_US = 2000	# the simulation's
MOST_ROUNDS = 1000
MOST_DRAWN = 5			# locks in a figure
AIM = r"at (least|most) (\d+(?:\.\d+)?)"

# Of the simulation: for a run, and for each CPU in a simulated us.
SECONDS_A_PROCESS = 0.01
SECONDS_A_US = 3e-6


@dataclass
class Plot:
    """A figure that a scenario asks for; its words are those of the file.

    where: {axis: [values]}, the points that are drawn; all, if empty. locks: those that are
    drawn; the usual ones of figure.py, if there are none. histogram: whose distribution is drawn,
    instead of y over x.
    """
    name: str
    title: str
    x: str = "cpus"
    y: Optional[str] = None
    log: str = "none"
    panel: Optional[str] = None
    where: dict = field(default_factory=dict)
    locks: list = field(default_factory=list)
    histogram: Optional[str] = None


@dataclass
class Finding:
    """A claim of a paper, and an expression that says whether it holds.

    why: the supposed reason if it does not.
    """
    name: str
    paper: str
    holds: str
    title: str
    why: Optional[str] = None


@dataclass
class Aim:
    """A number that a lock of ours is to reach: by itself, or times another lock's.

    where: {axis: [values]}, the points at which it is to; at all, if empty.
    unit: what the metric is in here, if that is not its usual unit. median_of, mean_of: an axis;
    the median or the geometric mean over its values is meant, round by round.
    """
    name: str
    title: str
    metric: str
    lock: str
    aim: str
    against: Optional[str] = None
    where: dict = field(default_factory=dict)
    unit: Optional[str] = None
    median_of: Optional[str] = None
    mean_of: Optional[str] = None

    @property
    def over(self):
        """The axis whose values are taken together, if any."""
        return self.median_of or self.mean_of

    @property
    def is_least(self):
        """Whether more than what is aimed at is better."""
        return re.fullmatch(AIM, self.aim)[1] == "least"

    @property
    def limit(self):
        return float(re.fullmatch(AIM, self.aim)[2])


@dataclass
class Scenario:
    """What one file says.

    load: {parameter: value}, as the driver's files take them; values that look like
    numbers are. sweep: {axis: [values]}, an axis being "cpus", "cpus_per_core"
    or a parameter. locks: the words of the file, see lock_names(). histograms: the names of
    those that the results are to have.
    """

    name: str
    title: str = ""
    source: str = ""
    locks: list = field(default_factory=lambda: ["all"])
    rounds: int = 5
    testbed: str = "uml"
    load: dict = field(default_factory=dict)
    sweep: dict = field(default_factory=dict)
    plots: list = field(default_factory=list)
    findings: list = field(default_factory=list)
    aims: list = field(default_factory=list)
    is_quick: bool = False
    histograms: tuple = ()
    path: Optional[Path] = None

    @property
    def is_simulated(self):
        return self.testbed == SIMULATED

    @property
    def bed(self):
        return TESTBEDS.get(self.testbed, HERE)

    @property
    def parameters(self):
        """What its runs can be told."""
        return self.bed.parameters

    def axes(self):
        """The keys of a point: "cpus" first, then the sweep's parameters."""
        return ["cpus", *(axis for axis in self.sweep if axis not in CPU_AXES)]

    def cores(self, here):
        """Of the machine that it runs on: here, or as simulated."""
        if not self.is_simulated:
            return here
        cores = self.load.get("cores") or max(self.sweep.get("cores") or
                                              self.sweep.get("cpus", [0]))
        if not cores:
            raise Failure(f"{self.path or self.name}: on a simulated machine cpus_per_core "
                          "needs to know cores, or say cpus instead, in [simulated]")
        return cores

    def cpu_counts(self, cores, most=MOST_CPUS):
        """How many CPUs: what the axis means on a machine with so many cores."""
        if "cpus" in self.sweep:
            return self.sweep["cpus"]
        counts = [min(max(1, round(each * cores)), most)
                  for each in self.sweep.get("cpus_per_core", [1])]
        return list(dict.fromkeys(counts))

    def points(self, cores, most=MOST_CPUS):
        """Every combination of the axes, as {axis: value}, "cpus" resolved."""
        found = []
        for machine in self.sweep.get("cores", [cores]):
            values = [self.cpu_counts(machine or cores, most),
                      *([machine] if axis == "cores" else self.sweep[axis]
                        for axis in self.axes()[1:])]
            found += [dict(zip(self.axes(), each)) for each in itertools.product(*values)]
        return found

    def settings(self, lock, point):
        """What to write to which of the driver's files for a run."""
        cpus = point["cpus"]
        told = {parameter: value for parameter, value in {**self.load, **point}.items()
                if parameter != "cpus" and parameter not in parameters.HOST}
        if self.is_simulated:
            return {"lock": lock, "cpus": cpus, "duration_us": DEFAULT_DURATION_US, **told}
        return {"lock": lock, "cpus": f"0-{cpus - 1}", "threads": cpus,
                "duration_ms": DEFAULT_DURATION_MS, **told}

    def host_busy(self, point):
        """How many processes keep each core of the host busy; None if nothing is said."""
        return {**self.load, **point}.get(parameters.HOST_BUSY)

    def seconds_of(self, point, cores):
        """About how long a run takes here; of simulated ones so many go on at a time."""
        settings = self.settings("", point)
        if not self.is_simulated:
            return settings["duration_ms"] / 1000 + self.bed.run_seconds
        running = min(point["cpus"], settings.get("cores") or point["cpus"])
        span = settings["duration_us"] + settings.get("warmup_us", 0)
        return (running * span * SECONDS_A_US + SECONDS_A_PROCESS) / cores

    def seconds_of_guests(self, points, locks):
        """About how long they take besides their runs; locks: how many there are."""
        groups = len({(point["cpus"], self.host_busy(point)) for point in points})
        each = locks * self.rounds if self.testbed in WHOLE_KERNELS else 1
        return 0 if self.is_simulated else groups * each * self.bed.guest_seconds

    def check(self, locks, most_cpus, meaning):
        """Refuse lock types and CPUs that a testbed does not have. Returns (locks, points)."""
        points = self.points(self.cores(cores()), most_cpus)
        most = max(point["cpus"] for point in points)
        if most > most_cpus:
            raise Failure(f"{self.path or self.name}: {most} CPUs are more than {meaning} has, "
                          f"{most_cpus}")
        return self.lock_names(locks), points

    def lock_names(self, there):
        """The locks to measure, out of those that the driver has."""
        names = []
        for word in self.locks:
            name = word.removeprefix("-")
            if name != "all" and name not in there:
                raise Failure(f"{self.where('scenario', 'locks')}: there is no lock type "
                              f"\"{name}\"; there are {', '.join(there)}")
            if word.startswith("-"):
                names = [each for each in names if each != name]
            else:
                names += there if word == "all" else [word]
        if not names:
            raise Failure(f"{self.where('scenario', 'locks')}: no lock is left to measure")
        return list(dict.fromkeys(names))

    def has_lock(self, lock):
        """Whether a lock, or what answers for it on the testbed, is among those to measure."""
        name = stand_in(lock, self.testbed)
        return f"-{name}" not in self.locks and bool({name, "all"} & set(self.locks))

    def where(self, section, key=None):
        """Names the file, and the key in it, for a sentence."""
        place = f"{self.path or self.name}: [{section}]"
        return f"{place} {key}" if key else place

    def plan(self):
        """All of it as plain data, for a result file. See from_plan()."""
        return {"locks": self.locks, "rounds": self.rounds, "testbed": self.testbed,
                "quick": self.is_quick, "load": self.load, "sweep": self.sweep,
                "plots": [vars(plot) for plot in self.plots],
                "findings": [vars(finding) for finding in self.findings],
                "aims": [vars(aim) for aim in self.aims]}


def from_plan(name, title, source, plan):
    """The scenario that plan() was called on."""
    return Scenario(
        name, title, source,
        *(plan[key] for key in ("locks", "rounds", "testbed", "load", "sweep")),
        # Those of 2.0.0 and before have other words on colours.
        [Plot(**{key: plot[key] for key in vars(Plot("", "")) if key in plot})
         for plot in plan["plots"]],
        [Finding(**finding) for finding in plan["findings"]],
        [Aim(**aim) for aim in plan.get("aims", [])],	# older results have none
        plan["quick"])
