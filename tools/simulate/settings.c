// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the settings of a run.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "costs.h"
#include "locks.h"
#include "machine.h"
#include "settings.h"

#define LONGEST_NS	3600000000000ULL

struct settings settings = {
	.cpus = 64,
	.sockets = 1,
	.locks = 1,
	.slice_ns = 1000000,
	.away_ns = 1000000,
	.duration_us = 2000,
	.warmup_us = 200,
	.cs_ns = 200,
	.ncs_ns = 200,
	.patience_ns = KTIME_MAX,
	.patience_most_ns = KTIME_MAX,
	.impatient_ns = 0,
	.retry = GIVE_UP,
	.backoff_ns = 1000,
	.backoff_max_ns = 1000000,
	.deadlock_checks = true,
	.passed_late_ns = 40000,
	.seed = 1,
};

static const char * const retry_names[] = { "give_up", "at_once", "back_off" };

static void __attribute__((__noreturn__)) refuse(const char *key, const char *value,
						 const char *wanted)
{
	fprintf(stderr, "simulate: %s=%s: %s\n", key, value, wanted);
	exit(2);
}

static const struct number {
	const char *key;
	size_t offset;
	u64 least;
	u64 most;
} numbers[] = {
#define NUMBER(key, least, most) { #key, offsetof(struct settings, key), least, most }
	NUMBER(cpus, 1, MOST_CPUS),
	NUMBER(sockets, 1, MOST_SOCKETS),
	NUMBER(locks, 1, 2),
	NUMBER(shared_queue, 0, 1),
	NUMBER(cores, 0, MOST_CPUS),
	NUMBER(slice_ns, 1000, LONGEST_NS),
	NUMBER(migrate, 0, 1),
	NUMBER(wake_preempts, 0, 1),
	NUMBER(ple_window_ns, 0, LONGEST_NS),
	NUMBER(away_every_ns, 0, LONGEST_NS),
	NUMBER(away_ns, 1, LONGEST_NS),
	NUMBER(paravirt, 0, 1),
	NUMBER(stop_us, 0, 3600000000ULL),
	NUMBER(stop_waiters, 0, 1),
	NUMBER(duration_us, 1, 3600000000ULL),
	NUMBER(warmup_us, 0, 3600000000ULL),
	NUMBER(impatient_permille, 0, 1000),
	NUMBER(backoff_ns, 1, LONGEST_NS),
	NUMBER(backoff_max_ns, 1, LONGEST_NS),
	NUMBER(passed_late_ns, 0, LONGEST_NS),
	NUMBER(seed, 0, 0xffffffffULL),
#undef NUMBER
};

/* A number; with "*cpus" behind it, so many times the number of CPUs. */
static bool parse(const char *text, u64 *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 10);
	if (!strcmp(end, "*cpus")) {
		*value *= settings.cpus;
		return true;
	}
	return !*end;
}

static bool set_number(const char *key, const char *value)
{
	char wanted[80];
	size_t i;
	u64 number;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(key, numbers[i].key))
			continue;
		snprintf(wanted, sizeof(wanted), "takes a number from %llu to %llu",
			 numbers[i].least, numbers[i].most);
		if (!parse(value, &number) || strchr(value, '*') ||
		    number < numbers[i].least || number > numbers[i].most)
			refuse(key, value, wanted);
		*(u64 *)((char *)&settings + numbers[i].offset) = number;
		return true;
	}
	return false;
}

static u64 work(const char *key, const char *value)
{
	u64 ns;

	if (!parse(value, &ns) || ns > LONGEST_NS)
		refuse(key, value, "takes ns, up to an hour, or N*cpus");
	return ns;
}

static ktime_t patience(const char *key, const char *value)
{
	u64 ns;

	if (!strcmp(value, "max"))
		return KTIME_MAX;
	if (!parse(value, &ns) || ns > LONGEST_NS)
		refuse(key, value, "takes ns, up to an hour, N*cpus, or max");
	return ns;
}

/* One patience, or LOW-HIGH. */
static void set_patience(const char *key, char *value)
{
	char *dash = strchr(value, '-');

	if (dash)
		*dash = '\0';
	settings.patience_ns = patience(key, value);
	settings.patience_most_ns = dash ? patience(key, dash + 1) : settings.patience_ns;
	if (settings.patience_most_ns < settings.patience_ns ||
	    (dash && settings.patience_most_ns == KTIME_MAX))
		refuse(key, value, "takes LOW-HIGH with LOW not above HIGH, both in ns");
}

static void set_retry(const char *key, const char *value)
{
	unsigned int i;

	for (i = 0; i < sizeof(retry_names) / sizeof(retry_names[0]); i++) {
		if (!strcmp(value, retry_names[i])) {
			settings.retry = i;
			return;
		}
	}
	refuse(key, value, "takes give_up, at_once or back_off");
}

static bool yes_or_no(const char *key, const char *value)
{
	if (strcmp(value, "0") && strcmp(value, "1"))
		refuse(key, value, "takes 0 or 1");
	return *value == '1';
}

static void set_lock(const char *key, const char *value)
{
	char names[512];

	settings.lock = locks_find(value);
	if (settings.lock)
		return;
	locks_names(names, sizeof(names));
	refuse(key, value, names);
}

static void set(const char *key, char *value)
{
	if (set_number(key, value))
		return;
	if (!strcmp(key, "lock"))
		set_lock(key, value);
	else if (!strcmp(key, "costs"))
		costs_read(value);
	else if (!strcmp(key, "cs_ns"))
		settings.cs_ns = work(key, value);
	else if (!strcmp(key, "ncs_ns"))
		settings.ncs_ns = work(key, value);
	else if (!strcmp(key, "patience_ns"))
		set_patience(key, value);
	else if (!strcmp(key, "impatient_ns"))
		settings.impatient_ns = patience(key, value);
	else if (!strcmp(key, "retry"))
		set_retry(key, value);
	else if (!strcmp(key, "deadlock_checks"))
		settings.deadlock_checks = yes_or_no(key, value);
	else if (!strcmp(key, "places"))
		settings.places = yes_or_no(key, value);
	else
		refuse(key, value, "there is no such setting");
}

/* What does not fit together. */
static void check_whole(void)
{
	char number[24];

	if (!settings.lock || !costs.name[0]) {
		fprintf(stderr, "simulate: %s is missing\n", settings.lock ? "costs=FILE" :
			"lock=NAME");
		exit(2);
	}
	snprintf(number, sizeof(number), "%llu", settings.cores);
	if (settings.cores > settings.cpus)
		refuse("cores", number, "must not be more than cpus");
	snprintf(number, sizeof(number), "%llu", settings.sockets);
	if (settings.sockets > settings.cpus)
		refuse("sockets", number, "must not be more than cpus");
	if (settings.cores && settings.sockets > 1)
		refuse("sockets", number, "shared cores are of one socket");
	snprintf(number, sizeof(number), "%llu", settings.backoff_ns);
	if (settings.backoff_ns > settings.backoff_max_ns)
		refuse("backoff_ns", number, "must not be more than backoff_max_ns");
}

/* The number of CPUs first: others may be multiples of it. */
void settings_read(char **words)
{
	bool of_cpus;
	int pass;
	char **word;

	for (pass = 0; pass < 2; pass++) {
		for (word = words; *word; word++) {
			char *equals = strchr(*word, '=');

			if (!equals)
				refuse(*word, "", "is not KEY=VALUE");
			of_cpus = !strncmp(*word, "cpus=", 5);
			if (of_cpus != !pass)
				continue;
			*equals = '\0';
			set(*word, equals + 1);
			*equals = '=';
		}
	}
	check_whole();
}

const char *settings_retry_name(void)
{
	return retry_names[settings.retry];
}
