# SPDX-License-Identifier: GPL-2.0
"""The testbed "kernels": the same kernel with one spinlock and another, under the same loads.

A lock of a scenario is a kernel all of whose spinlocks are of that kind; a run is a load
(tools/bench/kernel/loads.c) in it. In every round each kernel is booted once for a number of
CPUs and has all loads, one kernel after the other.
"""

from typing import NamedTuple

from bench.guests import complaints, lose_current, make_in_guests, show_log
from bench.listener import Listener
from bench.testbeds import KERNELS, TESTBEDS
from testbed.common import PROJECT, cache_root, cached, compiler_identity, digest, run_logged
from testbed.guest import HUNG, UserModeMachine, run_guest
from testbed.kernel_copy import built_copy
from testbed.kernels import Recipe
from testbed.source import get_source
from testbed.stress import LockType
from testbed.whole_kernel import CHANGES, HYBRID, STOCK, recipe_of

SOURCE = PROJECT / "tools/bench/kernel/loads.c"
OURS = "nbq_spin"
OWN = "qspinlock"
AGAIN = "qspinlock_again"
FALLBACK = "virt_spin_lock"
FIXED_WORK = ("shell",)
UNFINISHED = 3			# exit status of loads
# Limits end what hangs: loads end their workers themselves, unless the guest does not run.
SPARE_SECONDS = 60
DEFAULT_LIMIT_MS = 60000


class FallbackRecipe(Recipe):
    """The kernel's own spinlock, with a virt_spin_lock() in front of qspinlock.c."""

    def __init__(self, own):
        super().__init__("kernel-virt-spin-lock", own.arch, own.image)
        self.configs = own.configs

    @property
    def options(self):
        return [*super().options, "CFLAGS_qspinlock.o=-include asm-generic/virt_spin_lock.h"]


class Side(NamedTuple):
    """A kernel to compare: in words, and how it is built."""
    meaning: str
    recipe: Recipe


SIDES = {
    OURS: Side("the hybrid", recipe_of(HYBRID)),
    OWN: Side("the kernel's own", recipe_of(STOCK)),
    AGAIN: Side("the same once more, which shows what the bed adds", recipe_of(STOCK)),
    FALLBACK: Side("test-and-set, the fallback of a guest without paravirtual locks",
                   FallbackRecipe(recipe_of(STOCK))),
}


def build_loads():
    """The content of the program, built statically for this machine."""
    text = SOURCE.read_bytes()
    folder = cache_root() / "loads" / digest(text, compiler_identity())

    def build(place):
        run_logged(["gcc", "-O2", "-Wall", "-Wextra", "-static", "-o", place / "loads", SOURCE],
                   place / "build.log", "building the loads")
        return ["loads"]

    return (cached(folder, build) / "loads").read_bytes()


def named_sides(words):
    """The sides that the locks of scenarios mean."""
    names = [name for name in SIDES if name in words or
             ("all" in words and f"-{name}" not in words)]
    return {name: SIDES[name] for name in names}


def machine_of(side):
    return UserModeMachine(built_copy(side.recipe, *CHANGES))


def command_of(run):
    """The guest's shell words that make a run; its result ends in the verdict."""
    told = run.settings
    limit = told.get("limit_ms", DEFAULT_LIMIT_MS)
    return f"""
echo '@run {run.name}'
echo 1 2>/dev/null >$nbqlock/reset
/root/loads --workers {told['threads']} --seconds {told['duration_ms'] / 1000:g} \
--limit {limit / 1000:g} --passes {told.get('passes', 1)} {told['load']} >/tmp/result
status=$?
sed 's/^/nbq_/' $nbqlock/total 2>/dev/null
cat /tmp/result
echo '@end'
[ $status = {UNFINISHED} ] && exit {UNFINISHED}
"""


def script_of(runs):
    """A kernel whose workers do not end is not given another load."""
    return "nbqlock=/sys/kernel/debug/nbqlock\n" + "".join(map(command_of, runs)) + "exit 0\n"


def in_turns(runs):
    """[runs of a guest]: each round and kernel by itself, in their order."""
    guests = {}
    for run in runs:
        guests.setdefault((run.round, run.lock), []).append(run)
    return list(guests.values())


class KernelsPlace:
    """The kernels that scenarios name, built, and the loads."""

    name = KERNELS
    testbed = TESTBEDS[KERNELS]
    most_cpus = testbed.most_cpus
    meaning = testbed.meaning

    def __init__(self, words):
        self.types = [LockType(f"{name}: {side.meaning}") for name, side in SIDES.items()]
        self.loads = build_loads()
        self.version = get_source().version
        self.machines = {}
        for name, side in named_sides(words).items():
            self.machines[name] = machine_of(side)

    def cpu_list(self, cpus):
        return f"0-{cpus - 1}"

    def make(self, runs, cpus, progress):
        """Make runs in guests with so many CPUs. Returns what went wrong, in sentences."""
        return [problem for group in in_turns(runs)
                for problem in self.make_on_one(group, cpus, progress)]

    def make_on_one(self, runs, cpus, progress):
        """All loads of a kernel in a round; what is not finished ends its guest."""
        return make_in_guests(
            runs, lambda left: self.make_in_one_guest(left, cpus, progress), progress)

    def make_in_one_guest(self, runs, cpus, progress):
        listener = Listener(runs, progress)
        longest = max(run.settings.get("limit_ms", DEFAULT_LIMIT_MS) for run in runs) / 1000
        outcome = run_guest(
            self.machines[runs[0].lock], script_of(runs), quiet=True, cpus=cpus, sink=listener,
            timeout=(longest + SPARE_SECONDS) * (len(runs) + 1),
            silence=longest + SPARE_SECONDS, extra={"loads": (self.loads, 0o755)})
        problems = []
        if outcome.status == HUNG and listener.run:
            hang(listener.run)
            progress.skip(listener.run.seconds)
        elif outcome.problem:
            lose_current(runs, listener, outcome.problem, progress)
            problems.append(f"{runs[0].lock}: {outcome.problem}")
        problems += [f"{runs[0].lock}: {complaint}" for complaint in complaints(outcome)]
        problems += [problem for run in runs if run.settled for problem in unfinished(run)]
        if problems:
            show_log(outcome, progress)
        return problems


def hang(run):
    """The result of a run in which the guest itself has stopped."""
    limit = run.settings.get("limit_ms", DEFAULT_LIMIT_MS)
    planned = run.settings["threads"] * run.settings.get("passes", 1)
    lines = [f"elapsed_ns {limit * 1000000}", f"workers {run.settings['threads']}",
             "finished 0", f"limit_ms {limit}", "verdict PASS"]
    if run.settings["load"] in FIXED_WORK:
        lines.insert(0, f"planned {planned}")
    run.text = "\n".join(lines) + "\n"
    run.complete = True


def unfinished(run):
    """Sentences on a load that the hybrid's kernel has not finished; others may."""
    finished, workers = run.number("finished"), run.number("workers")
    if run.lock != OURS or run.lost or finished == workers:
        return []
    limit = run.number("limit_ms") or 0
    return [f"{run.label}: {finished or 0:.0f} of {workers or 0:.0f} workers finished within "
            f"{limit / 1000:g} s"]
