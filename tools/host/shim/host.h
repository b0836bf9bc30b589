/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel that the host tests run the shipped algorithm files in, and the
 * knobs that a test has on it.
 *
 * Rules
 *	The shipped text is compiled as it is: linux/ here holds stand-ins for
 *	the headers which it includes, each with no more than it uses, under
 *	the kernel's names and with the kernel's meaning.
 *	A thread is a CPU, or one of the contexts that nest on a CPU: it says
 *	which by shim_cpu and shim_level. Two threads that run at the same time
 *	must have different ones, just as in the kernel.
 *	Preemption, interrupts and bottom halves are not really off; they are
 *	counted, so that a test can see that all was put back.
 *	Shared accesses go through access.h.
 *	What the kernel-only files supply (pool.c: growth; debugfs.c: reading
 *	the events) is supplied by host.c.
 */
#ifndef SHIM_HOST_H
#define SHIM_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <access.h>
#include <linux/types.h>

struct nbq_node;
struct nbq_wait;

/* tools/host/simulate has more of both. */
#ifndef SHIM_CPUS
#define SHIM_CPUS	16
#endif
#ifndef SHIM_MOST_NODES
#define SHIM_MOST_NODES	64U	/* of a pool */
#endif

/*
 * The number of the CPU that has this index in arrays, and in shim_cpu; and back.
 * tools/host/explore has others: it must know them from numbers that mean something else.
 */
#ifndef SHIM_CPU_NUMBER
#define SHIM_CPU_NUMBER(index)	(index)
#define SHIM_CPU_INDEX(number)	(number)
#endif

/* Who the running thread is. */
extern _Thread_local unsigned int shim_cpu;
extern _Thread_local unsigned int shim_level;

/*
 * The running CPU's element of an array with one for each. A function, so that no
 * register keeps the CPU's number: tools/host/explore compares the registers of CPUs.
 */
void *shim_this_cpu(void *first, size_t size);

/* The CPU that was stopped, and is offline since; an impossible one: none was. */
extern unsigned int shim_stopped_cpu;
/* The CPU on its way up or down, offline and not active yet, or not any more; or none is. */
extern unsigned int shim_moving_cpu;

/* What the running thread has off at the moment; 0: nothing. */
extern _Thread_local int shim_preempt_off;
extern _Thread_local int shim_irqs_off;
extern _Thread_local int shim_bh_off;

/* The clock; NULL is CLOCK_MONOTONIC. */
extern u64 (*shim_clock)(void);

/* What vcpu_is_preempted() says; NULL: as outside of a guest, never. */
extern bool (*shim_vcpu_is_preempted)(unsigned int cpu);

/* With SHIM_ARM64: whether waits by hardware come to an end when nothing is written. */
extern bool shim_has_event_stream;
/*
 * What one is: it ends at a store to the word, which may have been made before, or at any
 * time later. NULL: after 100 us of CLOCK_MONOTONIC at the latest.
 */
extern void (*shim_hardware_wait)(const void *word);
void shim_wait_by_hardware(const void *word);

/* Reports of misuse and deadlocks (nbqlock/report.h), in all threads; the last of them. */
extern unsigned int shim_warnings;
extern unsigned int shim_reported;
extern unsigned int shim_reported_holder;
/* Instead of an enum nbq_report: no queue node. */
#define SHIM_REPORT_NO_NODE	~0U
/* They are not printed. */
extern bool shim_reports_are_silent;

/* Passes of the tracepoints nbq_wait_begin and nbq_wait_end. */
extern unsigned int shim_wait_begins;
extern unsigned int shim_wait_ends;

/* Passes of the tracepoint nbq_abandon, in this thread. */
extern _Thread_local unsigned int shim_leaves;

/* Nodes in each pool of each CPU; a pool may be enlarged up to the maximum. */
void shim_pools_start(unsigned int size, unsigned int nodes_max);
/* As in a kernel that has just started: the pools are not filled. */
void shim_pools_forget(void);
/* Enlarge the pools that asked for it: what pool.c does in the background. */
void shim_pools_grow(void);

/* How often a pool has asked to be enlarged. */
extern unsigned int shim_growth_requests;

/* Queue nodes that are not free, of all pools. */
unsigned int shim_nodes_in_use(void);
/* Sockets with queues of their own, after shim_pools_start(); none until then. */
#define SHIM_SOCKETS	8U
void shim_sockets_start(unsigned int number, unsigned int (*socket_of)(unsigned int cpu));
/* The queues of the machine; of all sockets. */
struct shim_memory shim_machine_memory(void);
struct shim_memory shim_sockets_memory(void);
/* Where the tail of the machine's queue for a lock is. */
u32 *shim_machine_tail(const void *lock);
bool shim_is_queue_tail(const void *address);
/* Is there anything in the queue for a lock that has this turn? */
bool shim_is_waited_for(unsigned int turn, const void *lock);
/*
 * Does a context take nodes back from a queue lock at this address, or at one with the same hash? A
 * test that has stopped it waits for ever if it destroys or makes a lock there.
 */
bool shim_is_visited(const void *lock);
/* Is this node the spare one of its pool? */
bool shim_is_spare(const void *node);
/* Is the lock that a context acquired last held with the spare node? */
bool shim_holds_with_spare(unsigned int cpu, unsigned int level);
/* Is a spare node of that CPU in use? Then it may be in the middle of a visit. */
bool shim_may_visit(unsigned int cpu);
/* Is this what a free queue node says? Then it may be neither read nor written. */
bool shim_is_in_free_node(const void *address);
/* Does a task of this CPU look for places of its own before it acquires? */
bool shim_has_abandoned(unsigned int cpu);
/* Its next attempt does, as after one that has abandoned a place. */
void shim_let_look(unsigned int cpu);
/*
 * Is this how a context of that CPU tries to resume a place, or to take a node back? It reads a
 * node of its own that may be free by then, and swaps what only an abandoned one has: there, or
 * in the node behind its own.
 */
bool shim_tries_to_resume(unsigned int cpu, enum shim_op op, const void *address);
/*
 * The node whose place at the lock was resumed by an access that was just made, where this value
 * stood before; or NULL.
 */
const struct nbq_node *shim_resumed_node(unsigned int cpu, enum shim_op op, const void *address,
					 unsigned long before, const void *lock);
/* What stands where a place is resumed; 0: nothing, or this is no such word. */
unsigned long shim_value_of_place(const void *address);
/* The number by which a hybrid lock knows the running context. */
unsigned int shim_context(void);
/* The node that this number stands for in a hybrid lock. */
const struct nbq_node *shim_decode_tail(unsigned int number);
/* Where a node says who stands in front of it. */
const void *shim_prev_of(const struct nbq_node *node);
/* The memory of all queue nodes; of the pools' heads; of one head's counters. */
struct shim_memory {
	const void *start;
	size_t size;
};

/*
 * The nodes of nbq_arena_lock, words of which 0 is a free one; how many each CPU has at the start;
 * how many are in use. None, where bpf/arena_lock.c is not linked.
 */
struct shim_memory shim_arena_nodes(void);
void shim_arena_start(unsigned int size);
unsigned int shim_arena_nodes_in_use(void);
bool shim_is_arena_node(const void *address);
/* Is this one of those that a CPU does not have? Nobody writes to it. */
bool shim_is_absent_arena_node(const void *address);

struct shim_memory shim_nodes_memory(void);
/* Of those that a pool has got so far. */
struct shim_memory shim_made_nodes_memory(void);
struct shim_memory shim_pools_memory(void);
/* How many attempts look for a place, of each CPU. */
struct shim_memory shim_looks_left_memory(void);
/* Which CPUs visit locks at rest. */
struct shim_memory shim_visits_memory(void);
struct shim_memory shim_events_memory(unsigned int cpu, unsigned int level);

/* A counted event, of all pools; see nbq_event_read(). */
u64 shim_event(const char *name);
/* Attempts that have skipped so many abandoned nodes, from 1 on. */
unsigned int shim_walks(unsigned int length);
/* Is an attempt of this CPU and level known to wait? */
bool shim_waits(unsigned int cpu, unsigned int level);
/* Has it published what it waits behind? */
bool shim_has_published(unsigned int cpu, unsigned int level);

#endif
