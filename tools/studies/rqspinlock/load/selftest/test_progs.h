/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel's prog_tests/res_spin_lock.c takes from the main program of the BPF selftests,
 * which it is built without. runner.c has the functions.
 */
#ifndef SELFTEST_TEST_PROGS_H
#define SELFTEST_TEST_PROGS_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

typedef __u32 u32;
typedef __u64 u64;

/* Its struct bpf_res_spin_lock, made by tools/studies/rqspinlock/selftest.py. */
#include "lock_type.h"

#define READ_ONCE(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
#define WRITE_ONCE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)

/* The kernel's test. */
void test_res_spin_lock_failure(void);
void test_res_spin_lock_success(void);

/* Counts a check, and prints it. Return: whether it passed. */
bool check(bool ok, const char *name, long long value);
/* Loads each program of an object alone, and compares with what its tags expect. */
void run_tests(const char *name, const void *(*elf_bytes)(size_t *size));
void test__skip(void);

/* An int may be compared with an unsigned return value: in their own types. */
#define ASSERT_EQ(value, wanted, name) ({			\
	typeof(value) got = (value);				\
								\
	check(got == (wanted), name, (long long)got);		\
})
#define ASSERT_OK(value, name) ASSERT_EQ(value, 0, name)
#define ASSERT_OK_PTR(pointer, name) ASSERT_EQ(libbpf_get_error(pointer), 0, name)
#define RUN_TESTS(skeleton) run_tests(#skeleton, skeleton##__elf_bytes)

/* For a test with hardware counters, which is not run: study.py has its own. */
static inline int load_module(const char *name, bool verbose)
{
	return -EOPNOTSUPP;
}

static inline int unload_module(const char *name, bool verbose)
{
	return -EOPNOTSUPP;
}

#endif /* SELFTEST_TEST_PROGS_H */
