/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's names for integers, on top of the system's header. */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef unsigned long long u64;
typedef long long s64;

#endif
