/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __LINUX_SPINLOCK_TIMEOUT_H
#define __LINUX_SPINLOCK_TIMEOUT_H

#ifndef __LINUX_INSIDE_SPINLOCK_H
# error "Please include <linux/spinlock.h>."
#endif

/*
 * Attempts to acquire a spinlock that give up after a time: for a context which must not wait
 * for ever, at any lock that there is. The release, and the other contexts that acquire the
 * lock, are as always.
 *
 * Where CONFIG_NBQ_SPINLOCKS makes spinlocks whose waiters can abandon the queue.
 */

int __lockfunc _raw_spin_lock_timeout(raw_spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock);
int __lockfunc _raw_spin_lock_timeout_bh(raw_spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock);
int __lockfunc
_raw_spin_lock_timeout_irqsave(raw_spinlock_t *lock, s64 patience_ns, unsigned long *flags)
	__cond_acquires(0, lock);
int __lockfunc
_raw_spin_trylock_timeout_irqsave(raw_spinlock_t *lock, s64 patience_ns, unsigned long *flags)
	__cond_acquires(0, lock);

int __lockfunc
_raw_spin_lock_unless(raw_spinlock_t *lock, s64 patience_ns, bool (*stop)(void *arg), void *arg)
	__cond_acquires(0, lock);

/* As do_raw_spin_trylock(). */
#ifdef CONFIG_DEBUG_SPINLOCK
int do_raw_spin_lock_unless(raw_spinlock_t *lock, s64 patience_ns, bool (*stop)(void *arg),
			    void *arg) __cond_acquires(0, lock);
int do_raw_spin_lock_timeout(raw_spinlock_t *lock, s64 patience_ns) __cond_acquires(0, lock);
#else
static inline int do_raw_spin_lock_timeout(raw_spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock)
{
	int ret = nbq_bare_spin_lock_timeout(&lock->raw_lock, patience_ns);

	if (!ret)
		mmiowb_spin_lock();

	return ret;
}

static inline int do_raw_spin_lock_unless(raw_spinlock_t *lock, s64 patience_ns,
					  bool (*stop)(void *arg), void *arg)
	__cond_acquires(0, lock)
{
	int ret = nbq_bare_spin_lock_unless(&lock->raw_lock, patience_ns, stop, arg);

	if (!ret)
		mmiowb_spin_lock();

	return ret;
}
#endif

/**
 * raw_spin_lock_timeout() - Acquire a raw spinlock, or give up after a time.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns; 0 or less: do not wait
 *
 * The patience counts from the first poll in vain. When it is over the waiter abandons its place
 * in the queue in a bounded number of its own steps, whatever its neighbours there do. The time
 * in which an interrupt or a hypervisor has the CPU is in no bound.
 *
 * For lockdep, an attempt with patience is one that waits: a lock order that only the patience
 * resolves is reported. One without, and one in an NMI, is a trylock.
 *
 * Context: Any; NMI where CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG. Returns with preemption off if the
 *	lock was acquired.
 * Return:
 * * 0 - the lock is held: release it by raw_spin_unlock()
 * * %-ETIMEDOUT - the patience is over
 * * %-EBUSY - there was no patience, and the lock is held or waited for
 * * %-EDEADLK - the wait could not end: this CPU holds the lock below this context, or the holder
 *   waits for this CPU, through any number of spinlocks
 * * %-EOWNERDEAD - the wait could not end: a panic has stopped the holder's CPU
 */
static __always_inline int __must_check
raw_spin_lock_timeout(raw_spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock)
{
	return _raw_spin_lock_timeout(lock, patience_ns);
}

/**
 * raw_spin_lock_timeout_bh() - raw_spin_lock_timeout() with bottom halves off.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns
 *
 * Bottom halves are off for as long as it waits; they are as before if it fails.
 *
 * Context: Task or softirq, interrupts on. Returns with bottom halves off if the lock was acquired.
 * Return: As raw_spin_lock_timeout(); release by raw_spin_unlock_bh().
 */
static __always_inline int __must_check
raw_spin_lock_timeout_bh(raw_spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock)
{
	return _raw_spin_lock_timeout_bh(lock, patience_ns);
}

/**
 * raw_spin_lock_timeout_irqsave() - raw_spin_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Interrupts are off for as long as it waits; they are as before if it fails.
 *
 * Context: As raw_spin_lock_timeout(). Returns with interrupts off if the lock was acquired.
 * Return: As raw_spin_lock_timeout(); release by raw_spin_unlock_irqrestore().
 */
#define raw_spin_lock_timeout_irqsave(lock, patience_ns, flags) \
	_raw_spin_lock_timeout_irqsave(lock, patience_ns, &(flags))

/**
 * raw_spin_lock_unless() - Acquire a raw spinlock, or give up when a condition holds.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns; 0 or less: do not wait; %KTIME_MAX: as long as
 *	the condition does not hold
 * @stop: the condition; called with @arg
 * @arg: for @stop
 *
 * As raw_spin_lock_timeout(). Besides, a waiter asks @stop whenever it is to read the clock, within
 * 64 polls, and gives up if that returns true. It is called in the context of the caller, an NMI as
 * well, with preemption off, is short, and may not sleep nor acquire any lock, which lockdep would
 * take for one that is acquired under this one. A free lock is acquired, and an attempt without
 * patience fails, without a call.
 *
 * Context: As raw_spin_lock_timeout().
 * Return: As raw_spin_lock_timeout(), and
 * * %-ECANCELED - @stop has returned true
 */
static __always_inline int __must_check
raw_spin_lock_unless(raw_spinlock_t *lock, s64 patience_ns, bool (*stop)(void *arg), void *arg)
	__cond_acquires(0, lock)
{
	return _raw_spin_lock_unless(lock, patience_ns, stop, arg);
}

/**
 * raw_spin_trylock_timeout_irqsave() - raw_spin_trylock_irqsave() that waits for a time.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * For contexts that may be anywhere, also above a holder of this lock, or of one that is acquired
 * within it: any order of locks is legal, as the patience ends what could not end by itself. It is
 * raw_spin_lock_timeout_irqsave() but for lockdep, to which it is a trylock.
 *
 * Context: As raw_spin_lock_timeout(). Returns with interrupts off if the lock was acquired.
 * Return: As raw_spin_lock_timeout(); release by raw_spin_unlock_irqrestore().
 */
#define raw_spin_trylock_timeout_irqsave(lock, patience_ns, flags) \
	_raw_spin_trylock_timeout_irqsave(lock, patience_ns, &(flags))

/* With PREEMPT_RT a spinlock_t sleeps, and there are those of a raw_spinlock_t only. */
#ifndef CONFIG_PREEMPT_RT

/**
 * spin_lock_timeout() - Acquire a spinlock, or give up after a time.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns; 0 or less: do not wait
 *
 * Context: As raw_spin_lock_timeout().
 * Return: As raw_spin_lock_timeout(); release by spin_unlock().
 */
static __always_inline int __must_check
spin_lock_timeout(spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock) __no_context_analysis
{
	return raw_spin_lock_timeout(&lock->rlock, patience_ns);
}

/**
 * spin_lock_timeout_bh() - spin_lock_timeout() with bottom halves off.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns
 *
 * Context: As raw_spin_lock_timeout_bh().
 * Return: As raw_spin_lock_timeout(); release by spin_unlock_bh().
 */
static __always_inline int __must_check
spin_lock_timeout_bh(spinlock_t *lock, s64 patience_ns)
	__cond_acquires(0, lock) __no_context_analysis
{
	return raw_spin_lock_timeout_bh(&lock->rlock, patience_ns);
}

static __always_inline int __must_check
_spin_lock_timeout_irqsave(spinlock_t *lock, s64 patience_ns, unsigned long *flags)
	__cond_acquires(0, lock) __no_context_analysis
{
	return raw_spin_lock_timeout_irqsave(&lock->rlock, patience_ns, *flags);
}

/**
 * spin_lock_timeout_irqsave() - spin_lock_timeout() with interrupts off.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Context: As raw_spin_lock_timeout_irqsave().
 * Return: As raw_spin_lock_timeout(); release by spin_unlock_irqrestore().
 */
#define spin_lock_timeout_irqsave(lock, patience_ns, flags) \
	_spin_lock_timeout_irqsave(lock, patience_ns, &(flags))

static __always_inline int __must_check
_spin_trylock_timeout_irqsave(spinlock_t *lock, s64 patience_ns, unsigned long *flags)
	__cond_acquires(0, lock) __no_context_analysis
{
	return raw_spin_trylock_timeout_irqsave(&lock->rlock, patience_ns, *flags);
}

/**
 * spin_trylock_timeout_irqsave() - spin_trylock_irqsave() that waits for a time.
 * @lock: the lock
 * @patience_ns: how long to wait at most, in ns
 * @flags: unsigned long variable for the interrupt state, by name
 *
 * Context: As raw_spin_trylock_timeout_irqsave().
 * Return: As raw_spin_lock_timeout(); release by spin_unlock_irqrestore().
 */
#define spin_trylock_timeout_irqsave(lock, patience_ns, flags) \
	_spin_trylock_timeout_irqsave(lock, patience_ns, &(flags))

#endif /* !CONFIG_PREEMPT_RT */

#endif /* __LINUX_SPINLOCK_TIMEOUT_H */
