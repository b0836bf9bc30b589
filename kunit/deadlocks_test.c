// SPDX-License-Identifier: GPL-2.0
/*
 * When a waiter checks for a deadlock, by the fake clock. The holder of the lock, on the CPU
 * that this is not, waits for a lock of this CPU from one moment on: a waiter behind it gets
 * -EDEADLK from its next check. With patience for ever, the clock is read at each tick only,
 * and when a waiter of the hybrid enqueues.
 *
 * With real threads: cycles_test.c.
 */
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "common.h"

/* A tick by which each search that is to come has come */
#define LAST_TICK	400

/**
 * struct cycle_case - when a cycle is there, and when the waiter gets -EDEADLK
 * @desc: what it is
 * @step: from tick to tick, in ns
 * @closes: the tick in whose middle the holder begins to wait
 * @found: the tick at which the waiter gets -EDEADLK
 */
struct cycle_case {
	const char *desc;
	u64 step;
	unsigned int closes;
	unsigned int found;
};

/* The first tick is at the 64th poll: from then on, 50 us, and so on. */
static const struct cycle_case task_cases[] = {
	{ "after_exactly_50_us", 10000, 1, 6 },
	{ "not_after_49995_ns", 9999, 1, 7 },
	{ "just_before_the_search", 10000, 6, 6 },
	{ "after_100_us", 10000, 7, 11 },
	{ "after_200_us", 10000, 12, 21 },
	{ "after_400_us", 10000, 22, 41 },
	{ "after_800_us", 10000, 42, 81 },
	{ "after_1600_us", 10000, 82, 161 },
	{ "then_each_1000_us", 10000, 162, 261 },
	{ "then_each_1000_us_still", 10000, 262, 361 },
/* The first tick is at the first poll. */
}, interrupt_cases[] = {
	{ "at_once", 2000, 1, 1 },
	{ "after_2_us", 2000, 2, 2 },
	{ "after_6_us", 2000, 3, 4 },
	{ "after_14_us", 2000, 5, 8 },
	{ "after_30_us", 2000, 9, 16 },
	{ "after_62_us", 2000, 17, 32 },
	{ "then_each_32_us", 2000, 33, 48 },
	{ "then_each_32_us_still", 2000, 49, 64 },
};

static void cycle_desc(const struct cycle_case *search, char *desc)
{
	strscpy(desc, search->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(task, task_cases, cycle_desc);
KUNIT_ARRAY_PARAM(interrupt, interrupt_cases, cycle_desc);

/**
 * struct waiter - an attempt at a lock whose holder begins to wait
 * @bench: the lock, and the pool of the CPU that this is not
 * @closes: the read of the clock in whose middle it does
 * @ends: that in whose middle it releases, if the waiter waits still
 * @aborted: in the middle of @closes, this one abandons the queue; or NULL
 * @lock: of this CPU: the other lock of the cycle
 * @silent: the word that the holder polls there
 * @ret: what came of the attempt
 */
struct waiter {
	struct nbq_bench *bench;
	unsigned int closes;
	unsigned int ends;
	struct nbq_contender *aborted;
	struct nbq_spin lock;
	struct nbq_node *silent;
	int ret;
};

static void close_the_cycle(struct waiter *waiter)
{
	nbq_bench_close_cycle(waiter->bench, &waiter->lock, &waiter->silent);
	if (waiter->aborted)
		nbq_contender_abandon(waiter->bench, waiter->aborted);
}

static void move_the_holder(void *arg)
{
	struct waiter *waiter = arg;
	struct nbq_bench *bench = waiter->bench;

	if (nbq_fake.reads == waiter->closes)
		close_the_cycle(waiter);
	if (nbq_fake.reads == waiter->ends) {
		nbq_contender_release(bench, &bench->contenders[0]);
		return;
	}
	nbq_fake_call(nbq_fake.reads + 1, move_the_holder, waiter);
}

static void wait_for_the_holder(void *arg)
{
	struct waiter *waiter = arg;
	const struct nbq_row *row = waiter->bench->row;

	waiter->ret = row->lock_timeout(waiter->bench->lock, KTIME_MAX);
	if (!waiter->ret)
		row->unlock(waiter->bench->lock);
}

static struct waiter *new_waiter(struct kunit *test)
{
	struct waiter *waiter;

	/* A search has as many steps as there are CPUs, and goes to another one and back. */
	if (nr_cpu_ids == 1)
		kunit_skip(test, "needs a second CPU");
	waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waiter);
	waiter->bench = test->priv;
	waiter->bench->row->init_unwatched(waiter->bench->lock);
	nbq_bench_enqueue(test);
	return waiter;
}

static bool reads_to_enqueue(const struct waiter *waiter)
{
	return waiter->bench->row->facts->reads_before_enqueue;
}

/* The read of a tick: if it is before it enqueues, which an interrupt's first one is */
static unsigned int read_of_tick(const struct waiter *waiter, unsigned int tick, bool interrupt)
{
	return tick + (reads_to_enqueue(waiter) && !(interrupt && tick == 1));
}

static void end_cycle(struct waiter *waiter)
{
	nbq_fake.call_at = 0;
	nbq_bench_open_cycle(waiter->bench);
}

/* Preemption is off twice during the attempt, as in a task that holds a lock. */
static void wait_as_holder(struct waiter *waiter)
{
	preempt_disable();
	wait_for_the_holder(waiter);
	preempt_enable();
}

static void expect_edeadlk(struct kunit *test, bool interrupt)
{
	const struct cycle_case *search = test->param_value;
	struct waiter *waiter = new_waiter(test);

	/* before and after: H; in between: H w */
	waiter->closes = read_of_tick(waiter, search->closes, interrupt);
	waiter->ends = LAST_TICK;
	nbq_fake_start(1000, search->step);
	nbq_fake_call(1, move_the_holder, waiter);
	if (interrupt)
		nbq_as_nmi(wait_for_the_holder, waiter);
	else
		wait_as_holder(waiter);
	end_cycle(waiter);
	KUNIT_EXPECT_EQ(test, waiter->ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, read_of_tick(waiter, search->found, interrupt));
}

static void task_gets_edeadlk_from_its_next_check(struct kunit *test)
{
	expect_edeadlk(test, false);
}

static void interrupt_gets_edeadlk_from_its_next_check(struct kunit *test)
{
	expect_edeadlk(test, true);
}

/* Between the ticks, where it waits behind a predecessor, and not behind the holder. */
static void interrupt_checks_at_once_behind_a_new_predecessor(struct kunit *test)
{
	struct waiter *waiter = new_waiter(test);
	unsigned int found = 3;

	/* before: H w x; in between: H w x y, and H w y from the tick 3 on; after: H w */
	nbq_bench_enqueue(test);
	waiter->aborted = nbq_bench_enqueue(test);
	waiter->closes = read_of_tick(waiter, 3, true);
	waiter->ends = LAST_TICK;
	if (waiter->bench->row->facts->steals)
		found = 4;
	nbq_fake_start(1000, 2000);
	nbq_fake_call(1, move_the_holder, waiter);
	nbq_as_nmi(wait_for_the_holder, waiter);
	end_cycle(waiter);
	KUNIT_EXPECT_EQ(test, waiter->ret, -EDEADLK);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, read_of_tick(waiter, found, true));
}

/* No other waits for it, so that it closes no cycle. */
static void task_that_holds_no_lock_does_not_check(struct kunit *test)
{
	struct waiter *waiter = new_waiter(test);

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "no task of this kernel can tell whether it holds a lock");
	waiter->closes = 1;
	waiter->ends = LAST_TICK;
	nbq_fake_start(1000, 10000);
	nbq_fake_call(1, move_the_holder, waiter);

	/* before: H; in between: H w; after: [], or A where nodes stay */
	wait_for_the_holder(waiter);
	end_cycle(waiter);
	KUNIT_EXPECT_EQ(test, waiter->ret, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, LAST_TICK);
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE_PARAM(task_gets_edeadlk_from_its_next_check, task_gen_params),\
	KUNIT_CASE_PARAM(interrupt_gets_edeadlk_from_its_next_check,		\
			 interrupt_gen_params),				\
	KUNIT_CASE(interrupt_checks_at_once_behind_a_new_predecessor),\
	KUNIT_CASE(task_that_holds_no_lock_does_not_check),		\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_deadlocks"
#include "lock_row_suites.h"
