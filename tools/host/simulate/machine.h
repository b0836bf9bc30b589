/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulated machine: CPUs with a clock each, the smallest of which runs next.
 *
 * Rules
 *	A CPU is a fiber. It computes in no time; its clock advances by what memory.c,
 *	store_buffer.c and cpu_relax() charge.
 *	Whatever others can see happens while the CPU's clock is the smallest of all
 *	pending events: machine_arrive() comes back then.
 *	Ties go to the CPU with the smallest number, so that a seed determines a run.
 */
#ifndef SIMULATE_MACHINE_H
#define SIMULATE_MACHINE_H

#include <stdbool.h>

#include <linux/types.h>

#include "store_buffer.h"

#define MOST_CPUS	256U
#define MOST_SOCKETS	8U
#define NEVER		(~0ULL)

/* A CPU. */
struct cpu {
	unsigned int number;	/* from 0 */
	unsigned int socket;	/* where it is */
	unsigned int core;	/* which it shares, if cores are shared */
	u64 clock;		/* how far it has come, in ps */
	u64 runs_at;		/* when it goes on; NEVER: not by itself */
	struct store_buffer stores;	/* on their way to memory */
	bool waits_for_stores;	/* it goes on when they are fewer */
	bool is_off;		/* another CPU has its core */
	bool is_halted;		/* it sleeps until it is kicked */
	bool is_kicked;		/* the next halt does not sleep */
	bool has_ended;		/* its program is over */
	u64 pauses_since;	/* when the loop of cpu_relax() that it is in began */
	u64 paused_at;		/* when the last cpu_relax() ended */
	u64 pause_window;	/* how long such a loop may be */
	u64 away_at;		/* when it is preempted next */
	u64 away_until;		/* when it is back from the last time */
	unsigned short random[3];	/* the state of its random numbers, for nrand48() */
	int preempt_off;	/* the kernel's count */
};

extern struct cpu cpus[MOST_CPUS];
/* Whose fiber runs; NULL: none. */
extern struct cpu *this_cpu;

/*
 * Let every CPU run the program until all have ended, or until a time, or until nothing can go on.
 * @tick is called every @tick_every ps.
 */
void machine_run(void (*program)(void), u64 until, void (*tick)(void), u64 tick_every);

/* The time of the event that is being handled. */
u64 machine_now(void);

/* Of the running CPU: come back when no other event is earlier than its clock. */
void machine_arrive(void);
/* Its clock advances. */
void machine_spend(u64 ps);
/* Come back when its store buffer has room, or is empty. */
void machine_wait_for_stores(void);
/* cpu_relax(), which takes @ps: a loop of it may end the turn on a shared core. */
void machine_pause(u64 ps);
/* From 0 to below @limit. */
u64 machine_random(u64 limit);
/* The events of a CPU have changed. */
void machine_update(struct cpu *cpu);

#endif
