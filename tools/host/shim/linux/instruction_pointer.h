/* SPDX-License-Identifier: GPL-2.0 */
/* Where a call came from, for lockdep. */
#ifndef SHIM_LINUX_INSTRUCTION_POINTER_H
#define SHIM_LINUX_INSTRUCTION_POINTER_H

#define _RET_IP_	((unsigned long)__builtin_return_address(0))

#endif
