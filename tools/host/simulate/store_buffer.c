// SPDX-License-Identifier: GPL-2.0
/*
 * Stores on their way to memory.
 */
#include <string.h>

#include "costs.h"
#include "machine.h"
#include "memory.h"

static struct store *store_at(struct store_buffer *buffer, unsigned int place)
{
	return &buffer->stores[(buffer->first + place) % MOST_STORES];
}

/* The oldest asks for its line. */
static void issue(struct cpu *cpu, u64 at)
{
	const struct store *oldest = store_at(&cpu->stores, 0);

	cpu->stores.done_at = memory_own(cpu, oldest->address, at, 0, oldest->from);
}

static void wait_until(unsigned int most)
{
	struct store_buffer *buffer = &this_cpu->stores;

	if (buffer->count <= most)
		return;
	buffer->most = most;
	machine_wait_for_stores();
}

void store_buffer_drain(void)
{
	wait_until(0);
}

void store_buffer_put(void *address, u64 value, unsigned int size, const void *from)
{
	struct store_buffer *buffer = &this_cpu->stores;

	wait_until(costs.store_buffer - 1);
	*store_at(buffer, buffer->count++) = (struct store){ address, value, size, from };
	machine_spend(costs.hit);
	if (buffer->count == 1)
		issue(this_cpu, this_cpu->clock);
}

void store_buffer_complete(struct cpu *cpu)
{
	struct store_buffer *buffer = &cpu->stores;
	const struct store *oldest = store_at(buffer, 0);

	/* The host is little-endian: the first bytes are the value's low ones. */
	memcpy(oldest->address, &oldest->value, oldest->size);
	buffer->first = (buffer->first + 1) % MOST_STORES;
	buffer->count--;
	if (buffer->count)
		issue(cpu, machine_now());
	else
		buffer->done_at = NEVER;
}

const struct store *store_buffer_find(const volatile void *address, unsigned int size)
{
	struct store_buffer *buffer = &this_cpu->stores;
	const char *start = (const char *)address;
	unsigned int place;

	for (place = buffer->count; place--; ) {
		const struct store *store = store_at(buffer, place);
		const char *its = store->address;

		if (!store->size || its >= start + size || start >= its + store->size)
			continue;
		if (its == start && store->size == size)
			return store;
		store_buffer_drain();
		machine_arrive();
		break;
	}
	return NULL;
}
