/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which operations acquire and release, for clang's context analysis, in kernels that have it.
 * In others sparse is told nothing: it follows an acquisition that can fail only through
 * macros which hide the operations' names.
 */
#ifndef _NBQLOCK_ANNOTATIONS_H
#define _NBQLOCK_ANNOTATIONS_H

#include <linux/compiler.h>

#ifdef context_lock_struct
#define __nbq_acquires(lock)		__acquires(lock)
#define __nbq_cond_acquires(ret, lock)	__cond_acquires(ret, lock)
#define __nbq_releases(lock)		__releases(lock)
#define __nbq_acquire(lock)		__acquire(lock)
#define __nbq_release(lock)		__release(lock)
#else
#define __nbq_acquires(lock)
#define __nbq_cond_acquires(ret, lock)
#define __nbq_releases(lock)
#define __nbq_acquire(lock)		((void)0)
#define __nbq_release(lock)		((void)0)
#endif

#endif
