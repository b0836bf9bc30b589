# SPDX-License-Identifier: GPL-2.0
"""The ranges of parameters are those of the driver, and what is said of them is of use."""

import re
import unittest

from base.common import PROJECT
from base.parameters import DRIVER, MEASURED, RANGES, SIMULATION, good_value, takes

STRESS = PROJECT / "nbqlock/stress"
NUMBER = re.compile(r"^\t(?:NUMBER\(\w+, (\w+), (\w+), (\w+)\)"
                    r"|PARAM\(\w+, (\w+), number, \.max = (\w+))", re.MULTILINE)
DEFINE = re.compile(r"^#define (\w+)\s+(\(.*\)|\w+)(?:\s*/\*.*)?$", re.MULTILINE)
KNOWN = {"NSEC_PER_USEC": 1000, "NSEC_PER_MSEC": 10 ** 6, "MSEC_PER_SEC": 1000,
         "U32_MAX": 2 ** 32 - 1, "U64_MAX": 2 ** 64 - 1, "KTIME_MAX": None,
         "STRESS_CONTEXTS": 4}


def driver_ranges():
    """{parameter: (least, most)} of numbers that have a most."""
    text = "".join(path.read_text()
                   for path in (STRESS.with_suffix(".h"), *sorted(STRESS.glob("*.[ch]"))))
    values = dict(KNOWN)
    for name, value in DEFINE.findall(text):
        value = re.sub(r"\b(\d+)U\b", r"\1", value)
        if re.fullmatch(r"[\w()*/ ]+", value) and \
                set(re.findall(r"[A-Za-z_]\w*", value)) <= values.keys():
            values[name] = eval(value, dict(values))	# pylint: disable=eval-used
    found = {}
    for name, low, high, other, most in NUMBER.findall((STRESS / "parameters.c").read_text()):
        found[name or other] = [values.get(bound, bound) for bound in (low or "0", high or most)]
    return {name: tuple(int(bound) for bound in bounds) for name, bounds in found.items()
            if None not in bounds}


class Parameters(unittest.TestCase):
    def test_ranges_are_those_of_the_driver(self):
        ours = {name: bounds for name, bounds in RANGES.items() if name in DRIVER}
        theirs = {name: bounds for name, bounds in driver_ranges().items()
                  if not re.fullmatch(r"\[.*\]", DRIVER[name])}
        self.assertGreater(len(theirs), 10)
        self.assertEqual(ours, theirs)

    def test_what_is_beyond_a_range_is_refused(self):
        for name, text, good in (("cs_ns", "10000000", True), ("cs_ns", "10000001", False),
                                 ("threads", "0", False), ("threads", "4096", True),
                                 ("host_busy", "17", False), ("patience_ns", "max", True)):
            self.assertEqual(good_value(name, text, MEASURED), good, (name, text))
        # The simulation has other limits.
        self.assertTrue(good_value("cs_ns", "10000001", SIMULATION))
        self.assertFalse(good_value("impatient_permille", "1001", SIMULATION))

    def test_what_each_takes_is_in_words(self):
        for parameters in (MEASURED, SIMULATION):
            for name in parameters:
                self.assertNotRegex(takes(name, parameters), r"[\\\[(]", name)
        self.assertEqual(takes("retry", DRIVER), "give_up, at_once, back_off")
        self.assertEqual(takes("patience_ns", SIMULATION), "N, max, N-N, N*cpus")
