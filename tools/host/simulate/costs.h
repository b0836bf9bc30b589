/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cost table: how long the simulated machine takes for what. Documentation/simulation.rst
 * explains each of them.
 */
#ifndef SIMULATE_COSTS_H
#define SIMULATE_COSTS_H

#include <linux/types.h>

/* Times are in picoseconds everywhere. */
#define PS_PER_NS	1000ULL

struct costs {
	char name[32];
	u64 hit;
	u64 same_socket;
	u64 other_socket;
	u64 memory;
	u64 refill;
	u64 invalidate;
	u64 atomic;
	u64 fence;
	u64 store_buffer;	/* entries */
	u64 relax;
	u64 relax_jitter;
	u64 clock_read;
	u64 halt;
	u64 kick;
	u64 wake_up;
};

extern struct costs costs;

/* Read a table. A mistake ends the program with a sentence that names the line. */
void costs_read(const char *path);

#endif
