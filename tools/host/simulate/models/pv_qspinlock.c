// SPDX-License-Identifier: GPL-2.0
/*
 * A model of Linux's paravirtual queued spinlock, the hybrid of a queued and an unfair lock: what
 * raw_spinlock_t is in a guest of KVM.
 *
 * Source: kernel/locking/qspinlock_paravirt.h, Linux 7.2, by Waiman Long and Peter Zijlstra, and
 * the paravirtual build of kernel/locking/qspinlock.c; kvm_wait() of arch/x86/kernel/kvm.c.
 *
 * Modelled
 *	Every access that the kernel makes to the word, to the nodes and to the hash table on x86,
 *	in its order: a contender that steals while the head has not set the pending bit; waiters
 *	which poll their node SPIN_THRESHOLD times, or until the predecessor does not run (every
 *	256 polls), and then say so and halt; the head, which polls with the pending bit set, then
 *	hashes its node, marks the word slow and halts; the release, whose slow path takes the node
 *	out of the table and kicks its CPU; a successor that is halted when it becomes the head
 *	stays halted, and is hashed by the new holder.
 *
 * Left out
 *	The prefetch of the successor's line; nesting; lock events and tracepoints; the kernel's
 *	hash function, which is one multiplication here. As in 7.2, a waiter asks for the state
 *	that its predecessor has published, and not for vcpu_is_preempted().
 */
#include <linux/cache.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include "models.h"
#include "qspinlock_word.h"

#define SPIN_THRESHOLD	(1 << 15)
/* In polls: how often a waiter reads its predecessor's state. */
#define PREV_CHECK_MASK	0xff
/* The locked byte while the head's node is in the hash table. */
#define Q_SLOW		3U

/**
 * enum vcpu_state - of a CPU with a node in a queue
 * @VCPU_RUNNING: it polls
 * @VCPU_HALTED: it waits for its predecessor, and is halted or about to be
 * @VCPU_HASHED: it is the head, in the hash table, and halted or about to be
 */
enum vcpu_state {
	VCPU_RUNNING,
	VCPU_HALTED,
	VCPU_HASHED,
};

/* Four entries for each CPU, as in the kernel; a lock has one at most, and a CPU one lock. */
#define HASH_SIZE	(4 * SHIM_CPUS)
#define HASH_PER_LINE	4U

struct pv_hash_entry {
	union qspinlock_word *word;
	struct qnode *node;
};

static struct pv_hash_entry pv_hash_table[HASH_SIZE] ____cacheline_aligned_in_smp;

/* The entry @offset places after the first that this lock may have: that of a line. */
static struct pv_hash_entry *pv_hash_entry(union qspinlock_word *word, unsigned int offset)
{
	unsigned int hash = (u64)(uintptr_t)word * 0x61c8864680b583ebULL >> 32;

	hash &= ~(HASH_PER_LINE - 1);
	return &pv_hash_table[(hash + offset) % HASH_SIZE];
}

static struct pv_hash_entry *pv_hash(union qspinlock_word *word, struct qnode *node)
{
	struct pv_hash_entry *entry;
	unsigned int offset = 0;

	/* There are more entries than locks that can be in the table. */
	do {
		entry = pv_hash_entry(word, offset++);
	} while (cmpxchg(&entry->word, NULL, word));
	WRITE_ONCE(entry->node, node);
	return entry;
}

/* By the holder, which has read that the locked byte is slow: the entry is there. */
static struct qnode *pv_unhash(union qspinlock_word *word)
{
	struct pv_hash_entry *entry;
	unsigned int offset = 0;
	struct qnode *node;

	do {
		entry = pv_hash_entry(word, offset++);
	} while (READ_ONCE(entry->word) != word);
	node = READ_ONCE(entry->node);
	WRITE_ONCE(entry->word, NULL);
	return node;
}

/* Halt, unless the byte has changed. A kick from now on is not lost. */
static void pv_wait(u8 *byte, u8 value)
{
	if (READ_ONCE(*byte) == value)
		simulate_halt();
}

/*
 * *,0,0 -> *,0,1
 *
 * A contender steals as long as there is a queue whose head does not ask for the lock.
 *
 * Return: false once it must queue: the head has set pending, or there is no queue.
 */
static bool try_unfairly(union qspinlock_word *word)
{
	for (;;) {
		u32 val = READ_ONCE(word->val);

		/* ACQUIRE, pairs with the RELEASEs in pv_unlock() and unlock_slowly(). */
		if (!(val & (Q_LOCKED_MASK | Q_PENDING_MASK)) &&
		    !cmpxchg_acquire(&word->locked, 0, Q_LOCKED))
			return true;
		if (!(val & Q_TAIL_MASK) || (val & Q_PENDING_MASK))
			return false;
		cpu_relax();
	}
}

/* Return: true if the headship came; false if the predecessor, or this CPU, polls in vain. */
static bool poll_node(struct qnode *node, struct qnode *pred)
{
	int loop;

	for (loop = SPIN_THRESHOLD; loop; loop--) {
		if (READ_ONCE(node->locked))
			return true;
		if (!(loop & PREV_CHECK_MASK) && READ_ONCE(pred->state) != VCPU_RUNNING)
			return false;
		cpu_relax();
	}
	return false;
}

/* Until the predecessor has the lock. Return: the successor, if there is one by now. */
static struct qnode *wait_for_headship(struct qnode *node, struct qnode *pred)
{
	WRITE_ONCE(pred->next, node);
	while (!poll_node(node, pred)) {
		/*
		 * Fully ordered: the state before the read of locked. Pairs with the cmpxchg() in
		 * pass_headship(): either this CPU reads that it is the head, or the holder reads
		 * that it is halted. Else it would halt for ever.
		 */
		(void)xchg(&node->state, VCPU_HALTED);
		if (!READ_ONCE(node->locked))
			pv_wait(&node->state, VCPU_HALTED);
		/* VCPU_HASHED stays: wait_for_lock() must know. */
		cmpxchg(&node->state, VCPU_HALTED, VCPU_RUNNING);
	}
	/* ACQUIRE, pairs with the RELEASE in pass_headship(). */
	while (!smp_load_acquire(&node->locked))
		cpu_relax();
	return READ_ONCE(node->next);
}

/* By the head, once it has the lock. A halted successor is not woken for that. */
static void pass_headship(union qspinlock_word *word, struct qnode *node, struct qnode *succ)
{
	succ = await_successor(node, succ);
	/* RELEASE, pairs with the ACQUIRE in wait_for_headship(). */
	smp_store_release(&succ->locked, 1);
	/*
	 * locked before the read of the state, on x86 also if that is not halted: pairs with the
	 * xchg() in wait_for_headship().
	 */
	if (cmpxchg(&succ->state, VCPU_HALTED, VCPU_HASHED) != VCPU_HALTED)
		return;
	/* This CPU releases the lock: it will find both in its own order. */
	WRITE_ONCE(word->locked, Q_SLOW);
	pv_hash(word, succ);
}

/* *,1,0 -> *,0,1. Return: whether it was so. */
static bool try_clear_pending(union qspinlock_word *word)
{
	/* ACQUIRE, pairs with the RELEASEs in pv_unlock() and unlock_slowly(). */
	return !READ_ONCE(word->locked) &&
	       cmpxchg_acquire(&word->locked_pending, Q_PENDING, Q_LOCKED) == Q_PENDING;
}

/* The head polls and keeps others from stealing meanwhile. */
static bool poll_lock(union qspinlock_word *word)
{
	int loop;

	WRITE_ONCE(word->pending, 1);
	for (loop = SPIN_THRESHOLD; loop; loop--) {
		if (try_clear_pending(word))
			return true;
		cpu_relax();
	}
	WRITE_ONCE(word->pending, 0);
	return false;
}

/* Return: true if the lock was free, and is this head's now. */
static bool hash_or_lock(union qspinlock_word *word, struct qnode *node)
{
	struct pv_hash_entry *entry = pv_hash(word, node);

	/*
	 * Fully ordered: the entry before the byte. Pairs with the smp_rmb() in unlock_slowly(),
	 * which finds the entry once the byte is slow. ACQUIRE if the lock is free.
	 */
	if (xchg(&word->locked, Q_SLOW))
		return false;
	WRITE_ONCE(word->locked, Q_LOCKED);
	WRITE_ONCE(entry->word, NULL);
	return true;
}

/* By the head. Return: the word, after it got the lock. */
static u32 wait_for_lock(union qspinlock_word *word, struct qnode *node)
{
	/* Then the predecessor has put it into the table. */
	bool hashed = READ_ONCE(node->state) == VCPU_HASHED;

	for (;;) {
		WRITE_ONCE(node->state, VCPU_RUNNING);
		if (poll_lock(word))
			break;
		if (!hashed && hash_or_lock(word, node))
			break;
		hashed = true;
		WRITE_ONCE(node->state, VCPU_HASHED);
		/* The lock may be stolen before this CPU runs: it will poll again. */
		pv_wait(&word->locked, Q_SLOW);
	}
	return READ_ONCE(word->val) | Q_LOCKED;
}

static void wait_in_queue(union qspinlock_word *word, struct qnode *node, u32 tail)
{
	struct qnode *succ = NULL;
	u32 val = xchg_tail(word, tail);

	if (val & Q_TAIL_MASK)
		succ = wait_for_headship(node, &qnodes[decode_tail(val)]);
	val = wait_for_lock(word, node);
	/* n,0,1 -> 0,0,1, if no CPU has queued behind it. */
	if ((val & Q_TAIL_MASK) == tail && cmpxchg_relaxed(&word->val, val, Q_LOCKED) == val)
		return;
	/* The kernel stores what is there already: the file is the same for both locks. */
	WRITE_ONCE(word->locked, Q_LOCKED);
	pass_headship(word, node, succ);
}

static void acquire_slowly(union qspinlock_word *word)
{
	unsigned int cpu = raw_smp_processor_id();
	struct qnode *node = &qnodes[cpu];

	node->count++;
	WRITE_ONCE(node->locked, 0);
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->cpu, cpu);
	WRITE_ONCE(node->state, VCPU_RUNNING);
	if (!try_unfairly(word)) {
		/* The values above come before the tail that makes the node known. */
		smp_wmb();
		wait_in_queue(word, node, encode_tail(cpu));
	}
	node->count--;
}

static int pv_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	union qspinlock_word *word = word_of(lock);

	preempt_disable();
	/* 0,0,0 -> 0,0,1. ACQUIRE, pairs with the RELEASEs in pv_unlock() and unlock_slowly(). */
	if (cmpxchg_acquire(&word->val, 0, Q_LOCKED))
		acquire_slowly(word);
	return 0;
}

/* The head is in the hash table. */
static void unlock_slowly(union qspinlock_word *word)
{
	struct qnode *node;

	/* The slow byte before the entry: pairs with the xchg() in hash_or_lock(). */
	smp_rmb();
	node = pv_unhash(word);
	/* RELEASE, pairs with the ACQUIREs of CPUs that find it 0. From now on, no lock. */
	smp_store_release(&word->locked, 0);
	simulate_kick(READ_ONCE(node->cpu));
}

static void pv_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	union qspinlock_word *word = word_of(lock);

	/* *,*,1 -> *,*,0. RELEASE, pairs with the ACQUIREs of CPUs that find it 0. */
	if (cmpxchg_release(&word->locked, Q_LOCKED, 0) != Q_LOCKED)
		unlock_slowly(word);
	preempt_enable();
}

const struct stress_ops model_pv_qspinlock = {
	.name = "pv_qspinlock",
	.meaning = "a model of Linux's paravirtual queued spinlock, which steals, halts and kicks",
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = qspinlock_word_init,
	.lock = pv_lock,
	.unlock = pv_unlock,
	.destroy = qspinlock_word_destroy,
};
