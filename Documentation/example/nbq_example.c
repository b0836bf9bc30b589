// SPDX-License-Identifier: GPL-2.0
/*
 * A user of nbqlock: one timed acquisition that fails and one that succeeds.
 *
 * While the loading task holds a lock, an interrupt of another CPU tries to acquire it
 * within 50 us, and says which CPU held it; after the unlock it tries again. Since an
 * interrupt takes the lock, the task holds it with interrupts off.
 *
 * The guard needs Linux 6.5, or 6.1 of Debian; nbq_spin_lock_irq() and
 * nbq_spin_unlock_irq() do the same without.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/smp.h>

#include <nbqlock/nbqlock.h>

#define PATIENCE_NS	(50 * NSEC_PER_USEC)

static DEFINE_NBQ_SPIN(example_lock);

struct attempt {
	int ret;
	struct nbq_timeout timeout;
	bool done;
};

static void try_within_patience(void *arg)
{
	struct attempt *attempt = arg;

	attempt->ret = nbq_spin_lock_timeout_info(&example_lock, PATIENCE_NS,
						  &attempt->timeout);
	if (!attempt->ret)
		nbq_spin_unlock(&example_lock);
	/* RELEASE: the results are visible. Pairs with the ACQUIRE in try_on(). */
	smp_store_release(&attempt->done, true);
}

/* Polls for the end of the call: with interrupts off it cannot be waited for otherwise. */
static void try_on(unsigned int cpu, struct attempt *attempt)
{
	static call_single_data_t call;

	INIT_CSD(&call, try_within_patience, attempt);
	smp_call_function_single_async(cpu, &call);
	/* ACQUIRE, pairs with the RELEASE in try_within_patience(). */
	while (!smp_load_acquire(&attempt->done))
		cpu_relax();
}

static void report(const char *state, unsigned int cpu, const struct attempt *attempt)
{
	const struct nbq_timeout *timeout = &attempt->timeout;

	if (!attempt->ret)
		pr_info("%s lock: CPU %u acquired it\n", state, cpu);
	else if (attempt->ret == -ETIMEDOUT)
		pr_info("%s lock: CPU %u timed out after %llu ns, held by CPU %d\n",
			state, cpu, timeout->waited_ns, timeout->holder_cpu);
	else
		pr_err("%s lock: CPU %u got error %d\n", state, cpu, attempt->ret);
}

/* Returns the CPU that has tried; nr_cpu_ids or more: there is no other one. */
static unsigned int try_while_held(struct attempt *attempt)
{
	unsigned int cpu;

	guard(nbq_spin_irq)(&example_lock);
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (cpu < nr_cpu_ids)
		try_on(cpu, attempt);
	return cpu;
}

static int __init example_init(void)
{
	struct attempt while_held = {}, while_free = {};
	unsigned int cpu;

	cpu = try_while_held(&while_held);
	if (!while_held.done) {
		pr_info("there is no other CPU\n");
		return 0;
	}
	smp_call_function_single(cpu, try_within_patience, &while_free, true);
	report("held", cpu, &while_held);
	report("free", cpu, &while_free);
	return 0;
}

static void __exit example_exit(void)
{
}

module_init(example_init);
module_exit(example_exit);

MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("A user of nbqlock");
MODULE_LICENSE("GPL");
