// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the hybrid: its bare layer (bare_spin.c), with preemption, lockdep and reports
 * added.
 */
#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/instruction_pointer.h>

#include "attempt.h"
#include "bare_spin.h"
#include "internal.h"
#include "spin.h"

static __always_inline int acquire_timed(struct nbq_spin *lock, struct nbq_deadline deadline,
					 unsigned int subclass, unsigned long ip)
{
	struct lockdep_map *map = nbq_dep_map_of(lock);
	int ret;

	nbq_attempt_record(map, &deadline, subclass, ip);
	ret = nbq_bare_spin_acquire(&lock->bare, deadline, ip, NULL);
	return nbq_attempt_end(map, &deadline, ret, ip);
}

static void acquire_untimed(struct nbq_spin *lock, unsigned int subclass, unsigned long ip)
{
	struct nbq_deadline never = nbq_deadline_at(KTIME_MAX);
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct nbq_condition learns = {};
	int ret;

	nbq_attempt_record(map, &never, subclass, ip);
	ret = nbq_bare_spin_acquire(&lock->bare, never, ip, &learns);
	if (unlikely(ret)) {
		nbq_report(ret == -EOWNERDEAD ? NBQ_REPORT_OWNER_DEAD : NBQ_REPORT_DEADLOCK, lock,
			   learns.judged, ip);
		nbq_bare_spin_acquire_deadlocked(&lock->bare, never, ip);
	}
	nbq_attempt_end(map, &never, 0, ip);
}

void nbq_spin_init_key(struct nbq_spin *lock, const char *name, struct lock_class_key *key)
{
	lock->state.all = 0;
	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);
}
EXPORT_SYMBOL_GPL(nbq_spin_init_key);

/*
 * An attempt with patience has come here, to look for a place or since the lock is not free. One
 * that interrupts this one may be counted less, or more: the number ends in 0 all the same.
 */
static __always_inline void count_look(void)
{
	unsigned int left = this_cpu_read(__nbq_looks_left);

	if (unlikely(left))
		this_cpu_write(__nbq_looks_left, left - 1);
}

int __nbq_spin_lock_timeout(struct nbq_spin *lock, ktime_t patience)
{
	count_look();
	return acquire_timed(lock, nbq_deadline_after(patience), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_spin_lock_timeout);

int __nbq_spin_lock_until(struct nbq_spin *lock, ktime_t deadline)
{
	count_look();
	return acquire_timed(lock, nbq_deadline_at(deadline), 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_spin_lock_until);

int nbq_spin_lock_timeout_info(struct nbq_spin *lock, ktime_t patience,
			       struct nbq_timeout *info)
{
	struct nbq_deadline deadline = nbq_deadline_after(patience);
	struct lockdep_map *map = nbq_dep_map_of(lock);
	struct nbq_condition learns = {};
	u64 begin = nbq_clock_ns();
	unsigned int takeovers;
	int ret;

	preempt_disable();
	takeovers = nbq_this_pool()->takeovers;
	nbq_attempt_record(map, &deadline, 0, _RET_IP_);
	ret = nbq_bare_spin_acquire(&lock->bare, deadline, _RET_IP_, &learns);
	/* Not by a read after a judgement: another context may have taken the lock over since. */
	if (ret) {
		nbq_timeout_fill(info, learns.judged ?: READ_ONCE(lock->state.holder), begin);
		info->takeovers = takeovers;
	}
	return nbq_attempt_end(map, &deadline, ret, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_spin_lock_timeout_info);

/*
 * Has the named context been taken over from already? If it has another CPU or level, the word of
 * the lock tells. If it has those of the running context, the word stays as it is: then a takeover
 * makes those fail that name the holder by an earlier attempt.
 */
static bool is_taken_over(const struct nbq_timeout *info)
{
	struct nbq_pool *pool = nbq_this_pool();

	if (nbq_encode_context(info->holder_cpu, info->holder_level) != nbq_this_context(pool))
		return false;
	if (info->takeovers != pool->takeovers)
		return true;
	pool->takeovers++;
	return false;
}

int nbq_spin_takeover(struct nbq_spin *lock, const struct nbq_timeout *info)
{
	/* As a trylock, for lockdep. */
	struct nbq_deadline none = nbq_deadline_none();
	bool taken;

	if (info->holder_cpu < 0)
		return -EINVAL;
	preempt_disable();
	taken = !is_taken_over(info) &&
		nbq_bare_spin_takeover(&lock->bare, info->holder_cpu, info->holder_level);
	return nbq_attempt_end(nbq_dep_map_of(lock), &none, taken ? 0 : -ESTALE, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_spin_takeover);

int nbq_spin_lock_unless(struct nbq_spin *lock, ktime_t patience, nbq_stop_t stop, void *arg)
{
	struct nbq_condition unless = { .stop = stop, .arg = arg };
	struct nbq_deadline deadline = nbq_deadline_after(patience);
	struct lockdep_map *map = nbq_dep_map_of(lock);
	int ret;

	preempt_disable();
	/* In an NMI a trylock, also without end: its condition may hold. */
	if (!in_nmi())
		nbq_attempt_record(map, &deadline, 0, _RET_IP_);
	ret = nbq_bare_spin_acquire(&lock->bare, deadline, _RET_IP_, &unless);
	return nbq_attempt_end(map, &deadline, ret, _RET_IP_);
}
EXPORT_SYMBOL_GPL(nbq_spin_lock_unless);

bool __nbq_spin_trylock(struct nbq_spin *lock)
{
	struct nbq_deadline none = nbq_deadline_none();
	int ret = nbq_bare_spin_trylock(&lock->bare) ? 0 : -EBUSY;

	return !nbq_attempt_end(nbq_dep_map_of(lock), &none, ret, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_spin_trylock);

void __nbq_spin_lock(struct nbq_spin *lock)
{
	acquire_untimed(lock, 0, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_spin_lock);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
int __nbq_spin_lock_timeout_nested(struct nbq_spin *lock, ktime_t patience,
				   unsigned int subclass)
{
	preempt_disable();
	return acquire_timed(lock, nbq_deadline_after(patience), subclass, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__nbq_spin_lock_timeout_nested);

void __nbq_spin_lock_nested(struct nbq_spin *lock, unsigned int subclass) __nbq_acquires(lock)
{
	preempt_disable();
	acquire_untimed(lock, subclass, _RET_IP_);
	__nbq_acquire(lock);
}
EXPORT_SYMBOL_GPL(__nbq_spin_lock_nested);
#endif

#ifdef CONFIG_DEBUG_SPINLOCK
/* The release of a debug kernel, which checks whether the running context holds the lock. */
void __nbq_spin_unlock(struct nbq_spin *lock)
{
	u16 holder = READ_ONCE(lock->state.holder);

	if (unlikely(!holder)) {
		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, _RET_IP_);
		return;
	}
	if (unlikely(holder != nbq_encode_context(raw_smp_processor_id(),
						  interrupt_context_level()))) {
		nbq_report(NBQ_REPORT_NOT_OWNER, lock, holder, _RET_IP_);
		return;
	}
	spin_release(nbq_dep_map_of(lock), _RET_IP_);
	/* Before the lock is seen to be free: writes to devices are in order. */
	mmiowb_spin_unlock();
	nbq_bare_spin_unlock(&lock->bare);
	preempt_enable();
}
EXPORT_SYMBOL_GPL(__nbq_spin_unlock);
#endif

bool nbq_spin_is_locked(const struct nbq_spin *lock)
{
	return nbq_bare_spin_is_locked(&lock->bare);
}
EXPORT_SYMBOL_GPL(nbq_spin_is_locked);

bool nbq_spin_is_contended(const struct nbq_spin *lock)
{
	return nbq_bare_spin_is_contended(&lock->bare);
}
EXPORT_SYMBOL_GPL(nbq_spin_is_contended);
