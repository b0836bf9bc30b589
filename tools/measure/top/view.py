# SPDX-License-Identifier: GPL-2.0
"""The view: a table of locks, where attempts give up, the counters of all locks together."""

from collections import Counter
import errno
import textwrap

from base.common import columns

SORTS = {"waiting": lambda counts: counts.waiters, "waits": lambda counts: counts.waits,
         "timeouts": lambda counts: counts.timeouts,
         "deadlocks": lambda counts: counts.deadlocks, "mean": lambda counts: counts.mean_ns,
         "p99": lambda counts: counts.percentile_ns(0.99)}
HEAD = ("lock", "waiting", "holder", "waits", "acquired", "timeouts", "deadlocks", "mean us",
        "p99 us")
ERRORS = {-errno.ETIMEDOUT: "timeout", -errno.EDEADLK: "deadlock", -errno.ENOMEM: "no node",
          -errno.ECANCELED: "canceled"}
# (what the view calls it, the counters that add up to it)
TOTALS = (("acquired without a wait (not of nbq_spin)", ("acquired_uncontended",)),
          ("after one", ("acquired_handoff",)), ("timeouts", ("timeouts",)),
          ("cancellations", ("cancellations",)), ("failed tries", ("failed_tries",)),
          ("deadlocks", ("deadlocks",)),
          ("nodes abandoned", ("nodes_abandoned",)), ("resumed", ("nodes_resumed",)),
          ("exhaustions", ("exhaustions",)), ("growths", ("growths",)))
CALLERS = 8			# places at which attempts give up that are shown


def microseconds(nanoseconds):
    if not nanoseconds:
        return "-"
    value = nanoseconds / 1000
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def holder_text(holder):
    return f"{holder[0]} ({100 * holder[1]:.0f} %)" if holder else "-"


def row_texts(name, counts):
    p99 = counts.percentile_ns(0.99)
    return (name, str(counts.waiters), holder_text(counts.holder), str(counts.waits),
            str(counts.acquired), str(counts.timeouts), str(counts.deadlocks),
            microseconds(counts.mean_ns), f"<{microseconds(p99)}" if p99 else "-")


def table_of(rows, width=None):
    """The lines of the table; where it is too wide, the names have lines of their own."""
    table = columns([HEAD, *rows], right=range(1, len(HEAD)))
    if width is None or max(map(len, table)) <= width:
        return table
    heads, *figures = columns([("", *row[1:]) for row in (HEAD, *rows)],
                              right=range(1, len(HEAD)))
    return [heads, *(line for row, own in zip(rows, figures) for line in (row[0], own))]


def failures_of(locks):
    """The lines of where attempts give up, those that do so most first."""
    found = Counter({(caller, ret, name): count for name, counts in locks.items()
                     for (caller, ret), count in counts.failures.items()})
    for (caller, ret, name), count in found.most_common(CALLERS):
        yield f"  {count:7}  {ERRORS.get(ret, f'error {ret}'):8}  {caller}, for {name}"
    if len(found) > CALLERS:
        yield f"           {len(found) - CALLERS} more places"


def total_lines(before, now):
    """The counters of debugfs: what has come in the interval, and the nodes in use."""
    if not now:
        return ["all locks: no counters (debugfs is not mounted)"]
    words = []
    for words_of, names in TOTALS:
        # Less than before: the counters were reset meanwhile.
        come = [now.get(name, 0) - before.get(name, 0) for name in names]
        words.append(f"{words_of} {sum(come) if min(come) >= 0 else '(reset)'}")
    in_use = now["nodes_allocated"] - now["nodes_freed"] - now["nodes_reclaimed"]
    return [f"all locks: {', '.join(words[:5])}",
            f"           queue nodes: {in_use} in use, {', '.join(words[5:])}"]


class View:
    """Two samples as text. sort: a word of SORTS; lock: show those whose name has it."""

    def __init__(self, sort="waits", lock=None):
        self.sort = sort
        self.lock = lock

    def next_sort(self):
        words = list(SORTS)
        self.sort = words[(words.index(self.sort) + 1) % len(words)]

    def shown(self, before, now):
        """{name: counts of the interval}, in order, of locks with any."""
        new = {name: counts.since(before.locks[name]) if name in before.locks else counts
               for name, counts in now.locks.items()
               if not self.lock or self.lock in name}
        names = [name for name, counts in new.items()
                 if counts.waiters > 0 or counts.waits or counts.results]
        names.sort(key=lambda name: (-SORTS[self.sort](new[name]), name))
        return {name: new[name] for name in names}

    def lines(self, before, now, rows=None, width=None):
        """The text of an interval; rows: how many of locks at most; width: of all lines."""
        for line in self.text(before, now, rows, width):
            # The table fits already, but on terminals that are too narrow for it.
            yield from textwrap.wrap(line, width, subsequent_indent=" " * 11,
                                     drop_whitespace=True) or [""] if width else [line]

    def text(self, before, now, rows, width):
        locks = self.shown(before, now)
        seconds = now.seconds - before.seconds
        yield (f"nbq top: {len(locks)} contended locks in {seconds:.1f} s, most "
               f"{self.sort} first")
        yield from self.remarks(before, now)
        yield from total_lines(before.total, now.total)
        yield ""
        names = list(locks)[:rows]
        table = table_of([row_texts(name, locks[name]) for name in names], width)
        if rows and len(table) > rows + 1:
            names = names[:max(1, rows // 2)]
            table = table[:1 + 2 * len(names)]
        yield from table
        if len(locks) > len(names):
            yield f"{len(locks) - len(names)} more locks"
        failures = list(failures_of(locks))
        if failures:
            yield ""
            yield "attempts that gave up, by caller:"
            yield from failures

    @staticmethod
    def remarks(before, now):
        lost = now.lost - before.lost
        if now.is_part:
            yield (f"recorded events, without those of the time of reading and {lost} for "
                   "which there was no room (no CONFIG_HIST_TRIGGERS)")
        elif lost > 0:
            yield f"{lost} events are not counted: the kernel's histograms dropped them"
