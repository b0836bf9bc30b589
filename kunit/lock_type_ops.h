/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of a lock type, see lock_types.h, without its type. The file of a
 * lock type includes this at its end, with NBQ_TYPE, the prefix of its operations, and has by
 * then
 *
 *	OP_INIT(lock): its init, which may be a macro
 *	LAST_WORD: what a release writes last in the lock
 *	static_lock, static_struct.lock: locks that were defined statically
 *	traits: its struct nbq_traits
 *	destroy(), link_to_pred, enqueue(), poll(), abandon(), release(), tail_of(), holder_of(),
 *		letter(): as the members of struct nbq_lock_type
 */
#include "lock_types.h"

#define OP(operation)		__PASTE(NBQ_TYPE, _##operation)

/* The operations */

static void op_init(void *lock)
{
	struct NBQ_TYPE *x = lock;

	OP_INIT(x);
}

static void op_init_elsewhere(void *lock)
{
	struct NBQ_TYPE *x = lock;

	OP_INIT(x);
}

static int op_lock_timeout(void *lock, ktime_t patience)
{
	return OP(lock_timeout)(lock, patience);
}

static int op_lock_timeout_info(void *lock, ktime_t patience, struct nbq_timeout *info)
{
	return OP(lock_timeout_info)(lock, patience, info);
}

static int op_lock_until(void *lock, ktime_t deadline)
{
	return OP(lock_until)(lock, deadline);
}

static bool op_trylock(void *lock)
{
	return OP(trylock)(lock);
}

static void op_lock(void *lock)
{
	OP(lock)(lock);
}

static void op_unlock(void *lock)
{
	OP(unlock)(lock);
}

static bool op_is_locked(const void *lock)
{
	return OP(is_locked)(lock);
}

static bool op_is_contended(const void *lock)
{
	return OP(is_contended)(lock);
}

#define DEFINE_TAKE(form)						\
static int take##form(const struct nbq_operation *op, struct NBQ_TYPE *lock)	\
{									\
	if (op->how == TIMEOUT)						\
		return OP(lock_timeout##form)(lock, op->time);		\
	if (op->how == UNTIL)						\
		return OP(lock_until##form)(lock, op->time);		\
	if (op->how == TRY)						\
		return OP(trylock##form)(lock) ? 0 : -EBUSY;		\
	OP(lock##form)(lock);						\
	return 0;							\
}

DEFINE_TAKE()
DEFINE_TAKE(_irq)
DEFINE_TAKE(_bh)

static int take_irqsave(const struct nbq_operation *op, struct NBQ_TYPE *lock, unsigned long *flags)
{
	struct nbq_timeout info;

	if (op->how == TIMEOUT)
		return OP(lock_timeout_irqsave)(lock, op->time, *flags);
	if (op->how == INFO)
		return OP(lock_timeout_info_irqsave)(lock, op->time, &info, *flags);
	if (op->how == UNTIL)
		return OP(lock_until_irqsave)(lock, op->time, *flags);
	if (op->how == TRY)
		return OP(trylock_irqsave)(lock, *flags) ? 0 : -EBUSY;
	OP(lock_irqsave)(lock, *flags);
	return 0;
}

static int take_nested(const struct nbq_operation *op, struct NBQ_TYPE *lock)
{
	if (op->how == TIMEOUT)
		return OP(lock_timeout_nested)(lock, op->time, SINGLE_DEPTH_NESTING);
	OP(lock_nested)(lock, SINGLE_DEPTH_NESTING);
	return 0;
}

static int take_irqsave_nested(const struct nbq_operation *op, struct NBQ_TYPE *lock,
			       unsigned long *flags)
{
	if (op->how == TIMEOUT)
		return OP(lock_timeout_irqsave_nested)(lock, op->time, *flags,
						       SINGLE_DEPTH_NESTING);
	OP(lock_irqsave_nested)(lock, *flags, SINGLE_DEPTH_NESTING);
	return 0;
}

static int op_take(const struct nbq_operation *op, void *lock, unsigned long *flags)
{
	if (op->form == NESTED)
		return take_nested(op, lock);
	if (op->form == IRQSAVE_NESTED)
		return take_irqsave_nested(op, lock, flags);
	if (op->form == IRQ)
		return take_irq(op, lock);
	if (op->form == IRQSAVE)
		return take_irqsave(op, lock, flags);
	if (op->form == BH)
		return take_bh(op, lock);
	return take(op, lock);
}

static void op_drop(const struct nbq_operation *op, void *lock, unsigned long flags)
{
	struct NBQ_TYPE *x = lock;

	if (op->form == IRQ)
		OP(unlock_irq)(x);
	else if (op->form == IRQSAVE || op->form == IRQSAVE_NESTED)
		OP(unlock_irqrestore)(x, flags);
	else if (op->form == BH)
		OP(unlock_bh)(x);
	else
		OP(unlock)(x);
}

/* Lockdep */

static void set_subclass(void *lock, unsigned int subclass)
{
	struct NBQ_TYPE *x __maybe_unused = lock;	/* without lockdep */

	lockdep_set_subclass(x, subclass);
}

/* The key is of this type alone: to lockdep a class has one name, at one address. */
static void set_class(void *lock)
{
	static struct lock_class_key key;
	struct NBQ_TYPE *x __maybe_unused = lock;	/* without lockdep */

	lockdep_set_class(x, &key);
}

static void notrack(void *lock)
{
	struct NBQ_TYPE *x __maybe_unused = lock;	/* without lockdep */

	lockdep_set_notrack_class(x);
}

static void assert_held(const void *lock)
{
	const struct NBQ_TYPE *x = lock;

	lockdep_assert_held(x);
}

static struct lockdep_map *dep_map(void *lock)
{
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct NBQ_TYPE *x = lock;

	return &x->dep_map;
#else
	return NULL;
#endif
}

#ifdef NBQ_OUT_OF_TREE
#include "define_guards.h"
#endif

const struct nbq_lock_type OP(type) = {
	.name = __stringify(NBQ_TYPE),
	.size = sizeof(struct NBQ_TYPE),
	.last_word_offset = offsetof(struct NBQ_TYPE, LAST_WORD),
	.static_lock = &static_lock,
	.static_member = &static_struct.lock,
	.traits = &traits,
	.init = op_init,
	.init_elsewhere = op_init_elsewhere,
	.lock_timeout = op_lock_timeout,
	.lock_timeout_info = op_lock_timeout_info,
	.lock_until = op_lock_until,
	.trylock = op_trylock,
	.lock = op_lock,
	.unlock = op_unlock,
	.is_locked = op_is_locked,
	.is_contended = op_is_contended,
	.destroy = destroy,
	.take = op_take,
	.drop = op_drop,
#ifdef NBQ_OUT_OF_TREE
	.guards = guards,
	.ways_out = ways_out,
#endif
	.enqueue = enqueue,
	.link = link_to_pred,
	.poll = poll,
	.abandon = abandon,
	.release = release,
	.tail = tail_of,
	.holder = holder_of,
	.letter = letter,
	.set_subclass = set_subclass,
	.set_class = set_class,
	.notrack = notrack,
	.assert_held = assert_held,
	.dep_map = dep_map,
};
