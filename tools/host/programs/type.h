/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock type of a host test. The tests are written once, with nbq_X for its name; the
 * differences between the types are here alone.
 *
 * Compile with -DTYPE_CLH, -DTYPE_MCS, -DTYPE_SWAP, -DTYPE_SPIN or -DTYPE_ARENA, a BPF program's
 * nbq_arena_lock; with -DBARE_LAYER besides: the hybrid's bare layer, for the explorer.
 */
#ifndef TYPE_H
#define TYPE_H

#include <nbqlock/nbqlock.h>
#include <host.h>
#include <places.h>
#ifdef TYPE_SPIN
#include "../../../kunit/spin_sweep.h"
#elif defined(TYPE_ARENA)
#include <bpf/arena_lock.h>
#endif

/*
 * STEPS_TO_ABANDON, STEPS_TO_RELEASE
 *	The most accesses to shared memory that an abandon and a release make, as
 *	the head of the algorithm's file states them.
 * HOLDS_NODE
 *	Queue nodes that it takes to hold a lock, and to acquire a free one. With one, the
 *	context that closes a cycle detects it although no other polls. Else the others must
 *	publish the holders that they wait for, and any may detect it.
 * NODES_KEPT
 *	Queue nodes that a lock keeps, once it was held, while it is unused.
 * ABANDONED_TAIL_STAYS
 *	Queue nodes that stay when the tail is abandoned behind a waiter or holder.
 * IS_FIFO
 *	First come, first served: each attempt enqueues at once.
 * ERROR_WITHOUT_NODE
 *	The error of an attempt that must wait, with an empty pool, at its deadline.
 * REPORTS_MISUSE
 *	A release of what is not held here is reported and changes nothing.
 * HAS_POLICY
 *	After some polls a waiter does something new.
 * DETECTS_DEADLOCKS
 *	Not only that the own CPU holds the lock.
 * IN_KERNEL
 *	It has counters, and knows of accesses to devices.
 * ERROR_OF_STOP
 *	The error of an attempt whose condition to stop has come true.
 */
#if defined(TYPE_CLH)
#define NBQ_TYPE		nbq_clh
#define DEFINE_NBQ_X		DEFINE_NBQ_CLH
#define STEPS_TO_ABANDON	2
#define STEPS_TO_RELEASE	1
#define NODES_KEPT		1
#define ABANDONED_TAIL_STAYS	0
#elif defined(TYPE_MCS)
#define NBQ_TYPE		nbq_mcs
#define DEFINE_NBQ_X		DEFINE_NBQ_MCS
#define STEPS_TO_ABANDON	7
#define STEPS_TO_RELEASE	4
#define NODES_KEPT		1
#define ABANDONED_TAIL_STAYS	0
#elif defined(TYPE_SWAP)
#define NBQ_TYPE		nbq_swap
#define DEFINE_NBQ_X		DEFINE_NBQ_SWAP
#define STEPS_TO_ABANDON	5
#define STEPS_TO_RELEASE	4
#define NODES_KEPT		1
#define ABANDONED_TAIL_STAYS	1
#elif defined(TYPE_SPIN)
#define NBQ_TYPE		nbq_spin
#define DEFINE_NBQ_X(name)	DEFINE_NBQ_SPIN(name)
#define STEPS_TO_ABANDON	2
#define NODES_KEPT		0
#define ABANDONED_TAIL_STAYS	0
#define HOLDS_NODE		0
#define IS_FIFO			0
#define ERROR_WITHOUT_NODE	(-ETIMEDOUT)
#ifdef CONFIG_DEBUG_SPINLOCK
/* It reads the holder before it releases. */
#define STEPS_TO_RELEASE	(1 + 1)
#define REPORTS_MISUSE		1
#else
#define STEPS_TO_RELEASE	1
#define REPORTS_MISUSE		0
#endif
#elif defined(TYPE_ARENA)
#define NBQ_TYPE		nbq_arena_lock
#define STEPS_TO_ABANDON	3
#define STEPS_TO_RELEASE	1
#define HOLDS_NODE		0
#define IS_FIFO			0
#define ERROR_WITHOUT_NODE	(-ETIMEDOUT)
#define REPORTS_MISUSE		0
#define HAS_POLICY		0
#define DETECTS_DEADLOCKS	0
#define IN_KERNEL		0
#define ERROR_OF_STOP		(-ETIMEDOUT)
#else
#error "for which lock type?"
#endif

#ifndef TYPE_ARENA
#define HAS_POLICY		(!HOLDS_NODE)
#define DETECTS_DEADLOCKS	1
#define IN_KERNEL		1
#define ERROR_OF_STOP		(-ECANCELED)
#endif

#ifndef HOLDS_NODE
#define HOLDS_NODE		1
#define IS_FIFO			1
#define ERROR_WITHOUT_NODE	(-ENOMEM)
#define REPORTS_MISUSE		1
#endif

/* The operations that are tested. */
#define nbq_X				NBQ_TYPE
#ifndef TYPE_ARENA
#define nbq_X_init			__PASTE(NBQ_TYPE, _init)
#endif
#if defined(TYPE_ARENA)
#define nbq_X_unlock			shim_arena_unlock

static inline void nbq_X_init(struct nbq_arena_lock *lock)
{
	*lock = (struct nbq_arena_lock){ };
}

static inline bool nbq_X_trylock(struct nbq_arena_lock *lock)
{
	return shim_arena_trylock(lock);
}

/* Without patience it does not queue, as those of the other types. */
static inline int nbq_X_lock_timeout(struct nbq_arena_lock *lock, ktime_t patience)
{
	if (patience > 0)
		return shim_arena_lock(lock, patience);
	return shim_arena_trylock(lock) ? 0 : -EBUSY;
}

/* Of deadlines that have passed already. */
static inline int nbq_X_lock_until(struct nbq_arena_lock *lock, ktime_t deadline)
{
	return shim_arena_lock(lock, 0);
}

/* Until its program may not loop any more: shim_loop_is_over says so. */
static inline int nbq_X_lock_unless(struct nbq_arena_lock *lock, ktime_t patience,
				    bool (*stop)(void *arg), void *arg)
{
	return shim_arena_lock(lock, patience);
}

#elif defined(BARE_LAYER)
#include <nbqlock/bare_spin.h>

/* The caller of the bare layer turns preemption off, once for each lock. */
static inline int nbq_X_lock_timeout(struct nbq_spin *lock, ktime_t patience)
{
	int ret;

	preempt_disable();
	ret = nbq_bare_spin_lock_timeout(&lock->bare, patience);
	if (ret)
		preempt_enable();
	return ret;
}

static inline int nbq_X_lock_unless(struct nbq_spin *lock, ktime_t patience,
				    bool (*stop)(void *arg), void *arg)
{
	int ret;

	preempt_disable();
	ret = nbq_bare_spin_lock_unless(&lock->bare, patience, stop, arg);
	if (ret)
		preempt_enable();
	return ret;
}

static inline bool nbq_X_trylock(struct nbq_spin *lock)
{
	bool ret;

	preempt_disable();
	ret = nbq_bare_spin_trylock(&lock->bare);
	if (!ret)
		preempt_enable();
	return ret;
}

static inline void nbq_X_unlock(struct nbq_spin *lock)
{
	nbq_bare_spin_unlock(&lock->bare);
	preempt_enable();
}

#else
#define nbq_X_lock_timeout		__PASTE(NBQ_TYPE, _lock_timeout)
#define nbq_X_trylock			__PASTE(NBQ_TYPE, _trylock)
#define nbq_X_unlock			__PASTE(NBQ_TYPE, _unlock)
/* Of the hybrid alone. */
#ifdef TYPE_SPIN
#define nbq_X_lock_unless		nbq_spin_lock_unless
#else
#define nbq_X_lock_unless(lock, patience, stop, arg)	((void)(stop), (void)(arg), -EINVAL)
#endif
#endif
/*
 * nbq_X_end: what is to be called before its memory ends. nbq_X_destroy: finds out that no context
 * uses the lock, and gives back what was abandoned.
 */
#ifdef TYPE_SPIN
#define nbq_X_end(lock)			0
#define nbq_X_destroy(lock)		spin_sweep(&(lock)->bare)
#elif defined(TYPE_ARENA)
#define nbq_X_destroy			shim_arena_sweep
#define nbq_X_end			nbq_X_destroy
#else
#define nbq_X_destroy			__PASTE(NBQ_TYPE, _destroy)
#define nbq_X_end			nbq_X_destroy
#endif
/* Which the bare layer does not have. */
#ifndef TYPE_ARENA
#define nbq_X_lock_until		__PASTE(NBQ_TYPE, _lock_until)
#define nbq_X_lock_timeout_info		__PASTE(NBQ_TYPE, _lock_timeout_info)
#endif
#define nbq_X_lock			__PASTE(NBQ_TYPE, _lock)
#define nbq_X_is_locked			__PASTE(NBQ_TYPE, _is_locked)
#define nbq_X_is_contended		__PASTE(NBQ_TYPE, _is_contended)

/* Where the tail of its queue is; of the hybrid: of the machine's, without sockets. */
#ifdef TYPE_SPIN
#define nbq_X_tail(lock)		shim_machine_tail(lock)
#else
#define nbq_X_tail(lock)		(&(lock)->tail)
#endif

/* Where a waiter swaps a tail: of the hybrid, no other swap is made. */
#ifdef TYPE_SPIN
#define nbq_X_enqueues_at(lock)		CORO_ANYWHERE
#else
#define nbq_X_enqueues_at(lock)		nbq_X_tail(lock)
#endif

/* Is this the tail of the lock, or of a queue that may have its waiters? */
static inline bool is_tail(const struct nbq_X *lock, const void *address)
{
	return address == nbq_X_tail(lock) || (!IS_FIFO && shim_is_queue_tail(address));
}

/* An own step: an access to the lock, or to what others see of a queue node. */
static inline bool is_own_step(const struct nbq_X *lock, const void *address)
{
	struct shim_memory nodes = shim_nodes_memory();
	size_t offset = (const char *)address - (const char *)nodes.start;

	return (size_t)((const char *)address - (const char *)lock) < sizeof(*lock) ||
	       is_tail(lock, address) || shim_is_arena_node(address) ||
	       (offset < nodes.size && !shim_is_own_node_word(offset));
}

/* May this access acquire the lock before the waiter has dequeued? */
static inline bool may_acquire(const struct nbq_X *lock, enum shim_op op, const void *address)
{
#ifdef TYPE_SPIN
	return (op == SHIM_OP_CMPXCHG && address == &lock->state) ||
	       (op == SHIM_OP_STORE && address == &lock->state.holder);
#elif defined(TYPE_ARENA)
	return op == SHIM_OP_CMPXCHG && address == &lock->owner;
#else
	return false;
#endif
}

/* Does this context hold it, or another of its CPU and level? */
static inline bool is_held_by_this_context(const struct nbq_X *lock)
{
#ifdef TYPE_SPIN
	return lock->state.holder == shim_context();
#elif defined(TYPE_ARENA)
	return lock->owner == shim_cpu + 1;
#else
	return false;
#endif
}

/*
 * Is this the first access by which a waiter abandons its node or dequeues? The hybrid's waiters
 * do so with the lock, too.
 */
static inline bool begins_abandon(const struct nbq_X *lock, const struct nbq_node *node,
				  enum shim_op op, const void *address)
{
#if defined(TYPE_CLH) || defined(TYPE_SPIN)
	/* A head with a successor does not swap the tail, nor does a resumed waiter. */
	return (op == SHIM_OP_CMPXCHG && is_tail(lock, address)) ||
	       (op == SHIM_OP_STORE && address == shim_prev_of(node));
#elif defined(TYPE_ARENA)
	return op == SHIM_OP_LOAD && is_tail(lock, address);
#else
	return op == SHIM_OP_STORE && address == shim_prev_of(node);
#endif
}

/* Is it held? A request to queue means nothing where no waiter is. */
static inline bool is_held(const struct nbq_X *lock)
{
#ifdef TYPE_SPIN
	return lock->state.holder;
#elif defined(TYPE_ARENA)
	return lock->owner;
#else
	return nbq_X_is_locked(lock);
#endif
}

/*
 * Does the lock record a holder on this CPU? That cannot run below this context, which need not
 * have enqueued to fail.
 */
static inline bool is_held_on_this_cpu(const struct nbq_X *lock)
{
#ifdef TYPE_SPIN
	return (lock->state.holder & ((1U << NBQ_CONTEXT_CPU_BITS) - 1)) ==
	       SHIM_CPU_NUMBER(shim_cpu) + 1;
#elif defined(TYPE_ARENA)
	return lock->owner == shim_cpu + 1;
#else
	return false;
#endif
}

/* Was this access, just made, about whether newcomers are to queue? */
static inline bool is_request_access(const struct nbq_X *lock, enum shim_op op, const void *address)
{
#ifdef TYPE_SPIN
	return op == SHIM_OP_STORE && address == &lock->state.request;
#else
	return false;
#endif
}

static inline bool has_handoff_request(const struct nbq_X *lock)
{
#ifdef TYPE_SPIN
	return lock->state.handoff;
#else
	return false;
#endif
}

/* Is there a request for a handoff? It is void in an empty queue. */
static inline bool has_valid_request(const struct nbq_X *lock)
{
#ifdef TYPE_SPIN
	return lock->state.handoff &&
	       shim_is_waited_for(lock->state.turn, lock);
#else
	return false;
#endif
}

/* The value there, as far as an access to this address is about it. */
static inline unsigned long value_in_lock(const struct nbq_X *lock, const void *address)
{
#ifdef TYPE_SPIN
	return is_tail(lock, address) ? *(const u32 *)address : lock->bare.all;
#elif defined(TYPE_ARENA)
	return *(const u32 *)address;
#else
	return *(const unsigned long *)address;
#endif
}

/* The node that has just been made this tail. */
static inline const struct nbq_node *tail_node(const struct nbq_X *lock, const void *tail)
{
#ifdef TYPE_SPIN
	return shim_decode_tail(*(const u32 *)tail);
#elif defined(TYPE_ARENA)
	/* Known by its address only. */
	return (const void *)nbq_arena_node_of(*(const u32 *)tail);
#else
	return lock->tail;
#endif
}

#endif
