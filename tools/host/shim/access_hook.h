/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an access.h may call before each access: the hook of the running thread. host.c
 * defines it, whether the access.h in use calls it or not.
 */
#ifndef SHIM_ACCESS_HOOK_H
#define SHIM_ACCESS_HOOK_H

enum shim_op {
	SHIM_OP_LOAD,
	SHIM_OP_STORE,
	SHIM_OP_XCHG,
	SHIM_OP_ADD,
	SHIM_OP_CMPXCHG,
	SHIM_OP_RELAX,
};

/* Of this thread. The address is that of the access about to be made. */
extern _Thread_local void (*shim_hook)(enum shim_op op, const void *address);

/* cmpxchg_local() as what it costs, where nothing interrupts. */
#define SHIM_READ_AND_WRITE(ptr, expected, value)			\
({									\
	volatile __typeof__(*(ptr)) *__ptr = (ptr);			\
	__typeof__(*(ptr)) __was = *__ptr;				\
									\
	if (__was == (expected))					\
		*__ptr = (value);					\
	__was;								\
})

#endif
