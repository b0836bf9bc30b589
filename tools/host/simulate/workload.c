// SPDX-License-Identifier: GPL-2.0
/*
 * The attempts of all CPUs at a lock, or at two, and the checks on them.
 */
#include <stdio.h>
#include <stdlib.h>

#include <host.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <nbqlock/socket.h>
#include <nbqlock/wait.h>

#include "costs.h"
#include "locks.h"
#include "memory.h"
#include "models/models.h"
#include "settings.h"
#include "workload.h"

#define PS_PER_US	1000000ULL
/* The clock begins there: some take 0 for "not read yet". */
#define EPOCH_NS	1000000000ULL
/* The pools of the module, as it starts, and at most. */
#define POOL_NODES	64
#define POOL_NODES_MAX	SHIM_MOST_NODES
/* A pool that asks for growth gets it in the background: as often as this. */
#define GROWTH_PS	(100 * PS_PER_US)
/* A run that is over may take so many times its length to come to an end. */
#define GRACE		4
#define NO_CPU		MOST_CPUS
/* Among so many there are two that share a queue of the hybrid, and two that do not. */
#define LOCKS_TRIED	64

struct findings findings;

/* A lock and what stands for a thread are on lines of their own. */
static struct {
	struct stress_lock lock __attribute__((__aligned__(64)));
} memory_of_locks[LOCKS_TRIED];
/* CPUs take turns among them. */
static struct stress_lock *locks[2];

/* A CPU at its work. */
static struct contender {
	unsigned int lock;	/* its lock, by its number */
	struct stress_waiter waiter;	/* as the lock types know it */
	u64 ticket;		/* the number of the attempt that waits; 0: none */
	u64 start;		/* when it began */
	u64 passed;		/* acquisitions by attempts with a larger number, since */
	u64 passed_late;	/* those of them that began passed_late_ns after it, or later */
	u64 last_success;	/* when it last had the lock, in the measured time */
} contenders[MOST_CPUS] __attribute__((__aligned__(64)));

static u64 begin, end;		/* of the measured time, in ps */
static u64 tickets;
static unsigned int holder[2];
static unsigned int last_holder[2];

static u64 clock_ns(void)
{
	if (!this_cpu)
		return EPOCH_NS + machine_now() / PS_PER_NS;
	machine_spend(costs.clock_read);
	return EPOCH_NS + this_cpu->clock / PS_PER_NS;
}

/* The CPUs of the last socket stop at a time. */
static bool has_stopped(void)
{
	return settings.stop_us && this_cpu->socket == settings.sockets - 1 &&
	       this_cpu->clock >= settings.stop_us * PS_PER_US;
}

/* A CPU that polls does not hold the lock. It is away up to the end, when nodes are counted. */
static void stop_if_waiting(void)
{
	if (!settings.stop_waiters || !has_stopped() || this_cpu->clock >= end)
		return;
	this_cpu->clock = end;
	this_cpu->away_until = end;
}

void simulate_relax(void)
{
	stop_if_waiting();
	machine_pause(costs.relax - costs.relax_jitter +
		      machine_random(2 * costs.relax_jitter + 1));
}

void *shim_zalloc(size_t size)
{
	return memory_allocate(size);
}

/* Runs are short: what is freed is not used again. */
void shim_free(void *memory)
{
	(void)memory;
}

static bool is_measured(void)
{
	return this_cpu->clock >= begin && this_cpu->clock < end;
}

static struct contender *me(void)
{
	return &contenders[this_cpu->number];
}

/* Every waiter whose attempt is older, and whose CPU has not stopped, has been passed. */
static void pass_others(u64 ticket, u64 start)
{
	unsigned int cpu;

	for (cpu = 0; cpu < settings.cpus; cpu++) {
		struct contender *other = &contenders[cpu];
		u64 after_ns;

		if (!other->ticket || other->ticket > ticket || other->lock != me()->lock ||
		    cpus[cpu].away_until == end)
			continue;
		after_ns = (start - other->start) / PS_PER_NS;
		other->passed++;
		other->passed_late += after_ns >= settings.passed_late_ns;
		if (is_measured())
			stress_histogram_add(&findings.passed_after, after_ns);
	}
}

static void count_success(u64 wait)
{
	struct contender *mine = me();
	unsigned int cpu = this_cpu->number, last = last_holder[mine->lock];
	u64 gap;

	findings.acquisitions++;
	findings.shares[cpu]++;
	findings.handoffs += last != cpu;
	findings.socket_handoffs += last != NO_CPU && cpus[last].socket == this_cpu->socket;
	stress_histogram_add(&findings.wait, wait / PS_PER_NS);
	stress_histogram_add(&findings.passed, mine->passed);
	stress_histogram_add(&findings.passed_late, mine->passed_late);
	gap = (this_cpu->clock - mine->last_success) / PS_PER_NS;
	if (gap > findings.longest_gap_ns)
		findings.longest_gap_ns = gap;
	mine->last_success = this_cpu->clock;
}

static void count_failure(int error, u64 wait, ktime_t patience)
{
	u64 late_ns = wait / PS_PER_NS;

	stress_histogram_add(&findings.failed_wait, late_ns);
	switch (error) {
	case -ETIMEDOUT:
	case -EBUSY:
		findings.timeouts++;
		stress_histogram_add(&findings.overshoot,
				     late_ns > (u64)patience ? late_ns - patience : 0);
		break;
	case -ENOMEM:
		findings.no_node++;
		break;
	case -EDEADLK:
		findings.deadlocks++;
		break;
	default:
		findings.errors++;
	}
}

static void be_holder(void)
{
	unsigned int cpu = this_cpu->number, *now = &holder[me()->lock];

	machine_arrive();
	findings.violations += *now != NO_CPU;
	*now = cpu;
	machine_spend(settings.cs_ns * PS_PER_NS);
	machine_arrive();
	findings.violations += *now != cpu;
	*now = NO_CPU;
}

/* One attempt, and the critical section. Return: 0 or the error. */
static int attempt(ktime_t patience)
{
	struct contender *mine = me();
	u64 misses = memory_misses_of[this_cpu->number];
	u64 ticket, start, wait;
	int error;

	/* From here on attempts are numbered in the order of the clocks. */
	machine_arrive();
	ticket = ++tickets;
	start = this_cpu->clock;
	mine->start = start;
	mine->ticket = ticket;
	mine->passed = 0;
	mine->passed_late = 0;
	error = settings.lock->lock(locks[mine->lock], &mine->waiter, patience);
	machine_arrive();
	mine->ticket = 0;
	wait = this_cpu->clock - start;
	if (is_measured()) {
		findings.attempts++;
		if (error)
			count_failure(error, wait, patience);
		else
			count_success(wait);
	}
	if (!error) {
		last_holder[mine->lock] = this_cpu->number;
		pass_others(ticket, start);
		be_holder();
		settings.lock->unlock(locks[mine->lock], &mine->waiter);
	}
	misses = memory_misses_of[this_cpu->number] - misses;
	if (is_measured())
		*(error ? &findings.failure_misses : &findings.success_misses) += misses;
	return error;
}

static ktime_t draw_patience(void)
{
	if (settings.impatient_permille &&
	    machine_random(1000) < settings.impatient_permille)
		return settings.impatient_ns;
	if (settings.patience_most_ns == settings.patience_ns)
		return settings.patience_ns;
	return settings.patience_ns +
	       machine_random(settings.patience_most_ns - settings.patience_ns + 1);
}

static void work_outside(u64 ns)
{
	machine_spend(ns * PS_PER_NS);
}

/* An attempt, and more of them if it fails and the work has to be done. */
static void do_work(void)
{
	u64 pause = settings.backoff_ns;

	while (attempt(draw_patience()) && settings.retry != GIVE_UP &&
	       this_cpu->clock < end && !has_stopped()) {
		if (settings.retry == AT_ONCE)
			continue;
		work_outside(pause / 2 + machine_random(pause));
		pause = 2 * pause < settings.backoff_max_ns ? 2 * pause :
			settings.backoff_max_ns;
	}
	work_outside(settings.ncs_ns);
}

/* While it is the time of the other lock, there are only attempts that have begun before. */
static void await_time_of_lock(void)
{
	u64 slice = settings.alternate_us * PS_PER_US;

	if (slice && this_cpu->clock / slice % settings.locks != me()->lock)
		machine_spend(slice - this_cpu->clock % slice);
}

static void contend(void)
{
	/* The CPUs start at different times. */
	work_outside(machine_random(settings.cs_ns + settings.ncs_ns + 1));
	while (this_cpu->clock < end && !has_stopped()) {
		await_time_of_lock();
		do_work();
	}
	findings.unbalanced += shim_preempt_off != 0;
	store_buffer_drain();
}

static void tick(void)
{
	if (shim_growth_requests) {
		shim_growth_requests = 0;
		shim_pools_grow();
	}
}

static void fail(const char *what)
{
	fprintf(stderr, "simulate: %s: %s\n", settings.lock->name, what);
	exit(2);
}

/* Of CPUs that the machine has not, too, as they have pools. */
static unsigned int socket_of(unsigned int cpu)
{
	return cpu < settings.cpus ? simulate_socket_of(cpu) : 0;
}

static struct stress_lock *lock_of(unsigned int cpu)
{
	return locks[contenders[cpu].lock];
}

/* The second one has the queue of the first, or another one. */
static void choose_locks(void)
{
	unsigned int first = hash_ptr(&memory_of_locks[0].lock, NBQ_QUEUE_BITS), i;

	for (i = 1; i < LOCKS_TRIED - 1; i++) {
		bool shares = hash_ptr(&memory_of_locks[i].lock, NBQ_QUEUE_BITS) == first;

		if (shares == settings.shared_queue)
			break;
	}
	locks[0] = &memory_of_locks[0].lock;
	locks[1] = &memory_of_locks[i].lock;
}

static void prepare(void)
{
	const struct stress_ops *ops = settings.lock;
	unsigned int cpu, i;

	shim_clock = clock_ns;
	if (settings.paravirt)
		shim_vcpu_is_preempted = simulate_cpu_is_away;
	choose_locks();
	shim_pools_start(POOL_NODES, POOL_NODES_MAX);
	/* As in the kernel, one socket is none. */
	if (locks_have_sockets(ops) && settings.sockets > 1)
		shim_sockets_start(settings.sockets, socket_of);
	nbq_deadlock_checks = settings.deadlock_checks;
	memory_declare((struct shim_memory){ memory_of_locks, sizeof(memory_of_locks) },
		       MEMORY_LOCK);
	memory_declare(shim_nodes_memory(), MEMORY_NODE);
	memory_declare(shim_pools_memory(), MEMORY_POOL);
	memory_declare(shim_looks_left_memory(), MEMORY_POOL);
	memory_declare(shim_machine_memory(), MEMORY_LOCK);
	memory_declare(shim_sockets_memory(), MEMORY_LOCK);
	memory_declare(model_qspinlock_nodes(), MEMORY_NODE);
	memory_declare(shim_arena_nodes(), MEMORY_NODE);
	for (i = 0; i < settings.locks; i++) {
		if (ops->init(locks[i], i))
			fail("the lock cannot be made");
	}
	memory_locks_are_made();
	for (cpu = 0; cpu < settings.cpus; cpu++) {
		contenders[cpu].lock = cpu % settings.locks;
		if (ops->enter && ops->enter(lock_of(cpu), &contenders[cpu].waiter))
			fail("there is not enough memory for its nodes");
	}
	for (i = 0; i < settings.locks; i++) {
		holder[i] = NO_CPU;
		last_holder[i] = NO_CPU;
	}
}

/* The nodes of all, once the lock is unused. */
static void finish(void)
{
	const struct stress_ops *ops = settings.lock;
	unsigned int cpu, i;

	for (i = 0; i < settings.locks && !findings.unfinished && ops->destroy; i++)
		findings.lock_in_use |= ops->destroy(locks[i]) != 0;
	for (cpu = 0; cpu < settings.cpus; cpu++) {
		struct stress_waiter *waiter = &contenders[cpu].waiter;

		if (ops->exit)
			ops->exit(lock_of(cpu), waiter);
		findings.nodes.max += waiter->nodes.max;
		findings.nodes.reclaimed += waiter->nodes.reclaimed;
		findings.nodes.leaked += waiter->nodes.leaked;
		for (i = 0; i <= NBQ_SKIPPED_MAX; i++)
			findings.skipped.counts[i] += waiter->skipped.counts[i];
		if (waiter->skipped.most > findings.skipped.most)
			findings.skipped.most = waiter->skipped.most;
	}
	if (ops->count_nodes)
		ops->count_nodes(&findings.nodes, settings.locks);
	findings.nodes.leaked = stress_nodes_leaked(ops, findings.nodes.leaked, settings.cpus,
						    settings.locks);
	if (ops->count_skipped)
		ops->count_skipped(&findings.skipped);
}

static void count_gaps_to_the_end(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < settings.cpus; cpu++) {
		u64 gap = (end - contenders[cpu].last_success) / PS_PER_NS;

		if (contenders[cpu].last_success < end && gap > findings.longest_gap_ns)
			findings.longest_gap_ns = gap;
		findings.unfinished += !cpus[cpu].has_ended;
	}
}

void workload_run(void)
{
	unsigned int cpu;

	begin = settings.warmup_us * PS_PER_US;
	end = begin + settings.duration_us * PS_PER_US;
	for (cpu = 0; cpu < settings.cpus; cpu++)
		contenders[cpu].last_success = begin;
	findings.elapsed_ns = settings.duration_us * 1000;
	memory_start(begin, end);
	prepare();
	machine_run(contend, end + GRACE * (end + 10000 * PS_PER_US), tick, GROWTH_PS);
	count_gaps_to_the_end();
	finish();
}
