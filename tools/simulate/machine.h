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

/**
 * struct cpu - a CPU
 * @number: from 0
 * @socket: where it is
 * @core: which it shares, if cores are shared
 * @clock: how far it has come, in ps
 * @runs_at: when it goes on; NEVER: not by itself
 * @stores: on their way to memory
 * @waits_for_stores: it goes on when they are fewer
 * @is_off: another CPU has its core
 * @is_halted: it sleeps until it is kicked
 * @is_kicked: the next halt does not sleep
 * @has_ended: its program is over
 * @pauses_since: when the loop of cpu_relax() that it is in began
 * @paused_at: when the last cpu_relax() ended
 * @pause_window: how long such a loop may be
 * @away_at: when it is preempted next
 * @away_until: when it is back from the last time
 * @random: the state of its random numbers, for nrand48()
 * @preempt_off: the kernel's count
 */
struct cpu {
	unsigned int number;
	unsigned int socket;
	unsigned int core;
	u64 clock;
	u64 runs_at;
	struct store_buffer stores;
	bool waits_for_stores;
	bool is_off;
	bool is_halted;
	bool is_kicked;
	bool has_ended;
	u64 pauses_since;
	u64 paused_at;
	u64 pause_window;
	u64 away_at;
	u64 away_until;
	unsigned short random[3];
	int preempt_off;
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
