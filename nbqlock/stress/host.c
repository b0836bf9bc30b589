// SPDX-License-Identifier: GPL-2.0
/*
 * The host of a virtual CPU: for how long it has let this CPU run, and how to
 * give it the core for a while.
 *
 * In user-mode Linux a CPU is a thread of the host, and the host counts the time
 * of each of its threads. So the time in which a CPU was not there is known, not
 * guessed: what the clock has gone on by, less that. No other kernel is told to the
 * nanosecond.
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
 * stress_host_has_cpu_time() - Does stress_host_cpu_time_ns() say anything here?
 *
 * Return: that.
 */
bool stress_host_has_cpu_time(void)
{
	return true;
}

/**
 * stress_host_cpu_time_ns() - For how long has this CPU run?
 *
 * Context: any; two calls are of the same CPU only if the caller stays there.
 * Return: ns, from whenever on.
 */
u64 stress_host_cpu_time_ns(void)
{
	struct host_time time = {};

	syscall(__NR_clock_gettime, CLOCK_OF_THREAD, &time);
	return time.seconds * NSEC_PER_SEC + time.ns;
}

/**
 * stress_host_sleep() - Do nothing, and leave the core to others if that can be.
 * @ns: at most for that long; less than a second. It may be much less.
 *
 * Context: any.
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
