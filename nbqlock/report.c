// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of misuse and of deadlocks.
 *
 * A lock may be misused in an NMI, and under a lock that the console or the scheduler needs. So a
 * report goes into the kernel log at once and to the consoles later. It is one line, not a WARN():
 * the registers and the stack of that help little, and are written in the context of the caller.
 *
 * Each kind has its own limit, 10 reports in 5 s: one that repeats does not hide the others.
 */
#include <linux/export.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "internal.h"
#include "report.h"

static const char *const whats[NBQ_REPORTS] = {
	[NBQ_REPORT_DEADLOCK] = "deadlock, which only a timeout of another waiter ends",
	[NBQ_REPORT_OWNER_DEAD] = "wait for a holder on a stopped CPU, which only a takeover ends",
	[NBQ_REPORT_NOT_HELD] = "unlock of a lock that is not held",
	[NBQ_REPORT_NOT_OWNER] = "unlock of a lock that another context holds",
	[NBQ_REPORT_IN_USE] = "destroy of a lock that is in use",
};

static const char *const levels[NBQ_LEVELS] = { "task", "softirq", "hardirq", "NMI" };

static struct ratelimit_state limits[NBQ_REPORTS] = {
	[0 ... NBQ_REPORTS - 1] = RATELIMIT_STATE_INIT(limits, DEFAULT_RATELIMIT_INTERVAL,
						       DEFAULT_RATELIMIT_BURST),
};

#ifdef MODULE
/* printk_deferred() is not exported; what it calls is. */
static __printf(1, 2) void print_deferred(const char *fmt, ...)
{
#ifdef CONFIG_PRINTK
	va_list args;

	va_start(args, fmt);
	vprintk_emit(0, LOGLEVEL_SCHED, NULL, fmt, args);
	va_end(args);
#endif
}

#undef printk_deferred
#define printk_deferred	print_deferred
#endif

/**
 * nbq_report() - Report misuse of a lock, or a deadlock.
 * @what: which
 * @lock: the lock
 * @holder: the context that holds it, encoded; 0: none, or not known
 * @ip: the caller of the operation
 *
 * Context: Any, preemption on or off.
 */
void nbq_report(enum nbq_report what, const void *lock, u16 holder, unsigned long ip)
{
	char held[40] = "";

	if (!__ratelimit(&limits[what]))
		return;
	if (holder)
		snprintf(held, sizeof(held), ", held by CPU#%u (%s)", nbq_context_cpu(holder),
			 levels[nbq_context_level(holder)]);
	printk_deferred(KERN_ERR "nbqlock: BUG: %s: %pS%s, on CPU#%u (%s), %s/%d, at %pS\n",
			whats[what], lock, held, raw_smp_processor_id(),
			levels[interrupt_context_level()], current->comm, current->pid,
			(void *)ip);
}

#ifdef NBQ_QUEUE_LOCKS
static DEFINE_RATELIMIT_STATE(no_node_limit, DEFAULT_RATELIMIT_INTERVAL, 1);

/**
 * nbq_report_no_node() - Report an acquisition that waits for a queue node.
 * @context: that of its pool, encoded
 * @nodes: all nodes of the pool
 *
 * Context: Any.
 */
void nbq_report_no_node(u16 context, unsigned int nodes)
{
	if (__ratelimit(&no_node_limit))
		printk_deferred(KERN_ERR
				"nbqlock: BUG: no free queue node of %u on CPU#%u (%s), %s/%d\n",
				nodes, nbq_context_cpu(context), levels[nbq_context_level(context)],
				current->comm, current->pid);
}
#endif
