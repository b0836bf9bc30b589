# SPDX-License-Identifier: GPL-2.0
"""How rules of the hybrid's policy are taken out; that each is noticed is shown by the step
"simulation" of tools/check.
"""

import re
import subprocess
import unittest

from base.common import PROJECT, Failure
from host.simulate import program, without
from host.simulate.policy_rules import PART_OF, POINTS, RULES, Rule

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


DEFINE = re.compile(r"^#define (\w+)(?:\(.*?\))?\s+((?:.*\\\n)*.*)$", re.MULTILINE)


class Policy(unittest.TestCase):
    """nbqlock/spin_policy.h: each of its values is a rule's, and a choice of the explorer's."""

    def setUp(self):
        text = (PROJECT / "nbqlock/spin_policy.h").read_text()
        self.values = dict(DEFINE.findall(
            re.search(r"^#ifndef NBQ_SPIN_POLICY\n(.*?)^#endif", text, re.M | re.S)[1]))
        self.assertIn("POLLS_BEFORE_QUEUE", self.values["HAS_POLLED"])

    def test_each_value_is_part_of_a_rule(self):
        changes = (without.CHANGE.fullmatch(change) for rule in RULES for change in rule.changes)
        named = {change["name"] for change in changes if change and change["value"]}
        self.assertEqual(named | PART_OF.keys(), set(self.values))
        self.assertEqual(set(filter(None, PART_OF.values())) - {rule.name for rule in RULES}, set())

    def test_the_explorer_has_each_value_or_what_is_made_of_it(self):
        text = (PROJECT / "tools/host/explore/spin_policy.h").read_text()
        chosen = {name for name, _ in DEFINE.findall(text)}
        lacking = {name for name in self.values.keys() - chosen
                   if not any(re.search(rf"\b{name}\b", self.values[other])
                              for other in self.values.keys() & chosen)}
        self.assertEqual(lacking, set())


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
