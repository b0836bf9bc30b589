/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts: each makes the attempts of its role in a fiber, through the public
 * operations of the lock type, and stops before each access that another could interfere
 * with.
 *
 * A transition of a context is one shared access and all that it does up to the
 * next. Which words are shared is learned: see sharing.h.
 *
 * Polls. A context in cpu_relax() has looked at some words. To look again changes
 * nothing until one of these has another value, so it does not run until then: it
 * is blocked. It looks one time more than that before it is, at once, since the
 * first look of a wait does more than the others. All these idle looks happen
 * at the same moment as the look before; another order of them is no other
 * behaviour, since nothing they do is seen by others.
 *
 * Looks that are counted. A hybrid lock's waiter does some things only after so many
 * looks in vain. That it comes to that is a choice, too, which it has whenever it is
 * blocked (spin_policy.h): it polls once more, at what it has not looked at before, too,
 * all of it at that moment, and stops before it does something new. If nothing new
 * comes of it, nothing has happened. What it looks at then and has looked at before is
 * as it was; so no other look of the wait would have made a difference.
 *
 * Time. Each context has a clock of its own, which does not go on. That its patience ends, or
 * that its condition comes true, is a choice that it has whenever it is blocked: then it polls
 * on until it has read the clock, which it does not otherwise (counts.h). Between the look in
 * vain and the first access by which it abandons, anything may happen, as it stops before that
 * access. That a BPF program may loop no more is a choice that it has before any access.
 *
 * Stops. A context that may stop for good has that choice before each access, as long as the lock
 * names it. Nothing runs on its CPU then but what interrupts it. That a waiter stops for good is no
 * choice of its own: in each state, a waiter for a free lock and a newcomer are tried alone.
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "lock_type.h"
#include "program.h"

#define NO_CONTEXT		0xffU
#define MOST_WATCHED	32U
#define NMI_LEVEL	3

/* What a context does with a lock. */
enum doing {
	IDLE,
	ACQUIRING,
	ABANDONING,
	HOLDING,
	RELEASING,
	DESTROYING,
};

/**
 * struct reads - what a context has seen since it polled last
 * @number: of words
 * @word: where
 * @value: what it was
 */
struct reads {
	unsigned long number;
	const void *word[MOST_WATCHED];
	unsigned long value[MOST_WATCHED];
};

#define MOST_FOREIGN	32U

/**
 * struct summary - a context's stack, for comparing
 * @key: of all words but foreign ones; pointers to what belongs to its own CPU count
 *	as what they are there
 * @number: of foreign words
 * @foreign: pointers to what belongs to another CPU, in their order
 */
struct summary {
	unsigned long key;
	unsigned long number;
	unsigned long foreign[MOST_FOREIGN];
};

/**
 * struct attempt - what a context does with a lock, and did
 * @doing: that
 * @node: its queue node, since it has enqueued
 * @life: that of the lock, see struct queue: its release may outlast that
 * @own_steps: made since it began to abandon or to release
 * @left: attempts not yet begun
 * @has_lock: it has the lock, and is about to dequeue
 * @newcomer: all the time since it began, a request for a handoff has stood
 * @contended: the lock was not free for it at some time since it began; of attempts
 *	without patience
 * @persisted: it has polled on, and so may act for stalled waiters
 * @ahead: those that were in the queue when it began, and still are: bits
 * @followed: another has acquired since it has
 * @overtaken: one that enqueued later has acquired
 * @resumed: it has resumed the place of an earlier attempt in the queue
 */
struct attempt {
	const struct nbq_node *node;
	unsigned char doing;
	unsigned char life;
	unsigned char own_steps;
	unsigned char left;
	unsigned char ahead;
	bool has_lock;
	bool newcomer;
	bool contended;
	bool persisted;
	bool followed;
	bool overtaken;
	bool resumed;
};

/**
 * struct context - all of a context that does not stand in its stack
 * @attempt: by lock
 * @started: it has made an access
 * @arrived: it has enqueued, acquired or failed, at least once
 * @awaits: 1 + the lock whose memory is to become another one before it begins its next attempt
 * @asks: it holds the lock, and asks this of it
 * @ended: it has made all of its attempts
 * @blocked: it polls, and nothing has changed
 * @polled: it has polled since its last access that was not a read of a poll
 * @late: its clock is past the deadline, or its condition is true
 * @checking: it polls on until it has made a deadlock check
 * @persisting: it polls on until it does something new
 * @checked: it has decided on a deadlock check
 * @deadlocked: its wait was found to be a deadlock
 * @may_stop: the attempt under way is one with which it may stop for good
 * @stopped: it has
 * @busy: it has made a shared access, or has a node, since its attempt began
 * @checks_left: how often it may still be @checking in this attempt
 * @lock: that of the attempt under way
 * @patience: that of the attempt under way
 * @preempt_off, @irqs_off: as shim_preempt_off, shim_irqs_off
 * @op: of the access that it is about to make
 * @address: of that
 * @from: where in the shipped text that is
 * @polled_word: the last one that it has looked at of those that end a wait in a queue
 * @reads: since it polled last
 * @idle: before it polled last; part of the state on the way to its next poll
 * @summary: of its stack; see state.h
 */
struct context {
	struct attempt attempt[MOST_LOCKS];
	bool started;
	bool arrived;
	unsigned char awaits;
	unsigned char asks;
	bool ended;
	bool blocked;
	bool polled;
	bool late;
	bool checking;
	bool persisting;
	bool checked;
	bool deadlocked;
	bool may_stop;
	bool stopped;
	bool busy;
	unsigned char checks_left;
	unsigned char lock;
	unsigned char patience;
	int preempt_off;
	int irqs_off;
	enum shim_op op;
	const void *address;
	const void *from;
	const void *polled_word;
	struct reads reads;
	struct reads idle;
	struct summary summary;
};

/**
 * struct queue - what the checker knows of a lock
 * @life: 1: the memory of the first lock has become another one, perhaps of another type
 * @owner: the context in its critical section
 * @destroyed: it was destroyed, and its memory overwritten
 * @length: how many wait
 * @enqueued: these, in the order in which they have swapped the tail
 */
struct queue {
	unsigned char life;
	unsigned char owner;
	bool destroyed;
	unsigned char length;
	unsigned char enqueued[MOST_FIBERS];
};

/**
 * struct cpu - the contexts of a CPU that have begun and not ended
 * @depth: how many
 * @running: these, from the bottom up; only the last one runs
 */
struct cpu {
	unsigned char depth;
	unsigned char running[MOST_FIBERS];
};

extern struct context contexts[MOST_FIBERS];
extern struct cpu cpus[MOST_FIBERS];
extern struct queue queues[MOST_LOCKS];
extern union lock_memory locks[MOST_LOCKS];
/* Sockets among which the CPUs are divided by turns; 0: the queue is the lock's own. */
extern unsigned int sockets_number;

static inline const struct lock_type *type_of(unsigned int lock)
{
	return lock_types[lock][queues[lock].life];
}

static inline unsigned int socket_of(unsigned int cpu)
{
	return sockets_number ? cpu % sockets_number : 0;
}

/* See context_has_little_patience() in spin_policy.h. */
static inline bool has_little_patience(unsigned int cpu)
{
	return sockets_number > 1 && cpu == 2;
}

/**
 * struct access - one that a context has made
 * @op: of what kind
 * @address: where
 * @from: where in the shipped text it stands
 * @before: the value of that word before
 * @shared: it is one that others could interfere with
 */
struct access {
	enum shim_op op;
	const void *address;
	const void *from;
	unsigned long before;
	bool shared;
};

/* Told of each access directly after it, if there is one. */
extern void (*context_observer)(unsigned int context, const struct access *access);

/* More time has passed than anything but a deadline needs to expire. */
extern bool time_has_passed;

/* How many deadlock checks a wait may choose to make. */
extern unsigned int checks_per_wait;

/* What a context can be asked to do next. */
enum way {
	STEP,		/* its next access */
	STOP,		/* it stops for good, with the lock */
	TIME_OUT,	/* its patience ends, or its condition is true */
	CHECK,		/* it polls on until it makes a deadlock check */
	PERSIST,	/* ... until it does something new, if it does so at all */
	WAYS,
};

/* All stop before their first access. */
void contexts_start(void);
bool context_can(unsigned int context, enum way way);
/* To persist changes nothing if it comes to nothing. */
void context_go(unsigned int context, enum way way);
/* Would it do something new if it polled on? */
bool context_would_persist(unsigned int context);
/* Is its attempt at a queue lock about to fail, though not as its time is over? */
bool context_gives_up(unsigned int context);

/* Is this word of the lock? */
static inline bool is_of_lock(const void *address, unsigned int lock)
{
	return (unsigned long)address - (unsigned long)&locks[lock] < sizeof(locks[lock]);
}

/* The word that holds this address. */
static inline const unsigned long *word_of(const void *address)
{
	return (const unsigned long *)((unsigned long)address & ~7UL);
}

/* What an access to this address is about: a lock's word may be made of parts. */
static inline unsigned long value_at(const void *address)
{
	unsigned int lock;

	for (lock = 0; lock < locks_number; lock++) {
		if (is_of_lock(address, lock))
			return type_of(lock)->value_in_lock(&locks[lock], address);
	}
	if (shim_is_arena_node(address))
		return *(const u32 *)address;
	return *word_of(address);
}

#endif
