// SPDX-License-Identifier: GPL-2.0
/*
 * Attempts in a non-maskable interrupt that one CPU sends to another.
 *
 * On x86 a CPU with a local APIC can send an NMI at any moment, in emulators as well. The
 * overflow of a performance counter needs hardware that virtual machines seldom have, cannot
 * be timed, and is not an NMI on every platform. So there are no NMIs on other machines.
 *
 * An NMI does not name its sender: due[] of the CPU does. An NMI of another source that arrives
 * between the store there and ours is taken for ours, as with the NMIs that the kernel itself
 * sends (for backtraces); the kernel may then log one of unknown reason.
 */
#include <linux/delay.h>
#include <linux/percpu.h>

#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

#include "run.h"

#define HANDLER_NAME	"nbqlock_stress"
/*
 * An NMI that has not arrived after so long is lost, with a CPU that went offline. A host may not
 * run a virtual CPU for a while.
 */
#define DRAIN_MS	(10 * MSEC_PER_SEC)

/* The contender that attempts in the next NMI of a CPU; NULL: none was sent */
static DEFINE_PER_CPU(struct contender *, due);

bool stress_nmi_is_possible(void)
{
	return boot_cpu_has(X86_FEATURE_APIC);
}

static int handle(unsigned int type, struct pt_regs *regs)
{
	/* ACQUIRE: the contender is initialised. Pairs with the RELEASE in stress_nmi_send(). */
	struct contender *contender = smp_load_acquire(this_cpu_ptr(&due));

	if (!contender)
		return NMI_DONE;
	stress_contender_interrupt(contender);
	/*
	 * RELEASE: the attempt is over. Pairs with the ACQUIREs in stress_nmi_send() and
	 * stress_nmi_drain().
	 */
	smp_store_release(this_cpu_ptr(&due), NULL);
	return NMI_HANDLED;
}

int stress_nmi_register(void)
{
	return register_nmi_handler(NMI_LOCAL, handle, 0, HANDLER_NAME);
}

/*
 * Make a contender attempt, in an NMI on its CPU; not if its last NMI has not ended, or the CPU is
 * offline. Each CPU has one sender. In any context but NMI.
 */
void stress_nmi_send(struct contender *contender)
{
	struct contender **slot = per_cpu_ptr(&due, contender->cpu);

	/*
	 * A second NMI could arrive when none is expected. ACQUIRE: the last attempt is over.
	 * Pairs with the RELEASE in handle().
	 */
	if (smp_load_acquire(slot) || !cpu_online(contender->cpu))
		return;
	/* RELEASE: the contender is initialised. Pairs with the ACQUIRE in handle(). */
	smp_store_release(slot, contender);
	apic->send_IPI(contender->cpu, NMI_VECTOR);
}

/* Wait until the last NMI has ended; no sender has the contender any more. */
void stress_nmi_drain(struct contender *contender)
{
	struct contender **slot = per_cpu_ptr(&due, contender->cpu);
	unsigned int ms;

	/* ACQUIRE: the attempt is over. Pairs with the RELEASE in handle(). */
	for (ms = 0; smp_load_acquire(slot) && ms < DRAIN_MS; ms++)
		usleep_range(1000, 2000);
}

/* When this returns, no CPU executes the handler. */
void stress_nmi_unregister(void)
{
	unsigned int cpu;

	unregister_nmi_handler(NMI_LOCAL, HANDLER_NAME);
	for_each_possible_cpu(cpu)
		per_cpu(due, cpu) = NULL;
}
