/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing is exported on the host. */
#ifndef SHIM_LINUX_EXPORT_H
#define SHIM_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(symbol) \
	extern __typeof__(symbol) symbol
#define EXPORT_PER_CPU_SYMBOL_GPL(symbol)	EXPORT_SYMBOL_GPL(symbol)

#endif
