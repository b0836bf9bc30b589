// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that are freed as early as possible: by the holder that releases last, while earlier
 * ones may still be in their release. Freed memory is poisoned, and the poison is checked when
 * a lock is made there again.
 *
 * There are two slots for a lock, with an admission. A contender is admitted as a user of the
 * lock in an open slot. After a failure it exits, when it does not touch the lock any more. The
 * holder exits while it holds the lock. If that leaves no user, no other context will touch the
 * lock: all others have failed, or were holders before and exited then. The slot is closed, and
 * this last holder frees the memory after its release.
 *
 * So a release is tested that must not touch the lock once the next holder can have it, as that
 * one may free it. The admission of the holder delays no release.
 *
 * A slot stays poisoned while the other one is open, so that a late write hits the poison, not
 * a lock.
 */
#include <linux/poison.h>
#include <linux/string.h>

#include "run.h"

/* How long a new lock is held at most until it has another user */
#define ANOTHER_USER_NS	(50 * NSEC_PER_USEC)

static void poison(const struct stress_run *run, struct stress_lock *lock)
{
	memset(lock, POISON_FREE, run->params.lock->size);
}

static bool is_poisoned(const struct stress_run *run, const struct stress_lock *lock)
{
	return !memchr_inv(lock, POISON_FREE, run->params.lock->size);
}

static struct slot *slot_of(const struct contender *contender)
{
	return &contender->run->admission.slots[contender->refs[0].index];
}

static int find_slot(const struct admission *admission, enum slot_state state)
{
	unsigned int i;

	/* The least recently opened slot comes first. */
	for (i = 1; i <= STRESS_SLOTS; i++) {
		unsigned int index = (admission->last + i) % STRESS_SLOTS;

		if (admission->slots[index].state == state)
			return index;
	}
	return -1;
}

/*
 * Become a user of the open slot, or the maker of a lock in a poisoned one.
 *
 * Return: %SLOT_OPEN, %SLOT_INIT: the state of the slot; %SLOT_CLOSED: try again.
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
		stress_ref_set(&contender->refs[0], run, index);
	}
	raw_spin_unlock(&admission->lock);
	return state;
}

/* Make a lock in a poisoned slot. Others are admitted after that. */
static bool open_slot(struct contender *contender)
{
	struct stress_run *run = contender->run;
	struct stress_lock *lock = contender->refs[0].target.lock;
	struct slot *slot = slot_of(contender);
	bool intact = is_poisoned(run, lock);
	int ret = stress_lock_init(run, lock, 0);

	if (ret)
		poison(run, lock);
	raw_spin_lock(&run->admission.lock);
	run->admission.written += !intact;
	slot->state = ret ? SLOT_POISONED : SLOT_OPEN;
	slot->users -= !!ret;
	raw_spin_unlock(&run->admission.lock);
	return !ret;
}

void stress_admission_start(struct stress_run *run)
{
	unsigned int i;

	raw_spin_lock_init(&run->admission.lock);
	for (i = 0; i < STRESS_SLOTS; i++) {
		run->admission.slots[i].state = SLOT_POISONED;
		poison(run, run->targets[i].lock);
	}
}

/*
 * Become a user of a lock, to which the contender's first reference is afterwards, and make it if
 * there is none. May sleep.
 *
 * Return: false if the run was stopped meanwhile, or there is no memory.
 */
bool stress_admission_enter(struct contender *contender)
{
	enum slot_state state;

	/* The context that makes or frees a lock may be waiting for this CPU. */
	while ((state = admit(contender)) == SLOT_CLOSED) {
		if (READ_ONCE(contender->run->stop))
			return false;
		cpu_relax();
		cond_resched();
	}
	return state == SLOT_OPEN || open_slot(contender);
}

/* Cease to be a user, after a failed attempt. */
void stress_admission_exit(struct contender *contender)
{
	struct admission *admission = &contender->run->admission;

	raw_spin_lock(&admission->lock);
	slot_of(contender)->users--;
	raw_spin_unlock(&admission->lock);
}

/*
 * The maker of a lock holds it until there is another user: else most locks would be freed by
 * their first holder, which runs after no other release.
 */
static void wait_for_another_user(const struct contender *contender, const struct slot *slot)
{
	u64 end;

	if (slot->maker != contender->id)
		return;
	end = stress_clock_ns() + ANOTHER_USER_NS;
	/* A hint: writers hold the lock of the admission. */
	while (data_race(READ_ONCE(slot->users)) == 1 && stress_clock_ns() < end)
		cpu_relax();
}

/*
 * Cease to be a user, as the holder, which releases next. Return: true if it was the last user, and
 * must free the lock after the release.
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

/* By the last user, after its release. */
void stress_admission_free(struct contender *contender)
{
	struct stress_run *run = contender->run;
	const struct stress_ops *ops = run->params.lock;
	struct stress_lock *lock = contender->refs[0].target.lock;
	int ret = ops->destroy ? ops->destroy(lock) : 0;

	if (ret) {
		/* Still in use: the lock stays, the slot stays closed. */
		WRITE_ONCE(run->destroyed, ret);
		return;
	}
	poison(run, lock);
	raw_spin_lock(&run->admission.lock);
	slot_of(contender)->state = SLOT_POISONED;
	run->admission.freed++;
	raw_spin_unlock(&run->admission.lock);
}

/* Destroy what is in the slots, after the threads have ended. */
void stress_admission_stop(struct stress_run *run)
{
	const struct stress_ops *ops = run->params.lock;
	unsigned int i;
	int ret;

	for (i = 0; i < STRESS_SLOTS; i++) {
		struct stress_lock *lock = run->targets[i].lock;
		struct slot *slot = &run->admission.slots[i];

		if (slot->state == SLOT_POISONED)
			run->admission.written += !is_poisoned(run, lock);
		if (slot->state != SLOT_OPEN || !ops->destroy)
			continue;
		ret = ops->destroy(lock);
		if (ret && !run->destroyed)
			run->destroyed = ret;
	}
}
