# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top --try: of a guest with the stress driver's load. Its shell collects, the view is
drawn here.
"""

import argparse
import contextlib
import re
from statistics import median

from base.common import Failure, guest_cpus, say
from base.driver import Run
from base.parameters import DRIVER, SIMULATION
from base.setup import setup
from base.testbeds import DEBIAN, TESTBEDS
from guest.guest import run_guest
from guest.guest_cli import loaded
from guest.kernels import TRACE, built_kernel, debian_kernel, debian_row
from guest.logs import log_excerpt
from guest.machines import QemuMachine, UserModeMachine
from measure.cli import positive
from measure.stress import FILES, read_runs
from measure.stress_command import setting
from measure.top.counts import Parts
from measure.top.events import guest_start
from measure.top.screen import Quit, new_screen

SERIES = {f"debian-{series}": series for series in DEBIAN}
BEDS = (*SERIES, "uml")
TRIED = BEDS[0]
ROUNDS, ROUND_SECONDS = 5, 2	# of the comparison

# Four locks in random order, so that attempts can deadlock; patience of up to 200 us.
LOAD = {"lock": "nbq_spin", "chain": 4, "chain_order": "random", "patience_ns": "0-200000",
        "cs_ns": 5000, "ncs_ns": 20000, "sample_every": 0}
LONGEST_MS = 3600000		# of a run of the driver
SPARE_SECONDS = 900		# of a guest, besides its intervals; it only ends what hangs
SLOWNESS = 20

WATCH = """
. /root/stress.sh
@START@
top_on
set_parameters @SETTINGS@
echo 1 >$D/run &
run=$!
until read -r state <$D/status && [ "${state%% *}" = running ]; do
	kill -0 $run 2>/dev/null || break
done
top_sample
left=@COUNT@
while [ $left -gt 0 ]; do
	sleep @INTERVAL@
	top_sample
	left=$((left - 1))
done
echo 0 >$D/run
wait $run
top_off
"""


def load_setting(text):
    """FILE=VALUE of the driver, also of what nbq stress has options for."""
    name, _, value = text.partition("=")
    if name == "lock":
        return name, value
    if name in SIMULATION.keys() - DRIVER.keys():
        raise argparse.ArgumentTypeError(f"the driver has no file {name}")
    return setting(text, {"cpus": "--cpus", "duration_ms": "--interval and --count"})


def settings_of(cpus, duration_ms, settings):
    """The driver's: LOAD on all CPUs, but for what is set."""
    return {**LOAD, "threads": cpus, "cpus": f"0-{cpus - 1}" if cpus > 1 else "0",
            "duration_ms": duration_ms, **settings}


def watch(machine, cpus, settings, interval, count, show):
    """The view of a guest: show(parts) gets each sample."""
    parts = Parts(show)
    words = " ".join(f"{name}={value}" for name, value in
                     settings_of(cpus, LONGEST_MS, settings).items())
    script = WATCH
    for mark, text in (("@START@", guest_start()), ("@SETTINGS@", words),
                       ("@COUNT@", count), ("@INTERVAL@", interval)):
        script = script.replace(mark, str(text))
    outcome = run_guest(machine, script, cpus=cpus, modules=loaded(machine.kernel), extra=FILES,
                        quiet=True, sink=parts,
                        timeout=SLOWNESS * interval * count + SPARE_SECONDS)
    if outcome.problem or parts.refused:
        raise Failure("\n".join([*parts.refused[:5], log_excerpt(outcome)]))


# What it costs

OFF, ON = "off", "on"


def overhead(machine, cpus, settings, rounds, seconds):
    """[(acquisitions a second off, on)] of the load, with nothing on and with all on, in turn."""
    settings = settings_of(cpus, max(1, round(1000 * seconds)), settings)
    runs = [Run(f"{state}-{number}", **settings)
            for number in range(rounds) for state in (OFF, ON)]
    script = ". /root/stress.sh\n" + guest_start()
    for run in runs:
        script += f"top_on\n{run.command}\ntop_off\n" if run.name.startswith(ON) else \
            f"{run.command}\n"
    outcome = run_guest(machine, script, cpus=cpus, modules=loaded(machine.kernel),
                        extra=FILES, quiet=True,
                        timeout=SLOWNESS * seconds * len(runs) + SPARE_SECONDS)
    read_runs(outcome.output, runs)
    refused = re.search(r"^@refused .*", outcome.output, re.MULTILINE)
    if outcome.problem or refused or any(run.verdict != "PASS" for run in runs):
        raise Failure(f"{refused[0] if refused else 'a run has failed'}\n"
                      f"{log_excerpt(outcome)}")
    rates = [run.number("acquisitions_per_second") for run in runs]
    return list(zip(rates[::2], rates[1::2]))


def overhead_lines(pairs):
    """The table of overhead()."""
    yield "acquisitions a second, nbq top off and on, in turn:"
    for off, on in pairs:
        yield f"  {off:10}  {on:10}  {100 * (on / off - 1):+6.1f} %"
    changes = sorted(100 * (on / off - 1) for off, on in pairs)
    yield (f"median {median(changes):+.1f} %, from {changes[0]:+.1f} to "
           f"{changes[-1]:+.1f} %")


# The options

def add_guest(parser):
    parser.add_argument("--try", dest="testbed", action="store_const", const=TRIED,
                        help=f"the same as --testbed {TRIED}")
    parser.add_argument("--testbed", choices=BEDS, help="boot a guest of this kernel, put "
                        "the stress driver's load on it, and show its locks: " + "; ".join(
                            f"{name}, {TESTBEDS[name].meaning}" for name in BEDS))
    parser.add_argument("--cpus", type=positive, metavar="N",
                        default=min(guest_cpus(2), TESTBEDS[TRIED].most_cpus),
                        help="CPUs of the guest (default: %(default)s)")
    parser.add_argument("--set", type=load_setting, action="append", default=[],
                        metavar="FILE=VALUE", help="set a file of the driver in the guest "
                        "(Documentation/stress.rst); repeatable")
    parser.add_argument("--overhead", action="store_true", help="compare the driver's "
                        "rates in a guest with nbq top on and off")


def is_asked_for(options):
    return options.testbed or options.set or options.overhead


def run(options, new_listener):
    """new_listener(screen): what takes the samples of a guest."""
    if not options.testbed:
        raise Failure("--set and --overhead are for a guest: --try, or --testbed NAME")
    testbed = TESTBEDS[options.testbed]
    if options.cpus > testbed.most_cpus:
        raise Failure(f"--cpus {options.cpus}: {testbed.meaning} has {testbed.most_cpus} at most")
    lock = dict(options.set).get("lock", LOAD["lock"])
    if lock not in testbed.locks:
        raise Failure(f"there is no lock type \"{lock}\"; there are {', '.join(testbed.locks)}")
    if series := SERIES.get(options.testbed):
        setup("debian-guest", makes=[debian_row(series)])
        machine = QemuMachine(debian_kernel(series))
    else:
        setup("run", makes=("source", TRACE.row()))
        machine = UserModeMachine(built_kernel(TRACE))
    settings = dict(options.set)
    if options.overhead:
        say(f"{ROUNDS} runs of {ROUND_SECONDS} s without nbq top and as many with it")
        pairs = overhead(machine, options.cpus, settings, ROUNDS, ROUND_SECONDS)
        print("\n".join(overhead_lines(pairs)))
        return 0
    with contextlib.suppress(Quit), new_screen() as screen:
        watch(machine, options.cpus, settings, options.interval, options.count,
              new_listener(screen))
    return 0
