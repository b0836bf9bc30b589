# SPDX-License-Identifier: GPL-2.0
"""nbq_arena_lock in a kernel: BPF programs that time out, in each place of its queue."""

from arena.runs import all_parts, run_all
from ci.common import RQSPINLOCK, Case, clean_guest
from ci.kernel_table import runs_on

# Of what a busy machine may keep from coming up: a CPU that has no core for 250 ms times out.
STARTS = 3


@runs_on(RQSPINLOCK, "locks in BPF arenas")
def arena():
    """BPF programs on nbq_arena_lock and on libarena's lock, x86-64 in QEMU"""
    parts = all_parts()
    outcomes = []
    for _ in range(STARTS):
        failed = [part for part in parts if part.complaint]
        if outcomes and not failed:
            break
        outcomes.append(run_all(RQSPINLOCK.machine(), failed))
    for part in parts:
        yield Case(f"arena: {part.name}", not part.complaint,
                   f"{part.complaint}\n{part.output[-3000:]}\n{part.log[-2000:]}")
    yield clean_guest("arena", *outcomes)
