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
static unsigned int warnings_expected;
static bool stops_at_failure;

/* From any thread, and from a signal handler. */
static void print_and_exit(const char *said)
{
	const char *between = why[0] && said[0] ? "; " : "";
	char line[512];
	int length;

	length = snprintf(line, sizeof(line), "not ok %s: %s%s%s\n", case_name, why, between, said);
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

static void report_hang(int signal)
{
	print_and_exit("hangs; the cases after it have not run");
}

/*
 * A case hangs when it has used so many seconds of the cores. The alarm only ends what sleeps for
 * ever: it must not end a case that is starved by the rest of a busy machine.
 */
static void limit_time(unsigned int seconds)
{
	const struct itimerval used = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &used, NULL);
	alarm(seconds ? 3600 : 0);
}

static bool run(const struct test_case *test_case, unsigned int seconds)
{
	case_name = test_case->name;
	failed = false;
	why[0] = '\0';
	warnings_expected = shim_warnings;
	shim_clock = NULL;
	shim_contention_is_traced = false;
	shim_cpu = 0;
	shim_level = 0;
	shim_pools_start(16, 16);

	limit_time(seconds);
	test_case->run();
	limit_time(0);

	EXPECT(shim_warnings == warnings_expected);
	EXPECT(shim_preempt_off == 0);
	EXPECT(shim_irqs_off == 0);
	EXPECT(shim_bh_off == 0);
	EXPECT(shim_mmiowb_nesting == 0);
	EXPECT(shim_nodes_in_use() == 0);
	EXPECT(shim_event("nodes_allocated") ==
	       shim_event("nodes_freed") + shim_event("nodes_reclaimed"));

	if (failed)
		printf("not ok %s: %s\n", case_name, why);
	else
		printf("ok %s\n", case_name);
	return !failed;
}

int test_main(const struct test_case *cases, unsigned int number,
	      unsigned int seconds)
{
	bool good = true;
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	stops_at_failure = getenv("NBQ_STOP_AT_FAILURE");
	signal(SIGALRM, report_hang);
	signal(SIGPROF, report_hang);
	for (i = 0; i < number; i++)
		good &= run(&cases[i], seconds);
	return good ? 0 : 1;
}
