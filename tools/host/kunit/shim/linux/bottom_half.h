/* SPDX-License-Identifier: GPL-2.0 */
/* Bottom halves: what was scheduled while they were off runs when they are on again. */
#ifndef SHIM_LINUX_BOTTOM_HALF_H
#define SHIM_LINUX_BOTTOM_HALF_H

#include <linux/instruction_pointer.h>
#include <linux/preempt.h>

void shim_bottom_halves_on(void);

#define local_bh_disable()	__preempt_count_add(SOFTIRQ_DISABLE_OFFSET)
#define local_bh_enable()	shim_bottom_halves_on()

#endif
