# SPDX-License-Identifier: GPL-2.0
"""What the step makes of what the suites print, and which suites may be left out."""

import unittest

from host.kunit.steps import KERNEL_ONLY, suite_cases, suites, unexplained


class SuiteTest(unittest.TestCase):
    def test_a_suite_is_a_case_of_each_build(self):
        cases = list(suite_cases("ok kunit_all_gcc_asan.nbq_pool.one\n"
                                 "ok kunit_all_gcc_asan.nbq_pool.two.row\n"
                                 "in between\n"
                                 "skip kunit_all_gcc_asan.nbq_spin.one: why\n"
                                 "ok kunit_all_gcc_tsan.nbq_pool.one\n"
                                 "not ok kunit_all_gcc_tsan.nbq_pool.two: a.c:7: 1 == 2\n"))
        self.assertEqual([(case.name, case.status, case.detail) for case in cases],
                         [("kunit-host: all_gcc_asan: nbq_pool", "ok", ""),
                          ("kunit-host: all_gcc_asan: nbq_spin", "skip", ""),
                          ("kunit-host: all_gcc_tsan: nbq_pool", "FAIL",
                           "two: a.c:7: 1 == 2")])

    def test_what_a_sanitizer_ends_is_a_failure_of_its_build(self):
        case, = suite_cases("not ok kunit_all_gcc_asan: AddressSanitizer: heap-use-after-free\n")
        self.assertEqual((case.name, case.status), ("kunit-host: all_gcc_asan: it runs", "FAIL"))

    def test_a_suite_that_needs_no_kernel_is_not_left_out(self):
        word = next(iter(KERNEL_ONLY))
        texts = {"nbq_a": "", "nbq_b": f"#include {word}", "nbq_c": ""}
        self.assertEqual(unexplained(texts, {"nbq_a"}), ["nbq_c"])

    def test_each_reason_to_leave_a_suite_out_has_a_suite(self):
        texts = suites()
        self.assertIn("nbq_deadline", texts)
        for word in KERNEL_ONLY:
            self.assertTrue(any(word in text for text in texts.values()), word)
