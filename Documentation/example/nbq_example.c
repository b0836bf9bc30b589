// SPDX-License-Identifier: GPL-2.0
/*
 * A user of nbqlock: one timed acquisition that fails and one that succeeds.
 *
 * While the loading task holds a lock, another CPU is asked (in its interrupt
 * context) to acquire it within 50 us; after the unlock it is asked again. An
 * interrupt takes the lock, so the task holds it with interrupts off.
 *
 * The guard needs Linux 6.5, or 6.1 of Debian; nbq_clh_lock_irq() and
 * nbq_clh_unlock_irq() do the same without.
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

static DEFINE_NBQ_CLH(example_lock);

struct attempt {
	int ret;
	s64 ns;
	bool done;
};

static void try_within_patience(void *arg)
{
	struct attempt *attempt = arg;
	ktime_t start = ktime_get();
	int ret;

	ret = nbq_clh_lock_timeout(&example_lock, PATIENCE_NS);
	if (!ret)
		nbq_clh_unlock(&example_lock);
	attempt->ret = ret;
	attempt->ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	/* RELEASE, pairs with ask(): what is above is to be read. */
	smp_store_release(&attempt->done, true);
}

/* With interrupts off, nobody may wait for a call but by looking. */
static void ask(unsigned int cpu, struct attempt *attempt)
{
	static call_single_data_t call;

	INIT_CSD(&call, try_within_patience, attempt);
	smp_call_function_single_async(cpu, &call);
	/* ACQUIRE, pairs with try_within_patience(). */
	while (!smp_load_acquire(&attempt->done))
		cpu_relax();
}

static void report(const char *state, unsigned int cpu, struct attempt *attempt)
{
	if (!attempt->ret)
		pr_info("%s lock: CPU %u acquired it after %lld ns\n",
			state, cpu, attempt->ns);
	else if (attempt->ret == -ETIMEDOUT)
		pr_info("%s lock: CPU %u timed out after %lld ns\n",
			state, cpu, attempt->ns);
	else
		pr_err("%s lock: CPU %u got error %d\n",
		       state, cpu, attempt->ret);
}

/* Returns the CPU that was asked; nr_cpu_ids or more: there is none. */
static unsigned int ask_while_held(struct attempt *attempt)
{
	unsigned int cpu;

	guard(nbq_clh_irq)(&example_lock);
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (cpu < nr_cpu_ids)
		ask(cpu, attempt);
	return cpu;
}

static int __init example_init(void)
{
	struct attempt while_held = {}, while_free = {};
	unsigned int cpu;

	cpu = ask_while_held(&while_held);
	if (!while_held.done) {
		pr_info("there is no other CPU to ask\n");
		return 0;
	}
	smp_call_function_single(cpu, try_within_patience, &while_free, true);
	report("held", cpu, &while_held);
	report("free", cpu, &while_free);
	return 0;
}

static void __exit example_exit(void)
{
	int ret = nbq_clh_destroy(&example_lock);

	if (ret)
		pr_err("the lock is still in use: error %d\n", ret);
}

module_init(example_init);
module_exit(example_exit);

MODULE_AUTHOR("Seed c3c653f5 maintainers <maintainers@users.noreply.a-seed-c3c653f5.example>");
MODULE_DESCRIPTION("A user of nbqlock");
MODULE_LICENSE("GPL");
