/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a model of a lock may ask of the simulated machine, and do with it: what a
 * kernel knows of its topology, and what a paravirtual guest asks of its hypervisor.
 */
#ifndef SIMULATE_H
#define SIMULATE_H

#include <stdbool.h>

/* Of this run: 1 to 8. */
unsigned int simulate_sockets(void);
unsigned int simulate_socket_of(unsigned int cpu);

/* vcpu_is_preempted(): whether the CPU is preempted. */
bool simulate_cpu_is_away(unsigned int cpu);

/* pv_wait() and pv_kick(): sleep until kicked, at once if that has happened already. */
void simulate_halt(void);
void simulate_kick(unsigned int cpu);

#endif
