// SPDX-License-Identifier: GPL-2.0
/*
 * Explores one configuration; see explore, which calls this.
 *
 *	TYPES PROGRAM POOL CHECKS SOCKETS			all schedules
 *	TYPES PROGRAM POOL CHECKS SOCKETS shortest STATES	the shortest that fails, too
 *	TYPES PROGRAM POOL CHECKS SOCKETS most STATES	fail if there are more of them
 *	TYPES PROGRAM POOL CHECKS SOCKETS replay SCHEDULE	that one as a table
 *
 * SCHEDULE is a code for what words are shared, a colon, and the transitions.
 *
 * TYPES, PROGRAM as in program.h; POOL: nodes of each pool; CHECKS: how many deadlock
 * checks a wait may choose to make; SOCKETS: among which the CPUs are divided. Results are lines
 * of a name and a value. Exit status 1 if something is wrong.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "checker.h"
#include "search.h"
#include "sharing.h"
#include "show.h"

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void print_counts(void)
{
	double states = counts.states;

	printf("states %zu\n", counts.states);
	printf("transitions %zu\n", counts.transitions);
	printf("ends %zu\n", counts.ends);
	printf("quiet %zu\n", counts.quiescent);
	printf("longest %zu\n", counts.longest);
	printf("steps_to_abandon %u\n", most_steps_to_abandon);
	printf("steps_to_release %u\n", most_steps_to_release);
	printf("stated_steps_to_abandon %u\n", type_of(0)->steps_to_abandon);
	printf("stated_steps_to_release %u\n", type_of(0)->steps_to_release);
	printf("missed %.1e\n", states * states / 2 / 18446744073709551616.0);
	printf("seconds %.2f\n", seconds());
}

static void print_failure(void)
{
	printf("failure %s\n", failure);
	printf("schedule %s:%s\n", sharing_code(), schedule);
	fflush(stdout);
}

static int replay(unsigned int pool, const char *code)
{
	const char *signs = sharing_set(code);

	if (!signs || !show_schedule(pool, signs)) {
		fflush(stdout);
		fprintf(stderr, "explore: the schedule does not fit\n");
		return 2;
	}
	return failure[0] ? 1 : 0;
}

int main(int argc, char **argv)
{
	size_t most = SIZE_MAX;
	unsigned int pool;
	bool good;

	if (argc < 6) {
		fputs("usage: explore TYPES PROGRAM POOL CHECKS SOCKETS [WHAT ARGUMENT]\n",
		      stderr);
		return 2;
	}
	types_read(argv[1]);
	program_read(argv[2]);
	pool = atoi(argv[3]);
	checks_per_wait = atoi(argv[4]);
	sockets_number = atoi(argv[5]);
	search_show_progress();
	if (argc > 7 && !strcmp(argv[6], "replay"))
		return replay(pool, argv[7]);
	if (argc > 7 && !strcmp(argv[6], "most"))
		most = strtoul(argv[7], NULL, 0);
	good = search_all(pool, most);
	print_counts();
	if (good)
		return 0;
	print_failure();
	if (argc > 7 && !strcmp(argv[6], "shortest") &&
	    search_shortest(pool, strtoul(argv[7], NULL, 0))) {
		printf("shortest %zu\n", strlen(schedule));
		print_failure();
	}
	return 1;
}
