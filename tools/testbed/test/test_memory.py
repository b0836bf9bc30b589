# SPDX-License-Identifier: GPL-2.0
"""memory_environment(): where user-mode Linux keeps a guest's memory."""

import os
import tempfile
from unittest import mock

from testbed.common import memory_environment
from testbed.test import InFolder


class MemoryTest(InFolder):
    def setUp(self):
        super().setUp()
        unnamed = {name: value for name, value in os.environ.items()
                   if name not in ("TMPDIR", "TMP", "TEMP")}
        changed = mock.patch.dict(os.environ, unnamed, clear=True)
        changed.start()
        self.addCleanup(changed.stop)
        self.elsewhere = {"TMPDIR": tempfile.gettempdir()}

    def test_a_place_with_room_is_left_to_the_kernel(self):
        self.assertEqual(memory_environment(1, self.folder), {})

    def test_a_place_without_room_is_not_used(self):
        self.assertEqual(memory_environment(1 << 40, self.folder), self.elsewhere)

    def test_a_place_that_is_closed_is_not_used(self):
        with mock.patch("os.access", return_value=False):
            self.assertEqual(memory_environment(1, self.folder), self.elsewhere)

    def test_without_such_a_place_the_kernel_finds_its_own(self):
        self.assertEqual(memory_environment(1, self.folder / "absent"), {})

    def test_a_place_that_the_environment_names_stays(self):
        with mock.patch.dict(os.environ, {"TMP": "/somewhere"}):
            self.assertEqual(memory_environment(1 << 40, self.folder), {})
