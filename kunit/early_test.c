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

/* What cannot be the result of an attempt */
#define NOT_MADE	1

/**
 * struct early - what was seen of one lock type
 * @row: the type
 * @hybrid: it is the hybrid
 * @bench: the lock, and contexts elsewhere; NULL: no memory
 * @behind: waits behind the abandoned node
 * @preempt: preemption count before all
 * @preempt_after: and after all
 * @blank: no pool of this CPU was set up when holders had been here; see @ready
 * @ready: the pool of tasks was set up when one had to wait
 * @free: lock_timeout of a free lock
 * @locked: the lock was held then
 * @tried_free: trylock of a free lock has acquired it
 * @tried_held: trylock of a held one has
 * @none_held: lock_timeout(0) of a held lock
 * @own: lock_timeout of a lock that this context holds itself
 * @nested: how many locks one context could hold at a time
 * @nmi_free: lock_timeout of a free lock, in an NMI
 * @nmi_own: of the lock that what it interrupts holds
 * @elsewhere: lock_timeout of a lock that is held by a CPU that there is not
 * @other_cpu: of a lock that another CPU holds, whose pools are not set up; hybrid
 * @abandoned: lock_timeout of an attempt behind which another enqueues
 * @advanced: that one has the lock, when the pools are filled
 * @later: then lock_timeout of the lock
 * @destroyed: then, and of all others
 * @in_use: then, nodes of all pools
 */
struct early {
	const struct nbq_row *row;
	bool hybrid;
	struct nbq_bench *bench;
	struct nbq_contender *behind;
	unsigned int preempt;
	unsigned int preempt_after;
	bool blank;
	bool ready;
	int free;
	bool locked;
	bool tried_free;
	bool tried_held;
	int none_held;
	int own;
	unsigned int nested;
	int nmi_free;
	int nmi_own;
	int elsewhere;
	int other_cpu;
	int abandoned;
	bool advanced;
	int later;
	int destroyed;
	unsigned int in_use;
};

/* That first which needs no node as a holder */
static struct early earlies[] = {
	{ .row = &nbq_spin_row, .hybrid = true },
	{ .row = &nbq_clh_row },
	{ .row = &nbq_mcs_row },
	{ .row = &nbq_swap_row },
};

static bool began;
static bool ended;
/* The first node of the pool of tasks, and its number of nodes, before all was filled */
static struct nbq_node *first_node;
static unsigned int first_size;
static unsigned int first_cpu;
/* The sockets that there were, and that of the pool */
static unsigned int first_sockets;
static struct nbq_socket *first_socket;

static struct nbq_bench *new_bench(const struct nbq_row *row)
{
	struct nbq_bench *bench;
	unsigned int i;

	bench = kzalloc(roundup_pow_of_two(sizeof(*bench)), GFP_KERNEL);
	if (!bench)
		return NULL;
	bench->row = row;
	bench->lock = kzalloc(row->size, GFP_KERNEL);
	bench->encodable = kzalloc(struct_size(bench->encodable, nodes, NBQ_BENCH_NODES),
				   GFP_KERNEL);
	if (!bench->lock || !bench->encodable) {
		kfree(bench->lock);
		kfree(bench->encodable);
		kfree(bench);
		return NULL;
	}
	bench->encodable->size = NBQ_BENCH_NODES;
	for (i = 0; i < NBQ_BENCH_NODES; i++)
		bench->encodable->nodes[i] = &bench->nodes[i];
	nbq_bench_fill(bench, NBQ_BENCH_NODES);
	/* It is held by its own CPU on purpose, and by several of a class. */
	row->init_unwatched(bench->lock);
	return bench;
}

static void free_bench(struct nbq_bench *bench)
{
	kfree(bench->lock);
	kfree(bench->encodable);
	kfree(bench);
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
	int ret = early->row->lock_timeout(early->bench->lock, patience);

	if (!ret)
		early->row->unlock(early->bench->lock);
	return ret;
}

static void nmi_at_a_free_lock(void *arg)
{
	struct early *early = arg;

	early->nmi_free = try_for(early, 0);
}

static void nmi_above_the_holder(void *arg)
{
	struct early *early = arg;

	early->nmi_own = try_for(early, NSEC_PER_SEC);
}

static void use_alone(struct early *early)
{
	const struct nbq_row *row = early->row;
	void *lock = early->bench->lock;

	early->free = row->lock_timeout(lock, NSEC_PER_SEC);
	early->locked = row->is_locked(lock);
	early->tried_held = row->trylock(lock);
	early->none_held = try_for(early, 0);
	early->own = try_for(early, NSEC_PER_SEC);
	nbq_as_nmi(nmi_above_the_holder, early);
	row->unlock(lock);
	early->tried_free = row->trylock(lock);
	if (early->tried_free)
		row->unlock(lock);
	row->lock(lock);
	row->unlock(lock);
	early->destroyed |= row->destroy(lock);
}

/* So many locks at a time, each in the ones before */
static void nest(struct early *early, unsigned int depth)
{
	const struct nbq_row *row = early->row;
	void *lock;

	if (depth == NEST)
		return;
	lock = kzalloc(row->size, GFP_ATOMIC);
	if (!lock)
		return;
	row->init_unwatched(lock);
	if (!row->lock_timeout(lock, NSEC_PER_SEC)) {
		early->nested++;
		nest(early, depth + 1);
		row->unlock(lock);
	}
	early->destroyed |= row->destroy(lock);
	kfree(lock);
}

/* By a context of another CPU, which has needed no node for that */
static void wait_for_another_cpu(struct early *early)
{
	unsigned int cpu = cpumask_any_but(cpu_possible_mask, raw_smp_processor_id());
	struct nbq_spin *lock = early->bench->lock;

	early->other_cpu = NOT_MADE;
	if (!early->hybrid || cpu >= nr_cpu_ids)
		return;
	lock->state.holder = nbq_encode_context(cpu, 0);
	early->other_cpu = try_for(early, 100);
	lock->state.holder = 0;
}

static void enqueue_behind(void *arg)
{
	struct early *early = arg;

	early->behind = nbq_bench_contender(early->bench);
	if (early->behind) {
		nbq_contender_enqueue(early->bench, early->behind);
		nbq_contender_link(early->bench, early->behind);
	}
}

/* before: []; after: H L x, L being of this CPU's pool */
static void abandon_a_node(struct early *early)
{
	struct nbq_bench *bench = early->bench;
	struct nbq_contender *holder = nbq_bench_contender(bench);

	if (!holder)
		return;
	nbq_contender_enqueue(bench, holder);
	early->elsewhere = try_for(early, 100);
	nbq_fake_start(1000, 10);
	nbq_fake_call(11, enqueue_behind, early);
	early->abandoned = try_for(early, 100);
}

static int __init use_locks_early(void)
{
	struct nbq_pool *pool;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(earlies); i++) {
		struct early *early = &earlies[i];

		early->bench = new_bench(early->row);
		if (!early->bench)
			return -ENOMEM;
		preempt_disable();
		early->preempt = preempt_count();
		WRITE_ONCE(nbq_pool_elsewhere, &early->bench->pool);
		nbq_fake_start(1000, 10);
		use_alone(early);
		nest(early, 0);
		early->blank = !is_any_pool_set_up();
		nbq_as_nmi(nmi_at_a_free_lock, early);
		early->destroyed |= early->row->destroy(early->bench->lock);
		wait_for_another_cpu(early);
		abandon_a_node(early);
		early->ready = nbq_this_pool()->setup == NBQ_POOL_READY;
		early->preempt_after = preempt_count();
		WRITE_ONCE(nbq_fake_clock, NULL);
		WRITE_ONCE(nbq_pool_elsewhere, NULL);
		preempt_enable();
	}
	preempt_disable();
	pool = nbq_this_pool();
	first_cpu = raw_smp_processor_id();
	first_node = pool->first;
	first_size = pool->size;
	first_sockets = nbq_sockets_number;
	first_socket = pool->socket;
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
		struct nbq_bench *bench = early->bench;

		WRITE_ONCE(nbq_pool_elsewhere, &bench->pool);
		if (early->behind) {
			nbq_contender_poll(bench, early->behind);
			nbq_contender_release(bench, &bench->contenders[0]);
			early->advanced = nbq_contender_poll(bench, early->behind);
			if (early->advanced)
				nbq_contender_release(bench, early->behind);
			early->later = try_for(early, 0);
			early->destroyed |= early->row->destroy(bench->lock);
		}
		WRITE_ONCE(nbq_pool_elsewhere, NULL);
	}
	for (i = 0; i < ARRAY_SIZE(earlies) && began; i++) {
		earlies[i].in_use = nbq_nodes_in_use(earlies[i].bench);
		free_bench(earlies[i].bench);
	}
	ended = began;
	return 0;
}
device_initcall(go_on_when_pools_are_filled);

static void early_desc(struct early *early, char *desc)
{
	strscpy(desc, early->row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(early, earlies, early_desc);

static int needs_both_parts(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, began);
	KUNIT_ASSERT_TRUE(test, ended);
	return 0;
}

static void lock_is_taken_and_released(struct kunit *test)
{
	const struct early *early = test->param_value;

	KUNIT_EXPECT_EQ(test, early->free, 0);
	KUNIT_EXPECT_TRUE(test, early->locked);
	KUNIT_EXPECT_TRUE(test, early->tried_free);
	KUNIT_EXPECT_EQ(test, early->nmi_free, 0);
	KUNIT_EXPECT_EQ(test, early->preempt_after, early->preempt);
}

static void failed_try_says_busy(struct kunit *test)
{
	const struct early *early = test->param_value;

	KUNIT_EXPECT_FALSE(test, early->tried_held);
	KUNIT_EXPECT_EQ(test, early->none_held, -EBUSY);
}

static void locks_are_nested(struct kunit *test)
{
	const struct early *early = test->param_value;

	KUNIT_EXPECT_EQ(test, early->nested, NEST);
}

static void deadlock_with_the_own_cpu_is_found(struct kunit *test)
{
	const struct early *early = test->param_value;

	KUNIT_EXPECT_EQ(test, early->own, -EDEADLK);
	KUNIT_EXPECT_EQ(test, early->nmi_own, -EDEADLK);
}

/* Pools that are not set up have no CPU yet; all zeroes is the first one. */
static void holder_elsewhere_is_no_deadlock(struct kunit *test)
{
	const struct early *early = test->param_value;

	KUNIT_EXPECT_EQ(test, early->elsewhere, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, early->abandoned, -ETIMEDOUT);
	if (early->other_cpu != NOT_MADE)
		KUNIT_EXPECT_EQ(test, early->other_cpu, -ETIMEDOUT);
}

static void pool_is_set_up_when_a_node_is_needed(struct kunit *test)
{
	const struct early *early = test->param_value;

	/* The first type is the first that has waited. */
	KUNIT_EXPECT_EQ(test, early->blank, early == earlies);
	KUNIT_EXPECT_TRUE(test, early->ready);
}

static void queue_goes_on_when_the_pools_are_filled(struct kunit *test)
{
	const struct early *early = test->param_value;

	KUNIT_EXPECT_NOT_NULL(test, early->behind);
	KUNIT_EXPECT_TRUE(test, early->advanced);
	KUNIT_EXPECT_EQ(test, early->later, 0);
	KUNIT_EXPECT_EQ(test, early->destroyed, 0);
	KUNIT_EXPECT_EQ(test, early->in_use, 0);
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

/* Its queues outlive the locks: no node is lost with one. */
static void pool_has_the_static_socket_from_the_start(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, first_sockets, 1);
	KUNIT_EXPECT_NOT_NULL(test, first_socket);
	KUNIT_EXPECT_PTR_EQ(test, first_socket, nbq_sockets[0]);
	KUNIT_EXPECT_GE(test, nbq_sockets_number, 1);
	KUNIT_EXPECT_NOT_NULL(test, per_cpu(nbq_pools, first_cpu)->socket);
}

static struct kunit_case early_cases[] = {
	KUNIT_CASE_PARAM(lock_is_taken_and_released, early_gen_params),
	KUNIT_CASE_PARAM(failed_try_says_busy, early_gen_params),
	KUNIT_CASE_PARAM(locks_are_nested, early_gen_params),
	KUNIT_CASE_PARAM(deadlock_with_the_own_cpu_is_found, early_gen_params),
	KUNIT_CASE_PARAM(holder_elsewhere_is_no_deadlock, early_gen_params),
	KUNIT_CASE_PARAM(pool_is_set_up_when_a_node_is_needed, early_gen_params),
	KUNIT_CASE_PARAM(queue_goes_on_when_the_pools_are_filled, early_gen_params),
	KUNIT_CASE(nodes_that_were_there_stay_the_first_of_their_pool),
	KUNIT_CASE(pool_has_the_static_socket_from_the_start),
	{}
};

static struct kunit_suite early_suite = {
	.name = "nbq_early",
	.init = needs_both_parts,
	.test_cases = early_cases,
};

kunit_test_suite(early_suite);

#endif
