/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guards of a lock type, each in every way to use it.
 *
 *	NBQ_GUARD(by, how, form)
 *
 * by: the macro of the kernel's <linux/cleanup.h>; how, form: of the operation that the class
 * is named for, see lock_types.h. No include guard: its includer defines NBQ_GUARD first, and
 * NBQ_ONLY_GUARDS_THAT_CAN_FAIL to leave out the others.
 */
#ifndef NBQ_ONLY_GUARDS_THAT_CAN_FAIL
NBQ_GUARD(guard, LOCK, PLAIN)
NBQ_GUARD(guard, LOCK, IRQ)
NBQ_GUARD(guard, LOCK, IRQSAVE)
NBQ_GUARD(guard, LOCK, BH)
NBQ_GUARD(scoped_guard, LOCK, PLAIN)
NBQ_GUARD(scoped_guard, LOCK, IRQ)
NBQ_GUARD(scoped_guard, LOCK, IRQSAVE)
NBQ_GUARD(scoped_guard, LOCK, BH)
#endif
NBQ_GUARD(class, TIMEOUT, PLAIN)
NBQ_GUARD(class, TIMEOUT, IRQSAVE)
NBQ_GUARD(class, UNTIL, PLAIN)
NBQ_GUARD(class, UNTIL, IRQSAVE)
NBQ_GUARD(class, TRY, PLAIN)
NBQ_GUARD(class, TRY, IRQSAVE)
NBQ_GUARD(scoped_cond_guard, TIMEOUT, PLAIN)
NBQ_GUARD(scoped_cond_guard, TIMEOUT, IRQSAVE)
NBQ_GUARD(scoped_cond_guard, UNTIL, PLAIN)
NBQ_GUARD(scoped_cond_guard, UNTIL, IRQSAVE)
NBQ_GUARD(scoped_cond_guard, TRY, PLAIN)
NBQ_GUARD(scoped_cond_guard, TRY, IRQSAVE)
NBQ_GUARD(acquire, TIMEOUT, PLAIN)
NBQ_GUARD(acquire, TIMEOUT, IRQSAVE)
NBQ_GUARD(acquire, UNTIL, PLAIN)
NBQ_GUARD(acquire, UNTIL, IRQSAVE)
NBQ_GUARD(acquire, TRY, PLAIN)
NBQ_GUARD(acquire, TRY, IRQSAVE)
