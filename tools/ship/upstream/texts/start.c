// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets and the pools of all CPUs, once memory can be allocated. Locks are in use before.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>

#include "internal.h"

/* nbq_sockets=1 on the command line: a queue for each NUMA node, which take turns. */
static bool sockets __initdata;
core_param(nbq_sockets, sockets, bool, 0);

/* Without memory for the queues of a node, its CPUs belong to the first one. */
static int __init nbq_start(void)
{
	int ret = nbq_sockets_start(sockets);
	unsigned int cpu, level;

	nbq_panic_start();
	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++)
			ret = nbq_pool_prepare(&per_cpu(nbq_pools, cpu)[level], cpu, level) ?: ret;
	}
	return ret;
}
subsys_initcall(nbq_start);
