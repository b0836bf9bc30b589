# SPDX-License-Identifier: GPL-2.0
"""A kernel and the modules built by another compiler."""

from ci.common import CLANG, layout_cases
from ci.kernel_table import On, runs_on
from ci.matrix import (CPUS, NO_LOCKDEP, TIMEOUT, contended, require_boot, stress_cases,
                       suite_cases)
from ci.text import WARNINGS, strict_build, suites_of
from testbed.disturbed import INTERRUPTS
from testbed.guest import UserModeMachine
from testbed.kunit import run_suites_in_guest


@runs_on(CLANG, "build")
def clang():
    """kernel and modules built by clang: warnings, the suites, stress"""
    machine = UserModeMachine(CLANG.find())
    yield from layout_cases("clang", machine.kernel, TIMEOUT)
    require_boot(machine)
    yield strict_build(machine.kernel, WARNINGS, options=suites_of(machine.kernel))
    yield On(CLANG, "kunit")
    yield from suite_cases("clang", run_suites_in_guest(machine), NO_LOCKDEP)
    yield On(CLANG, "stress")
    plans = list(contended(CPUS, INTERRUPTS, 200000))
    yield from stress_cases("clang", machine, plans, CPUS)
