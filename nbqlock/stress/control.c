// SPDX-License-Identifier: GPL-2.0
/*
 * Start, stop and watch a run: the debugfs files run and status, and the folder result/.
 *
 * The writer of "run" creates the run and sleeps until its end. An early stop sets
 * stop_requested and wakes the writer. Only the writer touches the threads.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/string.h>

#include "run.h"

/*
 * A thread that has not ended so long after the stop has failed. A busy host runs each CPU
 * for a fraction of that.
 */
#define JOIN_TIMEOUT	(60 * HZ)

/* A run is prolonged by at most this, until everything that it must show has happened. */
#define OVERTIME	(60 * HZ)
#define OVERTIME_STEP	DIV_ROUND_UP(HZ, 20)

static DEFINE_MUTEX(control_mutex);
/* Under control_mutex; the flags may be read without it. */
static bool running;
static bool stop_requested;
static bool unloading;
static struct stress_run *current_run;	/* NULL: there are no threads */
static struct stress_run *stuck_run;	/* some of its threads did not end */
static struct stress_report last_report;
static bool have_report;

/* Woken when stop_requested or running changes. */
static DECLARE_WAIT_QUEUE_HEAD(control_wait);

/* Free a run that has ended. Its lock type may go from then on. */
static void free_run(struct stress_run *run)
{
	const struct stress_ops *ops = run->params.lock;

	stress_run_free(run);
	stress_ops_put(ops);
}

/* The threads of an earlier run may have come back at last. Under control_mutex. */
static void collect_stuck_run(void)
{
	if (stuck_run && stress_run_join(stuck_run, 0)) {
		free_run(stuck_run);
		stuck_run = NULL;
	}
}

/* Return: 0: this writer has the only run; or a negative errno. */
static int begin(void)
{
	int ret = 0;

	mutex_lock(&control_mutex);
	collect_stuck_run();
	if (unloading) {
		ret = -ENODEV;
	} else if (running) {
		ret = -EBUSY;
	} else if (stuck_run) {
		pr_err("run: threads of an earlier run have not come back: unload the module\n");
		ret = -EIO;
	} else {
		WRITE_ONCE(stop_requested, false);
		WRITE_ONCE(running, true);
	}
	mutex_unlock(&control_mutex);
	return ret;
}

static void end(void)
{
	mutex_lock(&control_mutex);
	WRITE_ONCE(running, false);
	mutex_unlock(&control_mutex);
	wake_up_all(&control_wait);
}

static void request_stop(void)
{
	mutex_lock(&control_mutex);
	WRITE_ONCE(stop_requested, true);
	collect_stuck_run();
	mutex_unlock(&control_mutex);
	wake_up_all(&control_wait);
}

static void publish(struct stress_run *run)
{
	mutex_lock(&control_mutex);
	current_run = run;
	mutex_unlock(&control_mutex);
}

/* The run is over: publish its result. */
static void conclude(struct stress_run *run, bool joined, bool stopped)
{
	mutex_lock(&control_mutex);
	stress_run_report(run, &last_report);
	last_report.stopped = stopped;
	have_report = true;
	current_run = NULL;
	if (!joined)
		stuck_run = run;
	stress_report_log(&last_report);
	mutex_unlock(&control_mutex);
}

static void log_progress(const struct stress_run *run)
{
	pr_info("running: elapsed_ms %llu of %llu, acquisitions %llu\n",
		div_u64(stress_run_elapsed_ns(run), NSEC_PER_MSEC),
		run->params.duration_ms, stress_run_acquisitions(run));
}

/* Return: 0: @timeout is over; less: a signal; more: a stop was requested. */
static long await_stop(unsigned long timeout)
{
	return wait_event_interruptible_timeout(control_wait, READ_ONCE(stop_requested), timeout);
}

/*
 * On a busy host, something that must happen in the run may need longer.
 *
 * Return: as await_stop().
 */
static long await_all(const struct stress_run *run)
{
	unsigned long end = jiffies + OVERTIME;
	long ret = 0;

	while (!ret && stress_run_missing(run) && time_before(jiffies, end))
		ret = await_stop(OVERTIME_STEP);
	return ret;
}

/* Return: as await_stop(). */
static long await_end(const struct stress_run *run, const struct stress_params *params)
{
	unsigned long left = msecs_to_jiffies(params->duration_ms);
	unsigned long step = params->log_ms ? msecs_to_jiffies(params->log_ms) : left;
	long ret;

	for (;;) {
		step = min(step, left);
		ret = await_stop(step);
		left -= step;
		if (ret)
			return ret;
		if (!left)
			return await_all(run);
		log_progress(run);
	}
}

/* Return: 0, also after an early stop; -EINTR after a signal; or a negative errno. */
static int do_run(const struct stress_params *params)
{
	const struct stress_ops *ops = params->lock;
	struct stress_run *run;
	int ret = stress_ops_get(ops);
	bool joined;
	long early;

	if (ret)
		return ret;
	run = stress_run_create(params);
	if (IS_ERR(run)) {
		stress_ops_put(ops);
		return PTR_ERR(run);
	}
	publish(run);
	stress_run_start(run);
	early = await_end(run, params);
	stress_run_stop(run);
	joined = stress_run_join(run, JOIN_TIMEOUT);
	conclude(run, joined, early != 0);
	if (joined)
		free_run(run);
	return early < 0 ? -EINTR : 0;
}

/*
 * Writing 1 blocks until the run is over, and an open file holds a reference to this module:
 * the module could not be unloaded during a run. So the writer drops the reference of its file,
 * and takes it again before it returns.
 *
 * The module stays in memory meanwhile:
 *	The reference is dropped after running was set and taken again before running is
 *	cleared. stress_control_stop() waits until running is clear, and debugfs for all calls
 *	into the files, of which this is one.
 *	The reference that was taken again is dropped when the file is closed;
 *	wait_for_open_files() in main.c waits for that.
 *	There is one such writer at a time, so no reference is dropped twice.
 *
 * __module_get() works on a module that is being unloaded, unlike try_module_get().
 */
static int run_without_reference(void)
{
	int ret = begin();

	if (ret)
		return ret;
	module_put(THIS_MODULE);
	ret = do_run(stress_params_freeze());
	stress_params_thaw();
	__module_get(THIS_MODULE);
	end();
	return ret;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	char *text = stress_input_copy(buf, count);
	unsigned int start;
	int ret = PTR_ERR_OR_ZERO(text);

	if (!ret) {
		ret = kstrtouint(text, 0, &start);
		kfree(text);
	}
	if (ret == -EFAULT || ret == -ENOMEM)
		return ret;
	if (ret || start > 1) {
		pr_err("run: takes 1 (start, and wait for the end) or 0 (stop)\n");
		return -EINVAL;
	}
	if (start)
		ret = run_without_reference();
	else
		request_stop();
	return ret ?: count;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

static int status_show(struct seq_file *m, void *unused)
{
	const struct stress_run *run;

	mutex_lock(&control_mutex);
	run = current_run;
	if (run)
		seq_printf(m, "running elapsed_ms %llu of %llu acquisitions %llu\n",
			   div_u64(stress_run_elapsed_ns(run), NSEC_PER_MSEC),
			   run->params.duration_ms, stress_run_acquisitions(run));
	else
		seq_puts(m, running ? "starting\n" : "idle\n");
	mutex_unlock(&control_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

/* A file of result/. */
static int view_show(struct seq_file *m, void *unused)
{
	const struct stress_view *view = m->private;

	mutex_lock(&control_mutex);
	if (current_run)
		seq_puts(m, "the run is not over\n");
	else if (have_report)
		view->show(m, &last_report);
	else
		seq_puts(m, "no run yet\n");
	mutex_unlock(&control_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(view);

/* Create the files, in the module's folder. */
void stress_control_start(struct dentry *top)
{
	const struct stress_view *view;
	struct dentry *dir;

	debugfs_create_file("run", 0200, top, NULL, &run_fops);
	debugfs_create_file("status", 0444, top, NULL, &status_fops);
	dir = debugfs_create_dir("result", top);
	for (view = stress_views; view->name; view++)
		debugfs_create_file(view->name, 0444, dir, (void *)view, &view_fops);
}

/* This lock type goes: the last result keeps its name, and nothing else of it. */
void stress_control_forget(const struct stress_ops *ops)
{
	static char name[STRESS_NAME_MAX + 1];
	static const struct stress_ops gone = { .name = name };

	mutex_lock(&control_mutex);
	if (have_report && last_report.params.lock == ops) {
		strscpy(name, ops->name, sizeof(name));
		last_report.params.lock = &gone;
	}
	mutex_unlock(&control_mutex);
}

/*
 * End the run, and let no other begin. Waits for threads that did not end after an earlier run,
 * however long that takes: they execute this module. Frees the last result.
 */
void stress_control_stop(void)
{
	mutex_lock(&control_mutex);
	unloading = true;
	mutex_unlock(&control_mutex);
	request_stop();
	wait_event(control_wait, !READ_ONCE(running));

	if (stuck_run && stress_run_join(stuck_run, MAX_SCHEDULE_TIMEOUT))
		free_run(stuck_run);

	mutex_lock(&control_mutex);
	have_report = false;
	stress_report_clear(&last_report);
	mutex_unlock(&control_mutex);
}
