#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "context.h"
#include "judge.h"
#include "search.h"
int main(int argc, char **argv)
{
	struct timespec a, b;
	walks_a_wait = argc > 3 ? atoi(argv[3]) : 0;
	program_read(argv[1]);
	clock_gettime(CLOCK_MONOTONIC, &a);
	bool good = search_all(atoi(argv[2]));
	clock_gettime(CLOCK_MONOTONIC, &b);
	double t = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	printf("%s %s: %zu states %zu transitions %zu ends %zu quiet longest %zu, leave %u release %u, %.1f s, %.2f M/s\n", good ? "ok" : "not ok", argv[1], counts.states, counts.transitions, counts.ends, counts.quiet, counts.longest, most_steps_to_leave, most_steps_to_release, t, counts.transitions / t / 1e6);
	if (!good) printf("%s: %s\n", failure, schedule);
	return !good;
}
