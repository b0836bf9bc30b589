// SPDX-License-Identifier: GPL-2.0
/*
 * What the queue locks need of a pool: growth, when it is requested, attempts at an empty pool,
 * and at one that is not set up; nodes of locks at rest.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

static void free_node(void *node)
{
	nbq_node_free(node);
}

/* Growth */

static void appended_node_is_the_last_to_be_allocated(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	nbq_fixture_fill(fixture, 0);
	KUNIT_EXPECT_NULL(test, nbq_try_alloc(&fixture->pool));

	nbq_node_append(&fixture->pool, &fixture->nodes[0]);
	KUNIT_EXPECT_EQ(test, fixture->pool.size, 1);
	KUNIT_EXPECT_PTR_EQ(test, fixture->nodes[0].pool, &fixture->pool);
	KUNIT_EXPECT_PTR_EQ(test, nbq_try_alloc(&fixture->pool), &fixture->nodes[0]);
	KUNIT_EXPECT_NULL(test, nbq_try_alloc(&fixture->pool));

	nbq_node_append(&fixture->pool, &fixture->nodes[1]);
	nbq_node_append(&fixture->pool, &fixture->nodes[2]);
	KUNIT_EXPECT_EQ(test, fixture->pool.size, 3);
	KUNIT_EXPECT_EQ(test, fixture->nodes[2].index, 2);
	KUNIT_EXPECT_PTR_EQ(test, nbq_try_alloc(&fixture->pool), &fixture->nodes[1]);
	KUNIT_EXPECT_PTR_EQ(test, nbq_try_alloc(&fixture->pool), &fixture->nodes[2]);
}

static void growth_is_requested_in_the_last_quarter(struct kunit *test)
{
	/* By size: the allocation, counted from 1, that requests growth */
	static const unsigned int requests[NBQ_FIXTURE_NODES + 1] = { 0, 1, 2, 3, 4, 4, 5, 6, 7 };
	struct nbq_fixture *fixture = test->priv;
	unsigned int size, allocation;

	for (size = 1; size <= NBQ_FIXTURE_NODES; size++) {
		nbq_fixture_fill(fixture, size);
		for (allocation = 1; allocation <= requests[size]; allocation++) {
			KUNIT_EXPECT_EQ_MSG(test, fixture->pool.wants_growth, 0, "of %u", size);
			nbq_try_alloc(&fixture->pool);
		}
		KUNIT_EXPECT_EQ_MSG(test, fixture->pool.wants_growth, 1, "of %u", size);
	}
}

static void growth_is_requested_again_by_an_empty_pool(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < NBQ_FIXTURE_NODES; i++)
		nbq_fixture_alloc(test);
	fixture->pool.wants_growth = 0;
	KUNIT_EXPECT_NULL(test, nbq_try_alloc(&fixture->pool));
	KUNIT_EXPECT_EQ(test, fixture->pool.wants_growth, 1);
}

static void growth_is_not_requested_by_reuse(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	int i;

	for (i = 0; i < 100; i++)
		nbq_node_free(nbq_fixture_alloc(test));
	KUNIT_EXPECT_EQ(test, fixture->pool.wants_growth, 0);
	KUNIT_EXPECT_EQ(test, fixture->pool.events.pool_high_water, 1);
}

/*
 * The pool of the NMI level, which no other context uses meanwhile. It stays large,
 * so in the same boot there is nothing left to see for a second run.
 */
static void growth_doubles_a_pool_until_it_stops_at_the_cap(struct kunit *test)
{
	struct nbq_pool *pool = &per_cpu(nbq_pools, raw_smp_processor_id())[3];
	unsigned long growths = pool->events.growths;
	unsigned int size, times = 0;
	struct nbq_node *node;

	if (pool->size == nbq_pool_nodes_max)
		kunit_skip(test, "the pool is at its cap since an earlier run");
	while (pool->size < nbq_pool_nodes_max) {
		size = pool->size;
		while (!READ_ONCE(pool->wants_growth) &&
		       READ_ONCE(pool->size) == size)
			KUNIT_ASSERT_NOT_NULL(test, nbq_try_alloc(pool));
		nbq_pools_flush();
		KUNIT_ASSERT_EQ(test, pool->size, min(2 * size, nbq_pool_nodes_max));
		times++;
	}
	KUNIT_EXPECT_EQ(test, pool->events.growths - growths, times);

	/* At the cap: asked for more, it stays as it is. */
	while (!READ_ONCE(pool->wants_growth))
		KUNIT_ASSERT_NOT_NULL(test, nbq_try_alloc(pool));
	nbq_pools_flush();
	KUNIT_EXPECT_EQ(test, pool->size, nbq_pool_nodes_max);
	KUNIT_EXPECT_EQ(test, pool->events.growths - growths, times);
	for (node = pool->first; node; node = node->next_in_pool)
		nbq_node_free(node);
}

/* As built in, with a cap below the static nodes */
static void growth_of_a_pool_above_the_cap_is_requested_once(struct kunit *test)
{
	struct nbq_pool *pool = &per_cpu(nbq_pools, raw_smp_processor_id())[3];
	unsigned int cap = nbq_pool_nodes_max, size = pool->size;
	unsigned int wanted = xchg(&pool->wants_growth, 0);
	struct nbq_node *node;

	nbq_pool_nodes_max = size - 1;
	while (!READ_ONCE(pool->wants_growth))
		nbq_try_alloc(pool);
	nbq_pools_flush();
	KUNIT_EXPECT_EQ(test, pool->size, size);
	KUNIT_EXPECT_EQ(test, pool->wants_growth, 1);
	nbq_pool_nodes_max = cap;
	WRITE_ONCE(pool->wants_growth, wanted);
	for (node = pool->first; node; node = node->next_in_pool)
		nbq_node_free(node);
}

/* An empty pool */

/* In a CPU's pool that has only node, or none */
static int lock_timeout_with(struct kunit *test, struct nbq_node *node, ktime_t patience)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_replaced replaced;
	int ret;

	preempt_disable();
	if (node) {
		node->pool = nbq_this_pool();
		node->cpu = node->pool->cpu;
		node->next_in_pool = NULL;
	}
	nbq_pool_replace(&replaced, nbq_this_pool(), node, NULL);
	ret = nbq_clh_lock_timeout(fixture->lock, patience);
	if (!ret)
		nbq_clh_unlock(fixture->lock);
	nbq_pool_restore(&replaced);
	preempt_enable();
	return ret;
}

static void patience_spent_on_a_node_counts_for_the_lock(struct kunit *test)
{
	struct nbq_node *node;

	nbq_fixture_hold(test);
	node = nbq_fixture_alloc(test);

	/* Before and after: H */
	nbq_fake_start(1000, 10);
	nbq_fake_call(1050, free_node, node);
	KUNIT_EXPECT_EQ(test, lock_timeout_with(test, node, 100), -ETIMEDOUT);
	EXPECT_ENDED_AT(test, 1100);
	EXPECT_PICTURE(test, "H.");
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1, .nodes_freed = 1, .exhaustions = 1);
}

/* A node, and the pool in which a context waits for it */
struct awaited {
	struct nbq_node *node;
	struct nbq_pool *pool;
	unsigned long exhaustions;
	bool seen;
};

static void nothing(void *unused)
{
}

static void free_once_awaited(void *arg)
{
	struct awaited *awaited = arg;
	/* More than a host with other work gives this CPU before the other one */
	unsigned int polls = 1000000000;

	/* The pool's CPU goes on counting; any value of the moment will do. */
	while (data_race(awaited->pool->events.exhaustions) == awaited->exhaustions && polls--)
		cpu_relax();
	awaited->seen = polls + 1;
	nbq_node_free(awaited->node);
}

static void untimed_acquisition_waits_for_a_node_from_another_cpu(struct kunit *test)
{
	static call_single_data_t csd;
	struct awaited awaited = { .node = nbq_fixture_alloc(test) };
	struct nbq_fixture *fixture = test->priv;
	struct nbq_replaced replaced;
	unsigned int cpu;

	nbq_other_cpu(test);
	preempt_disable();
	cpu = nbq_other_cpu(test);
	awaited.pool = nbq_this_pool();
	awaited.exhaustions = awaited.pool->events.exhaustions;
	awaited.node->pool = awaited.pool;
	awaited.node->cpu = awaited.pool->cpu;
	awaited.node->next_in_pool = NULL;
	nbq_pool_replace(&replaced, awaited.pool, awaited.node, NULL);

	INIT_CSD(&csd, free_once_awaited, &awaited);
	smp_call_function_single_async(cpu, &csd);
	nbq_clh_lock(fixture->lock);
	nbq_clh_unlock(fixture->lock);
	nbq_pool_restore(&replaced);
	/* Calls are made in order: after this one, that one has returned. */
	smp_call_function_single(cpu, nothing, NULL, true);
	preempt_enable();

	KUNIT_EXPECT_TRUE(test, awaited.seen);
	EXPECT_TOTAL(test, .acquired_uncontended = 1, .nodes_allocated = 1, .exhaustions = 1);
}

/* A pool that no context has needed yet, or that one is setting up */

/* An attempt in the NMI level's pool of this CPU, before it is set up */
struct unready {
	unsigned int setup;	/* the state of the pool */
	ktime_t patience;	/* of the attempt */
	struct nbq_clh queue;	/* a lock for which it needs a node */
	struct nbq_spin hybrid;	/* a lock for which it needs none */
	struct nbq_pool before;	/* the pool as it was */
	struct nbq_pool after;	/* as it is after the attempts */
	int queue_ret;		/* what the attempt at queue returned, or its destroy */
	int hybrid_ret;		/* and at hybrid */
	bool blank;		/* the pool was not set up after the attempt at hybrid */
	unsigned int cpu;	/* this one */
};

static void attempt_unready(void *arg)
{
	struct unready *unready = arg;
	struct nbq_pool *pool = nbq_this_pool();

	unready->cpu = raw_smp_processor_id();
	unready->before = *pool;
	memset(pool, 0, sizeof(*pool));
	pool->setup = unready->setup;

	unready->hybrid_ret = nbq_spin_lock_timeout(&unready->hybrid, unready->patience);
	if (!unready->hybrid_ret)
		nbq_spin_unlock(&unready->hybrid);
	unready->blank = pool->setup == unready->setup && !pool->first;
	unready->queue_ret = nbq_clh_lock_timeout(&unready->queue, unready->patience);
	if (!unready->queue_ret) {
		nbq_clh_unlock(&unready->queue);
		unready->queue_ret = nbq_clh_destroy(&unready->queue);
	}

	unready->after = *pool;
	/* The last of the nodes that were there from the start is followed by others. */
	*pool = unready->before;
}

static struct unready *attempt_in_pool(struct kunit *test, unsigned int setup, ktime_t patience)
{
	struct unready *unready = kunit_kzalloc(test, sizeof(*unready), GFP_KERNEL);

	if (!NBQ_STATIC_NODES)
		kunit_skip(test, "a module has no nodes before its pools are filled");
	KUNIT_ASSERT_NOT_NULL(test, unready);
	nbq_clh_init(&unready->queue);
	lockdep_set_notrack_class(&unready->queue);
	nbq_spin_init(&unready->hybrid);
	lockdep_set_notrack_class(&unready->hybrid);
	unready->setup = setup;
	unready->patience = patience;
	nbq_fake_start(1000, 10);
	nbq_as_nmi(attempt_unready, unready);
	return unready;
}

static void blank_pool_is_set_up_when_a_node_is_needed(struct kunit *test)
{
	struct unready *unready = attempt_in_pool(test, NBQ_POOL_BLANK, 0);
	struct nbq_pool *after = &unready->after;
	struct nbq_node *node;
	unsigned int nodes = 0;

	KUNIT_EXPECT_EQ(test, unready->hybrid_ret, 0);
	KUNIT_EXPECT_TRUE(test, unready->blank);
	KUNIT_EXPECT_EQ(test, unready->queue_ret, 0);
	KUNIT_EXPECT_EQ(test, after->setup, NBQ_POOL_READY);
	KUNIT_EXPECT_EQ(test, after->cpu, unready->cpu);
	KUNIT_EXPECT_EQ(test, after->level, NBQ_LEVELS - 1);
	KUNIT_EXPECT_EQ(test, after->size, NBQ_STATIC_NODES);
	KUNIT_EXPECT_PTR_EQ(test, after->hint, after->first);
	/* The same nodes as the first time, with the same indices */
	KUNIT_EXPECT_PTR_EQ(test, after->first, unready->before.first);
	KUNIT_ASSERT_NOT_NULL(test, after->encodable);
	KUNIT_EXPECT_EQ(test, after->encodable->size, NBQ_STATIC_NODES);
	for (node = after->first; nodes < NBQ_STATIC_NODES; node = node->next_in_pool) {
		KUNIT_ASSERT_NOT_NULL(test, node);
		KUNIT_EXPECT_PTR_EQ(test, node, after->encodable->nodes[nodes]);
		KUNIT_EXPECT_PTR_EQ(test, node, unready->before.encodable->nodes[nodes]);
		KUNIT_EXPECT_EQ(test, node->index, nodes);
		KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
		nodes++;
	}
}

static void pool_that_is_being_set_up_has_no_node_yet(struct kunit *test)
{
	struct unready *unready = attempt_in_pool(test, NBQ_POOL_BUSY, 100);

	KUNIT_EXPECT_EQ(test, unready->hybrid_ret, 0);
	KUNIT_EXPECT_EQ(test, unready->queue_ret, -ENOMEM);
	EXPECT_ENDED_AT(test, 1100);
	KUNIT_EXPECT_EQ(test, unready->after.setup, NBQ_POOL_BUSY);
	KUNIT_EXPECT_NULL(test, unready->after.first);
	KUNIT_EXPECT_NULL(test, unready->after.encodable);
}

/* Locks at rest */

static unsigned int largest_task_pool(void)
{
	unsigned int cpu, size = 0;

	for_each_online_cpu(cpu)
		size = max(size, READ_ONCE(per_cpu(nbq_pools, cpu)[NBQ_TASK].size));
	return size;
}

/* Each keeps the node of its last holder, and there is one lock more than the CPU has nodes. */
static void locks_at_rest_keep_no_node(struct kunit *test)
{
	unsigned int number, failed = 0, i;
	struct nbq_swap *locks;
	unsigned long flags;

	/* What earlier cases have requested is done. */
	nbq_pools_flush();
	number = largest_task_pool() + 1;
	locks = kunit_kcalloc(test, number, sizeof(*locks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, locks);
	for (i = 0; i < number; i++)
		nbq_swap_init(&locks[i]);

	/* No pool grows meanwhile. */
	local_irq_save(flags);
	for (i = 0; i < number; i++) {
		if (nbq_swap_trylock(&locks[i]))
			nbq_swap_unlock(&locks[i]);
		else
			failed++;
	}
	local_irq_restore(flags);

	KUNIT_EXPECT_EQ(test, failed, 0);
	for (i = 0; i < number; i++) {
		KUNIT_EXPECT_FALSE(test, nbq_swap_is_locked(&locks[i]));
		KUNIT_EXPECT_EQ(test, nbq_swap_destroy(&locks[i]), 0);
	}
}

static struct kunit_case growth_cases[] = {
	KUNIT_CASE(appended_node_is_the_last_to_be_allocated),
	KUNIT_CASE(growth_is_requested_in_the_last_quarter),
	KUNIT_CASE(growth_is_requested_again_by_an_empty_pool),
	KUNIT_CASE(growth_is_not_requested_by_reuse),
	KUNIT_CASE(growth_doubles_a_pool_until_it_stops_at_the_cap),
	KUNIT_CASE(growth_of_a_pool_above_the_cap_is_requested_once),
	KUNIT_CASE(patience_spent_on_a_node_counts_for_the_lock),
	KUNIT_CASE(untimed_acquisition_waits_for_a_node_from_another_cpu),
	KUNIT_CASE(blank_pool_is_set_up_when_a_node_is_needed),
	KUNIT_CASE(pool_that_is_being_set_up_has_no_node_yet),
	KUNIT_CASE(locks_at_rest_keep_no_node),
	{}
};

static struct kunit_suite growth_suite = {
	.name = "nbq_growth",
	.init = nbq_fixture_init_clh,
	.exit = nbq_fixture_exit,
	.test_cases = growth_cases,
};

kunit_test_suite(growth_suite);
