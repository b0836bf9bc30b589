/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether -EDEADLK is true, and whether it comes: not computed but tried out, on a
 * copy of the state.
 */
#ifndef DEADLOCK_H
#define DEADLOCK_H

#include <stdbool.h>

/* Can a wait of this configuration be for itself at all? */
bool deadlock_is_possible(void);
/*
 * Without deadlock checks and without timeouts, all others who have begun go on as far
 * as they can. Does the context still wait then?
 */
bool deadlock_is_true(unsigned int context);
/* Nobody can go on: is one of those who wait told so when it looks for it next? */
bool deadlock_will_be_detected(void);

#endif
