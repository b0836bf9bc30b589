# SPDX-License-Identifier: GPL-2.0
"""Reports of misuse and of deadlocks: what it is, the lock, its holder, the caller."""

import re

from base.case import LOAD, Case, On, runs_on, step
from guest.cases import DEBIAN_6_12, USER_MODE, guest_report
from guest.modules import FAULTS, build_modules
from module.fault_injection import provoke

REPORT = re.compile(
    r"nbqlock: BUG: (?P<what>[^:]*): (?P<lock>\w+)(?:\+0x\w+/0x\w+)?(?: \[nbq_faults\])?"
    r"(?:, held by CPU#(?P<cpu>\d+) \((?P<level>\w+)\))?, on CPU#(?P<on>\d+) \(\w+\), "
    r"\S+/\d+, at (?P<caller>\w+)")
MOST_OF_A_KIND = 10		# in 5 s: as nbqlock/report.c


def reports_of(log):
    """[{what, lock, cpu, level, on, caller}], in their order."""
    return [match.groupdict() for match in REPORT.finditer(log)]


def is_lock(report, name):
    """By its name, where the kernel knows those of variables; else by an address."""
    return report["lock"] == name or report["lock"].startswith("0x")


def misuse_claims(found):
    not_held = [report for report in found if "not held" in report["what"]]
    others = [report for report in found if "another context" in report["what"]]
    in_use = [report for report in found if "in use" in report["what"]]
    yield ("an unlock of each of two free locks, with lock and caller",
           len({report["lock"] for report in not_held[:2]}) == 2 and
           is_lock(not_held[0], "first_lock") and is_lock(not_held[1], "second_lock") and
           all(report["caller"] == "release_what_is_not_held" and report["cpu"] is None
               for report in not_held))
    yield ("a mistake made again and again, a limited number of times",
           2 < len(not_held) <= MOST_OF_A_KIND)
    yield ("an unlock on another CPU than the holder's, with both",
           len(others) == 1 and is_lock(others[0], "third_lock") and
           others[0]["level"] == "task" and
           {others[0]["cpu"], others[0]["on"]} == {"0", "1"} and
           others[0]["caller"] == "release_from_elsewhere")
    yield ("a destroy of a lock that is held, with its holder",
           len(in_use) == 1 and in_use[0]["cpu"] == in_use[0]["on"])


def deadlock_claims(found):
    yield ("a deadlock, once, with the holder of the lock that is waited for",
           len(found) == 1 and "deadlock" in found[0]["what"] and
           is_lock(found[0], "second_lock") and found[0]["cpu"] != found[0]["on"] and
           found[0]["caller"] == "deadlock")


@step("reports", LOAD)
@runs_on(USER_MODE, "modules")
def reports():
    """reports of misuse and deadlocks in the kernel log: lock, holder, caller, rate"""
    for testbed in (USER_MODE, DEBIAN_6_12):
        yield On(testbed, "modules")
        machine = testbed.machine()
        modules = {"files": build_modules(machine.kernel, FAULTS), "load": ["nbqlock.ko"]}
        for kind, claims in (("nbq_misuse", misuse_claims), ("nbq_deadlock", deadlock_claims)):
            outcome = provoke(machine, modules, kind).outcome
            found = reports_of(outcome.log)
            for claim, holds in claims(found):
                yield Case(f"reports: {testbed.name}: {claim}", holds and outcome.ended_well,
                           f"{found}\n{guest_report(outcome)}")
