/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coroutines: contexts of CPUs, each with its own stack, which run one at a time and from one
 * shared access to another, so that a test can lay out any interleaving.
 */
#ifndef CORO_H
#define CORO_H

#include "type.h"

/**
 * struct coro - a context of some CPU that makes attempts at a lock
 * @lock: the lock
 * @patience: as of nbq_X_lock_timeout()
 * @cpu: the CPU that it runs on
 * @level: its context level there
 * @attempts: how many it is still to make, one after another
 * @wanted: a second lock that it wants while it holds the first, or NULL
 * @wanted_patience: of the attempt at that
 * @wanted_ret: what that has returned; 1: nothing yet
 * @critical_section: called instead while it holds the lock; may be NULL
 * @after_release: called each time after it has released; may be NULL
 * @acquired: how many attempts got the lock
 * @ret: what the last attempt that has ended returned
 * @ended: it has made all its attempts
 * @doing: what it does at the moment
 * @lock_accesses: how many it has made to the lock itself
 *
 * The rest is private to coro.c.
 */
struct coro {
	struct nbq_X *lock;
	ktime_t patience;
	unsigned int cpu;
	unsigned int level;
	unsigned int attempts;
	struct nbq_X *wanted;
	ktime_t wanted_patience;
	int wanted_ret;
	void (*critical_section)(struct coro *coro);
	void (*after_release)(struct coro *coro);
	unsigned int acquired;
	int ret;
	bool ended;
	enum { ACQUIRING, HOLDING, ABANDONING, RELEASING } doing;
	unsigned int lock_accesses;

	void *stack;
	void *sp;
	void *starter_sp;
	void *sanitizers_fiber;
	int preempt_off;
	int irqs_off;
	int mmiowb_nesting;
	const struct nbq_node *node;
	bool may_hold;
	enum shim_op last_op;
	const void *last_address;
	unsigned long last_before;
	unsigned int own_steps;
	unsigned int steps_left;
	bool until_abandon;
	enum shim_op until_op;
	const void *until_address;
};

/* The most own steps to abandon and to release so far. */
extern unsigned int coro_most_steps_to_abandon;
extern unsigned int coro_most_steps_to_release;

/*
 * Set by a test with deadlock checks (nbqlock/wait_deadlock.c): these may read a node that was
 * freed meanwhile.
 */
extern bool coro_reads_free_nodes;

/* It stops before its first access. */
void coro_start(struct coro *coro);
/* A task of this CPU that makes one attempt; at its start as well. */
void coro_start_task(struct coro *coro, struct nbq_X *lock, unsigned int cpu, ktime_t patience);

#define MANY_ACCESSES	2000	/* more than to the third deadlock check */

/* Each of these returns true if it got there; false if the coroutine has ended before. */

/* Make so many accesses (a poll's pause is one too). */
bool coro_steps(struct coro *coro, unsigned int steps);
/* Go on until it has polled a predecessor in vain. */
bool coro_until_poll(struct coro *coro);
/* Go on until it has polled its predecessor: a newcomer of the hybrid polls the lock before. */
bool coro_until_queued(struct coro *coro);
/* Go on to the first access by which it abandons its node. */
bool coro_until_abandon(struct coro *coro);
/* Go on to an access of some kind. */
#define CORO_ANYWHERE	((const void *)~0UL)
bool coro_until(struct coro *coro, enum shim_op op, const void *address);
/* Go on until it holds the lock; to the end of its critical section. */
bool coro_until_held(struct coro *coro);
bool coro_until_release(struct coro *coro);

/* Let it make its attempts, release if it holds the lock, and end. */
int coro_finish(struct coro *coro);
/* Its attempt at the lock that it wants. */
void coro_want(struct coro *coro);

/*
 * Scripts name coroutines by numbers: that of a CPU stands for a context of coros_level there,
 * CORO_ABOVE(cpu) for an NMI above it.
 */
#define CORO_ABOVE(cpu)		(SHIM_CPUS + (cpu))
#define COROS			CORO_ABOVE(SHIM_CPUS)
#define CORO_NMI_LEVEL		3
#define CORO_EACH(...)		((const unsigned int []){ __VA_ARGS__, COROS })

extern struct coro coros[COROS];
extern unsigned int coros_level;

/* At its start. */
struct coro *coros_start(unsigned int number, struct nbq_X *lock, ktime_t patience);
/* The same: it will want a second lock while it holds the first, both with any patience. */
struct coro *coros_start_both(unsigned int number, struct nbq_X *held, struct nbq_X *wanted);
/* The same, and it holds the first. */
struct coro *coros_start_holder(unsigned int number, struct nbq_X *held, struct nbq_X *wanted);
/* In this order, each of them starts and enqueues. */
#define ENQUEUE(lock, patience, ...) \
	coros_enqueue((lock), (patience), CORO_EACH(__VA_ARGS__), HERE)
void coros_enqueue(struct nbq_X *lock, ktime_t patience, const unsigned int *numbers,
		   const char *where);
/* In this order, each of them ends, and its last attempt has returned that. */
#define EXPECT_END(ret, ...)	coros_expect_end((ret), CORO_EACH(__VA_ARGS__), HERE)
void coros_expect_end(int ret, const unsigned int *numbers, const char *where);
/* In so many turns, each from one poll to the next, all end, and each has had its first lock. */
void coros_finish(unsigned int turns);
/* An epoch of the deadlock checks begins: two tasks with these locks wait for each other. */
void coros_begin_epoch(struct nbq_X *first, struct nbq_X *second);
/* Those that a failed case has left are no more. */
void coros_forget(void);
/* The same; and of what pools, nodes and locks were before, nothing is left. */
void coros_begin(struct nbq_X *locks, unsigned int number, unsigned int nodes);
#define COROS_LOCKS_SIZE	4096
/* Memory for locks at an address of its own, by which their hashes are the same in each run. */
struct nbq_X *coros_map_locks(void);

/* An attempt of the test itself, as this context; with the lock, it releases it at once. */
int try_as(struct nbq_X *lock, ktime_t patience, unsigned int cpu, unsigned int level);

#endif
