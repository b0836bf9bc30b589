# SPDX-License-Identifier: GPL-2.0
"""The virtio console with an nbq_spin: what its interrupts do while the device stalls."""

from base.case import LOAD, ONLY_ALL, Case, once, runs_on, step
from guest.cases import clean_guest
from guest.kernel_table import TestBed
from studies.console.stall import INPUTS, SIDES, OrderRun, kernel_of

CONSOLE = TestBed("user-mode, console", once(lambda: kernel_of("nbqlock")))
STALLS = 5
# Of a stall in which the CPU comes back: only ends what hangs. Without nbqlock it cannot come
# back, however long the stall takes.
HANG_SECONDS, STALL_SECONDS = 120, 1


@step("console", ONLY_ALL, LOAD)
@runs_on(CONSOLE, "stalled console")
def stalled_console():
    """the virtio console with an nbq_spin: its interrupts return while its device stalls"""
    ours = OrderRun(STALLS, HANG_SECONDS).make(CONSOLE.find())
    own = OrderRun(1, STALL_SECONDS).make(kernel_of(SIDES[0]))
    for side, run in zip(SIDES, (own, ours)):
        yield Case(f"{side}: no line is lost, in or out", not run.complaint,
                   f"{run.complaint}\n{run.outcome.output}")
        yield clean_guest(side, run.outcome)
    yield Case("nbqlock: in each stall the interrupted CPU handles all inputs",
               ours.handled == [INPUTS] * STALLS, str(ours.handled))
    yield Case("nbqlock: each of these handlers has timed out",
               ours.timeouts >= STALLS * INPUTS, f"{ours.timeouts} timeouts")
    yield Case("stock: the interrupted CPU does not come back in the stall",
               len(own.handled) == 1 and own.handled[0] < INPUTS, str(own.handled))
