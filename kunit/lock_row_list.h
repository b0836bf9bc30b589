/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types under test, and the kinds of the hybrid: what is made for each of
 * them begins with its name.
 *
 * No include guard: whoever includes this defines NBQ_ROW(type) first.
 */
NBQ_ROW(nbq_clh)
NBQ_ROW(nbq_mcs)
NBQ_ROW(nbq_swap)
NBQ_ROW(nbq_spin)
NBQ_ROW(nbq_spin_fifo)
