// SPDX-License-Identifier: GPL-2.0
/*
 * A schedule as a table.
 */
#include <stdio.h>
#include <string.h>

#include <places.h>

#include "context.h"
#include "checker.h"
#include "search.h"
#include "sharing.h"
#include "show.h"

static unsigned int line;
static char sign;
static bool any_access;

static const char *level_name(unsigned int level)
{
	static const char *const names[] = { "task", "softirq", "hardirq", "NMI" };

	return names[level];
}

static void name_place(char *text, size_t size, const void *address)
{
	struct shim_place place = shim_place_of(address);
	const char *word = shim_word_name(&place);
	unsigned int lock;

	if (place.room == SHIM_NODE) {
		snprintf(text, size, "node %u.%u.%u%s%s", place.cpu, place.level, place.node,
			 word ? "." : "", word ? word : "");
		return;
	}
	if (place.room == SHIM_POOL) {
		snprintf(text, size, "pool %u.%u.%s", place.cpu, place.level,
			 word ? word : "?");
		return;
	}
	for (lock = 0; lock < locks_number; lock++) {
		if (is_of_lock(address, lock)) {
			snprintf(text, size, "%c.%s", 'A' + lock,
				 type_of(lock)->is_tail(&locks[lock], address) ? "tail" : "state");
			return;
		}
	}
	if (shim_is_arena_node(address)) {
		size_t name = (const u32 *)address - (const u32 *)shim_arena_nodes().start;

		snprintf(text, size, "node %#zx", name);
		return;
	}
	if (shim_is_queue_tail(address)) {
		snprintf(text, size, "a queue's tail");
		return;
	}
	snprintf(text, size, "a static");
}

/* Pointers are to the first word of a node, to a lock, or to a polled word. */
static void name_value(char *text, size_t size, unsigned long value, bool is_link)
{
	struct shim_place place = shim_place_of((const void *)value);
	unsigned int lock;

	if (is_link && shim_value_name(value)) {
		snprintf(text, size, "%s", shim_value_name(value));
		return;
	}
	if (place.room == SHIM_NODE && !place.word) {
		snprintf(text, size, "node %u.%u.%u", place.cpu, place.level, place.node);
		return;
	}
	for (lock = 0; lock < locks_number; lock++) {
		if (value == (unsigned long)&locks[lock]) {
			snprintf(text, size, "%c", 'A' + lock);
			return;
		}
	}
	if (place.room != SHIM_ELSEWHERE)
		name_place(text, size, (const void *)value);
	else if (!type_of(0)->in_kernel)
		snprintf(text, size, "%#lx", value);
	else
		snprintf(text, size, "%ld", (long)value);
}

/* Does it hold a pointer or one of the small values? */
static bool is_link(const void *address)
{
	struct shim_place place = shim_place_of(address);
	const char *name = shim_word_name(&place);

	if (place.room == SHIM_NODE)
		return strcmp(name, "alloc_seq") && strcmp(name, "free_seq");
	if (place.room == SHIM_POOL)
		return name && strcmp(name, "waiting.since") && strcmp(name, "size");
	if (!type_of(0)->holds_node)
		return false;
	return is_of_lock(address, 0) || is_of_lock(address, 1);
}

static void show_access(unsigned int number, const struct access *access)
{
	static const char *const ops[] = { "load", "store", "swap", "add", "compare-and-swap",
					   "poll" };
	char place[40], before[40], after[40];

	if (!access->shared)
		return;
	name_place(place, sizeof(place), access->address);
	name_value(before, sizeof(before), access->before, is_link(access->address));
	name_value(after, sizeof(after), value_at(access->address), is_link(access->address));
	printf("%s%u\t%c\tCPU %u %s\t%p\t%s\t%s\t%s\t%s\t", any_access ? "\n" : "", line, sign,
	       roles[number].cpu, level_name(roles[number].level), access->from,
	       ops[access->op], place, before, after);
	any_access = true;
}

/* Of a context with each lock, for remarks. */
static void remark(const struct context *was, const struct context *is)
{
	static const char *const words[] = { "idle", "begins", "abandons", "holds", "releases",
					     "destroys" };
	unsigned int lock;

	if (is->stopped) {
		printf("stops for good; ");
		return;
	}
	if (was->late != is->late && is->late)
		printf("times out; ");
	if (sign < '0')
		printf("polls on; ");
	if (was->checking != is->checking && is->checking)
		printf("checks for a deadlock; ");
	for (lock = 0; lock < locks_number; lock++) {
		unsigned char before = was->attempt[lock].doing;
		unsigned char now = is->attempt[lock].doing;

		if (!was->attempt[lock].node && is->attempt[lock].node)
			printf("enqueues at %c; ", 'A' + lock);
		if (before == now && was->attempt[lock].left == is->attempt[lock].left)
			continue;
		if (before == RELEASING && now != RELEASING)
			printf("has released %c; ", 'A' + lock);
		if (before < HOLDING && (now == HOLDING || now == RELEASING))
			printf("acquires %c; ", 'A' + lock);
		else if ((before == ACQUIRING || before == ABANDONING) && now == IDLE)
			printf("has failed at %c; ", 'A' + lock);
		else if (now == ABANDONING || now == DESTROYING)
			printf("%s %c; ", words[now], 'A' + lock);
	}
	if (is->blocked)
		printf("waits; ");
	if (is->ended)
		printf("ends; ");
}

bool show_schedule(unsigned int pool_size, const char *signs)
{
	unsigned int number;

	sharing_begin();
	search_start(pool_size);
	for (line = 1; *signs && !failure[0]; signs++, line++) {
		struct context was[MOST_FIBERS];

		memcpy(was, contexts, sizeof(was));
		sign = *signs;
		any_access = false;
		context_observer = show_access;
		if (!search_make(sign))
			return false;
		context_observer = NULL;
		number = search_context(sign);
		if (!any_access)
			printf("%u\t%c\tCPU %u %s\t\t\t\t\t\t", line, sign,
			       roles[number].cpu, level_name(roles[number].level));
		remark(&was[number], &contexts[number]);
		printf("\n");
		search_check();
	}
	if (failure[0])
		printf("\t\t\t\t\t\t\t\t%s\n", failure);
	return true;
}
