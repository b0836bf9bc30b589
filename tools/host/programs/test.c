// SPDX-License-Identifier: GPL-2.0
/*
 * The frame of the host tests.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <asm/mmiowb.h>
#include <host.h>
#include <trace/events/lock.h>

#include "test.h"

static const char *case_name;
static bool failed;
static char why[256];		/* the first failure */
char test_again[256];
static unsigned int warnings_expected;
static bool stops_at_failure;

/* From any thread, and from a signal handler. */
static void print_and_exit(const char *said)
{
	const char *between = why[0] && said[0] ? "; " : "";
	char line[1024];
	int length;

	length = snprintf(line, sizeof(line), "not ok %s: %s%s%s%s\n", case_name, why, between,
			  said, test_again);
	_exit(write(STDOUT_FILENO, line, length) == length ? 1 : 2);
}

bool test_expect(bool condition, const char *text, const char *where)
{
	if (!condition && !__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED)) {
		snprintf(why, sizeof(why), "%s: %s", where, text);
		if (stops_at_failure)
			print_and_exit("");
	}
	return condition;
}

bool test_has_failed(void)
{
	return failed;
}

void test_expect_warnings(unsigned int warnings)
{
	warnings_expected += warnings;
}

u64 test_now;
u64 test_clock_step;

static u64 fake_clock(void)
{
	u64 now = test_now;

	test_now += test_clock_step;
	return now;
}

void test_clock(u64 now, u64 step)
{
	test_now = now;
	test_clock_step = step;
	shim_clock = fake_clock;
}

unsigned int test_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

/*
 * A case hangs when it makes so many steps: six times what the longest takes. They are as many on
 * every machine.
 */
#define MOST_STEPS	1000000000

/* So far, of all cases; and how many they may become. */
static u64 steps;
static u64 steps_limit;
bool test_steps_are_attempts;

static void report_hang(void)
{
	print_and_exit("hangs; the cases after it have not run");
}

/* Of the only thread that there is. */
void shim_step(void)
{
	if (!test_steps_are_attempts && ++steps > steps_limit)
		report_hang();
}

void test_step(void)
{
	if (__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED) > steps_limit)
		report_hang();
}

void test_count_anew(void)
{
	steps_limit = steps + MOST_STEPS;
}

/*
 * The clock ends nothing but what uses the processor and makes no step at all meanwhile: a loop
 * without an access. It runs with the process, and stands while others have the cores.
 */
#define SECONDS_WITHOUT_STEP	20

static void report_standstill(int signal)
{
	static u64 steps_before;
	u64 now = __atomic_load_n(&steps, __ATOMIC_RELAXED);

	if (now == steps_before)
		report_hang();
	steps_before = now;
}

static void watch_steps(void)
{
	const struct itimerval used = { { .tv_sec = SECONDS_WITHOUT_STEP },
					{ .tv_sec = SECONDS_WITHOUT_STEP } };

	signal(SIGPROF, report_standstill);
	setitimer(ITIMER_PROF, &used, NULL);
}

static bool run(const struct test_case *test_case)
{
	test_count_anew();
	case_name = test_case->name;
	failed = false;
	why[0] = '\0';
	test_again[0] = '\0';
	warnings_expected = shim_warnings;
	shim_clock = NULL;
	shim_contention_is_traced = false;
	shim_cpu = 0;
	shim_level = 0;
	shim_pools_start(16, 16);

	test_case->run();
	test_count_anew();

	EXPECT(shim_warnings == warnings_expected);
	EXPECT(shim_preempt_off == 0);
	EXPECT(shim_irqs_off == 0);
	EXPECT(shim_bh_off == 0);
	EXPECT(shim_mmiowb_nesting == 0);
	EXPECT(shim_nodes_in_use() == 0);
	EXPECT(shim_event("nodes_allocated") ==
	       shim_event("nodes_freed") + shim_event("nodes_reclaimed"));

	if (failed)
		printf("not ok %s: %s%s\n", case_name, why, test_again);
	else
		printf("ok %s\n", case_name);
	return !failed;
}

int test_main(const struct test_case *cases, unsigned int number)
{
	bool good = true;
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	stops_at_failure = getenv("NBQ_STOP_AT_FAILURE");
	watch_steps();
	for (i = 0; i < number; i++)
		good &= run(&cases[i]);
	return good ? 0 : 1;
}
