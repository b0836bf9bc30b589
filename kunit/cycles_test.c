// SPDX-License-Identifier: GPL-2.0
/*
 * Deadlocks of real threads, by the kernel's clock: cycles of two locks and more, each held on
 * another CPU, are found long before the patience is over; chains without a cycle end in no
 * -EDEADLK. When a waiter checks: deadlocks_test.c. Interrupts: contexts_test.c.
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

#define CYCLE_MAX	4
/* Many times what a host with other work leaves a virtual CPU without a core */
#define PATIENCE	(40LL * NSEC_PER_SEC)
/* Much less than that, also with four CPUs to one that is real and does other work */
#define SOON		(PATIENCE / 4)

/**
 * struct member - a thread that holds one lock and wants another
 * @task: the thread, bound to a CPU of its own
 * @cycle: what it belongs to
 * @holds: what it holds
 * @holds_row: the type of that
 * @wants: what it waits for meanwhile; NULL: nothing, it holds for a while
 * @wants_row: the type of that
 * @patience: for that, in ns
 * @ret: what came of it
 * @took: how long that took, in ns
 * @finished: when it has released all
 */
struct member {
	struct task_struct *task;
	struct cycle *cycle;
	void *holds;
	const struct nbq_row *holds_row;
	void *wants;
	const struct nbq_row *wants_row;
	ktime_t patience;
	int ret;
	s64 took;
	struct completion finished;
};

/**
 * struct cycle - threads of which each waits for the next
 * @rows: the types of the locks
 * @locks: so many as members
 * @size: how many members
 * @holding: members that hold their lock
 * @start: opens when all threads are there
 * @members: the threads
 */
struct cycle {
	const struct nbq_row *rows[CYCLE_MAX];
	void *locks[CYCLE_MAX];
	unsigned int size;
	atomic_t holding;
	struct completion start;
	struct member members[CYCLE_MAX];
};

/* The last of a chain that is no cycle, until others have given up. */
#define HOLD_NS		(50 * NSEC_PER_MSEC)

static void hold_for_a_while(void)
{
	u64 end = ktime_get_mono_fast_ns() + HOLD_NS;

	while (ktime_get_mono_fast_ns() < end)
		cpu_relax();
}

static int member_main(void *arg)
{
	struct member *member = arg;
	struct cycle *cycle = member->cycle;
	s64 began;

	wait_for_completion(&cycle->start);
	member->holds_row->lock(member->holds);
	atomic_inc(&cycle->holding);
	while (atomic_read(&cycle->holding) < cycle->size)
		cpu_relax();
	began = ktime_get_mono_fast_ns();
	if (member->wants) {
		member->ret = member->wants_row->lock_timeout(member->wants,
							      member->patience);
		if (!member->ret)
			member->wants_row->unlock(member->wants);
	} else {
		hold_for_a_while();
	}
	member->took = ktime_get_mono_fast_ns() - began;
	member->holds_row->unlock(member->holds);
	complete(&member->finished);
	return 0;
}

/* All locks but the first, which is of the suite's type, are of the other one. */
static struct cycle *new_cycle(struct kunit *test, unsigned int size,
			       const struct nbq_row *other)
{
	struct cycle *cycle = kunit_kzalloc(test, sizeof(*cycle), GFP_KERNEL);
	struct nbq_bench *bench = test->priv;
	unsigned int i;

	if (num_online_cpus() < size)
		kunit_skip(test, "needs %u CPUs", size);
	KUNIT_ASSERT_NOT_NULL(test, cycle);
	cycle->size = size;
	init_completion(&cycle->start);
	for (i = 0; i < size; i++) {
		cycle->rows[i] = i ? other : bench->row;
		cycle->locks[i] = kunit_kzalloc(test, cycle->rows[i]->size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, cycle->locks[i]);
		cycle->rows[i]->init_unwatched(cycle->locks[i]);
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
	member->holds_row = cycle->rows[index];
	member->wants = cycle->locks[next];
	member->wants_row = cycle->rows[next];
	member->patience = PATIENCE;
	init_completion(&member->finished);
	member->task = kthread_create(member_main, member, "nbq_kunit/%u", cpu);
	if (IS_ERR(member->task)) {
		KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(member->task));
		member->task = NULL;
		return false;
	}
	get_task_struct(member->task);
	kthread_bind(member->task, cpu);
	return true;
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
		KUNIT_EXPECT_EQ(test, cycle->rows[i]->destroy(cycle->locks[i]), 0);
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

static const unsigned int size_cases[] = { 2, 3, 4 };

static void size_desc(const unsigned int *size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u_locks", *size);
}

KUNIT_ARRAY_PARAM(size, size_cases, size_desc);

static const struct nbq_row *own_row(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	return bench->row;
}

/* One gives up, or several that notice at the same time; the others get theirs. */
static void expect_found(struct kunit *test, unsigned int size,
			 const struct nbq_row *other)
{
	struct cycle *cycle = new_cycle(test, size, other);
	unsigned int deadlocks;

	run_cycle(test, cycle, gather(test, cycle));
	deadlocks = count_ret(cycle, -EDEADLK);
	kunit_info(test, "%s, %s: a cycle of %u took %lld us, %u gave up\n",
		   own_row(test)->name, other->name, size,
		   ktime_to_us(longest(cycle)), deadlocks);
	KUNIT_EXPECT_GE(test, deadlocks, 1);
	KUNIT_EXPECT_EQ(test, count_ret(cycle, 0), size - deadlocks);
	KUNIT_EXPECT_LT(test, longest(cycle), SOON);
}

static void cycle_is_found_long_before_the_patience_is_over(struct kunit *test)
{
	const unsigned int *size = test->param_value;

	expect_found(test, *size, own_row(test));
}

static const struct nbq_row * const other_rows[] = {
#define NBQ_ROW(type)	(&type##_row),
#include "lock_row_list.h"
#undef NBQ_ROW
};

static void row_desc(const struct nbq_row * const *row, char *desc)
{
	strscpy(desc, (*row)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(other_row, other_rows, row_desc);

/* One lock of this type, and one or two of another. */
static void cycle_of_two_lock_types_is_found(struct kunit *test)
{
	const struct nbq_row * const *other = test->param_value;

	expect_found(test, 2, *other);
	if (num_online_cpus() > 2)
		expect_found(test, 3, *other);
}

/* The last of the chain does not wait. */
static void chain_is_no_cycle(struct kunit *test)
{
	const unsigned int *size = test->param_value;
	struct cycle *cycle = new_cycle(test, *size, own_row(test));
	bool all = gather(test, cycle);

	cycle->members[*size - 1].wants = NULL;
	run_cycle(test, cycle, all);
	KUNIT_EXPECT_EQ(test, count_ret(cycle, 0), *size);
}

/* The last of the chain has no patience. */
static void chain_that_ends_in_a_trylock_is_no_cycle(struct kunit *test)
{
	const unsigned int *size = test->param_value;
	struct cycle *cycle = new_cycle(test, *size, own_row(test));
	bool all = gather(test, cycle);
	struct member *last = &cycle->members[*size - 1];

	/* It polls, and does not wait. */
	last->patience = 0;
	run_cycle(test, cycle, all);
	KUNIT_EXPECT_EQ(test, last->ret, -EBUSY);
	KUNIT_EXPECT_EQ(test, count_ret(cycle, 0), *size - 1);
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE_PARAM(cycle_is_found_long_before_the_patience_is_over,\
			 size_gen_params),				\
	KUNIT_CASE_PARAM(cycle_of_two_lock_types_is_found,		\
			 other_row_gen_params),				\
	KUNIT_CASE_PARAM(chain_is_no_cycle, size_gen_params),		\
	KUNIT_CASE_PARAM(chain_that_ends_in_a_trylock_is_no_cycle,	\
			 size_gen_params),				\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_cycles"
#include "lock_row_suites.h"
