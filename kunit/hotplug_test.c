// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU that goes offline while its nodes are in the queue of a lock: abandoned behind a
 * holder elsewhere, or the node that a free lock keeps. Others skip and reclaim them, and
 * when the CPU returns its pool is whole.
 *
 * No context of that CPU can wait or hold then: with preemption off, it stays online. Its
 * nodes are put into the queue by hand.
 *
 * For kernels whose CPUs can go; user-mode Linux is none.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>

#include "common.h"

#define ABANDONED	2

/* The pool of tasks on a CPU that this is not, and that can go */
static struct nbq_pool *pool_to_go(struct kunit *test)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (cpu && cpu_is_hotpluggable(cpu))
			return per_cpu(nbq_pools, cpu);
	}
	kunit_skip(test, "no CPU of this machine can be taken away");
	return NULL;
}

static unsigned int count_in_use(const struct nbq_pool *pool)
{
	const struct nbq_node *node;
	unsigned int in_use = 0;

	for (node = pool->first; node; node = node->next_in_pool)
		in_use += !nbq_is_free(node);
	return in_use;
}

/* On that CPU, in a task */
static long alloc_there(void *unused)
{
	struct nbq_node *node;

	preempt_disable();
	node = nbq_node_alloc(nbq_this_pool());
	preempt_enable();
	return (long)node;
}

/* A context of that CPU enqueues. */
static void enqueue_from(struct kunit *test, struct nbq_contender *contender,
			 const struct nbq_pool *pool)
{
	struct nbq_fixture *fixture = test->priv;

	contender->node = (void *)work_on_cpu(pool->cpu, alloc_there, NULL);
	KUNIT_ASSERT_NOT_NULL(test, contender->node);
	KUNIT_ASSERT_PTR_EQ(test, contender->node->pool, pool);
	nbq_contender_enqueue(fixture, contender);
	nbq_contender_link(fixture, contender);
}

/*
 * H L L x, the abandoned nodes being of that CPU, and x not having polled. Return: x.
 */
static struct nbq_contender *abandon_from(struct kunit *test, const struct nbq_pool *pool)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender abandoned[ABANDONED];
	struct nbq_contender *behind;
	unsigned int i;

	nbq_fixture_enqueue(test);
	for (i = 0; i < ABANDONED; i++)
		enqueue_from(test, &abandoned[i], pool);
	behind = nbq_fixture_enqueue(test);
	for (i = 0; i < ABANDONED; i++)
		nbq_contender_abandon(fixture, &abandoned[i]);
	KUNIT_ASSERT_EQ(test, count_in_use(pool), ABANDONED);
	return behind;
}

static void take_away(struct kunit *test, const struct nbq_pool *pool)
{
	KUNIT_ASSERT_EQ(test, remove_cpu(pool->cpu), 0);
	KUNIT_EXPECT_FALSE(test, cpu_online(pool->cpu));
}

/* Take all nodes that can be had of the pool, each once; give them back. */
static long alloc_all_there(void *unused)
{
	struct nbq_node *node, *allocated = NULL;
	struct nbq_pool *pool;
	struct nbq_replaced replaced;
	long count = 0;

	preempt_disable();
	pool = nbq_this_pool();
	/* It shall not grow for this. */
	nbq_pool_replace(&replaced, pool, pool->first, pool->encodable);
	while ((node = nbq_node_alloc(pool))) {
		/* It is in no queue. */
		node->prev = allocated;
		allocated = node;
		count++;
	}
	while (allocated) {
		node = allocated;
		allocated = node->prev;
		nbq_node_free_own(node);
	}
	nbq_pool_restore(&replaced);
	preempt_enable();
	return count;
}

static void expect_back_and_whole(struct kunit *test, const struct nbq_pool *pool,
				  unsigned int size)
{
	KUNIT_EXPECT_GE(test, add_cpu(pool->cpu), 0);
	KUNIT_EXPECT_TRUE(test, cpu_online(pool->cpu));
	KUNIT_EXPECT_EQ(test, pool->size, size);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), 0);
	KUNIT_EXPECT_EQ(test, work_on_cpu(pool->cpu, alloc_all_there, NULL), size);
}

static void abandoned_nodes_in_the_middle_are_skipped(struct kunit *test)
{
	const struct nbq_pool *pool = pool_to_go(test);
	unsigned int size = pool->size;
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *behind = abandon_from(test, pool);

	/* Before: H L L x; after: H x */
	take_away(test, pool);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), ABANDONED);
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(fixture, behind));
	KUNIT_EXPECT_EQ(test, count_in_use(pool), 0);
	KUNIT_EXPECT_PTR_EQ(test, behind->pred, fixture->type->holder(fixture->lock));
	expect_back_and_whole(test, pool, size);
}

static void abandoned_nodes_at_the_tail_are_skipped_by_the_next_waiter(struct kunit *test)
{
	const struct nbq_pool *pool = pool_to_go(test);
	unsigned int size = pool->size;
	struct nbq_fixture *fixture = test->priv;
	ktime_t patience;
	int ret;

	/* Enough to enter the queue, also if the host takes the CPU away before */
	patience = fixture->type->traits->steals ? 500 * NSEC_PER_MSEC : 1;

	/* Before: H L L, and x's own where that stays; after: H */
	nbq_contender_abandon(fixture, abandon_from(test, pool));
	take_away(test, pool);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), ABANDONED);
	ret = fixture->type->lock_timeout(fixture->lock, patience);
	if (!ret)
		fixture->type->unlock(fixture->lock);
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), 0);
	expect_back_and_whole(test, pool, size);
}

static void nodes_still_there_when_the_cpu_returns_are_given_back_later(struct kunit *test)
{
	const struct nbq_pool *pool = pool_to_go(test);
	unsigned int size = pool->size;
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *behind = abandon_from(test, pool);

	/* Before: H L L x; after: H x */
	take_away(test, pool);
	KUNIT_ASSERT_GE(test, add_cpu(pool->cpu), 0);
	KUNIT_EXPECT_EQ(test, pool->size, size);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), ABANDONED);
	KUNIT_EXPECT_EQ(test, work_on_cpu(pool->cpu, alloc_all_there, NULL), size - ABANDONED);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), ABANDONED);
	KUNIT_EXPECT_FALSE(test, nbq_contender_poll(fixture, behind));
	KUNIT_EXPECT_EQ(test, count_in_use(pool), 0);
	expect_back_and_whole(test, pool, size);
}

static long lock_and_unlock_there(void *arg)
{
	struct nbq_fixture *fixture = arg;

	fixture->type->lock(fixture->lock);
	fixture->type->unlock(fixture->lock);
	return 0;
}

static void lock_that_rests_in_a_node_of_that_cpu_goes_on(struct kunit *test)
{
	const struct nbq_pool *pool = pool_to_go(test);
	unsigned int size = pool->size;
	struct nbq_fixture *fixture = test->priv;

	/* Before: A, or [] where holders have no node; after: the same, of this CPU */
	work_on_cpu(pool->cpu, lock_and_unlock_there, fixture);
	take_away(test, pool);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), fixture->type->traits->holder_nodes);
	fixture->type->lock(fixture->lock);
	fixture->type->unlock(fixture->lock);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), 0);
	expect_back_and_whole(test, pool, size);
}

/* Contexts elsewhere that read them do not expect them to change. */
static void pool_keeps_its_cpu_and_level_when_the_cpu_returns(struct kunit *test)
{
	struct nbq_pool *pool = (struct nbq_pool *)pool_to_go(test);
	unsigned int level = pool->level, cpu = pool->cpu;
	unsigned int level_after, cpu_after;
	int ret;

	take_away(test, pool);
	/* The next write would repair what is wrong now. */
	pool->level = NBQ_LEVELS - 1;
	pool->cpu = 0;
	ret = add_cpu(cpu);
	level_after = pool->level;
	cpu_after = pool->cpu;
	pool->level = level;
	pool->cpu = cpu;

	KUNIT_EXPECT_GE(test, ret, 0);
	KUNIT_EXPECT_EQ(test, level_after, NBQ_LEVELS - 1);
	KUNIT_EXPECT_EQ(test, cpu_after, 0);
	KUNIT_EXPECT_EQ(test, pool->setup, NBQ_POOL_READY);
}

static void destroy_gives_back_the_nodes_of_a_cpu_that_went(struct kunit *test)
{
	const struct nbq_pool *pool = pool_to_go(test);
	unsigned int size = pool->size;
	struct nbq_fixture *fixture = test->priv;

	/* Before: A L L; after: [] */
	nbq_contender_abandon(fixture, abandon_from(test, pool));
	nbq_contender_release(fixture, &fixture->contenders[0]);
	take_away(test, pool);
	KUNIT_EXPECT_EQ(test, fixture->type->destroy(fixture->lock), 0);
	KUNIT_EXPECT_EQ(test, count_in_use(pool), 0);
	expect_back_and_whole(test, pool, size);
}

/* A panic stops CPUs that are online. One that went before it may come back, and release. */
static void panic_ends_no_wait_for_a_cpu_that_went_before(struct kunit *test)
{
	const struct nbq_pool *pool = pool_to_go(test);
	union nbq_spin_state held = { .holder = nbq_encode_context(pool->cpu, NBQ_TASK) };
	struct nbq_spin *lock = nbq_lock(test);
	int ret;

	take_away(test, pool);
	WRITE_ONCE(lock->state.all, held.all);
	nbq_fake_start(1000, 10);
	nbq_cpus_stopped = true;
	ret = nbq_spin_lock_timeout(lock, 500);
	nbq_cpus_stopped = false;
	WRITE_ONCE(lock->state.all, 0);
	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, add_cpu(pool->cpu), 0);
}

static struct nbq_param spin_alone[] = {
	{ .type = &nbq_spin_type },
};

KUNIT_ARRAY_PARAM(spin, spin_alone, nbq_type_desc);
KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);
KUNIT_ARRAY_PARAM(queue, nbq_queue_types, nbq_type_desc);

static struct kunit_case hotplug_cases[] = {
	KUNIT_CASE_PARAM(abandoned_nodes_in_the_middle_are_skipped, type_gen_params),
	KUNIT_CASE_PARAM(abandoned_nodes_at_the_tail_are_skipped_by_the_next_waiter,
			 type_gen_params),
	KUNIT_CASE_PARAM(nodes_still_there_when_the_cpu_returns_are_given_back_later,
			 type_gen_params),
	KUNIT_CASE_PARAM(lock_that_rests_in_a_node_of_that_cpu_goes_on, type_gen_params),
	KUNIT_CASE_PARAM(pool_keeps_its_cpu_and_level_when_the_cpu_returns, type_gen_params),
	KUNIT_CASE_PARAM(destroy_gives_back_the_nodes_of_a_cpu_that_went, queue_gen_params),
	KUNIT_CASE_PARAM(panic_ends_no_wait_for_a_cpu_that_went_before, spin_gen_params),
	{}
};

static struct kunit_suite hotplug_suite = {
	.name = "nbq_hotplug",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = hotplug_cases,
};

kunit_test_suite(hotplug_suite);
