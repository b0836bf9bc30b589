// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters of a run, a debugfs file each. A file takes what it prints;
 * it refuses what it does not take with an errno and a line in the kernel log,
 * and keeps its value. During a run all of them are frozen.
 *
 * To add one: a member of struct stress_knobs, a row in knob_table[].
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "disturb.h"
#include "host.h"
#include "nmi.h"
#include "ops.h"
#include "stress.h"

#define THREADS_MAX	4096U
/* A critical section has preemption off: far more is a soft lockup. */
#define CS_NS_MAX	(10 * NSEC_PER_MSEC)
/* Now and then it may be longer. */
#define STALL_NS_MAX	(100 * NSEC_PER_MSEC)
#define DURATION_MS_MAX	(3600 * MSEC_PER_SEC)
#define STUTTER_MS_MAX	(10 * MSEC_PER_SEC)
/* Interrupts that are closer leave little to threads. */
#define INTERVAL_NS_MIN	(10 * NSEC_PER_USEC)
#define INTERVAL_NS_MAX	(1000 * NSEC_PER_MSEC)

/* Of the kernel log's lines, which are cut off at about a thousand. */
#define LOG_LINE_MAX	900

/* Input that is longer cannot be right. */
#define INPUT_MAX	(64 * 1024)

struct knob;

/**
 * struct kind - what a knob's values are
 * @show: print a value, without a newline
 * @parse: read a value; 0 or a negative errno, and then nothing is changed
 * @explain: tell the kernel log what the knob takes
 */
struct kind {
	void (*show)(struct seq_file *m, const struct knob *knob,
		     const void *value);
	int (*parse)(const struct knob *knob, char *text, void *value);
	void (*explain)(const struct knob *knob);
};

/**
 * struct knob - a file
 * @name: of the file
 * @kind: what its values are
 * @offset: of the value in struct stress_knobs
 * @min: for numbers: the least
 * @max: for numbers: the most
 * @takes_max: for numbers: the word "max" stands for the most
 * @words: for choices: a word for each, in the order of their numbers, and NULL
 */
struct knob {
	const char *name;
	const struct kind *kind;
	size_t offset;
	u64 min;
	u64 max;
	bool takes_max;
	const char * const *words;
};

/* Numbers: u64 */

static void number_show(struct seq_file *m, const struct knob *knob,
			const void *value)
{
	u64 number = *(const u64 *)value;

	if (knob->takes_max && number == knob->max)
		seq_puts(m, "max");
	else
		seq_printf(m, "%llu", number);
}

static int number_parse(const struct knob *knob, char *text, void *value)
{
	u64 number = knob->max;
	int ret = 0;

	if (!knob->takes_max || strcmp(text, "max"))
		ret = kstrtou64(text, 0, &number);
	if (!ret && (number < knob->min || number > knob->max))
		ret = -ERANGE;
	if (!ret)
		*(u64 *)value = number;
	return ret;
}

static void number_explain(const struct knob *knob)
{
	pr_err("%s: takes a number from %llu to %llu%s\n", knob->name, knob->min,
	       knob->max, knob->takes_max ? ", or max" : "");
}

static const struct kind number = {
	.show = number_show,
	.parse = number_parse,
	.explain = number_explain,
};

/* Ranges: struct stress_range, as a number or as two with a - between */

static void end_show(struct seq_file *m, const struct knob *knob, u64 end)
{
	if (end == knob->max)
		seq_puts(m, "max");
	else
		seq_printf(m, "%llu", end);
}

static void range_show(struct seq_file *m, const struct knob *knob,
		       const void *value)
{
	const struct stress_range *range = value;

	end_show(m, knob, range->low);
	if (range->low == range->high)
		return;
	seq_putc(m, '-');
	end_show(m, knob, range->high);
}

static int range_parse(const struct knob *knob, char *text, void *value)
{
	char *high = strchr(text, '-');
	struct stress_range range;
	int ret;

	if (high)
		*high++ = '\0';
	ret = number_parse(knob, text, &range.low);
	if (!ret)
		ret = number_parse(knob, high ?: text, &range.high);
	if (!ret && range.low > range.high)
		ret = -ERANGE;
	if (!ret)
		*(struct stress_range *)value = range;
	return ret;
}

static void range_explain(const struct knob *knob)
{
	pr_err("%s: takes a number from %llu to %llu, or max, or two of these, LOW-HIGH\n",
	       knob->name, knob->min, knob->max);
}

static const struct kind range = {
	.show = range_show,
	.parse = range_parse,
	.explain = range_explain,
};

/* Choices, one word out of several: an enum kept as unsigned int */

static void choice_show(struct seq_file *m, const struct knob *knob,
			const void *value)
{
	seq_puts(m, knob->words[*(const unsigned int *)value]);
}

static int choice_parse(const struct knob *knob, char *text, void *value)
{
	int choice = match_string(knob->words, -1, text);

	if (choice < 0)
		return -EINVAL;
	*(unsigned int *)value = choice;
	return 0;
}

static void choice_explain(const struct knob *knob)
{
	char words[128] = "";
	size_t length = 0;
	size_t i;

	for (i = 0; knob->words[i]; i++)
		length += scnprintf(words + length, sizeof(words) - length,
				    " %s", knob->words[i]);
	pr_err("%s: takes one of%s\n", knob->name, words);
}

static const struct kind choice = {
	.show = choice_show,
	.parse = choice_parse,
	.explain = choice_explain,
};

/* The lock type */

static void lock_show(struct seq_file *m, const struct knob *knob,
		      const void *value)
{
	seq_puts(m, (*(const struct stress_ops * const *)value)->name);
}

static int lock_parse(const struct knob *knob, char *text, void *value)
{
	const struct stress_ops *ops = stress_ops_find(text);

	if (!ops)
		return -EINVAL;
	*(const struct stress_ops **)value = ops;
	return 0;
}

static void lock_explain(const struct knob *knob)
{
	stress_ops_log_names();
}

static const struct kind lock = {
	.show = lock_show,
	.parse = lock_parse,
	.explain = lock_explain,
};

/* A list of CPUs, all online when it is written */

static void cpus_show(struct seq_file *m, const struct knob *knob,
		      const void *value)
{
	seq_printf(m, "%*pbl", cpumask_pr_args((const struct cpumask *)value));
}

static int cpus_parse(const struct knob *knob, char *text, void *value)
{
	struct cpumask *cpus = kzalloc(sizeof(*cpus), GFP_KERNEL);
	int ret;

	if (!cpus)
		return -ENOMEM;
	ret = cpulist_parse(text, cpus);
	if (!ret && (cpumask_empty(cpus) ||
		     !cpumask_subset(cpus, cpu_online_mask)))
		ret = -EINVAL;
	if (!ret)
		cpumask_copy(value, cpus);
	kfree(cpus);
	return ret;
}

static void cpus_explain(const struct knob *knob)
{
	pr_err("%s: takes a list of online CPUs, out of %*pbl\n", knob->name,
	       cpumask_pr_args(cpu_online_mask));
}

static const struct kind cpus = {
	.show = cpus_show,
	.parse = cpus_parse,
	.explain = cpus_explain,
};

/* Contexts: a bit for each, kept as unsigned int; task is always there */

static const char * const context_words[] = {
	[CONTEXT_TASK] = "task",
	[CONTEXT_SOFTIRQ] = "softirq",
	[CONTEXT_HARDIRQ] = "hardirq",
	[CONTEXT_NMI] = "nmi",
	NULL
};

const char *stress_context_word(unsigned int context)
{
	return context_words[context];
}

/**
 * stress_contexts_print() - Print contexts, as their file does.
 * @text: where to, %STRESS_CONTEXTS_LENGTH characters
 * @contexts: a bit for each &enum stress_context
 */
void stress_contexts_print(char *text, unsigned int contexts)
{
	size_t length = 0;
	enum stress_context i;

	*text = 0;
	for (i = 0; i < CONTEXTS; i++) {
		if (contexts & BIT(i))
			length += scnprintf(text + length,
					    STRESS_CONTEXTS_LENGTH - length, "%s%s",
					    length ? " " : "", context_words[i]);
	}
}

static void contexts_show(struct seq_file *m, const struct knob *knob,
			  const void *value)
{
	char text[STRESS_CONTEXTS_LENGTH];

	stress_contexts_print(text, *(const unsigned int *)value);
	seq_puts(m, text);
}

static int contexts_parse(const struct knob *knob, char *text, void *value)
{
	unsigned int contexts = 0;
	char *word;

	while ((word = strsep(&text, " ,"))) {
		int i = match_string(context_words, -1, word);

		if (i >= 0)
			contexts |= BIT(i);
		else if (*word)
			return -EINVAL;
	}
	if (!(contexts & BIT(CONTEXT_TASK)))
		return -EINVAL;
	if (contexts & BIT(CONTEXT_NMI) && !stress_nmi_is_possible()) {
		pr_err("%s: no nmi: this machine cannot send them\n", knob->name);
		return -EOPNOTSUPP;
	}
	*(unsigned int *)value = contexts;
	return 0;
}

static void contexts_explain(const struct knob *knob)
{
	pr_err("%s: takes task, and besides any of softirq hardirq nmi\n",
	       knob->name);
}

static const struct kind contexts = {
	.show = contexts_show,
	.parse = contexts_parse,
	.explain = contexts_explain,
};

/* A number that must be 0 where CPUs stay */

static int hotplug_parse(const struct knob *knob, char *text, void *value)
{
	u64 number;
	int ret = number_parse(knob, text, &number);

	if (!ret && number && !stress_hotplug_is_possible(cpu_online_mask)) {
		pr_err("%s: no CPU of this machine can be taken away\n", knob->name);
		return -EOPNOTSUPP;
	}
	if (!ret)
		*(u64 *)value = number;
	return ret;
}

static const struct kind hotplug = {
	.show = number_show,
	.parse = hotplug_parse,
	.explain = number_explain,
};

/* A number that must be 0 where no CPU has a clock of its own */

static int own_clock_parse(const struct knob *knob, char *text, void *value)
{
	u64 number;
	int ret = number_parse(knob, text, &number);

	if (!ret && number && !stress_host_counts()) {
		pr_err("%s: nobody tells the CPUs of this machine when they were away\n",
		       knob->name);
		return -EOPNOTSUPP;
	}
	if (!ret)
		*(u64 *)value = number;
	return ret;
}

static const struct kind own_clock = {
	.show = number_show,
	.parse = own_clock_parse,
	.explain = number_explain,
};

/* The files */

static const char * const retry_words[] = {
	[RETRY_GIVE_UP] = "give_up",
	[RETRY_AT_ONCE] = "at_once",
	[RETRY_BACK_OFF] = "back_off",
	NULL
};

static const char * const chain_order_words[] = {
	[CHAIN_FIXED] = "fixed",
	[CHAIN_RANDOM] = "random",
	[CHAIN_ASCENDING] = "ascending",
	NULL
};

static const char * const nesting_words[] = {
	[NESTING_SHARED] = "shared",
	[NESTING_MASKED] = "masked",
	[NESTING_OWN] = "own",
	NULL
};

#define KNOB(_name, _kind, ...)						\
	{ .name = #_name, .kind = &(_kind),				\
	  .offset = offsetof(struct stress_knobs, _name), __VA_ARGS__ }
#define NUMBER(_name, _min, _max)					\
	KNOB(_name, number, .min = (_min), .max = (_max))

static const struct knob knob_table[] = {
	KNOB(lock, lock),
	KNOB(cpus, cpus),
	NUMBER(threads, 1, THREADS_MAX),
	NUMBER(cs_ns, 0, CS_NS_MAX),
	NUMBER(ncs_ns, 0, STRESS_PAUSE_NS_MAX),
	NUMBER(duration_ms, 1, DURATION_MS_MAX),
	NUMBER(sample_every, 0, U32_MAX),
	NUMBER(seed, 0, U64_MAX),

	/* Load shapes */
	KNOB(patience_ns, range, .max = KTIME_MAX, .takes_max = true),
	NUMBER(impatient_permille, 0, 1000),
	KNOB(impatient_ns, number, .max = KTIME_MAX, .takes_max = true),
	KNOB(retry, choice, .words = retry_words),
	NUMBER(backoff_ns, 1, STRESS_PAUSE_NS_MAX),
	NUMBER(backoff_max_ns, 1, STRESS_PAUSE_NS_MAX),
	NUMBER(chain, 1, STRESS_CHAIN_MAX),
	KNOB(chain_order, choice, .words = chain_order_words),
	NUMBER(stall_every, 0, U32_MAX),
	NUMBER(stall_ns, 0, STALL_NS_MAX),
	NUMBER(stutter_ms, 0, STUTTER_MS_MAX),
	NUMBER(free_lock, 0, 1),
	NUMBER(log_ms, 0, DURATION_MS_MAX),

	KNOB(contexts, contexts),
	KNOB(nesting, choice, .words = nesting_words),
	NUMBER(interval_ns, INTERVAL_NS_MIN, INTERVAL_NS_MAX),
	NUMBER(shuffle_ms, 0, DURATION_MS_MAX),
	KNOB(hotplug_ms, hotplug, .max = DURATION_MS_MAX),
	NUMBER(suspend_every_ns, 0, INTERVAL_NS_MAX),
	NUMBER(suspend_ns, 0, STALL_NS_MAX),
	KNOB(own_clock, own_clock, .max = 1),
};

static DEFINE_MUTEX(knobs_mutex);
/* Both under knobs_mutex; while frozen, knobs do not change. */
static struct stress_knobs knobs;
static bool frozen;

/**
 * stress_knobs_freeze() - Let no knob change until stress_knobs_thaw().
 *
 * Return: the knobs, good until then.
 */
const struct stress_knobs *stress_knobs_freeze(void)
{
	mutex_lock(&knobs_mutex);
	frozen = true;
	mutex_unlock(&knobs_mutex);
	return &knobs;
}

void stress_knobs_thaw(void)
{
	mutex_lock(&knobs_mutex);
	frozen = false;
	mutex_unlock(&knobs_mutex);
}

static void knob_show(struct seq_file *m, const struct knob *knob,
		      const struct stress_knobs *from)
{
	knob->kind->show(m, knob, (const char *)from + knob->offset);
	seq_putc(m, '\n');
}

/**
 * stress_knobs_show() - Print all knobs, one "name value" a line.
 * @m: where to
 * @from: the knobs
 */
void stress_knobs_show(struct seq_file *m, const struct stress_knobs *from)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(knob_table); i++) {
		seq_printf(m, "%s ", knob_table[i].name);
		knob_show(m, &knob_table[i], from);
	}
}

/* Return: false: there was no room, and the line is as before. */
static bool log_line_add(struct seq_file *line, const struct knob *knob,
			 const struct stress_knobs *from)
{
	size_t before = line->count;

	seq_printf(line, "%s%s ", before ? ", " : "", knob->name);
	knob->kind->show(line, knob, (const char *)from + knob->offset);
	if (!seq_has_overflowed(line))
		return true;
	line->count = before;
	return false;
}

static void log_line_end(struct seq_file *line, const char *when)
{
	pr_info("%s: %.*s\n", when, (int)line->count, line->buf);
	line->count = 0;
}

/**
 * stress_knobs_log() - Tell the kernel log all knobs.
 * @when: what the line begins with
 * @from: the knobs
 *
 * One line, unless that is longer than the kernel's log can take.
 */
void stress_knobs_log(const char *when, const struct stress_knobs *from)
{
	struct seq_file line = { .size = LOG_LINE_MAX };
	size_t i;

	line.buf = kmalloc(LOG_LINE_MAX, GFP_KERNEL);
	if (!line.buf)
		return;
	for (i = 0; i < ARRAY_SIZE(knob_table); i++) {
		if (log_line_add(&line, &knob_table[i], from))
			continue;
		log_line_end(&line, when);
		if (!log_line_add(&line, &knob_table[i], from))
			seq_printf(&line, "%s too long", knob_table[i].name);
	}
	log_line_end(&line, when);
	kfree(line.buf);
}

/* Return: 0; -EBUSY during a run; or why @text is not a value. */
static int set_knob(const struct knob *knob, char *text)
{
	int ret = -EBUSY;

	mutex_lock(&knobs_mutex);
	if (!frozen)
		ret = knob->kind->parse(knob, text,
					(char *)&knobs + knob->offset);
	mutex_unlock(&knobs_mutex);
	return ret;
}

static ssize_t knob_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	const struct knob *knob = file_inode(file)->i_private;
	char *text = ERR_PTR(-EINVAL);
	int ret;

	if (count <= INPUT_MAX)
		text = memdup_user_nul(buf, count);
	ret = IS_ERR(text) ? PTR_ERR(text) : set_knob(knob, strim(text));
	if (ret == -EINVAL || ret == -ERANGE || ret == -EOVERFLOW)
		knob->kind->explain(knob);
	if (!IS_ERR(text))
		kfree(text);
	return ret ?: count;
}

static int knob_file_show(struct seq_file *m, void *unused)
{
	mutex_lock(&knobs_mutex);
	knob_show(m, m->private, &knobs);
	mutex_unlock(&knobs_mutex);
	return 0;
}

static int knob_open(struct inode *inode, struct file *file)
{
	return single_open(file, knob_file_show, inode->i_private);
}

static const struct file_operations knob_fops = {
	.owner = THIS_MODULE,
	.open = knob_open,
	.read = seq_read,
	.write = knob_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int locks_show(struct seq_file *m, void *unused)
{
	stress_ops_list(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(locks);

static void set_defaults(void)
{
	knobs.lock = stress_ops_default();
	cpumask_copy(&knobs.cpus, cpu_online_mask);
	knobs.threads = clamp(cpumask_weight(&knobs.cpus), 1U, THREADS_MAX);
	knobs.duration_ms = MSEC_PER_SEC;
	knobs.sample_every = 1;

	/* Load shapes */
	knobs.patience_ns.low = 100 * NSEC_PER_USEC;
	knobs.patience_ns.high = knobs.patience_ns.low;
	knobs.backoff_ns = NSEC_PER_USEC;
	knobs.backoff_max_ns = 100 * NSEC_PER_USEC;
	knobs.chain = 1;

	knobs.contexts = BIT(CONTEXT_TASK);
	knobs.interval_ns = 100 * NSEC_PER_USEC;
}

/**
 * stress_knobs_start() - Set the defaults and make the files.
 * @dir: where to
 */
void stress_knobs_start(struct dentry *dir)
{
	size_t i;

	set_defaults();
	debugfs_create_file("locks", 0444, dir, NULL, &locks_fops);
	for (i = 0; i < ARRAY_SIZE(knob_table); i++)
		debugfs_create_file(knob_table[i].name, 0644, dir,
				    (void *)&knob_table[i], &knob_fops);
}
