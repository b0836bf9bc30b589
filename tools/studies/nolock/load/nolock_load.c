// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that may not wait, alloc_pages_nolock() and kmalloc_nolock(), while every CPU
 * allocates and frees as usual.
 *
 * On each CPU:
 *	ordinary	a thread that has the allocator's lock taken as often as it can: blocks that
 *			are too large for the per-CPU lists, or objects in bulk
 *	task		a thread that allocates a batch, pauses, and frees it
 *	hardirq		a timer that allocates a small batch
 *	nmi		on x86, which that timer sends to its own CPU
 *	above		a probe of the event mm_page_alloc_zone_locked: this CPU holds zone->lock
 *
 * An attempt has failed if it returns nothing while memory is there; its time is from the call to
 * the return. Loading the module makes one run. It ends in lines "nolock_load: CONTEXT.NAME VALUE"
 * in the kernel's log; "ordinary" is the context of these threads.
 *
 * With held=1 nothing is left to chance: a thread on another CPU holds zone->lock until a waiter
 * shows in it, or an attempt has failed.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/vmstat.h>
#include <trace/events/kmem.h>

static unsigned int milliseconds = 2000;
module_param(milliseconds, uint, 0444);
MODULE_PARM_DESC(milliseconds, "length of the run");

static bool objects;
module_param(objects, bool, 0444);
MODULE_PARM_DESC(objects, "objects of 64 bytes instead of pages");

static bool held;
module_param(held, bool, 0444);
MODULE_PARM_DESC(held, "attempts at a lock that is held until one waits or fails");

static unsigned int pause_us = 200;
module_param(pause_us, uint, 0444);
MODULE_PARM_DESC(pause_us, "between two batches, and between two interrupts");

#define BATCH		1024	/* of a task: more than the per-CPU lists are refilled with */
#define SMALL_BATCH	8	/* of an interrupt */
#define MOST_HELD	4096	/* on a CPU */
#define ORDINARY_ORDER	4	/* above what the per-CPU lists have */
#define ORDINARY_BATCH	16
#define OBJECT_SIZE	64
#define PROBE_EVERY	64	/* events */
#define BIN_NS		250
#define BINS		1024

enum context { TASK, HARDIRQ, NMI, ABOVE, CONTEXTS };

static const char * const context_names[] = { "task", "hardirq", "nmi", "above" };

struct tally {
	unsigned long attempts, failed, scarce;
	u64 longest_ns;
	u32 bins[BINS];		/* of BIN_NS; the last has all that is longer */
};

struct load_cpu {
	struct tally tallies[CONTEXTS];
	struct llist_head held;	/* what the contexts have allocated: their memory is the list */
	atomic_t number;	/* of that */
	struct hrtimer timer;
	struct task_struct *ordinary, *task;
	unsigned long operations;
	unsigned int events;
	bool has_timer, in_probe;
};

static struct load_cpu *cpus;		/* by number */
static bool stop;

/* Allocations */

static bool memory_is_there(void)
{
	return global_zone_page_state(NR_FREE_PAGES) > totalram_pages() / 8;
}

static void *allocate(void)
{
	struct page *page;

	if (objects)
		return kmalloc_nolock(OBJECT_SIZE, 0, NUMA_NO_NODE);
	page = alloc_pages_nolock(0, NUMA_NO_NODE, 0);
	return page ? page_address(page) : NULL;
}

static void attempt(struct load_cpu *cpu, enum context context)
{
	struct tally *tally = &cpu->tallies[context];
	u64 begin = ktime_get_mono_fast_ns(), took;
	void *memory = allocate();

	took = ktime_get_mono_fast_ns() - begin;
	tally->attempts++;
	tally->bins[min_t(u64, took / BIN_NS, BINS - 1)]++;
	if (took > tally->longest_ns)
		tally->longest_ns = took;
	if (memory) {
		atomic_inc(&cpu->number);
		llist_add(memory, &cpu->held);
	} else if (memory_is_there()) {
		tally->failed++;
	} else {
		tally->scarce++;
	}
}

/* Unless the thread that frees is late. */
static void attempt_batch(struct load_cpu *cpu, enum context context, unsigned int number)
{
	while (number-- && atomic_read(&cpu->number) < MOST_HELD)
		attempt(cpu, context);
}

/* By a thread. */
static void free_held(struct load_cpu *cpu)
{
	struct llist_node *memory = llist_del_all(&cpu->held);

	while (memory) {
		struct llist_node *next = memory->next;

		if (objects)
			kfree(memory);
		else
			free_page((unsigned long)memory);
		atomic_dec(&cpu->number);
		memory = next;
	}
}

/* Contexts */

static int run_task(void *arg)
{
	struct load_cpu *cpu = arg;

	while (!kthread_should_stop()) {
		attempt_batch(cpu, TASK, BATCH);
		usleep_range(pause_us, pause_us + 10);
		free_held(cpu);
	}
	return 0;
}

static void allocate_pages_as_usual(struct load_cpu *cpu)
{
	struct page *pages[ORDINARY_BATCH];
	unsigned int i;

	for (i = 0; i < ORDINARY_BATCH; i++)
		pages[i] = alloc_pages(GFP_KERNEL, ORDINARY_ORDER);
	for (i = 0; i < ORDINARY_BATCH; i++) {
		if (pages[i]) {
			__free_pages(pages[i], ORDINARY_ORDER);
			cpu->operations++;
		}
	}
}

static void allocate_objects_as_usual(struct load_cpu *cpu)
{
	void *memory[ORDINARY_BATCH];
	unsigned int i;

	for (i = 0; i < ORDINARY_BATCH; i++)
		memory[i] = kmalloc(OBJECT_SIZE, GFP_KERNEL);
	for (i = 0; i < ORDINARY_BATCH; i++) {
		cpu->operations += !!memory[i];
		kfree(memory[i]);
	}
}

static int run_ordinary(void *arg)
{
	struct load_cpu *cpu = arg;

	while (!kthread_should_stop()) {
		if (objects)
			allocate_objects_as_usual(cpu);
		else
			allocate_pages_as_usual(cpu);
		cond_resched();
	}
	return 0;
}

#ifdef CONFIG_X86_LOCAL_APIC
#include <linux/cpufeature.h>
#include <linux/nmi.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>

#define HANDLER_NAME	"nolock_load"

static DEFINE_PER_CPU(bool, nmi_is_due);

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!this_cpu_xchg(nmi_is_due, false))
		return NMI_DONE;
	attempt_batch(&cpus[smp_processor_id()], NMI, SMALL_BATCH);
	return NMI_HANDLED;
}

static bool has_nmi(void)
{
	return boot_cpu_has(X86_FEATURE_APIC);
}

static int start_nmis(void)
{
	return has_nmi() ? register_nmi_handler(NMI_LOCAL, handle_nmi, 0, HANDLER_NAME) : 0;
}

static void stop_nmis(void)
{
	if (has_nmi())
		unregister_nmi_handler(NMI_LOCAL, HANDLER_NAME);
}

static void send_nmi(void)
{
	if (!has_nmi())
		return;
	this_cpu_write(nmi_is_due, true);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
}
#else
static int start_nmis(void)
{
	return 0;
}

static void stop_nmis(void)
{
}

static void send_nmi(void)
{
}
#endif

static enum hrtimer_restart run_hardirq(struct hrtimer *timer)
{
	struct load_cpu *cpu = container_of(timer, struct load_cpu, timer);

	if (READ_ONCE(stop))
		return HRTIMER_NORESTART;
	attempt_batch(cpu, HARDIRQ, SMALL_BATCH);
	send_nmi();
	hrtimer_forward_now(timer, us_to_ktime(pause_us));
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	struct load_cpu *cpu = &cpus[smp_processor_id()];

	cpu->has_timer = true;
	hrtimer_setup(&cpu->timer, run_hardirq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&cpu->timer, us_to_ktime(pause_us), HRTIMER_MODE_REL_PINNED_HARD);
}

/* An attempt of its own makes this event, too. */
static void probe(void *unused, struct page *page, unsigned int order, int migratetype,
		  int percpu_refill)
{
	struct load_cpu *cpu = &cpus[smp_processor_id()];

	if (in_nmi() || in_hardirq() || cpu->in_probe || cpu->events++ % PROBE_EVERY)
		return;
	cpu->in_probe = true;
	attempt_batch(cpu, ABOVE, 1);
	cpu->in_probe = false;
}

static struct tracepoint *zone_locked;

static void find_event(struct tracepoint *event, void *unused)
{
	if (!strcmp(event->name, "mm_page_alloc_zone_locked"))
		zone_locked = event;
}

/* The run */

static int start_cpu(unsigned int number)
{
	struct load_cpu *cpu = &cpus[number];

	cpu->ordinary = kthread_run_on_cpu(run_ordinary, cpu, number, "ordinary/%u");
	if (IS_ERR(cpu->ordinary))
		return PTR_ERR(cpu->ordinary);
	cpu->task = kthread_run_on_cpu(run_task, cpu, number, "nolock/%u");
	if (IS_ERR(cpu->task))
		return PTR_ERR(cpu->task);
	return smp_call_function_single(number, start_timer, NULL, true);
}

static void stop_thread(struct task_struct *thread)
{
	if (!IS_ERR_OR_NULL(thread))
		kthread_stop(thread);
}

static void stop_all(void)
{
	unsigned int number;

	WRITE_ONCE(stop, true);
	for_each_online_cpu(number) {
		struct load_cpu *cpu = &cpus[number];

		stop_thread(cpu->task);
		stop_thread(cpu->ordinary);
		if (cpu->has_timer)
			hrtimer_cancel(&cpu->timer);
	}
	stop_nmis();
	for_each_online_cpu(number)
		free_held(&cpus[number]);
}

static int run(void)
{
	unsigned int number;
	int ret;

	ret = start_nmis();
	if (ret)
		return ret;
	for_each_online_cpu(number) {
		ret = start_cpu(number);
		if (ret)
			break;
	}
	if (!ret)
		msleep(milliseconds);
	stop_all();
	return ret;
}

/* The time that this many of 1000 are below, to BIN_NS. */
static u64 rank_ns(const struct tally *tally, unsigned int permille)
{
	u64 wanted = div_u64((u64)tally->attempts * permille, 1000), seen = 0;
	unsigned int bin;

	for (bin = 0; bin < BINS - 1; bin++) {
		seen += tally->bins[bin];
		if (seen >= wanted)
			return (bin + 1) * BIN_NS;
	}
	return tally->longest_ns;
}

static void add(struct tally *sum, const struct tally *tally)
{
	unsigned int bin;

	sum->attempts += tally->attempts;
	sum->failed += tally->failed;
	sum->scarce += tally->scarce;
	sum->longest_ns = max(sum->longest_ns, tally->longest_ns);
	for (bin = 0; bin < BINS; bin++)
		sum->bins[bin] += tally->bins[bin];
}

static void print_value(const char *head, const char *name, u64 value)
{
	pr_info("nolock_load: %s.%s %llu\n", head, name, value);
}

static void print_context(enum context context)
{
	struct tally *sum = kzalloc(sizeof(*sum), GFP_KERNEL);
	const char *name = context_names[context];
	unsigned int number;

	if (!sum)
		return;
	for_each_possible_cpu(number)
		add(sum, &cpus[number].tallies[context]);
	if (sum->attempts) {
		print_value(name, "attempts", sum->attempts);
		print_value(name, "failed", sum->failed);
		print_value(name, "scarce", sum->scarce);
		print_value(name, "p99_ns", rank_ns(sum, 990));
		print_value(name, "p999_ns", rank_ns(sum, 999));
		print_value(name, "longest_ns", sum->longest_ns);
	}
	kfree(sum);
}

static void print_all(u64 took_ns)
{
	unsigned long operations = 0;
	enum context context;
	unsigned int number;

	for_each_possible_cpu(number)
		operations += cpus[number].operations;
	for (context = 0; context < CONTEXTS; context++)
		print_context(context);
	print_value("ordinary", "operations", operations);
	print_value("ordinary", "in_ns", took_ns);
}

/* A lock that is held until one waits or fails */

static struct zone *zone;
static bool zone_is_held, has_failed;

static int hold_zone(void *unused)
{
	unsigned long flags;

	spin_lock_irqsave(&zone->lock, flags);
	/* RELEASE, pairs with the ACQUIRE in attempt_at_held(): the lock is held. */
	smp_store_release(&zone_is_held, true);
	while (!spin_is_contended(&zone->lock) && !READ_ONCE(has_failed))
		cpu_relax();
	WRITE_ONCE(zone_is_held, false);
	spin_unlock_irqrestore(&zone->lock, flags);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* First the pages of the per-CPU list are taken. Return: true if one has waited and was served. */
static bool attempt_at_held(struct load_cpu *cpu)
{
	struct tally *tally = &cpu->tallies[TASK];
	unsigned long failed = tally->failed;

	/* ACQUIRE, pairs with the RELEASE in hold_zone(). */
	while (!smp_load_acquire(&zone_is_held))
		cond_resched();
	while (tally->failed == failed && READ_ONCE(zone_is_held))
		attempt(cpu, TASK);
	WRITE_ONCE(has_failed, true);
	return tally->failed == failed;
}

static int run_held(void)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct task_struct *holder;
	unsigned int other;
	bool served;

	if (!page)
		return -ENOMEM;
	zone = page_zone(page);
	__free_page(page);
	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	holder = other < nr_cpu_ids ? kthread_run_on_cpu(hold_zone, NULL, other, "holder/%u") :
				      ERR_PTR(-ENODEV);
	if (IS_ERR(holder)) {
		migrate_enable();
		return PTR_ERR(holder);
	}
	served = attempt_at_held(&cpus[smp_processor_id()]);
	kthread_stop(holder);
	free_held(&cpus[smp_processor_id()]);
	migrate_enable();
	print_value("held", "served", served);
	print_value("held", "failed", !served);
	return 0;
}

static int run_load(void)
{
	u64 begin;
	int ret;

	for_each_kernel_tracepoint(find_event, NULL);
	if (!zone_locked)
		return -ENOENT;
	ret = tracepoint_probe_register(zone_locked, probe, NULL);
	if (ret)
		return ret;
	begin = ktime_get_ns();
	ret = run();
	tracepoint_probe_unregister(zone_locked, probe, NULL);
	tracepoint_synchronize_unregister();
	if (!ret)
		print_all(ktime_get_ns() - begin);
	return ret;
}

static int __init nolock_load_init(void)
{
	int ret;

	cpus = kvcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL);
	if (!cpus)
		return -ENOMEM;
	ret = held ? run_held() : run_load();
	if (ret)
		kvfree(cpus);
	return ret;
}

static void __exit nolock_load_exit(void)
{
	kvfree(cpus);
}

module_init(nolock_load_init);
module_exit(nolock_load_exit);

MODULE_DESCRIPTION("Allocations that may not wait, beside ordinary ones");
MODULE_LICENSE("GPL");
