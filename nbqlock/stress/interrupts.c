// SPDX-License-Identifier: GPL-2.0
/*
 * Contenders in interrupts: one for each CPU of the run and each context that
 * is wanted besides threads. A timer of its own makes it attempt, again and
 * again; it belongs to one timer, so that it never meets itself.
 *
 * Softirq and hardirq contenders attempt in their timer's handler, on their
 * CPU. That of an NMI contender runs on another CPU, if there is one, and sends
 * the NMI from there: so an NMI also comes while its CPU has interrupts off,
 * or is in an attempt of a hardirq contender.
 *
 * A timer begins anew when its attempt is over, and an attempt is followed by at
 * least as long without one: else long attempts would leave no time to who was
 * interrupted. (Those behind preempted CPUs in a queue without timeout take so
 * long that nothing else would ever run.)
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/version.h>

#include "interrupts.h"
#include "nmi.h"
#include "run.h"

/**
 * struct interrupt - one contender's
 * @timer: makes it attempt
 * @contender: the one
 */
struct interrupt {
	struct hrtimer timer;
	struct contender *contender;
};

/**
 * struct stress_interrupts - those of a run
 * @nmi: NMIs are among them, and expected
 * @count: so many are there
 * @each: the ones
 */
struct stress_interrupts {
	bool nmi;
	unsigned int count;
	struct interrupt each[];
};

static void attempt(struct contender *contender)
{
	if (contender->context != CONTEXT_NMI)
		stress_contender_interrupt(contender);
	else if (READ_ONCE(contender->not_before_ns) <= stress_clock_ns())
		stress_nmi_send(contender);
}

/* The handler of a timer. */
static enum hrtimer_restart timer_handler(struct hrtimer *timer)
{
	struct interrupt *interrupt = container_of(timer, struct interrupt, timer);
	struct contender *contender = interrupt->contender;
	const struct stress_run *run = contender->run;
	u64 pause, next;

	if (READ_ONCE(run->stop))
		return HRTIMER_NORESTART;
	pause = stress_run_pause_ns(run);
	if (!pause)
		attempt(contender);

	next = stress_clock_ns() + max(pause, run->params.interval_ns);
	next = max(next, READ_ONCE(contender->not_before_ns));
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

static enum hrtimer_mode mode_of(const struct contender *contender)
{
	return contender->context == CONTEXT_SOFTIRQ ? HRTIMER_MODE_REL_PINNED_SOFT :
						       HRTIMER_MODE_REL_PINNED_HARD;
}

static void setup(struct interrupt *interrupt, struct contender *contender)
{
	interrupt->contender = contender;
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(&interrupt->timer, timer_handler, CLOCK_MONOTONIC, mode_of(contender));
#else
	hrtimer_init(&interrupt->timer, CLOCK_MONOTONIC, mode_of(contender));
	interrupt->timer.function = timer_handler;
#endif
}

/**
 * stress_interrupts_count() - How many contenders will be in interrupts?
 * @params: of the run
 *
 * Return: that many.
 */
unsigned int stress_interrupts_count(const struct stress_params *params)
{
	return cpumask_weight(&params->cpus) *
	       hweight32(params->contexts & ~BIT(CONTEXT_TASK));
}

static int add(struct stress_run *run, enum stress_context context)
{
	struct stress_interrupts *all = run->interrupts;
	unsigned int cpu;

	for_each_cpu(cpu, &run->params.cpus) {
		unsigned int index = run->params.threads + all->count;
		struct contender *contender;

		contender = stress_contender_alloc(run, index, context, cpu);
		if (!contender)
			return -ENOMEM;
		run->contenders[index] = contender;
		setup(&all->each[all->count++], contender);
	}
	return 0;
}

/**
 * stress_interrupts_create() - Create contenders, which do nothing yet.
 * @run: the run, with room for them
 *
 * Return: 0, or a negative errno; to be stopped and freed in either case.
 */
int stress_interrupts_create(struct stress_run *run)
{
	unsigned int count = stress_interrupts_count(&run->params);
	enum stress_context context;
	int ret = 0;

	if (!count)
		return 0;
	run->interrupts = kvzalloc(struct_size(run->interrupts, each, count),
				   GFP_KERNEL);
	if (!run->interrupts)
		return -ENOMEM;
	for (context = CONTEXT_SOFTIRQ; context < CONTEXTS && !ret; context++) {
		if (run->params.contexts & BIT(context))
			ret = add(run, context);
	}
	if (!ret && run->params.contexts & BIT(CONTEXT_NMI)) {
		ret = stress_nmi_register();
		run->interrupts->nmi = !ret;
	}
	return ret;
}

/* On the timer's CPU, where a pinned one stays. */
static void start_here(void *data)
{
	struct interrupt *interrupt = data;

	hrtimer_start(&interrupt->timer, 0, mode_of(interrupt->contender));
}

/* Its own CPU; of an NMI contender, the next one of the run, if that is there. */
static unsigned int timer_cpu(const struct contender *contender)
{
	const struct cpumask *cpus = &contender->run->params.cpus;
	unsigned int cpu = cpumask_next(contender->cpu, cpus);

	if (contender->context != CONTEXT_NMI)
		return contender->cpu;
	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpus);
	return cpu_online(cpu) ? cpu : contender->cpu;
}

/* Does nothing if the CPU has gone. */
static void start(struct interrupt *interrupt)
{
	smp_call_function_single(timer_cpu(interrupt->contender), start_here,
				 interrupt, true);
}

/* Wait until it does not attempt any more. */
static void stop(struct interrupt *interrupt)
{
	hrtimer_cancel(&interrupt->timer);
	if (interrupt->contender->context == CONTEXT_NMI)
		stress_nmi_drain(interrupt->contender);
}

/**
 * stress_interrupts_start() - Let them contend.
 * @run: the run
 */
void stress_interrupts_start(struct stress_run *run)
{
	struct stress_interrupts *all = run->interrupts;
	unsigned int i;

	for (i = 0; all && i < all->count; i++)
		start(&all->each[i]);
}

/**
 * stress_interrupts_stop() - Wait until none contends any more.
 * @run: the run, perhaps not all of which could be created
 */
void stress_interrupts_stop(struct stress_run *run)
{
	struct stress_interrupts *all = run->interrupts;
	unsigned int i;

	if (!all)
		return;
	for (i = 0; i < all->count; i++)
		stop(&all->each[i]);
	if (all->nmi)
		stress_nmi_unregister();
	all->nmi = false;
}

/**
 * stress_interrupts_free() - Free what they have besides contenders.
 * @run: the run, in which they were stopped
 */
void stress_interrupts_free(struct stress_run *run)
{
	kvfree(run->interrupts);
	run->interrupts = NULL;
}

/**
 * stress_interrupts_cpu_down() - Stop those of a CPU that will go.
 * @run: the run
 * @cpu: the one
 *
 * Else their timers would go on at another CPU.
 */
void stress_interrupts_cpu_down(struct stress_run *run, unsigned int cpu)
{
	struct stress_interrupts *all = run->interrupts;
	unsigned int i;

	for (i = 0; all && i < all->count; i++) {
		if (all->each[i].contender->cpu == cpu)
			stop(&all->each[i]);
	}
}

/**
 * stress_interrupts_cpu_up() - Start those of a CPU that has come back, and
 * bring back the timers of NMI contenders that were there.
 * @run: the run
 * @cpu: the one
 */
void stress_interrupts_cpu_up(struct stress_run *run, unsigned int cpu)
{
	struct stress_interrupts *all = run->interrupts;
	unsigned int i;

	for (i = 0; all && i < all->count; i++) {
		struct interrupt *interrupt = &all->each[i];

		if (interrupt->contender->cpu == cpu) {
			start(interrupt);
		} else if (timer_cpu(interrupt->contender) == cpu) {
			/* It has gone on at another CPU meanwhile. */
			hrtimer_cancel(&interrupt->timer);
			start(interrupt);
		}
	}
}
