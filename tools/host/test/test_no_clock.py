# SPDX-License-Identifier: GPL-2.0
"""No verdict of a host program depends on a clock."""

import re
import unittest

from base.common import PROJECT

FOLDERS = ("tools/host/programs", "tools/host/explore", "tools/host/shim/fiber",
           "tools/host/kunit")
CLOCKS = re.compile(r"\b(alarm|setitimer|setrlimit|timer_create|timerfd_create|gettimeofday|"
                    r"clock_gettime|getrusage|times|time|clock)\(")
# To end what makes no step at all; to show how far a search is, and to say how long it took; to go
# on for as long as the command says; to measure, without a verdict.
ALLOWED = {"test.c": {"setitimer"}, "frame.c": {"setitimer"}, "search.c": {"setitimer"},
           "main.c": {"clock"},
           "mixtures.c": {"time"}, "mixtures_run.c": {"setitimer"}, "count.c": {"clock_gettime"}}


class NoClock(unittest.TestCase):
    def test_host_programs_read_no_clock_of_the_machine(self):
        for folder in FOLDERS:
            for path in sorted((PROJECT / folder).glob("*.[ch]")):
                used = set(CLOCKS.findall(path.read_text()))
                self.assertEqual(used, ALLOWED.get(path.name, set()), path)

    def test_the_shell_that_runs_them_sets_no_limit(self):
        for name in ("run", "Makefile"):
            text = (PROJECT / FOLDERS[0] / name).read_text()
            self.assertFalse(re.findall(r"\b(?:timeout|prlimit|ulimit)\b", text), name)
