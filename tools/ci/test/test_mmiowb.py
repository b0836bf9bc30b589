# SPDX-License-Identifier: GPL-2.0
"""What is read from a disassembly: which functions use a variable."""

import unittest

from testbed.mmiowb import STATE, TYPES, OPERATIONS, probe_text, users_of, operation_claims

# As from `objdump -dr --no-show-raw-insn`; labels and relaxations are the compiler's.
DISASSEMBLY = f"""
clh_nb.o:     file format elf64-littleriscv


Disassembly of section .text:

0000000000000000 <helper>:
   0:	lui	a5,0x0
			0: R_RISCV_HI20	{STATE}
			0: R_RISCV_RELAX	*ABS*
   4:	ret

0000000000000006 <takes>:
   6:	addi	sp,sp,-16

0000000000000008 <.LVL4>:
   8:	auipc	ra,0x0
			8: R_RISCV_CALL_PLT	helper
   c:	jalr	ra # 8 <.LVL4>

0000000000000010 <takes_by_two>:
  10:	j	10 <takes_by_two>
			10: R_RISCV_JAL	takes+0x2

0000000000000014 <leaves_it_out>:
  14:	auipc	ra,0x0
			14: R_RISCV_CALL_PLT	elsewhere
  18:	jalr	ra

000000000000001c <looks_alike>:
  1c:	lui	a5,0x0
			1c: R_RISCV_HI20	{STATE}_of_another
"""


class Users(unittest.TestCase):
    def setUp(self):
        self.users = users_of(STATE, DISASSEMBLY)

    def test_a_function_that_refers_to_it_uses_it(self):
        self.assertTrue(self.users["helper"])

    def test_callers_use_it_too(self):
        self.assertTrue(self.users["takes"])
        self.assertTrue(self.users["takes_by_two"])

    def test_what_calls_another_object_does_not(self):
        self.assertFalse(self.users["leaves_it_out"])

    def test_a_longer_name_is_another_variable(self):
        self.assertFalse(self.users["looks_alike"])

    def test_labels_are_no_functions(self):
        self.assertEqual(len(self.users), 5)


class Claims(unittest.TestCase):
    def test_operation_of_the_module_is_looked_up_there(self):
        claims = list(operation_claims("nbq_clh_lock", {"nbq_clh_lock": False},
                                  {"probe_nbq_clh_lock": True}))
        self.assertEqual([holds for _, holds, _ in claims], [False])

    def test_inline_operation_and_its_slow_path_are_looked_up(self):
        claims = list(operation_claims("nbq_spin_lock", {"__nbq_spin_lock": True},
                                  {"probe_nbq_spin_lock": False}))
        self.assertEqual([holds for _, holds, _ in claims], [False, True])

    def test_missing_operation_fails(self):
        self.assertEqual([holds for _, holds, _ in operation_claims("nbq_clh_lock", {}, {})],
                         [False])

    def test_probe_calls_every_operation(self):
        for lock in TYPES:
            for operation, _, _ in OPERATIONS:
                self.assertIn(f"\tnbq_{lock}_{operation}(lock", probe_text().replace("return ", ""))
