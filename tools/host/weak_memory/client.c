// SPDX-License-Identifier: GPL-2.0
/*
 * What GenMC runs: whole acquisitions by the public operations of a lock type, from two or three
 * threads, each on a CPU of its own. configurations.py says what a configuration is; here it is
 *
 *	LOCK		clh, mcs, swap or spin
 *	T1, T2, T3	what each thread does: a list of the letters below
 *	T0		what main does meanwhile
 *	HELD		main has the lock of the hybrid when they begin
 *	SOCKETS		the hybrid: 0: only the machine's queue; 2: CPUs 2 and 4 are on the second
 *	LIMITS		the hybrid: whose limits of its policy are all reached at once; of
 *			others none is. 0: nobody's; 1: the first thread's; 2: all threads'
 *	LOOKS		polls in vain, before an attempt waits for something new
 *	NEEDS_DESTROY	a queue lock
 *	MAY_BE_IN_USE	executions in which it is destroyed too early do not count
 *	NEVER		an event of events_list.h that must not happen: to see that it does
 *
 * The clock does not advance. An attempt without end that polls in vain is not explored any
 * further: the execution in which it polls what came next is explored besides.
 *
 * Checked, besides races of plain accesses: that no critical section is lost; that afterwards an
 * attempt without patience acquires, and no queue node is lost, or freed twice.
 */
#include <nbqlock/internal.h>
#include <nbqlock/nbqlock.h>
#include <nbqlock/report.h>

long __VERIFIER_thread_create(const void *attributes, void *(*body)(void *), void *argument);
int __VERIFIER_thread_join(long thread, void **result);
void __VERIFIER_assert_fail(const char *text, const char *file, int line);

#define check(condition)	\
	((condition) ? (void)0 : __VERIFIER_assert_fail(#condition, __FILE__, __LINE__))

#define NODES			3
#define LAST_THREAD		3
#define OTHER_CPU		4	/* on the second socket */
#define NOW			(1ULL << 32)
#define PAST			1

#define nbq_X__(lock, verb)	nbq_##lock##verb
#define nbq_X_(lock, verb)	nbq_X__(lock, verb)
#define nbq_X(verb)		nbq_X_(LOCK, verb)

_Thread_local unsigned int shim_cpu, shim_level;
_Thread_local int shim_preempt_off, shim_irqs_off, shim_bh_off, shim_mmiowb_nesting;
_Thread_local bool shim_mmiowb_pending;
_Thread_local unsigned int shim_mmiowbs;

/* The pools, filled: how they are is not what is checked. */

#if SOCKETS
static struct nbq_queue socket_queues[2][NBQ_QUEUES];
static struct nbq_socket sockets[2] = {
	{ .turn = NBQ_TURN_SOCKET, .queues = socket_queues[0] },
	{ .turn = NBQ_TURN_SOCKET + 1, .node = 1, .queues = socket_queues[1] },
};

#define SOCKET_OF(cpu)	(&sockets[SOCKETS > 1 && (cpu) % 2 == 0 && (cpu) > 0])
#else
#define SOCKET_OF(cpu)	NULL
#endif

/* All but one, or none, of a CPU's nodes are in use elsewhere. */
#define NODE(c, i, next)								\
	{ .index = (i), .cpu = (c), .pool = &nbq_pools[c][0], .next_in_pool = (next),	\
	  .alloc_seq = (i) < FREE_NODES ? 0 : NBQ_ALLOC_STEP }
#define NODES_OF(c)									\
	{ NODE(c, 0, &nodes[c][1]), NODE(c, 1, &nodes[c][2]), NODE(c, 2, NULL) }

static struct nbq_node nodes[SHIM_CPUS][NODES] = {
	NODES_OF(0), NODES_OF(1), NODES_OF(2), NODES_OF(3), NODES_OF(4)
};

#define ENCODABLE_OF(c)		{ NODES, { &nodes[c][0], &nodes[c][1], &nodes[c][2] } }

static struct {
	unsigned int size;
	struct nbq_node *nodes[NODES];
} encodable[SHIM_CPUS] = {
	ENCODABLE_OF(0), ENCODABLE_OF(1), ENCODABLE_OF(2), ENCODABLE_OF(3), ENCODABLE_OF(4)
};

#define POOL_OF(c)									\
	{ { .first = &nodes[c][0], .hint = &nodes[c][0], .last = &nodes[c][NODES - 1],		\
	    .cpu = (c), .spare = { .cpu = (c), .pool = &nbq_pools[c][0] }, .size = NODES,	\
	    .setup = NBQ_POOL_READY, .socket = SOCKET_OF(c),					\
	    .encodable = (struct nbq_encodable *)&encodable[c] } }

struct nbq_pool nbq_pools[SHIM_CPUS][NBQ_LEVELS] = {
	POOL_OF(0), POOL_OF(1), POOL_OF(2), POOL_OF(3), POOL_OF(4)
};

unsigned int __nbq_looks_left[SHIM_CPUS];

/* What the kernel, or a file that is not here, would do. */

static _Thread_local int polls_in_vain;

void shim_relax(void)
{
	if (++polls_in_vain >= LOOKS)
		__VERIFIER_assume(0);
}

void shim_wait_by_hardware(const void *word)
{
	__VERIFIER_assume(0);
}

u64 ktime_get_mono_fast_ns(void)
{
	return NOW;
}

void shim_trace(const char *name)
{
}

bool context_persists(void)
{
	return LIMITS > 1 || (LIMITS && shim_cpu == 1);
}

/* So it waits in the machine's queue, where there are two sockets. */
static _Thread_local bool is_impatient;

bool context_has_little_patience(void)
{
	return is_impatient;
}

void nbq_pool_request_growth(struct nbq_pool *pool)
{
}

void nbq_report(enum nbq_report what, const void *lock, u16 holder, unsigned long ip)
{
#ifdef MAY_BE_IN_USE
	__VERIFIER_assume(what != NBQ_REPORT_IN_USE);
#endif
	check(!"a report");
}

void nbq_report_no_node(u16 context, unsigned int number)
{
	check(!"a report");
}

/* The locks, and what each protects. */

static struct nbq_X() lock, other;
static int counter, other_counter;
static _Thread_local int mine, mine_of_other;
static int sum[SHIM_CPUS], sum_of_other[SHIM_CPUS];
static int signal[2];
static int users = THREADS;

static noinline bool acquire(struct nbq_X() *of, char how)
{
	int ret;

	polls_in_vain = 0;
	if (how == 'T')
		return nbq_X(_trylock)(of);
	if (how == 'L') {
		nbq_X(_lock)(of);
		return true;
	}
	/* Its patience is over at the first poll in vain. */
	ret = nbq_X(_lock_until)(of, PAST);
	check(!ret || ret == -ETIMEDOUT);
	return !ret;
}

static void unlock(void)
{
	counter++;
	mine++;
	nbq_X(_unlock)(&lock);
}

static void attempt(char how)
{
	if (acquire(&lock, how))
		unlock();
}

/* The lock is held by this thread, or by main. */
static void ask(void)
{
	check(nbq_X(_is_locked)(&lock));
}

static void attempt_other(char how)
{
	if (!acquire(&other, how))
		return;
	other_counter++;
	mine_of_other++;
	nbq_X(_unlock)(&other);
}

#ifndef NEEDS_DESTROY
/* Main, which holds the lock, does nothing more. If a takeover fails, another one has succeeded. */
static void take_over(void)
{
	struct nbq_timeout info = { .holder_cpu = 0, .holder_level = NBQ_TASK };

	if (!nbq_spin_takeover(&lock, &info))
		unlock();
	else
		check(READ_ONCE(lock.state.holder) != nbq_context_of(&nbq_pools[0][0]));
}
#endif

/* No context uses the lock any more: its memory is something else, and then another lock. */
static void use_memory_again(void)
{
#ifdef NEEDS_DESTROY
	check(!nbq_X(_destroy)(&lock));
	lock.tail = (void *)0x5a5a5a50;
#else
	lock.state.all = 0x5a5a5a50;
#endif
	nbq_X(_init_key)(&lock, NULL, NULL);
}

static void count_out(int order)
{
	if (__atomic_sub_fetch(&users, 1, order))
		return;
	use_memory_again();
	/* What the lock has protected: the last critical section is over. */
	counter++;
	mine++;
}

/* Its release is the last use of the lock by this thread, which the next holder may rely on. */
static void count_out_under_lock(void)
{
	bool last;

	acquire(&lock, 'L');
	last = !--users;
	unlock();
	if (last)
		use_memory_again();
}

/* attempts of the lock, and of the other one */
#define T		attempt('T');
#define L		attempt('L');
#define X		attempt('X');
#define Q		ask();
#define TB		attempt_other('T');
#define LB		attempt_other('L');
#define XB		attempt_other('X');
/* unlock what main has locked */
#define U		unlock();
/* take it over from main */
#define K		take_over();
/* signal and wait for it, in order; and not */
#define S(n)		__atomic_store_n(&signal[n], 1, __ATOMIC_RELEASE);
#define A(n)		__VERIFIER_assume(__atomic_load_n(&signal[n], __ATOMIC_ACQUIRE));
/* the memory of the lock becomes another one, after it was destroyed */
#define D		use_memory_again();
/* the last thread does that, by a counter: ordered, relaxed, under the lock */
#define E		count_out(__ATOMIC_ACQ_REL);
#define ER		count_out(__ATOMIC_RELAXED);
#define F		count_out_under_lock();

#define THREAD(n, doing)							\
static void *thread_##n(void *unused)						\
{										\
	shim_cpu = n;								\
	is_impatient = n == LAST_THREAD;					\
	doing									\
	sum[n] = mine;								\
	sum_of_other[n] = mine_of_other;					\
	return NULL;								\
}

THREAD(1, T1)
THREAD(2, T2)
#if THREADS > 2
THREAD(3, T3)
#endif

/* Whoever enqueues behind abandoned nodes frees them. The lock is held. */
static void sweep(unsigned int cpu, bool impatiently)
{
	shim_cpu = cpu;
	is_impatient = impatiently;
	check(!acquire(&lock, 'X'));
	shim_cpu = 0;
}

static void check_end(void)
{
	int cpu, i;

	check(acquire(&lock, 'T'));
	counter++;
	mine++;
#ifndef NEEDS_DESTROY
	/* Of main's socket, and of the other; the machine's queue. */
	sweep(0, false);
#if SOCKETS > 1
	sweep(OTHER_CPU, false);
	sweep(0, true);
#endif
#endif
	nbq_X(_unlock)(&lock);
#ifdef NEEDS_DESTROY
	check(!nbq_X(_destroy)(&lock) && !nbq_X(_destroy)(&other));
#endif
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		mine += sum[cpu];
		mine_of_other += sum_of_other[cpu];
		for (i = 0; i < FREE_NODES; i++)
			check(nodes[cpu][i].alloc_seq == nodes[cpu][i].free_seq);
		check(nbq_pools[cpu][0].spare.alloc_seq == nbq_pools[cpu][0].spare.free_seq);
	}
	check(counter == mine && other_counter == mine_of_other);
#ifdef NEVER
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		check(!nbq_pools[cpu][0].events.NEVER);
#endif
}

int main(void)
{
	long first, second, third;
	bool held = HELD;

	nbq_deadlock_checks = false;
#if SOCKETS
	nbq_sockets[0] = &sockets[0];
	nbq_sockets[1] = &sockets[1];
	nbq_sockets_number = SOCKETS;
#endif
	if (held)
		check(acquire(&lock, 'T'));
	first = __VERIFIER_thread_create(NULL, thread_1, NULL);
	second = __VERIFIER_thread_create(NULL, thread_2, NULL);
#if THREADS > 2
	third = __VERIFIER_thread_create(NULL, thread_3, NULL);
#endif
	T0
	__VERIFIER_thread_join(first, NULL);
	__VERIFIER_thread_join(second, NULL);
#if THREADS > 2
	__VERIFIER_thread_join(third, NULL);
#endif
	held = held && nbq_X(_is_locked)(&lock);
	if (held)
		unlock();
	check_end();
	return 0;
}
