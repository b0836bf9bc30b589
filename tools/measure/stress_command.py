# SPDX-License-Identifier: GPL-2.0
"""tools/nbq stress: locks under a load of one's own, in a guest or on this machine."""

import argparse
from pathlib import Path
import re

from base import hardware
from base.common import Failure, cores, guest_cpus, must_not_be, say, wrapped
from base.driver import HISTOGRAMS, OURS
from base.parameters import (A_CPU, DRIVER, SIMULATION, WITHOUT_MEANING, check_known, good_value,
                             number_or_word, takes)
from base.progress import Progress, clock, counted
from base.testbeds import SIMULATED, TESTBEDS, locks_on, stand_in
from measure import host_load, results
from measure.cli import STOPPED, add, positive, rounds, seconds, undisturbed
from measure.here import FOLDER, HerePlace
from measure.runner import Job, well
from measure.scenario import Scenario
from measure.table import REFERENCE, alone_columns, columns_of, groups_of, print_table

LOCKS = (*OURS, "raw_spinlock", "raw_trylock")
WORK = {"cs_ns": 200, "ncs_ns": 200, "sample_every": 1}
# One thread, nothing but the lock: what a pair of calls costs.
ALONE = {"patience_ns": 10000, "cs_ns": 0, "ncs_ns": 0, "sample_every": 0,
         "duration_ms": 300}
# The same on the simulated machine, whose time is dear and whose measuring costs none.
SIMULATED_CPUS = (8, 64)
SIMULATED_ALONE_US = 200
SECONDS, SIMULATED_SECONDS = 0.6, 0.002		# of a run
INSTEAD = {"lock": "--locks", "cpus": "--cpus", "patience_ns": "--patience",
           "duration_ms": "--seconds", "duration_us": "--seconds"}

EXAMPLES = """The exit status is 1 if a verdict is not PASS, 130 after Ctrl-C; what was
measured by then is printed and written.

examples:
  tools/nbq stress
  tools/nbq stress --locks all --cpus 1 --cpus 2 --cpus 8
  tools/nbq stress --locks clh_nb,clh_nb_paper --patience 0 --patience 0-10000 \\
          --set retry=back_off --set cs_ns=500 --csv short.csv
  tools/nbq stress --module my-lock
  sudo tools/nbq stress --here --seconds 10 --json here.json"""


def patience(text):
    if not good_value("patience_ns", text) and not re.fullmatch(A_CPU, text):
        raise argparse.ArgumentTypeError(f"{text} is no number of ns, max, or LOW-HIGH")
    return number_or_word(text)


def setting(text, instead=None):
    """FILE=VALUE, as (file, value). instead: options, {name: in whose place}."""
    instead = instead or INSTEAD
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not FILE=VALUE")
    if name in instead:
        raise argparse.ArgumentTypeError(f"{name} is set by {instead[name]}")
    if name not in DRIVER and name not in SIMULATION:
        raise argparse.ArgumentTypeError(f"the driver has no file {name} to set; it has "
                                         f"{', '.join(name for name in DRIVER)}")
    value = " ".join(value.split())
    if not any(name in parameters and good_value(name, value, parameters)
               for parameters in (DRIVER, SIMULATION)):
        raise argparse.ArgumentTypeError(f"{name} does not take \"{value}\", it takes "
                                         f"{takes(name, DRIVER if name in DRIVER else SIMULATION)}")
    return name, number_or_word(value)


def new_parser(verbs, beds):
    parser = add(verbs, "stress", "compare locks under contention and alone",
                 EXAMPLES, run)
    parser.add_argument("--locks", action="append", metavar="NAME[,NAME...]|all",
                        help="lock types to compare; repeatable; all: every lock type "
                        f"of the driver (default: {', '.join(LOCKS)}, and those of other "
                        "modules)")
    parser.add_argument("--cpus", type=positive, action="append", metavar="N",
                        help="number of CPUs, with a contending thread on each; repeatable "
                        "(default: those of this machine; in a guest also four times as many; "
                        f"simulated: {' and '.join(map(str, SIMULATED_CPUS))})")
    parser.add_argument("--patience", type=patience, action="append", metavar="NS",
                        help="how long a waiter waits, in nanoseconds: a number, max for "
                        "no timeout, or LOW-HIGH; repeatable (default: 10000)")
    parser.add_argument("--rounds", type=rounds, default=5, metavar="N",
                        help="runs of each lock, taken in turn (default: %(default)s)")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="length of each run "
                        f"(default: {SECONDS}; simulated: {SIMULATED_SECONDS})")
    parser.add_argument("--set", type=setting, action="append", default=[],
                        metavar="FILE=VALUE", help="set another file of the driver "
                        "(Documentation/stress.rst); repeatable")
    parser.add_argument("--no-alone", action="store_true",
                        help="leave out the uncontended table: one thread without work")
    parser.add_argument("--wide", action="store_true",
                        help="print all columns: waits, nodes, violations, and others")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write all results, with the histograms, to this new file")
    parser.add_argument("--csv", type=Path, metavar="FILE",
                        help="write the same as a table, a row for each run")
    beds.add_options(parser)
    parser.set_defaults(beds=beds)
    parser.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR",
                        help="with --here: folder of the driver's files (default: %(default)s)")


class Here:
    """Where an installed nbq runs: guests are built of the project's sources, which it lacks."""

    def add_options(self, parser):
        parser.set_defaults(module=[], figure=[])
        parser.add_argument("--here", action="store_true", default=True,
                            help="run on this machine, as root, with the loaded nbqlock_stress "
                            "(the default: only the project's sources have guests)")

    def check(self, options):
        """Refuse what can be seen to be wrong before anything is built."""

    def place_for(self, options):
        return HerePlace(options.folder)

    def draw(self, options, machine, result):
        """Draw the figures that are asked for."""


# What to run

def contended(options, place):
    plan = plan_of("contended", options, place, locks(options, place), {
        **load_of(place, WORK, options.seconds), **dict(options.set)}, {
            "cpus": list(dict.fromkeys(options.cpus or default_cpus(options, place))),
            "patience_ns": list(dict.fromkeys(options.patience or [10000]))})
    plan.histograms = HISTOGRAMS if options.json or options.csv else \
        tuple(dict.fromkeys(name for name, _ in options.figure))
    return plan


def alone(options, place):
    reference = stand_in(REFERENCE, place.name)
    besides = [reference] if reference in names(place) else []
    return plan_of("alone", options, place, locks(options, place) + besides,
                   load_of(place, ALONE, SIMULATED_ALONE_US / 1e6), {"cpus": [1]})


def plan_of(name, options, place, words, load, sweep):
    return Scenario(name, name.capitalize(), "tools/nbq stress", words, options.rounds, place.name,
                    load, sweep)


def default_cpus(options, place):
    if options.here:
        return [place.most_cpus]
    return SIMULATED_CPUS if place.name == SIMULATED else \
        [min(cpus, place.most_cpus) for cpus in (guest_cpus(), guest_cpus(4))]


def load_of(place, load, length=None):
    """A load as the testbed takes it; length: of a run, in seconds, if it is said."""
    if place.name != SIMULATED:
        length = length or SECONDS
        return {**load, "duration_ms": load.get("duration_ms", max(1, round(1000 * length)))}
    length = length or SIMULATED_SECONDS
    return {**{name: value for name, value in load.items() if name not in WITHOUT_MEANING},
            "duration_us": max(1, round(1e6 * length))}


def names(place):
    return [lock.name for lock in place.types]


def chosen_locks(options, testbed, there):
    """The words of --locks, which must be there."""
    words = [word for words in options.locks or [] for word in words.split(",")]
    words = locks_on(words, testbed)
    for word in words:
        if word != "all" and word not in there:
            raise Failure(f"there is no lock type \"{word}\"; there are {', '.join(there)}")
    return words


def locks(options, place):
    """The words of --locks; by default those of LOCKS that the driver has, and other modules'."""
    there = names(place)
    return chosen_locks(options, place.name, there) or \
        [*(name for name in locks_on(LOCKS, place.name) if name in there),
         *(lock.name for lock in place.types if not lock.is_own)]


# What to print

def without_patience(place, chosen):
    """A remark on the locks that take no notice of the patience."""
    found = [lock.name for lock in place.types
             if lock.name in chosen and not lock.heeds_patience]
    return f" No patience can be given to {', '.join(found)}." if found else ""


def legend(wide, simulated):
    """What the heads of the columns mean."""
    jain = "jain: Jain's index of the threads' acquisitions, 1 is fair."
    if wide:
        return ("spread: standard deviation of the threads' acquisitions, of their mean; "
                f"{jain} Waits and overshoot in microseconds.")
    return jain + (" misses: cache lines moved for each acquisition." if simulated else
                   " overshoot: from the deadline to the return, in microseconds.")


def print_contended(result, place, wide):
    load = result.plan.load
    parameters = ", ".join(f"{name} {value}" for name, value in load.items()
                           if name not in ("duration_ms", "duration_us"))
    length = load["duration_us"] / 1e6 if result.plan.is_simulated else \
        load["duration_ms"] / 1000
    steps = " User-mode Linux's clock moves in steps of 0.26." if place.name == "uml" else ""
    print(wrapped(f"Contended: {length:g} s a run; {parameters}."
                  f"{without_patience(place, result.locks)} "
                  f"{legend(wide, result.plan.is_simulated)}{steps}"))
    print_table(columns_of(result.plan, wide), groups_of(result))


def print_alone(result):
    fences = (" In user-mode Linux each acquire and each release is a full fence."
              if result.plan.testbed == "uml" else "")
    print("\n" + wrapped("Alone: 1 thread on 1 CPU, no clock reads; ns for an acquisition, a "
                         f"release and the driver's loop.{fences}"))
    groups = [(None, rounds) for _, rounds in groups_of(result)]
    reference = stand_in(REFERENCE, result.plan.testbed)
    print_table(alone_columns(result.runs_of(reference), reference), groups)


def print_results(done, place, options):
    print(f"{place.meaning[0].upper()}{place.meaning[1:]} ({place.version}), "
          f"{counted(cores(), 'core')}, {counted(options.rounds, 'round')}: median, min and max.\n")
    if busy := host_load.warning(*(result.host for result in done)):
        print(wrapped(busy) + "\n")
    for result in done:
        if not result.runs:
            continue
        if result.name == "alone":
            print_alone(result)
        else:
            print_contended(result, place, options.wide)


def write_files(options, machine, done):
    if options.json:
        results.write_new(options.json, results.as_json(
            {"format": results.FORMAT, "machine": machine,
             "scenarios": [result.as_data() for result in done]}))
        say(f"written: {options.json}")
    if options.csv:
        results.write_new(options.csv, results.as_csv(done))
        say(f"written: {options.csv}")
    options.beds.draw(options, machine, done[0])


def check(options):
    """What can be seen to be wrong before anything is built."""
    paths = [path for path in (options.json, options.csv, *(path for _, path in options.figure))
             if path]
    for path in paths:
        must_not_be(path)
    if len(set(paths)) < len(paths):
        raise Failure("two of --json, --csv and --figure name the same file")
    if options.folder != FOLDER and not options.here:
        raise Failure("--folder goes with --here")
    if options.module and (options.here or options.testbed == SIMULATED):
        raise Failure("--module is for a guest; here, insmod loads it" if options.here else
                      "--module is for a guest; the simulation loads no modules")
    if options.figure and not options.here and options.testbed == SIMULATED:
        raise Failure("--figure: the simulation has no histograms")
    options.beds.check(options)
    name = "uml" if options.here else options.testbed
    testbed = TESTBEDS[name]
    for parameter, value in [*options.set, *(("patience_ns", each) for each in
                                             options.patience or [])]:
        check_known(parameter, testbed.parameters)
        if not good_value(parameter, str(value), testbed.parameters):
            raise Failure(f"{parameter} does not take \"{value}\" there, it takes "
                          f"{takes(parameter, testbed.parameters)}")
    for words in options.locks or []:
        if not re.fullmatch(r"\w+(,\w+)*", words):
            raise Failure(f"--locks {words}: takes names with commas between them, or all")
    if options.here:
        return
    # Other modules register other lock types.
    if not options.module:
        chosen_locks(options, name, testbed.locks)
    if max(options.cpus or [1]) > testbed.most_cpus:
        raise Failure(f"--cpus {max(options.cpus)}: {testbed.meaning} has {testbed.most_cpus} at "
                      "most")


def run(options):
    check(options)
    place = options.beds.place_for(options)
    plans = [contended(options, place)]
    if not options.no_alone:
        plans.append(alone(options, place))
    jobs = [Job(plan, place) for plan in plans]
    progress = Progress()
    for job in jobs:
        job.announce(progress)
    done = [job.new_result() for job in jobs]
    say(f"{counted(progress.runs, 'run')} of {counted(len(jobs[0].locks), 'lock')}, "
        f"about {clock(progress.left())}")
    if busy := host_load.warning_before(plans[0].is_simulated):
        say(busy)
    machine = hardware.machine({place.name: place.version})
    stopped = False
    try:
        for job, result in zip(jobs, done):
            job.make(progress, result)
    except KeyboardInterrupt:
        say("stopped; this is what had been measured")
        stopped = True
    with undisturbed():
        print_results(done, place, options)
        write_files(options, machine, done)
    if stopped:
        return STOPPED
    return 0 if all(well(result) for result in done) else 1
