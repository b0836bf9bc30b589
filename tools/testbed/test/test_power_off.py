# SPDX-License-Identifier: GPL-2.0
"""The end of a guest: when it counts as powered off."""

import contextlib
import io
import subprocess
from unittest import mock

from testbed import guest
from testbed.test import InFolder


class PowerOff(InFolder):
    """With a process that ends at once, or that nobody waits for, in the guest's place."""

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.log.write_text("[    1.000000] Run /init as init process\n")
        patch = mock.patch.object(guest, "ENDS_AFTER_SECONDS", 0.01)
        patch.start()
        self.addCleanup(patch.stop)

    def is_off(self, *command):
        """Whether it is, and what is said of it."""
        said = io.StringIO()
        with subprocess.Popen(command) as process, contextlib.redirect_stderr(said), \
             contextlib.redirect_stdout(said):
            try:
                return guest.powered_off(process, self.log), said.getvalue()
            finally:
                process.kill()

    def test_a_process_that_ends_has_powered_off(self):
        self.assertEqual(self.is_off("true"), (True, ""))

    def test_a_process_that_stays_has_not(self):
        with mock.patch.object(guest, "POWER_OFF_SECONDS", 0.1):
            self.assertEqual(self.is_off("sleep", "600"), (False, ""))

    def test_a_kernel_that_says_so_has_though_its_process_stays(self):
        with self.log.open("a") as log:
            log.write("[    2.000000] reboot: Power down\n")
        off, said = self.is_off("sleep", "600")
        self.assertTrue(off)
        self.assertIn("does not end", said)
