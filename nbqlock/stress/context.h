/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contexts that contend, apart from the rest, so that the files of the lock types build on
 * the host.
 */
#ifndef _STRESS_CONTEXT_H
#define _STRESS_CONTEXT_H

/**
 * enum stress_context - each may interrupt those before it
 * @CONTEXT_TASK: a thread
 * @CONTEXT_SOFTIRQ: a softirq
 * @CONTEXT_HARDIRQ: an interrupt
 * @CONTEXT_NMI: a non-maskable interrupt
 *
 * Numbered as interrupt_context_level() does.
 */
enum stress_context {
	CONTEXT_TASK,
	CONTEXT_SOFTIRQ,
	CONTEXT_HARDIRQ,
	CONTEXT_NMI,
	CONTEXTS
};

#endif
