// SPDX-License-Identifier: GPL-2.0
/* Coroutines: a stack for each, and a hook on the accesses. */
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <asm/mmiowb.h>
#include <linux/errno.h>

#include "coro.h"
#include "fiber_switch.h"
#include "test.h"

#define STACK_SIZE	(64 * 1024)

unsigned int coro_most_steps_to_abandon;
unsigned int coro_most_steps_to_release;
bool coro_reads_free_nodes;

static struct coro *self;

/*
 * A sanitizer must be told which stack is the running one. Each is linked with one of them, or
 * with none. What is kept of a stack that is left for ever is nothing.
 */
#pragma weak __sanitizer_start_switch_fiber
#pragma weak __sanitizer_finish_switch_fiber
#pragma weak __tsan_get_current_fiber
#pragma weak __tsan_create_fiber
#pragma weak __tsan_switch_to_fiber
#pragma weak __tsan_destroy_fiber

/* Of the starter. */
static const void *starters_stack;
static size_t starters_stack_size;
static void *starters_fiber;

static void arrive(void *kept, const void **from, size_t *size)
{
	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(kept, from, size);
}

static void leave(void **kept, const void *to, size_t size, void *fiber)
{
	if (__sanitizer_start_switch_fiber)
		__sanitizer_start_switch_fiber(kept, to, size);
	if (__tsan_switch_to_fiber)
		__tsan_switch_to_fiber(fiber, 0);
}

static void stop(void)
{
	struct coro *coro = self;
	void *kept = NULL;

	leave(coro->ended ? NULL : &kept, starters_stack, starters_stack_size, starters_fiber);
	fiber_switch(&coro->sp, coro->starter_sp);
	arrive(kept, &starters_stack, &starters_stack_size);
}

static void switch_to(struct coro *coro)
{
	void *kept = NULL;

	if (__tsan_get_current_fiber)
		starters_fiber = __tsan_get_current_fiber();
	leave(&kept, coro->stack, STACK_SIZE, coro->sanitizers_fiber);
	fiber_switch(&coro->starter_sp, coro->sp);
	arrive(kept, NULL, NULL);
}

/* Nobody else has run since the last access. */
static void inspect_last_access(void)
{
	const struct nbq_node *resumed;

	if (self->doing != ACQUIRING)
		return;
	resumed = shim_resumed_node(self->cpu, self->last_op, self->last_address,
				    self->last_before, self->lock);
	if (resumed && !self->node)
		self->node = resumed;
	/*
	 * Not the one that its pool allocated last: a nested context may have. Nor the spare one,
	 * with which it visits the lock to have a node.
	 */
	if (self->last_op == SHIM_OP_XCHG && is_tail(self->lock, self->last_address)) {
		const struct nbq_node *node = tail_node(self->lock, self->last_address);

		if (!IN_KERNEL || !shim_is_spare(node))
			self->node = node;
	}
	if (may_acquire(self->lock, self->last_op, self->last_address))
		self->may_hold = is_held_by_this_context(self->lock);
}

static void count_own_step(enum shim_op op, const void *address)
{
	inspect_last_access();
	self->last_op = op;
	self->last_address = address;
	if (self->doing == ACQUIRING && self->node && !self->may_hold &&
	    begins_abandon(self->lock, self->node, op, address)) {
		self->doing = ABANDONING;
		self->own_steps = 0;
	}
	self->own_steps += is_own_step(self->lock, address);
}

static void before_access(enum shim_op op, const void *address)
{
	bool left = self->doing == ABANDONING;

	count_own_step(op, address);
	self->lock_accesses += op != SHIM_OP_RELAX &&
			       (const char *)address - (const char *)self->lock <
			       (long)sizeof(*self->lock) &&
			       (const char *)address >= (const char *)self->lock;
	if (self->steps_left) {
		if (--self->steps_left == 0)
			stop();
	} else if (self->until_abandon) {
		if (!left && self->doing == ABANDONING)
			stop();
	} else if (op == self->until_op && (address == self->until_address ||
					    self->until_address == CORO_ANYWHERE)) {
		stop();
	}
	/*
	 * A freed node belongs to others. A newcomer may read the node that was the tail a moment
	 * ago.
	 */
	EXPECT(!shim_is_in_free_node(address) || shim_tries_to_resume(shim_cpu, op, address) ||
	       (op == SHIM_OP_LOAD && (coro_reads_free_nodes || !self->node)));
	/* When it is made: others may have run since it stopped. */
	self->last_before = shim_value_of_place(address);
}

static void release(struct coro *coro)
{
	coro->acquired++;
	coro->doing = HOLDING;
	/* Not an access: a place to stop at; and so is the second. */
	shim_point(SHIM_OP_RELAX, &coro->wanted);
	if (coro->critical_section)
		coro->critical_section(coro);
	else
		coro_want(coro);
	shim_point(SHIM_OP_RELAX, &coro->ret);
	coro->doing = RELEASING;
	coro->own_steps = 0;
	nbq_X_unlock(coro->lock);
	EXPECT(coro->own_steps <= STEPS_TO_RELEASE);
	if (coro->own_steps > coro_most_steps_to_release)
		coro_most_steps_to_release = coro->own_steps;
	if (coro->after_release)
		coro->after_release(coro);
}

static void make_attempts(struct coro *coro)
{
	while (coro->attempts) {
		coro->attempts--;
		coro->doing = ACQUIRING;
		coro->node = NULL;
		coro->may_hold = false;
		coro->last_address = NULL;
		coro->ret = nbq_X_lock_timeout(coro->lock, coro->patience);
		EXPECT(shim_preempt_off == !coro->ret);
		EXPECT(shim_mmiowb_nesting == (IN_KERNEL && !coro->ret));
		if (!coro->ret) {
			release(coro);
		} else if (coro->doing == ABANDONING) {
			EXPECT(coro->own_steps <= STEPS_TO_ABANDON);
			if (coro->own_steps > coro_most_steps_to_abandon)
				coro_most_steps_to_abandon = coro->own_steps;
		}
		EXPECT(shim_preempt_off == 0);
	}
}

static void begin(void)
{
	arrive(NULL, &starters_stack, &starters_stack_size);
	make_attempts(self);
	self->ended = true;
	stop();
}

void coro_start(struct coro *coro)
{
	coro->ended = false;
	coro->preempt_off = 0;
	coro->irqs_off = 0;
	coro->mmiowb_nesting = 0;
	coro->acquired = 0;
	coro->stack = malloc(STACK_SIZE);
	if (!coro->stack)
		abort();
	coro->sp = fiber_prepare((char *)coro->stack + STACK_SIZE, begin);
	if (__tsan_create_fiber)
		coro->sanitizers_fiber = __tsan_create_fiber(0);
}

void coro_start_task(struct coro *coro, struct nbq_X *lock, unsigned int cpu, ktime_t patience)
{
	memset(coro, 0, sizeof(*coro));
	coro->lock = lock;
	coro->cpu = cpu;
	coro->patience = patience;
	coro->attempts = 1;
	coro_start(coro);
}

/* Returns when it has stopped or ended. The CPU and level of the thread change with it. */
static bool resume(struct coro *coro)
{
	unsigned int cpu = shim_cpu, level = shim_level;
	int preempt_off = shim_preempt_off, mmiowb_nesting = shim_mmiowb_nesting;
	int irqs_off = shim_irqs_off;

	if (coro->ended)
		return false;
	self = coro;
	shim_cpu = coro->cpu;
	shim_level = coro->level;
	shim_preempt_off = coro->preempt_off;
	shim_irqs_off = coro->irqs_off;
	shim_mmiowb_nesting = coro->mmiowb_nesting;
	shim_hook = before_access;
	switch_to(coro);
	shim_hook = NULL;
	coro->preempt_off = shim_preempt_off;
	coro->irqs_off = shim_irqs_off;
	coro->mmiowb_nesting = shim_mmiowb_nesting;
	shim_preempt_off = preempt_off;
	shim_irqs_off = irqs_off;
	shim_mmiowb_nesting = mmiowb_nesting;
	shim_cpu = cpu;
	shim_level = level;
	return !coro->ended;
}

bool coro_until(struct coro *coro, enum shim_op op, const void *address)
{
	coro->steps_left = 0;
	coro->until_abandon = false;
	coro->until_op = op;
	coro->until_address = address;
	return resume(coro);
}

bool coro_steps(struct coro *coro, unsigned int steps)
{
	if (!steps)
		return !coro->ended;
	coro->steps_left = steps;
	return resume(coro);
}

bool coro_until_poll(struct coro *coro)
{
	return coro_until(coro, SHIM_OP_RELAX, NULL);
}

bool coro_until_queued(struct coro *coro)
{
	return coro_until(coro, SHIM_OP_XCHG, nbq_X_enqueues_at(coro->lock)) &&
	       coro_until_poll(coro);
}

bool coro_until_abandon(struct coro *coro)
{
	coro->steps_left = 0;
	coro->until_abandon = true;
	return resume(coro);
}

bool coro_until_held(struct coro *coro)
{
	return coro_until(coro, SHIM_OP_RELAX, &coro->wanted);
}

bool coro_until_release(struct coro *coro)
{
	return coro_until(coro, SHIM_OP_RELAX, &coro->ret);
}

int coro_finish(struct coro *coro)
{
	/* Nothing is at this address, so it stops nowhere. */
	coro_until(coro, SHIM_OP_RELAX, coro);
	if (__tsan_destroy_fiber)
		__tsan_destroy_fiber(coro->sanitizers_fiber);
	free(coro->stack);
	coro->stack = NULL;
	return coro->ret;
}

void coro_want(struct coro *coro)
{
	if (!coro->wanted)
		return;
	coro->wanted_ret = nbq_X_lock_timeout(coro->wanted, coro->wanted_patience);
	if (!coro->wanted_ret)
		nbq_X_unlock(coro->wanted);
}

struct coro coros[COROS];
unsigned int coros_level;

struct coro *coros_start(unsigned int number, struct nbq_X *lock, ktime_t patience)
{
	struct coro *coro = &coros[number];

	coro_start_task(coro, lock, number % SHIM_CPUS, patience);
	coro->level = number < SHIM_CPUS ? coros_level : CORO_NMI_LEVEL;
	return coro;
}

struct coro *coros_start_both(unsigned int number, struct nbq_X *held, struct nbq_X *wanted)
{
	struct coro *coro = coros_start(number, held, KTIME_MAX);

	coro->wanted = wanted;
	coro->wanted_patience = KTIME_MAX;
	coro->wanted_ret = !!wanted;
	return coro;
}

struct coro *coros_start_holder(unsigned int number, struct nbq_X *held, struct nbq_X *wanted)
{
	struct coro *coro = coros_start_both(number, held, wanted);

	coro_until_held(coro);
	return coro;
}

void coros_enqueue(struct nbq_X *lock, ktime_t patience, const unsigned int *numbers,
		   const char *where)
{
	for (; *numbers < COROS; numbers++)
		test_expect(coro_until_queued(coros_start(*numbers, lock, patience)), "ENQUEUE",
			    where);
}

void coros_expect_end(int ret, const unsigned int *numbers, const char *where)
{
	char text[64];

	for (; *numbers < COROS; numbers++) {
		snprintf(text, sizeof(text), "%u returns %d, not %d", *numbers,
			 coro_finish(&coros[*numbers]), ret);
		test_expect(coros[*numbers].ret == ret, text, where);
	}
}

static void finish_in_turns(unsigned int first, unsigned int number, unsigned int turns)
{
	struct coro *coro, *end = &coros[first + number];
	bool running = true;

	while (turns-- && running) {
		running = false;
		for (coro = &coros[first]; coro < end; coro++)
			running |= coro->stack && coro_until_poll(coro);
	}
	if (!EXPECT(!running))
		return;
	for (coro = &coros[first]; coro < end; coro++)
		EXPECT(!coro->stack || coro_finish(coro) == 0);
}

void coros_finish(unsigned int turns)
{
	finish_in_turns(0, COROS, turns);
}

void coros_begin_epoch(struct nbq_X *first, struct nbq_X *second)
{
	struct coro *a, *b;
	unsigned int level = coros_level, turns;

	coros_level = 0;
	a = coros_start_holder(8, first, second);
	b = coros_start_holder(9, second, first);
	coros_level = level;
	/* Neither detects it before the other has published its holder. */
	for (turns = 0; turns < 20 && a->wanted_ret == 1 && b->wanted_ret == 1; turns++)
		coro_steps(turns % 2 ? b : a, MANY_ACCESSES);
	finish_in_turns(8, 2, MANY_ACCESSES);
	EXPECT(a->wanted_ret == -EDEADLK || b->wanted_ret == -EDEADLK);
}

void coros_forget(void)
{
	memset(coros, 0, sizeof(coros));
	coros_level = 0;
}

void coros_begin(struct nbq_X *locks, unsigned int number, unsigned int nodes)
{
	coros_forget();
	shim_pools_start(nodes, SHIM_MOST_NODES);
	while (number--)
		nbq_X_init(&locks[number]);
}

struct nbq_X *coros_map_locks(void)
{
	void *memory = mmap((void *)0x20000000, COROS_LOCKS_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

int try_as(struct nbq_X *lock, ktime_t patience, unsigned int cpu, unsigned int level)
{
	int ret;

	shim_cpu = cpu;
	shim_level = level;
	ret = nbq_X_lock_timeout(lock, patience);
	if (!ret)
		nbq_X_unlock(lock);
	shim_cpu = 0;
	shim_level = 0;
	return ret;
}
