# SPDX-License-Identifier: GPL-2.0
"""The testbeds that a scenario can name, made ready: guests, the simulation, whole kernels."""

from functools import partial

from base.common import Failure, guest_cpus
from base.testbeds import (DEBIAN, KERNELS_OTHERS, KERNELS_X86_64, SIMULATED, TESTBEDS,
                           WHOLE_KERNELS)
from guest.guest_cli import loaded
from guest.hybrid import CHANGES
from guest.kernels import GUEST, debian_kernel, debian_row, user_mode_kernel
from guest.loads_of_others import PROGRAMS_ROW
from guest.machines import CountingMachine, QemuMachine, UserModeMachine
from measure.bench.guests import GuestsPlace, Listener, complaints, lose, lose_current, show_log
from measure.bench.kernels import KernelsPlace, named_sides
from measure.bench.simulated import SimulatedPlace
from measure.stress import SPARE_SECONDS, lock_types, run_stress

# What gets or builds the kernel of a guest, and the machine of that kernel.
GUESTS = {
    "uml": (user_mode_kernel, UserModeMachine),
    **{f"debian-{series}": (partial(debian_kernel, series), QemuMachine) for series in DEBIAN},
    "icount": (partial(debian_kernel, DEBIAN[0]), CountingMachine),
}


def needs(testbed, locks=("all",)):
    """(the purposes of tools/setup, what will be made) for these locks on a testbed."""
    if testbed == SIMULATED:
        return ("simulate",), ()
    if testbed in WHOLE_KERNELS:
        recipes = {side.recipe.folder: side.recipe for side in named_sides(locks, testbed).values()}
        rows = [recipe.row_of_copy(*CHANGES) for recipe in recipes.values()]
        return (("run", "debian-guest") if testbed == KERNELS_X86_64 else ("run",),
                ("source", *rows, *[PROGRAMS_ROW] * (testbed == KERNELS_OTHERS)))
    if testbed == "uml":
        return ("run",), ("source", GUEST.row())
    return ("debian-guest",), (debian_row(GUESTS[testbed][0].args[0]),)


class GuestPlace(GuestsPlace):
    """A testbed that is ready: its kernel and modules are built, its locks known."""

    def __init__(self, name, folders=()):
        super().__init__(name)
        kernel, machine = GUESTS[name]
        kernel = kernel()
        self.version = kernel.version
        self.modules = loaded(kernel, folders)
        self.machine = machine(kernel)
        self.types = lock_types(self.machine, self.modules,
                                cpus=min(guest_cpus(), self.testbed.most_cpus))

    def make_in_one_guest(self, runs, cpus, progress):
        listener = Listener(runs, progress)
        longest = max(run.seconds for run in runs)
        planned = sum(run.seconds for run in runs)
        outcome = run_stress(
            self.machine, runs, cpus, self.modules, quiet=True, sink=listener,
            timeout=self.testbed.slowness * planned + SPARE_SECONDS,
            silence=self.testbed.slowness * longest + SPARE_SECONDS)
        problems = []
        if outcome.problem:
            lose_current(runs, listener, outcome.problem, progress)
            problems.append(outcome.problem)
        problems += complaints(outcome)
        if problems:
            show_log(outcome, progress)
        # Without a problem the script was at its end: so is every run.
        if not outcome.problem:
            lose([run for run in runs if not run.settled], "the guest did not make the run",
                 progress)
        return problems


def place_on(testbed, locks=("all",), folders=()):
    """A testbed, made ready for these locks.

    folders: of further modules, which guests of the stress driver load.
    """
    if testbed not in TESTBEDS:
        raise Failure(f"there is no testbed \"{testbed}\"; there are {', '.join(TESTBEDS)}")
    if testbed in WHOLE_KERNELS:
        return KernelsPlace(locks, testbed)
    return SimulatedPlace() if testbed == SIMULATED else GuestPlace(testbed, folders)
