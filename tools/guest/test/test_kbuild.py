# SPDX-License-Identifier: GPL-2.0
"""Programs of a newer release are started with its libraries; options are taken back."""

import shutil
import subprocess
import unittest
from unittest import mock

from base.test import InFolder
from guest import kbuild
from guest.kernels import NEWEST, STOCK, best_image, image_pattern

CONFIG = "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=y\nCONFIG_OTHER=y\n"


class OwnLibraries:
    """An apt that unpacks this system's loader."""

    def __init__(self):
        self.unpacked = []

    def unpack(self, packages, folder):
        self.unpacked += packages
        libraries = folder / "usr/lib/x86_64-linux-gnu"
        libraries.mkdir(parents=True)
        loader = libraries / "ld-linux-x86-64.so.2"
        loader.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
        loader.chmod(0o755)


class KbuildTest(InFolder):
    def setUp(self):
        super().setUp()
        self.scripts = self.folder / "usr/lib/linux-kbuild-9.9/scripts"
        self.scripts.mkdir(parents=True)
        shutil.copy("/bin/echo", self.scripts / "echo")
        (self.scripts / "script.sh").write_text("#!/bin/sh\n")

    def mend(self, lacks):
        apt = OwnLibraries()
        with mock.patch.object(kbuild, "lacks_libraries", return_value=lacks):
            kbuild.mend_programs(apt, self.folder)
        return apt.unpacked

    def test_programs_that_run_here_stay(self):
        self.assertEqual(self.mend(False), [])
        self.assertEqual(sorted(path.name for path in self.scripts.iterdir()),
                         ["checker-valid.sh", "echo", "script.sh"])

    def test_others_are_started_by_their_own_loader(self):
        self.assertIn("libc6", self.mend(True))
        self.assertEqual(sorted(path.name for path in self.scripts.iterdir()),
                         ["checker-valid.sh", "echo", "echo.program", "script.sh"])
        self.assertEqual(subprocess.run([self.scripts / "echo", "a b"], check=True, text=True,
                                        stdout=subprocess.PIPE).stdout, "a b\n")

    def test_options_that_the_compiler_does_not_know_are_taken_back(self):
        for said, config, wanted in (
                ("", CONFIG, []), (None, CONFIG, ["CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT="]),
                (None, "CONFIG_OTHER=y\n", [])):
            with mock.patch.object(kbuild, "output_of", return_value=said):
                self.assertEqual(kbuild.options_to_take_back(config), wanted)

    def test_another_pahole_passes(self):
        self.assertEqual(kbuild.same_pahole("CONFIG_PAHOLE_VERSION=130\n"),
                         ["PAHOLE_VERSION=130"])
        self.assertEqual(kbuild.same_pahole(CONFIG), [])


class NewestTest(unittest.TestCase):
    def test_the_newest_is_of_the_highest_version(self):
        names = [f"linux-image-{version}+deb13{flavour}-amd64"
                 for version in ("7.2.12", "7.10.1", "7.3.4") for flavour in STOCK]
        self.assertEqual(best_image(NEWEST, STOCK, [*names, "linux-image-amd64"]),
                         "linux-image-7.10.1+deb13-cloud-amd64")

    def test_a_series_is_no_other(self):
        self.assertRegex("linux-image-6.1.0-50-cloud-amd64", image_pattern("6.1", "-cloud"))
        self.assertNotRegex("linux-image-6.12.95+deb12-cloud-amd64",
                            image_pattern("6.1", "-cloud"))
