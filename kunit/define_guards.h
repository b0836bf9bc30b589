/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that use the guards of a lock type, for its row: define_lock_row.h
 * includes this, with NBQ_TYPE. Those that this kernel does not have are NULL.
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
#define HELD_BY(class)			CLASS(class, held)

/* Of what class, with what arguments */
#define TRY_WITH(make)			make(lock)
#define TIMEOUT_WITH(make)		make(lock, visit->time)
#define UNTIL_WITH(make)		make(lock, visit->time)
#define TRY_SCOPE(class, fail)		scoped_cond_guard(class, fail, lock)
#define TIMEOUT_SCOPE(class, fail)	scoped_cond_guard(class, fail, lock, visit->time)
#define UNTIL_SCOPE(class, fail)	scoped_cond_guard(class, fail, lock, visit->time)

#define DEFINE_guard(fn, how, class)					\
static void fn(void *any, struct nbq_visit *visit)			\
{									\
	struct nbq_X *lock = any;					\
									\
	guard(class)(lock);						\
	nbq_visit_look(visit);						\
}

#define DEFINE_scoped_guard(fn, how, class)				\
static void fn(void *any, struct nbq_visit *visit)			\
{									\
	struct nbq_X *lock = any;					\
									\
	scoped_guard(class, lock)					\
		nbq_visit_look(visit);					\
}

#define DEFINE_class(fn, how, class)					\
static void fn(void *any, struct nbq_visit *visit)			\
{									\
	struct nbq_X *lock = any;					\
									\
	how##_WITH(HELD_BY(class));					\
	visit->err = nbq_guard_err(&held);				\
	if (!visit->err)						\
		nbq_visit_look(visit);					\
}

#define DEFINE_missing(fn)						\
static void fn(void *any, struct nbq_visit *visit)			\
{									\
	visit->missing = true;						\
}

#ifdef scoped_cond_guard
#define DEFINE_scoped_cond_guard(fn, how, class)			\
static void fn(void *any, struct nbq_visit *visit)			\
{									\
	struct nbq_X *lock = any;					\
									\
	how##_SCOPE(class, visit->err = nbq_guard_err(&scope))		\
		nbq_visit_look(visit);					\
}
#else
#define DEFINE_scoped_cond_guard(fn, how, class)	DEFINE_missing(fn)
#endif

#ifdef ACQUIRE
#define DEFINE_acquire(fn, how, class)					\
static void fn(void *any, struct nbq_visit *visit)			\
{									\
	struct nbq_X *lock = any;					\
									\
	how##_WITH(ACQUIRE(class, held));				\
	visit->err = ACQUIRE_ERR(class, &held);				\
	if (!visit->err)						\
		nbq_visit_look(visit);					\
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
static void (*const guards[])(void *lock, struct nbq_visit *visit) = {
#include "guard_list.h"
};

#undef NBQ_GUARD

/* Every way out of a block, for each use */

static void leave_guard(void *any, struct nbq_visit *visit)
{
	struct nbq_X *lock = any;

	do {
		guard(nbq_X_irqsave)(lock);
		nbq_visit_look(visit);
		if (visit->way == BY_RETURN)
			return;
		if (visit->way == BY_GOTO)
			goto out;
		if (visit->way == BY_BREAK)
			break;
	} while (0);
	nbq_visit_leave(visit);
out:
	nbq_visit_leave(visit);
}

static void leave_scoped_guard(void *any, struct nbq_visit *visit)
{
	struct nbq_X *lock = any;

	scoped_guard(nbq_X_irqsave, lock) {
		nbq_visit_look(visit);
		if (visit->way == BY_RETURN)
			return;
		if (visit->way == BY_GOTO)
			goto out;
		if (visit->way == BY_BREAK)
			break;
	}
	nbq_visit_leave(visit);
out:
	nbq_visit_leave(visit);
}

static void leave_class(void *any, struct nbq_visit *visit)
{
	struct nbq_X *lock = any;

	do {
		HELD_BY(__PASTE(NBQ_TYPE, _irqsave_timeout))(lock, visit->time);
		visit->err = nbq_guard_err(&held);
		if (visit->err)
			return;
		nbq_visit_look(visit);
		if (visit->way == BY_RETURN)
			return;
		if (visit->way == BY_GOTO)
			goto out;
		if (visit->way == BY_BREAK)
			break;
	} while (0);
	nbq_visit_leave(visit);
out:
	nbq_visit_leave(visit);
}

#ifdef scoped_cond_guard
static void leave_scoped_cond_guard(void *any, struct nbq_visit *visit)
{
	struct nbq_X *lock = any;

	scoped_cond_guard(__PASTE(NBQ_TYPE, _irqsave_timeout),
			  { visit->err = nbq_guard_err(&scope); return; },
			  lock, visit->time) {
		nbq_visit_look(visit);
		if (visit->way == BY_RETURN)
			return;
		if (visit->way == BY_GOTO)
			goto out;
		if (visit->way == BY_BREAK)
			break;
	}
	nbq_visit_leave(visit);
out:
	nbq_visit_leave(visit);
}
#else
#define leave_scoped_cond_guard		NULL
#endif

static void (*const ways_out[])(void *lock, struct nbq_visit *visit) = {
	leave_guard,
	leave_scoped_guard,
	leave_class,
	leave_scoped_cond_guard,
};

#else
#define guards		NULL
#define ways_out	NULL
#endif
