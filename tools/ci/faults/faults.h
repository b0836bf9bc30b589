/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mistakes that a kernel complains of. A file for each subject has a table of
 * them; main.c has the tables.
 */
#ifndef NBQ_FAULTS_H
#define NBQ_FAULTS_H

/**
 * struct plant - a mistake
 * @name: what it is called by
 * @provoke: makes it; what it returns is what loading the module returns
 */
struct plant {
	const char *name;
	int (*provoke)(void);
};

/* Each ends in one without a name. */
extern const struct plant memory_plants[];
extern const struct plant context_plants[];
extern const struct plant stall_plants[];
extern const struct plant locking_plants[];
extern const struct plant race_plants[];
extern const struct plant lockdep_plants[];
extern const struct plant report_plants[];

int faults_in_thread(int (*body)(void *data), const char *name);

#endif
