// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of the machine, and the sockets.
 */
#include <linux/compiler.h>

#include "internal.h"
#include "socket.h"

struct nbq_queue nbq_machine_queues[NBQ_QUEUES];
EXPORT_SYMBOL_IF_KUNIT(nbq_machine_queues);
unsigned int nbq_sockets_number;
struct nbq_socket *nbq_sockets[NBQ_SOCKETS_MAX];
EXPORT_SYMBOL_IF_KUNIT(nbq_sockets_number);
EXPORT_SYMBOL_IF_KUNIT(nbq_sockets);

/**
 * nbq_has_queue() - Has any queue for this lock a node?
 * @lock: the lock
 *
 * Abandoned nodes count, and waiters of another lock that shares a queue. A load for each socket.
 *
 * Context: Any.
 * Return: true if one has.
 */
bool nbq_has_queue(const void *lock)
{
	struct nbq_socket *socket = NULL;
	unsigned int turn = NBQ_TURN_MACHINE;

	do {
		if (READ_ONCE(nbq_queue_of(socket, lock)->tail))
			return true;
		socket = nbq_socket_of_turn(++turn);
	} while (socket);
	return false;
}
