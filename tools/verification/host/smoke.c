// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation of a lock type in one thread, which sets its CPU by hand, with a fake clock.
 * What another CPU or an interrupt does in between is called from a hook on the shared accesses.
 */
#include <string.h>

#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <nbqlock/report.h>
#include <trace/events/lock.h>
#include <places.h>

#include "test.h"
#include "type.h"

static u64 clock_now;
static u64 clock_step;		/* the clock advances by this with each read */
static unsigned int clock_reads;
static unsigned int polls;

/*
 * A waiter reads the clock, other than for its deadline, after so many polls; the head of a
 * queue that newcomers pass, which may have to request a handoff, more often.
 */
#define POLLS_PER_TICK	(IS_FIFO ? 64 : 17)
/* Before it enqueues, if newcomers may pass the queue. */
#define POLLS_BEFORE_QUEUE	(IS_FIFO ? 0 : 17)
/* And once more when it enqueues, for its heartbeat. */
#define OWN_READS	(!IS_FIFO)

static u64 fake_clock(void)
{
	u64 now = clock_now;

	clock_reads++;
	clock_now += clock_step;
	return now;
}

static void start_clock(u64 now, u64 step)
{
	clock_now = now;
	clock_step = step;
	clock_reads = 0;
	shim_clock = fake_clock;
}

/* Destroy frees the nodes that the lock has kept. */
static void end(struct nbq_X *lock)
{
	EXPECT(nbq_X_destroy(lock) == 0);
	EXPECT(!lock->tail);
}

static void count_polls(enum shim_op op, const void *address)
{
	(void)address;
	if (op == SHIM_OP_RELAX)
		polls++;
}

static void free_lock_reads_no_clock(void)
{
	DEFINE_NBQ_X(lock);

	start_clock(0, 1);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == 0);
	EXPECT(shim_preempt_off == 1);
	EXPECT(nbq_X_is_locked(&lock));
	EXPECT(!nbq_X_is_contended(&lock));
	nbq_X_unlock(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	EXPECT(shim_nodes_in_use() == NODES_KEPT);

	EXPECT(nbq_X_lock_until(&lock, 1000) == 0);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
	nbq_X_lock(&lock);
	nbq_X_unlock(&lock);
	EXPECT(clock_reads == 0);
	/* An acquisition without a node is not counted. */
	EXPECT(shim_event("acquired_uncontended") == 4 * HOLDS_NODE);
	EXPECT(shim_event("acquired_handoff") == 0);
	EXPECT(shim_event("nodes_allocated") == 4 * HOLDS_NODE);
	EXPECT(shim_event("pool_high_water") == HOLDS_NODE + NODES_KEPT);
	EXPECT(shim_event("timeouts") == 0);
	end(&lock);
}

static void init_resets_the_lock(void)
{
	struct nbq_X lock;

	memset(&lock, 0xff, sizeof(lock));
	nbq_X_init(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
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

static void attempt_without_patience_does_not_wait(void)
{
	static const ktime_t patience[] = { 0, -1, KTIME_MIN };
	DEFINE_NBQ_X(lock);
	unsigned int i;

	forget_traced_waits();
	start_clock(5000, 1);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	polls = 0;
	shim_hook = count_polls;
	EXPECT(!nbq_X_trylock(&lock));
	for (i = 0; i < 3; i++)
		EXPECT(nbq_X_lock_timeout(&lock, patience[i]) == -EBUSY);
	EXPECT(clock_reads == 0);
	/* Who does not wait is not traced as one that does. */
	EXPECT(shim_contention_begins == 0);
	EXPECT(nbq_X_lock_until(&lock, 5000) == -ETIMEDOUT);
	EXPECT(nbq_X_lock_until(&lock, 0) == -ETIMEDOUT);
	EXPECT(nbq_X_lock_until(&lock, -7) == -ETIMEDOUT);
	/* Past as well, and no word for an attempt without patience */
	EXPECT(nbq_X_lock_until(&lock, KTIME_MIN) == -ETIMEDOUT);
	/* An attempt after one that has not enqueued does at once. */
	EXPECT(clock_reads == 4 + 2 * OWN_READS);
	shim_hook = NULL;
	EXPECT(polls == 0);
	EXPECT(traced_waits(4));
	EXPECT(shim_preempt_off == 1);

	shim_cpu = 0;
	nbq_X_unlock(&lock);
	for (i = 0; i < 3; i++) {
		EXPECT(nbq_X_lock_timeout(&lock, patience[i]) == 0);
		nbq_X_unlock(&lock);
	}
	/* A failed try is no timeout. */
	EXPECT(shim_event("failed_tries") == 4);
	EXPECT(shim_event("timeouts") == 4);
	EXPECT(shim_event("nodes_abandoned") == 4 * ABANDONED_TAIL_STAYS);
	end(&lock);
}

static struct nbq_X *watched;
static unsigned int changes;

/* Whatever is not a load, of the watched lock and of queue nodes. */
static void count_changes(enum shim_op op, const void *address)
{
	changes += op != SHIM_OP_LOAD && op != SHIM_OP_RELAX && is_own_step(watched, address);
}

static void failing_trylock_only_reads(void)
{
	DEFINE_NBQ_X(lock);

	nbq_X_lock(&lock);
	watched = &lock;
	changes = 0;
	shim_leaves = 0;
	for (shim_level = 0; shim_level < 4; shim_level++) {
		shim_cpu = 1;
		shim_hook = count_changes;
		EXPECT(!nbq_X_trylock(&lock));
		EXPECT(nbq_X_lock_timeout(&lock, 0) == -EBUSY);
		/* Above its own CPU's holder it is the same. */
		shim_cpu = 0;
		EXPECT(!nbq_X_trylock(&lock));
		EXPECT(nbq_X_lock_timeout(&lock, 0) == -EBUSY);
		shim_hook = NULL;
	}
	shim_level = 0;
	EXPECT(changes == 0);
	EXPECT(shim_leaves == 0);
	EXPECT(shim_event("nodes_allocated") == HOLDS_NODE);
	EXPECT(shim_event("failed_tries") == 16);
	EXPECT(shim_event("timeouts") == 0 && shim_event("deadlocks") == 0);
	nbq_X_unlock(&lock);
	end(&lock);
}

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

static void writes_to_devices_are_ordered_before_each_release(void)
{
	DEFINE_NBQ_X(lock);

	for (shim_level = 0; shim_level < 4; shim_level++) {
		nbq_X_lock(&lock);
		write_to_a_device_and_release(&lock);
		EXPECT(nbq_X_lock_timeout(&lock, 0) == 0);
		write_to_a_device_and_release(&lock);
		EXPECT(nbq_X_lock_timeout(&lock, 1000) == 0);
		write_to_a_device_and_release(&lock);
		EXPECT(nbq_X_lock_until(&lock, 0) == 0);
		write_to_a_device_and_release(&lock);
		EXPECT(nbq_X_trylock(&lock));
		write_to_a_device_and_release(&lock);
	}
	shim_level = 0;
	nbq_X_lock(&lock);
	shim_cpu = 1;
	start_clock(0, 100);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
	EXPECT(!nbq_X_trylock(&lock));
	EXPECT(shim_mmiowb_nesting == 1);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}

static unsigned int begins_before_the_tail;

static void count_begins_before_enqueue(enum shim_op op, const void *address)
{
	if (op == SHIM_OP_XCHG && address == &watched->tail)
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
		start_clock(0, 100);
		shim_hook = count_begins_before_enqueue;
		EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
		shim_hook = NULL;
		/* What polls before it enqueues announces itself by then. */
		EXPECT(begins_before_the_tail == (traced || !IS_FIFO));
		EXPECT(traced_waits(1));
	}
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	/* A free lock is no contention. */
	nbq_X_lock(&lock);
	nbq_X_unlock(&lock);
	EXPECT(shim_contention_begins == 1);
	end(&lock);
}

/* The next of these to be released, by CPU 0 or by the context below. */
static struct nbq_X *to_release;
static unsigned int relaxes;
static unsigned int relaxes_to_release;

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

static void release_after_relaxes(enum shim_op op, const void *address)
{
	if (to_release && op == SHIM_OP_RELAX && ++relaxes == relaxes_to_release)
		release(shim_cpu);
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

static void deadlock_of_untimed_attempt_is_reported_once(void)
{
	DEFINE_NBQ_X(lock);

	test_expect_warnings(1);
	nbq_X_lock(&lock);
	to_release = &lock;
	relaxes = 0;
	relaxes_to_release = 100;
	shim_level = 3;
	shim_hook = release_after_relaxes;
	nbq_X_lock(&lock);
	shim_hook = NULL;
	nbq_X_unlock(&lock);
	shim_level = 0;
	end(&lock);
}

#if HOLDS_NODE && !NODES_KEPT
static void empty_pool_is_traced_and_reported(void)
{
	DEFINE_NBQ_X(other);
	DEFINE_NBQ_X(lock);

	test_expect_warnings(1);
	shim_pools_start(1, 1);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	nbq_X_lock(&other);
	shim_contention_is_traced = true;
	forget_traced_waits();
	start_clock(0, 100);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ENOMEM);
	EXPECT(traced_waits(1));
	shim_contention_is_traced = false;
	shim_cpu = 0;
	nbq_X_unlock(&lock);

	shim_cpu = 1;
	to_release = &other;
	relaxes = 0;
	relaxes_to_release = (1U << 20) + 1;
	shim_hook = release_after_relaxes;
	nbq_X_lock(&lock);
	shim_hook = NULL;
	nbq_X_unlock(&lock);
	shim_cpu = 0;
	shim_pools_start(16, 16);
}
#endif

#if NODES_KEPT
#define NODES	16U

/* Waits for a node until destroy of that lock frees one. */
static struct nbq_X *to_destroy;

static void destroy_after_relaxes(enum shim_op op, const void *address)
{
	if (!to_destroy || op != SHIM_OP_RELAX || ++relaxes != relaxes_to_release)
		return;
	shim_hook = NULL;
	EXPECT(nbq_X_destroy(to_destroy) == 0);
}

static void pool_whose_nodes_locks_at_rest_keep_is_reported(void)
{
	struct nbq_X locks[NODES + 1];
	DEFINE_NBQ_CLH(clh);
	unsigned int i;

	test_expect_warnings(1);
	test_pools(NODES, NODES);
	for (i = 0; i <= NODES; i++)
		nbq_X_init(&locks[i]);
	/* A node that another lock type uses since is not kept. */
	nbq_X_lock(&locks[0]);
	nbq_X_unlock(&locks[0]);
	end(&locks[0]);
	nbq_clh_lock(&clh);
	for (i = 1; i < NODES; i++) {
		nbq_X_lock(&locks[i]);
		nbq_X_unlock(&locks[i]);
	}
	EXPECT(shim_nodes_in_use() == NODES);
	start_clock(0, 100);
	EXPECT(nbq_X_lock_timeout(&locks[NODES], 1000) == -ENOMEM);
	EXPECT(!nbq_X_trylock(&locks[NODES]));

	to_destroy = &locks[1];
	relaxes = 0;
	relaxes_to_release = (1U << 20) + 1;
	shim_hook = destroy_after_relaxes;
	nbq_X_lock(&locks[NODES]);
	EXPECT(shim_reported_kept == NODES - 1);
	nbq_X_unlock(&locks[NODES]);
	nbq_clh_unlock(&clh);
	for (i = 2; i <= NODES; i++)
		end(&locks[i]);
	EXPECT(shim_nodes_in_use() == 0);
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

/* As built in, before pool.c has filled the pools, or although that has failed. */
static void locks_work_before_the_pools_are_filled(void)
{
	struct nbq_X lock[3] = { };
	unsigned int i;

	shim_pools_forget();
	start_clock(0, 100);
	/* 0 is the CPU of a blank pool. */
	for (shim_cpu = 3; shim_cpu--;) {
		nbq_X_init(&lock[shim_cpu]);
		nbq_X_lock(&lock[shim_cpu]);
	}
	for (shim_cpu = 0; shim_cpu < 3; shim_cpu++) {
		for (i = 0; i < 3; i++) {
			shim_level = 3;
			EXPECT(!nbq_X_trylock(&lock[i]));
			EXPECT(nbq_X_lock_timeout(&lock[i], 1000) ==
			       (i == shim_cpu ? -EDEADLK : -ETIMEDOUT));
			shim_level = 0;
		}
	}
	for (shim_cpu = 0; shim_cpu < 3; shim_cpu++) {
		nbq_X_unlock(&lock[shim_cpu]);
		EXPECT(!nbq_X_is_locked(&lock[shim_cpu]));
		EXPECT(nbq_X_destroy(&lock[shim_cpu]) == 0);
	}
	shim_cpu = 0;
	EXPECT(shim_event("nodes_allocated") > 0);
	shim_pools_start(16, 16);
}

static void waiter_times_out_at_its_deadline(void)
{
	DEFINE_NBQ_X(lock);

	nbq_X_lock(&lock);
	shim_cpu = 1;
	start_clock(7777, 100);
	polls = 0;
	shim_hook = count_polls;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == -ETIMEDOUT);
	shim_hook = NULL;
	/* Read at 7777, where the patience starts, and then until 8777; once for a tick. */
	EXPECT(clock_reads == 11);
	/* It is far away for most of them. */
	EXPECT(IS_FIFO ? polls > 5 * clock_reads : polls >= 4 * clock_reads);

	start_clock(7777, 100);
	EXPECT(nbq_X_lock_until(&lock, 8777) == -ETIMEDOUT);
	EXPECT(clock_reads == 11);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}

static struct nbq_X *held_by_cpu_0;

/* After a while, CPU 0 unlocks. */
static void release_during_the_wait(enum shim_op op, const void *address)
{
	count_polls(op, address);
	if (polls == 1000 && held_by_cpu_0) {
		unsigned int cpu = shim_cpu;
		struct nbq_X *lock = held_by_cpu_0;

		held_by_cpu_0 = NULL;
		EXPECT(nbq_X_is_contended(lock));
		shim_cpu = 0;
		nbq_X_unlock(lock);
		shim_cpu = cpu;
	}
}

static int wait_for_release(ktime_t patience)
{
	DEFINE_NBQ_X(lock);
	int ret;

	nbq_X_lock(&lock);
	held_by_cpu_0 = &lock;
	shim_cpu = 1;
	polls = 0;
	shim_hook = release_during_the_wait;
	ret = nbq_X_lock_timeout(&lock, patience);
	shim_hook = NULL;
	EXPECT(polls == 1000);
	if (!ret)
		nbq_X_unlock(&lock);
	end(&lock);
	shim_cpu = 0;
	return ret;
}

static void waiter_acquires_when_holder_releases(void)
{
	start_clock(0, 1);
	EXPECT(wait_for_release(100000) == 0);
	EXPECT(shim_event("acquired_handoff") == 1);
	EXPECT(shim_event("nodes_reclaimed") == HOLDS_NODE + NODES_KEPT);
	EXPECT(shim_event("nodes_allocated") == 1 + HOLDS_NODE);
}

static struct nbq_X *held, *wanted;

static void check_contended(enum shim_op op, const void *address)
{
	count_polls(op, address);
	if (op != SHIM_OP_RELAX || polls != 100)
		return;
	EXPECT(!nbq_X_is_contended(held));
	EXPECT(nbq_X_is_contended(wanted));
}

/* CPU 1 holds a lock, and waits for that of CPU 0. */
static void holder_that_waits_elsewhere_is_no_contention(void)
{
	DEFINE_NBQ_X(first);
	DEFINE_NBQ_X(second);

	held = &first;
	wanted = &second;
	start_clock(0, 1);
	nbq_X_lock(wanted);
	shim_cpu = 1;
	nbq_X_lock(held);
	polls = 0;
	shim_hook = check_contended;
	EXPECT(nbq_X_lock_timeout(wanted, 1000) == -ETIMEDOUT);
	shim_hook = NULL;
	EXPECT(polls >= 100);
	nbq_X_unlock(held);
	shim_cpu = 0;
	nbq_X_unlock(wanted);
	end(held);
	end(wanted);
}

static void patience_past_ktime_max_never_ends(void)
{
	start_clock(KTIME_MAX / 2, 1);
	EXPECT(wait_for_release(KTIME_MAX - 1) == 0);
	start_clock(KTIME_MAX / 2, 1);
	EXPECT(wait_for_release(KTIME_MAX) == 0);
	EXPECT(clock_reads == (1000 - POLLS_BEFORE_QUEUE) / POLLS_PER_TICK + OWN_READS);
}

#if REPORTS_MISUSE
static void unlock_of_free_lock_is_reported(void)
{
	DEFINE_NBQ_X(lock);

	test_expect_warnings(2);
	nbq_X_unlock(&lock);
	EXPECT(shim_reported == NBQ_REPORT_NOT_HELD);
	nbq_X_unlock(&lock);
	EXPECT(shim_reported == NBQ_REPORT_NOT_HELD);
	EXPECT(shim_preempt_off == 0);
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
	end(&lock);
}

static void unlock_on_another_cpu_is_reported(void)
{
	DEFINE_NBQ_X(lock);

	test_expect_warnings(2);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	nbq_X_unlock(&lock);
	EXPECT(shim_reported == NBQ_REPORT_NOT_OWNER);
	nbq_X_unlock(&lock);
	EXPECT(shim_preempt_off == 1);
	EXPECT(nbq_X_is_locked(&lock));
	EXPECT(!nbq_X_trylock(&lock));
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	EXPECT(!nbq_X_is_locked(&lock));
	end(&lock);
}

/* CPU 0 holds another lock, and so does the holder: one that it acquired later. */
static void report_names_the_holder(void)
{
	DEFINE_NBQ_X(lock);
	DEFINE_NBQ_X(later);
	DEFINE_NBQ_X(elsewhere);
	unsigned int holder;

	test_expect_warnings(2);
	nbq_X_lock(&elsewhere);
	shim_cpu = 2;
	shim_level = 1;
	holder = shim_context();
	nbq_X_lock(&lock);
	nbq_X_lock(&later);

	shim_cpu = 1;
	shim_level = 0;
	nbq_X_unlock(&lock);
	EXPECT(shim_reported == NBQ_REPORT_NOT_OWNER);
	EXPECT(shim_reported_holder == holder);
	EXPECT(nbq_X_destroy(&lock) == -EBUSY);
	EXPECT(shim_reported == NBQ_REPORT_IN_USE);
	EXPECT(shim_reported_holder == holder);

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
#endif

/* Which of four locks is the next to be released, in the order of this number of 24. */
static unsigned int pick(unsigned int *left, unsigned int number, unsigned int order)
{
	unsigned int place = order % number, out = left[place];

	left[place] = left[number - 1];
	return out;
}

/* Of all types, each in another: what a context holds, it may release in any order. */
static void nested_locks_are_released_in_any_order(void)
{
	unsigned int order;

	for (order = 0; order < 24; order++) {
		unsigned int left[] = { 0, 1, 2, 3 }, number, rest = order;
		DEFINE_NBQ_CLH(clh);
		DEFINE_NBQ_MCS(mcs);
		DEFINE_NBQ_SWAP(swap);
		DEFINE_NBQ_X(lock);

		nbq_clh_lock(&clh);
		nbq_mcs_lock(&mcs);
		nbq_swap_lock(&swap);
		nbq_X_lock(&lock);
		for (number = 4; number; rest /= number--) {
			bool held[4] = { };
			unsigned int i, out = pick(left, number, rest);

			for (i = 0; i < number - 1; i++)
				held[left[i]] = true;
			if (out == 0)
				nbq_clh_unlock(&clh);
			else if (out == 1)
				nbq_mcs_unlock(&mcs);
			else if (out == 2)
				nbq_swap_unlock(&swap);
			else
				nbq_X_unlock(&lock);
			EXPECT(nbq_clh_is_locked(&clh) == held[0]);
			EXPECT(nbq_mcs_is_locked(&mcs) == held[1]);
			EXPECT(nbq_swap_is_locked(&swap) == held[2]);
			EXPECT(nbq_X_is_locked(&lock) == held[3]);
			EXPECT(shim_preempt_off == (int)number - 1);
		}
		EXPECT(nbq_clh_destroy(&clh) == 0);
		EXPECT(nbq_mcs_destroy(&mcs) == 0);
		EXPECT(nbq_swap_destroy(&swap) == 0);
		end(&lock);
	}
}

static void destroy_of_held_lock_is_reported(void)
{
	DEFINE_NBQ_X(lock);

	EXPECT(nbq_X_destroy(&lock) == 0);
	test_expect_warnings(2);
	nbq_X_lock(&lock);
	EXPECT(nbq_X_destroy(&lock) == -EBUSY);
	EXPECT(shim_reported == NBQ_REPORT_IN_USE && shim_reported_holder == shim_context());
	EXPECT(nbq_X_destroy(&lock) == -EBUSY);
	EXPECT(nbq_X_is_locked(&lock));
	nbq_X_unlock(&lock);
	end(&lock);
}

#if HOLDS_NODE
static void empty_pool_is_enomem_at_the_deadline(void)
{
	DEFINE_NBQ_X(first);
	DEFINE_NBQ_X(second);
	DEFINE_NBQ_X(third);

	test_pools(2, 2);
	nbq_X_lock(&first);
	nbq_X_lock(&second);
	start_clock(0, 100);
	polls = 0;
	shim_hook = count_polls;
	EXPECT(nbq_X_lock_timeout(&third, 1000) == -ENOMEM);
	shim_hook = NULL;
	EXPECT(clock_reads == 11);
	/* A search may take long: the clock is read between any two. */
	EXPECT(polls == 10);
	/* Rule 10, whatever the reason */
	EXPECT(nbq_X_lock_timeout(&third, 0) == -EBUSY);
	EXPECT(!nbq_X_trylock(&third));
	EXPECT(!third.tail);
	EXPECT(shim_preempt_off == 2);
	EXPECT(shim_event("exhaustions") == 3);
	EXPECT(shim_event("failed_tries") == 2);
	EXPECT(shim_event("timeouts") == 0);
	EXPECT(shim_growth_requests > 0);

	nbq_X_unlock(&first);
	end(&first);
	EXPECT(nbq_X_trylock(&third));
	nbq_X_unlock(&third);
	nbq_X_unlock(&second);
	end(&second);
	end(&third);
	EXPECT(shim_event("pool_high_water") == 2);
}

static void grow_during_the_wait(enum shim_op op, const void *address)
{
	count_polls(op, address);
	if (polls == 50) {
		shim_hook = NULL;
		shim_pools_grow();
	}
}

static void waiter_for_a_node_gets_one_from_growth(void)
{
	DEFINE_NBQ_X(first);
	DEFINE_NBQ_X(second);

	test_pools(1, 2);
	start_clock(0, 1);
	nbq_X_lock(&first);
	polls = 0;
	shim_hook = grow_during_the_wait;
	EXPECT(nbq_X_lock_timeout(&second, 1000) == 0);
	shim_hook = NULL;
	EXPECT(polls == 50);
	EXPECT(shim_event("exhaustions") == 1);
	EXPECT(shim_event("growths") == 1);
	nbq_X_unlock(&second);
	nbq_X_unlock(&first);
	end(&second);
	end(&first);
}

static void pool_requests_growth_in_time(void)
{
	struct nbq_X lock[16] = { };
	unsigned int i;

	test_pools(4, 16);
	for (i = 0; i < 16; i++) {
		EXPECT(nbq_X_trylock(&lock[i]));
		shim_pools_grow();
	}
	EXPECT(shim_event("exhaustions") == 0);
	EXPECT(shim_event("growths") == 2);
	EXPECT(shim_event("pool_high_water") == 16);
	for (i = 0; i < 16; i++) {
		nbq_X_unlock(&lock[i]);
		end(&lock[i]);
	}
}

static void each_context_level_has_its_own_nodes(void)
{
	struct nbq_X lock[4] = { };
	DEFINE_NBQ_X(one_too_many);

	test_pools(1, 1);
	for (shim_level = 0; shim_level < 4; shim_level++) {
		EXPECT(nbq_X_trylock(&lock[shim_level]));
		EXPECT(!nbq_X_trylock(&one_too_many));
	}
	for (shim_level = 4; shim_level--;) {
		nbq_X_unlock(&lock[shim_level]);
		end(&lock[shim_level]);
	}
	shim_level = 0;
}

/* The interrupt below: before which access, and what it does there. */
static unsigned int accesses_left;
static bool nested_keeps_its_lock;
static struct nbq_X nested_lock;

/* One that keeps its lock does not interrupt an update of the list of held locks. */
static bool is_in_list(const void *address)
{
	struct shim_place place = shim_place_of(address);
	const char *name = shim_word_name(&place);

	return name && (!strcmp(name, "held") || !strcmp(name, "lock") ||
			!strcmp(name, "below"));
}

static void interrupt(enum shim_op op, const void *address)
{
	(void)op;
	if (nested_keeps_its_lock && is_in_list(address))
		return;
	if (accesses_left-- == 0) {
		shim_hook = NULL;
		EXPECT(nbq_X_trylock(&nested_lock));
		if (!nested_keeps_its_lock)
			nbq_X_unlock(&nested_lock);
	}
}

/*
 * An interrupt before the n-th access of an acquisition allocates from the same pool, for each
 * n.
 */
static void nested_alloc_never_gets_the_same_node(void)
{
	unsigned int n;
	bool fired = true;

	for (n = 0; fired; n++) {
		DEFINE_NBQ_X(outer);
		DEFINE_NBQ_X(later);

		nested_keeps_its_lock = n % 2;
		accesses_left = n / 2;
		shim_hook = interrupt;
		nbq_X_lock(&outer);
		fired = !shim_hook;
		shim_hook = NULL;
		nbq_X_lock(&later);
		EXPECT(outer.tail != later.tail);
		EXPECT(outer.tail != nested_lock.tail);
		nbq_X_unlock(&later);
		nbq_X_unlock(&outer);
		if (nested_keeps_its_lock && fired)
			nbq_X_unlock(&nested_lock);
		end(&later);
		end(&outer);
		end(&nested_lock);
	}
	EXPECT(n > 8);
}
#else
/* Locks of another type, which keep their nodes: all types have the same pools. */
static struct nbq_clh occupants[2];
static struct nbq_clh many_occupants[14];

static void occupy_nodes(unsigned int number)
{
	while (number--)
		nbq_clh_lock(&occupants[number]);
}

static void free_nodes(unsigned int number)
{
	while (number--) {
		nbq_clh_unlock(&occupants[number]);
		EXPECT(nbq_clh_destroy(&occupants[number]) == 0);
	}
}

static void lock_records_the_holder(void)
{
	DEFINE_NBQ_X(lock);

	shim_cpu = 5;
	for (shim_level = 0; shim_level < 4; shim_level++) {
		nbq_X_lock(&lock);
		EXPECT(is_held_by_this_context(&lock));
		nbq_X_unlock(&lock);
		EXPECT(nbq_X_trylock(&lock));
		EXPECT(is_held_by_this_context(&lock));
		nbq_X_unlock(&lock);
		EXPECT(nbq_X_lock_timeout(&lock, 0) == 0);
		EXPECT(is_held_by_this_context(&lock));
		nbq_X_unlock(&lock);
		EXPECT(nbq_X_lock_until(&lock, 0) == 0);
		EXPECT(is_held_by_this_context(&lock));
		nbq_X_unlock(&lock);
		EXPECT(!is_held_by_this_context(&lock));
	}
	shim_level = 0;
	end(&lock);
}

static void free_lock_needs_no_node(void)
{
	DEFINE_NBQ_X(lock);

	test_pools(2, 2);
	occupy_nodes(2);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == 0);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
	nbq_X_lock(&lock);
	nbq_X_unlock(&lock);
	EXPECT(shim_event("nodes_allocated") == 2);
	free_nodes(2);
	end(&lock);
}

static unsigned int tried_nodes;		/* nodes that were tried since a clock read */
static unsigned int most_tried_nodes;

static void count_tried_nodes(enum shim_op op, const void *address)
{
	if (clock_reads)
		tried_nodes = 0;
	clock_reads = 0;
	tried_nodes += op == SHIM_OP_LOAD && shim_node_of_free_seq(address);
	if (tried_nodes > most_tried_nodes)
		most_tried_nodes = tried_nodes;
}

/* Of the bound on lateness: one search of the pool, and then the clock. */
static void pool_is_searched_once_a_clock_read(void)
{
	DEFINE_NBQ_X(lock);
	unsigned int i;

	test_pools(14, 16);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	for (i = 0; i < 14; i++)
		nbq_clh_lock(&many_occupants[i]);
	shim_pools_grow();
	start_clock(0, 10);
	most_tried_nodes = 0;
	shim_hook = count_tried_nodes;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == ERROR_WITHOUT_NODE);
	shim_hook = NULL;
	EXPECT(most_tried_nodes >= 14 && most_tried_nodes <= 15);
	for (i = 0; i < 14; i++) {
		nbq_clh_unlock(&many_occupants[i]);
		EXPECT(nbq_clh_destroy(&many_occupants[i]) == 0);
	}
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}

static void waiter_without_node_times_out_at_its_deadline(void)
{
	unsigned int requested;
	DEFINE_NBQ_X(lock);

	test_pools(2, 2);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	occupy_nodes(2);
	requested = shim_growth_requests;
	start_clock(7777, 100);
	polls = 0;
	shim_hook = count_polls;
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == ERROR_WITHOUT_NODE);
	shim_hook = NULL;
	EXPECT(clock_reads == 11);
	EXPECT(polls == 9 * 8);
	EXPECT(shim_event("exhaustions") == 1);
	EXPECT(shim_event("timeouts") == (ERROR_WITHOUT_NODE == -ETIMEDOUT));
	/* Growth would add no node that it could use. */
	EXPECT(shim_growth_requests == requested);
	EXPECT(shim_preempt_off == 3);
	EXPECT(!lock.tail);
	free_nodes(2);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}

/* After a while, CPU 0 unlocks; the waiter of CPU 1 has no queue node. */
static void release_without_a_queue(enum shim_op op, const void *address)
{
	count_polls(op, address);
	if (op != SHIM_OP_RELAX)
		return;
	shim_hook = NULL;
	if (polls == 50)
		shim_pools_grow();
	if (polls == 200) {
		unsigned int cpu = shim_cpu;

		EXPECT(!held_by_cpu_0->tail);
		EXPECT(!nbq_X_is_contended(held_by_cpu_0));
		shim_cpu = 0;
		nbq_X_unlock(held_by_cpu_0);
		shim_cpu = cpu;
	}
	shim_hook = release_without_a_queue;
}

/* The nodes by which a pool grows have no number: they are of no use here. */
static void waiter_without_encodable_node_stays_newcomer(void)
{
	DEFINE_NBQ_X(lock);

	test_pools(2, 4);
	nbq_X_lock(&lock);
	held_by_cpu_0 = &lock;
	shim_cpu = 1;
	occupy_nodes(2);
	start_clock(0, 1);
	polls = 0;
	shim_hook = release_without_a_queue;
	EXPECT(nbq_X_lock_timeout(&lock, 100000) == 0);
	shim_hook = NULL;
	EXPECT(polls == 200);
	EXPECT(shim_event("growths") == 1);
	EXPECT(shim_event("acquired_handoff") == 1);
	EXPECT(shim_event("nodes_allocated") == 2);
	EXPECT(shim_nodes_in_use() == 2);
	nbq_X_unlock(&lock);
	free_nodes(2);
	shim_cpu = 0;
	end(&lock);
}

/* As release_during_the_wait(); checks the index of the waiter's node. */
static void check_index_and_release(enum shim_op op, const void *address)
{
	if (polls == 999 && held_by_cpu_0)
		EXPECT(held_by_cpu_0->tail >> 16 < 2);
	release_during_the_wait(op, address);
}

/* The hint is not encodable; other nodes are. */
static void encodable_node_is_found_behind_hint(void)
{
	DEFINE_NBQ_X(lock);
	struct nbq_clh last = { };

	test_pools(2, 4);
	nbq_X_lock(&lock);
	held_by_cpu_0 = &lock;
	shim_cpu = 1;
	occupy_nodes(2);
	shim_pools_grow();
	nbq_clh_lock(&last);
	nbq_clh_unlock(&last);
	EXPECT(nbq_clh_destroy(&last) == 0);
	free_nodes(2);
	polls = 0;
	/* It is contended by then: the waiter has queued. */
	shim_hook = check_index_and_release;
	EXPECT(nbq_X_lock_timeout(&lock, KTIME_MAX) == 0);
	shim_hook = NULL;
	EXPECT(polls == 1000);
	EXPECT(shim_event("growths") == 1);
	EXPECT(shim_event("exhaustions") == 0);
	nbq_X_unlock(&lock);
	shim_cpu = 0;
	end(&lock);
}

/* Nor is there a node before the pools are set up. */
static void waiter_without_pool_stays_newcomer(void)
{
	DEFINE_NBQ_X(lock);

	test_pools(0, 0);
	nbq_X_lock(&lock);
	shim_cpu = 1;
	start_clock(0, 100);
	EXPECT(nbq_X_lock_timeout(&lock, 1000) == ERROR_WITHOUT_NODE);
	EXPECT(!lock.tail);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end(&lock);
}
#endif

static const struct test_case cases[] = {
	TEST_CASE(free_lock_reads_no_clock),
	TEST_CASE(init_resets_the_lock),
	TEST_CASE(attempt_without_patience_does_not_wait),
	TEST_CASE(failing_trylock_only_reads),
	TEST_CASE(writes_to_devices_are_ordered_before_each_release),
	TEST_CASE(traced_wait_begins_before_enqueue),
	TEST_CASE(traced_contention_ends_without_a_wait),
	TEST_CASE(deadlock_of_untimed_attempt_is_reported_once),
	TEST_CASE(pool_is_set_up_by_one_context),
	TEST_CASE(locks_work_before_the_pools_are_filled),
	TEST_CASE(waiter_times_out_at_its_deadline),
	TEST_CASE(waiter_acquires_when_holder_releases),
	TEST_CASE(holder_that_waits_elsewhere_is_no_contention),
	TEST_CASE(patience_past_ktime_max_never_ends),
#if REPORTS_MISUSE
	TEST_CASE(unlock_of_free_lock_is_reported),
	TEST_CASE(unlock_on_another_cpu_is_reported),
	TEST_CASE(report_names_the_holder),
#endif
	TEST_CASE(nested_locks_are_released_in_any_order),
	TEST_CASE(destroy_of_held_lock_is_reported),
#if HOLDS_NODE && !NODES_KEPT
	TEST_CASE(empty_pool_is_traced_and_reported),
#endif
#if NODES_KEPT
	TEST_CASE(pool_whose_nodes_locks_at_rest_keep_is_reported),
#endif
#if HOLDS_NODE
	TEST_CASE(empty_pool_is_enomem_at_the_deadline),
	TEST_CASE(waiter_for_a_node_gets_one_from_growth),
	TEST_CASE(pool_requests_growth_in_time),
	TEST_CASE(each_context_level_has_its_own_nodes),
	TEST_CASE(nested_alloc_never_gets_the_same_node),
#else
	TEST_CASE(lock_records_the_holder),
	TEST_CASE(free_lock_needs_no_node),
	TEST_CASE(waiter_without_encodable_node_stays_newcomer),
	TEST_CASE(waiter_without_pool_stays_newcomer),
	TEST_CASE(pool_is_searched_once_a_clock_read),
	TEST_CASE(waiter_without_node_times_out_at_its_deadline),
	TEST_CASE(encodable_node_is_found_behind_hint),
#endif
};

int main(void)
{
	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 2);
}
