// SPDX-License-Identifier: GPL-2.0
/*
 * One object of several that are linked to one program: each has an operation of its own on a lock
 * that they share. OBJECT is its number; the first has the lock, and the queue's nodes.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#if OBJECT > 1
#define NBQ_ARENA_NODES_ELSEWHERE
#endif
#include <nbq_arena_lock.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 100);
	__ulong(map_extra, 1ULL << 44);
} arena __weak SEC(".maps");

#if OBJECT == 1
struct nbq_arena_lock __arena lock;
unsigned int __arena counter;
#else
extern struct nbq_arena_lock __arena lock;
extern unsigned int __arena counter;
#endif

#define GLUED(name, number)	name##number
#define NAME(name, number)	GLUED(name, number)

SEC("syscall")
int NAME(count_, OBJECT)(void *context)
{
	int error = nbq_arena_lock(&lock, 0);

	if (error)
		return error;
	counter++;
	nbq_arena_unlock(&lock);
	return 0;
}

char _license[] SEC("license") = "GPL";
