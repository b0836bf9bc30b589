# SPDX-License-Identifier: GPL-2.0
"""The drgn helpers, on dumps of guests whose CPUs hang in locks on purpose."""

import os
from pathlib import Path
import tempfile

from base.case import LOAD, MORE, Case, On, claim_cases, extent, once, runs_on, step
from base.testbeds import DEBIAN
from guest.cases import DEBIAN_6_12, DEBIAN_OLDEST
from guest.hybrid import CHANGES, HYBRID, QEMU, recipe_of
from guest.kernel_copy import built_copy
from guest.kernel_table import TestBed
from measure.holders.debugger import Drgn, debian_vmlinux
from measure.holders.dump import OF_KERNEL, Hang

KINDS = ("spin", "clh", "mcs", "swap")
NS = 10**9
# In the dump, virtual addresses: without them drgn of Debian 12 cannot read it.
PAGES = "-p"
# Percent of the vmcore that are left.
CUTS = (90, 30, 1)
HOLDERS = [1, 5, 6, 7, 8, 9, 10, 11, 12]	# of the locks of nbq_hang.c, in their order
IDLE = 11			# whose holder sleeps
WANTED = 7			# so many of them are waited for
CYCLES = [[(5, 2), (6, 1)], [(7, 4), (8, 5), (9, 3)]]	# (CPU, the lock that it waits for)
OWN = [[(10, 6)]]
# The kernel and its debug information, which the next build in the same folder changes.
VMLINUX = "vmlinux"
HYBRID_KERNEL = TestBed("spinlocks are the hybrid, debug information", once(
    lambda: built_copy(recipe_of(HYBRID, QEMU, more=("dump",)), *CHANGES, modules=[VMLINUX])))

# What is said where facts.py has overwritten memory: of each lock, of hybrids, of queue locks.
ERRORS = {"a node of no pool": "names no pool", "a node of no memory": "the queue node 0xdead",
          "an index out of range": "index 9999", "a queue that leads back": "begins again",
          "a waiter of no memory": "cannot read what CPU 4 (task) waits for",
          "a waiter that is none": "what CPU 4 (task) waits for is overwritten"}
OF_HYBRIDS = {"a word of ones": "it says that CPU 16382 holds it",
              "a tail of no context": "names CPU 16382", "a tail of no index": "names node 65535"}
OF_QUEUES = {"a tail of no memory": "the queue node 0xdead",
             "a tail that is no node": "names no pool", "a tail that is a state": "tail is 0x2",
             "a list that leads back": "list of locks that CPU 1 (task) holds is overwritten"}


def is_error(text, word=""):
    """Is it one line of ours?"""
    return text.startswith("nbqlock: ") and text.count("\n") == 1 and word in text


def pairs(cycle):
    return [(use[0], use[4]) for use in cycle]


def first_lock_claims(facts):
    """Of the lock whose holder spins: CPU 2 waits, CPU 3 has given up, CPU 4 has stopped."""
    waiters = {waiter["cpu"]: waiter for waiter in facts["waiters"][0]}
    yield "CPU 2 and 4 wait for it, in that order", \
        [(waiter["cpu"], waiter["position"]) for waiter in facts["waiters"][0]] == [(2, 1), (4, 2)]
    if set(waiters) != {2, 4}:
        return
    yield "the waiters' tasks and levels", \
        all((waiter["task"], waiter["level"]) == (f"nbq_hang/{cpu}", "task")
            for cpu, waiter in waiters.items())
    yield "a place is abandoned in front of CPU 4, none in front of CPU 2", \
        (waiters[2]["abandoned"], waiters[4]["abandoned"]) == (0, 1)
    yield "CPU 2 waits without end, CPU 4 has less than an hour left", \
        waiters[2]["patience_ns"] is None and 0 < (waiters[4]["patience_ns"] or 0) < 3600 * NS
    yield "both have polled", waiters[2]["polls"] and waiters[4]["polls"]


def claims(kind, facts, all_waits):
    """(what is claimed, whether it holds). all_waits: also of what has published nothing."""
    is_hybrid = kind in ("spin", OF_KERNEL)
    name = "nbq_spin" if is_hybrid else f"nbq_{kind}"
    yield "each lock has its holder", facts["holders"] == [
        [cpu, "task", f"{'swapper' if cpu == IDLE else 'nbq_hang'}/{cpu}"] for cpu in HOLDERS]
    yield "of a holder that sleeps it is said, and of no other", \
        "the holder sleeps" in facts["slept"] and "the holder sleeps" not in facts["text"]
    yield "a pointer to a lock is as good", facts["by pointer"] == facts["holders"][0]
    yield from first_lock_claims(facts)
    if is_hybrid:
        waited = [waiter["waited_ns"] for waiter in facts["waiters"][0]]
        yield "CPU 2 has waited for longer than CPU 4", \
            None not in waited and waited[0] > waited[1] > 0
    yield "the text names the holder and the abandoned place", \
        "held by CPU 1 (task), nbq_hang/1 [" in facts["text"] and \
        "left, 1 abandoned\n" in facts["text"]
    yield "what is no lock is none", is_error(facts["no lock"], "is no lock of nbqlock")
    yield "a spinlock is one of nbqlock where the kernel's are", \
        is_error(facts["no spinlock"], "is no lock of nbqlock" if kind == OF_KERNEL else
                 "are not those of nbqlock")
    yield "another lock is no spinlock", is_error(facts["another lock"], "is no lock of nbqlock")
    for what, word in {**ERRORS, **(OF_HYBRIDS if is_hybrid else OF_QUEUES)}.items():
        yield f"{what}: one error", is_error(facts["errors"].get(what, ""), word)
    if not all_waits:
        return
    wanted = {(pair[0], pair[1]) for cycle in CYCLES + OWN for pair in cycle} | {(2, 0), (4, 0)}
    yield "each CPU holds and waits for what it does", \
        {(use[0], use[4]) for use in facts["uses"] if use[2]} == \
        set(list(zip(HOLDERS, range(len(HOLDERS))))[:WANTED if is_hybrid else None]) and \
        {(use[0], use[4]) for use in facts["uses"] if not use[2]} == wanted
    yield "the locks have their type", {use[3] for use in facts["uses"]} == {name}
    yield "AB-BA, the cycle of three and the interrupt, and no other deadlock", \
        [pairs(cycle) for cycle in facts["deadlocks"]] == CYCLES + OWN
    yield "the interrupt waits above its holder", \
        [use[1] for use in facts["uses"] if use[0] == 10] == ["task", "hardirq"]
    yield "the text names each deadlock", facts["all text"].count("\ndeadlock: ") == 3


def cut_case(name, said):
    last = said.rstrip().rpartition("\n")[2]
    return Case(f"{name}: one error", is_error(f"{last}\n") and "Traceback" not in said, said)


def dump_cases(name, hang, vmlinux, releases, all_waits, is_cut=False):
    """releases: of Debian, by whose drgn; all_waits: those to which claims() is to hold whole."""
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        folder = Path(folder)
        hang.dump(folder)
        drgns = {release: Drgn(release) for release in releases}
        for release, drgn in drgns.items():
            facts = drgn.facts(folder, vmlinux, hang.kind)
            yield from claim_cases(f"{name}, drgn of Debian {release}", (
                (claim, bool(holds), f"{facts}")
                for claim, holds in claims(hang.kind, facts, release in all_waits)))
        size = (folder / "vmcore").stat().st_size
        for percent in CUTS if is_cut else ():
            os.truncate(folder / "vmcore", size * percent // 100)
            for release, drgn in drgns.items():
                yield cut_case(f"{name}, drgn of Debian {release}: {percent} % of the dump",
                               drgn.run(folder, vmlinux, "cut"))


def debian_cases(testbed, series, kind, checks, releases, all_waits, is_cut=False):
    kernel = testbed.find()
    name = f"holders: {series}, {kind}{'' if checks else ', no deadlock checks'}"
    hang = Hang(kernel, kind, checks, PAGES if "12" in releases else "")
    yield from dump_cases(name, hang, debian_vmlinux(series, kernel), releases, all_waits, is_cut)


# By drgn of Debian 12 a dump of QEMU's has no stacks, by which waits are known that have published
# nothing: where deadlock checks end waits, and they are made again. By that of Debian 13 a kernel
# as new as that on the hybrid has none.
@step("holders", MORE, LOAD)
@runs_on(DEBIAN_OLDEST, "dump")
def holders():
    """the drgn helpers name holders, waiters and deadlocks in the dump of a guest that hangs"""
    yield from debian_cases(DEBIAN_OLDEST, DEBIAN[-1], "spin", True, ("12", "13"), ("13",),
                            is_cut=True)
    if not extent.is_long:
        return
    for kind in KINDS:
        yield from debian_cases(DEBIAN_OLDEST, DEBIAN[-1], kind, False, ("12", "13"), ("12", "13"))
    yield On(DEBIAN_6_12, "dump")
    for kind in KINDS:
        yield from debian_cases(DEBIAN_6_12, DEBIAN[0], kind, True, ("13",), ("13",))
    yield On(HYBRID_KERNEL, "dump")
    kernel = HYBRID_KERNEL.find()
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        vmlinux = Path(folder) / VMLINUX
        vmlinux.write_bytes(kernel.modules[VMLINUX])
        yield from dump_cases("holders: spinlocks of a kernel on the hybrid",
                              Hang(kernel, OF_KERNEL, True), vmlinux, ("13",), ())
