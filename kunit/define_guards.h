/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that use the guards of a lock type: for lock_type_ops.h. Those
 * that this kernel does not have are NULL.
 */
#ifdef guard

#define FORM_PLAIN
#define FORM_IRQ			_irq
#define FORM_IRQSAVE			_irqsave
#define FORM_BH				_bh
#define HOW_LOCK
#define HOW_TIMEOUT			_timeout
#define HOW_UNTIL			_until
#define HOW_TRY				_try
#define CLASS_OF(how, form)						\
	__PASTE(__PASTE(NBQ_TYPE, FORM_##form), HOW_##how)
/* The name of a class must be complete before it is pasted. */
#define GUARDED_BY(class)		guard(class)
#define HELD_BY(class)			CLASS(class, held)

/* With what arguments */
#define TRY_WITH(make)			make(lock)
#define TIMEOUT_WITH(make)		make(lock, use->time)
#define UNTIL_WITH(make)		make(lock, use->time)
#define TRY_SCOPE(class, fail)		scoped_cond_guard(class, fail, lock)
#define TIMEOUT_SCOPE(class, fail)	scoped_cond_guard(class, fail, lock, use->time)
#define UNTIL_SCOPE(class, fail)	scoped_cond_guard(class, fail, lock, use->time)

#define DEFINE_guard(fn, how, class)					\
static void fn(void *any, struct nbq_guard_use *use)			\
{									\
	struct NBQ_TYPE *lock = any;					\
									\
	guard(class)(lock);						\
	nbq_guard_use_block(use);					\
}

#define DEFINE_scoped_guard(fn, how, class)				\
static void fn(void *any, struct nbq_guard_use *use)			\
{									\
	struct NBQ_TYPE *lock = any;					\
									\
	scoped_guard(class, lock)					\
		nbq_guard_use_block(use);				\
}

#define DEFINE_class(fn, how, class)					\
static void fn(void *any, struct nbq_guard_use *use)			\
{									\
	struct NBQ_TYPE *lock = any;					\
									\
	how##_WITH(HELD_BY(class));					\
	use->err = nbq_guard_err(&held);				\
	if (!use->err)							\
		nbq_guard_use_block(use);				\
}

#define DEFINE_missing(fn)						\
static void fn(void *any, struct nbq_guard_use *use)			\
{									\
	use->missing = true;						\
}

#ifdef scoped_cond_guard
#define DEFINE_scoped_cond_guard(fn, how, class)			\
static void fn(void *any, struct nbq_guard_use *use)			\
{									\
	struct NBQ_TYPE *lock = any;					\
									\
	how##_SCOPE(class, use->err = nbq_guard_err(&scope))		\
		nbq_guard_use_block(use);				\
}
#else
#define DEFINE_scoped_cond_guard(fn, how, class)	DEFINE_missing(fn)
#endif

#ifdef ACQUIRE
#define DEFINE_acquire(fn, how, class)					\
static void fn(void *any, struct nbq_guard_use *use)			\
{									\
	struct NBQ_TYPE *lock = any;					\
									\
	how##_WITH(ACQUIRE(class, held));				\
	use->err = ACQUIRE_ERR(class, &held);				\
	if (!use->err)							\
		nbq_guard_use_block(use);				\
}
#else
#define DEFINE_acquire(fn, how, class)			DEFINE_missing(fn)
#endif

/* One function for each use of each class, with one way out */
#define NBQ_GUARD(by, how, form)					\
	DEFINE_##by(by_##by##_##how##_##form, how, CLASS_OF(how, form))
#include "guard_list.h"
#undef NBQ_GUARD

#define NBQ_GUARD(by, how, form)	by_##by##_##how##_##form,
static void (*const guards[])(void *lock, struct nbq_guard_use *use) = {
#include "guard_list.h"
};

#undef NBQ_GUARD

/* Every way out of a block, for each use */

static void leave_guard(void *any, struct nbq_guard_use *use)
{
	struct NBQ_TYPE *lock = any;

	do {
		GUARDED_BY(OP(irqsave))(lock);
		nbq_guard_use_block(use);
		if (use->way == BY_RETURN)
			return;
		if (use->way == BY_GOTO)
			goto out;
		if (use->way == BY_BREAK)
			break;
	} while (0);
	nbq_guard_use_after(use);
out:
	nbq_guard_use_after(use);
}

static void leave_scoped_guard(void *any, struct nbq_guard_use *use)
{
	struct NBQ_TYPE *lock = any;

	scoped_guard(OP(irqsave), lock) {
		nbq_guard_use_block(use);
		if (use->way == BY_RETURN)
			return;
		if (use->way == BY_GOTO)
			goto out;
		if (use->way == BY_BREAK)
			break;
	}
	nbq_guard_use_after(use);
out:
	nbq_guard_use_after(use);
}

static void leave_class(void *any, struct nbq_guard_use *use)
{
	struct NBQ_TYPE *lock = any;

	do {
		HELD_BY(OP(irqsave_timeout))(lock, use->time);
		use->err = nbq_guard_err(&held);
		if (use->err)
			return;
		nbq_guard_use_block(use);
		if (use->way == BY_RETURN)
			return;
		if (use->way == BY_GOTO)
			goto out;
		if (use->way == BY_BREAK)
			break;
	} while (0);
	nbq_guard_use_after(use);
out:
	nbq_guard_use_after(use);
}

#ifdef scoped_cond_guard
static void leave_scoped_cond_guard(void *any, struct nbq_guard_use *use)
{
	struct NBQ_TYPE *lock = any;

	scoped_cond_guard(OP(irqsave_timeout),
			  { use->err = nbq_guard_err(&scope); return; },
			  lock, use->time) {
		nbq_guard_use_block(use);
		if (use->way == BY_RETURN)
			return;
		if (use->way == BY_GOTO)
			goto out;
		if (use->way == BY_BREAK)
			break;
	}
	nbq_guard_use_after(use);
out:
	nbq_guard_use_after(use);
}
#else
#define leave_scoped_cond_guard		NULL
#endif

static void (*const ways_out[])(void *lock, struct nbq_guard_use *use) = {
	leave_guard,
	leave_scoped_guard,
	leave_class,
	leave_scoped_cond_guard,
};

#else
#define guards		NULL
#define ways_out	NULL
#endif
