// SPDX-License-Identifier: GPL-2.0
/*
 * A model of CNA, the compact NUMA-aware lock: an MCS lock whose release prefers a waiter of its
 * own socket.
 *
 * Source: Dave Dice and Alex Kogan, "Compact NUMA-aware Locks", EuroSys 2019: the pseudocode.
 *
 * Modelled
 *	The algorithm as printed. The holder that releases searches the main queue for a waiter
 *	of its socket, moves those before it to a secondary queue, and releases. What the
 *	successor reads in its spin field is 1, or the head of the secondary queue; the head
 *	knows the tail of it. The secondary queue comes back in front of the main queue with a
 *	probability of 1 in 65536 for each release, and when no waiter of the socket is left.
 *
 * Left out
 *	The optimization called shuffle reduction, and the kernel patches that put CNA
 *	under the word of qspinlock. The paper caches the number of the socket in a thread-local
 *	variable; here it is asked for, at no cost.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include <nbqlock/stress/papers/own_node.h>

#include "models.h"

/* A release keeps the lock on its socket unless these bits of a random number are all 0. */
#define KEEP_LOCAL_MASK	0xffffU

/* Values of spin besides the head of a secondary queue. */
#define SPIN_WAIT	0UL
#define SPIN_GO		1UL

#define NO_SOCKET	(-1)

/* A place in the main or the secondary queue. */
struct cna_node {
	/* SPIN_WAIT; or that this is the holder: SPIN_GO, or the secondary queue's head */
	unsigned long spin;
	int socket;		/* NO_SOCKET if it has not waited */
	struct cna_node *sec_tail;	/* of the secondary queue's head: its tail */
	struct cna_node *next;	/* in either queue */
} ____cacheline_aligned_in_smp;

/* What a thread keeps. */
struct cna_thread {
	struct cna_node node;	/* its place; the lock knows it by this address */
	/* the state of the generator, on a line that no other thread touches */
	u32 random ____cacheline_aligned_in_smp;
} ____cacheline_aligned_in_smp;

static int this_socket(void)
{
	return simulate_socket_of(raw_smp_processor_id());
}

/* Marsaglia, "Xorshift RNGs", 2003. */
static bool keep_lock_local(struct cna_thread *thread)
{
	u32 x = thread->random;

	if (!x)
		x = (raw_smp_processor_id() + 1) * 0x9e3779b9U;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	thread->random = x;
	return x & KEEP_LOCAL_MASK;
}

static int cna_enter(struct stress_lock *lock, struct stress_waiter *me)
{
	return own_node_enter(me, sizeof(struct cna_thread));
}

static int cna_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	struct cna_thread *thread = me->own;
	struct cna_node *node = &thread->node;
	struct cna_node *pred;

	preempt_disable();
	WRITE_ONCE(node->next, NULL);
	WRITE_ONCE(node->socket, NO_SOCKET);
	WRITE_ONCE(node->spin, SPIN_WAIT);
	/*
	 * Fully ordered. ACQUIRE, pairs with the RELEASE swap in release_tail() when it reads
	 * NULL: the last critical section is over. RELEASE: a successor's next comes after the
	 * NULL above.
	 */
	pred = xchg(&lock->queue.tail, node);
	if (!pred) {
		WRITE_ONCE(node->spin, SPIN_GO);
		return 0;
	}
	WRITE_ONCE(node->socket, this_socket());
	/* RELEASE, pairs with the ACQUIREs of next: a CPU that finds the node finds its socket. */
	smp_store_release(&pred->next, node);
	/* ACQUIRE, pairs with the RELEASE stores of spin. */
	while (smp_load_acquire(&node->spin) == SPIN_WAIT)
		cpu_relax();
	return 0;
}

/* The head of the secondary queue, or NULL. */
static struct cna_node *secondary(struct cna_node *node)
{
	unsigned long spin = READ_ONCE(node->spin);

	return spin > SPIN_GO ? (struct cna_node *)spin : NULL;
}

/*
 * Move first..last, which are in the main queue, to the end of the secondary queue.
 *
 * The secondary queue belongs to the holder: it is ordered by the hand-over.
 */
static void move_to_secondary(struct cna_node *node, struct cna_node *first,
			      struct cna_node *last)
{
	struct cna_node *head = secondary(node);

	if (head)
		WRITE_ONCE(READ_ONCE(head->sec_tail)->next, first);
	else
		head = first;
	WRITE_ONCE(last->next, NULL);
	WRITE_ONCE(head->sec_tail, last);
	WRITE_ONCE(node->spin, (unsigned long)head);
}

/* The first waiter of the main queue on the holder's socket; those before it are moved. */
static struct cna_node *find_successor(struct cna_node *node, struct cna_node *first)
{
	int socket = READ_ONCE(node->socket);
	struct cna_node *last = first;
	struct cna_node *at;

	if (socket == NO_SOCKET)
		socket = this_socket();
	if (READ_ONCE(first->socket) == socket)
		return first;
	/* ACQUIRE, pairs with the RELEASE of next in cna_lock(). */
	while ((at = smp_load_acquire(&last->next))) {
		if (READ_ONCE(at->socket) == socket) {
			move_to_secondary(node, first, last);
			return at;
		}
		last = at;
	}
	return NULL;
}

/* The holder has no successor in the main queue. Return: false if it has one by now. */
static bool release_tail(struct stress_lock *lock, struct cna_node *node)
{
	struct cna_node *head = secondary(node);
	struct cna_node *tail = head ? READ_ONCE(head->sec_tail) : NULL;

	/* RELEASE, pairs with the swap in cna_lock(). */
	if (cmpxchg_release(&lock->queue.tail, node, tail) != node)
		return false;
	/* RELEASE, pairs with the ACQUIRE of spin in cna_lock(). */
	if (head)
		smp_store_release(&head->spin, SPIN_GO);
	return true;
}

static void hand_over(struct cna_thread *thread, struct cna_node *next)
{
	struct cna_node *node = &thread->node;
	struct cna_node *succ = NULL;
	unsigned long spin = SPIN_GO;

	if (keep_lock_local(thread))
		succ = find_successor(node, next);
	if (succ) {
		spin = READ_ONCE(node->spin);
	} else if (secondary(node)) {
		/* The secondary queue goes in front of the main queue. */
		succ = secondary(node);
		/* RELEASE, as for the link that the waiter at next has made. */
		smp_store_release(&READ_ONCE(succ->sec_tail)->next, next);
	} else {
		succ = next;
	}
	/* RELEASE, pairs with the ACQUIRE of spin in cna_lock(). */
	smp_store_release(&succ->spin, spin);
}

static void cna_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	struct cna_thread *thread = me->own;
	struct cna_node *node = &thread->node;
	/* ACQUIRE, here and below, pairs with the RELEASE of next in cna_lock(). */
	struct cna_node *next = smp_load_acquire(&node->next);

	if (!next) {
		if (release_tail(lock, node))
			goto out;
		while (!(next = smp_load_acquire(&node->next)))
			cpu_relax();
	}
	hand_over(thread, next);
out:
	preempt_enable();
}

const struct stress_ops model_cna = {
	.name = "cna",
	.meaning = "a model of CNA, the compact NUMA-aware lock of Dice and Kogan",
	.patience = STRESS_WAITS_FOR_EVER,
	.free_after_unlock = true,
	.init = null_tail_init,
	.enter = cna_enter,
	.lock = cna_lock,
	.unlock = cna_unlock,
	.destroy = null_tail_destroy,
	.exit = own_node_exit,
};
