/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The row of a lock type, see lock_row.h. The file of a lock type includes this
 * at its end, with NBQ_TYPE as for nbqlock/lock_type.h. What it must have by
 * then is its own:
 *
 *	static_lock, static_struct.lock: locks that were defined statically
 *	facts: the type's struct nbq_facts
 *	link_to_pred(), join(), advance(), leave(), hand_over(), tail_of(),
 *		holder_of(), letter(): as the members of struct nbq_row
 *	NBQ_LAST_WORD: what in the lock a release writes last
 *	NBQ_ROW_NAME, NBQ_ROW_INIT: of a second kind of the type, its name and what
 *		makes it
 */
#include "common.h"

#ifdef NBQ_ROW_NAME
#define nbq_X_init			NBQ_ROW_INIT
#else
#define NBQ_ROW_NAME			NBQ_TYPE
#define nbq_X_init			__PASTE(NBQ_TYPE, _init)
#endif
#define nbq_X_lock_timeout_irqsave	__PASTE(NBQ_TYPE, _lock_timeout_irqsave)
#define nbq_X_lock_until_irqsave	__PASTE(NBQ_TYPE, _lock_until_irqsave)
#define nbq_X_trylock_irqsave		__PASTE(NBQ_TYPE, _trylock_irqsave)
#define nbq_X_lock_irqsave		__PASTE(NBQ_TYPE, _lock_irqsave)
#define nbq_X_lock_timeout_irqsave_nested				\
	__PASTE(NBQ_TYPE, _lock_timeout_irqsave_nested)
#define nbq_X_lock_until_irqsave_nested					\
	__PASTE(NBQ_TYPE, _lock_until_irqsave_nested)
#define nbq_X_lock_irqsave_nested	__PASTE(NBQ_TYPE, _lock_irqsave_nested)
#define nbq_X_lock_timeout_nest_lock	__PASTE(NBQ_TYPE, _lock_timeout_nest_lock)
#define nbq_X_lock_until_nest_lock	__PASTE(NBQ_TYPE, _lock_until_nest_lock)
#define nbq_X_lock_nest_lock		__PASTE(NBQ_TYPE, _lock_nest_lock)
#define nbq_X_row			__PASTE(NBQ_ROW_NAME, _row)
#define nbq_X_bench_init		__PASTE(NBQ_ROW_NAME, _bench_init)

/* The verbs */

static void verb_init(void *lock)
{
	struct nbq_X *x = lock;

	nbq_X_init(x);
}

static void verb_init_unwatched(void *lock)
{
	struct nbq_X *x = lock;

	nbq_X_init(x);
	lockdep_set_notrack_class(x);
}

static int verb_lock_timeout(void *lock, ktime_t patience)
{
	return nbq_X_lock_timeout(lock, patience);
}

static int verb_lock_until(void *lock, ktime_t deadline)
{
	return nbq_X_lock_until(lock, deadline);
}

static bool verb_trylock(void *lock)
{
	return nbq_X_trylock(lock);
}

static void verb_lock(void *lock)
{
	nbq_X_lock(lock);
}

static void verb_unlock(void *lock)
{
	nbq_X_unlock(lock);
}

static bool verb_is_locked(const void *lock)
{
	return nbq_X_is_locked(lock);
}

static bool verb_is_contended(const void *lock)
{
	return nbq_X_is_contended(lock);
}

static int verb_destroy(void *lock)
{
	return nbq_X_destroy(lock);
}

static int take_plain(const struct nbq_operation *verb, struct nbq_X *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout(lock, verb->time);
	if (verb->how == UNTIL)
		return nbq_X_lock_until(lock, verb->time);
	if (verb->how == TRY)
		return nbq_X_trylock(lock) ? 0 : -EBUSY;
	nbq_X_lock(lock);
	return 0;
}

static int take_irq(const struct nbq_operation *verb, struct nbq_X *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout_irq(lock, verb->time);
	if (verb->how == UNTIL)
		return nbq_X_lock_until_irq(lock, verb->time);
	if (verb->how == TRY)
		return nbq_X_trylock_irq(lock) ? 0 : -EBUSY;
	nbq_X_lock_irq(lock);
	return 0;
}

static int take_irqsave(const struct nbq_operation *verb, struct nbq_X *lock,
			unsigned long *flags)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout_irqsave(lock, verb->time, *flags);
	if (verb->how == UNTIL)
		return nbq_X_lock_until_irqsave(lock, verb->time, *flags);
	if (verb->how == TRY)
		return nbq_X_trylock_irqsave(lock, *flags) ? 0 : -EBUSY;
	nbq_X_lock_irqsave(lock, *flags);
	return 0;
}

static int take_bh(const struct nbq_operation *verb, struct nbq_X *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout_bh(lock, verb->time);
	if (verb->how == UNTIL)
		return nbq_X_lock_until_bh(lock, verb->time);
	if (verb->how == TRY)
		return nbq_X_trylock_bh(lock) ? 0 : -EBUSY;
	nbq_X_lock_bh(lock);
	return 0;
}

static int take_nested(const struct nbq_operation *verb, struct nbq_X *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout_nested(lock, verb->time,
						 SINGLE_DEPTH_NESTING);
	if (verb->how == UNTIL)
		return nbq_X_lock_until_nested(lock, verb->time,
					       SINGLE_DEPTH_NESTING);
	nbq_X_lock_nested(lock, SINGLE_DEPTH_NESTING);
	return 0;
}

static int take_irqsave_nested(const struct nbq_operation *verb, struct nbq_X *lock,
			       unsigned long *flags)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout_irqsave_nested(lock, verb->time,
							 *flags,
							 SINGLE_DEPTH_NESTING);
	if (verb->how == UNTIL)
		return nbq_X_lock_until_irqsave_nested(lock, verb->time, *flags,
						       SINGLE_DEPTH_NESTING);
	nbq_X_lock_irqsave_nested(lock, *flags, SINGLE_DEPTH_NESTING);
	return 0;
}

static int take_nest_lock(const struct nbq_operation *verb, struct nbq_X *lock)
{
	if (verb->how == TIMEOUT)
		return nbq_X_lock_timeout_nest_lock(lock, verb->time,
						    &nbq_nest_lock);
	if (verb->how == UNTIL)
		return nbq_X_lock_until_nest_lock(lock, verb->time,
						  &nbq_nest_lock);
	nbq_X_lock_nest_lock(lock, &nbq_nest_lock);
	return 0;
}

static int take(const struct nbq_operation *verb, void *lock, unsigned long *flags)
{
	if (verb->form == NESTED)
		return take_nested(verb, lock);
	if (verb->form == IRQSAVE_NESTED)
		return take_irqsave_nested(verb, lock, flags);
	if (verb->form == NEST_LOCK)
		return take_nest_lock(verb, lock);
	if (verb->form == IRQ)
		return take_irq(verb, lock);
	if (verb->form == IRQSAVE)
		return take_irqsave(verb, lock, flags);
	if (verb->form == BH)
		return take_bh(verb, lock);
	return take_plain(verb, lock);
}

static void drop(const struct nbq_operation *verb, void *lock, unsigned long flags)
{
	struct nbq_X *x = lock;

	if (verb->form == IRQ)
		nbq_X_unlock_irq(x);
	else if (verb->form == IRQSAVE || verb->form == IRQSAVE_NESTED)
		nbq_X_unlock_irqrestore(x, flags);
	else if (verb->form == BH)
		nbq_X_unlock_bh(x);
	else
		nbq_X_unlock(x);
}

/* By hand */

static bool hand_join(void *lock, struct nbq_actor *actor)
{
	return join(lock, actor);
}

static bool hand_advance(void *lock, struct nbq_actor *actor)
{
	return advance(lock, actor);
}

static bool hand_leave(void *lock, struct nbq_actor *actor)
{
	return leave(lock, actor);
}

static bool hand_hand_over(void *lock, struct nbq_node *node)
{
	return hand_over(lock, node);
}

/* Looks */

static struct nbq_node *look_at_tail(const void *lock)
{
	return tail_of(lock);
}

static struct nbq_node *look_at_holder(const void *lock)
{
	return holder_of(lock);
}

/* Lockdep */

static void init_elsewhere(void *lock)
{
	struct nbq_X *x = lock;

	nbq_X_init(x);
}

static void set_subclass(void *lock, unsigned int subclass)
{
	struct nbq_X *x __maybe_unused = lock;	/* without lockdep */

	lockdep_set_subclass(x, subclass);
}

/* The key is of this type alone: to lockdep a class has one name, at one address. */
static void set_class(void *lock)
{
	static struct lock_class_key key;
	struct nbq_X *x __maybe_unused = lock;	/* without lockdep */

	lockdep_set_class(x, &key);
}

static void excuse(void *lock)
{
	struct nbq_X *x __maybe_unused = lock;	/* without lockdep */

	lockdep_set_notrack_class(x);
}

static void assert_held(const void *lock)
{
	const struct nbq_X *x = lock;

	lockdep_assert_held(x);
}

static struct lockdep_map *dep_map(void *lock)
{
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct nbq_X *x = lock;

	return &x->dep_map;
#else
	return NULL;
#endif
}

#include "define_guards.h"

const struct nbq_row nbq_X_row = {
	.name = __stringify(NBQ_ROW_NAME),
	.size = sizeof(struct nbq_X),
	.last_word_offset = offsetof(struct nbq_X, NBQ_LAST_WORD),
	.static_lock = &static_lock,
	.static_member = &static_struct.lock,
	.facts = &facts,
	.init = verb_init,
	.init_unwatched = verb_init_unwatched,
	.lock_timeout = verb_lock_timeout,
	.lock_until = verb_lock_until,
	.trylock = verb_trylock,
	.lock = verb_lock,
	.unlock = verb_unlock,
	.is_locked = verb_is_locked,
	.is_contended = verb_is_contended,
	.destroy = verb_destroy,
	.take = take,
	.drop = drop,
	.guards = guards,
	.ways_out = ways_out,
	.join = hand_join,
	.link = link_to_pred,
	.advance = hand_advance,
	.leave = hand_leave,
	.hand_over = hand_hand_over,
	.tail = look_at_tail,
	.holder = look_at_holder,
	.letter = letter,
	.init_elsewhere = init_elsewhere,
	.set_subclass = set_subclass,
	.set_class = set_class,
	.excuse = excuse,
	.assert_held = assert_held,
	.dep_map = dep_map,
};

int nbq_X_bench_init(struct kunit *test)
{
	return nbq_bench_init(test, &nbq_X_row);
}
