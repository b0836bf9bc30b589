/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel's bpf_test_rqspinlock.c includes behind its headers (study.py): a timer in hard
 * interrupts in the place of the event that raises NMIs, which takes hardware counters; and
 * failures counted by kind.
 *
 * The workers leave interrupts on, so that the timer comes above a holder and above a waiter, as
 * the NMI does.
 */
#ifndef _NBQ_RQSPINLOCK_IRQ_EVENT_H
#define _NBQ_RQSPINLOCK_IRQ_EVENT_H

#include <linux/hrtimer.h>

/* From the end of one interrupt to the next. */
static unsigned int irq_period_us = 1000;
module_param(irq_period_us, uint, 0444);

struct irq_event;
typedef void (*irq_event_fn)(struct irq_event *event, struct perf_sample_data *data,
			     struct pt_regs *regs);

struct irq_event {
	struct hrtimer timer;
	irq_event_fn fn;
	int cpu;
};

static enum hrtimer_restart irq_event_fire(struct hrtimer *timer)
{
	struct irq_event *event = container_of(timer, struct irq_event, timer);

	event->fn(event, NULL, NULL);
	hrtimer_forward_now(timer, us_to_ktime(irq_period_us));
	return HRTIMER_RESTART;
}

static struct irq_event *irq_event_create(int cpu, irq_event_fn fn)
{
	struct irq_event *event = kzalloc(sizeof(*event), GFP_KERNEL);

	if (!event)
		return ERR_PTR(-ENOMEM);
	event->fn = fn;
	event->cpu = cpu;
	hrtimer_setup(&event->timer, irq_event_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	return event;
}

static void irq_event_start(void *data)
{
	struct irq_event *event = data;

	hrtimer_start(&event->timer, us_to_ktime(irq_period_us), HRTIMER_MODE_REL_PINNED_HARD);
}

static void irq_event_enable(struct irq_event *event)
{
	smp_call_function_single(event->cpu, irq_event_start, event, true);
}

static int irq_event_release(struct irq_event *event)
{
	hrtimer_cancel(&event->timer);
	kfree(event);
	return 0;
}

#define perf_event				irq_event
#define perf_event_create_kernel_counter(attr, cpu, task, fn, context)	\
	((void)(attr), irq_event_create(cpu, fn))
#define perf_event_enable(event)		irq_event_enable(event)
#define perf_event_release_kernel(event)	irq_event_release(event)

#undef raw_res_spin_lock_irqsave
#define raw_res_spin_lock_irqsave(lock, flags)		((flags) = 0, raw_res_spin_lock(lock))
#undef raw_res_spin_unlock_irqrestore
#define raw_res_spin_unlock_irqrestore(lock, flags)	raw_res_spin_unlock(lock)

/* How attempts have ended, of workers and of interrupts. */
static struct results {
	atomic_long_t ok;
	atomic_long_t deadlocks;
	atomic_long_t timeouts;
	atomic_long_t other;
} results[2];

static void count_result(bool in_irq, int ret)
{
	struct results *of = &results[in_irq];

	atomic_long_inc(!ret ? &of->ok : ret == -EDEADLK ? &of->deadlocks :
			ret == -ETIMEDOUT ? &of->timeouts : &of->other);
}

static int print_results(char *buffer, const struct kernel_param *param)
{
	static const char * const names[] = { "task", "irq" };
	int size = 0;

	for (int i = 0; i < ARRAY_SIZE(results); i++) {
		const struct results *of = &results[i];

		size += sysfs_emit_at(buffer, size,
				      "%s.ok %ld\n%s.EDEADLK %ld\n%s.ETIMEDOUT %ld\n%s.other %ld\n",
				      names[i], atomic_long_read(&of->ok),
				      names[i], atomic_long_read(&of->deadlocks),
				      names[i], atomic_long_read(&of->timeouts),
				      names[i], atomic_long_read(&of->other));
	}
	return size;
}

static const struct kernel_param_ops results_ops = { .get = print_results };
module_param_cb(results, &results_ops, NULL, 0444);

#endif
