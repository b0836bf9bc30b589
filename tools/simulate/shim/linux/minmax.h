/* SPDX-License-Identifier: GPL-2.0 */
/* Of values of one type, too. */
#ifndef SHIM_SIMULATE_MINMAX_H
#define SHIM_SIMULATE_MINMAX_H

#include_next <linux/minmax.h>

#define min_t(type, a, b)	min((type)(a), (type)(b))

#endif
