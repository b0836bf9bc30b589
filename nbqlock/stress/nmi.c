// SPDX-License-Identifier: GPL-2.0
/*
 * Attempts in a non-maskable interrupt that a CPU sends to another.
 *
 * On x86 any CPU with a local APIC can send NMIs, in every emulator as well, at
 * the moment that is wanted. A performance counter's overflow would need
 * hardware that virtual machines seldom have, comes when so much work is done
 * and not at a time, and is no NMI on every platform. So there is this way
 * only, and no NMI elsewhere.
 *
 * An NMI says nothing about who sent it: due[] of the CPU does. An NMI of
 * another kind that comes between the note there and ours takes ours for its
 * own, as with the NMIs that the kernel itself sends (for backtraces), and
 * the kernel may then log one of unknown reason.
 */
#include <linux/errno.h>

#include "nmi.h"

#ifdef CONFIG_X86_LOCAL_APIC

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/time64.h>

#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

#include "run.h"

#define HANDLER_NAME	"nbqlock_stress"
/*
 * An NMI that is not there after so long got lost, with a CPU that went. A host may
 * leave a virtual CPU without a core for a while.
 */
#define DRAIN_MS	(10 * MSEC_PER_SEC)

/* Who attempts in the next NMI of a CPU; NULL: none was sent. */
static DEFINE_PER_CPU(struct contender *, due);

bool stress_nmi_is_possible(void)
{
	return boot_cpu_has(X86_FEATURE_APIC);
}

static int handle(unsigned int type, struct pt_regs *regs)
{
	/* ACQUIRE, pairs with the RELEASE in stress_nmi_send(). */
	struct contender *contender = smp_load_acquire(this_cpu_ptr(&due));

	if (!contender)
		return NMI_DONE;
	stress_contender_interrupt(contender);
	/* RELEASE, pairs with the ACQUIREs in send and settle: it is over. */
	smp_store_release(this_cpu_ptr(&due), NULL);
	return NMI_HANDLED;
}

/**
 * stress_nmi_register() - From now on NMIs may be sent.
 *
 * Return: 0, or a negative errno.
 */
int stress_nmi_register(void)
{
	return register_nmi_handler(NMI_LOCAL, handle, 0, HANDLER_NAME);
}

/**
 * stress_nmi_send() - Let a contender attempt, in an NMI on its CPU.
 * @contender: it is left alone if the NMI before has not ended, or its CPU is
 *	not online
 *
 * Context: by one sender for each CPU; any but NMI.
 */
void stress_nmi_send(struct contender *contender)
{
	struct contender **slot = per_cpu_ptr(&due, contender->cpu);

	/*
	 * One that is sent twice may arrive twice: then nobody expects it.
	 * ACQUIRE, pairs with the RELEASE in handle().
	 */
	if (smp_load_acquire(slot) || !cpu_online(contender->cpu))
		return;
	/* RELEASE, pairs with the ACQUIRE in handle(). */
	smp_store_release(slot, contender);
	apic->send_IPI(contender->cpu, NMI_VECTOR);
}

/**
 * stress_nmi_drain() - Wait until the last NMI that was sent has ended.
 * @contender: to whom nobody sends any more
 */
void stress_nmi_drain(struct contender *contender)
{
	struct contender **slot = per_cpu_ptr(&due, contender->cpu);
	unsigned int ms;

	/* ACQUIRE, pairs with the RELEASE in handle(). */
	for (ms = 0; smp_load_acquire(slot) && ms < DRAIN_MS; ms++)
		usleep_range(1000, 2000);
}

/**
 * stress_nmi_unregister() - No NMI is sent any more.
 *
 * When this returns, no CPU is in the handler.
 */
void stress_nmi_unregister(void)
{
	unsigned int cpu;

	/* Waits for handlers that run. */
	unregister_nmi_handler(NMI_LOCAL, HANDLER_NAME);
	for_each_possible_cpu(cpu)
		per_cpu(due, cpu) = NULL;
}

#else

bool stress_nmi_is_possible(void)
{
	return false;
}

int stress_nmi_register(void)
{
	return -EOPNOTSUPP;
}

void stress_nmi_send(struct contender *contender)
{
}

void stress_nmi_drain(struct contender *contender)
{
}

void stress_nmi_unregister(void)
{
}

#endif
