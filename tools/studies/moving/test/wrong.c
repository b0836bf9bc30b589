// SPDX-License-Identifier: GPL-2.0
/*
 * Wrong uses of the locks, for tools/studies/moving/mistakes.cocci; nothing compiles this. What is to be
 * found is marked in its line: an "unlock" of a lock that is not held, a jump that leaves one
 * "held", a "loop" that ends when it should go on.
 */

int wrong_in_the_branch(struct dev *d)
{
	if (nbq_spin_lock_timeout(&d->lock, NS)) {
		work(d);
		nbq_spin_unlock(&d->lock);	/* unlock */
	}
	return 0;
}

int wrong_without_braces(struct dev *d)
{
	if (unlikely(nbq_spin_lock_timeout(&d->lock, NS) != 0))
		nbq_spin_unlock(&d->lock);	/* unlock */
	return 0;
}

int wrong_by_a_variable(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (unlikely(ret)) {
		if (d->dead)
			return 1;
		nbq_spin_unlock(&d->lock);	/* unlock */
		return ret;
	}
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_in_the_other_branch(struct dev *d)
{
	int ret;

	ret = nbq_spin_lock_timeout(&d->lock, NS);
	if (ret == 0) {
		work(d);
	} else {
		nbq_spin_unlock(&d->lock);	/* unlock */
	}
	return 0;
}

int wrong_goes_on(struct dev *d)
{
	int ret;

	ret = nbq_spin_lock_timeout(&d->lock, NS);
	if (ret < 0)
		pr_err("no lock\n");
	work(d);
	nbq_spin_unlock(&d->lock);	/* unlock */
	return 0;
}

int wrong_returns_when_acquired(struct dev *d)
{
	if (!nbq_spin_lock_timeout(&d->lock, NS))
		return -EBUSY;
	work(d);
	nbq_spin_unlock(&d->lock);	/* unlock */
	return 0;
}

int wrong_jumps_when_acquired(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (!ret)
		goto busy;
	work(d);
	nbq_spin_unlock(&d->lock);	/* unlock */
	return 0;
busy:
	return -EBUSY;
}

int wrong_with_a_condition(struct dev *d)
{
	if (d->up && nbq_spin_lock_timeout(&d->lock, NS)) {
		work(d);
		nbq_spin_unlock(&d->lock);	/* unlock */
	}
	return 0;
}

int wrong_on_timeout(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret == -ETIMEDOUT) {
		nbq_spin_unlock(&d->lock);	/* unlock */
		return ret;
	}
	if (ret)
		return ret;
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_warns(struct dev *d)
{
	if (WARN_ON_ONCE(nbq_spin_lock_timeout(&d->lock, NS)))
		pr_err("no lock\n");
	nbq_spin_unlock(&d->lock);	/* unlock */
	return 0;
}

int wrong_untested(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	work(d);
	nbq_spin_unlock(&d->lock);	/* unlock */
	return ret;
}

void wrong_trylock(struct dev *d)
{
	if (!nbq_spin_trylock(&d->lock)) {
		work(d);
		nbq_spin_unlock(&d->lock);	/* unlock */
	}
}

void wrong_loop(struct dev *d)
{
	while (!nbq_spin_lock_timeout(&d->lock, NS))	/* loop */
		cpu_relax();
	work(d);
	nbq_spin_unlock(&d->lock);
}

int wrong_early_return(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret)
		return ret;
	if (d->dead)
		return -ENODEV;		/* held */
	work(d);
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_return_of_the_same_variable(struct dev *d)
{
	int ret;

	ret = nbq_spin_lock_timeout(&d->lock, NS);
	if (ret)
		return ret;
	ret = work(d);
	if (ret)
		return ret;		/* held */
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_goto(struct dev *d)
{
	if (nbq_spin_lock_timeout(&d->lock, NS))
		return -EBUSY;
	if (d->dead)
		goto out;		/* held */
	nbq_spin_unlock(&d->lock);
out:
	return 0;
}

void wrong_return_in_the_branch(struct dev *d)
{
	if (!nbq_spin_lock_timeout(&d->lock, NS)) {
		if (d->dead)
			return;		/* held */
		nbq_spin_unlock(&d->lock);
	}
}

void wrong_return_in_the_else_branch(struct dev *d)
{
	int ret = nbq_spin_lock_timeout(&d->lock, NS);

	if (ret) {
		pr_err("no lock\n");
	} else {
		if (d->dead)
			return;		/* held */
		nbq_spin_unlock(&d->lock);
	}
}

void wrong_continue(struct dev *d)
{
	for (; d; d = d->next) {
		if (nbq_spin_lock_timeout(&d->lock, NS))
			continue;
		if (d->dead)
			continue;	/* held */
		nbq_spin_unlock(&d->lock);
	}
}

void wrong_break(struct dev *d)
{
	for (; d; d = d->next) {
		if (nbq_spin_lock_timeout(&d->lock, NS))
			continue;
		if (d->dead)
			break;		/* held */
		nbq_spin_unlock(&d->lock);
	}
	finish();
}

int wrong_return_after_lock(struct dev *d)
{
	nbq_spin_lock(&d->lock);
	if (d->dead)
		return -ENODEV;		/* held */
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_return_after_trylock(struct dev *d)
{
	if (!nbq_spin_trylock(&d->lock))
		return -EBUSY;
	if (d->dead)
		return -ENODEV;		/* held */
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_starts_anew(struct dev *d)
{
again:
	nbq_spin_lock(&d->lock);
	if (d->count)
		goto again;		/* held */
	nbq_spin_unlock(&d->lock);
	return 0;
}

int wrong_kernels_own(struct zone *zone)
{
	if (spin_trylock_timeout_irqsave(&zone->lock, NS, flags)) {
		work(zone);
		spin_unlock_irqrestore(&zone->lock, flags);	/* unlock */
	}
	return 0;
}

int wrong_in_a_bpf_program(struct dev *d)
{
	int ret = nbq_arena_lock(&d->lock, NS);

	if (!ret)
		return 0;
	nbq_arena_unlock(&d->lock);	/* unlock */
	return 0;
}
