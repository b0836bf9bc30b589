# SPDX-License-Identifier: GPL-2.0
"""The testbeds of whole kernels: the same one with other spinlocks, under the same loads.

A lock of a scenario is a kernel all of whose spinlocks are of that kind; a run is a load
(tools/measure/bench/kernel/loads.c) in it. In every round each kernel is booted once for a number
of CPUs and has all loads, one kernel after the other.
"""

from functools import partial
from typing import Callable, NamedTuple, Optional

from base.building import cache_folder, cached, compiler_identity, digest, run_logged
from base.common import PROJECT, Unavailable, output_of
from base.driver import LockType
from base.testbeds import KERNELS, KERNELS_OTHERS, KERNELS_X86_64
from guest import loads_of_others as others
from guest.guest import HUNG, run_guest
from guest.hybrid import CHANGES, HYBRID, QEMU, STOCK, recipe_of
from guest.kernel_copy import built_copy
from guest.kernels import X86_64, Recipe
from guest.loads_of_others import DEFAULT_LIMIT_MS, RoomyMachine
from guest.machines import QemuMachine, UserModeMachine
from guest.source import get_source
from measure.bench.guests import GuestsPlace, Listener, complaints, lose_current, show_log

LOADS = [PROJECT / "tools/measure/bench/kernel" / name for name in ("loads.c", "work.c")]
COUNTER = [PROJECT / "tools/measure/bench/kernel/tsc.c"]
OURS = "nbq_spin"
OWN = "qspinlock"
AGAIN = "qspinlock_again"
FALLBACK = "virt_spin_lock"
FIXED_WORK = ("shell",)
UNFINISHED = 3			# exit status of loads
# Limits end what hangs: loads end their workers themselves, unless the guest does not run.
SPARE_SECONDS = 600


class FallbackRecipe(Recipe):
    """The kernel's own spinlock, with a virt_spin_lock() in front of qspinlock.c."""

    def __init__(self, own):
        super().__init__("kernel-virt-spin-lock", own.arch, own.image)
        self.configs = own.configs

    @property
    def options(self):
        return [*super().options, "CFLAGS_qspinlock.o=-include asm-generic/virt_spin_lock.h"]


UNSEEN = partial(QemuMachine, kind="pc, no hypervisor")


class Side(NamedTuple):
    """A kernel to compare: in words, how it is built, and the machine that it runs on.

    has_queue: what its guest must say of the path that waiters take, if the bed can tell.
    """
    meaning: str
    recipe: Recipe
    machine: Callable = UserModeMachine
    has_queue: Optional[bool] = None


def paravirt():
    """qspinlock with virt_spin_lock() in front, which it takes where CPUID names a hypervisor."""
    return Recipe("kernel-qspinlock-paravirt-x86_64-bench", X86_64, "arch/x86/boot/bzImage",
                  "qemu", "x86_64", "kernel-on-nbq", "paravirt")


SIDES = {
    OURS: Side("the hybrid", recipe_of(HYBRID)),
    OWN: Side("the kernel's own", recipe_of(STOCK)),
    AGAIN: Side("the same once more, which shows what the bed adds", recipe_of(STOCK)),
    FALLBACK: Side("test-and-set, the fallback of a guest without paravirtual locks",
                   FallbackRecipe(recipe_of(STOCK))),
}
SIDES_X86_64 = {
    OURS: Side("the hybrid", recipe_of(HYBRID, QEMU), QemuMachine),
    OWN: Side("the kernel's own, where CPUID names no hypervisor", paravirt(), UNSEEN,
              has_queue=True),
    AGAIN: Side("the same once more, which shows what the bed adds", paravirt(),
                UNSEEN, has_queue=True),
    FALLBACK: Side("that kernel where CPUID names a hypervisor: test-and-set", paravirt(),
                   QemuMachine, has_queue=False),
}
SIDES_OTHERS = {
    OURS: Side("the hybrid", recipe_of(HYBRID, more=("others",)), RoomyMachine),
    OWN: Side("the kernel's own", recipe_of(STOCK, more=("others",)), RoomyMachine),
    AGAIN: Side("the same once more, which shows what the bed adds",
                recipe_of(STOCK, more=("others",)), RoomyMachine),
}
BEDS = {KERNELS: SIDES, KERNELS_X86_64: SIDES_X86_64, KERNELS_OTHERS: SIDES_OTHERS}


def built(sources):
    """A program, built statically for this machine: its path."""
    name = sources[0].stem
    headers = sorted(sources[0].parent.glob("*.h"))
    folder = cache_folder(name) / digest(*(path.read_bytes() for path in (*sources, *headers)),
                                          compiler_identity())

    def build(place):
        run_logged(["gcc", "-O2", "-Wall", "-Wextra", "-static", "-o", place / name, *sources],
                   place / "build.log", f"building {name}")
        return [name]

    return cached(folder, build) / name


def build_loads():
    """The content of the program."""
    return built(LOADS).read_bytes()


def clock_words(testbed):
    """What tells a guest the frequency of its clock.

    The one of user-mode Linux is the host's. A PC in QEMU has the host's counter, and calibrates
    it by emulated timers: on a busy host it found a third of the frequency.
    """
    if testbed != KERNELS_X86_64:
        return []
    khz = output_of([built(COUNTER)])
    if not khz:
        raise Unavailable("the frequency of this machine's time-stamp counter is not known")
    return [f"tsc_early_khz={khz.strip()}"]


def named_sides(words, testbed=KERNELS):
    """The sides that the locks of scenarios mean."""
    sides = BEDS[testbed]
    names = [name for name in sides if name in words or
             ("all" in words and f"-{name}" not in words)]
    return {name: sides[name] for name in names}


def machine_of(side):
    return side.machine(built_copy(side.recipe, *CHANGES))


def load_of(run):
    """The guest's shell words that make /tmp/result of a run, and its $status."""
    told = run.settings
    limit = told.get("limit_ms", DEFAULT_LIMIT_MS)
    return f"""
/root/loads --workers {told['threads']} --seconds {told['duration_ms'] / 1000:g} \
--limit {limit / 1000:g} --passes {told.get('passes', 1)} {told['load']} >/tmp/result
status=$?
"""


def command_of(run, load):
    """The guest's shell words for a run with this load; its result ends in the verdict."""
    return f"""
echo '@run {run.name}'
echo 1 2>/dev/null >$nbqlock/reset
[ -d $events ] && echo 0 >$events/.reset_counts
{load}
sed 's/^/nbq_/' $nbqlock/total 2>/dev/null
[ -d $events ] && echo "own_queued $(cat $events/lock_slowpath)" &&
	echo "own_pending $(cat $events/lock_pending)" &&
	echo "sees_hypervisor $(grep -cw hypervisor /proc/cpuinfo)"
cat /tmp/result
echo '@end'
[ $status = {UNFINISHED} ] && exit {UNFINISHED}
"""


def script_of(runs, testbed=KERNELS):
    """A kernel whose workers do not end is not given another load."""
    if testbed == KERNELS_OTHERS:
        before, loads = others.before(), [others.load_of(run, UNFINISHED) for run in runs]
    else:
        before, loads = "", map(load_of, runs)
    return ("nbqlock=/sys/kernel/debug/nbqlock\nevents=/sys/kernel/debug/lock_event_counts\n" +
            before + "".join(map(command_of, runs, loads)) + "exit 0\n")


def in_turns(runs):
    """[runs of a guest]: each round and kernel by itself, in their order."""
    guests = {}
    for run in runs:
        guests.setdefault((run.round, run.lock), []).append(run)
    return list(guests.values())


class KernelsPlace(GuestsPlace):
    """The kernels that scenarios name on a testbed, built, and the loads."""

    def __init__(self, words, name=KERNELS):
        super().__init__(name)
        self.sides = BEDS[name]
        self.types = [LockType(f"{name}: {side.meaning}") for name, side in self.sides.items()]
        self.loads = build_loads()
        self.words = clock_words(name)
        self.version = get_source().version
        self.machines = {}
        for lock, side in named_sides(words, name).items():
            self.machines[lock] = machine_of(side)

    def make(self, runs, cpus, progress):
        """All loads of a kernel in a round; what is not finished ends its guest."""
        return [problem for group in in_turns(runs)
                for problem in super(KernelsPlace, self).make(group, cpus, progress)]

    def make_in_one_guest(self, runs, cpus, progress):
        listener = Listener(runs, progress)
        longest = max(run.settings.get("limit_ms", DEFAULT_LIMIT_MS) for run in runs) / 1000
        outcome = run_guest(
            self.machines[runs[0].lock], script_of(runs, self.name), quiet=True, cpus=cpus,
            sink=listener, timeout=longest + SPARE_SECONDS, append=self.words,
            extra={"loads": (self.loads, 0o755)})
        problems = []
        if outcome.status == HUNG and listener.run:
            hang(listener.run)
            progress.skip(listener.run.seconds)
        elif outcome.problem:
            lose_current(runs, listener, outcome.problem, progress)
            problems.append(f"{runs[0].lock}: {outcome.problem}")
        problems += [f"{runs[0].lock}: {complaint}" for complaint in complaints(outcome)]
        for run in runs:
            if run.settled:
                problems += unfinished(run) + other_path(run, self.sides[run.lock].has_queue)
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


def other_path(run, has_queue):
    """Sentences on a kernel whose waiters do not take the path that the side is for.

    virt_spin_lock() is in front of both counters. That they are 0 proves nothing of the queue,
    which a load without contention does not reach.
    """
    if has_queue is None or run.lost or not run.number("finished"):
        return []
    if run.number("sees_hypervisor") is None:
        return [f"{run.label}: the guest does not say whether CPUID names a hypervisor"]
    waited = (run.number("own_queued") or 0) + (run.number("own_pending") or 0)
    if (run.number("sees_hypervisor") == 0) != has_queue:
        return [f"{run.label}: CPUID names {'a' if has_queue else 'no'} hypervisor"]
    if waited and not has_queue:
        return [f"{run.label}: {waited:.0f} waiters were not in virt_spin_lock()"]
    return []


def unfinished(run):
    """Sentences on a load that the hybrid's kernel has not finished; others may."""
    finished, workers = run.number("finished"), run.number("workers")
    if run.lock != OURS or run.lost or finished == workers:
        return []
    limit = run.number("limit_ms") or 0
    return [f"{run.label}: {finished or 0:.0f} of {workers or 0:.0f} workers finished within "
            f"{limit / 1000:g} s"]
