// SPDX-License-Identifier: GPL-2.0
/*
 * Steal time: the time in which the host did not run a virtual CPU. Only for user-mode Linux.
 *
 * There a CPU is a thread of the host, which accounts the time of each thread. So the steal time
 * is exact: elapsed time less CPU time. No other guest knows it to the nanosecond.
 */
#include <linux/time64.h>

#include <asm/unistd.h>
#include <os.h>

#include "timing.h"

/* CLOCK_THREAD_CPUTIME_ID, of the host. */
#define CLOCK_OF_THREAD	3

/* struct timespec, of the host. */
struct host_time {
	long seconds;
	long ns;
};

/* From an arbitrary start; two calls are comparable only on the same CPU. */
u64 stress_cpu_time_ns(void)
{
	struct host_time time = {};

	syscall(__NR_clock_gettime, CLOCK_OF_THREAD, &time);
	return time.seconds * NSEC_PER_SEC + time.ns;
}

/* Leave the core to others: at most this long, below 1 s; may return much earlier. */
void stress_yield_core(u64 ns)
{
	struct host_time time = { .ns = ns };

	syscall(__NR_nanosleep, &time, NULL);
}
