// SPDX-License-Identifier: GPL-2.0
/* Right uses of the locks, for tools/studies/moving/mistakes.cocci; nothing compiles this. */

int right_return(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret)
		return ret;
	work(d);
	nbq_spin_unlock(&d->lock);
	return 0;
}

int right_branches(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret) {
		gave_up(ret);
	} else {
		work(d);
		nbq_spin_unlock(&d->lock);
	}
	return ret;
}

int right_error_path(struct dev *d)
{
	int ret;

	ret = nbq_spin_lock_timeout(&d->lock, NS);
	if (ret)
		goto out;
	ret = work(d);
	if (ret)
		goto unlock;
	more_work(d);
unlock:
	nbq_spin_unlock(&d->lock);
out:
	return ret;
}

int right_waits_after_all(struct dev *d)
{
	if (nbq_spin_lock_timeout(&d->lock, NS)) {
		count(d);
		nbq_spin_lock(&d->lock);
	}
	work(d);
	nbq_spin_unlock(&d->lock);
	return 0;
}

int right_tested_twice(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (!ret)
		d->count++;
	write_out(d);
	if (!ret)
		nbq_spin_unlock(&d->lock);
	return ret;
}

int right_flag(struct dev *d)
{
	bool locked = false;

	if (!nbq_spin_lock_timeout(&d->lock, NS))
		locked = true;
	write_out(d);
	if (locked)
		nbq_spin_unlock(&d->lock);
	return 0;
}

int right_other_flag(struct dev *d)
{
	bool locked = true;

	if (nbq_spin_lock_timeout(&d->lock, NS))
		locked = false;
	write_out(d);
	if (d->dead) {
		if (locked)
			nbq_spin_unlock(&d->lock);
		return -ENODEV;
	}
	if (locked)
		nbq_spin_unlock(&d->lock);
	return 0;
}

int right_lock_of_choice(struct dev *d, bool shared)
{
	int ret;

	if (shared) {
		ret = nbq_spin_lock_timeout(&d->lock, NS);
		if (ret)
			return ret;
	}
	if (d->dead) {
		if (shared)
			nbq_spin_unlock(&d->lock);
		return -ENODEV;
	}
	work(d);
	if (shared)
		nbq_spin_unlock(&d->lock);
	return 0;
}

int right_retry(struct dev *d)
{
	int tries, ret;

	for (tries = 0; tries < 3; tries++) {
		ret = nbq_spin_lock_timeout(&d->lock, NS);
		if (!ret)
			break;
		cpu_relax();
	}
	if (ret)
		return ret;
	work(d);
	nbq_spin_unlock(&d->lock);
	return 0;
}

void right_loop(struct dev *d)
{
	while (nbq_spin_lock_timeout(&d->lock, NS))
		cpu_relax();
	work(d);
	nbq_spin_unlock(&d->lock);
}

void right_loop_of_work(struct dev *d)
{
	while (!nbq_spin_lock_timeout(&d->lock, NS)) {
		work(d);
		nbq_spin_unlock(&d->lock);
	}
}

int right_do_loop(struct dev *d)
{
	int ret;

	do {
		ret = nbq_spin_lock_timeout(&d->lock, NS);
	} while (ret == -ETIMEDOUT);
	if (ret)
		return ret;
	nbq_spin_unlock(&d->lock);
	return 0;
}

/* Acquires for its caller. */
int right_lock_of_a_live_one(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret)
		return ret;
	if (d->dead) {
		nbq_spin_unlock(&d->lock);
		return -ENODEV;
	}
	return 0;
}

int right_unlock_by_a_function(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret)
		return ret;
	if (d->dead)
		return finish_and_unlock(d);
	nbq_spin_unlock(&d->lock);
	return 0;
}

int right_deadlock_test(struct dev *d)
{
	int ret;

	nbq_spin_lock(&d->lock);
	ret = nbq_spin_lock_timeout(&d->lock, NS);
	nbq_spin_unlock(&d->lock);
	return ret == -EDEADLK;
}

int right_takeover(struct dev *d)
{
	struct nbq_timeout info;
	int ret;

	ret = nbq_spin_lock_timeout_info(&d->lock, NS, &info);
	if (ret == -EOWNERDEAD) {
		ret = nbq_spin_takeover(&d->lock, &info);
		if (!ret)
			repair(d);
	}
	if (!ret) {
		write_out(d);
		nbq_spin_unlock(&d->lock);
	}
	return ret;
}

void right_two_locks(struct dev *d, struct dev *e)
{
	if (nbq_spin_lock_timeout(&d->lock, NS))
		return;
	if (nbq_spin_lock_timeout(&e->lock, NS)) {
		nbq_spin_unlock(&d->lock);
		return;
	}
	work(d);
	nbq_spin_unlock(&e->lock);
	nbq_spin_unlock(&d->lock);
}

void right_first_try(struct dev *d)
{
	if (!nbq_spin_trylock(&d->lock)) {
		count(d);
		if (nbq_spin_lock_timeout(&d->lock, NS))
			return;
	}
	work(d);
	nbq_spin_unlock(&d->lock);
}

void right_panics(struct dev *d)
{
	if (nbq_spin_lock_timeout(&d->lock, NS))
		panic("no lock");
	work(d);
	nbq_spin_unlock(&d->lock);
}

void right_switch(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	switch (ret) {
	case 0:
		work(d);
		nbq_spin_unlock(&d->lock);
		break;
	default:
		count(d);
	}
}

int right_inner_break(struct dev *d)
{
	if (nbq_spin_lock_timeout(&d->lock, NS))
		return -EBUSY;
	for (; d; d = d->next) {
		if (d->dead)
			break;
	}
	nbq_spin_unlock(&d->lock);
	return 0;
}

int right_held_anyway(struct dev *d, bool held)
{
	int ret = 0;

	if (!held)
		ret = nbq_spin_lock_timeout(&d->lock, NS);
	if (ret)
		return ret;
	work(d);
	if (!held)
		nbq_spin_unlock(&d->lock);
	return 0;
}

void right_held_around_the_loop(struct dev *d)
{
	struct dev *next;

	nbq_spin_lock(&d->lock);
	for (next = d->next; next; next = next->next) {
		if (next->dead)
			continue;
		nbq_spin_unlock(&d->lock);
		work(next);
		nbq_spin_lock(&d->lock);
		if (d->dead)
			continue;
		count(d);
	}
	nbq_spin_unlock(&d->lock);
}

int right_starts_anew(struct dev *d)
{
	nbq_spin_lock(&d->lock);
again:
	if (d->dead)
		goto out;
	nbq_spin_unlock(&d->lock);
	work(d);
	nbq_spin_lock(&d->lock);
	if (d->count)
		goto again;
out:
	nbq_spin_unlock(&d->lock);
	return 0;
}

bool right_as_it_says(struct dev *d) __acquires(&d->lock)
{
	nbq_spin_lock(&d->lock);
	if (!d->dead)
		return true;
	nbq_spin_unlock(&d->lock);
	return false;
}

int right_kernels_own(struct zone *zone)
{
	if (spin_trylock_timeout_irqsave(&zone->lock, NS, flags))
		return -EBUSY;
	work(zone);
	spin_unlock_irqrestore(&zone->lock, flags);
	return 0;
}
