/* SPDX-License-Identifier: GPL-2.0 */
/* Preemption off: counted. The context level is what the thread says. */
#ifndef SHIM_LINUX_PREEMPT_H
#define SHIM_LINUX_PREEMPT_H

#include <host.h>
#include <linux/compiler.h>

#define preempt_disable()		((void)shim_preempt_off++)
#define preempt_enable()		((void)shim_preempt_off--)
#define interrupt_context_level()	(shim_level)
/* What the kernel counts there is told apart by these. */
#define PREEMPT_MASK			(SOFTIRQ_OFFSET - 1)
#define SOFTIRQ_OFFSET			(1U << 8)
#define HARDIRQ_MASK			(15U << 16)
#define NMI_MASK			(15U << 20)
#define preempt_count()			shim_preempt_count()
#define in_nmi()			(shim_level == 3)

static inline unsigned int shim_preempt_count(void)
{
	return shim_preempt_off + (shim_level == 1 ? SOFTIRQ_OFFSET :
				   shim_level == 2 ? 1U << 16 :
				   shim_level == 3 ? 1U << 20 : 0);
}

#endif
