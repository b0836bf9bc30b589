/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads for a kernel: what loads.c, which runs them, and work.c, which has them, share.
 */
#ifndef LOADS_H
#define LOADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define NSEC_PER_SEC		1000000000LL
#define MOST_WORKERS		256
#define FILES			4		/* of "open" */

/* Exit status */
enum { FINE, FAILED, USAGE, UNFINISHED };

/* A cache line and its neighbour for each worker, so that counting shares nothing. */
struct worker {
	atomic_ulong operations;
	atomic_llong ended_ns;		/* 0: has not ended */
	atomic_int error;		/* errno of the call in "failed" */
	const char *failed;
	pid_t pid;
} __attribute__((aligned(128)));

/* Shared by all processes. */
struct board {
	atomic_bool stop;
	atomic_uint ready;
	struct worker workers[MOST_WORKERS];
};

struct load {
	const char *name;
	const char *meaning;
	void (*prepare)(void);
	void (*work)(unsigned int id);
	bool (*once)(unsigned int id);	/* of work that is the same operation again and again */
	int shared;		/* flags of clone(): what the workers have in common */
	bool pinned;		/* worker n stays on CPU n; others go where the scheduler likes */
	bool fixed;		/* an amount of work, not a time */
};

struct options {
	unsigned int workers;
	unsigned int passes;
	double seconds;
	double limit;
	const struct load *load;
};

extern struct options options;
extern struct board *board;
extern char folder[32];
extern const char *const file_names[FILES];
extern int hack_pipes[MOST_WORKERS][2];
extern const struct load loads[];
extern const unsigned int loads_number;

bool fail(unsigned int id, const char *what);
void quit(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3))) __attribute__((noreturn));

#endif
