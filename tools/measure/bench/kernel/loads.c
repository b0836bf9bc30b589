// SPDX-License-Identifier: GPL-2.0
/*
 * Loads for a kernel: workers that do the same system calls all at once, and a count of what
 * they have done.
 *
 * Built statically for the guests of tools/nbq bench kernel; runs anywhere. A load has a fixed
 * time, or for "shell" a fixed amount of work. Workers that do not end by the limit are killed
 * and reported: "finished" is less than "workers" then, and the exit status is 3.
 *
 * Result, a "name value" line each: elapsed_ns, operations, operations_per_second, workers,
 * finished, least and most (operations of a worker), planned (of fixed work), limit_ms, verdict.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loads.h"

#define POLL_NS	2000000			/* between two polls of the workers */
#define KILL_NS	(5 * NSEC_PER_SEC)	/* for killed workers to end */

struct options options = { .passes = 1, .seconds = 1, .limit = 60 };
struct board *board;
char folder[32] = "/tmp/loads-XXXXXX";
int hack_pipes[MOST_WORKERS][2];
static int gate[2];			/* the workers begin when its writing end is closed */
static pid_t children[MOST_WORKERS];

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void sleep_ns(long long ns)
{
	struct timespec time = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

void quit(int status, const char *format, ...)
{
	va_list words;

	fputs("loads: ", stderr);
	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fputc('\n', stderr);
	exit(status);
}

/* Workers */

static void pin(unsigned int id)
{
	cpu_set_t cpus, allowed;
	int number = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (id %= CPU_COUNT(&allowed); !CPU_ISSET(number, &allowed) || id; number++)
		id -= CPU_ISSET(number, &allowed) ? 1 : 0;
	CPU_ZERO(&cpus);
	CPU_SET(number, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void run_worker(unsigned int id)
{
	char byte;

	if (options.load->pinned)
		pin(id);
	board->workers[id].pid = getpid();
	atomic_fetch_add(&board->ready, 1);
	if (read(gate[0], &byte, 1))
		fail(id, "read");
	options.load->work(id);
	board->workers[id].ended_ns = now_ns();
}

static void start_child(unsigned int id)
{
	pid_t child = syscall(SYS_clone, options.load->shared | SIGCHLD, 0, 0, 0, 0);

	if (child < 0)
		quit(FAILED, "cannot make a process: %s", strerror(errno));
	if (child) {
		setpgid(child, child);
		children[id] = child;
		return;
	}
	setpgid(0, 0);
	if (!(options.load->shared & CLONE_FILES))
		close(gate[1]);
	run_worker(id);
	_exit(0);
}

static void start_workers(void)
{
	long long deadline = now_ns() + options.limit * NSEC_PER_SEC;

	if (pipe(gate))
		quit(FAILED, "cannot make a pipe: %s", strerror(errno));
	for (unsigned int id = 0; id < options.workers; id++)
		start_child(id);
	while (board->ready < options.workers && now_ns() < deadline)
		sleep_ns(POLL_NS);
	for (unsigned int id = 0; id < options.workers; id++) {
		close(hack_pipes[id][0]);
		close(hack_pipes[id][1]);
	}
}

/* Whether all children have ended by then. */
static bool reap_until(long long deadline)
{
	unsigned int left;

	do {
		left = 0;
		for (unsigned int number = 0; number < options.workers; number++) {
			if (children[number] && waitpid(children[number], NULL, WNOHANG))
				children[number] = 0;
			left += children[number] != 0;
		}
		if (!left)
			return true;
		sleep_ns(POLL_NS);
	} while (now_ns() < deadline);
	return false;
}

static void kill_workers(void)
{
	for (unsigned int number = 0; number < options.workers; number++)
		if (children[number])
			kill(-children[number], SIGKILL);
}

/* Result */

struct totals {
	unsigned long operations, least, most;
	unsigned int finished;
	long long last_end_ns;
};

static struct totals totals_now(void)
{
	struct totals found = { .least = ~0UL };

	for (unsigned int id = 0; id < options.workers; id++) {
		unsigned long mine = board->workers[id].operations;
		long long end = board->workers[id].ended_ns;

		found.operations += mine;
		found.least = mine < found.least ? mine : found.least;
		found.most = mine > found.most ? mine : found.most;
		found.finished += end != 0;
		found.last_end_ns = end > found.last_end_ns ? end : found.last_end_ns;
	}
	return found;
}

static int print_verdict(unsigned int finished)
{
	for (unsigned int id = 0; id < options.workers; id++) {
		const struct worker *worker = &board->workers[id];

		if (worker->failed) {
			printf("verdict FAIL worker %u: %s: %s\n", id, worker->failed,
			       strerror(worker->error));
			return FAILED;
		}
	}
	printf("verdict PASS\n");
	return finished == options.workers ? FINE : UNFINISHED;
}

static int print_result(const struct totals *found, long long elapsed_ns)
{
	printf("elapsed_ns %lld\n", elapsed_ns);
	printf("operations %lu\n", found->operations);
	printf("operations_per_second %.1f\n", 1e9 * found->operations / elapsed_ns);
	printf("workers %u\n", options.workers);
	printf("finished %u\n", found->finished);
	printf("least %lu\n", found->least);
	printf("most %lu\n", found->most);
	if (options.load->fixed)
		printf("planned %u\n", options.workers * options.passes);
	printf("limit_ms %.0f\n", options.limit * 1000);
	return print_verdict(found->finished);
}

/*
 * Of a fixed time the count and the clock are read together, when it is over. Fixed work ends
 * with its last worker.
 */
static int run_load(void)
{
	long long begin = now_ns(), end = begin;
	struct totals found = { 0 }, last;
	bool all;

	close(gate[1]);
	if (!options.load->fixed) {
		sleep_ns(options.seconds * NSEC_PER_SEC);
		found = totals_now();
		end = now_ns();
		board->stop = true;
	}
	all = reap_until(begin + options.limit * NSEC_PER_SEC);
	last = totals_now();
	if (options.load->fixed) {
		found = last;
		end = all && last.finished == options.workers ? last.last_end_ns : now_ns();
	}
	found.finished = last.finished;
	kill_workers();
	reap_until(now_ns() + KILL_NS);
	return print_result(&found, end - begin);
}

/* Command line */

static void print_help(void)
{
	printf("usage: loads [OPTION]... LOAD\n"
	       "Workers that do the same system calls at once; prints what they have done.\n"
	       "  --workers N   processes (default: a CPU each; at most %d)\n"
	       "  --seconds S   how long, of loads that have a time (1)\n"
	       "  --passes N    how often each worker, of loads that have an amount of work (1)\n"
	       "  --limit S     seconds until workers that have not ended are killed (60)\n"
	       "  --list        the names of the loads\n"
	       "exit status: 0; 1 if a call failed; 2 for a bad command line; 3 if workers did\n"
	       "not end by the limit\nloads:\n", MOST_WORKERS);
	for (unsigned int number = 0; number < loads_number; number++)
		printf("  %-10s %s\n", loads[number].name, loads[number].meaning);
}

static double number_from(const char *option, const char *text, double least, double most)
{
	char *end;
	double number = strtod(text, &end);

	if (*end || end == text || !(number >= least && number <= most))
		quit(USAGE, "--%s takes a number from %g to %g, not \"%s\"", option, least, most,
		     text);
	return number;
}

static const struct load *load_named(const char *name)
{
	for (unsigned int number = 0; number < loads_number; number++)
		if (!strcmp(loads[number].name, name))
			return &loads[number];
	quit(USAGE, "there is no load \"%s\"; --list prints those that there are", name);
}

static void set_option(int option)
{
	switch (option) {
	case 'w':
		options.workers = number_from("workers", optarg, 1, MOST_WORKERS);
		break;
	case 's':
		options.seconds = number_from("seconds", optarg, 0.001, 3600);
		break;
	case 'p':
		options.passes = number_from("passes", optarg, 1, 1000000);
		break;
	case 'l':
		options.limit = number_from("limit", optarg, 0.001, 36000);
		break;
	case 'L':
		for (unsigned int number = 0; number < loads_number; number++)
			puts(loads[number].name);
		exit(FINE);
	case 'h':
		print_help();
		exit(FINE);
	default:
		exit(USAGE);
	}
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "seconds", required_argument, NULL, 's' },
		{ "passes", required_argument, NULL, 'p' },
		{ "limit", required_argument, NULL, 'l' },
		{ "list", no_argument, NULL, 'L' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		set_option(option);
	if (argc - optind != 1)
		quit(USAGE, "takes one load; --help prints them");
	options.load = load_named(argv[optind]);
	if (!options.load->fixed && options.limit <= options.seconds)
		quit(USAGE, "--limit %g is not more than --seconds %g", options.limit,
		     options.seconds);
}

static void prepare(void)
{
	if (!options.workers) {
		long online = sysconf(_SC_NPROCESSORS_ONLN);

		options.workers = online > MOST_WORKERS ? MOST_WORKERS : online;
	}
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (board == MAP_FAILED)
		quit(FAILED, "no memory: %s", strerror(errno));
	memset(hack_pipes, -1, sizeof(hack_pipes));
	if (!mkdtemp(folder) || chdir(folder))
		quit(FAILED, "cannot make %s: %s", folder, strerror(errno));
	if (options.load->prepare)
		options.load->prepare();
}

/* The workers' files; those of killed workers stay. */
static void remove_folder(void)
{
	for (int file = 0; file < FILES; file++)
		unlink(file_names[file]);
	if (!chdir("/"))
		rmdir(folder);
}

int main(int argc, char **argv)
{
	int status;

	read_options(argc, argv);
	prepare();
	start_workers();
	status = run_load();
	remove_folder();
	return status;
}
