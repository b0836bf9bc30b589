/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of a run that are numbers: NUMBER(key, without a word, least, most, printed), in the
 * order of the report. KTIME_MAX as the most: up to an hour, or "max".
 */

/* The machine. */
NUMBER(cpus, 64, 1, MOST_CPUS, false)			/* that contend */
NUMBER(sockets, 1, 1, MOST_SOCKETS, true)		/* over which they are dealt evenly */
NUMBER(locks, 1, 1, 2, true)				/* over which they are dealt, in turn */
NUMBER(shared_queue, 0, 0, 1, true)			/* two of the hybrid have one queue */
NUMBER(cores, 0, 0, MOST_CPUS, false)			/* that they share; 0: each its own */
NUMBER(slice_ns, 1000000, 1000, LONGEST_NS, true)	/* how long a CPU has a shared core */
NUMBER(paravirt, 0, 0, 1, true)				/* vcpu_is_preempted() says which are */
NUMBER(migrate, 0, 0, 1, true)				/* a CPU goes to a core that is idle */
NUMBER(wake_preempts, 0, 0, 1, true)			/* a woken CPU gets its core at once */
NUMBER(ple_window_ns, 0, 0, LONGEST_NS, true)		/* polls so long end a turn; 0: not */
NUMBER(away_every_ns, 0, 0, LONGEST_NS, true)		/* a CPU runs on average; 0: for ever */
NUMBER(away_ns, 1000000, 1, LONGEST_NS, true)		/* until it is back from preemption */

/* The run. */
NUMBER(seed, 1, 0, 0xffffffffULL, true)			/* of all random numbers */
NUMBER(stop_us, 0, 0, LONGEST_US, true)			/* CPUs of the last socket; 0: never */
NUMBER(stop_waiters, 0, 0, 1, true)			/* at once, else after their attempt */
NUMBER(duration_us, 2000, 1, LONGEST_US, true)		/* what is measured */
NUMBER(warmup_us, 200, 0, LONGEST_US, true)		/* what goes before it */
NUMBER(places, 0, 0, 1, false)				/* print what asked for lines */

/* The load. */
NUMBER(cs_ns, 200, 0, LONGEST_NS, true)			/* work with the lock held */
NUMBER(ncs_ns, 200, 0, LONGEST_NS, true)		/* and before the next attempt */
NUMBER(impatient_permille, 0, 0, 1000, true)		/* attempts with another patience */
NUMBER(impatient_ns, 0, 0, KTIME_MAX, false)		/* that one */
NUMBER(alternate_us, 0, 0, LONGEST_US, true)		/* one of two locks at a time is used */
NUMBER(backoff_ns, 1000, 1, LONGEST_NS, false)		/* the first pause, which doubles */
NUMBER(backoff_max_ns, 1000000, 1, LONGEST_NS, false)	/* up to that */
NUMBER(deadlock_checks, 1, 0, 1, true)			/* the module's parameter */
NUMBER(passed_late_ns, 40000, 0, LONGEST_NS, true)	/* later attempts that pass are late */
