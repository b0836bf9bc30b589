# SPDX-License-Identifier: GPL-2.0
"""Reads the pools, nodes and queues of nbqlock by drgn: of a dump, or of a live kernel."""

import contextlib
import functools
import time

import drgn
from drgn import FaultError, Object, ProgramFlags
from drgn.helpers.linux.cpumask import for_each_possible_cpu
from drgn.helpers.linux.percpu import per_cpu

from .locks import LEVELS, Context, NbqLockError, Node, Place, Wait, decoded, queues_of

# What a place is looked for around the wait, which is of the same stack frame.
FRAME_BYTES = 1024
# Functions that have the lock in a variable, also while no wait is published.
IN_SPIN = ("acquire_slowpath", "nbq_bare_spin_acquire_deadlocked", "acquire_untimed")
IN_ACQUIRE = (*IN_SPIN, "wait_in_queue", "wait_linked", "nbq_queue_acquire_slowpath",
              "nbq_queue_lock_deadlocked", "nbq_queue_continue_untimed")
# Functions below which another context begins.
ENTRIES = ("asm_", "__do_softirq", "__softirqentry", "handle_softirqs")


@contextlib.contextmanager
def reading(what):
    """Turn what drgn says of memory and of debug information into one error."""
    try:
        yield
    except FaultError as fault:
        raise NbqLockError(f"cannot read {what}: {fault.message} at {fault.address:#x}: the dump "
                           "lacks it, or a pointer is overwritten") from None
    except LookupError as fault:
        raise NbqLockError(f"cannot read {what}: {fault.args[0]}: load the debug information of "
                           "the kernel and of nbqlock") from None
    except (OSError, ValueError, OverflowError) as fault:
        raise NbqLockError(f"cannot read {what}: {fault}") from None


class Dump:
    """A kernel, live or dumped, by drgn."""

    def __init__(self, prog):
        self.prog = prog
        with reading("the pools of nbqlock"):
            self.bits = 8 * drgn.sizeof(prog.type("void *"))
            self.cpus = list(for_each_possible_cpu(prog))
            # The address of the first tells nodes' pools.
            self.contexts = {}
            for cpu in self.cpus:
                pools = per_cpu(prog["nbq_pools"], cpu)
                for level in range(len(LEVELS)):
                    self.contexts[pools[level].address_] = Context(cpu, level)
            self.pools = {context: Object(prog, prog.type("struct nbq_pool"), address=address)
                          for address, context in self.contexts.items()}
            self.has_queue_locks = prog.type("struct nbq_node").has_member("next")

    def held(self, context):
        """The node of the lock that this context has acquired last; 0: none."""
        with reading(f"the locks of {context}"):
            return self.pools[context].held.value_() if self.has_queue_locks else 0

    def node(self, address):
        """A node, which must be one of a pool."""
        what = f"the queue node {address:#x}"
        with reading(what):
            node = Object(self.prog, "struct nbq_node", address=address)
            context = self.contexts.get(node.pool.value_())
            if context is None:
                raise NbqLockError(f"{address:#x} is no queue node: it names no pool")
            pool = self.pools[context]
            index = node.index.value_()
            spare = self.has_queue_locks and pool.spare.address_ == address
            if node.cpu.value_() != context.cpu or not spare and index >= pool.size.value_():
                raise NbqLockError(f"{address:#x} is no queue node of {context}: CPU "
                                   f"{node.cpu.value_()}, index {index}")
            whole = self.has_queue_locks
            return Node(address, context, node.prev.value_(),
                        node.next.value_() if whole else 0, node.lock.value_(),
                        node.below.value_() if whole else 0, node.type.value_(),
                        bool(node.nested.value_()))

    def word(self, address):
        """The holder of a hybrid, encoded; and the turn that is requested."""
        with reading(f"the lock {address:#x}"):
            state = Object(self.prog, "union nbq_bare_spin", address=address).state
            return state.holder.value_(), state.turn.value_()

    def tail(self, address):
        """The newest node of a queue lock; 0: none."""
        with reading(f"the lock {address:#x}"):
            return Object(self.prog, "struct nbq_queue_lock", address=address).tail.value_()

    def queues(self, lock):
        """{queue: its newest node, or 0} of all in which waiters for a hybrid may be."""
        found = {}
        with reading(f"the queues of {lock:#x}"):
            sockets = [self.prog["nbq_machine"], *(
                self.prog["nbq_sockets"][i]
                for i in range(self.prog["nbq_sockets_number"].value_()))]
            for socket in sockets:
                for index in queues_of(lock, socket.queue_bits.value_(), self.bits):
                    queue = socket.queues[index]
                    found[queue.address_] = self.encoded(queue.tail.value_())
        return found

    def encoded(self, number):
        """The node that the tail of a hybrid's queue means."""
        if not number:
            return 0
        context = decoded(number & 0xffff)
        pool = self.pools.get(context)
        if pool is None:
            raise NbqLockError(f"a queue is overwritten: its tail {number:#x} names {context}")
        with reading(f"the nodes of {context}"):
            index = number >> 16
            if not pool.encodable or index >= pool.encodable.size.value_():
                raise NbqLockError(f"a queue is overwritten: its tail {number:#x} names node "
                                   f"{index} of {context}")
            return pool.encodable.nodes[index].value_()

    def wait(self, context):
        """The attempt of a context that waits, as its pool names it; None: none."""
        with reading(f"what {context} waits for"):
            pool = self.pools[context]
            waiter = pool.waiter
            if not waiter:
                return None
            if waiter.pool.value_() != pool.address_:
                if self.prog.flags & ProgramFlags.IS_LIVE:
                    return None
                raise NbqLockError(f"what {context} waits for is overwritten")
            lock = waiter.lock.value_()
            hybrid = bool(waiter.held_by)
            tagged = pool.waiting.blocker.tagged.value_()
            pred = 0 if hybrid or tagged & 1 or pool.waiting.lock.value_() != lock else tagged
            over = bool(pred and pool.waiting.word and pool.waiting.word[0])
            place = self.place(waiter, pool, lock) if hybrid else None
            return Wait(context, lock, hybrid, pred, over, waiter.deadline.at.value_(),
                        bool(waiter.deadline.relative), waiter.now.value_(),
                        waiter.began.value_(), waiter.polls.value_(), place)

    def place(self, waiter, pool, lock):
        """The place of a wait, in the same frame of its stack: by its node and its queue."""
        kind, here, queues = self.prog.type("struct nbq_place"), waiter.value_(), self.queues(lock)
        for address in range(here - FRAME_BYTES, here + FRAME_BYTES, self.bits // 8):
            with contextlib.suppress(FaultError):
                place = Object(self.prog, kind, address=address)
                if (place.queue.value_() in queues and place.node.pool.value_() == pool.address_
                        and place.node.wants.value_() == lock):
                    return Place(place.node.value_(), place.pred.value_(), place.since.value_())
        return None

    def task(self, cpu):
        """What runs on a CPU."""
        with reading(f"the task of CPU {cpu}"):
            return per_cpu(self.prog["runqueues"], cpu).curr.read_()

    def level(self, cpu):
        """The context level of what runs on a CPU, as interrupt_context_level()."""
        try:
            count = per_cpu(self.prog["pcpu_hot"], cpu).preempt_count
        except LookupError:
            count = per_cpu(self.prog["__preempt_count"], cpu)
        count = count.value_()
        return sum(bool(count & mask) for mask in (0xf00000, 0xff0000, 0xff0100))

    def stack_wait(self, cpu):
        """The attempt of what runs on a CPU by its stack: one that has published nothing.

        drgn has no stack of a CPU of a live kernel. 0.0.22 has none in a dump of QEMU's either,
        and gives an old one, of the moment at which the task has slept last.
        """
        try:
            task = self.task(cpu)
            trace = self.prog.stack_trace(task)
            if self.is_of_sleep(task, trace[0]):
                return None
            for frame in trace:
                if frame.name and frame.name.startswith(ENTRIES):
                    break
                if frame.name in IN_ACQUIRE:
                    return Wait(Context(cpu, self.level(cpu)), lock_in(frame).value_(),
                                frame.name in IN_SPIN)
        except Exception:
            # Of a kernel that is newer than drgn, an Exception of no other class. There is no
            # stack then; what is published is true all the same.
            pass
        return None

    def is_of_sleep(self, task, frame):
        """Is this where the task has slept last? (As x86, riscv and arm64 keep that.)"""
        thread, registers = task.thread, frame.registers()
        kept = thread.sp if hasattr(thread, "sp") else thread.cpu_context.sp
        begins = [0]
        with contextlib.suppress(LookupError):
            begins.append(drgn.sizeof(self.prog.type("struct inactive_task_frame")))
        return registers.get("rsp", registers.get("sp")) - kept.value_() in begins

    def clock(self):
        """CLOCK_MONOTONIC, in ns; of a dump: as of the last tick. 0: not known."""
        if self.prog.flags & ProgramFlags.IS_LIVE:
            return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        with contextlib.suppress(FaultError, LookupError, AttributeError):
            clock = self.prog["tk_core"].timekeeper.tkr_mono
            return clock.base.value_() + (clock.xtime_nsec.value_() >> clock.shift.value_())
        return 0

    @functools.cached_property
    def symbols(self):
        """Those of data, for a drgn that finds none there in modules by an address (0.0.31)."""
        if not hasattr(self.prog, "symbols"):
            return []
        return [symbol for symbol in self.prog.symbols()
                if symbol.kind == drgn.SymbolKind.OBJECT and symbol.size]

    def symbol(self, address):
        """The symbol that an address is in, or None."""
        with contextlib.suppress(LookupError):
            return self.prog.symbol(address)
        return next((symbol for symbol in self.symbols
                     if symbol.address <= address < symbol.address + symbol.size), None)

    def name(self, address):
        """The symbol at an address, or its number."""
        symbol = self.symbol(address)
        if not symbol:
            return f"{address:#x}"
        offset = address - symbol.address
        return symbol.name + (f"+{offset:#x}" if offset else "")


def lock_in(frame):
    """What a function of IN_ACQUIRE acquires: its parameter may be gone, the wait is in memory."""
    with contextlib.suppress(KeyError):
        return frame["wait"].lock
    return frame["lock"]
