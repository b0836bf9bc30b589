/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs' numbers, for the explorer: a hybrid lock and its waiters keep numbers instead
 * of pointers, and where states are compared (state.h) those that stand for a CPU must
 * be told from all others. So CPUs are not counted from 0 here. Each has two numbers of
 * this kind: the kernel's, and the lock's (NBQ_CONTEXT_CPU_BITS), which is one more.
 */
#ifndef EXPLORE_CPU_NUMBERS_H
#define EXPLORE_CPU_NUMBERS_H

/* No count gets there, nor do the low bits of what nbq_blocking_holder() makes of it. */
#define FIRST_CPU_NUMBER	0x1a40U
#define SHIM_CPU_NUMBER(index)	(FIRST_CPU_NUMBER + 2 * (index))
#define SHIM_CPU_INDEX(number)	(((number) - FIRST_CPU_NUMBER) / 2)

#endif
