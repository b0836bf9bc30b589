// SPDX-License-Identifier: GPL-2.0
/*
 * What others do between the steps of a leave and of a release, for every lock
 * type: an own step is counted, and before each others can have a turn, as on
 * another CPU or in an interrupt.
 *
 * One context takes all the parts here, so what is tried out is every order of
 * whole steps, not how an access is ordered with others on the way to memory.
 * Nobody has a turn before an access that is not marked as a step, and a read
 * leaves no trace: tools/verification/host counts every access, whether marked or not.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "common.h"

#define POISON		0x6b

static void poison_node(struct nbq_node *node)
{
	memset(&node->prev, POISON, sizeof(node->prev));
	memset(&node->next, POISON, sizeof(node->next));
	memset(&node->status, POISON, sizeof(node->status));
}

static bool is_poison(const struct nbq_node *node)
{
	return !memchr_inv(&node->prev, POISON, sizeof(node->prev)) &&
	       !memchr_inv(&node->next, POISON, sizeof(node->next)) &&
	       !memchr_inv(&node->status, POISON, sizeof(node->status));
}

/* Every order of the steps of one with the moves of others */

#define PLAYERS_MAX	3
#define MOVES_MAX	3

/**
 * struct player - one of the others
 * @moves: what it does, in this order: j joins, l becomes known and looks once,
 *	a walks as far as it goes and releases if it got the lock, x leaves, r
 *	releases
 * @at: the step before which it makes each move; 0: before the first
 * @made: how many moves it has made
 * @actor: NULL before it has joined
 */
struct player {
	const char *moves;
	unsigned int at[MOVES_MAX];
	unsigned int made;
	struct nbq_actor *actor;
};

/**
 * struct game - somebody leaves or releases, and others make their moves
 * @bench: the lock, and the nodes of all but a releaser
 * @begin: who is there before all moves
 * @act: the leave or the release
 * @me: who leaves
 * @players: the others
 * @size: how many
 * @last: a move before this step is one that is not made meanwhile
 * @fewest: fewest steps so far
 * @steps: most steps so far
 * @plays: orders that were tried out
 * @poisoned: for each node that was free and is poison: how often it was taken
 *	until then
 * @touched: whether somebody has written to a free node
 * @wrong: what is wrong with the last; NULL: nothing
 */
struct game {
	struct nbq_bench *bench;
	void (*begin)(struct game *game);
	void (*act)(struct game *game);
	struct nbq_actor *me;
	struct player players[PLAYERS_MAX];
	unsigned int size;
	unsigned int last;
	unsigned int fewest;
	unsigned int steps;
	unsigned int plays;
	unsigned long poisoned[NBQ_BENCH_NODES];
	bool touched;
	const char *wrong;
};

static struct nbq_actor *come_and_join(struct nbq_bench *bench)
{
	struct nbq_actor *actor = nbq_bench_come(bench);

	if (actor)
		nbq_actor_join(bench, actor);
	return actor;
}

/* Become known and look: a waiter that has seen nothing may leave later. */
static void link_and_look(struct nbq_bench *bench, struct nbq_actor *actor)
{
	if (actor->part != JOINED)
		return;
	nbq_actor_link(bench, actor);
	nbq_actor_advance(bench, actor);
}

static struct nbq_actor *arrive(struct nbq_bench *bench)
{
	struct nbq_actor *actor = come_and_join(bench);

	if (actor)
		link_and_look(bench, actor);
	return actor;
}

static void make_move(struct game *game, struct player *player, char move)
{
	struct nbq_bench *bench = game->bench;

	if (move == 'j')
		player->actor = come_and_join(bench);
	if (!player->actor)
		return;
	if (move == 'l')
		link_and_look(bench, player->actor);
	if (move == 'a' && player->actor->part == WAITS)
		nbq_actor_advance(bench, player->actor);
	if (move == 'x' && player->actor->part == WAITS)
		nbq_actor_leave(bench, player->actor);
	/* Whoever got the lock releases it at its last move. */
	if (strchr("axr", move) && player->actor->part == HOLDS)
		nbq_actor_release(bench, player->actor);
}

/* Nobody writes to a node that is free, but for whoever takes it. */
static void look_at_free_nodes(struct game *game)
{
	unsigned int i;

	for (i = 0; i < NBQ_BENCH_NODES; i++) {
		struct nbq_node *node = &game->bench->nodes[i];

		if (!nbq_is_free(node) || !node->alloc_seq)
			continue;
		if (game->poisoned[i] == node->alloc_seq && !is_poison(node))
			game->touched = true;
		poison_node(node);
		game->poisoned[i] = node->alloc_seq;
	}
}

static void make_moves(unsigned int step, void *arg)
{
	struct game *game = arg;
	unsigned int i;

	look_at_free_nodes(game);
	for (i = 0; i < game->size; i++) {
		struct player *player = &game->players[i];

		while (player->moves[player->made] &&
		       player->at[player->made] == step)
			make_move(game, player, player->moves[player->made++]);
	}
	look_at_free_nodes(game);
}

static unsigned long in_use(const struct nbq_events *events)
{
	return events->nodes_allocated - events->nodes_freed -
	       events->nodes_reclaimed;
}

/* After the turn of all: everybody is gone, and the lock can be had. */
static const char *look_at_what_is_left(struct nbq_bench *bench)
{
	struct nbq_actor *next;
	unsigned int i;

	nbq_bench_go_on(bench);
	for (i = 0; i < bench->arrivals; i++) {
		if (bench->actors[i].part != GONE)
			return "somebody never gets the lock";
	}
	if (bench->row->is_locked(bench->lock))
		return "the lock has a holder";
	next = arrive(bench);
	if (!next || next->part != HOLDS)
		return "the next one does not get the lock";
	nbq_actor_release(bench, next);
	if (bench->row->destroy(bench->lock))
		return "the lock cannot be destroyed";
	for (i = 0; i < NBQ_BENCH_NODES; i++) {
		if (!nbq_is_free(&bench->nodes[i]))
			return "a node is lost";
	}
	return NULL;
}

/* From a new lock to a new lock */
static void play(struct game *game)
{
	struct nbq_bench *bench = game->bench;
	struct nbq_events *events;
	unsigned int i, steps;
	unsigned long before;

	nbq_bench_fill(bench, NBQ_BENCH_NODES);
	memset(game->poisoned, 0, sizeof(game->poisoned));
	game->touched = false;
	for (i = 0; i < game->size; i++) {
		game->players[i].actor = NULL;
		game->players[i].made = 0;
	}

	preempt_disable();
	events = &nbq_this_pool()->events;
	before = in_use(events);
	game->begin(game);
	make_moves(0, game);
	nbq_steps_start(make_moves, game);
	game->act(game);
	steps = nbq_steps_stop();
	look_at_free_nodes(game);
	game->wrong = look_at_what_is_left(bench);
	if (!game->wrong && game->touched)
		game->wrong = "a free node was written to";
	if (!game->wrong && in_use(events) + in_use(&bench->pool.events) != before)
		game->wrong = "a node was given back twice, or never";
	preempt_enable();

	game->fewest = min(game->fewest, steps);
	game->steps = max(game->steps, steps);
	game->plays++;
	cond_resched();
}

/* Try out each place of each move that is left to place. */
static void place_moves(struct game *game, unsigned int i, unsigned int move)
{
	struct player *player = &game->players[i];
	unsigned int at;

	if (i == game->size) {
		play(game);
		return;
	}
	if (!player->moves[move]) {
		place_moves(game, i + 1, 0);
		return;
	}
	at = move ? player->at[move - 1] : 0;
	for (; at <= game->last && !game->wrong; at++) {
		player->at[move] = at;
		place_moves(game, i, move + 1);
	}
}

static void say_what_is_wrong(struct kunit *test, struct game *game)
{
	unsigned int i, move;

	for (i = 0; i < game->size; i++) {
		struct player *player = &game->players[i];

		for (move = 0; player->moves[move]; move++)
			kunit_info(test, "player %u: %c before step %u", i,
				   player->moves[move], player->at[move]);
	}
	KUNIT_FAIL(test, "order %u: %s", game->plays, game->wrong);
}

/*
 * Return: the most own steps in any order. @moves: of each player, in the order
 * in which they move when several do before the same step.
 */
static unsigned int try_out(struct kunit *test, struct game *game,
			    const char * const *moves, unsigned int steps)
{
	unsigned int i;

	game->bench = test->priv;
	game->last = steps + 1;
	game->fewest = UINT_MAX;
	game->steps = 0;
	game->plays = 0;
	for (i = 0; i < PLAYERS_MAX && moves[i]; i++)
		game->players[i].moves = moves[i];
	game->size = i;
	place_moves(game, 0, 0);
	if (game->wrong)
		say_what_is_wrong(test, game);
	kunit_info(test, "%s: %u to %u own steps in %u orders",
		   game->bench->row->name, game->fewest, game->steps,
		   game->plays);
	return game->steps;
}

static void leave(struct game *game)
{
	nbq_actor_leave(game->bench, game->me);
}

/* H w: w leaves. The holder is the first player. */
static void begin_behind_the_holder(struct game *game)
{
	game->players[0].actor = arrive(game->bench);
	game->me = arrive(game->bench);
}

/* H w x: x leaves. The holder and w are the first players. */
static void begin_behind_a_waiter(struct game *game)
{
	game->players[0].actor = arrive(game->bench);
	game->players[1].actor = arrive(game->bench);
	game->me = arrive(game->bench);
}

static void release(struct game *game)
{
	game->bench->row->unlock(game->bench->lock);
}

/* H, by the verbs, so that the steps of the verb are counted. */
static void begin_with_the_lock(struct game *game)
{
	game->bench->row->lock(game->bench->lock);
}

static void leave_in_any_order_is_whole_and_bounded(struct kunit *test)
{
	static const char * const behind_holder[] = { "r", "jlx", "jla" };
	static const char * const the_reverse[] = { "r", "jla", "jlx" };
	static const char * const behind_leaver[] = { "r", "x", "jlx" };
	static const char * const behind_waiter[] = { "r", "a", "jlx" };
	const struct nbq_facts *facts = ((struct nbq_bench *)test->priv)->row->facts;
	struct game near = { .begin = begin_behind_the_holder, .act = leave };
	struct game far = { .begin = begin_behind_a_waiter, .act = leave };
	unsigned int steps;

	steps = try_out(test, &near, behind_holder, facts->leave_steps);
	KUNIT_EXPECT_EQ(test, steps, facts->leave_steps);
	KUNIT_EXPECT_LE(test, steps, facts->leave_bound);
	steps = try_out(test, &near, the_reverse, facts->leave_steps);
	KUNIT_EXPECT_LE(test, steps, facts->leave_steps);
	steps = try_out(test, &far, behind_leaver, facts->leave_steps);
	KUNIT_EXPECT_LE(test, steps, facts->leave_steps);
	steps = try_out(test, &far, behind_waiter, facts->leave_steps);
	KUNIT_EXPECT_LE(test, steps, facts->leave_steps);
}

static void release_in_any_order_is_whole_and_bounded(struct kunit *test)
{
	static const char * const one_stays[] = { "jlx", "jla", NULL };
	static const char * const the_reverse[] = { "jla", "jlx", NULL };
	static const char * const both_leave[] = { "jlx", "jlx", NULL };
	const struct nbq_facts *facts = ((struct nbq_bench *)test->priv)->row->facts;
	struct game game = { .begin = begin_with_the_lock, .act = release };
	unsigned int steps;

	steps = try_out(test, &game, one_stays, facts->release_steps);
	KUNIT_EXPECT_EQ(test, steps, facts->release_steps);
	KUNIT_EXPECT_LE(test, steps, facts->release_bound);
	steps = try_out(test, &game, the_reverse, facts->release_steps);
	KUNIT_EXPECT_LE(test, steps, facts->release_steps);
	steps = try_out(test, &game, both_leave, facts->release_steps);
	KUNIT_EXPECT_LE(test, steps, facts->release_steps);
}

/* A context that interrupts, and takes from the same pool */

struct nested_case {
	const char *desc;
	unsigned int waiters;
	/* 0: a deadline in the past, with which it enters a queue; -1: none */
	ktime_t patience;
	/* just before: whether those waiters leave, and the one in front hands over */
	bool leave;
	bool hand_over;
};

static const struct nested_case nested_in_leave_cases[] = {
	{ "alone", 0, 0, false, false },
	{ "before_a_waiter", 1, 0, false, false },
	{ "before_two_waiters", 2, 0, false, false },
	{ "before_a_leaver", 1, 0, true, false },
	{ "before_two_leavers", 2, 0, true, false },
	{ "alone_patient", 0, 15, false, false },
	{ "before_a_waiter_patient", 1, 15, false, false },
	{ "before_two_waiters_patient", 2, 15, false, false },
	{ "before_two_leavers_patient", 2, 15, true, false },
	{ "alone_without_patience", 0, -1, false, false },
	{ "before_a_leaver_without_patience", 1, -1, true, false },
	{ "before_two_waiters_without_patience", 2, -1, false, false },
	{ "alone_handed_over", 0, 0, false, true },
	{ "before_a_waiter_handed_over", 1, 0, false, true },
	{ "before_two_waiters_handed_over", 2, 15, false, true },
	{ "before_a_leaver_handed_over", 1, 0, true, true },
	{ "before_two_leavers_handed_over", 2, 15, true, true },
};

/* Nobody is in front of one who releases. */
static const struct nested_case nested_in_release_cases[] = {
	{ "alone", 0, 0, false, false },
	{ "before_a_waiter", 1, 0, false, false },
	{ "before_two_waiters", 2, 0, false, false },
	{ "before_a_leaver", 1, 0, true, false },
	{ "before_two_leavers", 2, 0, true, false },
	{ "alone_patient", 0, 15, false, false },
	{ "before_a_waiter_patient", 1, 15, false, false },
	{ "before_two_waiters_patient", 2, 15, false, false },
	{ "before_two_leavers_patient", 2, 15, true, false },
	{ "alone_without_patience", 0, -1, false, false },
	{ "before_two_waiters_without_patience", 2, -1, false, false },
};

static void nested_desc(const struct nested_case *nested, char *desc)
{
	strscpy(desc, nested->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(nested_in_leave, nested_in_leave_cases, nested_desc);
KUNIT_ARRAY_PARAM(nested_in_release, nested_in_release_cases, nested_desc);

/**
 * struct interruption - when the nested context comes, and how often it got what
 * @nested: the case
 * @bench: the lock
 * @at: the step before which it comes
 * @came: whether it came
 * @ret: of its attempt
 * @timeouts: how many of its attempts timed out
 * @failed_tries: how many had no patience, and failed
 * @deadlocks: how many were told that they would wait for their own CPU
 * @acquired: how many got the lock
 * @before: what all pools of the CPUs had counted at first
 */
struct interruption {
	const struct nested_case *nested;
	struct nbq_bench *bench;
	unsigned int at;
	bool came;
	int ret;
	unsigned int timeouts;
	unsigned int failed_tries;
	unsigned int deadlocks;
	unsigned int acquired;
	struct nbq_events before;
};

/*
 * The nested context: a whole attempt, with all that belongs to it. To lockdep it
 * is the same context, which already waits for that lock; it must be excused.
 */
static void interrupt_step(unsigned int step, void *arg)
{
	struct interruption *interruption = arg;
	const struct nested_case *nested = interruption->nested;
	struct nbq_bench *bench = interruption->bench;
	int i;

	if (step != interruption->at)
		return;
	interruption->came = true;
	for (i = bench->arrivals - 1; i >= 0 && nested->leave; i--) {
		if (bench->actors[i].part == WAITS)
			nbq_actor_leave(bench, &bench->actors[i]);
	}
	if (nested->hand_over && bench->actors[0].part == HOLDS)
		nbq_actor_release(bench, &bench->actors[0]);
	if (nested->patience)
		interruption->ret = bench->row->lock_timeout(bench->lock,
							     nested->patience);
	else
		interruption->ret = bench->row->lock_until(bench->lock, 999);
	if (!interruption->ret)
		bench->row->unlock(bench->lock);
}

static void waiters_arrive(void *arg)
{
	struct interruption *interruption = arg;
	unsigned int i;

	for (i = 0; i < interruption->nested->waiters; i++)
		arrive(interruption->bench);
}

/* All nodes are free, and each that was taken was given back once. */
static void expect_no_node_in_use(struct kunit *test)
{
	struct nbq_bench *bench = test->priv;
	struct nbq_events now = {};

	KUNIT_EXPECT_EQ(test, nbq_nodes_in_use(bench), 0);
	nbq_read_events(&now);
	/* A node may be taken from one pool and reclaimed in another's count. */
	KUNIT_EXPECT_EQ(test, in_use(&now) + in_use(&bench->pool.events),
			in_use(&bench->total));
	memset(&bench->pool.events, 0, sizeof(bench->pool.events));
	bench->total = now;
}

static void expect_whole(struct kunit *test)
{
	KUNIT_ASSERT_STREQ(test, look_at_what_is_left(test->priv) ?: "", "");
	expect_no_node_in_use(test);
}

/*
 * One that is let by once is let by from then on. A holder on its own CPU that
 * the lock names, which it does until step @named, is answered as a deadlock, if the
 * nested context would wait. (As the waiters are made by hand, and the nested context
 * is of the same level, there is nobody to tell it later.)
 */
static void expect_failure_until_acquired(struct kunit *test,
					  struct interruption *interruption,
					  unsigned int named)
{
	int failure = interruption->nested->patience < 0 ? -EBUSY :
		      interruption->at <= named ? -EDEADLK : -ETIMEDOUT;

	if (!interruption->came)
		return;
	if (interruption->ret || interruption->acquired)
		KUNIT_EXPECT_EQ_MSG(test, interruption->ret,
				    interruption->acquired ? 0 : failure,
				    "before step %u", interruption->at);
	if (interruption->ret == -EDEADLK)
		interruption->deadlocks++;
	else if (interruption->ret == -EBUSY)
		interruption->failed_tries++;
	else if (interruption->ret)
		interruption->timeouts++;
	else
		interruption->acquired++;
}

/*
 * One attempt before each of the steps, and exactly those before the last few,
 * @can_be_had, got the lock. @timeouts, @acquired: of the one interrupted.
 */
static void expect_attempts(struct kunit *test, struct interruption *interruption,
			    unsigned int steps, unsigned int can_be_had,
			    unsigned int timeouts, unsigned int acquired)
{
	const struct nbq_facts *facts = interruption->bench->row->facts;
	struct nbq_events *before = &interruption->before, now = {};
	unsigned long counted, nodes;

	KUNIT_EXPECT_GT(test, steps, 0);
	KUNIT_EXPECT_EQ(test, interruption->timeouts + interruption->failed_tries +
			interruption->deadlocks + interruption->acquired, steps);
	KUNIT_EXPECT_EQ(test, interruption->acquired, can_be_had);
	nbq_read_events(&now);
	timeouts += interruption->timeouts;
	acquired += interruption->acquired;
	KUNIT_EXPECT_EQ(test, now.timeouts - before->timeouts, timeouts);
	/* None of these takes a node: see below. */
	KUNIT_EXPECT_EQ(test, now.failed_tries - before->failed_tries,
			interruption->failed_tries);
	KUNIT_EXPECT_EQ(test, now.deadlocks - before->deadlocks,
			interruption->deadlocks);
	counted = now.acquired_uncontended + now.acquired_handoff -
		  before->acquired_uncontended - before->acquired_handoff;
	nodes = now.nodes_allocated + now.nodes_resumed -
		before->nodes_allocated - before->nodes_resumed;
	if (facts->holder_nodes) {
		KUNIT_EXPECT_EQ(test, counted, acquired);
		KUNIT_EXPECT_EQ(test, nodes,
				timeouts + interruption->deadlocks + acquired);
	} else {
		/* Nobody counts who need not wait, nor takes a node. */
		KUNIT_EXPECT_LE(test, counted, interruption->acquired);
		KUNIT_EXPECT_LE(test, nodes,
				timeouts + interruption->deadlocks + counted);
	}
}

static void nested_attempt_between_any_steps_of_a_leave(struct kunit *test)
{
	const struct nested_case *nested = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct interruption interruption = {
		.nested = nested,
		.bench = bench,
		.before = bench->total,
	};
	const struct nbq_facts *facts = bench->row->facts;
	unsigned int steps, can_be_had = 0;
	int ret;

	bench->row->excuse(bench->lock);
	do {
		interruption.at++;
		interruption.came = false;
		nbq_bench_fill(bench, NBQ_BENCH_NODES);

		/* before: H w, and w times out when x and y are behind it */
		arrive(bench);
		nbq_fake_start(1000, 10);
		nbq_fake_call(nbq_first_read_queued(facts), waiters_arrive, &interruption);
		nbq_steps_start(interrupt_step, &interruption);
		ret = bench->row->lock_timeout(bench->lock, 100);
		steps = nbq_steps_stop();
		if (!ret)
			bench->row->unlock(bench->lock);
		KUNIT_ASSERT_EQ(test, ret, -ETIMEDOUT);
		expect_failure_until_acquired(test, &interruption, 0);
		expect_whole(test);
	} while (interruption.came);
	/* The last that can be in the way is w, whose place the nested attempt resumes. */
	if (nested->hand_over)
		can_be_had = facts->passes ? steps : facts->after_leave[!!nested->waiters];
	expect_attempts(test, &interruption, steps, can_be_had, steps + 1, 0);
}

static void nested_attempt_between_any_steps_of_a_release(struct kunit *test)
{
	const struct nested_case *nested = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct interruption interruption = {
		.nested = nested,
		.bench = bench,
		.before = bench->total,
	};
	const struct nbq_facts *facts = bench->row->facts;
	unsigned int steps;

	if (!facts->release_steps)
		kunit_skip(test, "without lockdep, this type's unlock is inline");
	bench->row->excuse(bench->lock);
	do {
		interruption.at++;
		interruption.came = false;
		nbq_bench_fill(bench, NBQ_BENCH_NODES);

		/* before: H, and x and y */
		nbq_fake_start(1000, 10);
		bench->row->lock(bench->lock);
		waiters_arrive(&interruption);
		nbq_steps_start(interrupt_step, &interruption);
		bench->row->unlock(bench->lock);
		steps = nbq_steps_stop();
		/* What a CPU holds by nodes it has let go of before the first step. */
		expect_failure_until_acquired(test, &interruption, !facts->holder_nodes);
		expect_whole(test);
	} while (interruption.came);
	expect_attempts(test, &interruption, steps,
			!nested->waiters || nested->leave ?
			facts->after_release[!!nested->waiters] : 0, 0, steps + 1);
}

/* Unlock, then free: as soon as others can have the lock, it may be no more. */

struct end_of_the_lock {
	struct nbq_bench *bench;
	struct nbq_node *releaser;
	unsigned int at;
	bool came;
	/* the lock was free, and is no more; nor is the releaser's node */
	bool over;
	bool node_over;
	int destroyed;
};

/* Whoever waits leaves, or has its turn: then a newcomer has the lock, or not. */
static bool lock_can_be_had(struct nbq_bench *bench)
{
	struct nbq_actor *newcomer;
	int i;

	nbq_bench_go_on(bench);
	for (i = bench->arrivals - 1; i >= 0; i--) {
		if (bench->actors[i].part == WAITS)
			nbq_actor_leave(bench, &bench->actors[i]);
	}
	newcomer = arrive(bench);
	if (!newcomer)
		return false;
	if (newcomer->part == HOLDS) {
		nbq_actor_release(bench, newcomer);
		return true;
	}
	nbq_actor_leave(bench, newcomer);
	return false;
}

/*
 * Memory that was a lock, with the node of the releaser in every word: what a
 * compare-and-swap too late expects. Where it has none, with zeroes.
 */
static void fill_with(void *lock, size_t size, struct nbq_node *node)
{
	struct nbq_node **word = lock;
	size_t i;

	for (i = 0; i < size / sizeof(*word); i++)
		word[i] = node;
}

static bool is_full_of(const void *lock, size_t size, const struct nbq_node *node)
{
	struct nbq_node * const *word = lock;
	size_t i;

	for (i = 0; i < size / sizeof(*word); i++) {
		if (word[i] != node)
			return false;
	}
	return true;
}

static void end_lock(unsigned int step, void *arg)
{
	struct end_of_the_lock *end = arg;
	struct nbq_bench *bench = end->bench;

	if (step != end->at)
		return;
	end->came = true;
	if (!lock_can_be_had(bench))
		return;
	end->over = true;
	end->destroyed = bench->row->destroy(bench->lock);
	fill_with(bench->lock, bench->row->size, end->releaser);
	end->node_over = end->releaser && nbq_is_free(end->releaser);
	if (end->node_over)
		poison_node(end->releaser);
}

static const unsigned int waiters_cases[] = { 0, 1, 2 };

static void waiters_desc(const unsigned int *waiters, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u_waiters", *waiters);
}

KUNIT_ARRAY_PARAM(waiters, waiters_cases, waiters_desc);

static void release_touches_neither_lock_nor_node_once_others_can_have_it(struct kunit *test)
{
	const unsigned int *waiters = test->param_value;
	struct nbq_bench *bench = test->priv;
	struct end_of_the_lock end = { .bench = bench };
	unsigned int i, ends = 0;

	do {
		end.at++;
		end.came = false;
		end.over = false;
		nbq_bench_fill(bench, NBQ_BENCH_NODES);
		bench->row->init(bench->lock);

		/* before: H, and w and x */
		bench->row->lock(bench->lock);
		end.releaser = bench->row->holder(bench->lock);
		for (i = 0; i < *waiters; i++)
			arrive(bench);
		nbq_steps_start(end_lock, &end);
		bench->row->unlock(bench->lock);
		nbq_steps_stop();

		if (!end.over) {
			expect_whole(test);
			continue;
		}
		ends++;
		KUNIT_EXPECT_EQ(test, end.destroyed, 0);
		KUNIT_EXPECT_TRUE(test, is_full_of(bench->lock, bench->row->size,
						   end.releaser));
		if (end.node_over)
			KUNIT_EXPECT_TRUE(test, is_poison(end.releaser));
		bench->row->init(bench->lock);
		expect_no_node_in_use(test);
	} while (end.came);
	KUNIT_EXPECT_EQ(test, ends, bench->row->facts->after_release[!!*waiters]);
}

#define NBQ_SUITE_CASES							\
{									\
	KUNIT_CASE(leave_in_any_order_is_whole_and_bounded),		\
	KUNIT_CASE(release_in_any_order_is_whole_and_bounded),		\
	KUNIT_CASE_PARAM(nested_attempt_between_any_steps_of_a_leave,	\
			 nested_in_leave_gen_params),			\
	KUNIT_CASE_PARAM(nested_attempt_between_any_steps_of_a_release,	\
			 nested_in_release_gen_params),			\
	KUNIT_CASE_PARAM(release_touches_neither_lock_nor_node_once_others_can_have_it,\
			 waiters_gen_params),				\
	{}								\
}

#define NBQ_SUITE_SUFFIX	"_steps"
#include "lock_row_suites.h"
