/* SPDX-License-Identifier: GPL-2.0 */
/* Guards: variables that release a lock when they go out of scope. */
#ifndef SHIM_LINUX_CLEANUP_H
#define SHIM_LINUX_CLEANUP_H

#include <kernel.h>

#define DEFINE_CLASS(name, type, exit, init, init_args...)			\
typedef type class_##name##_t;							\
static __maybe_unused __always_inline void class_##name##_destructor(type *p)	\
{										\
	type _T = *p;								\
										\
	exit;									\
}										\
static __maybe_unused __always_inline type class_##name##_constructor(init_args)	\
{										\
	type t = init;								\
										\
	return t;								\
}

#define CLASS(name, var)							\
	class_##name##_t var __maybe_unused					\
		__attribute__((__cleanup__(class_##name##_destructor))) =	\
		class_##name##_constructor

#define __class_lock_ptr(name, scope)	class_##name##_lock_ptr(scope)

#define guard(name)			CLASS(name, __PASTE(guard_, __COUNTER__))

#define scoped_guard(name, args...)						\
	for (CLASS(name, scope)(args), *done = NULL;				\
	     __class_lock_ptr(name, &scope) && !done; done = (void *)1)

#define scoped_cond_guard(name, fail, args...)					\
	for (CLASS(name, scope)(args), *done = NULL; !done; done = (void *)1)	\
		if (__class_lock_ptr(name, &scope) || ({ fail; false; }))

#define ACQUIRE(name, var)		CLASS(name, var)
#define ACQUIRE_ERR(name, var)		class_##name##_lock_err(var)

#define DEFINE_LOCK_GUARD_1(name, type, acquire, release, members...)		\
static __maybe_unused const bool class_##name##_is_conditional;			\
typedef struct guard_of_##name {						\
	type *lock;								\
	members;								\
} class_##name##_t;								\
static __maybe_unused __always_inline void					\
class_##name##_destructor(struct guard_of_##name *_T)				\
{										\
	if (_T->lock)								\
		release;							\
}										\
static __maybe_unused __always_inline void *					\
class_##name##_lock_ptr(struct guard_of_##name *_T)					\
{										\
	return _T->lock;							\
}										\
static __maybe_unused __always_inline class_##name##_t				\
class_##name##_constructor(type *l)						\
{										\
	class_##name##_t t = { .lock = l }, *_T = &t;				\
										\
	acquire;								\
	return t;								\
}

#endif
