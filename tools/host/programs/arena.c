// SPDX-License-Identifier: GPL-2.0
/*
 * nbq_arena_lock: contexts that give up at each position of its queue; what it does without a node,
 * above a holder or waiter of its CPU, with words that a stray write has changed, and where the
 * arena has no memory.
 */
#include <string.h>

#include <linux/errno.h>

#include "coro.h"
#include "test.h"

#define PATIENCE	1000
#define WAITERS		4U
#define NODES		(NBQ_ARENA_NODES - 1)
/* Of the CPU of this number. */
#define NODE(cpu, i)	((cpu) * NBQ_ARENA_NODES + (i))

static struct nbq_X lock, other;
static unsigned int served[SHIM_CPUS];
static unsigned int served_number;

static void note_order(struct coro *coro)
{
	if (EXPECT(served_number < SHIM_CPUS))
		served[served_number++] = coro->cpu;
}

static void begin(void)
{
	coros_begin(&lock, 1, NODES);
	other = (struct nbq_X){ };
	test_clock(0, 0);
	served_number = 0;
}

/* Nobody uses the lock: the next acquisition is served, and frees all nodes. */
static void end(void)
{
	EXPECT(lock.owner == 0);
	EXPECT(nbq_X_destroy(&lock) == 0);
	EXPECT(lock.tail == 0);
	EXPECT(shim_nodes_in_use() == 0);
}

static void a_free_lock_takes_no_node(void)
{
	begin();
	shim_cpu = 3;
	EXPECT(nbq_X_lock_timeout(&lock, PATIENCE) == 0);
	EXPECT(shim_preempt_off == 1);
	EXPECT(lock.owner == 3 + 1 && lock.tail == 0);
	EXPECT(shim_nodes_in_use() == 0);
	nbq_X_unlock(&lock);
	EXPECT(nbq_X_trylock(&lock));
	EXPECT(lock.owner == 3 + 1);
	nbq_X_unlock(&lock);
	shim_cpu = 0;
	end();
}

static void the_nodes_of_a_cpu_have_a_cache_line(void)
{
	EXPECT((unsigned long)nbq_arena_node_of(NODE(1, 0)) % 64 == 0);
	EXPECT((char *)nbq_arena_node_of(NODE(2, 0)) - (char *)nbq_arena_node_of(NODE(1, 0)) == 64);
}

static unsigned int polls;

static void count_polls(enum shim_op op, const void *address)
{
	polls += op == SHIM_OP_RELAX;
}

static void a_held_lock_is_busy_and_times_out(void)
{
	begin();
	nbq_X_lock_timeout(&lock, PATIENCE);
	shim_cpu = 1;
	EXPECT(!shim_arena_trylock(&lock));
	EXPECT(shim_arena_lock(&lock, 0) == -ETIMEDOUT);
	test_clock(0, PATIENCE / 4);
	polls = 0;
	shim_hook = count_polls;
	EXPECT(nbq_X_lock_timeout(&lock, PATIENCE) == -ETIMEDOUT);
	shim_hook = NULL;
	/* The clock is read at the start, and at each poll. */
	EXPECT(test_now == PATIENCE + test_clock_step);
	EXPECT(polls == 3);
	EXPECT(shim_preempt_off == 1);
	shim_cpu = 0;
	nbq_X_unlock(&lock);
	end();
}

static void start_waiter(unsigned int cpu, ktime_t patience)
{
	ENQUEUE(&lock, patience, cpu);
	coros[cpu].critical_section = note_order;
}

/* Of those behind a holder some time out, from the front or from the back. */
static void time_out_some(unsigned int leaving, bool from_back)
{
	unsigned int i, cpu, expected = 0;

	begin();
	coros_start_holder(0, &lock, NULL);
	for (cpu = 1; cpu <= WAITERS; cpu++)
		start_waiter(cpu, leaving >> cpu & 1 ? PATIENCE : KTIME_MAX);
	test_now = PATIENCE;
	for (i = 1; i <= WAITERS; i++) {
		cpu = from_back ? WAITERS + 1 - i : i;
		if (leaving >> cpu & 1)
			EXPECT_END(-ETIMEDOUT, cpu);
	}
	/* One more, behind what they have left. */
	start_waiter(WAITERS + 1, KTIME_MAX);
	EXPECT_END(0, 0);
	coros_finish(4 * WAITERS);
	for (cpu = 1; cpu <= WAITERS + 1; cpu++) {
		if (!(leaving >> cpu & 1))
			EXPECT(served[expected++] == cpu);
	}
	EXPECT(served_number == expected);
	EXPECT(lock.tail == 0 && shim_nodes_in_use() == 0);
	end();
}

static void timeouts_at_each_position_leave_the_queue_whole(void)
{
	unsigned int leaving;

	for (leaving = 0; leaving < 1U << (WAITERS + 1) && !test_has_failed(); leaving += 2) {
		time_out_some(leaving, false);
		time_out_some(leaving, true);
	}
	EXPECT(coro_most_steps_to_abandon == STEPS_TO_ABANDON);
	EXPECT(coro_most_steps_to_release == STEPS_TO_RELEASE);
}

/*
 * Behind a holder, all give up before any leaves, and these leave from the front on: the tail names
 * the last node but one, and each node that in front of it.
 */
static void leave_a_chain(void)
{
	unsigned int cpu;

	begin();
	coros_start_holder(0, &lock, NULL);
	for (cpu = 1; cpu <= WAITERS; cpu++)
		start_waiter(cpu, PATIENCE);
	test_now = PATIENCE;
	for (cpu = 1; cpu <= WAITERS; cpu++)
		EXPECT(coro_until_abandon(&coros[cpu]));
	for (cpu = 1; cpu <= WAITERS; cpu++)
		EXPECT_END(-ETIMEDOUT, cpu);
	EXPECT(lock.tail == NODE(WAITERS - 1, 1));
	EXPECT(shim_nodes_in_use() == WAITERS - 1);
	EXPECT_END(0, 0);
}

static void the_next_acquisition_frees_a_chain_of_nodes(void)
{
	leave_a_chain();
	EXPECT(try_as(&lock, PATIENCE, 6, 0) == 0);
	EXPECT(lock.tail == 0 && shim_nodes_in_use() == 0);
	end();
}

static void a_newcomer_queues_behind_waiters_of_a_free_lock(void)
{
	begin();
	coros_start_holder(0, &lock, NULL);
	start_waiter(1, KTIME_MAX);
	EXPECT_END(0, 0);
	start_waiter(2, KTIME_MAX);
	/* But one that does not wait. */
	shim_cpu = 3;
	EXPECT(nbq_X_trylock(&lock));
	nbq_X_unlock(&lock);
	shim_cpu = 0;
	coros_finish(4);
	EXPECT(served[0] == 1 && served[1] == 2);
	end();
}

static unsigned int loops_left;

static bool count_loops(void)
{
	return !loops_left || !--loops_left;
}

/* Each time one loop more. */
static void a_program_that_may_not_loop_any_more_leaves(void)
{
	unsigned int loops;
	int ret = -ETIMEDOUT;

	for (loops = 0; ret && loops < 16; loops++) {
		leave_a_chain();
		loops_left = loops + 1;
		shim_loop_is_over = count_loops;
		ret = try_as(&lock, KTIME_MAX, 6, 0);
		shim_loop_is_over = NULL;
		EXPECT(!ret || ret == -ETIMEDOUT);
		EXPECT(try_as(&lock, KTIME_MAX, 7, 0) == 0);
		end();
	}
	/* With none it does nothing; then: one to allocate; for each node; for the lock. */
	EXPECT(loops == 1 + 1 + (WAITERS - 1) + 1);
}

static void the_last_free_node_is_used(void)
{
	unsigned int i;

	begin();
	for (i = 1; i < NODES; i++)
		nbq_arena_node[NODE(1, i)] = NBQ_ARENA_DEQUEUED;
	coros_start_holder(0, &lock, NULL);
	start_waiter(1, KTIME_MAX);
	EXPECT(lock.tail == NODE(1, NODES));
	EXPECT_END(0, 0, 1);
	for (i = 1; i < NODES; i++)
		nbq_arena_node[NODE(1, i)] = NBQ_ARENA_FREE;
	end();
}

static void without_a_free_node_it_waits_in_no_queue(void)
{
	begin();
	shim_arena_start(0);
	coros_start_holder(0, &lock, NULL);
	coros_start(1, &lock, KTIME_MAX);
	coros_start(2, &lock, PATIENCE);
	EXPECT(coro_until_poll(&coros[1]) && coro_until_poll(&coros[2]));
	EXPECT(lock.tail == 0);
	test_now = PATIENCE;
	EXPECT_END(-ETIMEDOUT, 2);
	EXPECT_END(0, 0, 1);
	shim_arena_start(NODES);
	end();
}

static void above_the_holder_it_is_a_deadlock(void)
{
	unsigned int level;

	begin();
	nbq_X_lock_timeout(&lock, PATIENCE);
	for (level = 1; level <= CORO_NMI_LEVEL; level++)
		EXPECT(try_as(&lock, KTIME_MAX, 0, level) == -EDEADLK);
	EXPECT(shim_preempt_off == 1);
	/* Also where others wait. */
	start_waiter(1, KTIME_MAX);
	EXPECT(try_as(&lock, KTIME_MAX, 0, CORO_NMI_LEVEL) == -EDEADLK);
	nbq_X_unlock(&lock);
	EXPECT_END(0, 1);
	end();
}

static void above_a_waiter_it_waits_in_no_queue(void)
{
	begin();
	coros_start_holder(0, &lock, NULL);
	start_waiter(1, KTIME_MAX);
	coros_start(CORO_ABOVE(1), &lock, KTIME_MAX);
	EXPECT(coro_until_poll(&coros[CORO_ABOVE(1)]));
	EXPECT(lock.tail == NODE(1, 1));
	EXPECT_END(0, 0, CORO_ABOVE(1), 1);
	end();
}

/*
 * A task gives up, and waits again with its CPU's second node. The first one, which its successor
 * has skipped, is free.
 */
static void wait_again(struct nbq_X *at, unsigned int cpu, unsigned int holder, unsigned int succ)
{
	coros_start_holder(holder, at, NULL);
	ENQUEUE(at, PATIENCE, cpu);
	ENQUEUE(at, KTIME_MAX, succ);
	test_now += PATIENCE;
	EXPECT_END(-ETIMEDOUT, cpu);
	ENQUEUE(at, KTIME_MAX, cpu);
	EXPECT(at->tail == NODE(cpu, 2));
	EXPECT(coro_until_poll(&coros[succ]));
	EXPECT(nbq_arena_node[NODE(cpu, 1)] == NBQ_ARENA_FREE);
}

static void above_a_second_attempt_it_waits_in_no_queue(void)
{
	begin();
	wait_again(&lock, 1, 0, 2);
	coros_start(CORO_ABOVE(1), &lock, KTIME_MAX);
	EXPECT(coro_until_poll(&coros[CORO_ABOVE(1)]));
	EXPECT(lock.tail == NODE(1, 2));
	EXPECT_END(0, 0, 2, CORO_ABOVE(1), 1);
	end();
}

/* Of each queue the head is below an interrupt that waits for the other lock. */
static void two_free_locks_do_not_block_each_other(void)
{
	begin();
	wait_again(&lock, 0, 2, 3);
	wait_again(&other, 1, 4, 5);
	coros_start(CORO_ABOVE(0), &other, KTIME_MAX);
	coros_start(CORO_ABOVE(1), &lock, KTIME_MAX);
	EXPECT(coro_until_poll(&coros[CORO_ABOVE(0)]));
	EXPECT(coro_until_poll(&coros[CORO_ABOVE(1)]));
	EXPECT_END(0, 2, 3, 4, 5);
	EXPECT(lock.owner == 0 && other.owner == 0);
	EXPECT_END(0, CORO_ABOVE(0), CORO_ABOVE(1), 0, 1);
	EXPECT(nbq_X_destroy(&other) == 0);
	end();
}

static void interrupts_are_as_before_after_a_failure_and_a_release(void)
{
	unsigned long flags = 0;

	begin();
	EXPECT(nbq_arena_lock_irqsave(&lock, PATIENCE, flags) == 0);
	EXPECT(shim_irqs_off == 1 && shim_preempt_off == 1);
	nbq_arena_unlock_irqrestore(&lock, flags);
	EXPECT(shim_irqs_off == 0 && shim_preempt_off == 0);
	coros_start_holder(1, &lock, NULL);
	EXPECT(nbq_arena_lock_irqsave(&lock, 0, flags) == -ETIMEDOUT);
	EXPECT(shim_irqs_off == 0 && shim_preempt_off == 0);
	EXPECT_END(0, 1);
	end();
}

/* One word, in a free lock; then attempts as those of every CPU. */
static void a_stray_tail_is_gone_after_an_attempt(void)
{
	static const u32 words[] = {
		1, NODE(0, 1), NODE(0, 2), NODE(1, 0), NODE(1, 1), NODE(2, NODES), 0x1234,
		0x7fffffff, 0xdeadbeef, ~0U, NBQ_ARENA_WAITS, NBQ_ARENA_DEQUEUED,
		NBQ_ARENA_CPUS * NBQ_ARENA_NODES, NBQ_ARENA_CPUS * NBQ_ARENA_NODES + NODE(0, 1),
	};
	unsigned int i, cpu;

	for (i = 0; i < sizeof(words) / sizeof(words[0]) && !test_has_failed(); i++) {
		for (cpu = 0; cpu < 3; cpu++) {
			begin();
			test_clock(0, PATIENCE / 8);
			lock.tail = words[i];
			EXPECT(try_as(&lock, PATIENCE, cpu, 0) == 0);
			EXPECT(lock.tail == 0 && shim_nodes_in_use() == 0);
			lock.tail = words[i];
			EXPECT(try_as(&lock, 1, cpu, 0) == -ETIMEDOUT || lock.tail == 0);
			EXPECT(try_as(&lock, PATIENCE, cpu, 0) == 0);
			end();
		}
	}
}

/*
 * The tail names the node that a newcomer is about to enqueue: it is behind another, which is
 * behind it. As soon as one has given up, the other one is served.
 */
static void waiters_that_a_stray_tail_has_put_behind_each_other_end(void)
{
	begin();
	lock.tail = NODE(2, 1);
	coros_start(2, &lock, KTIME_MAX);
	EXPECT(coro_until(&coros[2], SHIM_OP_XCHG, &lock.tail));
	start_waiter(1, PATIENCE);
	EXPECT(coro_until_poll(&coros[2]));
	EXPECT(coro_until_poll(&coros[1]));
	test_now = PATIENCE;
	EXPECT_END(-ETIMEDOUT, 1);
	EXPECT_END(0, 2);
	end();
}

static void a_deadline_ends_a_walk_over_abandoned_nodes(void)
{
	unsigned int left;

	leave_a_chain();
	for (left = WAITERS - 2; left && !test_has_failed(); left--) {
		/* The first read is that of the start, the second one after a poll. */
		test_clock(0, PATIENCE);
		EXPECT(try_as(&lock, PATIENCE, 6, 0) == -ETIMEDOUT);
		EXPECT(test_now == 2 * PATIENCE);
		EXPECT(shim_nodes_in_use() == left);
	}
	test_clock(0, 0);
	EXPECT(try_as(&lock, PATIENCE, 6, 0) == 0);
	end();
}

/* Which an arena does not have: what is stored there is gone. */
static void forget_the_lock(enum shim_op op, const void *address)
{
	lock = (struct nbq_X){ };
}

static void forget_the_lock_in_the_end(enum shim_op op, const void *address)
{
	polls += op == SHIM_OP_RELAX;
	if (polls > 2)
		forget_the_lock(op, address);
}

static void a_lock_without_memory_is_not_acquired(void)
{
	begin();
	shim_hook = forget_the_lock;
	EXPECT(!shim_arena_trylock(&lock));
	EXPECT(shim_arena_lock(&lock, PATIENCE) == -EFAULT);
	EXPECT(shim_arena_lock(&lock, 0) == -EFAULT);
	EXPECT(shim_preempt_off == 0 && shim_nodes_in_use() == 0);
	/* Nor by the head of its queue, when its page is taken away. */
	lock.owner = SHIM_CPUS;
	polls = 0;
	shim_hook = forget_the_lock_in_the_end;
	EXPECT(shim_arena_lock(&lock, PATIENCE) == -EFAULT);
	shim_hook = NULL;
	EXPECT(shim_preempt_off == 0);
	begin();
}

static void stay_inside(enum shim_op op, const void *address)
{
	EXPECT(op == SHIM_OP_RELAX || shim_is_arena_node(address) ||
	       (size_t)((const char *)address - (const char *)&lock) < sizeof(lock));
}

/* All operations of a CPU, with these words. The node is one that the tail may name. */
static void use_corrupted(u32 owner, u32 tail, u32 node)
{
	int ret;

	begin();
	test_clock(0, PATIENCE / 4);
	lock = (struct nbq_X){ .owner = owner, .tail = tail };
	*nbq_arena_node_of(tail) = node;
	shim_hook = stay_inside;
	ret = nbq_X_lock_timeout(&lock, PATIENCE);
	EXPECT(!ret || ret == -ETIMEDOUT || ret == -EDEADLK);
	if (!ret)
		nbq_X_unlock(&lock);
	if (nbq_X_trylock(&lock))
		nbq_X_unlock(&lock);
	shim_hook = NULL;
}

static void a_stray_write_leads_nowhere_else(void)
{
	static const u32 words[] = {
		0, 1, 2, NODE(0, 1), NODE(0, 2), NODE(1, 0), NODE(1, 1), 0x1234, 0x7fffffff,
		NBQ_ARENA_DEQUEUED, NBQ_ARENA_DEQUEUED | 1, NBQ_ARENA_DEQUEUED | NODE(1, 1),
		0xdeadbeef, ~0U,
	};
	const unsigned int number = sizeof(words) / sizeof(words[0]);
	unsigned int i;

	for (i = 0; i < number * number * number && !test_has_failed(); i++)
		use_corrupted(words[i % number], words[i / number % number],
			      words[i / number / number]);
	begin();
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(a_free_lock_takes_no_node),
		TEST_CASE(the_nodes_of_a_cpu_have_a_cache_line),
		TEST_CASE(a_held_lock_is_busy_and_times_out),
		TEST_CASE(timeouts_at_each_position_leave_the_queue_whole),
		TEST_CASE(the_next_acquisition_frees_a_chain_of_nodes),
		TEST_CASE(a_newcomer_queues_behind_waiters_of_a_free_lock),
		TEST_CASE(a_program_that_may_not_loop_any_more_leaves),
		TEST_CASE(the_last_free_node_is_used),
		TEST_CASE(without_a_free_node_it_waits_in_no_queue),
		TEST_CASE(above_the_holder_it_is_a_deadlock),
		TEST_CASE(above_a_waiter_it_waits_in_no_queue),
		TEST_CASE(above_a_second_attempt_it_waits_in_no_queue),
		TEST_CASE(two_free_locks_do_not_block_each_other),
		TEST_CASE(a_stray_tail_is_gone_after_an_attempt),
		TEST_CASE(waiters_that_a_stray_tail_has_put_behind_each_other_end),
		TEST_CASE(a_deadline_ends_a_walk_over_abandoned_nodes),
		TEST_CASE(a_lock_without_memory_is_not_acquired),
		TEST_CASE(interrupts_are_as_before_after_a_failure_and_a_release),
		TEST_CASE(a_stray_write_leads_nowhere_else),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]));
}
