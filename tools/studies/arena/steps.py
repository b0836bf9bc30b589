# SPDX-License-Identifier: GPL-2.0
"""nbq_arena_lock in a kernel: BPF programs that time out, in each place of its queue."""

from base.case import LOAD, ONLY_ALL, Case, On, runs_on, step
from guest.cases import DEBIAN_6_12, DEBIAN_NEWEST, RQSPINLOCK, clean_guest
from studies.arena.build import OURS, release_off_x86
from studies.arena.runs import all_parts, run_all

# Of what a busy machine may keep from coming up: a CPU that has no core for 250 ms times out.
STARTS = 3


def cases(name, testbed, parts):
    outcomes = []
    for _ in range(STARTS):
        failed = [part for part in parts if part.complaint]
        if outcomes and not failed:
            break
        outcomes.append(run_all(testbed.machine(), failed, RQSPINLOCK.find()))
    for part in parts:
        yield Case(f"{name}: {part.name}", not part.complaint,
                   f"{part.complaint}\n{part.output[-3000:]}\n{part.log[-2000:]}")
    yield clean_guest(name, *outcomes)


@step("arena", ONLY_ALL, LOAD)
@runs_on(RQSPINLOCK, "locks in BPF arenas")
def arena():
    """BPF programs on nbq_arena_lock and on libarena's lock, x86-64 in QEMU; ours on Debian's"""
    yield from cases("arena", RQSPINLOCK, all_parts())
    text = release_off_x86(RQSPINLOCK.find())
    yield Case("arena: the release is a swap where a store would have no order",
               "xchg32_32(" in text, text)
    # It is for up to 8192 CPUs, which libarena's lock refuses.
    yield On(DEBIAN_NEWEST, "locks in BPF arenas")
    yield from cases("arena, Debian", DEBIAN_NEWEST, all_parts([OURS]))
    # Debian 13's own.
    yield On(DEBIAN_6_12, "locks in BPF arenas")
    yield from cases("arena, 6.12", DEBIAN_6_12, all_parts([OURS], has_irqsave=False))
