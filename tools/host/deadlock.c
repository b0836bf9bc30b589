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

#define PATIENCE	1000
#define NMI_LEVEL	3
#define MANY_ACCESSES	2000	/* more than to the third walk */
#define ROUNDS		12	/* in which all have their turn who can */
#define MOST_OTHERS	2
#define NEVER		1000
#define MOST_ACCESSES	40

static struct nbq_X lock;
static u64 clock_now;

static u64 fake_clock(void)
{
	return clock_now;
}

static void begin(void)
{
	nbq_deadlock_checks = true;
	memset(&lock, 0, sizeof(lock));
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

/* Each that has not ended goes on to its next look, so many times. */
static void all_look(struct actor *actors, unsigned int number, unsigned int times)
{
	unsigned int i;

	while (times--) {
		for (i = 0; i < number; i++)
			actor_until_it_polls(&actors[i]);
	}
}

/**
 * struct moment - when a context is interrupted, and what has happened by then
 * @held: somebody held the lock when it came
 * @others: how many come behind it
 * @come: after so many of its accesses
 * @released: after so many of them the holder has released
 * @passed: after so many of them its patience is over
 * @stop: after so many of them the NMI comes
 */
struct moment {
	bool held;
	unsigned int others;
	unsigned int come;
	unsigned int released;
	unsigned int passed;
	unsigned int stop;
};

/* CPU 0: interrupted by the NMI. CPU 1: holder. Then those behind. */
struct scene {
	struct actor holder, lower, nmi;
	struct actor others[MOST_OTHERS];
	unsigned int came;
	bool interrupted;
};

static void others_come(struct scene *scene, unsigned int number)
{
	for (; scene->came < number; scene->came++) {
		start(&scene->others[scene->came], 2 + scene->came, KTIME_MAX);
		actor_until_it_polls(&scene->others[scene->came]);
	}
}

static void play_until_the_nmi(struct scene *scene, const struct moment *moment)
{
	unsigned int access;

	memset(scene, 0, sizeof(*scene));
	scene->holder.ended = true;
	if (moment->held) {
		start(&scene->holder, 1, 0);
		actor_until_it_holds(&scene->holder);
	}
	start(&scene->lower, 0, PATIENCE);
	for (access = 0; access <= moment->stop; access++) {
		if (access == moment->released)
			actor_until_it_polls(&scene->holder);
		if (access == moment->come)
			others_come(scene, moment->others);
		if (access == moment->passed)
			clock_now += 2 * PATIENCE;
		if (access < moment->stop)
			actor_steps(&scene->lower, 1);
	}
	others_come(scene, moment->others);
	scene->interrupted = !scene->lower.ended;
	start(&scene->nmi, 0, KTIME_MAX);
	scene->nmi.level = NMI_LEVEL;
}

static bool all_ended(const struct scene *scene)
{
	unsigned int i;

	for (i = 0; i < scene->came; i++) {
		if (!scene->others[i].ended)
			return false;
	}
	return scene->nmi.ended && scene->lower.ended && scene->holder.ended;
}

/* All who can go on do so, until nobody has anything left to do. */
static void play_to_the_end(struct scene *scene)
{
	struct actor *queue[] = { &scene->holder, &scene->nmi, &scene->lower };
	unsigned int round, i;

	for (round = 0; round < ROUNDS && !all_ended(scene); round++) {
		for (i = 0; i < 3; i++) {
			/* What was interrupted waits for the NMI to end. */
			if (queue[i] != &scene->lower || scene->nmi.ended)
				actor_until_it_polls(queue[i]);
		}
		all_look(scene->others, scene->came, 1);
	}
	EXPECT(all_ended(scene));
	for (i = 0; i < scene->came; i++)
		actor_finish(&scene->others[i]);
	actor_finish(&scene->nmi);
	actor_finish(&scene->lower);
	if (scene->holder.lock)
		actor_finish(&scene->holder);
	end();
}

/* Would the NMI wait for ever? */
static bool is_deadlock(const struct moment *moment)
{
	struct scene scene;
	unsigned int round;
	bool stuck;

	begin();
	play_until_the_nmi(&scene, moment);
	nbq_deadlock_checks = false;
	for (round = 0; round < ROUNDS && !scene.nmi.ended; round++) {
		actor_until_it_polls(&scene.holder);
		actor_until_it_polls(&scene.nmi);
		all_look(scene.others, scene.came, 1);
	}
	stuck = !scene.nmi.ended;
	EXPECT(stuck || scene.nmi.ret == 0);
	if (stuck) {
		/* Let it go, by letting it find out. */
		nbq_deadlock_checks = true;
		actor_steps(&scene.nmi, 4 * MANY_ACCESSES);
		EXPECT(scene.nmi.ret == -EDEADLK);
	}
	play_to_the_end(&scene);
	return stuck;
}

static unsigned int deadlocks, deadlocks_at_once;

/* Is the NMI told so, and told nothing else? False: it came too late. */
static bool try_moment(const struct moment *moment)
{
	bool deadlock = is_deadlock(moment), at_once;
	struct scene scene;

	begin();
	play_until_the_nmi(&scene, moment);
	actor_until_it_polls(&scene.nmi);
	at_once = scene.nmi.ended && scene.nmi.ret == -EDEADLK;
	actor_steps(&scene.nmi, MANY_ACCESSES);
	if (!EXPECT((scene.nmi.ended && scene.nmi.ret == -EDEADLK) == deadlock))
		printf("# held %d, %u others at %u, released at %u, passed at %u, NMI at %u: %s\n",
		       moment->held, moment->others, moment->come, moment->released,
		       moment->passed, moment->stop, deadlock ? "missed" : "invented");
	deadlocks += deadlock;
	deadlocks_at_once += at_once;
	play_to_the_end(&scene);
	return scene.interrupted;
}

/* The NMI comes after each access of what it interrupts. */
static unsigned int try_all_interruptions(struct moment moment)
{
	unsigned int tried = 0;

	do {
		moment.stop = tried++;
	} while (try_moment(&moment) && tried <= MOST_ACCESSES);
	return tried;
}

static void try_all_arrivals(struct moment moment)
{
	unsigned int accesses;

	moment.others = 0;
	moment.come = NEVER;
	accesses = try_all_interruptions(moment);
	for (moment.others = 1; moment.others <= MOST_OTHERS; moment.others++) {
		for (moment.come = 0; moment.come <= accesses; moment.come++)
			try_all_interruptions(moment);
	}
}

static void nmi_over_an_acquisition_and_release_of_a_free_lock(void)
{
	struct moment moment = { .released = NEVER, .passed = NEVER };

	try_all_arrivals(moment);
	EXPECT(deadlocks == deadlocks_at_once && deadlocks > 20);
}

static void nmi_over_a_wait_that_is_granted(void)
{
	struct moment moment = { .held = true, .passed = NEVER };

	for (moment.released = 0; moment.released < 12; moment.released++)
		try_all_arrivals(moment);
	EXPECT(deadlocks == deadlocks_at_once && deadlocks > 200);
}

static void nmi_over_a_wait_that_times_out(void)
{
	struct moment moment = { .held = true, .released = NEVER };

	for (moment.passed = 0; moment.passed < 12; moment.passed++)
		try_all_arrivals(moment);
	EXPECT(deadlocks == deadlocks_at_once && deadlocks > 200);
}

static void nmi_over_a_wait_that_times_out_as_it_is_granted(void)
{
	struct moment moment = { .held = true };

	for (moment.passed = 6; moment.passed < 15; moment.passed += 2) {
		/* From the moment at which its patience is over until it has left. */
		for (moment.released = moment.passed + 1;
		     moment.released < moment.passed + 14; moment.released += 4)
			try_all_arrivals(moment);
	}
	EXPECT(deadlocks == deadlocks_at_once && deadlocks > 200);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(nmi_over_an_acquisition_and_release_of_a_free_lock),
		TEST_CASE(nmi_over_a_wait_that_is_granted),
		TEST_CASE(nmi_over_a_wait_that_times_out),
		TEST_CASE(nmi_over_a_wait_that_times_out_as_it_is_granted),
	};

	return test_main(cases, sizeof(cases) / sizeof(cases[0]), 60);
}
