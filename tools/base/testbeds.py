# SPDX-License-Identifier: GPL-2.0
"""The testbeds that a scenario can name: what they are called, what they can."""

from typing import NamedTuple

from base import parameters
from base.common import MOST_CPUS
from base.driver import COMPARATORS, OURS, PAPERS, STOCK_LOCKS

# Debian's stock kernels: the series. The first is the usual one, the last the oldest supported.
DEBIAN = ("6.12", "6.1")
SIMULATED = "simulated"
KERNELS = "kernels"
KERNELS_X86_64 = "kernels-x86_64"
KERNELS_OTHERS = "kernels-others"
WHOLE_KERNELS = (KERNELS, KERNELS_X86_64, KERNELS_OTHERS)
MOST_SIMULATED_CPUS = 256
# Of locks that cannot be compiled for the simulation, and of other designs.
MODELS = ("nbq_spin_sockets", "nbq_spin_pv", "qspinlock", "pv_qspinlock", "virt_spin_lock", "cna",
          "hmcs", "nbq_arena")
# Spinlocks of a kernel.
SPINLOCKS = ("nbq_spin", "qspinlock", "qspinlock_again", "virt_spin_lock")
# The kernel's own locks cannot be compiled for it: of one there is a model, of the
# others there is nothing.
STAND_INS = {"raw_spinlock": "qspinlock"}
NOT_SIMULATED = ("raw_trylock", "rqspinlock")


def stand_in(lock, testbed):
    """The lock type that answers for a lock on a testbed."""
    return STAND_INS.get(lock, lock) if testbed == SIMULATED else lock


def locks_on(words, testbed):
    """The words of a list of lock types, as they can be run on a testbed."""
    if testbed != SIMULATED:
        return words
    there = [word for word in words if word.removeprefix("-") not in NOT_SIMULATED]
    return list(dict.fromkeys(
        "-" * word.startswith("-") + stand_in(word.removeprefix("-"), testbed) for word in there))


class TestBed(NamedTuple):
    """A kernel and the machine that it runs on, which measure/bench/places.py makes.

    meaning: in words. most_cpus: that the machine can have. slowness: how many times longer than
    planned a run may take before it counts as hung. parameters: what a run on it can be told.
    locks: its lock types, so that a wrong name is refused before anything is built. guest_seconds,
    run_seconds: about what a guest takes besides its runs, and a run besides its duration, on 2
    cores.
    """
    meaning: str
    most_cpus: int
    slowness: float = 5
    parameters: dict = parameters.MEASURED
    locks: tuple = (*OURS, *COMPARATORS)
    guest_seconds: float = 2
    run_seconds: float = 0.1


# Without a guest, where the driver is loaded.
HERE = TestBed("this machine", 0, guest_seconds=0)
TESTBEDS = {
    "uml": TestBed("user-mode Linux", MOST_CPUS),
    **{f"debian-{series}": TestBed(f"Debian's Linux {series} in QEMU", 16, locks=STOCK_LOCKS,
                                   guest_seconds=5) for series in DEBIAN},
    "icount": TestBed(f"Debian's Linux {DEBIAN[0]} in QEMU, 1 ns an instruction", 1, slowness=20,
                      locks=STOCK_LOCKS, guest_seconds=6),
    SIMULATED: TestBed("a simulated machine of up to 256 CPUs, no kernel",
                       MOST_SIMULATED_CPUS, slowness=20, parameters=parameters.SIMULATION,
                       locks=(*OURS, *MODELS, *PAPERS)),
    KERNELS: TestBed("kernels with other spinlocks, in user-mode Linux", MOST_CPUS,
                     parameters=parameters.LOADED, locks=SPINLOCKS, guest_seconds=3,
                     run_seconds=0.8),
    KERNELS_X86_64: TestBed("kernels with other spinlocks, x86-64 in QEMU", 16,
                            slowness=20, parameters=parameters.LOADED, locks=SPINLOCKS,
                            guest_seconds=8, run_seconds=0.8),
    KERNELS_OTHERS: TestBed("kernels with other spinlocks, in user-mode Linux, under loads that "
                            "others wrote", MOST_CPUS, parameters=parameters.LOADED_BY_OTHERS,
                            locks=SPINLOCKS[:3], guest_seconds=3, run_seconds=2),
}
# Those that the stress driver runs on.
STRESSED = {name: testbed for name, testbed in TESTBEDS.items() if name not in WHOLE_KERNELS}
