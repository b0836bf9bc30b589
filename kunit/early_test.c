// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that are used before nbq_pools_start(), which only a built-in kernel can do:
 * an early_initcall uses each type when no pool is filled, and leaves a queue behind
 * with an abandoned node in it; a device_initcall goes on with that when the pools are.
 * A suite checks later what they have seen, as there is no KUnit by then.
 */
#ifndef MODULE

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "common.h"

/* More than one context holds as a rule, and no more than a pool has from the start */
#define NEST	8

#define SEEN_MAX	24

/* What was seen of one lock type */
struct early {
	const struct nbq_lock_type *type;	/* the type */
	struct nbq_fixture *fixture;		/* the lock, and contexts elsewhere */
	struct nbq_contender *behind;		/* waits behind the abandoned node */
	struct {
		const char *what;
		long value;
		long want;
	} seen[SEEN_MAX];	/* a value that was seen, the one that was to be, and of what */
	unsigned int count;			/* of these */
};

/* That first which needs no node as a holder */
static struct early earlies[] = {
	{ .type = &nbq_spin_type },
#define NBQ_QUEUE_TYPE(X)	{ .type = &nbq_##X##_type },
#include "queue_types_list.h"
};

static bool began;
static bool ended;
/* The first node of the pool of tasks, and its number of nodes, before all was filled */
static struct nbq_node *first_node;
static unsigned int first_size;
static unsigned int first_cpu;

/* The suite checks it when there is KUnit. */
static void see(struct early *early, const char *what, long value, long want)
{
	unsigned int i = early->count++;

	if (i >= SEEN_MAX)
		return;
	early->seen[i].what = what;
	early->seen[i].value = value;
	early->seen[i].want = want;
}

static struct nbq_fixture *new_fixture(const struct nbq_lock_type *type)
{
	struct nbq_fixture *fixture;
	unsigned int i;

	fixture = kzalloc(roundup_pow_of_two(sizeof(*fixture)), GFP_KERNEL);
	if (!fixture)
		return NULL;
	fixture->type = type;
	fixture->lock = kzalloc(type->size, GFP_KERNEL);
	fixture->encodable = kzalloc(struct_size(fixture->encodable, nodes, NBQ_FIXTURE_NODES),
				     GFP_KERNEL);
	if (!fixture->lock || !fixture->encodable) {
		kfree(fixture->lock);
		kfree(fixture->encodable);
		kfree(fixture);
		return NULL;
	}
	fixture->encodable->size = NBQ_FIXTURE_NODES;
	for (i = 0; i < NBQ_FIXTURE_NODES; i++)
		fixture->encodable->nodes[i] = &fixture->nodes[i];
	nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
	/* It is held by its own CPU on purpose, and by several of a class. */
	nbq_init_untracked(type, fixture->lock);
	return fixture;
}

static void free_fixture(struct nbq_fixture *fixture)
{
	kfree(fixture->lock);
	kfree(fixture->encodable);
	kfree(fixture);
}

static bool is_any_pool_set_up(void)
{
	unsigned int cpu, level;

	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			if (READ_ONCE(per_cpu(nbq_pools, cpu)[level].setup))
				return true;
		}
	}
	return false;
}

static int try_for(struct early *early, ktime_t patience)
{
	int ret = early->type->lock_timeout(early->fixture->lock, patience);

	if (!ret)
		early->type->unlock(early->fixture->lock);
	return ret;
}

static void nmi_at_a_free_lock(void *arg)
{
	see(arg, "a free lock in an NMI", try_for(arg, 0), 0);
}

static void nmi_above_the_holder(void *arg)
{
	see(arg, "the lock that an NMI interrupts", try_for(arg, NSEC_PER_SEC), -EDEADLK);
}

static void use_alone(struct early *early)
{
	const struct nbq_lock_type *type = early->type;
	void *lock = early->fixture->lock;

	see(early, "a free lock", type->lock_timeout(lock, NSEC_PER_SEC), 0);
	see(early, "is_locked()", type->is_locked(lock), true);
	see(early, "trylock() of a held lock", type->trylock(lock), false);
	see(early, "a held lock without patience", try_for(early, 0), -EBUSY);
	see(early, "the own lock", try_for(early, NSEC_PER_SEC), -EDEADLK);
	nbq_as_nmi(nmi_above_the_holder, early);
	type->unlock(lock);
	see(early, "trylock() of a free lock", type->trylock(lock), true);
	type->unlock(lock);
	type->lock(lock);
	type->unlock(lock);
	see(early, "destroy()", type->destroy(lock), 0);
}

/* So many locks at a time, each in the ones before. Return: how many. */
static unsigned int nest(struct early *early, unsigned int depth)
{
	const struct nbq_lock_type *type = early->type;
	unsigned int nested = 0;
	void *lock;

	if (depth == NEST)
		return 0;
	lock = kzalloc(type->size, GFP_ATOMIC);
	if (!lock)
		return 0;
	nbq_init_untracked(type, lock);
	if (!type->lock_timeout(lock, NSEC_PER_SEC)) {
		nested = 1 + nest(early, depth + 1);
		type->unlock(lock);
	}
	if (type->destroy(lock))
		nested = 0;
	kfree(lock);
	return nested;
}

/* By a context of another CPU, which has needed no node for that. All zeroes is the first CPU. */
static void wait_for_another_cpu(struct early *early)
{
	unsigned int cpu = cpumask_any_but(cpu_possible_mask, raw_smp_processor_id());
	struct nbq_spin *lock = early->fixture->lock;

	if (early->type != &nbq_spin_type || cpu >= nr_cpu_ids)
		return;
	lock->state.holder = nbq_encode_context(cpu, 0);
	see(early, "a lock of a CPU whose pools are not set up", try_for(early, 100), -ETIMEDOUT);
	lock->state.holder = 0;
}

static void enqueue_behind(void *arg)
{
	struct early *early = arg;

	early->behind = nbq_fixture_contender(early->fixture);
	if (early->behind) {
		nbq_contender_enqueue(early->fixture, early->behind);
		nbq_contender_link(early->fixture, early->behind);
	}
}

/* before: []; after: H L x, L being of this CPU's pool */
static void abandon_a_node(struct early *early)
{
	struct nbq_fixture *fixture = early->fixture;
	struct nbq_contender *holder = nbq_fixture_contender(fixture);

	if (!holder)
		return;
	nbq_contender_enqueue(fixture, holder);
	see(early, "a lock of a CPU that there is not", try_for(early, 100), -ETIMEDOUT);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1100, enqueue_behind, early);
	see(early, "an attempt behind which another enqueues", try_for(early, 100), -ETIMEDOUT);
}

static int __init use_locks_early(void)
{
	struct nbq_pool *pool;
	unsigned int i, preempt;

	for (i = 0; i < ARRAY_SIZE(earlies); i++) {
		struct early *early = &earlies[i];

		early->fixture = new_fixture(early->type);
		if (!early->fixture)
			return -ENOMEM;
		preempt_disable();
		preempt = preempt_count();
		WRITE_ONCE(nbq_pool_elsewhere, &early->fixture->pool);
		nbq_fake_start(1000, 10);
		use_alone(early);
		see(early, "nested locks", nest(early, 0), NEST);
		/* The first type is the first that has waited. */
		see(early, "a pool is set up before a node is needed", is_any_pool_set_up(), i > 0);
		nbq_as_nmi(nmi_at_a_free_lock, early);
		see(early, "destroy()", early->type->destroy(early->fixture->lock), 0);
		wait_for_another_cpu(early);
		abandon_a_node(early);
		see(early, "the pool's state", nbq_this_pool()->setup, NBQ_POOL_READY);
		see(early, "preemption", preempt_count(), preempt);
		WRITE_ONCE(nbq_fake_clock, NULL);
		WRITE_ONCE(nbq_pool_elsewhere, NULL);
		preempt_enable();
	}
	preempt_disable();
	pool = nbq_this_pool();
	first_cpu = raw_smp_processor_id();
	first_node = pool->first;
	first_size = pool->size;
	preempt_enable();
	began = true;
	return 0;
}
early_initcall(use_locks_early);

/* before: H L x, when L's pool was not filled; after: [] */
static int __init go_on_when_pools_are_filled(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(earlies) && began; i++) {
		struct early *early = &earlies[i];
		struct nbq_fixture *fixture = early->fixture;
		bool advanced = false;

		WRITE_ONCE(nbq_pool_elsewhere, &fixture->pool);
		if (early->behind) {
			nbq_contender_poll(fixture, early->behind);
			nbq_contender_release(fixture, &fixture->contenders[0]);
			advanced = nbq_contender_poll(fixture, early->behind);
			if (advanced)
				nbq_contender_release(fixture, early->behind);
		}
		see(early, "the waiter behind the abandoned node has the lock", advanced, true);
		see(early, "the free lock then", try_for(early, 0), 0);
		see(early, "destroy() then", early->type->destroy(fixture->lock), 0);
		WRITE_ONCE(nbq_pool_elsewhere, NULL);
	}
	for (i = 0; i < ARRAY_SIZE(earlies) && began; i++) {
		see(&earlies[i], "nodes in use", nbq_nodes_in_use(earlies[i].fixture), 0);
		free_fixture(earlies[i].fixture);
	}
	ended = began;
	return 0;
}
device_initcall(go_on_when_pools_are_filled);

static void early_desc(struct early *early, char *desc)
{
	strscpy(desc, early->type->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(early, earlies, early_desc);

static int needs_both_parts(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, began);
	KUNIT_ASSERT_TRUE(test, ended);
	return 0;
}

/* 20 things, and one of the hybrid alone, which needs a second CPU */
#define SEEN		20

static void lock_works_before_the_pools_are_filled_and_goes_on(struct kunit *test)
{
	const struct early *early = test->param_value;
	unsigned int i;

	KUNIT_EXPECT_GE(test, early->count, SEEN);
	KUNIT_ASSERT_LE(test, early->count, SEEN_MAX);
	for (i = 0; i < early->count; i++)
		KUNIT_EXPECT_EQ_MSG(test, early->seen[i].value, early->seen[i].want, "%s",
				    early->seen[i].what);
}

static void nodes_that_were_there_stay_the_first_of_their_pool(struct kunit *test)
{
	struct nbq_pool *pool = per_cpu(nbq_pools, first_cpu);
	struct nbq_encodable *encodable = pool->encodable;
	struct nbq_node *node = first_node;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, first_size, NBQ_STATIC_NODES);
	KUNIT_EXPECT_PTR_EQ(test, pool->first, first_node);
	KUNIT_EXPECT_GE(test, pool->size, first_size);
	KUNIT_ASSERT_NOT_NULL(test, encodable);
	KUNIT_ASSERT_GE(test, encodable->size, first_size);
	for (i = 0; i < first_size; i++) {
		KUNIT_ASSERT_NOT_NULL(test, node);
		KUNIT_EXPECT_EQ(test, node->index, i);
		KUNIT_EXPECT_PTR_EQ(test, encodable->nodes[i], node);
		node = node->next_in_pool;
	}
}

static struct kunit_case early_cases[] = {
	KUNIT_CASE_PARAM(lock_works_before_the_pools_are_filled_and_goes_on, early_gen_params),
	KUNIT_CASE(nodes_that_were_there_stay_the_first_of_their_pool),
	{}
};

static struct kunit_suite early_suite = {
	.name = "nbq_early",
	.init = needs_both_parts,
	.test_cases = early_cases,
};

kunit_test_suite(early_suite);

#endif
