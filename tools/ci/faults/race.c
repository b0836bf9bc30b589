// SPDX-License-Identifier: GPL-2.0
/*
 * A data race: two threads and a plain variable.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "faults.h"

#define RACE_SECONDS	3

static int contested;

/* barrier() makes each pass an access, and is no marking. */
static int race(void *unused)
{
	while (!kthread_should_stop()) {
		contested++;
		barrier();
		cond_resched();
	}
	return 0;
}

static int race_for_a_while(void)
{
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_run(race, NULL, "faults_race/%d", i);
		if (IS_ERR(threads[i])) {
			if (i)
				kthread_stop(threads[0]);
			return PTR_ERR(threads[i]);
		}
	}
	schedule_timeout_uninterruptible(RACE_SECONDS * HZ);
	for (i = 0; i < 2; i++)
		kthread_stop(threads[i]);
	return 0;
}

const struct fault race_faults[] = {
	{ "kcsan", race_for_a_while },
	{ }
};
