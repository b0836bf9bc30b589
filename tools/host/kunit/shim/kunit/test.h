/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit as the suites of kunit/ use it, for a host program: frame.c runs them.
 *
 * An expectation that does not hold is reported with its file, its line and both values; an
 * assertion that does not hold ends its case as well.
 */
#ifndef SHIM_KUNIT_TEST_H
#define SHIM_KUNIT_TEST_H

#include <kernel.h>

#define KUNIT_PARAM_DESC_SIZE	128

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED,
};

struct kunit_memory;

/* A case that runs, with one of its parameters */
struct kunit {
	void *priv;
	const void *param_value;
	enum kunit_status status;
	char why[256];			/* the first failure, or why it is skipped */
	struct kunit_memory *memory;	/* freed at its end */
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	/* The parameter after @prev, described in @desc; NULL: there is no more */
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

#define KUNIT_CASE(function)			{ .run_case = function, .name = #function }
#define KUNIT_CASE_PARAM(function, gen)	\
	{ .run_case = function, .name = #function, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(prefix, array, get_desc)				\
static const void *prefix##_gen_params(const void *prev, char *desc)		\
{										\
	__typeof__(&(array)[0]) next = (array);					\
										\
	if (prev)								\
		next = (__typeof__(next))prev + 1;				\
	if (next == (array) + ARRAY_SIZE(array))				\
		return NULL;							\
	get_desc(next, desc);							\
	return next;								\
}

void kunit_add_suite(struct kunit_suite *suite);

/* In the order in which the files are linked. */
#define kunit_test_suite(suite)							\
static void __attribute__((__constructor__)) add_##suite(void)			\
{										\
	kunit_add_suite(&(suite));						\
}

/* Memory of a case, zeroed. */
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);
#define kunit_kcalloc(test, number, size, gfp)	\
	kunit_kzalloc((test), (size_t)(number) * (size), (gfp))

__printf(2, 3) void kunit_say(struct kunit *test, const char *format, ...);
__printf(2, 3) __attribute__((__noreturn__))
void kunit_skip(struct kunit *test, const char *format, ...);

#define kunit_info(test, ...)	kunit_say((test), __VA_ARGS__)

/* Where something did not hold: @said is what, then what the case says of it, if anything. */
struct kunit_place {
	const char *file;
	int line;
};

__printf(3, 4) void kunit_fail(struct kunit *test, struct kunit_place place,
			       const char *format, ...);
__attribute__((__noreturn__)) void kunit_end_case(void);

#define KUNIT_HERE	((struct kunit_place){ __FILE__, __LINE__ })
#define KUNIT_UNLESS(test, ends, holds, format, ...)				\
do {										\
	if (holds)								\
		break;								\
	kunit_fail((test), KUNIT_HERE, format, ##__VA_ARGS__);			\
	if (ends)								\
		kunit_end_case();						\
} while (0)

/* The values in a wide type of the same sign, and beside the text of what was compared. */
#define KUNIT_COMPARE(test, ends, left, op, right, format, ...)			\
do {										\
	__auto_type __left = (left);						\
	__auto_type __right = (right);						\
										\
	KUNIT_UNLESS(test, ends, __left op __right,				\
		     "%s %s %s, but these are %lld and %lld" format, #left, #op, #right, \
		     (long long)__left, (long long)__right, ##__VA_ARGS__);	\
} while (0)

#define KUNIT_POINTERS(test, ends, left, op, right)				\
do {										\
	const void *__left = (left), *__right = (right);			\
										\
	KUNIT_UNLESS(test, ends, __left op __right, "%s %s %s, but these are %p and %p", \
		     #left, #op, #right, __left, __right);			\
} while (0)

#define KUNIT_TRUTH(test, ends, condition, value, format, ...)			\
	KUNIT_UNLESS(test, ends, (!!(condition)) == (value), "%s is %s" format, #condition, \
		     (value) ? "false" : "true", ##__VA_ARGS__)

#define KUNIT_EXPECT_EQ(test, left, right)	KUNIT_COMPARE(test, false, left, ==, right, "")
#define KUNIT_EXPECT_NE(test, left, right)	KUNIT_COMPARE(test, false, left, !=, right, "")
#define KUNIT_EXPECT_LT(test, left, right)	KUNIT_COMPARE(test, false, left, <, right, "")
#define KUNIT_EXPECT_LE(test, left, right)	KUNIT_COMPARE(test, false, left, <=, right, "")
#define KUNIT_EXPECT_GT(test, left, right)	KUNIT_COMPARE(test, false, left, >, right, "")
#define KUNIT_EXPECT_GE(test, left, right)	KUNIT_COMPARE(test, false, left, >=, right, "")
#define KUNIT_ASSERT_EQ(test, left, right)	KUNIT_COMPARE(test, true, left, ==, right, "")
#define KUNIT_ASSERT_LE(test, left, right)	KUNIT_COMPARE(test, true, left, <=, right, "")
#define KUNIT_ASSERT_GE(test, left, right)	KUNIT_COMPARE(test, true, left, >=, right, "")

#define KUNIT_EXPECT_EQ_MSG(test, left, right, format, ...)	\
	KUNIT_COMPARE(test, false, left, ==, right, ": " format, ##__VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(test, left, right, format, ...)	\
	KUNIT_COMPARE(test, false, left, <=, right, ": " format, ##__VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(test, left, right, format, ...)	\
	KUNIT_COMPARE(test, false, left, >=, right, ": " format, ##__VA_ARGS__)

#define KUNIT_EXPECT_TRUE(test, condition)	KUNIT_TRUTH(test, false, condition, true, "")
#define KUNIT_EXPECT_FALSE(test, condition)	KUNIT_TRUTH(test, false, condition, false, "")
#define KUNIT_ASSERT_TRUE(test, condition)	KUNIT_TRUTH(test, true, condition, true, "")
#define KUNIT_EXPECT_TRUE_MSG(test, condition, format, ...)	\
	KUNIT_TRUTH(test, false, condition, true, ": " format, ##__VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(test, condition, format, ...)	\
	KUNIT_TRUTH(test, false, condition, false, ": " format, ##__VA_ARGS__)

#define KUNIT_EXPECT_PTR_EQ(test, left, right)	KUNIT_POINTERS(test, false, left, ==, right)
#define KUNIT_EXPECT_NULL(test, pointer)	KUNIT_POINTERS(test, false, pointer, ==, NULL)
#define KUNIT_ASSERT_NOT_NULL(test, pointer)	KUNIT_POINTERS(test, true, pointer, !=, NULL)

#define KUNIT_EXPECT_STREQ(test, left, right)					\
do {										\
	const char *__left = (left), *__right = (right);			\
										\
	KUNIT_UNLESS(test, false, !strcmp(__left, __right),			\
		     "%s == %s, but these are \"%s\" and \"%s\"", #left, #right, __left, __right); \
} while (0)

#define KUNIT_EXPECT_MEMEQ(test, left, right, size)				\
	KUNIT_UNLESS(test, false, !memcmp((left), (right), (size)),		\
		     "%s and %s differ", #left, #right)

#define KUNIT_FAIL(test, ...)	kunit_fail((test), KUNIT_HERE, __VA_ARGS__)
#define KUNIT_FAIL_AND_ABORT(test, ...)						\
do {										\
	KUNIT_FAIL(test, __VA_ARGS__);						\
	kunit_end_case();							\
} while (0)

#endif
