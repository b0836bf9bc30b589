# SPDX-License-Identifier: GPL-2.0
"""The parameters of a run: of the stress driver, of the host, of the simulation."""

from pathlib import Path
import re

from base.common import Failure
from base.parameter_list import PARAMETERS

NUMBER = r"\d+"
TIME = r"\d+|max"
PATIENCE = r"\d+|max|\d+-\d+"


def pattern(parameter):
    """How the values of one of the driver's parameters look; the driver has the last word."""
    words = "|".join(parameter.words)
    if parameter.kind == "contexts":
        return f"(?:{words})(?: (?:{words}))*"
    return words or (PATIENCE if parameter.kind == "range" else TIME if parameter.takes_max else
                     NUMBER)


# The stress driver's. "lock" and "cpus" are missing: those come from `locks` and from an axis.
LISTED = {each.name: each for each in PARAMETERS if each.name not in ("lock", "cpus")}
DRIVER = {name: pattern(each) for name, each in LISTED.items()}
# Of the host, below the guest: processes that keep each of its cores busy (host_busy.py).
HOST_BUSY = "host_busy"
MOST_BUSY = 16
HOST = {HOST_BUSY: NUMBER}
# Of a run that is measured.
MEASURED = {**DRIVER, **HOST}

# Of a load for a whole kernel (tools/measure/bench/kernel/loads.c), whose workers are its threads.
LOADS = ("fork", "open", "dup", "create", "flock", "mmap", "signals", "pipes", "hackbench",
         "shell")
LOADED = {"load": "|".join(LOADS), "threads": NUMBER, "duration_ms": NUMBER, "passes": NUMBER,
          "limit_ms": NUMBER, **HOST}
# Those of guest/loads_of_others.py; those of stress-ng are its stressors.
LOADS_OF_OTHERS = (*(f"stress-ng-{name}" for name in (
    "switch", "futex", "vfork", "mq", "get", "pipe", "epoll", "kill", "dentry", "rename", "flock",
    "dir", "mmapaddr", "mprotect", "brk", "mlock", "timer", "itimer", "sigq", "sigfd")),
                   "perf-messaging", "perf-pipe", "perf-syscall", "perf-futex", "perf-mem",
                   "hackbench", "sysbench-threads", "sysbench-fileio", "make")
LOADED_BY_OTHERS = {**LOADED, "load": "|".join(LOADS_OF_OTHERS)}
del LOADED_BY_OTHERS["passes"]

# Those of the simulation. A time may be so many ns for each CPU: 200*cpus.
A_CPU = r"\d+\*cpus"
SIMULATION = {
    "sockets": "[1-8]", "cores": NUMBER, "slice_ns": NUMBER, "migrate": "[01]",
    "wake_preempts": "[01]", "ple_window_ns": NUMBER,
    "away_every_ns": NUMBER, "away_ns": NUMBER, "paravirt": "[01]",
    "stop_us": NUMBER, "stop_waiters": "[01]",
    "locks": "[12]", "shared_queue": "[01]", "alternate_us": NUMBER,
    "duration_us": NUMBER, "warmup_us": NUMBER, "seed": NUMBER,
    "cs_ns": f"{NUMBER}|{A_CPU}", "ncs_ns": f"{NUMBER}|{A_CPU}",
    "patience_ns": f"{PATIENCE}|{A_CPU}",
    "impatient_permille": NUMBER, "impatient_ns": TIME,
    "retry": DRIVER["retry"], "backoff_ns": NUMBER, "backoff_max_ns": NUMBER,
    "deadlock_checks": "[01]", "passed_late_ns": NUMBER, "costs": r"\w[\w-]*",
}
# Of the driver, and without a meaning in the simulation: it has its own duration, and
# its samples cost no time.
WITHOUT_MEANING = ("duration_ms", "sample_every")
# What describes the machine that is simulated, not the load, and what it is by default.
MACHINE = {"sockets": 1, "costs": "a"}

COSTS = Path(__file__).resolve().parents[1] / "host/simulate/costs"	# the cost tables

# From the least to the most: of the driver's numbers, and of the host.
RANGES = {HOST_BUSY: (0, MOST_BUSY), **{name: (each.least, each.most)
                                        for name, each in LISTED.items() if DRIVER[name] == NUMBER}}
# A run of so much simulated time takes hours.
SIMULATED_RANGES = {"duration_us": (1, 10000000), "impatient_permille": (0, 1000)}


def range_of(parameter, parameters):
    return (SIMULATED_RANGES if parameters is SIMULATION else RANGES).get(parameter)


def takes(parameter, parameters):
    """What a parameter takes, in words."""
    if parameter == HOST_BUSY:
        return f"whole processes for each core of the host, 0 to {MOST_BUSY}"
    if parameter == "costs":
        return ", ".join(cost_tables())
    if found := range_of(parameter, parameters):
        return "0 or 1" if found == (0, 1) else f"a number from {found[0]} to {found[1]}"
    words = {NUMBER: "a number", "[01]": "0 or 1", "[12]": "1 or 2", "[1-8]": "1 to 8",
             DRIVER["contexts"]: f"some of {', '.join(LISTED['contexts'].words)}"}
    return words.get(parameters[parameter]) or \
        parameters[parameter].replace(A_CPU, "N*cpus").replace(NUMBER, "N").replace("|", ", ")


def cost_tables():
    return sorted(path.stem for path in COSTS.glob("*.ini"))


def good_value(parameter, text, parameters=None):
    """Whether a parameter's value looks right."""
    parameters = parameters or DRIVER
    if not re.fullmatch(parameters[parameter], text):
        return False
    if parameter == "costs":
        return text in cost_tables()
    if found := range_of(parameter, parameters):
        return not text.isdigit() or found[0] <= int(text) <= found[1]
    low, _, high = text.partition("-")
    return not high or not high.isdigit() or int(low) <= int(high)


def check_known(parameter, parameters):
    """Refuse an unknown parameter, by a sentence with the test bed that has it, if any."""
    if parameter in parameters:
        return
    if parameters is SIMULATION and parameter in HOST:
        raise Failure("the simulation has no such parameter, there is no host below its machine")
    if parameters is SIMULATION and parameter in DRIVER:
        raise Failure("the simulation has no such parameter, it is one of the stress driver's; it "
                      f"has {', '.join(parameters)}")
    if parameters is LOADED and parameter in DRIVER:
        raise Failure("a load for a kernel has no such parameter, it is one of the stress "
                      f"driver's; it has {', '.join(parameters)}")
    if parameters is MEASURED and parameter in SIMULATION:
        raise Failure("the stress driver has no such parameter, it is one of the simulation's "
                      "(testbed = simulated, or a section [simulated])")
    raise Failure(f"unknown parameter; there are cpus, cpus_per_core, {', '.join(parameters)}")


def number_or_word(text):
    return int(text) if re.fullmatch(NUMBER, text) else text
