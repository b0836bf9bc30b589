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

#include "common.h"

/* A clock that starts here, and patience in its steps */
#define START		1000
#define STEP		10
#define PATIENCE	100

/* Going to a context */

/* Something that is done in another context of this CPU */
struct visit {
	void (*run)(void *arg);	/* what; must not sleep */
	void *arg;		/* for run */
	bool done;		/* run has returned */
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
static void visit_level(struct visit *visit, unsigned int level, void (*run)(void *arg), void *arg)
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

static void expect_state(struct kunit *test, struct state now, struct state want, const char *when)
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

static struct nbq_fixture *fixture_elsewhere(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	/* A tasklet runs in a task there, and nothing is on top of anything. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "PREEMPT_RT has no softirq context");
	/* The same lock is taken in all contexts, with and without interrupts. */
	nbq_init_untracked(fixture->type, fixture->lock);
	return fixture;
}

static void *alloc(struct kunit *test, size_t size)
{
	void *memory = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

static void *new_lock(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	void *lock = nbq_new_lock(test, fixture->type);

	nbq_init_untracked(fixture->type, lock);
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
	{ "lock_timeout_nested", TIMEOUT, NESTED, PATIENCE },
	{ "lock_nested", LOCK, NESTED },
	{ "lock_timeout_irqsave_nested", TIMEOUT, IRQSAVE_NESTED, PATIENCE },
	{ "lock_irqsave_nested", LOCK, IRQSAVE_NESTED },
	{ "lock_timeout_info_irqsave", INFO, IRQSAVE, PATIENCE },
};

/* Where interrupts are off these would turn them on. */
static bool is_legal(const struct nbq_operation *op, unsigned int level)
{
	return level < NBQ_HARDIRQ || (op->form != IRQ && op->form != BH);
}

/* One attempt in a context, and what was seen of it */
struct attempt {
	const struct nbq_lock_type *type;	/* the lock's type */
	void *lock;				/* the lock */
	const struct nbq_operation *op;		/* by which to acquire */
	struct visit visit;			/* how it gets there */
	unsigned int level;			/* of the context */
	int ret;				/* of the attempt */
	bool locked;				/* is_locked when it is over, before the unlock */
	bool contended;				/* the same of is_contended */
	int destroy_ret;			/* of destroy after the unlock */
	struct state before;			/* the state */
	struct state holding;			/* when the attempt is over */
	struct state after;			/* in the end */
	struct counts counted;			/* what the pools had counted before */
	struct counts counts;			/* and afterwards */
};

static void make_attempt(void *arg)
{
	struct attempt *attempt = arg;
	const struct nbq_lock_type *type = attempt->type;
	unsigned long flags;

	attempt->level = interrupt_context_level();
	read_counts(&attempt->counted);
	attempt->before = state_now();
	attempt->ret = type->take(attempt->op, attempt->lock, &flags);
	attempt->holding = state_now();
	attempt->locked = type->is_locked(attempt->lock);
	attempt->contended = type->is_contended(attempt->lock);
	if (!attempt->ret) {
		type->drop(attempt->op, attempt->lock, flags);
		attempt->destroy_ret = type->destroy(attempt->lock);
	}
	attempt->after = state_now();
	mend(attempt->before);
	read_counts(&attempt->counts);
}

static void attempt_at(struct kunit *test, struct attempt *attempt, unsigned int level)
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
	KUNIT_EXPECT_EQ_MSG(test, attempt->destroy_ret, 0, "%s", attempt->op->desc);
	want.preempt += PREEMPT_DISABLE_OFFSET;
	if (nbq_form_is_irq(attempt->op->form))
		want.irqs_off = true;
	if (attempt->op->form == BH)
		want.preempt += SOFTIRQ_DISABLE_OFFSET;
	expect_state(test, attempt->holding, want, attempt->op->desc);
}

/* So many nodes, new or resumed, from the pool of the level and from no other */
static void expect_nodes(struct kunit *test, struct attempt *attempt, unsigned int nodes)
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

NBQ_TYPES_PARAM(level, level_cases);
NBQ_TYPES_PARAM(interrupt, interrupt_cases);

static struct attempt *new_attempt(struct kunit *test)
{
	struct attempt *attempt = alloc(test, sizeof(*attempt));
	struct nbq_fixture *fixture = fixture_elsewhere(test);

	attempt->type = fixture->type;
	attempt->lock = fixture->lock;
	return attempt;
}

static void every_operation_takes_a_free_lock(struct kunit *test)
{
	const struct level_case *where = nbq_value(test);
	struct attempt *attempt = new_attempt(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		attempt->op = &operations[i];
		if (!is_legal(attempt->op, where->level))
			continue;
		nbq_fake_start(START, STEP);

		/* before: []; in between: H; after: [] */
		attempt_at(test, attempt, where->level);
		expect_held(test, attempt);
		KUNIT_EXPECT_FALSE(test, attempt->contended);
		expect_nodes(test, attempt, attempt->type->traits->holder_nodes);
		/* But for when it began, which this one would report */
		if (attempt->op->how != INFO)
			EXPECT_ENDED_AT_ONCE(test);
	}
}

/* Not without patience; nor past its deadline where it polls the lock for a while before. */
static bool has_enqueued(const struct attempt *attempt)
{
	bool past = attempt->op->how == UNTIL && attempt->op->time < START;

	return attempt->ret == -ETIMEDOUT && !(past && attempt->type->traits->steals);
}

static void every_timed_operation_gives_up_behind_a_holder(struct kunit *test)
{
	const struct level_case *where = nbq_value(test);
	struct attempt *attempt = new_attempt(test);
	unsigned int i;

	nbq_fixture_enqueue(test);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		attempt->op = &operations[i];
		if (!is_legal(attempt->op, where->level) ||
		    attempt->op->how == LOCK)
			continue;

		/* before and after: H */
		nbq_forget_attempts();
		nbq_fake_start(START, STEP);
		attempt_at(test, attempt, where->level);
		KUNIT_EXPECT_EQ_MSG(test, attempt->ret, nbq_operation_failure(attempt->op),
				    "%s", attempt->op->desc);
		KUNIT_EXPECT_TRUE(test, attempt->locked);
		expect_state(test, attempt->holding, attempt->before, attempt->op->desc);
		expect_nodes(test, attempt, has_enqueued(attempt));
		KUNIT_EXPECT_LE(test, nbq_fake_last(), START + PATIENCE + 3 * STEP);
		EXPECT_SHAPE(test, "H");
	}
}

/* Another CPU releases as soon as a context waits. */
struct neighbour {
	struct nbq_fixture *fixture;
	struct nbq_contender *holder;
	bool contended;
};

static void release_once_contended(void *arg)
{
	struct neighbour *neighbour = arg;
	struct nbq_fixture *fixture = neighbour->fixture;
	/* More than a host with other work gives this CPU before the other one */
	unsigned int polls = 1000000000;

	while (!fixture->type->is_contended(fixture->lock) && polls--)
		cpu_relax();
	neighbour->contended = polls + 1;
	nbq_contender_release(fixture, neighbour->holder);
}

static void nothing(void *unused)
{
}

/* The clock of this case is the real one: a wait without end reads none. */
static void every_waiting_operation_is_granted_the_lock(struct kunit *test)
{
	static call_single_data_t csd;
	const struct level_case *where = nbq_value(test);
	struct attempt *attempt = new_attempt(test);
	struct nbq_fixture *fixture = test->priv;
	struct neighbour neighbour = { .fixture = fixture };
	struct nbq_operation patient;
	unsigned int i;

	nbq_other_cpu(test);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		patient = operations[i];
		if (!is_legal(&patient, where->level) || patient.how == TRY ||
		    (patient.how != LOCK && patient.time < PATIENCE))
			continue;
		patient.time = KTIME_MAX;
		attempt->op = &patient;

		/* before: H, elsewhere; in between: H w; after: [], or A */
		nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
		neighbour.holder = nbq_fixture_enqueue(test);
		if (neighbour.holder->state == WAITING)
			nbq_contender_poll(fixture, neighbour.holder);
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

/* An interrupt of another CPU that holds the lock */
struct remote_holder {
	const struct nbq_lock_type *type;	/* the lock's type */
	void *lock;				/* the lock */
	bool was_idle;				/* it was called without an interrupt: once more */
	bool holds;				/* it does */
	bool over;				/* the attempt of this CPU is over */
};

static void hold_until_over(void *arg)
{
	struct remote_holder *holder = arg;
	/* More than a host with other work gives this CPU before the other one */
	unsigned int polls = 1000000000;

	/* A CPU that was idle makes calls itself on its way to other work. */
	if (!in_hardirq()) {
		WRITE_ONCE(holder->was_idle, true);
		return;
	}
	if (!holder->type->trylock(holder->lock))
		return;
	/* RELEASE, pairs with the ACQUIRE of the attempt: the lock is held. */
	smp_store_release(&holder->holds, true);
	/* ACQUIRE, pairs with the RELEASE of the attempt: it is over. */
	while (!smp_load_acquire(&holder->over) && polls--)
		cpu_relax();
	holder->type->unlock(holder->lock);
}

static void timeout_info_has_the_level_of_a_holder_in_a_hardirq(struct kunit *test)
{
	static call_single_data_t csd;
	struct nbq_fixture *fixture = fixture_elsewhere(test);
	struct remote_holder holder = { .type = fixture->type, .lock = fixture->lock };
	struct nbq_timeout info = {};
	unsigned int cpu, calls = 1000, polls = 1000000000;
	int ret;

	/* Before and after: H, elsewhere */
	migrate_disable();
	cpu = nbq_other_cpu(test);
	INIT_CSD(&csd, hold_until_over, &holder);
	do {
		WRITE_ONCE(holder.was_idle, false);
		smp_call_function_single_async(cpu, &csd);
		/* ACQUIRE, pairs with the RELEASE in hold_until_over(). */
		while (!smp_load_acquire(&holder.holds) && !READ_ONCE(holder.was_idle) && polls--)
			cpu_relax();
	} while (READ_ONCE(holder.was_idle) && --calls);
	nbq_fake_start(START, STEP);
	ret = fixture->type->lock_timeout_info(fixture->lock, PATIENCE, &info);
	if (!ret)
		fixture->type->unlock(fixture->lock);
	/* RELEASE, pairs with the ACQUIRE in hold_until_over(). */
	smp_store_release(&holder.over, true);
	/* Calls are made in order: after this one, that one has returned. */
	smp_call_function_single(cpu, nothing, NULL, true);
	migrate_enable();

	KUNIT_EXPECT_EQ(test, ret, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, info.holder_cpu, cpu);
	KUNIT_EXPECT_EQ(test, info.holder_level, NBQ_HARDIRQ);
	KUNIT_EXPECT_GE(test, info.waited_ns, PATIENCE);
	KUNIT_EXPECT_EQ(test, info.waited_ns, nbq_fake_last() - START);
}

/* A context above one of its own CPU that has the lock, or waits for it */

/* One context on top of another, both at the same lock */
struct pair {
	struct nbq_fixture *fixture;		/* the lock */
	unsigned int below;			/* level of the lower one */
	unsigned int above;			/* level of the upper one */
	bool waits;				/* the lower one waits; else it holds */
	struct visit lower;			/* how the lower one gets there */
	struct visit upper;			/* how the upper one does */
	int lower_ret;				/* of the lower one's attempt */
	int rets[ARRAY_SIZE(operations)];	/* of the upper one's, by each operation */
	struct state before;			/* the state of the upper one */
	struct state after;			/* in the end */
};

/* An operation that cannot fail would wait for ever. */
static bool is_tried(const struct nbq_operation *op, unsigned int level)
{
	return op->how != LOCK && is_legal(op, level);
}

static void try_every_operation(void *arg)
{
	struct pair *pair = arg;
	struct nbq_fixture *fixture = pair->fixture;
	unsigned long flags;
	unsigned int i;

	pair->before = state_now();
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!is_tried(&operations[i], pair->above))
			continue;
		pair->rets[i] = fixture->type->take(&operations[i], fixture->lock, &flags);
		if (!pair->rets[i])
			fixture->type->drop(&operations[i], fixture->lock, flags);
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
	struct nbq_fixture *fixture = pair->fixture;

	if (pair->waits) {
		nbq_fake_call(nbq_fake.now + STEP, run_above, pair);
		pair->lower_ret = fixture->type->lock_timeout(fixture->lock, PATIENCE);
	} else {
		pair->lower_ret = fixture->type->lock_timeout(fixture->lock, 0);
		run_above(pair);
	}
	if (!pair->lower_ret)
		fixture->type->unlock(fixture->lock);
}

/*
 * A context that may steal from the waiter below it waits until its patience is over. An
 * attempt without patience does not wait, and is in no deadlock.
 */
static void expect_edeadlk_at_once(struct kunit *test, struct pair *pair)
{
	bool may_steal = pair->waits && pair->fixture->type->traits->steals;
	int error = may_steal ? -ETIMEDOUT : -EDEADLK;
	unsigned int i;

	end_visit(test, &pair->lower);
	end_visit(test, &pair->upper);
	KUNIT_EXPECT_EQ(test, pair->lower_ret, pair->waits ? -ETIMEDOUT : 0);
	expect_state(test, pair->after, pair->before, "above");
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		int none = nbq_operation_failure(&operations[i]);

		if (is_tried(&operations[i], pair->above))
			KUNIT_EXPECT_EQ_MSG(test, pair->rets[i], none == -EBUSY ? none : error,
					    "%s at level %u above %u",
					    operations[i].desc, pair->above, pair->below);
	}
	/* None of them has waited; the lower one has, until its deadline. */
	if (may_steal)
		KUNIT_EXPECT_GT(test, nbq_fake_last(), START + PATIENCE + STEP);
	else if (pair->waits)
		EXPECT_ENDED_AT(test, START + PATIENCE);
	else
		KUNIT_EXPECT_LT(test, nbq_fake_last(), START + PATIENCE);
}

/* Above every other context, of which a task is one; and an NMI above an NMI */
static void try_all_pairs(struct kunit *test, bool waits)
{
	const struct level_case *above = nbq_value(test);
	struct nbq_fixture *fixture = fixture_elsewhere(test);
	unsigned int end = above->level + (above->level == NBQ_NMI);
	struct pair *pair;
	unsigned int below;

	if (waits)
		nbq_fixture_enqueue(test);
	for (below = NBQ_TASK; below < end; below++) {
		pair = alloc(test, sizeof(*pair));
		pair->fixture = fixture;
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

/* A context of the stack */
struct floor {
	struct stack *stack;		/* what it belongs to */
	unsigned int level;		/* of the context that it should be */
	unsigned int seen;		/* of the context that it was */
	struct visit visit;		/* how it gets there */
	void *own;			/* held from its beginning to its end */
	void *wanted;	/* held by holder, and waited for while all above it come and go */
	void *spare;			/* for one attempt more than there are nodes */
	struct nbq_contender holder;	/* a context elsewhere */
	/*
	 * A context elsewhere that has @spare meanwhile, where a free lock can be taken
	 * without a node
	 */
	struct nbq_contender user;
	/* Another context elsewhere, which enqueues behind the wait */
	struct nbq_contender behind;
	/*
	 * The node that is free again once the wait is over, where holders have none: kept
	 * from the attempt for one more
	 */
	struct nbq_node *rest;
	struct nbq_node *nodes;		/* all that its pool has */
	struct nbq_encodable *encodable;
	struct nbq_replaced replaced;	/* the pool's own nodes */
	int own_ret;			/* what the attempts returned: to hold own, */
	int wait_ret;			/* to wait for wanted, */
	int more_ret;			/* for spare, with all nodes in use, */
	int later_ret;			/* for spare, when one is free again */
	u64 more_ns;			/* the time that the attempt without a node took */
	struct state before;		/* the state */
	struct state after;		/* in the end */
};

/* The contexts of this CPU, one on top of the other */
struct stack {
	struct nbq_fixture *fixture;		/* the lock type; the nodes of those elsewhere */
	enum ending ending;			/* of the waits */
	struct floor floors[NBQ_LEVELS];	/* the contexts, by level */
	struct counts counted;			/* what the pools had counted before */
	struct counts counts;			/* and afterwards */
};

static void run_floor(void *arg);

/* In the middle of a floor's wait: all floors above it, then those elsewhere */
static void while_floor_waits(void *arg)
{
	struct floor *floor = arg;
	struct nbq_fixture *fixture = floor->stack->fixture;

	if (floor->level < NBQ_NMI) {
		struct floor *above = floor + 1;

		visit_level(&above->visit, above->level, run_floor, above);
	}
	if (floor->stack->ending == GRANTED) {
		fixture->type->release(floor->wanted, floor->holder.node);
	} else {
		fixture->type->enqueue(floor->wanted, &floor->behind);
		if (fixture->type->link)
			fixture->type->link(&floor->behind);
	}
}

/* A node is free again: that of the wait, or one that the successor reclaims. */
static void free_a_node(struct floor *floor)
{
	const struct nbq_lock_type *type = floor->stack->fixture->type;

	if (!type->traits->holder_nodes)
		type->release(floor->spare, floor->user.node);
	if (floor->rest)
		nbq_node_free_own(floor->rest);
	if (!floor->wait_ret) {
		type->unlock(floor->wanted);
		/* Where it stays in the lock */
		type->destroy(floor->wanted);
		return;
	}
	type->poll(floor->wanted, &floor->behind);
}

static int try_spare(struct floor *floor, ktime_t patience)
{
	const struct nbq_lock_type *type = floor->stack->fixture->type;
	int ret = type->lock_timeout(floor->spare, patience);

	if (!ret) {
		type->unlock(floor->spare);
		type->destroy(floor->spare);
	}
	return ret;
}

static void run_floor(void *arg)
{
	struct floor *floor = arg;
	const struct nbq_lock_type *type = floor->stack->fixture->type;

	floor->seen = interrupt_context_level();
	floor->before = state_now();
	floor->own_ret = type->lock_timeout(floor->own, 0);
	/* It has enqueued by then. */
	nbq_fake_call(nbq_fake.now + 8 * STEP, while_floor_waits, floor);
	/* What comes on top takes its time. */
	floor->wait_ret = type->lock_timeout(floor->wanted, floor->stack->ending == GRANTED ?
					     100 * PATIENCE : PATIENCE);
	if (!floor->wait_ret && !type->traits->holder_nodes)
		floor->rest = nbq_node_alloc(nbq_this_pool());
	floor->more_ns = nbq_fake.now;
	floor->more_ret = try_spare(floor, PATIENCE);
	floor->more_ns = nbq_fake.now - floor->more_ns;
	free_a_node(floor);
	floor->later_ret = try_spare(floor, 0);
	if (!floor->own_ret) {
		type->unlock(floor->own);
		type->destroy(floor->own);
	}
	floor->after = state_now();
	mend(floor->before);
}

static unsigned int floor_nodes(const struct stack *stack)
{
	return stack->fixture->type->traits->holder_nodes + 1;
}

static void init_floor(struct kunit *test, struct stack *stack, unsigned int level)
{
	struct floor *floor = &stack->floors[level];
	struct nbq_fixture *fixture = stack->fixture;

	floor->stack = stack;
	floor->level = level;
	floor->own = new_lock(test);
	floor->wanted = new_lock(test);
	floor->spare = new_lock(test);
	floor->nodes = alloc(test, FLOOR_NODES_MAX * sizeof(struct nbq_node));
	floor->encodable = nbq_encodable_new(test, floor->nodes, floor_nodes(stack));
	KUNIT_ASSERT_NOT_NULL(test, floor->encodable);
	floor->holder.node = nbq_fixture_alloc(test);
	fixture->type->enqueue(floor->wanted, &floor->holder);
	if (!fixture->type->traits->holder_nodes) {
		floor->user.node = nbq_fixture_alloc(test);
		fixture->type->enqueue(floor->spare, &floor->user);
	}
	floor->behind.node = nbq_fixture_alloc(test);
}

static struct stack *new_stack(struct kunit *test, enum ending ending)
{
	struct stack *stack = alloc(test, sizeof(*stack));
	unsigned int level;

	stack->fixture = fixture_elsewhere(test);
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
		nbq_pool_replace(&floor->replaced, &pools[level], floor->nodes, floor->encodable);
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
	const struct nbq_lock_type *type = stack->fixture->type;
	unsigned int level;

	nbq_fake_start(START, STEP);
	preempt_disable();
	replace_nodes(stack);
	read_counts(&stack->counted);
	visit_level(&stack->floors[0].visit, NBQ_TASK, run_floor, &stack->floors[0]);
	read_counts(&stack->counts);
	for (level = 0; level < NBQ_LEVELS && stack->ending == TIMES_OUT; level++) {
		struct floor *floor = &stack->floors[level];

		type->release(floor->wanted, floor->holder.node);
		if (type->poll(floor->wanted, &floor->behind))
			type->release(floor->wanted, floor->behind.node);
		type->destroy(floor->wanted);
	}
	restore_nodes(stack);
	preempt_enable();
}

static void expect_floor(struct kunit *test, struct stack *stack, unsigned int level)
{
	struct nbq_events *from = &stack->counted.of[level];
	struct nbq_events *to = &stack->counts.of[level];
	const struct nbq_traits *traits = stack->fixture->type->traits;
	struct floor *floor = &stack->floors[level];
	bool held = stack->ending == GRANTED;
	unsigned int i;

	end_visit(test, &floor->visit);
	KUNIT_EXPECT_EQ_MSG(test, floor->seen, level, "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->own_ret, 0, "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->wait_ret, held ? 0 : -ETIMEDOUT,
			    "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->more_ret, traits->without_node, "level %u", level);
	/* One that waits for a node, and not for the lock, is in no deadlock. */
	KUNIT_EXPECT_GE_MSG(test, floor->more_ns, PATIENCE, "level %u", level);
	KUNIT_EXPECT_LE_MSG(test, floor->more_ns, PATIENCE + 2 * STEP, "level %u", level);
	KUNIT_EXPECT_EQ_MSG(test, floor->later_ret, 0, "level %u", level);
	expect_state(test, floor->after, floor->before, level_cases[level].desc);

	/* To wait; to hold, and the second attempt for one more; the rest */
	KUNIT_EXPECT_EQ(test, to->nodes_allocated - from->nodes_allocated,
			1 + 2 * traits->holder_nodes + !!floor->rest);
	KUNIT_EXPECT_EQ(test, to->exhaustions - from->exhaustions, 1);
	KUNIT_EXPECT_EQ(test, to->timeouts - from->timeouts,
			!held + (traits->without_node == -ETIMEDOUT));
	KUNIT_EXPECT_EQ(test, to->nodes_abandoned - from->nodes_abandoned, !held);
	KUNIT_EXPECT_EQ(test, to->acquired_uncontended - from->acquired_uncontended,
			2 * traits->holder_nodes);
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

NBQ_TYPES_PARAM(ending, ending_cases);

/*
 * task, softirq, hardirq, NMI: each holds one lock and waits for another, with the last node of its
 * pool, while the next one comes on top of the wait. One attempt more fails once its patience is
 * over, and not before: with -ENOMEM, but where one without a node can have the lock.
 */
static void all_contexts_hold_and_wait_with_the_last_of_their_nodes(struct kunit *test)
{
	const struct ending_case *ending = nbq_value(test);
	struct stack *stack = new_stack(test, ending->ending);
	struct nbq_fixture *fixture = stack->fixture;
	unsigned int level;

	run_stack(stack);
	for (level = 0; level < NBQ_LEVELS; level++) {
		expect_floor(test, stack, level);
		/* It has not enqueued. */
		if (ending->ending == GRANTED)
			nbq_node_free(stack->floors[level].behind.node);
	}
	/* All nodes are free, here and elsewhere. */
	nbq_read_events(&fixture->total);
	KUNIT_EXPECT_EQ(test, nbq_nodes_in_use(fixture), 0);
}

KUNIT_ARRAY_PARAM(type, nbq_types, nbq_type_desc);

static struct kunit_case contexts_cases[] = {
	KUNIT_CASE_PARAM(every_operation_takes_a_free_lock, level_gen_params),
	KUNIT_CASE_PARAM(every_timed_operation_gives_up_behind_a_holder, level_gen_params),
	KUNIT_CASE_PARAM(every_waiting_operation_is_granted_the_lock, level_gen_params),
	KUNIT_CASE_PARAM(timeout_info_has_the_level_of_a_holder_in_a_hardirq, type_gen_params),
	KUNIT_CASE_PARAM(context_above_the_holder_gets_edeadlk_at_once, interrupt_gen_params),
	KUNIT_CASE_PARAM(context_above_a_waiter_gets_edeadlk_or_may_steal, interrupt_gen_params),
	KUNIT_CASE_PARAM(all_contexts_hold_and_wait_with_the_last_of_their_nodes,
			 ending_gen_params),
	{}
};

static struct kunit_suite contexts_suite = {
	.name = "nbq_contexts",
	.init = nbq_fixture_init,
	.exit = nbq_fixture_finish,
	.test_cases = contexts_cases,
};

kunit_test_suite(contexts_suite);
