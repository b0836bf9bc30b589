// SPDX-License-Identifier: GPL-2.0
/*
 * A cycle of two queues of rqspinlock, step by step: the head of each queue is a task, and the
 * waiter behind it an interrupt above the head of the other.
 *
 *	queue of a	task on CPU 1 <-- interrupt on CPU 2
 *	queue of b	task on CPU 2 <-- interrupt on CPU 1
 *
 * Neither interrupt ends before the task below the other one hands over to it, and neither task
 * runs before its interrupt ends. Both locks become free meanwhile. With a timeout at every
 * position of a queue, or a deadlock check there, an attempt fails and the rest end.
 *
 * Steps (CPU 0 makes each when the one before shows in the lock):
 *	0  CPU 0 holds a and b.
 *	1  A task on CPU 3 attempts a, and an interrupt above it b. (In rqspinlock each sets the
 *	   pending bit, so that the next waiter forms a queue.)
 *	2  A task on CPU 1 attempts a, a task on CPU 2 attempts b: the heads.
 *	3  An interrupt on CPU 1 attempts b, an interrupt on CPU 2 attempts a.
 *	4  CPU 0 releases both.
 *
 * The order is enforced, not left to time; but the steps must be made within the timeouts of the
 * waiters, of which the first is 250 ms. Else the result is "late".
 */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/rqspinlock.h>

#define WORKERS	3

static unsigned int seconds = 20;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long attempts may take until the verdict is \"hung\"");

static char verdict[16] = "running";
module_param_string(verdict, verdict, sizeof(verdict), 0444);
MODULE_PARM_DESC(verdict, "running, ended, late, or hung");

static rqspinlock_t a, b;

struct attempt {
	rqspinlock_t *lock;
	int ret;
	bool go, done;
	u64 waited_ns;
};

/* The CPUs 1, 2, 3. */
static struct worker {
	struct attempt task, irq;
	call_single_data_t csd;
	struct task_struct *thread;
} workers[WORKERS];

static struct task_struct *control;

static void make_attempt(struct attempt *attempt)
{
	u64 begin = ktime_get_mono_fast_ns();
	int ret = raw_res_spin_lock(attempt->lock);

	attempt->waited_ns = ktime_get_mono_fast_ns() - begin;
	attempt->ret = ret;
	if (!ret)
		raw_res_spin_unlock(attempt->lock);
	/* RELEASE, pairs with the ACQUIRE in is_done(): the results. */
	smp_store_release(&attempt->done, true);
}

static bool is_done(const struct attempt *attempt)
{
	/* ACQUIRE, pairs with the RELEASE in make_attempt(): the results. */
	return smp_load_acquire(&attempt->done);
}

static void irq_attempt(void *data)
{
	make_attempt(data);
}

static int task_attempt(void *data)
{
	struct attempt *attempt = data;

	while (!READ_ONCE(attempt->go)) {
		cond_resched();
		cpu_relax();
	}
	make_attempt(attempt);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

/* Wait until the attempt shows in its lock, or has ended. */
static void wait_for_step(const struct attempt *attempt, rqspinlock_t before)
{
	/* cpu_relax() is a compiler barrier: the lock is read each time. */
	do {
		cpu_relax();
	} while (!memcmp(attempt->lock, &before, sizeof(before)) && !is_done(attempt));
}

static void step(unsigned int cpu, bool in_irq, rqspinlock_t *lock)
{
	struct worker *worker = &workers[cpu - 1];
	struct attempt *attempt = in_irq ? &worker->irq : &worker->task;
	rqspinlock_t before = *lock;

	attempt->lock = lock;
	if (in_irq)
		smp_call_function_single_async(cpu, &worker->csd);
	else
		WRITE_ONCE(attempt->go, true);
	wait_for_step(attempt, before);
}

/* Return: how many attempts have not ended. */
static unsigned int pending_attempts(void)
{
	unsigned int i, left = 0;

	for (i = 0; i < WORKERS; i++)
		left += !is_done(&workers[i].task) + !is_done(&workers[i].irq);
	return left;
}

static void show_attempt(const char *name, unsigned int cpu, const struct attempt *attempt)
{
	const char *lock = attempt->lock == &a ? "a" : "b";

	if (!is_done(attempt)) {
		pr_info("rqspinlock_cycle: cpu%u.%s.%s waits\n", cpu, name, lock);
		return;
	}
	pr_info("rqspinlock_cycle: cpu%u.%s.%s %d\n", cpu, name, lock, attempt->ret);
	pr_info("rqspinlock_cycle: us.cpu%u.%s.%s %llu\n", cpu, name, lock,
		attempt->waited_ns / NSEC_PER_USEC);
}

static void show(const char *result)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		show_attempt("task", i + 1, &workers[i].task);
		show_attempt("irq", i + 1, &workers[i].irq);
	}
	pr_info("rqspinlock_cycle: lock.a 0x%*phN\n", (int)sizeof(a), &a);
	pr_info("rqspinlock_cycle: lock.b 0x%*phN\n", (int)sizeof(b), &b);
	strscpy(verdict, result);
}

static void make_cycle(void)
{
	if (raw_res_spin_lock(&a))
		return;
	if (raw_res_spin_lock(&b)) {
		raw_res_spin_unlock(&a);
		return;
	}
	step(3, false, &a);
	step(3, true, &b);
	step(1, false, &a);
	step(2, false, &b);
	step(1, true, &b);
	step(2, true, &a);
	raw_res_spin_unlock(&b);
	raw_res_spin_unlock(&a);
}

static bool has_timed_out(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		if (workers[i].task.ret == -ETIMEDOUT || workers[i].irq.ret == -ETIMEDOUT)
			return true;
	}
	return false;
}

static int control_fn(void *unused)
{
	unsigned int left = seconds;

	make_cycle();
	while (pending_attempts() && left--)
		schedule_timeout_uninterruptible(HZ);
	show(pending_attempts() ? "hung" : has_timed_out() ? "late" : "ended");
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static struct task_struct *start_on(unsigned int cpu, int (*fn)(void *data), void *data)
{
	struct task_struct *thread = kthread_create(fn, data, "rqsl_cycle/%u", cpu);

	if (IS_ERR(thread))
		return thread;
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	return thread;
}

static void stop(struct task_struct *thread)
{
	if (IS_ERR_OR_NULL(thread))
		return;
	kthread_stop(thread);
}

static void rqspinlock_cycle_exit(void)
{
	unsigned int i;

	stop(control);
	for (i = 0; i < WORKERS; i++) {
		WRITE_ONCE(workers[i].task.go, true);
		stop(workers[i].thread);
	}
}

static int rqspinlock_cycle_init(void)
{
	unsigned int i;

	for (i = 0; i <= WORKERS; i++) {
		if (!cpu_online(i))
			return -ENODEV;
	}
	raw_res_spin_lock_init(&a);
	raw_res_spin_lock_init(&b);
	for (i = 0; i < WORKERS; i++) {
		workers[i].task.lock = &a;
		INIT_CSD(&workers[i].csd, irq_attempt, &workers[i].irq);
		workers[i].thread = start_on(i + 1, task_attempt, &workers[i].task);
		if (IS_ERR(workers[i].thread))
			goto fail;
	}
	control = start_on(0, control_fn, NULL);
	if (IS_ERR(control))
		goto fail;
	return 0;
fail:
	rqspinlock_cycle_exit();
	return -ENOMEM;
}

module_init(rqspinlock_cycle_init);
module_exit(rqspinlock_cycle_exit);

MODULE_DESCRIPTION("A cycle of two queues of rqspinlock");
MODULE_LICENSE("GPL");
