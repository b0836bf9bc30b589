# SPDX-License-Identifier: GPL-2.0
"""What names every lock type, or every kernel, by hand has all of its list."""

import re
import unittest

from base.common import PROJECT
from base.lock_types import KERNEL, NBQ, OURS, PAPERS, QUEUES, WORDS
from base.testbeds import DEBIAN
from host.report import NAMES
from host.simulate.steps import LIMITED, SHARES
from measure.bench.figure import STYLES


def words(path, pattern=r"\w+"):
    return set(re.findall(pattern, (PROJECT / path).read_text(encoding="utf-8")))


class Lists(unittest.TestCase):
    def has_all(self, path, wanted, pattern=r"\w+"):
        self.assertEqual(set(wanted) - words(path, pattern), set(), path)

    def test_lock_types_of_the_driver_are_read(self):
        self.assertLessEqual({"clh_nb", "nbq_spin"}, set(OURS))
        self.assertLessEqual({"raw_spinlock", "rqspinlock"}, set(KERNEL))
        self.assertLessEqual({"tas_b", "mcs_nb_paper"}, set(PAPERS))
        text = (PROJECT / "nbqlock/stress/lock_types_list.h").read_text()
        self.assertEqual(len(re.findall(r"^STRESS_\w+\(", text, re.MULTILINE)),
                         len(OURS + KERNEL + PAPERS))

    def test_kunit_runs_for_each_lock_of_nbqlock(self):
        self.assertEqual(words("kunit/queue_types_list.h", r"\nNBQ_QUEUE_TYPE\((\w+)\)"),
                         set(QUEUES))
        self.has_all("kunit/Kbuild", NBQ, r"\b(\w+)_type\.o")

    def test_each_lock_type_is_counted_limited_and_drawn(self):
        self.has_all("tools/host/programs/count.c", OURS + PAPERS, r"\.ops = &stress_(\w+)")
        self.has_all("tools/host/programs/type.h", (f"nbq_{word}" for word in NBQ),
                     r"define NBQ_TYPE\s+(\w+)")
        self.assertEqual(set(OURS) - LIMITED.keys(), set())
        self.assertEqual({name for name in OURS if WORDS[name] in QUEUES} - SHARES.keys(), set())
        self.assertEqual(set(NBQ) - NAMES.keys(), set())
        self.assertEqual({*OURS, *KERNEL, *PAPERS} - STYLES.keys(), set())

    def test_each_lock_type_has_its_texts(self):
        self.has_all("Documentation/stress.rst", OURS + KERNEL + PAPERS)
        for page in ("Documentation/api.rst", "README.md"):
            self.has_all(page, (f"nbq_{word}" for word in NBQ))

    def test_each_series_of_debian_is_kept_and_named(self):
        self.has_all("tools/setup", DEBIAN, r"\ndebian/([\d.]+)/\*-cloud")
        self.has_all("Documentation/testing.rst", (f"debian-{series}" for series in DEBIAN),
                     r"\n(debian-[\d.]+)")
        limits = re.search(r"^- Tested with Linux (.*?)$", (PROJECT / "README.md").read_text(),
                           re.MULTILINE)[1]
        self.assertEqual(set(DEBIAN) - set(re.findall(r"\d+\.\d+", limits)), set())
        tested = re.search(r"tested with the stock\n(.*?)\.\n",
                           (PROJECT / "dkms.conf").read_text(), re.DOTALL)[1]
        self.assertEqual([series for series in DEBIAN if f"({series})" not in tested], [])
