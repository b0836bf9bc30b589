// SPDX-License-Identifier: GPL-2.0
/*
 * -EDEADLK: said whenever a wait cannot end, and at no other time.
 *
 * What is true is not computed but tried out: without deadlock checks, everybody
 * but the context in question goes on as far as it can. If that one has the lock
 * then, it did not wait for itself; if not, it would have waited for ever.
 */
#include <stdio.h>
#include <string.h>

#include <linux/errno.h>

#include "actor.h"
#include "test.h"

#include <nbqlock/wait.h>

/* Longer than all the time that passes, unless a test moves the clock by it. */
#define PATIENCE	(1LL << 50)
#define SEARCH_INTERVAL	2000000
#define NMI_LEVEL	3
#define MANY_ACCESSES	2000	/* more than to the third walk */
#define SOME_LOOKS	500	/* accesses: it queues by then, and has noted who holds */
/* In so many rounds all have their turn who can, if they can do without those in front. */
#define ROUNDS		(IS_FIFO ? 12 : 300)
#define MOST_ACCESSES	40

static struct nbq_X lock;
static u64 clock_now;

/* Each reading is late enough for the next search for a deadlock (nbqlock/wait.c). */
static u64 fake_clock(void)
{
	return clock_now += SEARCH_INTERVAL;
}

static void begin(void)
{
	nbq_deadlock_checks = true;
	/* What an attempt has left or missed is nothing to the next scene. */
	test_pools(16, 16);
	nbq_X_init(&lock);
	clock_now = 1;
	shim_clock = fake_clock;
}

static void end(void)
{
	EXPECT(nbq_X_destroy(&lock) == 0);
	EXPECT(shim_nodes_in_use() == 0);
}

static void start(struct actor *actor, unsigned int cpu, ktime_t patience)
{
	memset(actor, 0, sizeof(*actor));
	actor->lock = &lock;
	actor->cpu = cpu;
	actor->patience = patience;
	actor->attempts = 1;
	actor_start(actor);
}

/* It looks at its predecessor in vain, in the queue: some look at the lock before. */
static void until_it_queues(struct actor *actor)
{
	if (actor_until(actor, SHIM_OP_XCHG, &lock.tail))
		actor_until_it_polls(actor);
}

/*
 * What is known without a walk is said at the first look, however short the
 * patience: H holds on CPU 0, w waits there.
 */
static void own_cpu_is_told_at_its_first_look(void)
{
	struct actor holder, waiter;
	struct nbq_X other;

	begin();
	memset(&other, 0, sizeof(other));
	nbq_X_lock(&lock);
	EXPECT(nbq_X_lock_timeout(&lock, 1) == -EDEADLK);
	EXPECT(nbq_X_lock_timeout(&lock, KTIME_MAX) == -EDEADLK);
	EXPECT(nbq_X_lock_until(&lock, 5) == -EDEADLK);
	/* What does not wait is in no deadlock. */
	EXPECT(nbq_X_lock_timeout(&lock, 0) == -EBUSY);
	EXPECT(!nbq_X_trylock(&lock));
	EXPECT(shim_event("deadlocks") == 3 && shim_event("failed_tries") == 2);
	EXPECT(shim_event("timeouts") == 0);
	nbq_X_unlock(&lock);

	start(&holder, 1, KTIME_MAX);
	actor_until_it_holds(&holder);
	start(&waiter, 0, KTIME_MAX);
	until_it_queues(&waiter);
	/* Not the same level, or it would not be under this one. */
	EXPECT(nbq_X_lock_until(&lock, 1) == -ETIMEDOUT);
	shim_level = NMI_LEVEL;
#if IS_FIFO
	EXPECT(nbq_X_lock_until(&lock, 1) == -EDEADLK);
	EXPECT(nbq_X_lock_timeout(&lock, KTIME_MAX) == -EDEADLK);
#else
	/* It can do without the one under it. */
	EXPECT(nbq_X_lock_timeout(&lock, 0) == -EBUSY);
	EXPECT(nbq_X_lock_until(&lock, 1) == -ETIMEDOUT);
#endif
	/* Another lock, held elsewhere: nothing is wrong with waiting for it. */
	shim_level = 0;
	shim_cpu = 2;
	nbq_X_lock(&other);
	shim_level = NMI_LEVEL;
	shim_cpu = 0;
	EXPECT(nbq_X_lock_until(&other, 1) == -ETIMEDOUT);
	shim_level = 0;
	shim_cpu = 2;
	nbq_X_unlock(&other);
	shim_cpu = 0;

	EXPECT(actor_finish(&holder) == 0);
	EXPECT(actor_finish(&waiter) == 0);
	EXPECT(nbq_X_destroy(&other) == 0);
	end();
}

/* H w: w has just enqueued, and has not said yet that it waits behind H. */
static void holder_below_is_known_before_the_waiter_between_says_so(void)
{
	struct actor waiter;

	begin();
	nbq_X_lock(&lock);
	start(&waiter, 1, KTIME_MAX);
	actor_until(&waiter, SHIM_OP_XCHG, &lock.tail);
	actor_steps(&waiter, 1);
	shim_level = NMI_LEVEL;
	EXPECT(nbq_X_lock_until(&lock, 1) == -EDEADLK);
	shim_level = 0;
	nbq_X_unlock(&lock);
	EXPECT(actor_finish(&waiter) == 0);
	end();
}

static void checks_can_be_switched_off(void)
{
	begin();
	nbq_deadlock_checks = false;
	nbq_X_lock(&lock);
	EXPECT(nbq_X_lock_until(&lock, 1) == -ETIMEDOUT);
	nbq_deadlock_checks = true;
	EXPECT(nbq_X_lock_until(&lock, 1) == -EDEADLK);
	nbq_X_unlock(&lock);
	end();
}

/*
 * Cycles: actors that hold a lock of their own and want another's.
 */

#define MOST_LOCKS	SHIM_CPUS

static struct nbq_X locks[MOST_LOCKS];

/* An actor that acquires a second lock while it holds its first. */
struct owner {
	struct actor actor;
	struct nbq_X *wanted;
	ktime_t patience;
	int ret;
};

static struct owner owners[MOST_LOCKS + 1];

static void want_another(struct actor *actor)
{
	struct owner *owner = (struct owner *)actor;

	/* Not an access: a place to stop at. */
	shim_point(SHIM_OP_RELAX, owner);
	owner->ret = nbq_X_lock_timeout(owner->wanted, owner->patience);
	if (!owner->ret)
		nbq_X_unlock(owner->wanted);
}

static struct owner *start_owner(unsigned int cpu, unsigned int level,
				 struct nbq_X *held, struct nbq_X *wanted)
{
	struct owner *owner = &owners[cpu];

	memset(owner, 0, sizeof(*owner));
	start(&owner->actor, cpu, KTIME_MAX);
	owner->actor.level = level;
	owner->actor.lock = held;
	owner->actor.in_lock = want_another;
	owner->wanted = wanted;
	owner->patience = KTIME_MAX;
	owner->ret = 1;
	return owner;
}

static void until_it_holds_the_first(struct owner *owner)
{
	actor_until(&owner->actor, SHIM_OP_RELAX, owner);
}

/* One that comes on top of whatever its CPU does, and holds nothing. */
static struct actor *start_nmi(unsigned int place, unsigned int cpu, struct nbq_X *wanted)
{
	struct owner *nmi = &owners[place];

	memset(nmi, 0, sizeof(*nmi));
	start(&nmi->actor, cpu, KTIME_MAX);
	nmi->actor.level = NMI_LEVEL;
	nmi->actor.lock = wanted;
	return &nmi->actor;
}

static void begin_many(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < MOST_LOCKS; i++)
		nbq_X_init(&locks[i]);
}

static void end_many(void)
{
	unsigned int i;

	for (i = 0; i < MOST_LOCKS; i++)
		EXPECT(nbq_X_destroy(&locks[i]) == 0);
	EXPECT(shim_nodes_in_use() == 0);
}

#define NOBODY	MOST_LOCKS

/* Which of those from first on has been told of a deadlock? */
static unsigned int who_was_told(unsigned int first, unsigned int number)
{
	unsigned int i;

	for (i = first; i < first + number; i++) {
		if (owners[i].ret == -EDEADLK ||
		    (owners[i].actor.ended && owners[i].actor.ret == -EDEADLK))
			return i;
	}
	return NOBODY;
}

/*
 * The one that closes a circle looks for long; and, where it cannot find out alone, those
 * from first on in turn: all that are in the circle.
 *
 * Return: who was told of a deadlock then.
 */
static unsigned int who_is_told(unsigned int closes, unsigned int first, unsigned int number)
{
	unsigned int turns, i;

	actor_steps(&owners[closes].actor, MANY_ACCESSES);
	for (turns = 0; turns < 4 * number && !FINDS_OUT_ALONE; turns++) {
		if (who_was_told(first, number) != NOBODY)
			break;
		i = first + turns % number;
		actor_steps(&owners[i].actor, MANY_ACCESSES);
	}
	return who_was_told(first, number);
}

/* In turn, each from one look to the next, until all have ended. */
static bool all_take_turns(unsigned int number, unsigned int turns)
{
	unsigned int i, ended = 0;

	while (turns-- && ended < number) {
		for (i = ended = 0; i < number; i++) {
			actor_until_it_polls(&owners[i].actor);
			ended += owners[i].actor.ended;
		}
	}
	return ended == number;
}

static void finish_all(unsigned int number)
{
	while (number--)
		EXPECT(actor_finish(&owners[number].actor) == 0);
	end_many();
}

/* Each holds one lock and wants the next one's; the last wants the first's. */
static void cycle_of_any_length_is_found_by_who_closes_it(void)
{
	unsigned int length, told, i;

	for (length = 2; length <= MOST_LOCKS; length++) {
		begin_many();
		for (i = 0; i < length; i++) {
			start_owner(i, 0, &locks[i], &locks[(i + 1) % length]);
			until_it_holds_the_first(&owners[i]);
		}
		/* All but the last wait for long: nothing to be found yet. */
		for (i = 0; i < length - 1; i++) {
			actor_steps(&owners[i].actor, MANY_ACCESSES);
			EXPECT(owners[i].ret == 1);
		}
		told = who_is_told(length - 1, 0, length);
		EXPECT(FINDS_OUT_ALONE ? told == length - 1 : told != NOBODY);
		/* It has let go: the others get what they want. */
		EXPECT(all_take_turns(length, 10 * length));
		for (i = 0; i < length; i++)
			EXPECT(i == told || owners[i].ret == 0);
		finish_all(length);
	}
}

/* A, held by 0, which wants B, held by 1, which wants C: that one's owner runs. */
static void way_that_ends_at_one_who_runs_is_no_deadlock(void)
{
	unsigned int i;

	begin_many();
	start_owner(0, 0, &locks[0], &locks[1]);
	start_owner(1, 0, &locks[1], &locks[2]);
	start_owner(2, 0, &locks[2], &locks[3]);
	for (i = 0; i < 3; i++)
		until_it_holds_the_first(&owners[i]);
	for (i = 0; i < 2; i++) {
		actor_steps(&owners[i].actor, 10 * MANY_ACCESSES);
		EXPECT(owners[i].ret == 1);
	}
	EXPECT(all_take_turns(3, 30));
	for (i = 0; i < 3; i++)
		EXPECT(owners[i].ret == 0);
	finish_all(3);
}

#if IS_FIFO
/*
 * 1 waits in the queue of A, between its holder 2 and 0, which holds B. An NMI
 * on 1 wants B. Whoever holds A does no harm; the queue has come to a stop.
 */
static void queue_is_followed_through_its_middle(void)
{
	struct owner *first, *middle, *last;
	struct actor *nmi;

	begin_many();
	first = start_owner(2, 0, &locks[0], &locks[3]);
	until_it_holds_the_first(first);
	middle = start_owner(1, 0, &locks[0], &locks[4]);
	actor_until_it_polls(&middle->actor);
	last = start_owner(0, 0, &locks[1], &locks[0]);
	until_it_holds_the_first(last);
	actor_steps(&last->actor, MANY_ACCESSES);
	EXPECT(last->ret == 1);

	nmi = start_nmi(3, 1, &locks[1]);
	actor_steps(nmi, MANY_ACCESSES);
	EXPECT(nmi->ended && nmi->ret == -EDEADLK);
	actor_finish(nmi);

	EXPECT(all_take_turns(3, 30));
	EXPECT(first->ret == 0 && middle->ret == 0 && last->ret == 0);
	finish_all(3);
}

/*
 * The same; but A has been handed to 1 by now, which has not noticed yet.
 */
static void lock_that_was_handed_to_an_interrupted_cpu_is_followed(void)
{
	struct owner *first, *middle, *last;
	struct actor *nmi;

	begin_many();
	first = start_owner(2, 0, &locks[0], &locks[3]);
	until_it_holds_the_first(first);
	middle = start_owner(1, 0, &locks[0], &locks[4]);
	actor_until_it_polls(&middle->actor);
	last = start_owner(0, 0, &locks[1], &locks[0]);
	until_it_holds_the_first(last);
	actor_until_it_polls(&last->actor);
	EXPECT(actor_until_it_polls(&first->actor) == false);

	nmi = start_nmi(3, 1, &locks[1]);
	actor_steps(nmi, MANY_ACCESSES);
	EXPECT(nmi->ended && nmi->ret == -EDEADLK);
	actor_finish(nmi);
	EXPECT(all_take_turns(3, 30));
	EXPECT(middle->ret == 0 && last->ret == 0);
	finish_all(3);
}
#else
/*
 * 1 is the first in the queue of A, before 0, which holds B; an NMI on 1 wants B. When
 * 2 has released A, the queue stands still; 0 can do without.
 */
static void waiter_that_stands_still_keeps_nobody_waiting(void)
{
	struct owner *first, *middle, *last;
	struct actor *nmi;
	unsigned int turns;

	begin_many();
	first = start_owner(2, 0, &locks[0], &locks[3]);
	until_it_holds_the_first(first);
	middle = start_owner(1, 0, &locks[0], &locks[4]);
	actor_until(&middle->actor, SHIM_OP_XCHG, &locks[0].tail);
	actor_until_it_polls(&middle->actor);
	last = start_owner(0, 0, &locks[1], &locks[0]);
	until_it_holds_the_first(last);
	actor_until(&last->actor, SHIM_OP_XCHG, &locks[0].tail);
	actor_until_it_polls(&last->actor);
	nmi = start_nmi(3, 1, &locks[1]);
	actor_steps(nmi, MANY_ACCESSES);
	actor_steps(&last->actor, MANY_ACCESSES);
	actor_steps(nmi, MANY_ACCESSES);
	EXPECT(!nmi->ended && last->ret == 1);
	EXPECT(!actor_until_it_polls(&first->actor));

	for (turns = 0; turns < ROUNDS && !nmi->ended; turns++) {
		actor_until_it_polls(&last->actor);
		actor_until_it_polls(nmi);
	}
	EXPECT(nmi->ended && actor_finish(nmi) == 0);
	EXPECT(all_take_turns(3, 30));
	EXPECT(middle->ret == 0 && last->ret == 0);
	finish_all(3);
}
#endif

/*
 * 0 holds A, 1 holds B, and both are interrupted by NMIs that want the other's:
 * neither holder waits, and neither NMI holds.
 */
static void holders_are_followed_to_what_has_interrupted_them(void)
{
	struct actor *first, *second;
	unsigned int told, i;

	begin_many();
	for (i = 0; i < 2; i++) {
		start_owner(i, 0, &locks[i], &locks[2 + i]);
		until_it_holds_the_first(&owners[i]);
	}
	first = start_nmi(2, 0, &locks[1]);
	actor_steps(first, MANY_ACCESSES);
	EXPECT(!first->ended);
	second = start_nmi(3, 1, &locks[0]);
	told = who_is_told(3, 2, 2);
	if (!EXPECT(FINDS_OUT_ALONE ? told == 3 : told != NOBODY))
		return;

	/* It has let go: its CPU's holder goes on, then the other CPU. */
	EXPECT(actor_finish(&owners[told].actor) == -EDEADLK);
	EXPECT(actor_finish(&owners[told - 2].actor) == 0);
	EXPECT(actor_finish(told == 2 ? second : first) == 0);
	EXPECT(actor_finish(&owners[3 - told].actor) == 0);
	end_many();
}

/*
 * Walks over those who move on. 0 holds A and wants B, 1 holds B and wants C, 2 holds
 * C and wants A: 0 finds that, and is about to begin the round that makes it sure.
 * Before that, and at each access of the second walk, others get on: from then on it
 * is no deadlock.
 */

#define WALK_ACCESSES	40	/* more than the second walk has */

/* It has held C, and wants A without holding anything. */
static void go_on_to_wanted(struct actor *actor)
{
	struct owner *owner = (struct owner *)actor;

	actor->lock = owner->wanted;
	actor->in_lock = NULL;
	actor->patience = KTIME_MAX;
}

/* C, and after it D. */
static void want_two(struct actor *actor)
{
	struct owner *owner = (struct owner *)actor;

	want_another(actor);
	owner->wanted++;
	want_another(actor);
}

static void start_circle_of_three(void)
{
	struct owner *asks = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
	struct owner *next = start_owner(1, 0, &locks[1], &locks[2]);
	struct owner *last = start_owner(2, 0, &locks[2], &locks[0]);

	next->actor.in_lock = want_two;
	last->actor.attempts = 2;
	last->actor.out_of_lock = go_on_to_wanted;
	last->patience = PATIENCE;
	until_it_holds_the_first(last);
	until_it_holds_the_first(next);
	actor_until_it_polls(&next->actor);
	until_it_holds_the_first(asks);
	actor_until_it_polls(&last->actor);
	/* The one that holds D. */
	until_it_holds_the_first(start_owner(3, 0, &locks[3], &locks[4]));

	EXPECT(actor_until(&asks->actor, SHIM_OP_ADD, ACTOR_ANYWHERE));
	clock_now += 2 * PATIENCE;
}

/* 0 goes on with its walk, and is not told of a deadlock. */
static void expect_no_deadlock(void)
{
	actor_steps(&owners[0].actor, MANY_ACCESSES);
	EXPECT(owners[0].ret == 1);
	EXPECT(all_take_turns(4, 60));
	EXPECT(owners[0].ret == 0 && owners[1].ret == 0);
	finish_all(4);
}

/*
 * 2 does not wait any more when the round begins. In its course it releases C, and
 * waits for A again: for the walk, behind what it has just passed.
 */
static void wait_that_began_in_the_round_is_no_part_of_a_cycle(void)
{
	unsigned int n;

	for (n = 0; n < WALK_ACCESSES; n++) {
		begin_many();
		start_circle_of_three();
		EXPECT(actor_until_it_holds(&owners[2].actor));
		actor_steps(&owners[0].actor, n);
		actor_until_it_polls(&owners[2].actor);
		expect_no_deadlock();
	}
}

/*
 * 2 has released C and waits for A again when the round begins. In its course 1 finds
 * that C is its own, releases it, and waits for D: with the same node, perhaps.
 */
static void word_of_a_later_wait_is_no_part_of_a_cycle(void)
{
	unsigned int n;

	actor_walks = true;
	for (n = 0; n < WALK_ACCESSES; n++) {
		begin_many();
		start_circle_of_three();
		EXPECT(actor_until_it_holds(&owners[2].actor));
		actor_until_it_polls(&owners[2].actor);
		actor_steps(&owners[0].actor, n);
		actor_until_it_polls(&owners[1].actor);
		expect_no_deadlock();
	}
}

/*
 * 0 walks past 1, which waits for A behind 2 and that behind its holder 3. In its course
 * A goes from 3 to 2, so that 1 has the holder in front of it: what it looked at before
 * is nothing to look at now.
 */
static void waiter_whose_turn_comes_nearer_may_be_looked_at(void)
{
	unsigned int n;

	actor_walks = true;
	for (n = 0; n < 2 * WALK_ACCESSES; n++) {
		begin_many();
		until_it_holds_the_first(start_owner(3, 0, &locks[0], &locks[4]));
		until_it_holds_the_first(start_owner(4, 0, &locks[3], &locks[5]));
		start_owner(2, 0, &locks[0], &locks[3]);
		actor_until_it_polls(&owners[2].actor);
		until_it_holds_the_first(start_owner(1, 0, &locks[1], &locks[0]));
		actor_until_it_polls(&owners[1].actor);
		start_owner(0, NMI_LEVEL, &locks[2], &locks[1]);
		until_it_holds_the_first(&owners[0]);
		actor_steps(&owners[0].actor, n);
		EXPECT(!actor_until_it_polls(&owners[3].actor));
		until_it_holds_the_first(&owners[2]);
		actor_until_it_polls(&owners[2].actor);
		actor_until_it_polls(&owners[1].actor);
		actor_steps(&owners[0].actor, MANY_ACCESSES);
		EXPECT(owners[0].ret == 1);
		EXPECT(all_take_turns(5, 60));
		finish_all(5);
	}
}

/* A round begins: 8 and 9 wait for each other, and one of them is told. */
static void let_a_round_begin(void)
{
	struct owner *first = start_owner(8, 0, &locks[8], &locks[9]);
	struct owner *second = start_owner(9, 0, &locks[9], &locks[8]);
	unsigned int turns;

	until_it_holds_the_first(first);
	until_it_holds_the_first(second);
	/* Neither is told before the other has looked who holds its lock. */
	for (turns = 0; turns < 10 && first->ret == 1 && second->ret == 1; turns++) {
		actor_steps(&first->actor, MANY_ACCESSES);
		actor_steps(&second->actor, MANY_ACCESSES);
	}
	EXPECT(first->ret == -EDEADLK || second->ret == -EDEADLK);
	while (!first->actor.ended || !second->actor.ended) {
		actor_until_it_polls(&first->actor);
		actor_until_it_polls(&second->actor);
	}
	EXPECT(actor_finish(&first->actor) == 0);
	EXPECT(actor_finish(&second->actor) == 0);
}

/*
 * 0 has held A, for which 2 waits, that holds C; nobody on 2 has looked since 0 released
 * it. Now 0 wants B. In the course of its first looks 3 releases B, and some accesses later
 * 1 takes it, and waits for C. What 2 has noted is not so any more.
 */
static void lock_that_was_released_is_no_part_of_a_cycle(void)
{
	unsigned int n;

	actor_walks = true;
	for (n = 0; n < 4 * 2 * WALK_ACCESSES; n++) {
		struct owner *asks;

		begin_many();
		asks = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
		asks->actor.in_lock = NULL;
		asks->actor.attempts = 2;
		asks->actor.out_of_lock = go_on_to_wanted;
		EXPECT(actor_until_it_holds(&asks->actor));
		let_a_round_begin();
		until_it_holds_the_first(start_owner(2, 0, &locks[2], &locks[0]));
		actor_steps(&owners[2].actor, SOME_LOOKS);
		let_a_round_begin();
		until_it_holds_the_first(start_owner(3, 0, &locks[1], &locks[4]));

		actor_steps(&asks->actor, n / 4);
		EXPECT(!actor_until_it_polls(&owners[3].actor));
		actor_steps(&asks->actor, n % 4);
		start_owner(1, 0, &locks[1], &locks[2]);
		actor_until_it_polls(&owners[1].actor);
		actor_until_it_polls(&owners[1].actor);
		actor_steps(&asks->actor, MANY_ACCESSES);
		EXPECT(asks->actor.ret == 0);
		EXPECT(all_take_turns(4, 60));
		EXPECT(owners[1].ret == 0 && owners[2].ret == 0);
		finish_all(4);
	}
}

/*
 * 0 holds D and wants B; 1 holds B and wants C; 2 holds C and wants A; 3 wants D, and has
 * held A until then. Nobody on 2 has looked since; or somebody has, and 4 holds A.
 */
static void try_a_note_on_one_that_holds_no_more(bool held_again)
{
	struct owner *asks, *released;

	begin_many();
	asks = start_owner(0, NMI_LEVEL, &locks[3], &locks[1]);
	until_it_holds_the_first(asks);
	released = start_owner(3, 0, &locks[0], &locks[3]);
	released->actor.in_lock = NULL;
	released->actor.attempts = 2;
	released->actor.out_of_lock = go_on_to_wanted;
	EXPECT(actor_until_it_holds(&released->actor));
	until_it_holds_the_first(start_owner(1, 0, &locks[1], &locks[2]));
	until_it_holds_the_first(start_owner(2, 0, &locks[2], &locks[0]));
	actor_steps(&owners[2].actor, SOME_LOOKS);
	let_a_round_begin();

	actor_steps(&released->actor, SOME_LOOKS);
	start_owner(4, 0, &locks[0], &locks[4]);
	if (held_again)
		until_it_holds_the_first(&owners[4]);
	actor_steps(&asks->actor, SOME_LOOKS);
	actor_steps(&owners[1].actor, SOME_LOOKS);
	let_a_round_begin();
	if (held_again)
		actor_steps(&owners[2].actor, MANY_ACCESSES);
	actor_steps(&released->actor, MANY_ACCESSES);
	actor_steps(&owners[1].actor, MANY_ACCESSES);
	actor_steps(&asks->actor, MANY_ACCESSES);
	EXPECT(who_was_told(0, 5) == NOBODY);

	EXPECT(all_take_turns(5, 60));
	EXPECT(who_was_told(0, 5) == NOBODY);
	finish_all(5);
}

static void lock_that_another_has_released_is_no_part_of_a_cycle(void)
{
	actor_walks = true;
	try_a_note_on_one_that_holds_no_more(false);
}

#if !IS_FIFO
static void lock_goes_from_holder_to_holder_in_the_notes_on_it(void)
{
	actor_walks = true;
	try_a_note_on_one_that_holds_no_more(true);
}
#endif

/*
 * 0 waits; an interrupt comes there, holds A, and goes. 2, which holds C and wants A, has
 * not looked since: for it, that interrupt of 0 holds A. Now somebody on 0 wants C.
 */
static void until_an_interrupt_has_gone(void)
{
	struct actor *above;

	until_it_holds_the_first(start_owner(2, 0, &locks[2], &locks[0]));
	actor_steps(&owners[0].actor, SOME_LOOKS);
	above = start_nmi(1, 0, &locks[0]);
	EXPECT(actor_until_it_holds(above));
	let_a_round_begin();
	actor_steps(&owners[2].actor, SOME_LOOKS);
	EXPECT(!actor_until_it_polls(above));
}

/* The one on 0 is that which waits, with B in its hands. */
static void interrupt_that_has_gone_is_no_part_of_a_cycle(void)
{
	actor_walks = true;
	begin_many();
	until_it_holds_the_first(start_owner(0, 0, &locks[1], &locks[2]));
	until_an_interrupt_has_gone();
	actor_steps(&owners[0].actor, MANY_ACCESSES);
	EXPECT(who_was_told(0, 3) == NOBODY);
	EXPECT(all_take_turns(3, 60));
	EXPECT(who_was_told(0, 3) == NOBODY);
	finish_all(3);
}

/* It is one more interrupt, of the level of both, which has no notes of its own. */
static void interrupt_of_its_level_that_has_gone_is_no_part_of_a_cycle(void)
{
	struct actor *asks;
	unsigned int turns;
	bool waits = true;

	actor_walks = true;
	begin_many();
	until_it_holds_the_first(start_owner(3, 0, &locks[1], &locks[3]));
	until_it_holds_the_first(start_owner(0, NMI_LEVEL, &locks[4], &locks[1]));
	until_an_interrupt_has_gone();
	asks = start_nmi(4, 0, &locks[2]);
	actor_steps(asks, MANY_ACCESSES);
	EXPECT(!asks->ended);
	/* It is not told so as long as 2 takes to acquire A and to release both. */
	for (turns = 0; waits && turns < MANY_ACCESSES / 50; turns++) {
		actor_steps(&owners[2].actor, 50);
		waits = actor_until_it_polls(asks);
	}
	EXPECT(!waits && actor_finish(asks) == 0);
	EXPECT(all_take_turns(4, 60));
	EXPECT(who_was_told(0, 4) == NOBODY);
	finish_all(4);
}

#if IS_FIFO
/*
 * It is the turn of a task of 1, which was interrupted before it could say so; 0 waits
 * behind it, and the NMI behind 0. That one is told so: 0 need not give up, wherever the
 * NMI is by now.
 */
static void who_waits_behind_its_own_cpu_gives_up_and_nobody_else(void)
{
	unsigned int n;

	for (n = 0; n < MOST_ACCESSES; n++) {
		struct actor holder, task, waiter, *nmi;

		begin_many();
		start(&holder, 3, KTIME_MAX);
		actor_until_it_holds(&holder);
		start(&task, 1, KTIME_MAX);
		EXPECT(actor_until(&task, SHIM_OP_XCHG, &lock.tail));
		actor_steps(&task, 1);
		EXPECT(actor_finish(&holder) == 0);
		start(&waiter, 0, KTIME_MAX);
		waiter.level = NMI_LEVEL;
		EXPECT(actor_until_it_polls(&waiter));
		nmi = start_nmi(0, 1, &lock);
		actor_steps(nmi, n);
		actor_steps(&waiter, MANY_ACCESSES);
		EXPECT(!waiter.ended);
		actor_steps(nmi, MANY_ACCESSES);
		EXPECT(nmi->ended && nmi->ret == -EDEADLK);
		actor_finish(nmi);
		EXPECT(actor_finish(&task) == 0);
		EXPECT(actor_finish(&waiter) == 0);
		end();
	}
}

#endif

/* 1 holds B and waits for A, behind one that leaves, and then behind its holder 0. */
static void waiter_is_found_behind_its_next_predecessor(void)
{
	struct owner *asks, *waits;
	struct actor leaver;
	unsigned int told;

	begin_many();
	asks = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
	until_it_holds_the_first(asks);
	start(&leaver, 2, PATIENCE);
	leaver.lock = &locks[0];
	actor_until_it_polls(&leaver);
	waits = start_owner(1, 0, &locks[1], &locks[0]);
	until_it_holds_the_first(waits);
	actor_until_it_polls(&waits->actor);
	clock_now += 2 * PATIENCE;
	EXPECT(actor_finish(&leaver) == -ETIMEDOUT);
	actor_until_it_polls(&waits->actor);

	told = who_is_told(0, 0, 2);
	EXPECT(FINDS_OUT_ALONE ? told == 0 : told != NOBODY);
	EXPECT(all_take_turns(2, 30));
	EXPECT((told ? asks : waits)->ret == 0);
	finish_all(2);
}

#if IS_FIFO
static u64 running_clock(void)
{
	return clock_now++;
}

/*
 * A task of 1 has joined and was interrupted before it could say so. The NMI waits
 * behind one who says nothing either, and leaves; then behind its own CPU.
 */
static void interrupt_is_told_as_soon_as_its_predecessor_has_left(void)
{
	struct actor holder, task, leaver, *nmi;

	begin_many();
	start(&holder, 3, KTIME_MAX);
	actor_until_it_holds(&holder);
	start(&task, 1, KTIME_MAX);
	EXPECT(actor_until(&task, SHIM_OP_XCHG, &lock.tail));
	actor_steps(&task, 1);
	start(&leaver, 2, 1);
	EXPECT(actor_until(&leaver, SHIM_OP_XCHG, &lock.tail));
	actor_steps(&leaver, 1);
	nmi = start_nmi(0, 1, &lock);
	EXPECT(actor_until_it_polls(nmi));
	EXPECT(actor_until_it_polls(nmi));
	shim_clock = running_clock;
	EXPECT(actor_finish(&leaver) == -ETIMEDOUT);

	EXPECT(!actor_until_it_polls(nmi) && nmi->ret == -EDEADLK);
	actor_finish(nmi);
	EXPECT(actor_finish(&holder) == 0);
	EXPECT(actor_finish(&task) == 0);
	end();
}

#endif

/* 0 and 1 wait for each other; 2 waits for one of them, and its way goes round there. */
static void way_into_a_cycle_of_others_has_an_end(void)
{
	struct actor *outside;
	unsigned int i;

	begin_many();
	for (i = 0; i < 2; i++)
		until_it_holds_the_first(start_owner(i, 0, &locks[i], &locks[1 - i]));
	for (i = 0; i < 2; i++)
		actor_until_it_polls(&owners[i].actor);
	outside = start_nmi(2, 2, &locks[0]);
	outside->patience = PATIENCE;
	actor_steps(outside, MANY_ACCESSES);
	clock_now += 2 * PATIENCE;
	actor_steps(outside, MANY_ACCESSES);
	EXPECT(outside->ended && outside->ret == -ETIMEDOUT);
	EXPECT(all_take_turns(2, 200));
	EXPECT(owners[0].ret == -EDEADLK || owners[1].ret == -EDEADLK);
	actor_finish(outside);
	finish_all(2);
}

/* 1 waits, and one of its level has come on top of it and gone, when 0 asks. */
static void waiter_is_found_after_one_of_its_level_has_gone(void)
{
	struct owner *asks, *waits;
	struct actor *above;
	unsigned int told;

	begin_many();
	asks = start_owner(0, NMI_LEVEL, &locks[0], &locks[1]);
	until_it_holds_the_first(asks);
	waits = start_owner(1, NMI_LEVEL, &locks[1], &locks[0]);
	until_it_holds_the_first(waits);
	nbq_deadlock_checks = false;
	actor_until_it_polls(&waits->actor);
	nbq_deadlock_checks = true;
	above = start_nmi(2, 1, &locks[0]);
	above->patience = PATIENCE;
	actor_until_it_polls(above);
	clock_now += 2 * PATIENCE;
	EXPECT(actor_finish(above) != 0);

	told = who_is_told(0, 0, 2);
	EXPECT(FINDS_OUT_ALONE ? told == 0 : told != NOBODY);
	EXPECT(all_take_turns(2, 30));
	EXPECT((told ? asks : waits)->ret == 0);
	finish_all(2);
}

/*
 * At random: each access by one chosen at random. Interrupts walk at their first
 * look, so all are interrupts; where one more comes to a CPU, it comes on top.
 */

#define CROWD		5
#define RANDOM_ROUNDS	12000
#define MOST_TURNS	60000

/* A number that depends on nothing but the seed. */
static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

static unsigned int told;
static unsigned int random_state;
static unsigned int locks_wanted;
static bool in_order;

/* Another lock than the held one, a later one if all keep an order; or none. */
static void want_any(struct actor *actor)
{
	struct owner *owner = (struct owner *)actor;
	unsigned int held = actor->lock - locks;
	unsigned int wanted = next_random(&random_state) % locks_wanted;

	/* What may interrupt another keeps to a lock that this one never takes. */
	if (in_order && actor->cpu == 0)
		wanted %= locks_wanted - 1;
	if (wanted == held || (in_order && wanted < held))
		return;
	owner->ret = nbq_X_lock_timeout(&locks[wanted], owner->patience);
	if (!owner->ret)
		nbq_X_unlock(&locks[wanted]);
	told += owner->ret == -EDEADLK;
}

static struct nbq_X *lock_to_hold(const struct actor *actor)
{
	unsigned int held = next_random(&random_state) % locks_wanted;

	if (in_order && actor->level == NMI_LEVEL)
		held = locks_wanted - 1;
	else if (in_order && actor->cpu == 0)
		held %= locks_wanted - 1;
	return &locks[held];
}

static void hold_another_next(struct actor *actor)
{
	if (actor->attempts)
		actor->lock = lock_to_hold(actor);
}

/* The last one comes on top of the first, on its CPU. */
static void start_owners(void)
{
	unsigned int i;

	for (i = 0; i < CROWD; i++) {
		start_owner(i, i == CROWD - 1 ? NMI_LEVEL : NMI_LEVEL - 1, NULL, NULL);
		if (i == CROWD - 1)
			owners[i].actor.cpu = 0;
		owners[i].actor.lock = lock_to_hold(&owners[i].actor);
		owners[i].actor.attempts = 1 + next_random(&random_state) % 4;
		owners[i].actor.in_lock = want_any;
		owners[i].actor.out_of_lock = hold_another_next;
	}
}

/* False: somebody waits for ever. */
static bool let_owners_run(void)
{
	struct owner *on_top = &owners[CROWD - 1];
	unsigned int left = CROWD, turns = 0;
	bool has_come = false;

	while (left && turns++ < MOST_TURNS) {
		unsigned int i = next_random(&random_state) % CROWD;

		if (owners[i].actor.ended || (i == 0 && has_come && !on_top->actor.ended))
			continue;
		has_come |= i == CROWD - 1;
		left -= !actor_steps(&owners[i].actor,
				     1 + next_random(&random_state) % 6);
	}
	return !left;
}

static void run_at_random(unsigned int seed)
{
	unsigned int i;

	random_state = seed;
	begin_many();
	start_owners();
	if (!EXPECT(let_owners_run())) {
		printf("# seed %u: somebody waits for ever\n", seed);
		return;
	}
	for (i = 0; i < CROWD; i++)
		actor_finish(&owners[i].actor);
	end_many();
}

/* Any order, no timeouts: only being told ends a deadlock. */
static void no_deadlock_is_missed(void)
{
	unsigned int seed;

	actor_walks = true;
	locks_wanted = 3;
	in_order = false;
	told = 0;
	for (seed = 1; seed <= RANDOM_ROUNDS / 4; seed++)
		run_at_random(seed);
	EXPECT(told > RANDOM_ROUNDS / 16);
}

/* Locks in one order, and whoever comes on top keeps to the later ones. */
static void nesting_in_order_is_no_deadlock(void)
{
	unsigned int seed;

	actor_walks = true;
	locks_wanted = 4;
	in_order = true;
	told = 0;
	for (seed = 1; seed <= RANDOM_ROUNDS; seed++)
		run_at_random(seed);
	EXPECT(told == 0);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(own_cpu_is_told_at_its_first_look),
		TEST_CASE(holder_below_is_known_before_the_waiter_between_says_so),
		TEST_CASE(checks_can_be_switched_off),
		TEST_CASE(cycle_of_any_length_is_found_by_who_closes_it),
		TEST_CASE(way_that_ends_at_one_who_runs_is_no_deadlock),
#if IS_FIFO
		TEST_CASE(queue_is_followed_through_its_middle),
		TEST_CASE(lock_that_was_handed_to_an_interrupted_cpu_is_followed),
#else
		TEST_CASE(waiter_that_stands_still_keeps_nobody_waiting),
#endif
		TEST_CASE(holders_are_followed_to_what_has_interrupted_them),
		TEST_CASE(wait_that_began_in_the_round_is_no_part_of_a_cycle),
		TEST_CASE(word_of_a_later_wait_is_no_part_of_a_cycle),
		TEST_CASE(waiter_whose_turn_comes_nearer_may_be_looked_at),
		TEST_CASE(lock_that_was_released_is_no_part_of_a_cycle),
		TEST_CASE(lock_that_another_has_released_is_no_part_of_a_cycle),
#if !IS_FIFO
		TEST_CASE(lock_goes_from_holder_to_holder_in_the_notes_on_it),
#endif
		TEST_CASE(interrupt_that_has_gone_is_no_part_of_a_cycle),
		TEST_CASE(interrupt_of_its_level_that_has_gone_is_no_part_of_a_cycle),
		TEST_CASE(waiter_is_found_behind_its_next_predecessor),
#if IS_FIFO
		TEST_CASE(who_waits_behind_its_own_cpu_gives_up_and_nobody_else),
		TEST_CASE(interrupt_is_told_as_soon_as_its_predecessor_has_left),
#endif
		TEST_CASE(way_into_a_cycle_of_others_has_an_end),
		TEST_CASE(waiter_is_found_after_one_of_its_level_has_gone),
		TEST_CASE(no_deadlock_is_missed),
		TEST_CASE(nesting_in_order_is_no_deadlock),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 20);
}
