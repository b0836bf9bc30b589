// SPDX-License-Identifier: GPL-2.0
/*
 * The state behind the stand-ins, and what the kernel-only files of nbqlock
 * supply to the algorithms: pools with nodes in them, and the events.
 */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <asm/mmiowb.h>
#include <nbqlock/internal.h>
#include <nbqlock/report.h>
#include <linux/errno.h>
#include <linux/processor.h>

#include "host.h"

#define EVENT_STREAM_PERIOD_NS	100000

_Thread_local void (*shim_hook)(enum shim_op op, const void *address);
_Thread_local unsigned int shim_cpu;
_Thread_local unsigned int shim_level;
unsigned int shim_stopped_cpu = SHIM_CPUS;
unsigned int shim_moving_cpu = SHIM_CPUS;
_Thread_local int shim_preempt_off;
_Thread_local int shim_irqs_off;
_Thread_local int shim_bh_off;
u64 (*shim_clock)(void);
bool (*shim_vcpu_is_preempted)(unsigned int cpu);
bool shim_has_event_stream = true;
void (*shim_hardware_wait)(const void *word);
unsigned int shim_warnings;
unsigned int shim_reported;
unsigned int shim_reported_holder;
bool shim_reports_are_silent;
unsigned int shim_growth_requests;
unsigned int shim_contention_begins;
unsigned int shim_contention_ends;
int shim_contention_ret;
unsigned int shim_wait_begins;
unsigned int shim_wait_ends;
bool shim_contention_is_traced;
_Thread_local int shim_mmiowb_nesting;
_Thread_local bool shim_mmiowb_pending;
_Thread_local unsigned int shim_mmiowbs;

u64 ktime_get_mono_fast_ns(void)
{
	struct timespec now;

	if (shim_clock)
		return shim_clock();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void *shim_this_cpu(void *first, size_t size)
{
	return (char *)first + shim_cpu * size;
}

/*
 * With fewer cores than threads, the one waited for may need this core. A hook knows
 * itself who is to run.
 */
void shim_relax(void)
{
	static _Thread_local unsigned int polls;

	shim_point(SHIM_OP_RELAX, NULL);
	if (!shim_hook && ++polls % 256 == 0)
		sched_yield();
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

void shim_wait_by_hardware(const void *word)
{
	u64 until = ktime_get_mono_fast_ns() + EVENT_STREAM_PERIOD_NS;

	if (shim_hardware_wait) {
		shim_hardware_wait(word);
		return;
	}
	while (!__atomic_load_n((void *const *)word, __ATOMIC_RELAXED) &&
	       ktime_get_mono_fast_ns() < until)
		sched_yield();
}

_Thread_local unsigned int shim_leaves;

void shim_trace(const char *name)
{
	shim_leaves += !strcmp(name, "nbq_abandon");
	if (!strcmp(name, "nbq_wait_begin"))
		__atomic_fetch_add(&shim_wait_begins, 1, __ATOMIC_RELAXED);
	if (!strcmp(name, "nbq_wait_end"))
		__atomic_fetch_add(&shim_wait_ends, 1, __ATOMIC_RELAXED);
}

void nbq_report(enum nbq_report what, const void *lock, u16 holder, unsigned long ip)
{
	__atomic_fetch_add(&shim_warnings, 1, __ATOMIC_RELAXED);
	shim_reported = what;
	shim_reported_holder = holder;
	if (shim_reports_are_silent)
		return;
	fprintf(stderr, "shim: report %d: lock %p, holder %#x\n", what, lock, holder);
}

void nbq_report_no_node(u16 context, unsigned int nodes)
{
	__atomic_fetch_add(&shim_warnings, 1, __ATOMIC_RELAXED);
	shim_reported = SHIM_REPORT_NO_NODE;
	if (shim_reports_are_silent)
		return;
	fprintf(stderr, "shim: report: no node of %u for context %#x\n", nodes, context);
}

static pthread_mutex_t append_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned int pool_nodes_max;

/* The nodes of all pools: one array, so that a node can be told by its address. */
static struct nbq_node nodes[SHIM_CPUS * NBQ_LEVELS * SHIM_MOST_NODES];
static unsigned int nodes_made;

static void enlarge(struct nbq_pool *pool, unsigned int size)
{
	while (pool->size < size) {
		struct nbq_node *node = &nodes[nodes_made++];

		if (node == &nodes[sizeof(nodes) / sizeof(nodes[0])])
			abort();
		nbq_node_append(pool, node);
	}
}

/* The nodes by their numbers: of each pool those with which it began. */
static union {
	struct nbq_encodable encodable;
	char room[sizeof(struct nbq_encodable) + SHIM_MOST_NODES * sizeof(struct nbq_node *)];
} numbers[SHIM_CPUS][NBQ_LEVELS];

static void number(struct nbq_pool *pool)
{
	unsigned int cpu = SHIM_CPU_INDEX(pool->cpu);
	struct nbq_encodable *encodable = &numbers[cpu][pool->level].encodable;
	struct nbq_node *node;

	encodable->size = pool->size;
	for (node = pool->first; node; node = node->next_in_pool)
		encodable->nodes[node->index] = node;
	pool->encodable = encodable;
}

static unsigned int walks[SHIM_CPUS][NBQ_LEVELS][NBQ_SKIPPED_MAX];

static bool is_in_use(const struct nbq_node *node)
{
	return (node->alloc_seq & ~NBQ_KEPT) != node->free_seq;
}

struct shim_memory shim_nodes_memory(void)
{
	return (struct shim_memory){ nodes, sizeof(nodes) };
}

struct shim_memory shim_made_nodes_memory(void)
{
	return (struct shim_memory){ nodes, nodes_made * sizeof(nodes[0]) };
}

struct shim_memory shim_pools_memory(void)
{
	return (struct shim_memory){ nbq_pools, sizeof(nbq_pools) };
}

struct shim_memory shim_looks_left_memory(void)
{
	return (struct shim_memory){ __nbq_looks_left, sizeof(__nbq_looks_left) };
}

struct shim_memory shim_visits_memory(void)
{
	return (struct shim_memory){ nbq_visits,
				     sizeof(nbq_visits[0]) << NBQ_VISIT_BITS };
}

struct shim_memory shim_events_memory(unsigned int cpu, unsigned int level)
{
	struct nbq_pool *pool = &nbq_pools[cpu][0][level];

	return (struct shim_memory){ &pool->events, sizeof(pool->events) };
}

struct shim_memory __attribute__((__weak__)) shim_arena_nodes(void)
{
	return (struct shim_memory){ };
}

void __attribute__((__weak__)) shim_arena_start(unsigned int size)
{
}

bool __attribute__((__weak__)) shim_is_absent_arena_node(const void *address)
{
	return false;
}

unsigned int __attribute__((__weak__)) shim_arena_nodes_in_use(void)
{
	return 0;
}

bool shim_is_arena_node(const void *address)
{
	struct shim_memory memory = shim_arena_nodes();

	return (size_t)((const char *)address - (const char *)memory.start) < memory.size;
}

bool shim_is_visited(const void *lock)
{
	if (!nbq_visit_begin(lock))
		return true;
	nbq_visit_end(lock);
	return false;
}

bool shim_is_spare(const void *node)
{
	const struct nbq_pool *pool = ((const struct nbq_node *)node)->pool;

	return node == &pool->spare;
}

bool shim_holds_with_spare(unsigned int cpu, unsigned int level)
{
	const struct nbq_pool *pool = &nbq_pools[cpu][0][level];

	return pool->held == &pool->spare;
}

bool shim_may_visit(unsigned int cpu)
{
	unsigned int level;

	for (level = 0; level < NBQ_LEVELS; level++) {
		const struct nbq_node *spare = &nbq_pools[cpu][0][level].spare;

		if (spare->alloc_seq != spare->free_seq)
			return true;
	}
	return false;
}

bool shim_is_in_free_node(const void *address)
{
	size_t offset = (const char *)address - (const char *)nodes;

	if (shim_is_arena_node(address))
		return !*(const u32 *)address;
	return offset < nodes_made * sizeof(nodes[0]) &&
	       offset % sizeof(nodes[0]) < offsetof(struct nbq_node, index) &&
	       !is_in_use(&nodes[offset / sizeof(nodes[0])]);
}

/* The node at this address, which may be the spare one of a pool; NULL: there is none. */
static const struct nbq_node *node_at(const void *address)
{
	size_t of_nodes = (const char *)address - (const char *)nodes;
	const struct nbq_pool *pools = (const struct nbq_pool *)nbq_pools;
	size_t of_pools = (const char *)address - (const char *)nbq_pools;

	if (of_nodes < nodes_made * sizeof(nodes[0]))
		return &nodes[of_nodes / sizeof(nodes[0])];
	if (of_pools < sizeof(nbq_pools))
		return &pools[of_pools / sizeof(*pools)].spare;
	return NULL;
}

/* By which word is a place resumed? NULL: this is none of them. */
static const struct nbq_node *node_of_place(const void *address)
{
	const struct nbq_node *node = node_at(address);

	return node && (address == &node->prev || address == &node->next) ? node : NULL;
}

bool shim_has_abandoned(unsigned int cpu)
{
	return __nbq_looks_left[cpu][0];
}

void shim_let_look(unsigned int cpu)
{
	__nbq_looks_left[cpu][0] = NBQ_LOOKS;
}

/* Does a context of this CPU decide on a place of its own? */
static bool keeps_node(unsigned int cpu)
{
	const struct nbq_node *node;
	unsigned int level;

	for (level = 0; level < NBQ_LEVELS; level++) {
		for (node = nbq_pools[cpu][0][level].first; node; node = node->next_in_pool) {
			if (node->alloc_seq & NBQ_KEPT)
				return true;
		}
	}
	return false;
}

bool shim_tries_to_resume(unsigned int cpu, enum shim_op op, const void *address)
{
	const struct nbq_node *node = node_of_place(address), *said;
	bool stands;

	/* No place: a node is allocated. */
	if (shim_is_arena_node(address))
		return op == SHIM_OP_CMPXCHG;
	if (!node)
		return false;
	said = *(struct nbq_node *const *)address;
	/* That it was abandoned behind the own node was true a moment ago. */
	if (node->cpu != SHIM_CPU_NUMBER(cpu))
		return op == SHIM_OP_CMPXCHG && address == &node->prev && !nbq_is_node(said) &&
		       keeps_node(cpu);
	stands = address == &node->prev ? nbq_is_node(said) :
					  said == NBQ_LEAVING || said == NBQ_TRANSIENT;
	return op == SHIM_OP_LOAD || (op == SHIM_OP_CMPXCHG && !stands);
}

unsigned long shim_value_of_place(const void *address)
{
	return node_of_place(address) ? *(const unsigned long *)address : 0;
}

const struct nbq_node *shim_resumed_node(unsigned int cpu, enum shim_op op, const void *address,
					 unsigned long before, const void *lock)
{
	const struct nbq_node *node = node_of_place(address);

	return node && op == SHIM_OP_CMPXCHG && before && !shim_value_of_place(address) &&
	       node->lock == lock && node->abandoned_seq == (node->alloc_seq & ~NBQ_KEPT) &&
	       node->cpu == SHIM_CPU_NUMBER(cpu) ? node : NULL;
}

void shim_pools_forget(void)
{
	memset(nbq_visits, 0, sizeof(nbq_visits[0]) << NBQ_VISIT_BITS);
	memset(nbq_pools, 0, sizeof(nbq_pools));
	memset(__nbq_looks_left, 0, sizeof(__nbq_looks_left));
	memset(walks, 0, sizeof(walks));
	/*
	 * Here, and not when a pool grows: a failing try reads a node that it has from the
	 * tail, which is ordered by that address. Thread sanitizers know no dependencies.
	 */
	memset(nodes, 0, nodes_made * sizeof(nodes[0]));
	nodes_made = 0;
	shim_growth_requests = 0;
	memset(nbq_machine->queues, 0, shim_machine_memory().size);
}

void shim_pools_start(unsigned int size, unsigned int nodes_max)
{
	unsigned int cpu, level;

	pool_nodes_max = nodes_max;
	shim_pools_forget();
	shim_arena_start(size);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_pool *pool = &nbq_pools[cpu][0][level];

			pool->cpu = SHIM_CPU_NUMBER(cpu);
			pool->level = level;
			pool->spare.cpu = pool->cpu;
			pool->spare.pool = pool;
			pool->skip_counts = walks[cpu][level];
			pool->setup = NBQ_POOL_READY;
			enlarge(pool, size);
			number(pool);
		}
	}
}

static struct nbq_queue queues[SHIM_SOCKETS][NBQ_QUEUES];
static struct nbq_socket sockets[SHIM_SOCKETS];

void shim_sockets_start(unsigned int number, unsigned int (*socket_of)(unsigned int cpu))
{
	unsigned int cpu, level, i;

	memset(queues, 0, sizeof(queues));
	for (i = 0; i < number; i++) {
		sockets[i].turn = NBQ_TURN_SOCKET + i;
		sockets[i].node = i;
		sockets[i].queue_bits = NBQ_QUEUE_BITS;
		sockets[i].queues = queues[i];
		nbq_sockets[i] = &sockets[i];
	}
	nbq_sockets_number = number;
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++)
			nbq_pools[cpu][0][level].socket =
				number ? &sockets[socket_of(cpu)] : NULL;
	}
}

struct shim_memory shim_machine_memory(void)
{
	return (struct shim_memory){ nbq_machine->queues, NBQ_QUEUES * sizeof(struct nbq_queue) };
}

struct shim_memory shim_sockets_memory(void)
{
	return (struct shim_memory){ queues, nbq_sockets_number * sizeof(queues[0]) };
}

static bool is_tail_in(struct shim_memory memory, const void *address)
{
	size_t offset = (const char *)address - (const char *)memory.start;

	return offset < memory.size &&
	       offset % sizeof(struct nbq_queue) == offsetof(struct nbq_queue, tail);
}

bool shim_is_queue_tail(const void *address)
{
	return is_tail_in(shim_machine_memory(), address) ||
	       is_tail_in(shim_sockets_memory(), address);
}

u32 *shim_machine_tail(const void *lock)
{
	/* Not by nbq_queue_of(), which reads as the locks do. */
	return &nbq_machine->queues[hash_ptr(lock, nbq_machine->queue_bits)].tail;
}

bool shim_is_waited_for(unsigned int turn, const void *lock)
{
	return nbq_queue_of(nbq_socket_of_turn(turn), lock)->tail;
}

/* The protocol of the flag is that of pool.c. */
void nbq_pool_request_growth(struct nbq_pool *pool)
{
	if (READ_ONCE(pool->wants_growth) || xchg(&pool->wants_growth, 1))
		return;
	__atomic_fetch_add(&shim_growth_requests, 1, __ATOMIC_RELAXED);
}

void shim_pools_grow(void)
{
	unsigned int cpu, level;

	pthread_mutex_lock(&append_mutex);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_pool *pool = &nbq_pools[cpu][0][level];

			if (!smp_load_acquire(&pool->wants_growth) ||
			    pool->size * 2 > pool_nodes_max)
				continue;
			enlarge(pool, pool->size * 2);
			pool->events.growths++;
			smp_store_release(&pool->wants_growth, 0);
		}
	}
	pthread_mutex_unlock(&append_mutex);
}

unsigned int shim_context(void)
{
	return nbq_context_of(nbq_this_pool());
}

const struct nbq_node *shim_decode_tail(unsigned int number)
{
	return nbq_pool_of(number & U16_MAX)->encodable->nodes[number >> 16];
}

const void *shim_prev_of(const struct nbq_node *node)
{
	return &node->prev;
}

unsigned int shim_nodes_in_use(void)
{
	unsigned int i, in_use = shim_arena_nodes_in_use(), cpu, level;

	for (i = 0; i < nodes_made; i++)
		in_use += is_in_use(&nodes[i]);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++)
			in_use += is_in_use(&nbq_pools[cpu][0][level].spare);
	}
	return in_use;
}

unsigned int nbq_cpu_nodes_in_use(unsigned int cpu)
{
	unsigned int i, in_use = 0;

	for (i = 0; i < nodes_made; i++)
		in_use += nodes[i].cpu == cpu && is_in_use(&nodes[i]);
	return in_use;
}

enum kind {
	SUM,
	MAX,
	PEAK,
};

int nbq_event_read(const char *name, u64 *value)
{
	static const struct {
		const char *name;
		enum kind kind;
		size_t offset;
	} table[] = {
#define NBQ_EVENT(_name, _kind, _meaning) \
		{ #_name, _kind, offsetof(struct nbq_events, _name) },
#include <nbqlock/events_list.h>
#undef NBQ_EVENT
	};
	unsigned int cpu, level;
	size_t i;

	for (i = 0; strcmp(table[i].name, name); i++) {
		if (i + 1 == sizeof(table) / sizeof(table[0]))
			return -ENOENT;
	}
	*value = 0;
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			void *events = &nbq_pools[cpu][0][level].events;
			unsigned long *count = events + table[i].offset;

			if (table[i].kind != MAX)
				*value += *count;
			else if (*count > *value)
				*value = *count;
		}
	}
	return 0;
}

unsigned int shim_walks(unsigned int length)
{
	unsigned int cpu, level, sum = 0;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (level = 0; level < NBQ_LEVELS; level++)
			sum += walks[cpu][level][length - 1];
	}
	return sum;
}

bool shim_waits(unsigned int cpu, unsigned int level)
{
	return nbq_pools[cpu][0][level].waiter;
}

bool shim_has_published(unsigned int cpu, unsigned int level)
{
	return nbq_pools[cpu][0][level].waiting.blocker.tagged;
}

void nbq_skipped_read(u64 counts[NBQ_SKIPPED_MAX + 1])
{
	unsigned int length;

	counts[0] = shim_event("nodes_allocated");
	for (length = 1; length <= NBQ_SKIPPED_MAX; length++) {
		counts[length] = shim_walks(length);
		counts[0] -= counts[length];
	}
}

u64 shim_event(const char *name)
{
	u64 value;

	if (nbq_event_read(name, &value))
		abort();
	return value;
}
