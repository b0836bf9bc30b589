/* SPDX-License-Identifier: GPL-2.0 */
/* Whether -EDEADLK is true, and whether it comes: by trying, on a copy of the state. */
#ifndef DEADLOCK_H
#define DEADLOCK_H

#include <stdbool.h>

/* Can a wait of this configuration be for itself at all? */
bool deadlock_is_possible(void);
/*
 * Without deadlock checks and timeouts, all others that have begun proceed as far as they can.
 * Does the context still wait then?
 */
bool deadlock_is_true(unsigned int context);
/* None can proceed: does one of the waiters detect that at its next check? */
bool deadlock_will_be_detected(void);

#endif
