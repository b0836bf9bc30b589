# SPDX-License-Identifier: GPL-2.0
"""The packages: which files a tree without git has, folders that may be emptied, names."""

import unittest
from unittest import mock

from base.common import Failure
from base.test import InFolder
from guest.systems import KEPT, module_name
from ship.packages import build
from ship.packages.steps import unlike
from ship.packages.system_steps import built_by_dkms, next_version


class SourcesTest(InFolder):
    def test_without_git_what_a_build_leaves_is_no_source(self):
        sources = ("Kbuild", "nbqlock/main.c", "tools/build.py", "Documentation/model.rst")
        for name in (*sources, "build/x.c", "nbqlock/main.o", "nbqlock/nbqlock.mod.c",
                     "nbqlock/nbqlock.ko", "Module.symvers", "tools/__pycache__/x.pyc",
                     "nbqlock/.main.o.cmd"):
            self.write(name)
        with mock.patch.object(build, "PROJECT", self.folder), \
                mock.patch.object(build, "output_of", return_value=None):
            self.assertEqual(build.project_files(), sorted(sources))


class EmptyTest(InFolder):
    def test_a_folder_with_other_files_is_left_alone(self):
        self.write("thesis")
        with self.assertRaisesRegex(Failure, "holds other files"):
            build.empty(self.folder)
        self.assertTrue((self.folder / "thesis").exists())

    def test_a_folder_of_packages_is_emptied(self):
        build.empty(self.folder / "deb")
        self.write("deb/old.deb")
        build.empty(self.folder / "deb")
        self.assertFalse((self.folder / "deb/old.deb").exists())


class NamesTest(unittest.TestCase):
    def test_files_that_lack_and_files_too_many(self):
        self.assertEqual(unlike(["/a/.+", "/b"], ["/a/x", "/b"]), [])
        self.assertEqual(unlike(["/a/.+", "/b"], ["/b", "/c"]),
                         ["no file like /a/.+", "not expected: /c"])

    def test_dkms_has_punctuated_its_status_in_two_ways(self):
        pattern = built_by_dkms("6.1.0-56-amd64", "nbqlock", "0.1.0")
        for line in ("nbqlock/0.1.0, 6.1.0-56-amd64, x86_64: installed",
                     "nbqlock, 0.1.0, 6.1.0-56-amd64, x86_64: installed"):
            self.assertRegex(line, pattern)
        self.assertNotRegex("nbqlock/0.1.0, 6.1.0-56-amd64, x86_64: built", pattern)

    def test_the_next_version_is_higher(self):
        with mock.patch("ship.packages.system_steps.version", return_value="1.2.9"):
            self.assertEqual(next_version(), "1.2.10")

    def test_modules_by_name(self):
        self.assertEqual(module_name("kernel/drivers/block/virtio-blk.ko.xz"), "virtio_blk")

    def test_what_a_package_leaves_in_lib_is_compared(self):
        for path in ("/var/lib/dpkg/info/x.list", "/tmp/x", "/var/lib/dkms/mok.key"):
            self.assertRegex(path, KEPT)
        for path in ("/var/lib/dkms/nbqlock", "/usr/src/nbqlock-1.0", "/etc/x", "/srv"):
            self.assertIsNone(KEPT.fullmatch(path))
