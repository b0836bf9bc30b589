// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: the shortest schedule that still fails in the same way. Delta debugging (Zeller,
 * Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002) over the list of
 * events, of which those that let a CPU go on are the preemptions; then each number on its own.
 */
#include <string.h>

#include "mixtures.h"

#define SHORTEST	1	/* of patiences[], but for none */

static const char *wanted;

static bool still_fails(const struct schedule *schedule)
{
	return run_again(schedule, wanted, false);
}

static void remove_events(struct schedule *schedule, unsigned int first, unsigned int number)
{
	memmove(&schedule->events[first], &schedule->events[first + number],
		(schedule->number - first - number) * sizeof(schedule->events[0]));
	schedule->number -= number;
}

/* Return: any events could be left out. */
static bool leave_out_parts(struct schedule *schedule, unsigned int size)
{
	static struct schedule shorter;
	bool any = false;
	unsigned int first = schedule->number;

	/* From the end: what comes late depends on what comes before. */
	while (first) {
		unsigned int part = first < size ? first : size;

		first -= part;
		shorter = *schedule;
		remove_events(&shorter, first, part);
		if (!still_fails(&shorter))
			continue;
		*schedule = shorter;
		any = true;
	}
	return any;
}

static void leave_out_events(struct schedule *schedule)
{
	unsigned int size;

	for (size = schedule->number / 2; size > 1; size /= 2)
		leave_out_parts(schedule, size);
	while (leave_out_parts(schedule, 1))
		;
}

static bool try_event(struct schedule *schedule, unsigned int i, struct event event)
{
	struct event before = schedule->events[i];

	schedule->events[i] = event;
	if (!memcmp(&before, &event, sizeof(event)))
		return false;
	if (still_fails(schedule))
		return true;
	schedule->events[i] = before;
	return false;
}

static bool simplify_run(struct schedule *schedule, unsigned int i)
{
	struct event event = schedule->events[i];

	event.kind = RUN_OUT;
	event.number = 0;
	if (try_event(schedule, i, event))
		return true;
	event.kind = RUN_POLLS;
	event.number = 1;
	return schedule->events[i].kind == RUN_POLLS && try_event(schedule, i, event);
}

/* A task's attempt with next to no patience, if it need not be another. */
static bool simplify_call(struct schedule *schedule, unsigned int i)
{
	struct event event = schedule->events[i];
	bool any = false;

	event.nested = 0;
	any |= try_event(schedule, i, event);
	event = schedule->events[i];
	if (acquires(event.call)) {
		event.call = TIMEOUT;
		any |= try_event(schedule, i, event);
		event = schedule->events[i];
		event.patience = SHORTEST;
		any |= try_event(schedule, i, event);
	}
	event = schedule->events[i];
	event.level = 0;
	return any | try_event(schedule, i, event);
}

static bool simplify_event(struct schedule *schedule, unsigned int i)
{
	switch (schedule->events[i].kind) {
	case RUN:
	case RUN_POLLS:
		return simplify_run(schedule, i);
	case CALL:
		return simplify_call(schedule, i);
	default:
		return false;
	}
}

/* With the fastest clock, waits are short. */
static bool simplify_settings(struct schedule *schedule)
{
	struct settings before = schedule->settings;

	schedule->settings.clock_step = clock_steps_number - 1;
	schedule->settings.nests = false;
	schedule->settings.stops = false;
	if (!memcmp(&before, &schedule->settings, sizeof(before)))
		return false;
	if (still_fails(schedule))
		return true;
	schedule->settings = before;
	schedule->settings.clock_step = clock_steps_number - 1;
	if (memcmp(&before, &schedule->settings, sizeof(before)) && still_fails(schedule))
		return true;
	schedule->settings = before;
	return false;
}

static bool is_run(const struct event *event)
{
	return event->kind == RUN;
}

/* Two runs of a CPU become one, at the place of either: a preemption less. */
static bool join_runs(struct schedule *schedule, unsigned int i)
{
	static struct schedule joined;
	unsigned int next, at;

	if (!is_run(&schedule->events[i]))
		return false;
	for (next = i + 1; next < schedule->number; next++) {
		if (schedule->events[next].cpu == schedule->events[i].cpu &&
		    (is_run(&schedule->events[next]) || schedule->events[next].kind == CALL))
			break;
	}
	if (next == schedule->number || !is_run(&schedule->events[next]))
		return false;
	for (at = 0; at < 2; at++) {
		joined = *schedule;
		joined.events[at ? next : i].number = schedule->events[i].number +
						      schedule->events[next].number;
		remove_events(&joined, at ? i : next, 1);
		if (still_fails(&joined)) {
			*schedule = joined;
			return true;
		}
	}
	return false;
}

void shrink(struct schedule *schedule, const char *kind)
{
	unsigned int i;
	bool any;

	wanted = kind;
	do {
		any = simplify_settings(schedule);
		leave_out_events(schedule);
		for (i = 0; i < schedule->number; i++)
			any |= simplify_event(schedule, i);
		for (i = 0; i < schedule->number; i++) {
			while (join_runs(schedule, i))
				any = true;
		}
	} while (any);
}
