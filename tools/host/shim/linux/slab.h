/* SPDX-License-Identifier: GPL-2.0 */
/* Memory from the program that uses the driver's lock types: count.c. */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <stddef.h>

/* Zeroed and aligned to a cache line. */
void *shim_zalloc(size_t size);
void shim_free(void *memory);

#define GFP_KERNEL		0
#define __GFP_NOWARN		0
#define __GFP_RETRY_MAYFAIL	0

#define kzalloc(size, gfp)	((void)(gfp), shim_zalloc(size))
#define kzalloc_node(size, gfp, node)	((void)(node), kzalloc((size), (gfp)))
#define kfree(memory)		shim_free(memory)

#endif
