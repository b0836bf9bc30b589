// SPDX-License-Identifier: GPL-2.0
/*
 * Loads a program that was linked of several objects, and runs the operation of each twice: while
 * the lock is held, it queues and gives up; then it acquires.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

typedef unsigned int u32;

#include <nbq_arena_lock_types.h>
#include "linked.skel.h"

/* Does it return that? */
static bool returns(const struct bpf_program *program, int wanted)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	if (!bpf_prog_test_run_opts(bpf_program__fd(program), &options) &&
	    (int)options.retval == wanted)
		return true;
	printf("%s returned %d, not %d\n", bpf_program__name(program), (int)options.retval, wanted);
	return false;
}

int main(void)
{
	struct linked *linked = linked__open_and_load();
	struct bpf_program *program;
	unsigned int objects = 0, counted;
	bool as_expected = true;

	if (!linked) {
		perror("the program is refused");
		return 1;
	}
	bpf_object__for_each_program(program, linked->obj) {
		linked->arena->lock.owner = 9999;
		as_expected &= returns(program, -ETIMEDOUT);
		linked->arena->lock.owner = 0;
		as_expected &= returns(program, 0);
		objects++;
	}
	counted = linked->arena->counter;
	printf("%u objects, linked: counted %u\n", objects, counted);
	linked__destroy(linked);
	return !as_expected || counted != objects;
}
