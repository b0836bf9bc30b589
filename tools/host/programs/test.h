/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of the host tests: cases with claims for names, one line of result
 * each, and what must hold after every one of them.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>

#include <linux/types.h>

struct test_case {
	const char *name;
	void (*run)(void);
};

#define TEST_CASE(function)	{ #function, function }

/* Remembers the first thing that was not as expected; goes on. */
#define EXPECT(condition) test_expect((condition), #condition, HERE)
/* "steps.c:35" */
#define HERE			FILE_AND(__LINE__)
#define FILE_AND(line)		FILE_AND_TEXT(line)
#define FILE_AND_TEXT(line)	__FILE_NAME__ ":" #line

bool test_expect(bool condition, const char *text, const char *where);
/* Was anything not as expected in the case that runs? */
bool test_has_failed(void);
/* The case that runs will cause so many warnings; without this, none. */
void test_expect_warnings(unsigned int warnings);
/* The clock of the case that runs: what it reads, and by how much each read advances it. */
extern u64 test_now;
extern u64 test_clock_step;
void test_clock(u64 now, u64 step);
/* A number that depends on nothing but the state. */
unsigned int test_random(unsigned int *state);

/*
 * The steps of a case, accesses and polls, are counted: one that makes too many hangs. A case of
 * many parts says where the next one begins.
 */
void test_count_anew(void);
/*
 * Set by a program with threads, whose polls are as many as the machine likes: its steps are the
 * attempts, of which it says by test_step() that one was made.
 */
extern bool test_steps_are_attempts;
void test_step(void);
/* What is printed behind a failure: how to run it again; "" if there is nothing to say. */
extern char test_again[256];

/*
 * Run all cases and print a line for each. After each: all nodes are free, as many were freed as
 * allocated, nothing is off. With NBQ_STOP_AT_FAILURE in the environment the first failure ends
 * the run.
 *
 * Return: exit status.
 */
int test_main(const struct test_case *cases, unsigned int number);

#endif
