/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Patience: how long a waiter waits, and when it reads the clock.
 *
 * A waiter calls nbq_deadline_passed() between two polls. The first call reads the clock; later
 * ones do so the more often the nearer the deadline is, as a clock read costs as much as several
 * polls: by the time that the last polls took, the next read is no later than half way to the
 * deadline, and no more than NBQ_POLLS_PER_CLOCK polls away. A relative patience starts at the
 * first call: an attempt that does not wait never reads the clock.
 *
 * Overshoot: while its CPU runs, a waiter notices a deadline one poll and one clock read after it
 * has passed; if polls take more than twice as long as those before, at most NBQ_POLLS_PER_CLOCK
 * polls and one read. Among these polls a task may make one deadlock check (wait.c), an
 * interrupt one behind each predecessor; and a waiter without a queue node searches its pool once
 * (in the hybrid: the nodes of it that a tail can encode).
 *
 * The clock is ktime_get_mono_fast_ns(), the one CLOCK_MONOTONIC that may be read in NMI. It
 * stands while the system is suspended, and so does a patience. It must run while interrupts are
 * off: a clock made of ticks (the clocksource "jiffies", a kernel's last resort) may stand still
 * for the whole wait. It can differ by a few nanoseconds between CPUs while timekeeping is
 * adjusted; a deadline may then pass that much early.
 */
#ifndef _NBQ_DEADLINE_H
#define _NBQ_DEADLINE_H

#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#define NBQ_POLLS_PER_CLOCK	32

/* Before polls were timed: at most so many, and the time that one is taken to need, 2^8 ns. */
#define NBQ_FIRST_POLLS		8
#define NBQ_FIRST_POLL_SHIFT	8

/**
 * struct nbq_deadline - the patience of one attempt
 * @at: CLOCK_MONOTONIC time to give up at, in ns; %KTIME_MAX: never. While @relative, how long
 *	to wait: 0 or less: do not
 * @read_at: the low bits of the last clock read
 * @stride: polls from the last clock read to the next; 0: there was none
 * @polls: polls left until the next clock read
 * @relative: the clock has not been read
 * @announced: contention_begin has been raised for the attempt
 * @traced: so has nbq_wait_begin, while it was enabled
 *
 * Two registers: an attempt that does not wait never reads it.
 */
struct nbq_deadline {
	ktime_t at;
	u32 read_at;
	u8 stride;
	u8 polls;
	bool relative:1;
	bool announced:1;
	bool traced:1;
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

/* The patience starts now. A sum past the end of time means without end. */
static inline void nbq_deadline_start(struct nbq_deadline *deadline, ktime_t now)
{
	if (deadline->at > KTIME_MAX - now)
		deadline->at = KTIME_MAX;
	else
		deadline->at += now;
	deadline->relative = false;
}

/* Is there no deadline up to that time? */
static inline bool nbq_deadline_is_after(const struct nbq_deadline *deadline, ktime_t time)
{
	return deadline->at == KTIME_MAX || (!deadline->relative && deadline->at >= time);
}

/* The next clock read is no later than half way to the deadline. */
static inline void nbq_deadline_plan(struct nbq_deadline *deadline, ktime_t now)
{
	u64 left = deadline->at - now;
	u64 took = 2 * (u64)((u32)now - deadline->read_at);
	unsigned int stride = 2 * deadline->stride;

	if (!stride) {
		stride = NBQ_FIRST_POLLS;
		took = NBQ_FIRST_POLLS << NBQ_FIRST_POLL_SHIFT;
	}
	while (stride > 1 && (stride > NBQ_POLLS_PER_CLOCK || took > left / 2)) {
		stride /= 2;
		took /= 2;
	}
	deadline->read_at = now;
	deadline->stride = stride;
	deadline->polls = stride - 1;
}

/**
 * nbq_deadline_passed() - Is the patience over? Called once for each poll.
 * @deadline: the patience of this attempt
 *
 * Context: Any, including NMI.
 * Return: true once the deadline has passed by this CPU's clock; late as said above.
 */
static inline bool nbq_deadline_passed(struct nbq_deadline *deadline)
{
	ktime_t now;

	if (deadline->at == KTIME_MAX)
		return false;
	if (nbq_deadline_is_none(deadline))
		return true;
	if (deadline->polls) {
		deadline->polls--;
		return false;
	}
	now = nbq_clock_ns();
	if (deadline->relative)
		nbq_deadline_start(deadline, now);
	if (now >= deadline->at)
		return true;
	nbq_deadline_plan(deadline, now);
	return false;
}

#endif
