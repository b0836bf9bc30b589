# SPDX-License-Identifier: GPL-2.0
"""Who holds and who waits, of what was read of a kernel at one moment: without drgn.

dump: a Dump of dump.py, or what a test has instead.
"""

from typing import NamedTuple, Optional

# Of internal.h and bare_spin_types.h: debug information has no macros.
CONTEXT_CPU_BITS = 14
AVAILABLE, LEAVING, TRANSIENT, RECYCLED = 1, 2, 3, 4
KTIME_MAX = (1 << 63) - 1
NBQ_POOL_READY = 2
MOST_HELD = 48			# locks of one context
LEVELS = ("task", "softirq", "hardirq", "NMI")
SPIN, CLH, MCS, SWAP = TYPES = ("nbq_spin", "nbq_clh", "nbq_mcs", "nbq_swap")
QUEUE = "queue lock"		# of which type no node tells
GOLDEN_RATIO = {32: 0x61C88647, 64: 0x61C8864680B583EB}	# hash_ptr()


class NbqLockError(Exception):
    """A lock that makes no sense, a dump that lacks memory, or no debug information."""


class Context(NamedTuple):
    """A context that can interrupt, or be interrupted by, the others of its CPU."""
    cpu: int
    level: int

    def __str__(self):
        return f"CPU {self.cpu} ({LEVELS[self.level]})"


class Node(NamedTuple):
    """A queue node, as in internal.h; pointers are numbers, the pool is its context."""
    address: int
    context: Context
    prev: int
    next: int
    lock: int
    below: int
    type: int
    nested: bool


class Place(NamedTuple):
    """Of a waiter for a hybrid, as in spin_queue.h."""
    node: int
    pred: int
    since: int


class Wait(NamedTuple):
    """What a context waits for.

    pred: the node that it waits behind, unless the lock is a hybrid, if that is known; is_over:
    that one has changed its state. at, relative: its deadline. now: its last clock read; began: 0,
    unless it is traced.
    """
    context: Context
    lock: int
    is_hybrid: bool
    pred: int = 0
    is_over: bool = False
    at: int = KTIME_MAX
    relative: bool = False
    now: int = 0
    began: int = 0
    polls: int = 0
    place: Optional[Place] = None


def hash_of(address, bits, width):
    """hash_ptr()"""
    if width == 32:
        return (address * GOLDEN_RATIO[32] & 0xffffffff) >> 32 - bits
    return (address * GOLDEN_RATIO[64] & (1 << 64) - 1) >> 64 - bits


def queues_of(lock, bits, width):
    """Of a table of 2^bits queues those for a hybrid: nbq_queue_of(), nbq_other_queue_of()."""
    first = hash_of(lock, bits, width)
    return first, (first + 1) % (1 << bits)


def decoded(number):
    """A context, which was encoded in 16 bits."""
    return Context((number & (1 << CONTEXT_CPU_BITS) - 1) - 1, number >> CONTEXT_CPU_BITS)


class Queue(NamedTuple):
    """nodes: (Node, what it does), the first of them first; is_whole: its head is among them."""
    nodes: list
    is_whole: bool


HOLDS, WAITS, ABANDONED, GRANTED = "holds", "waits", "is abandoned", "has granted"


class Locks:
    """All waits at one moment. dump: a Dump, or what a test has instead."""

    def __init__(self, dump):
        self.dump = dump
        self.waits = {}
        for context in dump.pools:
            wait = dump.wait(context)
            if wait:
                self.waits[context] = wait
        for cpu in dump.cpus:
            wait = dump.stack_wait(cpu)
            if wait and wait.context not in self.waits:
                self.waits[wait.context] = wait
        self.now = max([dump.clock(), *(wait.now for wait in self.waits.values())])

    def held_nodes(self, context):
        """The nodes of the queue locks that a context holds, the last one first."""
        found, address = [], self.dump.held(context)
        while address:
            if len(found) == MOST_HELD:
                raise NbqLockError(f"the list of locks that {context} holds is overwritten")
            found.append(self.dump.node(address))
            address = found[-1].below
        return found

    def holding(self, lock):
        """(the context that holds a queue lock, its node), or None."""
        for context in self.dump.pools:
            for node in self.held_nodes(context):
                if node.lock == lock:
                    return context, node
        return None

    def holder(self, lock, is_hybrid):
        """The context that holds a lock; None: none."""
        if not is_hybrid:
            found = self.holding(lock)
            return found and found[0]
        number, _ = self.dump.word(lock)
        context = decoded(number)
        if not number:
            return None
        if context not in self.dump.pools:
            raise NbqLockError(f"{lock:#x} is overwritten, or no lock: it says that CPU "
                               f"{context.cpu} holds it, of {len(self.dump.cpus)}")
        return context

    def pred_of_waiter(self, node, kind):
        """The predecessor of a node that waits; 0: it is the head; None: not known."""
        wait = self.waits.get(node.context)
        if not wait or node.nested:
            return None
        if kind != SPIN:
            return wait.pred or None
        return wait.place.pred if wait.place and wait.place.node == node.address else None

    def queue(self, tail, kind, holding=0):
        """A queue from its newest node on. holding: the holder's node, of a queue lock."""
        nodes, seen, address = [], set(), tail
        while address:
            if address in seen:
                raise NbqLockError(f"a queue is overwritten: behind {address:#x} it begins again")
            seen.add(address)
            node = self.dump.node(address)
            state = pred_of(node, kind)
            if state == RECYCLED:
                break
            if address == holding:
                nodes.append((node, HOLDS))
                return Queue(nodes[::-1], True)
            if state == AVAILABLE:
                nodes.append((node, GRANTED))
                return Queue(nodes[::-1], True)
            nodes.append((node, ABANDONED if state else WAITS))
            address = state or self.pred_of_waiter(node, kind)
        return Queue(nodes[::-1], address == 0)

    def queues(self, lock, kind):
        if kind == SPIN:
            return [self.queue(tail, SPIN) for tail in self.dump.queues(lock).values()]
        tail = self.dump.tail(lock)
        if 0 < tail <= RECYCLED:
            raise NbqLockError(f"{lock:#x} is overwritten, or no lock: its tail is {tail:#x}")
        found = self.holding(lock)
        return [self.queue(tail, kind, found[1].address if found else 0)]

    def waiters(self, lock, kind):
        """[(context, its position or None, abandoned places in front of it)], by position."""
        found = []
        for queue in self.queues(lock, kind):
            number = abandoned = 0
            for node, does in queue.nodes:
                # Waiters of several hybrids share a queue.
                if kind == SPIN and node.next != lock:
                    continue
                if does == WAITS:
                    number += 1
                    found.append((node.context, number if queue.is_whole else None, abandoned))
                abandoned = abandoned + 1 if does == ABANDONED else 0
        queued = {context for context, _, _ in found}
        found += [(wait.context, None, 0) for wait in self.waits.values()
                  if wait.lock == lock and wait.context not in queued]
        return sorted(found, key=lambda each: (each[1] is None, each[1] or 0, each[0]))

    def kind_of(self, wait):
        """The type of the lock that is waited for: the holder's node knows that of a queue lock."""
        if wait.is_hybrid:
            return SPIN
        found = self.holding(wait.lock)
        return TYPES[found[1].type] if found and found[1].type < len(TYPES) else QUEUE

    def kept_by(self, wait):
        """The context that keeps a wait from its end; None: none."""
        if wait.is_hybrid or not wait.pred:
            return self.holder(wait.lock, wait.is_hybrid)
        pred = self.dump.node(wait.pred)
        return None if wait.is_over or pred.nested else pred.context

    def obstacle(self, context):
        """What the CPU of a context waits for, from its level on; None: nothing."""
        for level in reversed(range(context.level, len(LEVELS))):
            wait = self.waits.get(Context(context.cpu, level))
            if wait:
                return wait
        return None

    def cycle(self, wait):
        """The waits of the path from this one that leads back to its CPU; or nothing."""
        path, cpus = [wait], {wait.context.cpu}
        while True:
            owner = self.kept_by(path[-1])
            if not owner:
                return ()
            if owner.cpu == wait.context.cpu:
                return tuple(path) if owner.level <= wait.context.level else ()
            found = self.obstacle(owner)
            if not found or owner.cpu in cpus:
                return ()
            path.append(found)
            cpus.add(owner.cpu)

    def deadlocks(self):
        """Each cycle once, from its lowest CPU on."""
        found = {}
        for cpu in self.dump.cpus:
            wait = self.obstacle(Context(cpu, 0))
            cycle = self.cycle(wait) if wait else ()
            if cycle:
                found.setdefault(frozenset(each.context for each in cycle), cycle)
        return list(found.values())

    def uses(self):
        """(context, whether it holds, the lock, its type), by context."""
        found = set()
        for context in self.dump.pools:
            for node in self.held_nodes(context):
                found.add((context, True, node.lock,
                           TYPES[node.type] if node.type < len(TYPES) else QUEUE))
        for wait in self.waits.values():
            kind = self.kind_of(wait)
            found.add((wait.context, False, wait.lock, kind))
            holder = self.holder(wait.lock, wait.is_hybrid)
            if holder:
                found.add((holder, True, wait.lock, kind))
        return sorted(found, key=lambda use: (use[0], not use[1], use[2]))


def pred_of(node, kind):
    """As pred_of() of each type of lock: 0: a context waits or holds with the node."""
    if kind in (SPIN, CLH):
        return node.prev
    if node.next in (AVAILABLE, RECYCLED):
        return node.next
    return node.prev if node.next in (LEAVING, TRANSIENT) else 0


def times(wait, now):
    """How long a wait has taken, or None; what is left of its patience, or None: without end."""
    since = wait.place.since if wait.place else wait.began
    left = None if wait.at == KTIME_MAX else wait.at - (0 if wait.relative else now)
    return max(0, now - since) if since else None, left
