/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites share: a fake clock, a fixture with a lock and contenders that are moved by
 * hand, and exact counts.
 */
#ifndef _NBQ_KUNIT_COMMON_H
#define _NBQ_KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <nbqlock/counters.h>
#include <nbqlock/nbqlock.h>

#include "../nbqlock/internal.h"
#include "lock_types.h"

/* The clock that the locks read while a suite has one set */
struct nbq_fake {
	u64 start;		/* what the first read returns */
	u64 now;		/* what the next read returns */
	u64 step;		/* ns that each read takes */
	unsigned int reads;	/* how often it was read since it was set */
	u64 call_at;	/* the time of the first read in the middle of which call is called */
	/* What another context does just then, once; must not sleep */
	void (*call)(void *arg);
	void *arg;		/* for call */
};

extern struct nbq_fake nbq_fake;

void nbq_fake_start(u64 now, u64 step);
void nbq_fake_call(u64 call_at, void (*call)(void *arg), void *arg);

/* What the last read has returned */
static inline u64 nbq_fake_last(void)
{
	return nbq_fake.now - nbq_fake.step;
}

/* The list of events as a table: its kinds are SUM, MAX and PEAK. */
struct nbq_event {
	const char *name;
	const char *kind;
	size_t offset;
};

#define NBQ_EVENT_COUNT	(sizeof(struct nbq_events) / sizeof(unsigned long))

extern const struct nbq_event nbq_event_list[NBQ_EVENT_COUNT];

unsigned long *nbq_counter(struct nbq_events *events, const struct nbq_event *event);

#define NBQ_FIXTURE_NODES		8
#define NBQ_FIXTURE_CONTENDERS	12
/* More than any queue has that is no cycle */
#define NBQ_FIXTURE_SKIPS	(2 * NBQ_FIXTURE_NODES)

/* One lock and one pool of a case, for it to move by hand */
struct nbq_fixture {
	const struct nbq_lock_type *type;
	void *lock;
	struct nbq_pool pool;			/* one that no CPU knows */
	struct nbq_node nodes[NBQ_FIXTURE_NODES];
	struct nbq_encodable *encodable;	/* the same, to encode and decode */
	unsigned int skip_counts[NBQ_SKIPPED_MAX];
	/* Those of nbq_fixture_enqueue() and nbq_fixture_contender(), in order */
	struct nbq_contender contenders[NBQ_FIXTURE_CONTENDERS];
	unsigned int count;
	char picture[NBQ_FIXTURE_NODES + 1];	/* see nbq_fixture_picture() */
	char want[NBQ_FIXTURE_NODES + 1];	/* see nbq_fixture_want() */
	/* Those of a socket that the locks of the case have */
	DECLARE_BITMAP(queues, 1 << NBQ_QUEUE_BITS);
	/* What all pools of the CPUs had counted at the last comparison */
	struct nbq_events total;
};

int nbq_fixture_init(struct kunit *test);
int nbq_fixture_init_type(struct kunit *test, const struct nbq_lock_type *type);
#ifdef NBQ_QUEUE_LOCKS
int nbq_fixture_init_clh(struct kunit *test);
#endif
int nbq_fixture_init_spin(struct kunit *test);
void nbq_fixture_exit(struct kunit *test);
void nbq_fixture_finish(struct kunit *test);
void *nbq_new_lock(struct kunit *test, const struct nbq_lock_type *type);
void nbq_fixture_fill(struct nbq_fixture *fixture, unsigned int size);
struct nbq_node *nbq_try_alloc(struct nbq_pool *pool);
struct nbq_node *nbq_fixture_alloc(struct kunit *test);
void nbq_fixture_leave_abandoned(struct kunit *test, unsigned int abandoned);
const char *nbq_fixture_picture(struct nbq_fixture *fixture);
const char *nbq_fixture_shape(struct nbq_fixture *fixture);
const char *nbq_fixture_want(struct nbq_fixture *fixture, const char *want);
void nbq_fixture_counted(struct kunit *test, struct nbq_events want, int line);
void nbq_total_counted(struct kunit *test, struct nbq_events want, int line);
void nbq_forget_attempts(void);
void nbq_read_events(struct nbq_events *events);
void nbq_ended_at(struct kunit *test, u64 ns, int line);
unsigned int nbq_nodes_in_use(struct nbq_fixture *fixture);
u32 *nbq_tail_of(const struct nbq_spin *lock);
void nbq_request(struct nbq_spin *lock, u8 handoff);

static inline void *nbq_lock(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	return fixture->lock;
}

static inline const struct nbq_lock_type *nbq_type(struct kunit *test)
{
	struct nbq_fixture *fixture = test->priv;

	return fixture->type;
}

/* Contenders: they can move while preemption is off, but for nbq_fixture_enqueue() and _hold(). */
struct nbq_contender *nbq_fixture_contender(struct nbq_fixture *fixture);
struct nbq_contender *nbq_fixture_enqueue(struct kunit *test);
struct nbq_contender *nbq_fixture_hold(struct kunit *test);
void nbq_contender_enqueue(struct nbq_fixture *fixture, struct nbq_contender *contender);
void nbq_contender_link(struct nbq_fixture *fixture, struct nbq_contender *contender);
bool nbq_contender_poll(struct nbq_fixture *fixture, struct nbq_contender *contender);
bool nbq_contender_abandon(struct nbq_fixture *fixture, struct nbq_contender *contender);
void nbq_contender_release(struct nbq_fixture *fixture, struct nbq_contender *contender);
void nbq_fixture_drain(struct nbq_fixture *fixture);
void nbq_fixture_close_cycle(struct nbq_fixture *fixture, const void *lock,
			     struct nbq_node *const *silent);
void nbq_fixture_open_cycle(struct nbq_fixture *fixture);

static inline bool nbq_is_free(const struct nbq_node *node)
{
	return node->alloc_seq == node->free_seq;
}

/*
 * The nodes of the fixture in the order of their index: H holds, W waits, L is abandoned, A is
 * AVAILABLE, a dot is free; more in the lock type's letter(). Until a node is used again,
 * this is also the order of the queue.
 */
#define EXPECT_PICTURE(test, want)					\
	KUNIT_EXPECT_STREQ(test, nbq_fixture_picture((test)->priv), want)

/*
 * The same for all lock types, which differ in the nodes that stay: L is abandoned, known to its
 * predecessor or not; l was abandoned as the tail. Dots at the end do not count. Where holders have
 * no node, the first waiter is drawn in the place of the holder: A if it is abandoned.
 */
#define EXPECT_SHAPE(test, shape)					\
	KUNIT_EXPECT_STREQ(test, nbq_fixture_shape((test)->priv),	\
			   nbq_fixture_want((test)->priv, shape))

/* Exactly this was counted on the fixture since the last comparison, and no more. */
#define EXPECT_COUNTED(test, ...)					\
	nbq_fixture_counted(test, (struct nbq_events){ __VA_ARGS__ }, __LINE__)

/* The same of the operations, in the pools of all CPUs together. */
#define EXPECT_TOTAL(test, ...)						\
	nbq_total_counted(test, (struct nbq_events){ __VA_ARGS__ }, __LINE__)

/* An attempt has ended at that time of the clock, or a step later. */
#define EXPECT_ENDED_AT(test, ns)	nbq_ended_at(test, ns, __LINE__)

/* And these have ended without the clock. */
#define EXPECT_ENDED_AT_ONCE(test)					\
	KUNIT_EXPECT_EQ(test, nbq_fake.now, nbq_fake.start)

/* What a holder has off */
struct nbq_context {
	unsigned int preempt;	/* preemption: how often */
	bool irqs_off;		/* interrupts */
	bool bh_off;		/* bottom halves */
};

struct nbq_context nbq_context_now(void);
struct nbq_context nbq_context_within(struct nbq_context outside, enum nbq_form form);
void nbq_as_nmi(void (*run)(void *arg), void *arg);
void nbq_context_restore(struct nbq_context want);
void nbq_expect_context(struct kunit *test, struct nbq_context now, struct nbq_context want);

/* What a CPU's pool had before a case replaced its nodes */
struct nbq_replaced {
	struct nbq_pool *pool;			/* the pool */
	struct nbq_node *first;			/* its own first node */
	struct nbq_encodable *encodable;	/* those of its own that can be encoded */
#ifdef NBQ_QUEUE_LOCKS
	unsigned int wanted_growth;		/* its own request */
#endif
};

void nbq_pool_replace(struct nbq_replaced *replaced, struct nbq_pool *pool,
		      struct nbq_node *first, struct nbq_encodable *encodable);
struct nbq_encodable *nbq_encodable_new(struct kunit *test, struct nbq_node *nodes,
					unsigned int size);
void nbq_pool_restore(struct nbq_replaced *replaced);

unsigned int nbq_other_cpu(struct kunit *test);
struct task_struct *nbq_new_thread(struct kunit *test, int (*run)(void *arg), void *arg,
				   unsigned int cpu);

/* Reports of misuse, as nbqlock/report.c has them: they are promised */
#define NBQ_NOT_HELD_REPORT	"unlock of a lock that is not held"
#define NBQ_NOT_OWNER_REPORT	"unlock of a lock that another context holds"
#define NBQ_IN_USE_REPORT	"destroy of a lock that is in use"

void nbq_provoke_report(struct kunit *test, const char *what);

#endif
