// SPDX-License-Identifier: GPL-2.0
/*
 * Queue-node pools: which node is allocated, when growth is requested, attempts at an empty
 * pool, and which pool a context uses.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

/* Allocate, also when that fails. */
static struct nbq_node *try_alloc(struct nbq_pool *pool)
{
	struct nbq_node *node;

	preempt_disable();
	node = nbq_node_alloc(pool);
	preempt_enable();
	return node;
}

/* Which node */

static void node_allocated_last_is_tried_first(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *first, *last;

	first = nbq_fixture_alloc(test);
	nbq_fixture_alloc(test);
	last = nbq_fixture_alloc(test);
	nbq_node_free(first);
	nbq_node_free(last);

	KUNIT_EXPECT_PTR_EQ(test, fixture->pool.hint, last);
	KUNIT_EXPECT_PTR_EQ(test, nbq_fixture_alloc(test), last);
	EXPECT_COUNTED(test, .nodes_allocated = 4);
}

static void first_free_node_is_allocated_when_the_last_is_in_use(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *second, *third;

	nbq_fixture_alloc(test);
	second = nbq_fixture_alloc(test);
	third = nbq_fixture_alloc(test);
	nbq_fixture_alloc(test);
	nbq_node_free(third);
	nbq_node_free(second);

	KUNIT_EXPECT_PTR_EQ(test, nbq_fixture_alloc(test), second);
	KUNIT_EXPECT_PTR_EQ(test, fixture->pool.hint, second);
	KUNIT_EXPECT_PTR_EQ(test, nbq_fixture_alloc(test), third);
}

static void node_in_use_is_not_allocated(struct kunit *test)
{
	struct nbq_node *node = nbq_fixture_alloc(test);

	KUNIT_EXPECT_FALSE(test, nbq_node_try_alloc(node));
	KUNIT_EXPECT_FALSE(test, nbq_is_free(node));
	nbq_node_free(node);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
	KUNIT_EXPECT_TRUE(test, nbq_node_try_alloc(node));
	KUNIT_EXPECT_FALSE(test, nbq_node_try_alloc(node));
}

static void node_survives_the_wrap_of_its_counters(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *node = &fixture->nodes[0];
	int i;

	node->alloc_seq = ULONG_MAX - 1;
	node->free_seq = ULONG_MAX - 1;
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, nbq_node_try_alloc(node));
		KUNIT_EXPECT_FALSE(test, nbq_node_try_alloc(node));
		nbq_node_free(node);
	}
	KUNIT_EXPECT_EQ(test, node->alloc_seq, 2);
}

static void allocation_from_an_empty_pool_fails(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *last = NULL;
	unsigned int i;

	for (i = 0; i < NBQ_FIXTURE_NODES; i++)
		last = nbq_fixture_alloc(test);
	KUNIT_EXPECT_NULL(test, try_alloc(&fixture->pool));
	KUNIT_EXPECT_NULL(test, try_alloc(&fixture->pool));
	EXPECT_COUNTED(test, .nodes_allocated = NBQ_FIXTURE_NODES);

	nbq_node_free(last);
	KUNIT_EXPECT_PTR_EQ(test, try_alloc(&fixture->pool), last);
}

static void appended_node_is_the_last_to_be_allocated(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	nbq_fixture_fill(fixture, 0);
	KUNIT_EXPECT_NULL(test, try_alloc(&fixture->pool));

	nbq_node_append(&fixture->pool, &fixture->nodes[0]);
	KUNIT_EXPECT_EQ(test, fixture->pool.size, 1);
	KUNIT_EXPECT_PTR_EQ(test, fixture->nodes[0].pool, &fixture->pool);
	KUNIT_EXPECT_PTR_EQ(test, try_alloc(&fixture->pool), &fixture->nodes[0]);
	KUNIT_EXPECT_NULL(test, try_alloc(&fixture->pool));

	nbq_node_append(&fixture->pool, &fixture->nodes[1]);
	nbq_node_append(&fixture->pool, &fixture->nodes[2]);
	KUNIT_EXPECT_EQ(test, fixture->pool.size, 3);
	KUNIT_EXPECT_EQ(test, fixture->nodes[2].index, 2);
	KUNIT_EXPECT_PTR_EQ(test, try_alloc(&fixture->pool), &fixture->nodes[1]);
	KUNIT_EXPECT_PTR_EQ(test, try_alloc(&fixture->pool), &fixture->nodes[2]);
}

static void high_water_is_the_most_nodes_ever_in_use(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *node[5];
	unsigned int round, i;

	for (i = 0; i < 5; i++) {
		node[i] = nbq_fixture_alloc(test);
		KUNIT_EXPECT_EQ(test, fixture->pool.events.pool_high_water, i + 1);
	}
	/* Never more than five at a time, freed in every order */
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 3; i++)
			nbq_node_free(node[(round * 2 + i) % 5]);
		for (i = 0; i < 3; i++)
			node[(round * 2 + i) % 5] = nbq_fixture_alloc(test);
	}
	KUNIT_EXPECT_EQ(test, fixture->pool.events.pool_high_water, 5);
	nbq_fixture_alloc(test);
	KUNIT_EXPECT_EQ(test, fixture->pool.events.pool_high_water, 6);
}

static void free_node(void *node)
{
	nbq_node_free(node);
}

static void node_freed_on_another_cpu_is_allocated_again(struct kunit *test)
{
	unsigned int cpu = nbq_other_cpu(test);
	struct nbq_node *node = nbq_fixture_alloc(test);

	smp_call_function_single(cpu, free_node, node, true);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
	KUNIT_EXPECT_PTR_EQ(test, nbq_fixture_alloc(test), node);
}

/* Nesting: an interrupt allocations while the task that it interrupts allocations */

#define NESTED_INTERRUPTS	5000
#define NESTED_NODES		3

enum owner {
	FREE,
	TASK,
	INTERRUPT,
};

struct nesting {
	struct nbq_node *nodes;
	enum owner owner[NESTED_NODES];
	struct nbq_node *held_by_interrupt;
	unsigned int random;
	unsigned int taken_twice;
	unsigned int interrupts;
	unsigned int allocations;
};

static unsigned int next_random(unsigned int *random)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 16) % NESTED_NODES;
}

/* Allocate, and check that the other context has not got the node. */
static bool alloc_alone(struct nesting *nesting, struct nbq_node *node,
			enum owner me)
{
	enum owner *owner = &nesting->owner[node->index];

	if (!nbq_node_try_alloc(node))
		return false;
	if (READ_ONCE(*owner) != FREE)
		nesting->taken_twice++;
	WRITE_ONCE(*owner, me);
	return true;
}

static void free_alone(struct nesting *nesting, struct nbq_node *node)
{
	WRITE_ONCE(nesting->owner[node->index], FREE);
	nbq_node_free(node);
}

/* Free the node of the last time and keep another until the next. */
static void interrupt_allocates(void *arg)
{
	struct nesting *nesting = arg;
	struct nbq_node *node = nesting->held_by_interrupt;
	unsigned int tries = 100;

	if (node)
		free_alone(nesting, node);
	do {
		node = &nesting->nodes[next_random(&nesting->random)];
	} while (!alloc_alone(nesting, node, INTERRUPT) && --tries);
	nesting->held_by_interrupt = tries ? node : NULL;
	nesting->interrupts++;
}

/*
 * Try nodes at random: a CPU that cannot guess whether the next is free stops
 * between the test and what follows it, and there an interrupt gets in.
 */
static int task_allocates(void *arg)
{
	struct nesting *nesting = arg;
	unsigned int random = 1, i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 20; i++) {
			unsigned int index = next_random(&random);
			struct nbq_node *node = &nesting->nodes[index];

			if (!alloc_alone(nesting, node, TASK) &&
			    READ_ONCE(nesting->owner[index]) == TASK)
				free_alone(nesting, node);
		}
		WRITE_ONCE(nesting->allocations, nesting->allocations + 1);
		cond_resched();
	}
	return 0;
}

/* So that there is a task to interrupt; for a bounded while. */
static void wait_for_an_allocation(const struct nesting *nesting)
{
	unsigned int allocations = READ_ONCE(nesting->allocations);
	unsigned int yields = 1000000;

	while (READ_ONCE(nesting->allocations) == allocations && yields--)
		cond_resched();
}

static void interrupt_never_gets_the_node_that_its_task_allocates(struct kunit *test)
{
	struct nesting *nesting = kunit_kzalloc(test, sizeof(*nesting),
						GFP_KERNEL);
	struct task_struct *task;
	unsigned int cpu;
	int i;

	nbq_other_cpu(test);
	KUNIT_ASSERT_NOT_NULL(test, nesting);
	nesting->nodes = ((struct nbq_fixture *)test->priv)->nodes;
	task = kthread_create(task_allocates, nesting, "nbq_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));

	/* Stay, so that each call is an interrupt on the task's CPU. */
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	kthread_bind(task, cpu);
	wake_up_process(task);
	for (i = 0; i < NESTED_INTERRUPTS; i++) {
		wait_for_an_allocation(nesting);
		smp_call_function_single(cpu, interrupt_allocates, nesting, true);
	}
	migrate_enable();
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, nesting->interrupts, NESTED_INTERRUPTS);
	KUNIT_EXPECT_EQ(test, nesting->taken_twice, 0);
}

/* Growth */

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
			try_alloc(&fixture->pool);
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
	KUNIT_EXPECT_NULL(test, try_alloc(&fixture->pool));
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
			KUNIT_ASSERT_NOT_NULL(test, try_alloc(pool));
		nbq_pools_flush();
		KUNIT_ASSERT_EQ(test, pool->size, min(2 * size, nbq_pool_nodes_max));
		times++;
	}
	KUNIT_EXPECT_EQ(test, pool->events.growths - growths, times);

	/* At the cap: asked for more, it stays as it is. */
	while (!READ_ONCE(pool->wants_growth))
		KUNIT_ASSERT_NOT_NULL(test, try_alloc(pool));
	nbq_pools_flush();
	KUNIT_EXPECT_EQ(test, pool->size, nbq_pool_nodes_max);
	KUNIT_EXPECT_EQ(test, pool->events.growths - growths, times);
	for (node = pool->first; node; node = node->next_in_pool)
		nbq_node_free(node);
}

/* An empty pool */

/* In a CPU's pool that has only node, or none */
static int lock_timeout_with(struct kunit *test, struct nbq_node *node,
			     ktime_t patience)
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

static void empty_pool_gives_enomem_after_the_patience(struct kunit *test)
{
	struct nbq_context before = nbq_context_now(), after;
	struct nbq_fixture *fixture = test->priv;

	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, lock_timeout_with(test, NULL, 100), -ENOMEM);
	after = nbq_context_now();
	nbq_context_restore(before);
	nbq_expect_context(test, after, before);
	EXPECT_ENDED_AT(test, 1100);
	KUNIT_EXPECT_NULL(test, fixture->type->tail(fixture->lock));
	EXPECT_TOTAL(test, .exhaustions = 1);
}

static void empty_pool_gives_ebusy_at_once_without_patience(struct kunit *test)
{
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, lock_timeout_with(test, NULL, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, lock_timeout_with(test, NULL, -1), -EBUSY);
	EXPECT_ENDED_AT_ONCE(test);
	EXPECT_TOTAL(test, .exhaustions = 2, .failed_tries = 2);
}

/* A held lock cannot be had with a node either: that is what is reported. */
static void try_of_a_held_lock_needs_no_node(struct kunit *test)
{
	/* Before and after: H */
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, lock_timeout_with(test, NULL, 0), -EBUSY);
	EXPECT_ENDED_AT_ONCE(test);
	EXPECT_PICTURE(test, "H");
	EXPECT_TOTAL(test, .failed_tries = 1);
}

static void node_freed_meanwhile_is_used(struct kunit *test)
{
	struct nbq_node *node = nbq_fixture_alloc(test);

	nbq_fake_start(1000, 10);
	nbq_fake_call(1020, free_node, node);
	KUNIT_EXPECT_EQ(test, lock_timeout_with(test, node, 100), 0);
	EXPECT_ENDED_AT(test, 1020);
	KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
	EXPECT_TOTAL(test, .acquired_uncontended = 1, .nodes_allocated = 1,
		     .nodes_freed = 1, .exhaustions = 1);
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
	EXPECT_TOTAL(test, .timeouts = 1, .nodes_allocated = 1,
		     .nodes_freed = 1, .exhaustions = 1);
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

	while (READ_ONCE(awaited->pool->events.exhaustions) ==
	       awaited->exhaustions && polls--)
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
	EXPECT_TOTAL(test, .acquired_uncontended = 1, .nodes_allocated = 1,
		     .nodes_freed = 1, .exhaustions = 1);
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
	int queue_ret;		/* what the attempt at queue returned */
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
	if (!unready->queue_ret)
		nbq_clh_unlock(&unready->queue);

	unready->after = *pool;
	/* The last of the nodes that were there from the start is followed by others. */
	*pool = unready->before;
}

static struct unready *attempt_in_pool(struct kunit *test, unsigned int setup,
				       ktime_t patience)
{
	struct unready *unready = kunit_kzalloc(test, sizeof(*unready), GFP_KERNEL);

	if (!NBQ_STATIC_NODES)
		kunit_skip(test, "a module has no nodes before its pools are filled");
	KUNIT_ASSERT_NOT_NULL(test, unready);
	nbq_clh_init(&unready->queue);
	lockdep_set_notrack_class(&unready->queue);
	nbq_spin_init(&unready->hybrid, 0);
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

/* As by a CPU that returns, or by a context that has come second */
static void pool_is_set_up_once(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_pool *before, *pool = &fixture->pool;

	before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before);
	*before = *pool;
	KUNIT_EXPECT_TRUE(test, nbq_pool_set_up(pool, 0, 0));
	KUNIT_EXPECT_EQ(test, memcmp(pool, before, sizeof(*pool)), 0);

	pool->setup = NBQ_POOL_BUSY;
	*before = *pool;
	KUNIT_EXPECT_FALSE(test, nbq_pool_set_up(pool, 0, 0));
	KUNIT_EXPECT_EQ(test, memcmp(pool, before, sizeof(*pool)), 0);
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

static void every_online_cpu_has_pools_of_free_nodes_of_its_own(struct kunit *test)
{
	unsigned int cpu, level, nodes;
	struct nbq_node *node;

	for_each_online_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_pool *pool = &per_cpu(nbq_pools, cpu)[level];

			KUNIT_EXPECT_EQ(test, pool->setup, NBQ_POOL_READY);
			KUNIT_EXPECT_EQ(test, pool->cpu, cpu);
			KUNIT_EXPECT_EQ(test, pool->level, level);
			nodes = 0;
			for (node = pool->first; node; node = node->next_in_pool) {
				KUNIT_ASSERT_PTR_EQ(test, node->pool, pool);
				KUNIT_ASSERT_EQ(test, node->index, nodes);
				KUNIT_EXPECT_TRUE(test, nbq_is_free(node));
				/* No two of them share a line. */
				KUNIT_ASSERT_PTR_EQ(test, node, PTR_ALIGN(node, SMP_CACHE_BYTES));
				nodes++;
			}
			KUNIT_EXPECT_GE(test, nodes, 1);
			KUNIT_EXPECT_EQ(test, nodes, pool->size);
		}
	}
	KUNIT_EXPECT_EQ(test, sizeof(struct nbq_node) % SMP_CACHE_BYTES, 0);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(node_allocated_last_is_tried_first),
	KUNIT_CASE(first_free_node_is_allocated_when_the_last_is_in_use),
	KUNIT_CASE(node_in_use_is_not_allocated),
	KUNIT_CASE(node_survives_the_wrap_of_its_counters),
	KUNIT_CASE(allocation_from_an_empty_pool_fails),
	KUNIT_CASE(appended_node_is_the_last_to_be_allocated),
	KUNIT_CASE(high_water_is_the_most_nodes_ever_in_use),
	KUNIT_CASE(node_freed_on_another_cpu_is_allocated_again),
	KUNIT_CASE(interrupt_never_gets_the_node_that_its_task_allocates),
	KUNIT_CASE(growth_is_requested_in_the_last_quarter),
	KUNIT_CASE(growth_is_requested_again_by_an_empty_pool),
	KUNIT_CASE(growth_is_not_requested_by_reuse),
	KUNIT_CASE(growth_doubles_a_pool_until_it_stops_at_the_cap),
	KUNIT_CASE(empty_pool_gives_enomem_after_the_patience),
	KUNIT_CASE(empty_pool_gives_ebusy_at_once_without_patience),
	KUNIT_CASE(try_of_a_held_lock_needs_no_node),
	KUNIT_CASE(node_freed_meanwhile_is_used),
	KUNIT_CASE(patience_spent_on_a_node_counts_for_the_lock),
	KUNIT_CASE(untimed_acquisition_waits_for_a_node_from_another_cpu),
	KUNIT_CASE(blank_pool_is_set_up_when_a_node_is_needed),
	KUNIT_CASE(pool_that_is_being_set_up_has_no_node_yet),
	KUNIT_CASE(pool_is_set_up_once),
	KUNIT_CASE(every_online_cpu_has_pools_of_free_nodes_of_its_own),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "nbq_pool",
	.init = nbq_fixture_init_clh,
	.exit = nbq_fixture_exit,
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
