/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of polls: how many a wait has made does not matter.
 *
 * A wait counts its polls, to read the clock or to search for a deadlock at some of them
 * only. Whether it comes to that is a choice (context.h). So whenever it polls without that
 * choice, its counts are set back to those of one that has polled once: what is due comes
 * with the choice and never without. Two states that differ in how often a wait has polled
 * are one.
 */
#ifndef COUNTS_H
#define COUNTS_H

/* A context of this CPU and level polls, whose stack that is. */
void counts_reset(unsigned int cpu, unsigned int level, const char *stack,
		  const char *stack_end);

#endif
