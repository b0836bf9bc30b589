// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of a lock type in one thread, which sets its CPU by hand, with a fake clock.
 * What another CPU or an interrupt does in between is called from a hook on the shared accesses.
 * What KUnit says of the operations (kunit/operations_test.c, pool_test.c, spin_test.c) is not said
 * here again: here is what tracers and devices see, reports, counters, and accesses.
 */
#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <nbqlock/report.h>
#include <trace/events/lock.h>
#include <places.h>

#include "coro.h"
#include "test.h"
#if !HOLDS_NODE
#include <nbqlock/spin_word.h>
#endif

/* Destroy frees the nodes that the lock has kept. */
static void end(struct nbq_X *lock)
{
	EXPECT(nbq_X_destroy(lock) == 0);
	EXPECT(!*nbq_X_tail(lock));
}

static struct nbq_X *watched;

static int lock_for_ever(struct nbq_X *lock)
{
	nbq_X_lock(lock);
	return 0;
}

static int lock_without_patience(struct nbq_X *lock)
{
	return nbq_X_lock_timeout(lock, 0);
}

static int lock_with_patience(struct nbq_X *lock)
{
	return nbq_X_lock_timeout(lock, 1000);
}

static int lock_until_the_past(struct nbq_X *lock)
{
	return nbq_X_lock_until(lock, 0);
}

static int try_lock(struct nbq_X *lock)
{
	return nbq_X_trylock(lock) ? 0 : -EBUSY;
}

static int (* const operations[])(struct nbq_X *lock) = {
	lock_for_ever, lock_without_patience, lock_with_patience, lock_until_the_past, try_lock,
};

#define OPERATIONS	(sizeof(operations) / sizeof(operations[0]))

static bool release_ordered_late;

/* The first change of the lock by a release: writes to devices are in order by then. */
static void check_mmiowb(enum shim_op op, const void *address)
{
	if (op != SHIM_OP_LOAD && is_own_step(watched, address))
		release_ordered_late |= shim_mmiowb_pending;
}

static void write_to_a_device_and_release(struct nbq_X *lock)
{
	unsigned int ordered = shim_mmiowbs;

	EXPECT(shim_mmiowb_nesting == 1);
	mmiowb_set_pending();
	watched = lock;
	release_ordered_late = false;
	shim_hook = check_mmiowb;
	nbq_X_unlock(lock);
	shim_hook = NULL;
	EXPECT(!release_ordered_late);
	EXPECT(shim_mmiowbs == ordered + 1);
	EXPECT(shim_mmiowb_nesting == 0);
}

static void free_lock_is_acquired_by_each_operation(void)
{
	DEFINE_NBQ_X(lock);
	unsigned int i;

	test_clock(0, 1);
	for (shim_level = 0; shim_level < 4; shim_level++) {
		for (i = 0; i < OPERATIONS; i++) {
			EXPECT(operations[i](&lock) == 0);
			EXPECT(shim_preempt_off == 1);
			EXPECT(nbq_X_is_locked(&lock));
			EXPECT(HOLDS_NODE || is_held_by_this_context(&lock));
			EXPECT(!nbq_X_is_contended(&lock));
			write_to_a_device_and_release(&lock);
			EXPECT(!nbq_X_is_locked(&lock));
			EXPECT(shim_nodes_in_use() == NODES_KEPT);
		}
	}
	shim_level = 0;
	/* Without the clock. An acquisition without a node is not counted. */
	EXPECT(test_now == 0);
	EXPECT(shim_event("acquired_uncontended") == 4 * OPERATIONS * HOLDS_NODE);
	EXPECT(shim_event("nodes_allocated") == 4 * OPERATIONS * HOLDS_NODE);
	EXPECT(shim_event("acquired_handoff") == 0 && shim_event("timeouts") == 0);
	end(&lock);
}

static void forget_traced_waits(void)
{
	shim_contention_begins = 0;
	shim_contention_ends = 0;
	shim_wait_begins = 0;
	shim_wait_ends = 0;
}

/* Have so many waits begun and ended, by the kernel's tracepoints and by nbqlock's? */
static bool traced_waits(unsigned int waits)
{
	return shim_contention_begins == waits && shim_contention_ends == waits &&
	       shim_wait_begins == waits && shim_wait_ends == waits;
}

static unsigned int changes;

/* Whatever is not a load, of the watched lock and of queue nodes; and a poll. */
static void count_changes(enum shim_op op, const void *address)
{
	changes += op == SHIM_OP_RELAX ||
		   (op != SHIM_OP_LOAD && is_own_step(watched, address));
}

/* On another CPU, and above its own CPU's holder. It is no timeout, and not traced as a wait. */
static void attempt_without_patience_only_reads(void)
{
	static const ktime_t patience[] = { 0, -1, KTIME_MIN };
	DEFINE_NBQ_X(lock);
	unsigned int i;

	forget_traced_waits();
	test_clock(5000, 1);
	nbq_X_lock(&lock);
	watched = &lock;
	changes = 0;
	shim_leaves = 0;
	shim_hook = count_changes;
	for (shim_level = 0; shim_level < 4; shim_level++) {
		for (shim_cpu = 0; shim_cpu < 2; shim_cpu++) {
			EXPECT(!nbq_X_trylock(&lock));
			for (i = 0; i < 3; i++)
				EXPECT(nbq_X_lock_timeout(&lock, patience[i]) == -EBUSY);
		}
	}
	shim_hook = NULL;
	shim_level = 0;
	EXPECT(test_now == 5000);
	EXPECT(changes == 0 && shim_leaves == 0);
	EXPECT(traced_waits(0));
	EXPECT(shim_event("nodes_allocated") == HOLDS_NODE);
	EXPECT(shim_event("failed_tries") == 4 * 2 * 4);
	EXPECT(shim_event("timeouts") == 0 && shim_event("deadlocks") == 0);
	EXPECT(shim_preempt_off == 1);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}

/* The clocks of two CPUs differ: the caller was moved to the one that is behind. */
static void time_waited_is_not_negative(void)
{
	struct nbq_timeout info = { .waited_ns = 1 };
	DEFINE_NBQ_X(lock);

	nbq_X_lock(&lock);
	test_clock(5000, -1);
	EXPECT(nbq_X_lock_timeout_info(&lock, 0, &info) == -EBUSY);
	EXPECT(info.waited_ns == 0);
	EXPECT(test_now < 5000 - 1);
	nbq_X_unlock(&lock);
	end(&lock);
}

static unsigned int begins_before_the_tail;

static void count_begins_before_enqueue(enum shim_op op, const void *address)
{
	if (op == SHIM_OP_XCHG && address == nbq_X_tail(watched))
		begins_before_the_tail = shim_contention_begins;
}

/* Later attempts must not wait for a tracing program. */
static void traced_wait_begins_before_enqueue(void)
{
	DEFINE_NBQ_X(lock);
	unsigned int traced;

	nbq_X_lock(&lock);
	watched = &lock;
	for (traced = 0; traced < 2; traced++) {
		/* Not one that resumes its place. */
		shim_cpu = 1 + traced;
		shim_contention_is_traced = traced;
		forget_traced_waits();
		test_clock(0, 100);
		shim_hook = count_begins_before_enqueue;
		EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
		shim_hook = NULL;
		/* What polls before it enqueues announces itself by then. */
		EXPECT(begins_before_the_tail == (traced || !IS_FIFO));
		EXPECT(traced_waits(1));
		/* One whose deadline has passed waits, even if that is 0. */
		EXPECT(nbq_X_lock_until(&lock, 0) == -ETIMEDOUT);
		EXPECT(traced_waits(2));
	}
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	/* A free lock is no contention. */
	nbq_X_lock(&lock);
	nbq_X_unlock(&lock);
	EXPECT(shim_contention_begins == 2);
	end(&lock);
}

/* What happens meanwhile, once, at the last of so many polls of this attempt. */
static struct nbq_X *to_release;
static unsigned int polls_left;

/* As a task of that CPU */
static void release(unsigned int cpu)
{
	void (*hook)(enum shim_op op, const void *address) = shim_hook;
	unsigned int my_cpu = shim_cpu, my_level = shim_level;

	shim_hook = NULL;
	shim_cpu = cpu;
	shim_level = 0;
	nbq_X_unlock(to_release);
	to_release = NULL;
	shim_cpu = my_cpu;
	shim_level = my_level;
	shim_hook = hook;
}

static void release_once_announced(enum shim_op op, const void *address)
{
	if (to_release && shim_contention_begins)
		release(0);
}

/* By the context below, on the same CPU. */
static void release_below(enum shim_op op, const void *address)
{
	if (to_release && op == SHIM_OP_RELAX && !--polls_left)
		release(shim_cpu);
}

static void lock_until_released_below(struct nbq_X *lock, struct nbq_X *held, unsigned int polls)
{
	to_release = held;
	polls_left = polls;
	shim_hook = release_below;
	nbq_X_lock(lock);
	shim_hook = NULL;
	nbq_X_unlock(lock);
}

static void traced_contention_ends_without_a_wait(void)
{
	DEFINE_NBQ_X(lock);

	nbq_X_lock(&lock);
	to_release = &lock;
	shim_cpu = 1;
	shim_contention_is_traced = true;
	forget_traced_waits();
	shim_hook = release_once_announced;
	EXPECT(nbq_X_lock_timeout(&lock, KTIME_MAX) == 0);
	shim_hook = NULL;
	shim_contention_is_traced = false;
	EXPECT(traced_waits(1));
	nbq_X_unlock(&lock);
	shim_cpu = 0;
	end(&lock);
}

/* CPU 1 holds a lock, and waits for that of CPU 0. */
static void holder_that_waits_elsewhere_is_no_contention(void)
{
	static struct nbq_X locks[64];
	struct nbq_X *held = &locks[0], *wanted = &locks[1];
	struct coro *waiter;
	unsigned int polls;

	while (nbq_X_tail(wanted) == nbq_X_tail(held))
		wanted++;
	nbq_X_init(held);
	nbq_X_init(wanted);
	test_clock(0, 1);
	nbq_X_lock(wanted);
	waiter = coros_start_holder(1, held, wanted);
	waiter->wanted_patience = 1000;
	for (polls = 0; polls < 100; polls++)
		EXPECT(coro_until(waiter, SHIM_OP_RELAX, CORO_ANYWHERE));
	EXPECT(!nbq_X_is_contended(held));
	EXPECT(nbq_X_is_contended(wanted));
	EXPECT_END(0, 1);
	EXPECT(waiter->wanted_ret == -ETIMEDOUT);
	nbq_X_unlock(wanted);
	end(held);
	end(wanted);
}

/*
 * Have such waits been traced: an attempt with the error -EDEADLK, of which contention_begin tells
 * if it was announced; and all that were made after it, as one?
 */
static bool traced_deadlock(bool announced)
{
	return shim_contention_begins == 1 + announced && shim_wait_begins == 1 + announced &&
	       shim_contention_ends == 1 + announced && shim_wait_ends == 2 &&
	       shim_contention_ret == 0;
}

/* It is one deadlock, however often the attempt is made again. */
static void deadlock_of_untimed_attempt_is_reported_once(void)
{
	DEFINE_NBQ_X(lock);
	unsigned int traced;

	for (traced = 0; traced < 2; traced++) {
		test_expect_warnings(1);
		nbq_X_lock(&lock);
		shim_level = 3;
		shim_contention_is_traced = traced;
		forget_traced_waits();
		lock_until_released_below(&lock, &lock, 100);
		shim_contention_is_traced = false;
		shim_level = 0;
		EXPECT(traced_deadlock(traced && IS_FIFO));
		EXPECT(shim_event("deadlocks") == 1 + traced);
	}
	end(&lock);
}

#if !HOLDS_NODE
static void deadlock_of_bare_lock_is_one_wait(void)
{
	DEFINE_NBQ_X(lock);

	nbq_X_lock(&lock);
	shim_level = 3;
	forget_traced_waits();
	to_release = &lock;
	polls_left = 100;
	shim_hook = release_below;
	nbq_bare_spin_lock(&lock.bare);
	shim_hook = NULL;
	nbq_bare_spin_unlock(&lock.bare);
	shim_level = 0;
	EXPECT(traced_deadlock(false));
	EXPECT(shim_event("deadlocks") == 1);
	end(&lock);
}
#endif

/* CPU 0 holds another lock, and so does the holder: one that it acquired later. */
static void report_names_the_holder(void)
{
	DEFINE_NBQ_X(lock);
	DEFINE_NBQ_X(later);
	DEFINE_NBQ_X(elsewhere);
	unsigned int holder;

	test_expect_warnings(HOLDS_NODE + 2 * REPORTS_MISUSE);
	if (REPORTS_MISUSE) {
		nbq_X_unlock(&lock);
		EXPECT(shim_reported == NBQ_REPORT_NOT_HELD);
	}
	nbq_X_lock(&elsewhere);
	shim_cpu = 2;
	shim_level = 1;
	holder = shim_context();
	nbq_X_lock(&lock);
	nbq_X_lock(&later);

	shim_cpu = 1;
	shim_level = 0;
	if (REPORTS_MISUSE) {
		nbq_X_unlock(&lock);
		EXPECT(shim_reported == NBQ_REPORT_NOT_OWNER);
		EXPECT(shim_reported_holder == holder);
	}
	if (HOLDS_NODE) {
		EXPECT(nbq_X_end(&lock) == -EBUSY);
		EXPECT(shim_reported == NBQ_REPORT_IN_USE);
		EXPECT(shim_reported_holder == holder);
	}
	EXPECT(nbq_X_is_locked(&lock));
	EXPECT(shim_preempt_off == 3);

	shim_cpu = 2;
	shim_level = 1;
	nbq_X_unlock(&lock);
	nbq_X_unlock(&later);
	shim_cpu = 0;
	shim_level = 0;
	nbq_X_unlock(&elsewhere);
	end(&lock);
	end(&later);
	end(&elsewhere);
}

/*
 * An empty pool is reported after a second, and after each further one. That is a number of
 * searches which depends on the pool: few, if it has 4,096 nodes.
 */
#define SEARCH_NS		46000
#define SEARCHES(tenths)	((tenths) * (100000000 / SEARCH_NS))

#if HOLDS_NODE
/* A search may take long: the clock is read between any two. */
static void pass_time(enum shim_op op, const void *address)
{
	if (op == SHIM_OP_RELAX)
		test_now += 900;
}

static void empty_pool_is_enomem_at_the_deadline_and_reported(void)
{
	DEFINE_NBQ_X(other);
	DEFINE_NBQ_X(lock);
	unsigned int warnings;

	test_expect_warnings(2);
	shim_pools_start(1, 1);
	shim_growth_requests = 0;
	nbq_X_lock(&lock);
	shim_cpu = 1;
	nbq_X_lock(&other);
	shim_contention_is_traced = true;
	forget_traced_waits();
	test_clock(0, 0);
	shim_hook = pass_time;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ENOMEM);
	EXPECT(shim_contention_ret == -ENOMEM);
	shim_hook = NULL;
	EXPECT(test_now == 2 * 900);
	EXPECT(traced_waits(1));
	shim_contention_is_traced = false;
	shim_cpu = 0;
	nbq_X_unlock(&lock);

	/* Rule 10, whatever the reason */
	shim_cpu = 1;
	EXPECT(nbq_X_lock_timeout(&lock, 0) == -EBUSY);
	EXPECT(!nbq_X_trylock(&lock));
	EXPECT(shim_event("exhaustions") == 3 && shim_event("failed_tries") == 2);
	EXPECT(shim_event("timeouts") == 0);
	EXPECT(shim_growth_requests > 0);
	/* Another context level has its own nodes. */
	shim_level = 3;
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
	shim_level = 0;

	test_clock(0, SEARCH_NS);
	warnings = shim_warnings;
	lock_until_released_below(&lock, &other, SEARCHES(9));
	EXPECT(shim_warnings == warnings);
	nbq_X_lock(&other);
	lock_until_released_below(&lock, &other, SEARCHES(25));
	EXPECT(shim_warnings == warnings + 2);
	shim_cpu = 0;
	EXPECT(nbq_X_destroy(&other) == 0);
	end(&lock);
}
#endif

#if !HOLDS_NODE
/* There is no node before the pools are set up. */
static void waiter_without_pool_stays_newcomer(void)
{
	DEFINE_NBQ_X(lock);

	shim_pools_start(0, 0);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	test_clock(0, 100);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == ERROR_WITHOUT_NODE);
	EXPECT(!*nbq_X_tail(&lock));
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}
#endif

struct nbq_pool;
bool nbq_pool_set_up(struct nbq_pool *pool, unsigned int cpu, unsigned int level);

static struct nbq_pool *pool_to_set_up;
static bool is_ready_meanwhile;

static void set_it_up_again(enum shim_op op, const void *address)
{
	if (op != SHIM_OP_STORE)
		return;
	shim_hook = NULL;
	is_ready_meanwhile = nbq_pool_set_up(pool_to_set_up, 1, 2);
}

static void pool_is_set_up_by_one_context(void)
{
	size_t size;

	shim_pools_forget();
	pool_to_set_up = (struct nbq_pool *)shim_pool_memory(1, 2).start;
	is_ready_meanwhile = true;
	shim_hook = set_it_up_again;
	EXPECT(nbq_pool_set_up(pool_to_set_up, 1, 2));
	shim_hook = NULL;
	EXPECT(!is_ready_meanwhile);
	size = shim_pool_nodes(1, 2).size;
	EXPECT(nbq_pool_set_up(pool_to_set_up, 1, 2));
	EXPECT(size && shim_pool_nodes(1, 2).size == size);
	shim_pools_start(16, 16);
}

/* And interrupts above it know no waiter after it. */
static void first_attempt_has_a_node(void)
{
	DEFINE_NBQ_X(lock);

	shim_pools_forget();
	nbq_X_lock(&lock);
	shim_cpu = 1;
	test_clock(0, 100);
	EXPECT(nbq_X_lock_timeout(&lock, 10000) == -ETIMEDOUT);
	EXPECT(!shim_waits(1, 0));
	EXPECT(shim_event("nodes_allocated") == HOLDS_NODE + 1);
	EXPECT(shim_event("exhaustions") == 0);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
	shim_pools_start(16, 16);
}

#if !HOLDS_NODE
/* As before the kernel can allocate memory. What growth has added later is for the queue locks. */
static void static_nodes_can_be_encoded(void)
{
	static struct nbq_node grown;
	struct nbq_pool *pool = (struct nbq_pool *)shim_pool_memory(1, 2).start;
	struct nbq_node *node;
	unsigned int i;

	shim_pools_forget();
	shim_cpu = 1;
	shim_level = 2;
	EXPECT(nbq_pool_set_up(pool, 1, 2));
	nbq_node_append(pool, &grown);
	pool->hint = &grown;
	for (i = 0; i < NBQ_STATIC_NODES; i++) {
		node = nbq_node_alloc_encodable(pool);
		EXPECT(node && node->index == i);
		EXPECT(node && nbq_decode_tail(nbq_encode_tail(node)) == node);
		EXPECT(pool->events.pool_high_water == i + 1);
	}
	EXPECT(!nbq_node_alloc_encodable(pool));
	/* The one that was allocated last, if it is free. */
	nbq_node_free_own(pool->first);
	nbq_node_free_own(node);
	EXPECT(nbq_node_alloc_encodable(pool) == node);
	shim_cpu = 0;
	shim_level = 0;
	shim_pools_start(16, 16);
}
#endif

#if !HOLDS_NODE
/* CPU 1 holds it, and stops for good. CPU 0 goes on. */
static void hold_for_good(struct nbq_X *lock)
{
	shim_cpu = 1;
	nbq_X_lock(lock);
	shim_cpu = 0;
	shim_stopped_cpu = 1;
	nbq_cpus_stopped = true;
	/* What it has off stays off. */
	shim_preempt_off = 0;
	shim_mmiowb_nesting = 0;
}

static void forget_the_panic(void)
{
	nbq_cpus_stopped = false;
	shim_stopped_cpu = SHIM_CPUS;
	shim_moving_cpu = SHIM_CPUS;
}

static void panic_ends_waits_for_the_holders_that_it_has_stopped(void)
{
	struct nbq_timeout info = { 0 };
	DEFINE_NBQ_X(lock);

	EXPECT(nbq_spin_takeover(&lock, &info) == -ESTALE);
	info.holder_cpu = -1;
	EXPECT(nbq_spin_takeover(&lock, &info) == -EINVAL);
	hold_for_good(&lock);
	test_clock(1000, 10);
	forget_traced_waits();
	EXPECT(nbq_spin_lock_timeout_info(&lock, 100000, &info) == -EOWNERDEAD);
	EXPECT(test_now < 1100);
	EXPECT(info.holder_cpu == 1 && info.holder_level == 0);
	EXPECT(nbq_X_lock_until(&lock, KTIME_MAX) == -EOWNERDEAD);
	EXPECT(shim_event("deadlocks") == 2 && shim_event("timeouts") == 0);
	/* Rule 10, whatever the reason */
	EXPECT(nbq_X_lock_timeout(&lock, 0) == -EBUSY);
	EXPECT(!nbq_X_trylock(&lock));
	/* A CPU that was offline before a panic, and one that has not stopped. */
	nbq_cpus_stopped = false;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
	nbq_cpus_stopped = true;
	shim_stopped_cpu = 2;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
	/* One that the panic has found on its way up or down, which goes on. */
	shim_stopped_cpu = SHIM_CPUS;
	shim_moving_cpu = 1;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
	EXPECT(nbq_X_lock_until(&lock, test_now + 1000) == -ETIMEDOUT);

	EXPECT(nbq_spin_takeover(&lock, &info) == 0);
	EXPECT(shim_preempt_off == 1 && shim_mmiowb_nesting == 1);
	EXPECT(nbq_spin_takeover(&lock, &info) == -ESTALE);
	EXPECT(shim_preempt_off == 1);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == 0);
	nbq_X_unlock(&lock);
	forget_the_panic();
	end(&lock);
}

static struct nbq_X *taken_over;

/* CPU 2 takes the lock over after some polls, and releases it. */
static void take_over_later(enum shim_op op, const void *address)
{
	struct nbq_timeout info = { .holder_cpu = 1 };

	if (op != SHIM_OP_RELAX || --polls_left)
		return;
	shim_hook = NULL;
	shim_cpu = 2;
	EXPECT(nbq_spin_takeover(taken_over, &info) == 0);
	nbq_X_unlock(taken_over);
	shim_cpu = 0;
}

static void untimed_wait_for_a_stopped_holder_is_reported_once(void)
{
	DEFINE_NBQ_X(lock);

	test_expect_warnings(1);
	hold_for_good(&lock);
	taken_over = &lock;
	polls_left = 1000;
	shim_hook = take_over_later;
	nbq_X_lock(&lock);
	EXPECT(shim_reported == NBQ_REPORT_OWNER_DEAD && shim_reported_holder == 1 + 1);
	nbq_X_unlock(&lock);
	forget_the_panic();
	end(&lock);
}

static unsigned int takeover_at, release_at, accesses;

/* CPU 2 takes the lock over from the task of CPU 1 at one access of CPU 0, to release it later. */
static void take_over_meanwhile(enum shim_op op, const void *address)
{
	void (*hook)(enum shim_op op, const void *address) = shim_hook;
	struct nbq_timeout from = { .holder_cpu = 1 };
	unsigned int cpu = shim_cpu, level = shim_level;

	accesses++;
	if (accesses != takeover_at && accesses != release_at)
		return;
	shim_hook = NULL;
	shim_cpu = 2;
	shim_level = 0;
	if (accesses == takeover_at)
		EXPECT(nbq_spin_takeover(taken_over, &from) == 0);
	else
		nbq_X_unlock(taken_over);
	shim_cpu = cpu;
	shim_level = level;
	shim_hook = hook;
}

static void watch_a_takeover(struct nbq_X *lock, unsigned int at, unsigned int release)
{
	taken_over = lock;
	takeover_at = at;
	release_at = release;
	accesses = 0;
	shim_hook = take_over_meanwhile;
}

/*
 * An attempt, with a takeover by another CPU at each access in turn: what it says of the holder is
 * no leave to take the lock from that CPU. @judged: the error of one that was faster.
 */
static void expect_a_holder_as_judged(unsigned int cpu, unsigned int level, int judged)
{
	unsigned int at, times[2] = { 0 };

	for (at = 1; ; at++) {
		struct nbq_timeout info = { 0 };
		DEFINE_NBQ_X(lock);
		int ret, taken;

		hold_for_good(&lock);
		shim_cpu = cpu;
		shim_level = level;
		test_clock(1000, 10);
		watch_a_takeover(&lock, at, 0);
		ret = nbq_spin_lock_timeout_info(&lock, 1000, &info);
		shim_hook = NULL;
		times[ret == judged]++;
		EXPECT(ret == judged || ret == -ETIMEDOUT);
		EXPECT(ret != judged || (info.holder_cpu == 1 && info.holder_level == 0));
		taken = nbq_spin_takeover(&lock, &info);
		EXPECT(ret != judged || (accesses < at ? taken == 0 : taken == -ESTALE));
		/* As CPU 2 or this one */
		WRITE_ONCE(lock.state.holder, 0);
		forget_the_panic();
		shim_cpu = 0;
		shim_level = 0;
		shim_preempt_off = 0;
		shim_mmiowb_nesting = 0;
		end(&lock);
		if (accesses < at)
			break;
	}
	EXPECT(times[0] > 1 && times[1] > 1);
}

static void holder_is_reported_as_it_was_judged(void)
{
	/* Stopped; below, on the same CPU. */
	expect_a_holder_as_judged(0, 0, -EOWNERDEAD);
	expect_a_holder_as_judged(1, NBQ_NMI, -EDEADLK);
}

/* The word of a lock does not tell the context that took over from the one that held it. */
static void takeover_from_the_own_level_succeeds_once(void)
{
	struct nbq_timeout first = { 0 }, second = { 0 };
	DEFINE_NBQ_X(lock);
	unsigned int i;

	test_clock(1000, 10);
	/* At each level twice. */
	for (i = 0; i < 2 * NBQ_LEVELS; i++) {
		shim_level = i / 2;
		nbq_X_lock(&lock);
		/* Above it, at its level */
		EXPECT(nbq_spin_lock_timeout_info(&lock, 1000, &first) == -EDEADLK);
		EXPECT(nbq_spin_lock_timeout_info(&lock, 1000, &second) == -EDEADLK);
		EXPECT(nbq_spin_takeover(&lock, &first) == 0);
		EXPECT(nbq_spin_takeover(&lock, &first) == -ESTALE);
		EXPECT(nbq_spin_takeover(&lock, &second) == -ESTALE);
		EXPECT(shim_preempt_off == 2);
		/* Nor from the context that took over, when it holds the lock another time. */
		nbq_X_unlock(&lock);
		EXPECT(nbq_spin_takeover(&lock, &first) == -ESTALE);
		nbq_X_lock(&lock);
		EXPECT(nbq_spin_takeover(&lock, &first) == -ESTALE);
		nbq_X_unlock(&lock);
		/* What the context that was taken over from has off stays off. */
		shim_preempt_off = 0;
		shim_mmiowb_nesting = 0;
	}
	shim_level = 0;
	end(&lock);
}

static void untimed_wait_reports_the_holder_that_it_has_judged(void)
{
	unsigned int at;

	for (at = 1; at < 1000; at++) {
		unsigned int warnings = shim_warnings;
		DEFINE_NBQ_X(lock);

		hold_for_good(&lock);
		test_clock(1000, 10);
		watch_a_takeover(&lock, at, 5000);
		nbq_X_lock(&lock);
		shim_hook = NULL;
		test_expect_warnings(shim_warnings - warnings);
		EXPECT(shim_warnings == warnings || shim_reported_holder == 1 + 1);
		nbq_X_unlock(&lock);
		forget_the_panic();
		end(&lock);
	}
}
#endif

static const struct test_case cases[] = {
	TEST_CASE(free_lock_is_acquired_by_each_operation),
	TEST_CASE(attempt_without_patience_only_reads),
	TEST_CASE(time_waited_is_not_negative),
	TEST_CASE(traced_wait_begins_before_enqueue),
	TEST_CASE(traced_contention_ends_without_a_wait),
	TEST_CASE(holder_that_waits_elsewhere_is_no_contention),
	TEST_CASE(deadlock_of_untimed_attempt_is_reported_once),
	TEST_CASE(report_names_the_holder),
#if HOLDS_NODE
	TEST_CASE(empty_pool_is_enomem_at_the_deadline_and_reported),
#endif
#if !HOLDS_NODE
	TEST_CASE(deadlock_of_bare_lock_is_one_wait),
	TEST_CASE(waiter_without_pool_stays_newcomer),
	TEST_CASE(static_nodes_can_be_encoded),
	TEST_CASE(panic_ends_waits_for_the_holders_that_it_has_stopped),
	TEST_CASE(untimed_wait_for_a_stopped_holder_is_reported_once),
	TEST_CASE(holder_is_reported_as_it_was_judged),
	TEST_CASE(takeover_from_the_own_level_succeeds_once),
	TEST_CASE(untimed_wait_reports_the_holder_that_it_has_judged),
#endif
	TEST_CASE(pool_is_set_up_by_one_context),
	TEST_CASE(first_attempt_has_a_node),
};

int main(void)
{
	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
