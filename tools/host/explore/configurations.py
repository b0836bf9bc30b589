# SPDX-License-Identifier: GPL-2.0
"""What is explored: small configurations, each with a reason.

A program has a word for each context, CPU.LEVEL:ATTEMPTS (program.h): a letter is a lock; !: its
memory becomes another lock; without a sign after it the attempt is untimed; ?: it times out at
some clock read; 0: it has no patience; @: its deadline has passed; ~: its condition comes true at
some clock read; ^: it is a takeover; in parentheses: what the holder does; x: with the lock, the
context may stop for good. A small letter is the lock that the memory has become. Of a lock that
it holds, a context asks: = is it locked, - does a trylock take it, # is it destroyed. >: a context
begins when the one named before it has enqueued, acquired or failed: where a schedule is known, so
that the states around it are few.
"""

from dataclasses import dataclass
import re

from base.lock_types import NBQ, QUEUES

QUICK, CHECK, ALL = range(3)
TYPES = (*NBQ, "spin_bare", "arena")
# What is explored of the bare layer, whose attempts resume no place.
OF_BARE_LAYER = ("two_twice", "three_once", "no_patience", "nmi_above_a_task", "deadlock",
                 "two_three_times", "nmi_above_one_of_two_waiters", "socket_twice",
                 "sockets_twice", "shared_queue_twice", "unless_twice")
# What is explored of nbq_arena_lock, which detects no deadlock but that of a CPU with itself.
OF_ARENA = ("two_twice", "three_once", "one_node_each", "no_patience", "little_patience",
            "unless_twice", "unless_among_others", "unless_in_nmi", "nmi_above_a_task",
            "nmi_without_patience", "nmi_above_one_of_two_waiters", "nmi_in_nmi",
            "nmi_in_nmi_one_node", "nmi_waits_for_another_lock", "two_three_times",
            "three_untimed", "three_twice", "two_of_three_twice", "four_once", "three_levels",
            "interrupts_twice", "untimed_around_timeouts", "untimed_behind_timeouts",
            "untimed_around_two_timeouts", "two_locks_in_turn", "interrupt_above_a_second_attempt")
OF_SOME = {"spin_bare": OF_BARE_LAYER, "arena": OF_ARENA}


@dataclass(frozen=True)
class Configuration:
    """What all contexts do, with so many nodes in each pool.

    checks: how many deadlock checks a wait may choose to make.
    types: those of the locks (program.h), where that is more than the lock type, which is the
    first of them.
    sockets: among which the CPUs are divided, with a queue each, which all locks share;
    0: each lock has its own. Of the hybrid only.
    when: in which runs. quick: the lock types for which it is in the quick run, too.
    slow: the lock types for which that takes minutes; beyond: for which it has not come to
    an end yet, or fails as a comment says.
    """
    name: str
    program: str
    pool: int = 2
    checks: int = 0
    types: str = ""
    sockets: int = 0
    when: int = CHECK
    quick: tuple = ()
    slow: tuple = ()
    beyond: tuple = ()

    def is_of(self, lock):
        if set("=-#") & set(self.program) and lock not in QUEUES:
            return False
        return not self.types or re.match(r"\w+", self.types)[0] == lock

    def is_run(self, lock, when):
        if not self.is_of(lock):
            return False
        if self.name not in OF_SOME.get(lock, (self.name,)):
            return False
        lock = lock.removesuffix("_bare")
        if (self.sockets or set("!^~") & set(self.program)) and lock not in ("spin", "arena"):
            return False
        first = ALL if lock in self.slow else QUICK if lock in self.quick else self.when
        return lock not in self.beyond and first <= when


# What memory is first, and then.
PAIRS = tuple((first, second) for first in QUEUES for second in (*QUEUES, "spin")
              if first != second)
CONFIGURATIONS = (
    # Three contexts with two attempts each, four with one: complete.
    Configuration("three_twice", "0.0:A?,A? 1.0:A?,A? 2.0:A?,A?", slow=("mcs", "spin")),
    Configuration("two_of_three_twice", "0.0:A?,A? 1.0:A?,A? 2.0:A?"),
    Configuration("four_once", "0.0:A? 1.0:A? 2.0:A? 3.0:A?", pool=1),
    Configuration("three_untimed", "0.0:A,A 1.0:A,A 2.0:A,A"),

    # Every kind of patience, and nodes that are reused at once.
    Configuration("two_twice", "0.0:A?,A? 1.0:A?,A?", when=QUICK),
    Configuration("three_once", "0.0:A? 1.0:A? 2.0:A?", pool=1, when=QUICK),
    Configuration("one_node_each", "0.0:A?,A? 1.0:A?,A?", pool=1, when=QUICK),
    Configuration("two_three_times", "0.0:A?,A?,A? 1.0:A?,A?,A?"),
    Configuration("no_patience", "0.0:A0,A0 1.0:A0 2.0:A", when=QUICK),
    Configuration("little_patience", "0.0:A0,A0 1.0:A0,A@ 2.0:A"),

    # Timeouts in front of one who waits for ever, and between two.
    Configuration("untimed_around_timeouts", "0.0:A 1.0:A? 2.0:A", when=QUICK),
    Configuration("untimed_behind_timeouts", "0.0:A? 1.0:A? 2.0:A", when=QUICK),
    Configuration("untimed_around_two_timeouts", "0.0:A 1.0:A? 2.0:A? 3.0:A", pool=1),
    Configuration("two_locks_in_turn", "0.0:A?,B? 1.0:B?,A? 2.0:A?,B?"),

    # A condition that comes true at any position, at any time; of nbq_arena_lock, the end of its
    # program's loops.
    Configuration("unless_twice", "0.0:A~,A~ 1.0:A~,A~", when=QUICK),
    Configuration("unless_among_others", "0.0:A? 1.0:A~ 2.0:A~", pool=1, when=QUICK),
    Configuration("unless_in_nmi", "0.0:A 0.3:A~ 1.0:A~", when=QUICK),
    Configuration("unless_deadlock", "0.0:A~(B~) 1.0:B~(A~)", checks=1),

    # One context above another: a waiter, a holder, an abandon, a release.
    Configuration("nmi_above_a_task", "0.0:A? 0.3:A? 1.0:A?", when=QUICK),
    Configuration("nmi_without_patience", "0.0:A? 0.3:A0 1.0:A?", when=QUICK),
    Configuration("nmi_above_one_of_two_waiters", "0.0:A? 0.3:A0 1.0:A 2.0:A?"),
    Configuration("nmi_in_nmi", "0.3:A? 0.3:A? 1.0:A", when=QUICK),
    Configuration("nmi_in_nmi_one_node", "0.3:A? 0.3:A? 1.0:A", pool=1, when=QUICK),
    Configuration("nmi_above_untimed", "0.0:A,A 0.3:A? 1.0:A?", checks=1),
    Configuration("three_levels", "0.0:A? 0.2:A? 0.3:A? 1.0:A?"),
    Configuration("interrupts_twice", "0.0:A?,A? 0.1:A?,A? 1.0:A?"),
    Configuration("nmi_in_nmi_above_a_task", "0.0:A 0.3:A? 0.3:A? 1.0:A"),
    Configuration("nmi_in_nmi_with_others", "0.0:A 1.0:A 2.3:A? 2.3:A?", pool=1,
                  slow=("spin",)),

    # An attempt that has given up is followed by another, with another node. An interrupt above
    # that finds the first one free, and must not queue behind what it has interrupted.
    Configuration("interrupt_above_a_second_attempt", "0.0:A?,A 0.3:A 1.0:A 2.0:A"),

    # The inner of two contexts of a level holds what the holder of another lock waits for. The
    # word of spin does not tell it from the outer one: -EDEADLK.
    Configuration("nmi_in_nmi_holds", "0.0:B(A?) 1.3:B? 1.3:A", checks=1, when=QUICK,
                  beyond=("spin",)),

    # Deadlocks: each that is reported is one, and each is reported.
    Configuration("deadlock", "0.0:A?(B?) 1.0:B?(A?)", checks=1, when=QUICK),
    Configuration("deadlock_untimed", "0.0:A(B) 1.0:B(A)", checks=1, when=QUICK),
    Configuration("deadlock_and_nmi", "0.0:A?(B?) 1.0:B?(A?) 0.3:A?", checks=1, slow=("spin",)),
    Configuration("deadlock_and_waiter", "0.0:A(B) 1.0:B(A?) 2.0:A?", checks=1,
                  slow=("spin",)),
    # No deadlock: what is published of a holder, or of a wait, may be stale.
    Configuration("former_deadlock", "0.1:B,B,A? 1.0:A(B?)", checks=2),
    Configuration("nmi_waits_for_another_lock", "0.0:A? 0.3:B? 1.0:A(B)", checks=1, when=QUICK),
    Configuration("nmis_above_holders", "0.0:A 0.3:B? 1.0:B 1.3:A?", checks=1),
    Configuration("interrupt_untimed", "0.0:A 0.1:A 1.0:A?", checks=1, when=QUICK),

    # Queues of sockets: turns, locks that share a queue.
    Configuration("socket_twice", "0.0:A?,A? 1.0:A?,A?", sockets=1, when=QUICK),
    Configuration("socket_once", "0.0:A? 1.0:A? 2.0:A?", pool=1, sockets=1),
    Configuration("sockets_twice", "0.0:A?,A? 1.0:A?,A?", sockets=2, when=QUICK),
    Configuration("sockets_once", "0.0:A? 1.0:A? 2.0:A?", pool=1, sockets=2),
    Configuration("sockets_untimed", "0.0:A 1.0:A 2.0:A", sockets=2),
    Configuration("shared_queue", "0.0:A? 1.0:B? 2.0:A?", pool=1, sockets=1),
    Configuration("shared_queue_twice", "0.0:A?,B? 1.0:B?,A?", sockets=1, when=QUICK),
    Configuration("shared_queue_deadlock", "0.0:A?(B?) 1.0:B?(A?)", checks=1, sockets=1),
    Configuration("shared_queues", "0.0:A?,B? 1.0:B?,A?", sockets=2),
    Configuration("sockets_and_nmi", "0.0:A? 0.3:B? 1.0:A?", sockets=2),
    Configuration("sockets_and_nmi_of_one_lock", "0.0:A? 0.3:A? 1.0:A?", sockets=2),

    # A node that is in the queue of a held lock, of another one, and of the first one again.
    Configuration("tail_in_another_queue", "0.0:A(A=) 1.0:A?,B,A? 2.0:B?", quick=("clh",)),
    Configuration("tail_in_another_queue_trylock", "0.0:A(A-) 1.0:A?,B,A? 2.0:B?"),
    Configuration("tail_in_another_queue_destroy", "0.0:A(A#) 1.0:A?,B,A? 2.0:B?", quick=("clh",)),
    Configuration("skipped_in_another_queue", "0.0:A(A=) 1.0:A?,B,A? 2.0:A?,B",
                  slow=("mcs", "swap")),
    Configuration("skipped_in_another_queue_trylock", "0.0:A(A-) 1.0:A?,B,A? 2.0:A?,B",
                  slow=("mcs", "swap")),

    # An interrupt resumes a place in front of a waiter of its CPU. No deadlock: the context between
    # the two has enqueued. A deadlock, of two interrupts above waiters, one of which has a place in
    # front of its waiter.
    Configuration("nmi_resumes_above_a_waiter", "0.0:A >1.3:A? >2.0:A >1.0:A >1.3:A", pool=1,
                  slow=("mcs",)),
    Configuration("nmis_above_waiters_of_one_lock", "1.0:A >2.3:A? >2.0:A >2.3:A >1.3:A", pool=1,
                  checks=1, beyond=("spin",)),

    # Memory that becomes a lock of another type, at which no place is resumed: of a lock that was
    # destroyed before all have left their release; and of a hybrid.
    *(Configuration(f"destroyed_place_{first}_{second}", "0.0:A >1.0:A?,a? >2.0:A", pool=1,
                    when=QUICK, types=f"{first}>{second}")
      for first, second in PAIRS),
    *(Configuration(f"hybrid_place_{second}", "0.0:A >3.0:A,a >1.0:A?,a >2.0:A?", pool=1,
                    types=f"spin>{second}")
      for second in QUEUES),

    # A CPU without a node takes those back that it has left at a lock at rest: while others use that,
    # or destroy it.
    Configuration("at_rest", "0.0:A >1.0:A?,B? 2.0:A?", pool=1, when=QUICK),
    Configuration("at_rest_by_two", "0.0:A >1.0:A?,B? >2.0:A?,B?", pool=1, quick=("clh", "mcs")),
    Configuration("at_rest_after_a_release", "0.0:A,B 1.0:A? 2.0:A?", pool=1, when=QUICK),
    Configuration("at_rest_below_an_nmi", "0.0:A >1.0:A?,B? 1.3:A?", pool=1, when=QUICK),
    *(Configuration(f"at_rest_destroyed_{first}_{second}", "0.0:A >1.0:A?,B? >2.0:A?,a?", pool=1,
                    types=f"{first}>{second},{first}")
      for first, second in PAIRS),

    # Memory that becomes another lock, of which places are resumed.
    Configuration("becomes_another_lock", "0.0:A?!,A? 1.0:A?!,A?", when=QUICK),
    Configuration("becomes_another_lock_in_a_shared_queue", "0.0:A?!,A? 1.0:B,A? 2.0:A?", pool=1,
                  sockets=1),
    Configuration("becomes_another_lock_on_sockets", "0.0:A?!,A? 1.0:A?! 2.0:A?", pool=1,
                  sockets=2),

    # A holder that never runs again, from its acquisition to its release, with or without its place
    # in the queue. Its waiters may never run again, either.
    Configuration("takeover", "0.0:Ax 1.0:A^ 2.0:A?", when=QUICK),
    Configuration("takeover_by_two", "0.0:Ax 1.0:A^ 2.0:A^", when=QUICK),
    Configuration("takeover_after_a_timeout", "0.0:Ax 1.0:A?,A^ 2.0:A?"),
    Configuration("takeover_before_untimed_waiters", "0.0:Ax 1.0:A^ 2.0:A 3.0:A", pool=1),
    Configuration("takeover_above_the_holder", "0.0:Ax 0.3:A^ 1.0:A?", when=QUICK),
    Configuration("takeover_above_the_holder_at_its_level", "0.3:Ax 0.3:A^ 0.3:A^ 1.0:A?",
                  when=QUICK),
    Configuration("takeover_and_acquisition", "0.0:Ax 1.0:A^,A? 2.0:A?"),
    Configuration("takeover_on_sockets", "0.0:Ax 1.0:A^ 2.0:A?", sockets=2),

    # More of the same, where it takes long.
    Configuration("nmi_twice", "0.0:A?,A? 0.3:A?,A? 1.0:A?,A?", when=ALL),
    # The nodes of a CPU's pool are reused while an abandon is interrupted.
    Configuration("nmi_in_nmi_and_retry", "0.0:A,A? 1.0:A 2.3:A? 2.3:A?", pool=1, when=ALL,
                  beyond=("spin",)),
    # The outer one of a level resumes a place while the inner one uses its node.
    Configuration("nmi_in_nmi_resumes", "0.0:A,A,A 1.3:A?,A 1.3:A?", when=ALL),
    Configuration("nmis_on_two_cpus", "0.0:A? 0.3:A? 1.0:A? 1.3:A?", when=ALL),
    Configuration("one_of_four_twice", "0.0:A?,A? 1.0:A? 2.0:A? 3.0:A?", when=ALL,
                  beyond=("spin",)),
)
