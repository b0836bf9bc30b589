# SPDX-License-Identifier: GPL-2.0
"""How a kernel is built all of whose spinlocks are the hybrid, and the same with its own."""

from guest.kernel_copy import built_copy
from guest.kernels import X86_64, Recipe
from guest.machines import QemuMachine, UserModeMachine

CHANGES = ("guest",)		# tools/guest/port
HYBRID, STOCK = "nbq-spin", "qspinlock"
UML, QEMU = "uml", "qemu"
MODULES = ("kernel/torture.ko", "kernel/locking/locktorture.ko", "kernel/rcu/rcutorture.ko",
           "lib/test_rhashtable.ko")
SWEEP = "kernel/locking/nbq_sweep.ko"	# of the port


def recipe_of(side, testbed=UML, lockdep=False, more=()):
    """How the kernel of a side is built. more: configurations besides."""
    configs = {UML: ["guest"], QEMU: ["qemu", "x86_64"]}[testbed]
    configs.append("kernel-on-nbq")
    configs += ["kernel-on-nbq-lockdep"] * lockdep
    # qspinlock has another path in a guest of a hypervisor: that side has not.
    if side == HYBRID:
        configs += ["nbq-spinlocks"] + ["hypervisor"] * (testbed == QEMU)
    configs += more
    name = f"kernel-{side}" + "-x86_64" * (testbed == QEMU) + "-lockdep" * lockdep
    name = "-".join([name, *more])
    if testbed == QEMU:
        return Recipe(name, X86_64, "arch/x86/boot/bzImage", *configs)
    return Recipe(name, "um", "linux", *configs)


def machine_of(side, testbed=UML, lockdep=False, replaced=None, more=()):
    """A machine with the kernel, which is built or brought up to date.

    replaced: {path: text} of sources of the project that are others in this kernel.
    """
    modules = (*MODULES, SWEEP) if side == HYBRID else MODULES
    kernel = built_copy(recipe_of(side, testbed, lockdep, more), *CHANGES, modules=modules,
                        replaced=replaced)
    return {UML: UserModeMachine, QEMU: QemuMachine}[testbed](kernel)
