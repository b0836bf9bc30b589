/* SPDX-License-Identifier: GPL-2.0 */
/* Exports of the driver for its KUnit suites, where there are suites. */
#ifndef _STRESS_VISIBLE_H
#define _STRESS_VISIBLE_H

#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_NBQLOCK_KUNIT_TEST)
#include <kunit/visibility.h>
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#endif
