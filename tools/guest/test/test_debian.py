# SPDX-License-Identifier: GPL-2.0
"""Package lists that cannot be read: the next suite is read, and apt's error is reported."""

from unittest import mock

from base.common import PROJECT, Unavailable
from base.test import InFolder
from guest import debian, source

# As apt-get writes it where a mirror has not finished to copy an index.
UPDATE_LOG = """Get:1 http://archive.invalid/debian trixie InRelease [140 kB]
Err:2 http://archive.invalid/debian trixie/main riscv64 Packages
  File has unexpected size (9385284 != 9387120). Mirror sync in progress? [IP: 203.0.113.80 80]
Reading package lists...
E: Failed to fetch Packages.xz  File has unexpected size. Mirror sync in progress? [IP: 203.0.113.80 80]
   Hashes of expected file:
E: Some index files failed to download. They have been ignored, or old ones used instead.
"""
NO_NETWORK = """Err:1 http://archive.invalid/debian trixie InRelease
  Temporary failure resolving 'archive.invalid'
E: Failed to fetch http://archive.invalid/debian/dists/trixie/InRelease  \
Temporary failure resolving 'archive.invalid'
E: Some index files failed to download. They have been ignored, or old ones used instead.
"""
REASON = "Failed to fetch Packages.xz  File has unexpected size. Mirror sync in progress?"


class Offering(InFolder):
    def setUp(self):
        super().setUp()
        # A list that offers None cannot be read.
        def update(apt):
            apt.root.mkdir(parents=True, exist_ok=True)
            apt.update_log.write_text(self.log)
            self.asked.append(apt.lines[0])
            return self.offers[apt.lines[0]] is not None

        def names(apt, pattern):
            return [name for name in self.offers[apt.lines[0]] if name.startswith(pattern)]

        self.patch(mock.patch.object(debian, "cache_folder", lambda _: self.folder),
                   mock.patch.object(debian, "require_apt"), mock.patch.object(debian, "say"),
                   mock.patch.object(debian.PrivateApt, "update", update),
                   mock.patch.object(debian.PrivateApt, "names", names),
                   mock.patch.object(debian.NoNetwork, "found", None))
        self.log, self.asked = UPDATE_LOG, []

    def test_a_suite_that_cannot_be_read_or_lacks_the_package_is_passed_over(self):
        for old in (None, ["busybox"]):
            self.offers = {"old": old, "new": ["linux-7.2"]}
            apt, names = debian.apt_offering("linux", ["old"], ["new"])
            self.assertEqual((apt.lines, names), (["new"], ["linux-7.2"]))

    def test_it_is_said_once_why_no_list_has_the_package(self):
        for offers, why in (
                ({"old": None, "new": None}, f"the Debian archive cannot be read: {REASON}"),
                ({"old": None, "new": ["busybox"]}, "no package named like linux in the Debian "
                 f"archive, and some suites cannot be read: {REASON}"),
                ({}, "apt has no Debian source")):
            self.offers = offers
            with self.assertRaises(Unavailable) as raised:
                debian.apt_offering("linux", *([line] for line in offers))
            self.assertEqual(str(raised.exception), why)

    def test_without_a_network_nothing_more_is_tried_and_it_is_said_in_a_line(self):
        self.offers, self.log = {"old": None, "new": ["linux-7.2"]}, NO_NETWORK
        for asked in (["old"], ["old"]):
            with self.assertRaises(debian.NoNetwork) as raised:
                debian.apt_offering("linux", ["old"], ["new"])
            self.assertEqual(self.asked, asked)
            self.assertRegex(str(raised.exception), "^no network: .* resolving 'archive.invalid'$")
        with mock.patch.object(source, "kept_in", return_value=None), \
                mock.patch.object(source, "cache_folder", lambda _: self.folder), \
                mock.patch.object(source, "fetched_source",
                                  side_effect=raised.exception) as fetched, \
                self.assertRaises(debian.NoNetwork):
            source.debians_source()
        self.assertEqual(fetched.call_count, 1)

    def test_patterns_are_those_of_setup(self):
        text = (PROJECT / "tools/setup").read_text().replace("\\\n", "")
        self.assertIn(f'unreachable="({debian.UNREACHABLE.pattern}).*"', text)
