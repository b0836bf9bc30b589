# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the operations that all lock types share."""

from verification.mutate.kinds import BESIDES_STEPS, STEPS
from verification.mutate.mutant import Mutant, mutants

IF_IDLE = "	if (nbq_queue_is_idle(lock, READ_ONCE(lock->tail), ops))\n"
NOT_HELD = "		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, ip);\n"
NOT_OWNER = "		nbq_report(NBQ_REPORT_NOT_OWNER, lock, nbq_find_holder(lock), ip);\n"
FREE = "	nbq_held_add(node, lock);\n	pool->events.acquired_uncontended++;\n"
TRY_CHECKS = "	    !nbq_queue_is_idle(lock, READ_ONCE(lock->tail), ops)) {\n"
IS_IDLE = "	return !tail || node == NBQ_AVAILABLE;\n"
STILL_THERE = ("		if (node == tail ? READ_ONCE(lock->tail) != tail :\n"
               "				   READ_ONCE(node->lock) != lock)\n			return false;\n")
WRITES = {"explorer": "gives up all the same, after it has enqueued"}

IS_LOCKED = "	return !nbq_queue_is_idle(&lock->queue, READ_ONCE(lock->tail), &ops);\n"
WAITS_FOR_IT = "	return READ_ONCE(waiting->blocker.tagged) && READ_ONCE(waiting->lock) == lock;\n"
STATE = {**BESIDES_STEPS, "kunit": ("nbq_clh_operations",)}
INFO = {"kunit": ("nbq_clh_operations", "nbq_clh_contexts")}

MUTANTS = [*mutants("attempt.h", STEPS, (
    ("failed attempt leaves preemption off",
     "			spin_release(waits, ip);\n		preempt_enable();\n",
     "			spin_release(waits, ip);\n"),
    ("attempt leaves preemption on",
     "	if (!nbq_attempt_waits(deadline) ||",
     "	preempt_enable();\n	if (!nbq_attempt_waits(deadline) ||"),
)), *mutants("attempt.h", INFO, (
    ("timeout info: CPU of the holder is counted from 1",
     "(int)nbq_context_cpu(holder) : -1;", "(int)nbq_context_cpu(holder) + 1 : -1;"),
    ("timeout info: without a holder it is CPU 0",
     "(int)nbq_context_cpu(holder) : -1;", "(int)nbq_context_cpu(holder) : 0;"),
    ("timeout info: holder is always a task",
     "info->holder_level = nbq_context_level(holder);", "info->holder_level = NBQ_TASK;"),
    ("timeout info: time waited counts from boot",
     "info->waited_ns = nbq_clock_ns() - begin;", "info->waited_ns = nbq_clock_ns();"),
)), *mutants("queue_lock.h", STEPS, (
    ("destroy does not reclaim the nodes",
     "		nbq_node_reclaim(node, events);\n", "		(void)events;\n"),
    ("destroy polls a node that it has freed",
     "		nbq_node_reclaim(node, events);\n		node = prev;\n",
     "		nbq_node_reclaim(node, events);\n		(void)prev;\n"
     "		node = ops->pred_of(node);\n"),
    ("unlock leaves preemption off",
     "	ops->release(lock, node);\n	preempt_enable();\n",
     "	ops->release(lock, node);\n"),
    ("destroy leaves preemption off",
     "	preempt_enable();\n	return 0;\n", "	return 0;\n"),
    ("lock that was free is not put on the list of held locks",
     FREE, "	pool->events.acquired_uncontended++;\n"),
)), *mutants("queue_lock.h", BESIDES_STEPS, (
    ("attempt does not wait for a node",
     "	node = nbq_node_alloc(pool) ?: nbq_node_wait(pool, &deadline);\n",
     "	node = nbq_node_alloc(pool);\n"),
    ("attempt whose node is in use does not search for another",
     "	node = nbq_node_alloc(pool) ?: nbq_node_wait(pool, &deadline);\n",
     "	node = nbq_node_wait(pool, &deadline);\n"),
    ("lock in use counts as idle", IS_IDLE, "	return true;\n"),
    ("unlock of a lock that is not held goes on",
     "		nbq_queue_report_unlock(lock, ip, ops);\n		return;\n",
     "		nbq_queue_report_unlock(lock, ip, ops);\n		node = lock->tail;\n"),
    ("unlock of a free lock is not reported", NOT_HELD, "		{ }\n"),
    ("unlock of a lock that another holds is not reported", NOT_OWNER, "		{ }\n"),
    ("unlock of a free lock is reported as that of another's",
     IF_IDLE + NOT_HELD, "	if (false)\n" + NOT_HELD),
    ("unlock of a lock that another holds is reported as that of a free one",
     IF_IDLE + NOT_HELD, "	if (true)\n" + NOT_HELD),
    ("unlock of a lock that another holds does not report the holder",
     NOT_OWNER, NOT_OWNER.replace("nbq_find_holder(lock)", "0")),
    ("destroy of a lock in use is not reported",
     "		nbq_report(NBQ_REPORT_IN_USE, lock, nbq_find_holder(lock), ip);\n", ""),
    ("destroy of a lock in use does not report the holder",
     "NBQ_REPORT_IN_USE, lock, nbq_find_holder(lock)", "NBQ_REPORT_IN_USE, lock, 0"),
    ("destroy of a lock that is held or waited for is not refused",
     "	if (!nbq_queue_is_idle(lock, node, ops) || cmpxchg(", "	if (cmpxchg("),
    ("destroy does not clear the tail",
     "cmpxchg(&lock->tail, node, NULL) != node)", "false)"),
    ("failed try is not counted", "	pool->events.failed_tries++;\n", ""),
    ("failed try is counted as a timeout",
     "	pool->events.failed_tries++;\n", "	pool->events.timeouts++;\n"),
    ("empty pool is reported to an attempt without patience",
     "		if (nbq_deadline_is_none(&deadline))\n"
     "			return nbq_queue_failed_try(pool);\n"
     "		nbq_queue_end_contention(", "		nbq_queue_end_contention("),
    ("writes to devices: release of a queue lock does not order them",
     "	mmiowb_spin_unlock();\n", ""),
    ("writes to devices: ordered after the lock is released",
     "	mmiowb_spin_unlock();\n	ops->release(lock, node);\n",
     "	ops->release(lock, node);\n	mmiowb_spin_unlock();\n"),
    ("contention is announced after the swap of the tail",
     "		nbq_wait_announce(&deadline, lock, waits, ip);\n", ""),
    ("contention that ends without a node goes on for a tracer",
     "		nbq_queue_end_contention(lock, &deadline, -ENOMEM, ip);\n", ""),
    ("contention that is over before it has enqueued goes on for a tracer",
     "	nbq_queue_end_contention(lock, &deadline, 0, ip);\n", ""),
    ("contention that was announced ends for nbqlock's tracepoint only",
     "	nbq_contention_end(lock, ret);\n", ""),
    ("contention that was announced ends for the kernel's tracepoint only",
     "	trace_nbq_wait_end(lock, NULL, ip, ret, deadline->traced, 0);\n", ""),
    ("empty pool is reported as a timeout",
     "		return -ENOMEM;\n", "		return -ETIMEDOUT;\n"),
    ("acquisition without contention is not counted",
     FREE, "	nbq_held_add(node, lock);\n"),
    ("init does not reset the tail", "	lock->tail = NULL;\n", ""),
)), *mutants("attempt.h", BESIDES_STEPS, (
    ("writes to devices: acquisition does not begin to order them",
     "	mmiowb_spin_lock();\n", ""),
    ("deadlock of an acquisition that cannot fail is not reported",
     "		nbq_report(NBQ_REPORT_DEADLOCK, lock, holder, ip);\n", ""),
)), *mutants("queue_lock.h", STEPS, (
    ("try finds no lock busy",
     TRY_CHECKS, "	    false) {\n", WRITES),
    ("try finds every lock busy", TRY_CHECKS, "	    true) {\n"),
    ("try finds a lock with abandoned nodes busy", TRY_CHECKS, "	    READ_ONCE(lock->tail)) {\n"),
    ("try does not look past abandoned nodes",
     TRY_CHECKS, "	    lock->tail && !ops->pred_of(READ_ONCE(lock->tail))) {\n", WRITES),
    ("check of the queue does not end when the tail is another", STILL_THERE,
     "		if (node != tail && READ_ONCE(node->lock) != lock)\n			return false;\n",
     "nothing is broken: it comes to an end in another queue, with an old result"),
    ("check of the queue does not end at a node that is in another queue", STILL_THERE,
     "		if (node == tail && READ_ONCE(lock->tail) != tail)\n			return false;\n",
     "no layer has a place in the middle resumed, and its predecessor skipped, allocated "
     "for another lock and released, between two loads of a check"),
)), *mutants("queue_lock.h", STEPS, (
    ("attempt that cannot fail leaves preemption on",
     "	waits = nbq_attempt_begin(map, &never, subclass, ip);\n",
     "	waits = nbq_attempt_begin(map, &never, subclass, ip);\n	preempt_enable();\n",
     {"explorer": "waits without end by the operation with a patience"}),
)), *mutants("clh_nb.c", STATE, (
    ("lock with anything in its queue counts as held",
     IS_LOCKED, "	return READ_ONCE(lock->tail);\n"),
    ("held lock counts as free with an abandoned node behind its holder's",
     IS_LOCKED, "	return lock->tail && !pred_of(READ_ONCE(lock->tail));\n"),
)), *mutants("queue_lock.h", STATE, (
    ("held lock counts as contended", WAITS_FOR_IT, "	return waiting;\n"),
    ("lock that is waited for does not count as contended", WAITS_FOR_IT,
     "	return !waiting;\n"),
    ("lock whose holder waits for another counts as contended", WAITS_FOR_IT,
     "	return READ_ONCE(waiting->blocker.tagged);\n"),
    ("lock with abandoned nodes only counts as contended",
     "	if (nbq_queue_is_idle(lock, tail, ops))\n		return false;\n",
     "	if (!tail)\n		return false;\n"),
    ("lock with an abandoned node behind its holder's does not count as contended",
     "	if (ops->pred_of(tail))\n		return true;\n", ""),
))]
