/* SPDX-License-Identifier: GPL-2.0 */
/* IS_ENABLED() as the kernel has it: 1 if the option is set to 1, else 0. */
#ifndef SHIM_LINUX_KCONFIG_H
#define SHIM_LINUX_KCONFIG_H

#define CONFIG_64BIT			1
/* Spinlocks that are held show in preempt_count(), as in most kernels. */
#define CONFIG_PREEMPT_COUNT		1

/* The locks as on a processor that can wait for a word to change. */
#ifdef SHIM_ARM64
#define CONFIG_ARM64			1
#endif

#define SHIM_IF_1			0,
#define SHIM_SECOND(first, second, ...)	second
#define SHIM_IS_1(maybe_0_comma)	SHIM_SECOND(maybe_0_comma 1, 0)
#define SHIM_IS_SET(value)		SHIM_IS_1(SHIM_IF_##value)
#define IS_ENABLED(option)		SHIM_IS_SET(option)

#endif
