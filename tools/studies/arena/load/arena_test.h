/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs and their loader know of each other. */
#ifndef ARENA_TEST_H
#define ARENA_TEST_H

#define ARENA_PAGES	100

/* What a program has for its context: what it is to do, and how that went. */
struct attempts {
	unsigned long long patience_ns;
	unsigned int number;
	unsigned int spins;		/* while it has the lock */
	unsigned int acquired;
	unsigned int timeouts;
	int other_error;		/* the last one */
	unsigned int order;		/* of its last acquisition, among all */
	unsigned long long ns;		/* all took */
};

/* Why the callback of a timer has acquired or not. */
struct callback {
	unsigned int acquired;
	unsigned int timeouts;
	unsigned int deadlocks;
	unsigned int other_errors;
};

#endif /* ARENA_TEST_H */
