# SPDX-License-Identifier: GPL-2.0
"""The beds that a scenario can name: where its kernel comes from and how it runs."""

from functools import partial
from typing import Callable, NamedTuple

from bed.common import MOST_CPUS
from bed.guest import CountingMachine, QemuMachine, UserModeMachine
from bed.kernels import debian_kernel, user_mode_kernel


class Bed(NamedTuple):
    """A kernel, and the machine that it runs on.

    meaning: for people. kernel: gets or builds the Kernel. machine: of that
    kernel. most_cpus: that the machine can have. slowness: how many times
    longer than planned a run may take before its guest counts as hung.
    """
    meaning: str
    kernel: Callable
    machine: Callable
    most_cpus: int
    slowness: float = 5


BEDS = {
    "uml": Bed("user-mode Linux", user_mode_kernel, UserModeMachine, MOST_CPUS),
    "debian-6.12": Bed("Debian's Linux 6.12 in QEMU", partial(debian_kernel, "6.12"),
                       QemuMachine, 16),
    "debian-6.1": Bed("Debian's Linux 6.1 in QEMU", partial(debian_kernel, "6.1"),
                      QemuMachine, 16),
    "icount": Bed("Debian's Linux 6.12 in QEMU, 1 ns an instruction",
                  partial(debian_kernel, "6.12"), CountingMachine, 1, slowness=20),
}
