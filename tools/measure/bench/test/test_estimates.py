# SPDX-License-Identifier: GPL-2.0
"""What is said of times, in pages and before the work: within a factor of two of each other."""

import re
import unittest

from base.common import PROJECT
from host.parts import PARTS
from measure.bench import cli_bench
from measure.test.samples import options_of

# Rows of tables, of pages in Markdown and in reStructuredText.
ROW = re.compile(r"`+tools/nbq bench ([\w -]+)`+ *\|? +(\d+) (minute|second)s?\b")
DURATION = re.compile(r"^- .*\((?:(\d+) min )?(\d+) s\)$", re.MULTILINE)
PAGES = ("README.md", "Documentation/papers.rst")


def near(one, other):
    return one <= 2 * other and other <= 2 * one


class Estimates(unittest.TestCase):
    def test_pages_say_of_experiments_what_bench_says(self):
        rows = [row for page in PAGES for row in ROW.findall((PROJECT / page).read_text())]
        self.assertGreater(len(rows), 5)
        for names, number, unit in rows:
            plans = cli_bench.chosen(options_of(cli_bench, *names.split()))
            least = 60 if unit == "minute" else 1
            seconds = max(least, sum(plan.seconds(2) for plan in plans))
            self.assertTrue(near(seconds, least * int(number)),
                            f"{names}: {seconds:.0f} s, and {number} {unit}s on the page")

    def test_parts_of_a_verification_take_what_the_last_one_took(self):
        took = [60 * int(minutes or 0) + int(seconds) for minutes, seconds in DURATION.findall(
            (PROJECT / "Documentation/reference/verification.rst").read_text())]
        self.assertEqual(len(took), len(PARTS))
        for part, seconds in zip(PARTS.values(), took):
            self.assertTrue(near(60 * part.minutes, seconds), part.name)

    def test_checks_take_what_the_readme_says(self):
        minutes, = re.findall(r"^check +\| +(\d+) +\|", (PROJECT / "tools/setup").read_text(),
                              re.MULTILINE)
        self.assertRegex((PROJECT / "README.md").read_text(),
                         rf"`make check` .*\b{minutes} minutes")
