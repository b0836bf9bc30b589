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

#include "common.h"

/* A tick by which each search that is to come has come */
#define LAST_TICK	400

/* When a cycle is there, and when the waiter gets -EDEADLK */
struct cycle_case {
	const char *desc;	/* what it is */
	u64 step;		/* from tick to tick, in ns */
	unsigned int closes;	/* the tick in whose middle the holder begins to wait */
	unsigned int found;	/* the tick at which the waiter gets -EDEADLK */
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

NBQ_TYPES_PARAM(task, task_cases);
NBQ_TYPES_PARAM(interrupt, interrupt_cases);

/* An attempt at a lock whose holder begins to wait */
struct waiter {
	struct nbq_fixture *fixture;	/* the lock, and the pool of the CPU that this is not */
	unsigned int closes;		/* the read of the clock in whose middle it does */
	unsigned int ends;	/* that in whose middle it releases, if the waiter waits still */
	/* In the middle of closes, this one abandons the queue; or NULL */
	struct nbq_contender *aborted;
	struct nbq_spin lock;		/* of this CPU: the other lock of the cycle */
	struct nbq_node *silent;	/* the word that the holder polls there */
	int ret;			/* what came of the attempt */
};

static void close_the_cycle(struct waiter *waiter)
{
	nbq_fixture_close_cycle(waiter->fixture, &waiter->lock, &waiter->silent);
	if (waiter->aborted)
		nbq_contender_abandon(waiter->fixture, waiter->aborted);
}

static void move_the_holder(void *arg)
{
	struct waiter *waiter = arg;
	struct nbq_fixture *fixture = waiter->fixture;

	if (nbq_fake.reads == waiter->closes)
		close_the_cycle(waiter);
	if (nbq_fake.reads == waiter->ends) {
		nbq_contender_release(fixture, &fixture->contenders[0]);
		return;
	}
	nbq_fake_call(0, move_the_holder, waiter);
}

static void wait_for_the_holder(void *arg)
{
	struct waiter *waiter = arg;
	const struct nbq_lock_type *type = waiter->fixture->type;

	waiter->ret = type->lock_timeout(waiter->fixture->lock, KTIME_MAX);
	if (!waiter->ret)
		type->unlock(waiter->fixture->lock);
}

static struct waiter *new_waiter(struct kunit *test)
{
	struct waiter *waiter;

	/* A search has as many steps as there are CPUs, and goes to another one and back. */
	if (nr_cpu_ids == 1)
		kunit_skip(test, "needs a second CPU");
	waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waiter);
	waiter->fixture = test->priv;
	nbq_init_untracked(waiter->fixture->type, waiter->fixture->lock);
	nbq_fixture_enqueue(test);
	return waiter;
}

/* A waiter that polls the lock first reads the clock before it enqueues, and after. */
static unsigned int reads_to_enqueue(const struct waiter *waiter)
{
	return waiter->fixture->type->traits->steals ? 2 : 0;
}

/* The read of a tick: if it is before it enqueues, which an interrupt's first one is */
static unsigned int read_of_tick(const struct waiter *waiter, unsigned int tick, bool interrupt)
{
	return interrupt && tick == 1 ? tick : tick + reads_to_enqueue(waiter);
}

static void end_cycle(struct waiter *waiter)
{
	nbq_fake.call = NULL;
	nbq_fixture_open_cycle(waiter->fixture);
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
	const struct cycle_case *search = nbq_value(test);
	struct waiter *waiter = new_waiter(test);

	/* Before and after: H; in between: H w */
	waiter->closes = read_of_tick(waiter, search->closes, interrupt);
	waiter->ends = LAST_TICK;
	nbq_fake_start(1000, search->step);
	nbq_fake_call(0, move_the_holder, waiter);
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

	/* Before: H w x; in between: H w x y, and H w y from the tick 3 on; after: H w */
	nbq_fixture_enqueue(test);
	waiter->aborted = nbq_fixture_enqueue(test);
	waiter->closes = read_of_tick(waiter, 3, true);
	waiter->ends = LAST_TICK;
	if (waiter->fixture->type->traits->steals)
		found = 4;
	nbq_fake_start(1000, 2000);
	nbq_fake_call(0, move_the_holder, waiter);
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
	nbq_fake_call(0, move_the_holder, waiter);

	/* Before: H; in between: H w; after: [], or A where nodes stay */
	wait_for_the_holder(waiter);
	end_cycle(waiter);
	KUNIT_EXPECT_EQ(test, waiter->ret, 0);
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, LAST_TICK);
}

KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);

static struct kunit_case deadlocks_cases[] = {
	KUNIT_CASE_PARAM(task_gets_edeadlk_from_its_next_check, task_gen_params),
	KUNIT_CASE_PARAM(interrupt_gets_edeadlk_from_its_next_check, interrupt_gen_params),
	KUNIT_CASE_PARAM(interrupt_checks_at_once_behind_a_new_predecessor, type_gen_params),
	KUNIT_CASE_PARAM(task_that_holds_no_lock_does_not_check, type_gen_params),
	{}
};

static struct kunit_suite deadlocks_suite = {
	.name = "nbq_deadlocks",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = deadlocks_cases,
};

kunit_test_suite(deadlocks_suite);
