// SPDX-License-Identifier: GPL-2.0
/*
 * Pools of queue nodes, as the lock paths use them: allocate a node. (To free is one store, in
 * internal.h; what has to sleep is done in pool.c.)
 *
 * After the pool of Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks", PODC 2002,
 * appendix: only the owner allocates; any context frees, by marking the node.
 *
 * Assumptions
 *	Preemption is off, so that this CPU's pool stays this CPU's.
 *	Contexts on one CPU nest: an interrupt ends before the context that it interrupted goes
 *	on.
 *
 * Departures from the paper
 *	There is a pool for each CPU and context level, not for each thread: a lock is taken
 *	with preemption off, and interrupts take locks, too.
 *	Allocation is first fit, not a circle. So the nodes in use are at the front, and the
 *	highest index ever allocated is the most nodes ever in use, without a counter that
 *	every CPU writes to.
 *	An empty pool does not allocate memory: a lock path must not.
 *
 * In a kernel with nbqlock built in, a lock can be used before memory can be allocated, or if there
 * is none. Then the first context that needs a pool sets it up with a few static nodes.
 */
#include <linux/cache.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/processor.h>

#include "internal.h"

DEFINE_PER_CPU(unsigned int, __nbq_looks_left);
EXPORT_PER_CPU_SYMBOL_GPL(__nbq_looks_left);

DEFINE_PER_CPU(struct nbq_pool [NBQ_LEVELS], nbq_pools);
EXPORT_SYMBOL_IF_KUNIT(nbq_pools);

#if NBQ_STATIC_NODES
struct static_nodes {
	struct nbq_node nodes[NBQ_STATIC_NODES];
	union {
		struct nbq_encodable encodable;
		char room[sizeof(struct nbq_encodable) +
			  NBQ_STATIC_NODES * sizeof(struct nbq_node *)];
	};
};

static DEFINE_PER_CPU(struct static_nodes [NBQ_LEVELS], static_nodes);

static void add_static_nodes(struct nbq_pool *pool)
{
	struct static_nodes *own = &per_cpu(static_nodes, pool->cpu)[pool->level];
	unsigned int i;

	own->encodable.size = NBQ_STATIC_NODES;
	for (i = 0; i < NBQ_STATIC_NODES; i++) {
		own->encodable.nodes[i] = &own->nodes[i];
		nbq_node_append(pool, &own->nodes[i]);
	}
	/* RELEASE, pairs with the ACQUIREs that read it: the nodes by their index. */
	smp_store_release(&pool->encodable, &own->encodable);
}
#else
static void add_static_nodes(struct nbq_pool *pool)
{
}
#endif

/**
 * nbq_pool_set_up() - Make a blank pool usable.
 * @pool: the pool
 * @cpu: the CPU that it belongs to
 * @level: the context level that it belongs to
 *
 * Called by the first context of that CPU and level that needs it, or by nbq_pool_prepare().
 *
 * Context: Any, preemption off; or the task that prepares the pools, interrupts off.
 * Return: true if the pool is set up; false while another context does it.
 */
bool nbq_pool_set_up(struct nbq_pool *pool, unsigned int cpu, unsigned int level)
{
	/*
	 * Relaxed: there is nothing to be seen before; the stores under BUSY are seen by the
	 * RELEASE below. Only one context gets from BLANK to BUSY.
	 */
	if (cmpxchg_relaxed(&pool->setup, NBQ_POOL_BLANK, NBQ_POOL_BUSY) != NBQ_POOL_BLANK) {
		/* ACQUIRE, pairs with the RELEASE below. */
		return smp_load_acquire(&pool->setup) == NBQ_POOL_READY;
	}
	/* No context that needs this pool comes above this one and waits for it. */
	lockdep_assert(irqs_disabled() || pool == nbq_this_pool());
	pool->cpu = cpu;
	pool->level = level;
#ifdef NBQ_QUEUE_LOCKS
	pool->spare.pool = pool;
	pool->spare.cpu = cpu;
#endif
	add_static_nodes(pool);
	/* RELEASE, pairs with the ACQUIREs here and in nbq_pool_is_ready(). */
	smp_store_release(&pool->setup, NBQ_POOL_READY);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_pool_set_up);

/*
 * The nodes of a pool, one after another. ACQUIRE, pairs with the RELEASE in nbq_node_append():
 * a node that growth has added is seen with its fields.
 */
static struct nbq_node *node_after(struct nbq_node *const *link)
{
	/* ACQUIRE, as above. */
	return smp_load_acquire(link);
}

#define for_each_pool_node(node, pool) \
	for (node = node_after(&(pool)->first); node; node = node_after(&(node)->next_in_pool))

#ifdef NBQ_QUEUE_LOCKS
/*
 * Allocate the first free node of the pool, and make it the hint. Each node before it was in use
 * when it was read, so that its index is never less than the number of nodes in use; it is more
 * by those freed during the search.
 */
struct nbq_node *nbq_node_search(struct nbq_pool *pool)
{
	unsigned int pool_size;
	struct nbq_node *node;

	if (unlikely(!nbq_pool_is_ready(pool)))
		return NULL;
	for_each_pool_node(node, pool) {
		if (nbq_node_try_alloc(node))
			break;
	}
	if (!node) {
		nbq_pool_request_growth(pool);
		return NULL;
	}

	pool_size = READ_ONCE(pool->size);
	WRITE_ONCE(pool->hint, node);
	nbq_record(&pool->events.pool_high_water, node->index + 1);
	/* Request growth early: in the last quarter. */
	if (node->index >= pool_size * 3 / 4)
		nbq_pool_request_growth(pool);
	return node;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_node_search);
#endif

/**
 * nbq_node_alloc_encodable() - Allocate a node that the tail of a hybrid lock can encode.
 * @pool: the pool of the running context, which is set up
 *
 * One search of these nodes at most, which are the first of the pool.
 *
 * Context: Any, preemption off.
 * Return: a node; or NULL if none is free.
 */
struct nbq_node *nbq_node_alloc_encodable(struct nbq_pool *pool)
{
	/* ACQUIRE, pairs with the RELEASEs that set it: the nodes by their index. */
	const struct nbq_encodable *encodable = smp_load_acquire(&pool->encodable);
	struct nbq_node *node = READ_ONCE(pool->hint);
	unsigned int index;

	if (unlikely(!encodable))
		return NULL;
	if (node && node->index < encodable->size && nbq_node_try_alloc(node))
		goto claimed;
	for (index = 0; index < encodable->size; index++) {
		node = encodable->nodes[index];
		if (!nbq_node_try_alloc(node))
			continue;
		WRITE_ONCE(pool->hint, node);
		nbq_record(&pool->events.pool_high_water, index + 1);
		goto claimed;
	}
	return NULL;

claimed:
	pool->events.nodes_allocated++;
	return node;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_node_alloc_encodable);

/*
 * Forget the place that the pool remembers for the hash of this lock, since it was resumed, or a
 * successor has skipped it. The attempt is not nested.
 */
void nbq_place_forget(struct nbq_pool *pool, const void *lock)
{
	unsigned long left = pool->abandoned_in & ~BIT(nbq_place_hash(lock));

	WRITE_ONCE(pool->abandoned_in, left);
	if (!left && pool->level == NBQ_TASK)
		this_cpu_write(__nbq_looks_left, 0);
}

/*
 * Keep a node, if it was allocated last at @taken: it is not allocated until nbq_place_release(),
 * also if a successor skips and frees it meanwhile. So what an attempt reads of the node, and swaps
 * there, is of one life of it, whatever nested attempts do.
 *
 * Return: false: it was freed, and perhaps allocated again.
 */
static bool keep(struct nbq_node *node, unsigned long taken)
{
	/* Local, as nbq_node_try_alloc(): no other CPU writes alloc_seq. */
	if (READ_ONCE(node->alloc_seq) != taken ||
	    cmpxchg_local(&node->alloc_seq, taken, taken | NBQ_KEPT) != taken)
		return false;
	if (READ_ONCE(node->free_seq) != taken)
		return true;
	nbq_place_release(node);
	return false;
}

/* Was the node, which is kept, abandoned in the queue of this lock? */
static bool is_place_of(const struct nbq_node *node, const void *lock, enum nbq_type type)
{
	return node->lock == lock && node->type == type && !node->nested;
}

/**
 * nbq_place_find() - Find the node that may stand abandoned in the queue of a lock, and keep it.
 * @pool: the pool of the running context, which remembers a place for the hash of @lock
 * @lock: the lock
 * @type: of which type it is
 *
 * One node, whatever the pool remembers. A place that is gone is forgotten. Whether the node can
 * be resumed, its own state decides.
 *
 * Context: Any, preemption off; the attempt is not nested.
 * Return: the node, until nbq_place_release(); NULL: the place is gone, or is one at another lock.
 */
struct nbq_node *nbq_place_find(struct nbq_pool *pool, const void *lock, enum nbq_type type)
{
	struct nbq_node *node = pool->places[nbq_place_hash(lock)];
	bool stands = keep(node, node->abandoned_seq);

	if (stands && is_place_of(node, lock, type))
		return node;
	/* One at another lock stays. */
	if (!stands || node->lock == lock)
		nbq_place_forget(pool, lock);
	if (stands)
		nbq_place_release(node);
	return NULL;
}

#ifdef NBQ_QUEUE_LOCKS
unsigned int nbq_visits[1U << NBQ_VISIT_BITS];

static unsigned int *visit_of(const void *lock)
{
	return &nbq_visits[hash_ptr(lock, NBQ_VISIT_BITS)];
}

/**
 * nbq_visit_begin() - Keep a queue lock from being destroyed.
 * @lock: where a node of this CPU was left. If the node is still there after this, so is the lock,
 *	until nbq_visit_end()
 *
 * Context: Any, interrupts off.
 * Return: false: another visit is going on.
 */
bool nbq_visit_begin(const void *lock)
{
	/*
	 * ACQUIRE, pairs with the RELEASE in nbq_visit_end(): the nodes that destroy has freed, and
	 * what a visit has stored.
	 */
	return !READ_ONCE(*visit_of(lock)) && !cmpxchg_acquire(visit_of(lock), 0, 1);
}

/* The visit is over; or destroy is. */
void nbq_visit_end(const void *lock)
{
	/* RELEASE, pairs with the ACQUIRE above: the lock's memory is not accessed any more. */
	smp_store_release(visit_of(lock), 0);
}

/**
 * nbq_visits_stop() - Wait for the end of a visit, and let none begin until nbq_visit_end().
 * @lock: it is about to be destroyed
 *
 * Context: Any but NMI, interrupts off.
 */
void nbq_visits_stop(const void *lock)
{
	while (!nbq_visit_begin(lock))
		cpu_relax();
}
#endif

/* Take a node out of a queue in which a context of this CPU and level has left it. */
static bool take_out(struct nbq_node *node)
{
	switch (node->type) {
#ifdef NBQ_QUEUE_LOCKS
	case NBQ_TYPE_CLH:
		return nbq_clh_take_back(node);
	case NBQ_TYPE_MCS:
		return nbq_mcs_take_back(node);
	case NBQ_TYPE_SWAP:
		return nbq_swap_take_back(node);
#endif
	default:
		return nbq_place_take_back(node);
	}
}

static bool keep_left(struct nbq_node *node)
{
#ifdef NBQ_QUEUE_LOCKS
	if (keep(node, node->held_seq))
		return true;
#endif
	return keep(node, node->abandoned_seq);
}

/*
 * Of the first nodes of the pool, so many, take one back that was left in a queue at rest, where no
 * successor comes to free it.
 *
 * Return: true if a node was freed.
 */
static bool take_one_back(struct nbq_pool *pool, unsigned int number)
{
	struct nbq_node *node;
	bool freed;

	for_each_pool_node(node, pool) {
		if (node->index >= number)
			break;
		if (!keep_left(node))
			continue;
		freed = take_out(node);
		nbq_place_release(node);
		if (freed)
			nbq_node_free_own(node);
		if (freed || READ_ONCE(node->free_seq) == READ_ONCE(node->alloc_seq))
			return true;
	}
	return false;
}

/**
 * nbq_node_take_back_encodable() - Take back a node that the tail of a hybrid lock can encode.
 * @pool: the pool of the running context
 *
 * Context: Any, preemption off.
 * Return: true if a node was freed.
 */
bool nbq_node_take_back_encodable(struct nbq_pool *pool)
{
	/* Its size is where it points: an address dependency. */
	const struct nbq_encodable *encodable = READ_ONCE(pool->encodable);

	return encodable && take_one_back(pool, encodable->size);
}

#ifdef NBQ_QUEUE_LOCKS
static struct nbq_node *alloc_taken_back(struct nbq_pool *pool)
{
	return take_one_back(pool, READ_ONCE(pool->size)) ? nbq_node_alloc(pool) : NULL;
}

/* So long after which no node may be freed at all. Not by searches: one may take 46 us. */
#define REPORT_NO_NODE_NS	1000000000U

/**
 * nbq_node_wait() - Take back or wait for a node in an empty pool.
 * @pool: the pool of the running context
 * @deadline: how long to wait; what is left of it is for the lock
 *
 * Those of locks at rest are taken back, successors free others, and growth adds some.
 *
 * Context: Any, preemption off.
 * Return: a node; or NULL when the patience is over.
 */
struct nbq_node *nbq_node_wait(struct nbq_pool *pool,
			       struct nbq_deadline *deadline)
{
	struct nbq_node *node;
	u64 now, report_at = 0;

	pool->events.exhaustions++;
	node = alloc_taken_back(pool);
	while (!node && !nbq_deadline_is_none(deadline)) {
		now = nbq_clock_ns();
		if (nbq_deadline_passed(deadline, now))
			break;
		if (!report_at)
			report_at = now + REPORT_NO_NODE_NS;
		if (now >= report_at) {
			nbq_report_no_node(nbq_this_context(pool), READ_ONCE(pool->size));
			report_at = now + REPORT_NO_NODE_NS;
		}
		cpu_relax();
		node = nbq_node_alloc(pool) ?: alloc_taken_back(pool);
	}
	return node;
}
EXPORT_SYMBOL_IF_KUNIT(nbq_node_wait);
#endif

/*
 * Put a new node, all zeroes and thereby free, at the end of the pool. Only one context at a time
 * may add to a pool; the owner may search it meanwhile.
 */
void nbq_node_append(struct nbq_pool *pool, struct nbq_node *node)
{
	struct nbq_node **link;

	node->pool = pool;
	node->index = pool->size;
	node->cpu = pool->cpu;
	link = pool->last ? &pool->last->next_in_pool : &pool->first;
	/*
	 * RELEASE, pairs with the ACQUIREs of a search: the fields above before the
	 * pointer. Without it, the owner could follow a next_in_pool that is not set, or count
	 * in a pool that is not set.
	 */
	smp_store_release(link, node);
	pool->last = node;
	WRITE_ONCE(pool->size, pool->size + 1);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_node_append);

#ifdef NBQ_QUEUE_LOCKS
/* The most locks of one context that are checked: as many as lockdep follows. */
#define MOST_HELD	48

/*
 * Its contexts run meanwhile. A node that was in the list before and after its lock was read, and
 * was not freed in between, is one with which that lock was held. (For a report, without order:
 * where loads overtake each other, it may name the lock of another use of the node.)
 */
static bool holds(const struct nbq_pool *pool, const void *lock)
{
	struct nbq_node *const *link = &pool->held;
	unsigned int i;

	for (i = 0; i < MOST_HELD; i++) {
		const struct nbq_node *node = READ_ONCE(*link);
		unsigned long freed;

		if (!node)
			return false;
		freed = READ_ONCE(node->free_seq);
		if (READ_ONCE(node->lock) == lock && READ_ONCE(*link) == node)
			return READ_ONCE(node->free_seq) == freed;
		link = &node->below;
	}
	return false;
}

/**
 * nbq_find_holder() - Find the context that holds a queue lock, for a report.
 * @lock: the lock
 *
 * Reads the lists of held locks of all CPUs, which may change meanwhile.
 *
 * Context: Any.
 * Return: the context, encoded; 0: none was found.
 */
u16 nbq_find_holder(const void *lock)
{
	unsigned int cpu, level;

	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			u16 context = nbq_encode_context(cpu, level);

			if (holds(nbq_pool_of(context), lock))
				return context;
		}
	}
	return 0;
}
#endif
