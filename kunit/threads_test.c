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

/* The last is no thread but what interrupts one. */
#define THREADS		3

/* What becomes of an attempt */
enum outcome { ACQUIRED, TIMED_OUT, FAILED, DEADLOCK, OUTCOMES };

/* One thread, bound to a CPU */
struct thread {
	struct task_struct *task;		/* the thread */
	struct team *team;			/* those it works with */
	void (*run)(struct thread *thread);	/* what it does */
	struct completion finished;		/* when run has returned */
	unsigned long count[OUTCOMES];		/* of its attempts, by outcome */
};

/* The threads of a case and what they share */
struct team {
	const struct nbq_lock_type *type;	/* the type of the lock */
	void *lock;				/* the lock */
	unsigned long counter;			/* protected by lock alone */
	unsigned int owner;			/* 1 while a thread is in the critical section */
	unsigned int violations;		/* how often two were */
	struct completion start;		/* opens when all threads are there */
	struct thread threads[THREADS];		/* the threads */
	unsigned int size;			/* how many */
	unsigned long round;			/* the round that a pair is in */
	/* The last round in which the first of a pair has returned from its unlock */
	unsigned long released;
	void *buffer;				/* memory in which a pair makes its locks */
	size_t buffer_size;			/* how much */
	/* How often that memory was written to after the lock's life, or its end was refused */
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
	struct nbq_fixture *fixture = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, team);
	team->type = fixture->type;
	team->lock = fixture->lock;
	init_completion(&team->start);
	return team;
}

/* Add a thread on cpu, which waits for the start. */
static void add_thread(struct kunit *test, struct team *team, unsigned int cpu,
		       void (*run)(struct thread *thread))
{
	struct thread *thread = &team->threads[team->size];

	thread->team = team;
	thread->run = run;
	init_completion(&thread->finished);
	thread->task = nbq_new_thread(test, thread_main, thread, cpu);
	if (!thread->task)
		return;
	wake_up_process(thread->task);
	team->size++;
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

/* Of the whole team */
static unsigned long sum(const struct team *team, enum outcome outcome)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		sum += team->threads[i].count[outcome];
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
static void attempt(struct thread *thread, ktime_t patience)
{
	const struct nbq_lock_type *type = thread->team->type;
	int ret = type->lock_timeout(thread->team->lock, patience);

	if (!ret) {
		count_one(thread->team);
		type->unlock(thread->team->lock);
	}
	thread->count[ret == 0 ? ACQUIRED : ret == -ETIMEDOUT ? TIMED_OUT :
		      ret == -EBUSY ? FAILED : DEADLOCK]++;
}

/* An interrupt that tries the lock which its CPU's thread may hold, and threads of any patience */

#define TIMED_ATTEMPTS	500
#define INTERRUPTS	300

static void acquire_with_mixed_patience(struct thread *thread)
{
	static const ktime_t patience[] = {
		0, 1, 500, 5 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, KTIME_MAX,
	};
	unsigned int i;

	for (i = 0; i < TIMED_ATTEMPTS; i++) {
		attempt(thread, patience[i % ARRAY_SIZE(patience)]);
		cond_resched();
	}
}

/* A thread of its own, so that no count is shared with the one below. */
static void interrupt_attempt(void *arg)
{
	struct team *team = arg;

	attempt(&team->threads[THREADS - 1], 1000);
}

/* Nothing is lost: all that was taken came back, and all attempts add up. */
static void expect_exact_counts(struct kunit *test, struct team *team)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_events *before = &fixture->total, now = {};
	unsigned long counted;

	KUNIT_EXPECT_EQ(test, team->violations, 0);
	KUNIT_EXPECT_EQ(test, team->counter, sum(team, ACQUIRED));
	KUNIT_EXPECT_EQ(test, team->type->destroy(team->lock), 0);
	nbq_read_events(&now);
	counted = now.acquired_uncontended - before->acquired_uncontended +
		  now.acquired_handoff - before->acquired_handoff;
	/* Where only waiters count */
	if (!team->type->traits->holder_nodes)
		KUNIT_EXPECT_LE(test, counted, sum(team, ACQUIRED));
	else
		KUNIT_EXPECT_EQ(test, counted, sum(team, ACQUIRED));
	KUNIT_EXPECT_EQ(test, sum(team, TIMED_OUT), now.timeouts - before->timeouts);
	KUNIT_EXPECT_EQ(test, sum(team, FAILED), now.failed_tries - before->failed_tries);
	KUNIT_EXPECT_EQ(test, sum(team, DEADLOCK), now.deadlocks - before->deadlocks);
	KUNIT_EXPECT_EQ(test, now.nodes_allocated - before->nodes_allocated,
			now.nodes_freed - before->nodes_freed +
			now.nodes_reclaimed - before->nodes_reclaimed);
}

static void attempts_of_threads_and_interrupts_add_up(struct kunit *test)
{
	struct team *team = new_team(test);
	unsigned int cpu, i;

	nbq_other_cpu(test);
	/* With interrupts on in the threads, which lockdep would not have. */
	team->type->notrack(team->lock);
	team->threads[THREADS - 1].team = team;
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

	KUNIT_EXPECT_EQ(test, 2 * TIMED_ATTEMPTS + INTERRUPTS,
			sum(team, ACQUIRED) + sum(team, TIMED_OUT) + sum(team, FAILED) +
			sum(team, DEADLOCK));
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
		team->type->init(team->lock);
		team->type->lock(team->lock);
		/* RELEASE, pairs with wait_for_round(): the lock is made. */
		smp_store_release(&team->round, round);
		while (!team->type->is_contended(team->lock))
			cpu_relax();
		team->type->unlock(team->lock);
		/* RELEASE, pairs with wait_for_round(): this thread is done with it. */
		smp_store_release(&team->released, round);
		wait_for_round(&team->threads[1].count[ACQUIRED], round);
		thread->count[ACQUIRED]++;
	}
}

/*
 * Enqueue, acquire, release without a successor, and poison the memory.
 */
static void acquire_and_poison(struct thread *thread)
{
	struct team *team = thread->team;
	unsigned long round;

	for (round = 1; round <= ROUNDS; round++) {
		wait_for_round(&team->round, round);
		team->type->lock(team->lock);
		team->type->unlock(team->lock);
		/* The memory of the hybrid may go without a call. */
		if (team->type->traits->holder_nodes && team->type->destroy(team->lock))
			team->broken++;
		memset(team->buffer, POISON, team->buffer_size);

		wait_for_round(&team->released, round);
		if (memchr_inv(team->buffer, POISON, team->buffer_size))
			team->broken++;
		/* RELEASE, pairs with wait_for_round(): so is this one. */
		smp_store_release(&thread->count[ACQUIRED], round);
	}
}

/* Across two cache lines, or just behind the end of one: a late store is later. */
static void put_lock_across_lines(struct kunit *test, struct team *team)
{
	team->buffer_size = 2 * SMP_CACHE_BYTES + team->type->size;
	team->buffer = kunit_kzalloc(test, team->buffer_size + SMP_CACHE_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, team->buffer);
	team->buffer = PTR_ALIGN(team->buffer, SMP_CACHE_BYTES);
	team->lock = team->buffer + SMP_CACHE_BYTES - team->type->last_word_offset;
}

static void lock_may_be_freed_by_the_next_holder(struct kunit *test)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct nbq_fixture *fixture = test->priv;
	const struct nbq_traits *traits = fixture->type->traits;
	struct nbq_events *before = &fixture->total, now = {};
	struct team *team = new_team(test);
	unsigned int uses, reclaimed;

	nbq_other_cpu(test);
	put_lock_across_lines(test, team);

	add_thread(test, team, cpu, make_and_unlock);
	add_thread(test, team, cpumask_next(cpu, cpu_online_mask), acquire_and_poison);
	if (team->size == 2)
		run_team(team);

	KUNIT_EXPECT_EQ(test, sum(team, ACQUIRED), 2 * ROUNDS);
	KUNIT_EXPECT_EQ(test, team->broken, 0);
	/*
	 * Where holders have nodes, the second may find the lock available at once, although it
	 * came behind a holder. Else only the second counts: it waited.
	 */
	uses = ROUNDS + ROUNDS * traits->holder_nodes;
	reclaimed = traits->holder_nodes * 2 * ROUNDS;
	nbq_read_events(&now);
	KUNIT_EXPECT_EQ(test, uses, now.acquired_uncontended - before->acquired_uncontended +
			now.acquired_handoff - before->acquired_handoff);
	KUNIT_EXPECT_EQ(test, now.nodes_allocated - before->nodes_allocated, uses);
	KUNIT_EXPECT_EQ(test, now.nodes_reclaimed - before->nodes_reclaimed, reclaimed);
	KUNIT_EXPECT_EQ(test, now.nodes_freed - before->nodes_freed, uses - reclaimed);
}

KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);

static struct kunit_case threads_cases[] = {
	KUNIT_CASE_PARAM(attempts_of_threads_and_interrupts_add_up, type_gen_params),
	KUNIT_CASE_PARAM(lock_may_be_freed_by_the_next_holder, type_gen_params),
	{}
};

static struct kunit_suite threads_suite = {
	.name = "nbq_threads",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = threads_cases,
};

kunit_test_suite(threads_suite);
