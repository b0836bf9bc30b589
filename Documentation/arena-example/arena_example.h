/* SPDX-License-Identifier: GPL-2.0 */
/* What the program tells its loader. */
#ifndef ARENA_EXAMPLE_H
#define ARENA_EXAMPLE_H

struct result {
	int error;		/* of the acquisition, or 0 */
	unsigned int balance;	/* of both accounts, under the lock */
};

#endif /* ARENA_EXAMPLE_H */
