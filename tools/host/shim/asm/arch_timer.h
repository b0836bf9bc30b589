/* SPDX-License-Identifier: GPL-2.0 */
/* The events that end a wait by hardware at the latest. */
#ifndef SHIM_ASM_ARCH_TIMER_H
#define SHIM_ASM_ARCH_TIMER_H

#include <host.h>

#define arch_timer_evtstrm_available()	shim_has_event_stream

#endif
