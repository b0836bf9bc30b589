# SPDX-License-Identifier: GPL-2.0
"""The ranges of parameters are those of the driver, and what is said of them is of use."""

from pathlib import Path
import re
import subprocess
import tempfile
import unittest

from base.common import PROJECT
from base.parameter_list import KNOWN, LIST, PARAMETERS, parameters_of
from base.parameters import DRIVER, MEASURED, RANGES, SIMULATION, good_value, takes

# What the compiler makes of the rows: a line for each, with its words.
PROGRAM = r"""
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
%s
#define BIT(number) (1U << (number))
#define STRESS_WORDS(...) ((const char * const []){ __VA_ARGS__, NULL })
struct param {
	const char *folder, *name, *kind, *if_not;
	unsigned long long initial, min, max;
	bool takes_max;
	const char * const *words;
	int is_possible;
};
enum { hotplug_is_possible, own_clock_is_possible };
#define STRESS_PARAM(_folder, _name, _kind, _initial, ...) \
	{ #_folder, #_name, #_kind, .initial = (_initial), __VA_ARGS__ },
static const struct param rows[] = {
#include "parameters_list.h"
};
int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct param *row = &rows[i];

		printf("%%s %%s %%s %%llu %%llu %%llu %%d", row->folder, row->name, row->kind,
		       row->initial, row->min, row->max, row->takes_max);
		for (size_t k = 0; row->words && row->words[k]; k++)
			printf(" %%s", row->words[k]);
		putchar('\n');
	}
}
"""


def compiled():
    stress = PROJECT / "nbqlock/stress"
    enums = re.findall(r"^enum \w+ \{\n.*?^\};", "".join(
        path.read_text() for path in (stress / "driver.h", stress.with_suffix(".h"))),
        re.MULTILINE | re.DOTALL)
    known = [f"#define {name} {value}ULL" for name, value in KNOWN.items()]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.c"
        source.write_text(PROGRAM % "\n".join(known + enums))
        subprocess.run(["gcc", f"-I{stress}", "-o", source.with_suffix(""), source], check=True)
        return subprocess.run([source.with_suffix("")], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()


def as_compiled(row):
    """The same line, of what Python reads."""
    initial = row.initial or 0
    if row.words:
        initial = row.words.index(initial)
        initial += row.kind == "contexts"	# a set, of its first
    return " ".join(str(each) for each in (row.folder, row.name, row.kind, initial, row.least,
                                           row.most or 0, int(row.takes_max), *row.words))


class Parameters(unittest.TestCase):
    def test_ranges_are_those_of_the_driver(self):
        self.assertGreater(len(PARAMETERS), 25)
        self.assertEqual([as_compiled(row) for row in PARAMETERS], compiled())
        self.assertEqual(RANGES["interval_ns"], (10000, 10 ** 9))

    def test_each_row_has_a_comment_or_shares_that_above_it(self):
        rows = {row.name: row.help for row in PARAMETERS}
        self.assertEqual(rows["cs_ns"], rows["ncs_ns"])
        self.assertTrue(rows["lock"].startswith("The lock type under test"))
        self.assertTrue(rows["log_ms"].endswith("never."))
        # That of a macro is none.
        text = LIST.replace("/* The interval at which a line", "#define X 1\n/* X")
        self.assertTrue(parameters_of(text)[-1].help.startswith("X in the kernel"))

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
        self.assertEqual(takes("contexts", DRIVER), "some of task, softirq, hardirq, nmi")
        self.assertEqual(takes("own_clock", DRIVER), "0 or 1")
        self.assertEqual(takes("patience_ns", SIMULATION), "N, max, N-N, N*cpus")
