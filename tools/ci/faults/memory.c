// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes with memory: of use, of arithmetic, of keeping.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "faults.h"

#define OBJECT_BYTES	64
/*
 * One of them may be found in a register or on a stack, so that it looks used.
 * They are of a size and a number that the allocator's caches would hide, if it
 * had any: these remember for a while what they have given away.
 */
#define LEAKS		8

static int use_after_free(void)
{
	char *object = kmalloc(OBJECT_BYTES, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	kfree(object);
	OPTIMIZER_HIDE_VAR(object);
	READ_ONCE(*object);
	return 0;
}

static int out_of_bounds(void)
{
	char *object = kmalloc(OBJECT_BYTES, GFP_KERNEL);
	size_t place = OBJECT_BYTES;

	if (!object)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(object);
	OPTIMIZER_HIDE_VAR(place);
	READ_ONCE(object[place]);
	kfree(object);
	return 0;
}

static int null_pointer(void)
{
	char *object = NULL;

	OPTIMIZER_HIDE_VAR(object);
	WRITE_ONCE(*object, 1);
	return 0;
}

static int leak(void)
{
	void *object;
	int i;

	for (i = 0; i < LEAKS; i++) {
		object = kmalloc(OBJECT_BYTES, GFP_KERNEL);
		/* Else the compiler sees that it is unused. */
		barrier_data(object);
	}
	return 0;
}

/*
 * The elements besides are there, so that only the checker minds; not the first of
 * them, whose address may be taken.
 */
static int array_bounds(void)
{
	static struct {
		int few[4];
		int more[4];
	} numbers;
	int place = ARRAY_SIZE(numbers.few) + 1;

	OPTIMIZER_HIDE_VAR(place);
	WRITE_ONCE(numbers.few[place], 1);
	return 0;
}

static int shift_too_far(void)
{
	int bits = 8 * sizeof(int);
	int number = 1;

	OPTIMIZER_HIDE_VAR(bits);
	number <<= bits;
	OPTIMIZER_HIDE_VAR(number);
	return 0;
}

static int refcount_underflow(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	return refcount_dec_and_test(&count);
}

static int broken_list(void)
{
	LIST_HEAD(list);
	LIST_HEAD(entry);

	/* before: list <-> list   after: a neighbour that does not know of it */
	list.prev = &entry;
	OPTIMIZER_HIDE_VAR(list.prev);
	list_add_tail(&entry, &list);
	return 0;
}

const struct fault memory_faults[] = {
	{ "kasan_uaf", use_after_free },
	{ "kasan_oob", out_of_bounds },
	{ "oops", null_pointer },
	{ "kmemleak", leak },
	{ "ubsan_bounds", array_bounds },
	{ "ubsan_shift", shift_too_far },
	{ "refcount", refcount_underflow },
	{ "list", broken_list },
	{ }
};
