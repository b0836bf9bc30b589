# SPDX-License-Identifier: GPL-2.0
"""What GenMC runs: small configurations, and the weakenings that it must notice.

What a thread does is a list: L lock, X lock with a patience that is over at the first poll in
vain, T trylock; LB, XB, TB of a second lock; U unlock what main has locked before the threads
began; K take that over from main; Q ask whether the lock is held, which it is; S(n), A(n) signal n,
and wait for it; D the lock's memory is something else for a while, and then another lock. F counts
itself out under the lock, E by an ordered counter, ER by a relaxed one: the last thread does D.
"""

from dataclasses import dataclass

from base.common import Failure
from base.lock_types import NBQ, QUEUES
from host.mutate.mutant import Mutant, all_mutants

ARENA = "arena"		# nbq_arena_lock
TYPES = (*NBQ, ARENA)
MODELS = ("rc11", "lkmm")
NOBODY, FIRST, ALL = range(3)
# Events of events_list.h
RESUMED = "nodes_resumed"
RECLAIMED = "nodes_reclaimed"
ABANDONED = "nodes_abandoned"
EXHAUSTED = "exhaustions"


@dataclass(frozen=True)
class Configuration:
    """threads: what each does; main: what main does meanwhile; it may have locked before.

    sockets: of the hybrid, among which the CPUs are divided; 0: all use the machine's queue.
    With two, the second thread is on another one than the first, and the third has little
    patience. limits: whose limits of the hybrid's policy are reached at once. looks: polls in
    vain, before an attempt without end waits for something new. nodes: of each CPU. seconds: of a
    core, after which one is ended that has no end worth waiting for; None: it has one. happens: an
    event (events_list.h) of some execution. wrong: why it must fail.
    """
    name: str
    threads: tuple
    locks: tuple = QUEUES
    models: tuple = MODELS
    main: str = ""
    held: bool = False
    sockets: int = 0
    limits: int = NOBODY
    looks: int = 1
    nodes: int = 3
    seconds: int = None
    happens: str = ""
    wrong: str = ""

    @property
    def program(self):
        told = [f"held{', main: ' + self.main if self.main else ''}"] if self.held else []
        told += [f"{self.sockets} socket{'s' if self.sockets > 1 else ''}"] if self.sockets else []
        told += [f"{self.nodes} node{'s' if self.nodes > 1 else ''} a CPU"] if self.nodes < 3 else []
        told += [f"limits reached: {('', 'first', 'all')[self.limits]}"] if self.limits else []
        return " | ".join(self.threads) + (f" ({'; '.join(told)})" if told else "")

    def defines(self, lock):
        given = {"LOCK": lock, "THREADS": len(self.threads), "T0": self.main,
                 "HELD": int(self.held), "SOCKETS": self.sockets, "LIMITS": self.limits,
                 "LOOKS": self.looks, "FREE_NODES": self.nodes,
                 **{f"T{n}": what for n, what in enumerate(self.threads, 1)}}
        return [f"-D{name}={value}" for name, value in given.items()] + \
            (["-DNEEDS_DESTROY"] if lock in QUEUES else []) + \
            (["-DMAY_BE_IN_USE"] if self.wrong else [])


RC11 = ("rc11",)
TWO = ("clh", "swap")
HYBRID = ("spin",)
CONFIGURATIONS = (
    # The queue locks.
    Configuration("resumed", ("X L", "L L"), happens=RESUMED),
    Configuration("resumed_and_claimed", ("X L", "L L"), models=RC11, looks=2, happens=RESUMED),
    # Main holds the lock, and asks; a node comes back to the queue from that of another lock.
    Configuration("in_another_queue", ("X LB X", "LB"), ("clh",), RC11, main="Q", held=True,
                  happens=RECLAIMED),
    Configuration("resumed_by_both", ("X X", "X X"), models=RC11, happens=RESUMED),
    Configuration("resumed_without_patience", ("X T", "L X"), happens=RESUMED),
    Configuration("two_resumed", ("X L", "X L"), TWO, happens=RESUMED),
    Configuration("three", ("L", "X", "L"), models=RC11, happens=RECLAIMED),
    Configuration("three_resumed", ("X L", "L", "L"), TWO, models=RC11, happens=RESUMED),
    # A node is taken back from the first lock, for the second one, while the first is used, or has
    # become another one.
    Configuration("at_rest", ("X LB", "L"), nodes=1, happens=EXHAUSTED),
    Configuration("at_rest_destroyed", ("X S(0) LB", "L A(0) D L"), TWO, nodes=1,
                  happens=EXHAUSTED),
    Configuration("two_locks", ("X LB L", "L LB L"), TWO, RC11, happens=RESUMED),
    Configuration("destroyed", ("X L E", "L X E"), happens=RESUMED),
    Configuration("destroyed_by_last_holder", ("X F", "X F"), TWO, happens=RESUMED),
    Configuration("reused", ("X S(0) A(1) X L", "L X A(0) D S(1) L"), TWO, happens=RECLAIMED),
    Configuration("counted_out_in_no_order", ("X L ER", "L X ER"), ("clh",), models=RC11,
                  wrong="a caller that does not order its uses of the lock before destroy"),

    # The hybrid: newcomers, the queue, both.
    Configuration("newcomers", ("L L", "L L"), HYBRID),
    Configuration("newcomers_abandon", ("X L", "X L"), HYBRID),
    Configuration("three_newcomers", ("L", "L", "X"), HYBRID),
    Configuration("granted", ("X L", "L"), HYBRID, main="U", held=True),
    Configuration("granted_or_abandoned", ("X L", "X"), HYBRID, RC11, main="U", held=True),
    Configuration("places_resumed", ("X X", "X X"), HYBRID, held=True, happens=RESUMED),
    Configuration("resumed_and_granted", ("X L", "X X U"), HYBRID, RC11, held=True, sockets=1,
                  happens=RESUMED),
    Configuration("three_waiters", ("X", "L", "X"), HYBRID, RC11, main="U", held=True,
                  seconds=60),
    Configuration("limits_reached", ("X L", "X U"), HYBRID, RC11, held=True, limits=ALL),
    Configuration("limits_reached_twice", ("X L", "U L"), HYBRID, RC11, held=True, limits=ALL,
                  looks=2),
    # Main has stopped for good.
    Configuration("takeover", ("X K", "L X"), HYBRID, held=True),
    Configuration("takeover_by_two", ("K L", "K L"), HYBRID, held=True),
    # Locks that share a queue; sockets.
    Configuration("queue_of_two_locks", ("X XB X", "XB X U"), HYBRID, held=True, sockets=1,
                  happens=ABANDONED),
    Configuration("granted_to_two_locks", ("XB X L", "U LB"), HYBRID, held=True),
    Configuration("sockets", ("X L", "L"), HYBRID, RC11, main="U", held=True, sockets=2),
    Configuration("turns", ("L", "L"), HYBRID, main="U", held=True, sockets=2, limits=FIRST,
                  looks=2),
    Configuration("turns_passed", ("L", "U L"), HYBRID, RC11, main="L", held=True, sockets=2,
                  limits=FIRST, looks=3, happens="turns_passed", seconds=60),
    Configuration("turns_abandoned", ("L", "X"), HYBRID, RC11, main="U", held=True, sockets=2,
                  limits=FIRST, looks=2),
    Configuration("turns_over_at_once", ("X L", "U L"), HYBRID, RC11, held=True, sockets=2,
                  limits=ALL, looks=2),
    Configuration("sockets_and_machine", ("X L", "U", "X"), HYBRID, RC11, held=True, sockets=2),
    # BPF programs: L, X and T only.
    Configuration("in_arena", ("X L", "L L"), (ARENA,)),
    Configuration("in_arena_abandon", ("X X", "X T"), (ARENA,)),
    Configuration("in_arena_three", ("L L", "L", "X"), (ARENA,), RC11),
    # Memory that becomes another lock, without a call.
    Configuration("last_use", ("X L E", "U X E"), HYBRID, held=True),
    Configuration("last_holder", ("X F", "X F"), HYBRID),
    Configuration("last_holder_of_three", ("F", "F", "F"), HYBRID, RC11),
    Configuration("another_lock", ("X X S(0) A(1) X L", "A(0) U D S(1) L L"), HYBRID, held=True),
    Configuration("another_lock_resumed", ("X S(0) A(1) X", "X X A(0) U D S(1) X"), HYBRID,
                  held=True, happens=RESUMED),
)


@dataclass(frozen=True)
class Weakening:
    """A mistake that a rule of tools/host/mutate makes, and what must notice it.

    mistake: how its name begins, behind that of the file
    """
    mistake: str
    lock: str
    configuration: str
    model: str = "rc11"

    def mutant(self, mutants):
        found = [mutant for mutant in mutants
                 if mutant.name.partition(" ")[2].startswith(self.mistake)]
        if len(found) != 1:
            raise Failure(f"{len(found)} mistakes, not 1, are called \"{self.mistake}\"")
        return found[0]


WEAKENINGS = (
    # Each order that rc11 needs, of CLH-NB and the nodes; a place resumed in another lock's queue.
    Weakening("nbq_clh_enqueue order xchg(&lock->tail, node): xchg_acquire", "clh", "resumed"),
    Weakening("nbq_clh_enqueue order xchg(&lock->tail, node): xchg_release", "clh", "resumed"),
    Weakening("nbq_clh_enqueue store WRITE_ONCE(node->prev, NULL)", "clh", "resumed"),
    Weakening("nbq_clh_poll order", "clh", "resumed"),
    Weakening("nbq_clh_release order smp_store_release", "clh", "resumed"),
    Weakening("nbq_clh_release order smp_store_release", "clh", "resumed", "lkmm"),
    Weakening("nbq_node_try_alloc order", "swap", "at_rest_destroyed"),
    Weakening("nbq_node_free_seq order", "clh", "in_another_queue"),
    Weakening("nbq_visit_begin order", "clh", "at_rest_destroyed"),
    Weakening("nbq_visit_end order", "clh", "at_rest_destroyed"),
    Weakening("nbq_queue_take_back negate nbq_queue_is_left(node, ops)", "clh", "at_rest_destroyed"),
    # MCS-NB and swap-only: the link, and what abandons.
    Weakening("nbq_mcs_link order xchg(&pred->next, node): xchg_acquire", "mcs", "resumed"),
    Weakening("nbq_mcs_link order xchg(&pred->next, node): xchg_release", "mcs", "resumed"),
    Weakening("nbq_mcs_release order xchg(&node->next, NBQ_AVAILABLE): xchg_acquire", "mcs",
              "resumed"),
    Weakening("nbq_swap_link order xchg(&pred->next, node): xchg_acquire", "swap", "resumed"),
    Weakening("nbq_swap_link order xchg(&pred->next, node): xchg_release", "swap", "resumed"),
    Weakening("publish_abandoned order xchg(&node->next, NBQ_LEAVING): xchg_acquire", "swap",
              "resumed"),
    Weakening("nbq_swap_release order xchg(&node->next, NBQ_AVAILABLE): xchg_acquire", "swap",
              "resumed"),
    # The hybrid: the lock, and its queue.
    Weakening("nbq_bare_spin_unlock order", "spin", "newcomers"),
    Weakening("nbq_bare_spin_unlock order", "spin", "newcomers", "lkmm"),
    Weakening("nbq_spin_take order", "spin", "newcomers"),
    Weakening("__nbq_spin_take_uncontended order", "spin", "newcomers"),
    Weakening("nbq_spin_enqueue order xchg(tail, nbq_encode_tail(node)): xchg_acquire", "spin",
              "places_resumed"),
    Weakening("nbq_spin_enqueue store WRITE_ONCE(node->prev, NULL)", "spin", "places_resumed"),
    Weakening("nbq_bare_spin_takeover negate state.holder", "spin", "takeover_by_two"),
    Weakening("nbq_arena_unlock order", "arena", "in_arena"),
    Weakening("nbq_arena_unlock order", "arena", "in_arena", "lkmm"),
    Weakening("nbq_arena_take order cmpxchg(&lock->owner, 0, self): cmpxchg_release", "arena",
              "in_arena"),
)


@dataclass(frozen=True)
class Run:
    """A configuration as shipped; or with a mutant, or the claim that an event never happens."""
    lock: str
    configuration: Configuration
    model: str
    mutant: Mutant = None
    never: str = ""

    @property
    def mistake(self):
        """What must be noticed; "": nothing."""
        return self.mutant.name if self.mutant else self.configuration.wrong or \
            (f"the claim that {self.never} stays 0" if self.never else "")

    @property
    def name(self):
        return f"{self.lock}.{self.configuration.name}"

    @property
    def defines(self):
        return self.configuration.defines(self.lock) + \
            ([f"-DNEVER={self.never}"] if self.never else [])


def all_runs(shipped=False):
    """shipped: only these."""
    known = {configuration.name: configuration for configuration in CONFIGURATIONS}
    for configuration in CONFIGURATIONS:
        for lock in configuration.locks:
            yield from (Run(lock, configuration, model) for model in configuration.models)
            if configuration.happens and not shipped:
                yield Run(lock, configuration, configuration.models[0],
                          never=configuration.happens)
    mutants = [] if shipped else list(all_mutants())
    for weakening in () if shipped else WEAKENINGS:
        yield Run(weakening.lock, known[weakening.configuration], weakening.model,
                  weakening.mutant(mutants))
