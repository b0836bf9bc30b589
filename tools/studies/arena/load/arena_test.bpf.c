// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that acquire a lock in an arena: nbq_arena_lock or, with OF_LIBARENA, the
 * arena_spin_lock of libarena, which knows no other patience than that of the verifier.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "arena_test.h"

#ifdef OF_LIBARENA
#include <bpf_arena_common.h>
#include <bpf_arena_spin_lock.h>
#define lock_type			arena_spinlock_t
#define acquire(lock, patience_ns)	((void)(patience_ns), arena_spin_lock(lock))
#define release(lock)			arena_spin_unlock(lock)
#ifndef EDEADLK
#define EDEADLK				35
#endif
#else
#include <nbq_arena_lock.h>
#define lock_type			struct nbq_arena_lock
#define acquire(lock, patience_ns)	nbq_arena_lock(lock, patience_ns)
#define release(lock)			nbq_arena_unlock(lock)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ARENA_PAGES);
	__ulong(map_extra, 1ULL << 44);
} arena SEC(".maps");

lock_type __arena lock;

/* Only the lock protects them. */
unsigned int counter __attribute__((aligned(128)));
unsigned int second_counter __attribute__((aligned(128)));

/* By CPUs. */
struct callback callbacks[64];
bool stop_callbacks;

struct timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, struct timer);
} timers SEC(".maps");

static __always_inline void spin(unsigned int spins)
{
	int i;

	bpf_for(i, 0, spins)
		barrier();
}

/* Return: the error, or 0. */
static __always_inline int attempt(u64 patience_ns, unsigned int spins, unsigned int *order)
{
	int error = acquire(&lock, patience_ns);

	if (error)
		return error;
	*order = counter++;
	spin(spins);
	second_counter++;
	release(&lock);
	return 0;
}

static __always_inline int work(struct attempts *attempts)
{
	unsigned int acquired = 0, timeouts = 0, order = 0;
	u64 start = bpf_ktime_get_ns();
	int i, error;

	bpf_for(i, 0, attempts->number) {
		error = attempt(attempts->patience_ns, attempts->spins, &order);
		if (!error)
			acquired++;
		else if (error == -ETIMEDOUT)
			timeouts++;
		else
			attempts->other_error = error;
	}
	attempts->ns = bpf_ktime_get_ns() - start;
	attempts->acquired = acquired;
	attempts->timeouts = timeouts;
	attempts->order = order;
	return 0;
}

SEC("syscall")
int sleepable(struct attempts *attempts)
{
	return work(attempts);
}

#ifndef OF_LIBARENA
/* Without waiting. */
SEC("syscall")
int try_once(struct attempts *attempts)
{
	if (!nbq_arena_trylock(&lock))
		return 0;
	attempts->acquired++;
	counter++;
	second_counter++;
	nbq_arena_unlock(&lock);
	return 0;
}

/* A lock in a page that the arena does not have. */
SEC("syscall")
int without_page(struct attempts *attempts)
{
	struct nbq_arena_lock __arena *missing =
		(struct nbq_arena_lock __arena *)((char __arena *)&lock + attempts->number * 4096);
	int error = nbq_arena_lock(missing, attempts->patience_ns);

	attempts->other_error = error;
	if (!error) {
		attempts->acquired++;
		nbq_arena_unlock(missing);
	}
	if (nbq_arena_trylock(missing)) {
		attempts->acquired++;
		nbq_arena_unlock(missing);
	}
	return 0;
}
#endif

/* One attempt, in a program that may not sleep. What it has for a context is a packet. */
u64 patience_ns;

SEC("tc")
int not_sleepable(struct __sk_buff *packet)
{
	unsigned int order;

	return -attempt(patience_ns, 0, &order);
}

static int on_timer(void *map, u32 *cpu, struct timer *timer)
{
	struct callback *callback = &callbacks[*cpu % 64];
	unsigned int order;
	int error = attempt(patience_ns, 0, &order);

	if (!error)
		callback->acquired++;
	else if (error == -ETIMEDOUT)
		callback->timeouts++;
	else if (error == -EDEADLK)
		callback->deadlocks++;
	else
		callback->other_errors++;
	if (!stop_callbacks)
		bpf_timer_start(&timer->timer, 100000, BPF_F_TIMER_CPU_PIN);
	return 0;
}

#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC	1
#endif

/* The timer of this CPU, whose callback attempts to acquire, above what runs there. */
static __always_inline int arm_timer(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct timer *timer = bpf_map_lookup_elem(&timers, &cpu);

	if (!timer)
		return 1;
	bpf_timer_init(&timer->timer, &timers, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&timer->timer, on_timer);
	return bpf_timer_start(&timer->timer, 0, BPF_F_TIMER_CPU_PIN);
}

SEC("syscall")
int start_timer(struct attempts *attempts)
{
	return arm_timer();
}

/* Holds the lock until the callback above it has made an attempt. */
SEC("syscall")
int hold_below_timer(struct attempts *attempts)
{
	struct callback *callback = &callbacks[bpf_get_smp_processor_id() % 64];
	unsigned int attempted;
	int error;

	if (acquire(&lock, attempts->patience_ns))
		return 1;
	error = arm_timer();
	do {
		attempted = READ_ONCE(callback->acquired) + READ_ONCE(callback->timeouts) +
			    READ_ONCE(callback->deadlocks);
	} while (!error && !attempted && can_loop);
	release(&lock);
	return error;
}

/* Queue nodes that are not free, of all CPUs. */
SEC("syscall")
int nodes_in_use(struct attempts *attempts)
{
	unsigned int used = 0;
#ifndef OF_LIBARENA
	int i;

	bpf_for(i, 0, NBQ_ARENA_CPUS * NBQ_ARENA_NODES)
		used += READ_ONCE(*nbq_arena_node_of(i)) != NBQ_ARENA_FREE;
#endif
	attempts->acquired = used;
	return 0;
}

char _license[] SEC("license") = "GPL";
