# SPDX-License-Identifier: GPL-2.0
"""The table of machines: the command by which QEMU starts each."""

from types import SimpleNamespace
import unittest
from unittest import mock

from guest.machines import EMULATION, KINDS, QemuMachine, UserModeMachine

KERNEL = SimpleNamespace(image="bzImage", words=())


def command(kind, accelerator=None):
    with mock.patch("shutil.which", return_value="/usr/bin/qemu"), \
            mock.patch("guest.machines.best_accelerator", return_value="kvm"):
        return QemuMachine(KERNEL, accelerator, kind).command("folder", "initrd", 2, [], 3)


class Machines(unittest.TestCase):
    def test_each_is_other_than_the_rest_by_known_words(self):
        names = {name for name in vars(QemuMachine(KERNEL))} | set(vars(QemuMachine))
        for kind, row in KINDS.items():
            self.assertEqual(row.keys() - names, set(), kind)
        commands = {tuple(command(kind)) for kind in KINDS}
        self.assertEqual(len(commands), len(KINDS))

    def test_another_processor_is_emulated_and_a_pc_may_be_virtual(self):
        for kind in KINDS:
            found = command(kind)
            self.assertEqual(found[2], "kvm" if kind in (
                "pc", "pc, no hypervisor", "pc, 2 nodes of 10 CPUs") else EMULATION, kind)
        self.assertEqual(command("pc", EMULATION)[2], EMULATION)
        self.assertEqual(command("arm64, max")[0], "qemu-system-aarch64")
        self.assertIn("2,sockets=2", command("pc, 2 nodes of 10 CPUs"))

    def test_memory_grows_with_the_cpus_of_user_mode_linux(self):
        self.assertEqual(UserModeMachine(KERNEL).megabytes(4), 576)
        self.assertEqual(UserModeMachine(KERNEL, memory=96).megabytes(4), 160)
