/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Patience: how long an attempt waits, and by which clock. A relative patience starts at the first
 * clock read of the wait; an attempt that does not wait never reads the clock. wait.c says when a
 * waiter reads it.
 *
 * The clock is ktime_get_mono_fast_ns(), the only CLOCK_MONOTONIC that may be read in NMIs. It
 * stops while the system is suspended, and so does a patience. It must run while interrupts
 * are off: a clock made of ticks (the clocksource "jiffies", a kernel's last resort) may stand
 * still for the whole wait. While timekeeping is adjusted, it can differ by a few nanoseconds
 * between CPUs; a deadline may then pass that much early.
 */
#ifndef _NBQ_DEADLINE_H
#define _NBQ_DEADLINE_H

#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

struct lockdep_map;

/**
 * struct nbq_deadline - the patience of one attempt
 * @at: CLOCK_MONOTONIC time to give up at, in ns; %KTIME_MAX: never. While @relative, how long
 *	to wait: 0 or less: do not
 * @relative: the clock has not been read
 * @announced: contention_begin has been raised for the attempt
 * @traced: so has nbq_wait_begin, while it was enabled
 * @retried: the operation cannot fail, and has found a deadlock: this is one of its further
 *	attempts, which make one wait together
 * @visits: it is no attempt of the caller's, but takes nodes back from a lock at rest: it is
 *	neither counted as an attempt nor traced as a wait
 * @waits: for lockdep: the lock's map, if the attempt is recorded as one that waits; or NULL
 * @subclass: for lockdep: of the lock's class
 *
 * Two registers without lockdep: an attempt that does not wait never reads it.
 */
struct nbq_deadline {
	ktime_t at;
	bool relative;
	bool announced;
	bool traced;
	bool retried;
	bool visits;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map *waits;
	unsigned int subclass;
#endif
};

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
/* The clock of the suites; NULL: the kernel's. */
extern u64 (*nbq_fake_clock)(void);

static inline u64 nbq_clock_ns(void)
{
	if (nbq_fake_clock)
		return nbq_fake_clock();
	return ktime_get_mono_fast_ns();
}

static inline bool nbq_clock_is_fake(void)
{
	return nbq_fake_clock;
}
#else
static inline u64 nbq_clock_ns(void)
{
	return ktime_get_mono_fast_ns();
}

static inline bool nbq_clock_is_fake(void)
{
	return false;
}
#endif

/* How long ago that was. It may have been read on another CPU, whose clock is ahead of this one. */
static inline u64 nbq_clock_since(u64 then)
{
	u64 now = nbq_clock_ns();

	return now > then ? now - then : 0;
}

/* Give up at an absolute CLOCK_MONOTONIC time. */
static inline struct nbq_deadline nbq_deadline_at(ktime_t at)
{
	return (struct nbq_deadline){ .at = at };
}

/* Give up once @patience ns have been waited; 0 or less: do not wait. */
static inline struct nbq_deadline nbq_deadline_after(ktime_t patience)
{
	return (struct nbq_deadline){ .at = patience, .relative = true };
}

/* Do not wait. */
static inline struct nbq_deadline nbq_deadline_none(void)
{
	return nbq_deadline_after(0);
}

/* The same, to take nodes back. */
static inline struct nbq_deadline nbq_deadline_of_visit(void)
{
	return (struct nbq_deadline){ .relative = true, .visits = true };
}

/*
 * Without patience, not even the clock is read: it stays relative, as the patience of other
 * attempts does until then.
 */
static inline bool nbq_deadline_is_none(const struct nbq_deadline *deadline)
{
	return deadline->relative && deadline->at <= 0;
}

/* Is the patience over within so many ns of this time? */
static inline bool nbq_deadline_is_within(const struct nbq_deadline *deadline, u64 now, s64 ns)
{
	return deadline->at < (deadline->relative ? ns : (s64)now + ns);
}

/* The error of an attempt that finds the lock held until its patience is over. */
static inline int nbq_deadline_error(const struct nbq_deadline *deadline)
{
	return nbq_deadline_is_none(deadline) ? -EBUSY : -ETIMEDOUT;
}

/* Is there no deadline up to that time? */
static inline bool nbq_deadline_is_after(const struct nbq_deadline *deadline, ktime_t time)
{
	return deadline->at == KTIME_MAX || (!deadline->relative && deadline->at >= time);
}

/* Is the patience over by this clock read? A sum past the end of time means without end. */
static inline bool nbq_deadline_passed(struct nbq_deadline *deadline, ktime_t now)
{
	if (deadline->relative)
		deadline->at = deadline->at > KTIME_MAX - now ? KTIME_MAX : deadline->at + now;
	deadline->relative = false;
	return deadline->at != KTIME_MAX && now >= deadline->at;
}

#endif
