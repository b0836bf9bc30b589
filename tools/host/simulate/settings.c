// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and printing the settings of a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nbqlock/stress/ops.h>

#include "costs.h"
#include "locks.h"
#include "machine.h"
#include "settings.h"

#define LONGEST_US	3600000000ULL
#define LONGEST_NS	(1000 * LONGEST_US)

struct settings settings = {
	.patience_ns = KTIME_MAX,
	.patience_most_ns = KTIME_MAX,
#define NUMBER(key, without, ...)	.key = without,
#include "settings_list.h"
#undef NUMBER
};

static const struct number {
	const char *key;
	u64 *value;
	u64 least;
	u64 most;
	bool is_printed;
} numbers[] = {
#define NUMBER(key, without, ...)	{ #key, &settings.key, __VA_ARGS__ },
#include "settings_list.h"
#undef NUMBER
};

static const struct number patience = { .key = "patience_ns", .most = KTIME_MAX };

static const char * const retry_names[] = { "give_up", "at_once", "back_off" };

static void __attribute__((__noreturn__)) refuse(const char *key, const char *value,
						 const char *wanted)
{
	fprintf(stderr, "simulate: %s=%s: %s\n", key, value, wanted);
	exit(2);
}

/* With "*cpus" behind it, so many times the number of CPUs. */
static u64 value_of(const struct number *number, const char *text)
{
	bool may_be_max = number->most == KTIME_MAX;
	u64 value, most = may_be_max ? LONGEST_NS : number->most;
	char *end, wanted[80];

	if (may_be_max && !strcmp(text, "max"))
		return KTIME_MAX;
	value = strtoull(text, &end, 10);
	if (!strcmp(end, "*cpus") && number->value != &settings.cpus) {
		value *= settings.cpus;
		end = "";
	}
	if (*text < '0' || *text > '9' || *end || value < number->least || value > most) {
		snprintf(wanted, sizeof(wanted), "takes a number from %llu to %llu, or N*cpus%s",
			 number->least, most, may_be_max ? ", or max" : "");
		refuse(number->key, text, wanted);
	}
	return value;
}

/* One patience, or LOW-HIGH. */
static void set_patience(char *value)
{
	char *dash = strchr(value, '-');

	if (dash)
		*dash = '\0';
	settings.patience_ns = value_of(&patience, value);
	settings.patience_most_ns = dash ? value_of(&patience, dash + 1) : settings.patience_ns;
	if (settings.patience_most_ns < settings.patience_ns ||
	    (dash && settings.patience_most_ns == KTIME_MAX))
		refuse("patience_ns", value, "takes LOW-HIGH with LOW not above HIGH, both in ns");
}

static void set_retry(const char *value)
{
	unsigned int i;

	for (i = 0; i < sizeof(retry_names) / sizeof(retry_names[0]); i++) {
		if (!strcmp(value, retry_names[i])) {
			settings.retry = i;
			return;
		}
	}
	refuse("retry", value, "takes give_up, at_once or back_off");
}

static void set_lock(const char *value)
{
	char names[512];

	settings.lock = locks_find(value);
	if (settings.lock)
		return;
	locks_names(names, sizeof(names));
	refuse("lock", value, names);
}

static void set(const char *key, char *value)
{
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!strcmp(key, numbers[i].key)) {
			*numbers[i].value = value_of(&numbers[i], value);
			return;
		}
	}
	if (!strcmp(key, "lock"))
		set_lock(value);
	else if (!strcmp(key, "costs"))
		costs_read(value);
	else if (!strcmp(key, "patience_ns"))
		set_patience(value);
	else if (!strcmp(key, "retry"))
		set_retry(value);
	else
		refuse(key, value, "there is no such setting");
}

/* What does not fit together. */
static void check_whole(void)
{
	const struct {
		bool is_wrong;
		const char *why;
	} checks[] = {
		{ !settings.lock, "lock=NAME is missing" },
		{ !costs.name[0], "costs=FILE is missing" },
		{ settings.cores > settings.cpus, "cores must not be more than cpus" },
		{ settings.sockets > settings.cpus, "sockets must not be more than cpus" },
		{ settings.cores && settings.sockets > 1, "shared cores are of one socket" },
		{ settings.backoff_ns > settings.backoff_max_ns,
		  "backoff_ns must not be more than backoff_max_ns" },
	};
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (checks[i].is_wrong) {
			fprintf(stderr, "simulate: %s\n", checks[i].why);
			exit(2);
		}
	}
}

/* The number of CPUs first: others may be multiples of it. */
void settings_read(char **words)
{
	int pass;
	char **word;

	for (pass = 0; pass < 2; pass++) {
		for (word = words; *word; word++) {
			char *equals = strchr(*word, '=');

			if (!equals)
				refuse(*word, "", "is not KEY=VALUE");
			if (!strncmp(*word, "cpus=", 5) != !pass)
				continue;
			*equals = '\0';
			set(*word, equals + 1);
			*equals = '=';
		}
	}
	check_whole();
}

void settings_print(void)
{
	size_t i;

	printf("lock %s\ncpus 0-%llu\nthreads %llu\ncosts %s\nretry %s\n", settings.lock->name,
	       settings.cpus - 1, settings.cpus, costs.name, retry_names[settings.retry]);
	if (settings.patience_ns == KTIME_MAX)
		puts("patience_ns max");
	else if (settings.patience_most_ns != settings.patience_ns)
		printf("patience_ns %lld-%lld\n", settings.patience_ns,
		       settings.patience_most_ns);
	else
		printf("patience_ns %lld\n", settings.patience_ns);
	printf("cores %llu\n", settings.cores ? settings.cores : settings.cpus);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].is_printed)
			printf("%s %llu\n", numbers[i].key, *numbers[i].value);
	}
}
