// SPDX-License-Identifier: GPL-2.0
/*
 * Every lock type in every context: each operation in a task, a softirq, a hardirq
 * and an NMI, and these on top of one another to the deepest level, each with
 * locks of its own, and with no more queue nodes than it takes.
 *
 * Softirqs and hardirqs are real: a tasklet, an irq_work. An NMI is not, see
 * nbq_as_nmi(): real ones are sent by the stress driver, in QEMU.
 *
 * Other contexts are moved by hand, on a CPU that this is not. An interrupt of a wait comes in
 * the middle of a read of the clock.
 */
#include <linux/bottom_half.h>
#include <linux/container_of.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

/* A clock that starts here, and patience in its steps */
#define START		1000
#define STEP		10
#define PATIENCE	100

/* Going to a context */

/**
 * struct visit - something that is done in another context of this CPU
 * @run: what; must not sleep
 * @arg: for @run
 * @done: @run has returned
 */
struct visit {
	void (*run)(void *arg);
	void *arg;
	bool done;
	struct tasklet_struct tasklet;
	struct irq_work irq_work;
};

static void finish_visit(struct visit *visit)
{
	visit->run(visit->arg);
	/* RELEASE, pairs with the ACQUIRE in visit_hardirq(). */
	smp_store_release(&visit->done, true);
}

static void tasklet_visit(struct tasklet_struct *tasklet)
{
	finish_visit(container_of(tasklet, struct visit, tasklet));
}

static void hardirq_visit(struct irq_work *work)
{
	finish_visit(container_of(work, struct visit, irq_work));
}

/* Softirqs that are due run when bottom halves are turned on again. */
static void visit_softirq(struct visit *visit)
{
	tasklet_setup(&visit->tasklet, tasklet_visit);
	local_bh_disable();
	tasklet_schedule(&visit->tasklet);
	local_bh_enable();
}

static void visit_hardirq(struct visit *visit)
{
	unsigned int polls = 100000000;

	visit->irq_work = IRQ_WORK_INIT_HARD(hardirq_visit);
	irq_work_queue(&visit->irq_work);
	/* At the next tick where the CPU cannot interrupt itself. */
	while (!smp_load_acquire(&visit->done) && polls--)
		cpu_relax();
}

static void nmi_visit(void *visit)
{
	finish_visit(visit);
}

/*
 * Do it there, from any context below, with preemption off and interrupts on,
 * which an NMI does not need.
 */
static void visit_level(struct visit *visit, unsigned int level,
			void (*run)(void *arg), void *arg)
{
	visit->run = run;
	visit->arg = arg;
	visit->done = false;
	if (level == NBQ_SOFTIRQ)
		visit_softirq(visit);
	else if (level == NBQ_HARDIRQ)
		visit_hardirq(visit);
	else if (level == NBQ_NMI)
		nbq_as_nmi(nmi_visit, visit);
	else
		finish_visit(visit);
}

/* One that never came may come yet: its memory must not go before. */
static void end_visit(struct kunit *test, struct visit *visit)
{
	KUNIT_EXPECT_TRUE(test, visit->done);
	if (visit->tasklet.callback)
		tasklet_kill(&visit->tasklet);
	if (visit->irq_work.func)
		irq_work_sync(&visit->irq_work);
}

/*
 * Reads of the clock of an attempt whose patience is over by the last: an interrupt that
 * waits reads it once more, before the first read for its deadline.
 */
static unsigned int reads_of_patience(unsigned int level)
{
	return 1 + PATIENCE / STEP + (level > NBQ_TASK);
}

/* What an operation must not change: all bits of the preemption count, and interrupts */
struct state {
	unsigned int preempt;
	bool irqs_off;
};

static struct state state_now(void)
{
	return (struct state){
		.preempt = preempt_count(),
		.irqs_off = irqs_disabled(),
	};
}

/* As far as the next case needs it */
static void mend(struct state want)
{
	__preempt_count_add(want.preempt - preempt_count());
	if (want.irqs_off && !irqs_disabled())
		local_irq_disable();
	else if (!want.irqs_off && irqs_disabled())
		local_irq_enable();
}

static void expect_state(struct kunit *test, struct state now, struct state want,
			 const char *when)
{
	KUNIT_EXPECT_EQ_MSG(test, now.preempt, want.preempt, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, now.irqs_off, want.irqs_off, "%s", when);
}

/* What the four pools of this CPU have counted */
struct counts {
	struct nbq_events of[NBQ_LEVELS];
};

/* Preemption is off. */
static void read_counts(struct counts *counts)
{
	struct nbq_pool *pools = *this_cpu_ptr(&nbq_pools);
	unsigned int level;

	for (level = 0; level < NBQ_LEVELS; level++)
		counts->of[level] = pools[level].events;
}

static struct nbq_bench *bench_elsewhere(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;

	/* A tasklet runs in a task there, and nothing is on top of anything. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "PREEMPT_RT has no softirq context");
	nbq_other_cpu(test);
	/* The same lock is taken in all contexts, with and without interrupts. */
	bench->row->init_unwatched(bench->lock);
	return bench;
}

static void *alloc(struct kunit *test, size_t size)
{
	void *memory = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

static void *new_lock(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	void *lock = nbq_new_lock(test, bench->row);

	bench->row->init_unwatched(lock);
	return lock;
}

/* One context at a time: every operation */

static const struct nbq_operation operations[] = {
	{ "lock_timeout", TIMEOUT, PLAIN, PATIENCE },
	{ "lock_timeout_0", TIMEOUT, PLAIN, 0 },
	{ "lock_until", UNTIL, PLAIN, START + PATIENCE },
	{ "lock_until_past", UNTIL, PLAIN, START - 1 },
	{ "trylock", TRY, PLAIN },
	{ "lock", LOCK, PLAIN },
	{ "lock_timeout_irqsave", TIMEOUT, IRQSAVE, PATIENCE },
	{ "lock_until_irqsave", UNTIL, IRQSAVE, START + PATIENCE },
	{ "trylock_irqsave", TRY, IRQSAVE },
	{ "lock_irqsave", LOCK, IRQSAVE },
	{ "lock_timeout_irq", TIMEOUT, IRQ, PATIENCE },
	{ "lock_until_irq", UNTIL, IRQ, START + PATIENCE },
	{ "trylock_irq", TRY, IRQ },
	{ "lock_irq", LOCK, IRQ },
	{ "lock_timeout_bh", TIMEOUT, BH, PATIENCE },
	{ "lock_until_bh", UNTIL, BH, START + PATIENCE },
	{ "trylock_bh", TRY, BH },
	{ "lock_bh", LOCK, BH },
};

/* Where interrupts are off these would turn them on. */
static bool is_legal(const struct nbq_operation *op, unsigned int level)
{
	return level < NBQ_HARDIRQ || op->form == PLAIN || op->form == IRQSAVE;
}

/**
 * struct attempt - one attempt in a context, and what was seen of it
 * @row: the lock's type
 * @lock: the lock
 * @op: by which to acquire
 * @visit: how it gets there
 * @level: of the context
 * @ret: of the attempt
 * @locked: is_locked when it is over, before the unlock
 * @contended: the same of is_contended
 * @before: the state
 * @holding: when the attempt is over
 * @after: in the end
 * @counted: what the pools had counted before
 * @counts: and afterwards
 */
struct attempt {
	const struct nbq_row *row;
	void *lock;
	const struct nbq_operation *op;
	struct visit visit;
	unsigned int level;
	int ret;
	bool locked;
	bool contended;
	struct state before;
	struct state holding;
	struct state after;
	struct counts counted;
	struct counts counts;
};

static void make_attempt(void *arg)
{
	struct attempt *attempt = arg;
	const struct nbq_row *row = attempt->row;
	unsigned long flags;

	attempt->level = interrupt_context_level();
	read_counts(&attempt->counted);
	attempt->before = state_now();
	attempt->ret = row->take(attempt->op, attempt->lock, &flags);
	attempt->holding = state_now();
	attempt->locked = row->is_locked(attempt->lock);
	attempt->contended = row->is_contended(attempt->lock);
	if (!attempt->ret)
		row->drop(attempt->op, attempt->lock, flags);
	attempt->after = state_now();
	mend(attempt->before);
	read_counts(&attempt->counts);
}

static void attempt_at(struct kunit *test, struct attempt *attempt,
		       unsigned int level)
{
	preempt_disable();
	visit_level(&attempt->visit, level, make_attempt, attempt);
	preempt_enable();
	end_visit(test, &attempt->visit);
	KUNIT_EXPECT_EQ(test, attempt->level, level);
	expect_state(test, attempt->after, attempt->before, attempt->op->desc);
}

static void expect_held(struct kunit *test, struct attempt *attempt)
{
	struct state want = attempt->before;

	KUNIT_EXPECT_EQ_MSG(test, attempt->ret, 0, "%s", attempt->op->desc);
	KUNIT_EXPECT_TRUE_MSG(test, attempt->locked, "%s", attempt->op->desc);
	want.preempt += PREEMPT_DISABLE_OFFSET;
	if (nbq_form_is_irq(attempt->op->form))
		want.irqs_off = true;
	if (attempt->op->form == BH)
		want.preempt += SOFTIRQ_DISABLE_OFFSET;
	expect_state(test, attempt->holding, want, attempt->op->desc);
}

/* So many nodes, new or resumed, from the pool of the level and from no other */
static void expect_nodes(struct kunit *test, struct attempt *attempt,
			 unsigned int nodes)
{
	unsigned int level;

	for (level = 0; level < NBQ_LEVELS; level++)
		KUNIT_EXPECT_EQ_MSG(test, attempt->counts.of[level].nodes_allocated +
				    attempt->counts.of[level].nodes_resumed -
				    attempt->counted.of[level].nodes_allocated -
				    attempt->counted.of[level].nodes_resumed,
				    level == attempt->level ? nodes : 0,
				    "%s, level %u", attempt->op->desc, level);
}

static const struct level_case {
	const char *desc;
	unsigned int level;
} level_cases[] = {
	{ "task", NBQ_TASK },
	{ "softirq", NBQ_SOFTIRQ },
	{ "hardirq", NBQ_HARDIRQ },
	{ "nmi", NBQ_NMI },
}, interrupt_cases[] = {
	{ "softirq", NBQ_SOFTIRQ },
	{ "hardirq", NBQ_HARDIRQ },
	{ "nmi", NBQ_NMI },
};

static void level_desc(const struct level_case *level, char *desc)
{
	strscpy(desc, level->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(level, level_cases, level_desc);
KUNIT_ARRAY_PARAM(interrupt, interrupt_cases, level_desc);

static struct attempt *new_attempt(struct kunit *test)
{
	struct attempt *attempt = alloc(test, sizeof(*attempt));
	struct nbq_bench *bench = bench_elsewhere(test);

	attempt->row = bench->row;
	attempt->lock = bench->lock;
	return attempt;
}

static void every_operation_takes_a_free_lock(struct kunit *test)
{
	const struct level_case *where = test->param_value;
	struct attempt *attempt = new_attempt(test);
	unsigned int i;

	nbq_fake_start(START, STEP);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		attempt->op = &operations[i];
		if (!is_legal(attempt->op, where->level))
			continue;

		/* before: []; in between: H; after: [], or A where nodes stay */
		attempt_at(test, attempt, where->level);
		expect_held(test, attempt);
		KUNIT_EXPECT_FALSE(test, attempt->contended);
		expect_nodes(test, attempt, attempt->row->facts->holder_nodes);
	}
	KUNIT_EXPECT_EQ(test, nbq_fake.reads, 0);
}

static void every_timed_operation_gives_up_behind_a_holder(struct kunit *test)
{
	const struct level_case *where = test->param_value;
	struct attempt *attempt = new_attempt(test);
	unsigned int i;

	nbq_bench_enqueue(test);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		attempt->op = &operations[i];
		if (!is_legal(attempt->op, where->level) ||
		    attempt->op->how == LOCK)
			continue;

		/* before and after: H */
		nbq_forget_late_attempts();
		nbq_fake_start(START, STEP);
		attempt_at(test, attempt, where->level);
		KUNIT_EXPECT_EQ_MSG(test, attempt->ret, nbq_operation_failure(attempt->op),
				    "%s", attempt->op->desc);
		KUNIT_EXPECT_TRUE(test, attempt->locked);
		expect_state(test, attempt->holding, attempt->before,
			     attempt->op->desc);
		expect_nodes(test, attempt, attempt->ret == -EBUSY ? 0 :
			     nbq_nodes_to_wait(attempt->row->facts, nbq_fake.reads));
		KUNIT_EXPECT_LE(test, nbq_fake.reads, reads_of_patience(where->level));
		EXPECT_SHAPE(test, "H");
	}
}

/* Another CPU releases as soon as a context waits. */
struct neighbour {
	struct nbq_bench *bench;
	struct nbq_contender *holder;
	bool contended;
};

static void release_once_contended(void *arg)
{
	struct neighbour *neighbour = arg;
	struct nbq_bench *bench = neighbour->bench;
	/* More than a host with other work gives this CPU before the other one */
	unsigned int polls = 1000000000;

	while (!bench->row->is_contended(bench->lock) && polls--)
		cpu_relax();
	neighbour->contended = polls + 1;
	nbq_contender_release(bench, neighbour->holder);
}

static void nothing(void *unused)
{
}

/* The clock of this case is the real one: a wait without end reads none. */
static void every_waiting_operation_is_granted_the_lock(struct kunit *test)
{
	static call_single_data_t csd;
	const struct level_case *where = test->param_value;
	struct attempt *attempt = new_attempt(test);
	struct nbq_bench *bench = test->priv;
	struct neighbour neighbour = { .bench = bench };
	struct nbq_operation patient;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		patient = operations[i];
		if (!is_legal(&patient, where->level) || patient.how == TRY ||
		    (patient.how != LOCK && patient.time < PATIENCE))
			continue;
		patient.time = KTIME_MAX;
		attempt->op = &patient;

		/* before: H, elsewhere; in between: H w; after: [], or A */
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		neighbour.holder = nbq_bench_enqueue(test);
		if (neighbour.holder->state == WAITING)
			nbq_contender_poll(bench, neighbour.holder);
		INIT_CSD(&csd, release_once_contended, &neighbour);
		migrate_disable();
		smp_call_function_single_async(nbq_other_cpu(test), &csd);
		attempt_at(test, attempt, where->level);
		/* Calls are made in order: after this one, that one has returned. */
		smp_call_function_single(nbq_other_cpu(test), nothing, NULL, true);
		migrate_enable();

		KUNIT_EXPECT_TRUE(test, neighbour.contended);
		expect_held(test, attempt);
		expect_nodes(test, attempt, 1);
	}
}

/* A holder in an interrupt of another CPU, as an attempt that times out reports it */

/**
 * struct remote_holder - an interrupt of another CPU that holds the lock
 * @row: the lock's type
 * @lock: the lock
 * @holds: it does
 * @over: the attempt of this CPU is over
 */
struct remote_holder {
	const struct nbq_row *row;
	void *lock;
	bool holds;
	bool over;
};

static void hold_until_over(void *arg)
{
	struct remote_holder *holder = arg;
	/* More than a host with other work gives this CPU before the other one */
	unsigned int polls = 1000000000;

	if (!holder->row->trylock(holder->lock))
		return;
	/* RELEASE, pairs with the ACQUIRE of the attempt: the lock is held. */
	smp_store_release(&holder->holds, true);
	/* ACQUIRE, pairs with the RELEASE of the attempt: it is over. */
	while (!smp_load_acquire(&holder->over) && polls--)
		cpu_relax();
	holder->row->unlock(holder->lock);
}

static void timeout_info_has_the_level_of_a_holder_in_a_hardirq(struct kunit *test)
{
	static call_single_data_t csd;
	struct nbq_bench *bench = bench_elsewhere(test);
	struct remote_holder holder = { .row = bench->row, .lock = bench->lock };
	struct nbq_timeout info = {};
	unsigned int cpu, polls = 1000000000;
	int ret;

	/* before and after: H, elsewhere */
	migrate_disable();
	cpu = nbq_other_cpu(test);
	INIT_CSD(&csd, hold_until_over, &holder);
	smp_call_function_single_async(cpu, &csd);
	/* ACQUIRE, pairs with the RELEASE in hold_until_over(). */
	while (!smp_load_acquire(&holder.holds) && polls--)
		cpu_relax();
	nbq_fake_start(START, STEP);
	ret = bench->row->lock_timeout_info(bench->lock, PATIENCE, &info);
	if (!ret)
		bench->row->unlock(bench->lock);
	/* RELEASE, pairs with the ACQUIRE in hold_until_over(). */
	smp_store_release(&holder.over, true);
	/* Calls are made in order: after this one, that one has returned. */
	smp_call_function_single(cpu, nothing, NULL, true);
	migrate_enable();

	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, info.holder_cpu, cpu);
	KUNIT_EXPECT_EQ(test, info.holder_level, NBQ_HARDIRQ);
	KUNIT_EXPECT_GE(test, info.waited_ns, PATIENCE);
	KUNIT_EXPECT_EQ(test, info.waited_ns, STEP * (nbq_fake.reads - 1));
}

/* Destroy, with abandoned nodes in the queue */
struct end {
	const struct nbq_row *row;
	void *lock;
	struct visit visit;
	int ret;
	struct state before;
	struct state after;
};

static void end_lock(void *arg)
{
	struct end *end = arg;

	end->before = state_now();
	end->ret = end->row->destroy(end->lock);
	end->after = state_now();
}

static void destroy_reclaims_abandoned_nodes(struct kunit *test)
{
	const struct level_case *where = test->param_value;
	struct nbq_bench *bench = bench_elsewhere(test);
	struct end *end = alloc(test, sizeof(*end));

	end->row = bench->row;
	end->lock = bench->lock;

	/* before: A L L; after: [] */
	nbq_bench_leave_abandoned(test, 2);
	EXPECT_SHAPE(test, "ALL");
	preempt_disable();
	visit_level(&end->visit, where->level, end_lock, end);
	preempt_enable();
	end_visit(test, &end->visit);
	KUNIT_EXPECT_EQ(test, end->ret, 0);
	expect_state(test, end->after, end->before, "destroy");
	EXPECT_SHAPE(test, ".");
	KUNIT_EXPECT_NULL(test, bench->row->tail(bench->lock));
	EXPECT_TOTAL(test, .nodes_reclaimed = 2 + bench->row->facts->holder_nodes);
}

/* A context above one of its own CPU that has the lock, or waits for it */

/**
 * struct pair - one context on top of another, both at the same lock
 * @bench: the lock
 * @below: level of the lower one
 * @above: level of the upper one
 * @waits: the lower one waits; else it holds
 * @lower: how the lower one gets there
 * @upper: how the upper one does
 * @lower_ret: of the lower one's attempt
 * @rets: of the upper one's, by each operation
 * @before: the state of the upper one
 * @after: in the end
 */
struct pair {
	struct nbq_bench *bench;
	unsigned int below;
	unsigned int above;
	bool waits;
	struct visit lower;
	struct visit upper;
	int lower_ret;
	int rets[ARRAY_SIZE(operations)];
	struct state before;
	struct state after;
};

/* An operation that cannot fail would wait for ever. */
static bool is_tried(const struct nbq_operation *op, unsigned int level)
{
	return op->how != LOCK && is_legal(op, level);
}

static void try_every_operation(void *arg)
{
	struct pair *pair = arg;
	struct nbq_bench *bench = pair->bench;
	unsigned long flags;
	unsigned int i;

	pair->before = state_now();
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!is_tried(&operations[i], pair->above))
			continue;
		pair->rets[i] = bench->row->take(&operations[i], bench->lock, &flags);
		if (!pair->rets[i])
			bench->row->drop(&operations[i], bench->lock, flags);
	}
	pair->after = state_now();
	mend(pair->before);
}

static void run_above(void *arg)
{
	struct pair *pair = arg;

	visit_level(&pair->upper, pair->above, try_every_operation, pair);
}

static void run_below(void *arg)
{
	struct pair *pair = arg;
	struct nbq_bench *bench = pair->bench;

	if (pair->waits) {
		nbq_fake_call(nbq_fake.reads + 2, run_above, pair);
		pair->lower_ret = bench->row->lock_timeout(bench->lock, PATIENCE);
	} else {
		pair->lower_ret = bench->row->lock_timeout(bench->lock, 0);
		run_above(pair);
	}
	if (!pair->lower_ret)
		bench->row->unlock(bench->lock);
}

/*
 * A context that may steal from the waiter below it waits until its patience is over. An
 * attempt without patience does not wait, and is in no deadlock.
 */
static void expect_edeadlk_at_once(struct kunit *test, struct pair *pair)
{
	bool may_steal = pair->waits && pair->bench->row->facts->steals;
	int error = may_steal ? -ETIMEDOUT : -EDEADLK;
	unsigned int i;

	end_visit(test, &pair->lower);
	end_visit(test, &pair->upper);
	KUNIT_EXPECT_EQ(test, pair->lower_ret, pair->waits ? -ETIMEDOUT : 0);
	expect_state(test, pair->after, pair->before, "above");
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		int none = nbq_operation_failure(&operations[i]);

		if (is_tried(&operations[i], pair->above))
			KUNIT_EXPECT_EQ_MSG(test, pair->rets[i],
					    none == -EBUSY ? none : error,
					    "%s at level %u above %u",
					    operations[i].desc, pair->above, pair->below);
	}
	/* None of them has read the clock; the lower one has, until its deadline. */
	if (!may_steal)
		KUNIT_EXPECT_EQ(test, nbq_fake.reads,
				pair->waits ? reads_of_patience(pair->below) : 0);
	else
		KUNIT_EXPECT_GT(test, nbq_fake.reads, reads_of_patience(pair->below));
}

/* Above every other context, of which a task is one */
static void try_all_pairs(struct kunit *test, bool waits)
{
	const struct level_case *above = test->param_value;
	struct nbq_bench *bench = bench_elsewhere(test);
	struct pair *pair;
	unsigned int below;

	if (waits)
		nbq_bench_enqueue(test);
	for (below = NBQ_TASK; below < above->level; below++) {
		pair = alloc(test, sizeof(*pair));
		pair->bench = bench;
		pair->below = below;
		pair->above = above->level;
		pair->waits = waits;
		nbq_fake_start(START, STEP);
		preempt_disable();
		visit_level(&pair->lower, below, run_below, pair);
		preempt_enable();
		expect_edeadlk_at_once(test, pair);
	}
}

static void context_above_the_holder_gets_edeadlk_at_once(struct kunit *test)
{
	try_all_pairs(test, false);
}

static void context_above_a_waiter_gets_edeadlk_or_may_steal(struct kunit *test)
{
	try_all_pairs(test, true);
}

/* All contexts on top of one another */

/* How many nodes a floor may need at one time: to hold with, and to wait with */
#define FLOOR_NODES_MAX	2

/* How the wait of each floor ends */
enum ending {
	TIMES_OUT,
	GRANTED,
};

/**
 * struct floor - a context of the stack
 * @stack: what it belongs to
 * @level: of the context that it should be
 * @seen: of the context that it was
 * @visit: how it gets there
 * @own: held from its beginning to its end
 * @wanted: held by @holder, and waited for while all above it come and go
 * @spare: for one attempt more than there are nodes
 * @holder: a context elsewhere
 * @user: a context elsewhere that has @spare meanwhile, where a free lock can be
 *	taken without a node
 * @behind: another context elsewhere, which enqueues behind the wait
 * @rest: the node that is free again once the wait is over, where holders have
 *	none: kept from the attempt for one more
 * @nodes: all that its pool has
 * @replaced: the pool's own nodes
 * @own_ret: what the attempts returned: to hold @own,
 * @wait_ret: to wait for @wanted,
 * @more_ret: for @spare, with all nodes in use,
 * @later_ret: for @spare, when one is free again
 * @more_reads: reads of the clock by the attempt without a node
 * @before: the state
 * @after: in the end
 */
struct floor {
	struct stack *stack;
	unsigned int level;
	unsigned int seen;
	struct visit visit;
	void *own;
	void *wanted;
	void *spare;
	struct nbq_contender holder;
	struct nbq_contender user;
	struct nbq_contender behind;
	struct nbq_node *rest;
	struct nbq_node *nodes;
	struct nbq_encodable *encodable;
	struct nbq_replaced replaced;
	int own_ret;
	int wait_ret;
	int more_ret;
	int later_ret;
	unsigned int more_reads;
	struct state before;
	struct state after;
};

/**
 * struct stack - the contexts of this CPU, one on top of the other
 * @bench: the lock type; the nodes of those elsewhere
 * @ending: of the waits
 * @floors: the contexts, by level
 * @counted: what the pools had counted before
 * @counts: and afterwards
 */
struct stack {
	struct nbq_bench *bench;
	enum ending ending;
	struct floor floors[NBQ_LEVELS];
	struct counts counted;
	struct counts counts;
};

static void run_floor(void *arg);

/* In the middle of a floor's wait: all floors above it, then those elsewhere */
static void while_floor_waits(void *arg)
{
	struct floor *floor = arg;
	struct nbq_bench *bench = floor->stack->bench;

	if (floor->level < NBQ_NMI) {
		struct floor *above = floor + 1;

		visit_level(&above->visit, above->level, run_floor, above);
	}
	if (floor->stack->ending == GRANTED) {
		bench->row->release(floor->wanted, floor->holder.node);
	} else {
		bench->row->enqueue(floor->wanted, &floor->behind);
		bench->row->link(&floor->behind);
	}
}

/* A node is free again: that of the wait, or one that the successor reclaims. */
static void free_a_node(struct floor *floor)
{
	const struct nbq_row *row = floor->stack->bench->row;

	if (!row->facts->holder_nodes)
		row->release(floor->spare, floor->user.node);
	if (floor->rest)
		nbq_node_free_own(floor->rest);
	if (!floor->wait_ret) {
		row->unlock(floor->wanted);
		/* Where it stays in the lock */
		row->destroy(floor->wanted);
		return;
	}
	row->poll(floor->wanted, &floor->behind);
}

static int try_spare(struct floor *floor, ktime_t patience)
{
	const struct nbq_row *row = floor->stack->bench->row;
	int ret = row->lock_timeout(floor->spare, patience);

	if (!ret) {
		row->unlock(floor->spare);
		row->destroy(floor->spare);
	}
	return ret;
}

static void run_floor(void *arg)
{
	struct floor *floor = arg;
	const struct nbq_row *row = floor->stack->bench->row;

	floor->seen = interrupt_context_level();
	floor->before = state_now();
	floor->own_ret = row->lock_timeout(floor->own, 0);
	/*
	 * One read more, as above; and not in that of a tick, after which the same poll reads
	 * the clock for the deadline
	 */
	nbq_fake_call(nbq_fake.reads + nbq_first_read_queued(row->facts) + 1 +
		      (row->facts->steals && floor->level == NBQ_TASK),
		      while_floor_waits, floor);
	floor->wait_ret = row->lock_timeout(floor->wanted, PATIENCE);
	if (!floor->wait_ret && !row->facts->holder_nodes)
		floor->rest = nbq_node_alloc(nbq_this_pool());
	floor->more_reads = nbq_fake.reads;
	floor->more_ret = try_spare(floor, PATIENCE);
	floor->more_reads = nbq_fake.reads - floor->more_reads;
	free_a_node(floor);
	floor->later_ret = try_spare(floor, 0);
	if (!floor->own_ret) {
		row->unlock(floor->own);
		row->destroy(floor->own);
	}
	floor->after = state_now();
	mend(floor->before);
}

static unsigned int floor_nodes(const struct stack *stack)
{
	return stack->bench->row->facts->holder_nodes + 1;
}

static void init_floor(struct kunit *test, struct stack *stack,
		       unsigned int level)
{
	struct floor *floor = &stack->floors[level];
	struct nbq_bench *bench = stack->bench;

	floor->stack = stack;
	floor->level = level;
	floor->own = new_lock(test);
	floor->wanted = new_lock(test);
	floor->spare = new_lock(test);
	floor->nodes = alloc(test, FLOOR_NODES_MAX * sizeof(struct nbq_node));
	floor->encodable = nbq_encodable_new(test, floor->nodes, floor_nodes(stack));
	KUNIT_ASSERT_NOT_NULL(test, floor->encodable);
	floor->holder.node = nbq_bench_alloc(test);
	bench->row->enqueue(floor->wanted, &floor->holder);
	if (!bench->row->facts->holder_nodes) {
		floor->user.node = nbq_bench_alloc(test);
		bench->row->enqueue(floor->spare, &floor->user);
	}
	floor->behind.node = nbq_bench_alloc(test);
}

static struct stack *new_stack(struct kunit *test, enum ending ending)
{
	struct stack *stack = alloc(test, sizeof(*stack));
	unsigned int level;

	stack->bench = bench_elsewhere(test);
	stack->ending = ending;
	for (level = 0; level < NBQ_LEVELS; level++)
		init_floor(test, stack, level);
	return stack;
}

/* Give each pool of this CPU exactly the nodes that its floor needs. */
static void replace_nodes(struct stack *stack)
{
	struct nbq_pool *pools = *this_cpu_ptr(&nbq_pools);
	unsigned int level, i, nodes = floor_nodes(stack);

	for (level = 0; level < NBQ_LEVELS; level++) {
		struct floor *floor = &stack->floors[level];

		for (i = 0; i < nodes; i++) {
			floor->nodes[i].pool = &pools[level];
			floor->nodes[i].cpu = pools[level].cpu;
			floor->nodes[i].index = i;
			floor->nodes[i].next_in_pool =
				i + 1 < nodes ? &floor->nodes[i + 1] : NULL;
		}
		nbq_pool_replace(&floor->replaced, &pools[level], floor->nodes,
				 floor->encodable);
	}
}

static void restore_nodes(struct stack *stack)
{
	unsigned int level;

	for (level = 0; level < NBQ_LEVELS; level++)
		nbq_pool_restore(&stack->floors[level].replaced);
}

/* To the top and back, on one CPU. Nothing is in use when this returns. */
static void run_stack(struct stack *stack)
{
	const struct nbq_row *row = stack->bench->row;
	unsigned int level;

	nbq_fake_start(START, STEP);
	preempt_disable();
	replace_nodes(stack);
	read_counts(&stack->counted);
	visit_level(&stack->floors[0].visit, NBQ_TASK, run_floor,
		    &stack->floors[0]);
	read_counts(&stack->counts);
	for (level = 0; level < NBQ_LEVELS && stack->ending == TIMES_OUT; level++) {
		struct floor *floor = &stack->floors[level];

		row->release(floor->wanted, floor->holder.node);
		if (row->poll(floor->wanted, &floor->behind))
			row->release(floor->wanted, floor->behind.node);
		row->destroy(floor->wanted);
	}
	restore_nodes(stack);
	preempt_enable();
}

static void expect_floor(struct kunit *test, struct stack *stack,
			 unsigned int level)
{
	struct nbq_events *from = &stack->counted.of[level];
	struct nbq_events *to = &stack->counts.of[level];
	const struct nbq_facts *facts = stack->bench->row->facts;
	struct floor *floor = &stack->floors[level];
	bool held = stack->ending == GRANTED;
	unsigned int i;

	end_visit(test, &floor->visit);
	KUNIT_EXPECT_EQ_MSG(test, floor->seen, level, "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->own_ret, 0, "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->wait_ret, held ? 0 : -ETIMEDOUT,
			    "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->more_ret, facts->without_node, "level %u",
			    level);
	/* One that waits for a node, and not for the lock, is in no deadlock. */
	KUNIT_EXPECT_EQ_MSG(test, floor->more_reads,
			    reads_of_patience(facts->holder_nodes ? NBQ_TASK : level),
			    "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->later_ret, 0, "level %u", level);
	expect_state(test, floor->after, floor->before, level_cases[level].desc);

	/* to wait; to hold, and the second attempt for one more; the rest */
	KUNIT_EXPECT_EQ(test, to->nodes_allocated - from->nodes_allocated,
			1 + 2 * facts->holder_nodes + !!floor->rest);
	KUNIT_EXPECT_EQ(test, to->exhaustions - from->exhaustions, 1);
	KUNIT_EXPECT_EQ(test, to->timeouts - from->timeouts,
			!held + (facts->without_node == -ETIMEDOUT));
	KUNIT_EXPECT_EQ(test, to->nodes_abandoned - from->nodes_abandoned, !held);
	KUNIT_EXPECT_EQ(test, to->acquired_uncontended - from->acquired_uncontended,
			2 * facts->holder_nodes);
	KUNIT_EXPECT_EQ(test, to->acquired_handoff - from->acquired_handoff, held);
	for (i = 0; i < FLOOR_NODES_MAX; i++)
		KUNIT_EXPECT_TRUE(test, nbq_is_free(&floor->nodes[i]));
}

static const struct ending_case {
	const char *desc;
	enum ending ending;
} ending_cases[] = {
	{ "times_out", TIMES_OUT },
	{ "granted", GRANTED },
};

static void ending_desc(const struct ending_case *ending, char *desc)
{
	strscpy(desc, ending->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ending, ending_cases, ending_desc);

/*
 * task, softirq, hardirq, NMI: each holds one lock and waits for another, with
 * the last node of its pool, while the next one comes on top of the wait. One
 * attempt more fails once its patience is over, and not before: with -ENOMEM, but
 * where one without a node can have the lock.
 */
static void all_contexts_hold_and_wait_with_the_last_of_their_nodes(struct kunit *test)
{
	const struct ending_case *ending = test->param_value;
	struct stack *stack = new_stack(test, ending->ending);
	struct nbq_bench *bench = stack->bench;
	unsigned int level;

	run_stack(stack);
	for (level = 0; level < NBQ_LEVELS; level++) {
		expect_floor(test, stack, level);
		/* It has not enqueued. */
		if (ending->ending == GRANTED)
			nbq_node_free(stack->floors[level].behind.node);
	}
	/* All nodes are free, here and elsewhere. */
	nbq_read_events(&bench->total);
	KUNIT_EXPECT_EQ(test, nbq_nodes_in_use(bench), 0);
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE_PARAM(every_operation_takes_a_free_lock, level_gen_params),	\
	KUNIT_CASE_PARAM(every_timed_operation_gives_up_behind_a_holder,	\
			 level_gen_params),				\
	KUNIT_CASE_PARAM(every_waiting_operation_is_granted_the_lock,		\
			 level_gen_params),				\
	KUNIT_CASE(timeout_info_has_the_level_of_a_holder_in_a_hardirq),	\
	KUNIT_CASE_PARAM(destroy_reclaims_abandoned_nodes,		\
			 level_gen_params),				\
	KUNIT_CASE_PARAM(context_above_the_holder_gets_edeadlk_at_once,\
			 interrupt_gen_params),				\
	KUNIT_CASE_PARAM(context_above_a_waiter_gets_edeadlk_or_may_steal,\
			 interrupt_gen_params),				\
	KUNIT_CASE_PARAM(all_contexts_hold_and_wait_with_the_last_of_their_nodes,\
			 ending_gen_params),				\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_contexts"
#include "lock_row_suites.h"
