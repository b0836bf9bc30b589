// SPDX-License-Identifier: GPL-2.0
/*
 * Mixtures: the CPUs. Each context runs on a stack of its own, from one shared access to another,
 * as far as an event lets it.
 */
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <asm/mmiowb.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <nbqlock/report.h>
#include <nbqlock/wait.h>

#include "../shim/fiber/fiber.h"
#include "mixtures.h"

#define PAGE		4096
#define APART		64	/* bytes from one lock's address to the next that there may be */
/* Of an address, for its queue and its place in a pool. */
#define HASH_BITS	6

const ktime_t patiences[] = { 0, 1, 2000, 30000, 200000, 20000000, KTIME_MAX };
const unsigned int patiences_number = sizeof(patiences) / sizeof(patiences[0]);
const u64 clock_steps[] = { 0, 1, 100, 3000, 60000, 2000000 };
const unsigned int clock_steps_number = sizeof(clock_steps) / sizeof(clock_steps[0]);
const u64 clock_jumps[] = { 10000, 100000, 1000000, 40000000 };
const unsigned int clock_jumps_number = sizeof(clock_jumps) / sizeof(clock_jumps[0]);

struct cpu cpus[MOST_CPUS + 1];
struct settings settings;
u64 now;
u64 steps_made;

u64 clock_step;
static struct context *self;
static char *memory;

/* Switching stacks. */

void __sanitizer_start_switch_fiber(void **kept, const void *bottom, size_t size)
	__attribute__((__weak__));
void __sanitizer_finish_switch_fiber(void *kept, const void **bottom, size_t *size)
	__attribute__((__weak__));

static const void *starters_stack;
static size_t starters_size;

static unsigned int fiber_of(const struct context *context)
{
	return context->cpu * MOST_DEPTH + context->depth;
}

static void go_to_fiber(unsigned int fiber)
{
	void *kept = NULL;

	if (__sanitizer_start_switch_fiber)
		__sanitizer_start_switch_fiber(&kept, fiber_stacks[fiber], FIBER_STACK);
	fiber_resume(fiber);
	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(kept, NULL, NULL);
}

static void arrived_in_fiber(void)
{
	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(NULL, &starters_stack, &starters_size);
}

static void stop(void)
{
	void *kept = NULL;

	if (__sanitizer_start_switch_fiber)
		__sanitizer_start_switch_fiber(&kept, starters_stack, starters_size);
	fiber_stop();
	arrived_in_fiber();
}

/* Accesses. */

static bool is_word_of_lock(const void *address)
{
	return tail_of(self->slot) == address;
}

static unsigned long value_before(const void *address)
{
	return is_word_of_lock(address) ? *(const unsigned long *)address :
					  shim_value_of_place(address);
}

/* Nobody else has run since the last access. */
static void inspect_last_access(void)
{
	if (!self->last_address)
		return;
	model_accessed(self, self->last_op, self->last_address, self->last_before);
	if (shows)
		show_access(self, self->last_op, self->last_address);
	self->last_address = NULL;
}

static bool is_to_stop(enum shim_op op)
{
	if (!--self->steps_left)
		return true;
	return op == SHIM_OP_RELAX && self->polls_left && !--self->polls_left;
}

static void before_access(enum shim_op op, const void *address)
{
	inspect_last_access();
	steps_made++;
	if (is_to_stop(op))
		stop();
	model_will_access(self, op, address);
	self->last_op = op;
	self->last_address = op == SHIM_OP_RELAX ? &self->last_op : address;
	self->last_before = op == SHIM_OP_RELAX ? 0 : value_before(address);
}

/* Operations. */

static bool is_told_to_stop(void *arg)
{
	const struct context *context = arg;

	return context->stop_condition;
}

static int acquire(struct context *context, const struct operations *ops, void *lock)
{
	switch ((enum call)context->event.call) {
	case TRYLOCK:
		return ops->trylock(lock) ? 0 : -EBUSY;
	case TIMEOUT:
		return ops->lock_timeout(lock, context->patience);
	case UNTIL:
		return ops->lock_until(lock, context->patience == KTIME_MAX ? KTIME_MAX :
						     (ktime_t)now + context->patience);
	case INFO:
		return ops->lock_timeout_info(lock, context->patience, &context->info);
	case UNLESS:
		return nbq_spin_lock_unless(lock, context->patience, is_told_to_stop, context);
	default:
		ops->lock(lock);
		return 0;
	}
}

static int call(struct context *context)
{
	const struct operations *ops = &operations[context->slot->type];
	void *lock = context->slot->memory;

	switch ((enum call)context->event.call) {
	case TAKEOVER:
		return nbq_spin_takeover(lock, &context->info);
	case UNLOCK:
		ops->unlock(lock);
		return 0;
	case IS_LOCKED:
		return ops->is_locked(lock);
	case IS_CONTENDED:
		return ops->is_contended(lock);
	case DESTROY:
	case DESTROY_IN_USE:
		return ops->destroy(lock);
	default:
		return acquire(context, ops, lock);
	}
}

static void run_call(void)
{
	struct context *context = self;

	arrived_in_fiber();
	shim_hook = before_access;
	context->ret = call(context);
	context->busy = false;
	stop();
}

static void check_counts(const struct context *context)
{
	int held = context->held_number;

	if (shim_preempt_off != held || shim_mmiowb_nesting != held)
		fail("counts", "%d locks held, preemption off %d times, mmiowb %d times", held,
		     shim_preempt_off, shim_mmiowb_nesting);
}

/*
 * Misuse is reported, a deadlock of an attempt that cannot fail, and a long wait for a node, for
 * which the clock has to jump.
 */
static void check_report(const struct context *context)
{
	if (context->event.call == DESTROY_IN_USE || shim_reported == SHIM_REPORT_NO_NODE)
		return;
	if (context->event.call != LOCK || shim_reported != NBQ_REPORT_DEADLOCK)
		fail("report", "report %u in the kernel log", shim_reported);
	if (!context->in_cycle)
		fail("-EDEADLK", "a deadlock is reported, and the model knows of no cycle");
}

/* The operation has returned. */
static void end_call(struct context *context, unsigned int warnings)
{
	struct event *event = &context->event;

	inspect_last_access();
	outcome->calls++;
	outcome->seen[context->slot->type][event->call][!!context->ret]++;
	outcome->events[DEADLOCKED] += context->ret == -EDEADLK;
	if (shows)
		show_end(context);
	model_call_ends(context);
	check_counts(context);
	if (event->call == INFO && context->ret == -EOWNERDEAD) {
		context->info_slot = context->slot;
		context->info_life = context->slot->life;
	}
	if (shim_warnings != warnings)
		check_report(context);
}

void machine_pop_idle(struct cpu *cpu)
{
	const struct context *top = cpu->contexts + cpu->depth - 1;

	if (cpu->depth && !top->busy && !top->held_number && !top->info_slot)
		cpu->depth--;
}

static void go_on(struct context *context)
{
	unsigned int warnings = shim_warnings;

	self = context;
	shim_cpu = context->cpu;
	shim_level = context->level;
	shim_preempt_off = context->preempt_off;
	shim_irqs_off = context->irqs_off;
	shim_mmiowb_nesting = context->mmiowb_nesting;
	shim_hook = before_access;
	go_to_fiber(fiber_of(context));
	shim_hook = NULL;
	context->preempt_off = shim_preempt_off;
	context->irqs_off = shim_irqs_off;
	context->mmiowb_nesting = shim_mmiowb_nesting;
	if (!context->busy) {
		end_call(context, warnings);
		machine_pop_idle(&cpus[context->cpu]);
	}
}

struct context *next_context(const struct context *context)
{
	unsigned int cpu = context ? context->cpu : 0, place = context ? context->depth + 1 : 0;

	while (cpu <= MOST_CPUS && place >= cpus[cpu].depth) {
		cpu++;
		place = 0;
	}
	return cpu <= MOST_CPUS ? &cpus[cpu].contexts[place] : NULL;
}

struct context *top_of(unsigned int cpu)
{
	return cpus[cpu].depth ? &cpus[cpu].contexts[cpus[cpu].depth - 1] : NULL;
}

bool machine_run(unsigned int cpu, unsigned int steps, unsigned int polls)
{
	struct context *context = top_of(cpu);

	if (!context || !context->busy || cpus[cpu].stopped)
		return false;
	context->steps_left = steps;
	context->polls_left = polls;
	go_on(context);
	return true;
}

static bool masks_interrupts(const struct context *top)
{
	return top && top->busy && top->irqs_off;
}

/* The context that is to call the operation; NULL: there can be none. */
static struct context *caller_of(const struct event *event)
{
	struct cpu *cpu = &cpus[event->cpu];
	struct context *top = top_of(event->cpu), *above;

	/* The holder waits with its release until that destroy is over. */
	if (cpu->stopped || (top && top->busy && top->event.call == DESTROY_IN_USE))
		return NULL;
	if ((event->call == DESTROY || event->call == DESTROY_IN_USE) &&
	    (event->level == NBQ_NMI || masks_interrupts(top)))
		return NULL;
	if (top && !top->busy && top->level == event->level && !event->nested)
		return top;
	/* What still interrupts it has finite patience. */
	if (masks_interrupts(top) && (event->call == LOCK || event->level < NBQ_NMI))
		return NULL;
	if (top && (top->level > event->level || (top->level == event->level && !settings.nests)))
		return NULL;
	if (cpu->depth == MOST_DEPTH)
		return NULL;
	above = &cpu->contexts[cpu->depth];
	memset(above, 0, sizeof(*above));
	above->cpu = event->cpu;
	above->level = event->level;
	above->depth = cpu->depth;
	above->irqs_off = top ? top->irqs_off : 0;
	return above;
}

static ktime_t patience_of(const struct context *context, const struct event *event)
{
	ktime_t patience = patiences[event->patience];

	if (event->call == TRYLOCK)
		return 0;
	if (event->call == LOCK)
		return KTIME_MAX;
	if (event->call == UNTIL && !patience)
		return 1;
	if (patience == KTIME_MAX &&
	    ((context->depth && masks_interrupts(context - 1)) ||
	     !model_may_wait(context, &slots[event->slot], event->call)))
		return patiences[patiences_number - 2];
	return patience;
}

bool machine_call(const struct event *event)
{
	struct context *context = caller_of(event);
	unsigned int fiber;

	if (!context || !model_allows(context, event))
		return false;
	outcome->events[NESTED] += context->depth && context[-1].level == context->level;
	cpus[event->cpu].depth = context->depth + 1;
	context->event = *event;
	context->slot = &slots[event->slot];
	context->patience = acquires(event->call) ? patience_of(context, event) : 0;
	context->stop_condition = event->zeroed;
	context->last_address = NULL;
	context->busy = true;
	model_call_begins(context);
	fiber = fiber_of(context);
	ASAN_UNPOISON_MEMORY_REGION(fiber_stacks[fiber], FIBER_STACK);
	fiber_start(fiber, run_call);
	return true;
}

static bool make(const struct event *event)
{
	struct slot *slot = &slots[event->slot];

	if (slot->alive || event->slot >= settings.slots ||
	    (event->zeroed && !slot->may_be_zeroed))
		return false;
	/* The initialiser would wait for the end of the visit. */
	if (shim_is_visited(slot->memory))
		return false;
	model_make(slot, event->type, event->zeroed);
	return true;
}

static bool leave(const struct event *event)
{
	struct slot *slot = &slots[event->slot];

	if (!slot->alive || slot->type != SPIN || model_is_used(slot, NULL))
		return false;
	model_leave(slot);
	return true;
}

static bool stop_cpu(unsigned int cpu)
{
	const struct context *top = top_of(cpu);
	const struct slot *slot;

	if (!settings.stops || shim_stopped_cpu < SHIM_CPUS || !top)
		return false;
	/* Nobody destroys a lock after a panic. */
	for (slot = slots; slot != slots + MOST_SLOTS; slot++) {
		if (shim_is_visited(slot->memory))
			return false;
	}
	shim_stopped_cpu = cpu;
	nbq_cpus_stopped = true;
	cpus[cpu].stopped = true;
	/* The holder may release: that destroy does not go on. */
	if (top->busy && top->event.call == DESTROY_IN_USE)
		top->slot->destroyer = NULL;
	outcome->events[STOPPED]++;
	return true;
}

bool machine_do(const struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case RUN:
		return machine_run(event->cpu, event->number, 0);
	case RUN_POLLS:
		return machine_run(event->cpu, MOST_RUN, event->number);
	case RUN_OUT:
		return machine_run(event->cpu, MOST_RUN, 0);
	case CALL:
		return machine_call(event);
	case MAKE:
		return make(event);
	case LEAVE:
		return leave(event);
	case CLOCK:
		now += clock_jumps[event->number];
		return true;
	case CLOCK_STEP:
		clock_step = clock_steps[event->number];
		return true;
	case STOP:
		return stop_cpu(event->cpu);
	case GROW:
		shim_pools_grow();
		return true;
	}
	return false;
}

/* The start of a schedule. */

static u64 read_clock(void)
{
	now += clock_step;
	return now;
}

/* At an address of its own, by which the hashes of locks are the same in each run. */
static void map_memory(void)
{
	memory = mmap((void *)0x20000000, PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory == MAP_FAILED)
		abort();
}

static unsigned int hash_at(unsigned int offset)
{
	return hash_ptr(memory + offset, HASH_BITS);
}

/* The memory after this one: its hash is another, the same, or the next one. */
static unsigned int next_offset(unsigned int offset, unsigned int layout)
{
	unsigned int hash = hash_at(0), next;

	for (next = offset + APART; next < PAGE; next += APART) {
		unsigned int distance = hash_at(next) - hash;

		if (layout == 0 ? distance > 1 && distance < 30 : distance == layout - 1)
			return next;
	}
	return offset + APART;
}

void machine_begin(const struct settings *chosen)
{
	unsigned int i, offset = 0;

	if (!memory)
		map_memory();
	settings = *chosen;
	memset(cpus, 0, sizeof(cpus));
	shim_pools_start(settings.nodes, SHIM_MOST_NODES);
	for (i = 0; i < MOST_SLOTS; i++) {
		slots[i].memory = memory + offset;
		offset = next_offset(offset, settings.layout);
	}
	model_begin();
	shim_clock = read_clock;
	now = 1000000;
	clock_step = clock_steps[settings.clock_step];
	shim_stopped_cpu = SHIM_CPUS;
	nbq_cpus_stopped = false;
	shim_preempt_off = 0;
	shim_mmiowb_nesting = 0;
}
