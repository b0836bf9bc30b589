/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hybrid lock nbq_spin: its struct, and what of its verbs is inline.
 * lock_type.h includes this in the place of what the queue locks have in common;
 * spin.c says how the lock works.
 *
 * Include <nbqlock/nbqlock.h>, not this.
 */
#ifndef NBQ_TYPE
#error "Include <nbqlock/nbqlock.h>, which says for which lock type"
#endif

#include <asm/byteorder.h>
#include <asm/mmiowb.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>

/*
 * A context as a number of 16 bits: its CPU, counted from 1, and above that its
 * context level. 0 is nobody.
 */
#define NBQ_CONTEXT_CPU_BITS	14

/* For how long a request to newcomers to queue holds at most, in ns, unless renewed. */
#define NBQ_SPIN_HANDOFF_NS	(3 << 13)

/* In the turn of a lock that is first come, first served; sockets have greater numbers. */
#define NBQ_SPIN_FIFO		1

/**
 * union nbq_spin_state - what decides who may take a hybrid lock
 * @all: all of it; 0: anybody
 * @holder: the context that holds the lock; 0: none
 * @request: @handoff and @turn
 * @handoff: a request to newcomers to queue: the time at which the head of a queue made
 *	it, as spin.c encodes it; it expires by itself. 0: there is none
 * @turn: for which waiters it was made: those of a socket, by its number in nbqlock; 0: those
 *	in the queue of the lock itself. Or %NBQ_SPIN_FIFO: newcomers queue behind any waiter,
 *	and the lock is first come, first served
 */
union nbq_spin_state {
	u32 all;
	struct {
#ifdef __LITTLE_ENDIAN
		u16 holder;
		union {
			u16 request;
			struct {
				u8 handoff;
				u8 turn;
			};
		};
#else
		union {
			u16 request;
			struct {
				u8 turn;
				u8 handoff;
			};
		};
		u16 holder;
#endif
	};
};

/**
 * union nbq_spin_word - a hybrid lock without what lockdep needs
 * @all: all of it, for kernels that access 64 bits at once
 * @state: who holds it, and who may take it
 * @tail: the newest queue node, as a number; 0: there is none in the queue of the lock itself
 */
union nbq_spin_word {
	u64 all;
	struct {
		union nbq_spin_state state;
		u32 tail;
	};
};

/**
 * struct nbq_spin - a hybrid lock
 * @word: all that follows, up to @dep_map
 * @state: who holds it, and who may take it
 * @tail: the newest queue node, as a number; 0: there is none in the queue of the lock itself
 * @dep_map: for lockdep
 *
 * All fields are private. A lock that is all zeroes is a free lock, but only
 * DEFINE_NBQ_SPIN() and nbq_spin_init() make it known to lockdep.
 */
__nbq_context_lock_struct(nbq_spin) {
	union {
		union nbq_spin_word word;
		struct {
			union nbq_spin_state state;
			u32 tail;
		};
	};
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/**
 * DOC: verbs of the hybrid
 *
 * They are those of lock_type.h, and differ in this:
 *
 * - An acquisition that need not wait has neither a queue node nor an effect on
 *   nbqlock's counters. (First come, first served, it has both in kernels that cannot
 *   compare and swap 64 bits.)
 * - nbq_spin_lock_timeout() and nbq_spin_lock_until() return -ENOMEM only of a
 *   lock that is first come, first served: others are waited for without a node,
 *   too.
 * - nbq_spin_trylock() may fail on a free lock: of one that is first come, first
 *   served, while any waiter is queued; else while a request to queue stands in it, for
 *   at most %NBQ_SPIN_HANDOFF_NS after the head of the queue has read the clock for it.
 * - A newcomer that waits takes a free lock in which a request stands after 2 us. A
 *   waiter that has enqueued behind one whose CPU does not run takes it within some 150
 *   us; with less patience it may get -ETIMEDOUT.
 * - nbq_spin_unlock() reports misuse in kernels with CONFIG_DEBUG_LOCK_ALLOC only.
 *   In others, to release a lock that is not one's own breaks it.
 * - nbq_spin_is_contended() knows of waiters in the queue, not of newcomers that still
 *   poll outside.
 * - nbq_spin_destroy() has nothing to do if no context ever waited for the lock.
 */

/**
 * nbq_spin_init_fifo_key() - Make a lock that is first come, first served.
 * @lock: memory for the lock
 * @name: its name, for lockdep
 * @key: its class, for lockdep
 *
 * What nbq_spin_init_fifo() does, with a class of the caller's.
 */
void nbq_spin_init_fifo_key(struct nbq_spin *lock, const char *name,
			    struct lock_class_key *key);

/* The context levels of this CPU of which attempts may have left a place in a queue. */
DECLARE_PER_CPU(unsigned int, __nbq_levels_abandoned);

#ifdef CONFIG_DEBUG_LOCK_ALLOC
/* Lockdep is told of each acquisition: nothing is inline. */
int __must_check nbq_spin_lock_timeout(struct nbq_spin *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock);
int __must_check nbq_spin_lock_until(struct nbq_spin *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock);
bool __must_check nbq_spin_trylock(struct nbq_spin *lock)
	__nbq_cond_acquires(true, lock);
void nbq_spin_lock(struct nbq_spin *lock) __acquires(lock);
void nbq_spin_unlock(struct nbq_spin *lock) __releases(lock);
#else
/* For those who could not take the lock at once. Preemption is off already. */
int __nbq_spin_lock_timeout(struct nbq_spin *lock, ktime_t patience);
int __nbq_spin_lock_until(struct nbq_spin *lock, ktime_t deadline);
bool __nbq_spin_trylock(struct nbq_spin *lock);
void __nbq_spin_lock(struct nbq_spin *lock);

/*
 * Take a lock that anybody may take. Preemption is off. For tasks, whose level is
 * 0: to find out which other level it is takes as long as to call a function that
 * does it.
 */
static __always_inline bool __nbq_spin_take_uncontended(struct nbq_spin *lock)
{
	u32 anybody = 0;

	if (unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
		return false;
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_spin_unlock(): the last
	 * critical section is over for whoever finds the lock free.
	 */
	if (!try_cmpxchg_acquire(&lock->state.all, &anybody, raw_smp_processor_id() + 1))
		return false;
	mmiowb_spin_lock();
	return true;
}

static __always_inline int __must_check
nbq_spin_lock_timeout(struct nbq_spin *lock, ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	preempt_disable();
	/* Without patience, as nbq_spin_trylock(). */
	if (likely((patience > 0 ? !this_cpu_read(__nbq_levels_abandoned) :
				   !READ_ONCE(lock->state.all)) &&
		   __nbq_spin_take_uncontended(lock)))
		return 0;
	return __nbq_spin_lock_timeout(lock, patience);
}

static __always_inline int __must_check
nbq_spin_lock_until(struct nbq_spin *lock, ktime_t deadline)
	__nbq_cond_acquires(0, lock)
{
	preempt_disable();
	if (likely(!this_cpu_read(__nbq_levels_abandoned) && __nbq_spin_take_uncontended(lock)))
		return 0;
	return __nbq_spin_lock_until(lock, deadline);
}

static __always_inline bool __must_check nbq_spin_trylock(struct nbq_spin *lock)
	__nbq_cond_acquires(true, lock)
{
	preempt_disable();
	/* Read first: an attempt that fails leaves the line to those who need it. */
	if (likely(!READ_ONCE(lock->state.all) && __nbq_spin_take_uncontended(lock)))
		return true;
	return __nbq_spin_trylock(lock);
}

static __always_inline void nbq_spin_lock(struct nbq_spin *lock)
	__acquires(lock)
{
	preempt_disable();
	if (unlikely(!__nbq_spin_take_uncontended(lock)))
		__nbq_spin_lock(lock);
	__acquire(lock);
}

static __always_inline void nbq_spin_unlock(struct nbq_spin *lock)
	__releases(lock)
{
	__release(lock);
	/* Before the lock is seen to be free: writes to devices are in order. */
	mmiowb_spin_unlock();
	/*
	 * RELEASE, pairs with the ACQUIREs of those who take the lock: the
	 * critical section is over for whoever finds it free.
	 */
	smp_store_release(&lock->state.holder, 0);
	preempt_enable();
}
#endif
