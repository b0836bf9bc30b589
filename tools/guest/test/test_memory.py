# SPDX-License-Identifier: GPL-2.0
"""memory_environment(): where user-mode Linux keeps a guest's memory."""

import os
import tempfile
from types import SimpleNamespace
from unittest import mock

from base.building import memory_environment
from base.common import Failure
from base.test import InFolder


class MemoryTest(InFolder):
    def setUp(self):
        super().setUp()
        self.place, self.other, self.cache = (
            str(self.folder / name) for name in ("shm", "other", "cache"))
        for folder in (self.place, self.other, self.cache):
            os.mkdir(folder)

    def found(self, megabytes=1, place=None, noexec=(), closed=(), **named):
        """What it says with folders that are mounted noexec, and closed to this user."""
        real = os.statvfs

        def statvfs(folder):
            size = real(folder)
            return SimpleNamespace(f_bavail=size.f_bavail, f_frsize=size.f_frsize,
                                   f_flag=os.ST_NOEXEC if folder in noexec else 0)

        unnamed = {name: value for name, value in os.environ.items()
                   if name not in ("TMPDIR", "TMP", "TEMP")}
        with mock.patch.dict(os.environ, {**unnamed, "NBQ_CACHE": self.cache, **named},
                             clear=True), \
                mock.patch("os.access", side_effect=lambda folder, _: folder not in closed), \
                mock.patch("os.statvfs", side_effect=statvfs):
            return memory_environment(megabytes, place or self.place)

    def test_kernel_finds_its_own_place(self):
        self.assertEqual(self.found(), {})
        self.assertEqual(self.found(1 << 40, TMP=self.other), {})

    def test_place_that_is_small_closed_absent_or_noexec_is_not_taken(self):
        elsewhere = {"TMPDIR": tempfile.gettempdir()}
        self.assertEqual(self.found(1 << 40), elsewhere)
        self.assertEqual(self.found(closed=[self.place]), elsewhere)
        self.assertEqual(self.found(place=str(self.folder / "absent")), elsewhere)
        self.assertEqual(self.found(noexec=[self.place]), elsewhere)
        self.assertEqual(self.found(noexec=[self.other], TMPDIR=self.other), elsewhere)

    def test_cache_is_taken_where_all_temporary_folders_are_noexec(self):
        folders = [self.place, tempfile.gettempdir(), "/tmp", "/var/tmp"]
        self.assertEqual(self.found(noexec=folders), {"TMPDIR": self.cache})
        with self.assertRaisesRegex(Failure, "no place for its memory: .*TMPDIR=FOLDER"):
            self.found(noexec=[*folders, self.cache])
