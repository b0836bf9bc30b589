/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's names for integers, on top of the system's header. */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef long long s64;

#define U16_MAX	UINT16_MAX
#define U64_MAX	(~0ULL)

#endif
