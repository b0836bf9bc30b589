// SPDX-License-Identifier: GPL-2.0
/*
 * Two accounts in an arena, and a lock that keeps their sum: a program that waits for the lock for
 * 20 us at most, and goes without if it must.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <nbq_arena_lock.h>
#include "arena_example.h"

#define PATIENCE_NS	20000

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 100);	/* pages; the queue nodes take 16 */
	__ulong(map_extra, 1ULL << 44);
} arena SEC(".maps");

struct nbq_arena_lock __arena lock;
unsigned int __arena first = 1000, second = 1000;

/* What could not be moved at once is moved later: each CPU has its own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} owed SEC(".maps");

SEC("syscall")
int move_one(struct result *result)
{
	u32 zero = 0, amount, *mine = bpf_map_lookup_elem(&owed, &zero);
	int error;

	if (!mine)
		return 1;
	/* Atomic: without the lock, another program of this CPU may come in between. */
	__sync_fetch_and_add(mine, 1);
	error = nbq_arena_lock(&lock, PATIENCE_NS);
	result->error = error;
	if (error)
		return 0;
	amount = xchg(mine, 0);
	first -= amount;
	second += amount;
	result->balance = first + second;
	nbq_arena_unlock(&lock);
	return 0;
}

char _license[] SEC("license") = "GPL";
