// SPDX-License-Identifier: GPL-2.0
/*
 * A console in use: numbered lines out from CPU 1, numbered lines in on CPU 2, and threads that
 * sleep for 1 ms at a time on CPUs 0 and 2.
 *
 * CPU 0 takes all interrupts of user-mode Linux. When the sleeper there wakes up and the number
 * of the console's interrupts is another one, it prints that number: "seen N" says that the
 * handlers of N interrupts have returned, as a handler does not let a task run on its CPU.
 *
 * Input is "in 1", "in 2", ... and "end N"; output is "out 1", "out 2", ... and "out end N".
 *
 * Usage: console_load INTERRUPT    the name of the interrupt, as in /proc/interrupts
 * Prints lines "name value" at the end, "late.CPU NS" for each sleep.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CONSOLE		"/dev/hvc0"
#define PAUSE_NS	1000000
#define MOST_SLEEPS	100000

static const char *interrupt;
static int console;
static bool ended;
static unsigned long lines_in, lines_out, wrong;

static struct sleeper {
	int cpu;
	unsigned long sleeps;
	unsigned long late[MOST_SLEEPS];	/* how long after its time it woke up, in ns */
} sleepers[] = { { .cpu = 0 }, { .cpu = 2 } };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static bool has_ended(void)
{
	return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}

static unsigned long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

/* How many interrupts CPU 0 has taken. */
static unsigned long interrupts_taken(int table)
{
	static char text[16384];
	ssize_t length = pread(table, text, sizeof(text) - 1, 0);
	char *line, *rest;

	if (length <= 0)
		fail("/proc/interrupts");
	text[length] = 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, interrupt))
			return strtoul(strchr(line, ':') + 1, NULL, 10);
	fprintf(stderr, "/proc/interrupts has no %s\n", interrupt);
	exit(1);
}

static void say_seen(int table)
{
	static unsigned long seen;
	unsigned long count = interrupts_taken(table);

	if (count != seen)
		printf("seen %lu\n", count);
	seen = count;
}

static void *sleep_on(void *arg)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int table = open("/proc/interrupts", O_RDONLY);
	struct sleeper *sleeper = arg;
	unsigned long begin;

	run_on(sleeper->cpu);
	while (!has_ended()) {
		begin = now_ns();
		nanosleep(&pause, NULL);
		if (sleeper->sleeps < MOST_SLEEPS)
			sleeper->late[sleeper->sleeps++] = now_ns() - begin - PAUSE_NS;
		if (!sleeper->cpu)
			say_seen(table);
	}
	return NULL;
}

static void put(const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t written = write(console, text, length);

		if (written < 0)
			fail("write " CONSOLE);
		text += written;
		length -= written;
	}
}

static void *writer(void *unused)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	char text[32];

	run_on(1);
	while (!has_ended()) {
		snprintf(text, sizeof(text), "out %lu\n", ++lines_out);
		put(text);
		nanosleep(&pause, NULL);
	}
	snprintf(text, sizeof(text), "out end %lu\n", lines_out);
	put(text);
	return unused;
}

static void *reader(void *unused)
{
	FILE *input = fdopen(dup(console), "r");
	unsigned long number;
	char text[64];

	run_on(2);
	while (fgets(text, sizeof(text), input)) {
		if (sscanf(text, "in %lu", &number) == 1) {
			wrong += number != ++lines_in;
			continue;
		}
		wrong += sscanf(text, "end %lu", &number) != 1 || number != lines_in;
		break;
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	return unused;
}

static void print_results(void)
{
	struct sleeper *sleeper;
	unsigned long n;

	printf("lines_in %lu\nlines_out %lu\nwrong %lu\n", lines_in, lines_out, wrong);
	for (sleeper = sleepers; sleeper < sleepers + 2; sleeper++)
		for (n = 0; n < sleeper->sleeps; n++)
			printf("late.%d %lu\n", sleeper->cpu, sleeper->late[n]);
}

int main(int argc, char **argv)
{
	const struct {
		void *(*body)(void *);
		void *arg;
	} parts[] = {
		{ writer }, { reader }, { sleep_on, &sleepers[0] }, { sleep_on, &sleepers[1] },
	};
	pthread_t threads[4];
	struct termios raw;
	int n;

	if (argc != 2)
		return 2;
	interrupt = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	console = open(CONSOLE, O_RDWR | O_NOCTTY);
	if (console < 0 || tcgetattr(console, &raw))
		fail(CONSOLE);
	cfmakeraw(&raw);
	if (tcsetattr(console, TCSANOW, &raw))
		fail(CONSOLE);
	for (n = 0; n < 4; n++)
		if (pthread_create(&threads[n], NULL, parts[n].body, parts[n].arg))
			fail("pthread_create");
	for (n = 0; n < 4; n++)
		pthread_join(threads[n], NULL);
	print_results();
	return 0;
}
