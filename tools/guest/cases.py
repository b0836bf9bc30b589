# SPDX-License-Identifier: GPL-2.0
"""What steps have in common: cases, kernels that are looked for once, guests."""

from functools import partial

from base.case import Case, once
from base.testbeds import DEBIAN
from guest import kernels
from guest.guest import DEFAULT_TIMEOUT, run_guest
from guest.guest_cli import loaded
from guest.kernel_table import TestBed
from guest.kernels import NEWEST, REAL_TIME, built_kernel, debian_kernel, user_mode_kernel
from guest.logs import log_excerpt
from guest.machines import CPUS_IN_A_LAYOUT, LAYOUTS, QemuMachine, UserModeMachine

STRESS_FOLDER = "/sys/kernel/debug/nbqlock_stress"
UNLOAD = "rmmod nbqlock_stress && rmmod nbqlock && echo @unloaded\n"


guest_kernel = once(user_mode_kernel)
stock_kernel = once(debian_kernel)
from_source = once(built_kernel)

USER_MODE = TestBed("user-mode", guest_kernel)
# On each of these: builds, guards, an ignored result, make install, faults, a step debian-SERIES;
# nbq stress, nbq bench and nbq top take them as --testbed debian-SERIES.
DEBIANS = tuple(TestBed(f"Debian {series}", partial(stock_kernel, series), QemuMachine)
                for series in DEBIAN)
DEBIAN_6_12, DEBIAN_OLDEST = DEBIANS[0], DEBIANS[-1]
DEBIAN_RT = TestBed(f"Debian {DEBIAN[0]} rt", lambda: stock_kernel(DEBIAN[0], REAL_TIME),
                    QemuMachine)
DEBIAN_NEWEST = TestBed("Debian, newest", lambda: stock_kernel(NEWEST), QemuMachine)
DEBUG = TestBed("user-mode, all detectors", lambda: from_source(kernels.DEBUG))
KCSAN = TestBed("x86-64, KCSAN", lambda: from_source(kernels.KCSAN), QemuMachine)
ARM64 = TestBed("arm64", lambda: from_source(kernels.ARM64),
                partial(QemuMachine, kind="arm64, max"))
RT = TestBed("x86-64 rt, lockdep", lambda: from_source(kernels.RT), QemuMachine)
RISCV64 = TestBed("riscv64", lambda: from_source(kernels.RISCV64),
                  partial(QemuMachine, kind="riscv64"))
RISCV64_PLAIN = TestBed("riscv64, no lockdep", lambda: from_source(kernels.RISCV64_PLAIN))
I386 = TestBed("i386", lambda: from_source(kernels.I386),
               partial(QemuMachine, kind="pc, 32 bits"))
RQSPINLOCK = TestBed("x86-64, rqspinlock", lambda: from_source(kernels.BPF), QemuMachine)
CLANG = TestBed("user-mode, clang", lambda: from_source(kernels.CLANG))


@once
def guest_modules():
    return loaded(guest_kernel())


def machine():
    return UserModeMachine(guest_kernel())


def guest_report(outcome):
    """What to print of a guest in which something went wrong."""
    return f"{outcome.output.rstrip()}\n{log_excerpt(outcome)}"


def clean_guest(name, *outcomes):
    """The case that a guest came to its end without the kernel complaining.

    With several outcomes, of the same runs, that all of them did.
    """
    details = []
    for outcome in outcomes:
        reasons = [outcome.problem] if outcome.problem else []
        reasons += outcome.complaints[:5]
        if reasons:
            details += [*reasons, log_excerpt(outcome)]
    return Case(f"{name}: the guest ends, its kernel log is clean", not details,
                "\n".join(details))


def unload_case(name, outcomes):
    """The case that UNLOAD has unloaded the modules in all of the guests."""
    return Case(f"{name}: unload", all("@unloaded" in outcome.output for outcome in outcomes),
                "\n".join(map(guest_report, outcomes)))


def commanded(name, script, wanted=0, **options):
    """The case that a script in a guest has an exit status, without complaints."""
    outcome = run_guest(machine(), script, quiet=True, **options)
    passed = outcome.status == wanted and outcome.ended_well and not outcome.complaints
    return Case(name, passed, "" if passed else
                f"exit status {outcome.status}, not {wanted}\n{guest_report(outcome)}")


def layout_cases(name, kernel, timeout=DEFAULT_TIMEOUT):
    """The cases that a user-mode kernel comes up wherever the host puts its memory.

    At the first start: what the layout has to do with does not get better by itself.
    """
    for layout in LAYOUTS:
        outcome = run_guest(UserModeMachine(kernel, layout), "nproc", quiet=True,
                            cpus=CPUS_IN_A_LAYOUT, starts=1, timeout=timeout)
        passed = outcome.ended_well and not outcome.complaints and \
            outcome.output == f"{CPUS_IN_A_LAYOUT}\n"
        yield Case(f"{name}: the kernel comes up, its memory laid out {layout}", passed,
                   guest_report(outcome))
