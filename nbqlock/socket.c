// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets.
 */
#include <linux/compiler.h>
#include <linux/numa.h>

#include "internal.h"
#include "socket.h"

#if NBQ_STATIC_NODES
/* The first one, from the first instruction on: pool.c says later which node it stands for. */
static struct nbq_queue first_queues[NBQ_QUEUES];
static struct nbq_socket first_socket = {
	.turn = NBQ_TURN_SOCKET,
	.node = NUMA_NO_NODE,
	.queues = first_queues,
};

unsigned int nbq_sockets_number = 1;
struct nbq_socket *nbq_sockets[NBQ_SOCKETS_MAX] = { &first_socket };
#else
unsigned int nbq_sockets_number;
struct nbq_socket *nbq_sockets[NBQ_SOCKETS_MAX];
#endif
EXPORT_SYMBOL_IF_KUNIT(nbq_sockets_number);
EXPORT_SYMBOL_IF_KUNIT(nbq_sockets);

/**
 * nbq_has_queue() - Has any socket a node in its queue for this lock?
 * @lock: the lock
 *
 * Abandoned nodes count, and waiters of another lock that shares a queue. A load for each socket.
 *
 * Context: Any.
 * Return: true if one has.
 */
bool nbq_has_queue(const void *lock)
{
	struct nbq_socket *socket;
	unsigned int turn;

	for (turn = NBQ_TURN_SOCKET; (socket = nbq_socket_of_turn(turn)); turn++) {
		if (READ_ONCE(nbq_queue_of(socket, lock)->tail))
			return true;
	}
	return false;
}
