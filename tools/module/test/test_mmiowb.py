# SPDX-License-Identifier: GPL-2.0
"""What is read from a disassembly: which functions use a variable."""

import unittest

from module.mmiowb import OPERATIONS, STATE, TYPES, operation_claims, probe_text, users_of

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
    def test_functions_that_refer_to_it_and_their_callers_use_it(self):
        # Not what calls another object, nor a longer name; labels are no functions.
        self.assertEqual(users_of(STATE, DISASSEMBLY), {
            "helper": True, "takes": True, "takes_by_two": True, "leaves_it_out": False,
            "looks_alike": False})


class Claims(unittest.TestCase):
    def test_an_operation_is_looked_up_where_it_is_and_where_it_falls_back_to(self):
        for operation, shipped, probe, holds in (
                ("nbq_clh_lock", {"nbq_clh_lock": False}, {"probe_nbq_clh_lock": True}, [False]),
                ("nbq_spin_lock", {"__nbq_spin_lock": True}, {"probe_nbq_spin_lock": False},
                 [False, True]), ("nbq_clh_lock", {}, {}, [False])):
            self.assertEqual([held for _, held, _ in operation_claims(operation, shipped, probe)],
                             holds)

    def test_probe_calls_every_operation(self):
        text = probe_text().replace("return ", "")
        for lock in TYPES:
            for operation, _, _ in OPERATIONS:
                self.assertIn(f"\tnbq_{lock}_{operation}(lock", text)
