// SPDX-License-Identifier: GPL-2.0
/*
 * Pools of queue nodes, where a context may sleep: fill the pools of a CPU before it comes online,
 * enlarge a pool in the background, free all of them.
 *
 * A pool requests growth in any context, NMI included: by a flag and an irq_work, which queues the
 * work that allocates.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "trace.h"

/* 64 Ki nodes are 8 MiB for each CPU and level: far more is a typing error. */
#define POOL_NODES_LIMIT	65536

/*
 * More than the locks that one context is likely to hold (lockdep follows 48): growth cannot help
 * a context that keeps it from running, with interrupts off or a lock held on the only CPU.
 */
static unsigned int pool_nodes = 64;
VISIBLE_IF_KUNIT unsigned int nbq_pool_nodes_max = 4096;
EXPORT_SYMBOL_IF_KUNIT(nbq_pool_nodes_max);

/* A number out of range is clamped: what is built in cannot be loaded again. */
static int set_pool_nodes(const char *val, const struct kernel_param *kp)
{
	long long wanted;
	unsigned int nodes;
	int ret = kstrtoll(val, 0, &wanted);

	if (ret) {
		pr_err("%s: \"%s\" is not a number from 1 to %u\n",
		       kp->name, val, POOL_NODES_LIMIT);
		return ret;
	}
	nodes = clamp_t(long long, wanted, 1, POOL_NODES_LIMIT);
	if (nodes != wanted)
		pr_warn("%s=%lld is out of range, 1 to %u: using %u\n",
			kp->name, wanted, POOL_NODES_LIMIT, nodes);
	*(unsigned int *)kp->arg = nodes;
	return 0;
}

static const struct kernel_param_ops pool_nodes_ops = {
	.set = set_pool_nodes,
	.get = param_get_uint,
};

module_param_cb(pool_nodes, &pool_nodes_ops, &pool_nodes, 0444);
MODULE_PARM_DESC(pool_nodes,
		 "queue nodes of each CPU and context level at the start (1 to 65536, default 64)");
module_param_cb(pool_nodes_max, &pool_nodes_ops, &nbq_pool_nodes_max, 0444);
MODULE_PARM_DESC(pool_nodes_max,
		 "queue nodes of each CPU and context level at most (1 to 65536, default 4096)");

static struct kmem_cache *node_cache;
/* NULL: pools do not grow, not yet or not any more. */
static struct workqueue_struct *growth_workqueue;
static enum cpuhp_state hotplug_state;
/* The lists have one writer at a time: growth, or a CPU that comes online. */
static DEFINE_MUTEX(append_mutex);

/* Bring a pool up to @size nodes, in memory near its CPU. */
static int enlarge(struct nbq_pool *pool, unsigned int size, gfp_t gfp)
{
	lockdep_assert_held(&append_mutex);

	while (pool->size < size) {
		struct nbq_node *node;

		node = kmem_cache_alloc_node(node_cache, gfp | __GFP_ZERO,
					     cpu_to_node(pool->cpu));
		if (!node)
			return -ENOMEM;
		nbq_node_append(pool, node);
	}
	return 0;
}

/* Make the nodes that a pool has by now those that a tail can encode. */
static int make_encodable(struct nbq_pool *pool)
{
	struct nbq_encodable *encodable;
	struct nbq_node *node;

	lockdep_assert_held(&append_mutex);

	encodable = kzalloc_node(struct_size(encodable, nodes, pool->size), GFP_KERNEL,
				 cpu_to_node(pool->cpu));
	if (!encodable)
		return -ENOMEM;
	encodable->size = pool->size;
	for (node = pool->first; node; node = node->next_in_pool)
		encodable->nodes[node->index] = node;
	/*
	 * RELEASE, pairs with the ACQUIREs in decode_tail() and nbq_node_alloc_encodable(): the
	 * nodes by their index. The static nodes, which may be in use, keep theirs.
	 */
	smp_store_release(&pool->encodable, encodable);
	return 0;
}

/* Double a pool, up to the cap. */
static void grow(struct nbq_pool *pool)
{
	unsigned int old_size = pool->size;
	unsigned int size = min(old_size * 2, nbq_pool_nodes_max);

	if (size == old_size) {
		/* wants_growth stays set: there is nothing more to have. */
		pr_warn_once("a pool of CPU %u has reached pool_nodes_max=%u: attempts may fail with -ENOMEM\n",
			     pool->cpu, nbq_pool_nodes_max);
		return;
	}
	/* It can be requested again: no reason to press for memory. */
	if (enlarge(pool, size, GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN))
		pr_warn_once("no memory to enlarge a pool of CPU %u\n", pool->cpu);
	if (pool->size > old_size) {
		pool->events.growths++;
		trace_nbq_pool_grow(pool, old_size);
	}
	/* RELEASE, pairs with the swap in nbq_pool_request_growth(). */
	smp_store_release(&pool->wants_growth, 0);
}

static void grow_pools(struct work_struct *unused)
{
	unsigned int cpu, level;

	mutex_lock(&append_mutex);
	for_each_possible_cpu(cpu) {
		struct nbq_pool *pools = per_cpu(nbq_pools, cpu);

		for (level = 0; level < NBQ_LEVELS; level++) {
			/* ACQUIRE, pairs with nbq_pool_request_growth(). */
			if (smp_load_acquire(&pools[level].wants_growth))
				grow(&pools[level]);
		}
	}
	mutex_unlock(&append_mutex);
}

static DECLARE_WORK(growth_work, grow_pools);

static void queue_growth(struct irq_work *unused)
{
	struct workqueue_struct *workqueue = READ_ONCE(growth_workqueue);

	if (workqueue)
		queue_work(workqueue, &growth_work);
}

static DEFINE_PER_CPU(struct irq_work, growth_irq_work);

/**
 * nbq_pool_request_growth() - Have a pool enlarged in the background.
 * @pool: a pool of this CPU
 *
 * Does nothing while pools do not grow: built in, a lock can be used before nbq_pools_start(), or
 * although that has failed.
 *
 * Context: Any, NMI included, preemption off.
 */
void nbq_pool_request_growth(struct nbq_pool *pool)
{
	/* ACQUIRE, pairs with the RELEASE in start_growth(): the irq_work. */
	if (!smp_load_acquire(&growth_workqueue))
		return;
	/*
	 * Fully ordered, pairs with the RELEASE in grow() and the ACQUIRE in grow_pools(): a
	 * request during the end of a growth is not lost.
	 */
	if (!READ_ONCE(pool->wants_growth) && !xchg(&pool->wants_growth, 1))
		irq_work_queue(this_cpu_ptr(&growth_irq_work));
}

/* The socket of this node; NULL: none. */
static struct nbq_socket *socket_of_node(int node)
{
	unsigned int i;

	for (i = 0; i < nbq_sockets_number; i++) {
		if (nbq_sockets[i]->node == node)
			return nbq_sockets[i];
	}
	return NULL;
}

/*
 * Make a node with CPUs a socket, with queues in its own memory. The CPUs of further nodes, and
 * those without a node, belong to the first socket.
 */
static int add_socket(int node)
{
	unsigned int number = nbq_sockets_number;
	struct nbq_socket *socket;

	if (node == NUMA_NO_NODE && number)
		return 0;
	if (number == NBQ_SOCKETS_MAX || socket_of_node(node))
		return 0;
	/* Built in, the first one is static, and in use. */
	if (NBQ_STATIC_NODES && number == 1 && nbq_sockets[0]->node == NUMA_NO_NODE) {
		nbq_sockets[0]->node = node;
		return 0;
	}
	socket = kzalloc_node(sizeof(*socket), GFP_KERNEL, node);
	if (!socket)
		return -ENOMEM;
	socket->queues = kcalloc_node(NBQ_QUEUES, sizeof(*socket->queues), GFP_KERNEL, node);
	if (!socket->queues) {
		kfree(socket);
		return -ENOMEM;
	}
	socket->turn = NBQ_TURN_SOCKET + number;
	socket->node = node;
	nbq_sockets[number] = socket;
	/* RELEASE, pairs with the ACQUIRE in nbq_socket_of_turn(). */
	smp_store_release(&nbq_sockets_number, number + 1);
	return 0;
}

static int start_sockets(void)
{
	unsigned int cpu;
	int ret = 0;

	for_each_possible_cpu(cpu) {
		ret = add_socket(cpu_to_node(cpu));
		if (ret)
			break;
	}
	return ret;
}

/* No lock is in use: the module is unloaded, or its start has failed. */
static void free_sockets(void)
{
	while (nbq_sockets_number) {
		struct nbq_socket *socket = nbq_sockets[--nbq_sockets_number];

		kfree(socket->queues);
		kfree(socket);
	}
}

/*
 * Built in, locks are in use. With interrupts on, one that comes while the pool is BUSY and needs a
 * node of it would wait for the task that it has interrupted. An NMI does as well, and has finite
 * patience.
 */
static bool set_up_for_others(struct nbq_pool *pool, unsigned int cpu, unsigned int level)
{
	unsigned long flags;
	bool ready;

	local_irq_save(flags);
	ready = nbq_pool_set_up(pool, cpu, level);
	local_irq_restore(flags);
	return ready;
}

/* A CPU that was online before is prepared, and its abandoned nodes may be in use. */
static int prepare_pool(struct nbq_pool *pool, unsigned int cpu, unsigned int level)
{
	unsigned int *skip_counts;
	int ret;

	/* A context of that CPU may be setting it up, on another CPU and with preemption off. */
	while (!set_up_for_others(pool, cpu, level))
		cond_resched();
	/* Waiters in a lock's own queue stay there. */
	WRITE_ONCE(pool->socket, socket_of_node(cpu_to_node(cpu)) ?: nbq_sockets[0]);
	if (!pool->skip_counts) {
		skip_counts = kcalloc_node(NBQ_SKIPPED_MAX, sizeof(*skip_counts), GFP_KERNEL,
					   cpu_to_node(cpu));
		if (!skip_counts)
			return -ENOMEM;
		/* RELEASE, pairs with the ACQUIREs in nbq_count_skipped() and debugfs.c. */
		smp_store_release(&pool->skip_counts, skip_counts);
	}
	ret = enlarge(pool, pool_nodes, GFP_KERNEL);
	if (!ret && (!pool->encodable || pool->encodable->size < pool_nodes))
		ret = make_encodable(pool);
	return ret;
}

static int prepare_cpu(unsigned int cpu)
{
	struct nbq_pool *pools = per_cpu(nbq_pools, cpu);
	unsigned int level;
	int ret = 0;

	mutex_lock(&append_mutex);
	for (level = 0; level < NBQ_LEVELS && !ret; level++)
		ret = prepare_pool(&pools[level], cpu, level);
	mutex_unlock(&append_mutex);
	return ret;
}

/**
 * nbq_cpu_nodes_in_use() - How many queue nodes of a CPU are in use?
 * @cpu: a possible CPU, online or not
 *
 * At all its context levels: those with which its contexts hold and wait, those that are
 * abandoned, and those that locks keep.
 *
 * Context: Any. Exact while no context of that CPU is in an operation, and no other waiter skips
 * its nodes.
 * Return: how many.
 */
unsigned int nbq_cpu_nodes_in_use(unsigned int cpu)
{
	struct nbq_pool *pools = per_cpu(nbq_pools, cpu);
	unsigned int level, in_use = 0;
	struct nbq_node *node;

	for (level = 0; level < NBQ_LEVELS; level++) {
		/* ACQUIRE, here and below, as in nbq_node_search(). */
		node = smp_load_acquire(&pools[level].first);
		while (node) {
			in_use += READ_ONCE(node->alloc_seq) != READ_ONCE(node->free_seq);
			/* ACQUIRE, as above. */
			node = smp_load_acquire(&node->next_in_pool);
		}
	}
	return in_use;
}
EXPORT_SYMBOL_GPL(nbq_cpu_nodes_in_use);

/* Wait until every growth requested before this call is done. */
VISIBLE_IF_KUNIT void nbq_pools_flush(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&growth_irq_work, cpu));
	flush_work(&growth_work);
}
EXPORT_SYMBOL_IF_KUNIT(nbq_pools_flush);

/* From now on pools can request growth. */
static int start_growth(void)
{
	struct workqueue_struct *workqueue = alloc_workqueue("nbqlock", WQ_UNBOUND, 0);
	unsigned int cpu;

	if (!workqueue)
		return -ENOMEM;
	/*
	 * Not by an initialiser: Linux 6.1 and 6.12, for two, leave pointers in a module's
	 * per-CPU data NULL when they load it. HARD: on PREEMPT_RT it must not wait for a
	 * thread, which cannot preempt a waiter.
	 */
	for_each_possible_cpu(cpu)
		per_cpu(growth_irq_work, cpu) = IRQ_WORK_INIT_HARD(queue_growth);
	/* RELEASE, pairs with the ACQUIRE in nbq_pool_request_growth(). */
	smp_store_release(&growth_workqueue, workqueue);
	return 0;
}

/* No pool can request growth any more once this returns. */
static void stop_growth(void)
{
	struct workqueue_struct *workqueue = growth_workqueue;

	WRITE_ONCE(growth_workqueue, NULL);
	nbq_pools_flush();
	destroy_workqueue(workqueue);
}

/* No lock is in use: the module is unloaded, or its start has failed. */
static void free_nodes(void)
{
	unsigned int cpu, level;

	for_each_possible_cpu(cpu) {
		struct nbq_pool *pools = per_cpu(nbq_pools, cpu);

		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_node *node = pools[level].first;

			kfree(pools[level].encodable);
			kfree(pools[level].skip_counts);
			while (node) {
				struct nbq_node *next = node->next_in_pool;

				kmem_cache_free(node_cache, node);
				node = next;
			}
		}
	}
	kmem_cache_destroy(node_cache);
}

/**
 * nbq_pools_start() - Fill the pools of every CPU, now or when it comes online.
 *
 * Built in, locks may be in use before. If it fails then, the pools keep the nodes that they have,
 * and do not grow.
 *
 * Return: 0, or a negative errno; for a module, with nothing left behind.
 */
int nbq_pools_start(void)
{
	int ret;

	if (pool_nodes > nbq_pool_nodes_max) {
		pr_warn("pool_nodes=%u is more than pool_nodes_max=%u: using %u\n",
			pool_nodes, nbq_pool_nodes_max, nbq_pool_nodes_max);
		pool_nodes = nbq_pool_nodes_max;
	}

	node_cache = kmem_cache_create("nbq_node", sizeof(struct nbq_node),
				       __alignof__(struct nbq_node), 0, NULL);
	if (!node_cache)
		return -ENOMEM;

	ret = start_sockets();
	if (!ret)
		ret = start_growth();
	if (ret)
		goto out_free_nodes;

	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "nbqlock:prepare",
				prepare_cpu, NULL);
	if (ret < 0)
		goto out_stop_growth;
	hotplug_state = ret;
	return 0;

out_stop_growth:
	stop_growth();
out_free_nodes:
	if (!NBQ_STATIC_NODES) {
		free_nodes();
		free_sockets();
	}
	return ret;
}

/* No lock is in use any more. */
void nbq_pools_stop(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	stop_growth();
	free_nodes();
	free_sockets();
}
