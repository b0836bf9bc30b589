// SPDX-License-Identifier: GPL-2.0
/*
 * nbqlock/bpf/nbq_arena_lock.h compiled for the host, with what the kernel has for its programs.
 */
#define __weak
#include <bpf/arena_lock.h>

#include <host.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/timekeeping.h>

/* No value of a node: it is not there. */
#define ABSENT		2U

bool (*shim_loop_is_over)(void);

u64 bpf_ktime_get_ns(void)
{
	return ktime_get_mono_fast_ns();
}

u32 bpf_get_smp_processor_id(void)
{
	return shim_cpu;
}

void bpf_preempt_disable(void)
{
	preempt_disable();
}

void bpf_preempt_enable(void)
{
	preempt_enable();
}

void bpf_local_irq_save(unsigned long *flags)
{
	local_irq_save(*flags);
}

void bpf_local_irq_restore(unsigned long *flags)
{
	local_irq_restore(*flags);
}

int shim_arena_lock(struct nbq_arena_lock *lock, u64 patience_ns)
{
	return nbq_arena_lock(lock, patience_ns);
}

bool shim_arena_trylock(struct nbq_arena_lock *lock)
{
	return nbq_arena_trylock(lock);
}

void shim_arena_unlock(struct nbq_arena_lock *lock)
{
	nbq_arena_unlock(lock);
}

int shim_arena_sweep(struct nbq_arena_lock *lock)
{
	unsigned int cpu = shim_cpu, tail;
	int ret;

	shim_cpu = SHIM_CPUS - 1;
	/* Each of them skips a node: one that skips none will not, however often it is made. */
	do {
		tail = lock->tail;
		ret = nbq_arena_lock(lock, 0);
	} while (ret && lock->tail != tail);
	if (!ret)
		nbq_arena_unlock(lock);
	shim_cpu = cpu;
	return ret;
}

bool shim_is_absent_arena_node(const void *address)
{
	return shim_is_arena_node(address) && *(const u32 *)address == ABSENT;
}

struct shim_memory shim_arena_nodes(void)
{
	return (struct shim_memory){ nbq_arena_node, sizeof(nbq_arena_node) };
}

void shim_arena_start(unsigned int size)
{
	unsigned int name;

	for (name = 0; name < NBQ_ARENA_CPUS * NBQ_ARENA_NODES; name++)
		nbq_arena_node[name] = name % NBQ_ARENA_NODES > size ? ABSENT : NBQ_ARENA_FREE;
}

unsigned int shim_arena_nodes_in_use(void)
{
	unsigned int name, in_use = 0;

	for (name = 0; name < NBQ_ARENA_CPUS * NBQ_ARENA_NODES; name++)
		in_use += nbq_arena_node[name] != NBQ_ARENA_FREE && nbq_arena_node[name] != ABSENT;
	return in_use;
}
