/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guards: locks that are released when a variable goes out of scope, by the
 * kernel's <linux/cleanup.h>. Written once for all lock types: nbqlock.h
 * includes this for each, with NBQ_TYPE as for lock_type.h, where the kernel
 * has that header. Where it says nbq_X, read nbq_clh, nbq_mcs, nbq_swap,
 * nbq_spin.
 *
 * Include <nbqlock/nbqlock.h>, not this.
 */
#ifndef NBQ_TYPE
#error "Include <nbqlock/nbqlock.h>, which says for which lock type"
#endif

#ifndef _NBQLOCK_GUARDS_H
#define _NBQLOCK_GUARDS_H

#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

#define nbq_X_irq			__PASTE(NBQ_TYPE, _irq)
#define nbq_X_irqsave			__PASTE(NBQ_TYPE, _irqsave)
#define nbq_X_bh			__PASTE(NBQ_TYPE, _bh)

/**
 * DOC: guards
 *
 * Classes that wait for ever, for guard() and scoped_guard(): ``nbq_X``,
 * ``nbq_X_irq``, ``nbq_X_irqsave``, ``nbq_X_bh``::
 *
 *	guard(nbq_clh_irqsave)(&lock);
 *
 * Classes that may fail; each has an ``_irq``, ``_irqsave`` and ``_bh`` form, in
 * the middle as in the kernel's ``spinlock_irqsave_try``:
 *
 * - ``nbq_X_try``: no wait at all
 * - ``nbq_X_timeout``: a patience, as nbq_X_lock_timeout()
 * - ``nbq_X_until``: a deadline, as nbq_X_lock_until()
 *
 * This works in every kernel that has guards::
 *
 *	CLASS(nbq_clh_timeout, held)(&lock, 50 * NSEC_PER_USEC);
 *	int ret = nbq_guard_err(&held);
 *
 *	if (ret)
 *		return ret;
 *
 * and from Linux 6.8 on, besides::
 *
 *	scoped_cond_guard(nbq_clh_irq_timeout, return nbq_guard_err(&scope),
 *			  &lock, patience) {
 *		...
 *	}
 *
 * Where the kernel has ACQUIRE() and ACQUIRE_ERR() they do what CLASS() and
 * nbq_guard_err() do.
 *
 * It is an error at compile time to let such a guard go out of scope on a path
 * on which nobody has asked whether it holds the lock. So guard() is refused, and
 * for a patience or a deadline so are scoped_guard() and a scoped_cond_guard()
 * that returns an error of its own: there are several ways to fail, and they
 * must be told apart. ``nbq_X_try`` has one, -EBUSY, and takes both. The compiler
 * must see it in the function that has the guard.
 */

/**
 * struct nbq_guard - a guard that may fail; the variable of its classes
 * @lock: the lock, of whatever type
 * @flags: interrupt state, for the classes that keep it
 * @err: 0: it holds the lock; or a negative errno
 * @seen: somebody has asked
 *
 * All fields are private.
 */
struct nbq_guard {
	void *lock;
	unsigned long flags;
	int err;
	bool seen;
};

/* There is no such function: a call of it must be unreachable. */
__compiletime_error("ask nbq_guard_err() whether this guard holds its lock")
void nbq_guard_unchecked(void);

/**
 * nbq_guard_err() - Does a guard that may fail hold its lock?
 * @guard: address of its variable; within scoped_cond_guard() that is &scope
 *
 * Return: 0 if it does. Else what nbq_X_lock_timeout() or nbq_X_lock_until()
 * said; -EBUSY for a guard that does not wait.
 */
static __always_inline int __must_check nbq_guard_err(struct nbq_guard *guard)
{
	guard->seen = true;
	return guard->err;
}

/*
 * The same as the kernel's macros ask. Where there is @one_way to fail, they need
 * not ask any further.
 */
static __always_inline void *__nbq_guard_ptr(struct nbq_guard *guard, bool one_way)
{
	if (one_way || !guard->err)
		guard->seen = true;
	return guard->err ? NULL : guard;
}

/* The guard goes out of scope: is there something to release? */
static __always_inline bool __nbq_guard_end(const struct nbq_guard *guard)
{
	if (!guard->seen)
		nbq_guard_unchecked();
	return !guard->err;
}

/*
 * Sparse does not know of cleaning up: to it, who has a guard has nothing.
 */
#ifdef __CHECKER__
#define __nbq_guard_took(lock, verb)	({ verb; __release(lock); })
#define __nbq_guard_gives(lock, verb)	({ __acquire(lock); verb; })
#else
#define __nbq_guard_took(lock, verb)	verb
#define __nbq_guard_gives(lock, verb)	verb
#endif

/*
 * A class that may fail, named @_name with @_ext behind it. The declarations are
 * for what DEFINE_CLASS() defines: the compiler must see through it, in kernels
 * in which that is only inline, too.
 *
 * @_one_way: see __nbq_guard_ptr()
 * @_acquire: 0, or a negative errno; _T is the guard, lock the parameter
 * @_release: undoes it; _T is the guard
 * @...: parameters: lock, patience ...
 */
#define __NBQ_DEFINE_GUARD_COND(_name, _ext, _one_way, _acquire, _release, ...) \
static __maybe_unused const bool class_##_name##_ext##_is_conditional = true; \
									\
static __always_inline void						\
class_##_name##_ext##_destructor(struct nbq_guard *guard);		\
static __always_inline struct nbq_guard					\
class_##_name##_ext##_constructor(__VA_ARGS__);				\
									\
DEFINE_CLASS(_name##_ext, struct nbq_guard,				\
	     __nbq_guard_end(&_T) ? _release : (void)0,			\
	     ({ struct nbq_guard _T = { .lock = lock }; _T.err = _acquire; _T; }), \
	     __VA_ARGS__)						\
									\
static __always_inline void *						\
class_##_name##_ext##_lock_ptr(struct nbq_guard *guard)			\
{									\
	return __nbq_guard_ptr(guard, _one_way);			\
}									\
									\
static __always_inline int __must_check					\
class_##_name##_ext##_lock_err(struct nbq_guard *guard)			\
{									\
	return nbq_guard_err(guard);					\
}

/* The name of the lock type is a macro itself: complete it first. */
#define NBQ_DEFINE_GUARD_COND(...)	__NBQ_DEFINE_GUARD_COND(__VA_ARGS__)

/* For clang's context analysis; what else it needs is in nbqlock.h. */
#ifdef DECLARE_LOCK_GUARD_1_ATTRS
#define __NBQ_DECLARE_GUARD(_name, _lock)				\
	DECLARE_LOCK_GUARD_1_ATTRS(_name, __acquires(_T), __releases(_lock))
#else
#define __NBQ_DECLARE_GUARD(_name, _lock)
#endif
#define NBQ_DECLARE_GUARD(...)		__NBQ_DECLARE_GUARD(__VA_ARGS__)

#endif

DEFINE_LOCK_GUARD_1(nbq_X, struct nbq_X,
		    __nbq_guard_took(_T->lock, nbq_X_lock(_T->lock)),
		    __nbq_guard_gives(_T->lock, nbq_X_unlock(_T->lock)))
NBQ_DECLARE_GUARD(nbq_X, *(struct nbq_X **)_T)

NBQ_DEFINE_GUARD_COND(nbq_X, _timeout, false,
		      nbq_X_lock_timeout(lock, patience),
		      nbq_X_unlock(_T.lock),
		      struct nbq_X *lock, ktime_t patience)

NBQ_DEFINE_GUARD_COND(nbq_X, _until, false,
		      nbq_X_lock_until(lock, deadline),
		      nbq_X_unlock(_T.lock),
		      struct nbq_X *lock, ktime_t deadline)

NBQ_DEFINE_GUARD_COND(nbq_X, _try, true,
		      nbq_X_trylock(lock) ? 0 : -EBUSY,
		      nbq_X_unlock(_T.lock),
		      struct nbq_X *lock)

DEFINE_LOCK_GUARD_1(nbq_X_irq, struct nbq_X,
		    __nbq_guard_took(_T->lock, nbq_X_lock_irq(_T->lock)),
		    __nbq_guard_gives(_T->lock, nbq_X_unlock_irq(_T->lock)))
NBQ_DECLARE_GUARD(nbq_X_irq, *(struct nbq_X **)_T)

NBQ_DEFINE_GUARD_COND(nbq_X_irq, _timeout, false,
		      nbq_X_lock_timeout_irq(lock, patience),
		      nbq_X_unlock_irq(_T.lock),
		      struct nbq_X *lock, ktime_t patience)

NBQ_DEFINE_GUARD_COND(nbq_X_irq, _until, false,
		      nbq_X_lock_until_irq(lock, deadline),
		      nbq_X_unlock_irq(_T.lock),
		      struct nbq_X *lock, ktime_t deadline)

NBQ_DEFINE_GUARD_COND(nbq_X_irq, _try, true,
		      nbq_X_trylock_irq(lock) ? 0 : -EBUSY,
		      nbq_X_unlock_irq(_T.lock),
		      struct nbq_X *lock)

DEFINE_LOCK_GUARD_1(nbq_X_irqsave, struct nbq_X,
		    __nbq_guard_took(_T->lock, __nbq_X_lock_irqsave(_T->lock, &_T->flags)),
		    __nbq_guard_gives(_T->lock, nbq_X_unlock_irqrestore(_T->lock, _T->flags)),
		    unsigned long flags)
NBQ_DECLARE_GUARD(nbq_X_irqsave, *(struct nbq_X **)_T)

NBQ_DEFINE_GUARD_COND(nbq_X_irqsave, _timeout, false,
		      __nbq_X_lock_timeout_irqsave(lock, patience, &_T.flags),
		      nbq_X_unlock_irqrestore(_T.lock, _T.flags),
		      struct nbq_X *lock, ktime_t patience)

NBQ_DEFINE_GUARD_COND(nbq_X_irqsave, _until, false,
		      __nbq_X_lock_until_irqsave(lock, deadline, &_T.flags),
		      nbq_X_unlock_irqrestore(_T.lock, _T.flags),
		      struct nbq_X *lock, ktime_t deadline)

NBQ_DEFINE_GUARD_COND(nbq_X_irqsave, _try, true,
		      __nbq_X_trylock_irqsave(lock, &_T.flags) ? 0 : -EBUSY,
		      nbq_X_unlock_irqrestore(_T.lock, _T.flags),
		      struct nbq_X *lock)

DEFINE_LOCK_GUARD_1(nbq_X_bh, struct nbq_X,
		    __nbq_guard_took(_T->lock, nbq_X_lock_bh(_T->lock)),
		    __nbq_guard_gives(_T->lock, nbq_X_unlock_bh(_T->lock)))
NBQ_DECLARE_GUARD(nbq_X_bh, *(struct nbq_X **)_T)

NBQ_DEFINE_GUARD_COND(nbq_X_bh, _timeout, false,
		      nbq_X_lock_timeout_bh(lock, patience),
		      nbq_X_unlock_bh(_T.lock),
		      struct nbq_X *lock, ktime_t patience)

NBQ_DEFINE_GUARD_COND(nbq_X_bh, _until, false,
		      nbq_X_lock_until_bh(lock, deadline),
		      nbq_X_unlock_bh(_T.lock),
		      struct nbq_X *lock, ktime_t deadline)

NBQ_DEFINE_GUARD_COND(nbq_X_bh, _try, true,
		      nbq_X_trylock_bh(lock) ? 0 : -EBUSY,
		      nbq_X_unlock_bh(_T.lock),
		      struct nbq_X *lock)
