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
#include <linux/version.h>

#include "run.h"

/* An incomplete run has NULL after the last one. */
#define for_each_interrupt(contender, run, i)					\
	for ((i) = (run)->params.threads;					\
	     (i) < (run)->contender_count && ((contender) = (run)->contenders[i]); (i)++)

static void attempt(struct contender *contender)
{
	if (contender->context != STRESS_NMI)
		stress_contender_interrupt(contender);
	else if (READ_ONCE(contender->not_before_ns) <= stress_clock_ns())
		stress_nmi_send(contender);
}

static enum hrtimer_restart timer_handler(struct hrtimer *timer)
{
	struct contender *contender = container_of(timer, struct contender, timer);
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
	return contender->context == STRESS_SOFTIRQ ? HRTIMER_MODE_REL_PINNED_SOFT :
						       HRTIMER_MODE_REL_PINNED_HARD;
}

void stress_timer_setup(struct hrtimer *timer, enum hrtimer_mode mode,
			enum hrtimer_restart (*handler)(struct hrtimer *timer))
{
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(timer, handler, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = handler;
#endif
}

unsigned int stress_interrupts_count(const struct stress_params *params)
{
	return cpumask_weight(&params->cpus) *
	       hweight32(params->contexts & ~BIT(STRESS_TASK));
}

static int add(struct stress_run *run, enum stress_context context, unsigned int *index)
{
	unsigned int cpu;

	for_each_cpu(cpu, &run->params.cpus) {
		struct contender *contender =
			stress_contender_alloc(run, *index, context, cpu);

		if (!contender)
			return -ENOMEM;
		stress_timer_setup(&contender->timer, mode_of(contender), timer_handler);
		run->contenders[(*index)++] = contender;
	}
	return 0;
}

/* Return: 0, or a negative errno; stress_interrupts_end() is due in either case. */
int stress_interrupts_create(struct stress_run *run)
{
	unsigned int index = run->params.threads;
	enum stress_context context;
	int ret = 0;

	for (context = STRESS_SOFTIRQ; context < STRESS_CONTEXTS && !ret; context++) {
		if (run->params.contexts & BIT(context))
			ret = add(run, context, &index);
	}
	if (!ret && run->params.contexts & BIT(STRESS_NMI)) {
		ret = stress_nmi_register();
		run->handles_nmi = !ret;
	}
	return ret;
}

/* A pinned timer stays on the CPU that starts it. */
static void start_here(void *data)
{
	struct contender *contender = data;

	hrtimer_start(&contender->timer, 0, mode_of(contender));
}

/* Its own CPU; for an NMI contender, the next online CPU of the run. */
static unsigned int timer_cpu(const struct contender *contender)
{
	unsigned int next = stress_next_cpu(contender->cpu, &contender->run->params.cpus);

	return contender->context == STRESS_NMI && cpu_online(next) ? next : contender->cpu;
}

/* Does nothing if the CPU is offline. */
static void start(struct contender *contender)
{
	smp_call_function_single(timer_cpu(contender), start_here, contender, true);
}

/* Waits for the end of its attempt. */
static void stop(struct contender *contender)
{
	hrtimer_cancel(&contender->timer);
	if (contender->context == STRESS_NMI)
		stress_nmi_drain(contender);
}

/* Of a CPU that is online again, or of all. */
void stress_interrupts_start(struct stress_run *run, int cpu)
{
	struct contender *contender;
	unsigned int i;

	for_each_interrupt(contender, run, i) {
		if (cpu == STRESS_ALL_CPUS || contender->cpu == cpu) {
			start(contender);
		} else if (timer_cpu(contender) == cpu) {
			/* The timer of an NMI contender has moved to another CPU. */
			hrtimer_cancel(&contender->timer);
			start(contender);
		}
	}
}

/* Of a CPU that goes offline, else their timers would move to another CPU; or of all. */
void stress_interrupts_stop(struct stress_run *run, int cpu)
{
	struct contender *contender;
	unsigned int i;

	for_each_interrupt(contender, run, i) {
		if (cpu == STRESS_ALL_CPUS || contender->cpu == cpu)
			stop(contender);
	}
}

/* For good; the run may be incomplete. */
void stress_interrupts_end(struct stress_run *run)
{
	stress_interrupts_stop(run, STRESS_ALL_CPUS);
	if (run->handles_nmi)
		stress_nmi_unregister();
	run->handles_nmi = false;
}
