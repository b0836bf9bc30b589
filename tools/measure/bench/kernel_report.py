# SPDX-License-Identifier: GPL-2.0
"""The report's tables of whole kernels: each load by the kernel's own lock, round by round."""

from statistics import median

from base.rst import escaped, heading, paragraph, table
from base.testbeds import KERNELS, KERNELS_OTHERS, KERNELS_X86_64
from measure.bench.kernels import AGAIN, BEDS, OURS, OWN
from measure.bench.metrics import METRICS, Summary, matching, points_of, summary, values_of
from measure.metrics import shown
from measure.table import finished

RATIO = "times_qspinlock"
# Of the built-in nbqlock's events, in the hybrid's kernel.
EVENTS = ("acquired_handoff", "turns_passed", "nodes_allocated", "nodes_reclaimed",
          "pool_high_water", "deadlocks", "exhaustions")

RATIOS = """\
Operations per second, times those of the kernel's own spinlock in the same round: median (least \
to greatest). "k of n" are the rounds in which all workers finished by the limit, where these are \
not all of them: theirs, and those of the kernel's own lock. A load that did not finish counts as \
if it had at its limit."""

# qspinlock's slow path by the kernel's own counters, where its configuration has them.
PATHS = ("own_pending", "own_queued")

LIMITS = {KERNELS: """\
What this bed does not show. It has {cores} cores: nothing of sockets, nor of locks that more CPUs \
than that run for at the same time. User-mode Linux has no cmpxchg in lockref, so that more of \
dput() and path lookup goes to the spinlock than on x86 or arm64. A system call costs some \
microseconds there, and a page fault more, so that a lock is a smaller part of each operation. Its \
kernel knows nothing of the host: a paravirtual guest has other ways, as qspinlock with halted \
waiters under KVM, or a hypervisor that schedules a holder first. ``virt_spin_lock`` is x86's \
fallback of a guest without these, built here into user-mode Linux, where a spinning CPU does not \
exit to a hypervisor that yields for it (pause-loop exiting). Reader-writer locks keep their \
algorithm; the spinlock that their waiters queue by is replaced.""",
          KERNELS_X86_64: """\
What this bed does not show. It has {cores} cores: nothing of sockets. QEMU translates the guest's \
instructions: a system call takes about ten times as long as on a machine, an atomic operation and \
a jump other multiples than a load, and a CPU that runs code for the first time translates it. A \
guest's CPU is a thread of the host, and a hypervisor's measures for spinning CPUs are not there: \
none exits for a pause (pause-loop exiting), none is yielded to, none halts as with the \
paravirtual locks of KVM or Xen. ``CONFIG_PARAVIRT`` and its calls are in the kernel of \
``qspinlock`` and ``virt_spin_lock``, which is one and the same, and in that of the hybrid.""",
          KERNELS_OTHERS: """\
What this bed does not show. It has {cores} cores: nothing of sockets. A system call costs some \
microseconds in user-mode Linux, and a page fault more, so that a lock is a smaller part of each \
operation. Programs are read from a folder of the host; what they write is in a tmpfs. There is no \
network but local sockets."""}


def ratio_cell(runs, own, context):
    """A kernel beside its own lock, at a point."""
    found = summary(RATIO, runs, context)
    if not found:
        return "-"
    counts = finished(runs), finished(own)
    return str(found) if counts == ("all", "all") else \
        f"{found}; finished {counts[0]}, own {counts[1]}"


def medians_of_loads(runs, context):
    """[each round's median over the loads]."""
    by_round = {}
    for run in runs:
        value = METRICS[RATIO].of(run, context)
        if value is not None:
            by_round.setdefault(run.round, []).append(value)
    return [median(values) for values in by_round.values()]


def median_cell(runs, context):
    values = medians_of_loads(runs, context)
    if not values:
        return "-"
    found = Summary(values)
    return f"**{shown(found.median)}** ({shown(found.low)} to {shown(found.high)})"


def ratios(result, context, cpus):
    """A row for each load, a column for each kernel but that of the kernel's own lock."""
    runs = matching(result.runs, cpus=cpus)
    others = [lock for lock in result.locks if lock != OWN]
    rows = [[load, *(ratio_cell(matching(runs, lock, load=load), matching(runs, OWN, load=load),
                                context) for lock in others)]
            for load in values_of(runs, "load")]
    rows.append(["median load", *(median_cell(matching(runs, lock), context)
                                  for lock in others)])
    cores = context.cores or 0
    title = f"{cpus} CPUs on {cores} cores"
    return [*paragraph(f"*{title}*"), *table(["load", *map(escaped, others)], rows)]


def waits(figures):
    """Waits for any spinlock of the kernel, for 1000 operations."""
    return 1000 * figures.get("nbq_acquired_handoff", 0) / (figures.get("operations") or 1)


def point_rows(runs, locks, cells):
    """Rows of cells(lock, the results of its rounds), for each point and lock."""
    return [[f"{point['load']}, {point['cpus']} CPUs", *cells(lock, [run.result for run in mine])]
            for point in points_of(runs) for lock in locks
            if (mine := matching(runs, lock, **point))]


def events(result):
    """What the hybrid's kernel counted: medians of the rounds."""
    rows = point_rows(
        [run for run in result.runs if "nbq_nodes_allocated" in run.result], [OURS],
        lambda _, mine: [shown(median(each.get("operations", 0) for each in mine)),
                         shown(median(map(waits, mine))),
                         *(shown(median(each.get(f"nbq_{event}", 0) for each in mine))
                           for event in EVENTS)])
    if not rows:
        return []
    return [*heading("Events of the hybrid's kernel", "-"),
            *paragraph("Of all spinlocks of the kernel, in a run; medians. See abi.rst. "
                       "Where hardly any acquisition waits, it is not the lock that makes a load "
                       "slower."),
            *table(["load", "operations", "waits, of 1000", *map(escaped, EVENTS)], rows)]


def paths(result):
    """Where the waiters of the kernel's own lock were: medians of the rounds."""
    rows = point_rows(
        [run for run in result.runs if PATHS[0] in run.result], result.locks,
        lambda lock, mine: [escaped(lock), "yes" if mine[0]["sees_hypervisor"] else "no",
                            *(shown(median(each[path] for each in mine)) for path in PATHS)])
    if not rows:
        return []
    return [*heading("The path of the kernel's own lock", "-"),
            *paragraph("By the kernel's counters of lock events and the flags of its CPUs, in a "
                       "run; medians. A waiter in virt_spin_lock() is in neither count: 0 and 0 "
                       "where a hypervisor is seen."),
            *table(["load", "lock", "hypervisor seen", "pending bit", "queue"], rows)]


def part(result, context):
    """All tables of a result, and what they do not show."""
    bed = result.plan.testbed
    sides = "; ".join(f"``{name}``: {BEDS[bed][name].meaning}" for name in result.locks
                      if name in BEDS[bed])
    same = ", and all else is the same" if bed != KERNELS_X86_64 else ""
    lines = paragraph(f"All spinlocks of a kernel are of one kind{same}: {sides}.")
    lines += paragraph(LIMITS[bed].format(cores=context.cores))
    if OWN in result.locks:
        lines += [*heading("Beside the kernel's own lock", "-"), *paragraph(RATIOS)]
        for cpus in values_of(result.runs, "cpus"):
            lines += ratios(result, context, cpus)
    if AGAIN in result.locks:
        lines += paragraph(f"``{AGAIN}`` is the kernel's own lock a second time: what is no "
                           "farther from 1 than that has not been shown.")
    return lines + paths(result) + events(result)
