# SPDX-License-Identifier: GPL-2.0
"""Tables for a terminal: what the rounds of each lock come to."""

from statistics import median

from base.common import fitted, terminal_columns
from base.progress import counted, spaced
from base.testbeds import WHOLE_KERNELS
from measure.metrics import METRICS, shown
from measure.results import PASS

REFERENCE = "raw_spinlock"	# what the others are compared with when alone


def figures(rounds, name):
    """A name of the result, of the rounds that have it."""
    found = (run.result.get(name) for run in rounds)
    return [number for number in found if isinstance(number, (int, float))]


def over(summary, name):
    """A column: one figure of all rounds."""
    def cell(rounds):
        found = figures(rounds, name)
        return spaced(summary(found)) if found else "-"
    return cell


def metric(name, form, summary=median):
    """A column: a metric of all rounds that have it, whatever their verdict."""
    def cell(rounds):
        found = [METRICS[name].compute(run, None) for run in rounds]
        found = [number for number in found if number is not None]
        return form(summary(found)) if found else "-"
    return cell


def share_of(name):
    """A column: the part of all attempts that came to this end."""
    def cell(rounds):
        attempts = sum(figures(rounds, "attempts"))
        return f"{100 * sum(figures(rounds, name)) / attempts:.1f} %" if attempts else "-"
    return cell


def verdict(rounds):
    return next((run.verdict for run in rounds if run.verdict != PASS), PASS)


def lock(rounds):
    return rounds[0].lock


DIGIT, DIGITS, PERCENT = "{:.1f}".format, "{:.2f}".format, "{:.0f} %".format
COLUMNS = (
    ("lock", lock),
    ("acq./s", over(median, "acquisitions_per_second")),
    ("min", over(min, "acquisitions_per_second")),
    ("max", over(max, "acquisitions_per_second")),
    ("timeouts", share_of("timeouts")),
    ("no node", share_of("no_node")),
    ("spread", metric("spread", PERCENT)),
    ("jain", metric("jain", DIGITS)),
    ("wait p50", metric("wait_p50_us", DIGITS)),
    ("wait p99", metric("wait_p99_us", DIGITS)),
    ("failed p99", metric("failed_wait_p99_us", DIGITS)),
    ("overshoot p99.9", metric("overshoot_p999_us", DIGITS)),
    ("nodes max", over(max, "nodes_max")),
    ("reclaimed", over(sum, "nodes_reclaimed")),
    ("violations", over(sum, "violations")),
    ("leaked", over(sum, "leaked")),
    ("verdict", verdict),
)


# Of whole kernels.

def finished(rounds):
    """In how many rounds all workers finished, if not in all."""
    whole = sum(run.result.get("finished") == run.result.get("workers") for run in rounds)
    return "all" if whole == len(rounds) else f"{whole} of {len(rounds)}"


def operations(summary):
    column = metric("operations_per_second", shown, summary)
    return lambda rounds: column([run for run in rounds if run.passed])


KERNEL_COLUMNS = (
    ("kernel's spinlock", lock),
    ("op./s", operations(median)),
    ("min", operations(min)),
    ("max", operations(max)),
    ("finished", finished),
    ("least", over(min, "least")),
    ("most", over(max, "most")),
    ("verdict", verdict),
)
# What only the simulation knows, before the verdict.
SIMULATED_COLUMNS = (
    *COLUMNS[:-1],
    ("misses", metric("acquisition_misses", DIGIT)),
    ("on locks", metric("lock_misses", DIGIT)),
    ("failed misses", metric("failed_misses", DIGIT)),
    COLUMNS[-1],
)


# What fits beside one another in a terminal: the rest is shown with --wide.
FEW = ("lock", "acq./s", "min", "max", "timeouts", "jain", "overshoot p99.9", "verdict")
SIMULATED_FEW = (*FEW[:-2], "misses", "verdict")


def columns_of(plan, wide):
    if plan.testbed in WHOLE_KERNELS:
        return KERNEL_COLUMNS
    columns = SIMULATED_COLUMNS if plan.is_simulated else COLUMNS
    few = SIMULATED_FEW if plan.is_simulated else FEW
    return columns if wide else tuple(each for each in columns if each[0] in few)


def time_per_pair(run):
    """ns for an acquisition and its release, with the driver's loop around them."""
    rate = run.result.get("acquisitions_per_second")
    return 1e9 / rate if rate else None


def time_cell(summary):
    def cell(rounds):
        found = [time for time in map(time_per_pair, rounds) if time]
        return f"{summary(found):.1f}" if found else "-"
    return cell


def alone_columns(reference, name=REFERENCE):
    """Round by round against the reference, which ran right beside it."""
    its = {run.round: time_per_pair(run) for run in reference}

    def ratio_cell(summary):
        def cell(rounds):
            pairs = [(time_per_pair(run), its.get(run.round)) for run in rounds]
            found = [mine / other for mine, other in pairs if mine and other]
            return f"{summary(found):.2f}" if found else "-"
        return cell

    return (("lock", lock),
            ("ns", time_cell(median)), ("min", time_cell(min)), ("max", time_cell(max)),
            (f"of {name}", ratio_cell(median)),
            ("min", ratio_cell(min)), ("max", ratio_cell(max)), ("verdict", verdict))


def groups_of(result):
    """[(heading, the rounds of each lock)]: a group for each point that was run."""
    groups = []
    for point in result.points:
        rounds = [result.runs_of(name, **point) for name in result.locks]
        rounds = [each for each in rounds if each]
        if rounds:
            busy = host_words(sum(rounds, []))
            groups.append(("; ".join(filter(None, (heading(result.plan, point), busy))), rounds))
    return groups


def host_words(runs):
    """How busy the host was in these runs, in words; nothing if that is unknown."""
    told = [run.result for run in runs if "host_busy_processes" in run.result]
    if not told:
        return ""
    number, there = told[0]["host_busy_processes"], told[0]["host_busy_cores"]
    where = f"on {counted(there, 'core')}"
    if not number:
        return f"no busy processes {where}"
    had = median(result["host_busy_permille"] for result in told) / 10
    return (f"{number} busy process{'' if number == 1 else 'es'} {where}, which had {had:.0f} % "
            f"of {'it' if there == 1 else 'them'}")


def heading(plan, point):
    """Names a point: 8 CPUs, 8 threads, patience_ns 1000."""
    threads = plan.settings("", point).get("threads")
    words = [counted(point["cpus"], "CPU")] + ([counted(threads, "thread")] if threads else [])
    return ", ".join(words + [f"{axis} {value}" for axis, value in point.items()
                              if axis not in ("cpus", "threads")])


def laid_out(columns, groups, width=None):
    """The lines of a table; groups: [(heading or None, [the rounds of each lock])]"""
    groups = [(title, [[cell(rounds) for _, cell in columns] for rounds in locks])
              for title, locks in groups]
    cells = [max((len(row[place]) for _, rows in groups for row in rows), default=0)
             for place in range(len(columns))]
    widths, parts = fitted([head for head, _ in columns], cells, width)

    def line(row, part):
        words = [row[place].rjust(widths[place]) if 0 < place < len(columns) - 1 else
                 row[place].ljust(widths[place]) for place in part]
        return "  ".join(words).rstrip()

    lines = []
    for part, heads in parts:
        lines += [""] * bool(lines)
        lines += [line(row, part) for row in heads]
        for title, rows in groups:
            lines += [f"-- {title}"] if title else []
            lines += [line(row, part) for row in rows]
    return lines


def print_table(columns, groups):
    print("\n".join(laid_out(columns, groups, terminal_columns())), flush=True)
