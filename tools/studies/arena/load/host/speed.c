// SPDX-License-Identifier: GPL-2.0
/*
 * The speed of nbq_arena_lock beside libarena's arena_spin_lock: both texts compiled for this
 * machine, threads for CPUs.
 *
 * Usage: speed ROUNDS
 * Prints lines "LOCK.THREADS.ns VALUE", for an acquisition of all threads together, and lines
 * "LOCK.THREADS.again VALUE", how many of 100 were by the thread that had the lock before. The
 * locks by turns, in both orders.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <bpf/bpf_helpers.h>

bool CONFIG_X86_64 = true;
unsigned long CONFIG_NR_CPUS = 1024;
__thread unsigned int this_cpu;
static __thread unsigned int preempt_count;

/* Not inlined: in the kernel they are functions for programs. */
__noinline void bpf_preempt_disable(void)
{
	preempt_count++;
	barrier();
}

__noinline void bpf_preempt_enable(void)
{
	barrier();
	preempt_count--;
}

unsigned long long bpf_ktime_get_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void bpf_local_irq_save(unsigned long *flags)
{
}

void bpf_local_irq_restore(unsigned long *flags)
{
}

#define __TARGET_ARCH_x86
#define ENABLE_ATOMICS_TESTS
#define __BPF_FEATURE_ADDR_SPACE_CAST
#include <bpf_arena_spin_lock.h>
#include <nbq_arena_lock.h>

#define MOST_THREADS	64U

static unsigned int acquisitions;
static pthread_barrier_t barrier;
static struct {
	arena_spinlock_t of_libarena __attribute__((aligned(128)));
	struct nbq_arena_lock nbq __attribute__((aligned(128)));
	unsigned int counter __attribute__((aligned(128)));
	unsigned int in_a_row;
	unsigned int last_cpu;
} shared;

static void critical_section(void)
{
	shared.counter++;
	shared.in_a_row += shared.last_cpu == this_cpu;
	shared.last_cpu = this_cpu;
}

struct thread {
	pthread_t id;
	unsigned int cpu;
	bool nbq;
	unsigned long long start, end;
};

static void *acquire(void *argument)
{
	struct thread *thread = argument;
	unsigned int i;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(thread->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
	this_cpu = thread->cpu;
	pthread_barrier_wait(&barrier);
	thread->start = bpf_ktime_get_ns();
	for (i = 0; i < acquisitions; i++) {
		if (thread->nbq) {
			if (nbq_arena_lock(&shared.nbq, 1000000000000ULL))
				abort();
			critical_section();
			nbq_arena_unlock(&shared.nbq);
		} else {
			if (arena_spin_lock(&shared.of_libarena))
				abort();
			critical_section();
			arena_spin_unlock(&shared.of_libarena);
		}
	}
	thread->end = bpf_ktime_get_ns();
	return NULL;
}

static void measure(unsigned int number, bool nbq)
{
	const char *name = nbq ? "nbq_arena_lock" : "arena_spin_lock";
	struct thread threads[MOST_THREADS];
	unsigned long long start = ~0ULL, end = 0;
	unsigned int i;

	shared.counter = 0;
	shared.in_a_row = 0;
	pthread_barrier_init(&barrier, NULL, number);
	for (i = 0; i < number; i++) {
		threads[i].cpu = i;
		threads[i].nbq = nbq;
		pthread_create(&threads[i].id, NULL, acquire, &threads[i]);
	}
	for (i = 0; i < number; i++) {
		pthread_join(threads[i].id, NULL);
		if (threads[i].start < start)
			start = threads[i].start;
		if (threads[i].end > end)
			end = threads[i].end;
	}
	if (shared.counter != acquisitions * number)
		abort();
	printf("%s.%u.ns %.2f\n", name, number, (double)(end - start) / shared.counter);
	printf("%s.%u.again %.1f\n", name, number, 100.0 * shared.in_a_row / shared.counter);
}

int main(int count, char **words)
{
	int round, rounds = count == 2 ? atoi(words[1]) : 0;

	if (rounds < 1) {
		fprintf(stderr, "usage: %s ROUNDS\n", words[0]);
		return 2;
	}
	for (round = 0; round < rounds; round++) {
		acquisitions = 5000000;
		measure(1, round % 2);
		measure(1, !(round % 2));
		acquisitions = 1000000;
		measure(2, round % 2);
		measure(2, !(round % 2));
	}
	return 0;
}
