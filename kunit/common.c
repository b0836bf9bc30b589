// SPDX-License-Identifier: GPL-2.0
/*
 * What the nbqlock suites share: a clock that stands still, a bench with a
 * lock and queue nodes to move by hand, and exact counts of what happened.
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

struct nbq_fake nbq_fake;

static u64 read_fake_clock(void)
{
	u64 now = nbq_fake.now;

	nbq_fake.now += nbq_fake.step;
	if (++nbq_fake.reads == nbq_fake.call_at)
		nbq_fake.call(nbq_fake.arg);
	return now;
}

/* From here to the end of the case, the locks read this clock. */
void nbq_fake_start(u64 now, u64 step)
{
	nbq_fake = (struct nbq_fake){ .now = now, .step = step };
	WRITE_ONCE(nbq_fake_clock, read_fake_clock);
}

/* In the middle of that read of the clock, another context gets its turn. */
void nbq_fake_call(unsigned int call_at, void (*call)(void *arg), void *arg)
{
	nbq_fake.call = call;
	nbq_fake.arg = arg;
	nbq_fake.call_at = call_at;
}

/* Make the pool of the bench anew, with that many free nodes. */
void nbq_bench_fill(struct nbq_bench *bench, unsigned int size)
{
	unsigned int i;

	memset(&bench->pool, 0, sizeof(bench->pool));
	memset(bench->nodes, 0, sizeof(bench->nodes));
	bench->pool.cpu = raw_smp_processor_id();
	for (i = 0; i < size; i++)
		nbq_node_append(&bench->pool, &bench->nodes[i]);
}

/* Before each case. */
int nbq_bench_init(struct kunit *test)
{
	/* A power of two is aligned to itself, so the nodes are aligned. */
	size_t size = roundup_pow_of_two(sizeof(struct nbq_bench));
	struct nbq_bench *bench = kunit_kzalloc(test, size, GFP_KERNEL);

	if (!bench)
		return -ENOMEM;
	test->priv = bench;
	nbq_clh_init(&bench->lock);
	nbq_bench_fill(bench, NBQ_BENCH_NODES);
	nbq_read_events(&bench->total);
	return 0;
}

/* After each case, also after one that was given up half way. */
void nbq_bench_exit(struct kunit *test)
{
	WRITE_ONCE(nbq_fake_clock, NULL);
}

/* Claim a node of the bench as a context on its CPU would. */
struct nbq_node *nbq_bench_claim(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_node *node;

	preempt_disable();
	node = nbq_node_claim(&bench->pool);
	preempt_enable();
	KUNIT_ASSERT_NOT_NULL(test, node);
	return node;
}

/* Claim a node and enter the queue, as holder where it was empty. */
struct nbq_node *nbq_bench_join(struct kunit *test, struct nbq_node **pred)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_node *node = nbq_bench_claim(test);

	*pred = nbq_clh_join(&bench->lock, node);
	if (!*pred)
		bench->lock.holder = node;
	return node;
}

/*
 * Make a free lock behind which nobody stands, with so many abandoned nodes:
 * A L L .. L
 */
void nbq_bench_abandon(struct kunit *test, unsigned int leavers)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_node *pred[NBQ_BENCH_NODES], *node[NBQ_BENCH_NODES];
	unsigned int i;

	KUNIT_ASSERT_LE(test, leavers + 2, NBQ_BENCH_NODES);
	for (i = 0; i < leavers + 2; i++)
		node[i] = nbq_bench_join(test, &pred[i]);
	for (i = 1; i < leavers + 1; i++)
		nbq_clh_leave(&bench->lock, node[i], pred[i]);
	nbq_clh_hand_over(&bench->lock, node[0]);
	nbq_clh_leave(&bench->lock, node[i], pred[i]);
	memset(&bench->pool.events, 0, sizeof(bench->pool.events));
}

static char state(const struct nbq_clh *lock, const struct nbq_node *node)
{
	if (nbq_is_free(node))
		return '.';
	if (node == lock->holder)
		return 'H';
	if (node->prev == NBQ_AVAILABLE)
		return 'A';
	return node->prev ? 'L' : 'W';
}

/* Draw the nodes of the bench that were ever used: see EXPECT_PICTURE(). */
const char *nbq_bench_picture(struct nbq_bench *bench)
{
	unsigned int i;

	for (i = 0; i < bench->pool.size && bench->nodes[i].taken; i++)
		bench->picture[i] = state(&bench->lock, &bench->nodes[i]);
	bench->picture[i] = '\0';
	return bench->picture;
}

const struct nbq_event nbq_event_list[NBQ_EVENT_COUNT] = {
#define NBQ_EVENT(_name, _kind, _meaning)				\
	{								\
		.name = #_name,						\
		.kind = #_kind,						\
		.offset = offsetof(struct nbq_events, _name),		\
	},
#include "../nbqlock/events_list.h"
#undef NBQ_EVENT
};

/* The counter of an event among @events. */
unsigned long *nbq_counter(struct nbq_events *events,
			   const struct nbq_event *event)
{
	return (void *)events + event->offset;
}

void nbq_read_events(struct nbq_events *events)
{
	int i;

	for (i = 0; i < NBQ_EVENT_COUNT; i++) {
		const struct nbq_event *event = &nbq_event_list[i];
		u64 value = 0;

		nbq_event_read(event->name, &value);
		*nbq_counter(events, event) = value;
	}
}

/* Compare the counts. Growth is not in their hands, records are not counts. */
static void expect_counts(struct kunit *test, struct nbq_events *from,
			  struct nbq_events *to, struct nbq_events *want,
			  int line)
{
	int i;

	for (i = 0; i < NBQ_EVENT_COUNT; i++) {
		const struct nbq_event *event = &nbq_event_list[i];

		if (strcmp(event->kind, "SUM") || !strcmp(event->name, "growths"))
			continue;
		KUNIT_EXPECT_EQ_MSG(test,
				    *nbq_counter(to, event) - *nbq_counter(from, event),
				    *nbq_counter(want, event),
				    "%s, as seen from line %d", event->name, line);
	}
}

void nbq_bench_counted(struct kunit *test, struct nbq_events want, int line)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_events none = {};

	expect_counts(test, &none, &bench->pool.events, &want, line);
	memset(&bench->pool.events, 0, sizeof(bench->pool.events));
}

void nbq_total_counted(struct kunit *test, struct nbq_events want, int line)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_events now = {};

	nbq_read_events(&now);
	expect_counts(test, &bench->total, &now, &want, line);
	bench->total = now;
}

/*
 * Let a CPU's pool consist of other nodes for a while; NULL: of none. Growth
 * adds at the end of the pool's own list all the same, but is not requested.
 * Preemption must be off, on that CPU, until nbq_take_back().
 */
void nbq_lend(struct nbq_lent *lent, struct nbq_pool *pool,
	      struct nbq_node *first)
{
	lent->pool = pool;
	lent->first = pool->first;
	lent->wanted_growth = xchg(&pool->wants_growth, 1);
	WRITE_ONCE(pool->first, first);
	WRITE_ONCE(pool->hint, NULL);
}

/* None of the lent nodes may be in use any more. */
void nbq_take_back(struct nbq_lent *lent)
{
	WRITE_ONCE(lent->pool->hint, NULL);
	WRITE_ONCE(lent->pool->first, lent->first);
	if (!lent->wanted_growth)
		WRITE_ONCE(lent->pool->wants_growth, 0);
}

/* A CPU that the case does not run on now; skips it if there is none. */
unsigned int nbq_other_cpu(struct kunit *test)
{
	unsigned int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs a second CPU");
	return cpu;
}

/* What MODULE_IMPORT_NS() makes; its argument is a string since 6.13 only. */
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests for nbqlock");
MODULE_LICENSE("GPL");
