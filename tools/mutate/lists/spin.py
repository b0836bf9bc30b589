# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the hybrid lock, and in what only it needs of the pools and of waits."""

from mutate.kinds import OFF_THE_STEPS, ORDERINGS, STEPS, WAITS, WALKS
from mutate.mutant import mutants

LEAVE_CAS = ("	if (nbq_step(cmpxchg_release(&lock->tail, number, number_of(pred))) == number) {\n"
             "		nbq_node_give_back_own(node);\n")
PASS_CAS = ("	if (nbq_step(cmpxchg_release(&lock->tail, number, 0)) == number) {\n"
            "		nbq_node_give_back_own(node);\n")
ABANDON = "	nbq_step(smp_store_release(&node->prev, pred));\n"
PASS_ON = "	nbq_step(smp_store_release(&node->prev, NBQ_AVAILABLE));\n"
RECLAIM = "	nbq_node_reclaim(pred, &node->pool->events);\n"
TAKE = "return try_cmpxchg_acquire(&lock->state.all, &state.all, mine.all);\n"
ASK = ("		WRITE_ONCE(lock->state.handoff, 1);\n"
       "		place->asked = true;\n")
TAKE_BACK = ("	if (place.asked)\n"
             "		nbq_step(WRITE_ONCE(lock->state.handoff, 0));\n")
BEAT = ("		if (place.node && !(looks % LOOKS_PER_BEAT))\n"
        "			WRITE_ONCE(place.node->beats, place.node->beats + 1);\n")

# Who comes first, and how soon: kunit counts the looks that it takes.
POLICY = {**STEPS, "kunit": ("nbq_spin", "nbq_spin_fifo")}
# What is said of numbers of nodes: pool.c runs in kernels only.
NUMBERS = {"kunit": ("nbq_spin", "nbq_spin_fifo", "nbq_pool")}
SPARE = {"litmus": "spare in the kernel's model: see Documentation/ordering.rst"}

# A thread sanitizer sees plain accesses only. What the queue orders is marked; the lock's
# word orders the critical sections.
MARKED = {"host": "orders marked accesses only, which no thread sanitizer watches"}
CONTEXTS_AND_LOCKS = {"explorer": "needs more contexts and locks than its quick "
                                  "configurations have"}
CHOSEN = {"explorer": "looks are not counted there, and signs of life are part of a choice"}
NOT_GROWN = {"explorer": "pools do not grow there, so all nodes have a number"}

MUTANTS = [*mutants("spin.c", STEPS, (
    ("spin: lock that is held is taken",
     "	if (!state.holder && is_open(lock, state) && take(lock, state, me))\n",
     "	if (is_open(lock, state) && take(lock, state, me))\n"),
    ("spin: lock is taken by a store",
     TAKE, "WRITE_ONCE(lock->state.all, mine.all);\n	return true;\n"),
    ("spin: lock that is taken forgets that it is first come, first served",
     "		.fifo = state.fifo,\n", ""),
    ("spin: leave publishes prev before it swaps the tail", LEAVE_CAS, ABANDON + LEAVE_CAS),
    ("spin: leave abandons without saying who stood in front", ABANDON, ""),
    ("spin: leave gives its node back twice",
     LEAVE_CAS, LEAVE_CAS + "		nbq_node_give_back_own(node);\n"),
    ("spin: leave keeps its own node",
     LEAVE_CAS, LEAVE_CAS.replace("		nbq_node_give_back_own(node);\n", "")),
    ("spin: pass tells before it swaps the tail", PASS_CAS, PASS_ON + PASS_CAS),
    ("spin: pass tells nobody", PASS_ON, ""),
    ("spin: pass keeps its own node",
     PASS_CAS, PASS_CAS.replace("		nbq_node_give_back_own(node);\n", "")),
    ("spin: pass gives its node back twice",
     PASS_CAS, PASS_CAS + "		nbq_node_give_back_own(node);\n"),
    ("spin: step_over keeps the predecessor's node", RECLAIM, ""),
    ("spin: step_over gives the node back twice", RECLAIM, 2 * RECLAIM),
    ("spin: who stood behind the head that left is not the head",
     "	return prev == NBQ_AVAILABLE ? NULL : prev;\n", "	return prev;\n"),
    ("spin: who leaves with the lock stays in the queue",
     "		go_away(lock, &place);\n		return nbq_wait_end(&wait, 0);\n",
     "		return nbq_wait_end(&wait, 0);\n"),
    ("spin: head leaves as one that is not",
     "	return place->pred ? nbq_spin_leave(lock, place->node, place->pred) :\n"
     "			     nbq_spin_pass(lock, place->node);\n",
     "	return nbq_spin_leave(lock, place->node, place->pred);\n"),
    ("spin: node without a number is used all the same",
     "				     node->index < pool->numbered->size)))\n",
     "				     true)))\n", NOT_GROWN),
    ("spin: node without a number is not given back",
     "		WRITE_ONCE(pool->hint, NULL);\n		nbq_node_give_back_own(node);\n",
     "		WRITE_ONCE(pool->hint, NULL);\n", NOT_GROWN),
    ("spin: node without a number is the only one that is tried",
     "		WRITE_ONCE(pool->hint, NULL);\n", "", NOT_GROWN),
    ("spin: destroy keeps the nodes",
     "		nbq_node_reclaim(node, events);\n", "		(void)events;\n"),
)), *mutants("spin.c", POLICY, (
    ("spin: newcomers pass those who have asked them to queue",
     "	return state.fifo ? !READ_ONCE(lock->tail) : !state.handoff;\n",
     "	return state.fifo ? !READ_ONCE(lock->tail) : true;\n"),
    ("spin: newcomers pass waiters where it is first come, first served",
     "	return state.fifo ? !READ_ONCE(lock->tail) : !state.handoff;\n",
     "	return state.fifo || !state.handoff;\n"),
    ("spin: nobody asks newcomers to queue", ASK, "",
     {"explorer": "nothing is broken: that somebody is passed without end is a matter of time"}),
    ("spin: request to queue is not taken back", TAKE_BACK, ""),
    ("spin: request to queue outlives the lock that was got by it",
     "		.fifo = state.fifo,\n",
     "		.fifo = state.fifo,\n		.handoff = state.handoff,\n"),
    ("spin: waiter behind one that does not run never takes the lock",
     "	if (place->idle++ < IDLE_LOOKS)\n		return false;\n", "	return false;\n"),
    ("spin: waiter takes the lock from one that runs",
     "	return !pred || READ_ONCE(pred->beats) == place->beats;\n", "	return true;\n", CHOSEN),
    ("spin: waiter gives no sign of life", BEAT, "", CHOSEN),
    ("spin: one in front that does not run is passed where nobody may be",
     "		if (!is_my_turn && !state.fifo)\n", "		if (!is_my_turn)\n"),
    ("spin: lock that was held meanwhile counts as idle",
     "	if (state.holder) {\n		place->idle = 0;\n", "	if (state.holder) {\n", CHOSEN),
    ("spin: another predecessor's signs of life are compared with this one's",
     "		place->idle = 0;\n		walk += prev != NBQ_AVAILABLE;\n",
     "		walk += prev != NBQ_AVAILABLE;\n",
     {**CHOSEN, "kunit": "no case there has a leaver in front of a waiter at an idle lock"}),
    ("spin: nobody enters the queue", " && enter(lock, &place, pool)) {\n", " && false) {\n"),
    ("spin: without a node, stops to say what it waits for",
     " && enter(lock, &place, pool)) {\n", ") {\n			enter(lock, &place, pool);\n",
     dict.fromkeys(("host", "kunit"), "its note is away for a moment, in which nobody looks")),
)), *mutants("spin.c", OFF_THE_STEPS, (
    ("spin: leavers that are stepped over are not counted",
     "		walk += prev != NBQ_AVAILABLE;\n", ""),
    ("spin: head that left counts as a leaver",
     "		walk += prev != NBQ_AVAILABLE;\n", "		walk++;\n"),
    ("spin: walk is not counted", "		nbq_count_walk(pool, walk);\n", "		{ }\n"),
    ("spin: leaver is not counted",
     "	pool->events.nodes_abandoned += !gone;\n", ""),
    ("spin: leaver that took its node along is counted as one that did not",
     "	pool->events.nodes_abandoned += !gone;\n", "	pool->events.nodes_abandoned++;\n"),
    ("spin: empty pool is reported as a timeout",
     "	if (fifo && !place.node && wait.error == -ETIMEDOUT)\n		wait.error = -ENOMEM;\n", ""),
    ("spin: held lock is not contended by those who wait",
     "	return READ_ONCE(lock->state.holder) && READ_ONCE(lock->tail);\n", "	return false;\n"),
    ("spin: lock with leavers only counts as contended",
     "	return READ_ONCE(lock->state.holder) && READ_ONCE(lock->tail);\n",
     "	return READ_ONCE(lock->tail);\n"),
    ("spin: new lock keeps the state that its memory held", "	lock->state.all = 0;\n", ""),
    ("spin: new lock keeps the tail that its memory held", "	lock->tail = 0;\n", ""),
    ("spin: destroy of a lock that is held is not refused",
     "	if (WARN_ONCE(nbq_spin_is_locked(lock) || (node && !is_idle(node)) ||\n",
     "	if (WARN_ONCE((node && !is_idle(node)) ||\n"),
    ("spin: destroy of a lock with a waiter is not refused",
     "	if (WARN_ONCE(nbq_spin_is_locked(lock) || (node && !is_idle(node)) ||\n",
     "	if (WARN_ONCE(nbq_spin_is_locked(lock) ||\n"),
    ("spin: destroy does not take the nodes out of the lock",
     "		      cmpxchg(&lock->tail, tail, 0) != tail,\n", "		      false,\n"),
)), *mutants("spin.c", {"kunit": ("nbq_spin_verbs",)}, (
    ("spin: unlock of a lock that nobody holds goes on",
     "	if (WARN_ONCE(!holder, \"nbqlock: unlock of %p, which nobody holds\\n\", lock))\n"
     "		return;\n", ""),
    ("spin: unlock on another CPU is not noticed",
     "	if (WARN_ONCE(nbq_pool_of(holder)->cpu != raw_smp_processor_id(),\n",
     "	if (WARN_ONCE(false,\n"),
)), *mutants("spin_type.h", STEPS, (
    ("spin: inline unlock leaves preemption off",
     "	smp_store_release(&lock->state.holder, 0);\n	preempt_enable();\n",
     "	smp_store_release(&lock->state.holder, 0);\n"),
    ("spin: inline unlock releases nothing",
     "	smp_store_release(&lock->state.holder, 0);\n	preempt_enable();\n",
     "	preempt_enable();\n"),
    ("spin: interrupt takes the lock as a task",
     "	if (unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))\n"
     "		return false;\n", ""),
    ("spin: holder on CPU 0 is nobody",
     "				   raw_smp_processor_id() + 1);\n",
     "				   raw_smp_processor_id());\n"),
)), *mutants("pool.c", NUMBERS, (
    ("pool has no numbers", "			ret = number(&pools[level]);\n", "			{ }\n"),
    ("pool that a CPU finds again is numbered again",
     "		if (!ret && !pools[level].numbered)\n", "		if (!ret)\n",
     {"kunit": "a leak when a CPU comes back, which none does in the kernel debug"}),
    ("one node less has a number", "	numbered->size = pool->size;\n",
     "	numbered->size = pool->size - 1;\n",
     {"kunit": "nothing is broken: the hybrid has a node less to use"}),
)), *mutants("wait.c", WAITS, (
    ("wait: note of a holder outlives it",
     "	if (READ_ONCE(waiting->pred) && READ_ONCE(waiting->pred) != holder)\n"
     "		withdraw(wait);\n", "", CONTEXTS_AND_LOCKS),
    ("wait: nobody says who holds the lock",
     "	if (!READ_ONCE(waiting->pred))\n		publish(wait, holder, NULL);\n", ""),
    ("wait: holder is not looked for again",
     "	WRITE_ONCE(waiting->held, round);\n", ""),
    ("wait: walk does not ask since when a holder holds",
     "		if (exactly_behind && !is_older(waiting, held))\n			return false;\n", "",
     CONTEXTS_AND_LOCKS),
    ("wait: walk that comes back does not ask since when it is held here",
     "			return !exactly_behind || is_held_here(wait, pool, held);\n",
     "			return true;\n"),
    ("wait: one above that has come and gone holds the lock",
     "	return holder->level <= wait->pool->level &&\n", "	return true &&\n", CONTEXTS_AND_LOCKS),
    ("wait: one that leaves no notes has those of another",
     "	       READ_ONCE(wait->pool->waiter) == wait &&\n", "", CONTEXTS_AND_LOCKS),
    ("wait: lock that was released before it waits is held here",
     "	       is_older(&wait->pool->waiting, held);\n", "	       true;\n"),
    ("wait: walk does not know since when the first holder holds",
     "	unsigned long held = round ? *round : 0;\n", "	unsigned long held = 0;\n"),
    ("wait: walk that comes back believes in an old note",
     "	       READ_ONCE(wait->pool->waiting.pred) &&\n", ""),
    ("wait: behind a holder there is no word, for others neither",
     "	if (word) {\n", "	if (true) {\n", CONTEXTS_AND_LOCKS),
    ("wait: walk begins nowhere where there is no predecessor",
     "		pred = as_pred(READ_ONCE(*wait->held_by));\n", "		return false;\n"),
    ("wait: any who wait under it stand in front",
     "wait->in_order && below < wait->pool->level", "below < wait->pool->level"),
    ("wait: holder of the hybrid on any CPU will do",
     "		return context && nbq_pool_of(context)->cpu == wait->pool->cpu;\n",
     "		return context;\n"),
)), *mutants("spin.c", ORDERINGS, (
    ("spin: taken without acquire", TAKE, TAKE.replace("acquire", "relaxed")),
    ("spin: join without acquire", "xchg(&lock->tail, number_of(node))",
     "xchg_release(&lock->tail, number_of(node))", MARKED),
    ("spin: join without release", "xchg(&lock->tail, number_of(node))",
     "xchg_acquire(&lock->tail, number_of(node))", MARKED),
    ("spin: relaxed look", "	return smp_load_acquire(&pred->prev);\n",
     "	return READ_ONCE(pred->prev);\n", {**SPARE, **MARKED}),
)), *mutants("spin.c", WALKS, (
    ("spin: relaxed swap of the tail in leave", LEAVE_CAS, LEAVE_CAS.replace("release", "relaxed")),
    ("spin: leave publishes prev by a relaxed store",
     ABANDON, "	nbq_step(WRITE_ONCE(node->prev, pred));\n"),
    ("spin: relaxed swap of the tail in pass", PASS_CAS, PASS_CAS.replace("release", "relaxed")),
    ("spin: pass tells by a relaxed store",
     PASS_ON, "	nbq_step(WRITE_ONCE(node->prev, NBQ_AVAILABLE));\n"),
    ("spin: relaxed unlock where lockdep is told",
     "	nbq_step(smp_store_release(&lock->state.holder, 0));\n",
     "	nbq_step(WRITE_ONCE(lock->state.holder, 0));\n"),
    ("spin: relaxed swap of the tail in destroy",
     "cmpxchg(&lock->tail, tail, 0)", "cmpxchg_relaxed(&lock->tail, tail, 0)"),
)), *mutants("spin_type.h", ORDERINGS, (
    ("spin: taken at once without acquire",
     "	return try_cmpxchg_acquire(&lock->state.all, &anybody,\n",
     "	return try_cmpxchg_relaxed(&lock->state.all, &anybody,\n"),
    ("spin: relaxed unlock",
     "	smp_store_release(&lock->state.holder, 0);\n",
     "	WRITE_ONCE(lock->state.holder, 0);\n"),
)), *mutants("wait.c", WALKS, (
    ("wait: holder read in no order", "	smp_mb();\n	holder =", "	holder ="),
    ("wait: holder read behind a read barrier only",
     "	smp_mb();\n	holder =", "	smp_rmb();\n	holder ="),
    ("wait: begun in no order", "		smp_mb();\n	}\n", "	}\n"),
    ("wait: relaxed look at since when it is held",
     "held = smp_load_acquire(&waiting->held);", "held = READ_ONCE(waiting->held);"),
))]
