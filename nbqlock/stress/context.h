/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contexts that contend; nothing else, so that a lock type's file builds
 * on the host, too.
 */
#ifndef _STRESS_CONTEXT_H
#define _STRESS_CONTEXT_H

/**
 * enum stress_context - what an attempt may interrupt: those before its own
 * @CONTEXT_TASK: a thread
 * @CONTEXT_SOFTIRQ: a soft interrupt
 * @CONTEXT_HARDIRQ: an interrupt
 * @CONTEXT_NMI: a non-maskable interrupt
 *
 * The numbering is that of interrupt_context_level().
 */
enum stress_context {
	CONTEXT_TASK,
	CONTEXT_SOFTIRQ,
	CONTEXT_HARDIRQ,
	CONTEXT_NMI,
	CONTEXTS
};

#endif
