/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Non-maskable interrupts on demand, see nmi.c.
 */
#ifndef _STRESS_NMI_H
#define _STRESS_NMI_H

#include <linux/types.h>

struct contender;

bool stress_nmi_is_possible(void);
int stress_nmi_register(void);
void stress_nmi_send(struct contender *contender);
void stress_nmi_drain(struct contender *contender);
void stress_nmi_unregister(void);

#endif
