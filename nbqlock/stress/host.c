// SPDX-License-Identifier: GPL-2.0
/*
 * What the host of a virtual CPU knows: its CPU time; and how to yield the core.
 *
 * In user-mode Linux a CPU is a thread of the host, which accounts the time of each thread. So
 * the time in which the CPU did not run is exact: elapsed time less CPU time. No other guest is
 * told to the nanosecond.
 */
#include <linux/kconfig.h>
#include <linux/time64.h>

#include "host.h"

#if IS_ENABLED(CONFIG_UML)
#include <asm/unistd.h>
#include <os.h>

/* CLOCK_THREAD_CPUTIME_ID, of the host. */
#define CLOCK_OF_THREAD	3

/* struct timespec, of the host. */
struct host_time {
	long seconds;
	long ns;
};

/**
 * stress_host_has_cpu_time() - Is the CPU time known here?
 *
 * Return: true if it is.
 */
bool stress_host_has_cpu_time(void)
{
	return true;
}

/**
 * stress_host_cpu_time_ns() - The CPU time of this CPU.
 *
 * Context: Any; two calls are comparable only on the same CPU.
 * Return: ns, from an arbitrary start.
 */
u64 stress_host_cpu_time_ns(void)
{
	struct host_time time = {};

	syscall(__NR_clock_gettime, CLOCK_OF_THREAD, &time);
	return time.seconds * NSEC_PER_SEC + time.ns;
}

/**
 * stress_host_sleep() - Yield the core to others, if possible.
 * @ns: at most this long, below 1 s; may return much earlier
 *
 * Context: Any.
 */
void stress_host_sleep(u64 ns)
{
	struct host_time time = { .ns = ns };

	syscall(__NR_nanosleep, &time, NULL);
}
#else
#include <linux/processor.h>

bool stress_host_has_cpu_time(void)
{
	return false;
}

u64 stress_host_cpu_time_ns(void)
{
	return 0;
}

void stress_host_sleep(u64 ns)
{
	cpu_relax();
}
#endif
