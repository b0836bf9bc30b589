// SPDX-License-Identifier: GPL-2.0
/*
 * Attempts to acquire a spinlock that give up after a time, by each function, in each context: in
 * a task, and above it in a softirq, in a hard interrupt, and on x86 in an NMI, all of them real.
 *
 * Where a lock is to be held by another context, a thread on another CPU holds it, until the
 * attempt is over or has enqueued. No case depends on timing: each patience is over while the lock
 * is held, or longer than the case may take.
 *
 * Lockdep tracks the locks of one case only. The others acquire one lock with interrupts on, in
 * interrupts, and above its holder.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#define SHORT_NS	(100 * NSEC_PER_USEC)
#define LONG_NS		(100LL * NSEC_PER_SEC)
/* What the clocks of two CPUs may differ by */
#define CLOCK_NS	NSEC_PER_USEC
/* In polls, for an interrupt that does not come. */
#define MOST_POLLS	100000000U

enum context { TASK, SOFTIRQ, HARDIRQ, NMI };

/* Functions to acquire by */

enum form {
	RAW, RAW_BH, RAW_IRQSAVE, RAW_UNLESS, SPIN, SPIN_BH, SPIN_IRQSAVE, SPIN_TRY_IRQSAVE, FORMS
};

struct locks {
	raw_spinlock_t raw;	/* for RAW, RAW_BH, RAW_IRQSAVE, RAW_UNLESS */
	spinlock_t spin;	/* for the others */
};

static bool is_raw(enum form form)
{
	return form < SPIN;
}

static bool is_bh(enum form form)
{
	return form == RAW_BH || form == SPIN_BH;
}

static bool is_irqsave(enum form form)
{
	return form == RAW_IRQSAVE || form == SPIN_IRQSAVE || form == SPIN_TRY_IRQSAVE;
}

static int take(struct locks *locks, enum form form, s64 patience_ns, unsigned long *flags)
	__no_context_analysis
{
	switch (form) {
	case RAW:
		return raw_spin_lock_timeout(&locks->raw, patience_ns);
	case RAW_BH:
		return raw_spin_lock_timeout_bh(&locks->raw, patience_ns);
	case RAW_IRQSAVE:
		return raw_spin_lock_timeout_irqsave(&locks->raw, patience_ns, *flags);
	case SPIN:
		return spin_lock_timeout(&locks->spin, patience_ns);
	case SPIN_BH:
		return spin_lock_timeout_bh(&locks->spin, patience_ns);
	case SPIN_IRQSAVE:
		return spin_lock_timeout_irqsave(&locks->spin, patience_ns, *flags);
	case SPIN_TRY_IRQSAVE:
		return spin_trylock_timeout_irqsave(&locks->spin, patience_ns, *flags);
	default:
		return -EINVAL;
	}
}

static void drop(struct locks *locks, enum form form, unsigned long flags)
	__no_context_analysis
{
	switch (form) {
	case RAW:
	case RAW_UNLESS:
		raw_spin_unlock(&locks->raw);
		break;
	case RAW_BH:
		raw_spin_unlock_bh(&locks->raw);
		break;
	case RAW_IRQSAVE:
		raw_spin_unlock_irqrestore(&locks->raw, flags);
		break;
	case SPIN:
		spin_unlock(&locks->spin);
		break;
	case SPIN_BH:
		spin_unlock_bh(&locks->spin);
		break;
	case SPIN_IRQSAVE:
	case SPIN_TRY_IRQSAVE:
		spin_unlock_irqrestore(&locks->spin, flags);
		break;
	default:
		break;
	}
}

static void hold(struct locks *locks) __no_context_analysis
{
	spin_lock(&locks->spin);
	raw_spin_lock(&locks->raw);
}

static void release(struct locks *locks) __no_context_analysis
{
	raw_spin_unlock(&locks->raw);
	spin_unlock(&locks->spin);
}

static struct locks *new_locks(struct kunit *test)
{
	struct locks *locks = kunit_kzalloc(test, sizeof(*locks), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, locks);
	raw_spin_lock_init(&locks->raw);
	spin_lock_init(&locks->spin);
	return locks;
}

static struct locks *new_untracked_locks(struct kunit *test)
{
	struct locks *locks = new_locks(test);

	lockdep_set_notrack_class(&locks->raw);
	lockdep_set_notrack_class(&locks->spin);
	return locks;
}

/* One attempt, and what was seen of it */

struct state {
	unsigned int preempt;
	bool irqs_off;
};

struct attempt {
	struct locks *locks;
	enum form form;
	s64 patience_ns;
	bool stops;		/* the condition of RAW_UNLESS is true */
	unsigned int asked;	/* how often it was called */
	int ret;
	bool is_locked;		/* when it was over */
	u64 took_ns;
	struct state before;
	struct state holding;	/* when it was over */
	struct state after;	/* and the lock released */
	bool done;
	struct tasklet_struct tasklet;
	struct irq_work irq_work;
};

static struct state state_now(void)
{
	return (struct state){ .preempt = preempt_count(), .irqs_off = irqs_disabled() };
}

static bool is_to_stop(void *arg)
{
	struct attempt *attempt = arg;

	attempt->asked++;
	return attempt->stops;
}

static int take_unless(struct attempt *attempt) __no_context_analysis
{
	return raw_spin_lock_unless(&attempt->locks->raw, attempt->patience_ns, is_to_stop,
				    attempt);
}

static void make_attempt(struct attempt *attempt)
{
	struct locks *locks = attempt->locks;
	unsigned long flags = 0;
	u64 begin;

	attempt->before = state_now();
	begin = ktime_get_mono_fast_ns();
	attempt->ret = attempt->form == RAW_UNLESS ? take_unless(attempt) :
		       take(locks, attempt->form, attempt->patience_ns, &flags);
	attempt->took_ns = ktime_get_mono_fast_ns() - begin;
	attempt->holding = state_now();
	attempt->is_locked = raw_spin_is_locked(is_raw(attempt->form) ? &locks->raw :
								       &locks->spin.rlock);
	if (!attempt->ret)
		drop(locks, attempt->form, flags);
	attempt->after = state_now();
	/* RELEASE, pairs with the ACQUIRE in await(). */
	smp_store_release(&attempt->done, true);
}

static void await(struct attempt *attempt)
{
	unsigned int polls = MOST_POLLS;

	/* ACQUIRE, pairs with the RELEASE in make_attempt(): what the attempt has found. */
	while (!smp_load_acquire(&attempt->done) && polls--)
		cpu_relax();
}

/* Contexts of this CPU above the running task, which has preemption off and interrupts on */

static void tasklet_attempt(struct tasklet_struct *tasklet)
{
	make_attempt(container_of(tasklet, struct attempt, tasklet));
}

static void irq_work_attempt(struct irq_work *work)
{
	make_attempt(container_of(work, struct attempt, irq_work));
}

/* Softirqs that are due run when bottom halves are turned on again. */
static void attempt_in_softirq(struct attempt *attempt)
{
	tasklet_setup(&attempt->tasklet, tasklet_attempt);
	local_bh_disable();
	tasklet_schedule(&attempt->tasklet);
	local_bh_enable();
}

static void attempt_in_hardirq(struct attempt *attempt)
{
	attempt->irq_work = IRQ_WORK_INIT_HARD(irq_work_attempt);
	irq_work_queue(&attempt->irq_work);
	/* With the next tick, where a CPU cannot interrupt itself. */
	await(attempt);
}

#ifdef CONFIG_X86_LOCAL_APIC
#include <linux/cpufeature.h>
#include <linux/nmi.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>

#define HANDLER_NAME	"nbq_spinlock_timeout"

static struct attempt *due_in_nmi;

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct attempt *attempt = xchg(&due_in_nmi, NULL);

	if (!attempt)
		return NMI_DONE;
	make_attempt(attempt);
	return NMI_HANDLED;
}

static bool has_nmi(void)
{
	return boot_cpu_has(X86_FEATURE_APIC);
}

static void attempt_in_nmi(struct attempt *attempt)
{
	WRITE_ONCE(due_in_nmi, attempt);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	await(attempt);
}

static int start_nmis(struct kunit_suite *suite)
{
	return has_nmi() ? register_nmi_handler(NMI_LOCAL, handle_nmi, 0, HANDLER_NAME) : 0;
}

static void stop_nmis(struct kunit_suite *suite)
{
	if (has_nmi())
		unregister_nmi_handler(NMI_LOCAL, HANDLER_NAME);
}
#else
static bool has_nmi(void)
{
	return false;
}

static void attempt_in_nmi(struct attempt *attempt)
{
}

static int start_nmis(struct kunit_suite *suite)
{
	return 0;
}

static void stop_nmis(struct kunit_suite *suite)
{
}
#endif

static void (* const make_in[])(struct attempt *attempt) = {
	[TASK] = make_attempt,
	[SOFTIRQ] = attempt_in_softirq,
	[HARDIRQ] = attempt_in_hardirq,
	[NMI] = attempt_in_nmi,
};

static const struct context_case {
	const char *desc;
	enum context context;
} context_cases[] = {
	{ "task", TASK },
	{ "softirq", SOFTIRQ },
	{ "hardirq", HARDIRQ },
	{ "nmi", NMI },
};

KUNIT_ARRAY_PARAM_DESC(context, context_cases, desc);

static enum context context_of(struct kunit *test)
{
	const struct context_case *param = test->param_value;

	if (param->context == NMI && !has_nmi())
		kunit_skip(test, "no NMI can be sent");
	return param->context;
}

/* Where interrupts are off, bottom halves may not be turned on. */
static bool is_legal(enum form form, enum context context)
{
	return context < HARDIRQ || !is_bh(form);
}

static unsigned int legal_forms(enum context context)
{
	unsigned int form, legal = 0;

	for (form = 0; form < FORMS; form++)
		legal += is_legal(form, context);
	return legal;
}

/* An attempt by each function that may be called there. Nothing here sleeps. */
static void attempt_by_all(struct attempt *attempts, struct locks *locks, enum context context,
			   s64 patience_ns)
{
	unsigned int form;

	for (form = 0; form < FORMS; form++) {
		struct attempt *attempt = &attempts[form];

		*attempt = (struct attempt){
			.locks = locks, .form = form, .patience_ns = patience_ns
		};
		if (!is_legal(form, context))
			continue;
		preempt_disable();
		make_in[context](attempt);
		preempt_enable();
	}
}

/* What interrupts have of it: one that never came may come yet. */
static void settle(struct attempt *attempt)
{
	if (attempt->tasklet.callback)
		tasklet_kill(&attempt->tasklet);
	if (attempt->irq_work.func)
		irq_work_sync(&attempt->irq_work);
}

/* They have all ended so, and have left preemption and interrupts as they were. */
static void expect_all(struct kunit *test, struct attempt *attempts, enum context context, int ret)
{
	unsigned int form;

	for (form = 0; form < FORMS; form++) {
		struct attempt *attempt = &attempts[form];

		settle(attempt);
		if (!is_legal(form, context))
			continue;
		KUNIT_EXPECT_TRUE_MSG(test, attempt->done, "form %u", form);
		KUNIT_EXPECT_EQ_MSG(test, attempt->ret, ret, "form %u", form);
		KUNIT_EXPECT_TRUE_MSG(test, attempt->is_locked, "form %u", form);
		KUNIT_EXPECT_EQ_MSG(test, attempt->after.preempt, attempt->before.preempt,
				    "form %u", form);
		KUNIT_EXPECT_EQ_MSG(test, attempt->after.irqs_off, attempt->before.irqs_off,
				    "form %u", form);
	}
}

static struct attempt *new_attempts(struct kunit *test)
{
	struct attempt *attempts = kunit_kcalloc(test, FORMS, sizeof(*attempts), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, attempts);
	return attempts;
}

/* A thread on another CPU that holds the locks */

struct holder {
	struct locks *locks;
	struct task_struct *thread;
	bool holds;
	bool until_contended;	/* of locks->raw */
	bool stop;
};

static int hold_elsewhere(void *arg)
{
	struct holder *holder = arg;

	hold(holder->locks);
	/* RELEASE, pairs with the ACQUIRE in start_holder(): the locks are held. */
	smp_store_release(&holder->holds, true);
	while (!READ_ONCE(holder->stop) &&
	       !(holder->until_contended && raw_spin_is_contended(&holder->locks->raw)))
		cpu_relax();
	release(holder->locks);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* The running task stays on its CPU: that of the holder runs nothing else. */
static void start_holder(struct kunit *test, struct holder *holder)
{
	unsigned int cpu;

	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (cpu < nr_cpu_ids)
		holder->thread = kthread_create_on_cpu(hold_elsewhere, holder, cpu, "holder/%u");
	if (IS_ERR_OR_NULL(holder->thread)) {
		migrate_enable();
		kunit_skip(test, "no other CPU can hold the lock");
	}
	wake_up_process(holder->thread);
	/* ACQUIRE, pairs with the RELEASE in hold_elsewhere(). */
	while (!smp_load_acquire(&holder->holds))
		cond_resched();
}

static void stop_holder(struct holder *holder)
{
	WRITE_ONCE(holder->stop, true);
	kthread_stop(holder->thread);
	migrate_enable();
}

/* Cases */

static void free_lock_is_acquired(struct kunit *test)
{
	enum context context = context_of(test);
	struct attempt *attempts = new_attempts(test);
	struct locks *locks = new_untracked_locks(test);

	attempt_by_all(attempts, locks, context, SHORT_NS);
	expect_all(test, attempts, context, 0);
	attempt_by_all(attempts, locks, context, 0);
	expect_all(test, attempts, context, 0);
}

static void holder_has_preemption_interrupts_and_bottom_halves_off_as_asked(struct kunit *test)
{
	struct attempt *attempts = new_attempts(test);
	unsigned int form;

	attempt_by_all(attempts, new_untracked_locks(test), TASK, SHORT_NS);
	for (form = 0; form < FORMS; form++) {
		struct attempt *attempt = &attempts[form];
		unsigned int offset = is_bh(form) ? SOFTIRQ_LOCK_OFFSET : PREEMPT_LOCK_OFFSET;

		KUNIT_EXPECT_EQ_MSG(test, attempt->holding.preempt,
				    attempt->before.preempt + offset, "form %u", form);
		KUNIT_EXPECT_EQ_MSG(test, attempt->holding.irqs_off, is_irqsave(form),
				    "form %u", form);
	}
}

static void held_lock_times_out(struct kunit *test)
{
	enum context context = context_of(test);
	struct attempt *attempts = new_attempts(test);
	struct holder holder = { .locks = new_untracked_locks(test) };
	unsigned int form;

	start_holder(test, &holder);
	attempt_by_all(attempts, holder.locks, context, SHORT_NS);
	stop_holder(&holder);
	expect_all(test, attempts, context, -ETIMEDOUT);
	for (form = 0; form < FORMS; form++) {
		if (is_legal(form, context))
			KUNIT_EXPECT_GE_MSG(test, attempts[form].took_ns, SHORT_NS - CLOCK_NS,
					    "form %u", form);
	}
	attempt_by_all(attempts, holder.locks, context, SHORT_NS);
	expect_all(test, attempts, context, 0);
}

static void held_lock_is_busy_without_patience(struct kunit *test)
{
	enum context context = context_of(test);
	struct attempt *attempts = new_attempts(test);
	struct holder holder = { .locks = new_untracked_locks(test) };

	start_holder(test, &holder);
	attempt_by_all(attempts, holder.locks, context, 0);
	stop_holder(&holder);
	expect_all(test, attempts, context, -EBUSY);
}

/* The holder releases when it sees a waiter in the queue. */
static void waiter_gets_the_lock_that_is_released(struct kunit *test)
{
	enum context context = context_of(test);
	struct attempt *attempts = new_attempts(test);
	struct holder holder = { .locks = new_untracked_locks(test), .until_contended = true };

	start_holder(test, &holder);
	attempt_by_all(attempts, holder.locks, context, LONG_NS);
	stop_holder(&holder);
	expect_all(test, attempts, context, 0);
}

/* With the first call; without end, an attempt that fails to ask would not end. */
static void wait_ends_when_the_condition_holds(struct kunit *test)
{
	enum context context = context_of(test);
	struct attempt *attempt = new_attempts(test);
	struct holder holder = { .locks = new_untracked_locks(test) };

	*attempt = (struct attempt){
		.locks = holder.locks, .form = RAW_UNLESS, .patience_ns = KTIME_MAX, .stops = true
	};
	start_holder(test, &holder);
	preempt_disable();
	make_in[context](attempt);
	preempt_enable();
	stop_holder(&holder);
	settle(attempt);
	KUNIT_EXPECT_TRUE(test, attempt->done);
	KUNIT_EXPECT_EQ(test, attempt->ret, -ECANCELED);
	KUNIT_EXPECT_EQ(test, attempt->asked, 1);
	KUNIT_EXPECT_TRUE(test, attempt->is_locked);
	KUNIT_EXPECT_EQ(test, attempt->after.preempt, attempt->before.preempt);
	KUNIT_EXPECT_EQ(test, attempt->after.irqs_off, attempt->before.irqs_off);
}

/* nbqlock counts one deadlock for each attempt: tools that read the count read this. */
static void lock_of_this_cpu_is_a_deadlock(struct kunit *test)
{
	enum context context = context_of(test);
	struct attempt *attempts = new_attempts(test);
	struct locks *locks = new_untracked_locks(test);

	kunit_info(test, "provokes %u deadlocks", legal_forms(context));
	hold(locks);
	attempt_by_all(attempts, locks, context, LONG_NS);
	release(locks);
	expect_all(test, attempts, context, -EDEADLK);
}

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static void lockdep_knows_who_holds_the_lock(struct kunit *test)
{
	struct holder holder = { .locks = new_locks(test) };
	raw_spinlock_t *lock = &holder.locks->raw;

	start_holder(test, &holder);
	KUNIT_EXPECT_EQ(test, raw_spin_lock_timeout(lock, SHORT_NS), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, raw_spin_lock_timeout(lock, 0), -EBUSY);
	KUNIT_EXPECT_NE(test, lock_is_held(&lock->dep_map), LOCK_STATE_HELD);
	stop_holder(&holder);
	KUNIT_ASSERT_EQ(test, raw_spin_lock_timeout(lock, SHORT_NS), 0);
	KUNIT_EXPECT_NE(test, lock_is_held(&lock->dep_map), LOCK_STATE_NOT_HELD);
	raw_spin_unlock(lock);
	KUNIT_EXPECT_NE(test, lock_is_held(&lock->dep_map), LOCK_STATE_HELD);
}

/* The log is searched for a report. */
static void lockdep_lets_a_trylock_wait_above_its_holder(struct kunit *test)
	__no_context_analysis
{
	spinlock_t *lock = &new_locks(test)->spin;
	unsigned long flags, inner;
	int ret;

	kunit_info(test, "provokes 1 deadlocks");
	spin_lock_irqsave(lock, flags);
	ret = spin_trylock_timeout_irqsave(lock, LONG_NS, inner);
	spin_unlock_irqrestore(lock, flags);
	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	ret = spin_trylock_timeout_irqsave(lock, LONG_NS, flags);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_EXPECT_NE(test, lock_is_held(&lock->dep_map), LOCK_STATE_NOT_HELD);
	spin_unlock_irqrestore(lock, flags);
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(free_lock_is_acquired, context_gen_params),
	KUNIT_CASE(holder_has_preemption_interrupts_and_bottom_halves_off_as_asked),
	KUNIT_CASE_PARAM(held_lock_times_out, context_gen_params),
	KUNIT_CASE_PARAM(held_lock_is_busy_without_patience, context_gen_params),
	KUNIT_CASE_PARAM(waiter_gets_the_lock_that_is_released, context_gen_params),
	KUNIT_CASE_PARAM(wait_ends_when_the_condition_holds, context_gen_params),
	KUNIT_CASE_PARAM(lock_of_this_cpu_is_a_deadlock, context_gen_params),
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	KUNIT_CASE(lockdep_knows_who_holds_the_lock),
	KUNIT_CASE(lockdep_lets_a_trylock_wait_above_its_holder),
#endif
	{}
};

static struct kunit_suite suite = {
	.name = "nbq_spinlock_timeout",
	.suite_init = start_nmis,
	.suite_exit = stop_nmis,
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of spin_lock_timeout()");
MODULE_LICENSE("GPL");
