# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the verbs that all lock types share."""

from mutate.kinds import OFF_THE_STEPS, STEPS
from mutate.mutant import Mutant, mutants

NOT_HELD = "		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, _RET_IP_);\n"
NOT_OWNER = "		nbq_report(NBQ_REPORT_NOT_OWNER, lock, nbq_context_of(node->pool), _RET_IP_);\n"
IS_BUSY = ("	if (READ_ONCE(lock->holder))\n		return true;\n"
           "	tail = READ_ONCE(lock->tail);\n	return tail && !in_front(tail);\n")
WRITES = {"explorer": "gives up all the same, after it has enqueued"}

LOOKS = {**OFF_THE_STEPS, "kunit": ("nbq_clh_verbs",)}

MUTANTS = [*mutants("define_verbs.h", STEPS, (
    ("failed attempt leaves preemption off",
     "			spin_release(waits, ip);\n		preempt_enable();\n",
     "			spin_release(waits, ip);\n"),
    ("attempt leaves preemption on",
     "	if (waits)\n		spin_acquire_nest(waits, subclass, 0, nest_lock, ip);\n",
     "	preempt_enable();\n"
     "	if (waits)\n		spin_acquire_nest(waits, subclass, 0, nest_lock, ip);\n"),
    ("attempt that cannot fail leaves preemption on",
     "	/* Nothing but a deadlock ends that; others in it may time out. */\n",
     "	preempt_enable();\n",
     {"explorer": "waits for ever by the verb with a patience, without an end of it"}),
)), *mutants("define_lock_type.h", STEPS, (
    ("destroy keeps the nodes",
     "		nbq_node_reclaim(node, events);\n", "		(void)events;\n"),
    ("destroy looks at a node that it has given back",
     "		struct nbq_node *prev = in_front(node);\n\n"
     "		nbq_node_reclaim(node, events);\n		node = prev;\n",
     "		nbq_node_reclaim(node, events);\n		node = in_front(node);\n"),
    ("unlock leaves preemption off",
     "	nbq_X_hand_over(lock, node);\n	preempt_enable();\n",
     "	nbq_X_hand_over(lock, node);\n"),
    ("destroy leaves preemption off",
     "	preempt_enable();\n	return 0;\n", "	return 0;\n"),
    ("free lock gets no holder",
     "	WRITE_ONCE(lock->holder, node);\n	pool->events.acquired_uncontended++;\n",
     "	pool->events.acquired_uncontended++;\n"),
)), *mutants("define_lock_type.h", OFF_THE_STEPS, (
    ("attempt does not wait for a node",
     "	node = nbq_node_claim_any(pool) ?: nbq_node_wait(pool, &deadline);\n",
     "	node = nbq_node_claim_any(pool);\n"),
    ("attempt whose node is in use does not look for another",
     "	node = nbq_node_claim_any(pool) ?: nbq_node_wait(pool, &deadline);\n",
     "	node = nbq_node_wait(pool, &deadline);\n"),
    ("destroy of a lock with a waiter is not refused",
     "	return !tail || node == NBQ_AVAILABLE;\n", "	return true;\n"),
    ("unlock on another CPU is not noticed",
     "	if (unlikely(node->cpu != raw_smp_processor_id())) {\n", "	if (false) {\n"),
    ("unlock of a lock that nobody holds goes on",
     NOT_HELD + "		return;\n", NOT_HELD),
    ("unlock on another CPU goes on", NOT_OWNER + "		return;\n", NOT_OWNER),
    ("unlock of a lock that nobody holds is not reported", NOT_HELD, ""),
    ("unlock on another CPU is not reported", NOT_OWNER, ""),
    ("destroy of a lock in use is not reported",
     "		nbq_report(NBQ_REPORT_IN_USE, lock, context_of_holder(lock), _RET_IP_);\n", ""),
    ("destroy of a held lock does not look at its holder",
     "nbq_X_is_locked(lock) || !is_idle(node)", "!is_idle(node)",
     {Mutant.ANY: "the same: the queue of a lock that is held is not idle"}),
    ("destroy of a lock that is held or waited for is not refused",
     "	if (nbq_X_is_locked(lock) || !is_idle(node) ||\n", "	if (false ||\n"),
    ("destroy does not take the nodes out of the lock",
     "cmpxchg(&lock->tail, node, NULL) != node)", "false)"),
    ("failed try is not counted", "		pool->events.failed_tries++;\n", ""),
    ("failed try is counted as a timeout",
     "		pool->events.failed_tries++;\n", "		pool->events.timeouts++;\n"),
    ("writes to devices: release of a queue lock does not order them",
     "	mmiowb_spin_unlock();\n", ""),
    ("writes to devices: ordered after the lock is handed over",
     "	mmiowb_spin_unlock();\n	nbq_X_hand_over(lock, node);\n",
     "	nbq_X_hand_over(lock, node);\n	mmiowb_spin_unlock();\n"),
    ("contention is announced after the swap of the tail",
     "		nbq_wait_announce(&deadline, lock, waits, ip);\n", ""),
    ("contention that ends without a node goes on for a tracer",
     "		if (deadline.announced)\n			nbq_contention_end(lock, -ENOMEM);\n", ""),
    ("contention that is over before it has enqueued goes on for a tracer",
     "	if (deadline.announced)\n		nbq_contention_end(lock, 0);\n", ""),
    ("empty pool is reported as a timeout",
     "		return -ENOMEM;\n", "		return -ETIMEDOUT;\n"),
    ("acquisition without contention is not counted",
     "	WRITE_ONCE(lock->holder, node);\n	pool->events.acquired_uncontended++;\n",
     "	WRITE_ONCE(lock->holder, node);\n"),
    ("new lock keeps the tail that its memory held", "	lock->tail = NULL;\n", ""),
    ("new lock keeps the holder that its memory held", "	lock->holder = NULL;\n", ""),
)), *mutants("define_verbs.h", OFF_THE_STEPS, (
    ("writes to devices: acquisition that may fail does not begin to order them",
     "	mmiowb_spin_lock();\n	if (waits)\n		lock_acquired(waits, ip);\n	else\n",
     "	if (waits)\n		lock_acquired(waits, ip);\n	else\n"),
    ("writes to devices: acquisition that cannot fail does not begin to order them",
     "	mmiowb_spin_lock();\n	if (waits)\n		lock_acquired(waits, ip);\n}\n",
     "	if (waits)\n		lock_acquired(waits, ip);\n}\n"),
    ("deadlock of an acquisition that cannot fail is not reported",
     "		nbq_report(NBQ_REPORT_DEADLOCK, lock, context_of_holder(lock), ip);\n", ""),
)), *mutants("define_lock_type.h", STEPS, (
    ("try finds no lock busy",
     IS_BUSY, "	tail = NULL;\n	return tail;\n", WRITES),
    ("try finds every lock busy", IS_BUSY, "	tail = lock->tail;\n	return tail || true;\n"),
    ("try that finds no holder does not look whether anybody waits",
     "	return tail && !in_front(tail);\n", "	return !tail && false;\n", WRITES),
    ("try finds a lock busy that was left", "	return tail && !in_front(tail);\n",
     "	return tail;\n"),
)), *mutants("define_lock_type.h", LOOKS, (
    ("lock with anything in its queue counts as held",
     "	return READ_ONCE(lock->holder);\n", "	return READ_ONCE(lock->tail);\n"),
    ("held lock counts as contended",
     "	return holder && READ_ONCE(lock->tail) != holder;\n", "	return holder;\n"),
    ("lock with leavers only counts as contended",
     "	return holder && READ_ONCE(lock->tail) != holder;\n",
     "	return READ_ONCE(lock->tail) != holder;\n"),
))]
