# SPDX-License-Identifier: GPL-2.0
"""Which mistakes each rule makes of a small text."""

import unittest

from host.mutate.mutant import mutants_of
from host.mutate.rules import RULES

# rule: (the body of a function, the bodies with each mistake of the rule)
MADE = {
    "order": (
        ("return xchg(&lock->tail, node);", ["return xchg_acquire(&lock->tail, node);",
                                             "return xchg_release(&lock->tail, node);"]),
        ("try_cmpxchg_acquire(&lock->state, &old, 1);",
         ["try_cmpxchg_relaxed(&lock->state, &old, 1);"]),
        ("x = smp_load_acquire(&node->prev);", ["x = READ_ONCE(node->prev);"]),
        ("smp_store_release(link, node);", ["WRITE_ONCE(*link, node);"]),
        ("smp_mb();", ["(void)0;"]),
        # What has no order has none to lose.
        ("x = READ_ONCE(y); xchg_relaxed(&y, 1);", [])),
    "store": (
        *((store, [";"]) for store in (
            "node->prev = NULL;", "WRITE_ONCE(node->prev, x);", "deadline->polls--;",
            "pool->events.timeouts++;", "pool->nodes[i].size += 2;", "*link = node;",
            "smp_store_release(&node->prev, x);")),
        ("return a == b; if (a <= b) call(a);", []),
        # A first value stays.
        ("int x; x = 1; x = 2;", ["int x; x = 1; ;"])),
    "call": (
        ("g(node); return h(node);", ["; return h(node);"]),
        ("ops->g(node); x = 1;", ["; x = 1;"]),
        # No test can know.
        *((f"{call} x = 1;", []) for call in (
            "trace_nbq_skip(node);", "lockdep_assert(node);", "cpu_relax();")),
        # All of a function
        ("g(node);", [])),
    "twice": (
        ("nbq_node_free_own(node); g(node);",
         ["{ nbq_node_free_own(node); nbq_node_free_own(node); } g(node);"]),),
    "jump": (
        ("if (a) return; for (;;) break;", ["if (a) ; for (;;) break;",
                                            "if (a) return; for (;;) ;"]),
        ("return a;", [])),
    "negate": (
        ("if (node) return true;", ["if (!(node)) return true;"]),
        ("x = a && b ? c : d;", ["x = !(a && b) ? c : d;"]),
        ("return node->first;", ["return !(node->first);"]),
        ("while ((x = next(x)) != node) i = 1;",
         ["while (((x = next(x)) != node) && false) i = 1;"]),
        ("for (i = 0; i < 3; i++) g(i);", ["for (i = 0;( i < 3) && false; i++) g(i);"]),
        # The one statement is dropped instead.
        ("if (node) g(node);", []),
        ("if (node) g(node); else g(a);", ["if (!(node)) g(node); else g(a);"])),
    "bound": (
        ("if (a < b) return c >= d;", ["if (a <= b) return c >= d;", "if (a < b) return c > d;"]),),
    "constant": (
        ("x = size * 3 / 4; return true;", ["x = size * (3 * 2) / 4; return true;",
                                            "x = size * 3 / (4 * 2); return true;",
                                            "x = size * 3 / 4; return false;"]),
        ("return -ENOMEM; x = a - E;", ["return -EIO; x = a - E;"]),
        # A store of a truth is dropped instead.
        ("x->y = true;", [])),
    "exchange": (
        ("if (cmpxchg(&tail, a, b) == a) return true; i = 1; smp_store_release(&a->prev, b);",
         ["smp_store_release(&a->prev, b); "
          "if (cmpxchg(&tail, a, b) == a) return true; i = 1;"]),
        # Others do not see these.
        ("a = b; WRITE_ONCE(x, a); c = d;", [])),
}


def made(rule, body, head="static bool f(struct node *node, int bound)"):
    text = f"{head}\n{{\n\t{body}\n}}\n"
    return [" ".join(mutant.applied(text).split("{", 1)[1].rstrip().removesuffix("}").split())
            for mutant in mutants_of("f.c", text) if mutant.rule == rule]


class RulesTest(unittest.TestCase):
    def test_mistakes_of_each_rule(self):
        self.assertEqual(set(RULES), set(MADE))
        for rule, cases in MADE.items():
            for body, mistakes in cases:
                with self.subTest(rule=rule, body=body):
                    self.assertEqual(made(rule, body), mistakes)

    def test_a_number_is_no_condition(self):
        self.assertEqual(made("negate", "return node->first;", head="static int f(void)"), [])

    def test_a_number_with_a_name_is_another_one(self):
        text = "#define LIMIT\t10\n#define STATE\t((void *)2)\n#define SUM\tLIMIT\n"
        self.assertEqual([mutant.name for mutant in mutants_of("f.c", text)],
                         ["f.c - constant LIMIT: 10 to (10 * 2)"])

    def test_comments_strings_and_directives_are_no_code(self):
        text = ("static int f(void)\n{\n\t/* x = 2; */\n#if X > 2\n\tg(\"a < 2\");\n#endif\n"
                "\treturn 0;\n}\n")
        self.assertEqual([(mutant.rule, mutant.what) for mutant in mutants_of("f.c", text)],
                         [("call", "g( );")])

    def test_names_tell_mutants_apart_wherever_their_lines_are(self):
        body = "static void f(void)\n{\n\tx++;\n\tif (y)\n\t\tx++;\n\tg();\n}\n"
        names = [mutant.name for mutant in mutants_of("f.c", body)]
        self.assertEqual(len(set(names)), len(names))
        self.assertIn("f.c f store x++; #2", names)
        moved = "/* A comment. */\nint z;\n\n" + body.replace("\tif", "\n\tif")
        self.assertEqual([mutant.name for mutant in mutants_of("f.c", moved)], names)
