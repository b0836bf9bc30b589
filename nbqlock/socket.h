/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queues of the waiters of hybrid locks stand in tables; the address of a lock chooses a queue.
 * So a lock is one word, and contexts that enqueue do not take its line from the holder.
 *
 * The machine has a table, in which all wait. If sockets are wanted (pool.c), each NUMA node that
 * has CPUs is a socket. It has a table in its own memory, for waiters that keep the lock on it. In
 * the machine's then wait those with little patience, and those that come before sockets are known.
 *
 * A table has NBQ_QUEUES_PER_CPU queues for each of its CPUs, which wait for one lock at a time,
 * rounded up to a power of two: two locks share a queue with a chance of 1 in that number. With
 * lines of 64 bytes a table is less than 1 KiB for each of its CPUs, or 8 KiB.
 */
#ifndef _NBQ_SOCKET_H
#define _NBQ_SOCKET_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/types.h>

#define NBQ_QUEUES_PER_CPU	4U

/* The queues of a table at least, as a power of two; those that the machine has at boot. */
#ifndef NBQ_QUEUE_BITS
#define NBQ_QUEUE_BITS		6
#endif
#define NBQ_QUEUES		BIT(NBQ_QUEUE_BITS)

/* What stands in the turn of a hybrid lock: for no socket; for one, from this on, by its index. */
#define NBQ_TURN_MACHINE	0
#define NBQ_TURN_SOCKET		1
#define NBQ_SOCKETS_MAX		128

/**
 * struct nbq_queue - a queue of waiters
 * @tail: the newest node, encoded; 0: there is none in the queue
 * @awaits: the lock for which its head awaits the turn of its socket; NULL: none. A hint
 * @handoff: the handoff of the request of another socket, until which it does; then it polls the
 *	lock, and publishes that of the next one
 * @notified: the lock that has given the turn to this socket; NULL: the head knows. A hint
 */
struct nbq_queue {
	u32 tail;
	/* Polled by a head without the turn, while others enqueue. */
	const void *awaits ____cacheline_aligned;
	u8 handoff;
	const void *notified;
} ____cacheline_aligned;

/* The table by itself is a power of two, which kmalloc() rounds sizes up to. */
static_assert(!(sizeof(struct nbq_queue) & (sizeof(struct nbq_queue) - 1)));

/**
 * struct nbq_socket - a socket, or the machine
 * @turn: what stands for it in the turn of a hybrid lock
 * @node: its NUMA node
 * @queue_bits: how many queues it has, as a power of two
 * @queues: one for each hash of a lock
 */
struct nbq_socket {
	u8 turn;
	int node;
	unsigned int queue_bits;
	struct nbq_queue *queues;
};

extern struct nbq_socket *nbq_machine;
extern unsigned int nbq_sockets_number;
extern struct nbq_socket *nbq_sockets[NBQ_SOCKETS_MAX];

/* The queue for a lock, of a socket; NULL: of the machine. */
static inline struct nbq_queue *nbq_queue_of(const struct nbq_socket *socket, const void *lock)
{
	if (!socket)
		socket = READ_ONCE(nbq_machine);
	return &socket->queues[hash_ptr(lock, socket->queue_bits)];
}

/* The other one for it, where waiters of another lock are in the first one. */
static inline struct nbq_queue *nbq_other_queue_of(const struct nbq_socket *socket,
						   const void *lock)
{
	unsigned int hash;

	if (!socket)
		socket = READ_ONCE(nbq_machine);
	hash = hash_ptr(lock, socket->queue_bits) + 1;
	return &socket->queues[hash & (BIT(socket->queue_bits) - 1)];
}

/* The socket that this turn stands for; NULL: the machine, or none. */
static inline struct nbq_socket *nbq_socket_of_turn(unsigned int turn)
{
	/* ACQUIRE, pairs with the RELEASE in add_socket(): the sockets. */
	unsigned int number = smp_load_acquire(&nbq_sockets_number);

	return turn - NBQ_TURN_SOCKET < number ? nbq_sockets[turn - NBQ_TURN_SOCKET] : NULL;
}

/* Are there other sockets than this one? */
static inline bool nbq_has_other_sockets(const struct nbq_socket *socket)
{
	return socket && READ_ONCE(nbq_sockets_number) > 1;
}

#endif
