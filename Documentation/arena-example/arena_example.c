// SPDX-License-Identifier: GPL-2.0
/* Loads arena_example.bpf.c, and runs it on each CPU: thread by thread, many times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <nbq_arena_lock_types.h>
#include "arena_example.h"
#include "arena_example.skel.h"

#define TIMES	10000

static int program;
static unsigned int moved, went_without, wrong;

static void *work(void *cpu)
{
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET((long)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return NULL;	/* not online */
	for (i = 0; i < TIMES; i++) {
		struct result result = { 0 };
		LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &result,
			    .ctx_size_in = sizeof(result));

		if (bpf_prog_test_run_opts(program, &options) || options.retval) {
			perror("running the program");
			exit(1);
		}
		if (result.error)
			__atomic_add_fetch(&went_without, 1, __ATOMIC_RELAXED);
		else if (result.balance != 2000)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		else
			__atomic_add_fetch(&moved, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	struct arena_example *example = arena_example__open_and_load();
	long cpu, cpus = sysconf(_SC_NPROCESSORS_CONF);
	pthread_t *threads = calloc(cpus, sizeof(*threads));

	if (!example || !threads)
		return 1;
	program = bpf_program__fd(example->progs.move_one);
	for (cpu = 0; cpu < cpus; cpu++) {
		if (pthread_create(&threads[cpu], NULL, work, (void *)cpu))
			return 1;
	}
	for (cpu = 0; cpu < cpus; cpu++)
		pthread_join(threads[cpu], NULL);
	printf("moved %u times, went without %u times, wrong %u times\n", moved, went_without,
	       wrong);
	arena_example__destroy(example);
	return wrong || !moved;
}
