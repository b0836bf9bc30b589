// SPDX-License-Identifier: GPL-2.0
/*
 * Deadlocks of real threads, by the kernel's clock: cycles of two locks and more, of one type
 * or of two, each held on another CPU, are found long before the patience is over. When a
 * waiter checks: deadlocks_test.c. Interrupts: contexts_test.c. Chains without a cycle: the host
 * tests.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

#define CYCLE_MAX	4U
/* Many times what a host with other work leaves a virtual CPU without a core */
#define PATIENCE	(40LL * NSEC_PER_SEC)
/* Much less than that, also with four CPUs to one that is real and does other work */
#define SOON		(PATIENCE / 4)

/* A thread that holds one lock and wants another */
struct member {
	struct task_struct *task;		/* the thread, bound to a CPU of its own */
	struct cycle *cycle;			/* what it belongs to */
	void *holds;				/* what it holds */
	const struct nbq_lock_type *holds_type;	/* the type of that */
	void *wants;				/* what it waits for meanwhile */
	const struct nbq_lock_type *wants_type;	/* the type of that */
	int ret;				/* what came of it */
	s64 took;				/* how long that took, in ns */
	struct completion finished;		/* when it has released all */
};

/* Threads of which each waits for the next */
struct cycle {
	const struct nbq_lock_type *types[CYCLE_MAX];	/* the types of the locks */
	void *locks[CYCLE_MAX];				/* so many as members */
	unsigned int size;				/* how many members */
	atomic_t holding;				/* members that hold their lock */
	struct completion start;			/* opens when all threads are there */
	struct member members[CYCLE_MAX];		/* the threads */
};

static int member_main(void *arg)
{
	struct member *member = arg;
	struct cycle *cycle = member->cycle;
	s64 began;

	wait_for_completion(&cycle->start);
	member->holds_type->lock(member->holds);
	atomic_inc(&cycle->holding);
	while (atomic_read(&cycle->holding) < cycle->size)
		cpu_relax();
	began = ktime_get_mono_fast_ns();
	member->ret = member->wants_type->lock_timeout(member->wants, PATIENCE);
	if (!member->ret)
		member->wants_type->unlock(member->wants);
	member->took = ktime_get_mono_fast_ns() - began;
	member->holds_type->unlock(member->holds);
	complete(&member->finished);
	return 0;
}

/* All locks but the first, which is of the suite's type, are of the other one. */
static struct cycle *new_cycle(struct kunit *test, unsigned int size,
			       const struct nbq_lock_type *other)
{
	struct cycle *cycle = kunit_kzalloc(test, sizeof(*cycle), GFP_KERNEL);
	struct nbq_fixture *fixture = test->priv;
	unsigned int i;

	if (num_online_cpus() < size)
		kunit_skip(test, "needs %u CPUs", size);
	KUNIT_ASSERT_NOT_NULL(test, cycle);
	cycle->size = size;
	init_completion(&cycle->start);
	for (i = 0; i < size; i++) {
		cycle->types[i] = i ? other : fixture->type;
		cycle->locks[i] = kunit_kzalloc(test, cycle->types[i]->size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, cycle->locks[i]);
		nbq_init_untracked(cycle->types[i], cycle->locks[i]);
	}
	return cycle;
}

static bool start_member(struct kunit *test, struct cycle *cycle,
			 unsigned int index, unsigned int cpu)
{
	struct member *member = &cycle->members[index];
	unsigned int next = (index + 1) % cycle->size;

	member->cycle = cycle;
	member->holds = cycle->locks[index];
	member->holds_type = cycle->types[index];
	member->wants = cycle->locks[next];
	member->wants_type = cycle->types[next];
	init_completion(&member->finished);
	member->task = nbq_new_thread(test, member_main, member, cpu);
	return member->task;
}

/* Threads, each on a CPU of its own, which do nothing yet. */
static bool gather(struct kunit *test, struct cycle *cycle)
{
	unsigned int cpu, i = 0;
	bool there = true;

	for_each_online_cpu(cpu) {
		if (i == cycle->size)
			break;
		there = there && start_member(test, cycle, i++, cpu);
	}
	return there;
}

/* Let them go if all are there, and wait until their code is left. */
static void run_cycle(struct kunit *test, struct cycle *cycle, bool all)
{
	unsigned int i;

	complete_all(&cycle->start);
	for (i = 0; i < cycle->size; i++) {
		struct member *member = &cycle->members[i];

		if (!member->task)
			continue;
		if (all) {
			wake_up_process(member->task);
			continue;
		}
		/* It never ran, and never will. */
		kthread_stop(member->task);
		put_task_struct(member->task);
	}
	for (i = 0; i < cycle->size && all; i++) {
		wait_for_completion(&cycle->members[i].finished);
		kthread_stop(cycle->members[i].task);
		put_task_struct(cycle->members[i].task);
	}
	for (i = 0; i < cycle->size; i++)
		KUNIT_EXPECT_EQ(test, cycle->types[i]->destroy(cycle->locks[i]), 0);
}

static unsigned int count_ret(const struct cycle *cycle, int ret)
{
	unsigned int i, count = 0;

	for (i = 0; i < cycle->size; i++)
		count += cycle->members[i].ret == ret;
	return count;
}

static s64 longest(const struct cycle *cycle)
{
	s64 took = 0;
	unsigned int i;

	for (i = 0; i < cycle->size; i++)
		took = max(took, cycle->members[i].took);
	return took;
}

/* One gives up, or several that notice at the same time; the others get theirs. */
static void expect_found(struct kunit *test, unsigned int size, const struct nbq_lock_type *other)
{
	struct cycle *cycle = new_cycle(test, size, other);
	struct nbq_fixture *fixture = test->priv;
	unsigned int deadlocks;

	run_cycle(test, cycle, gather(test, cycle));
	deadlocks = count_ret(cycle, -EDEADLK);
	kunit_info(test, "%s, %s: a cycle of %u took %lld us, %u gave up\n",
		   fixture->type->name, other->name, size,
		   ktime_to_us(longest(cycle)), deadlocks);
	KUNIT_EXPECT_GE_MSG(test, deadlocks, 1, "%s", other->name);
	KUNIT_EXPECT_EQ_MSG(test, count_ret(cycle, 0), size - deadlocks, "%s", other->name);
	KUNIT_EXPECT_LT_MSG(test, longest(cycle), SOON, "%s", other->name);
}

/* One lock of this type, and the others of the other one, which may be the same */
static void cycle_is_found_long_before_the_patience_is_over(struct kunit *test)
{
	unsigned int size, i;

	for (i = 0; i < NBQ_LOCK_TYPES; i++) {
		expect_found(test, 2, nbq_types[i].type);
		for (size = 3; size <= min(num_online_cpus(), CYCLE_MAX); size++)
			expect_found(test, size, nbq_types[i].type);
	}
}

KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);

static struct kunit_case cycles_cases[] = {
	KUNIT_CASE_PARAM(cycle_is_found_long_before_the_patience_is_over, type_gen_params),
	{}
};

static struct kunit_suite cycles_suite = {
	.name = "nbq_cycles",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = cycles_cases,
};

kunit_test_suite(cycles_suite);
