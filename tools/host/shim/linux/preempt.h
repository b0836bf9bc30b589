/* SPDX-License-Identifier: GPL-2.0 */
/* Preemption off: counted. The context level is what the thread says. */
#ifndef SHIM_LINUX_PREEMPT_H
#define SHIM_LINUX_PREEMPT_H

#include <host.h>

#define preempt_disable()		((void)shim_preempt_off++)
#define preempt_enable()		((void)shim_preempt_off--)
#define interrupt_context_level()	(shim_level)
#define in_nmi()			(shim_level == 3)

#endif
