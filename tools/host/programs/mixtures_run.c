// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: schedules in processes of their own, which end with the first failure: a crash is one
 * as well. What came of them stands in memory that both share.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mixtures.h"

/* A schedule needs milliseconds. In so long, one that makes no step at all is ended. */
#define SECONDS_WITHOUT_A_STEP	20

struct outcome *outcome;

static void end_process(void)
{
	outcome->steps += steps_made;
	if (shows)
		show("%s", "");
	fflush(stdout);
	_exit(1);
}

void fail(const char *kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(outcome->why, sizeof(outcome->why), format, arguments);
	va_end(arguments);
	snprintf(outcome->kind, sizeof(outcome->kind), "%s", kind);
	end_process();
	__builtin_unreachable();
}

/* Crashes. */

const char *__asan_get_report_description(void) __attribute__((__weak__));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((__weak__));

static void on_death(void)
{
	const char *what = NULL;

	if (outcome->kind[0])
		return;
	if (__asan_get_report_description)
		what = __asan_get_report_description();
	snprintf(outcome->why, sizeof(outcome->why), "%s", what ? what : "a sanitizer's report");
	snprintf(outcome->kind, sizeof(outcome->kind), "crash");
	if (shows)
		show("%s", "");
	fflush(stdout);
}

static void on_fault(int signal)
{
	if (!outcome->kind[0]) {
		snprintf(outcome->why, sizeof(outcome->why), "signal %d", signal);
		snprintf(outcome->kind, sizeof(outcome->kind), "crash");
	}
	if (shows)
		show("%s", "");
	fflush(stdout);
	_exit(1);
}

/* The clock only ends what makes no step: how many are made depends on no machine. */
static void on_timer(int signal)
{
	static u64 steps_before;

	if (steps_made == steps_before) {
		strcpy(outcome->kind, "hang");
		strcpy(outcome->why, "no step is made");
		end_process();
	}
	steps_before = steps_made;
}

static void catch_crashes(void)
{
	/* Of the processor time of this process: it passes only while that could make a step. */
	const struct itimerval often = {
		.it_interval.tv_sec = SECONDS_WITHOUT_A_STEP,
		.it_value.tv_sec = SECONDS_WITHOUT_A_STEP,
	};

	signal(SIGPROF, on_timer);
	setitimer(ITIMER_PROF, &often, NULL);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(on_death);
		return;
	}
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	signal(SIGFPE, on_fault);
	signal(SIGILL, on_fault);
}

/* What a failing schedule prints to stderr, the shim's reports of misuse above all, is not read. */
static void silence_errors(void)
{
	int nowhere = open("/dev/null", O_WRONLY);

	if (nowhere >= 0 && !getenv("NBQ_MIXTURES_STDERR"))
		dup2(nowhere, STDERR_FILENO);
}

static void run_schedule(struct schedule *schedule, bool chooses)
{
	unsigned int length, i;

	if (chooses) {
		choose_settings(&schedule->settings, schedule->seed);
		length = choose_length();
		schedule->number = 0;
	} else {
		length = schedule->number;
	}
	machine_begin(&schedule->settings);
	for (i = 0; i < length; i++) {
		if (chooses) {
			schedule->events[i] = choose_event();
			schedule->number = i + 1;
		}
		if (shows)
			show_event(&schedule->events[i]);
		if (!machine_do(&schedule->events[i]) && shows)
			show("    (skipped)\n");
	}
	machine_end();
	outcome->schedules++;
}

/* Return: in the child: true. In the parent, when it has ended: false. */
static bool in_child(void)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child < 0) {
		perror("fork");
		exit(2);
	}
	if (!child) {
		silence_errors();
		catch_crashes();
		return true;
	}
	if (waitpid(child, &status, 0) != child)
		exit(2);
	if (status && !outcome->kind[0]) {
		snprintf(outcome->why, sizeof(outcome->why), "status %#x", status);
		strcpy(outcome->kind, "crash");
	}
	return false;
}

static void begin(void)
{
	if (!outcome)
		outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED)
		exit(2);
	outcome->kind[0] = '\0';
	outcome->why[0] = '\0';
}

bool run_seeds(unsigned int first, unsigned int number)
{
	unsigned int seed;

	begin();
	if (!in_child())
		return !outcome->kind[0];
	for (seed = first; seed != first + number; seed++) {
		outcome->schedule.seed = seed;
		run_schedule(&outcome->schedule, true);
	}
	outcome->steps += steps_made;
	_exit(0);
}

bool run_again(const struct schedule *schedule, const char *kind, bool shown)
{
	begin();
	outcome->schedule = *schedule;
	if (in_child()) {
		shows = shown;
		run_schedule(&outcome->schedule, false);
		fflush(stdout);
		_exit(0);
	}
	return kind ? !strcmp(outcome->kind, kind) : outcome->kind[0];
}
