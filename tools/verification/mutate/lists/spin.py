# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the hybrid lock, and in what only it needs of the pools and of waits."""

from verification.mutate.kinds import HostTests, BESIDES_STEPS, NESTING, ORDERINGS, \
    ORDERINGS_32BIT, STEPS, STEPS_32BIT, WAITS, CHECKS
from verification.mutate.mutant import mutants

ABANDON_CAS = ("	if (!node->resumed &&\n"
             "	    cmpxchg_release(tail, number, encode_tail(pred)) == number) {\n"
             "		nbq_node_free_own(node);\n")
DEQUEUE_CAS = ("	if (!has_successor && "
            "cmpxchg_release(tail, number, 0) == number) {\n"
            "		nbq_node_free_own(node);\n")
ABANDON = "	smp_store_release(&node->prev, pred);\n"
PASS = "	smp_store_release(&node->prev, NBQ_AVAILABLE);\n"
RECLAIM = "	nbq_node_reclaim(pred, &node->pool->events);\n"
TAKE = "return try_cmpxchg_acquire(&lock->state.all, &state->all, taken.all);\n"
TAKE_ALL = "	return try_cmpxchg_acquire(&lock->all, &free.all, taken.all);\n"
STORE = "		if (!word.state.holder)\n			WRITE_ONCE(lock->state.holder, wait->context);\n"
REQUEST = "		request_handoff(lock, place, wait, word.state);\n"
NOT_OPEN = ("	if (!may_steal(&word, lock, wait->pool, wait->context) && "
           "!is_idle_too_long(place))\n		return false;\n")
IS_OPEN = ("	return likely(!word->state.handoff) || !tail_of_turn(lock, word->state.turn) ||\n"
           "	       has_expired(word->state.handoff) || interrupts_waiter(lock, pool, context);\n")
DEQUEUES = ("	freed = place->pred ? nbq_spin_abandon(place->tail, place->node, place->pred) :\n"
          "			     nbq_spin_dequeue_head(place->tail, place->node, place->has_successor);\n")
TOO_LATE = "	/* Also if another context was faster. */\n"
INHERITS = ("	return has_own_turn(place, state) && hands_on_request(place) ? "
            "state.request : 0;\n")
COUNTS_SKIPPED = "		place->skipped += prev != NBQ_AVAILABLE;\n"
ENQUEUES = "	if (!place->node && may_queue(place, wait) && enqueue(lock, place, wait)) {\n"
ABOVE = "	place->acts_as_head = is_first_of_lock(lock, place, wait) ||\n"
STALLED = "		      has_passed(heartbeat, wait->now, STALLED_NS) ||\n"
AT_ONCE = ("	if (place->skipped != skipped && place->pred && !wait->in_order)\n"
           "		check_pred(lock, place, wait);\n")
IS_BUSY = ("	if (state.holder)\n		return true;\n"
           "	tail = tail_of_turn(lock, state.turn);\n"
           "	return tail && !nbq_spin_poll(tail);\n")
DESTROY = ("	if (holder || (!is_in_order(lock) && !is_swept(lock)) ||\n"
           "	    (node && !is_idle(node)) || cmpxchg(&lock->tail, tail, 0) != tail)\n")
CONTENDED = ("	return READ_ONCE(lock->state.holder) &&\n"
             "	       (READ_ONCE(lock->tail) || (!is_in_order(lock) && nbq_has_queue(lock)));\n")
NOT_HELD = "		nbq_report(NBQ_REPORT_NOT_HELD, lock, 0, _RET_IP_);\n"
NOT_OWNER = "		nbq_report(NBQ_REPORT_NOT_OWNER, lock, holder, _RET_IP_);\n"
HEARTBEAT = "	publish_heartbeat(wait);\n	if (place->pred"
FIRST_HEARTBEAT = "	publish_heartbeat(wait);\n}\n"

# In the order of acquisitions: kunit counts the polls and the time that it takes.
POLICY = {"explorer": (), "kunit": ("nbq_spin", "nbq_spin_fifo")}
# What kunit does not count.
STALLED_PRED = {"host": HostTests("steps TYPE gcc asan")}
# In encodable nodes: pool.c runs in kernels only.
ENCODABLE = {"kunit": ("nbq_spin", "nbq_spin_fifo", "nbq_pool")}
SPARE = {"litmus": "spare in the kernel's model: see Documentation/ordering.rst"}

# A thread sanitizer sees plain accesses only. What the queue orders is marked; the lock's
# word orders the critical sections.
MARKED = {"host": "orders marked accesses only, which no thread sanitizer watches"}
CONTEXTS_AND_LOCKS = {"explorer": "needs more contexts and locks than its quick "
                                  "configurations have"}
CHOSEN = {"explorer": "times are a choice there, and so is whether a predecessor is stalled"}
SLOWER = {"explorer": "nothing is broken: it takes longer"}
WRITES = {"explorer": "gives up all the same, after it has enqueued"}
HELD_HERE = "		if (holder && nbq_context_cpu(holder) == nbq_context_cpu(wait->context))\n"

MUTANTS = [*mutants("bare_spin.c", STEPS, (
    ("spin: held lock is acquired",
     "	return !word.state.holder && !is_fifo(word.state) &&\n",
     "	return !is_fifo(word.state) &&\n"),
    ("spin: held lock is acquired on the fast path",
     "	if (likely(!state.all && take(", "	if (likely(take("),
    ("spin: lock is acquired by a store",
     TAKE, "WRITE_ONCE(lock->state.all, taken.all);\n	return true;\n"),
    ("spin: head acquires a held lock, first come, first served",
     STORE, "		WRITE_ONCE(lock->state.holder, wait->context);\n"),
    ("spin: acquisition forgets that the lock is first come, first served",
     ".state = { .holder = context, .turn = NBQ_SPIN_FIFO } };", ".state = { .holder = context } };"),
    ("spin: newcomer acquires the lock without its queue",
     TAKE_ALL, "	return try_cmpxchg_acquire(&lock->state.all, &free.state.all, taken.state.all);\n"),
    ("spin: abandon publishes prev before it swaps the tail", ABANDON_CAS, ABANDON + ABANDON_CAS),
    ("spin: abandon does not publish its predecessor", ABANDON, ""),
    ("spin: abandon frees its node twice",
     ABANDON_CAS, ABANDON_CAS + "		nbq_node_free_own(node);\n"),
    ("spin: abandon does not free its node",
     ABANDON_CAS, ABANDON_CAS.replace("		nbq_node_free_own(node);\n", "")),
    ("spin: dequeue passes the headship before it swaps the tail", DEQUEUE_CAS, PASS + DEQUEUE_CAS),
    ("spin: dequeue passes no headship", PASS, ""),
    ("spin: dequeue does not free its node",
     DEQUEUE_CAS, DEQUEUE_CAS.replace("		nbq_node_free_own(node);\n", "")),
    ("spin: dequeue frees its node twice",
     DEQUEUE_CAS, DEQUEUE_CAS + "		nbq_node_free_own(node);\n"),
    ("spin: skip does not reclaim the predecessor's node", RECLAIM, ""),
    ("spin: skip reclaims the node twice", RECLAIM, 2 * RECLAIM),
    ("spin: successor of a head that dequeued is not the head",
     "	return prev == NBQ_AVAILABLE ? NULL : prev;\n", "	return prev;\n"),
    ("spin: waiter that acquires the lock stays in the queue",
     DEQUEUES, "	freed = true;\n	if (!taken)\n	" + DEQUEUES.replace("\n	", "\n		", 1)),
    ("spin: head abandons its node",
     DEQUEUES, "	freed = nbq_spin_abandon(place->tail, place->node, place->pred);\n"),
    ("spin: acting head dequeues as the head",
     DEQUEUES, "	freed = nbq_spin_dequeue_head(place->tail, place->node, place->has_successor);\n"),
    ("spin: each head counts as one with a successor",
     "		place->has_successor = word.tail != encode_tail(place->node);\n",
     "		place->has_successor = true;\n",
     {"explorer": "legal: its node stays at the tail"}),
    ("spin: destroy does not reclaim the nodes",
     "		nbq_node_reclaim(node, events);\n", "		(void)events;\n"),
    ("spin: try finds no lock busy", IS_BUSY, "	tail = NULL;\n	return tail;\n", WRITES),
    ("spin: try finds every lock busy",
     IS_BUSY, "	tail = NULL;\n	return !tail;\n"),
    ("spin: try finds a lock with abandoned nodes busy",
     "	return tail && !nbq_spin_poll(tail);\n", "	return tail;\n"),
)), *mutants("bare_spin.c", POLICY, (
    ("spin: newcomers steal in spite of a request for a handoff",
     IS_OPEN, "	return interrupts_waiter(lock, pool, context) || true;\n"),
    ("spin: no head requests a handoff", REQUEST, "		{ }\n",
     {"explorer": "nothing is broken: that newcomers steal without end is a matter of time"}),
    ("spin: request for a handoff never expires",
     IS_OPEN, IS_OPEN.replace("has_expired(word->state.handoff) || ", "")),
    ("spin: request for a handoff expires at once",
     IS_OPEN, IS_OPEN.replace("has_expired(word->state.handoff)", "true")),
    ("spin: request for a handoff holds in an empty queue",
     IS_OPEN, IS_OPEN.replace(" || !tail_of_turn(lock, word->state.turn)", "")),
    ("spin: interrupt above a waiter of its own CPU is refused",
     IS_OPEN, IS_OPEN.replace("interrupts_waiter(lock, pool, context)", "false")),
    ("spin: interrupt above any waiter steals the lock",
     "		if (waiter && waiter->lock == lock)\n", "		if (waiter)\n", CONTEXTS_AND_LOCKS),
    ("spin: interrupt above a waiter checks its own level only",
     "	for (below = nbq_context_level(context); below; below--) {\n",
     "	for (below = !!nbq_context_level(context); below; below--) {\n"),
    ("spin: request for a handoff lasts a unit longer",
     "nbq_clock_ns()) >= HANDOFF_UNITS;\n",
     "nbq_clock_ns()) > HANDOFF_UNITS;\n", CHOSEN),
    ("spin: request for a handoff is not renewed",
     "	bool renews = has_own_turn(place, state) && place->renews &&\n", "	bool renews = false &&\n",
     CHOSEN),
    ("spin: waiter that times out withdraws the request for a handoff",
     DEQUEUES, "	if (!taken)\n		WRITE_ONCE(lock->state.request, 0);\n" + DEQUEUES),
    ("spin: head requests a handoff at once",
     "	if (!has_passed(place->since, wait->now, PATIENT_NS))\n		return;\n", "",
     {"explorer": "any time is as good there"}),
    ("spin: request is inherited after its clock has wrapped",
     "	return HANDOFF_REQUESTED | (u8)(", "	return (u8)(", CHOSEN),
    ("spin: request for a handoff outlives the queue",
     "	if (!place->has_successor)\n		return 0;\n", "", SLOWER),
    ("spin: head that has waited requests no handoff to its successor",
     "		return request_at(wait->now, place->turn);\n	}\n", "		return 0;\n	}\n", SLOWER),
    ("spin: head that has just enqueued passes no request on",
     INHERITS, "	return 0;\n", SLOWER),
    ("spin: each head passes a request on",
     INHERITS, "	return state.request;\n", SLOWER),
    ("spin: waiter behind a stalled one never acts for the head",
     STALLED, ""),
    ("spin: waiter behind a running one acts for the head", STALLED, "		      true ||\n", CHOSEN),
    ("spin: predecessor with a torn heartbeat counts as running",
     "		      has_passed(wait->now, heartbeat, AHEAD_NS) ||\n", "", CHOSEN),
    ("spin: waiter has no heartbeat", HEARTBEAT, "	if (place->pred", CHOSEN),
    ("spin: waiter that enqueues has no heartbeat", FIRST_HEARTBEAT, "}\n", CHOSEN),
    ("spin: head that is too late for a free lock requests no handoff",
     TOO_LATE, "	if (!word.state.holder)\n		return false;\n" + TOO_LATE,
     "the same but for a clock read: the swap that failed has read the new holder"),
    ("spin: acting head where it is first come, first served",
     "	if (!wait->in_order && HAS_TICKED(place, wait))\n", "	if (HAS_TICKED(place, wait))\n"),
    ("spin: each waiter polls the lock",
     "	return (!place->pred || place->acts_as_head) && poll_as_head(lock, place, wait);\n",
     "	return poll_as_head(lock, place, wait);\n"),
    ("spin: lock that was held meanwhile counts as idle",
     "		place->idle_since = 0;\n		return false;\n", "		return false;\n", CHOSEN),
    ("spin: newcomer steals a lock with a request at once",
     NOT_OPEN, ""),
    ("spin: newcomer never steals an idle lock with a request",
     " && !is_idle_too_long(place))\n", ")\n",
     {"explorer": "the request expires there, too: that it takes longer is a matter of time"}),
    ("spin: newcomer does not enqueue although another was faster",
     "		    (word.state.handoff ||\n"
     "		     (place->holder && place->holder != word.state.holder)))\n",
     "		    word.state.handoff)\n", SLOWER),
    ("spin: head reads the clock as rarely as the others",
     "	nbq_wait_tick_within(wait, POLLS_AS_HEAD);\n	return false;\n}\n", "	return false;\n}\n",
     CHOSEN),
    ("spin: newcomer does not enqueue in spite of a request for a handoff",
     "		    (word.state.handoff ||\n", "		    (false ||\n", SLOWER),
    ("spin: no waiter enqueues", ENQUEUES, ENQUEUES.replace("enqueue(lock, place, wait)", "false")),
    ("spin: attempt without a node withdraws what it waits for",
     ENQUEUES, "	if (!place->node && may_queue(place, wait)) {\n		enqueue(lock, place, wait);\n",
     dict.fromkeys(("explorer", "kunit"),
                   "withdraws what it has published for a moment, and publishes it again")),
)), *mutants("bare_spin.c", STALLED_PRED, (
    ("spin: successor of an acting head does not act at once", AT_ONCE, ""),
    ("spin: hypervisor is not asked",
     "		      vcpu_is_preempted(place->pred->cpu);\n", "		      false;\n"),
    ("spin: newcomer that finds the lock idle enqueues",
     "	return !place->idle_since && (place->must_queue ||", "	return (place->must_queue ||"),
    ("spin: interrupt waits for its own CPU's waiter to run",
     "	place->acts_as_head = !wait->in_order && is_first_of_lock(lock, place, wait);\n", ""),
    ("spin: newcomer does not enqueue although it was too late",
     "	place->must_queue = !place->starved;\n	return false;\n", "	return false;\n"),
)), *mutants("bare_spin.c", BESIDES_STEPS, (
    ("spin: skipped nodes are not counted",
     COUNTS_SKIPPED, ""),
    ("spin: head that dequeued counts as an abandoned node", COUNTS_SKIPPED, "		place->skipped++;\n"),
    ("spin: skipped nodes are not recorded", "	nbq_count_skipped(wait->pool, place->skipped);\n", "	{ }\n"),
    ("spin: abandoned node is not counted",
     "	wait->pool->events.nodes_abandoned += !freed;\n", ""),
    ("spin: dequeued node is counted as abandoned",
     "	wait->pool->events.nodes_abandoned += !freed;\n",
     "	wait->pool->events.nodes_abandoned++;\n"),
    ("spin: empty pool is reported as a timeout",
     "		if (!taken && wait->in_order && wait->error == -ETIMEDOUT)\n"
     "			wait->error = -ENOMEM;\n", ""),
    ("spin: empty pool is reported to an attempt without patience",
     "wait->in_order && wait->error == -ETIMEDOUT)\n", "wait->in_order && wait->error != -EDEADLK)\n"),
    ("spin: empty pool is counted at each search",
     "		pool->events.exhaustions += !place->starved;\n", "		pool->events.exhaustions++;\n"),
    ("spin: empty pool is not counted",
     "		pool->events.exhaustions += !place->starved;\n", ""),
    ("spin: search for a node does not have the clock read",
     "next clock read. */\n	wait->deadline->polls = 0;\n", "next clock read. */\n",
     {"host": "the clock is read at that poll anyway, unless the lock has changed hands"}),
    ("spin: failed try is not counted", "		pool->events.failed_tries++;\n", ""),
    ("spin: failed try is counted as a timeout",
     "		pool->events.failed_tries++;\n", "		pool->events.timeouts++;\n"),
    ("spin: contention is announced after the swap of the tail",
     "	if (!deadline.announced)\n		announce_if_traced(lock, &deadline, waits, ip);\n", ""),
    ("spin: destroyed lock keeps a request for a handoff",
     "	WRITE_ONCE(lock->state.request, 0);\n", "",
     "the same: a request is void in an empty queue"),
    ("spin: held lock with waiters is not contended",
     CONTENDED, "	return false;\n"),
    ("spin: lock with abandoned nodes only counts as contended",
     CONTENDED, "	return READ_ONCE(lock->tail);\n"),
    ("spin: destroy of a lock that is held is not refused",
     DESTROY, DESTROY.replace("holder || ", "")),
    ("spin: destroy of a lock with a waiter is not refused",
     DESTROY, DESTROY.replace("(node && !is_idle(node)) || ", "")),
    ("spin: destroy does not clear the tail",
     DESTROY, DESTROY.replace("cmpxchg(&lock->tail, tail, 0) != tail", "false")),
)), *mutants("spin.c", BESIDES_STEPS, (
    ("spin: destroy of a lock in use is not reported",
     "		nbq_report(NBQ_REPORT_IN_USE, lock, READ_ONCE(lock->state.holder), _RET_IP_);\n",
     "		;\n"),
    ("spin: init does not reset the state", "	lock->state.all = 0;\n", ""),
    ("spin: init does not reset the tail", "	lock->tail = 0;\n", ""),
)), *mutants("spin.c", {"host": HostTests("smoke TYPE_lockdep gcc asan",
                                    "steps TYPE_lockdep gcc asan")}, (
    ("spin: unlock of a free lock goes on", NOT_HELD + "		return;\n", NOT_HELD),
    ("spin: unlock of a free lock is not reported", NOT_HELD, ""),
    ("spin: unlock on another CPU is not noticed",
     "	if (unlikely(nbq_context_cpu(holder) != raw_smp_processor_id())) {\n", "	if (false) {\n"),
    ("spin: unlock on another CPU goes on", NOT_OWNER + "		return;\n", NOT_OWNER),
    ("spin: unlock on another CPU is not reported", NOT_OWNER, ""),
    ("writes to devices: release of the hybrid with lockdep does not order them",
     "	mmiowb_spin_unlock();\n", ""),
)), *mutants("spin.h", STEPS, (
    ("spin: inline unlock leaves preemption off",
     "	nbq_bare_spin_unlock(&lock->bare);\n	preempt_enable();\n",
     "	nbq_bare_spin_unlock(&lock->bare);\n"),
    ("spin: inline unlock releases nothing",
     "	nbq_bare_spin_unlock(&lock->bare);\n	preempt_enable();\n",
     "	preempt_enable();\n"),
    ("spin: interrupt acquires the lock as a task",
     " ||\n	    unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))\n",
     ")\n"),
    ("spin: holder on CPU 0 is none",
     "&nothing, raw_smp_processor_id() + 1))\n", "&nothing, raw_smp_processor_id()))\n"),
)), *mutants("spin.h", BESIDES_STEPS, (
    ("writes to devices: fast path of the hybrid does not begin to order them",
     "	mmiowb_spin_lock();\n", ""),
    ("writes to devices: release of the hybrid does not order them",
     "	mmiowb_spin_unlock();\n", ""),
    ("spin: try of a held lock writes to it",
     "	if (likely(!READ_ONCE(lock->state.all) && __nbq_spin_take_uncontended(lock)))\n",
     "	if (likely(__nbq_spin_take_uncontended(lock)))\n"),
    ("spin: patience of 0 writes to a held lock",
     "				   !READ_ONCE(lock->state.all)) &&\n", "				   true) &&\n"),
)), *mutants("node.c", {"host": HostTests("smoke spin gcc asan", "steps spin gcc asan",
                                          "smoke fifo gcc asan")}, (
    ("spin: node that is not encodable is used",
     "	if (node && node->index < encodable->size && nbq_node_try_alloc(node))\n",
     "	if (node && nbq_node_try_alloc(node))\n"),
    ("spin: first of the encodable nodes is not searched",
     "	for (index = 0; index < encodable->size; index++) {\n",
     "	for (index = 1; index < encodable->size; index++) {\n"),
    ("spin: encodable nodes are not searched",
     "	for (index = 0; index < encodable->size; index++) {\n",
     "	for (index = encodable->size; index < encodable->size; index++) {\n"),
    ("spin: encodable node is not counted as allocated",
     "claimed:\n	pool->events.nodes_allocated++;\n", "claimed:\n"),
)), *mutants("pool.c", ENCODABLE, (
    ("pool has no encodable nodes", "		ret = make_encodable(pool);\n", "		{ }\n"),
    ("pool of a CPU that comes online again is encodable twice",
     "	if (!ret && (!pool->encodable || pool->encodable->size < pool_nodes))\n", "	if (!ret)\n",
     {"kunit": "a leak when a CPU comes back, which none does in the kernel debug"}),
    ("one node less is encodable", "	encodable->size = pool->size;\n",
     "	encodable->size = pool->size - 1;\n",
     {"kunit": "nothing is broken: the hybrid has a node less to use"}),
)), *mutants("wait.c", WAITS, (
    ("wait: published holder outlives its critical section",
     "	if (READ_ONCE(waiting->blocker.tagged) &&\n	    READ_ONCE(waiting->blocker.tagged) != holder.tagged)\n"
     "		withdraw(wait);\n", "", CONTEXTS_AND_LOCKS),
    ("wait: no waiter publishes the holder",
     "	if (!READ_ONCE(waiting->blocker.tagged))\n		publish(wait, holder, NULL);\n", ""),
    ("wait: epoch of the holder is not published",
     "	WRITE_ONCE(waiting->held, epoch);\n", ""),
    ("wait: check does not compare the epoch of a holder",
     "		if (exactly_behind && !is_older(waiting, held))\n			return false;\n", "",
     CONTEXTS_AND_LOCKS),
    ("wait: check that comes back does not compare the epoch of the holder",
     "			return !exactly_behind || is_held_here(wait, owner, held);\n",
     "			return true;\n"),
    ("wait: interrupt that has ended counts as the holder",
     "	return nbq_context_level(holder) <= nbq_context_level(wait->context) &&\n",
     "	return true &&\n", CONTEXTS_AND_LOCKS),
    ("wait: waiter that publishes nothing uses what another has published",
     "	       READ_ONCE(wait->pool->waiter) == wait &&\n", "", CONTEXTS_AND_LOCKS),
    ("wait: lock that was released before it waits is held here",
     "	       is_older(&wait->pool->waiting, held);\n", "	       true;\n"),
    ("wait: check does not know the epoch of the first holder",
     "	unsigned long held = epoch ? *epoch : 0;\n", "	unsigned long held = 0;\n"),
    ("wait: check that comes back uses an old epoch",
     "	       READ_ONCE(wait->pool->waiting.blocker.tagged) &&\n", ""),
    ("wait: no waiter publishes the word that it polls",
     "	if (word) {\n", "	if (true) {\n", CONTEXTS_AND_LOCKS),
    ("wait: check without a predecessor does not start at the holder",
     "					    blocking_holder(READ_ONCE(*wait->held_by));\n", "					    blocking_holder(0);\n"),
    ("wait: each interrupted waiter counts as a predecessor",
     "	if (!wait->in_order)\n		return false;\n", ""),
    ("wait: holder of the hybrid on any CPU will do",
     HELD_HERE, "		if (holder)\n"),
    ("wait: hybrid held by its own CPU is not found",
     HELD_HERE, "		if (false)\n"),
)), *mutants("bare_spin.c", ORDERINGS, (
    ("spin: acquired without acquire", TAKE, TAKE.replace("acquire", "relaxed")),
    ("spin: acquired without a queue and without acquire",
     TAKE_ALL, TAKE_ALL.replace("acquire", "relaxed")),
    ("spin: head reads the lock in no order",
     "acquires ? smp_load_acquire(&lock->all)", "acquires ? READ_ONCE(lock->all)"),
    ("spin: enqueue without acquire", "xchg(tail, encode_tail(node))",
     "xchg_release(tail, encode_tail(node))", MARKED),
    ("spin: enqueue without release", "xchg(tail, encode_tail(node))",
     "xchg_acquire(tail, encode_tail(node))", MARKED),
    ("spin: relaxed poll", "	return smp_load_acquire(&pred->prev);\n",
     "	return READ_ONCE(pred->prev);\n", {**SPARE, **MARKED}),
)), *mutants("bare_spin.c", STEPS_32BIT, (
    ("spin, 32 bits: the tail is not read", "		.tail = READ_ONCE(lock->tail),\n", ""),
    ("spin, 32 bits: free lock counts as acquired without its queue",
     "#else\n	return false;\n#endif\n", "#else\n	return true;\n#endif\n"),
)), *mutants("bare_spin.c", ORDERINGS_32BIT, (
    ("spin, 32 bits: head reads the lock in no order",
     "acquires ? smp_load_acquire(&lock->state.all)", "acquires ? READ_ONCE(lock->state.all)"),
)), *mutants("bare_spin.c", CHECKS, (
    ("spin: relaxed swap of the tail in abandon", ABANDON_CAS, ABANDON_CAS.replace("release", "relaxed")),
    ("spin: abandon publishes prev by a relaxed store",
     ABANDON, "	WRITE_ONCE(node->prev, pred);\n"),
    ("spin: relaxed swap of the tail in dequeue", DEQUEUE_CAS, DEQUEUE_CAS.replace("release", "relaxed")),
    ("spin: dequeue passes the headship by a relaxed store",
     PASS, "	WRITE_ONCE(node->prev, NBQ_AVAILABLE);\n"),
    ("spin: relaxed swap of the tail in destroy",
     "cmpxchg(&lock->tail, tail, 0)", "cmpxchg_relaxed(&lock->tail, tail, 0)"),
    ("spin: relaxed load of the holder in destroy",
     "smp_load_acquire(&lock->state.holder)", "READ_ONCE(lock->state.holder)", SPARE),
    ("spin: relaxed load of the array of an encoded node",
     "smp_load_acquire(&nbq_pool_of(number & U16_MAX)->encodable)",
     "READ_ONCE(nbq_pool_of(number & U16_MAX)->encodable)", SPARE),
)), *mutants("spin.h", ORDERINGS, (
    ("spin: fast path without acquire",
     "	if (!try_cmpxchg_acquire(&lock->state.all, &nothing,",
     "	if (!try_cmpxchg_relaxed(&lock->state.all, &nothing,"),
)), *mutants("bare_spin.h", ORDERINGS, (
    ("spin: relaxed unlock",
     "	smp_store_release(&lock->state.holder, 0);\n",
     "	WRITE_ONCE(lock->state.holder, 0);\n"),
)), *mutants("bare_spin.c", NESTING, (
    ("nesting: nested attempt writes the heartbeat", "	if (likely(!wait->nested))\n", ""),
)), *mutants("wait.c", CHECKS, (
    ("wait: holder read in no order", "	smp_mb();\n	holder =", "	holder ="),
    ("wait: holder read after a read barrier only",
     "	smp_mb();\n	holder =", "	smp_rmb();\n	holder ="),
    ("wait: begun in no order", "		smp_mb();\n	}\n", "	}\n"),
    ("wait: relaxed load of the epoch of a holder",
     "held = smp_load_acquire(&waiting->held);", "held = READ_ONCE(waiting->held);"),
))]
