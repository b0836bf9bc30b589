# SPDX-License-Identifier: GPL-2.0
"""The parameters of a run: of the stress driver, of the host, of the simulation."""

from pathlib import Path
import re

from base.common import Failure

NUMBER = r"\d+"
TIME = r"\d+|max"
PATIENCE = r"\d+|max|\d+-\d+"
CONTEXT = "(?:task|softirq|hardirq|nmi)"
# The stress driver's and how their values look; the driver has the last word. "lock"
# and "cpus" are missing: those come from `locks` and from an axis.
DRIVER = {
    "threads": NUMBER, "duration_ms": NUMBER, "seed": NUMBER, "sample_every": NUMBER,
    "cs_ns": NUMBER, "ncs_ns": NUMBER, "patience_ns": PATIENCE,
    "impatient_permille": NUMBER, "impatient_ns": TIME,
    "retry": "give_up|at_once|back_off", "backoff_ns": NUMBER, "backoff_max_ns": NUMBER,
    "chain": "[1-8]", "chain_order": "fixed|random|ascending",
    "stall_every": NUMBER, "stall_ns": NUMBER,
    "contexts": f"{CONTEXT}(?: {CONTEXT})*", "interval_ns": NUMBER,
    "nesting": "shared|masked|own",
    "shuffle_ms": NUMBER, "hotplug_ms": NUMBER, "free_lock": "[01]",
    "suspend_every_ns": NUMBER, "suspend_ns": NUMBER, "own_clock": "[01]",
    "stutter_ms": NUMBER, "log_ms": NUMBER,
}
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

# From the least to the most: those of the driver (nbqlock/stress/parameters.c), and of the host.
SECOND_NS, HOUR_MS, WORD = 10 ** 9, 3600000, 2 ** 32 - 1
RANGES = {
    HOST_BUSY: (0, MOST_BUSY), "threads": (1, 4096), "duration_ms": (1, HOUR_MS),
    "seed": (0, 2 ** 64 - 1), "sample_every": (0, WORD), "cs_ns": (0, SECOND_NS // 100),
    "ncs_ns": (0, SECOND_NS), "impatient_permille": (0, 1000), "backoff_ns": (1, SECOND_NS),
    "backoff_max_ns": (1, SECOND_NS), "stall_every": (0, WORD),
    "stall_ns": (0, SECOND_NS // 10), "interval_ns": (10000, SECOND_NS),
    "shuffle_ms": (0, HOUR_MS), "hotplug_ms": (0, HOUR_MS), "suspend_every_ns": (0, SECOND_NS),
    "suspend_ns": (0, SECOND_NS // 100), "stutter_ms": (0, 10000), "log_ms": (0, HOUR_MS)}
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
        return f"a number from {found[0]} to {found[1]}"
    pattern = parameters[parameter]
    words = {NUMBER: "a number", "[01]": "0 or 1", "[12]": "1 or 2", "[1-8]": "1 to 8",
             DRIVER["contexts"]: "some of task, softirq, hardirq, nmi"}
    return words.get(pattern) or \
        pattern.replace(A_CPU, "N*cpus").replace(NUMBER, "N").replace("|", ", ")


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
