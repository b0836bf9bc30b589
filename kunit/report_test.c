// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of misuse: each lock that is misused is reported, and of many reports in a
 * short time some are left out. What is printed is in the kernel's log, which
 * tools/guest/kunit.py reads: the case says there what is to be found.
 */
#include "common.h"

/* The limit of nbqlock/report.c, and more than it allows in its time of 5 s */
#define REPORTS_AT_MOST		10
#define MISUSES			30

/*
 * The first suite that provokes a report, so that none of its kind came before. A lock
 * of its own each time, and no other: what is reported once only would be seen here.
 */
static void each_misused_lock_is_reported_up_to_a_limit(struct kunit *test)
{
	unsigned int i, refused = 0;
	struct nbq_clh *locks;

	locks = kunit_kcalloc(test, MISUSES, sizeof(*locks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, locks);
	kunit_info(test, "provokes %u reports of different locks: %s", REPORTS_AT_MOST,
		   NBQ_IN_USE_REPORT);
	for (i = 0; i < MISUSES; i++) {
		nbq_clh_init(&locks[i]);
		nbq_clh_lock(&locks[i]);
		refused += nbq_clh_destroy(&locks[i]) == -EBUSY;
		nbq_clh_unlock(&locks[i]);
		KUNIT_EXPECT_EQ(test, nbq_clh_destroy(&locks[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, refused, MISUSES);
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(each_misused_lock_is_reported_up_to_a_limit),
	{}
};

static struct kunit_suite report_suite = {
	.name = "nbq_report",
	.test_cases = report_cases,
};

kunit_test_suite(report_suite);
