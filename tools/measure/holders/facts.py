# SPDX-License-Identifier: GPL-2.0
"""For drgn, on the dump of a guest that hangs: prints what nbqlock_drgn says, as JSON in a line.

Arguments: the folder of the helpers; the lock type, or CUT: then it prints what a user sees.
"""

import contextlib
import io
import json
import sys

FOLDER, KIND = sys.argv[1:]
sys.path.insert(0, FOLDER)
# Behind that line, of which the linters of the tools know nothing.
helpers = __import__("nbqlock_drgn")
dump = __import__("nbqlock_drgn.dump").dump
logic = __import__("nbqlock_drgn.locks").locks

CUT = "cut"
NO_MEMORY = 0xdead000000000000		# an address that none can have
prog = globals()["prog"]


def said_by(function, *arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*arguments)
    return text.getvalue()


def error_of(function, *arguments):
    try:
        return f"{function(*arguments)}"
    except helpers.NbqLockError as error:
        return f"nbqlock: {error}\n"


def name_of(task):
    return task.comm.string_().decode()


class Facts:
    """Of the locks of nbq_hang.c: {name: what is said}."""

    def __init__(self):
        self.locks = prog[f"{KIND}_locks"]
        self.first = self.locks[0].address_
        self.size = self.locks[1].address_ - self.first
        self.is_hybrid = KIND in ("spin", "kernel")
        self.kind = "nbq_spin" if self.is_hybrid else f"nbq_{KIND}"

    def index(self, address):
        return (address - self.first) // self.size

    def holder(self, lock):
        ask = helpers.spin_lock_holder if KIND == "kernel" else helpers.nbq_lock_holder
        found = ask(lock)
        return found and [found.cpu, found.level, name_of(found.task)]

    def waiters(self, lock):
        return [{**waiter._asdict(), "task": name_of(waiter.task)}
                for waiter in helpers.nbq_lock_waiters(lock)]

    def use(self, use):
        return [use.cpu, use.level, use.holds, use.type, self.index(use.lock.value_())]

    def all(self):
        return {
            "holders": [self.holder(lock) for lock in self.locks],
            "by pointer": self.holder(self.locks[0].address_of_()),
            "waiters": [self.waiters(lock) for lock in self.locks],
            "uses": [self.use(use) for use in helpers.nbq_locks(prog)
                     if 0 <= self.index(use.lock.value_()) < len(self.locks)],
            "deadlocks": [[self.use(use) for use in deadlock.waits]
                          for deadlock in helpers.nbq_deadlocks(prog)],
            "text": said_by(helpers.print_nbq_lock, self.locks[0]),
            "slept": said_by(helpers.print_nbq_lock, self.locks[7]),
            "all text": said_by(helpers.print_nbq_locks, prog),
            "no lock": said_by(helpers.print_nbq_lock, prog["init_task"]),
            "no spinlock": error_of(helpers.spin_lock_holder, prog["init_task"].pi_lock
                                    if KIND != "kernel" else prog["init_task"]),
            "another lock": error_of(helpers.spin_lock_holder, prog["clh_locks"][0]),
            "errors": dict(self.errors()),
        }

    # What is said when memory is overwritten

    def print_with(self, address, value, size=8):
        """The same of the first lock, with other memory."""
        data, old = value.to_bytes(size, "little"), prog.read(address, size)
        write(address, data)
        try:
            return said_by(helpers.print_nbq_lock, self.locks[0])
        finally:
            write(address, old)

    def node_addresses(self):
        """Of the waiters of the first lock: the nodes of CPU 2, 3 and 4."""
        found = logic.Locks(dump.Dump(prog))
        for queue in found.queues(self.first, self.kind):
            nodes = [node for node, _ in queue.nodes if node.context.cpu in (2, 3, 4)]
            if nodes:
                return [node.address for node in nodes]
        return []

    def field(self, node, name):
        return getattr(helpers.Object(prog, "struct nbq_node", address=node), name).address_

    def errors(self):
        nodes = self.node_addresses()
        no_node = prog["init_task"].address_
        pool = dump.Dump(prog).pools[logic.Context(4, 0)]
        yield "a node of no pool", self.print_with(self.field(nodes[1], "pool"), no_node)
        yield "a node of no memory", self.print_with(self.field(nodes[1], "prev"), NO_MEMORY)
        yield "an index out of range", self.print_with(self.field(nodes[1], "index"), 9999, 4)
        yield "a queue that leads back", self.print_with(self.field(nodes[1], "prev"), nodes[2])
        yield "a waiter of no memory", self.print_with(pool.waiter.address_, NO_MEMORY)
        yield "a waiter that is none", self.print_with(pool.waiter.address_, no_node)
        if not self.is_hybrid:
            yield "a tail of no memory", self.print_with(self.first, NO_MEMORY)
            yield "a tail that is no node", self.print_with(self.first, no_node)
            yield "a tail that is a state", self.print_with(self.first, 2)
            held = pool_of(1).held
            yield "a list that leads back", self.print_with(
                self.field(held.value_(), "below"), held.value_())
            return
        yield "a word of ones", self.print_with(self.first, 0xffffffff, 4)
        tail = next(address for address, node in dump.Dump(prog).queues(self.first).items() if node)
        yield "a tail of no context", self.print_with(tail, 0x00013fff, 4)
        yield "a tail of no index", self.print_with(tail, 0xffff0001, 4)


def pool_of(cpu):
    return dump.Dump(prog).pools[logic.Context(cpu, 0)]


def write(address, data):
    """From now on the dump has these bytes there."""
    def read(_address, count, offset, _physical):
        return data[offset:offset + count]

    prog.add_memory_segment(address, len(data), read, False)


if KIND == CUT:
    helpers.print_nbq_locks(prog)
else:
    print(json.dumps(Facts().all()))
