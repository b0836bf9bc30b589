// SPDX-License-Identifier: GPL-2.0
/*
 * What the suites share: a fake clock, a fixture with a lock and contenders that are moved by
 * hand, and exact counts.
 */
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "common.h"

struct nbq_fake nbq_fake;

static u64 read_fake_clock(void)
{
	u64 now = nbq_fake.now;

	nbq_fake.now += nbq_fake.step;
	nbq_fake.reads++;
	if (nbq_fake.call && now >= nbq_fake.call_at) {
		void (*call)(void *arg) = nbq_fake.call;

		nbq_fake.call = NULL;
		call(nbq_fake.arg);
	}
	return now;
}

/* From here to the end of the case, the locks read this clock. */
void nbq_fake_start(u64 now, u64 step)
{
	nbq_fake = (struct nbq_fake){ .start = now, .now = now, .step = step };
	WRITE_ONCE(nbq_fake_clock, read_fake_clock);
}

/* In the middle of the first read from that time on, another context moves. */
void nbq_fake_call(u64 call_at, void (*call)(void *arg), void *arg)
{
	nbq_fake.call = call;
	nbq_fake.arg = arg;
	nbq_fake.call_at = call_at;
}

/* So many nodes, which are adjacent, to encode */
struct nbq_encodable *nbq_encodable_new(struct kunit *test, struct nbq_node *nodes,
					unsigned int size)
{
	struct nbq_encodable *encodable;
	unsigned int i;

	encodable = kunit_kzalloc(test, struct_size(encodable, nodes, size), GFP_KERNEL);
	if (!encodable)
		return NULL;
	encodable->size = size;
	for (i = 0; i < size; i++)
		encodable->nodes[i] = &nodes[i];
	return encodable;
}

/* Make the pool of the fixture anew, with that many free nodes. */
void nbq_fixture_fill(struct nbq_fixture *fixture, unsigned int size)
{
	unsigned int i;

	memset(&fixture->pool, 0, sizeof(fixture->pool));
	memset(fixture->nodes, 0, sizeof(fixture->nodes));
	memset(fixture->contenders, 0, sizeof(fixture->contenders));
	memset(fixture->skip_counts, 0, sizeof(fixture->skip_counts));
	fixture->count = 0;
	/* Of a CPU that this is not. */
	fixture->pool.cpu = nr_cpu_ids;
#ifdef NBQ_QUEUE_LOCKS
	fixture->pool.spare.cpu = nr_cpu_ids;
	fixture->pool.spare.pool = &fixture->pool;
#endif
	fixture->pool.level = NBQ_LEVELS - 1;
	fixture->pool.setup = NBQ_POOL_READY;
	fixture->pool.skip_counts = fixture->skip_counts;
	fixture->pool.encodable = fixture->encodable;
	for (i = 0; i < size; i++)
		nbq_node_append(&fixture->pool, &fixture->nodes[i]);
}

/* Earlier attempts, whose patience was over or whose place is gone, have no effect on the next. */
void nbq_forget_attempts(void)
{
	unsigned int cpu, level;

	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			per_cpu(nbq_pools, cpu)[level].gave_up_at = NULL;
			per_cpu(nbq_pools, cpu)[level].abandoned_in = 0;
		}
		per_cpu(__nbq_looks_left, cpu) = 0;
	}
}

/* The socket whose queues all locks use; NULL: they use the machine's. */
static struct nbq_socket *socket_of_locks(void)
{
	return per_cpu(nbq_pools, raw_smp_processor_id())[0].socket;
}

/* The tail of the queue in which the suites' contexts wait for a hybrid lock. */
u32 *nbq_tail_of(const struct nbq_spin *lock)
{
	return &nbq_queue_of(socket_of_locks(), lock)->tail;
}

/* What the head of that queue does when it requests the handoff. */
void nbq_request(struct nbq_spin *lock, u8 handoff)
{
	struct nbq_socket *socket = socket_of_locks();

	lock->state.turn = socket ? socket->turn : NBQ_TURN_MACHINE;
	lock->state.handoff = handoff;
}

/**
 * nbq_new_lock() - Allocate a lock beside that of the fixture; not initialised.
 * @test: a case with a fixture
 * @type: the type of the lock
 *
 * It has a queue that no other lock of the case has: what a waiter does depends on whether its
 * predecessor waits for another lock.
 *
 * Return: the lock, freed with the case.
 */
void *nbq_new_lock(struct kunit *test, const struct nbq_lock_type *type)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int queue;
	void *lock;

	do {
		lock = kunit_kzalloc(test, type->size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, lock);
		queue = hash_ptr(lock, NBQ_QUEUE_BITS);
	} while (test_and_set_bit(queue, fixture->queues));
	return lock;
}

/* The queues may still have nodes of the case, which are freed with it. */
static void empty_queues(void)
{
	struct nbq_socket *socket = socket_of_locks() ?: nbq_machine;

	memset(socket->queues, 0, sizeof(*socket->queues) << socket->queue_bits);
}

int nbq_fixture_init_type(struct kunit *test, const struct nbq_lock_type *type)
{
	/* A power of two is aligned to itself, so the nodes are aligned. */
	size_t size = roundup_pow_of_two(sizeof(struct nbq_fixture));
	struct nbq_fixture *fixture = kunit_kzalloc(test, size, GFP_KERNEL);

	if (!fixture)
		return -ENOMEM;
	fixture->type = type;
	fixture->lock = kunit_kzalloc(test, type->size, GFP_KERNEL);
	fixture->encodable = nbq_encodable_new(test, fixture->nodes, NBQ_FIXTURE_NODES);
	if (!fixture->lock || !fixture->encodable)
		return -ENOMEM;
	test->priv = fixture;
	set_bit(hash_ptr(fixture->lock, NBQ_QUEUE_BITS), fixture->queues);
	WRITE_ONCE(nbq_pool_elsewhere, &fixture->pool);
	nbq_forget_attempts();
	type->init(fixture->lock);
	nbq_fixture_fill(fixture, NBQ_FIXTURE_NODES);
	nbq_read_events(&fixture->total);
	return 0;
}

/* Before each case of a suite for all lock types. */
int nbq_fixture_init(struct kunit *test)
{
	const struct nbq_param *param = test->param_value;

	return nbq_fixture_init_type(test, param->type);
}

#ifdef NBQ_QUEUE_LOCKS
int nbq_fixture_init_clh(struct kunit *test)
{
	return nbq_fixture_init_type(test, &nbq_clh_type);
}
#endif

int nbq_fixture_init_spin(struct kunit *test)
{
	return nbq_fixture_init_type(test, &nbq_spin_type);
}

/* After each case, also after one that was given up half way. A free lock keeps no node. */
void nbq_fixture_exit(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	WRITE_ONCE(nbq_fake_clock, NULL);
	if (fixture && !fixture->type->is_locked(fixture->lock))
		fixture->type->destroy(fixture->lock);
	WRITE_ONCE(nbq_pool_elsewhere, NULL);
	empty_queues();
}

/*
 * After a case in which only contenders and operations used the lock: the queue drains, and
 * no node is in use. As .exit of a suite.
 */
void nbq_fixture_finish(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int i;

	WRITE_ONCE(nbq_fake_clock, NULL);
	/* After a failure, the queue may be in any state. */
	if (fixture && READ_ONCE(test->status) == KUNIT_SUCCESS) {
		nbq_fixture_drain(fixture);
		for (i = 0; i < fixture->count; i++)
			KUNIT_EXPECT_EQ(test, fixture->contenders[i].state, GONE);
		KUNIT_EXPECT_FALSE(test, fixture->type->is_locked(fixture->lock));
		KUNIT_EXPECT_EQ(test, fixture->type->destroy(fixture->lock), 0);
		KUNIT_EXPECT_EQ(test, nbq_nodes_in_use(fixture), 0);
	}
	nbq_fixture_exit(test);
}

/* Allocate a node, as a context of that CPU would. NULL: none is free. */
struct nbq_node *nbq_try_alloc(struct nbq_pool *pool)
{
	struct nbq_node *node;

	preempt_disable();
#ifdef NBQ_QUEUE_LOCKS
	node = nbq_node_alloc(pool);
#else
	node = nbq_node_alloc_encodable(pool);
#endif
	preempt_enable();
	return node;
}

/* Allocate a node of the fixture. */
struct nbq_node *nbq_fixture_alloc(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_node *node = nbq_try_alloc(&fixture->pool);

	KUNIT_ASSERT_NOT_NULL(test, node);
	return node;
}

/* A context with a node, not enqueued yet. NULL: no node is free. */
struct nbq_contender *nbq_fixture_contender(struct nbq_fixture *fixture)
{
	struct nbq_contender *contender;

	if (fixture->count == NBQ_FIXTURE_CONTENDERS)
		return NULL;
	contender = &fixture->contenders[fixture->count];
	contender->state = GONE;
	contender->node = nbq_try_alloc(&fixture->pool);
	if (!contender->node)
		return NULL;
	fixture->count++;
	return contender;
}

void nbq_contender_enqueue(struct nbq_fixture *fixture, struct nbq_contender *contender)
{
	contender->state = fixture->type->enqueue(fixture->lock, contender) ? HOLDING : ENQUEUED;
}

void nbq_contender_link(struct nbq_fixture *fixture, struct nbq_contender *contender)
{
	if (fixture->type->link)
		fixture->type->link(contender);
	contender->state = WAITING;
}

/* A context enqueues, and its predecessor knows it. */
struct nbq_contender *nbq_fixture_enqueue(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_contender *contender = nbq_fixture_contender(fixture);

	KUNIT_ASSERT_NOT_NULL(test, contender);
	nbq_contender_enqueue(fixture, contender);
	if (contender->state == ENQUEUED)
		nbq_contender_link(fixture, contender);
	return contender;
}

/* Another context holds the lock. */
struct nbq_contender *nbq_fixture_hold(struct kunit *test)
{
	struct nbq_contender *holder = nbq_fixture_enqueue(test);

	if (holder->state == WAITING)
		nbq_contender_poll(test->priv, holder);
	KUNIT_ASSERT_EQ(test, holder->state, HOLDING);
	return holder;
}

/* A waiter polls as long as that changes something. Return: true if it holds now. */
bool nbq_contender_poll(struct nbq_fixture *fixture, struct nbq_contender *contender)
{
	if (!fixture->type->poll(fixture->lock, contender))
		return false;
	contender->state = HOLDING;
	return true;
}

bool nbq_contender_abandon(struct nbq_fixture *fixture, struct nbq_contender *contender)
{
	contender->state = GONE;
	return fixture->type->abandon(fixture->lock, contender);
}

void nbq_contender_release(struct nbq_fixture *fixture, struct nbq_contender *contender)
{
	contender->state = GONE;
	fixture->type->release(fixture->lock, contender->node);
}

/*
 * With preemption off: the CPU elsewhere has waited for @lock since before any deadlock check, and
 * the task of this CPU has held it since then. @silent: the word that is polled there.
 */
void nbq_fixture_close_cycle(struct nbq_fixture *fixture, const void *lock,
			     struct nbq_node *const *silent)
{
	struct nbq_waiting *waiting = &fixture->pool.waiting;
	unsigned long holder = nbq_encode_context(raw_smp_processor_id(), 0);

	waiting->word = silent;
	waiting->lock = lock;
	waiting->since = 0;
	waiting->held = LONG_MAX / 2;
	/* RELEASE, as in nbq_wait_publish(); a holder is encoded as in nbq_blocking_holder(). */
	smp_store_release(&waiting->blocker.tagged, 2 * holder + 1);
}

void nbq_fixture_open_cycle(struct nbq_fixture *fixture)
{
	fixture->pool.waiting.blocker.tagged = 0;
}

/* Each waiter acquires and releases, as far as it goes. */
void nbq_fixture_drain(struct nbq_fixture *fixture)
{
	bool moved;
	int i;

	do {
		moved = false;
		for (i = 0; i < fixture->count; i++) {
			struct nbq_contender *contender = &fixture->contenders[i];

			if (contender->state == ENQUEUED)
				nbq_contender_link(fixture, contender);
			if (contender->state == WAITING)
				nbq_contender_poll(fixture, contender);
			if (contender->state != HOLDING)
				continue;
			nbq_contender_release(fixture, contender);
			moved = true;
		}
	} while (moved);
}

/*
 * Make a free lock without a waiter, with so many abandoned nodes behind the first: A L L .. L. The
 * last contender aborts when the lock is free; where its node does not stay, it is one more. Where
 * holders have no node, the first is one of the abandoned ones: there are so many in all.
 */
void nbq_fixture_leave_abandoned(struct kunit *test, unsigned int abandoned)
{
	struct nbq_fixture *fixture = test->priv;
	unsigned int first = fixture->count, last, i;

	last = first + abandoned + !fixture->type->traits->tail_stays;
	KUNIT_ASSERT_LE(test, abandoned + 2, NBQ_FIXTURE_NODES);
	for (i = first; i <= last; i++)
		nbq_fixture_enqueue(test);
	for (i = first + 1; i < last; i++)
		nbq_contender_abandon(fixture, &fixture->contenders[i]);
	nbq_contender_release(fixture, &fixture->contenders[first]);
	if (last > first)
		nbq_contender_abandon(fixture, &fixture->contenders[last]);
	memset(&fixture->pool.events, 0, sizeof(fixture->pool.events));
}

static char state(const struct nbq_fixture *fixture, const struct nbq_node *node)
{
	if (nbq_is_free(node))
		return '.';
	if (node == fixture->type->holder(fixture->lock))
		return 'H';
	return fixture->type->letter(node);
}

/* Draw the nodes of the fixture that were ever used: see EXPECT_PICTURE(). */
const char *nbq_fixture_picture(struct nbq_fixture *fixture)
{
	unsigned int i;

	for (i = 0; i < fixture->pool.size && fixture->nodes[i].alloc_seq; i++)
		fixture->picture[i] = state(fixture, &fixture->nodes[i]);
	fixture->picture[i] = '\0';
	return fixture->picture;
}

static void drop_dots_at_the_end(char *picture)
{
	size_t length = strlen(picture);

	while (length && picture[length - 1] == '.')
		picture[--length] = '\0';
}

/* The same with one letter for all abandoned nodes: see EXPECT_SHAPE(). */
const char *nbq_fixture_shape(struct nbq_fixture *fixture)
{
	nbq_fixture_picture(fixture);
	strreplace(fixture->picture, 'T', 'L');
	drop_dots_at_the_end(fixture->picture);
	return fixture->picture;
}

/* Where holders have no node: the first waiter is the first. */
static void drop_the_holder(char *shape)
{
	char *first = strpbrk(shape, "HA");

	if (first != shape)
		return;
	memmove(shape, shape + 1, strlen(shape));
	first = strpbrk(shape, "LW");
	if (first && *first == 'L')
		*first = 'A';
}

/* A shape as this type of lock has it: see EXPECT_SHAPE(). */
const char *nbq_fixture_want(struct nbq_fixture *fixture, const char *want)
{
	const struct nbq_traits *traits = fixture->type->traits;

	strscpy(fixture->want, want, sizeof(fixture->want));
	strreplace(fixture->want, 'l', traits->tail_stays ? 'L' : '.');
	if (!traits->holder_nodes)
		drop_the_holder(fixture->want);
	drop_dots_at_the_end(fixture->want);
	return fixture->want;
}

/* In all pools, the fixture's and the CPUs'. */
unsigned int nbq_nodes_in_use(struct nbq_fixture *fixture)
{
	unsigned int cpu, level, in_use = 0;
	struct nbq_node *node;

	for (node = fixture->pool.first; node; node = node->next_in_pool)
		in_use += !nbq_is_free(node);
	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			node = per_cpu(nbq_pools, cpu)[level].first;
			for (; node; node = node->next_in_pool)
				in_use += !nbq_is_free(node);
		}
	}
	return in_use;
}

const struct nbq_event nbq_event_list[NBQ_EVENT_COUNT] = {
#define NBQ_EVENT(_name, _kind, _meaning)				\
	{								\
		.name = #_name,						\
		.kind = #_kind,						\
		.offset = offsetof(struct nbq_events, _name),		\
	},
#include "../nbqlock/events_list.h"
#undef NBQ_EVENT
};

/* The counter of an event among @events. */
unsigned long *nbq_counter(struct nbq_events *events, const struct nbq_event *event)
{
	return (void *)events + event->offset;
}

void nbq_read_events(struct nbq_events *events)
{
	int i;

	for (i = 0; i < NBQ_EVENT_COUNT; i++) {
		const struct nbq_event *event = &nbq_event_list[i];
		u64 value = 0;

		if (WARN_ON(nbq_event_read(event->name, &value)))
			continue;
		*nbq_counter(events, event) = value;
	}
}

/* Compare the counts. Records are not counts, and growth is not in their hands. */
static void expect_counts(struct kunit *test, struct nbq_events *from,
			  struct nbq_events *to, struct nbq_events *want,
			  int line)
{
	int i;

	for (i = 0; i < NBQ_EVENT_COUNT; i++) {
		const struct nbq_event *event = &nbq_event_list[i];

		if (strcmp(event->kind, "SUM") || !strcmp(event->name, "growths"))
			continue;
		KUNIT_EXPECT_EQ_MSG(test,
				    *nbq_counter(to, event) - *nbq_counter(from, event),
				    *nbq_counter(want, event),
				    "%s, as seen from line %d", event->name, line);
	}
}

void nbq_fixture_counted(struct kunit *test, struct nbq_events want, int line)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_events none = {};

	expect_counts(test, &none, &fixture->pool.events, &want, line);
	memset(&fixture->pool.events, 0, sizeof(fixture->pool.events));
}

void nbq_total_counted(struct kunit *test, struct nbq_events want, int line)
{
	struct nbq_fixture *fixture = test->priv;
	struct nbq_events now = {};

	nbq_read_events(&now);
	expect_counts(test, &fixture->total, &now, &want, line);
	fixture->total = now;
}

void nbq_ended_at(struct kunit *test, u64 ns, int line)
{
	KUNIT_EXPECT_GE_MSG(test, nbq_fake_last(), ns, "as seen from line %d", line);
	KUNIT_EXPECT_LE_MSG(test, nbq_fake_last(), ns + nbq_fake.step,
			    "as seen from line %d", line);
}

/* Abandoned places with its nodes cannot be resumed any more; their successors skip them. */
static void forget_abandoned(struct nbq_pool *pool)
{
	pool->abandoned_in = 0;
	if (pool->level == NBQ_TASK)
		this_cpu_write(__nbq_looks_left, 0);
}

/*
 * Let a CPU's pool consist of other nodes for a while; NULL: of none. @encodable: those of them
 * that can be encoded; NULL: none. Preemption must be off, on that CPU, until nbq_pool_restore().
 */
void nbq_pool_replace(struct nbq_replaced *replaced, struct nbq_pool *pool,
		      struct nbq_node *first, struct nbq_encodable *encodable)
{
	replaced->pool = pool;
	replaced->first = pool->first;
	replaced->encodable = pool->encodable;
#ifdef NBQ_QUEUE_LOCKS
	/* Growth would add to the pool's own list, and is not requested. */
	replaced->wanted_growth = xchg(&pool->wants_growth, 1);
#endif
	WRITE_ONCE(pool->first, first);
	WRITE_ONCE(pool->encodable, encodable);
	WRITE_ONCE(pool->hint, NULL);
	forget_abandoned(pool);
}

/* None of the replaced nodes may be in use any more. */
void nbq_pool_restore(struct nbq_replaced *replaced)
{
	WRITE_ONCE(replaced->pool->hint, NULL);
	WRITE_ONCE(replaced->pool->first, replaced->first);
	WRITE_ONCE(replaced->pool->encodable, replaced->encodable);
	forget_abandoned(replaced->pool);
#ifdef NBQ_QUEUE_LOCKS
	if (!replaced->wanted_growth)
		WRITE_ONCE(replaced->pool->wants_growth, 0);
#endif
}

struct nbq_context nbq_context_now(void)
{
	return (struct nbq_context){
		.preempt = preempt_count() & PREEMPT_MASK,
		.irqs_off = irqs_disabled(),
		.bh_off = softirq_count(),
	};
}

/* In a critical section that was entered by this form of an operation or guard. */
struct nbq_context nbq_context_within(struct nbq_context outside, enum nbq_form form)
{
	outside.preempt += PREEMPT_DISABLE_OFFSET;
	outside.irqs_off |= nbq_form_is_irq(form);
	outside.bh_off |= form == BH;
	return outside;
}

/*
 * Do it as in an NMI. User-mode Linux has none, and nmi_enter() is not for modules,
 * so this is what the locks and lockdep can see of one: interrupts off, lockdep off,
 * and the offset in the preemption count that in_nmi() looks at.
 */
void nbq_as_nmi(void (*run)(void *arg), void *arg)
{
	unsigned long flags;

	local_irq_save(flags);
	lockdep_off();
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	run(arg);
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
	lockdep_on();
	local_irq_restore(flags);
}

/* An operation that has failed here must not keep the case from its report. */
void nbq_context_restore(struct nbq_context want)
{
	if (want.irqs_off != irqs_disabled()) {
		if (want.irqs_off)
			local_irq_disable();
		else
			local_irq_enable();
	}
	if (!want.bh_off && softirq_count())
		local_bh_enable();
	while ((preempt_count() & PREEMPT_MASK) > want.preempt)
		preempt_enable();
}

void nbq_expect_context(struct kunit *test, struct nbq_context now, struct nbq_context want)
{
	KUNIT_EXPECT_EQ(test, now.preempt, want.preempt);
	KUNIT_EXPECT_EQ(test, now.irqs_off, want.irqs_off);
	KUNIT_EXPECT_EQ(test, now.bh_off, want.bh_off);
}

/* A CPU that the case does not run on now; skips it if there is none. */
unsigned int nbq_other_cpu(struct kunit *test)
{
	unsigned int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs a second CPU");
	return cpu;
}

/* A thread that is bound to a CPU and does not run yet; NULL: there is none. */
struct task_struct *nbq_new_thread(struct kunit *test, int (*run)(void *arg), void *arg,
				   unsigned int cpu)
{
	struct task_struct *task = kthread_create(run, arg, "nbq_kunit/%u", cpu);

	if (IS_ERR(task)) {
		KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(task));
		return NULL;
	}
	get_task_struct(task);
	kthread_bind(task, cpu);
	return task;
}

/*
 * To the end of the case, such reports are no failures: what checks the kernel's log expects them
 * after this line.
 */
void nbq_provoke_report(struct kunit *test, const char *what)
{
	kunit_info(test, "provokes a report: %s", what);
}

/* What MODULE_IMPORT_NS() makes; its argument is a string since 6.13 only. */
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("KUnit tests for nbqlock");
MODULE_LICENSE("GPL");
