/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts: what was raised while they were off comes when they are on again. */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#include <host.h>

void shim_interrupts_on(void);

#define irqs_disabled()		(!!shim_irqs_off)
#define local_irq_disable()	((void)(shim_irqs_off = 1))
#define local_irq_enable()	shim_interrupts_on()
#define local_irq_save(flags)							\
do {										\
	(flags) = shim_irqs_off;						\
	local_irq_disable();							\
} while (0)
#define local_irq_restore(flags)						\
do {										\
	if (flags)								\
		local_irq_disable();						\
	else									\
		local_irq_enable();						\
} while (0)

#endif
