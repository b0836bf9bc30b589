# SPDX-License-Identifier: GPL-2.0
"""The soak: locks nested as deep as they may be, for a while. No deadlock is reported."""

import os

from testbed.common import Trouble
from testbed.disturbed import CHAIN, INTERRUPTS, LEGITIMATE, disturbed, in_contexts, legitimate
from testbed.shapes import MS
from testbed.driver import OURS

SHORT, LONG = 6, 20		# seconds for all runs together
VARIABLE = "NBQ_SOAK_SECONDS"	# another number of them
CPUS = 4
INTERVAL_NS = 300000


def seconds(default):
    text = os.environ.get(VARIABLE, str(default))
    if not text.isdigit():
        raise Trouble(f"{VARIABLE}={text} is not a number of seconds")
    return int(text)


def ordered(lock, duration_ms):
    """Threads, two to a CPU, that take some of many locks in the same order."""
    run = disturbed(f"{lock}-ordered", lock, CPUS, duration_ms, chain=CHAIN,
                    chain_order="ascending", patience_ns=f"0-{20 * MS}",
                    retry="back_off", shuffle_ms=50)
    run.settings["threads"] = 2 * CPUS
    return run


def soak_runs(default):
    """(run, the figures that must not be 0) for a guest of CPUS CPUs, in so many seconds."""
    duration_ms = max(200, seconds(default) * 1000 // (len(OURS) * (1 + len(LEGITIMATE))))
    for lock in OURS:
        yield ordered(lock, duration_ms), ("acquisitions", "timeouts", "shuffles")
        for nesting in LEGITIMATE:
            yield (legitimate(lock, CPUS, INTERVAL_NS, duration_ms, INTERRUPTS, nesting),
                   in_contexts(INTERRUPTS, "timeouts"))
