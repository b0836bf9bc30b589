/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types that can be simulated: ours, the stress driver's comparators, the
 * models, and one without mutual exclusion.
 */
#ifndef SIMULATE_LOCKS_H
#define SIMULATE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>

struct stress_ops;

/* NULL: there is none of that name. */
const struct stress_ops *locks_find(const char *name);
/* Has each socket a queue of this lock? */
bool locks_have_sockets(const struct stress_ops *ops);
/* "takes one of ..." */
void locks_names(char *text, size_t size);
/* As the stress driver's file "locks" has them. */
void locks_list(void);

#endif
