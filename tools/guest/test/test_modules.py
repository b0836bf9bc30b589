# SPDX-License-Identifier: GPL-2.0
"""What a build warns of."""

from unittest import mock

from base.test import InFolder
from guest.modules import KERNEL_MARK, show_warnings, warnings_in

QUIET = """make: Entering directory '/kernel'
make[1]: Entering directory '/copy'
warning: the compiler differs from the one used to build the kernel
  The kernel was built by: gcc 13
  You are using:           gcc 12
warning: pahole version differs from the one used to build the kernel
  The kernel was built with: 125
  You are using:             0
  CC [M]  mine.o
  LD [M]  mine.ko
Skipping BTF generation for mine.ko due to unavailability of vmlinux
make[1]: Leaving directory '/copy'
"""
WARNED = """{folder}/mine.c: In function 'start':
{folder}/mine.c:8:9: warning: ignoring return value of 'nbq_spin_lock_timeout'
    8 |         nbq_spin_lock_timeout(&lock, 1000);
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
"""


class Warnings(InFolder):
    def test_progress_is_none(self):
        self.assertEqual(warnings_in(QUIET), "")

    def test_they_are_shown_whole_and_made_to_come_again(self):
        log = QUIET.replace("  LD", WARNED.format(folder=self.folder) + "  LD")
        self.write("log", log)
        self.write(KERNEL_MARK)
        with mock.patch("guest.modules.say") as said:
            show_warnings(self.folder, self.folder / "log")
        self.assertEqual(said.call_args[0][0], "the build warns:\n" +
                         WARNED.format(folder=".").replace("./", "").rstrip("\n"))
        self.assertFalse((self.folder / KERNEL_MARK).exists())

        self.write("log", QUIET)
        self.write(KERNEL_MARK)
        with mock.patch("guest.modules.say") as said:
            show_warnings(self.folder, self.folder / "log")
        self.assertFalse(said.called)
        self.assertTrue((self.folder / KERNEL_MARK).exists())
