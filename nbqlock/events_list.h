/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counted events, one row each. All code for them is generated from these rows.
 *
 *	NBQ_EVENT(name, kind, meaning)
 *
 * The kind says what is stored, and how the values of pools become one:
 *	SUM	a count that only rises; added up
 *	MAX	a record; the largest of all
 *	PEAK	a record; added up: the total is an upper bound of what was reached at one
 *		time
 *
 * No include guard: NBQ_EVENT is defined first.
 */
#ifdef NBQ_QUEUE_LOCKS
NBQ_EVENT(acquired_uncontended, SUM,
	  "acquisitions of a free lock with no queue; the hybrid does not count its own")
#endif
NBQ_EVENT(acquired_handoff, SUM,
	  "acquisitions that waited, or found abandoned nodes in the queue")
NBQ_EVENT(timeouts, SUM,
	  "attempts whose patience or deadline ended before they had the lock")
NBQ_EVENT(cancellations, SUM,
	  "attempts whose condition came true before they had the lock: -ECANCELED")
NBQ_EVENT(failed_tries, SUM,
	  "attempts without patience that failed")
NBQ_EVENT(deadlocks, SUM,
	  "attempts whose wait could not have ended: -EDEADLK, -EOWNERDEAD; of lock(), the first")
NBQ_EVENT(hardware_waits, SUM,
	  "pauses between two polls that were waits by hardware: WFE on arm64, else none")
NBQ_EVENT(nodes_allocated, SUM,
	  "queue nodes allocated from a pool")
NBQ_EVENT(nodes_freed, SUM,
	  "queue nodes freed by the context that allocated them")
NBQ_EVENT(nodes_reclaimed, SUM,
	  "queue nodes freed by a successor or by destroy")
NBQ_EVENT(nodes_abandoned, SUM,
	  "queue nodes abandoned in the queue by a waiter that gave up")
NBQ_EVENT(nodes_resumed, SUM,
	  "attempts that have resumed the place of an earlier one of that CPU and level")
NBQ_EVENT(turns_passed, SUM,
	  "acquisitions that have given the turn for a hybrid to another socket")
NBQ_EVENT(most_skipped, MAX,
	  "most abandoned nodes that one attempt has skipped")
NBQ_EVENT(pool_high_water, PEAK,
	  "most queue nodes of a pool in use at one time")
#ifdef NBQ_QUEUE_LOCKS
/* Written by growth only. */
NBQ_EVENT(growths, SUM,
	  "times that a pool was enlarged")
#endif
NBQ_EVENT(exhaustions, SUM,
	  "attempts that found no free node in their pool")
