# SPDX-License-Identifier: GPL-2.0
"""Builds a kernel all of whose spinlocks are the hybrid (nbq_spin), and tests it.

Each boot runs the kernel's KUnit suites, locktorture of its spin, raw, rw,
mutex and rwsem locks, rcutorture, rhashtable's test, and shells that find, tar,
dd, sort and pipe in parallel. A table has the results.

With Debian's own configuration (--testbed debian) a Debian 13 boots to its
login. The parts are its services, a package, locktorture and rcutorture while
CPUs go offline, suspend, kexec, and power off. Documentation/kernel.rst has
more.
"""

# Each part is judged by its part of the kernel log or by its exit status, the boot by the
# complaints in its log and by the counters of nbqlock. The same tree and configuration with the
# kernel's own spinlock is the other side.

import argparse
import re

from base.case import LOAD, ONLY_ALL, Case, On, once, runs_on, step
from base.common import MOST_CPUS, PROJECT
from base.progress import Progress
from base.testbeds import KERNELS_OTHERS
from guest import loads_of_others as others
from guest.cases import guest_report
from guest.guest import run_guest
from guest.hybrid import CHANGES, HYBRID, QEMU, STOCK, UML, machine_of, recipe_of
from guest.kernel_copy import patched
from guest.kernel_table import TestBed
from guest.kernel_tests import (BANGS, BUSTED, Boot, KernelLock, RcuTorture, Rhashtable, ShellLoad,
                                Suites)
from guest.loads_of_others import RoomyMachine
from guest.machines import QemuMachine, UserModeMachine
from guest.parts import Part
from measure import runner
from measure.bench import metrics, scenario_file
from measure.bench.kernels import FALLBACK, OURS, OWN, KernelsPlace
from studies.frame import Guest, judged, number, option, study
from studies.whole_kernel import refusals
from studies.whole_kernel.debian import DebianRecipe, debian_kernel
from studies.whole_kernel.debian_boot import DebianBoot
from studies.whole_kernel.others import CLASSES, Programs, StressClass, lost

VERBS = {"whole-kernel": "test a kernel all of whose spinlocks are the hybrid"}
EPILOG = """The exit status is 1 if a part fails, or if the kernel complains, finds a
deadlock or loses queue nodes. The first build of each kernel takes about 5
CPU-minutes, of Debian's 50; kernels are kept in the cache. Ctrl-C also ends the
guest."""
STOPS = False
NAME = "hybrid kernel"
DEBIAN = "debian"
CPUS = {UML: (1, 2, 4, 8), QEMU: (1, 2, 4), DEBIAN: (4,)}
FOLDER = PROJECT / "tools/studies/whole_kernel"
BROKEN, NO_CONDITION = FOLDER / "no-exclusion.patch", FOLDER / "no-condition.patch"


def cpus(text):
    """A list of numbers of CPUs."""
    found = [int(word) for word in text.split(",")]
    if not all(1 <= each <= MOST_CPUS for each in found):
        raise argparse.ArgumentTypeError(f"{text}: 1 to {MOST_CPUS} CPUs")
    return found


OPTIONS = (
    option("--cpus", dest="numbers", type=cpus, metavar="N,N...",
           help="numbers of CPUs, a boot for each (default: 1,2,4,8; in QEMU 1,2,4; for Debian 4)"),
    option("--testbed", choices=list(CPUS), default=UML,
           help="uml, user-mode Linux; qemu, x86-64 in QEMU; debian, the same with Debian's "
           "configuration (default: %(default)s)"),
    option("--stock", action="store_true",
           help="test the same kernel with its own spinlock, qspinlock"),
    option("--lockdep", action="store_true", help="build with CONFIG_PROVE_LOCKING"),
    option("--nmi", action="store_true",
           help="instead, in QEMU: an NMI waits for a lock that is not released, and a crash IPI "
           "must end the wait; once with the IPI as the wait's condition, once without"),
    number("--seconds", 4, "length of each torture test; that of other parts is derived from it",
           metavar="S"),
    option("--part", action="append", metavar="PART", help="run only this part; repeatable"))


def refused(options):
    if options.testbed == DEBIAN and (options.lockdep or options.part):
        return "--lockdep and --part are not for --testbed debian"
    if options.nmi and options.testbed != QEMU:
        return "--nmi is for --testbed qemu"
    if options.nmi and (options.numbers or options.part or options.stock or options.lockdep):
        return "--nmi takes no other option than --testbed"
    names = [part.name for part in parts_of(1, options.seconds)]
    unknown = sorted(set(options.part or ()) - set(names))
    return f"no such part: {', '.join(unknown)}; there are {', '.join(names)}" if unknown else ""


def side_of(options):
    return STOCK if options.stock else HYBRID


def needs(options):
    if options.testbed == DEBIAN:
        return ["whole-kernel"], ["source", "whole-kernel",
                                  DebianRecipe(side_of(options)).row_of_copy(*CHANGES)]
    recipe = recipe_of(side_of(options), options.testbed, options.lockdep)
    return (["run", *["debian-guest"] * (options.testbed == QEMU)],
            ["source", recipe.row_of_copy(*CHANGES)])


# Kernels

@once
def hybrid(testbed=UML, lockdep=False):
    return machine_of(HYBRID, testbed, lockdep)


def changed_by(patch):
    """{path: text} of sources of the project."""
    sources = {}
    patched(PROJECT, patch, sources)
    return sources


def sides(options):
    side = side_of(options)
    if options.testbed == DEBIAN:
        return {side: DEBIANS[side]}
    return {side: TestBed(side, lambda: machine_of(side, options.testbed, options.lockdep).kernel,
                          {UML: UserModeMachine, QEMU: QemuMachine}[options.testbed])}


USER_MODE = TestBed("user-mode, on the hybrid", lambda: hybrid().kernel)
MORE = ("others",)		# a configuration of tools/guest/config
UNDER_OTHERS = TestBed("user-mode, on the hybrid, more of it",
                       lambda: machine_of(HYBRID, more=MORE).kernel)
LOCKDEP = TestBed("user-mode, on the hybrid, lockdep", lambda: hybrid(UML, True).kernel)
X86_64 = TestBed("x86-64, on the hybrid", lambda: hybrid(QEMU).kernel)
DEBIANS = {side: TestBed(f"x86-64, Debian's, on {lock}",
                         once(lambda side=side: debian_kernel(side)))
           for side, lock in ((HYBRID, "the hybrid"), (STOCK, "qspinlock"))}


# Boots

TORTURED = ("spin_lock", "spin_lock_irq", "raw_spin_lock", "raw_spin_lock_irq", "rw_lock",
            "mutex_lock", "rwsem_lock")
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


class Clocksource(Part):
    """The clock that the kernel was told to have is the one that it has."""

    def __init__(self, name):
        super().__init__(f"clocksource {name}", f"grep -qx {name} {CLOCKSOURCE}")


def parts_of(number_of_cpus, seconds):
    """All parts of a boot; seconds: of each torture test."""
    return [Suites(), *(KernelLock(operations, seconds) for operations in TORTURED),
            RcuTorture(3 * seconds), Rhashtable(2 * number_of_cpus, 1000 * seconds),
            ShellLoad(max(2, number_of_cpus), 2 * seconds)]


def boot_of(number_of_cpus, side, machine, options):
    if options.testbed == DEBIAN:
        return DebianBoot(machine.kernel, side == HYBRID, number_of_cpus, options.seconds)
    return Boot(machine, number_of_cpus,
                [part for part in parts_of(number_of_cpus, options.seconds)
                 if not options.part or part.name in options.part], side == HYBRID)


class NmiWait(Guest):
    """A wait in an NMI, which a crash IPI must end; or one that does not ask for its condition."""

    # What nmi_reason_test.c of the port says.
    TEST = re.compile(r"nmi_reason_test: (.*)")
    LEFT = "NMIs came, callback in the wait, 2 CPUs stopped, 1 cancellations"
    # So it begins: CPUs stop once the holder has released.
    STAYED = "NMIs came, callback not in the wait"

    def __init__(self, machine, has_condition):
        if not has_condition:
            machine = machine_of(HYBRID, QEMU, replaced=changed_by(NO_CONDITION))
        super().__init__(machine, [])
        self.has_condition = has_condition
        self.said = ""

    def run(self):
        """It ends by itself."""
        self.outcome = run_guest(self.machine, "true", quiet=True, cpus=3,
                                 append=["nmi_reason_test"], guilty=self.TEST)
        found = self.TEST.search(self.outcome.log)
        self.said = found[1] if found else ""
        return self

    @property
    def complaint(self):
        right = self.said == self.LEFT if self.has_condition else \
            self.said.startswith(self.STAYED)
        return "" if right else f"it says: {self.said}"


NMI_WAITS = {"without a condition": False, "until the crash IPI": True}


def parts(options):
    if options.nmi:
        return {name: lambda name, _, machine, __: NmiWait(machine, NMI_WAITS[name])
                for name in NMI_WAITS}
    return {number_of_cpus: boot_of for number_of_cpus in options.numbers or CPUS[options.testbed]}


def rows(made, options):
    guests = [(name, *found) for name, by_side in made.items() for found in by_side.values()]
    if options.nmi:
        return [[("wait", "what the test says"), *((name, guest.said) for name, guest in guests)]]
    return [[("CPUs", "part", "result", ""),
             *((str(number_of_cpus), name, f"FAIL: {wrong}" if wrong else "ok", figure)
               for _, boot in guests for number_of_cpus, name, wrong, figure in boot.rows())]]


# Cases

SHORT, LONG = 1, 9
# Of these the lock is in a module, where the broken one does not exclude.
EXCLUSIVE = ("spin_lock", "raw_spin_lock")
SHORT_CPUS = 4
# Of the loads of tools/nbq bench kernel; the limit ends what hangs, however busy the host is.
SHORT_MS, LIMIT_MS = 1000, 300000
LONGEST = 7200			# of all classes of stress-ng: a limit for hangs


def boot_cases(name, machine, cpus, seconds, clock=None):
    """A case for each part of a boot, and for its log and counters.

    clock: the clocksource, where it is not that of the kernel's choice.
    """
    parts, words = parts_of(cpus, seconds), ()
    if clock:
        parts, words = [Clocksource(clock), *parts], (f"clocksource={clock}",)
    yield from part_cases(name, Boot(machine, cpus, parts, words=words).run())


def part_cases(name, boot):
    for number_of_cpus, part, wrong, _ in boot.rows():
        yield judged(f"{name}: {number_of_cpus} CPUs: {part}", wrong, boot)


def choice_cases():
    """A case for each configuration that Kconfig has to refuse, with a reason, or to decide."""
    for choice, wrong in refusals.judged():
        verdict = "is refused with a reason" if choice.reason else "gives the hybrid alone"
        yield Case(f"Kconfig: the hybrid and {choice.name} {verdict}", not wrong, wrong)


def canceled_cases(name):
    """Cases that a CPU leaves its wait for nmi_reason_lock in an NMI when a crash IPI comes."""
    for has_condition, verdict in ((True, "a wait in an NMI ends for the crash IPI"),
                                   (False, "a wait that does not ask for it stays")):
        wait = NmiWait(hybrid(QEMU), has_condition).run()
        yield judged(f"{name}: {verdict}", wait.complaint, wait)


def broken_cases(name):
    """Cases that a boot sees a lock of the kernel's that does not exclude, and one of ours."""
    busted = Boot(hybrid(), SHORT_CPUS, [KernelLock(BUSTED, SHORT)]).run()
    yield Case(f"{name}: {BUSTED} fails", busted.parts[0].complaint == BANGS,
               guest_report(busted.outcome))
    broken = Boot(machine_of(HYBRID, replaced=changed_by(BROKEN)), SHORT_CPUS,
                  [KernelLock(operations, SHORT) for operations in EXCLUSIVE]).run()
    for part in broken.parts:
        yield Case(f"{name}: {part.name} on a hybrid that does not exclude fails",
                   part.complaint == BANGS, guest_report(broken.outcome))


def plan_of(locks, cpus, duration_ms, name="kernel"):
    """The scenario, once, with so many CPUs."""
    plan = scenario_file.read(scenario_file.SCENARIOS / f"{name}.ini", metrics.METRICS)
    plan.rounds, plan.locks = 1, list(locks)
    plan.sweep = {"cpus": [cpus], "load": plan.sweep["load"]}
    plan.load = {**plan.load, "duration_ms": duration_ms, "passes": 1, "limit_ms": LIMIT_MS}
    return plan


def wrong_with_load(run, has_workers=True):
    """What is wrong with a run, or nothing. None of it is a question of speed."""
    found = run.result
    if not run.passed:
        return run.verdict
    if found.get("finished") != found.get("workers"):
        return f"{found.get('finished')} of {found.get('workers')} workers finished"
    if not found["operations"]:
        return "0 operations"
    # What others wrote counts no workers' operations.
    if has_workers and not found["least"] <= found["most"] <= found["operations"]:
        return f"{found['operations']} operations, {found['least']} to {found['most']} a worker"
    if found.get("nbq_deadlocks") or found.get("nbq_exhaustions"):
        return f"{found['nbq_deadlocks']} deadlocks, {found['nbq_exhaustions']} without a node"
    return ""


def class_cases(name, cpus):
    """A case for each class of stress-ng: nothing fails that passes on the kernel's own lock."""
    own, its = (
        Boot(RoomyMachine(machine_of(side, more=MORE).kernel), cpus,
             [Programs(others.before()), *(StressClass(each, cpus) for each in CLASSES)],
             is_hybrid=side == HYBRID).run(LONGEST) for side in (STOCK, HYBRID))
    yield from lost_cases(name, own, its)
    yield judged(f"{name}: kernel log, counters", its.complaint, its)


def lost_cases(name, own, its):
    """A case for each class of two boots."""
    for theirs, part in zip(own.parts, its.parts):
        if isinstance(part, StressClass):
            wrong = theirs.complaint and f"{OWN}: {theirs.complaint}" or lost(part, theirs)
            yield Case(f"{name}: {part.name}: {part.figure}", not wrong,
                       f"{wrong}\n{part.output[-4000:]}")


def plan_cases(name, locks, scenario="kernel"):
    """A case for each load on the kernels of these locks, and that the guests are clean."""
    plan = plan_of(locks, SHORT_CPUS, SHORT_MS, scenario)
    job, progress = runner.Job(plan, KernelsPlace(plan.locks, plan.testbed)), Progress()
    job.announce(progress)
    result = job.make(progress)
    for run in result.runs:
        wrong = wrong_with_load(run, plan.testbed != KERNELS_OTHERS)
        yield Case(f"{name}: {run.lock}, {run.point['cpus']} CPUs: load {run.point['load']}",
                   not wrong, wrong)
    yield Case(f"{name}: every load was run, no guest was lost",
               result.complete and not result.problems, "\n".join(result.problems))


@step("whole-kernel", LOAD)
@runs_on(USER_MODE, "all spinlocks are the hybrid")
def whole_kernel():
    """user-mode Linux all of whose spinlocks are the hybrid: torture tests, suites, a load"""
    yield from boot_cases(NAME, hybrid(), SHORT_CPUS, SHORT)
    yield from plan_cases(NAME, [OURS])
    yield from choice_cases()


@step("whole-kernels", ONLY_ALL, LOAD)
@runs_on(USER_MODE, "all spinlocks are the hybrid")
def whole_kernels():
    """as whole-kernel, with 1, 2, 4, 8 CPUs, with lockdep, and x86-64 in QEMU beside qspinlock"""
    for cpus in CPUS[UML]:
        yield from boot_cases(NAME, hybrid(), cpus, LONG)
    yield from broken_cases(NAME)
    yield On(LOCKDEP, "all spinlocks are the hybrid")
    yield from boot_cases(f"{NAME}, lockdep", hybrid(UML, True), SHORT_CPUS, LONG)
    yield On(X86_64, "all spinlocks are the hybrid")
    for cpus in CPUS[QEMU]:
        yield from boot_cases(f"{NAME}, x86-64", hybrid(QEMU), cpus, LONG)
    yield from canceled_cases(f"{NAME}, x86-64")
    # A read of this clock, which waiters read, tries one of the kernel's locks.
    yield from boot_cases(f"{NAME}, x86-64, HPET", hybrid(QEMU), SHORT_CPUS, SHORT, "hpet")
    # The waiters are where they should be.
    yield from plan_cases(f"{NAME}, x86-64", [OWN, FALLBACK, OURS], "kernel-x86_64")


@step("other-loads", ONLY_ALL, LOAD)
@runs_on(UNDER_OTHERS, "loads that others wrote")
def other_loads():
    """loads that others wrote, on the hybrid and qspinlock: stress-ng, perf, sysbench, make"""
    name = f"{NAME}, others"
    yield from plan_cases(name, [OWN, OURS], "kernel-others")
    yield from class_cases(name, SHORT_CPUS)


@step("debian-kernels", ONLY_ALL, LOAD)
@runs_on(DEBIANS[HYBRID], "from power on to power off")
def debian_kernels():
    """Debian's own configuration, on the hybrid and on qspinlock: Debian 13, power on to off"""
    boots = {}
    for side, testbed in DEBIANS.items():
        yield On(testbed, "from power on to power off")
        boots[side] = DebianBoot(testbed.find(), side == HYBRID, SHORT_CPUS, LONG, CLASSES).run()
        yield from part_cases(f"{testbed.name}: Debian 13", boots[side])
    yield from lost_cases(f"{DEBIANS[HYBRID].name}: Debian 13", boots[STOCK], boots[HYBRID])


body = study(__name__)
