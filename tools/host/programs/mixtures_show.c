// SPDX-License-Identifier: GPL-2.0
/* Mixtures: a schedule as text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/errno.h>
#include <places.h>

#include "mixtures.h"

bool shows;

static const char *const level_names[] = { "task", "softirq", "hardirq", "NMI" };
const char *const call_names[CALLS] = {
	[TRYLOCK] = "trylock", [TIMEOUT] = "lock_timeout", [UNTIL] = "lock_until",
	[INFO] = "lock_timeout_info", [UNLESS] = "lock_unless", [LOCK] = "lock",
	[TAKEOVER] = "takeover", [UNLOCK] = "unlock", [IS_LOCKED] = "is_locked",
	[IS_CONTENDED] = "is_contended", [DESTROY] = "destroy", [DESTROY_IN_USE] = "destroy",
};

static const char *const op_names[] = { "load", "store", "xchg", "add", "cmpxchg", "relax" };

/* The accesses of a context since its last poll in vain, and those before that. */
static char round_now[4096], round_before[4096];
static unsigned int repeats;
static const struct context *whose;

/* Print what is kept back in the hope that it is as the round before. */
static void flush(void)
{
	if (repeats)
		printf("    the same %u times more\n", repeats);
	repeats = 0;
	fputs(round_now, stdout);
	round_now[0] = '\0';
	round_before[0] = '\0';
}

/* Rounds of polls that are alike are printed once. */
static void end_round(void)
{
	if (!strcmp(round_now, round_before)) {
		repeats++;
	} else {
		char next[sizeof(round_now)];

		strcpy(next, round_now);
		flush();
		strcpy(round_before, next);
	}
	round_now[0] = '\0';
}

void show(const char *format, ...)
{
	va_list arguments;

	flush();
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

static const char *patience_text(const struct event *event)
{
	static char text[32];
	ktime_t patience = patiences[event->patience];

	if (patience == KTIME_MAX)
		return "no end";
	snprintf(text, sizeof(text), "%lld ns", (long long)patience);
	return text;
}

void show_settings(const struct schedule *schedule)
{
	const struct settings *chosen = &schedule->settings;

	show("# seed %u: %u CPUs, %u nodes of each CPU and level, a clock read takes %llu ns",
	     schedule->seed, chosen->cpus, chosen->nodes,
	     (unsigned long long)clock_steps[chosen->clock_step]);
	show("%s%s%s\n",
	     chosen->ordered ? ", in order" : "", chosen->nests ? ", one level nests" : "",
	     chosen->stops ? ", a CPU may stop" : "");
}

static void show_call(const struct event *event)
{
	const struct slot *slot = &slots[event->slot];

	show("CPU %u, %s%s: %s_%s(%c", event->cpu, level_names[event->level],
	     event->nested ? " above that" : "", operations[slot->type].name,
	     call_names[event->call], 'A' + event->slot);
	if (acquires(event->call) && event->call != TRYLOCK && event->call != LOCK)
		show(", %s", patience_text(event));
	if (event->call == UNLESS)
		show(", %s", event->zeroed ? "true" : "false");
	show(")\n");
}

void show_event(const struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case CALL:
		show_call(event);
		break;
	case MAKE:
		show("%c becomes an %s, %s\n", 'A' + event->slot, operations[event->type].name,
		     event->zeroed ? "as zeroes" : "by its initialiser");
		break;
	case LEAVE:
		show("%c is no lock any more, without a call\n", 'A' + event->slot);
		break;
	case CLOCK:
		show("the clock jumps by %llu ns\n",
		     (unsigned long long)clock_jumps[event->number]);
		break;
	case CLOCK_STEP:
		show("a clock read takes %llu ns from now on\n",
		     (unsigned long long)clock_steps[event->number]);
		break;
	case STOP:
		show("CPU %u stops for good\n", event->cpu);
		break;
	case GROW:
		show("pools grow\n");
		break;
	default:
		break;
	}
}

static const char *word_at(const void *address)
{
	static char texts[4][64];
	static unsigned int next;
	char *text = texts[next++ % 4];
	struct shim_place place = shim_place_of(address);
	const char *name = shim_word_name(&place);
	unsigned int i;

	for (i = 0; i < MOST_SLOTS; i++) {
		if ((size_t)((const char *)address - (const char *)slots[i].memory) < 8) {
			snprintf(text, 64, "%c+%zu", 'A' + i,
				 (const char *)address - (const char *)slots[i].memory);
			return text;
		}
	}
	if (place.room == SHIM_NODE)
		snprintf(text, 64, "node %u.%u.%u %s", place.cpu, place.level, place.node,
			 name ? name : "?");
	else if (place.room == SHIM_POOL)
		snprintf(text, 64, "pool %u.%u %s", place.cpu, place.level, name ? name : "?");
	else if (shim_is_queue_tail(address))
		snprintf(text, 64, "a hybrid queue's tail");
	else
		snprintf(text, 64, "elsewhere");
	return text;
}

/* The words of a node that hold states: prev, next and status. */
static bool is_state(const void *address)
{
	struct shim_place place = shim_place_of(address);

	return place.room == SHIM_NODE && place.word < 3;
}

static bool is_hybrid(const void *address)
{
	unsigned int i;

	for (i = 0; i < MOST_SLOTS; i++) {
		if (slots[i].memory == address)
			return slots[i].type == SPIN;
	}
	return false;
}

static bool is_known(const void *address)
{
	unsigned int i;

	for (i = 0; i < MOST_SLOTS; i++) {
		if ((size_t)((const char *)address - (const char *)slots[i].memory) < 8)
			return true;
	}
	return shim_place_of(address).room != SHIM_ELSEWHERE || shim_is_queue_tail(address);
}

/*
 * What stands there now. Words are read as a whole, whatever the access; of what is in no lock,
 * queue, node or pool nothing is known.
 */
static const char *value_at(const void *address)
{
	static char text[96];
	struct shim_place of_value;
	unsigned long value;

	if (!is_known(address))
		return "";
	if (shim_is_queue_tail(address) || ((unsigned long)address & 7) || is_hybrid(address)) {
		address = (const void *)((unsigned long)address & ~3UL);
		snprintf(text, sizeof(text), "%#x", *(const unsigned int *)address);
		return text;
	}
	value = *(const unsigned long *)address;
	of_value = shim_place_of((const void *)value);
	if (of_value.room == SHIM_NODE && !of_value.word)
		snprintf(text, sizeof(text), "node %u.%u.%u", of_value.cpu, of_value.level,
			 of_value.node);
	else if (shim_value_name(value) && is_state(address))
		snprintf(text, sizeof(text), "%s", shim_value_name(value));
	else
		snprintf(text, sizeof(text), "%#lx", value);
	return text;
}

void show_access(const struct context *context, enum shim_op op, const void *address)
{
	size_t used;

	if (whose != context)
		flush();
	whose = context;
	used = strlen(round_now);
	if (used > sizeof(round_now) - 200) {
		flush();
		used = 0;
	}
	snprintf(round_now + used, sizeof(round_now) - used, "    %u %-7s %-7s %s%s%s\n",
		 context->cpu, level_names[context->level],
		 op == SHIM_OP_RELAX ? "poll" : op_names[op],
		 op == SHIM_OP_RELAX ? "in vain" : word_at(address),
		 op == SHIM_OP_RELAX || !is_known(address) ? "" : ": ",
		 op == SHIM_OP_RELAX ? "" : value_at(address));
	if (op == SHIM_OP_RELAX)
		end_round();
}

static const char *error_name(int ret)
{
	static const struct {
		int ret;
		const char *name;
	} names[] = {
		{ -EBUSY, "-EBUSY" }, { -EDEADLK, "-EDEADLK" }, { -ETIMEDOUT, "-ETIMEDOUT" },
		{ -ENOMEM, "-ENOMEM" }, { -ECANCELED, "-ECANCELED" },
		{ -EOWNERDEAD, "-EOWNERDEAD" }, { -ESTALE, "-ESTALE" },
	};
	static char number[16];
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].ret == ret)
			return names[i].name;
	}
	snprintf(number, sizeof(number), "%d", ret);
	return number;
}

void show_end(const struct context *context)
{
	show("CPU %u, %s: %s_%s(%c) returns %s\n", context->cpu, level_names[context->level],
	     operations[context->slot->type].name, call_names[context->event.call],
	     'A' + context->event.slot, error_name(context->ret));
}
