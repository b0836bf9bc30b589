/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A suite for each lock type, from one list of cases. Included at the end of a
 * file that has defined
 *
 *	NBQ_SUITE_CASES		the cases in braces, the last of them empty
 *	NBQ_SUITE_SUFFIX	what follows the type in the suite's name
 *
 * KUnit writes into the cases, so each suite has a copy.
 */
#define NBQ_ROW(type)							\
static struct kunit_case type##_cases[] = NBQ_SUITE_CASES;		\
									\
static struct kunit_suite type##_suite = {				\
	.name = #type NBQ_SUITE_SUFFIX,					\
	.init = type##_bench_init,					\
	.exit = nbq_bench_finish,					\
	.test_cases = type##_cases,					\
};									\
									\
kunit_test_suite(type##_suite);
#include "lock_row_list.h"
#undef NBQ_ROW
