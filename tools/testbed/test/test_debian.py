# SPDX-License-Identifier: GPL-2.0
"""Package lists that cannot be read: the next suite is read, and apt's error is reported."""

from unittest import mock

from testbed import debian
from testbed.common import Unavailable
from testbed.test import InFolder

# As apt-get writes it where a mirror has not finished to copy an index.
UPDATE_LOG = """Get:1 http://archive.invalid/debian trixie InRelease [140 kB]
Err:2 http://archive.invalid/debian trixie/main riscv64 Packages
  File has unexpected size (9385284 != 9387120). Mirror sync in progress? [IP: 203.0.113.80 80]
Reading package lists...
E: Failed to fetch Packages.xz  File has unexpected size. Mirror sync in progress? [IP: 203.0.113.80 80]
   Hashes of expected file:
E: Some index files failed to download. They have been ignored, or old ones used instead.
"""
REASON = "Failed to fetch Packages.xz  File has unexpected size. Mirror sync in progress?"


class Offering(InFolder):
    def setUp(self):
        super().setUp()
        self.offers = {}
        for patch in (mock.patch.object(debian, "cache_folder", lambda _: self.folder),
                      mock.patch.object(debian, "require_apt"),
                      mock.patch.object(debian, "say"),
                      mock.patch.object(debian.PrivateApt, "update", self.update()),
                      mock.patch.object(debian.PrivateApt, "names", self.names())):
            patch.start()
            self.addCleanup(patch.stop)

    def update(self):
        """A list that offers None cannot be read."""
        def update(apt):
            apt.root.mkdir(parents=True, exist_ok=True)
            apt.update_log.write_text(UPDATE_LOG)
            return self.offers[apt.lines[0]] is not None
        return update

    def names(self):
        return lambda apt, pattern: [name for name in self.offers[apt.lines[0]]
                                     if name.startswith(pattern)]

    def refusal(self):
        with self.assertRaises(Unavailable) as raised:
            debian.apt_offering("linux", *([line] for line in self.offers))
        return str(raised.exception)

    def test_a_suite_that_cannot_be_read_is_passed_over(self):
        self.offers = {"old": None, "new": ["linux-7.2"]}
        apt, names = debian.apt_offering("linux", ["old"], ["new"])
        self.assertEqual((apt.lines, names), (["new"], ["linux-7.2"]))

    def test_a_suite_without_the_package_is_passed_over(self):
        self.offers = {"old": ["busybox"], "new": ["linux-7.2"]}
        self.assertEqual(debian.apt_offering("linux", ["old"], ["new"])[1], ["linux-7.2"])

    def test_apts_error_is_reported_once(self):
        self.offers = {"old": None, "new": None}
        self.assertEqual(self.refusal(), f"the Debian archive cannot be read: {REASON}")

    def test_what_could_be_read_and_what_not_are_both_reported(self):
        self.offers = {"old": None, "new": ["busybox"]}
        self.assertEqual(self.refusal(), "no package named like linux in the Debian archive, "
                                         f"and some suites cannot be read: {REASON}")

    def test_without_any_list_the_source_is_missing(self):
        self.assertEqual(self.refusal(), "apt has no Debian source")
