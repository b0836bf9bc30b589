// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what it takes to acquire a lock without contention and release it
 * again: atomic operations, reads and writes, as in table 1 of
 *
 *	Scott, "Non-Blocking Timeout in Scalable Queue-Based Spin Locks",
 *	PODC 2002.
 *
 * Measured on the shipped text (access_count.h), once all lock types are past
 * their first acquisitions. What is written here is what print says, what --check
 * holds the locks to, and why the two are not the same where they are not.
 *
 *	count [--check | --json FILE | --time]
 *
 * Or how long that takes here: without a kernel, whose calls cost more where it is protected
 * against speculation, and whose user-mode port makes a full fence of each acquire and release.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <asm/mmiowb.h>
#include <host.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <trace/events/lock.h>
#include <nbqlock/stress/ops.h>
#include <nbqlock/stress/papers/paper_pool.h>

#include "access_count.h"

#define WARM_UP_PAIRS	100
#define PAIRS		1000
#define PATIENCE_NS	1000000

/* What stress_waiter.own is, besides a queue node of the thread's. */
enum own {
	OWN_NODE,
	OWN_RECORD,		/* ... for itself, with its nodes elsewhere */
	OWN_PAPER_POOL,		/* a head for itself, then its nodes */
};

/**
 * struct subject - a lock type
 * @ops: the lock type
 * @own: what its threads keep
 * @printed: atomics, reads and writes in the paper's table; NULL: it has none
 * @here: the same as they must be here; NULL: as printed
 * @atomics_only: only these are held to it: the others are the compiler's choice
 * @why: what makes the difference to print
 */
struct subject {
	const struct stress_ops *ops;
	enum own own;
	const unsigned int *printed;
	const unsigned int *here;
	bool atomics_only;
	const char *why;
};

#define TRIPLE(atomics, reads, writes) \
	((const unsigned int []){ (atomics), (reads), (writes) })

static const struct subject subjects[] = {
	/*
	 * A swap to enter, as the textbook CLH lock. CLH-NB in print has a compare-and-swap to
	 * release, besides.
	 */
	{ .ops = &stress_clh_nb, .here = TRIPLE(1, 0, 0), .atomics_only = true },
	/*
	 * A swap to enter, and one to release. MCS-NB in print tries to take itself off the tail
	 * after that.
	 */
	{ .ops = &stress_mcs_nb, .here = TRIPLE(2, 0, 0), .atomics_only = true },
	{ .ops = &stress_swap_nb, .here = TRIPLE(2, 0, 0), .atomics_only = true },
	/*
	 * One compare-and-swap to acquire, one store to release; and a read of whether this
	 * CPU has left a place, which it would resume.
	 */
	{ .ops = &stress_nbq_spin, .here = TRIPLE(1, 1, 1) },
	{ .ops = &stress_tas_b, .printed = TRIPLE(1, 0, 1), .here = TRIPLE(1, 1, 1),
	  .why =
"it looks whether the lock is free before it swaps; print swaps at once"
	},
	{ .ops = &stress_tas_b_try, .printed = TRIPLE(1, 0, 1), .here = TRIPLE(1, 1, 1),
	  .why = "as tas_b" },
	{ .ops = &stress_clh, .own = OWN_RECORD,
	  .printed = TRIPLE(1, 3, 4), .here = TRIPLE(1, 5, 4),
	  .why =
"the pointer to the thread's node is read twice to acquire, since the compiler cannot know that the store in between leaves it as it is, and once to release; in print, with both verbs inlined, once in all"
	},
	{ .ops = &stress_mcs, .printed = TRIPLE(2, 2, 1), .here = TRIPLE(2, 1, 1),
	  .why =
"the pointer to the thread's node is the caller's here, and counted apart"
	},
	{ .ops = &stress_clh_try, .printed = TRIPLE(2, 3, 3), .here = TRIPLE(2, 2, 2),
	  .why =
"the pointer to the thread's node, which print reads and writes once each, is the caller's here, and counted apart"
	},
	{ .ops = &stress_mcs_try, .printed = TRIPLE(2, 2, 1) },
	{ .ops = &stress_clh_nb_paper, .own = OWN_PAPER_POOL, .printed = TRIPLE(2, 3, 4) },
	{ .ops = &stress_mcs_nb_paper, .own = OWN_PAPER_POOL, .printed = TRIPLE(3, 3, 4) },
};

#define SUBJECTS	(sizeof(subjects) / sizeof(subjects[0]))

/* The numbers of a pair. The first three are the paper's. */
enum {
	ATOMICS,
	READS,
	WRITES,
	OWN_READS,
	OWN_WRITES,
	TALLY_READS,
	TALLY_WRITES,
	CALLER_READS,
	CALLER_WRITES,
	NUMBERS,
};

#define PAPERS_NUMBERS	(WRITES + 1)

static const char * const number_names[NUMBERS] = {
	"atomics", "reads", "writes", "own_reads", "own_writes",
	"tally_reads", "tally_writes", "caller_reads", "caller_writes",
};

/**
 * struct cost - the numbers of all pairs
 * @sum: of all pairs
 * @min: of the cheapest, number by number
 * @max: of the dearest
 */
struct cost {
	unsigned int sum[NUMBERS];
	unsigned int min[NUMBERS];
	unsigned int max[NUMBERS];
};

static struct stress_lock lock;
static struct stress_waiter waiter;

void *shim_zalloc(size_t size)
{
	size_t whole_lines = (size + 63) / 64 * 64;
	void *memory = aligned_alloc(64, whole_lines);

	if (!memory)
		abort();
	memset(memory, 0, whole_lines);
	/* A queue node, unless it turns out to be something else. */
	access_declare(memory, whole_lines, MEMORY_SHARED);
	return memory;
}

void shim_free(void *memory)
{
	free(memory);
}

static void declare_cpu(void)
{
	access_declare(&shim_cpu, sizeof(shim_cpu), MEMORY_CPU);
	access_declare(&shim_level, sizeof(shim_level), MEMORY_CPU);
	access_declare(&shim_preempt_off, sizeof(shim_preempt_off), MEMORY_CPU);
	access_declare(&shim_mmiowb_nesting, sizeof(shim_mmiowb_nesting), MEMORY_CPU);
	access_declare(&shim_mmiowb_pending, sizeof(shim_mmiowb_pending), MEMORY_CPU);
	access_declare(&shim_contention_is_traced, sizeof(shim_contention_is_traced),
		       MEMORY_CPU);
	access_declare(&shim_hook, sizeof(shim_hook), MEMORY_CPU);
}

/* Pools and nodes of nbqlock. */
static void declare_pool(void)
{
	struct shim_memory nodes = shim_nodes_memory();
	struct shim_memory pools = shim_pools_memory();
	struct shim_memory looks_left = shim_looks_left_memory();
	struct shim_memory events = shim_events_memory(shim_cpu, shim_level);

	access_declare(nodes.start, nodes.size, MEMORY_SHARED);
	access_declare(pools.start, pools.size, MEMORY_OWN);
	access_declare(looks_left.start, looks_left.size, MEMORY_OWN);
	access_declare(events.start, events.size, MEMORY_TALLY);
}

static void declare_own(const struct subject *subject)
{
	struct paper_pool *pool = waiter.own;

	switch (subject->own) {
	case OWN_NODE:
		break;
	case OWN_RECORD:
		access_declare_anew(waiter.own, MEMORY_OWN);
		break;
	case OWN_PAPER_POOL:
		access_declare(pool, offsetof(struct paper_pool, nodes), MEMORY_OWN);
		access_declare(&pool->reclaimed, sizeof(pool->reclaimed), MEMORY_TALLY);
		break;
	}
}

static void start(const struct subject *subject, const void *stack)
{
	const struct stress_ops *ops = subject->ops;

	shim_pools_start(16, 16);
	memset(&waiter, 0, sizeof(waiter));
	access_forget_memory(stack);
	declare_cpu();
	declare_pool();
	access_declare(&lock, sizeof(lock), MEMORY_SHARED);
	access_declare(&waiter, sizeof(waiter), MEMORY_CALLER);
	if (ops->init(&lock, 0) || (ops->enter && ops->enter(&lock, &waiter)))
		abort();
	declare_own(subject);
}

static void end(const struct subject *subject)
{
	const struct stress_ops *ops = subject->ops;

	if (ops->destroy && ops->destroy(&lock))
		abort();
	if (ops->exit)
		ops->exit(&lock, &waiter);
}

static void pair(const struct stress_ops *ops)
{
	memset(access_counts, 0, sizeof(access_counts));
	access_counting = true;
	if (ops->lock(&lock, &waiter, PATIENCE_NS))
		abort();
	ops->unlock(&lock, &waiter);
	access_counting = false;
}

/* An atomic operation counts wherever it is. */
static void read_counts(unsigned int *numbers)
{
	const struct accesses *own = &access_counts[MEMORY_OWN];
	const struct accesses *shared = &access_counts[MEMORY_SHARED];
	const struct accesses *tally = &access_counts[MEMORY_TALLY];
	const struct accesses *caller = &access_counts[MEMORY_CALLER];

	numbers[ATOMICS] = shared->atomics + own->atomics + tally->atomics +
			   caller->atomics + access_counts[MEMORY_CPU].atomics;
	numbers[READS] = shared->reads + own->reads;
	numbers[WRITES] = shared->writes + own->writes;
	numbers[OWN_READS] = own->reads;
	numbers[OWN_WRITES] = own->writes;
	numbers[TALLY_READS] = tally->reads;
	numbers[TALLY_WRITES] = tally->writes;
	numbers[CALLER_READS] = caller->reads;
	numbers[CALLER_WRITES] = caller->writes;
}

static void add_pair(struct cost *cost, bool first)
{
	unsigned int numbers[NUMBERS];
	unsigned int i;

	read_counts(numbers);
	for (i = 0; i < NUMBERS; i++) {
		cost->sum[i] += numbers[i];
		if (first || numbers[i] < cost->min[i])
			cost->min[i] = numbers[i];
		if (first || numbers[i] > cost->max[i])
			cost->max[i] = numbers[i];
	}
}

static void measure(const struct subject *subject, struct cost *cost)
{
	unsigned int i;

	memset(cost, 0, sizeof(*cost));
	start(subject, __builtin_frame_address(0));
	for (i = 0; i < WARM_UP_PAIRS; i++)
		pair(subject->ops);
	for (i = 0; i < PAIRS; i++) {
		pair(subject->ops);
		add_pair(cost, i == 0);
	}
	end(subject);
}

static double mean(const struct cost *cost, unsigned int number)
{
	return (double)cost->sum[number] / PAIRS;
}

static bool is_steady(const struct cost *cost)
{
	return !memcmp(cost->min, cost->max, sizeof(cost->min));
}

static void print_row(const struct subject *subject, const struct cost *cost)
{
	const unsigned int *printed = subject->printed;
	unsigned int i;

	printf("%-13s", subject->ops->name);
	for (i = 0; i < NUMBERS; i++)
		printf("%*g", i % 2 || i < OWN_READS ? 7 : 3, mean(cost, i));
	if (printed)
		printf("   %u %u %u", printed[ATOMICS], printed[READS], printed[WRITES]);
	printf("\n");
}

static void print_remarks(const struct subject *subject, const struct cost *cost)
{
	unsigned int i;

	if (subject->why)
		printf("%s: %s.\n", subject->ops->name, subject->why);
	for (i = 0; i < NUMBERS; i++) {
		if (cost->min[i] != cost->max[i])
			printf("%s: %s from %u to %u a pair; the mean is shown.\n",
			       subject->ops->name, number_names[i], cost->min[i],
			       cost->max[i]);
	}
}

static void print_table(const struct cost *costs)
{
	size_t i;

	printf("Accesses of an acquisition and a release without contention, of %u pairs,\n",
	       PAIRS);
	printf("as gcc %s compiles them\n\n", __VERSION__);
	printf("                                    of these     besides     besides\n");
	printf("             atomic  reads writes    own r/w tallies r/w  caller r/w  print\n");
	for (i = 0; i < SUBJECTS; i++)
		print_row(&subjects[i], &costs[i]);
	puts("\n"
	     "own: what a thread or CPU keeps for itself between calls; the others are of\n"
	     "the lock and its queue nodes. tallies: counts for people. caller: by which the\n"
	     "driver names the thread. The CPU's own state (preemption count, number) and\n"
	     "the stack are not counted. A compare-and-swap against this CPU's interrupts\n"
	     "only, without lock prefix, is a read and a write. print: Scott 2002, table 1.");
	for (i = 0; i < SUBJECTS; i++)
		print_remarks(&subjects[i], &costs[i]);
}

static void write_numbers(FILE *file, const unsigned int *numbers)
{
	unsigned int i;

	for (i = 0; i < NUMBERS; i++)
		fprintf(file, "%s\"%s\": %u", i ? ", " : "", number_names[i],
			numbers[i]);
}

static void write_lock(FILE *file, const struct subject *subject,
		       const struct cost *cost)
{
	unsigned int i;

	fprintf(file, "  \"%s\": {", subject->ops->name);
	for (i = 0; i < NUMBERS; i++)
		fprintf(file, "\"%s\": %g, ", number_names[i], mean(cost, i));
	fprintf(file, "\n   \"min\": {");
	write_numbers(file, cost->min);
	fprintf(file, "},\n   \"max\": {");
	write_numbers(file, cost->max);
	fprintf(file, "}}");
}

static bool write_json(const char *name, const struct cost *costs)
{
	FILE *file = fopen(name, "w");
	size_t i;

	if (!file) {
		perror(name);
		return false;
	}
	fprintf(file, "{\"format\": 1, \"compiler\": \"gcc %s\", \"pairs\": %u,\n",
		__VERSION__, PAIRS);
	fprintf(file, " \"locks\": {\n");
	for (i = 0; i < SUBJECTS; i++) {
		write_lock(file, &subjects[i], &costs[i]);
		fprintf(file, i + 1 < SUBJECTS ? ",\n" : "\n }}\n");
	}
	if (fclose(file)) {
		perror(name);
		return false;
	}
	return true;
}

/* As printed, or as it is said to be here; and the same for every pair. */
static bool is_as_expected(const struct subject *subject, const struct cost *cost)
{
	const unsigned int *wanted = subject->here ?: subject->printed;
	unsigned int i;

	if (subject->atomics_only)
		return cost->min[ATOMICS] == wanted[ATOMICS] &&
		       cost->max[ATOMICS] == wanted[ATOMICS];
	for (i = 0; i < PAPERS_NUMBERS; i++) {
		if (cost->min[i] != wanted[i])
			return false;
	}
	return is_steady(cost);
}

static bool check(const struct cost *costs)
{
	bool good = true;
	size_t i;

	for (i = 0; i < SUBJECTS; i++) {
		const struct subject *subject = &subjects[i];
		const struct cost *cost = &costs[i];
		bool as_expected = is_as_expected(subject, cost);

		good &= as_expected;
		printf("%s count.%s: %g atomic, %g reads, %g writes%s\n",
		       as_expected ? "ok" : "not ok", subject->ops->name,
		       mean(cost, ATOMICS), mean(cost, READS), mean(cost, WRITES),
		       !subject->printed ? "" :
		       subject->here ? ", not as printed: see count.c" : ", as printed");
	}
	return good;
}

/* One compare-and-swap and one store: what raw_spin_lock() and its release are uncontended. */
static int word_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	int taken = 0;

	preempt_disable();
	while (READ_ONCE(lock->taken) || !try_cmpxchg_acquire(&lock->taken, &taken, 1)) {
		if (!patience) {
			preempt_enable();
			return -EBUSY;
		}
		taken = 0;
	}
	return 0;
}

static void word_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
	smp_store_release(&lock->taken, 0);
	preempt_enable();
}

static int word_init(struct stress_lock *lock, unsigned int index)
{
	lock->taken = 0;
	return 0;
}

static int nothing_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return 0;
}

static void nothing_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
}

static const struct stress_ops word = {
	.name = "a word", .init = word_init, .lock = word_lock, .unlock = word_unlock,
};

static const struct stress_ops nothing = {
	.name = "nothing", .init = word_init, .lock = nothing_lock, .unlock = nothing_unlock,
};

#define TIMED_ROUNDS	9U
#define TIMED_PAIRS	200000U

/* ns of each round. */
struct timed {
	double pair[TIMED_ROUNDS];
	double failed_try[TIMED_ROUNDS];
};

static double pairs_ns(const struct stress_ops *ops, struct stress_waiter *me, ktime_t patience)
{
	struct timespec from, to;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < TIMED_PAIRS; i++) {
		if (!ops->lock(&lock, me, patience))
			ops->unlock(&lock, me);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / TIMED_PAIRS;
}

static void time_round(const struct subject *subject, struct timed *timed, unsigned int round)
{
	const struct stress_ops *ops = subject->ops;
	double calls = pairs_ns(&nothing, NULL, 0);
	struct stress_waiter holder = {};

	start(subject, __builtin_frame_address(0));
	pairs_ns(ops, &waiter, PATIENCE_NS);
	timed->pair[round] = pairs_ns(ops, &waiter, PATIENCE_NS) - calls;
	if (ops->patience == STRESS_HEEDS_PATIENCE) {
		if ((ops->enter && ops->enter(&lock, &holder)) ||
		    ops->lock(&lock, &holder, PATIENCE_NS))
			abort();
		timed->failed_try[round] = pairs_ns(ops, &waiter, 0) - calls;
		ops->unlock(&lock, &holder);
	}
	end(subject);
	if (ops->exit)
		ops->exit(&lock, &holder);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The rounds, in order. */
static const double *sorted(const double *rounds, const double *of)
{
	static double found[TIMED_ROUNDS];
	unsigned int i;

	for (i = 0; i < TIMED_ROUNDS; i++)
		found[i] = rounds[i] / (of ? of[i] : 1);
	qsort(found, TIMED_ROUNDS, sizeof(found[0]), compare);
	return found;
}

static void print_timed(const struct subject *subject, const struct timed *timed,
			const struct timed *reference)
{
	const double *rounds = sorted(timed->pair, NULL);

	printf("%-13s %7.1f %6.1f %6.1f", subject->ops->name, rounds[TIMED_ROUNDS / 2], rounds[0],
	       rounds[TIMED_ROUNDS - 1]);
	printf(" %9.2f", sorted(timed->pair, reference->pair)[TIMED_ROUNDS / 2]);
	if (subject->ops->patience == STRESS_HEEDS_PATIENCE)
		printf(" %11.1f", sorted(timed->failed_try, NULL)[TIMED_ROUNDS / 2]);
	printf("\n");
}

static void print_times(void)
{
	static const struct subject reference = { .ops = &word };
	static struct timed timed[SUBJECTS], of_word;
	unsigned int round;
	size_t i;

	for (round = 0; round < TIMED_ROUNDS; round++) {
		time_round(&reference, &of_word, round);
		for (i = 0; i < SUBJECTS; i++)
			time_round(&subjects[i], &timed[i], round);
	}
	printf("ns of an acquisition and a release without contention, less two calls that do\n"
	       "nothing, as gcc %s compiles them: median, least and most of %u rounds;\n"
	       "the median ratio to a word that a compare-and-swap takes and a store releases;\n"
	       "and of an attempt without patience at a lock that is held\n\n"
	       "lock               ns    min    max of a word  failed try\n",
	       __VERSION__, TIMED_ROUNDS);
	print_timed(&reference, &of_word, &of_word);
	for (i = 0; i < SUBJECTS; i++)
		print_timed(&subjects[i], &timed[i], &of_word);
}

int main(int argc, char **argv)
{
	static struct cost costs[SUBJECTS];
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "--time"))
		return print_times(), 0;

	for (i = 0; i < SUBJECTS; i++)
		measure(&subjects[i], &costs[i]);

	if (argc == 1)
		print_table(costs);
	else if (argc == 2 && !strcmp(argv[1], "--check"))
		return check(costs) ? 0 : 1;
	else if (argc == 3 && !strcmp(argv[1], "--json"))
		return write_json(argv[2], costs) ? 0 : 1;
	else
		return fputs("usage: count [--check | --json FILE | --time]\n", stderr), 2;
	return 0;
}
