/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The models: locks that cannot be compiled for the host, or that are not shipped, written anew
 * from their papers and sources, each behind the operations of the stress driver.
 */
#ifndef MODELS_H
#define MODELS_H

#include <host.h>
#include <nbqlock/stress/ops.h>

/* The most CPUs of a run: per-CPU nodes are static arrays, as in the kernel. */
#define MODEL_CPUS	256U

/* qspinlock.c */
extern const struct stress_ops model_qspinlock;
/* pv_qspinlock.c */
extern const struct stress_ops model_pv_qspinlock;
/* virt_spin_lock.c */
extern const struct stress_ops model_virt_spin_lock;
/* cna.c */
extern const struct stress_ops model_cna;
/* hmcs.c */
extern const struct stress_ops model_hmcs;

/* The queue nodes of the models that have them in static memory. */
struct shim_memory model_qspinlock_nodes(void);
struct shim_memory model_pv_qspinlock_nodes(void);

#endif
