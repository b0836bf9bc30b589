# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the queue-node pools, and in what they count."""

from verification.mutate.kinds import HostTests, BESIDES_STEPS, STEPS
from verification.mutate.mutant import Mutant, mutants

POOL = {**BESIDES_STEPS, "kunit": ("nbq_pool",)}
EVENTS = {**BESIDES_STEPS, "kunit": ("nbq_events",)}

# The thread sanitizer takes a swap that fails for a write.
ONE_THREAD = {"host": HostTests("smoke TYPE gcc asan", "steps TYPE gcc asan"), "explorer": ()}

# Before nbq_pools_start(); the hybrid needs no node for a free lock.
EARLY = {"host": HostTests("smoke clh gcc asan", "smoke spin gcc asan", "smoke fifo gcc asan")}

SPARES_TIME = {"host": "spares time only; kunit sees which node it is"}
READ_FIRST = "	if (READ_ONCE(node->alloc_seq) != free_seq)\n		return false;\n"
GROW_IN_TIME = ("	if (node->index >= pool_size * 3 / 4)\n"
                "		nbq_pool_request_growth(pool);\n")

MUTANTS = [*mutants("internal.h", BESIDES_STEPS, (
    ("reclaimed predecessor is not counted",
     "	node->pool->events.nodes_reclaimed++;\n", ""),
    ("skipped nodes are not counted by their number",
     "		skip_counts[skipped < NBQ_SKIPPED_MAX ? skipped - 1 : NBQ_SKIPPED_MAX - 1]++;\n", "		{ }\n"),
    ("skipped nodes are counted as one more",
     "skipped < NBQ_SKIPPED_MAX ? skipped - 1 :", "skipped < NBQ_SKIPPED_MAX ? skipped :"),
    ("skipped nodes: the largest number is counted apart",
     "skipped < NBQ_SKIPPED_MAX ? skipped - 1 :", "skipped <= NBQ_SKIPPED_MAX ? skipped - 1 :",
     {Mutant.ANY: "the same: it is counted in the last row either way"}),
    ("no skipped node is counted",
     "	if (!skipped)\n		return;\n", ""),
    ("most skipped nodes are not recorded",
     "	nbq_record(&pool->events.most_skipped, skipped);\n", ""),
    ("allocated nodes are not counted",
     "	pool->events.nodes_allocated++;\n", ""),
    ("freed nodes are not counted",
     "	events->nodes_freed++;\n", "	(void)events;\n"),
    ("reclaimed nodes are not counted",
     "	events->nodes_reclaimed++;\n", "	(void)events;\n"),
    ("every context level uses the nodes of tasks",
     "	return &pools[interrupt_context_level()];\n", "	return pools;\n"),
)), *mutants("internal.h", EVENTS, (
    ("skipped nodes: one number less is counted apart",
     "skipped < NBQ_SKIPPED_MAX ? skipped - 1 :", "skipped < NBQ_SKIPPED_MAX - 1 ? skipped - 1 :",
     {"host": "no test skips so many; kunit does"}),
)), *mutants("internal.h", STEPS, (
    ("alloc tests, then sets",
     "	return cmpxchg_local(&node->alloc_seq, free_seq, free_seq + 1) == free_seq;\n",
     "	WRITE_ONCE(node->alloc_seq, free_seq + 1);\n	return true;\n"),
    ("alloc ignores that its swap has failed",
     "	return cmpxchg_local(&node->alloc_seq, free_seq, free_seq + 1) == free_seq;\n",
     "	cmpxchg_local(&node->alloc_seq, free_seq, free_seq + 1);\n	return true;\n"),
    ("alloc takes a busy node",
     READ_FIRST + "	return cmpxchg_local(&node->alloc_seq, free_seq, free_seq + 1) == free_seq;\n",
     "	WRITE_ONCE(node->alloc_seq, free_seq + 1);\n	return true;\n"),
    ("freed node stays allocated",
     "	nbq_node_free_seq(node, node->alloc_seq);\n",
     "	nbq_node_free_seq(node, node->alloc_seq - 1);\n"),
)), *mutants("internal.h", ONE_THREAD, (
    ("alloc of a busy node swaps at once",
     READ_FIRST, "", {Mutant.ANY: "the same, but for a write to a busy node: the swap fails"}),
)), *mutants("internal.h", POOL, (
    ("alloc does not try the hint",
     "	if (unlikely(!node || !nbq_node_try_alloc(node)))\n", "	if (true)\n", SPARES_TIME),
    ("alloc tries the hint only",
     "	struct nbq_node *node = nbq_node_search(pool);\n",
     "	struct nbq_node *node = READ_ONCE(pool->hint) ? NULL : nbq_node_search(pool);\n"),
)), *mutants("internal.h", EARLY, (
    ("blank pool counts as set up",
     "	if (likely(smp_load_acquire(&pool->setup) == NBQ_POOL_READY))\n", "	if (true)\n"),
)), *mutants("node.c", EARLY, (
    ("pool is set up by each context",
     "	if (cmpxchg_relaxed(&pool->setup, NBQ_POOL_BLANK, NBQ_POOL_BUSY) != NBQ_POOL_BLANK) {\n",
     "	if (false) {\n"),
    ("pool that another context sets up is used",
     "		return smp_load_acquire(&pool->setup) == NBQ_POOL_READY;\n", "		return true;\n"),
    ("pool that was set up does not know its CPU", "	pool->cpu = cpu;\n", ""),
    ("pool that was set up does not know its level", "	pool->level = level;\n", "",
     {"host": "needs a deadlock through an interrupt, before the pools are filled"}),
    ("pool that was set up has no nodes", "	add_static_nodes(pool);\n", ""),
    ("pool is never set up", "	smp_store_release(&pool->setup, NBQ_POOL_READY);\n", ""),
    ("static nodes are not encodable",
     "	smp_store_release(&pool->encodable, &own->encodable);\n", ""),
    ("one static node less is encodable", "	own->encodable.size = NBQ_STATIC_NODES;\n",
     "	own->encodable.size = NBQ_STATIC_NODES - 1;\n",
     {"host": "nothing is broken: the hybrid has a node less to use"}),
)), *mutants("node.c", BESIDES_STEPS, (
    ("empty pool is not reported",
     "			nbq_report_no_node(nbq_this_context(pool), count_kept(pool),\n"
     "					   READ_ONCE(pool->size));\n", "			{ }\n"),
    ("node of a lock at rest is not counted as kept",
     "READ_ONCE(node->next) == NBQ_AVAILABLE && !is_abandoned(node);\n", "0;\n"),
    ("node that CLH-NB holds counts as kept",
     "		kept -= READ_ONCE(node->next) == NBQ_AVAILABLE;\n", "		{ }\n"),
    ("empty pool fails before the patience is over",
     "	while (!node && !nbq_deadline_passed(deadline)) {\n",
     "	if (!nbq_deadline_passed(deadline)) {\n"),
    ("empty pool is waited for whatever the patience",
     "	while (!node && !nbq_deadline_passed(deadline)) {\n", "	while (!node) {\n"),
)), *mutants("node.c", POOL, (
    ("search starts at the second node",
     "		if (nbq_node_try_alloc(node))\n			break;\n",
     "		if (node != pool->first && nbq_node_try_alloc(node))\n			break;\n"),
    ("search ends at the first node",
     "		if (nbq_node_try_alloc(node))\n			break;\n",
     "		if (!nbq_node_try_alloc(node))\n			node = NULL;\n		break;\n"),
    ("search leaves no hint",
     "	pool_size = READ_ONCE(pool->size);\n	WRITE_ONCE(pool->hint, node);\n",
     "	pool_size = READ_ONCE(pool->size);\n"),
    ("high water is one node lower",
     "	nbq_record(&pool->events.pool_high_water, node->index + 1);\n",
     "	nbq_record(&pool->events.pool_high_water, node->index);\n"),
    ("high water is the size of the pool",
     "	nbq_record(&pool->events.pool_high_water, node->index + 1);\n",
     "	nbq_record(&pool->events.pool_high_water, pool_size);\n"),
    ("growth is requested one node late",
     "	if (node->index >= pool_size * 3 / 4)\n", "	if (node->index > pool_size * 3 / 4)\n"),
    ("growth is requested one node early",
     "	if (node->index >= pool_size * 3 / 4)\n",
     "	if (node->index + 1 >= pool_size * 3 / 4)\n",
     {"host": "does not check when growth was requested; kunit does"}),
    ("growth is not requested in time", GROW_IN_TIME, ""),
    ("growth is not requested by an empty pool",
     "	if (!node) {\n		nbq_pool_request_growth(pool);\n", "	if (!node) {\n",
     {"host": "the last quarter of each pool has requested growth before"}),
    ("exhaustion is not counted", "	pool->events.exhaustions++;\n", ""),
    ("waiting for a node reads the clock as rarely as waiting for the lock",
     "		deadline->polls = 0;\n", "",
     {"kunit": "counts no checks; the host does"}),
    ("appended node has the next index",
     "	node->index = pool->size;\n", "	node->index = pool->size + 1;\n"),
    ("appended node does not know its CPU",
     "	node->cpu = pool->cpu;\n", ""),
    ("appended node is not the last",
     "	pool->last = node;\n", ""),
    ("appended node is not counted",
     "	WRITE_ONCE(pool->size, pool->size + 1);\n", ""),
))]
