# SPDX-License-Identifier: GPL-2.0
"""A kernel all of whose spinlocks are the hybrid."""

from base.case import LOAD, ONLY_ALL, Case, On, once, runs_on, step
from base.common import PROJECT
from base.progress import Progress
from base.testbeds import KERNELS_OTHERS
from guest import loads_of_others as others
from guest.cases import guest_report
from guest.hybrid import HYBRID, QEMU, STOCK, UML, machine_of
from guest.kernel_copy import patched
from guest.kernel_table import TestBed
from guest.kernel_tests import BANGS, BUSTED, Boot, KernelLock
from guest.loads_of_others import RoomyMachine
from measure import runner
from measure.bench import metrics, scenario_file
from measure.bench.kernels import FALLBACK, OURS, OWN, KernelsPlace
from studies.whole_kernel.debian import debian_kernel
from studies.whole_kernel.debian_boot import DebianBoot
from studies.whole_kernel.others import CLASSES, Programs, StressClass, lost
from studies.whole_kernel.refusals import judged
from studies.whole_kernel.runs import (CPUS, LEFT_THE_WAIT, STAYED, Clocksource, nmi_machine,
                                       nmi_wait, parts_of)

NAME = "hybrid kernel"
SHORT, LONG = 1, 9
# Of these the lock is in a module, where the broken one does not exclude.
EXCLUSIVE = ("spin_lock", "raw_spin_lock")
SHORT_CPUS = 4
# Of the loads of tools/nbq bench kernel; the limit ends what hangs, however busy the host is.
SHORT_MS, LIMIT_MS = 1000, 300000
LONGEST = 7200			# of all classes of stress-ng: a limit for hangs
BROKEN = PROJECT / "tools/studies/whole_kernel/no-exclusion.patch"


@once
def hybrid(testbed=UML, lockdep=False):
    return machine_of(HYBRID, testbed, lockdep)


@once
def debian(side):
    return debian_kernel(side)


USER_MODE = TestBed("user-mode, on the hybrid", lambda: hybrid().kernel)
MORE = ("others",)		# a configuration of tools/guest/config
UNDER_OTHERS = TestBed("user-mode, on the hybrid, more of it",
                       lambda: machine_of(HYBRID, more=MORE).kernel)
LOCKDEP = TestBed("user-mode, on the hybrid, lockdep", lambda: hybrid(UML, True).kernel)
X86_64 = TestBed("x86-64, on the hybrid", lambda: hybrid(QEMU).kernel)
DEBIANS = {side: TestBed(f"x86-64, Debian's, on {lock}", lambda side=side: debian(side))
           for side, lock in ((HYBRID, "the hybrid"), (STOCK, "qspinlock"))}


def boot_cases(name, machine, cpus, seconds, clock=None):
    """A case for each part of a boot, and for its log and counters.

    clock: the clocksource, where it is not that of the kernel's choice.
    """
    parts, words = parts_of(cpus, seconds), ()
    if clock:
        parts, words = [Clocksource(clock), *parts], (f"clocksource={clock}",)
    yield from part_cases(name, Boot(machine, cpus, parts, words=words).run())


def part_cases(name, boot):
    for number, part, wrong, _ in boot.rows():
        yield Case(f"{name}: {number} CPUs: {part}", not wrong,
                   f"{wrong}\n{guest_report(boot.outcome)}")


def choice_cases():
    """A case for each configuration that Kconfig has to refuse, with a reason, or to decide."""
    for choice, wrong in judged():
        verdict = "is refused with a reason" if choice.reason else "gives the hybrid alone"
        yield Case(f"Kconfig: the hybrid and {choice.name} {verdict}", not wrong, wrong)


def canceled_cases(name):
    """Cases that a CPU leaves its wait for nmi_reason_lock in an NMI when a crash IPI comes."""
    said, outcome = nmi_wait(hybrid(QEMU))
    yield Case(f"{name}: a wait in an NMI ends for the crash IPI", said == LEFT_THE_WAIT,
               guest_report(outcome))
    said, outcome = nmi_wait(nmi_machine(False))
    yield Case(f"{name}: a wait that does not ask for it stays", said.startswith(STAYED),
               guest_report(outcome))


def broken_cases(name):
    """Cases that a boot sees a lock of the kernel's that does not exclude, and one of ours."""
    busted = Boot(hybrid(), SHORT_CPUS, [KernelLock(BUSTED, SHORT)]).run()
    yield Case(f"{name}: {BUSTED} fails", busted.parts[0].complaint == BANGS,
               guest_report(busted.outcome))
    sources = {}
    patched(PROJECT, BROKEN, sources)
    broken = Boot(machine_of(HYBRID, replaced=sources), SHORT_CPUS,
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
    yield Case(f"{name}: kernel log, counters", not its.complaint,
               f"{its.complaint}\n{guest_report(its.outcome)}")


def lost_cases(name, own, its):
    """A case for each class of two boots."""
    for theirs, part in zip(own.parts, its.parts):
        if isinstance(part, StressClass):
            wrong = theirs.complaint and f"{OWN}: {theirs.complaint}" or lost(part, theirs)
            yield Case(f"{name}: {part.name}: {part.figure}", not wrong,
                       f"{wrong}\n{part.output[-4000:]}")


def load_cases(name):
    """A case for each load on the hybrid's kernel, and that the guests are clean."""
    yield from cases_of(name, plan_of([OURS], SHORT_CPUS, SHORT_MS))


def path_cases(name):
    """The same for each kernel of the comparison in QEMU; the waiters are where they should be."""
    yield from cases_of(name, plan_of([OWN, FALLBACK, OURS], SHORT_CPUS, SHORT_MS, "kernel-x86_64"))


def cases_of(name, plan):
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
    yield from load_cases(NAME)
    yield from broken_cases(NAME)
    yield from choice_cases()


@step("whole-kernels", ONLY_ALL, LOAD)
@runs_on(USER_MODE, "all spinlocks are the hybrid")
def whole_kernels():
    """as whole-kernel, with 1, 2, 4, 8 CPUs, with lockdep, and x86-64 in QEMU beside qspinlock"""
    for cpus in CPUS[UML]:
        yield from boot_cases(NAME, hybrid(), cpus, LONG)
    yield On(LOCKDEP, "all spinlocks are the hybrid")
    yield from boot_cases(f"{NAME}, lockdep", hybrid(UML, True), SHORT_CPUS, LONG)
    yield On(X86_64, "all spinlocks are the hybrid")
    for cpus in CPUS[QEMU]:
        yield from boot_cases(f"{NAME}, x86-64", hybrid(QEMU), cpus, LONG)
    yield from canceled_cases(f"{NAME}, x86-64")
    # A read of this clock, which waiters read, tries one of the kernel's locks.
    yield from boot_cases(f"{NAME}, x86-64, HPET", hybrid(QEMU), SHORT_CPUS, SHORT, "hpet")
    yield from path_cases(f"{NAME}, x86-64")


@step("other-loads", ONLY_ALL, LOAD)
@runs_on(UNDER_OTHERS, "loads that others wrote")
def other_loads():
    """loads that others wrote, on the hybrid and qspinlock: stress-ng, perf, sysbench, make"""
    name = f"{NAME}, others"
    yield from cases_of(name, plan_of([OWN, OURS], SHORT_CPUS, SHORT_MS, "kernel-others"))
    yield from class_cases(name, SHORT_CPUS)


@step("debian-kernels", ONLY_ALL, LOAD)
@runs_on(DEBIANS[HYBRID], "from power on to power off")
def debian_kernels():
    """Debian's own configuration, on the hybrid and on qspinlock: Debian 13, power on to off"""
    boots = {}
    for side, testbed in DEBIANS.items():
        yield On(testbed, "from power on to power off")
        boots[side] = DebianBoot(debian(side), side == HYBRID, SHORT_CPUS, LONG, CLASSES).run()
        yield from part_cases(f"{testbed.name}: Debian 13", boots[side])
    yield from lost_cases(f"{DEBIANS[HYBRID].name}: Debian 13", boots[STOCK], boots[HYBRID])
