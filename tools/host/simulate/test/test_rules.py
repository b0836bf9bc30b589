# SPDX-License-Identifier: GPL-2.0
"""How rules of the hybrid's policy are taken out; that each is noticed is shown by the step
"simulation" of tools/check.
"""

import subprocess
import unittest

from base.common import Failure
from host.simulate import program, without
from host.simulate.policy_rules import POINTS, RULES, Rule

TEXT = """#define MOST 3U
#define IS_MANY(n) \\
	((n) > MOST)

static bool is_even(int n)
{
	bool even = true;

	/* even = ; */
	if (n & 1)
		even = false;
	else
		even |= n;
	return even;
}
"""


class Changes(unittest.TestCase):
    def changed(self, change):
        return without.changed(TEXT, 7, change)

    def test_a_macro_gets_another_value(self):
        self.assertIn("#define MOST (is_out(7) ? (1U) : (3U))\n", self.changed("MOST = 1U"))
        self.assertIn("#define IS_MANY(n) (is_out(7) ? (true) : (\\\n\t((n) > MOST)))\n",
                      self.changed("IS_MANY = true"))

    def test_a_function_begins_with_other_statements(self):
        self.assertIn("{\nif (is_out(7)) { return true; }\n\tbool even",
                      self.changed("is_even: return true;"))

    def test_statements_are_left_out_but_not_declarations_and_comments(self):
        found = self.changed("is_even - even")
        self.assertEqual(found.count("is_out(7)"), 2)
        self.assertIn("{ if (!is_out(7)) { even |= n; } }\n\treturn", found)

    def test_what_has_no_place_is_named(self):
        for change in ("MOSTLY = 1U", "is_odd: return true;", "is_even - odd"):
            self.assertIsNone(self.changed(change))
        with self.assertRaisesRegex(Failure, "^mine: 0 files, not 1, have a place for"):
            without.texts_without([Rule("mine", ("MOSTLY = 1U",), "")], {"a.h": TEXT})


class Table(unittest.TestCase):
    def test_names_differ(self):
        self.assertEqual(len({rule.name for rule in RULES}), len(RULES))

    def test_each_experiment_has_a_point_and_a_figure(self):
        for noticed in filter(None, (rule.noticed for rule in RULES)):
            point, _, figure, _, _ = without.NOTICED.fullmatch(noticed).groups()
            self.assertIn(point, POINTS)
            self.assertIn(figure, without.FIGURES)

    def test_an_unknown_rule_is_refused(self):
        done = subprocess.run([program.HERE / "rules", "--only", "no such"], text=True,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (2, 'nbqlock: no rule has "no such" in its name\n'))
