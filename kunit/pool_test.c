// SPDX-License-Identifier: GPL-2.0
/*
 * Queue-node pools: which node is allocated, and which pool a context uses.
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

static void node_survives_the_wrap_of_its_counters(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *node = &fixture->nodes[0];
	int i;

	node->alloc_seq = -NBQ_ALLOC_STEP;
	node->free_seq = -NBQ_ALLOC_STEP;
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, nbq_node_try_alloc(node));
		KUNIT_EXPECT_FALSE(test, nbq_node_try_alloc(node));
		nbq_node_free(node);
	}
	KUNIT_EXPECT_EQ(test, node->alloc_seq, 3 * NBQ_ALLOC_STEP);
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
static bool alloc_alone(struct nesting *nesting, struct nbq_node *node, enum owner me)
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
	struct nesting *nesting = kunit_kzalloc(test, sizeof(*nesting), GFP_KERNEL);
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
#ifdef NBQ_QUEUE_LOCKS
			KUNIT_EXPECT_PTR_EQ(test, pool->spare.pool, pool);
			KUNIT_EXPECT_EQ(test, pool->spare.cpu, cpu);
			KUNIT_EXPECT_TRUE(test, nbq_is_free(&pool->spare));
#endif
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

/* At all levels, and wherever in a pool they are. */
static void nodes_in_use_of_a_cpu_are_counted(struct kunit *test)
{
	struct nbq_pool *pools = get_cpu_ptr(&nbq_pools)[0];
	unsigned int cpu = raw_smp_processor_id();
	unsigned int in_use = nbq_cpu_nodes_in_use(cpu);
	struct nbq_node *nodes[] = {
		nbq_try_alloc(&pools[0]),
		nbq_try_alloc(&pools[0]),
		nbq_try_alloc(&pools[NBQ_LEVELS - 1]),
	};
	unsigned int i;

	KUNIT_EXPECT_EQ(test, nbq_cpu_nodes_in_use(cpu), in_use + ARRAY_SIZE(nodes));
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		if (nodes[i])
			nbq_node_free_own(nodes[i]);
	}
	KUNIT_EXPECT_EQ(test, nbq_cpu_nodes_in_use(cpu), in_use);
#ifdef NBQ_QUEUE_LOCKS
	KUNIT_EXPECT_TRUE(test, nbq_node_try_alloc(&pools[0].spare));
	KUNIT_EXPECT_EQ(test, nbq_cpu_nodes_in_use(cpu), in_use + 1);
	nbq_node_free(&pools[0].spare);
#endif
	put_cpu_ptr(&nbq_pools);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(node_allocated_last_is_tried_first),
	KUNIT_CASE(first_free_node_is_allocated_when_the_last_is_in_use),
	KUNIT_CASE(node_survives_the_wrap_of_its_counters),
	KUNIT_CASE(high_water_is_the_most_nodes_ever_in_use),
	KUNIT_CASE(node_freed_on_another_cpu_is_allocated_again),
	KUNIT_CASE(interrupt_never_gets_the_node_that_its_task_allocates),
	KUNIT_CASE(every_online_cpu_has_pools_of_free_nodes_of_its_own),
	KUNIT_CASE(nodes_in_use_of_a_cpu_are_counted),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "nbq_pool",
	.init = nbq_fixture_init_spin,
	.exit = nbq_fixture_exit,
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
