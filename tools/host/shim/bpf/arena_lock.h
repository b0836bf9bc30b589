/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of nbqlock/bpf/nbq_arena_lock.h, called from other files. */
#ifndef SHIM_BPF_ARENA_LOCK_H
#define SHIM_BPF_ARENA_LOCK_H

#include <nbqlock/bpf/nbq_arena_lock.h>

int shim_arena_lock(struct nbq_arena_lock *lock, u64 patience_ns);
bool shim_arena_trylock(struct nbq_arena_lock *lock);
void shim_arena_unlock(struct nbq_arena_lock *lock);
/* Attempts by a CPU of its own, which free the nodes that the tail names, and acquire. */
int shim_arena_sweep(struct nbq_arena_lock *lock);

#endif
