// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the suites of kunit/ on the host, and prints a line for each case:
 *
 *	ok SUITE.CASE.PARAMETER, not ok SUITE.CASE: WHY, or skip SUITE.CASE: WHY
 *
 * Arguments: the first letters of the suites to run; none: all. With NBQ_STOP_AT_FAILURE in the
 * environment the first failure ends the run.
 *
 * After each case nothing is off or recorded as held, and the reports of misuse are those that it
 * has announced.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <kunit/test.h>
#include <nbqlock/stress/driver.h>

struct kunit_memory {
	struct kunit_memory *next;
	void *memory;
};

static struct kunit_suite *suites, **end = &suites;
static bool failed;

/* The case that runs */
static struct kunit *running;
static char name[256];
static jmp_buf case_end;

/* The report that it has announced, how many there must be, and those that came */
#define MOST_REPORTS	16

static struct {
	char what[80];
	unsigned int wanted;	/* 0: one or more */
	unsigned int came;
	unsigned long locks[MOST_REPORTS];
} reports;

void kunit_add_suite(struct kunit_suite *suite)
{
	*end = suite;
	end = &suite->next;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	struct kunit_memory *memory = shim_alloc(sizeof(*memory), 8);

	memory->memory = shim_alloc(size, 8);
	memory->next = test->memory;
	test->memory = memory;
	return memory->memory;
}

static void free_memory(struct kunit *test)
{
	while (test->memory) {
		struct kunit_memory *memory = test->memory;

		test->memory = memory->next;
		free(memory->memory);
		free(memory);
	}
}

/* A case is reported with its first failure. */
static void note_failure(struct kunit *test, const char *why)
{
	fprintf(stderr, "%s: %s\n", name, why);
	if (test->status != KUNIT_FAILURE)
		snprintf(test->why, sizeof(test->why), "%s", why);
	test->status = KUNIT_FAILURE;
}

void kunit_fail(struct kunit *test, struct kunit_place place, const char *format, ...)
{
	const char *file = strrchr(place.file, '/') ?: place.file - 1;
	char why[sizeof(test->why)];
	va_list args;
	int length;

	length = snprintf(why, sizeof(why), "%s:%d: ", file + 1, place.line);
	va_start(args, format);
	vsnprintf(why + length, sizeof(why) - length, format, args);
	va_end(args);
	note_failure(test, why);
}

void kunit_end_case(void)
{
	longjmp(case_end, 1);
}

void kunit_skip(struct kunit *test, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(test->why, sizeof(test->why), format, args);
	va_end(args);
	test->status = KUNIT_SKIPPED;
	kunit_end_case();
}

/* What a case says; if it announces reports, these. */
void kunit_say(struct kunit *test, const char *format, ...)
{
	char said[256];
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	fprintf(stderr, "%s: %s\n", name, said);
	memset(&reports, 0, sizeof(reports));
	if (sscanf(said, "provokes a report: %79[^\n]", reports.what) != 1)
		sscanf(said, "provokes %u reports of different locks: %79[^\n]", &reports.wanted,
		       reports.what);
}

void shim_log(const char *format, ...)
{
	char line[256], what[80];
	unsigned long lock;
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "%s", line);
	if (sscanf(line, "nbqlock: BUG: %79[^:]: %lx", what, &lock) < 1 || !running)
		return;
	if (strcmp(what, reports.what))
		note_failure(running, line);
	else if (reports.came < MOST_REPORTS)
		reports.locks[reports.came++] = lock;
}

void shim_warn(const char *text, const char *file, int line)
{
	fprintf(stderr, "%s:%d: warning: %s\n", file, line, text);
	if (!running)
		abort();
	note_failure(running, text);
}

static bool reports_came(void)
{
	unsigned int i, j;

	for (i = 0; i < reports.came; i++) {
		for (j = 0; reports.wanted && j < i; j++) {
			if (reports.locks[i] == reports.locks[j])
				return false;
		}
	}
	return reports.wanted ? reports.came == reports.wanted : reports.came;
}

/* A case hangs when it makes so many steps, accesses and polls: a thousand times what one takes. */
#define MOST_STEPS	1000000000

/* So far, of all CPUs and cases; and how many they may become */
static unsigned long steps, steps_limit;

static void report_hang(void)
{
	char line[sizeof(name) + 64];
	int length;

	length = snprintf(line, sizeof(line),
			  "not ok %s: hangs; the cases after it have not run\n", name);

	_exit(write(STDOUT_FILENO, line, length) == length ? 1 : 2);
}

void shim_step(void)
{
	if (__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED) > steps_limit)
		report_hang();
}

/* As in programs/test.c: a loop without an access ends after so much time of a processor. */
#define SECONDS_WITHOUT_STEP	20

static void report_standstill(int signal)
{
	static unsigned long before;
	unsigned long now = __atomic_load_n(&steps, __ATOMIC_RELAXED);

	if (now == before)
		report_hang();
	before = now;
}

static void watch_steps(void)
{
	const struct itimerval used = { { .tv_sec = SECONDS_WITHOUT_STEP },
					{ .tv_sec = SECONDS_WITHOUT_STEP } };

	signal(SIGPROF, report_standstill);
	setitimer(ITIMER_PROF, &used, NULL);
}

static void run_case(const struct kunit_suite *suite, const struct kunit_case *what,
		     struct kunit *test)
{
	if (!setjmp(case_end)) {
		if (suite->init && suite->init(test))
			note_failure(test, "its suite's init fails");
		else
			what->run_case(test);
	}
	if (suite->exit && !setjmp(case_end))
		suite->exit(test);
	if (shim_count || shim_irqs_off)
		note_failure(test, "it ends with preemption, bottom halves or interrupts off");
	if (shim_lockdep_depth)
		note_failure(test, "it ends with a lock that is recorded as held");
	if (*reports.what && test->status == KUNIT_SUCCESS && !reports_came())
		note_failure(test, "the announced reports did not come");
}

static void conclude(const struct kunit *test)
{
	if (test->status == KUNIT_SUCCESS)
		printf("ok %s\n", name);
	else
		printf("%s %s: %s\n", test->status == KUNIT_SKIPPED ? "skip" : "not ok", name,
		       test->why);
	failed |= test->status == KUNIT_FAILURE;
	if (failed && getenv("NBQ_STOP_AT_FAILURE")) {
		fflush(stdout);
		_exit(1);
	}
}

static void run(const struct kunit_suite *suite, const struct kunit_case *what, const void *param,
		const char *desc)
{
	struct kunit test = { .param_value = param };

	snprintf(name, sizeof(name), "%s.%s%s%s", suite->name, what->name, *desc ? "." : "", desc);
	memset(&reports, 0, sizeof(reports));
	shim_ratelimit_epoch++;
	steps_limit = steps + MOST_STEPS;
	running = &test;
	run_case(suite, what, &test);
	shim_work();
	running = NULL;
	shim_count = 0;
	shim_irqs_off = 0;
	shim_lockdep_depth = 0;
	free_memory(&test);
	conclude(&test);
}

static void run_params(const struct kunit_suite *suite, const struct kunit_case *what)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;

	if (!what->generate_params) {
		run(suite, what, NULL, desc);
		return;
	}
	while ((param = what->generate_params(param, desc)))
		run(suite, what, param, desc);
}

static bool is_wanted(const struct kunit_suite *suite, char **names)
{
	bool wanted = !*names;

	for (; *names; names++)
		wanted |= !strncmp(suite->name, *names, strlen(*names));
	return wanted;
}

int main(int number, char **arguments)
{
	const struct kunit_suite *suite;
	const struct kunit_case *what;

	setvbuf(stdout, NULL, _IOLBF, 0);
	watch_steps();
	snprintf(name, sizeof(name), "start");
	steps_limit = MOST_STEPS;
	shim_boot();
	if (stress_ops_start())
		abort();
	for (suite = suites; suite; suite = suite->next) {
		if (!is_wanted(suite, arguments + 1))
			continue;
		for (what = suite->test_cases; what->run_case; what++)
			run_params(suite, what);
	}
	return failed;
}

/* No file of the stress driver's names a lock type here. */

void stress_params_forget(const struct stress_ops *ops)
{
}

void stress_control_forget(const struct stress_ops *ops)
{
}

/* Where the compiler does not optimise, a call of it stays, and is made if it can be reached. */
void nbq_guard_unchecked(void);
void nbq_guard_unchecked(void)
{
	shim_warn("a guard was not checked", __FILE__, __LINE__);
}
