/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the nbqlock suites share: a clock that stands still, a bench with a
 * lock and queue nodes to move by hand, and exact counts of what happened.
 */
#ifndef _NBQ_KUNIT_COMMON_H
#define _NBQ_KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/types.h>

#include <nbqlock/nbqlock.h>

#include "../nbqlock/internal.h"

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

/**
 * struct nbq_bench - one lock and one pool of a case, for it to move by hand
 * @lock: a lock
 * @pool: a pool that no CPU knows
 * @nodes: the nodes of @pool
 * @picture: see nbq_bench_picture()
 * @total: what all pools of the CPUs had counted at the last look
 */
struct nbq_bench {
	struct nbq_clh lock;
	struct nbq_pool pool;
	struct nbq_node nodes[NBQ_BENCH_NODES];
	char picture[NBQ_BENCH_NODES + 1];
	struct nbq_events total;
};

int nbq_bench_init(struct kunit *test);
void nbq_bench_exit(struct kunit *test);
void nbq_bench_fill(struct nbq_bench *bench, unsigned int size);
struct nbq_node *nbq_bench_claim(struct kunit *test);
struct nbq_node *nbq_bench_join(struct kunit *test, struct nbq_node **pred);
void nbq_bench_abandon(struct kunit *test, unsigned int leavers);
const char *nbq_bench_picture(struct nbq_bench *bench);
void nbq_bench_counted(struct kunit *test, struct nbq_events want, int line);
void nbq_total_counted(struct kunit *test, struct nbq_events want, int line);
void nbq_read_events(struct nbq_events *events);

static inline bool nbq_is_free(const struct nbq_node *node)
{
	return node->taken == node->given;
}

/*
 * The nodes of the bench in the order of their index: H holds, W waits, L has
 * left, A is AVAILABLE, a dot is free. The first claimed is the first drawn,
 * so this is also the queue, from its front, until a node is used again.
 */
#define EXPECT_PICTURE(test, want)					\
	KUNIT_EXPECT_STREQ(test, nbq_bench_picture((test)->priv), want)

/* Exactly this was counted on the bench since the last look, and no more. */
#define EXPECT_COUNTED(test, ...)					\
	nbq_bench_counted(test, (struct nbq_events){ __VA_ARGS__ }, __LINE__)

/* The same for what the verbs counted, in the pools of all CPUs together. */
#define EXPECT_TOTAL(test, ...)						\
	nbq_total_counted(test, (struct nbq_events){ __VA_ARGS__ }, __LINE__)

/**
 * struct nbq_lent - what stands in a CPU's pool while a case lends it nodes
 * @pool: the pool
 * @first: its own first node
 * @wanted_growth: its own request
 */
struct nbq_lent {
	struct nbq_pool *pool;
	struct nbq_node *first;
	unsigned int wanted_growth;
};

void nbq_lend(struct nbq_lent *lent, struct nbq_pool *pool,
	      struct nbq_node *first);
void nbq_take_back(struct nbq_lent *lent);

unsigned int nbq_other_cpu(struct kunit *test);

#endif
