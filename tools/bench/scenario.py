# SPDX-License-Identifier: GPL-2.0
"""Scenarios: small files that say which locks to measure under which loads.

Documentation/bench.rst describes the format. What a file may say is checked
here, all of it before anything runs; which locks there are is the kernel's to
say, which metrics, that of the caller.
"""

import configparser
import copy
import itertools
from pathlib import Path
import re

from bench import parameters
from bench.testbeds import TESTBEDS, SIMULATED, locks_on, stand_in
from bench.parameters import NUMBER, number_or_word
from testbed.common import MOST_CPUS, Trouble

SCENARIOS = Path(__file__).with_name("scenarios")

CPU_AXES = {"cpus": NUMBER, "cpus_per_core": r"\d+(?:\.\d+)?"}
DEFAULT_DURATION_MS = 1000	# the driver's
DEFAULT_DURATION_US = 2000	# the simulation's
MOST_ROUNDS = 1000

NAME = r"[a-z0-9][a-z0-9_-]*"
TAKEN = ("machine", "counts")	# other files of a result folder, see results.py
LOGS = ("none", "x", "y", "xy")
SCENARIO_KEYS = {"title", "source", "locks", "rounds", "testbed"}
PLOT_KEYS = {"title", "x", "y", "log", "panel", "where", "colour"}
FINDING_KEYS = {"title", "paper", "holds", "why"}
AIM_KEYS = {"title", "metric", "lock", "against", "aim", "where", "unit", "median_of"}
AIM = r"at (least|most) (\d+(?:\.\d+)?)"

# For an estimate, before a kernel has been asked what it has.
USUAL_LOCKS = 16
SECONDS_A_RUN = 0.05		# besides its duration
SECONDS_A_GUEST = 3
# Of the simulation: besides a run's duration, and for each CPU in a simulated us.
SECONDS_A_PROCESS = 0.01
SECONDS_A_US = 3e-6


class Plot:
    """A figure that a scenario asks for; its words are those of the file.

    where: {axis: [values]}, the points that are drawn; all, if empty. colour: the locks
    that are not grey; those of plot.py, if there are none.
    """

    def __init__(self, name, title, x, y, log="none", panel=None, where=None, colour=None):
        self.name = name
        self.title = title
        self.x = x
        self.y = y
        self.log = log
        self.panel = panel
        self.where = where or {}
        self.colour = colour or []


class Finding:
    """A claim of a paper, and an expression that says whether it holds.

    why: the supposed reason if it does not.
    """

    def __init__(self, name, paper, holds, title=None, why=None):
        self.name = name
        self.title = title or name.replace("-", " ").replace("_", " ")
        self.paper = paper
        self.holds = holds
        self.why = why


class Aim:
    """A number that a lock of ours is to reach: by itself, or times another lock's.

    where: {axis: [values]}, the points at which it is to; at all, if empty.
    unit: what the metric is in here, if that is not its usual unit. median_of: an axis; the
    median over its values is meant, round by round.
    """

    def __init__(self, name, title, metric, lock, aim, against=None, where=None, unit=None,
                 median_of=None):
        self.name = name
        self.title = title
        self.metric = metric
        self.lock = lock
        self.aim = aim
        self.against = against
        self.where = where or {}
        self.unit = unit
        self.median_of = median_of

    @property
    def is_least(self):
        """Whether more than what is aimed at is better."""
        return re.fullmatch(AIM, self.aim)[1] == "least"

    @property
    def limit(self):
        return float(re.fullmatch(AIM, self.aim)[2])


class Scenario:
    """What one file says.

    load: {parameter: value}, as the driver's files take them; values that look like
    numbers are. sweep: {axis: [values]}, an axis being "cpus", "cpus_per_core"
    or a parameter. locks: the words of the file, see lock_names().
    """

    def __init__(self, name):
        self.name = name
        self.title = ""
        self.source = ""
        self.locks = ["all"]
        self.rounds = 5
        self.testbed = "uml"
        self.load = {}
        self.sweep = {}
        self.plots = []
        self.findings = []
        self.aims = []
        self.quick = {}		# as written, for quickened()
        self.quick_section = "quick"
        self.is_quick = False
        self.simulated = None	# as written, for on()
        self.simulated_quick = {}
        self.path = None

    @property
    def is_simulated(self):
        return self.testbed == SIMULATED

    @property
    def parameters(self):
        """What its runs can be told."""
        return TESTBEDS[self.testbed].parameters

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
            raise Trouble(f"{self.path or self.name}: on a simulated machine cpus_per_core "
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
            return settings["duration_ms"] / 1000 + SECONDS_A_RUN
        running = min(point["cpus"], settings.get("cores") or point["cpus"])
        span = settings["duration_us"] + settings.get("warmup_us", 0)
        return (running * span * SECONDS_A_US + SECONDS_A_PROCESS) / cores

    def lock_names(self, there):
        """The locks to measure, out of those that the driver has."""
        names = []
        for word in self.locks:
            name = word.removeprefix("-")
            if name != "all" and name not in there:
                raise Trouble(f"{self.where('scenario', 'locks')}: there is no lock type "
                              f"\"{name}\"; there are {', '.join(there)}")
            if word.startswith("-"):
                names = [each for each in names if each != name]
            else:
                names += there if word == "all" else [word]
        if not names:
            raise Trouble(f"{self.where('scenario', 'locks')}: no lock is left to measure")
        return list(dict.fromkeys(names))

    def seconds(self, cores, locks=None):
        """About how long all of it takes; locks: how many, if that is known."""
        if locks is None:
            named = [word for word in self.locks if not word.startswith("-")]
            locks = USUAL_LOCKS if "all" in named else len(named)
        points = self.points(self.cores(cores))
        runs = sum(self.seconds_of(point, cores) for point in points) * locks * self.rounds
        guests = 0 if self.is_simulated else \
            len({(point["cpus"], self.host_busy(point)) for point in points})
        return runs + guests * SECONDS_A_GUEST

    def where(self, section, key=None):
        """Names the file, and the key in it, for a sentence."""
        place = f"{self.path or self.name}: [{section}]"
        return f"{place} {key}" if key else place

    def quickened(self):
        """The same with what [quick] changes."""
        short = copy.deepcopy(self)
        short.is_quick = True
        for key, text in self.quick.items():
            apply_change(short, self.quick_section, key, text)
        return short

    def on(self, testbed):
        """The same on another testbed: in the simulation with what [simulated] changes."""
        if testbed == self.testbed:
            return self
        other = copy.deepcopy(self)
        other.testbed = testbed
        if testbed == SIMULATED:
            other.name = f"{self.name}-{SIMULATED}"
            other.quick, other.quick_section = self.simulated_quick, "simulated quick"
            for parameter in parameters.WITHOUT_MEANING:
                other.load.pop(parameter, None)
                other.sweep.pop(parameter, None)
            for key, text in (self.simulated or {}).items():
                apply_change(other, SIMULATED, key, text)
            other.locks = locks_on(other.locks, testbed)
            for plot in other.plots:
                plot.colour = locks_on(plot.colour, testbed)
        strange = [parameter for parameter in (*other.load, *other.sweep)
                   if parameter not in (*CPU_AXES, *other.parameters)]
        if strange:
            raise Trouble(f"{self.path or self.name}: {TESTBEDS[testbed].meaning}: there is no "
                          f"{', '.join(strange)}; there are {', '.join(other.parameters)}")
        other.points(other.cores(1))
        return other

    def plan(self):
        """All of it as plain data, for a result file. See from_plan()."""
        return {"locks": self.locks, "rounds": self.rounds, "testbed": self.testbed,
                "quick": self.is_quick, "load": self.load, "sweep": self.sweep,
                "plots": [vars(plot) for plot in self.plots],
                "findings": [vars(finding) for finding in self.findings],
                "aims": [vars(aim) for aim in self.aims]}


def from_plan(name, title, source, plan):
    """The scenario that plan() was called on."""
    scenario = Scenario(name)
    scenario.title, scenario.source = title, source
    for key in ("locks", "rounds", "testbed", "load", "sweep"):
        setattr(scenario, key, plan[key])
    scenario.is_quick = plan["quick"]
    scenario.plots = [Plot(**plot) for plot in plan["plots"]]
    scenario.findings = [Finding(**finding) for finding in plan["findings"]]
    scenario.aims = [Aim(**aim) for aim in plan.get("aims", [])]	# older results have none
    return scenario


# Reading a file

def read(path, metrics=None, check_finding=None):
    """Parse and check a scenario file.

    metrics: the names that a plot's y may be; None: any.
    check_finding: called with each finding's expression and the scenario, to
    raise Trouble, without naming the file.
    """
    path = Path(path)
    parser = configparser.ConfigParser(
        interpolation=None, delimiters=("=",), comment_prefixes=("#",),
        inline_comment_prefixes=("#",), default_section="no section has this name")
    parser.optionxform = str
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except OSError as error:
        raise Trouble(f"cannot read the scenario {path}: {error.strerror}") from None
    except (configparser.Error, UnicodeDecodeError) as error:
        raise Trouble(f"{path} is not a scenario file: "
                      f"{' '.join(str(error).split())}") from None
    scenario = Scenario(path.stem)
    scenario.path = path
    if not re.fullmatch(NAME, scenario.name):
        raise Trouble(f"{path}: the name of a scenario is made of a-z, 0-9, - and _")
    if scenario.name in TAKEN:
        raise Trouble(f"{path}: a result folder has a {scenario.name}.json that is something "
                      "else; the scenario needs another name")
    # The testbed comes before its parameters, [load] before [sweep].
    order = {"scenario": 0, "sweep": 2}
    for section in sorted(parser.sections(), key=lambda section: order.get(section, 1)):
        read_section(scenario, section, dict(parser[section]))
    check_whole(scenario, parser.sections(), metrics, check_finding)
    return scenario


def read_section(scenario, section, keys):
    words = section.split()
    kind, rest = words[0] if words else "", words[1:]
    readers = {"scenario": read_head, "load": read_load, "sweep": read_sweep,
               "quick": read_quick, "simulated": read_simulated,
               "simulated quick": read_simulated_quick, "plot": read_plot,
               "finding": read_finding, "aim": read_aim}
    if words == ["simulated", "quick"]:
        kind, rest = " ".join(words), []
    named = kind in ("plot", "finding", "aim")
    if kind not in readers or len(rest) != named or \
            not all(re.fullmatch(NAME, name) for name in rest):
        raise Trouble(f"{scenario.path}: unknown section [{section}]; there are [scenario], "
                      "[load], [sweep], [quick], [simulated], [simulated quick], [plot NAME], "
                      "[finding NAME] and [aim NAME]")
    readers[kind](scenario, *rest, keys)


def refuse_others(scenario, section, keys, known):
    for key in keys:
        if key not in known:
            raise Trouble(f"{scenario.where(section, key)}: unknown key; there are "
                          f"{', '.join(sorted(known))}")


def demand(scenario, section, keys, wanted):
    for key in wanted:
        if not keys.get(key):
            raise Trouble(f"{scenario.where(section, key)}: is missing")


def read_head(scenario, keys):
    refuse_others(scenario, "scenario", keys, SCENARIO_KEYS)
    demand(scenario, "scenario", keys, ("title", "source", "locks"))
    scenario.title = joined(keys["title"])
    scenario.source = joined(keys["source"])
    scenario.rounds = rounds(scenario, "scenario", keys.get("rounds", "5"))
    scenario.testbed = keys.get("testbed", "uml")
    if scenario.testbed not in TESTBEDS:
        raise Trouble(f"{scenario.where('scenario', 'testbed')}: there is no testbed "
                      f"\"{scenario.testbed}\"; there are {', '.join(TESTBEDS)}")
    words = lock_words(scenario, "scenario", keys["locks"])
    scenario.locks = locks_on(words, scenario.testbed)


def read_load(scenario, keys):
    for key, text in keys.items():
        if key in CPU_AXES:
            scenario.sweep[key] = axis_values(scenario, "load", key, text, single=True)
        else:
            scenario.load[key] = parameter_value(scenario, "load", key, text)


def read_sweep(scenario, keys):
    for key, text in keys.items():
        if key in scenario.load or key in scenario.sweep:
            raise Trouble(f"{scenario.where('sweep', key)}: it is in [load], too")
        scenario.sweep[key] = axis_values(scenario, "sweep", key, text)


def read_quick(scenario, keys):
    scenario.quick = keys


def read_simulated(scenario, keys):
    if scenario.is_simulated:
        raise Trouble(f"{scenario.where(SIMULATED)}: the scenario's testbed is that already; what "
                      "it says belongs into [load], [sweep] and [scenario]")
    scenario.simulated = keys


def read_simulated_quick(scenario, keys):
    scenario.simulated_quick = keys


def read_plot(scenario, name, keys):
    section = f"plot {name}"
    refuse_others(scenario, section, keys, PLOT_KEYS)
    demand(scenario, section, keys, ("title", "x", "y"))
    if keys.get("log", "none") not in LOGS:
        raise Trouble(f"{scenario.where(section, 'log')}: is {keys['log']}, not one of "
                      f"{', '.join(LOGS)}")
    keys["title"] = joined(keys["title"])
    if "where" in keys:
        keys["where"] = where_of(scenario, section, keys["where"])
    if "colour" in keys:
        keys["colour"] = locks_on(lock_words(scenario, section, keys["colour"], "colour"),
                                  scenario.testbed)
    scenario.plots.append(Plot(name, **keys))


def read_finding(scenario, name, keys):
    section = f"finding {name}"
    refuse_others(scenario, section, keys, FINDING_KEYS)
    demand(scenario, section, keys, ("paper", "holds"))
    scenario.findings.append(
        Finding(name, **{key: joined(text) for key, text in keys.items()}))


def read_aim(scenario, name, keys):
    section = f"aim {name}"
    refuse_others(scenario, section, keys, AIM_KEYS)
    demand(scenario, section, keys, ("title", "metric", "lock", "aim"))
    keys = {key: joined(text) for key, text in keys.items()}
    if not re.fullmatch(AIM, keys["aim"]):
        raise Trouble(f"{scenario.where(section, 'aim')}: is \"{keys['aim']}\", not \"at least\" "
                      "or \"at most\" and a number")
    if "where" in keys:
        keys["where"] = where_of(scenario, section, keys["where"])
    scenario.aims.append(Aim(name, **keys))


def where_of(scenario, section, text):
    """AXIS=VALUE VALUE, AXIS=VALUE ... as {axis: [values]}."""
    return dict(named_axis(scenario, section, part) for part in text.split(","))


def named_axis(scenario, section, text):
    """AXIS=VALUE VALUE ... as (axis, [values])."""
    axis, _, values = joined(text).partition("=")
    axis = axis.strip()
    if axis not in scenario.parameters and axis not in CPU_AXES:
        raise Trouble(f"{scenario.where(section, 'where')}: \"{joined(text)}\" is not "
                      "AXIS=VALUE")
    return axis, axis_values(scenario, section, axis, values)


def apply_change(scenario, section, key, text):
    """One line of [quick], [simulated] or [simulated quick]."""
    if key == "rounds":
        scenario.rounds = rounds(scenario, section, text)
    elif key == "locks":
        scenario.locks = lock_words(scenario, section, text)
    elif key in CPU_AXES:
        others = {axis: values for axis, values in scenario.sweep.items()
                  if axis not in CPU_AXES}
        scenario.sweep = {key: axis_values(scenario, section, key, text), **others}
    elif key in scenario.sweep:
        scenario.sweep[key] = axis_values(scenario, section, key, text)
    elif section == SIMULATED and len(values := axis_values(scenario, section, key, text)) > 1:
        scenario.load.pop(key, None)
        scenario.sweep[key] = values
    else:
        scenario.load[key] = parameter_value(scenario, section, key, text)


# Values

def joined(text):
    """One line of what may be several."""
    return " ".join(text.split())


def rounds(scenario, section, text):
    if not re.fullmatch(NUMBER, text) or not 1 <= int(text) <= MOST_ROUNDS:
        raise Trouble(f"{scenario.where(section, 'rounds')}: is \"{text}\", not a number "
                      f"from 1 to {MOST_ROUNDS}")
    return int(text)


def lock_words(scenario, section, text, key="locks"):
    words = text.replace(",", " ").split()
    for word in words:
        if not re.fullmatch(r"-?\w+", word):
            raise Trouble(f"{scenario.where(section, key)}: \"{word}\" is no lock type's "
                          "name")
    if not words or words[0].startswith("-"):
        raise Trouble(f"{scenario.where(section, key)}: begins with all or a lock type")
    return words


def check_parameter(scenario, section, key):
    try:
        parameters.check_known(key, scenario.parameters)
    except Trouble as trouble:
        raise Trouble(f"{scenario.where(section, key)}: {trouble}") from None


def parameter_value(scenario, section, key, text):
    """The value of a parameter, as a number if it is one."""
    check_parameter(scenario, section, key)
    text = joined(text)
    if not parameters.good_value(key, text, scenario.parameters):
        takes = f": it takes {parameters.TAKES[key]}" if key in parameters.TAKES else ""
        raise Trouble(f"{scenario.where(section, key)}: does not take \"{text}\"{takes}")
    return number_or_word(text)


def axis_values(scenario, section, key, text, single=False):
    """The values of an axis; they are separated by commas, if there is one."""
    texts = [joined(part) for part in (text.split(",") if "," in text else text.split())]
    if key in CPU_AXES:
        values = [cpu_value(scenario, section, key, each) for each in texts]
    else:
        values = [parameter_value(scenario, section, key, each) for each in texts]
    if not values or (single and len(values) > 1):
        raise Trouble(f"{scenario.where(section, key)}: takes "
                      f"{'one value' if single else 'values'}, not \"{joined(text)}\"")
    if len(set(values)) < len(values):
        raise Trouble(f"{scenario.where(section, key)}: a value is there twice")
    return values


def cpu_value(scenario, section, key, text):
    most = TESTBEDS[scenario.testbed].most_cpus if scenario.is_simulated else MOST_CPUS
    good = re.fullmatch(CPU_AXES[key], text) and 0 < float(text) <= most
    if not good:
        raise Trouble(f"{scenario.where(section, key)}: \"{text}\" is not a number of CPUs "
                      f"(up to {most})")
    return int(text) if key == "cpus" else float(text)


# The file as a whole

def check_whole(scenario, sections, metrics, check_finding):
    if "scenario" not in sections:
        raise Trouble(f"{scenario.path}: there is no section [scenario]")
    if len(CPU_AXES.keys() & scenario.sweep.keys()) > 1:
        raise Trouble(f"{scenario.where('sweep')}: cpus and cpus_per_core cannot both be")
    scenario.quickened()
    if scenario.simulated is not None:
        scenario.on(SIMULATED).quickened()
    elif scenario.simulated_quick:
        raise Trouble(f"{scenario.where('simulated quick')}: there is no section [simulated]")
    for plot in scenario.plots:
        check_plot(scenario, plot, metrics)
    for aim in scenario.aims:
        check_aim(scenario, aim, metrics)
    for finding in scenario.findings:
        if check_finding:
            try:
                check_finding(finding.holds, scenario)
            except Trouble as trouble:
                place = scenario.where(f"finding {finding.name}", "holds")
                raise Trouble(f"{place}: {trouble}") from None


def check_aim(scenario, aim, metrics):
    section = f"aim {aim.name}"
    if metrics is not None and aim.metric not in metrics:
        raise Trouble(f"{scenario.where(section, 'metric')}: there is no metric "
                      f"\"{aim.metric}\"; there are {', '.join(metrics)}")
    for key in ("lock", "against"):
        if getattr(aim, key):
            check_lock(scenario, section, key, stand_in(getattr(aim, key), scenario.testbed))
    check_where(scenario, section, aim.where)
    if aim.median_of and aim.median_of not in scenario.axes():
        raise Trouble(f"{scenario.where(section, 'median_of')}: \"{aim.median_of}\" is no axis; "
                      f"there are {', '.join(scenario.axes())}")


def check_lock(scenario, section, key, lock):
    if f"-{lock}" in scenario.locks or not {lock, "all"} & set(scenario.locks):
        raise Trouble(f"{scenario.where(section, key)}: the lock \"{lock}\" is not one of "
                      "this scenario")


def check_where(scenario, section, where):
    for axis, values in where.items():
        missing = [value for value in values if value not in scenario.sweep.get(axis, [])]
        if missing:
            raise Trouble(f"{scenario.where(section, 'where')}: {axis} is never {missing[0]}")


def check_plot(scenario, plot, metrics):
    section = f"plot {plot.name}"
    axes = scenario.axes()
    for key in ("x", "panel"):
        axis = getattr(plot, key)
        if axis is not None and axis not in axes:
            raise Trouble(f"{scenario.where(section, key)}: \"{axis}\" is no axis; there are "
                          f"{', '.join(axes)}")
    if plot.panel == plot.x:
        raise Trouble(f"{scenario.where(section, 'panel')}: is the x axis already")
    check_where(scenario, section, plot.where)
    for lock in plot.colour:
        check_lock(scenario, section, "colour", lock)
    if metrics is not None and plot.y not in metrics:
        raise Trouble(f"{scenario.where(section, 'y')}: there is no metric \"{plot.y}\"; "
                      f"there are {', '.join(metrics)}")
