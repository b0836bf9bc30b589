/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * nbq_arena_lock: a spinlock in the memory of a BPF arena, whose waiters can time out.
 *
 * A word says which CPU holds the lock. The waiters queue for it by CLH-NB: Michael L. Scott,
 * "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002, section 2.1. The head of
 * the queue spins on the word, as the head of the kernel's qspinlock does. While there is no
 * queue, newcomers acquire by a compare-and-swap (Dice and Kogan, "Fissile Locks", 2020).
 *
 *	owner	0: free; else the holder's CPU, from 1 on
 *	tail	0: no queue; else the name of its last node
 *
 * A node is a word, which says where its successor goes on.
 *
 *	FREE	no context uses it
 *	WAITS	its context waits
 *	DEQUEUED  its context has acquired the lock, or abandoned its place. The word also has the
 *		name of its predecessor, 0 for the head. The successor frees this node, and waits
 *		behind that one.
 *
 * So dequeuing is the same at each position, whether the lock was acquired or not. It takes at most
 * three accesses to shared memory, without a loop: a program that may loop no more can do it, too.
 *
 * Mutual exclusion rests on owner alone, the order of waiters on the rest.
 *
 * Departures from the paper: the holder has dequeued, so it has no node, and an attempt without
 * contention needs none. An attempt that finds no node free, or a waiter of its CPU below it,
 * spins on owner. If a stray write makes a waiter's predecessor no waiter, the waiter is a head.
 *
 * How to use it: Documentation/arena.rst.
 */
#ifndef NBQ_ARENA_LOCK_H
#define NBQ_ARENA_LOCK_H

#include <bpf/bpf_helpers.h>

#include "nbq_arena_lock_types.h"

/* What libarena's headers and those of the BPF selftests have, too: include them before. */
#ifndef __arena
#define __arena	__attribute__((address_space(1))) __attribute__((btf_type_tag("arena")))
#endif

#ifndef can_loop
#define can_loop							\
({									\
	__label__ over, goes_on;					\
	bool may = true;						\
									\
	asm volatile goto("may_goto %l[over]" :::: over);		\
	goto goes_on;							\
over:	may = false;							\
goes_on:								\
	may;								\
})
#endif

#ifndef READ_ONCE
#define READ_ONCE(x)		(*(volatile typeof(x) *)&(x))
#endif
#ifndef WRITE_ONCE
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))
#endif
#ifndef cpu_relax
#define cpu_relax()		((void)0)
#endif
#ifndef cmpxchg
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#endif
#ifndef xchg
#define xchg(p, new)		__atomic_exchange_n(p, new, __ATOMIC_SEQ_CST)
#endif

/*
 * clang 19 has no such instruction. x86 needs none; elsewhere a fully ordered swap stands for it.
 *
 * Not the smp_store_release() of libarena: that has a fetch-and-add whose result is not used, of
 * which clang makes an operation without order.
 */
#ifndef nbq_smp_store_release
#ifdef __TARGET_ARCH_x86
#define nbq_smp_store_release(p, value)				\
do {									\
	barrier();							\
	WRITE_ONCE(*(p), value);					\
} while (0)
#else
#define nbq_smp_store_release(p, value)	((void)xchg(p, value))
#endif
#endif

#ifndef __maybe_unused
#define __maybe_unused	__attribute__((unused))
#endif

#ifndef EFAULT
#define EFAULT		14
#endif
#ifndef EBUSY
#define EBUSY		16
#endif
#ifndef EDEADLK
#define EDEADLK		35
#endif
#ifndef ETIMEDOUT
#define ETIMEDOUT	110
#endif

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;
extern void bpf_local_irq_save(unsigned long *flags) __ksym __weak;
extern void bpf_local_irq_restore(unsigned long *flags) __ksym __weak;

/* More CPUs share nodes. */
#ifndef NBQ_ARENA_CPUS
#define NBQ_ARENA_CPUS		1024U
#endif
/* The nodes of a CPU have a cache line; the first of them has no name. */
#define NBQ_ARENA_NODES		16U

#define NBQ_ARENA_FREE		0U
#define NBQ_ARENA_WAITS		(1U << 30)
#define NBQ_ARENA_DEQUEUED	(1U << 31)

/*
 * One array for all objects that a program is linked of. A linker keeps the memory of each
 * definition, and uses the first: all objects but one are compiled with NBQ_ARENA_NODES_ELSEWHERE.
 */
#ifdef NBQ_ARENA_NODES_ELSEWHERE
extern __u32 __hidden __arena nbq_arena_node[NBQ_ARENA_CPUS * NBQ_ARENA_NODES];
#else
__u32 __weak __hidden __arena nbq_arena_node[NBQ_ARENA_CPUS * NBQ_ARENA_NODES]
	__attribute__((aligned(NBQ_ARENA_NODES * sizeof(__u32))));
#endif

/* Whatever the name is, there is a node: a stray write into a lock leads nowhere else. */
static __always_inline __u32 __arena *nbq_arena_node_of(__u32 name)
{
	return &nbq_arena_node[name % (NBQ_ARENA_CPUS * NBQ_ARENA_NODES)];
}

/*
 * Does a context of this CPU wait? This one has interrupted it: it runs again only when this one
 * has ended. Contexts above this one have ended when it goes on, and need not be looked for again.
 */
static __always_inline bool nbq_arena_waits_below(__u32 first)
{
	__u32 i, states = 0;

	for (i = 1; i < NBQ_ARENA_NODES; i++)
		states |= READ_ONCE(*nbq_arena_node_of(first + i));
	return states & NBQ_ARENA_WAITS;
}

/* Return: a node's name; 0: there is none for this context. */
static __always_inline __u32 nbq_arena_node_alloc(__u32 cpu)
{
	__u32 i, first = cpu % NBQ_ARENA_CPUS * NBQ_ARENA_NODES;

	/* Not behind that, nor in a queue that may have it in front, by way of other CPUs. */
	if (nbq_arena_waits_below(first))
		return 0;
	for (i = 1; i < NBQ_ARENA_NODES && can_loop; i++) {
		/*
		 * Atomic, as programs in interrupts allocate of the same nodes. Fully ordered:
		 * a successor gets the name from the tail, and reads WAITS or what came later.
		 */
		if (cmpxchg(nbq_arena_node_of(first + i), NBQ_ARENA_FREE, NBQ_ARENA_WAITS) ==
		    NBQ_ARENA_FREE)
			return first + i;
	}
	return 0;
}

/* The predecessor of a node by this name. Only stray writes name the node itself: none. */
static __always_inline __u32 nbq_arena_pred(__u32 name, __u32 node)
{
	name %= NBQ_ARENA_CPUS * NBQ_ARENA_NODES;
	return name == node ? 0 : name;
}

/*
 * Poll pred, and skip it if its context has dequeued.
 *
 *	.. pred2 pred node	-> .. pred2 node
 *
 * Of a predecessor nothing but WAITS and DEQUEUED is read. Else a stray write has made it one, and
 * this waiter is a head: that costs the order of waiters, and no more.
 *
 * Return: the predecessor from now on; 0: none.
 */
static __always_inline __u32 nbq_arena_poll(__u32 pred, __u32 node)
{
	__u32 state = READ_ONCE(*nbq_arena_node_of(pred));

	if (state == NBQ_ARENA_WAITS)
		return pred;
	if (!(state & NBQ_ARENA_DEQUEUED))
		return 0;
	WRITE_ONCE(*nbq_arena_node_of(pred), NBQ_ARENA_FREE);
	return nbq_arena_pred(state & ~NBQ_ARENA_DEQUEUED, node);
}

/*
 * Dequeue: the head (pred is 0) or a waiter behind pred.
 *
 *	.. pred node		-> .. pred
 *	.. pred node succ	-> .. pred succ, once succ has polled
 */
static __always_inline void nbq_arena_dequeue(struct nbq_arena_lock __arena *lock, __u32 node,
					      __u32 pred)
{
	/*
	 * Fully ordered: a newcomer that gets pred from the tail reads WAITS there, or what came
	 * later, as this context does.
	 */
	if (READ_ONCE(lock->tail) == node && cmpxchg(&lock->tail, node, pred) == node)
		WRITE_ONCE(*nbq_arena_node_of(node), NBQ_ARENA_FREE);
	else
		WRITE_ONCE(*nbq_arena_node_of(node), NBQ_ARENA_DEQUEUED | pred);
}

/*
 * ACQUIRE, pairs with the RELEASE in nbq_arena_unlock().
 *
 * In a page that the arena does not have, loads read 0, and a swap seems to have been made.
 *
 * Return: 0, -EBUSY, or -EFAULT.
 */
static __always_inline int nbq_arena_take(struct nbq_arena_lock __arena *lock, __u32 self)
{
	if (cmpxchg(&lock->owner, 0, self))
		return -EBUSY;
	return READ_ONCE(lock->owner) == self ? 0 : -EFAULT;
}

/*
 * As this is not inlined, its loop has a budget of its own from the verifier. Static: Linux 6.12
 * and 6.18 let no program call a global function with preemption off.
 */
static __noinline __maybe_unused
int nbq_arena_lock_slow(struct nbq_arena_lock __arena *lock, __u64 patience_ns)
{
	__u32 self = bpf_get_smp_processor_id() + 1;
	__u64 start = bpf_ktime_get_ns();
	__u32 node, pred, polled;
	int ret = -ETIMEDOUT;

	/* Its holder runs again only when this context has ended. */
	if (READ_ONCE(lock->owner) == self)
		return -EDEADLK;
	node = nbq_arena_node_alloc(self - 1);
	/*
	 * Fully ordered: see nbq_arena_node_alloc(). All predecessors were enqueued before: what is
	 * read of their nodes is WAITS or what came later.
	 */
	pred = node ? nbq_arena_pred(xchg(&lock->tail, node), node) : 0;
	while (can_loop) {
		polled = pred;
		if (pred) {
			pred = nbq_arena_poll(pred, node);
		} else if (!READ_ONCE(lock->owner)) {
			ret = nbq_arena_take(lock, self);
			if (ret != -EBUSY)
				break;
			ret = -ETIMEDOUT;
		}
		/* Also between nodes that are skipped, of which there may be thousands. */
		if (bpf_ktime_get_ns() - start >= patience_ns)
			break;
		if (pred == polled)
			cpu_relax();
	}
	if (node)
		nbq_arena_dequeue(lock, node, pred);
	return ret;
}

/**
 * nbq_arena_lock() - Acquire, or give up after a time
 * @lock: the lock
 * @patience_ns: ns to wait at most; 0: poll once. No wait is longer than a program may loop:
 *	250 ms, on kernels that bound it by time.
 *
 * Waiters are served first come, first served; a context that comes while there is no queue may
 * acquire before the queue's head. After a timeout the queue is whole.
 *
 * The verifier wants the result compared with 0: if (nbq_arena_lock(...)) or if (!...).
 *
 * Context: Programs of any type, in any context. Returns with preemption off if the lock was
 * acquired.
 * Return:
 * * 0 - the lock is held
 * * %-ETIMEDOUT - the patience is over
 * * %-EDEADLK - this CPU holds the lock, below this context
 * * %-EFAULT - the arena has no memory there
 */
static __always_inline int nbq_arena_lock(struct nbq_arena_lock __arena *lock, __u64 patience_ns)
{
	int ret = -EBUSY;

	bpf_preempt_disable();
	if (!READ_ONCE(lock->tail))
		ret = nbq_arena_take(lock, bpf_get_smp_processor_id() + 1);
	if (ret == -EBUSY)
		ret = nbq_arena_lock_slow(lock, patience_ns);
	if (ret)
		bpf_preempt_enable();
	return ret;
}

/**
 * nbq_arena_trylock() - Acquire a lock that is free
 * @lock: the lock
 *
 * Also before those who wait for it.
 *
 * Context: As nbq_arena_lock().
 * Return: true if the lock is held now.
 */
static __always_inline bool nbq_arena_trylock(struct nbq_arena_lock __arena *lock)
{
	bpf_preempt_disable();
	if (!READ_ONCE(lock->owner) && !nbq_arena_take(lock, bpf_get_smp_processor_id() + 1))
		return true;
	bpf_preempt_enable();
	return false;
}

/**
 * nbq_arena_unlock() - Release
 * @lock: a lock that this context holds
 *
 * Context: That of the acquisition.
 */
static __always_inline void nbq_arena_unlock(struct nbq_arena_lock __arena *lock)
{
	/* RELEASE, pairs with the ACQUIRE in nbq_arena_take(). */
	nbq_smp_store_release(&lock->owner, 0);
	bpf_preempt_enable();
}

/**
 * nbq_arena_lock_irqsave() - As nbq_arena_lock(), with interrupts off
 * @lock: the lock
 * @patience_ns: ns to wait at most
 * @flags: an unsigned long that the verifier follows to nbq_arena_unlock_irqrestore()
 *
 * Return: As nbq_arena_lock().
 */
#define nbq_arena_lock_irqsave(lock, patience_ns, flags)		\
({									\
	int __ret;							\
									\
	bpf_local_irq_save(&(flags));					\
	__ret = nbq_arena_lock(lock, patience_ns);			\
	if (__ret)							\
		bpf_local_irq_restore(&(flags));			\
	__ret;								\
})

/**
 * nbq_arena_unlock_irqrestore() - Release, and interrupts as before
 * @lock: the lock
 * @flags: of the acquisition
 */
#define nbq_arena_unlock_irqrestore(lock, flags)			\
do {									\
	nbq_arena_unlock(lock);						\
	bpf_local_irq_restore(&(flags));				\
} while (0)

#endif /* NBQ_ARENA_LOCK_H */
