/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pause between two polls of one word: a wait by hardware, where there is one.
 *
 * On arm64 smp_cond_load_relaxed() waits for a word to change with WFE, which sleeps until another
 * CPU writes to that line. A patience must bound that sleep. The timer's event stream, by which the
 * kernel bounds its own waits (__delay(), rqspinlock), wakes each CPU every 100 us or so. So a
 * waiter reads the clock, and waits by hardware only if neither its deadline nor its next deadlock
 * check comes within NBQ_RELAX_MAX_NS (wait.c). The next poll reads the clock.
 *
 * WFET, the WFE with a timeout of its own, is not used: few processors have it, and it would have
 * to be written in assembly here.
 *
 * Assumption: the stream runs on each CPU that is online and not leaving a state without power.
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
 * The longest wait by hardware. The timer rounds the stream's period of 100 us up to a power of
 * two of its ticks, by up to a third; the rest is for polls and for waking up. 0: there is none.
 */
#ifdef CONFIG_ARM64
#define NBQ_RELAX_MAX_NS	140000

static inline bool nbq_relax_is_bounded(void)
{
	/* A fake clock stands meanwhile. */
	if (nbq_clock_is_fake())
		return false;
#ifdef MODULE
	/*
	 * arch_timer_evtstrm_available() is not exported. This is for all CPUs: each turns its
	 * own stream on before it is online.
	 */
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
 * nbq_relax() - Pause before the next poll.
 * @wait: the attempt
 * @word: the word that it polls; NULL: several
 *
 * No ordering: the next poll has its own.
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
		nbq_wait_tick_within(wait, 0);
		return;
	}
	cpu_relax();
}

#endif
