/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The count of what a CPU has off and is in, with the kernel's bits; of the running thread, which
 * is a CPU.
 */
#ifndef SHIM_LINUX_PREEMPT_H
#define SHIM_LINUX_PREEMPT_H

#include <linux/compiler.h>

#define PREEMPT_DISABLE_OFFSET	1U
#define PREEMPT_MASK		0xffU
#define SOFTIRQ_OFFSET		(1U << 8)
#define SOFTIRQ_DISABLE_OFFSET	(2 * SOFTIRQ_OFFSET)
#define SOFTIRQ_MASK		(0xffU << 8)
#define HARDIRQ_OFFSET		(1U << 16)
#define HARDIRQ_MASK		(0xfU << 16)
#define NMI_OFFSET		(1U << 20)
#define NMI_MASK		(0xfU << 20)

extern _Thread_local unsigned int shim_count;

#define preempt_count()			(shim_count)
#define __preempt_count_add(number)	((void)(shim_count += (number)))
#define __preempt_count_sub(number)	((void)(shim_count -= (number)))
#define softirq_count()			(preempt_count() & SOFTIRQ_MASK)
#define in_nmi()			(preempt_count() & NMI_MASK)
#define in_hardirq()			(preempt_count() & HARDIRQ_MASK)
#define in_interrupt()			(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK))

#define preempt_disable()		({ __preempt_count_add(1); barrier(); })
#define preempt_enable()		({ barrier(); __preempt_count_sub(1); })
/* A thread stays on its CPU. */
#define migrate_disable()		do { } while (0)
#define migrate_enable()		do { } while (0)

static inline unsigned int interrupt_context_level(void)
{
	unsigned int count = preempt_count();

	return !!(count & NMI_MASK) + !!(count & (NMI_MASK | HARDIRQ_MASK)) +
	       !!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

#endif
