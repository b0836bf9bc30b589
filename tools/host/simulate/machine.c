// SPDX-License-Identifier: GPL-2.0
/*
 * Time and turns: which CPU runs next, and which is away.
 */
#include <stdlib.h>
#include <string.h>

#include <fiber.h>
#include <host.h>

#include "costs.h"
#include "machine.h"
#include "models/models.h"
#include "settings.h"

struct cpu cpus[MOST_CPUS];
struct cpu *this_cpu;

static u64 now;
static u64 next_tick;
static unsigned int ended;

/*
 * A winner tree over the CPUs: tree[1] is the number of the CPU whose next event is the
 * earliest, tree[i] that of the subtree below; leaves are the CPUs themselves.
 */
static unsigned int tree[MOST_CPUS];
static u64 next_event[MOST_CPUS];
static unsigned int leaves;

/* KVM's ple_gap, 128 cycles, at 3 GHz: what is longer ends a loop of cpu_relax(). */
#define PAUSE_GAP	(43 * PS_PER_NS)

/* CPUs that share a core: the one that has it, until when, and the one that preempts it. */
static struct core {
	unsigned int running;
	u64 slice_end;
	struct cpu *woken;
} cores[MOST_CPUS];

u64 machine_now(void)
{
	return now;
}

static unsigned int winner(unsigned int at)
{
	return at < leaves ? tree[at] : at - leaves;
}

static void replay(unsigned int number)
{
	unsigned int at = (number + leaves) / 2;

	for (; at; at /= 2) {
		unsigned int left = winner(2 * at), right = winner(2 * at + 1);

		tree[at] = next_event[right] < next_event[left] ? right : left;
	}
}

static unsigned int earliest(void)
{
	return leaves > 1 ? tree[1] : 0;
}

void machine_update(struct cpu *cpu)
{
	u64 stores = cpu->stores.done_at;

	next_event[cpu->number] = cpu->runs_at < stores ? cpu->runs_at : stores;
	replay(cpu->number);
}

u64 machine_random(u64 limit)
{
	u64 high = nrand48(this_cpu->random), low = nrand48(this_cpu->random);

	return limit ? (high << 31 | low) % limit : 0;
}

/* Between half and one and a half times the mean: the moment is random. */
static u64 next_absence(u64 from)
{
	u64 mean = settings.away_every_ns * PS_PER_NS;

	return mean ? from + mean / 2 + machine_random(mean) : NEVER;
}

static void go_on_later(void)
{
	machine_update(this_cpu);
	fiber_stop();
}

static bool is_runnable(const struct cpu *cpu)
{
	return !cpu->has_ended && !cpu->is_halted;
}

/* The next one on the core that has something to do; the same one if there is no other. */
static struct cpu *next_on_core(struct cpu *cpu)
{
	unsigned int i;

	if (cores[cpu->core].woken)
		return cores[cpu->core].woken;
	for (i = 1; i < settings.cpus; i++) {
		struct cpu *other = &cpus[(cpu->number + i) % settings.cpus];

		if (other->core == cpu->core && is_runnable(other))
			return other;
	}
	return cpu;
}

/* To the core of a CPU that is idle comes one that waits for another core, if there is one. */
static struct cpu *pull(struct cpu *cpu)
{
	unsigned int i;

	for (i = 1; i < settings.cpus && settings.migrate; i++) {
		struct cpu *other = &cpus[(cpu->number + i) % settings.cpus];

		if (!other->is_off || !is_runnable(other))
			continue;
		if (cores[other->core].woken == other)
			cores[other->core].woken = NULL;
		other->core = cpu->core;
		return other;
	}
	return cpu;
}

/* The core goes to another CPU at a time. */
static void give_core(struct cpu *from, struct cpu *to, u64 at)
{
	struct core *core = &cores[from->core];

	core->running = to->number;
	core->slice_end = at + settings.slice_ns * PS_PER_NS;
	core->woken = NULL;
	if (from == to)
		return;
	from->is_off = true;
	if (!from->has_ended)
		from->runs_at = NEVER;
	to->is_off = false;
	to->pause_window = settings.ple_window_ns * PS_PER_NS;
	if (to->clock < at)
		to->clock = at;
	if (!to->waits_for_stores)
		to->runs_at = to->clock;
	machine_update(from);
	machine_update(to);
}

/*
 * The turn on a shared core is over: what is left to do is done in the next one, which may be on
 * another core.
 */
static void share_core(void)
{
	while (this_cpu->clock >= cores[this_cpu->core].slice_end) {
		u64 slice_end = cores[this_cpu->core].slice_end;
		u64 at = slice_end > now ? slice_end : now;
		struct cpu *next = next_on_core(this_cpu);
		u64 left = this_cpu->clock - at;

		if (next == this_cpu) {
			give_core(this_cpu, next, at);
			continue;
		}
		this_cpu->clock = at;
		give_core(this_cpu, next, at);
		go_on_later();
		this_cpu->clock += left;
	}
}

static void be_taken_away(void)
{
	if (settings.cores)
		share_core();
	while (this_cpu->clock >= this_cpu->away_at) {
		this_cpu->clock += settings.away_ns * PS_PER_NS;
		this_cpu->away_until = this_cpu->clock;
		this_cpu->away_at = next_absence(this_cpu->clock);
	}
}

void machine_arrive(void)
{
	be_taken_away();
	for (;;) {
		this_cpu->runs_at = this_cpu->clock;
		machine_update(this_cpu);
		if (earliest() == this_cpu->number && this_cpu->clock < next_tick &&
		    this_cpu->runs_at <= this_cpu->stores.done_at) {
			now = this_cpu->clock;
			return;
		}
		fiber_stop();
		if (this_cpu->clock == now)
			return;
	}
}

void machine_spend(u64 ps)
{
	this_cpu->clock += ps;
}

/* To the next one on a shared core, through the hypervisor. Return: whether there is one. */
static bool leave_core(void)
{
	struct cpu *next = settings.cores ? next_on_core(this_cpu) : this_cpu;

	if (next == this_cpu && settings.cores && this_cpu->is_halted)
		next = pull(this_cpu);
	if (next == this_cpu)
		return false;
	give_core(this_cpu, next, this_cpu->clock + costs.wake_up);
	return true;
}

/*
 * KVM's pause-loop exiting: the window doubles with each exit, and is the first one again in
 * the next turn.
 */
void machine_pause(u64 ps)
{
	struct cpu *cpu = this_cpu;

	if (cpu->clock - cpu->paused_at > PAUSE_GAP)
		cpu->pauses_since = cpu->clock;
	machine_spend(ps);
	cpu->paused_at = cpu->clock;
	if (!settings.cores || !settings.ple_window_ns ||
	    cpu->clock - cpu->pauses_since < cpu->pause_window)
		return;
	cpu->pause_window *= 2;
	machine_spend(costs.halt);
	machine_arrive();
	if (leave_core())
		go_on_later();
	cpu->pauses_since = cpu->clock;
	cpu->paused_at = cpu->clock;
}

void machine_wait_for_stores(void)
{
	this_cpu->waits_for_stores = true;
	this_cpu->runs_at = NEVER;
	go_on_later();
}

static void end_program(void)
{
	struct cpu *next;

	this_cpu->has_ended = true;
	this_cpu->runs_at = NEVER;
	ended++;
	if (settings.cores) {
		next = next_on_core(this_cpu);
		if (next != this_cpu)
			give_core(this_cpu, next, this_cpu->clock);
	}
	for (;;)
		go_on_later();
}

static void (*program_of_all)(void);

static void run_program(void)
{
	machine_arrive();
	program_of_all();
	machine_arrive();
	end_program();
}

/* The stores of a CPU are fewer: it may have waited for that. */
static void go_on_after_stores(struct cpu *cpu)
{
	if (!cpu->waits_for_stores || !store_buffer_has_room(&cpu->stores))
		return;
	cpu->waits_for_stores = false;
	if (cpu->clock < now)
		cpu->clock = now;
	if (!cpu->is_off)
		cpu->runs_at = cpu->clock;
}

static void handle(struct cpu *cpu)
{
	if (cpu->stores.done_at < cpu->runs_at) {
		store_buffer_complete(cpu);
		go_on_after_stores(cpu);
		machine_update(cpu);
		return;
	}
	this_cpu = cpu;
	shim_cpu = cpu->number;
	shim_preempt_off = cpu->preempt_off;
	fiber_resume(cpu->number);
	cpu->preempt_off = shim_preempt_off;
	this_cpu = NULL;
}

static void prepare(struct cpu *cpu, unsigned int number)
{
	u64 slice = settings.slice_ns * PS_PER_NS;

	memset(cpu, 0, sizeof(*cpu));
	cpu->number = number;
	cpu->socket = simulate_socket_of(number);
	cpu->random[0] = number;
	cpu->random[1] = settings.seed;
	cpu->random[2] = settings.seed >> 16;
	cpu->stores.done_at = NEVER;
	this_cpu = cpu;
	/* As if it had run for long: absences are spread over a run of any length. */
	cpu->away_at = settings.away_every_ns ?
		       machine_random(settings.away_every_ns * PS_PER_NS) : NEVER;
	/* CPUs do not start at the same moment. */
	cpu->clock = machine_random(1000 * PS_PER_NS);
	cpu->runs_at = cpu->clock;
	if (settings.cores) {
		cpu->core = number % settings.cores;
		cpu->pause_window = settings.ple_window_ns * PS_PER_NS;
		cpu->is_off = number >= settings.cores;
		if (cpu->is_off)
			cpu->runs_at = NEVER;
		else
			cores[number] = (struct core){
				number, slice / 2 + machine_random(slice), NULL };
	}
	fiber_start(number, run_program);
}

static void start(void (*program)(void))
{
	unsigned int number;

	program_of_all = program;
	for (leaves = 1; leaves < settings.cpus; leaves *= 2)
		;
	for (number = 0; number < leaves; number++)
		next_event[number] = NEVER;
	for (number = 0; number < settings.cpus; number++)
		prepare(&cpus[number], number);
	this_cpu = NULL;
	for (number = 0; number < settings.cpus; number++)
		machine_update(&cpus[number]);
	for (number = settings.cpus; number < leaves; number++)
		replay(number);
}

void machine_run(void (*program)(void), u64 until, void (*tick)(void), u64 tick_every)
{
	start(program);
	next_tick = tick_every;
	while (ended < settings.cpus) {
		unsigned int number = earliest();

		now = next_event[number];
		if (now >= until)
			return;
		while (now >= next_tick) {
			tick();
			next_tick += tick_every;
		}
		handle(&cpus[number]);
	}
}

/* What models of locks see. */

unsigned int simulate_sockets(void)
{
	return settings.sockets;
}

unsigned int simulate_socket_of(unsigned int cpu)
{
	return cpu * settings.sockets / settings.cpus;
}

bool simulate_cpu_is_away(unsigned int cpu)
{
	machine_spend(costs.hit);
	machine_arrive();
	return cpus[cpu].is_off || cpus[cpu].is_halted || cpus[cpu].away_until > now;
}

/* A CPU that sleeps is not preempted: only what is left when it wakes up. */
static void pass_absences(struct cpu *cpu)
{
	while (cpu->clock >= cpu->away_at) {
		u64 back = cpu->away_at + settings.away_ns * PS_PER_NS;

		if (cpu->clock < back) {
			cpu->clock = back;
			cpu->away_until = back;
		}
		cpu->away_at = next_absence(back);
	}
}

void simulate_halt(void)
{
	struct cpu *cpu = this_cpu;

	machine_spend(costs.halt);
	machine_arrive();
	if (cpu->is_kicked) {
		cpu->is_kicked = false;
		return;
	}
	cpu->is_halted = true;
	cpu->runs_at = NEVER;
	leave_core();
	go_on_later();
	pass_absences(cpu);
	machine_arrive();
}

static bool core_is_idle(unsigned int core)
{
	return !is_runnable(&cpus[cores[core].running]);
}

/* A CPU is awake from @back on, and another one has had its core until now. */
static void want_core(struct cpu *cpu, u64 back)
{
	struct core *core = &cores[cpu->core];
	unsigned int other;

	for (other = 0; settings.migrate && !core_is_idle(cpu->core) && other < settings.cores;
	     other++) {
		if (core_is_idle(other))
			cpu->core = other;
	}
	if (core_is_idle(cpu->core)) {
		give_core(&cpus[cores[cpu->core].running], cpu, back);
	} else if (settings.wake_preempts) {
		core->woken = cpu;
		if (core->slice_end > back)
			core->slice_end = back;
	}
}

void simulate_kick(unsigned int number)
{
	struct cpu *cpu = &cpus[number];
	u64 back;

	machine_spend(costs.kick);
	machine_arrive();
	if (!cpu->is_halted) {
		cpu->is_kicked = true;
		return;
	}
	cpu->is_halted = false;
	back = now + costs.wake_up;
	if (cpu->clock < back)
		cpu->clock = back;
	if (!cpu->is_off)
		cpu->runs_at = cpu->clock;
	else
		want_core(cpu, back);
	machine_update(cpu);
}
