/* SPDX-License-Identifier: GPL-2.0 */
/* Memory, each piece on its own: a sanitizer sees accesses beside it, and after it was freed. */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <stdlib.h>

typedef unsigned int gfp_t;

#define GFP_KERNEL		0U
#define GFP_ATOMIC		0U
#define __GFP_NORETRY		0U
#define __GFP_NOWARN		0U
#define __GFP_RETRY_MAYFAIL	0U
#define __GFP_ZERO		0U

/* Zeroed. As the kernel's: what has a power of two for a size is aligned to it. */
void *shim_alloc(size_t size, size_t align);

#define kzalloc(size, gfp)			((void)(gfp), shim_alloc((size), 8))
#define kzalloc_node(size, gfp, node)		((void)(node), kzalloc((size), (gfp)))
#define kcalloc(number, size, gfp)		kzalloc((size_t)(number) * (size), (gfp))
#define kcalloc_node(number, size, gfp, node)	((void)(node), kcalloc((number), (size), (gfp)))
#define kfree(memory)				free(memory)

struct kmem_cache {
	size_t size;
	size_t align;
};

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     unsigned int flags, void (*constructor)(void *memory));

#define kmem_cache_alloc_node(cache, gfp, node)	\
	((void)(gfp), (void)(node), shim_alloc((cache)->size, (cache)->align))
#define kmem_cache_free(cache, memory)		((void)(cache), free(memory))
#define kmem_cache_destroy(cache)		free(cache)

#endif
