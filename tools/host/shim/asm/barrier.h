/* SPDX-License-Identifier: GPL-2.0 */
/* Barriers, as linux/atomic.h of the shim has them. */
#ifndef SHIM_ASM_BARRIER_H
#define SHIM_ASM_BARRIER_H

#include <linux/atomic.h>

#endif
