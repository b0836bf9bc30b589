// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the kernel's prog_tests/arena_spin_lock.c. Prints its parts and the checks that fail; the
 * exit status is 1 if one did, or none was made.
 */
#include "test_progs.h"

static unsigned long checks, failures;

bool check(bool ok, const char *name, long long value)
{
	__atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED);
	if (!ok) {
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
		printf("failed: %s: %lld\n", name, value);
	}
	return ok;
}

bool test__start_subtest(const char *name)
{
	printf("%s\n", name);
	return true;
}

void test__skip(void)
{
	check(false, "skipped", 0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_arena_spin_lock();
	printf("checks=%lu failures=%lu\n", checks, failures);
	return failures || !checks;
}
