/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites share: a fake clock, a bench with a lock and contenders that are moved by
 * hand, and exact counts.
 */
#ifndef _NBQ_KUNIT_COMMON_H
#define _NBQ_KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/types.h>

#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

#include "../nbqlock/internal.h"
#include "lock_row.h"

/**
 * struct nbq_fake - the clock that the locks read while a suite has one set
 * @now: what the next read returns
 * @step: ns that each read takes
 * @reads: how often it was read since it was set
 * @call_at: the read, counted from 1, in the middle of which @call is called
 * @call: what another context does just then; must not sleep
 * @arg: for @call
 */
struct nbq_fake {
	u64 now;
	u64 step;
	unsigned int reads;
	unsigned int call_at;
	void (*call)(void *arg);
	void *arg;
};

extern struct nbq_fake nbq_fake;

void nbq_fake_start(u64 now, u64 step);
void nbq_fake_call(unsigned int call_at, void (*call)(void *arg), void *arg);

/* The list of events as a table: its kinds are SUM, MAX and PEAK. */
struct nbq_event {
	const char *name;
	const char *kind;
	size_t offset;
};

#define NBQ_EVENT_COUNT	(sizeof(struct nbq_events) / sizeof(unsigned long))

extern const struct nbq_event nbq_event_list[NBQ_EVENT_COUNT];

unsigned long *nbq_counter(struct nbq_events *events,
			   const struct nbq_event *event);

#define NBQ_BENCH_NODES		8
#define NBQ_BENCH_CONTENDERS	12
/* More than any queue has that is no cycle */
#define NBQ_BENCH_SKIPS	(2 * NBQ_BENCH_NODES)

/**
 * struct nbq_bench - one lock and one pool of a case, for it to move by hand
 * @row: the type of the lock
 * @lock: a lock
 * @pool: a pool that no CPU knows
 * @nodes: the nodes of @pool
 * @encodable: the same, to encode and decode
 * @skip_counts: of @pool
 * @contenders: of nbq_bench_enqueue() and nbq_bench_contender(), in order
 * @count: how many
 * @picture: see nbq_bench_picture()
 * @want: see nbq_bench_want()
 * @queues: those of a socket that the locks of the case have
 * @total: what all pools of the CPUs had counted at the last comparison
 */
struct nbq_bench {
	const struct nbq_row *row;
	void *lock;
	struct nbq_pool pool;
	struct nbq_node nodes[NBQ_BENCH_NODES];
	struct nbq_encodable *encodable;
	unsigned int skip_counts[NBQ_SKIPPED_MAX];
	struct nbq_contender contenders[NBQ_BENCH_CONTENDERS];
	unsigned int count;
	char picture[NBQ_BENCH_NODES + 1];
	char want[NBQ_BENCH_NODES + 1];
	DECLARE_BITMAP(queues, 1 << NBQ_QUEUE_BITS);
	struct nbq_events total;
};

int nbq_bench_init(struct kunit *test, const struct nbq_row *row);
void nbq_bench_exit(struct kunit *test);
void nbq_bench_finish(struct kunit *test);
void *nbq_new_lock(struct kunit *test, const struct nbq_row *row);
void nbq_bench_fill(struct nbq_bench *bench, unsigned int size);
struct nbq_node *nbq_bench_alloc(struct kunit *test);
struct nbq_node *nbq_bench_enqueue_node(struct kunit *test, struct nbq_node **pred);
void nbq_bench_leave_abandoned(struct kunit *test, unsigned int abandoned);
const char *nbq_bench_picture(struct nbq_bench *bench);
const char *nbq_bench_shape(struct nbq_bench *bench);
const char *nbq_bench_want(struct nbq_bench *bench, const char *want);
void nbq_bench_counted(struct kunit *test, struct nbq_events want, int line);
void nbq_total_counted(struct kunit *test, struct nbq_events want, int line);
void nbq_forget_late_attempts(void);
void nbq_read_events(struct nbq_events *events);
unsigned int nbq_nodes_in_use(struct nbq_bench *bench);
u32 *nbq_tail_of(const struct nbq_spin *lock);
void nbq_request(struct nbq_spin *lock, u8 handoff);

/* Contenders: they can move while preemption is off, but for nbq_bench_enqueue() and _hold(). */
struct nbq_contender *nbq_bench_contender(struct nbq_bench *bench);
struct nbq_contender *nbq_bench_enqueue(struct kunit *test);
struct nbq_contender *nbq_bench_hold(struct kunit *test);
void nbq_contender_enqueue(struct nbq_bench *bench, struct nbq_contender *contender);
void nbq_contender_link(struct nbq_bench *bench, struct nbq_contender *contender);
bool nbq_contender_poll(struct nbq_bench *bench, struct nbq_contender *contender);
bool nbq_contender_abandon(struct nbq_bench *bench, struct nbq_contender *contender);
bool nbq_contender_release(struct nbq_bench *bench, struct nbq_contender *contender);
void nbq_bench_drain(struct nbq_bench *bench);
void nbq_bench_close_cycle(struct nbq_bench *bench, const void *lock,
			   struct nbq_node *const *silent);
void nbq_bench_open_cycle(struct nbq_bench *bench);

static inline bool nbq_is_free(const struct nbq_node *node)
{
	return node->alloc_seq == node->free_seq;
}

/*
 * The nodes of the bench in the order of their index: H holds, W waits, L is abandoned, A is
 * AVAILABLE, a dot is free; more in NAME_row.c of the lock type. Until a node is used again,
 * this is also the order of the queue.
 */
#define EXPECT_PICTURE(test, want)					\
	KUNIT_EXPECT_STREQ(test, nbq_bench_picture((test)->priv), want)

/*
 * The same for all lock types, which differ in the nodes that stay: L is abandoned, known to
 * its predecessor or not; l was abandoned as the tail, and r released as the tail. Dots at the
 * end do not count. Where holders have no node, the first waiter is drawn in the place of the
 * holder: A if it is abandoned.
 */
#define EXPECT_SHAPE(test, shape)					\
	KUNIT_EXPECT_STREQ(test, nbq_bench_shape((test)->priv),		\
			   nbq_bench_want((test)->priv, shape))

/* Exactly this was counted on the bench since the last comparison, and no more. */
#define EXPECT_COUNTED(test, ...)					\
	nbq_bench_counted(test, (struct nbq_events){ __VA_ARGS__ }, __LINE__)

/* The same of the operations, in the pools of all CPUs together. */
#define EXPECT_TOTAL(test, ...)						\
	nbq_total_counted(test, (struct nbq_events){ __VA_ARGS__ }, __LINE__)

/**
 * struct nbq_context - what a holder has off
 * @preempt: preemption: how often
 * @irqs_off: interrupts
 * @bh_off: bottom halves
 */
struct nbq_context {
	unsigned int preempt;
	bool irqs_off;
	bool bh_off;
};

struct nbq_context nbq_context_now(void);
struct nbq_context nbq_context_within(struct nbq_context outside,
				      enum nbq_form form);
void nbq_as_nmi(void (*run)(void *arg), void *arg);
void nbq_context_restore(struct nbq_context want);
void nbq_expect_context(struct kunit *test, struct nbq_context now,
			struct nbq_context want);

/**
 * struct nbq_replaced - what a CPU's pool had before a case replaced its nodes
 * @pool: the pool
 * @first: its own first node
 * @encodable: those of its own that can be encoded
 * @wanted_growth: its own request
 */
struct nbq_replaced {
	struct nbq_pool *pool;
	struct nbq_node *first;
	struct nbq_encodable *encodable;
	unsigned int wanted_growth;
};

void nbq_pool_replace(struct nbq_replaced *replaced, struct nbq_pool *pool,
		      struct nbq_node *first, struct nbq_encodable *encodable);
struct nbq_encodable *nbq_encodable_new(struct kunit *test, struct nbq_node *nodes,
					unsigned int size);
void nbq_pool_restore(struct nbq_replaced *replaced);

unsigned int nbq_other_cpu(struct kunit *test);

/* Reports of misuse, as nbqlock/report.c has them: they are promised */
#define NBQ_NOT_HELD_REPORT	"unlock of a lock that is not held"
#define NBQ_NOT_OWNER_REPORT	"unlock of a lock that another CPU holds"
#define NBQ_IN_USE_REPORT	"destroy of a lock that is in use"

void nbq_provoke_report(struct kunit *test, const char *what);

#endif
