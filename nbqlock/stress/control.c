// SPDX-License-Identifier: GPL-2.0
/*
 * Start, stop and watch a run: the debugfs files run, status, result and those
 * beside it.
 *
 * The writer of "run" makes the run and sleeps until it is over. Whoever wants
 * to end it earlier sets stop_requested and wakes the writer; only the writer
 * touches the threads.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "ops.h"
#include "stress.h"

/*
 * A thread that needs longer to end after the stop has failed. A host with other
 * work may let each CPU run for a fraction of that.
 */
#define JOIN_PATIENCE	(60 * HZ)

/* For so long a run goes on beyond its time if it lacks something. */
#define OVERTIME	(60 * HZ)
/* In between, whether it still does */
#define OVERTIME_STEP	DIV_ROUND_UP(HZ, 20)

static DEFINE_MUTEX(control_mutex);
/* All of these under control_mutex; the flags may be read without it. */
static bool running;
static bool stop_requested;
static bool unloading;
static struct stress_run *current_run;	/* NULL: its threads do not exist */
static struct stress_run *stuck_run;	/* its threads did not come back */
static struct stress_report last_report;
static bool have_report;

/* For changes of stop_requested and running. */
static DECLARE_WAIT_QUEUE_HEAD(control_wait);

/* Nobody else may run now. Return: 0, or why this run may not. */
static int begin(void)
{
	int ret = 0;

	mutex_lock(&control_mutex);
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
	mutex_unlock(&control_mutex);
	wake_up_all(&control_wait);
}

static void publish(struct stress_run *run)
{
	mutex_lock(&control_mutex);
	current_run = run;
	mutex_unlock(&control_mutex);
}

/* The run is over; what it found is the result now. */
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
		stress_run_duration_ms(run), stress_run_acquisitions(run));
}

/* Return: 0: that is over; less: a signal came; more: a stop was asked for. */
static long await_stop(unsigned long patience)
{
	return wait_event_interruptible_timeout(control_wait,
						READ_ONCE(stop_requested),
						patience);
}

/*
 * What was to happen in the run may not have happened in its time, for want of
 * nothing but a core. Return: as await_stop().
 */
static long await_all(const struct stress_run *run)
{
	unsigned long end = jiffies + OVERTIME;
	long ret = 0;

	while (!ret && stress_run_lacks(run) && time_before(jiffies, end))
		ret = await_stop(OVERTIME_STEP);
	return ret;
}

/* Return: as await_stop(), of the time of the run. */
static long await_end(const struct stress_run *run,
		      const struct stress_knobs *knobs)
{
	unsigned long left = msecs_to_jiffies(knobs->duration_ms);
	unsigned long step = knobs->log_ms ? msecs_to_jiffies(knobs->log_ms) : left;
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

/* Return: 0, also after an early stop; -EINTR after a signal; or why not. */
static int do_run(const struct stress_knobs *knobs)
{
	struct stress_run *run = stress_run_create(knobs);
	bool joined;
	long early;

	if (IS_ERR(run))
		return PTR_ERR(run);
	publish(run);
	stress_run_go(run);
	early = await_end(run, knobs);
	stress_run_stop(run);
	joined = stress_run_join(run, JOIN_PATIENCE);
	conclude(run, joined, early != 0);
	if (joined)
		stress_run_free(run);
	return early < 0 ? -EINTR : 0;
}

/*
 * Writing 1 blocks until the run is over, and an open file holds a reference
 * to this module: nobody could unload it during a run. So the writer gives the
 * reference of its file up, and takes it back before it returns.
 *
 * It is safe to be in this module without a reference meanwhile:
 *	The reference is given up after running was set and taken back before
 *	running is cleared, and exit waits until running is clear, and for
 *	all calls into the debugfs files, of which this is one, to return.
 *	The reference that was taken back is dropped when the file is closed,
 *	and exit waits for that too: wait_for_open_files() in main.c.
 *	There is one writer at a time that has given its reference up, so no
 *	file's reference is given up twice, whoever else writes to that file.
 *
 * __module_get() works on a module that is being unloaded: try_module_get()
 * would refuse.
 */
static int run_without_reference(void)
{
	int ret = begin();

	if (ret)
		return ret;
	module_put(THIS_MODULE);
	ret = do_run(stress_knobs_freeze());
	stress_knobs_thaw();
	__module_get(THIS_MODULE);
	end();
	return ret;
}

static ssize_t run_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *ppos)
{
	unsigned int start;
	int ret = kstrtouint_from_user(buf, count, 0, &start);

	if (ret == -EFAULT)
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
			   stress_run_duration_ms(run),
			   stress_run_acquisitions(run));
	else
		seq_puts(m, running ? "starting\n" : "idle\n");
	mutex_unlock(&control_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

/* The result, and whatever else there is to see of the last run. */
static int view_show(struct seq_file *m, void *unused)
{
	const struct stress_view *view = m->private;

	mutex_lock(&control_mutex);
	if (current_run)
		seq_puts(m, "the run is not over\n");
	else if (have_report)
		view->show(m, &last_report, view);
	else
		seq_puts(m, "no run yet\n");
	mutex_unlock(&control_mutex);
	return 0;
}

static int view_open(struct inode *inode, struct file *file)
{
	return single_open(file, view_show, inode->i_private);
}

static const struct file_operations view_fops = {
	.owner = THIS_MODULE,
	.open = view_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * stress_control_start() - Make the files.
 * @dir: where to
 */
void stress_control_start(struct dentry *dir)
{
	const struct stress_view *view;

	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("status", 0444, dir, NULL, &status_fops);
	for (view = stress_views; view->name; view++)
		debugfs_create_file(view->name, 0444, dir, (void *)view,
				    &view_fops);
}

/**
 * stress_control_stop() - End the run, and let no other begin.
 *
 * Waits for threads that had not come back, however long that takes: they
 * execute this module. What the last run has found is forgotten.
 */
void stress_control_stop(void)
{
	mutex_lock(&control_mutex);
	unloading = true;
	mutex_unlock(&control_mutex);
	request_stop();
	wait_event(control_wait, !READ_ONCE(running));

	if (stuck_run && stress_run_join(stuck_run, MAX_SCHEDULE_TIMEOUT))
		stress_run_free(stuck_run);

	mutex_lock(&control_mutex);
	have_report = false;
	stress_report_forget(&last_report);
	mutex_unlock(&control_mutex);
}
