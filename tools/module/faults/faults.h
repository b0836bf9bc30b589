/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NBQ_FAULTS_H
#define NBQ_FAULTS_H

/**
 * struct fault - a mistake that a kernel complains of
 * @name: what it is called by
 * @provoke: makes it; what it returns is what loading the module returns
 */
struct fault {
	const char *name;
	int (*provoke)(void);
};

/* Ends in one without a name. */
extern const struct fault nbqlock_faults[];

#endif
