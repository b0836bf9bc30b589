# SPDX-License-Identifier: GPL-2.0
"""tools/nbq bench: scenarios, in guests and simulated, to a folder of results."""

from argparse import Namespace
from pathlib import Path

from base import hardware
from base.common import PROJECT, Failure, cores, folder_can_be_written, must_not_be, say, wrapped
from base.progress import Progress, clock, counted
from base.setup import setup
from base.testbeds import SIMULATED, STRESSED, TESTBEDS, locks_on
from guest.modules import user_sources
from measure import host_load, results
from measure.bench import (cli_folder, findings, metrics, plot, report, result_folder,
                           scenario_file, table1)
from measure.bench.places import needs, place_on
from measure.cli import STOPPED, add, add_modules, rounds, undisturbed
from measure.runner import Job, well
from measure.table import columns_of, groups_of, print_table

RESULTS = PROJECT / "results"

EXAMPLES = """The exit status is 1 if a verdict is not PASS or a guest was lost, 130 after
Ctrl-C; what was measured by then is in the folder, marked as incomplete.

examples:
  tools/nbq bench --list
  tools/nbq bench                         all scenarios, to results/DATE-COMMIT/
  tools/nbq bench --quick                 all, shorter: does everything work?
  tools/nbq bench --rounds 9 NAME NAME
  tools/nbq bench --testbed simulated NAME    on the simulated machine only
  tools/nbq bench kernel                  whole kernels side by side
  tools/nbq bench --locks qspinlock,qspinlock_again kernel     one with itself
  tools/nbq bench --module my-lock --locks my_lock,clh_nb --testbed uml figure5
  tools/nbq bench my-scenario.ini         see Documentation/bench.rst"""


def new_parser(verbs):
    parser = add(verbs, "bench", "run scenarios, each a file that says what to measure",
                 EXAMPLES, run)
    parser.add_argument("names", nargs="*", metavar="NAME|FILE.ini",
                        help="scenarios, by name or by file (default: all)")
    parser.add_argument("--list", action="store_true",
                        help="print the scenarios: name, title, and how long each takes")
    parser.add_argument("--quick", action="store_true",
                        help="make shorter runs, by each scenario's section [quick]")
    parser.add_argument("--rounds", type=rounds, metavar="N",
                        help="runs of each lock at each point (default: the scenario's)")
    parser.add_argument("--locks", metavar="NAME[,NAME...]",
                        help="lock types to measure (default: each scenario's)")
    add_modules(parser)
    parser.add_argument("--testbed", choices=TESTBEDS, metavar="NAME", help="where to run, "
                        "instead of the test beds that the scenarios name: " + "; ".join(
                            f"{name}, {testbed.meaning}" for name, testbed in TESTBEDS.items()))
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER",
                        help="where to make the folder of results (default: results/)")
    parser.add_argument("--share", type=Path, metavar="FILE",
                        help="also write the results to a new file for other people, with what "
                        "they must know of the machine, nothing private (nbq share --help)")


# Which scenarios

def read(path):
    """A scenario, checked against the metrics that can be drawn."""
    return scenario_file.read(path, metrics.METRICS, findings.check)


def files():
    return {path.stem: path for path in sorted(scenario_file.SCENARIOS.glob("*.ini"))}


def path_of(word, known):
    """A scenario's file: a name of ours, or a path to a file of someone's."""
    if word in known:
        return known[word]
    if word.endswith(".ini") or "/" in word:
        return Path(word)
    raise Failure(f"there is no scenario \"{word}\"; there are {', '.join(known)}")


def chosen(options):
    known = files()
    paths = {}		# and whether each was asked for by itself
    for word in options.names or ["all"]:
        if word == "all":
            paths = {**dict.fromkeys(known.values(), False), **paths}
        else:
            paths[path_of(word, known)] = True
    plans = {}
    for path, named in paths.items():
        for plan in on_testbeds(read(path), options.testbed, named):
            if plan.name in plans:
                raise Failure(f"two scenarios have the name {plan.name}: "
                              f"{plans[plan.name].path} and {path}")
            plans[plan.name] = adjusted(plan, options)
    return list(plans.values())


def on_testbeds(plan, testbed, named):
    """A scenario on the testbeds that it is for, or on the one that was asked for.

    named: it was asked for by itself, so that a testbed that it is not for is tried, too.
    """
    testbeds = [plan.testbed] + ([SIMULATED] if plan.simulated is not None else [])
    if testbed:
        testbeds = [testbed] if named or testbed in testbeds else []
    return [plan.on(each) for each in testbeds]


def adjusted(plan, options):
    if options.quick:
        plan = plan.quickened()
    if options.rounds:
        plan.rounds = options.rounds
    if options.locks:
        plan.locks = locks_on(options.locks.split(","), plan.testbed)
    return plan


def print_list(plans):
    width = max([len(plan.name) for plan in plans], default=0)
    total = 0
    for plan in plans:
        total += plan.seconds(cores())
        print(f"{plan.name:{width}}  {clock(plan.seconds(cores())):>7}  {plan.title}")
    print(f"{'all':{width}}  {clock(total):>7}  about, on {counted(cores(), 'core')}")


# Running them

def check_modules(folders, plans):
    """Refuse what has no Kbuild, or no guest to be loaded into."""
    for folder in folders:
        user_sources(folder)
    if folders and all(plan.is_simulated or plan.testbed not in STRESSED for plan in plans):
        raise Failure("--module is for guests of the stress driver, in which none of these "
                      "scenarios is run")


def locks_by_testbed(plans):
    locks = {}
    for plan in plans:
        locks.setdefault(plan.testbed, []).extend(plan.locks)
    return locks


def install(plans):
    """What the testbeds of these need, and the figures."""
    purposes, makes = {"figures": 0}, {}
    for testbed, locks in locks_by_testbed(plans).items():
        packages, made = needs(testbed, locks)
        purposes.update(dict.fromkeys(packages))
        makes.update(dict.fromkeys(made))
    setup(*purposes, makes=makes)


def places_for(plans, folders=()):
    """Every testbed that is named, made ready: {name: its place}."""
    return {name: place_on(name, words, folders)
            for name, words in locks_by_testbed(plans).items()}


def new_run(options, places):
    """The folder, with what there is to say about the machine."""
    folder = result_folder.new_folder(options.out)
    versions = {name: place.version for name, place in places.items()}
    results.write_new(folder / results.MACHINE,
                      results.as_json(hardware.machine(versions, options.quick)))
    return folder


def announce(job):
    plan = job.scenario
    where = ", simulated" if plan.is_simulated else ""
    print("\n" + wrapped(f"{plan.name}: {plan.title} ({plan.source}){where}. "
                         f"{counted(len(job.locks), 'lock')}, {counted(len(job.points), 'point')}, "
                         f"{counted(plan.rounds, 'round')}: median, min and max; times in "
                         "microseconds."), flush=True)


def make(job, folder, progress):
    """Run a scenario, write and print what came of it, also if it is stopped."""
    result = job.new_result()
    try:
        job.make(progress, result)
    finally:
        with undisturbed():
            if result.runs:
                result_folder.write_scenario(folder, result)
                announce(job)
                print_table(columns_of(result.plan, True), groups_of(result))
                if busy := host_load.warning(result.host):
                    print(wrapped(busy), flush=True)
    return count_accesses(job.scenario, folder) and well(result)


def count_accesses(plan, folder):
    """What belongs to Table 1 and is no run. Its failure does not undo the runs."""
    if plan.name != table1.TIME:
        return True
    try:
        table1.measure_counts(folder)
    except Failure as failure:
        say(str(failure))
        return False
    return True


def draw(folder):
    """Figures and report. Their failure does not undo what was measured."""
    try:
        plot.draw(folder)
        say(f"report: {report.write(folder)}")
    except Failure as failure:
        say(f"{failure}; tools/nbq report {folder} tries again")
        return False
    return True


def run(options):
    plans = chosen(options)
    if options.list:
        print_list(plans)
        return 0
    if not plans:
        raise Failure("there is no scenario to run")
    check_modules(options.module, plans)
    folder_can_be_written(options.out)
    for plan in plans:
        testbed = TESTBEDS[plan.testbed]
        # Other modules register other lock types.
        others = [word.removeprefix("-") for word in plan.locks if options.module]
        plan.check([*testbed.locks, *others], testbed.most_cpus, testbed.meaning)
    if options.share:
        must_not_be(options.share)
    install(plans)
    places = places_for(plans, options.module)
    jobs = [Job(plan, places[plan.testbed]) for plan in plans]
    folder = new_run(options, places)
    say(f"results: {folder}")
    progress = Progress()
    for job in jobs:
        job.announce(progress)
    say(f"{counted(len(jobs), 'scenario')}, {counted(progress.runs, 'run')}, "
        f"about {clock(progress.left())}")
    if busy := host_load.warning_before(all(plan.is_simulated for plan in plans)):
        say(busy)
    try:
        passed = [make(job, folder, progress) for job in jobs]
    except KeyboardInterrupt:
        say(f"stopped; what had been measured is in {folder}" +
            (f"; {options.share} was not written" if options.share else ""))
        return STOPPED
    say(f"all runs took {clock(progress.gone())}")
    drawn = draw(folder)
    if options.share:
        cli_folder.write_shared(Namespace(folder=folder, file=options.share))
    return 0 if all(passed) and drawn else 1
