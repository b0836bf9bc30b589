/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of a run, a row and a debugfs file each. A row makes the member of struct
 * stress_params and the file; tools/base/parameters.py reads it, and tools/ship/record --write
 * makes Documentation/ABI/testing/debugfs-nbqlock-stress-parameters of the rows and of the
 * comments above them.
 *
 *	STRESS_PARAM(folder, name, kind, initial, ...)
 *
 * The folder: load is what the threads do, interference what disturbs them, measure what is
 * measured; the rows of one stand together. The name is unique among all. The kind is one of
 * parameters.c. The initial value is a number, that of a choice the place of its word; of the kinds
 * lock, cpus and threads it is found at the load of the module. What follows sets members of
 * struct param. Limits are numbers, macros of this file, and units of the kernel.
 *
 * No include guard: STRESS_PARAM is defined first.
 */

#define STRESS_THREADS_MAX	4096
/* A critical section has preemption off: much more is a soft lockup. */
#define STRESS_CS_NS_MAX	(10 * NSEC_PER_MSEC)
#define STRESS_STALL_NS_MAX	(100 * NSEC_PER_MSEC)
/* The longest stall and patience in an interrupt, or with interrupts off: as above, and NMIs. */
#define STRESS_INTERRUPTS_OFF_MAX	(10 * NSEC_PER_MSEC)
#define STRESS_DURATION_MS_MAX	(3600 * MSEC_PER_SEC)
/* The longest work or pause between two attempts. */
#define STRESS_PAUSE_NS_MAX	(1000 * NSEC_PER_MSEC)
/* More frequent interrupts leave little time to threads. */
#define STRESS_INTERVAL_NS_MIN	(10 * NSEC_PER_USEC)
#define STRESS_INTERVAL_NS_MAX	(1000 * NSEC_PER_MSEC)
/* The most locks that a contender takes together. A run has as many for each context. */
#define STRESS_CHAIN_MAX	8

/*
 * The lock type under test, a name in "locks". Default: clh_nb, also after the
 * module of the lock type was unloaded.
 *
 * This file and all others of load/, interference/ and measure/ are the
 * parameters of the next run. A file accepts what it prints. Other input is
 * refused with EINVAL (malformed, or with a NUL in it) or ERANGE (out of
 * range), and a line in the kernel log with the name of the file and its valid
 * values; the old value stays. During a run every write fails with EBUSY. Names
 * are unique among the folders.
 */
STRESS_PARAM(load, lock, lock, 0)
/*
 * The CPUs to which the threads are pinned in turn, a list such as "0-3,8".
 * They must be online, also when the run starts. Default: all that were online
 * when the module was loaded.
 */
STRESS_PARAM(load, cpus, cpus, 0)
/*
 * The number of contending threads. Default: one for each CPU that was online
 * when the module was loaded.
 */
STRESS_PARAM(load, threads, threads, 0, .min = 1, .max = STRESS_THREADS_MAX)
/*
 * The duration of a run. After it, each thread ends its attempt. A run that
 * would fail because something has not happened is prolonged by up to a minute,
 * see result/summary.
 */
STRESS_PARAM(load, duration_ms, number, MSEC_PER_SEC, .min = 1, .max = STRESS_DURATION_MS_MAX)
/* The seed of the random numbers. 0: drawn at the start of a run; the summary has it. */
STRESS_PARAM(load, seed, number, 0, .max = U64_MAX)
/*
 * The work of a holder before its release, and of a thread before an attempt,
 * drawn each time from 0.5 to 1.5 times the value. Work is CPU time: iterations
 * of an empty loop, whose speed is measured when the module is loaded and before
 * each run. On a machine whose CPUs seldom run at the same time, a lock without
 * mutual exclusion fails for sure only with some cs_ns.
 */
STRESS_PARAM(load, cs_ns, number, 0, .max = STRESS_CS_NS_MAX)
STRESS_PARAM(load, ncs_ns, number, 0, .max = STRESS_PAUSE_NS_MAX)
/*
 * The patience of an attempt, a number or "max", which is KTIME_MAX: no timeout.
 * 0: do not wait. Two of these with a "-" between, such as "0-20000": drawn
 * uniformly, ends included. impatient_permille of 1000 attempts have the
 * patience impatient_ns instead, a single number or "max". Lock types without
 * timeout wait without end, and those with a timeout of their own keep to that.
 */
STRESS_PARAM(load, patience_ns, range, 100 * NSEC_PER_USEC, .max = KTIME_MAX, .takes_max = true)
STRESS_PARAM(load, impatient_permille, number, 0, .max = 1000)
STRESS_PARAM(load, impatient_ns, number, 0, .max = KTIME_MAX, .takes_max = true)
/*
 * After a failed attempt, a thread
 *
 * give_up		goes on as after a release
 *
 * at_once		tries again until the lock is acquired or the run ends
 *
 * back_off	does the same with a pause before each try: about
 *		backoff_ns, twice that, and so on up to backoff_max_ns; each
 *		drawn from 0.5 to 1.5 times that
 *
 * Each try has its own patience and counts as an attempt.
 */
STRESS_PARAM(load, retry, choice, 0,
	     .words = STRESS_WORDS([RETRY_GIVE_UP] = "give_up", [RETRY_AT_ONCE] = "at_once",
				   [RETRY_BACK_OFF] = "back_off"))
STRESS_PARAM(load, backoff_ns, number, NSEC_PER_USEC, .min = 1, .max = STRESS_PAUSE_NS_MAX)
STRESS_PARAM(load, backoff_max_ns, number, 100 * NSEC_PER_USEC, .min = 1,
	     .max = STRESS_PAUSE_NS_MAX)
/*
 * The number of locks that an attempt takes, one after the other, within one
 * patience, which counts from the start of the attempt if there are several. If
 * one of them times out, the others are released, and the attempt has failed.
 * Else the work cs_ns is done with all of them, and they are released in
 * reverse. Each lock protects a counter of its own. Their order is
 *
 * fixed		always the same
 *
 * random		drawn for each attempt, so that attempts can deadlock. A run
 *		with several locks is refused with EINVAL if an attempt may
 *		have no timeout.
 *
 * ascending	a random subset, in the same order
 */
STRESS_PARAM(load, chain, number, 1, .min = 1, .max = STRESS_CHAIN_MAX)
STRESS_PARAM(load, chain_order, choice, 0,
	     .words = STRESS_WORDS([CHAIN_FIXED] = "fixed", [CHAIN_RANDOM] = "random",
				   [CHAIN_ASCENDING] = "ascending"))
/*
 * All contenders run this long, pause this long, and so on; 0: no pauses. A
 * thread ends its iteration, with retries, before it pauses. Rates and
 * elapsed_ns include the pauses.
 */
STRESS_PARAM(load, stutter_ms, number, 0, .max = 10 * MSEC_PER_SEC)
/*
 * 1: each lock is destroyed, if its type has that, and its memory overwritten by
 * its last user, right after the release, and made again when it is needed. The
 * maker of a lock holds it for up to 50 us longer, until there is another user.
 * Refused at the start with EINVAL for lock types that do not allow it, with
 * several locks in load/chain, and with more than task in
 * interference/contexts.
 */
STRESS_PARAM(load, free_lock, number, 0, .max = 1)

/*
 * The contexts that contend, separated by spaces or commas:
 *
 * task		the threads; mandatory
 *
 * softirq, hardirq
 *		one contender for each CPU in load/cpus, in softirqs or in
 *		interrupts, by a timer of that CPU
 *
 * nmi		the same in non-maskable interrupts, sent by the next of these
 *		CPUs, if there is one. Refused with EOPNOTSUPP except on x86
 *		with a local APIC.
 *
 * A contender in an interrupt has its own memory and queue nodes, and no work
 * outside. A run is refused with EINVAL for a lock type without timeout, or
 * whose waiters wait for their neighbours in the queue (one of which may be
 * interrupted), unless interference/nesting is masked or own; and if a patience
 * may exceed 10 ms.
 */
STRESS_PARAM(interference, contexts, contexts, BIT(STRESS_TASK),
	     .words = STRESS_WORDS([STRESS_TASK] = "task", [STRESS_SOFTIRQ] = "softirq",
				   [STRESS_HARDIRQ] = "hardirq", [STRESS_NMI] = "nmi"))
/*
 * How the contexts of a CPU meet at the locks:
 *
 * shared		they contend for the same locks: an interrupt may find that its
 *		own CPU holds the lock
 *
 * masked		the same locks, but each attempt, with its critical section,
 *		has the other contending contexts masked. Refused with nmi.
 *
 * own		each context has locks of its own, as many as load/chain
 */
STRESS_PARAM(interference, nesting, choice, 0,
	     .words = STRESS_WORDS([NESTING_SHARED] = "shared", [NESTING_MASKED] = "masked",
				   [NESTING_OWN] = "own"))
/*
 * The time from the end of an attempt in an interrupt (or from the sending of an
 * NMI) to the next one of that contender; at least as long as the attempt took.
 */
STRESS_PARAM(interference, interval_ns, number, 100 * NSEC_PER_USEC,
	     .min = STRESS_INTERVAL_NS_MIN, .max = STRESS_INTERVAL_NS_MAX)
/*
 * Every stall_every-th acquisition of each contender stays stall_ns longer in
 * the critical section, by the clock. 0: none. Where attempts are made in
 * interrupts or with interrupts off (contexts, suspend_every_ns), a run with
 * more than 10000000 is refused with EINVAL.
 */
STRESS_PARAM(interference, stall_every, number, 0, .max = U32_MAX)
STRESS_PARAM(interference, stall_ns, number, 0, .max = STRESS_STALL_NS_MAX)
/*
 * The mean interval at which an interrupt of its own CPU suspends each thread in
 * the middle of an attempt, anywhere from before it enqueues to after its
 * release; at least twice suspend_ns, and 10000. 0: never. And how long it does
 * so. In user-mode Linux the CPU sleeps meanwhile, so that its core is free for
 * others; elsewhere it spins.
 *
 * All other attempts are made with interrupts off, with their critical sections.
 * Attempts that may be suspended are counted, but not timed. Refused at the
 * start with EINVAL with more than task in contexts, with shuffle_ms, hotplug_ms
 * or free_lock, and if a patience may exceed 10 ms.
 */
STRESS_PARAM(interference, suspend_every_ns, number, 0, .max = STRESS_INTERVAL_NS_MAX)
STRESS_PARAM(interference, suspend_ns, number, 0, .max = STRESS_INTERRUPTS_OFF_MAX)
/*
 * The interval at which all threads are moved to other CPUs, by the same random
 * number of places in load/cpus. 0: never. Needs two CPUs.
 */
STRESS_PARAM(interference, shuffle_ms, number, 0, .max = STRESS_DURATION_MS_MAX)
/*
 * The interval at which a CPU of load/cpus is taken offline, each in turn, and
 * online again after half of it; the kernel's own time for both is added. 0:
 * never. CPUs that the kernel keeps online, and the last one, stay. Refused with
 * EOPNOTSUPP where no CPU can go offline, and at the start with EINVAL where
 * none of load/cpus can.
 */
STRESS_PARAM(interference, hotplug_ms, number, 0, .max = STRESS_DURATION_MS_MAX,
	     .is_possible = hotplug_is_possible,
	     .if_not = "no CPU of this machine can go offline")

/*
 * Each contender times every N-th of its attempts, beginning with the first. 0:
 * none, to measure the cost of a lock without clock reads, of which the second
 * and third are inside the critical section.
 */
STRESS_PARAM(measure, sample_every, number, 1, .max = U32_MAX)
/*
 * 1: timed attempts also read the CPU time of their CPU, which stops
 * while the host does not run it, for own_overshoot, away, own_wait and passed
 * in the result. It is read before and after the timed part, so inside the
 * critical section; before it, the counter that the lock protects is read. Only
 * in user-mode Linux, where it is the time of the host's thread; else 1 is
 * refused with EOPNOTSUPP.
 */
STRESS_PARAM(measure, own_clock, number, 0, .max = 1, .is_possible = own_clock_is_possible,
	     .if_not = "the CPU time of this machine's CPUs is unknown")
/* The interval at which a line in the kernel log has the progress, as "status" does; 0: never. */
STRESS_PARAM(measure, log_ms, number, 0, .max = STRESS_DURATION_MS_MAX)
