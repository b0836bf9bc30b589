/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites see of the locks. */
#ifndef SHIM_KUNIT_VISIBILITY_H
#define SHIM_KUNIT_VISIBILITY_H

#define VISIBLE_IF_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	extern __typeof__(symbol) symbol

#endif
