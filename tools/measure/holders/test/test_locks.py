# SPDX-License-Identifier: GPL-2.0
import importlib.util
from pathlib import Path
import re
import unittest

from base.common import PROJECT

# By its file: its package imports drgn.
FILE = Path(__file__).parents[1] / "drgn/nbqlock_drgn/locks.py"
SPEC = importlib.util.spec_from_file_location("nbqlock_locks", FILE)
locks = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(locks)

SPIN, CLH, MCS, SWAP = locks.TYPES
TASK, HARDIRQ = 0, 2
LOCK, OTHER, THIRD = 0x1000, 0x2000, 0x3000
SECOND = 10**9


def task(cpu):
    return locks.Context(cpu, TASK)


def handler(cpu):
    return locks.Context(cpu, HARDIRQ)


def encoded(context):
    return context.level << locks.CONTEXT_CPU_BITS | context.cpu + 1


class Kernel:
    """What Dump is for Locks, of four CPUs, without drgn."""

    def __init__(self):
        self.cpus = range(4)
        self.pools = {locks.Context(cpu, level): None for cpu in self.cpus
                      for level in range(len(locks.LEVELS))}
        self.nodes, self.first_held, self.words, self.tails = {}, {}, {}, {}
        self.waits, self.stacks = {}, {}
        self.time = 0

    def add_node(self, address, context, **fields):
        values = {"prev": 0, "next": 0, "lock": 0, "below": 0, "type": 0, "nested": False}
        self.nodes[address] = locks.Node(address, context, **{**values, **fields})

    def hold(self, lock, context, kind=SPIN, address=0):
        if kind == SPIN:
            self.words[lock] = encoded(context)
            return
        self.add_node(address, context, lock=lock, type=locks.TYPES.index(kind),
                      below=self.first_held.get(context, 0))
        self.first_held[context] = address

    def add_wait(self, context, lock, is_hybrid=True, **fields):
        self.waits[context] = locks.Wait(context, lock, is_hybrid, **fields)

    def queue(self, lock, address, context, pred, kind=SPIN):
        """A waiter that has enqueued behind a node; 0: it is the head."""
        if kind == SPIN:
            self.add_node(address, context, next=lock)
            self.add_wait(context, lock, place=locks.Place(address, pred, since=SECOND))
        else:
            self.add_node(address, context)
            self.add_wait(context, lock, False, pred=pred)
        self.tails.setdefault(lock, [0])[0] = address

    def abandon(self, lock, address, context, pred, kind=SPIN, state=None):
        fields = {SPIN: {"next": lock}, CLH: {}}.get(kind, {"next": state or locks.LEAVING})
        self.add_node(address, context, prev=pred, lock=lock, **fields)
        self.tails.setdefault(lock, [0])[0] = address

    # As Dump

    def held(self, context):
        return self.first_held.get(context, 0)

    def node(self, address):
        if address not in self.nodes:
            raise locks.NbqLockError(f"{address:#x} is no queue node")
        return self.nodes[address]

    def word(self, lock):
        return self.words.get(lock, 0), 0

    def tail(self, lock):
        return self.tails.get(lock, [0])[0]

    def queues(self, lock):
        return dict(enumerate(self.tails.get(lock, [])))

    def wait(self, context):
        return self.waits.get(context)

    def stack_wait(self, cpu):
        return self.stacks.get(cpu)

    def clock(self):
        return self.time


class LocksTest(unittest.TestCase):
    def setUp(self):
        self.kernel = Kernel()

    @property
    def locks(self):
        return locks.Locks(self.kernel)

    def expect_error(self, pattern, function, *arguments):
        with self.assertRaisesRegex(locks.NbqLockError, pattern):
            function(*arguments)


class Holder(LocksTest):
    def test_the_word_of_a_hybrid_names_it(self):
        for context in (task(0), task(3), handler(2), locks.Context(1, 3)):
            self.kernel.hold(LOCK, context)
            self.assertEqual(self.locks.holder(LOCK, True), context)

    def test_a_free_hybrid_has_none(self):
        self.assertIsNone(self.locks.holder(LOCK, True))

    def test_a_hybrid_that_names_no_cpu_is_overwritten(self):
        for word in (encoded(task(4)), 0x4000, 0xffff):
            self.kernel.words[LOCK] = word
            self.expect_error("is overwritten", self.locks.holder, LOCK, True)

    def test_the_list_of_a_context_names_each_of_its_queue_locks(self):
        self.kernel.hold(LOCK, task(2), CLH, 0x100)
        self.kernel.hold(OTHER, task(2), MCS, 0x200)
        self.assertEqual([self.locks.holder(lock, False) for lock in (LOCK, OTHER, THIRD)],
                         [task(2), task(2), None])

    def test_a_list_that_leads_back_is_overwritten(self):
        self.kernel.hold(LOCK, task(2), CLH, 0x100)
        self.kernel.add_node(0x100, task(2), lock=LOCK, below=0x100)
        self.expect_error("list of locks .* is overwritten", self.locks.holder, OTHER, False)

    def test_a_list_is_no_longer_than_a_context_can_hold(self):
        for number in range(locks.MOST_HELD + 1):
            self.kernel.hold(LOCK + number, task(2), CLH, 0x100 + number)
        self.expect_error("list of locks .* is overwritten", self.locks.holder, OTHER, False)


class Waiters(LocksTest):
    def test_those_of_a_hybrid_are_in_the_order_of_their_queue(self):
        self.kernel.hold(LOCK, task(0))
        self.kernel.queue(LOCK, 0x100, task(3), 0)
        self.kernel.queue(LOCK, 0x200, task(1), 0x100)
        self.kernel.queue(LOCK, 0x300, handler(2), 0x200)
        self.assertEqual(self.locks.waiters(LOCK, SPIN),
                         [(task(3), 1, 0), (task(1), 2, 0), (handler(2), 3, 0)])

    def test_abandoned_places_count_for_the_next_waiter(self):
        self.kernel.queue(LOCK, 0x100, task(0), 0)
        self.kernel.abandon(LOCK, 0x200, task(1), 0x100)
        self.kernel.abandon(LOCK, 0x300, handler(1), 0x200)
        self.kernel.queue(LOCK, 0x400, task(2), 0x300)
        self.kernel.queue(LOCK, 0x500, task(3), 0x400)
        self.assertEqual(self.locks.waiters(LOCK, SPIN),
                         [(task(0), 1, 0), (task(2), 2, 2), (task(3), 3, 0)])

    def test_waiters_of_another_hybrid_in_the_queue_do_not_count(self):
        self.kernel.queue(OTHER, 0x100, task(0), 0)
        self.kernel.queue(LOCK, 0x200, task(1), 0x100)
        self.assertEqual(self.locks.waiters(LOCK, SPIN), [(task(1), 1, 0)])

    def test_behind_an_unknown_predecessor_there_is_no_position(self):
        self.kernel.add_node(0x100, task(0), next=LOCK)
        self.kernel.queue(LOCK, 0x200, task(1), 0x100)
        self.assertEqual(self.locks.waiters(LOCK, SPIN), [(task(0), None, 0), (task(1), None, 0)])

    def test_a_newcomer_has_no_position_and_comes_last(self):
        self.kernel.add_wait(task(0), LOCK)
        self.kernel.queue(LOCK, 0x200, task(1), 0)
        self.assertEqual(self.locks.waiters(LOCK, SPIN), [(task(1), 1, 0), (task(0), None, 0)])

    def test_a_nested_attempt_has_a_node_and_no_known_predecessor(self):
        self.kernel.queue(LOCK, 0x100, task(0), 0)
        self.kernel.add_node(0x200, task(0), next=LOCK, nested=True)
        self.kernel.tails[LOCK] = [0x200]
        self.assertEqual(self.locks.waiters(LOCK, SPIN), [(task(0), None, 0)])

    def test_a_nested_node_is_not_behind_what_the_outer_attempt_waits_behind(self):
        self.kernel.hold(OTHER, task(1), CLH, 0x100)
        self.kernel.queue(OTHER, 0x200, task(0), 0x100, CLH)
        self.kernel.add_node(0x300, task(0), nested=True)
        self.kernel.tails[LOCK] = [0x300]
        self.assertEqual(self.locks.waiters(LOCK, CLH), [(task(0), None, 0)])

    def test_those_of_queue_locks_are_behind_the_holder(self):
        for kind, states in ((CLH, [None]), (MCS, [locks.LEAVING, locks.TRANSIENT]),
                             (SWAP, [locks.LEAVING])):
            for state in states:
                self.kernel = Kernel()
                self.kernel.hold(LOCK, task(0), kind, 0x100)
                self.kernel.queue(LOCK, 0x200, task(1), 0x100, kind)
                self.kernel.abandon(LOCK, 0x300, task(2), 0x200, kind, state)
                self.kernel.queue(LOCK, 0x400, task(3), 0x300, kind)
                self.assertEqual(self.locks.waiters(LOCK, kind),
                                 [(task(1), 1, 0), (task(3), 2, 1)], kind)

    def test_a_known_successor_is_no_state_of_a_node(self):
        self.kernel.hold(LOCK, task(0), MCS, 0x100)
        self.kernel.queue(LOCK, 0x200, task(1), 0x100, MCS)
        self.kernel.add_node(0x100, task(0), lock=LOCK, next=0x200)
        self.assertEqual(self.locks.waiters(LOCK, MCS), [(task(1), 1, 0)])

    def test_the_first_behind_a_lock_at_rest_is_the_next_holder(self):
        self.kernel.add_node(0x100, task(0), prev=locks.AVAILABLE)
        self.kernel.queue(LOCK, 0x200, task(1), 0x100, CLH)
        self.assertIsNone(self.locks.holder(LOCK, False))
        self.assertEqual(self.locks.waiters(LOCK, CLH), [(task(1), 1, 0)])

    def test_a_queue_that_leads_back_is_overwritten(self):
        self.kernel.abandon(LOCK, 0x100, task(0), 0x200)
        self.kernel.abandon(LOCK, 0x200, task(1), 0x100)
        self.expect_error("begins again", self.locks.waiters, LOCK, SPIN)

    def test_a_tail_that_is_no_pointer_is_overwritten(self):
        self.kernel.tails[LOCK] = [locks.TRANSIENT]
        self.expect_error("its tail is 0x3", self.locks.waiters, LOCK, CLH)

    def test_a_pointer_to_no_node_is_an_error(self):
        self.kernel.abandon(LOCK, 0x100, task(0), 0xbad)
        self.expect_error("0xbad", self.locks.waiters, LOCK, SPIN)


class Deadlocks(LocksTest):
    def cycles(self):
        return [[wait.context for wait in cycle] for cycle in self.locks.deadlocks()]

    def cross(self, *cpus, first=LOCK):
        """Each holds a lock and waits for that of the next."""
        for number, cpu in enumerate(cpus):
            self.kernel.hold(first + number, task(cpu))
            self.kernel.add_wait(task(cpu), first + (number + 1) % len(cpus))

    def test_two_that_wait_for_each_other(self):
        self.cross(3, 1)
        self.assertEqual(self.cycles(), [[task(1), task(3)]])

    def test_a_cycle_of_three_in_the_order_in_which_they_wait(self):
        self.cross(0, 2, 1)
        self.assertEqual(self.cycles(), [[task(0), task(2), task(1)]])

    def test_an_interrupt_above_the_holder(self):
        self.kernel.hold(LOCK, task(1))
        self.kernel.add_wait(handler(1), LOCK)
        self.assertEqual(self.cycles(), [[handler(1)]])

    def test_the_stack_tells_what_has_published_nothing(self):
        self.kernel.hold(LOCK, task(1))
        self.kernel.stacks[1] = locks.Wait(handler(1), LOCK, True)
        self.assertEqual(self.cycles(), [[handler(1)]])

    def test_a_holder_above_its_waiter_goes_on(self):
        self.kernel.hold(LOCK, handler(1))
        self.kernel.add_wait(task(1), LOCK)
        self.assertEqual(self.cycles(), [])

    def test_a_holder_that_runs_is_in_none(self):
        self.kernel.hold(LOCK, task(0))
        self.kernel.hold(OTHER, task(1))
        self.kernel.add_wait(task(1), LOCK)
        self.kernel.add_wait(task(2), OTHER)
        self.assertEqual(self.cycles(), [])

    def test_a_free_lock_is_in_none(self):
        self.kernel.hold(LOCK, task(0))
        self.kernel.add_wait(task(0), OTHER)
        self.kernel.add_wait(task(1), LOCK)
        self.assertEqual(self.cycles(), [])

    def test_an_interrupt_that_waits_above_the_holder_closes_a_cycle(self):
        self.kernel.hold(LOCK, task(0))
        self.kernel.hold(OTHER, task(1))
        self.kernel.add_wait(task(1), LOCK)
        self.kernel.add_wait(handler(0), OTHER)
        self.assertEqual(self.cycles(), [[handler(0), task(1)]])

    def test_of_two_waits_of_a_cpu_only_the_upper_one_closes_a_cycle(self):
        self.kernel.hold(LOCK, task(0))
        self.kernel.hold(OTHER, task(1))
        self.kernel.hold(THIRD, task(3))
        self.kernel.add_wait(task(1), LOCK)
        self.kernel.add_wait(task(0), THIRD)
        self.assertEqual(self.cycles(), [])
        self.kernel.add_wait(handler(0), OTHER)
        self.assertEqual(self.cycles(), [[handler(0), task(1)]])

    def test_one_that_waits_below_the_holder_closes_none(self):
        self.kernel.hold(LOCK, handler(0))
        self.kernel.hold(OTHER, task(1))
        self.kernel.add_wait(task(1), LOCK)
        self.kernel.add_wait(task(0), OTHER)
        self.assertEqual(self.cycles(), [])

    def test_a_waiter_outside_the_cycle_is_not_in_it(self):
        self.cross(1, 2)
        self.kernel.hold(THIRD, task(0))
        self.kernel.add_wait(task(0), LOCK)
        self.assertEqual(self.cycles(), [[task(1), task(2)]])

    def test_two_cycles(self):
        self.cross(0, 1)
        self.cross(2, 3, first=OTHER)
        self.assertEqual(self.cycles(), [[task(0), task(1)], [task(2), task(3)]])

    def test_waiters_of_queue_locks_depend_on_their_predecessors(self):
        self.kernel.hold(LOCK, task(0), CLH, 0x100)
        self.kernel.queue(LOCK, 0x200, task(1), 0x100, CLH)
        self.kernel.queue(OTHER, 0x300, task(0), 0x200, CLH)
        self.assertEqual(self.cycles(), [[task(0), task(1)]])

    def test_a_predecessor_that_is_done_or_nested_is_in_none(self):
        for fields, is_over in (({"nested": True}, False), ({}, True)):
            self.kernel = Kernel()
            self.kernel.hold(LOCK, task(0), CLH, 0x100)
            self.kernel.add_node(0x100, task(0), **fields)
            self.kernel.first_held = {}
            self.kernel.add_wait(task(1), LOCK, False, pred=0x100, is_over=is_over)
            self.kernel.add_node(0x200, task(1))
            self.kernel.add_wait(task(0), OTHER, False, pred=0x200)
            self.assertEqual(self.cycles(), [], fields)


class Uses(LocksTest):
    def test_each_context_has_what_it_holds_and_waits_for(self):
        self.kernel.hold(LOCK, task(0), MCS, 0x100)
        self.kernel.hold(OTHER, task(1))
        self.kernel.queue(LOCK, 0x200, task(1), 0x100, MCS)
        self.kernel.add_wait(handler(0), OTHER)
        self.assertEqual(self.locks.uses(), [
            (task(0), True, LOCK, MCS), (handler(0), False, OTHER, SPIN),
            (task(1), True, OTHER, SPIN), (task(1), False, LOCK, MCS)])

    def test_of_a_queue_lock_without_a_holder_the_type_is_not_known(self):
        self.kernel.add_wait(task(1), LOCK, False)
        self.assertEqual(self.locks.uses(), [(task(1), False, LOCK, locks.QUEUE)])


class Times(LocksTest):
    def times(self, **fields):
        return locks.times(locks.Wait(task(0), LOCK, True, **fields), 5 * SECOND)

    def test_the_place_or_the_trace_knows_since_when(self):
        self.assertEqual(self.times(place=locks.Place(1, 0, 2 * SECOND)), (3 * SECOND, None))
        self.assertEqual(self.times(began=4 * SECOND), (SECOND, None))
        self.assertEqual(self.times(), (None, None))

    def test_a_deadline_leaves_a_patience_and_one_that_is_over_less_than_none(self):
        self.assertEqual(self.times(at=7 * SECOND)[1], 2 * SECOND)
        self.assertEqual(self.times(at=4 * SECOND)[1], -SECOND)

    def test_before_the_first_clock_read_all_is_left(self):
        self.assertEqual(self.times(at=7 * SECOND, relative=True)[1], 7 * SECOND)

    def test_now_is_the_latest_time_that_any_has_read(self):
        self.kernel.time = 2
        self.assertEqual(self.locks.now, 2)
        self.kernel.add_wait(task(0), LOCK, now=3)
        self.assertEqual(self.locks.now, 3)


class Source(unittest.TestCase):
    def text(self, name):
        return (PROJECT / "nbqlock" / name).read_text()

    def number(self, name, file):
        return int(re.search(rf"#define {name}\s+(?:\(\(\S+ \S+ \*\))?(\d+)", self.text(file))[1])

    def test_the_numbers_are_those_of_the_kernel(self):
        self.assertEqual(self.number("NBQ_CONTEXT_CPU_BITS", "bare_spin_types.h"),
                         locks.CONTEXT_CPU_BITS)
        self.assertEqual(self.number("MOST_HELD", "node.c"), locks.MOST_HELD)
        for name in ("AVAILABLE", "LEAVING", "TRANSIENT", "RECYCLED"):
            self.assertEqual(self.number(f"NBQ_{name}", "internal.h"), getattr(locks, name))

    def test_the_types_and_levels_are_in_the_order_of_the_kernel(self):
        types = re.findall(r"^\tNBQ_TYPE_(\w+),", self.text("internal.h"), re.MULTILINE)
        self.assertEqual([f"nbq_{name.lower()}" for name in types], list(locks.TYPES))
        levels = re.search(r"levels\[NBQ_LEVELS\] = \{(.*)\}", self.text("report.c"))[1]
        self.assertEqual(re.findall(r'"(\w+)"', levels), list(locks.LEVELS))

    def test_the_hash_is_that_of_the_kernel(self):
        # hash_64(): the upper bits of a product of 64 bits.
        self.assertEqual(locks.hash_of(1, 6, 64), 0x61C8864680B583EB >> 58)
        self.assertEqual(locks.hash_of(0xffffffffc02d2520, 6, 64),
                         0xffffffffc02d2520 * 0x61C8864680B583EB % 2**64 >> 58)
        self.assertEqual(locks.hash_of(3, 6, 32), 3 * 0x61C88647 % 2**32 >> 26)

    def test_the_second_queue_is_the_next_one_of_the_table(self):
        lock = next(lock for lock in range(1000) if locks.hash_of(lock, 6, 64) == 63)
        self.assertEqual(locks.queues_of(lock, 6, 64), (63, 0))
        self.assertEqual(locks.queues_of(0, 6, 64), (0, 1))


if __name__ == "__main__":
    unittest.main()
