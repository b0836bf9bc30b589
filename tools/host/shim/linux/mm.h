/* SPDX-License-Identifier: GPL-2.0 */
/* Memory in whole pages: as that in slab.h. */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

#include <linux/slab.h>

#define kvzalloc_node(size, gfp, node)	kzalloc_node((size), (gfp), (node))
#define kvfree(memory)			kfree(memory)

#endif
