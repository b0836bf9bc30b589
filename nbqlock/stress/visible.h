/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the driver that the KUnit suites call are exported to them where
 * there are suites; the driver does not see nbqlock's internal.h, which says
 * the same for nbqlock.
 */
#ifndef _STRESS_VISIBLE_H
#define _STRESS_VISIBLE_H

#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
#include <kunit/visibility.h>
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#endif
