/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock types under test, a struct of functions for each: their operations, what other
 * contexts do with a lock step by step, and in what the types differ. The suites for all types
 * have the type as a parameter of each case.
 *
 * A new type needs a file like spin_type.c and a line in lock_types.c.
 */
#ifndef _NBQ_KUNIT_LOCK_TYPES_H
#define _NBQ_KUNIT_LOCK_TYPES_H

#include <kunit/test.h>
#include <linux/lockdep.h>
#include <linux/types.h>

#include <nbqlock/nbqlock.h>

#include "../nbqlock/internal.h"

/* The operations that acquire, by how long they wait and by their form */
enum nbq_how {
	TIMEOUT,
	INFO,
	UNTIL,
	TRY,
	LOCK,
};

enum nbq_form {
	PLAIN,
	IRQ,
	IRQSAVE,
	BH,
	NESTED,
	IRQSAVE_NESTED,
};

/* Does this form turn interrupts off? */
static inline bool nbq_form_is_irq(enum nbq_form form)
{
	return form == IRQ || form == IRQSAVE || form == IRQSAVE_NESTED;
}

#ifndef lockdep_set_notrack_class
/* Older kernels lack it: there, lockdep reports what is meant. */
#define lockdep_set_notrack_class(lock)	((void)(lock))
#endif

struct nbq_operation {
	const char *desc;
	enum nbq_how how;
	enum nbq_form form;
	ktime_t time;
};

/* The error of an attempt at a lock that another context holds for long */
static inline int nbq_operation_failure(const struct nbq_operation *op)
{
	if (op->how == TRY || (op->how == TIMEOUT && op->time <= 0))
		return -EBUSY;
	return -ETIMEDOUT;
}

#ifdef NBQ_OUT_OF_TREE
/* How control leaves the block of a guard */
enum nbq_way {
	BY_ITS_END,
	BY_RETURN,
	BY_GOTO,
	BY_BREAK,
};

/* One use of a guard */
struct nbq_guard_use {
	ktime_t time;		/* its patience or deadline, if it has one */
	enum nbq_way way;	/* out of the block, if the function has several */
	unsigned int blocks;	/* how often the block was run */
	unsigned int afters;	/* how many statements after it were run */
	int err;		/* the guard's error, if it may fail */
	bool missing;		/* this kernel does not have such guards */
	/* called in the block and after it; must not sleep */
	void (*observe)(struct nbq_guard_use *use);
};

static inline void nbq_guard_use_block(struct nbq_guard_use *use)
{
	use->blocks++;
	use->observe(use);
}

static inline void nbq_guard_use_after(struct nbq_guard_use *use)
{
	use->afters++;
	use->observe(use);
}
#endif

/* A context that uses the lock of a fixture step by step */
struct nbq_contender {
	struct nbq_node *node;	/* its node */
	struct nbq_node *pred;	/* its predecessor; NULL: none */
#ifdef NBQ_QUEUE_LOCKS
	/* what @pred has published and the contender has not acted upon; MCS-NB and swap-only */
	struct nbq_node *notified;
#endif
	/* where it is, kept by the fixture: it is WAITING once @pred may know it */
	enum { GONE, ENQUEUED, WAITING, HOLDING } state;
};

/* In what the lock types differ */
struct nbq_traits {
	/* 1: a node that is abandoned as the tail stays in the queue; 0: it is freed */
	unsigned int tail_stays;
	/*
	 * 1: the holder has a node, which stays in the lock, and each acquisition counts; 0: only
	 * waiters have nodes, and count
	 */
	unsigned int holder_nodes;
	/*
	 * newcomers steal a free lock from its waiters, and poll a held one for a while
	 * before they enqueue
	 */
	bool steals;
	int without_node;	/* the error of an attempt that gets no node */
	bool checks_unlock;	/* an unlock by another than the holder is noticed */
};

/*
 * A lock type under test; every lock here is one of that type. The operations are
 * nbq_X_NAME(), those of lockdep lockdep_NAME().
 */
struct nbq_lock_type {
	const char *name;		/* the prefix of its operations */
	size_t size;			/* of a lock */
	size_t last_word_offset;	/* of what a release writes last in it */
	void *static_lock;		/* one that was defined statically */
	void *static_member;		/* one that was defined statically in a struct */
	const struct nbq_traits *traits;

	/* Make a lock; all that the first makes share a lockdep class, not with the second. */
	void (*init)(void *lock);
	void (*init_elsewhere)(void *lock);
	int (*lock_timeout)(void *lock, ktime_t patience);
	int (*lock_timeout_info)(void *lock, ktime_t patience, struct nbq_timeout *info);
	int (*lock_until)(void *lock, ktime_t deadline);
	bool (*trylock)(void *lock);
	void (*lock)(void *lock);
	void (*unlock)(void *lock);
	bool (*is_locked)(const void *lock);
	bool (*is_contended)(const void *lock);
	int (*destroy)(void *lock);
	/* Acquire by any operation, and release by the one that goes with it. */
	int (*take)(const struct nbq_operation *op, void *lock, unsigned long *flags);
	void (*drop)(const struct nbq_operation *op, void *lock, unsigned long flags);

#ifdef NBQ_OUT_OF_TREE
	/*
	 * Each use of each class, as in guard_list.h, and each use of one class, with all ways
	 * out: guard(), scoped_guard(), CLASS(), scoped_cond_guard(). NULL: not in this kernel
	 */
	void (*const *guards)(void *lock, struct nbq_guard_use *use);
	void (*const *ways_out)(void *lock, struct nbq_guard_use *use);
#endif

	/*
	 * Other contexts, by hand. Enqueue: take the lock where that is possible at once; true:
	 * it holds. Link: become known to pred; NULL where a predecessor does not know its
	 * successor. Poll: skip abandoned nodes, and take the lock if it is granted; true: it
	 * holds. Abandon: true if the node was freed. Release: by the holder's node; true if
	 * none of it stays in the queue.
	 */
	bool (*enqueue)(void *lock, struct nbq_contender *contender);
	void (*link)(struct nbq_contender *contender);
	bool (*poll)(void *lock, struct nbq_contender *contender);
	bool (*abandon)(void *lock, struct nbq_contender *contender);
	void (*release)(void *lock, struct nbq_node *node);

	struct nbq_node *(*tail)(const void *lock);
	struct nbq_node *(*holder)(const void *lock);	/* NULL where holders have no node */
	/* Of a node that is in use and does not hold, in a picture */
	char (*letter)(const struct nbq_node *node);

	void (*set_subclass)(void *lock, unsigned int subclass);
	void (*set_class)(void *lock);			/* always the same one */
	void (*notrack)(void *lock);			/* for misuse on purpose */
	void (*assert_held)(const void *lock);
	struct lockdep_map *(*dep_map)(void *lock);	/* NULL: it has none */
};

#ifdef NBQ_QUEUE_LOCKS
#define NBQ_QUEUE_TYPE(X)	extern const struct nbq_lock_type nbq_##X##_type;
#include "queue_types_list.h"
#endif
extern const struct nbq_lock_type nbq_spin_type;

/* A lock that lockdep does not track */
static inline void nbq_init_untracked(const struct nbq_lock_type *type, void *lock)
{
	type->init(lock);
	type->notrack(lock);
}

/* The parameter of a case for all lock types */
struct nbq_param {
	const struct nbq_lock_type *type;	/* a lock type */
	const void *value;	/* an element of an array, each of which each type has; or NULL */
};

enum {
#ifdef NBQ_QUEUE_LOCKS
#define NBQ_QUEUE_TYPE(X)	NBQ_PLACE_OF_##X,
#include "queue_types_list.h"
#endif
	NBQ_PLACE_OF_spin,
	NBQ_LOCK_TYPES
};

/* For KUNIT_ARRAY_PARAM(): each type, without a value */
extern struct nbq_param nbq_types[NBQ_LOCK_TYPES];
#ifdef NBQ_QUEUE_LOCKS
extern struct nbq_param nbq_queue_types[NBQ_LOCK_TYPES - 1];
#endif
void nbq_type_desc(struct nbq_param *param, char *desc);

/* Define PREFIX_gen_params: each element of an array, whose .desc names it */
#define NBQ_ARRAY_PARAM(prefix, array)						\
static void prefix##_desc(typeof(&(array)[0]) param, char *desc)		\
{										\
	strscpy(desc, param->desc, KUNIT_PARAM_DESC_SIZE);			\
}										\
										\
KUNIT_ARRAY_PARAM(prefix, array, prefix##_desc)

/* The same, each type with each element */
#define NBQ_TYPES_PARAM(prefix, array)					\
static struct nbq_param prefix##_params[NBQ_LOCK_TYPES * ARRAY_SIZE(array)];	\
										\
static void prefix##_desc(struct nbq_param *param, char *desc)			\
{										\
	size_t index = param - prefix##_params;					\
										\
	*param = nbq_types[index / ARRAY_SIZE(array)];				\
	param->value = &(array)[index % ARRAY_SIZE(array)];			\
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s.%s", param->type->name,	\
		 (array)[index % ARRAY_SIZE(array)].desc);			\
}										\
										\
KUNIT_ARRAY_PARAM(prefix, prefix##_params, prefix##_desc)

static inline const void *nbq_value(const struct kunit *test)
{
	const struct nbq_param *param = test->param_value;

	return param->value;
}

#endif
