// SPDX-License-Identifier: GPL-2.0
/*
 * The counted events as other modules read them: every name, sums of all
 * pools, and what a reset does to counts and to records.
 */
#include <linux/cpumask.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "common.h"

static void event_desc(const struct nbq_event *event, char *desc)
{
	strscpy(desc, event->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(event, nbq_event_list, event_desc);

static u64 value_of(struct kunit *test, const char *name)
{
	u64 value = 0;

	KUNIT_EXPECT_EQ(test, nbq_event_read(name, &value), 0);
	return value;
}

/* One acquisition that found the queue empty. */
static void acquire(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	nbq_clh_lock(fixture->lock);
	nbq_clh_unlock(fixture->lock);
}

/* What the pool of the running context counts is what is read, and 0 after a reset. */
static void event_counted_in_a_pool_is_in_the_sum(struct kunit *test)
{
	const struct nbq_event *event = test->param_value;
	unsigned long *counter;
	u64 before, after;

	acquire(test);
	nbq_events_reset();
	preempt_disable();
	counter = nbq_counter(&nbq_this_pool()->events, event);
	before = value_of(test, event->name);
	*counter += 3;
	after = value_of(test, event->name);
	*counter -= 3;
	preempt_enable();
	KUNIT_EXPECT_EQ(test, before, 0);
	KUNIT_EXPECT_EQ(test, after, 3);
}

static void unknown_event_is_refused(struct kunit *test)
{
	static const char * const names[] = {
		"", "acquired", "timeouts ", "Timeouts", "nodes_takenn", "baseline",
	};
	u64 value = 4711;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ(test, nbq_event_read(names[i], &value), -ENOENT);
	KUNIT_EXPECT_EQ(test, value, 4711);
}

static void counts_of_all_cpus_are_added_up(struct kunit *test)
{
	unsigned int cpu, level, pools = 0;

	nbq_events_reset();
	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			per_cpu(nbq_pools, cpu)[level].events.exhaustions++;
			pools++;
		}
	}
	KUNIT_EXPECT_EQ(test, value_of(test, "exhaustions"), pools);
	nbq_events_reset();
}

static void most_skipped_is_the_most_of_any_cpu(struct kunit *test)
{
	unsigned int cpu;

	nbq_events_reset();
	for_each_possible_cpu(cpu) {
		per_cpu(nbq_pools, cpu)[0].events.most_skipped = 7;
		per_cpu(nbq_pools, cpu)[1].events.most_skipped = 5;
	}
	KUNIT_EXPECT_EQ(test, value_of(test, "most_skipped"), 7);
	nbq_events_reset();
	KUNIT_EXPECT_EQ(test, value_of(test, "most_skipped"), 0);
}

static void high_water_marks_of_all_pools_are_added_up(struct kunit *test)
{
	unsigned int cpu, cpus = 0;

	nbq_events_reset();
	for_each_possible_cpu(cpu) {
		per_cpu(nbq_pools, cpu)[0].events.pool_high_water = 3;
		per_cpu(nbq_pools, cpu)[2].events.pool_high_water = 1;
		cpus++;
	}
	KUNIT_EXPECT_EQ(test, value_of(test, "pool_high_water"), 4 * cpus);
	nbq_events_reset();
}

static void counts_go_on_from_0_after_a_reset(struct kunit *test)
{
	acquire(test);
	nbq_events_reset();
	acquire(test);
	acquire(test);
	KUNIT_EXPECT_EQ(test, value_of(test, "acquired_uncontended"), 2);
	KUNIT_EXPECT_EQ(test, value_of(test, "nodes_allocated"), 2);
	KUNIT_EXPECT_EQ(test, value_of(test, "nodes_reclaimed"), 2);
}

/* Only its own CPU writes to a count, so a reset must not. */
static void reset_does_not_write_to_the_counts(struct kunit *test)
{
	struct nbq_pool *pool = per_cpu(nbq_pools, raw_smp_processor_id());
	unsigned long before;

	pool->events.timeouts += 5;
	before = pool->events.timeouts;
	nbq_events_reset();
	KUNIT_EXPECT_EQ(test, pool->events.timeouts, before);
	KUNIT_EXPECT_EQ(test, value_of(test, "timeouts"), 0);
}

static void high_water_after_a_reset_is_what_is_in_use(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_clh second, third;
	u64 one = 0, three = 0;

	nbq_clh_init(&second);
	nbq_clh_init(&third);

	preempt_disable();
	nbq_events_reset();
	nbq_clh_lock(fixture->lock);
	KUNIT_EXPECT_EQ(test, nbq_event_read("pool_high_water", &one), 0);
	nbq_clh_lock(&second);
	nbq_clh_lock(&third);
	nbq_clh_unlock(&third);
	nbq_clh_unlock(&second);
	nbq_clh_unlock(fixture->lock);
	KUNIT_EXPECT_EQ(test, nbq_event_read("pool_high_water", &three), 0);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(&third), 0);
	KUNIT_EXPECT_EQ(test, nbq_clh_destroy(&second), 0);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, one, 1);
	KUNIT_EXPECT_EQ(test, three, 3);
}

static u64 skips_of(unsigned int length)
{
	u64 counts[NBQ_SKIPPED_MAX + 1];

	nbq_skipped_read(counts);
	return counts[length];
}

static void skip_counts_of_all_cpus_are_added_up(struct kunit *test)
{
	unsigned int cpu, level, pools = 0;

	nbq_events_reset();
	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_pool *pool = &per_cpu(nbq_pools, cpu)[level];

			nbq_count_skipped(pool, 1);
			nbq_count_skipped(pool, 7);
			nbq_count_skipped(pool, 7);
			pools++;
		}
	}
	KUNIT_EXPECT_EQ(test, skips_of(1), pools);
	KUNIT_EXPECT_EQ(test, skips_of(6), 0);
	KUNIT_EXPECT_EQ(test, skips_of(7), 2 * pools);
	KUNIT_EXPECT_EQ(test, skips_of(8), 0);
	KUNIT_EXPECT_EQ(test, value_of(test, "most_skipped"), 7);
	nbq_events_reset();
}

static void many_skipped_nodes_are_counted_together(struct kunit *test)
{
	struct nbq_pool *pool = per_cpu(nbq_pools, 0);

	nbq_events_reset();
	nbq_count_skipped(pool, NBQ_SKIPPED_MAX - 1);
	nbq_count_skipped(pool, NBQ_SKIPPED_MAX);
	nbq_count_skipped(pool, NBQ_SKIPPED_MAX + 1);
	nbq_count_skipped(pool, ULONG_MAX);
	KUNIT_EXPECT_EQ(test, skips_of(NBQ_SKIPPED_MAX - 1), 1);
	KUNIT_EXPECT_EQ(test, skips_of(NBQ_SKIPPED_MAX), 3);
	KUNIT_EXPECT_EQ(test, value_of(test, "most_skipped"), ULONG_MAX);
	nbq_events_reset();
}

static void attempt_that_skips_no_node_is_counted_as_0(struct kunit *test)
{
	struct nbq_pool *pool = per_cpu(nbq_pools, 0);

	nbq_events_reset();
	acquire(test);
	acquire(test);
	KUNIT_EXPECT_EQ(test, skips_of(0), 2);
	/* A third attempt, which skips nodes. */
	pool->events.nodes_allocated++;
	pool->events.timeouts++;
	nbq_count_skipped(pool, 3);
	KUNIT_EXPECT_EQ(test, skips_of(0), 2);
	KUNIT_EXPECT_EQ(test, skips_of(3), 1);
	nbq_events_reset();
}

/* With a node, and without: a waiter of the hybrid that gives up before it enqueues. */
static void attempts_with_a_node_are_counted_whatever_they_end_with(struct kunit *test)
{
	struct nbq_events *events = &per_cpu(nbq_pools, 0)->events;
	unsigned long *results[] = {
		&events->acquired_handoff, &events->timeouts, &events->cancellations,
		&events->failed_tries, &events->deadlocks,
	};
	unsigned int i;

	nbq_events_reset();
	for (i = 0; i < ARRAY_SIZE(results); i++) {
		events->nodes_allocated++;
		(*results[i])++;
		KUNIT_EXPECT_EQ_MSG(test, skips_of(0), 2 * i + 1, "result %u", i);
		events->nodes_resumed++;
		(*results[i])++;
		KUNIT_EXPECT_EQ_MSG(test, skips_of(0), 2 * i + 2, "result %u", i);
		(*results[i])++;
		KUNIT_EXPECT_EQ_MSG(test, skips_of(0), 2 * i + 2, "result %u", i);
	}
	nbq_events_reset();
}

static void skip_counts_are_0_after_a_reset_that_does_not_write_to_them(struct kunit *test)
{
	struct nbq_pool *pool = per_cpu(nbq_pools, 0);
	unsigned int before;

	/* Also when a count wraps after the reset. */
	pool->skip_counts[4] = UINT_MAX;
	before = pool->skip_counts[4];
	nbq_events_reset();
	KUNIT_EXPECT_EQ(test, pool->skip_counts[4], before);
	KUNIT_EXPECT_EQ(test, skips_of(5), 0);
	nbq_count_skipped(pool, 5);
	nbq_count_skipped(pool, 5);
	KUNIT_EXPECT_EQ(test, skips_of(5), 2);
	nbq_events_reset();
}

static struct kunit_case events_cases[] = {
	KUNIT_CASE_PARAM(event_counted_in_a_pool_is_in_the_sum, event_gen_params),
	KUNIT_CASE(unknown_event_is_refused),
	KUNIT_CASE(counts_of_all_cpus_are_added_up),
	KUNIT_CASE(most_skipped_is_the_most_of_any_cpu),
	KUNIT_CASE(high_water_marks_of_all_pools_are_added_up),
	KUNIT_CASE(counts_go_on_from_0_after_a_reset),
	KUNIT_CASE(reset_does_not_write_to_the_counts),
	KUNIT_CASE(high_water_after_a_reset_is_what_is_in_use),
	KUNIT_CASE(skip_counts_of_all_cpus_are_added_up),
	KUNIT_CASE(many_skipped_nodes_are_counted_together),
	KUNIT_CASE(attempt_that_skips_no_node_is_counted_as_0),
	KUNIT_CASE(attempts_with_a_node_are_counted_whatever_they_end_with),
	KUNIT_CASE(skip_counts_are_0_after_a_reset_that_does_not_write_to_them),
	{}
};

static struct kunit_suite events_suite = {
	.name = "nbq_events",
	.init = nbq_fixture_init_clh,
	.exit = nbq_fixture_exit,
	.test_cases = events_cases,
};

kunit_test_suite(events_suite);
