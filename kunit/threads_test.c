// SPDX-License-Identifier: GPL-2.0
/*
 * A few cases with real threads on several CPUs, for every lock type, bounded
 * by a number of acquisitions, that end in exact counts. Long runs under every kind of load
 * are the stress driver's.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

#define THREADS_MAX	4

/**
 * struct thread - one thread, bound to a CPU
 * @task: the thread
 * @team: those it works with
 * @run: what it does
 * @index: its number in the team, from 0
 * @cpu: where it is bound
 * @finished: when @run has returned
 * @acquisitions: how often it got the lock
 * @timeouts: how often its patience was over
 * @failed_tries: how often it found the lock held and had none
 * @deadlocks: how often it would have waited for its own CPU
 * @others: how often an attempt returned something else
 */
struct thread {
	struct task_struct *task;
	struct team *team;
	void (*run)(struct thread *thread);
	unsigned int index;
	unsigned int cpu;
	struct completion finished;
	unsigned long acquisitions;
	unsigned long timeouts;
	unsigned long failed_tries;
	unsigned long deadlocks;
	unsigned long others;
};

/**
 * struct team - the threads of a case and what they share
 * @row: the type of the lock
 * @lock: the lock
 * @counter: protected by @lock alone
 * @owner: 1 while a thread is in the critical section
 * @violations: how often two were
 * @start: opens when all threads are there
 * @threads: the threads
 * @size: how many
 * @round: the round that a pair is in
 * @released: the last round in which the first of a pair has returned from its
 *	unlock
 * @buffer: memory in which a pair makes its locks
 * @buffer_size: how much
 * @broken: how often that memory was written to after the lock's life, or its
 *	end was refused
 */
struct team {
	const struct nbq_row *row;
	void *lock;
	unsigned long counter;
	unsigned int owner;
	unsigned int violations;
	struct completion start;
	struct thread threads[THREADS_MAX];
	unsigned int size;
	unsigned long round;
	unsigned long released;
	void *buffer;
	size_t buffer_size;
	unsigned int broken;
};

static int thread_main(void *arg)
{
	struct thread *thread = arg;

	wait_for_completion(&thread->team->start);
	thread->run(thread);
	complete(&thread->finished);
	return 0;
}

static struct team *new_team(struct kunit *test)
{
	struct team *team = kunit_kzalloc(test, sizeof(*team), GFP_KERNEL);
	struct nbq_bench *bench = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, team);
	team->row = bench->row;
	team->lock = bench->lock;
	init_completion(&team->start);
	return team;
}

/* Add a thread on @cpu, which waits for the start. */
static void add_thread(struct kunit *test, struct team *team, unsigned int cpu,
		       void (*run)(struct thread *thread))
{
	struct thread *thread = &team->threads[team->size];

	thread->team = team;
	thread->run = run;
	thread->index = team->size;
	thread->cpu = cpu;
	init_completion(&thread->finished);
	thread->task = kthread_create(thread_main, thread, "nbq_kunit/%u", cpu);
	if (IS_ERR(thread->task)) {
		KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(thread->task));
		return;
	}
	get_task_struct(thread->task);
	kthread_bind(thread->task, cpu);
	wake_up_process(thread->task);
	team->size++;
}

/* A thread on each CPU, to THREADS_MAX; with one CPU only, skip the case. */
static void fill_team(struct kunit *test, struct team *team,
		      void (*run)(struct thread *thread))
{
	unsigned int cpu;

	nbq_other_cpu(test);
	for_each_online_cpu(cpu) {
		if (team->size == THREADS_MAX)
			break;
		add_thread(test, team, cpu, run);
	}
}

/* Let all threads run to their end. Their code is left when this returns. */
static void run_team(struct team *team)
{
	unsigned int i;

	complete_all(&team->start);
	for (i = 0; i < team->size; i++) {
		wait_for_completion(&team->threads[i].finished);
		kthread_stop(team->threads[i].task);
		put_task_struct(team->threads[i].task);
	}
}

static unsigned long sum_acquisitions(const struct team *team)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < team->size; i++)
		sum += team->threads[i].acquisitions;
	return sum;
}

static unsigned long sum_timeouts(const struct team *team)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < team->size; i++)
		sum += team->threads[i].timeouts;
	return sum;
}

static unsigned long sum_failed_tries(const struct team *team)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < team->size; i++)
		sum += team->threads[i].failed_tries;
	return sum;
}

static unsigned long sum_deadlocks(const struct team *team)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < team->size; i++)
		sum += team->threads[i].deadlocks;
	return sum;
}

static unsigned long sum_others(const struct team *team)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < team->size; i++)
		sum += team->threads[i].others;
	return sum;
}

/* In the critical section: count, slowly, without any atomic operation. */
static void count_one(struct team *team)
{
	unsigned long counter;

	if (READ_ONCE(team->owner))
		WRITE_ONCE(team->violations, team->violations + 1);
	WRITE_ONCE(team->owner, 1);
	counter = READ_ONCE(team->counter);
	cpu_relax();
	WRITE_ONCE(team->counter, counter + 1);
	WRITE_ONCE(team->owner, 0);
}

/* One attempt, whatever becomes of it */
static void attempt(struct thread *thread, int ret)
{
	if (!ret) {
		count_one(thread->team);
		thread->team->row->unlock(thread->team->lock);
		thread->acquisitions++;
	} else if (ret == -ETIMEDOUT) {
		thread->timeouts++;
	} else if (ret == -EBUSY) {
		thread->failed_tries++;
	} else if (ret == -EDEADLK) {
		thread->deadlocks++;
	} else {
		thread->others++;
	}
}

/* Nothing is lost: all that was taken came back, and all attempts add up. */
static void expect_exact_counts(struct kunit *test, struct team *team)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_events *before = &bench->total, now = {};
	unsigned long counted;

	KUNIT_EXPECT_EQ(test, team->violations, 0);
	KUNIT_EXPECT_EQ(test, team->counter, sum_acquisitions(team));
	KUNIT_EXPECT_EQ(test, team->row->destroy(team->lock), 0);
	nbq_read_events(&now);
	counted = now.acquired_uncontended - before->acquired_uncontended +
		  now.acquired_handoff - before->acquired_handoff;
	/* Where only waiters count */
	if (!team->row->facts->holder_nodes)
		KUNIT_EXPECT_LE(test, counted, sum_acquisitions(team));
	else
		KUNIT_EXPECT_EQ(test, counted, sum_acquisitions(team));
	KUNIT_EXPECT_EQ(test, sum_timeouts(team), now.timeouts - before->timeouts);
	KUNIT_EXPECT_EQ(test, sum_failed_tries(team),
			now.failed_tries - before->failed_tries);
	KUNIT_EXPECT_EQ(test, sum_deadlocks(team), now.deadlocks - before->deadlocks);
	KUNIT_EXPECT_EQ(test, now.nodes_allocated - before->nodes_allocated,
			now.nodes_freed - before->nodes_freed +
			now.nodes_reclaimed - before->nodes_reclaimed);
}

/* Without a time limit */

#define UNTIMED_ACQUISITIONS	500

static void acquire_untimed(struct thread *thread)
{
	unsigned int i;

	for (i = 0; i < UNTIMED_ACQUISITIONS; i++) {
		thread->team->row->lock(thread->team->lock);
		attempt(thread, 0);
		cond_resched();
	}
}

static void untimed_acquisitions_add_up(struct kunit *test)
{
	struct team *team = new_team(test);

	fill_team(test, team, acquire_untimed);
	run_team(team);
	KUNIT_EXPECT_EQ(test, team->counter, team->size * UNTIMED_ACQUISITIONS);
	expect_exact_counts(test, team);
}

/* With all kinds of patience */

#define TIMED_ATTEMPTS	500

static void acquire_with_mixed_patience(struct thread *thread)
{
	static const ktime_t patience[] = {
		0, 1, 500, 5 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, KTIME_MAX,
	};
	struct team *team = thread->team;
	unsigned int i;

	for (i = 0; i < TIMED_ATTEMPTS; i++) {
		unsigned int kind = (i + thread->index) % ARRAY_SIZE(patience);

		attempt(thread, team->row->lock_timeout(team->lock, patience[kind]));
		cond_resched();
	}
}

static void attempts_are_acquisitions_timeouts_or_failed_tries(struct kunit *test)
{
	struct team *team = new_team(test);

	fill_team(test, team, acquire_with_mixed_patience);
	run_team(team);
	KUNIT_EXPECT_EQ(test, team->size * TIMED_ATTEMPTS,
			sum_acquisitions(team) + sum_timeouts(team) +
			sum_failed_tries(team));
	KUNIT_EXPECT_EQ(test, sum_deadlocks(team) + sum_others(team), 0);
	expect_exact_counts(test, team);
}

/* An interrupt that tries the lock which its CPU's thread may hold */

#define INTERRUPTS	300

static void interrupt_attempt(void *arg)
{
	struct team *team = arg;

	/* A thread of its own, so that no count is shared with the one below. */
	attempt(&team->threads[THREADS_MAX - 1],
		team->row->lock_timeout(team->lock, 1000));
}

static void interrupts_and_threads_share_a_lock(struct kunit *test)
{
	struct team *team = new_team(test);
	struct thread *interrupt = &team->threads[THREADS_MAX - 1];
	unsigned int cpu, i;

	nbq_other_cpu(test);
	/* With interrupts on in the threads, which lockdep would not have. */
	team->row->notrack(team->lock);
	interrupt->team = team;
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	add_thread(test, team, smp_processor_id(), acquire_with_mixed_patience);
	add_thread(test, team, cpu, acquire_with_mixed_patience);
	complete_all(&team->start);
	for (i = 0; i < INTERRUPTS; i++) {
		smp_call_function_single(cpu, interrupt_attempt, team, true);
		cond_resched();
	}
	migrate_enable();
	run_team(team);

	KUNIT_EXPECT_EQ(test, INTERRUPTS,
			interrupt->acquisitions + interrupt->timeouts +
			interrupt->deadlocks);
	team->size = THREADS_MAX;
	expect_exact_counts(test, team);
}

/*
 * Unlock, then free. The second of a pair poisons the lock's memory as soon as
 * it has had its turn, while the first may still be inside its unlock.
 */

#define ROUNDS		100
#define POISON		0x6b

static void wait_for_round(const unsigned long *word, unsigned long round)
{
	/* ACQUIRE, pairs with the RELEASE of its writer. */
	while (smp_load_acquire(word) < round)
		cond_resched();
}

/* Acquire first, let the other queue up behind, release. */
static void make_and_unlock(struct thread *thread)
{
	struct team *team = thread->team;
	unsigned long round;

	for (round = 1; round <= ROUNDS; round++) {
		team->row->init(team->lock);
		team->row->lock(team->lock);
		/* RELEASE, pairs with wait_for_round(): the lock is made. */
		smp_store_release(&team->round, round);
		while (!team->row->is_contended(team->lock))
			cpu_relax();
		team->row->unlock(team->lock);
		/* RELEASE, pairs with wait_for_round(): I am done with it. */
		smp_store_release(&team->released, round);
		wait_for_round(&team->threads[1].acquisitions, round);
		thread->acquisitions++;
	}
}

/*
 * Enqueue, acquire, release without a successor, destroy, and poison the memory.
 */
static void acquire_and_poison(struct thread *thread)
{
	struct team *team = thread->team;
	unsigned long round;

	for (round = 1; round <= ROUNDS; round++) {
		wait_for_round(&team->round, round);
		team->row->lock(team->lock);
		team->row->unlock(team->lock);
		if (team->row->destroy(team->lock))
			team->broken++;
		memset(team->buffer, POISON, team->buffer_size);

		wait_for_round(&team->released, round);
		if (memchr_inv(team->buffer, POISON, team->buffer_size))
			team->broken++;
		/* RELEASE, pairs with wait_for_round(): so am I. */
		smp_store_release(&thread->acquisitions, round);
	}
}

/* Across two cache lines, or just behind the end of one: a late store is later. */
static void put_lock_across_lines(struct kunit *test, struct team *team)
{
	team->buffer_size = 2 * SMP_CACHE_BYTES + team->row->size;
	team->buffer = kunit_kzalloc(test, team->buffer_size + SMP_CACHE_BYTES,
				     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, team->buffer);
	team->buffer = PTR_ALIGN(team->buffer, SMP_CACHE_BYTES);
	team->lock = team->buffer + SMP_CACHE_BYTES - team->row->last_word_offset;
}

static void lock_may_be_freed_by_the_next_holder(struct kunit *test)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct nbq_bench *bench = test->priv;
	const struct nbq_facts *facts = bench->row->facts;
	struct nbq_events *before = &bench->total, now = {};
	struct team *team = new_team(test);
	unsigned int uses, reclaimed;

	nbq_other_cpu(test);
	put_lock_across_lines(test, team);

	add_thread(test, team, cpu, make_and_unlock);
	add_thread(test, team, cpumask_next(cpu, cpu_online_mask),
		   acquire_and_poison);
	if (team->size == 2)
		run_team(team);

	KUNIT_EXPECT_EQ(test, sum_acquisitions(team), 2 * ROUNDS);
	KUNIT_EXPECT_EQ(test, team->broken, 0);
	/*
	 * Where nodes stay, the second may find the lock available at once,
	 * although it came behind a holder. Where holders have no
	 * node, only the second counts: it waited.
	 */
	uses = ROUNDS + ROUNDS * facts->holder_nodes;
	reclaimed = facts->holder_nodes * (ROUNDS + ROUNDS * facts->tail_stays);
	nbq_read_events(&now);
	KUNIT_EXPECT_EQ(test, uses,
			now.acquired_uncontended - before->acquired_uncontended +
			now.acquired_handoff - before->acquired_handoff);
	KUNIT_EXPECT_EQ(test, now.nodes_allocated - before->nodes_allocated, uses);
	KUNIT_EXPECT_EQ(test, now.nodes_reclaimed - before->nodes_reclaimed,
			reclaimed);
	KUNIT_EXPECT_EQ(test, now.nodes_freed - before->nodes_freed,
			uses - reclaimed);
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE(untimed_acquisitions_add_up),			\
	KUNIT_CASE(attempts_are_acquisitions_timeouts_or_failed_tries),	\
	KUNIT_CASE(interrupts_and_threads_share_a_lock),		\
	KUNIT_CASE(lock_may_be_freed_by_the_next_holder),	\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_threads"
#include "lock_row_suites.h"
