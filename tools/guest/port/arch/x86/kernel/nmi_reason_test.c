// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU that waits in an NMI for nmi_reason_lock, while another one prepares a crash dump: it has
 * to leave the wait for the crash IPI's callback, although the holder does not release.
 *
 *	this CPU		holder			waiter
 *	sends an NMI
 *				holds nmi_reason_lock
 *	sends an NMI
 *							waits for it
 *	nmi_shootdown_cpus()
 *							its callback, in that wait
 *				releases
 *				its callback, in the next NMI
 *
 * The handlers, the lock and the IPI are the kernel's own. A holder is one that asks for the reason
 * of its NMI. Ends the machine, as CPUs that the IPI has stopped never return; so it runs at boot
 * and only if "nmi_reason_test" is on the command line.
 */
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/reboot.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>
#include <asm/reboot.h>
#include <asm/x86_init.h>

#include <nbqlock/counters.h>

#define CPUS		3

/* In polls, for an NMI that does not come. */
#define MOST_POLLS	100000000U

static bool wanted __initdata;
static unsigned int holder, waiter;	/* CPUs */
static unsigned char (*real_reason)(void);
static bool holds;		/* the holder has the lock */
static bool released;		/* it is to release it */
static bool waits;		/* the waiter is in its NMI */
static bool left_the_wait;	/* its callback has run while the lock was held */
static unsigned int stopped;	/* callbacks */

static int __init nmi_reason_test_setup(char *unused)
{
	wanted = true;
	return 1;
}
__setup("nmi_reason_test", nmi_reason_test_setup);

/* With nmi_reason_lock. */
static unsigned char reason_of_nmi(void)
{
	if (raw_smp_processor_id() == holder && !READ_ONCE(released)) {
		WRITE_ONCE(holds, true);
		while (!READ_ONCE(released))
			cpu_relax();
	}
	return real_reason();
}

/* It leaves all NMIs to the search for a reason. */
static int see_nmi(unsigned int type, struct pt_regs *regs)
{
	if (raw_smp_processor_id() == waiter)
		WRITE_ONCE(waits, true);
	return NMI_DONE;
}

static int swallow_nmi(unsigned int type, struct pt_regs *regs)
{
	return NMI_HANDLED;
}

/* On the CPUs that the IPI stops, one after the other. */
static void stop(int cpu, struct pt_regs *regs)
{
	stopped++;
	if (cpu != waiter)
		return;
	WRITE_ONCE(left_the_wait, !READ_ONCE(released));
	WRITE_ONCE(released, true);
}

static bool __init send_nmi(unsigned int cpu, const bool *has_come)
{
	unsigned int polls = MOST_POLLS;

	apic->send_IPI(cpu, NMI_VECTOR);
	while (!READ_ONCE(*has_come) && --polls)
		cpu_relax();
	return READ_ONCE(*has_come);
}

static int __init nmi_reason_test(void)
{
	u64 cancellations = 0;
	bool came;

	if (!wanted)
		return 0;
	if (num_online_cpus() != CPUS) {
		pr_err("nmi_reason_test: needs %u CPUs\n", CPUS);
		return 0;
	}
	real_reason = x86_platform.get_nmi_reason;
	x86_platform.get_nmi_reason = reason_of_nmi;
	if (register_nmi_handler(NMI_LOCAL, see_nmi, 0, "nmi_reason_test") ||
	    register_nmi_handler(NMI_UNKNOWN, swallow_nmi, 0, "nmi_reason_test"))
		return 0;
	preempt_disable();
	holder = cpumask_any_but(cpu_online_mask, smp_processor_id());
	waiter = CPUS - holder - smp_processor_id();
	came = send_nmi(holder, &holds) && send_nmi(waiter, &waits);
	nmi_shootdown_cpus(stop);
	WRITE_ONCE(released, true);
	if (nbq_event_read("cancellations", &cancellations))
		came = false;
	pr_emerg("nmi_reason_test: NMIs %s, callback %s the wait, %u CPUs stopped, %llu cancellations\n",
		 came ? "came" : "did not come", READ_ONCE(left_the_wait) ? "in" : "not in",
		 READ_ONCE(stopped), cancellations);
	emergency_restart();
	return 0;
}
late_initcall(nmi_reason_test);
