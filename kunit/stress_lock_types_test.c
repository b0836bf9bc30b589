// SPDX-License-Identifier: GPL-2.0
/*
 * Lock types of other modules in the stress driver: what is registered, what is refused, and when a
 * lock type may go. What a run does with one is tested in guests.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../nbqlock/stress/ops.h"

static int free_init(struct stress_lock *lock, unsigned int index)
{
	return 0;
}

static int free_lock(struct stress_lock *lock, struct stress_waiter *me, ktime_t patience)
{
	return -ETIMEDOUT;
}

static void free_unlock(struct stress_lock *lock, struct stress_waiter *me)
{
}

static unsigned int no_nodes(unsigned int cpu)
{
	return 0;
}

#define OPS(NAME) {							\
	.name = NAME,							\
	.meaning = "of a test",						\
	.size = 1,							\
	.init = free_init,						\
	.lock = free_lock,						\
	.unlock = free_unlock,						\
}

static const struct stress_ops good = OPS("kunit_1");
static const struct stress_ops same_name = OPS("kunit_1");
static const struct stress_ops own_name = OPS("clh_nb");

/* A lock type that differs from a good one in what is not 0 here. */
struct candidate {
	const char *desc;
	int ret;
	struct stress_ops ops;
	size_t lacks;		/* which member is 0 */
	size_t length;		/* how long that is; 0: none is */
};

#define LACKS(MEMBER)							\
	.lacks = offsetof(struct stress_ops, MEMBER),			\
	.length = sizeof_field(struct stress_ops, MEMBER)

#define LETTERS_31	"abcdefghijklmnopqrstuvwxyz_1234"

static const struct candidate candidates[] = {
	{ "no name", -EINVAL, LACKS(name) },
	{ "an empty name", -EINVAL, { .name = "" } },
	{ "a name of 31 letters", 0, { .name = LETTERS_31 } },
	{ "a name of 32 letters", -EINVAL, { .name = LETTERS_31 "5" } },
	{ "a digit in front", -EINVAL, { .name = "1kunit" } },
	{ "an underscore in front", -EINVAL, { .name = "_kunit" } },
	{ "a blank in the name", -EINVAL, { .name = "kunit 1" } },
	{ "a colon in the name", -EINVAL, { .name = "kunit:" } },
	{ "the name all", -EINVAL, { .name = "all" } },
	{ "a name that begins with all", 0, { .name = "all_1" } },
	{ "no meaning", -EINVAL, LACKS(meaning) },
	{ "an empty meaning", -EINVAL, { .meaning = "" } },
	{ "two lines of meaning", -EINVAL, { .meaning = "one\ntwo" } },
	{ "no size", -EINVAL, LACKS(size) },
	{ "the largest size", 0, { .size = STRESS_LOCK_SIZE_MAX } },
	{ "a larger size", -EINVAL, { .size = STRESS_LOCK_SIZE_MAX + 1 } },
	{ "no init", -EINVAL, LACKS(init) },
	{ "no lock", -EINVAL, LACKS(lock) },
	{ "no unlock", -EINVAL, LACKS(unlock) },
	{ "another patience", -EINVAL, { .patience = STRESS_HAS_OWN_TIMEOUT + 1 } },
	{ "another context", -EINVAL, { .highest = STRESS_CONTEXTS } },
	{ "the highest context", 0, { .highest = STRESS_NMI } },
	{ "no timeout, in interrupts", -EINVAL,
	  { .patience = STRESS_WAITS_FOR_EVER, .highest = STRESS_SOFTIRQ } },
	{ "nodes of CPUs, and no attempts", -EINVAL, { .nodes_of = no_nodes } },
};

static struct stress_ops ops_of(const struct candidate *candidate)
{
	struct stress_ops ops = good;

	ops.name = candidate->ops.name ?: ops.name;
	ops.meaning = candidate->ops.meaning ?: ops.meaning;
	ops.size = candidate->ops.size ?: ops.size;
	ops.patience = candidate->ops.patience;
	ops.highest = candidate->ops.highest;
	ops.nodes_of = candidate->ops.nodes_of;
	memset((char *)&ops + candidate->lacks, 0, candidate->length);
	return ops;
}

static void candidate_desc(const struct candidate *candidate, char *desc)
{
	strscpy(desc, candidate->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(candidate, candidates, candidate_desc);

static void incomplete_lock_type_is_refused(struct kunit *test)
{
	const struct candidate *candidate = test->param_value;
	struct stress_ops ops = ops_of(candidate);

	KUNIT_EXPECT_EQ(test, nbq_stress_register(&ops), candidate->ret);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&ops), candidate->ret ? -ENOENT : 0);
}

static void registered_lock_type_is_found_until_it_is_unregistered(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, stress_ops_find(good.name));
	KUNIT_ASSERT_EQ(test, nbq_stress_register(&good), 0);
	KUNIT_EXPECT_PTR_EQ(test, stress_ops_find(good.name), &good);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&good), 0);
	KUNIT_EXPECT_NULL(test, stress_ops_find(good.name));
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&good), -ENOENT);
}

static void name_is_registered_once(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nbq_stress_register(&own_name), -EBUSY);
	KUNIT_ASSERT_EQ(test, nbq_stress_register(&good), 0);
	KUNIT_EXPECT_EQ(test, nbq_stress_register(&same_name), -EBUSY);
	KUNIT_EXPECT_EQ(test, nbq_stress_register(&good), -EBUSY);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&same_name), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, stress_ops_find(good.name), &good);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&good), 0);
	KUNIT_EXPECT_EQ(test, nbq_stress_register(&same_name), 0);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&same_name), 0);
}

static void lock_type_stays_while_a_run_uses_it(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, nbq_stress_register(&good), 0);
	KUNIT_EXPECT_EQ(test, stress_ops_get(&good), 0);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&good), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, stress_ops_find(good.name), &good);
	stress_ops_put(&good);
	KUNIT_EXPECT_EQ(test, nbq_stress_unregister(&good), 0);
	KUNIT_EXPECT_EQ(test, stress_ops_get(&good), -ENODEV);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(incomplete_lock_type_is_refused, candidate_gen_params),
	KUNIT_CASE(registered_lock_type_is_found_until_it_is_unregistered),
	KUNIT_CASE(name_is_registered_once),
	KUNIT_CASE(lock_type_stays_while_a_run_uses_it),
	{}
};

static struct kunit_suite suite = {
	.name = "nbq_stress_lock_types",
	.test_cases = cases,
};

kunit_test_suite(suite);
