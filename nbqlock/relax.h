/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between two polls of one word: by hardware, where there is some.
 *
 * On arm64 smp_cond_load_relaxed() waits for a word to change with WFE, which sleeps until
 * another CPU writes to that line. A patience needs an end to that: the event stream of the
 * timer, by which the kernel bounds its own waits (__delay(), rqspinlock), wakes each CPU
 * every 100 us or so. So a waiter waits by hardware only with the clock read just before,
 * and if neither its deadline nor its next search for a deadlock comes within
 * NBQ_RELAX_MAX_NS (wait.c). After it, the clock is read at the next poll.
 *
 * The kernel has no helper with a timeout that is for modules: what is in
 * asm/rqspinlock.h needs arch_timer_evtstrm_available(), which is not exported. Nor is
 * WFET used, the WFE with a timeout of its own, which few processors have: it would have
 * to be written in assembly here.
 *
 * Assumption: the stream runs on each CPU that is online and not on its way out of
 * a state in which it was without power.
 */
#ifndef _NBQ_RELAX_H
#define _NBQ_RELAX_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/processor.h>
#include <linux/smp.h>

#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#endif

#include "internal.h"

/*
 * The longest wait by hardware. The timer rounds the stream's period of 100 us to a power of
 * two of its ticks, which is longer by up to a third; the rest is for polls and for waking
 * up. 0: there is none.
 */
#ifdef CONFIG_ARM64
#define NBQ_RELAX_MAX_NS	140000

static inline bool nbq_relax_is_bounded(void)
{
	/* A fake clock does not go on meanwhile. */
	if (nbq_clock_is_fake())
		return false;
#ifdef MODULE
	/* For all CPUs: each turns its own on before it is online. */
	return arch_timer_have_evtstrm_feature() && cpu_online(raw_smp_processor_id());
#else
	return arch_timer_evtstrm_available();
#endif
}
#else
#define NBQ_RELAX_MAX_NS	0

static inline bool nbq_relax_is_bounded(void)
{
	return false;
}
#endif

/**
 * nbq_relax() - The predecessor has said nothing: pause before the next poll.
 * @wait: the attempt
 * @word: where it polls, if it polls nothing else; else NULL
 *
 * No ordering: the poll that follows has its own.
 *
 * Context: Any, preemption off.
 */
static inline void nbq_relax(struct nbq_wait *wait, struct nbq_node *const *word)
{
	if (NBQ_RELAX_MAX_NS && wait->by_hardware && word) {
		struct nbq_node **polled = (struct nbq_node **)word;
		unsigned int polls = 0;

		/* Ends when the word has changed, or with the first event. */
		smp_cond_load_relaxed(polled, VAL || polls++);
		wait->pool->events.hardware_waits++;
		nbq_wait_read_clock(wait);
		return;
	}
	cpu_relax();
}

#endif
