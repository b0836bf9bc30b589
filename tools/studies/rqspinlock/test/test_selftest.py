# SPDX-License-Identifier: GPL-2.0
"""The kernel's selftests of res_spin_lock: what a kernel's types lack, and what is read."""

import unittest

from base.common import Failure
from studies.rqspinlock.selftest import lock_type, missing_types
from studies.rqspinlock.study import OURS, ROWS, STOCK, Selftest

OWN_TYPES = """\
struct bpf_res_spin_lock {
	u32 val;
};

struct rqspinlock_held {
	int cnt;
	void *locks[31];
};
"""
NBQ_TYPES = """\
struct bpf_rb_root {
	long: 64;
};

struct bpf_res_spin_lock {
	u64 val;
} __attribute__((aligned(8)));

struct bpf_scratchpad {
};
"""
KFUNCS = "extern int bpf_res_spin_lock(struct bpf_res_spin_lock *lock) __weak __ksym;\n"
OUTPUT = """\
passed: res_spin_lock_AA: -22
failure.checks 17
passed: retval: 0
{failed}success.checks 56
"""


def made(lock, output):
    run = Selftest(lock)
    run.output, run.status = output, 0
    return run


class Types(unittest.TestCase):
    def test_kernel_without_marks_or_a_table(self):
        self.assertEqual(missing_types(OWN_TYPES), ["-DNO_KFUNCS"])
        self.assertEqual(missing_types(NBQ_TYPES), ["-DNO_KFUNCS", "-DNO_HELD_TABLE"])
        self.assertEqual(missing_types(OWN_TYPES + KFUNCS), [])

    def test_lock_keeps_size_and_alignment(self):
        self.assertEqual(lock_type(OWN_TYPES), "struct bpf_res_spin_lock {\n\tu32 val;\n};\n")
        self.assertEqual(lock_type(NBQ_TYPES), "struct bpf_res_spin_lock {\n\tu64 val;\n} "
                                               "__attribute__((aligned(8)));\n")

    def test_kernel_without_the_lock_is_refused(self):
        with self.assertRaisesRegex(Failure, "no struct bpf_res_spin_lock"):
            lock_type("struct bpf_spin_lock {\n\t__u32 val;\n};\n")


class Read(unittest.TestCase):
    def test_kernels_own_passes_all(self):
        run = made(STOCK, OUTPUT.format(failed=""))
        self.assertEqual(run.complaint, "")

    def test_only_the_expected_check_fails(self):
        failed = OUTPUT.format(failed="failed: retval: 2\n")
        self.assertEqual(made(OURS, failed).complaint, "")
        self.assertIn("retval: 2", made(STOCK, failed).complaint)
        self.assertIn("[], not", made(OURS, OUTPUT.format(failed="")).complaint)

    def test_part_without_an_end_is_complained_about(self):
        self.assertEqual(made(STOCK, "failure.checks 17\n").complaint,
                         "both parts come to their end: 'success.checks' was not printed")

    def test_failed_checks_are_in_the_table(self):
        run = made(OURS, OUTPUT.format(failed="failed: retval: 2\n"))
        self.assertEqual((ROWS["checks that must succeed"]([run]), ROWS["failed checks"]([run])),
                         ("56", "retval: 2"))
