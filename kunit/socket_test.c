// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of sockets, on two of them: all CPUs are on one, and waiters of the other are made by
 * hand. Which queue a context enters, whose turn it is, and how it goes
 * on; and locks that share a queue.
 */

#include "../nbqlock/spin_queue.h"
#include "common.h"

#define NBQ_UNIT_NS	8192	/* of the time of a request */
#define NBQ_SAME_HASH	1024		/* locks, among which one has the queue of any other */

/* That of all CPUs for the length of a case, and another one */
static struct nbq_socket *own, *made_up;
/* What there was before */
static struct nbq_socket **socket_of_cpu, *replaced[2];
static unsigned int replaced_number;

static struct nbq_spin *lock_of(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	return fixture->lock;
}

static struct nbq_queue *queue_here(struct kunit *test)
{
	return nbq_queue_of(own, lock_of(test));
}

static struct nbq_queue *queue_there(struct kunit *test)
{
	return nbq_queue_of(made_up, lock_of(test));
}

static struct nbq_queue *queue_of_machine(struct kunit *test)
{
	return nbq_queue_of(NULL, lock_of(test));
}

static struct nbq_socket *new_socket(struct kunit *test, u8 turn)
{
	struct nbq_socket *socket = kunit_kzalloc(test, sizeof(*socket), GFP_KERNEL);

	if (!socket)
		return NULL;
	socket->turn = turn;
	socket->queue_bits = NBQ_QUEUE_BITS;
	socket->queues = kunit_kcalloc(test, NBQ_QUEUES, sizeof(*socket->queues), GFP_KERNEL);
	return socket->queues ? socket : NULL;
}

static void set_socket(unsigned int cpu, struct nbq_socket *socket)
{
	unsigned int level;

	for (level = 0; level < NBQ_LEVELS; level++)
		WRITE_ONCE(per_cpu(nbq_pools, cpu)[level].socket, socket);
}

static void set_sockets(struct nbq_socket *first, struct nbq_socket *second, unsigned int number)
{
	WRITE_ONCE(nbq_sockets[0], first);
	WRITE_ONCE(nbq_sockets[1], second);
	WRITE_ONCE(nbq_sockets_number, number);
}

static int nbq_sockets_init(struct kunit *test)
{
	unsigned int cpu;
	int ret = nbq_fixture_init_spin(test);

	if (ret)
		return ret;
	socket_of_cpu = kunit_kcalloc(test, nr_cpu_ids, sizeof(*socket_of_cpu), GFP_KERNEL);
	made_up = new_socket(test, NBQ_TURN_SOCKET + 1);
	own = new_socket(test, NBQ_TURN_SOCKET);
	if (!socket_of_cpu || !made_up || !own) {
		own = NULL;
		return -ENOMEM;
	}
	replaced[0] = nbq_sockets[0];
	replaced[1] = nbq_sockets[1];
	replaced_number = nbq_sockets_number;
	set_sockets(own, made_up, 2);
	for_each_possible_cpu(cpu) {
		socket_of_cpu[cpu] = per_cpu(nbq_pools, cpu)[0].socket;
		set_socket(cpu, own);
	}
	return 0;
}

static void nbq_sockets_exit(struct kunit *test)
{
	unsigned int cpu;

	nbq_fixture_exit(test);
	if (!own)
		return;
	for_each_possible_cpu(cpu)
		set_socket(cpu, socket_of_cpu[cpu]);
	set_sockets(replaced[0], replaced[1], replaced_number);
	own = NULL;
}

static u8 handoff_at(u64 ns)
{
	return 0x80 | (ns / NBQ_UNIT_NS & 0x7f);
}

static u16 request_at(u64 ns, u8 turn)
{
	union nbq_spin_state state = { .handoff = handoff_at(ns), .turn = turn };

	return state.request;
}

/* What happens at a read of the clock */
struct event {
	struct kunit *test;			/* the case */
	void (*act)(struct event *event);	/* what that is */
	bool tail_here;	/* whether the queue of this socket had a node then */
	bool tail_there;			/* of the other one */
	bool tail_of_machine;			/* of the machine */
	bool tail_next;				/* the next queue here had an attempt of this CPU */
	bool awaits;	/* the head of this socket awaited the turn for the lock */
	u8 turn;				/* that of the lock */
};

static void happen(void *arg)
{
	struct event *event = arg;
	struct kunit *test = event->test;

	event->tail_here = queue_here(test)->tail;
	event->tail_there = queue_there(test)->tail;
	event->tail_of_machine = queue_of_machine(test)->tail;
	event->tail_next = nbq_context_cpu(nbq_other_queue_of(own, lock_of(test))->tail) ==
			   raw_smp_processor_id();
	event->awaits = queue_here(test)->awaits == lock_of(test);
	event->turn = lock_of(test)->state.turn;
	if (event->act)
		event->act(event);
}

static void release(struct event *event)
{
	struct nbq_fixture *fixture = event->test->priv;

	nbq_contender_release(fixture, &fixture->contenders[0]);
}

/* The head, which was made by hand, gives up as well. */
static void drain(struct event *event)
{
	struct nbq_fixture *fixture = event->test->priv;

	nbq_contender_abandon(fixture, &fixture->contenders[1]);
	release(event);
}

static void enqueue_behind_the_head(struct event *event)
{
	struct nbq_fixture *fixture = event->test->priv;

	nbq_contender_enqueue(fixture, &fixture->contenders[1]);
}

static void enqueue_the_last(struct event *event)
{
	struct nbq_fixture *fixture = event->test->priv;

	nbq_contender_enqueue(fixture, &fixture->contenders[fixture->count - 1]);
}

/* As a head of the other socket does that finds its turn over. */
static void notify_this_socket(struct event *event)
{
	lock_of(event->test)->state.request = request_at(nbq_fake.now, own->turn);
	queue_here(event->test)->notified = lock_of(event->test);
}

static void release_to_this_socket(struct event *event)
{
	notify_this_socket(event);
	release(event);
}

static void happen_next(struct event *event, u64 at, void (*act)(struct event *event))
{
	event->act = act;
	nbq_fake_call(at, happen, event);
}

static int try_for(struct kunit *test, ktime_t patience)
{
	int ret = nbq_spin_lock_timeout(lock_of(test), patience);

	if (!ret)
		nbq_spin_unlock(lock_of(test));
	return ret;
}

static const struct enqueue_case {
	const char *desc;
	ktime_t patience;
	bool here;
} enqueue_cases[] = {
	{ "patience_for_more_than_a_turn", 25000, true },
	{ "little_patience", 15000, false },
};

NBQ_ARRAY_PARAM(enqueue, enqueue_cases);

static void waiter_enqueues_on_its_own_socket(struct kunit *test)
{
	const struct enqueue_case *enqueue = test->param_value;
	struct event event = { .test = test };

	nbq_fixture_hold(test);
	nbq_fake_start(1000000, 100);
	nbq_fake_call(1006000, happen, &event);
	KUNIT_EXPECT_EQ(test, try_for(test, enqueue->patience), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, event.tail_here, enqueue->here);
	KUNIT_EXPECT_FALSE(test, event.tail_there);
	/* In the machine's queue if another socket's turn would last for longer. */
	KUNIT_EXPECT_EQ(test, event.tail_of_machine, !enqueue->here);
	KUNIT_EXPECT_EQ(test, queue_here(test)->tail, 0);
	KUNIT_EXPECT_EQ(test, queue_of_machine(test)->tail, 0);
}

/* A waiter of the other socket has the turn, and does not run. */
static void no_steal_from_the_socket_that_has_the_turn(struct kunit *test)
{
	u32 *tail = &queue_there(test)->tail;
	struct nbq_node *w = nbq_fixture_alloc(test);

	nbq_spin_enqueue(&lock_of(test)->bare, tail, w);
	lock_of(test)->state.request = request_at(1000, made_up->turn);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_FALSE(test, nbq_spin_trylock(lock_of(test)));
	KUNIT_EXPECT_EQ(test, try_for(test, 1000), -ETIMEDOUT);
	/* For 2 us, or until the request has expired. */
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, try_for(test, KTIME_MAX), 0);
	KUNIT_EXPECT_GE(test, nbq_fake.now, 1000 + 2000);
	KUNIT_EXPECT_LT(test, nbq_fake.now, 1000 + 2500);
	lock_of(test)->state.request = request_at(1000, made_up->turn);
	nbq_fake_start(1000 + 3 * NBQ_UNIT_NS, 10);
	KUNIT_EXPECT_TRUE(test, nbq_spin_trylock(lock_of(test)));
	nbq_spin_unlock(lock_of(test));
	/* In an empty queue it is void. */
	KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(tail, w, false));
	lock_of(test)->state.request = request_at(1000, made_up->turn);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_TRUE(test, nbq_spin_trylock(lock_of(test)));
	nbq_spin_unlock(lock_of(test));
}

/* The time from the release to the acquisition, of a head whose socket has not the turn */
static u64 time_to_acquire(struct kunit *test, void (*act)(struct event *event))
{
	struct event event = { .test = test, .act = act };
	u64 start = 1000;

	nbq_fixture_hold(test);
	nbq_spin_enqueue(&lock_of(test)->bare, &queue_there(test)->tail, nbq_fixture_alloc(test));
	lock_of(test)->state.request = request_at(start, made_up->turn);
	nbq_fake_start(start, 10);
	nbq_fake_call(start + 70, happen, &event);
	KUNIT_EXPECT_EQ(test, try_for(test, KTIME_MAX), 0);
	KUNIT_EXPECT_TRUE(test, event.awaits);
	KUNIT_EXPECT_NULL(test, queue_here(test)->awaits);
	return nbq_fake.now - start;
}

static void head_that_is_notified_takes_the_lock_at_once(struct kunit *test)
{
	/* It polls its own queue's line meanwhile: a read of the clock is 17 polls there. */
	KUNIT_EXPECT_LE(test, time_to_acquire(test, release_to_this_socket), 120);
	KUNIT_EXPECT_NULL(test, queue_here(test)->notified);
}

static void head_that_is_not_notified_takes_the_lock_in_the_end(struct kunit *test)
{
	u64 ns = time_to_acquire(test, release);

	/* When the request has expired. */
	KUNIT_EXPECT_GE(test, ns, 2 * NBQ_UNIT_NS);
	KUNIT_EXPECT_LE(test, ns, NBQ_SPIN_HANDOFF_NS + 100);
}

#define RELEASED_LATER_NS	200

static void notify_and_release_later(struct event *event)
{
	notify_this_socket(event);
	happen_next(event, nbq_fake.now + RELEASED_LATER_NS, release);
}

static void head_that_was_notified_polls_the_lock(struct kunit *test)
{
	struct event event = { .test = test };

	nbq_fixture_hold(test);
	lock_of(test)->state.request = request_at(1000, made_up->turn);
	nbq_fake_start(1000, 10);
	happen_next(&event, 1070, notify_and_release_later);
	KUNIT_EXPECT_EQ(test, try_for(test, KTIME_MAX), 0);
	KUNIT_EXPECT_LE(test, nbq_fake.now, 1070 + RELEASED_LATER_NS + 100);
}

#define TAKEN_NS	(10 * NBQ_UNIT_NS)	/* when the lock is taken before the head */

static void release_with_a_new_request(struct event *event)
{
	lock_of(event->test)->state.request = request_at(nbq_fake.now, made_up->turn);
	release(event);
}

static void take_for_the_other_socket(struct event *event)
{
	struct nbq_fixture *fixture = event->test->priv;

	lock_of(event->test)->state.holder = nbq_context_of(&fixture->pool);
	lock_of(event->test)->state.request = request_at(TAKEN_NS, made_up->turn);
	happen_next(event, TAKEN_NS + 2 * NBQ_UNIT_NS, release_with_a_new_request);
}

static void release_for_a_moment(struct event *event)
{
	release_with_a_new_request(event);
	happen_next(event, TAKEN_NS, take_for_the_other_socket);
}

/* It has seen the lock free before, and awaits the turn up to the end of the request of then. */
static void head_without_the_turn_takes_a_lock_that_is_free_for_long(struct kunit *test)
{
	struct event event = { .test = test };
	u64 expired = TAKEN_NS + 3 * NBQ_UNIT_NS;

	nbq_fixture_hold(test);
	nbq_fake_start(TAKEN_NS - 400, 10);
	happen_next(&event, TAKEN_NS - 200, release_for_a_moment);
	KUNIT_EXPECT_EQ(test, try_for(test, KTIME_MAX), 0);
	KUNIT_EXPECT_GE(test, nbq_fake.now, expired + 2000);
	KUNIT_EXPECT_LE(test, nbq_fake.now, expired + 2000 + 200);
}

/* It was abandoned in front of another waiter, and is the head's when it is resumed. */
static void resumed_place_awaits_the_turn_of_its_socket(struct kunit *test)
{
	struct event event = { .test = test };
	struct nbq_fixture *fixture = test->priv;

	/* Before: H w; in between: H w L y; after: y */
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	KUNIT_ASSERT_NOT_NULL(test, nbq_fixture_contender(fixture));
	nbq_fake_start(1000, 10);
	happen_next(&event, 1600, enqueue_the_last);
	KUNIT_EXPECT_EQ(test, try_for(test, 25000), -ETIMEDOUT);
	nbq_contender_abandon(fixture, &fixture->contenders[1]);
	lock_of(test)->state.request = request_at(nbq_fake.now, made_up->turn);
	happen_next(&event, nbq_fake.now + 200, release);
	KUNIT_EXPECT_EQ(test, try_for(test, KTIME_MAX), 0);
	KUNIT_EXPECT_TRUE(test, event.awaits);
	nbq_fixture_drain(fixture);
}

/* Its successor may wait for another lock, or give up before it awaits the turn itself. */
static void head_that_gives_up_leaves_no_turn_awaited(struct kunit *test)
{
	struct event event = { .test = test, .act = enqueue_behind_the_head };

	nbq_fixture_hold(test);
	KUNIT_ASSERT_NOT_NULL(test, nbq_fixture_contender(test->priv));
	nbq_spin_enqueue(&lock_of(test)->bare, &queue_there(test)->tail, nbq_fixture_alloc(test));
	lock_of(test)->state.request = request_at(1000, made_up->turn);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1600, happen, &event);
	/* Before the request expires. */
	KUNIT_EXPECT_EQ(test, try_for(test, 21000), -ETIMEDOUT);
	KUNIT_EXPECT_LT(test, nbq_fake.now, NBQ_SPIN_HANDOFF_NS);
	KUNIT_EXPECT_TRUE(test, event.awaits);
	KUNIT_EXPECT_NULL(test, queue_here(test)->awaits);
	nbq_fixture_drain(test->priv);
}

static void request_for_the_other_socket(struct event *event)
{
	lock_of(event->test)->state.request = request_at(nbq_fake.now, made_up->turn);
}

/* Whether it gives up right after it has begun to await the turn, or after a former head has. */
static void head_that_gives_up_soon_leaves_no_turn_awaited(struct kunit *test)
{
	struct event event = { .test = test };
	u64 step, at;

	nbq_fixture_hold(test);
	/* Near its deadline it reads the clock at each poll, since polls take that long. */
	for (step = 300; step < 500; step += 20) {
		for (at = 40000 - 2 * step; at < 40000 + 2 * step; at += step / 2) {
			lock_of(test)->state.request = 0;
			nbq_fake_start(0, step);
			happen_next(&event, at, request_for_the_other_socket);
			KUNIT_EXPECT_EQ(test, try_for(test, 40000), -ETIMEDOUT);
			KUNIT_EXPECT_NULL(test, queue_here(test)->awaits);
			queue_here(test)->awaits = NULL;
		}
	}
	nbq_fake_start(1000, 10);
	queue_here(test)->awaits = lock_of(test);
	queue_here(test)->handoff = handoff_at(1000);
	KUNIT_EXPECT_EQ(test, try_for(test, 21000), -ETIMEDOUT);
	KUNIT_EXPECT_NULL(test, queue_here(test)->awaits);
	nbq_fixture_drain(test->priv);
}

static const struct drained_case {
	const char *desc;
	bool last;		/* its socket is the last one: the next is the first */
} drained_cases[] = {
	{ "to_the_last_socket", false },
	{ "to_the_first_socket", true },
};

NBQ_ARRAY_PARAM(drained, drained_cases);

static void head_whose_queue_has_drained_passes_the_turn(struct kunit *test)
{
	const struct drained_case *drained = test->param_value;
	struct event event = { .test = test, .act = drain };
	u64 now = 10 * NBQ_UNIT_NS;
	u16 held;

	if (drained->last) {
		swap(own->turn, made_up->turn);
		set_sockets(made_up, own, 2);
	}
	nbq_fixture_hold(test);
	nbq_fixture_enqueue(test);
	queue_there(test)->awaits = lock_of(test);
	queue_there(test)->handoff = handoff_at(now);
	lock_of(test)->state.request = request_at(now - NBQ_UNIT_NS, own->turn);
	nbq_fake_start(now, 10);
	nbq_fake_call(now + 30, happen, &event);
	KUNIT_ASSERT_EQ(test, nbq_spin_lock_timeout(lock_of(test), KTIME_MAX), 0);
	held = lock_of(test)->state.request;
	nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, held, request_at(now, made_up->turn));
	KUNIT_EXPECT_PTR_EQ(test, queue_there(test)->notified, lock_of(test));
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1,
		     .nodes_reclaimed = 1, .turns_passed = 1);
}

static void waiter_of_another_socket_is_contention(struct kunit *test)
{
	struct nbq_node *w = nbq_fixture_alloc(test);

	nbq_fixture_hold(test);
	KUNIT_EXPECT_FALSE(test, nbq_spin_is_contended(lock_of(test)));
	nbq_spin_enqueue(&lock_of(test)->bare, &queue_there(test)->tail, w);
	KUNIT_EXPECT_TRUE(test, nbq_spin_is_contended(lock_of(test)));
	KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(&queue_there(test)->tail, w, false));
	nbq_fixture_drain(test->priv);
}

static const struct turn_case {
	const char *desc;
	bool awaits;		/* the head of the other socket does */
	unsigned int age;	/* of the request until which that does, in units */
	bool passes;
	bool in_next_queue;	/* of that socket, since another lock's waiters are in the first */
} turn_cases[] = {
	{ "the_next_socket_awaits_one", true, 3, true },
	{ "the_next_socket_awaits_one_in_its_next_queue", true, 3, true, true },
	{ "no_other_socket_awaits_one", false, 0, false },
	{ "the_head_that_awaits_one_is_preempted", true, 4, false },
};

NBQ_ARRAY_PARAM(turn, turn_cases);

/* It is patient by then, and on the holder's socket. */
static void head_requests_the_next_turn_before_its_own_expires(struct kunit *test)
{
	const struct turn_case *turn = test->param_value;
	struct event event = { .test = test, .act = release };
	u64 now = 10 * NBQ_UNIT_NS, patient = now + 3 * NBQ_UNIT_NS;
	const struct nbq_socket *next = turn->passes ? made_up : own;
	struct nbq_queue *there = turn->in_next_queue ? nbq_other_queue_of(made_up, lock_of(test)) :
							queue_there(test);
	struct nbq_fixture *fixture = test->priv;

	nbq_fixture_hold(test);
	fixture->pool.socket = own;
	if (turn->awaits)
		there->awaits = lock_of(test);
	there->handoff = handoff_at(patient - turn->age * NBQ_UNIT_NS);
	lock_of(test)->state.request = request_at(patient - 2 * NBQ_UNIT_NS, own->turn);
	nbq_fake_start(now, NBQ_UNIT_NS / 8);
	nbq_fake_call(patient + NBQ_UNIT_NS - 1, happen, &event);
	KUNIT_ASSERT_EQ(test, nbq_spin_lock_timeout(lock_of(test), KTIME_MAX), 0);
	nbq_spin_unlock(lock_of(test));
	KUNIT_EXPECT_EQ(test, event.turn, next->turn);
	KUNIT_EXPECT_PTR_EQ(test, there->notified, turn->passes ? lock_of(test) : NULL);
}

/* A lock that has the same queue */
static struct nbq_spin *lock_that_shares_the_queue(struct kunit *test)
{
	struct nbq_spin *locks = kunit_kcalloc(test, NBQ_SAME_HASH, sizeof(*locks), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, locks);
	for (i = 0; i < NBQ_SAME_HASH; i++) {
		if (nbq_queue_of(made_up, &locks[i]) == queue_there(test))
			return &locks[i];
	}
	KUNIT_FAIL_AND_ABORT(test, "no lock has the same hash");
}

static const struct shared_case {
	const char *desc;
	bool next_as_well;	/* another lock has waiters in the next queue, too */
} shared_cases[] = {
	{ "in_its_queue", false },
	{ "in_the_next_one_as_well", true },
};

NBQ_ARRAY_PARAM(shared, shared_cases);

/* In the next queue, or behind it. */
static void waiter_does_not_wait_for_another_lock(struct kunit *test)
{
	const struct shared_case *shared = test->param_value;
	struct nbq_spin *other = lock_that_shares_the_queue(test);
	struct nbq_queue *next = nbq_other_queue_of(own, lock_of(test));
	struct event event = { .test = test, .act = release };
	struct nbq_node *w = nbq_fixture_alloc(test), *x = NULL;

	/* Before: w, and x, wait for the other lock, and stay */
	nbq_spin_enqueue(&other->bare, &queue_here(test)->tail, w);
	if (shared->next_as_well) {
		x = nbq_fixture_alloc(test);
		nbq_spin_enqueue(&other->bare, &next->tail, x);
	}
	nbq_fixture_hold(test);
	nbq_fake_start(1000, 10);
	nbq_fake_call(1030, happen, &event);
	KUNIT_EXPECT_EQ(test, try_for(test, KTIME_MAX), 0);
	KUNIT_EXPECT_LE(test, nbq_fake_last(), 1050);
	KUNIT_EXPECT_EQ(test, event.tail_next, !shared->next_as_well);
	KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(&queue_here(test)->tail, w, false));
	if (x)
		KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(&next->tail, x, false));
	/* Those of w and x are in a pool of their own. */
	EXPECT_TOTAL(test, .acquired_handoff = 1, .nodes_allocated = 1, .nodes_freed = 1);
}

/* The head that has requested the handoff waits there. */
static void newcomer_heeds_a_request_of_the_next_queue(struct kunit *test)
{
	struct nbq_queue *next = nbq_other_queue_of(own, lock_of(test));
	struct nbq_node *w = nbq_fixture_alloc(test);

	nbq_spin_enqueue(&lock_of(test)->bare, &next->tail, w);
	lock_of(test)->state.request = request_at(1000, own->turn);
	nbq_fake_start(1000, 10);
	KUNIT_EXPECT_EQ(test, nbq_spin_lock_timeout(lock_of(test), 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, nbq_spin_lock_timeout(lock_of(test), 100), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, nbq_spin_dequeue_head(&next->tail, w, false));
	KUNIT_EXPECT_EQ(test, try_for(test, 0), 0);
}

static struct kunit_case nbq_sockets_cases[] = {
	KUNIT_CASE_PARAM(waiter_enqueues_on_its_own_socket, enqueue_gen_params),
	KUNIT_CASE(no_steal_from_the_socket_that_has_the_turn),
	KUNIT_CASE(head_that_is_notified_takes_the_lock_at_once),
	KUNIT_CASE(head_that_is_not_notified_takes_the_lock_in_the_end),
	KUNIT_CASE(head_that_was_notified_polls_the_lock),
	KUNIT_CASE(head_without_the_turn_takes_a_lock_that_is_free_for_long),
	KUNIT_CASE(resumed_place_awaits_the_turn_of_its_socket),
	KUNIT_CASE(head_that_gives_up_leaves_no_turn_awaited),
	KUNIT_CASE(head_that_gives_up_soon_leaves_no_turn_awaited),
	KUNIT_CASE_PARAM(head_whose_queue_has_drained_passes_the_turn, drained_gen_params),
	KUNIT_CASE(waiter_of_another_socket_is_contention),
	KUNIT_CASE_PARAM(head_requests_the_next_turn_before_its_own_expires, turn_gen_params),
	KUNIT_CASE_PARAM(waiter_does_not_wait_for_another_lock, shared_gen_params),
	KUNIT_CASE(newcomer_heeds_a_request_of_the_next_queue),
	{}
};

static struct kunit_suite nbq_sockets_suite = {
	.name = "nbq_sockets",
	.init = nbq_sockets_init,
	.exit = nbq_sockets_exit,
	.test_cases = nbq_sockets_cases,
};

kunit_test_suite(nbq_sockets_suite);
