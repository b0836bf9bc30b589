# SPDX-License-Identifier: GPL-2.0
"""Changes of a text, C items, macros that are written out."""

import unittest

from testbed.common import Trouble
from upstream.text import Macro, after, aligned, before, edited, gone, instead, items

CODE = """\
/* The first. */
int first(int x)
{
	return x ? f("{") : 0;	/* a brace: { */
}
EXPORT_SYMBOL_GPL(first);

/*
 * Of two lines, and
 * unbalanced: (
 */
static const struct pair {
	int a;
} pairs[] = {
	{ 1 },
};

#define MANY(x)		\\
	do_this(x);	\\
	do_that(x)

int last(void);
"""
MACRO = """\
#define TYPE(NAME, X, FLAGS)				\\
static struct nbq_##X NAME##_lock;			\\
							\\
static int NAME##_take(void)				\\
{							\\
	init_##X(&NAME##_lock, FLAGS);			\\
	return call(#NAME);				\\
}

#define init_spin(lock, flags)	nbq_spin_init(lock, flags)

TYPE(a, spin, 0);
"""


class Edits(unittest.TestCase):
    def test_lines_stand_at_their_place(self):
        text = edited("x", "a\nb\nc\n", [before("^b", "1\n"), after(r"^b\n", "2\n"),
                                         instead("^(c)$", r"\1\1"), gone(r"^a\n")])
        self.assertEqual(text, "1\nb\n2\ncc\n")

    def test_place_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(Trouble, "Makefile of Linux 9 has 0 places, not 1, like"):
            edited("Makefile of Linux 9", "a\n", [before("^b", "1\n")])

    def test_place_that_is_there_twice_is_refused(self):
        with self.assertRaisesRegex(Trouble, "has 2 places, not 1"):
            edited("x", "b\nb\n", [before("^b", "1\n")])


class Items(unittest.TestCase):
    def test_function_goes_with_its_comment_and_its_export(self):
        text = edited("x", CODE, items("int first("))
        self.assertTrue(text.startswith("/*\n * Of two lines"))

    def test_initialiser_goes_with_its_comment(self):
        text = edited("x", CODE, items("static const struct pair {"))
        self.assertIn("EXPORT_SYMBOL_GPL(first);\n\n#define MANY", text)

    def test_macro_goes_to_its_last_line(self):
        text = edited("x", CODE, items("#define MANY("))
        self.assertIn("};\n\nint last(void);\n", text)

    def test_item_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(Trouble, "has 0 items, not 1, that begin with \"int other"):
            edited("x", CODE, items("int other("))


class Macros(unittest.TestCase):
    def test_macro_is_written_out_as_the_preprocessor_does(self):
        text = Macro(MACRO, "TYPE").expand(("a", "spin", "0"))
        self.assertEqual(text, "static struct nbq_spin a_lock;\n\nstatic int a_take(void)\n{\n"
                               "\tinit_spin(&a_lock, 0);\n\treturn call(\"a\");\n}")

    def test_calls_in_it_are_written_out_and_its_definition_is_left(self):
        text = Macro(MACRO, "init_spin").written_out(MACRO + "\tinit_spin(&a_lock, 0);\n")
        self.assertIn("\tnbq_spin_init(&a_lock, 0);\n", text)
        self.assertIn("#define init_spin(lock, flags)", text)

    def test_macro_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(Trouble, "no macro OTHER"):
            Macro(MACRO, "OTHER")


class Aligned(unittest.TestCase):
    def test_line_goes_on_below_what_it_is_within(self):
        self.assertEqual(aligned("\tf(a,\n\t\t\t  b);\n"), "\tf(a,\n\t  b);\n")

    def test_long_line_is_broken_behind_a_comma(self):
        line = "\tfunction(" + ", ".join("abcdefgh" for _ in range(12)) + ");\n"
        made = aligned(line).splitlines()
        self.assertEqual(" ".join(part.strip() for part in made), line.strip())
        self.assertTrue(all(len(part.expandtabs(8)) <= 100 for part in made))
