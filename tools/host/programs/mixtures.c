// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: random schedules over all lock types at once, several addresses, memory that becomes a
 * lock of the same or another type, small pools, contexts that nest on each level, a clock that
 * jumps and stands, CPUs that stop for good. See mixtures.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mixtures.h"

/* As many schedules has a process, unless one fails. */
#define BATCH		500U
#define SHORT_RUNS	3000U

static unsigned int first_seed = 1;
static unsigned int runs = SHORT_RUNS;
static unsigned int minutes;
static bool keeps_whole;
static bool surveys;
static const char *json;
static unsigned int done;

static const char help[] =
	"usage: mixtures [--seed N] [--runs N | --minutes N] [--whole]\n"
	"\n"
	"Random schedules over all lock types at once. A schedule depends on its seed alone.\n"
	"\n"
	"  --seed N     the first seed (1)\n"
	"  --runs N     how many schedules, with one seed after another\n"
	"  --minutes N  go on for so long, whatever --runs says\n"
	"  --whole      do not shorten a schedule that fails\n"
	"  --survey     go on after a failure; how often each kind of failure was seen\n"
	"  --json FILE  write to it what was seen\n"
	"\n"
	"A schedule that fails is shortened, and printed step by step: what is called, each access\n"
	"to shared memory with what stands there afterwards, and what is returned.\n";

static unsigned int number_in(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || end == text || number > 0xffffffffUL) {
		fprintf(stderr, "mixtures: \"%s\" is no number\n", text);
		exit(2);
	}
	return number;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "runs", required_argument, NULL, 'r' },
		{ "minutes", required_argument, NULL, 'm' },
		{ "whole", no_argument, NULL, 'w' },
		{ "survey", no_argument, NULL, 'v' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			first_seed = number_in(optarg);
			break;
		case 'r':
			runs = number_in(optarg);
			break;
		case 'm':
			minutes = number_in(optarg);
			break;
		case 'w':
			keeps_whole = true;
			break;
		case 'v':
			surveys = true;
			break;
		case 'j':
			json = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		default:
			fputs(help, stderr);
			exit(2);
		}
	}
}

static void show_failure(void)
{
	static struct schedule schedule;
	char kind[sizeof(outcome->kind)];

	schedule = outcome->schedule;
	strcpy(kind, outcome->kind);
	printf("# seed %u fails after %u events: %s: %s\n", schedule.seed, schedule.number, kind,
	       outcome->why);
	if (!keeps_whole)
		shrink(&schedule, kind);
	printf("# %u events:\n", schedule.number);
	show_settings(&schedule);
	if (!run_again(&schedule, kind, true))
		printf("# it does not fail again\n");
	printf("# %s: %s\n", outcome->kind, outcome->why);
}

#define MOST_FAILURES	32U

static struct failure {
	char what[512];
	unsigned int seed;
	unsigned int count;
} failures[MOST_FAILURES];

static void note_failure(void)
{
	char what[sizeof(failures[0].what)];
	struct failure *failure = failures;

	snprintf(what, sizeof(what), "%s: %s", outcome->kind, outcome->why);
	while (failure->count && strcmp(failure->what, what) &&
	       failure != failures + MOST_FAILURES - 1)
		failure++;
	if (!failure->count++) {
		strcpy(failure->what, what);
		failure->seed = outcome->schedule.seed;
	}
}

static bool show_survey(void)
{
	const struct failure *failure = failures;

	for (; failure != failures + MOST_FAILURES && failure->count; failure++)
		printf("# %u times, first with seed %u: %s\n", failure->count, failure->seed,
		       failure->what);
	return !failures[0].count;
}

/* Schedules of seeds from the first on. Return: none has failed. */
static bool run_all(void)
{
	time_t until = time(NULL) + minutes * 60;

	while (minutes ? time(NULL) < until : done < runs) {
		unsigned int batch = minutes || runs - done > BATCH ? BATCH : runs - done;

		if (run_seeds(first_seed + done, batch)) {
			done += batch;
			continue;
		}
		if (!surveys)
			return false;
		note_failure();
		done = outcome->schedule.seed + 1 - first_seed;
	}
	return show_survey();
}

int main(int argc, char **argv)
{
	bool good;

	parse(argc, argv);
	good = run_all();
	if (json)
		report_json(json, first_seed);
	if (!good) {
		/* Of a mutant nobody reads how it fails. */
		if (!surveys && !getenv("NBQ_STOP_AT_FAILURE"))
			show_failure();
		printf("not ok no_mixture_fails: seed %u\n", surveys ? failures[0].seed :
		       outcome->schedule.seed);
		return 1;
	}
	printf("# %u schedules from seed %u on, %llu operations, %llu steps\n", done, first_seed,
	       (unsigned long long)outcome->calls, (unsigned long long)outcome->steps);
	printf("ok no_mixture_fails\n");
	if (done < SHORT_RUNS)
		return 0;
	good = report_variety();
	printf("%s mixtures_are_varied\n", good ? "ok" : "not ok");
	return !good;
}
