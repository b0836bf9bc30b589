/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The type of nbq_spin, and its initialisers: only types, all that a header needs which embeds a
 * lock. The operations are in spin.h.
 *
 * All fields are private. A lock of zeroes is free, but only an initialiser makes it known to
 * lockdep.
 */
#ifndef _NBQLOCK_SPIN_TYPES_H
#define _NBQLOCK_SPIN_TYPES_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/lockdep_types.h>
#include <linux/types.h>

#include "bare_spin_types.h"
#include "compat.h"

/*
 * May an NMI use the locks? Where compare-and-swap is emulated with interrupts off or under
 * a lock, an NMI that comes in between breaks it.
 */
#define NBQ_NMI_SAFE	IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG)

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define __NBQ_DEP_MAP_INIT(lockname)					\
	.dep_map = {							\
		.name = #lockname,					\
		.wait_type_inner = LD_WAIT_SPIN,			\
	}
#else
#define __NBQ_DEP_MAP_INIT(lockname)
#endif

/**
 * enum nbq_level - the contexts that can interrupt one another on a CPU
 * @NBQ_TASK: a task
 * @NBQ_SOFTIRQ: a softirq; on PREEMPT_RT that is a task
 * @NBQ_HARDIRQ: a hard interrupt
 * @NBQ_NMI: a non-maskable interrupt
 * @NBQ_LEVELS: how many there are
 *
 * In the order of interrupt_context_level().
 */
enum nbq_level {
	NBQ_TASK,
	NBQ_SOFTIRQ,
	NBQ_HARDIRQ,
	NBQ_NMI,
	NBQ_LEVELS
};

/**
 * struct nbq_timeout - what an attempt that failed has seen
 * @waited_ns: how long it took
 * @holder_cpu: CPU of the context by which an nbq_spin has judged that the wait could not end
 *	(%-EOWNERDEAD, %-EDEADLK); else of the one that held the lock afterwards; -1: none was found
 * @holder_level: context level of that
 * @takeovers: for nbq_spin_takeover() alone: of how many the CPU and level of the attempt knew
 */
struct nbq_timeout {
	u64 waited_ns;
	int holder_cpu;
	enum nbq_level holder_level;
	unsigned int takeovers;
};

/*
 * struct nbq_spin - a hybrid lock, see spin.h
 * @bare: the lock itself
 * @state: who holds it, and who may take it
 * @dep_map: for lockdep
 */
__nbq_lock_struct(nbq_spin) {
	union {
		union nbq_bare_spin bare;
		union nbq_spin_state state;
	};
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/**
 * NBQ_SPIN_INIT() - Initialiser of a static hybrid lock, or of one in a struct.
 * @lockname: the variable or member that it initialises
 */
#define NBQ_SPIN_INIT(lockname)		{ __NBQ_DEP_MAP_INIT(lockname) }

/**
 * DEFINE_NBQ_SPIN() - Define a free hybrid lock.
 * @name: name of the variable; may follow ``static``
 */
#define DEFINE_NBQ_SPIN(name)		struct nbq_spin name = NBQ_SPIN_INIT(name)

#endif
