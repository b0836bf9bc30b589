# SPDX-License-Identifier: GPL-2.0
"""memory_environment(): where user-mode Linux keeps a guest's memory."""

import os
import tempfile
from unittest import mock

from testbed.building import memory_environment
from testbed.test import InFolder


class MemoryTest(InFolder):
    def test_place_of_a_guests_memory(self):
        # The kernel finds its own, but where that is closed or too small, unless one is named.
        elsewhere = {"TMPDIR": tempfile.gettempdir()}
        unnamed = {name: value for name, value in os.environ.items()
                   if name not in ("TMPDIR", "TMP", "TEMP")}
        for megabytes, place, is_open, named, wanted in (
                (1, self.folder, True, {}, {}), (1 << 40, self.folder, True, {}, elsewhere),
                (1, self.folder, False, {}, elsewhere), (1, self.folder / "absent", True, {}, {}),
                (1 << 40, self.folder, True, {"TMP": "/somewhere"}, {})):
            with mock.patch.dict(os.environ, {**unnamed, **named}, clear=True), \
                    mock.patch("os.access", return_value=is_open):
                self.assertEqual(memory_environment(megabytes, place), wanted)
