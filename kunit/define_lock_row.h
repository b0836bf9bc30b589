/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The row of a lock type, see lock_row.h. The file of a lock type includes this at its
 * end, with NBQ_TYPE as the name that its operations begin with, and has by then
 *
 *	NBQ_ROW_NAME: the name of the row; NBQ_TYPE, but for a second kind of the type
 *	NBQ_INIT(lock): nbq_X_init()
 *	NBQ_LAST_WORD: what a release writes last in the lock
 *	static_lock, static_struct.lock: locks that were defined statically
 *	facts: the type's struct nbq_facts
 *	link_to_pred(), enqueue(), poll(), abandon(), release(), tail_of(), holder_of(),
 *		letter(): as the members of struct nbq_row
 */
#include "common.h"

#define OP(operation)		__PASTE(NBQ_TYPE, _##operation)

/* The operations */

static void op_init(void *lock)
{
	struct NBQ_TYPE *x = lock;

	NBQ_INIT(x);
}

static void op_init_unwatched(void *lock)
{
	struct NBQ_TYPE *x = lock;

	NBQ_INIT(x);
	lockdep_set_notrack_class(x);
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

static int op_destroy(void *lock)
{
	return OP(destroy)(lock);
}

static int take_plain(const struct nbq_operation *op, struct NBQ_TYPE *lock)
{
	if (op->how == TIMEOUT)
		return OP(lock_timeout)(lock, op->time);
	if (op->how == UNTIL)
		return OP(lock_until)(lock, op->time);
	if (op->how == TRY)
		return OP(trylock)(lock) ? 0 : -EBUSY;
	OP(lock)(lock);
	return 0;
}

static int take_irq(const struct nbq_operation *op, struct NBQ_TYPE *lock)
{
	if (op->how == TIMEOUT)
		return OP(lock_timeout_irq)(lock, op->time);
	if (op->how == UNTIL)
		return OP(lock_until_irq)(lock, op->time);
	if (op->how == TRY)
		return OP(trylock_irq)(lock) ? 0 : -EBUSY;
	OP(lock_irq)(lock);
	return 0;
}

static int take_irqsave(const struct nbq_operation *op, struct NBQ_TYPE *lock,
			unsigned long *flags)
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

static int take_bh(const struct nbq_operation *op, struct NBQ_TYPE *lock)
{
	if (op->how == TIMEOUT)
		return OP(lock_timeout_bh)(lock, op->time);
	if (op->how == UNTIL)
		return OP(lock_until_bh)(lock, op->time);
	if (op->how == TRY)
		return OP(trylock_bh)(lock) ? 0 : -EBUSY;
	OP(lock_bh)(lock);
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

static int take(const struct nbq_operation *op, void *lock, unsigned long *flags)
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
	return take_plain(op, lock);
}

static void drop(const struct nbq_operation *op, void *lock, unsigned long flags)
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

static void init_elsewhere(void *lock)
{
	struct NBQ_TYPE *x = lock;

	NBQ_INIT(x);
}

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

#include "define_guards.h"

const struct nbq_row __PASTE(NBQ_ROW_NAME, _row) = {
	.name = __stringify(NBQ_ROW_NAME),
	.size = sizeof(struct NBQ_TYPE),
	.last_word_offset = offsetof(struct NBQ_TYPE, NBQ_LAST_WORD),
	.static_lock = &static_lock,
	.static_member = &static_struct.lock,
	.facts = &facts,
	.init = op_init,
	.init_unwatched = op_init_unwatched,
	.lock_timeout = op_lock_timeout,
	.lock_timeout_info = op_lock_timeout_info,
	.lock_until = op_lock_until,
	.trylock = op_trylock,
	.lock = op_lock,
	.unlock = op_unlock,
	.is_locked = op_is_locked,
	.is_contended = op_is_contended,
	.destroy = op_destroy,
	.take = take,
	.drop = drop,
	.guards = guards,
	.ways_out = ways_out,
	.enqueue = enqueue,
	.link = link_to_pred,
	.poll = poll,
	.abandon = abandon,
	.release = release,
	.tail = tail_of,
	.holder = holder_of,
	.letter = letter,
	.init_elsewhere = init_elsewhere,
	.set_subclass = set_subclass,
	.set_class = set_class,
	.notrack = notrack,
	.assert_held = assert_held,
	.dep_map = dep_map,
};

int __PASTE(NBQ_ROW_NAME, _bench_init)(struct kunit *test)
{
	return nbq_bench_init(test, &__PASTE(NBQ_ROW_NAME, _row));
}
