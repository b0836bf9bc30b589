/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts off: counted. */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#include <host.h>

#define local_irq_disable()	((void)(shim_irqs_off = 1))
#define local_irq_enable()	((void)(shim_irqs_off = 0))
#define local_irq_save(flags)						\
do {									\
	(flags) = shim_irqs_off;					\
	shim_irqs_off = 1;						\
} while (0)
#define local_irq_restore(flags) ((void)(shim_irqs_off = (flags)))

#endif
