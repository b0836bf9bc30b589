# SPDX-License-Identifier: GPL-2.0
"""The kernel's own torture test over the locks of nbqlock."""

from base.case import LOAD, MORE, ONLY_ALL, Case, On, extent, runs_on, step
from guest.cases import DEBUG, RT, USER_MODE, clean_guest, guest_report
from guest.kernel_tests import BUSTED
from studies.locktorture.runs import NO_TIMEOUT, OPERATIONS, Torture, torture_all, torture_modules

SHORT, MEDIUM, LONG = 1, 4, 9
# Timed operations below others of their kind, and plain ones.
NESTED = ("nbq_spin_timed", "clh_nb_timed", "mcs_nb_timed", "swap_nb_timed", "nbq_spin")


def runs(seconds, **parameters):
    return [*(Torture(operations, seconds, **parameters) for operations in OPERATIONS),
            *(Torture(operations, seconds, nested_locks=8, **parameters)
              for operations in NESTED)]


def torture_cases(name, machine, seconds, **parameters):
    """A case for each run, that the guests are clean, and that a broken lock is seen."""
    modules = torture_modules(machine.kernel)
    made = runs(seconds, **parameters)
    outcomes = [torture_all(machine, made, modules)]
    again = [number for number, run in enumerate(made)
             if run.complaint == NO_TIMEOUT and seconds < LONG]
    if again:
        longer = runs(LONG, **parameters)
        outcomes.append(torture_all(machine, [longer[number] for number in again], modules))
        made = [longer[number] if number in again else run for number, run in enumerate(made)]
    for run in made:
        yield Case(f"{name}: {run.name}", not run.complaint,
                   f"{run.complaint}\n{run.log[-2000:]}")
    if any(run.has_hotplug for run in made):
        # In a short run none may, by chance. That all are back is judged with each run.
        yield Case(f"{name}: CPUs went offline", any(run.offlines for run in made))
    yield clean_guest(name, *outcomes)
    busted = torture_all(machine, [Torture(BUSTED, seconds)], modules)
    yield Case(f"{name}: {BUSTED} fails", "!!!" in busted.log and
               "End of test: FAILURE" in busted.log, guest_report(busted))


@step("locktorture", MORE, LOAD)
@runs_on(USER_MODE, "locktorture")
def locktorture():
    """the kernel's locktorture over all lock types, plain, irq, timed, try, nested"""
    yield from torture_cases("locktorture", USER_MODE.machine(),
                             LONG if extent.is_long else SHORT)


@step("torture-all", ONLY_ALL, LOAD)
@runs_on(RT, "locktorture")
def locktorture_kernels():
    """locktorture with CPU hotplug in QEMU, and on the debug kernel"""
    yield from torture_cases("locktorture, CPU hotplug", RT.machine(), MEDIUM,
                             onoff_interval=1)
    yield On(DEBUG, "locktorture")
    yield from torture_cases("locktorture, debug", DEBUG.machine(), MEDIUM)
