/* SPDX-License-Identifier: GPL-2.0 */
/* Single bits. */
#ifndef SHIM_LINUX_BITS_H
#define SHIM_LINUX_BITS_H

#define BIT(number)	(1UL << (number))
#define BIT_ULL(number)	(1ULL << (number))

#endif
