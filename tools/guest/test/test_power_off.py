# SPDX-License-Identifier: GPL-2.0
"""The end of a guest: when it counts as powered off."""

import contextlib
import io
import subprocess
from unittest import mock

from base.test import InFolder
from guest import guest


class PowerOff(InFolder):
    def test_a_guest_is_off_when_its_process_ends_or_its_kernel_says_so(self):
        # With a process that ends at once, or that nobody waits for, in the guest's place.
        for said, command, limit, wanted, words in (
                ("", ["true"], 60, True, ""), ("", ["sleep", "600"], 0.1, False, ""),
                ("reboot: Power down\n", ["sleep", "600"], 60, True, "does not end")):
            self.write("log", f"[    1.000000] Run /init as init process\n{said}")
            heard = io.StringIO()
            with mock.patch.object(guest, "ENDS_AFTER_SECONDS", 0.01), \
                    mock.patch.object(guest, "POWER_OFF_SECONDS", limit), \
                    subprocess.Popen(command) as process, contextlib.redirect_stderr(heard):
                try:
                    self.assertEqual(guest.powered_off(process, self.folder / "log"), wanted)
                finally:
                    process.kill()
            self.assertIn(words, heard.getvalue())
            self.assertEqual(bool(words), bool(heard.getvalue()))
