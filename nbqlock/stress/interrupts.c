// SPDX-License-Identifier: GPL-2.0
/*
 * Contenders in interrupts: one for each CPU of the run and each interrupt context. A timer of its
 * own makes each attempt, so that a contender never interrupts itself.
 *
 * Softirq and hardirq contenders attempt in their timer's handler, on their CPU. The timer of an
 * NMI contender is on another CPU, if there is one, and sends the NMI: so it also arrives with
 * interrupts off, and in attempts of a hardirq contender.
 *
 * The timer is restarted after the attempt, with a pause at least as long as the attempt: else
 * long attempts (behind preempted CPUs, in a queue without timeout) would leave no time to the
 * interrupted context.
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

#include "run.h"

/**
 * struct interrupt - of one contender
 * @timer: makes it attempt
 * @contender: the contender
 */
struct interrupt {
	struct hrtimer timer;
	struct contender *contender;
};

/**
 * struct stress_interrupts - those of a run
 * @nmi: the NMI handler is registered
 * @count: how many there are
 * @each: the interrupts
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
 * stress_interrupts_count() - The number of contenders in interrupts.
 * @params: of the run
 *
 * Return: their number.
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
 * stress_interrupts_create() - Create the contenders, stopped.
 * @run: the run
 *
 * Return: 0, or a negative errno; stop and free are due in either case.
 */
int stress_interrupts_create(struct stress_run *run)
{
	unsigned int count = stress_interrupts_count(&run->params);
	enum stress_context context;
	int ret = 0;

	if (!count)
		return 0;
	run->interrupts = kvzalloc(struct_size(run->interrupts, each, count), GFP_KERNEL);
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

/* A pinned timer stays on the CPU that starts it. */
static void start_here(void *data)
{
	struct interrupt *interrupt = data;

	hrtimer_start(&interrupt->timer, 0, mode_of(interrupt->contender));
}

/* Its own CPU; for an NMI contender, the next online CPU of the run. */
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

/* Does nothing if the CPU is offline. */
static void start(struct interrupt *interrupt)
{
	smp_call_function_single(timer_cpu(interrupt->contender), start_here, interrupt, true);
}

/* Waits for the end of its attempt. */
static void stop(struct interrupt *interrupt)
{
	hrtimer_cancel(&interrupt->timer);
	if (interrupt->contender->context == CONTEXT_NMI)
		stress_nmi_drain(interrupt->contender);
}

/**
 * stress_interrupts_start() - Start all contenders.
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
 * stress_interrupts_stop() - Stop all, and wait for their attempts.
 * @run: the run, perhaps incomplete
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
 * stress_interrupts_free() - Free all but the contenders.
 * @run: the run, after stress_interrupts_stop()
 */
void stress_interrupts_free(struct stress_run *run)
{
	kvfree(run->interrupts);
	run->interrupts = NULL;
}

/**
 * stress_interrupts_cpu_down() - Stop those of a CPU that goes offline.
 * @run: the run
 * @cpu: the CPU
 *
 * Else their timers would move to another CPU.
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
 * stress_interrupts_cpu_up() - Start those of a CPU that is online again.
 * @run: the run
 * @cpu: the CPU
 *
 * Timers of NMI contenders that were on this CPU move back.
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
			/* It has moved to another CPU. */
			hrtimer_cancel(&interrupt->timer);
			start(interrupt);
		}
	}
}
