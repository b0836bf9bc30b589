# SPDX-License-Identifier: GPL-2.0
"""The harness itself: that it sees what goes wrong."""

from bed.guest import DIED, HUNG, complaints, run_guest
from steps.common import USER_MODE, Case, commanded, guest_report, machine
from steps.kernel_table import runs_on


@runs_on(USER_MODE, "guests")
def guest():
    """the guest runner itself: statuses, hangs, panics, complaints"""
    yield commanded("guest: the command's status comes back", "exit 7", 7)
    outcome = run_guest(machine(), "echo nbq-0 exit 0; sleep 1000", timeout=10,
                        quiet=True)
    yield Case("guest: a hang is killed and reported, whatever the output says",
               outcome.status == HUNG and "hung" in (outcome.problem or "")
               and outcome.output == "nbq-0 exit 0\n", guest_report(outcome))
    outcome = run_guest(machine(), "echo c >/proc/sysrq-trigger; sleep 9",
                        timeout=30, quiet=True)
    yield Case("guest: a panic is reported",
               outcome.status == DIED and "panicked" in (outcome.problem or ""),
               guest_report(outcome))
    outcome = run_guest(machine(), "echo 'WARNING: planted' >/dev/kmsg", quiet=True)
    yield Case("guest: a complaint in the kernel log is seen",
               outcome.status == 0 and len(outcome.complaints) == 1,
               guest_report(outcome))
    left = [line for line in ("WARNING: possible circular locking dependency",
                              "BUG: sleeping function called from invalid context",
                              "BUG: KCSAN: data-race", "INFO: rcu_sched stall",
                              "inconsistent lock state") if not complaints(line)]
    yield Case("guest: detectors' words are known", not left, "\n".join(left))
