# SPDX-License-Identifier: GPL-2.0
"""Kernels built from source with detectors, for another processor, or by another compiler.

In each, the KUnit suites are loaded as a module, and ours are stressed as a person
would do it. What a detector has seen is a complaint in the kernel's log.
"""

import re

from base.building import disassembly
from base.case import LOAD, ONLY_ALL, Case, On, runs_on, step
from base.common import BUILD, Unavailable, guest_cpus
from base.driver import OURS, LockType
from base.lock_types import QUEUES
from guest.cases import (ARM64, CLANG, DEBUG, I386, KCSAN, RISCV64, RT, UNLOAD, clean_guest,
                         layout_cases, unload_case)
from guest.complaints import foreign_races, without_foreign_races
from guest.guest import LEAK_SCAN, run_guest
from guest.guest_cli import loaded
from guest.kernels import ARM64_TOOLS
from guest.kunit import HOTPLUG_SUITES, LOCK_TYPES, SUITES, run_suites_in_guest
from guest.logs import log_excerpt
from guest.machines import ARM_PROCESSORS, QemuMachine
from measure.stress import made_cases
from module.annotation_checks import lacks_contention
from module.build import WARNINGS, strict_build, suites_of
from module.disturbed import ALL_INTERRUPTS, INTERRUPTS, interrupted, moved
from module.shapes import stock_runs
from module.stress import stress_runs

CPUS = max(2, guest_cpus())
# Emulated or checked at each access, a guest is many times as slow on a busy machine:
# it takes a minute or two on one that is not.
TIMEOUT = 3600


# A clock that is made of ticks stops while the CPU that counts them has
# interrupts off: there, no patience would ever be over.
FIT = f"""
[ $(nproc) = {CPUS} ] || {{ echo "it does not have {CPUS} CPUs"; exit 1; }}
clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)
case $clock in *jiffies) echo "its clock is $clock"; exit 1;; esac
"""


def require_boot(machine):
    """A kernel that does not come up without the modules, or unfit, cannot be had."""
    outcome = run_guest(machine, FIT, cpus=CPUS, quiet=True, timeout=TIMEOUT)
    if outcome.problem or outcome.status:
        raise Unavailable(f"Linux {machine.kernel.version} does not boot as "
                          f"\"{machine.kernel.name}\": {outcome.problem or outcome.output}"
                          f"\n{log_excerpt(outcome)}")


# Where there is no lockdep to ask.
NO_LOCKDEP = tuple(suite for suite in SUITES if not suite.endswith("_lockdep"))


def suite_cases(name, result, suites=SUITES):
    """A case for each suite, and one for the run as a whole."""
    for suite in suites:
        cases = [case for case in result.cases if case.name.startswith(f"{suite}.")]
        bad = [f"{case.status} {case.name}" for case in cases
               if case.status not in ("PASS", "SKIP")]
        passed = sum(case.status == "PASS" for case in cases)
        yield Case(f"{name}: {suite}, {passed} cases passed", passed and not bad,
                   "\n".join(bad or ["the suite did not run"]) +
                   f"\nkernel log: {result.kernel_log}")
    yield Case(f"{name}: the suites, {result.count('PASS')} cases; the kernel log is clean",
               result.passed, "\n".join([*result.problems, result.detail]))


def contended(interrupts, interval_ns):
    """All that is done to a lock of ours; the first first, since settings stay."""
    return [*stress_runs(CPUS, [LockType(f"{lock}: ours") for lock in OURS]),
            *stock_runs(OURS),
            *(interrupted(lock, CPUS, interval_ns, 400, interrupts) for lock in OURS),
            moved(CPUS, "thread_min")]


def stress_cases(name, machine, interrupts, interval_ns, after=UNLOAD, clean=None):
    """Do all that is done to a lock of ours: cases of runs, that it unloads, that it is clean.

    clean: takes an outcome, and leaves what is to be judged. Returns the outcome of all
    runs, before some of them were made once more.
    """
    outcomes = yield from made_cases(
        name, machine, contended(interrupts, interval_ns), CPUS, loaded(machine.kernel),
        after=after, quiet=True, timeout=TIMEOUT)
    for outcome in outcomes if clean else []:
        clean(outcome)
    yield unload_case(name, outcomes)
    yield clean_guest(name, *outcomes)
    return outcomes[0]


# LEAK_SCAN tells the kernel's log; a kernel without kmemleak would not say so.
TELL_LEAKS = LEAK_SCAN + """
echo "@leaks %s"
cat $leaks && echo @known
"""
FIGURES = f"""
{TELL_LEAKS % "loaded"}
echo @lock_stat
cat /proc/lock_stat
echo @end
{UNLOAD}
{TELL_LEAKS % "unloaded"}
"""


def section(output, mark, end):
    """What stands between two lines of the output; None if they are not there."""
    found = re.search(rf"^@{mark}\n(.*?)^@{end}$", output, re.MULTILINE | re.DOTALL)
    return found[1] if found else None


def leak_case(name, output, when):
    leaks = section(output, f"leaks {when}", "known")
    return Case(f"{name}: no memory is lost with the modules {when}", leaks == "",
                "no scan of kmemleak" if leaks is None else leaks)


def lock_stat_case(name, table):
    """The case that lock_stat has counted contention of our locks."""
    lacks = lacks_contention(table or "", [f"stress_{lock}" for lock in OURS])
    return Case(f"{name}: /proc/lock_stat has our contended classes", not lacks, lacks)


@step("debug", ONLY_ALL, LOAD)
@runs_on(DEBUG, "kunit")
def debug():
    """KASAN, lockdep, kmemleak and others: the suites and ours under load"""
    machine = DEBUG.machine()
    yield from layout_cases("debug", machine.kernel, TIMEOUT)
    require_boot(machine)
    yield from suite_cases("debug", run_suites_in_guest(machine))
    yield On(DEBUG, "stress")
    outcome = yield from stress_cases("debug", machine, INTERRUPTS, 200000, FIGURES)
    for when in ("loaded", "unloaded"):
        yield leak_case("debug", outcome.output, when)
    yield lock_stat_case("debug", section(outcome.output, "lock_stat", "end"))


LINE = "[    1.5] " + 66 * "="
RACE = f"""{LINE}
[    1.6] BUG: KCSAN: data-race in %s / tick
[    1.6]
[    1.6] write to 0xffff8880 of 8 bytes by task 95 on cpu 1:
[    1.6]  %s
[    1.6]  kthread+0x1b3/0x540
[    1.6]
[    1.6] read to 0xffff8880 of 8 bytes by interrupt on cpu 0:
[    1.6]  tick+0x10/0x20
[    1.6]
[    1.6] Reported by Kernel Concurrency Sanitizer on:
[    1.6] CPU: 0 UID: 0 PID: 95 Comm: insmod Tainted: G           O
{LINE}
"""


def filter_case():
    """The case that races are passed over in which no code of ours has a part."""
    ours = RACE % ("join", "join+0x10/0x20 [nbqlock]")
    foreign = RACE % ("update", "update+0x10/0x20")
    cut_short = foreign.partition("kthread")[0]
    log = "".join((foreign, ours, foreign, cut_short))
    found = [report["where"] for report in foreign_races(log)]
    return Case("kcsan: races are passed over in which no code of ours has a part",
                found == 2 * ["data-race in update / tick"], f"passed over: {found}\n{log}")


# Most suites take the steps of several contexts one by one, without a race.
SPARINGLY = ("kcsan.skip_watch=4000",)


@step("kcsan", ONLY_ALL, LOAD)
@runs_on(KCSAN, "kunit")
def kcsan():
    """data races on x86-64: the suites and ours under load, NMIs as well"""
    machine = KCSAN.machine()
    require_boot(machine)
    yield filter_case()
    yield from suite_cases("kcsan", run_suites_in_guest(
        machine, CPUS, SPARINGLY, without_foreign_races), NO_LOCKDEP + HOTPLUG_SUITES)
    yield On(KCSAN, "stress")
    yield from stress_cases("kcsan", machine, ALL_INTERRUPTS, 1000000, clean=without_foreign_races)


# Not the suites: some of their cases turn bottom halves off with a lock in hand, for
# which a task may have to sleep there.
@step("rt-debug", ONLY_ALL, LOAD)
@runs_on(RT, "stress")
def real_time():
    """PREEMPT_RT with detectors for what may not sleep: ours under load"""
    machine = RT.machine()
    require_boot(machine)
    yield from stress_cases("rt-debug", machine, ALL_INTERRUPTS, 1000000)


# Whose waiters poll one word; the hybrid's file is that of both its kinds.
WAITERS = (*(f"{word}_nb" for word in QUEUES), "bare_spin")


def wfe_case(kernel):
    """The case that the built locks wait by WFE, and what only polls does not."""
    built = BUILD / kernel.name / "nbqlock"
    waits = [name for name in (*WAITERS, "node")
             if re.search(r"\twfe\b", disassembly(ARM64_TOOLS, built / f"{name}.o"))]
    return Case("arm64: the waiters of each lock have WFE in their code",
                waits == list(WAITERS), f"it is in {', '.join(waits) or 'none'}")


def long_wait_case(name, result):
    """The case that a long wait of each lock was by hardware: a skip does not do."""
    said = {case.name: case.status for case in result.cases
            if ".long_wait_is_by_hardware." in case.name}
    return Case(f"{name}: a long wait is by hardware",
                list(said.values()) == len(LOCK_TYPES) * ["PASS"], f"{said}")


# Newer processors have instructions for atomics, older ones exclusive loads and stores.
PROCESSORS = tuple(zip(("LSE", "LL/SC"), ARM_PROCESSORS))


@step("arm64", ONLY_ALL, LOAD)
@runs_on(ARM64, "kunit")
def arm64():
    """another processor, and both of its ways to be atomic"""
    kernel = ARM64.find()
    for how, cpu in PROCESSORS:
        machine = QemuMachine(kernel, kind=f"arm64, {cpu}")
        require_boot(machine)
        name = f"arm64, {how}"
        yield On(ARM64, f"kunit, {how}")
        result = run_suites_in_guest(machine)
        yield from suite_cases(name, result)
        yield long_wait_case(name, result)
        yield On(ARM64, f"stress, {how}")
        yield from stress_cases(name, machine, INTERRUPTS, 1000000)
    yield On(ARM64, "build")
    yield wfe_case(kernel)


def of_processor(testbed, interrupts):
    """The suites, and ours under load, on another processor."""
    machine = testbed.machine()
    require_boot(machine)
    name = testbed.name
    yield On(testbed, "kunit")
    yield from suite_cases(name, run_suites_in_guest(machine), SUITES + HOTPLUG_SUITES)
    yield On(testbed, "stress")
    yield from stress_cases(name, machine, interrupts, 1000000)


@step("riscv64", ONLY_ALL, LOAD)
@runs_on(RISCV64, "kunit")
def riscv64():
    """riscv64: the suites and ours under load"""
    yield from of_processor(RISCV64, INTERRUPTS)


@step("i386", ONLY_ALL, LOAD)
@runs_on(I386, "kunit")
def i386():
    """32 bits: the suites and ours under load, NMIs as well"""
    yield from of_processor(I386, ALL_INTERRUPTS)


@step("clang", ONLY_ALL, LOAD)
@runs_on(CLANG, "build")
def clang():
    """kernel and modules built by clang: warnings, the suites, stress"""
    machine = CLANG.machine()
    yield from layout_cases("clang", machine.kernel, TIMEOUT)
    require_boot(machine)
    yield strict_build(machine.kernel, WARNINGS, options=suites_of(machine.kernel))
    yield On(CLANG, "kunit")
    yield from suite_cases("clang", run_suites_in_guest(machine), NO_LOCKDEP)
    yield On(CLANG, "stress")
    yield from stress_cases("clang", machine, INTERRUPTS, 200000)
