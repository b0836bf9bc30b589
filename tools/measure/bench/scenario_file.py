# SPDX-License-Identifier: GPL-2.0
"""Scenario files, of which Documentation/bench.rst describes the format.

What a file may say is checked here, all of it before anything runs; which locks there are
is the kernel's to say, which metrics, that of the caller.
"""

import configparser
import copy
from pathlib import Path
import re

from base import parameters
from base.common import MOST_CPUS, Failure
from base.driver import HISTOGRAMS
from base.parameters import NUMBER, number_or_word
from base.testbeds import SIMULATED, TESTBEDS, locks_on
from measure.scenario import AIM, CPU_AXES, MOST_DRAWN, MOST_ROUNDS, Aim, Finding, Plot, Scenario

SCENARIOS = Path(__file__).with_name("scenarios")

NAME = r"[a-z0-9][a-z0-9_-]*"
TAKEN = ("machine", "counts")	# other files of a result folder, see results.py
LOGS = ("none", "x", "y", "xy")
# The keys of a section: those that it must have, and others that it may have.
KEYS = {
    "scenario": (("title", "source", "locks"), ("rounds", "testbed")),
    "plots": ((), ("x", "log", "panel", "where", "locks")),
    "plot": (("title",), ("y", "x", "log", "panel", "where", "locks", "histogram")),
    "finding": (("paper", "holds"), ("title", "why")),
    "aim": (("title", "metric", "lock", "aim"), ("against", "where", "unit", "median_of",
                                                      "mean_of")),
}

# For an estimate, before a kernel has been asked what it has.
USUAL_LOCKS = 16


class Experiment(Scenario):
    """A scenario of a file, with what that says of quick passes and of the simulation."""

    def __init__(self, path):
        super().__init__(path.stem, path=path)
        self.of_plots = {"x": "cpus"}	# what holds for each that does not say it
        self.quick = {}		# as written, for quickened()
        self.quick_section = "quick"
        self.simulated = None	# as written, for on()
        self.simulated_quick = {}

    def seconds(self, cores, locks=None):
        """About how long all of it takes; locks: how many, if that is known."""
        if locks is None:
            named = [word for word in self.locks if not word.startswith("-")]
            locks = USUAL_LOCKS if "all" in named else len(named)
        points = self.points(self.cores(cores))
        runs = sum(self.seconds_of(point, cores) for point in points) * locks * self.rounds
        return runs + self.seconds_of_guests(points, locks)

    def change(self, section, keys):
        """What [quick], [simulated] or [simulated quick] changes."""
        section = Section(self, section, keys)
        for key in keys:
            section.change(key)

    def quickened(self):
        """The same with what [quick] changes."""
        short = copy.deepcopy(self)
        short.is_quick = True
        short.change(self.quick_section, self.quick)
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
            other.change(SIMULATED, self.simulated or {})
            other.locks = locks_on(other.locks, testbed)
            for plot in other.plots:
                plot.locks = locks_on(plot.locks, testbed)
        strange = [parameter for parameter in (*other.load, *other.sweep)
                   if parameter not in (*CPU_AXES, *other.parameters)]
        if strange:
            raise Failure(f"{self.path}: {TESTBEDS[testbed].meaning}: there is no "
                          f"{', '.join(strange)}; there are {', '.join(other.parameters)}")
        other.points(other.cores(1))
        return other


def read(path, metrics=None, check_finding=None):
    """Parse and check a scenario file.

    metrics: the names that a plot's y may be; None: any.
    check_finding: called with each finding's expression and the scenario, to
    raise Failure, without naming the file.
    """
    path = Path(path)
    parser = configparser.ConfigParser(
        interpolation=None, delimiters=("=",), comment_prefixes=("#",),
        inline_comment_prefixes=("#",), default_section="no section has this name")
    parser.optionxform = str
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except OSError as error:
        raise Failure(f"cannot read the scenario {path}: {error.strerror}") from None
    except (configparser.Error, UnicodeDecodeError) as error:
        raise Failure(f"{path} is not a scenario file: "
                      f"{joined(str(error))}") from None
    experiment = Experiment(path)
    if not re.fullmatch(NAME, experiment.name):
        raise Failure(f"{path}: the name of a scenario is made of a-z, 0-9, - and _")
    if experiment.name in TAKEN:
        raise Failure(f"{path}: a result folder has a {experiment.name}.json that is something "
                      "else; the scenario needs another name")
    # The testbed comes before its parameters, [load] before [sweep], [plots] before each of them.
    order = {"scenario": 0, "plots": 0, "sweep": 2}
    for section in sorted(parser.sections(), key=lambda section: order.get(section, 1)):
        read_section(experiment, section, dict(parser[section]))
    check_whole(experiment, parser.sections(), metrics, check_finding)
    return experiment


def joined(text):
    """One line of what may be several."""
    return " ".join(text.split())


class Section:
    """A section of a file: the values of its keys, or Failure that names the key."""

    def __init__(self, scenario, name, keys):
        self.scenario = scenario
        self.name = name
        self.keys = keys

    def failure(self, key, words):
        return Failure(f"{self.scenario.where(self.name, key)}: {words}")

    def check_keys(self, kind):
        wanted, others = KEYS[kind]
        for key in self.keys:
            if key not in (*wanted, *others):
                raise self.failure(key, "unknown key; there are "
                                   f"{', '.join(sorted((*wanted, *others)))}")
        for key in wanted:
            if not self.keys.get(key):
                raise self.failure(key, "is missing")

    def rounds(self):
        text = self.keys["rounds"]
        if not re.fullmatch(NUMBER, text) or not 1 <= int(text) <= MOST_ROUNDS:
            raise self.failure("rounds", f"is \"{text}\", not a number from 1 to {MOST_ROUNDS}")
        return int(text)

    def locks(self, key="locks"):
        words = self.keys[key].replace(",", " ").split()
        for word in words:
            if not re.fullmatch(r"-?\w+", word):
                raise self.failure(key, f"\"{word}\" is no lock type's name")
        if not words or words[0].startswith("-"):
            raise self.failure(key, "begins with all or a lock type")
        return words

    def parameter(self, key, text=None):
        """The value of a parameter, as a number if it is one."""
        try:
            parameters.check_known(key, self.scenario.parameters)
        except Failure as failure:
            raise self.failure(key, failure) from None
        text = joined(self.keys[key] if text is None else text)
        if not parameters.good_value(key, text, self.scenario.parameters):
            takes = parameters.takes(key, self.scenario.parameters)
            raise self.failure(key, f"does not take \"{text}\": it takes {takes}")
        return number_or_word(text)

    def cpus(self, key, text):
        scenario = self.scenario
        most = TESTBEDS[scenario.testbed].most_cpus if scenario.is_simulated else MOST_CPUS
        if not re.fullmatch(CPU_AXES[key], text) or not 0 < float(text) <= most:
            raise self.failure(key, f"\"{text}\" is not a number of CPUs (up to {most})")
        return int(text) if key == "cpus" else float(text)

    def axis(self, key, text=None):
        """The values of an axis; they are separated by commas, if there is one."""
        text = self.keys[key] if text is None else text
        texts = [joined(part) for part in (text.split(",") if "," in text else text.split())]
        value = self.cpus if key in CPU_AXES else self.parameter
        values = [value(key, each) for each in texts]
        if not values:
            raise self.failure(key, f"takes values, not \"{joined(text)}\"")
        if len(set(values)) < len(values):
            raise self.failure(key, "a value is there twice")
        return values

    def where(self):
        """AXIS=VALUE VALUE, AXIS=VALUE ... as {axis: [values]}."""
        found = {}
        for part in self.keys["where"].split(","):
            axis, _, values = joined(part).partition("=")
            axis = axis.strip()
            if axis not in self.scenario.parameters and axis not in CPU_AXES:
                raise self.failure("where", f"\"{joined(part)}\" is not AXIS=VALUE")
            found[axis] = self.axis(axis, values)
        return found

    def change(self, key):
        """What a line of [quick], [simulated] or [simulated quick] changes in the scenario."""
        scenario = self.scenario
        if key in ("rounds", "locks"):
            setattr(scenario, key, getattr(self, key)())
        elif key in CPU_AXES:
            others = {axis: values for axis, values in scenario.sweep.items()
                      if axis not in CPU_AXES}
            scenario.sweep = {key: self.axis(key), **others}
        elif key in scenario.sweep:
            scenario.sweep[key] = self.axis(key)
        elif self.name == SIMULATED and len(self.axis(key)) > 1:
            scenario.load.pop(key, None)
            scenario.sweep[key] = self.axis(key)
        else:
            scenario.load[key] = self.parameter(key)


# Each reads a section into the scenario.

def read_section(scenario, section, keys):
    kind, _, name = section.partition(" ")
    if section in AS_WRITTEN:
        setattr(scenario, AS_WRITTEN[section], keys)
    elif section in PLAIN:
        PLAIN[section](scenario, Section(scenario, section, keys))
    elif kind in NAMED and re.fullmatch(NAME, name):
        NAMED[kind](scenario, Section(scenario, section, keys), name)
    else:
        raise Failure(f"{scenario.path}: unknown section [{section}]; there are "
                      f"{', '.join(f'[{each}]' for each in (*PLAIN, *AS_WRITTEN))}, "
                      f"{', '.join(f'[{each} NAME]' for each in NAMED)}")


def read_head(scenario, section):
    section.check_keys("scenario")
    keys = section.keys
    scenario.title, scenario.source = joined(keys["title"]), joined(keys["source"])
    if "rounds" in keys:
        scenario.rounds = section.rounds()
    scenario.testbed = keys.get("testbed", scenario.testbed)
    if scenario.testbed not in TESTBEDS:
        raise section.failure("testbed", f"there is no testbed \"{scenario.testbed}\"; there are "
                              f"{', '.join(TESTBEDS)}")
    scenario.locks = locks_on(section.locks(), scenario.testbed)


def read_load(scenario, section):
    for key, text in section.keys.items():
        if key not in CPU_AXES:
            scenario.load[key] = section.parameter(key)
            continue
        scenario.sweep[key] = section.axis(key)
        if len(scenario.sweep[key]) > 1:
            raise section.failure(key, f"takes one value, not \"{joined(text)}\"")


def read_sweep(scenario, section):
    for key in section.keys:
        if key in scenario.load or key in scenario.sweep:
            raise section.failure(key, "it is in [load], too")
        scenario.sweep[key] = section.axis(key)


def read_simulated(scenario, section):
    if scenario.is_simulated:
        raise section.failure(None, "the scenario's testbed is that already; what it says "
                              "belongs into [load], [sweep] and [scenario]")
    scenario.simulated = section.keys


def read_plots(scenario, section):
    section.check_keys("plots")
    scenario.of_plots.update(section.keys)


def read_plot(scenario, section, name):
    section.check_keys("plot")
    if ("y" in section.keys) == ("histogram" in section.keys):
        raise section.failure("y", "is missing, and so is histogram" if "y" not in section.keys
                              else "is not for a figure of a histogram")
    section.keys = {**scenario.of_plots, **section.keys, "title": joined(section.keys["title"])}
    words = dict(section.keys)
    if words.get("log", "none") not in LOGS:
        raise section.failure("log", f"is {words['log']}, not one of {', '.join(LOGS)}")
    if "where" in words:
        words["where"] = section.where()
    if "locks" in words:
        words["locks"] = locks_on(section.locks(), scenario.testbed)
        if len(words["locks"]) > MOST_DRAWN:
            raise section.failure("locks", f"are {len(words['locks'])}; a figure has "
                                  f"{MOST_DRAWN} at most")
    if words.get("histogram", HISTOGRAMS[0]) not in HISTOGRAMS:
        raise section.failure("histogram", f"is {words['histogram']}, not one of "
                              f"{', '.join(HISTOGRAMS)}")
    scenario.plots.append(Plot(name, **words))
    scenario.histograms = tuple(dict.fromkeys(plot.histogram for plot in scenario.plots
                                              if plot.histogram))


def read_finding(scenario, section, name):
    section.check_keys("finding")
    words = {key: joined(text) for key, text in section.keys.items()}
    words.setdefault("title", name.replace("-", " ").replace("_", " "))
    scenario.findings.append(Finding(name, **words))


def read_aim(scenario, section, name):
    section.check_keys("aim")
    words = {key: joined(text) for key, text in section.keys.items()}
    if not re.fullmatch(AIM, words["aim"]):
        raise section.failure("aim", f"is \"{words['aim']}\", not \"at least\" or \"at most\" and "
                              "a number")
    if "where" in words:
        words["where"] = section.where()
    scenario.aims.append(Aim(name, **words))


PLAIN = {"scenario": read_head, "load": read_load, "sweep": read_sweep,
         "simulated": read_simulated, "plots": read_plots}
AS_WRITTEN = {"quick": "quick", "simulated quick": "simulated_quick"}
NAMED = {"plot": read_plot, "finding": read_finding, "aim": read_aim}


# The file as a whole

def check_whole(scenario, sections, metrics, check_finding):
    if "scenario" not in sections:
        raise Failure(f"{scenario.path}: there is no section [scenario]")
    if len(CPU_AXES.keys() & scenario.sweep.keys()) > 1:
        raise Failure(f"{scenario.where('sweep')}: cpus and cpus_per_core cannot both be")
    scenario.quickened()
    if scenario.simulated is not None:
        scenario.on(SIMULATED).quickened()
    elif scenario.simulated_quick:
        raise Failure(f"{scenario.where('simulated quick')}: there is no section [simulated]")
    for kind, wanted in (("plot", scenario.plots), ("aim", scenario.aims)):
        for each in wanted:
            check_words(scenario, Section(scenario, f"{kind} {each.name}", vars(each)), metrics)
    for finding in scenario.findings:
        if check_finding:
            try:
                check_finding(finding.holds, scenario)
            except Failure as failure:
                place = scenario.where(f"finding {finding.name}", "holds")
                raise Failure(f"{place}: {failure}") from None


def check_words(scenario, section, metrics):
    """The axes, points, locks and metric that a plot or an aim names."""
    words = section.keys
    axes = scenario.axes()
    for key in ("x", "panel", "median_of", "mean_of"):
        if words.get(key) is not None and words[key] not in axes:
            raise section.failure(key, f"\"{words[key]}\" is no axis; there are "
                                  f"{', '.join(axes)}")
    if words.get("panel") and words["panel"] == words["x"]:
        raise section.failure("panel", "is the x axis already")
    for axis, values in words["where"].items():
        for value in values:
            if value not in scenario.sweep.get(axis, []):
                raise section.failure("where", f"{axis} is never {value}")
    for key in ("lock", "against", "locks"):
        named = words.get(key) or []
        for lock in [named] if isinstance(named, str) else named:
            if not scenario.has_lock(lock):
                raise section.failure(key, f"the lock \"{lock}\" is not one of this scenario")
    for key in ("y", "metric"):
        if metrics is not None and words.get(key) is not None and words[key] not in metrics:
            raise section.failure(key, f"there is no metric \"{words[key]}\"; there are "
                                  f"{', '.join(metrics)}")
