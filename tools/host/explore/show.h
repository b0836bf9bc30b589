/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A schedule as a table, a line an access, its columns separated by tabs: number,
 * sign of the transition, context, where in the program, kind of access, place,
 * value before, value after, remark.
 */
#ifndef SHOW_H
#define SHOW_H

/* Return: false if the schedule does not fit the configuration. */
bool show_schedule(unsigned int pool_size, const char *schedule);

#endif
