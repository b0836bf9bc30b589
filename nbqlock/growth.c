// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes of pools: fill the pools of a CPU before it comes online, enlarge a pool in the
 * background, free all of them. The queue locks need growth; the hybrid uses only the nodes with
 * which a pool began.
 *
 * A pool can request growth in any context, also in an NMI: by a flag and an irq_work, which queues
 * the work that allocates.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
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

/* Off, since waiters of other sockets overtake without a bound: Documentation/design.rst. */
static bool sockets;
module_param(sockets, bool, 0444);
MODULE_PARM_DESC(sockets, "a queue of the hybrid for each NUMA node, which take turns (default N)");

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
	 * RELEASE, pairs with the ACQUIREs in nbq_decode_tail() and nbq_node_alloc_encodable(): the
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

	if (size <= old_size) {
		/*
		 * wants_growth stays set: there is nothing more to have. Less: built in, a pool
		 * has NBQ_STATIC_NODES, whatever the cap is.
		 */
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

static int fill(struct nbq_pool *pool)
{
	/* pool_nodes may ask for much: -ENOMEM rather than the OOM killer. */
	int ret = enlarge(pool, pool_nodes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

	if (!ret && (!pool->encodable || pool->encodable->size < pool_nodes))
		ret = make_encodable(pool);
	return ret;
}

/* A CPU that was online before is prepared, and its abandoned nodes may be in use. */
static int prepare_cpu(unsigned int cpu)
{
	struct nbq_pool *pools = per_cpu(nbq_pools, cpu);
	unsigned int level;
	int ret = 0;

	mutex_lock(&append_mutex);
	for (level = 0; level < NBQ_LEVELS && !ret; level++)
		ret = nbq_pool_prepare(&pools[level], cpu, level) ?: fill(&pools[level]);
	mutex_unlock(&append_mutex);
	return ret;
}

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

	ret = nbq_sockets_start(sockets);
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
		nbq_sockets_stop();
	}
	return ret;
}

/* No lock is in use any more. */
void nbq_pools_stop(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	stop_growth();
	free_nodes();
	nbq_sockets_stop();
}
