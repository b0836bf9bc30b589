/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guards of all lock types have in common: locks that are released when a variable
 * goes out of scope, by the kernel's <linux/cleanup.h>, in kernels that have it.
 */
#ifndef _NBQLOCK_GUARD_H
#define _NBQLOCK_GUARD_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

#include "compat.h"

#ifdef __NBQ_GUARDS

/**
 * DOC: guards
 *
 * Classes that cannot fail, for guard() and scoped_guard(): ``nbq_spin``, ``nbq_spin_irq``,
 * ``nbq_spin_irqsave``, ``nbq_spin_bh``, and the same of the other locks::
 *
 *	guard(nbq_spin_irqsave)(&lock);
 *
 * Classes that may fail: ``nbq_spin_try`` and ``nbq_spin_irqsave_try`` do not wait;
 * ``nbq_spin_timeout`` and ``nbq_spin_irqsave_timeout`` have a patience, ``nbq_spin_until`` and
 * ``nbq_spin_irqsave_until`` a deadline. In every kernel that has guards::
 *
 *	CLASS(nbq_spin_timeout, held)(&lock, 50 * NSEC_PER_USEC);
 *	int ret = nbq_guard_err(&held);
 *
 *	if (ret)
 *		return ret;
 *
 * and from Linux 6.8 on, besides::
 *
 *	scoped_cond_guard(nbq_spin_timeout, return nbq_guard_err(&scope), &lock, patience) {
 *		...
 *	}
 *
 * ACQUIRE() and ACQUIRE_ERR(), where the kernel has them, do what CLASS() and nbq_guard_err()
 * do.
 *
 * A guard that may fail and is not checked on some path is an error at compile time. So
 * guard() is refused, and with a patience or deadline scoped_guard() is, as is a
 * scoped_cond_guard() that returns an error of its own: the errors differ, and must be told
 * apart. The guards that do not wait have one error, -EBUSY, and take both. The compiler must
 * see the check in the function that has the guard.
 */

/**
 * struct nbq_guard - the variable of a guard that may fail
 * @lock: the lock, of whatever type
 * @flags: interrupt state, for the classes that save it
 * @err: 0: the lock is held; or a negative errno
 * @checked: @err has been read
 *
 * All fields are private.
 */
struct nbq_guard {
	void *lock;
	unsigned long flags;
	int err;
	bool checked;
};

/* There is no such function: a call of it must be unreachable. */
__compiletime_error("check nbq_guard_err() of this guard")
void nbq_guard_unchecked(void);

/**
 * nbq_guard_err() - Does a guard that may fail hold its lock?
 * @guard: address of its variable; within scoped_cond_guard() that is &scope
 *
 * Return: 0 if it does; else what the operation returned, or -EBUSY of one that does not wait.
 */
static __always_inline int __must_check nbq_guard_err(struct nbq_guard *guard)
{
	guard->checked = true;
	return guard->err;
}

/* The one error of a guard that does not wait. */
static __always_inline int __nbq_try_err(bool acquired)
{
	return acquired ? 0 : -EBUSY;
}

/* The check that the kernel's macros make; it suffices where there is but @one_error. */
static __always_inline void *__nbq_guard_ptr(struct nbq_guard *guard, bool one_error)
{
	if (one_error || !guard->err)
		guard->checked = true;
	return guard->err ? NULL : guard;
}

/* The guard goes out of scope: is the lock to be released? */
static __always_inline bool __nbq_guard_end(const struct nbq_guard *guard)
{
	if (!guard->checked)
		nbq_guard_unchecked();
	return !guard->err;
}

/*
 * A class that may fail. The declarations are for what DEFINE_CLASS() defines: the compiler
 * must see through it, in kernels in which that is only inline, too.
 *
 * @_one_error: see __nbq_guard_ptr()
 * @_acquire: 0, or a negative errno; _T is the guard, lock the parameter
 * @_release: undoes it; _T is the guard
 * @...: parameters
 */
#define __NBQ_DEFINE_GUARD_COND(_name, _one_error, _acquire, _release, ...) \
static __maybe_unused const bool class_##_name##_is_conditional = true;	\
									\
static __always_inline void						\
class_##_name##_destructor(struct nbq_guard *guard);			\
static __always_inline struct nbq_guard					\
class_##_name##_constructor(__VA_ARGS__);				\
									\
DEFINE_CLASS(_name, struct nbq_guard,					\
	     __nbq_guard_end(&_T) ? _release : (void)0,			\
	     ({ struct nbq_guard _T = { .lock = lock }; _T.err = _acquire; _T; }), \
	     __VA_ARGS__)						\
									\
static __always_inline void *						\
class_##_name##_lock_ptr(struct nbq_guard *guard)			\
{									\
	return __nbq_guard_ptr(guard, _one_error);			\
}									\
									\
static __always_inline int __must_check					\
class_##_name##_lock_err(struct nbq_guard *guard)			\
{									\
	return nbq_guard_err(guard);					\
}

#endif

#endif
