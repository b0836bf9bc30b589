/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counted events: one row each, from which all else is generated.
 *
 *	NBQ_EVENT(name, kind, meaning)
 *
 * The kind says what is stored, and how the values of pools become one:
 *	SUM	a count that only ever rises; added up
 *	MAX	a record; the largest of all
 *	PEAK	a record; added up, so that the total is an upper bound of
 *		what was reached at any one time
 *
 * No include guard: whoever includes this defines NBQ_EVENT first.
 */
NBQ_EVENT(acquired_uncontended, SUM,
	  "acquisitions that found tail NULL or, swap-only, AVAILABLE at once")
NBQ_EVENT(acquired_handoff, SUM,
	  "all other acquisitions: handed over by a node ahead in the queue")
NBQ_EVENT(timeouts, SUM,
	  "attempts that ran out of patience in the queue")
NBQ_EVENT(deadlocks, SUM,
	  "attempts that would have waited for themselves, or were tried there")
NBQ_EVENT(nodes_taken, SUM,
	  "queue nodes taken from a pool")
NBQ_EVENT(nodes_given_back, SUM,
	  "queue nodes given back by the context that took them")
NBQ_EVENT(nodes_reclaimed, SUM,
	  "queue nodes given back by somebody else, or by destroy")
NBQ_EVENT(nodes_abandoned, SUM,
	  "queue nodes that a timeout has left to others to give back")
NBQ_EVENT(longest_walk, MAX,
	  "most leavers that one attempt has stepped over")
NBQ_EVENT(pool_high_water, PEAK,
	  "most queue nodes of a pool in use at one time")
NBQ_EVENT(growths, SUM,
	  "times that a pool was enlarged")
NBQ_EVENT(exhaustions, SUM,
	  "attempts that found their pool empty")
