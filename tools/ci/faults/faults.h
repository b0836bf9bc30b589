/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mistakes that a kernel complains of. A file for each subject has a table of
 * them; main.c has the tables.
 */
#ifndef NBQ_FAULTS_H
#define NBQ_FAULTS_H

/**
 * struct fault - a mistake
 * @name: what it is called by
 * @provoke: makes it; what it returns is what loading the module returns
 */
struct fault {
	const char *name;
	int (*provoke)(void);
};

/* Each ends in one without a name. */
extern const struct fault memory_faults[];
extern const struct fault context_faults[];
extern const struct fault stall_faults[];
extern const struct fault locking_faults[];
extern const struct fault race_faults[];
extern const struct fault nbqlock_faults[];
extern const struct fault report_faults[];

int faults_in_thread(int (*body)(void *data), const char *name);

#endif
