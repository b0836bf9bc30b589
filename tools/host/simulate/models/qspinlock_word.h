/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock word and the queue nodes that Linux's queued spinlock and its paravirtual variant have
 * in common.
 *
 * Source: include/asm-generic/qspinlock_types.h and qspinlock.h, Linux 7.2, for fewer than 2^14
 * CPUs on a little-endian machine.
 *
 * Bits 0-7 are the locked byte, 8-15 the pending byte, 16-17 the nesting level of the tail, 18-31
 * its CPU + 1. All models run in task context: the level is 0.
 *
 * States are written as there: (tail, pending, locked), * is any, n the own tail.
 */
#ifndef QSPINLOCK_WORD_H
#define QSPINLOCK_WORD_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/processor.h>
#include <linux/types.h>

#include "models.h"

#define Q_LOCKED		1U
#define Q_LOCKED_MASK		0xffU
#define Q_PENDING		(1U << 8)
#define Q_PENDING_MASK		(0xffU << 8)
#define Q_TAIL_SHIFT		16
#define Q_TAIL_MASK		(~0U << Q_TAIL_SHIFT)
#define Q_TAIL_CPU_SHIFT	18

union qspinlock_word {
	u32 val;
	struct {
		u8 locked;
		u8 pending;
	};
	struct {
		u16 locked_pending;
		u16 tail;
	};
};

/*
 * One for each CPU, for all locks of these types: a CPU waits for one of them at a time. The holder
 * needs none.
 */
struct qnode {
	struct qnode *next;
	int locked;
	int count;
	unsigned int cpu;	/* these two are the paravirtual variant's */
	u8 state;
} ____cacheline_aligned_in_smp;

extern struct qnode qnodes[SHIM_CPUS];

/* The lock's memory begins with the word. */
static inline union qspinlock_word *word_of(struct stress_lock *lock)
{
	return (union qspinlock_word *)lock;
}

static inline u32 encode_tail(unsigned int cpu)
{
	return (cpu + 1) << Q_TAIL_CPU_SHIFT;
}

/* The CPU of a tail that is not 0. */
static inline unsigned int decode_tail(u32 val)
{
	return (val >> Q_TAIL_CPU_SHIFT) - 1;
}

/*
 * *,x,y -> n,x,y
 *
 * The smp_wmb() of the caller orders the node's first values before this.
 *
 * Return: the word's old tail, in place.
 */
static inline u32 xchg_tail(union qspinlock_word *word, u32 tail)
{
	return (u32)xchg_relaxed(&word->tail, (u16)(tail >> Q_TAIL_SHIFT)) << Q_TAIL_SHIFT;
}

/*
 * By the head, which is not the last: the successor, once it has linked itself.
 *
 * Its first values came before it linked itself: its smp_wmb(), and here the address dependency.
 * Without either the store of its headship could be lost.
 */
static inline struct qnode *await_successor(struct qnode *node, struct qnode *succ)
{
	while (!succ) {
		succ = READ_ONCE(node->next);
		if (!succ)
			cpu_relax();
	}
	return succ;
}

static inline int qspinlock_word_init(struct stress_lock *lock, unsigned int place)
{
	word_of(lock)->val = 0;
	return 0;
}

/* Return: 0, or -EBUSY if the lock is held or a CPU is in the queue. */
static inline int qspinlock_word_destroy(struct stress_lock *lock)
{
	return word_of(lock)->val ? -EBUSY : 0;
}

#endif
