/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types under test.
 *
 * No include guard: its includer defines NBQ_ROW(type) first.
 */
NBQ_ROW(nbq_clh)
NBQ_ROW(nbq_mcs)
NBQ_ROW(nbq_swap)
NBQ_ROW(nbq_spin)
