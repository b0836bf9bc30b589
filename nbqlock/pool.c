// SPDX-License-Identifier: GPL-2.0
/*
 * The part of pools and sockets that may sleep: it makes the sockets, and assigns the pools of each
 * CPU to one.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"

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

/* @node: that whose CPUs wait in its queues; or NUMA_NO_NODE, for those of the machine. */
static struct nbq_socket *new_socket(u8 turn, int node)
{
	unsigned int cpu, cpus = 0;
	struct nbq_socket *socket = kzalloc_node(sizeof(*socket), GFP_KERNEL, node);

	if (!socket)
		return NULL;
	for_each_possible_cpu(cpu)
		cpus += node == NUMA_NO_NODE || cpu_to_node(cpu) == node;
	socket->turn = turn;
	socket->node = node;
	socket->queue_bits = max(NBQ_QUEUE_BITS, order_base_2(NBQ_QUEUES_PER_CPU * cpus));
	socket->queues = kvzalloc_node(sizeof(*socket->queues) << socket->queue_bits, GFP_KERNEL,
				       node);
	if (!socket->queues) {
		kfree(socket);
		return NULL;
	}
	return socket;
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
	socket = new_socket(NBQ_TURN_SOCKET + number, node);
	if (!socket)
		return -ENOMEM;
	nbq_sockets[number] = socket;
	/* RELEASE, pairs with the ACQUIRE in nbq_socket_of_turn(). */
	smp_store_release(&nbq_sockets_number, number + 1);
	return 0;
}

/*
 * Give the machine queues for all its CPUs. Waiters and places stay in those that it had at boot;
 * what else waits for their locks competes with them, as the head of another socket does.
 */
static int enlarge_machine(void)
{
	struct nbq_socket *machine;

	if (NBQ_QUEUES_PER_CPU * num_possible_cpus() <= NBQ_QUEUES)
		return 0;
	machine = new_socket(NBQ_TURN_MACHINE, NUMA_NO_NODE);
	if (!machine)
		return -ENOMEM;
	/* RELEASE, pairs with the address dependency in nbq_queue_of(): the queues. */
	smp_store_release(&nbq_machine, machine);
	return 0;
}

static bool has_one_node(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu_to_node(cpu) != cpu_to_node(cpumask_first(cpu_possible_mask)))
			return false;
	}
	return true;
}

/**
 * nbq_sockets_start() - Make queues for all CPUs.
 * @several: make the NUMA nodes that have CPUs sockets, if there are several
 *
 * Built in, locks may be in use.
 *
 * Return: 0, or a negative errno.
 */
int nbq_sockets_start(bool several)
{
	int ret = enlarge_machine();
	unsigned int cpu;

	if (!several || has_one_node())
		return ret;
	for_each_possible_cpu(cpu)
		ret = ret ?: add_socket(cpu_to_node(cpu));
	return ret;
}

#ifdef NBQ_QUEUE_LOCKS
static void free_socket(struct nbq_socket *socket)
{
	kvfree(socket->queues);
	kfree(socket);
}

/* No lock is in use: the module is unloaded, or its start has failed. */
void nbq_sockets_stop(void)
{
	while (nbq_sockets_number)
		free_socket(nbq_sockets[--nbq_sockets_number]);
	/* That of the start is not allocated, and the only one that small. */
	if (nbq_machine->queue_bits > NBQ_QUEUE_BITS)
		free_socket(nbq_machine);
}
#endif

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

/**
 * nbq_pool_prepare() - Set up a pool, and say to which socket it belongs.
 * @pool: the pool
 * @cpu: the CPU that it belongs to, which may be online
 * @level: the context level that it belongs to
 *
 * Context: A task. One at a time.
 * Return: 0, or %-ENOMEM.
 */
int nbq_pool_prepare(struct nbq_pool *pool, unsigned int cpu, unsigned int level)
{
	unsigned int *skip_counts;

	/* A context of that CPU may be setting it up, on another CPU and with preemption off. */
	while (!set_up_for_others(pool, cpu, level))
		cond_resched();
	/* A waiter stays in the queue that it is in. */
	WRITE_ONCE(pool->socket, socket_of_node(cpu_to_node(cpu)) ?: nbq_sockets[0]);
	if (pool->skip_counts)
		return 0;
	skip_counts = kcalloc_node(NBQ_SKIPPED_MAX, sizeof(*skip_counts), GFP_KERNEL,
				   cpu_to_node(cpu));
	if (!skip_counts)
		return -ENOMEM;
	/* RELEASE, pairs with the ACQUIREs in nbq_count_skipped() and debugfs.c. */
	smp_store_release(&pool->skip_counts, skip_counts);
	return 0;
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
		/* ACQUIRE, here and below, pairs with the RELEASE in nbq_node_append(). */
		node = smp_load_acquire(&pools[level].first);
		while (node) {
			in_use += (READ_ONCE(node->alloc_seq) & ~NBQ_KEPT) !=
				  READ_ONCE(node->free_seq);
			/* ACQUIRE, as above. */
			node = smp_load_acquire(&node->next_in_pool);
		}
#ifdef NBQ_QUEUE_LOCKS
		node = &pools[level].spare;
		in_use += READ_ONCE(node->alloc_seq) != READ_ONCE(node->free_seq);
#endif
	}
	return in_use;
}
EXPORT_SYMBOL_GPL(nbq_cpu_nodes_in_use);
