// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that are freed as early as they may be: by the one who releases last,
 * although whoever had the lock before may still be in its release. Freed
 * memory is poisoned, and must be found so when a lock is made there again.
 *
 * There are two places for a lock, and a door to them. Who wants a lock goes
 * in through the door and is one of its users. Who gives up goes out through
 * the door, having left the lock alone by then. The owner goes out while it
 * holds the lock. If that leaves no user, the owner is the last one whom the
 * lock's memory concerns: others have given up, or have been owners before,
 * and these were out when they handed the lock over. So the door is closed
 * behind this last owner, and when its release has returned the memory is its
 * own to free.
 *
 * What is tested is that a release does not touch the lock any more once the
 * next owner can have it: that one may be the last. The owner's own look at
 * the door delays nobody's release.
 *
 * A place rests as long as there is a lock in the other one, so that a write
 * that comes late finds the poison, and not a lock again.
 */
#include <linux/poison.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "run.h"

/* For how long at most a new lock is held until somebody else wants it. */
#define ANOTHER_USER_NS	(50 * NSEC_PER_USEC)

static void poison(union stress_lock *lock)
{
	memset(lock, POISON_FREE, sizeof(*lock));
}

static bool is_poisoned(const union stress_lock *lock)
{
	return !memchr_inv(lock, POISON_FREE, sizeof(*lock));
}

/* Where the contender's lock is. */
static struct slot *slot_of(const struct contender *contender)
{
	struct stress_run *run = contender->run;

	return &run->admission.slots[contender->refs[0].target - run->targets];
}

static int find_slot(const struct admission *admission, enum slot_state state)
{
	unsigned int i;

	/* Beginning with the one that was opened longest ago. */
	for (i = 1; i <= STRESS_SLOTS; i++) {
		unsigned int index = (admission->last + i) % STRESS_SLOTS;

		if (admission->slots[index].state == state)
			return index;
	}
	return -1;
}

/*
 * Go in: become a user of an open slot, or the one to open a slot if nobody does
 * that already.
 *
 * Return: %SLOT_OPEN, %SLOT_INIT: where the caller is now; %SLOT_CLOSED: it
 * must wait.
 */
static enum slot_state admit(struct contender *contender)
{
	struct stress_run *run = contender->run;
	enum slot_state state = SLOT_CLOSED;
	struct admission *admission = &run->admission;
	int index;

	raw_spin_lock(&admission->lock);
	index = find_slot(admission, SLOT_OPEN);
	if (index < 0 && find_slot(admission, SLOT_INIT) < 0) {
		index = find_slot(admission, SLOT_POISONED);
		if (index >= 0) {
			admission->slots[index].state = SLOT_INIT;
			admission->slots[index].maker = contender->id;
			admission->last = index;
		}
	}
	if (index >= 0) {
		admission->slots[index].users++;
		state = admission->slots[index].state;
		contender->refs[0].target = &run->targets[index];
	}
	raw_spin_unlock(&admission->lock);
	return state;
}

/* Make a lock where one was freed. Others may come once it is there. */
static bool open_slot(struct contender *contender)
{
	struct stress_run *run = contender->run;
	union stress_lock *lock = &contender->refs[0].target->lock;
	struct slot *slot = slot_of(contender);
	bool intact = is_poisoned(lock);
	int ret = stress_lock_init(run, lock, 0);

	if (ret)
		poison(lock);
	raw_spin_lock(&run->admission.lock);
	run->admission.written += !intact;
	slot->state = ret ? SLOT_POISONED : SLOT_OPEN;
	slot->users -= !!ret;
	raw_spin_unlock(&run->admission.lock);
	return !ret;
}

/**
 * stress_admission_start() - Get the places for the locks ready.
 * @run: a run whose threads have not begun
 */
void stress_admission_start(struct stress_run *run)
{
	unsigned int i;

	raw_spin_lock_init(&run->admission.lock);
	for (i = 0; i < STRESS_SLOTS; i++) {
		run->admission.slots[i].state = SLOT_POISONED;
		poison(&run->targets[i].lock);
	}
}

/**
 * stress_admission_enter() - Become a user of a lock, which is made if need be.
 * @contender: the caller, whose claim is at that lock afterwards
 *
 * Context: Task.
 * Return: false if the run was stopped meanwhile, or there is no memory.
 */
bool stress_admission_enter(struct contender *contender)
{
	enum slot_state state;

	/* Whoever makes or frees a lock may have to get this CPU for that. */
	while ((state = admit(contender)) == SLOT_CLOSED) {
		if (READ_ONCE(contender->run->stop))
			return false;
		cpu_relax();
		cond_resched();
	}
	return state == SLOT_OPEN || open_slot(contender);
}

/**
 * stress_admission_exit() - Be no user any more, after an attempt that failed.
 * @contender: the caller
 */
void stress_admission_exit(struct contender *contender)
{
	struct admission *admission = &contender->run->admission;

	raw_spin_lock(&admission->lock);
	slot_of(contender)->users--;
	raw_spin_unlock(&admission->lock);
}

/*
 * Who has made a lock waits, while it has it, for somebody who wants it as well:
 * else most locks would be freed by the first who has them, who runs after no
 * other release.
 */
static void wait_for_another_user(const struct contender *contender, const struct slot *slot)
{
	u64 end;

	if (slot->maker != contender->id)
		return;
	end = stress_clock_ns() + ANOTHER_USER_NS;
	/* A hint: whoever changes it holds the door's lock. */
	while (data_race(READ_ONCE(slot->users)) == 1 && stress_clock_ns() < end)
		cpu_relax();
}

/**
 * stress_admission_exit_holder() - The same, by the owner of the lock.
 * @contender: the caller, which releases next
 *
 * Return: true if it was the last user, and must free the lock after that.
 */
bool stress_admission_exit_holder(struct contender *contender)
{
	struct admission *admission = &contender->run->admission;
	struct slot *slot = slot_of(contender);
	bool is_last;

	wait_for_another_user(contender, slot);
	raw_spin_lock(&admission->lock);
	is_last = !--slot->users;
	if (is_last)
		slot->state = SLOT_CLOSED;
	raw_spin_unlock(&admission->lock);
	return is_last;
}

/**
 * stress_admission_free() - Free the lock.
 * @contender: the last user, after its release
 */
void stress_admission_free(struct contender *contender)
{
	struct stress_run *run = contender->run;
	const struct stress_ops *ops = run->params.lock;
	union stress_lock *lock = &contender->refs[0].target->lock;
	int ret = ops->destroy ? ops->destroy(lock) : 0;

	if (ret) {
		/* Somebody uses it: it stays there, and nobody else gets in. */
		WRITE_ONCE(run->destroyed, ret);
		return;
	}
	poison(lock);
	raw_spin_lock(&run->admission.lock);
	slot_of(contender)->state = SLOT_POISONED;
	run->admission.freed++;
	raw_spin_unlock(&run->admission.lock);
}

/**
 * stress_admission_stop() - Take down what is there.
 * @run: a run whose threads are gone
 */
void stress_admission_stop(struct stress_run *run)
{
	const struct stress_ops *ops = run->params.lock;
	unsigned int i;
	int ret;

	for (i = 0; i < STRESS_SLOTS; i++) {
		union stress_lock *lock = &run->targets[i].lock;
		struct slot *slot = &run->admission.slots[i];

		if (slot->state == SLOT_POISONED)
			run->admission.written += !is_poisoned(lock);
		if (slot->state != SLOT_OPEN || !ops->destroy)
			continue;
		ret = ops->destroy(lock);
		if (ret && !run->destroyed)
			run->destroyed = ret;
	}
}
