/* SPDX-License-Identifier: GPL-2.0 */
/* What must hold for the text to be compiled. */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#undef static_assert
#define static_assert(condition)	_Static_assert(condition, #condition)

#endif
