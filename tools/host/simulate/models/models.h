/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The models: locks that cannot be compiled for the host, or that are not shipped, written anew
 * from their papers and sources, each behind the operations of the stress driver.
 */
#ifndef MODELS_H
#define MODELS_H

#include <stdbool.h>

#include <host.h>
#include <nbqlock/stress/ops.h>

/* Each in the file of its name. */
extern const struct stress_ops model_qspinlock, model_pv_qspinlock, model_virt_spin_lock;
extern const struct stress_ops model_cna, model_hmcs, model_nbq_arena;

/*
 * What a model may ask of the machine and do with it: what a kernel knows of its topology, and
 * what a paravirtual guest asks of its hypervisor.
 */

/* Of this run: 1 to 8. */
unsigned int simulate_sockets(void);
unsigned int simulate_socket_of(unsigned int cpu);

/* vcpu_is_preempted(): whether the CPU is preempted. */
bool simulate_cpu_is_away(unsigned int cpu);

/* pv_wait() and pv_kick(): sleep until kicked, at once if that has happened already. */
void simulate_halt(void);
void simulate_kick(unsigned int cpu);

/* The queue nodes of qspinlock and pv_qspinlock, which are in static memory. */
struct shim_memory model_qspinlock_nodes(void);

#endif
