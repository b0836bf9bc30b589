# SPDX-License-Identifier: GPL-2.0
"""The version of the project: where it is looked for, and what disagrees."""

from base.test import InFolder
from base.versions import disagreements, set_version, stated, version

FILES = {
    "CHANGELOG.md": "# Changelog\n\n## Interface\n\n## 1.2.0, unreleased\n\n## 1.1.0\n",
    "README.md": "Version 1.2.0 ([changes](CHANGELOG.md))\n",
    "nbqlock/main.c": 'MODULE_VERSION("1.2.0");\n',
    "nbqlock/stress/main.c": 'MODULE_VERSION("1.2.0");\n',
    "dkms.conf": '# /usr/src/nbqlock-1.2.0, then nbqlock/1.2.0.\nPACKAGE_VERSION="1.2.0"\n',
    "debian/changelog": "nbqlock (1.2.0-1~bpo12+1) unstable; urgency=low\n\n"
                        "nbqlock (1.1.0-1) unstable; urgency=low\n",
    "tools/ship/packages/recipes/nbqlock.spec": "Name:           nbqlock\nVersion:        1.2.0\n",
    "tools/ship/packages/recipes/PKGBUILD": "pkgbase=nbqlock\npkgver=1.2.0\n",
}


class VersionsTest(InFolder):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            self.write(name, text)

    def test_one_version_everywhere(self):
        self.assertEqual({version for _, version in stated(self.folder)}, {"1.2.0"})
        self.assertEqual(len(stated(self.folder)), 10)
        self.assertEqual(disagreements(self.folder), "")
        self.assertEqual(version(self.folder), "1.2.0")

    def test_each_place_that_differs_is_named(self):
        for name, text in FILES.items():
            self.write(name, text.replace("1.2.0", "1.3.0"))
            self.assertIn(f"{name}: 1.3.0", disagreements(self.folder))
            self.write(name, text)

    def test_a_place_without_a_version(self):
        self.write("dkms.conf", "")
        self.assertIn("dkms.conf: None", disagreements(self.folder))

    def test_a_copy_gets_another_version_everywhere(self):
        set_version(self.folder, "1.2.1")
        self.assertEqual({version for _, version in stated(self.folder)}, {"1.2.1"})

    def test_there_may_be_no_package(self):
        (self.folder / "debian/changelog").unlink()
        self.assertEqual(disagreements(self.folder), "")
