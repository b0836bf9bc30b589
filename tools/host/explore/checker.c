// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>
#include <nbqlock/wait.h>
#include <places.h>

#include "deadlock.h"
#include "checker.h"

char failure[160];
unsigned int most_steps_to_abandon;
unsigned int most_steps_to_release;

/* Only the first thing that is wrong counts. */
void fail(const char *format, ...)
{
	va_list args;

	if (failure[0])
		return;
	va_start(args, format);
	vsnprintf(failure, sizeof(failure), format, args);
	va_end(args);
}

/* A word that others read: not one by which a node is allocated. */
static bool is_of_node(const void *address, const struct nbq_node *node)
{
	return (unsigned long)address - (unsigned long)node < 3 * sizeof(long);
}

/* After the handover: another context may have freed the lock. */
static void check_after_handover(const struct context *context, const void *address)
{
	unsigned int lock;

	for (lock = 0; lock < locks_number; lock++) {
		const struct attempt *attempt = &context->attempt[lock];

		if (queues[lock].destroyed && is_of_lock(address, lock))
			fail("accesses the lock after destroy");
		if (attempt->doing != RELEASING || !attempt->followed)
			continue;
		if (is_of_lock(address, lock))
			fail("accesses the lock after the handover");
		if (is_of_node(address, attempt->node))
			fail("accesses its node after the handover");
	}
}

static void count_own_step(struct context *context, enum shim_op op, const void *address)
{
	struct attempt *attempt = &context->attempt[context->lock];
	const struct lock_type *type = lock_types[context->lock][attempt->life];

	if (attempt->doing == ACQUIRING && attempt->node && !attempt->has_lock &&
	    type->begins_abandon(&locks[context->lock], attempt->node, op, address)) {
		attempt->doing = ABANDONING;
		attempt->own_steps = 0;
	}
	if (attempt->doing != ABANDONING && attempt->doing != RELEASING)
		return;
	attempt->own_steps += type->is_own_step(&locks[context->lock], address);
}

static bool is_newcomer(const struct context *context)
{
	const struct attempt *attempt = &context->attempt[context->lock];

	return attempt->doing == ACQUIRING && !attempt->node;
}

void check_access(unsigned int number, enum shim_op op, const void *address)
{
	struct context *context = &contexts[number];
	const struct nbq_node *freed = shim_node_of_free_seq(address);

	if (context->asks && op != SHIM_OP_LOAD &&
	    (is_of_lock(address, context->lock) ||
	     shim_place_of(address).room == SHIM_NODE))
		fail("changes a lock that is held, or a node");
	/*
	 * Deadlock checks read nodes that may have been freed; a newcomer reads the node that was
	 * the tail a moment ago.
	 */
	if (shim_is_in_free_node(address) &&
	    !shim_tries_to_resume(roles[number].cpu, op, address) &&
	    !(op == SHIM_OP_LOAD &&
	      (context->checked || context->asks || is_newcomer(context))))
		fail("%s a free node", op == SHIM_OP_LOAD ? "reads" : "writes");
	if (freed && op == SHIM_OP_STORE && shim_node_is_free(freed))
		fail("frees a free node");
	check_after_handover(context, address);
	count_own_step(context, op, address);
	/* The critical section ends with the first access of the release. */
	if (context->attempt[context->lock].doing == RELEASING &&
	    queues[context->lock].owner == number)
		queues[context->lock].owner = NO_CONTEXT;
}

static void record_enqueue(unsigned int number, unsigned int lock, const struct nbq_node *node)
{
	struct attempt *attempt = &contexts[number].attempt[lock];
	struct queue *queue = &queues[lock];

	attempt->node = node;
	contexts[number].arrived = true;
	/* It is no newcomer any more, and came when it arrived. */
	attempt->newcomer = false;
	attempt->persisted = false;
	attempt->ahead = 0;
	if (queue->length < MOST_FIBERS)
		queue->enqueued[queue->length++] = number;
	else
		fail("enqueues twice");
}

/* Has it interrupted one of its CPU that waits for this lock? */
static bool interrupts_waiter(unsigned int number, unsigned int lock)
{
	const struct cpu *cpu = &cpus[roles[number].cpu];
	unsigned int place;

	for (place = 0; place < cpu->depth && cpu->running[place] != number; place++) {
		unsigned char doing = contexts[cpu->running[place]].attempt[lock].doing;

		if (doing == ACQUIRING || doing == ABANDONING)
			return true;
	}
	return false;
}

/* Does the context hold the lock, wait for it, or is it about to release it? */
static bool uses(const struct context *context, unsigned int lock)
{
	const struct attempt *attempt = &context->attempt[lock];

	switch (attempt->doing) {
	case ACQUIRING:
	case ABANDONING:
		return attempt->has_lock || (type_of(lock)->is_fifo && attempt->node);
	default:
		return attempt->doing == HOLDING || attempt->doing == RELEASING;
	}
}

/* Does a waiter request a handoff? One that has begun to abandon may look so. */
static bool is_requested(unsigned int lock, bool or_was)
{
	const struct lock_type *type = type_of(lock);
	unsigned int number;

	for (number = 0;
	     number < contexts_number && type->has_valid_request(&locks[lock]); number++) {
		const struct attempt *attempt = &contexts[number].attempt[lock];

		if (attempt->node && !attempt->has_lock &&
		    (attempt->doing == ACQUIRING || (or_was && attempt->doing == ABANDONING)))
			return true;
	}
	return false;
}

bool is_used(unsigned int lock, unsigned int except)
{
	unsigned int number;

	for (number = 0; number < contexts_number; number++) {
		if (number != except && uses(&contexts[number], lock))
			return true;
	}
	return is_requested(lock, true);
}

/* What the attempts under way have seen of the lock, in this moment. */
static void check_moment(unsigned int lock)
{
	unsigned int number;

	for (number = 0; number < contexts_number; number++) {
		const struct context *context = &contexts[number];
		struct attempt *attempt = &contexts[number].attempt[lock];

		if (attempt->doing == IDLE || context->lock != lock)
			continue;
		if (attempt->newcomer && !is_requested(lock, false)) {
			attempt->newcomer = false;
			attempt->persisted = false;
		}
		if (context->patience == NONE && !attempt->contended)
			attempt->contended = is_used(lock, number);
	}
}

/* The policy: which contexts may acquire a free lock? */
static void check_policy(unsigned int number, enum shim_op op, const void *address,
			 unsigned long before)
{
	struct context *context = &contexts[number];
	struct attempt *attempt = &context->attempt[context->lock];
	const struct lock_type *type = type_of(context->lock);
	const void *lock = &locks[context->lock];

	/* It may be another waiter's, too. */
	if (type->is_request_access(lock, op, address) && !type->has_handoff_request(lock) &&
	    attempt->doing != DESTROYING)
		fail("withdraws a request for a handoff");
	if (attempt->doing != ACQUIRING || !type->may_acquire(lock, op, address) ||
	    value_at(address) == before || !type->is_held_by_this_context(lock))
		return;
	/* One that acts for stalled waiters is no newcomer any more. */
	if (attempt->newcomer && !attempt->persisted &&
	    !interrupts_waiter(number, context->lock))
		fail("steals in spite of a request for a handoff");
	attempt->has_lock = true;
}

void check_accessed(unsigned int number, enum shim_op op, const void *address,
		    unsigned long before)
{
	struct context *context = &contexts[number];
	const struct nbq_node *freed = shim_node_of_free_seq(address);
	const struct nbq_node *allocated = shim_node_of_alloc_seq(address);
	const struct nbq_node *resumed;
	struct attempt *attempt = &context->attempt[context->lock];
	const struct lock_type *type = type_of(context->lock);
	const void *lock = &locks[context->lock];

	if (freed && op == SHIM_OP_STORE && !shim_node_is_free(freed))
		fail("frees a node of another context");
	if (allocated && op != SHIM_OP_LOAD && !shim_node_is_free(allocated))
		context->busy = true;
	if (op == SHIM_OP_XCHG && type->is_tail(lock, address) && attempt->doing == ACQUIRING &&
	    !(type->is_fifo && shim_is_spare(*(void *const *)address)))
		record_enqueue(number, context->lock, type->tail_node(lock, address));
	resumed = shim_resumed_node(roles[number].cpu, op, address, before, lock);
	if (resumed && attempt->doing == ACQUIRING && !attempt->node) {
		record_enqueue(number, context->lock, resumed);
		attempt->resumed = true;
	}
	check_policy(number, op, address, before);
	if (op != SHIM_OP_LOAD)
		check_moment(context->lock);
}

static void check_preemption(const struct context *context)
{
	int off = context->preempt_off;
	unsigned int lock;

	for (lock = 0; lock < locks_number; lock++)
		off -= context->attempt[lock].doing == HOLDING;
	if (off)
		fail("preemption is off %d times too often", off);
}

void check_begin(unsigned int number, unsigned int lock)
{
	struct context *context = &contexts[number];
	struct attempt *attempt = &context->attempt[lock];
	unsigned int place;

	context->lock = lock;
	context->late = false;
	context->polled = false;
	context->busy = false;
	context->checks_left = checks_per_wait;
	context->reads.number = 0;
	context->idle.number = 0;
	attempt->left--;
	attempt->doing = ACQUIRING;
	attempt->life = queues[lock].life;
	attempt->node = NULL;
	attempt->resumed = false;
	attempt->has_lock = false;
	attempt->newcomer = context->patience != TAKEOVER && is_requested(lock, false);
	attempt->contended = context->patience == NONE && is_used(lock, number);
	attempt->persisted = false;
	attempt->overtaken = false;
	attempt->followed = false;
	attempt->own_steps = 0;
	for (place = 0; type_of(lock)->is_fifo && place < queues[lock].length; place++)
		attempt->ahead |= 1U << queues[lock].enqueued[place];
}

/* The context has acquired or failed. */
static void record_dequeue(unsigned int number, unsigned int lock, bool overtakes)
{
	struct attempt *attempt = &contexts[number].attempt[lock];
	struct queue *queue = &queues[lock];
	unsigned int place, other;

	for (other = 0; other < contexts_number; other++)
		contexts[other].attempt[lock].ahead &= ~(1U << number);
	for (place = 0; place < queue->length; place++) {
		other = queue->enqueued[place];
		if (other == number)
			break;
		/* In no queue, it came when it began. */
		if (type_of(lock)->is_fifo && overtakes &&
		    (attempt->node || attempt->ahead >> other & 1))
			contexts[other].attempt[lock].overtaken = true;
	}
	attempt->ahead = 0;
	if (place == queue->length)
		return;
	queue->length--;
	memmove(&queue->enqueued[place], &queue->enqueued[place + 1], queue->length - place);
	queue->enqueued[queue->length] = 0;
}

void check_stopped(unsigned int number, unsigned int lock)
{
	contexts[number].attempt[lock].doing = HOLDING;
	queues[lock].owner = number;
}

bool is_held_by_a_stopped(unsigned int lock)
{
	unsigned int owner = queues[lock].owner;

	return owner != NO_CONTEXT && contexts[owner].stopped;
}

/* Another owner stays the owner, and the lock has two. */
void check_taken_over(unsigned int lock)
{
	unsigned int owner = queues[lock].owner;

	if (owner == NO_CONTEXT)
		fail("takes over a lock that no context holds");
	if (!is_held_by_a_stopped(lock))
		return;
	if (!type_of(lock)->is_held_by_this_context(&locks[lock]))
		fail("has taken over a lock that does not name it");
	contexts[owner].attempt[lock].doing = IDLE;
	queues[lock].owner = NO_CONTEXT;
}

void check_acquired(unsigned int number, unsigned int lock)
{
	struct attempt *attempt = &contexts[number].attempt[lock];
	unsigned int other;

	if (queues[lock].owner != NO_CONTEXT)
		fail("two hold the lock");
	if (attempt->overtaken && type_of(lock)->is_fifo)
		fail("acquires after a context that enqueued later");
	if (attempt->doing == ABANDONING)
		fail("acquires after it has abandoned its node");
	/* One that has resumed its place came before some of those in the queue. */
	record_dequeue(number, lock, !attempt->resumed);
	for (other = 0; other < contexts_number; other++) {
		if (contexts[other].attempt[lock].doing == RELEASING)
			contexts[other].attempt[lock].followed = true;
	}
	attempt->followed = false;
	attempt->newcomer = false;
	attempt->contended = false;
	attempt->own_steps = 0;
	attempt->doing = HOLDING;
	contexts[number].arrived = true;
	queues[lock].owner = number;
	check_preemption(&contexts[number]);
}

static bool is_stopped(const struct context *context)
{
	return context->patience == UNLESS && context->late;
}

static bool may_fail(const struct context *context, int ret)
{
	const struct lock_type *type = type_of(context->lock);

	switch (ret) {
	case -EBUSY:
		return context->patience == NONE;
	case -ETIMEDOUT:
		return context->patience == PAST ||
		       (context->patience == FINITE && context->late) ||
		       (type->error_of_stop == -ETIMEDOUT && is_stopped(context));
	case -ECANCELED:
		return type->error_of_stop == -ECANCELED && is_stopped(context);
	case -ENOMEM:
		return (context->patience == PAST ||
			(context->patience == FINITE && context->late)) &&
		       !context->attempt[context->lock].node &&
		       type->error_without_node == -ENOMEM;
	case -ESTALE:
		return context->patience == TAKEOVER && !is_held_by_a_stopped(context->lock);
	case -EDEADLK:
		return context->patience != NONE &&
		       (context->deadlocked ||
			type->is_held_on_this_cpu(&locks[context->lock]));
	default:
		return false;
	}
}

/* Does any context make attempts at what the memory of the lock becomes? */
static bool becomes_another(unsigned int lock)
{
	unsigned int number;

	for (number = 0; number < contexts_number; number++) {
		if (roles[number].second[lock])
			return true;
	}
	return false;
}

/* Are all attempts at the lock over whose memory becomes another one? */
static bool is_last_of_first(unsigned int number, unsigned int lock)
{
	unsigned int other;

	if (queues[lock].life || !becomes_another(lock) ||
	    contexts[number].attempt[lock].followed)
		return false;
	for (other = 0; other < contexts_number; other++) {
		const struct attempt *attempt = &contexts[other].attempt[lock];

		if (attempt->left > roles[other].second[lock])
			return false;
		/* One that another has followed is done with the lock. */
		if (other != number && attempt->doing != IDLE &&
		    !(attempt->doing == RELEASING && attempt->followed))
			return false;
	}
	return true;
}

void check_failed(unsigned int number, unsigned int lock, int ret)
{
	struct context *context = &contexts[number];
	struct attempt *attempt = &context->attempt[lock];

	if (!may_fail(context, ret))
		fail("the attempt returns %d without a reason", ret);
	if (ret == -EBUSY && !attempt->contended)
		fail("finds a lock busy that is not held or waited for");
	if (ret == -ETIMEDOUT && queues[lock].owner != NO_CONTEXT &&
	    roles[queues[lock].owner].cpu == roles[number].cpu)
		fail("times out although its own CPU holds the lock");
	if (attempt->doing == ABANDONING) {
		if (attempt->own_steps > type_of(lock)->steps_to_abandon)
			fail("abandons in %u own steps", attempt->own_steps);
		if (attempt->own_steps > most_steps_to_abandon)
			most_steps_to_abandon = attempt->own_steps;
	}
	record_dequeue(number, lock, false);
	context->deadlocked = false;
	context->arrived = true;
	attempt->doing = is_last_of_first(number, lock) ? DESTROYING : IDLE;
	attempt->node = NULL;
	attempt->own_steps = 0;
	attempt->overtaken = false;
	attempt->newcomer = false;
	attempt->contended = false;
	check_preemption(context);
}

void check_release(unsigned int number, unsigned int lock)
{
	struct context *context = &contexts[number];

	context->lock = lock;
	context->attempt[lock].doing = RELEASING;
	context->attempt[lock].own_steps = 0;
}

/* With its release it is done with the lock, and so are all others, for the time being. */
static bool is_only_user(unsigned int number, unsigned int lock)
{
	unsigned int other;

	if (contexts[number].attempt[lock].followed)
		return false;
	for (other = 0; other < contexts_number; other++) {
		unsigned char doing = contexts[other].attempt[lock].doing;

		if (other != number && doing != IDLE && doing != RELEASING)
			return false;
	}
	return true;
}

/* Has it released as the last user, so that it may destroy the lock? One in an arena has no end. */
static bool is_last_user(unsigned int number, unsigned int lock)
{
	unsigned int other;

	if (!type_of(lock)->in_kernel)
		return false;
	for (other = 0; other < contexts_number; other++) {
		if (contexts[other].attempt[lock].left)
			return false;
	}
	/* No NMI destroys a lock. */
	return is_only_user(number, lock) && roles[number].level != NMI_LEVEL;
}

void check_released(unsigned int number, unsigned int lock, bool remakes)
{
	struct context *context = &contexts[number];
	struct attempt *attempt = &context->attempt[lock];

	if (queues[lock].owner == number)
		queues[lock].owner = NO_CONTEXT;
	if (attempt->own_steps > lock_types[lock][attempt->life]->steps_to_release)
		fail("releases in %u own steps", attempt->own_steps);
	if (attempt->own_steps > most_steps_to_release)
		most_steps_to_release = attempt->own_steps;
	attempt->own_steps = 0;
	attempt->node = NULL;
	attempt->doing = is_last_of_first(number, lock) || is_last_user(number, lock) ?
			 DESTROYING : IDLE;
	if (remakes && is_only_user(number, lock))
		memset(&locks[lock], 0, sizeof(locks[lock]));
	attempt->followed = false;
	check_preemption(context);
}

void check_destroyed(unsigned int number, unsigned int lock, int ret)
{
	bool has_second_life = !queues[lock].life && becomes_another(lock);

	if (ret)
		fail("destroy by the last user returns %d", ret);
	contexts[number].attempt[lock].doing = IDLE;
	if (has_second_life)
		memset(&locks[lock], 0, sizeof(locks[lock]));
	queues[lock].life |= has_second_life;
	queues[lock].destroyed = !has_second_life;
}

void check_ask(unsigned int number, unsigned int lock, enum patience what)
{
	struct context *context = &contexts[number];

	if (context->attempt[lock].doing != HOLDING)
		fail("asks a lock that it does not hold");
	context->lock = lock;
	context->asks = what;
	context->reads.number = 0;
}

void check_asked(unsigned int number, int ret)
{
	static const char *const wrong[] = {
		[IS_LOCKED] = "is not locked", [TRIES] = "is taken by a trylock",
		[DESTROYS] = "is destroyed",
	};
	struct context *context = &contexts[number];

	if (ret)
		fail("a lock that is held %s", wrong[context->asks]);
	context->asks = 0;
	check_preemption(context);
}
