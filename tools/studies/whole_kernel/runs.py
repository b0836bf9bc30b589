# SPDX-License-Identifier: GPL-2.0
"""A kernel all of whose spinlocks are the hybrid (tools/guest/port), put to the test.

One boot runs all parts: the kernel's KUnit suites, its torture tests of locks and of RCU, the test
of rhashtable, a load of shells. Each is judged by its part of the kernel log or by its exit status,
the boot by the complaints in its log and by the counters of nbqlock. The same tree and
configuration with the kernel's own spinlock is the other side.
"""

import re

from base.common import PROJECT
from guest.guest import run_guest
from guest.hybrid import HYBRID, QEMU, UML, machine_of
from guest.kernel_copy import patched
from guest.kernel_tests import KernelLock, RcuTorture, Rhashtable, ShellLoad, Suites
from guest.parts import Part

CPUS = {UML: (1, 2, 4, 8), QEMU: (1, 2, 4)}
TORTURED = ("spin_lock", "spin_lock_irq", "raw_spin_lock", "raw_spin_lock_irq", "rw_lock",
            "mutex_lock", "rwsem_lock")
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

# A wait in an NMI, which a crash IPI must end

NO_CONDITION = PROJECT / "tools/studies/whole_kernel/no-condition.patch"
NMI_CPUS = 3
# What nmi_reason_test.c of the port says.
NMI_TEST = re.compile(r"nmi_reason_test: (.*)")
LEFT_THE_WAIT = "NMIs came, callback in the wait, 2 CPUs stopped, 1 cancellations"
# So it begins: CPUs stop once the holder has released.
STAYED = "NMIs came, callback not in the wait"


def nmi_machine(has_condition):
    """x86-64 on the hybrid; or such a kernel whose waits do not ask for their condition."""
    replaced = {}
    if not has_condition:
        patched(PROJECT, NO_CONDITION, replaced)
    return machine_of(HYBRID, QEMU, replaced=replaced)


def nmi_wait(machine):
    """(what the test says, the Outcome of the guest that it ends)."""
    outcome = run_guest(machine, "true", quiet=True, cpus=NMI_CPUS, append=["nmi_reason_test"],
                        guilty=NMI_TEST)
    found = NMI_TEST.search(outcome.log)
    return found[1] if found else "", outcome


# Parts

class Clocksource(Part):
    """The clock that the kernel was told to have is the one that it has."""

    def __init__(self, name):
        super().__init__(f"clocksource {name}", f"grep -qx {name} {CLOCKSOURCE}")


def parts_of(cpus, seconds):
    """All parts of a boot; seconds: of each torture test."""
    return [Suites(), *(KernelLock(operations, seconds) for operations in TORTURED),
            RcuTorture(3 * seconds), Rhashtable(2 * cpus, 1000 * seconds),
            ShellLoad(max(2, cpus), 2 * seconds)]
