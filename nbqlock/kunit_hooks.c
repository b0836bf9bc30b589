// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites use in place of the machine's own: a clock, and a CPU after the last one.
 */
#include "internal.h"

u64 (*nbq_fake_clock)(void);
EXPORT_SYMBOL_IF_KUNIT(nbq_fake_clock);

struct nbq_pool *nbq_pool_elsewhere;
EXPORT_SYMBOL_IF_KUNIT(nbq_pool_elsewhere);
