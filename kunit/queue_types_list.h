/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The strict locks: NBQ_QUEUE_TYPE(X) for each nbq_X, whose type X_type.c defines. No include
 * guard: NBQ_QUEUE_TYPE is defined first; the list ends its definition.
 */
NBQ_QUEUE_TYPE(clh)
NBQ_QUEUE_TYPE(mcs)
NBQ_QUEUE_TYPE(swap)
#undef NBQ_QUEUE_TYPE
