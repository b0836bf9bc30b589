// SPDX-License-Identifier: GPL-2.0
/*
 * The counted events, in debugfs nbqlock/ and for other modules.
 *
 * This sums the counters of the pools, and never follows a lock or a queue node.
 */
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

enum kind {
	SUM,
	MAX,
	PEAK,
};

static const struct event {
	const char *name;
	const char *meaning;
	enum kind kind;
	size_t offset;
} event_table[] = {
#define NBQ_EVENT(_name, _kind, _meaning)			\
	{ .name = #_name, .meaning = _meaning, .kind = _kind,	\
	  .offset = offsetof(struct nbq_events, _name) },
#include "events_list.h"
#undef NBQ_EVENT
};

static unsigned long *counter(struct nbq_events *events,
			      const struct event *event)
{
	return (void *)events + event->offset;
}

/*
 * The events of each pool at the last reset: here, as they need none of the per-CPU memory that
 * modules share. NULL: no memory.
 */
static struct nbq_events (*baselines)[NBQ_LEVELS];

static unsigned long *baseline(unsigned int cpu, unsigned int level,
			       const struct event *event)
{
	return counter(&baselines[cpu][level], event);
}

/* One event of one CPU, all levels. The counters may change meanwhile. */
static u64 cpu_value(const struct event *event, unsigned int cpu)
{
	struct nbq_pool *pools = per_cpu(nbq_pools, cpu);
	unsigned int level;
	u64 value = 0;

	for (level = 0; level < NBQ_LEVELS; level++) {
		struct nbq_pool *pool = &pools[level];
		unsigned long from = 0, now;

		if (baselines) {
			/*
			 * ACQUIRE, pairs with the RELEASE in reset_pool(): the count is read
			 * after its baseline, and is never the smaller one.
			 */
			from = smp_load_acquire(baseline(cpu, level, event));
		}
		/* The pool's CPU goes on counting; any value of the moment will do. */
		now = data_race(*counter(&pool->events, event));
		if (event->kind == SUM)
			value += now - from;
		else if (event->kind == MAX)
			value = max_t(u64, value, now);
		else
			value += now;
	}
	return value;
}

static u64 total_value(const struct event *event)
{
	unsigned int cpu;
	u64 value = 0;

	for_each_possible_cpu(cpu) {
		if (event->kind == MAX)
			value = max(value, cpu_value(event, cpu));
		else
			value += cpu_value(event, cpu);
	}
	return value;
}

/**
 * nbq_event_read() - Read a counted event, of all CPUs together.
 * @name: its name, as under debugfs nbqlock/
 * @value: its value
 *
 * Context: Any. Exact while no lock is in use.
 * Return:
 * * 0 - done
 * * %-ENOENT - there is no such event, @value is unchanged
 */
int nbq_event_read(const char *name, u64 *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_table); i++) {
		if (!strcmp(event_table[i].name, name)) {
			*value = total_value(&event_table[i]);
			return 0;
		}
	}
	return -ENOENT;
}
EXPORT_SYMBOL_GPL(nbq_event_read);

/* The result of skipped_total() at the last reset. */
static unsigned int skipped_baseline[NBQ_SKIPPED_MAX];

/* Attempts that have skipped so many nodes, of all CPUs and levels. */
static unsigned int skipped_total(unsigned int index)
{
	unsigned int cpu, level, total = 0;

	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++) {
			struct nbq_pool *pool = &per_cpu(nbq_pools, cpu)[level];
			const unsigned int *skip_counts;

			/* ACQUIRE, pairs with the RELEASE in nbq_pool_prepare(). */
			skip_counts = smp_load_acquire(&pool->skip_counts);
			if (!skip_counts)
				continue;
			/* Any value of the moment will do. */
			total += data_race(skip_counts[index]);
		}
	}
	return total;
}

static u64 event_total(const char *name)
{
	u64 value = 0;

	return nbq_event_read(name, &value) ? 0 : value;
}

/**
 * nbq_skipped_read() - Read how many abandoned nodes attempts have skipped.
 * @counts: number of attempts that have skipped none, one, and so on; the last:
 *	%NBQ_SKIPPED_MAX or more
 *
 * Of attempts that had a queue node, since the events were reset. A count wraps at
 * 2^32, but for the first.
 *
 * Context: Any. Exact while no lock is in use; else it may be a moment old.
 */
void nbq_skipped_read(u64 counts[NBQ_SKIPPED_MAX + 1])
{
	u64 attempts, walked = 0;
	unsigned int i;

	for (i = 0; i < NBQ_SKIPPED_MAX; i++) {
		/*
		 * ACQUIRE, pairs with the RELEASE in reset_skipped(): a count is never smaller
		 * than its baseline.
		 */
		unsigned int baseline = smp_load_acquire(&skipped_baseline[i]);

		/* Both wrap; so does their difference. */
		counts[i + 1] = skipped_total(i) - baseline;
		walked += counts[i + 1];
	}
	/* Whatever came of an attempt: each with a node has allocated it, or resumed a place. */
	attempts = event_total("nodes_allocated") + event_total("nodes_resumed");
	counts[0] = attempts > walked ? attempts - walked : 0;
}
EXPORT_SYMBOL_GPL(nbq_skipped_read);

static void reset_skipped(void)
{
	unsigned int i;

	for (i = 0; i < NBQ_SKIPPED_MAX; i++)
		/* RELEASE, pairs with the ACQUIRE in nbq_skipped_read(). */
		smp_store_release(&skipped_baseline[i], skipped_total(i));
}

/*
 * Counts start from here: their values become the baseline, so that only their own CPU ever
 * writes to them. Records start from 0; without a hint, the next allocation searches from the
 * front and records what it finds. A node in use behind that is not in the record.
 */
static void reset_pool(unsigned int cpu, unsigned int level)
{
	struct nbq_pool *pool = &per_cpu(nbq_pools, cpu)[level];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_table); i++) {
		const struct event *event = &event_table[i];
		unsigned long *count = counter(&pool->events, event);
		unsigned long now;

		if (event->kind != SUM) {
			WRITE_ONCE(*count, 0);
			continue;
		}
		/* The pool's CPU goes on counting; any value of the moment will do. */
		now = data_race(*count);
		/* RELEASE, pairs with the ACQUIRE in cpu_value(). */
		smp_store_release(baseline(cpu, level, event), now);
	}
	WRITE_ONCE(pool->hint, NULL);
}

/**
 * nbq_events_reset() - Reset all counted events to 0.
 *
 * Does nothing if there was no memory for it at the start.
 *
 * Context: Any. Locks may be in use: an event at the same moment may count or not.
 */
void nbq_events_reset(void)
{
	unsigned int cpu, level;

	if (!baselines)
		return;
	for_each_possible_cpu(cpu) {
		for (level = 0; level < NBQ_LEVELS; level++)
			reset_pool(cpu, level);
	}
	reset_skipped();
}
EXPORT_SYMBOL_GPL(nbq_events_reset);

static int total_show(struct seq_file *m, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_table); i++)
		seq_printf(m, "%s %llu\n", event_table[i].name,
			   total_value(&event_table[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(total);

static int percpu_show(struct seq_file *m, void *unused)
{
	unsigned int cpu;
	size_t i;

	seq_puts(m, "cpu");
	for (i = 0; i < ARRAY_SIZE(event_table); i++)
		seq_printf(m, " %s", event_table[i].name);
	seq_putc(m, '\n');

	for_each_possible_cpu(cpu) {
		seq_printf(m, "%3u", cpu);
		for (i = 0; i < ARRAY_SIZE(event_table); i++)
			seq_printf(m, " %*llu", (int)strlen(event_table[i].name),
				   cpu_value(&event_table[i], cpu));
		seq_putc(m, '\n');
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(percpu);

static int skipped_show(struct seq_file *m, void *unused)
{
	u64 counts[NBQ_SKIPPED_MAX + 1];
	unsigned int i;

	nbq_skipped_read(counts);
	seq_puts(m, "from to count\n");
	for (i = 0; i <= NBQ_SKIPPED_MAX; i++) {
		u64 to = i < NBQ_SKIPPED_MAX ? i : event_total("most_skipped");

		if (counts[i])
			seq_printf(m, "%u %llu %llu\n", i, to, counts[i]);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(skipped);

static int events_show(struct seq_file *m, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_table); i++)
		seq_printf(m, "%s: %s\n", event_table[i].name,
			   event_table[i].meaning);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(events);

static ssize_t reset_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	if (!baselines)
		return -ENOMEM;
	nbq_events_reset();
	return count;
}

static const struct file_operations reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_write,
};

void nbq_debugfs_start(void)
{
	struct dentry *debugfs_dir;

	baselines = kvcalloc(nr_cpu_ids, sizeof(*baselines), GFP_KERNEL);
	debugfs_dir = debugfs_create_dir("nbqlock", NULL);
	debugfs_create_file("total", 0444, debugfs_dir, NULL, &total_fops);
	debugfs_create_file("percpu", 0444, debugfs_dir, NULL, &percpu_fops);
	debugfs_create_file("skipped", 0444, debugfs_dir, NULL,
			    &skipped_fops);
	debugfs_create_file("events", 0444, debugfs_dir, NULL, &events_fops);
	debugfs_create_file("reset", 0200, debugfs_dir, NULL, &reset_fops);
}

#ifdef MODULE
void nbq_debugfs_stop(void)
{
	debugfs_lookup_and_remove("nbqlock", NULL);
	kvfree(baselines);
}
#endif
