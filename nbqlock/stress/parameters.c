// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters of a run, a debugfs file each. A file accepts what it prints. Any other
 * value is refused with an errno and a line in the kernel log, and changes nothing. During a
 * run all parameters are frozen.
 *
 * To add one: a row in parameters_list.h, and tools/ship/record --write.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/string.h>

#include "run.h"

/* The kernel log truncates a line at about 1000 characters. */
#define LOG_LINE_MAX	900

#define INPUT_MAX	(64 * 1024)

/* The places of the rows. */
enum {
#define STRESS_PARAM(_folder, _name, ...)	PARAM_##_name,
#include "parameters_list.h"
#undef STRESS_PARAM
};

struct param;

/* A type of values. */
struct kind {
	/* Print a value, without a newline. */
	void (*show)(struct seq_file *m, const struct param *param, const void *value);
	/* Read a value; on a negative errno nothing is changed. */
	int (*parse)(const struct param *param, char *text, void *value);
	/* Log which values are valid. */
	void (*explain)(const struct param *param);
	/* Set the initial value. */
	void (*reset)(const struct param *param, void *value);
};

struct param {
	const char *folder;
	const char *name;		/* of its file; unique among all folders */
	const struct kind *kind;
	size_t offset;			/* of the value in struct stress_params */
	u64 initial;
	u64 min;			/* of a number */
	u64 max;
	bool takes_max;			/* the word "max" stands for @max */
	bool (*is_possible)(void);	/* may a number be other than 0? NULL: yes */
	const char *if_not;		/* the reason */
	const char * const *words;	/* of a choice, in the order of the enum, then NULL */
};

/* Numbers: u64 */

static void number_show(struct seq_file *m, const struct param *param, const void *value)
{
	u64 number = *(const u64 *)value;

	if (param->takes_max && number == param->max)
		seq_puts(m, "max");
	else
		seq_printf(m, "%llu", number);
}

static int number_parse(const struct param *param, char *text, void *value)
{
	u64 number = param->max;
	int ret = 0;

	if (!param->takes_max || strcmp(text, "max"))
		ret = kstrtou64(text, 0, &number);
	if (!ret && (number < param->min || number > param->max))
		ret = -ERANGE;
	if (!ret && number && param->is_possible && !param->is_possible()) {
		pr_err("%s: %s\n", param->name, param->if_not);
		ret = -EOPNOTSUPP;
	}
	if (!ret)
		*(u64 *)value = number;
	return ret;
}

static void number_explain(const struct param *param)
{
	pr_err("%s: takes a number from %llu to %llu%s\n", param->name, param->min,
	       param->max, param->takes_max ? ", or max" : "");
}

static void number_reset(const struct param *param, void *value)
{
	*(u64 *)value = param->initial;
}

static const struct kind number = {
	.show = number_show,
	.parse = number_parse,
	.explain = number_explain,
	.reset = number_reset,
};

/* The number of threads */

static void threads_reset(const struct param *param, void *value)
{
	*(u64 *)value = clamp_t(u64, num_online_cpus(), param->min, param->max);
}

static const struct kind threads = {
	.show = number_show,
	.parse = number_parse,
	.explain = number_explain,
	.reset = threads_reset,
};

/* Ranges: struct stress_range, printed as LOW or LOW-HIGH */

static void range_show(struct seq_file *m, const struct param *param, const void *value)
{
	const struct stress_range *range = value;

	number_show(m, param, &range->low);
	if (range->low == range->high)
		return;
	seq_putc(m, '-');
	number_show(m, param, &range->high);
}

static int range_parse(const struct param *param, char *text, void *value)
{
	char *high = strchr(text, '-');
	struct stress_range range;
	int ret;

	if (high)
		*high++ = '\0';
	ret = number_parse(param, text, &range.low);
	if (!ret)
		ret = number_parse(param, high ?: text, &range.high);
	if (!ret && range.low > range.high)
		ret = -ERANGE;
	if (!ret)
		*(struct stress_range *)value = range;
	return ret;
}

static void range_explain(const struct param *param)
{
	pr_err("%s: takes a number from %llu to %llu, or max, or two of these, LOW-HIGH\n",
	       param->name, param->min, param->max);
}

static void range_reset(const struct param *param, void *value)
{
	*(struct stress_range *)value = (struct stress_range){ param->initial, param->initial };
}

static const struct kind range = {
	.show = range_show,
	.parse = range_parse,
	.explain = range_explain,
	.reset = range_reset,
};

/* Choices: an enum, kept as unsigned int */

static void choice_show(struct seq_file *m, const struct param *param, const void *value)
{
	seq_puts(m, param->words[*(const unsigned int *)value]);
}

static int choice_parse(const struct param *param, char *text, void *value)
{
	int choice = match_string(param->words, -1, text);

	if (choice < 0)
		return -EINVAL;
	*(unsigned int *)value = choice;
	return 0;
}

static void choice_explain(const struct param *param)
{
	char words[128] = "";
	size_t length = 0;
	size_t i;

	for (i = 0; param->words[i]; i++)
		length += scnprintf(words + length, sizeof(words) - length,
				    " %s", param->words[i]);
	pr_err("%s: takes one of%s\n", param->name, words);
}

static void word_reset(const struct param *param, void *value)
{
	*(unsigned int *)value = param->initial;
}

static const struct kind choice = {
	.show = choice_show,
	.parse = choice_parse,
	.explain = choice_explain,
	.reset = word_reset,
};

/* The lock type */

static void lock_show(struct seq_file *m, const struct param *param, const void *value)
{
	seq_puts(m, (*(const struct stress_ops * const *)value)->name);
}

static int lock_parse(const struct param *param, char *text, void *value)
{
	const struct stress_ops *ops = stress_ops_find(text);

	if (!ops)
		return -EINVAL;
	*(const struct stress_ops **)value = ops;
	return 0;
}

static void lock_explain(const struct param *param)
{
	stress_ops_log_names();
}

static void lock_reset(const struct param *param, void *value)
{
	*(const struct stress_ops **)value = stress_ops_default();
}

static const struct kind lock = {
	.show = lock_show,
	.parse = lock_parse,
	.explain = lock_explain,
	.reset = lock_reset,
};

/* A list of online CPUs */

static void cpus_show(struct seq_file *m, const struct param *param, const void *value)
{
	seq_printf(m, "%*pbl", cpumask_pr_args((const struct cpumask *)value));
}

static int cpus_parse(const struct param *param, char *text, void *value)
{
	struct cpumask *cpus = kzalloc(sizeof(*cpus), GFP_KERNEL);
	int ret;

	if (!cpus)
		return -ENOMEM;
	ret = cpulist_parse(text, cpus);
	if (!ret && (cpumask_empty(cpus) || !cpumask_subset(cpus, cpu_online_mask)))
		ret = -EINVAL;
	if (!ret)
		cpumask_copy(value, cpus);
	kfree(cpus);
	return ret;
}

static void cpus_explain(const struct param *param)
{
	pr_err("%s: takes a list of online CPUs, out of %*pbl\n", param->name,
	       cpumask_pr_args(cpu_online_mask));
}

static void cpus_reset(const struct param *param, void *value)
{
	cpumask_copy(value, cpu_online_mask);
}

static const struct kind cpus = {
	.show = cpus_show,
	.parse = cpus_parse,
	.explain = cpus_explain,
	.reset = cpus_reset,
};

/* Contexts: a bitmask, kept as unsigned int, always with task */

static void contexts_show(struct seq_file *m, const struct param *param, const void *value)
{
	char text[STRESS_CONTEXTS_LENGTH];

	stress_contexts_print(text, *(const unsigned int *)value);
	seq_puts(m, text);
}

static int contexts_parse(const struct param *param, char *text, void *value)
{
	unsigned int contexts = 0;
	char *word;

	while ((word = strsep(&text, " ,"))) {
		int i = match_string(param->words, -1, word);

		if (i >= 0)
			contexts |= BIT(i);
		else if (*word)
			return -EINVAL;
	}
	if (!(contexts & BIT(STRESS_TASK)))
		return -EINVAL;
	if (contexts & BIT(STRESS_NMI) && !stress_nmi_is_possible()) {
		pr_err("%s: no nmi: this machine cannot send NMIs\n", param->name);
		return -EOPNOTSUPP;
	}
	*(unsigned int *)value = contexts;
	return 0;
}

static void contexts_explain(const struct param *param)
{
	pr_err("%s: takes task, with any of softirq hardirq nmi\n", param->name);
}

static const struct kind contexts = {
	.show = contexts_show,
	.parse = contexts_parse,
	.explain = contexts_explain,
	.reset = word_reset,
};

/* Numbers that must be 0 on some machines */

static bool hotplug_is_possible(void)
{
	return stress_hotplug_is_possible(cpu_online_mask);
}

static bool own_clock_is_possible(void)
{
	return STRESS_CPU_TIME_IS_KNOWN;
}

/* The files */

static const char load[] = "load";
static const char interference[] = "interference";
static const char measure[] = "measure";

#define STRESS_WORDS(...)	((const char * const []){ __VA_ARGS__, NULL })

static const struct param param_table[] = {
#define STRESS_PARAM(_folder, _name, _kind, _initial, ...)		\
	[PARAM_##_name] = { .folder = _folder, .name = #_name, .kind = &(_kind),	\
	  .offset = offsetof(struct stress_params, _name), .initial = (_initial), __VA_ARGS__ },
#include "parameters_list.h"
#undef STRESS_PARAM
};

static_assert(STRESS_CHAIN_MAX * STRESS_CONTEXTS <= STRESS_LOCKS_MAX);

const char *stress_context_word(enum stress_context context)
{
	return param_table[PARAM_contexts].words[context];
}

/* Print a set of contexts, as the file "contexts" does. @text: %STRESS_CONTEXTS_LENGTH long. */
void stress_contexts_print(char *text, unsigned int contexts)
{
	size_t length = 0;
	enum stress_context i;

	*text = 0;
	for (i = 0; i < STRESS_CONTEXTS; i++) {
		if (contexts & BIT(i))
			length += scnprintf(text + length,
					    STRESS_CONTEXTS_LENGTH - length, "%s%s",
					    length ? " " : "", stress_context_word(i));
	}
}

static DEFINE_MUTEX(params_mutex);
/* Both under params_mutex. */
static struct stress_params params;
static bool frozen;

/* Refuse all changes until stress_params_thaw(). Return: the parameters, valid until then. */
const struct stress_params *stress_params_freeze(void)
{
	mutex_lock(&params_mutex);
	frozen = true;
	mutex_unlock(&params_mutex);
	return &params;
}

void stress_params_thaw(void)
{
	mutex_lock(&params_mutex);
	frozen = false;
	mutex_unlock(&params_mutex);
}

/* This lock type goes: the parameter is the default again, if it was this. */
void stress_params_forget(const struct stress_ops *ops)
{
	mutex_lock(&params_mutex);
	if (params.lock == ops)
		params.lock = stress_ops_default();
	mutex_unlock(&params_mutex);
}

static void param_show(struct seq_file *m, const struct param *param,
		       const struct stress_params *from)
{
	param->kind->show(m, param, (const char *)from + param->offset);
	seq_putc(m, '\n');
}

/* Print all, one "name value" a line. */
void stress_params_show(struct seq_file *m, const struct stress_params *from)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(param_table); i++) {
		seq_printf(m, "%s ", param_table[i].name);
		param_show(m, &param_table[i], from);
	}
}

/* Return: false: the line is full, and unchanged. */
static bool log_line_add(struct seq_file *line, const struct param *param,
			 const struct stress_params *from)
{
	size_t before = line->count;

	seq_printf(line, "%s%s ", before ? ", " : "", param->name);
	param->kind->show(line, param, (const char *)from + param->offset);
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

/* Log all, in one line if that fits, which begins with @when. */
void stress_params_log(const char *when, const struct stress_params *from)
{
	struct seq_file line = { .size = LOG_LINE_MAX };
	size_t i;

	line.buf = kmalloc(LOG_LINE_MAX, GFP_KERNEL);
	if (!line.buf)
		return;
	for (i = 0; i < ARRAY_SIZE(param_table); i++) {
		if (log_line_add(&line, &param_table[i], from))
			continue;
		log_line_end(&line, when);
		if (!log_line_add(&line, &param_table[i], from))
			seq_printf(&line, "%s too long", param_table[i].name);
	}
	log_line_end(&line, when);
	kfree(line.buf);
}

/* Return: 0; -EBUSY during a run; or the errno of the parser. */
static int set_param(const struct param *param, char *text)
{
	int ret = -EBUSY;

	mutex_lock(&params_mutex);
	if (!frozen)
		ret = param->kind->parse(param, text, (char *)&params + param->offset);
	mutex_unlock(&params_mutex);
	return ret;
}

/* What was written to a file, to be freed by kfree(); or an ERR_PTR(). A NUL does not end it. */
char *stress_input_copy(const char __user *buf, size_t count)
{
	char *text = ERR_PTR(-EINVAL);

	if (count <= INPUT_MAX)
		text = memdup_user_nul(buf, count);
	if (!IS_ERR(text) && strlen(text) != count) {
		kfree(text);
		text = ERR_PTR(-EINVAL);
	}
	return text;
}

static ssize_t param_write(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	const struct param *param = file_inode(file)->i_private;
	char *text = stress_input_copy(buf, count);
	int ret = IS_ERR(text) ? PTR_ERR(text) : set_param(param, strim(text));

	if (ret == -EINVAL || ret == -ERANGE || ret == -EOVERFLOW)
		param->kind->explain(param);
	if (!IS_ERR(text))
		kfree(text);
	return ret ?: count;
}

static int param_file_show(struct seq_file *m, void *unused)
{
	mutex_lock(&params_mutex);
	param_show(m, m->private, &params);
	mutex_unlock(&params_mutex);
	return 0;
}

static int param_open(struct inode *inode, struct file *file)
{
	return single_open(file, param_file_show, inode->i_private);
}

static const struct file_operations param_fops = {
	.owner = THIS_MODULE,
	.open = param_open,
	.read = seq_read,
	.write = param_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int locks_show(struct seq_file *m, void *unused)
{
	stress_ops_list(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(locks);

/* Set the defaults and create the files, in the module's folder. */
void stress_params_start(struct dentry *top)
{
	const char *folder = NULL;
	struct dentry *dir = NULL;
	size_t i;

	debugfs_create_file("locks", 0444, top, NULL, &locks_fops);
	for (i = 0; i < ARRAY_SIZE(param_table); i++) {
		const struct param *param = &param_table[i];

		if (param->folder != folder)
			dir = debugfs_create_dir(param->folder, top);
		folder = param->folder;
		param->kind->reset(param, (char *)&params + param->offset);
		debugfs_create_file(param->name, 0644, dir, (void *)param, &param_fops);
	}
}
