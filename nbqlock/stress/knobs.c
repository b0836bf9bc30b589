// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters of a run, a debugfs file each. A file takes what it prints;
 * it refuses what it does not take with an errno and a line in the kernel log,
 * and keeps its value. During a run all of them are frozen.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

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
#include <linux/uaccess.h>

#include "ops.h"
#include "stress.h"

#define THREADS_MAX	4096U
/* A critical section has preemption off: far more is a soft lockup. */
#define CS_NS_MAX	(10 * NSEC_PER_MSEC)
#define NCS_NS_MAX	(1000 * NSEC_PER_MSEC)
#define DURATION_MS_MAX	(3600 * MSEC_PER_SEC)

/* Input that is longer cannot be right. */
#define WORD_MAX	64
#define CPULIST_MAX	(64 * 1024)

/* A knob that is a number. */
struct number {
	const char *name;
	size_t offset;
	u64 min;
	u64 max;
	bool takes_max;		/* the word "max" stands for the maximum */
};

#define NUMBER(_name, _min, _max, _takes_max)				\
	{ .name = #_name, .offset = offsetof(struct stress_knobs, _name), \
	  .min = _min, .max = _max, .takes_max = _takes_max }

static const struct number numbers[] = {
	NUMBER(threads, 1, THREADS_MAX, false),
	NUMBER(patience_ns, 0, KTIME_MAX, true),
	NUMBER(cs_ns, 0, CS_NS_MAX, false),
	NUMBER(ncs_ns, 0, NCS_NS_MAX, false),
	NUMBER(duration_ms, 1, DURATION_MS_MAX, false),
	NUMBER(sample_every, 0, U32_MAX, false),
	NUMBER(seed, 0, U64_MAX, false),
};

static const char * const patience_mode_words[PATIENCE_MODES] = {
	[PATIENCE_FIXED] = "fixed",
	[PATIENCE_RANDOM] = "random",
	[PATIENCE_MIXED] = "mixed",
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

static void number_show(struct seq_file *m, const struct number *number,
			const struct stress_knobs *from)
{
	u64 value = *(const u64 *)((const char *)from + number->offset);

	if (number->takes_max && value == number->max)
		seq_puts(m, "max\n");
	else
		seq_printf(m, "%llu\n", value);
}

/**
 * stress_knobs_show() - Print all knobs, one "name value" a line.
 * @m: where to
 * @from: the knobs
 */
void stress_knobs_show(struct seq_file *m, const struct stress_knobs *from)
{
	size_t i;

	seq_printf(m, "lock %s\n", from->ops->name);
	seq_printf(m, "cpus %*pbl\n", cpumask_pr_args(&from->cpus));
	seq_printf(m, "patience_mode %s\n",
		   stress_patience_mode_word(from->patience_mode));
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		seq_printf(m, "%s ", numbers[i].name);
		number_show(m, &numbers[i], from);
	}
}

/* Copy one word of input into @word, without the white space around it. */
static char *copy_word(char *word, const char __user *buf, size_t count)
{
	if (count >= WORD_MAX)
		return ERR_PTR(-EINVAL);
	if (copy_from_user(word, buf, count))
		return ERR_PTR(-EFAULT);
	word[count] = '\0';
	return strim(word);
}

/*
 * Give a knob, @size bytes at @knob, the value at @value. Return: 0, or -EBUSY
 * during a run.
 */
static int set_knob(void *knob, const void *value, size_t size)
{
	int ret = 0;

	mutex_lock(&knobs_mutex);
	if (frozen)
		ret = -EBUSY;
	else
		memcpy(knob, value, size);
	mutex_unlock(&knobs_mutex);
	return ret;
}

static int number_parse(const struct number *number, const char *word,
			u64 *value)
{
	int ret;

	if (number->takes_max && !strcmp(word, "max")) {
		*value = number->max;
		return 0;
	}
	ret = kstrtou64(word, 0, value);
	if (!ret && (*value < number->min || *value > number->max))
		ret = -ERANGE;
	return ret;
}

static ssize_t number_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *ppos)
{
	const struct number *number = file_inode(file)->i_private;
	char word[WORD_MAX];
	char *input = copy_word(word, buf, count);
	u64 value;
	int ret;

	ret = IS_ERR(input) ? PTR_ERR(input) :
			      number_parse(number, input, &value);
	if (ret) {
		pr_err("%s: takes a number from %llu to %llu%s\n", number->name,
		       number->min, number->max,
		       number->takes_max ? ", or max" : "");
		return ret;
	}
	ret = set_knob((char *)&knobs + number->offset, &value, sizeof(value));
	return ret ?: count;
}

static int number_file_show(struct seq_file *m, void *unused)
{
	mutex_lock(&knobs_mutex);
	number_show(m, m->private, &knobs);
	mutex_unlock(&knobs_mutex);
	return 0;
}

static int number_open(struct inode *inode, struct file *file)
{
	return single_open(file, number_file_show, inode->i_private);
}

static const struct file_operations number_fops = {
	.owner = THIS_MODULE,
	.open = number_open,
	.read = seq_read,
	.write = number_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static ssize_t lock_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	const struct stress_ops *ops = NULL;
	char word[WORD_MAX];
	char *input = copy_word(word, buf, count);
	int ret;

	if (!IS_ERR(input))
		ops = stress_ops_find(input);
	if (!ops) {
		stress_ops_log_names();
		return IS_ERR(input) ? PTR_ERR(input) : -EINVAL;
	}
	ret = set_knob(&knobs.ops, &ops, sizeof(ops));
	return ret ?: count;
}

static int lock_show(struct seq_file *m, void *unused)
{
	mutex_lock(&knobs_mutex);
	seq_printf(m, "%s\n", knobs.ops->name);
	mutex_unlock(&knobs_mutex);
	return 0;
}

static int lock_open(struct inode *inode, struct file *file)
{
	return single_open(file, lock_show, NULL);
}

static const struct file_operations lock_fops = {
	.owner = THIS_MODULE,
	.open = lock_open,
	.read = seq_read,
	.write = lock_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int cpus_parse(const char __user *buf, size_t count,
		      struct cpumask *cpus)
{
	int ret;

	if (count > CPULIST_MAX)
		return -EINVAL;
	ret = cpumask_parselist_user(buf, count, cpus);
	if (ret)
		return ret;
	if (cpumask_empty(cpus) || !cpumask_subset(cpus, cpu_online_mask))
		return -EINVAL;
	return 0;
}

static ssize_t cpus_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *ppos)
{
	struct cpumask *cpus = kzalloc(sizeof(*cpus), GFP_KERNEL);
	int ret;

	if (!cpus)
		return -ENOMEM;
	ret = cpus_parse(buf, count, cpus);
	if (ret)
		pr_err("cpus: takes a list of online CPUs, out of %*pbl\n",
		       cpumask_pr_args(cpu_online_mask));
	else
		ret = set_knob(&knobs.cpus, cpus, sizeof(*cpus));
	kfree(cpus);
	return ret ?: count;
}

static int cpus_show(struct seq_file *m, void *unused)
{
	mutex_lock(&knobs_mutex);
	seq_printf(m, "%*pbl\n", cpumask_pr_args(&knobs.cpus));
	mutex_unlock(&knobs_mutex);
	return 0;
}

static int cpus_open(struct inode *inode, struct file *file)
{
	return single_open(file, cpus_show, NULL);
}

static const struct file_operations cpus_fops = {
	.owner = THIS_MODULE,
	.open = cpus_open,
	.read = seq_read,
	.write = cpus_write,
	.llseek = seq_lseek,
	.release = single_release,
};

const char *stress_patience_mode_word(enum stress_patience_mode mode)
{
	return patience_mode_words[mode];
}

/* For whoever named a mode that is not there. */
static void log_patience_modes(void)
{
	char words[64] = "";
	size_t length = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(patience_mode_words); i++)
		length += scnprintf(words + length, sizeof(words) - length,
				    " %s", patience_mode_words[i]);
	pr_err("patience_mode: takes one of%s\n", words);
}

static ssize_t patience_mode_write(struct file *file, const char __user *buf,
				   size_t count, loff_t *ppos)
{
	enum stress_patience_mode mode;
	char word[WORD_MAX];
	char *input = copy_word(word, buf, count);
	int ret;

	ret = IS_ERR(input) ? PTR_ERR(input) :
			      match_string(patience_mode_words, PATIENCE_MODES,
					   input);
	if (ret < 0) {
		log_patience_modes();
		return ret;
	}
	mode = ret;
	ret = set_knob(&knobs.patience_mode, &mode, sizeof(mode));
	return ret ?: count;
}

static int patience_mode_show(struct seq_file *m, void *unused)
{
	mutex_lock(&knobs_mutex);
	seq_printf(m, "%s\n", stress_patience_mode_word(knobs.patience_mode));
	mutex_unlock(&knobs_mutex);
	return 0;
}

static int patience_mode_open(struct inode *inode, struct file *file)
{
	return single_open(file, patience_mode_show, NULL);
}

static const struct file_operations patience_mode_fops = {
	.owner = THIS_MODULE,
	.open = patience_mode_open,
	.read = seq_read,
	.write = patience_mode_write,
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
	knobs.ops = stress_ops_default();
	cpumask_copy(&knobs.cpus, cpu_online_mask);
	knobs.threads = clamp(cpumask_weight(&knobs.cpus), 1U, THREADS_MAX);
	knobs.patience_ns = 100 * NSEC_PER_USEC;
	knobs.duration_ms = MSEC_PER_SEC;
	knobs.sample_every = 1;
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
	debugfs_create_file("lock", 0644, dir, NULL, &lock_fops);
	debugfs_create_file("cpus", 0644, dir, NULL, &cpus_fops);
	debugfs_create_file("patience_mode", 0644, dir, NULL,
			    &patience_mode_fops);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		debugfs_create_file(numbers[i].name, 0644, dir,
				    (void *)&numbers[i], &number_fops);
}
