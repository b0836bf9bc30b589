/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel's prog_tests/arena_spin_lock.c takes from the main program of the BPF selftests,
 * which it is built without. runner.c has the functions.
 */
#ifndef ARENA_TEST_PROGS_H
#define ARENA_TEST_PROGS_H

#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

typedef __u32 u32;
typedef __u64 u64;

#ifdef IN_PLACE
#include <nbq_arena_lock_types.h>
#endif

#define MIN(a, b)	((a) < (b) ? (a) : (b))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The kernel's test. */
void test_arena_spin_lock(void);

/* Counts a check, and prints one that fails. Return: whether it passed. */
bool check(bool ok, const char *name, long long value);
bool test__start_subtest(const char *name);
void test__skip(void);

#define ASSERT_EQ(value, wanted, name) ({			\
	typeof(value) got = (value);				\
								\
	check(got == (wanted), name, (long long)got);		\
})
#define ASSERT_OK(value, name)		ASSERT_EQ(value, 0, name)
#define ASSERT_FALSE(value, name)	ASSERT_EQ(value, false, name)
#define ASSERT_OK_PTR(pointer, name)	ASSERT_EQ(libbpf_get_error(pointer), 0, name)

#endif /* ARENA_TEST_PROGS_H */
