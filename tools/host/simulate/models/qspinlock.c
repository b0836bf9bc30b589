// SPDX-License-Identifier: GPL-2.0
/*
 * A model of Linux's queued spinlock: what raw_spinlock_t is on x86 without a hypervisor.
 *
 * Source: kernel/locking/qspinlock.c, Linux 7.2, by Waiman Long and Peter Zijlstra; the pending
 * loops, and the exchange that sets the pending bit, as in arch/x86/include/asm/qspinlock.h.
 *
 * Modelled
 *	Every access that the kernel makes to the word and to the nodes on x86, in its order:
 *	the fast path; the bounded wait for a hand-over from pending to locked; the pending
 *	path; one more try before the tail is exchanged; the head, which polls the word until
 *	both the holder and the pending waiter are gone; the hand-over of the headship through
 *	the successor's node. The node's nesting counter is there because it is on the node's
 *	line.
 *
 * Left out
 *	The prefetch of the successor's line; nesting (all is in task context, and the counter
 *	0 or 1); the fallback for a fifth level of nesting; lock events and tracepoints.
 */
#include <linux/cache.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include "models.h"
#include "qspinlock_word.h"

/* Polls of a word that says pending and nothing else, before the waiter queues. */
#define PENDING_LOOPS	(1 << 9)

struct qnode qnodes[SHIM_CPUS];

/* 0,0,0 -> 0,0,1 */
static bool try_once(union qspinlock_word *word)
{
	/* ACQUIRE, pairs with the RELEASE in qspinlock_unlock(). */
	return !READ_ONCE(word->val) && !cmpxchg_acquire(&word->val, 0, Q_LOCKED);
}

/*
 * *,*,* -> *,1,*
 *
 * x86 sets the bit with an instruction that returns the bit alone, and then reads the rest.
 *
 * Return: the word, with the pending byte from before.
 */
static u32 fetch_set_pending(union qspinlock_word *word)
{
	/* ACQUIRE: the word is read after the bit is set, and so is the locked byte. */
	u32 pending = xchg_acquire(&word->pending, 1);

	return pending * Q_PENDING | (READ_ONCE(word->val) & ~Q_PENDING_MASK);
}

/*
 * The path of the second CPU, which needs no node: it polls the locked byte.
 *
 * Return: false if others wait already.
 */
static bool acquire_pending(union qspinlock_word *word, u32 val)
{
	int loops = PENDING_LOOPS;

	/* 0,1,0: the pending waiter is about to make it 0,0,1. */
	while (val == Q_PENDING && loops--) {
		cpu_relax();
		val = READ_ONCE(word->val);
	}
	if (val & ~Q_LOCKED_MASK)
		return false;

	val = fetch_set_pending(word);
	if (unlikely(val & ~Q_LOCKED_MASK)) {
		if (!(val & Q_PENDING_MASK))
			WRITE_ONCE(word->pending, 0);
		return false;
	}
	/*
	 * 0,1,1 -> *,1,0. ACQUIRE, pairs with the RELEASE in qspinlock_unlock(): the last
	 * critical section is over.
	 */
	if (val & Q_LOCKED_MASK) {
		while (smp_load_acquire(&word->locked))
			cpu_relax();
	}
	/* *,1,0 -> *,0,1: the pending bit keeps everybody else from the locked byte. */
	WRITE_ONCE(word->locked_pending, Q_LOCKED);
	return true;
}

/* Until the predecessor has the lock. Return: the successor, if there is one by now. */
static struct qnode *wait_for_headship(struct qnode *node, struct qnode *pred)
{
	WRITE_ONCE(pred->next, node);
	/* ACQUIRE, pairs with the RELEASE in pass_headship(). */
	while (!smp_load_acquire(&node->locked))
		cpu_relax();
	return READ_ONCE(node->next);
}

/* By the head, once it has the lock. */
static void pass_headship(struct qnode *node, struct qnode *succ)
{
	succ = await_successor(node, succ);
	/* RELEASE, pairs with the ACQUIRE in wait_for_headship(). */
	smp_store_release(&succ->locked, 1);
}

static void wait_in_queue(union qspinlock_word *word, struct qnode *node, u32 tail)
{
	struct qnode *succ = NULL;
	u32 val = xchg_tail(word, tail);

	if (val & Q_TAIL_MASK)
		succ = wait_for_headship(node, &qnodes[decode_tail(val)]);

	/*
	 * *,x,y -> *,0,0. ACQUIRE, pairs with the RELEASE in qspinlock_unlock(): the last
	 * critical section is over.
	 */
	while ((val = smp_load_acquire(&word->val)) & (Q_LOCKED_MASK | Q_PENDING_MASK))
		cpu_relax();

	/* n,0,0 -> 0,0,1, if no CPU has queued behind it or set pending. */
	if ((val & Q_TAIL_MASK) == tail &&
	    cmpxchg_relaxed(&word->val, val, Q_LOCKED) == val)
		return;
	/* *,*,0 -> *,*,1: only the head stores to the locked byte of a word with a tail. */
	WRITE_ONCE(word->locked, Q_LOCKED);
	pass_headship(node, succ);
}

static void acquire_queued(union qspinlock_word *word)
{
	unsigned int cpu = raw_smp_processor_id();
	struct qnode *node = &qnodes[cpu];

	node->count++;
	WRITE_ONCE(node->locked, 0);
	WRITE_ONCE(node->next, NULL);
	/* The node's line may have been far away, and the lock free by now. */
	if (!try_once(word)) {
		/* The values above come before the tail that makes the node known. */
		smp_wmb();
		wait_in_queue(word, node, encode_tail(cpu));
	}
	node->count--;
}

static int qspinlock_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	union qspinlock_word *word = word_of(lock);
	u32 val;

	preempt_disable();
	/* 0,0,0 -> 0,0,1. ACQUIRE, pairs with the RELEASE in qspinlock_unlock(). */
	val = cmpxchg_acquire(&word->val, 0, Q_LOCKED);
	if (val && !acquire_pending(word, val))
		acquire_queued(word);
	return 0;
}

static void qspinlock_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	/* *,*,1 -> *,*,0. RELEASE, pairs with the ACQUIREs of CPUs that find it 0. */
	smp_store_release(&word_of(lock)->locked, 0);
	preempt_enable();
}

struct shim_memory model_qspinlock_nodes(void)
{
	return (struct shim_memory){ qnodes, sizeof(qnodes) };
}

const struct stress_ops model_qspinlock = {
	.name = "qspinlock",
	.meaning = "a model of Linux's queued spinlock: word, pending bit, queue",
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = qspinlock_word_init,
	.lock = qspinlock_lock,
	.unlock = qspinlock_unlock,
	.destroy = qspinlock_word_destroy,
};
