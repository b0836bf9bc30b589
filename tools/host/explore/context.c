// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts, one transition at a time.
 *
 * The fiber of a context runs the shipped text and play() only. All else is done on the stack
 * that resumed it, lest its remains tell equal states apart.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>

#include <bpf/bpf_helpers.h>
#include <nbqlock/wait.h>
#include <places.h>

#include "counts.h"
#include "deadlock.h"
#include "checker.h"
#include "sharing.h"
#include "state.h"

#define PATIENCE	1000
#define NOW		1
#define LATER		(NOW + 2 * PATIENCE)
/* More polls than any wait needs to read its clock, or to check again. */
#define MOST_POLLS	20000U
#define MOST_CALLS	200000U
/* No pointer is that small. */
#define SMALLEST_ADDRESS 65536UL

struct context contexts[MOST_FIBERS];
struct cpu cpus[MOST_FIBERS];
struct queue queues[MOST_LOCKS];
union lock_memory locks[MOST_LOCKS];
unsigned int sockets_number;
unsigned int checks_per_wait;
bool time_has_passed;
void (*context_observer)(unsigned int context, const struct access *access);

/* What a fiber stops for. */
static struct call {
	enum {
		CALL_ACCESS,
		CALL_BEGIN,
		CALL_ACQUIRED,
		CALL_FAILED,
		CALL_RELEASE,
		CALL_RELEASED,
		CALL_DESTROYED,
		CALL_ASK,
		CALL_ASKED,
		CALL_END,
	} what;
	enum shim_op op;
	const void *address;
	const void *from;
	const struct step *step;
	int ret;
} call;

static unsigned int self;		/* who runs */
static bool access_made;	/* since the last stop, and which: */
static struct access made;
static bool may_make_one;	/* it was woken, and looks at once */
static unsigned int polls;	/* in this transition */
static unsigned int warnings;

bool context_persists(void)
{
	return contexts[self].persisting || time_has_passed;
}

bool context_checks(void)
{
	return contexts[self].checking;
}

bool context_has_little_patience(void)
{
	return has_little_patience(shim_cpu);
}

static u64 clock_of_self(void)
{
	return contexts[self].late && contexts[self].patience != UNLESS ? LATER : NOW;
}

/* Of an attempt whose condition may come true, it does so in place of the deadline. */
static bool is_late(void *context)
{
	return ((const struct context *)context)->late;
}

/* The same of nbq_arena_lock: its program may not loop any more. */
static bool loop_is_over(void)
{
	return shim_hook && is_late(&contexts[self]) && contexts[self].patience == UNLESS;
}

static void on_access(enum shim_op op, const void *address)
{
	call.what = CALL_ACCESS;
	call.op = op;
	call.address = address;
	call.from = __builtin_return_address(0);
	fiber_stop();
}

static void __attribute__((__noinline__)) tell(int what, const struct step *step, int ret)
{
	call.what = what;
	call.step = step;
	call.ret = ret;
	fiber_stop();
}

static int acquire(const struct lock_type *type, void *lock, enum patience patience)
{
	switch (patience) {
	case NONE:
		return type->lock_timeout(lock, 0);
	case PAST:
		return type->lock_until(lock, NOW);
	case FINITE:
		return type->lock_timeout(lock, PATIENCE);
	case TAKEOVER:
		return type->takeover(lock, roles[stopping].cpu, roles[stopping].level);
	case UNLESS:
		return type->lock_unless(lock, is_late, &contexts[self]);
	default:
		return type->lock_timeout(lock, KTIME_MAX);
	}
}

/* Its memory is something else, and perhaps another lock after that. */
static void end_lock(const struct step *step)
{
	void *lock = &locks[step->lock];
	int ret;

	if (contexts[self].attempt[step->lock].doing != DESTROYING)
		return;
	ret = type_of(step->lock)->end(lock);
	memset(lock, 0xa5, sizeof(union lock_memory));
	tell(CALL_DESTROYED, step, ret);
}

/* Return: 0: the lock was found to be held. */
static int ask(const struct lock_type *type, void *lock, enum patience what)
{
	if (what == IS_LOCKED)
		return !type->is_held(lock);
	if (what == TRIES)
		return type->trylock(lock);
	return type->destroy(lock) != -EBUSY;
}

static void play(const struct step *step)
{
	for (; step; step = step->next) {
		void *lock = &locks[step->lock];
		int ret;

		if (is_question(step->patience)) {
			tell(CALL_ASK, step, 0);
			ret = ask(type_of(step->lock), lock, step->patience);
			tell(CALL_ASKED, step, ret);
			continue;
		}
		tell(CALL_BEGIN, step, 0);
		ret = acquire(type_of(step->lock), lock, step->patience);
		if (ret) {
			tell(CALL_FAILED, step, ret);
		} else {
			tell(CALL_ACQUIRED, step, 0);
			play(step->inner);
			tell(CALL_RELEASE, step, 0);
			type_of(step->lock)->unlock(lock);
			tell(CALL_RELEASED, step, 0);
		}
		end_lock(step);
	}
}

static void play_role(void)
{
	play(roles[self].program);
	for (;;)
		tell(CALL_END, NULL, 0);
}

static void look(struct reads *reads, const void *address)
{
	unsigned int i;

	for (i = 0; i < reads->number && reads->word[i] != address; i++)
		;
	if (i == MOST_WATCHED) {
		fail("looks at too many words");
		return;
	}
	if (i == reads->number)
		reads->number++;
	reads->word[i] = address;
	reads->value[i] = value_at(address);
}

/* Would it see there what it has seen before it polled? */
static bool is_idle_look(const struct reads *idle, const void *address)
{
	unsigned int i;

	for (i = 0; i < idle->number; i++) {
		if (idle->word[i] == address)
			return idle->value[i] == value_at(address);
	}
	return false;
}

static bool has_news(const struct reads *reads)
{
	unsigned int i;

	for (i = 0; i < reads->number; i++) {
		if (reads->value[i] != value_at(reads->word[i]))
			return true;
	}
	return false;
}

/* It runs on its CPU, or may begin there, also above what runs there: an NMI even above an NMI. */
static bool may_run(unsigned int number)
{
	const struct cpu *cpu = &cpus[roles[number].cpu];
	unsigned int top;

	if (!contexts[number].started && roles[number].follows && !contexts[number - 1].arrived)
		return false;
	if (!cpu->depth)
		return true;
	top = cpu->running[cpu->depth - 1];
	return top == number || (!contexts[number].started &&
				 ((roles[number].level > roles[top].level &&
				   !contexts[top].irqs_off) ||
				  roles[number].level == NMI_LEVEL));
}

/* The lock names it, perhaps for a while already, or for one access more. */
static bool may_stop(unsigned int number)
{
	const struct context *context = &contexts[number];
	const struct attempt *attempt = &context->attempt[context->lock];

	return context->may_stop && attempt->has_lock && attempt->doing != IDLE;
}

static bool awaits_a_stop(const struct context *context)
{
	return context->patience == TAKEOVER && !contexts[stopping].ended &&
	       context->attempt[context->lock].doing == ACQUIRING;
}

/* It may wait as long as others visit the lock. */
static bool is_destroying(const struct context *context)
{
	unsigned int lock;

	for (lock = 0; lock < locks_number; lock++) {
		if (context->attempt[lock].doing == DESTROYING)
			return true;
	}
	return false;
}

bool context_can(unsigned int number, enum way way)
{
	const struct context *context = &contexts[number];
	const struct lock_type *type = type_of(context->lock);
	bool news;

	if (context->ended || !may_run(number) || awaits_a_stop(context))
		return false;
	if (context->awaits)
		return way == STEP && queues[context->awaits - 1].life;
	if (way == STOP)
		return may_stop(number);
	/* A program's loops may be over anywhere. */
	if (!context->blocked)
		return way == STEP || (way == TIME_OUT && !type->in_kernel && !context->late &&
				       context->patience == UNLESS);
	news = has_news(&context->reads);
	switch (way) {
	case STEP:
		return news;
	case TIME_OUT:
		return !news && !is_destroying(context) &&
		       (context->patience == FINITE || context->patience == UNLESS);
	case CHECK:
		return !news && context->checks_left && type->detects_deadlocks &&
		       (context->attempt[context->lock].node || !type->holds_node);
	case PERSIST:
		return !news && type->has_policy;
	default:
		return false;
	}
}

/* The access is made; no other context runs before check_accessed(). */
static void make(struct context *context, bool shared, bool idle)
{
	check_access(self, call.op, call.address);
	access_made = true;
	made = (struct access){ call.op, call.address, call.from,
				value_at(call.address), shared && !idle };
	if (call.op == SHIM_OP_LOAD) {
		if (shared)
			look(&context->reads, call.address);
		if (shim_is_polled(context->attempt[context->lock].node, call.address))
			context->polled_word = call.address;
		return;
	}
	if (shared)
		context->busy = true;
	/* What it publishes, and the epochs of wait_deadlock.c, are part of waiting. */
	if (call.op == SHIM_OP_ADD || shim_place_of(call.address).room == SHIM_POOL)
		return;
	context->checked = false;
	if (shared) {
		context->polled = false;
		context->reads.number = 0;
	}
}

static bool gives_up(const struct context *context, enum shim_op op, const void *address)
{
	const struct attempt *attempt = &context->attempt[context->lock];

	return attempt->doing == ACQUIRING && attempt->node &&
	       type_of(context->lock)->begins_abandon(&locks[context->lock], attempt->node, op,
						      address);
}

bool context_gives_up(unsigned int number)
{
	const struct context *context = &contexts[number];

	return type_of(context->lock)->is_fifo && !context->blocked && !context->late &&
	       gives_up(context, context->op, context->address);
}

/*
 * It is about to fail, or to be sure of a deadlock: these are told apart from accesses before
 * which it need not stop.
 */
static bool decides(const struct context *context, enum shim_op op, const void *address)
{
	return op == SHIM_OP_ADD || gives_up(context, op, address);
}

/* Before it fails without a timeout: is it right? */
static void find_out_whether_doomed(unsigned int number)
{
	struct context *context = &contexts[number];

	if (context->blocked || context->late || context->deadlocked ||
	    !deadlock_is_possible() || !decides(context, context->op, context->address))
		return;
	context->deadlocked = deadlock_is_true(number);
}

/* Return: false if it must stop before the access. */
static bool make_or_stop(struct context *context)
{
	bool shared, idle = false;

	if ((unsigned long)call.address < SMALLEST_ADDRESS) {
		fail("follows a word that is no pointer");
		return false;
	}
	if (shim_is_tally(call.address))
		return true;
	if (call.address == &nbq_deadlock_checks)
		context->checked = true;
	shared = sharing_touch(self, call.address, call.op != SHIM_OP_LOAD) ||
		 decides(context, call.op, call.address);
	if (shared) {
		idle = call.op == SHIM_OP_LOAD && context->polled &&
		       is_idle_look(&context->idle, call.address);
		/* To poll on is to poll now. */
		if (!idle && !may_make_one &&
		    !(context->persisting && call.op == SHIM_OP_LOAD)) {
			context->persisting = false;
			context->op = call.op;
			context->address = call.address;
			context->from = call.from;
			return false;
		}
		if (!idle)
			may_make_one = false;
	}
	make(context, shared, idle);
	return true;
}

/* Return: false if it is blocked. */
static bool poll(struct context *context)
{
	if (context->checking && context->checked) {
		context->checking = false;
		context->polled = false;
	}
	context->checked = false;
	context->deadlocked = false;
	if (!context->late && !context->checking)
		counts_reset(roles[self].cpu, roles[self].level, fiber_sp[self],
			     fiber_stacks[self + 1]);
	/* It has polled once more, without effect. */
	context->persisting = false;
	if (context->polled &&
	    (is_destroying(context) || (!context->late && !context->checking))) {
		context->blocked = true;
		context->op = SHIM_OP_RELAX;
		context->address = NULL;
		return false;
	}
	if (++polls > MOST_POLLS)
		fail("polls on although its patience is over");
	context->polled = true;
	context->idle = context->reads;
	context->reads.number = 0;
	return !failure[0];
}

static void end(struct context *context)
{
	struct cpu *cpu = &cpus[roles[self].cpu];

	context->ended = true;
	context->arrived = true;
	context->op = SHIM_OP_RELAX;
	context->address = NULL;
	if (context->started)
		cpu->running[--cpu->depth] = 0;
}

/* Return: false if its lock is yet to be made. */
static bool begin(struct context *context, const struct step *step)
{
	context->patience = step->patience;
	context->may_stop = step->stops;
	if (step->second && !queues[step->lock].life) {
		context->awaits = step->lock + 1;
		context->arrived = true;
		context->op = SHIM_OP_RELAX;
		context->address = NULL;
		return false;
	}
	check_begin(self, step->lock);
	return true;
}

/* Return: false if it stops. */
static bool answer(struct context *context)
{
	switch (call.what) {
	case CALL_ACCESS:
		return call.op == SHIM_OP_RELAX ? poll(context) : make_or_stop(context);
	case CALL_BEGIN:
		return begin(context, call.step);
	case CALL_ACQUIRED:
		if (call.step->patience == TAKEOVER)
			check_taken_over(call.step->lock);
		check_acquired(self, call.step->lock);
		break;
	case CALL_FAILED:
		check_failed(self, call.step->lock, call.ret);
		break;
	case CALL_RELEASE:
		check_release(self, call.step->lock);
		break;
	case CALL_RELEASED:
		check_released(self, call.step->lock, call.step->remakes);
		break;
	case CALL_DESTROYED:
		check_destroyed(self, call.step->lock, call.ret);
		break;
	case CALL_ASK:
		check_ask(self, call.step->lock, call.step->patience);
		break;
	case CALL_ASKED:
		check_asked(self, call.ret);
		/* A destroy too early is reported. */
		warnings = shim_warnings;
		break;
	case CALL_END:
		end(context);
		return false;
	}
	return true;
}

/* Until it stops, or something is wrong. */
static void run(struct context *context)
{
	unsigned int calls = 0;
	bool goes_on;

	do {
		shim_cpu = roles[self].cpu;
		shim_level = roles[self].level;
		shim_preempt_off = context->preempt_off;
		shim_irqs_off = context->irqs_off;
		shim_hook = on_access;
		fiber_resume(self);
		shim_hook = NULL;
		context->preempt_off = shim_preempt_off;
		context->irqs_off = shim_irqs_off;

		if (access_made) {
			check_accessed(self, made.op, made.address, made.before);
			if (context_observer)
				context_observer(self, &made);
		}
		access_made = false;
		goes_on = answer(context);
		if (shim_warnings != warnings)
			fail("a warning");
		if (++calls > MOST_CALLS)
			fail("goes on for ever");
	} while (goes_on && !failure[0]);
}

/* A mistake in a pointer. */
static jmp_buf before_the_fault;
static bool is_guarded;

static void on_fault(int number)
{
	/* One of the explorer itself: the program ends by it. */
	if (!is_guarded) {
		signal(number, SIG_DFL);
		return;
	}
	fail("%s", number == SIGSEGV ? "follows a wild pointer" : "faults");
	_longjmp(before_the_fault, 1);
}

static void catch_faults(void)
{
	static char stack[64 * 1024];
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_fault,
				    .sa_flags = SA_ONSTACK | SA_NODEFER };

	sigaltstack(&alternative, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGILL, &action, NULL);
}

static void run_guarded(struct context *context)
{
	is_guarded = true;
	if (!_setjmp(before_the_fault))
		run(context);
	is_guarded = false;
	shim_hook = NULL;
	state_summarize(self);
}

void contexts_start(void)
{
	unsigned int number, lock;

	catch_faults();
	shim_clock = clock_of_self;
	shim_loop_is_over = loop_is_over;
	warnings = shim_warnings;
	shim_reports_are_silent = true;
	memset(contexts, 0, sizeof(contexts));
	memset(queues, 0, sizeof(queues));
	memset(cpus, 0, sizeof(cpus));
	for (lock = 0; lock < MOST_LOCKS; lock++) {
		lock_types[lock][0]->init(&locks[lock]);
		queues[lock].owner = NO_CONTEXT;
	}
	for (number = 0; number < contexts_number; number++) {
		for (lock = 0; lock < MOST_LOCKS; lock++)
			contexts[number].attempt[lock].left = roles[number].attempts[lock];
	}
	for (self = 0; self < contexts_number; self++) {
		access_made = false;
		may_make_one = false;
		polls = 0;
		fiber_start(self, play_role);
		run_guarded(&contexts[self]);
	}
}

static void start(unsigned int number)
{
	struct cpu *cpu = &cpus[roles[number].cpu];

	contexts[number].started = true;
	cpu->running[cpu->depth++] = number;
}

static void go(unsigned int number, enum way way)
{
	struct context *context = &contexts[number];

	if (nbq_deadlock_checks)
		find_out_whether_doomed(number);
	self = number;
	access_made = false;
	may_make_one = false;
	polls = 0;
	if (!context->started)
		start(number);
	context->late |= way == TIME_OUT;
	if (context->awaits) {
		check_begin(self, context->awaits - 1);
		context->awaits = 0;
	} else if (context->blocked) {
		context->blocked = false;
		context->idle = context->reads;
		context->reads.number = 0;
		if (way == CHECK) {
			context->checking = true;
			context->checks_left--;
		} else if (way == PERSIST) {
			context->persisting = true;
			context->attempt[context->lock].persisted =
				context->attempt[context->lock].newcomer;
		} else if (way == STEP) {
			may_make_one = true;
		}
	} else {
		call.op = context->op;
		call.address = context->address;
		call.from = context->from;
		make(context, true, false);
	}
	fiber_wipe(self);
	if (!failure[0])
		run_guarded(context);
}

static char *save_before_persisting(void)
{
	char *before = malloc(state_size());

	if (!before)
		abort();
	state_save(before);
	return before;
}

static void stop(unsigned int number)
{
	struct context *context = &contexts[number];

	context->stopped = true;
	context->ended = true;
	context->op = SHIM_OP_RELAX;
	context->address = NULL;
	check_stopped(number, context->lock);
}

void context_go(unsigned int number, enum way way)
{
	char *before;

	if (way == STOP) {
		stop(number);
		return;
	}
	if (way != PERSIST) {
		go(number, way);
		return;
	}
	before = save_before_persisting();
	go(number, PERSIST);
	if (contexts[number].blocked && !failure[0])
		state_restore(before);
	free(before);
}

bool context_would_persist(unsigned int number)
{
	char *before;
	bool would;

	if (!context_can(number, PERSIST))
		return false;
	before = save_before_persisting();
	go(number, PERSIST);
	would = !contexts[number].blocked;
	state_restore(before);
	free(before);
	return would;
}
