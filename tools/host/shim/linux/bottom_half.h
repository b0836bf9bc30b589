/* SPDX-License-Identifier: GPL-2.0 */
/* Bottom halves off: counted. */
#ifndef SHIM_LINUX_BOTTOM_HALF_H
#define SHIM_LINUX_BOTTOM_HALF_H

#include <host.h>
#include <linux/instruction_pointer.h>

#define local_bh_disable()	((void)shim_bh_off++)
#define local_bh_enable()	((void)shim_bh_off--)

#endif
