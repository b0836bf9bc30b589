# SPDX-License-Identifier: GPL-2.0
"""Which mistakes each rule makes of a small text."""

import unittest

from verification.mutate.mutant import mutants_of
from verification.mutate.rules import RULES


def made(rule, *lines, head="static bool f(struct node *node, int bound)"):
    """The body of a function with each mistake of a rule, as lines."""
    text = "\n".join([head, "{", *(f"\t{line}" for line in lines), "}", ""])
    return [" ".join(mutant.applied(text).split("{", 1)[1].rstrip().removesuffix("}").split())
            for mutant in mutants_of("f.c", text) if mutant.rule == rule]


class OrderTest(unittest.TestCase):
    def test_a_full_swap_is_weakened_to_either_half(self):
        self.assertEqual(made("order", "return xchg(&lock->tail, node);"),
                         ["return xchg_acquire(&lock->tail, node);",
                          "return xchg_release(&lock->tail, node);"])

    def test_half_an_order_becomes_none(self):
        self.assertEqual(made("order", "try_cmpxchg_acquire(&lock->state, &old, 1);"),
                         ["try_cmpxchg_relaxed(&lock->state, &old, 1);"])

    def test_loads_and_stores_lose_their_order(self):
        self.assertEqual(made("order", "x = smp_load_acquire(&node->prev);"),
                         ["x = READ_ONCE(node->prev);"])
        self.assertEqual(made("order", "smp_store_release(link, node);"),
                         ["WRITE_ONCE(*link, node);"])

    def test_a_barrier_goes(self):
        self.assertEqual(made("order", "smp_mb();"), ["(void)0;"])

    def test_what_has_no_order_has_none_to_lose(self):
        self.assertEqual(made("order", "x = READ_ONCE(y);", "xchg_relaxed(&y, 1);"), [])


class StoreTest(unittest.TestCase):
    def test_stores_are_dropped(self):
        for store in ("node->prev = NULL;", "WRITE_ONCE(node->prev, x);", "deadline->polls--;",
                      "pool->events.timeouts++;", "pool->nodes[i].size += 2;", "*link = node;",
                      "smp_store_release(&node->prev, x);"):
            with self.subTest(store):
                self.assertEqual(made("store", store), [";"])

    def test_a_comparison_is_no_store(self):
        self.assertEqual(made("store", "return a == b;", "if (a <= b)", "\tcall(a);"), [])

    def test_a_first_value_stays(self):
        self.assertEqual(made("store", "int x;", "x = 1;", "x = 2;"), ["int x; x = 1; ;"])


class CallTest(unittest.TestCase):
    def test_statements_that_are_a_call_are_dropped(self):
        self.assertEqual(made("call", "g(node);", "return h(node);"), ["; return h(node);"])
        self.assertEqual(made("call", "ops->g(node);", "x = 1;"), ["; x = 1;"])

    def test_what_no_test_can_know_stays(self):
        for call in ("trace_nbq_skip(node);", "lockdep_assert(node);", "cpu_relax();"):
            with self.subTest(call):
                self.assertEqual(made("call", call, "x = 1;"), [])

    def test_a_function_that_only_calls_another_stays(self):
        self.assertEqual(made("call", "g(node);"), [])

    def test_a_free_is_made_twice(self):
        self.assertEqual(made("twice", "nbq_node_free_own(node);", "g(node);"),
                         ["{ nbq_node_free_own(node); nbq_node_free_own(node); } g(node);"])


class JumpTest(unittest.TestCase):
    def test_jumps_are_dropped(self):
        self.assertEqual(made("jump", "if (a)", "\treturn;", "for (;;)", "\tbreak;"),
                         ["if (a) ; for (;;) break;", "if (a) return; for (;;) ;"])
        self.assertEqual(made("jump", "return a;"), [])


class ConditionTest(unittest.TestCase):
    def test_conditions_are_negated(self):
        self.assertEqual(made("negate", "if (node)", "\treturn true;"),
                         ["if (!(node)) return true;"])
        self.assertEqual(made("negate", "x = a && b ? c : d;"), ["x = !(a && b) ? c : d;"])
        self.assertEqual(made("negate", "return node->first;"), ["return !(node->first);"])

    def test_a_loop_ends_at_once(self):
        self.assertEqual(made("negate", "while ((x = next(x)) != node)", "\ti = 1;"),
                         ["while (((x = next(x)) != node) && false) i = 1;"])
        self.assertEqual(made("negate", "for (i = 0; i < 3; i++)", "\tg(i);"),
                         ["for (i = 0;( i < 3) && false; i++) g(i);"])

    def test_a_number_is_no_condition(self):
        self.assertEqual(made("negate", "return node->first;", head="static int f(void)"), [])

    def test_one_statement_is_dropped_rather_than_its_condition_negated(self):
        self.assertEqual(made("negate", "if (node)", "\tg(node);"), [])
        self.assertEqual(made("negate", "if (node)", "\tg(node);", "else", "\tg(a);"),
                         ["if (!(node)) g(node); else g(a);"])


class NumberTest(unittest.TestCase):
    def test_a_bound_is_moved_by_one(self):
        self.assertEqual(made("bound", "if (a < b)", "\treturn c >= d;"),
                         ["if (a <= b) return c >= d;", "if (a < b) return c > d;"])

    def test_numbers_and_truths_are_other_ones(self):
        self.assertEqual(made("constant", "x = size * 3 / 4;", "return true;"),
                         ["x = size * (3 * 2) / 4; return true;",
                          "x = size * 3 / (4 * 2); return true;",
                          "x = size * 3 / 4; return false;"])

    def test_an_error_is_another_one(self):
        self.assertEqual(made("constant", "return -ENOMEM;", "x = a - E;"),
                         ["return -EIO; x = a - E;"])

    def test_a_truth_that_is_stored_is_dropped_instead(self):
        self.assertEqual(made("constant", "x->y = true;"), [])

    def test_a_number_with_a_name_is_another_one(self):
        text = "#define LIMIT\t10\n#define STATE\t((void *)2)\n#define SUM\tLIMIT\n"
        self.assertEqual([mutant.name for mutant in mutants_of("f.c", text)],
                         ["f.c - constant LIMIT: 10 to (10 * 2)"])


class ExchangeTest(unittest.TestCase):
    def test_a_step_comes_before_the_one_that_precedes_it(self):
        self.assertEqual(made("exchange", "if (cmpxchg(&tail, a, b) == a)", "\treturn true;",
                              "i = 1;", "smp_store_release(&a->prev, b);"),
                         ["smp_store_release(&a->prev, b); "
                          "if (cmpxchg(&tail, a, b) == a) return true; i = 1;"])

    def test_what_others_do_not_see_stays(self):
        self.assertEqual(made("exchange", "a = b;", "WRITE_ONCE(x, a);", "c = d;"), [])


class TextTest(unittest.TestCase):
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

    def test_each_rule_has_a_test(self):
        tested = {"order", "store", "call", "twice", "jump", "negate", "bound", "constant",
                  "exchange"}
        self.assertEqual(set(RULES), tested)
