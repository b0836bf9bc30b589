/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run is asked to be: the words KEY=VALUE of the command line. Those that the
 * stress driver has, too, mean the same.
 */
#ifndef SIMULATE_SETTINGS_H
#define SIMULATE_SETTINGS_H

#include <stdbool.h>

#include <linux/ktime.h>
#include <linux/types.h>

struct stress_ops;

enum retry {
	GIVE_UP,	/* the attempt is over, its work is not done */
	AT_ONCE,
	BACK_OFF,
};

/**
 * struct settings - of a run
 * @lock: the lock type
 * @cpus: that contend
 * @sockets: over which they are dealt
 * @locks: over which they are dealt, one by one: 1 or 2
 * @shared_queue: 1: two locks of the hybrid have one queue in each table
 * @cores: that they share; 0: each has its own
 * @slice_ns: how long a CPU has a shared core
 * @migrate: 1: a CPU goes to a core that is idle
 * @wake_preempts: 1: a CPU that is woken gets its shared core at once
 * @ple_window_ns: a CPU that polls for so long ends its turn; 0: it does not
 * @away_every_ns: how long a CPU runs on average before it is preempted; 0: never
 * @away_ns: for how long
 * @paravirt: 1: vcpu_is_preempted() says which are, else it says no
 * @stop_us: when the CPUs of the last socket stop, from the start; 0: never
 * @stop_waiters: 1: those that wait stop at once, else after their attempt
 * @duration_us: what is measured
 * @warmup_us: what goes before it
 * @cs_ns: work with the lock held
 * @ncs_ns: work between a release, or a failed attempt, and the next attempt
 * @patience_ns: of an attempt, at least
 * @patience_most_ns: at most; each is drawn anew between the two
 * @impatient_permille: so many of a thousand attempts have another patience
 * @impatient_ns: that one
 * @retry: after a timeout
 * @backoff_ns: the first wait before the next attempt, which doubles
 * @backoff_max_ns: up to that
 * @deadlock_checks: the module's parameter
 * @passed_late_ns: an attempt that begins so long after another and passes it is late
 * @seed: of all random numbers
 * @places: print what asked for lines, too
 */
struct settings {
	const struct stress_ops *lock;
	u64 cpus;
	u64 sockets;
	u64 locks;
	u64 shared_queue;
	u64 cores;
	u64 slice_ns;
	u64 migrate;
	u64 wake_preempts;
	u64 ple_window_ns;
	u64 away_every_ns;
	u64 away_ns;
	u64 paravirt;
	u64 stop_us;
	u64 stop_waiters;
	u64 duration_us;
	u64 warmup_us;
	u64 cs_ns;
	u64 ncs_ns;
	ktime_t patience_ns;
	ktime_t patience_most_ns;
	u64 impatient_permille;
	ktime_t impatient_ns;
	enum retry retry;
	u64 backoff_ns;
	u64 backoff_max_ns;
	bool deadlock_checks;
	u64 passed_late_ns;
	u64 seed;
	bool places;
};

extern struct settings settings;

/* Also reads the cost table. A mistake ends the program with a sentence. */
void settings_read(char **words);
const char *settings_retry_name(void);

#endif
