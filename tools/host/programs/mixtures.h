/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mixtures: random schedules over all lock types at once.
 *
 * A schedule is a list of events: a context calls an operation, a CPU goes on for some accesses,
 * memory becomes a lock, the clock jumps. An event that makes no sense where it stands is skipped,
 * so that any part of a schedule is one, too: that is how mixtures_shrink.c finds the shortest that
 * fails. What must hold is known by a model of its own (mixtures_model.c): who holds which lock,
 * which waiter is behind which, what memory is a lock.
 */
#ifndef MIXTURES_H
#define MIXTURES_H

#include <linux/build_bug.h>
#include <nbqlock/nbqlock.h>
#include <host.h>

#define MOST_CPUS	4U
/* A CPU that only looks at the locks when all is over. */
#define SWEEPER		MOST_CPUS
#define MOST_DEPTH	4U
#define MOST_SLOTS	3U
#define MOST_HELD	3U
#define MOST_EVENTS	1200U

/* Lock types: HYBRID(NAME, X), or for those that are to be destroyed STRICT(NAME, X). */
#define MIXED_TYPES(HYBRID, STRICT) \
	HYBRID(SPIN, spin) STRICT(CLH, clh) STRICT(MCS, mcs) STRICT(SWAP, swap)
#define TYPE_NAME(NAME, X)	NAME,
enum type { MIXED_TYPES(TYPE_NAME, TYPE_NAME) TYPES };

enum {
	TYPES_OF_DRIVER = 0
#define STRESS_OURS(_name, X)	+ 1
#include <nbqlock/stress/lock_types_list.h>
};

static_assert((int)TYPES == TYPES_OF_DRIVER);

enum call {
	TRYLOCK, TIMEOUT, UNTIL, INFO, UNLESS, LOCK,	/* those that acquire, up to here */
	TAKEOVER, UNLOCK, IS_LOCKED, IS_CONTENDED, DESTROY, DESTROY_IN_USE,
	CALLS
};

enum event_kind {
	RUN,		/* so many accesses */
	RUN_POLLS,	/* up to the next poll in vain, so many times */
	RUN_OUT,	/* to the end of the operation, or for MOST_RUN accesses */
	CALL,
	MAKE,		/* memory becomes a lock, by an initialiser or as zeroes */
	LEAVE,		/* memory is no nbq_spin any more, without a call */
	CLOCK,		/* the clock jumps */
	CLOCK_STEP,	/* each reading advances it by so much from now on */
	STOP,		/* a CPU stops for good */
	GROW,		/* pools that asked for it become larger */
};

#define MOST_RUN	800U

/**
 * struct event - a step of a schedule
 * @kind: what happens
 * @cpu: on which CPU
 * @level: CALL: of a context of this level
 * @nested: CALL: above a context of that level, which may be idle
 * @call: CALL: the operation
 * @slot: on which memory
 * @patience: CALL: an index of patiences[]
 * @type: MAKE: the lock type
 * @zeroed: MAKE: as zeroes
 * @number: of accesses; an index of steps of the clock
 */
struct event {
	unsigned char kind, cpu, level, nested, call, slot, patience, type, zeroed;
	unsigned short number;
};

/**
 * struct settings - what stays the same in a schedule
 * @cpus, @slots, @nodes: how many; of each pool
 * @layout: how the addresses of the locks hash: 0: apart, 1: the same, 2: side by side
 * @clock_step: an index of clock_steps[]
 * @ordered: attempts without end keep an order of locks, so that there is no deadlock
 * @nests: contexts of one level nest, too
 * @stops: a CPU may stop for good
 * @grows: pools grow at the end
 */
struct settings {
	unsigned char cpus, slots, nodes, layout, clock_step;
	bool ordered, nests, stops, grows;
};

struct schedule {
	unsigned int seed;
	struct settings settings;
	unsigned int number;
	struct event events[MOST_EVENTS];
};

/**
 * struct slot - memory that may be a lock
 * @memory: where
 * @type: which lock type it is, or was last
 * @alive: it is a lock
 * @may_be_zeroed: it may become another lock without an initialiser
 * @life: counts the locks that it has been
 * @holder: the context that holds it; NULL: none, or it has begun to release
 * @acquired: how often it was acquired
 * @destroyer: who destroys it
 * @places: of a strict queue, in order
 */
struct slot {
	void *memory;
	enum type type;
	bool alive;
	bool may_be_zeroed;
	unsigned int life;
	struct context *holder;
	unsigned int acquired;
	struct context *destroyer;
	struct place {
		struct context *waiter;		/* NULL: abandoned */
		const void *node;
	} places[64];
	unsigned int places_number;
};

/**
 * struct context - a task or interrupt on a CPU, which makes one operation after another
 * @busy: an operation is under way: @event, at @slot
 * @life: of @slot when it began
 * @patience: of the attempt; 0: it does not wait
 * @held: what it holds
 * @superseded: it releases, and another context has acquired the lock since
 * @held_throughout: the holder when its operation began
 * @serial: @slot->acquired of then
 * @wrote: an attempt without patience has written to the lock or a node
 * @visits: a queue lock from which it takes nodes back, or has taken some
 * @in_cycle: its wait was part of a cycle, at some moment
 * @waits_at_random: it has resumed a place that the model does not know
 * @named: of a wait for a hybrid: the holders that the lock has named meanwhile
 * @ambiguous: those of them whose name was that of two contexts, one above the other
 */
struct context {
	unsigned char cpu, level, depth;
	bool busy;
	struct event event;
	struct slot *slot;
	unsigned int life;
	ktime_t patience;
	int ret;
	struct slot *held[MOST_HELD];
	unsigned int held_number;
	bool superseded;
	struct context *held_throughout;
	unsigned int serial;
	bool wrote;
	const struct slot *visits;
	bool in_cycle;
	bool waits_at_random;
	unsigned long named, ambiguous;
	bool stop_condition;
	struct nbq_timeout info;
	struct slot *info_slot;
	unsigned int info_life;

	/* Private to mixtures_machine.c. */
	int preempt_off;
	int irqs_off;
	int mmiowb_nesting;
	unsigned int steps_left;
	unsigned int polls_left;
	enum shim_op last_op;
	const void *last_address;
	unsigned long last_before;
};

/* The contexts of a CPU, from the bottom up. Only the last runs. */
struct cpu {
	struct context contexts[MOST_DEPTH];
	unsigned int depth;
	bool stopped;
};

extern struct cpu cpus[MOST_CPUS + 1];
extern struct slot slots[MOST_SLOTS];
extern struct settings settings;

/* NULL: it was the last one. @context: NULL: the first. */
struct context *next_context(const struct context *context);

#define for_each_context(context) \
	for ((context) = next_context(NULL); (context); (context) = next_context(context))

/* mixtures_locks.c: the operations of all types, by the type. */
struct operations {
	const char *name;
	void (*init)(void *lock);
	int (*destroy)(void *lock);
	bool (*is_locked)(const void *lock);
	bool (*is_contended)(const void *lock);
	bool (*trylock)(void *lock);
	int (*lock_timeout)(void *lock, ktime_t patience);
	int (*lock_until)(void *lock, ktime_t deadline);
	int (*lock_timeout_info)(void *lock, ktime_t patience, struct nbq_timeout *info);
	void (*lock)(void *lock);
	void (*unlock)(void *lock);
	size_t size;
};

extern const struct operations operations[TYPES];
/* Does its queue end here? NULL: this type has a queue elsewhere. */
const void *tail_of(const struct slot *slot);
/* Give back what attempts have abandoned in the queues for this address. */
void sweep(void *memory);
/* The context that the word of a hybrid names: false: none. */
bool holder_in_word(const struct slot *slot, unsigned int *cpu, unsigned int *level);

/* mixtures_waits.c */
void waits_enqueued(struct context *context, bool was_empty);
void waits_resumed(struct context *context, const void *node);
void waits_left(struct context *context, bool acquired);
/* Does it release the lock, which nobody has acquired since? */
bool waits_is_releasing(const struct context *context, const struct slot *slot);
/* Which waits are part of a cycle at this moment? */
void waits_find_cycles(void);

/* mixtures_model.c */
void model_begin(void);
void model_call_begins(struct context *context);
void model_call_ends(struct context *context);
void model_accessed(struct context *context, enum shim_op op, const void *address,
		    unsigned long before);
void model_will_access(struct context *context, enum shim_op op, const void *address);
bool model_allows(const struct context *context, const struct event *event);
/* Does any context use the memory? */
bool model_is_used(const struct slot *slot, const struct context *except);
bool model_may_wait(const struct context *context, const struct slot *slot, enum call call);
bool model_was_held_throughout(const struct context *context);
void model_make(struct slot *slot, enum type type, bool zeroed);
void model_leave(struct slot *slot);

static inline bool acquires(enum call call)
{
	return call <= LOCK;
}

/* mixtures_machine.c */
extern const ktime_t patiences[];
extern const unsigned int patiences_number;
extern const u64 clock_steps[];
extern const unsigned int clock_steps_number;
extern const u64 clock_jumps[];
extern const unsigned int clock_jumps_number;
extern u64 now;
extern u64 clock_step;
extern u64 steps_made;
void machine_begin(const struct settings *settings);
/* Return: false: it makes no sense here, and nothing has happened. */
bool machine_do(const struct event *event);
struct context *top_of(unsigned int cpu);
/* It runs for so many accesses, or polls, at most. */
bool machine_run(unsigned int cpu, unsigned int steps, unsigned int polls);
bool machine_call(const struct event *event);
/* A context ends that does nothing and holds nothing. */
void machine_pop_idle(struct cpu *cpu);

/* mixtures_end.c */
void machine_end(void);

/* mixtures_choose.c */
void choose_settings(struct settings *settings, unsigned int seed);
struct event choose_event(void);
unsigned int choose_length(void);

/* mixtures_show.c */
extern bool shows;
extern const char *const call_names[CALLS];
void show_settings(const struct schedule *schedule);
void show_event(const struct event *event);
void show_access(const struct context *context, enum shim_op op, const void *address);
void show_end(const struct context *context);
void show(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* mixtures_run.c */

enum rare_event {
	RESUMED,	/* a place in a strict queue */
	NESTED,		/* a context of one level above another */
	CHANGED_TYPE,	/* memory became a lock of another type */
	DEADLOCKED,	/* -EDEADLK */
	EXHAUSTED,	/* an attempt found no node */
	VISITED,	/* it looked for one at a queue lock at rest */
	STOPPED,	/* a CPU stopped for good */
	RARE_EVENTS
};

/**
 * struct outcome - what came of schedules, for the process that started them
 * @kind: of the failure; empty: none
 * @why: the failure
 * @schedules, @calls, @steps: made
 * @seen: calls of each kind that have returned 0, and that have returned something else
 * @events: what is rare
 * @schedule: the last one
 */
struct outcome {
	char kind[32];
	char why[400];
	unsigned int schedules;
	u64 calls;
	u64 steps;
	u64 seen[TYPES][CALLS][2];
	u64 events[RARE_EVENTS];
	struct schedule schedule;
};

extern struct outcome *outcome;
/* Ends the process that runs schedules. */
void fail(const char *kind, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3), __noreturn__));
/* Schedules of these seeds, in a process of their own. Return: false: the last one has failed. */
bool run_seeds(unsigned int first, unsigned int number);
/* Return: this schedule fails as @kind says, or, with NULL, in any way. */
bool run_again(const struct schedule *schedule, const char *kind, bool shown);

/* mixtures_report.c */
/* Return: each operation and each rare event was seen. */
bool report_variety(void);
void report_json(const char *path, unsigned int first_seed);

/* mixtures_shrink.c */
void shrink(struct schedule *schedule, const char *kind);

#endif
