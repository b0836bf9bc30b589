// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of the parameters together, at the start of a run. (A file refuses a value that is never
 * valid.) The line in the kernel log begins with the name of the file to change.
 *
 * To add a check: a function, a row in checks[].
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "run.h"

static bool check_cpus(const struct stress_params *params)
{
	if (cpumask_subset(&params->cpus, cpu_online_mask))
		return true;
	pr_err("cpus: some of %*pbl have gone offline\n", cpumask_pr_args(&params->cpus));
	return false;
}

/* By the lock type, or with an infinite patience. */
static bool may_never_time_out(const struct stress_params *params)
{
	switch (params->lock->patience) {
	case STRESS_WAITS_FOR_EVER:
		return true;
	case STRESS_HAS_OWN_TIMEOUT:
		return false;
	default:
		return (params->impatient_permille < 1000 &&
			params->patience_ns.high == KTIME_MAX) ||
		       (params->impatient_permille && params->impatient_ns == KTIME_MAX);
	}
}

static bool check_chain_order(const struct stress_params *params)
{
	if (params->chain == 1 || params->chain_order != CHAIN_RANDOM ||
	    !may_never_time_out(params))
		return true;
	pr_err("chain_order: random needs attempts that time out: %s would deadlock\n",
	       params->lock->name);
	return false;
}

static bool check_free_lock(const struct stress_params *params)
{
	if (!params->free_lock)
		return true;
	if (!params->lock->free_after_unlock) {
		pr_err("free_lock: a lock of type %s must not be freed right after its release\n",
		       params->lock->name);
		return false;
	}
	if (params->chain > 1) {
		pr_err("free_lock: takes one lock at a time, so chain must be 1\n");
		return false;
	}
	/* The admission's lock is not taken with interrupts off. */
	if (params->contexts != BIT(STRESS_TASK)) {
		pr_err("free_lock: threads only, so contexts must be task\n");
		return false;
	}
	return true;
}

static bool check_contexts(const struct stress_params *params)
{
	unsigned int too_high = params->contexts &
				~(BIT(params->lock->highest + 1) - 1);
	char words[STRESS_CONTEXTS_LENGTH];

	/* Else the interrupted context does not use the same lock. */
	if (!too_high || params->nesting != NESTING_SHARED)
		return true;
	stress_contexts_print(words, too_high);
	pr_err("contexts: %s not for %s: it %s\n", words, params->lock->name,
	       params->lock->patience == STRESS_WAITS_FOR_EVER ?
	       "would deadlock with the holder that it interrupts" :
	       "would deadlock with the waiter that it interrupts");
	return false;
}

static bool check_nesting(const struct stress_params *params)
{
	if (params->nesting != NESTING_MASKED || !(params->contexts & BIT(STRESS_NMI)))
		return true;
	pr_err("nesting: masked is not for nmi, which cannot be masked\n");
	return false;
}

/* Are there attempts in interrupts, or with interrupts off? */
static bool masks_interrupts(const struct stress_params *params)
{
	return params->contexts != BIT(STRESS_TASK) || params->suspend_every_ns;
}

/* One that has interrupted the holder waits for its whole patience. */
static bool check_interrupt_patience(const struct stress_params *params)
{
	const char *name = NULL;

	if (!masks_interrupts(params) || params->lock->patience != STRESS_HEEDS_PATIENCE)
		return true;
	if (params->patience_ns.high > STRESS_INTERRUPTS_OFF_MAX)
		name = "patience_ns";
	else if (params->impatient_permille && params->impatient_ns > STRESS_INTERRUPTS_OFF_MAX)
		name = "impatient_ns";
	if (!name)
		return true;
	pr_err("%s: in interrupts, or with interrupts off, %llu at most\n", name,
	       (u64)STRESS_INTERRUPTS_OFF_MAX);
	return false;
}

static bool check_interrupt_stall(const struct stress_params *params)
{
	if (!masks_interrupts(params) || !params->stall_every ||
	    params->stall_ns <= STRESS_INTERRUPTS_OFF_MAX)
		return true;
	pr_err("stall_ns: in interrupts, or with interrupts off, %llu at most\n",
	       (u64)STRESS_INTERRUPTS_OFF_MAX);
	return false;
}

static bool check_shuffle(const struct stress_params *params)
{
	if (!params->shuffle_ms || cpumask_weight(&params->cpus) > 1)
		return true;
	pr_err("shuffle_ms: takes two CPUs in cpus\n");
	return false;
}

/*
 * A thread with suspensions must stay on the CPU of its timer. Its attempts have interrupts off,
 * and making a lock that is freed may sleep.
 */
static bool check_suspend(const struct stress_params *params)
{
	const char *other = NULL;

	if (!params->suspend_every_ns)
		return true;
	if (params->contexts != BIT(STRESS_TASK))
		other = "more than task in contexts";
	else if (params->shuffle_ms)
		other = "shuffle_ms";
	else if (params->hotplug_ms)
		other = "hotplug_ms";
	else if (params->free_lock)
		other = "free_lock";
	if (!other)
		return true;
	pr_err("suspend_every_ns: not together with %s\n", other);
	return false;
}

static bool check_hotplug(const struct stress_params *params)
{
	if (!params->hotplug_ms || stress_hotplug_is_possible(&params->cpus))
		return true;
	pr_err("hotplug_ms: none of the CPUs %*pbl can go offline\n",
	       cpumask_pr_args(&params->cpus));
	return false;
}

/* Return: true, or false after a line in the kernel log. */
static bool (* const checks[])(const struct stress_params *params) = {
	check_cpus,
	check_chain_order,
	check_free_lock,
	check_contexts,
	check_nesting,
	check_interrupt_patience,
	check_interrupt_stall,
	check_suspend,
	check_shuffle,
	check_hotplug,
};

/* Is a run possible? Return: 0; or -EINVAL, with the reason in the kernel log. */
int stress_params_check(const struct stress_params *params)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		if (!checks[i](params))
			return -EINVAL;
	}
	return 0;
}
