# SPDX-License-Identifier: GPL-2.0
"""What the stress driver measures."""

from base.case import LOAD, Case, runs_on, step
from base.driver import HISTOGRAMS as OF_DRIVER
from base.driver import OURS, Run
from guest.cases import STRESS_FOLDER, USER_MODE, clean_guest, guest_modules, guest_report, machine
from guest.guest import run_guest
from measure.stress import FILES as STRESS_FILES
from measure.stress import Tables, Unseen, read_runs, until_seen
from module.disturbed import needs
from module.shapes import PLAIN

HISTOGRAMS = ("wait", "failed_wait", "overshoot", "handoff", "skipped")
TABLES = ("summary", "contenders", "histograms")		# the files of result/
MEASURES_SCRIPT = f"""
. /root/stress.sh
cd {STRESS_FOLDER}
files() {{ for file in {" ".join(TABLES)}; do
	echo "@file $1 $file"; cat result/$file; done; }}
files unborn
"""
# 100 us of work an acquisition; a busy machine makes it longer, nothing shorter.
BUSY_CS_NS = 100000
# Much longer than a host leaves a CPU without a core that is about to attempt.
PAUSE_MS = 500
INTERVAL_NS = 1000000
SAMPLE_EVERY = 7
SUSPENSION_NS = 10000000
# A busy host gives a CPU a part of a core only, and may have been slower when it was
# measured how fast it is.
BUSY_PER_SECOND = (1e9 / BUSY_CS_NS / 200, 1e9 / BUSY_CS_NS * 4)


def measured(name, figures, besides=None, **settings):
    """A run in which there are these figures, and what is said besides: (what, whether it is).

    If the host did not let it happen, a longer run is made.
    """
    def lacks(run):
        what, holds = besides or ("", lambda run: True)
        return needs(*figures)(run) or (not holds(run) and Unseen(f"not: {what}"))

    return Run(name, lacks, lock=OURS[0], cpus="0-3", **{**PLAIN, **settings})


def make(runs):
    """Make runs in a guest; each gets its tables."""
    script = MEASURES_SCRIPT + "".join(f"{run.command}\nfiles {run.name}\n" for run in runs)
    outcome = run_guest(machine(), script, modules=guest_modules(), cpus=4,
                        extra=STRESS_FILES, quiet=True)
    read_runs(outcome.output, runs)
    for run in runs:
        run.tables = Tables(outcome.output, run)
    return outcome


def histogram_is_whole(rows):
    """Buckets in ascending order, none empty, none upside down."""
    bounds = [row[side] for row in rows for side in ("from", "to")]
    return bounds == sorted(bounds) and all(row["count"] for row in rows) and \
        all(one["to"] != two["from"] for one, two in zip(rows, rows[1:]))


def percentiles_fit(run, file, rows):
    """Whether the result's percentiles of a histogram are in the file's buckets."""
    name = file if file in ("skipped", "passed") else f"{file}_ns"
    total = sum(row["count"] for row in rows)

    def fits(percentile):
        seen = 0
        for row in rows:
            seen += row["count"]
            if 100 * seen >= total * percentile:
                value = run.number(f"{name}_p{percentile}")
                return row["from"] <= value <= row["to"]
        return False
    return fits(50) and fits(99)


def jain(shares):
    return sum(shares) ** 2 / (len(shares) * sum(share ** 2 for share in shares))


def mean_fits(run, name, rows):
    """Whether a mean, in thousandths, can be that of a histogram."""
    count = sum(row["count"] for row in rows)
    least, most = (sum(row[side] * row["count"] for row in rows) * 1000 // count
                   for side in ("from", "to"))
    return least <= run.number(f"{name}_mean_permille") <= most


def contended_measures(run):
    """The cases of a run in which all there is to be measured happens."""
    tables = run.tables

    def adds_up(file, *names):
        return tables.total(file) == sum(run.number(name) for name in names) > 0

    threads = tables.rows("contenders")
    yield ("tools/base/driver.py has the driver's histograms", set(OF_DRIVER) == {
        name.removesuffix("_samples") for name in run.figures if name.endswith("_samples")})
    yield ("all histograms are whole", all(
        histogram_is_whole(tables.rows(name)) for name in HISTOGRAMS))
    yield ("percentiles are those of the histograms", all(
        percentiles_fit(run, name, tables.rows(name)) for name in HISTOGRAMS))
    yield "each acquisition is timed", adds_up("wait", "wait_samples") and \
        adds_up("wait", "acquisitions")
    yield "each failure is timed", adds_up("failed_wait", "failed_wait_samples") and \
        adds_up("failed_wait", "timeouts", "no_node", "deadlocks")
    yield "each timeout has an overshoot", adds_up("overshoot", "overshoot_samples") and \
        adds_up("overshoot", "timeouts")
    yield ("an overshoot is what was beyond the patience", run.number("no_node") or
           run.number("overshoot_ns_max") ==
           run.number("failed_wait_ns_max") - run.settings["patience_ns"])
    yield ("hand-offs to waiters are timed", adds_up("handoff", "handoff_samples") and
           run.number("handoff_samples") < run.number("acquisitions"))
    yield ("each attempt is counted, some have skipped abandoned nodes",
           adds_up("skipped", "skipped_samples") and
           tables.total("skipped") == run.number("attempts") - run.number("no_node")
           and any(row["from"] for row in tables.rows("skipped")))
    yield "the threads add up to the result", all(
        tables.total("contenders", name) == run.number(name)
        for name in ("attempts", "acquisitions", "timeouts", "no_node", "deadlocks"))
    shares = [row["acquisitions"] for row in threads]
    yield ("fewest, most and the longest gap are among the threads",
           len(shares) == run.number("threads") and min(shares) == run.number("thread_min")
           and max(shares) == run.number("thread_max")
           and max(row["longest_gap_ns"] for row in threads) ==
           run.number("longest_gap_ns"))
    yield ("fairness is that of the threads", sum(shares) and
           abs(run.number("jain_permille") - 1000 * jain(shares)) <= 1)


def threads_only(run, contenders):
    """Whether what is said of threads leaves out the contenders in interrupts."""
    threads = [row for row in contenders if row["context"] == "task"]
    shares = [row["acquisitions"] for row in threads]
    return len(threads) == run.number("threads") and \
        (min(shares), max(shares)) == (run.number("thread_min"), run.number("thread_max")) \
        and run.number("longest_gap_ns") == max(row["longest_gap_ns"]
                                                for row in threads) \
        and sum(row["acquisitions"] for row in contenders) == \
        run.number("acquisitions") > sum(shares)


def suspended_measures(crowd, lone):
    """The cases of two such runs: of many threads, and of one."""
    # The last one, which may be the longest, may go on beyond the run's end.
    yield ("an interrupt suspends a thread for as long as it was told to",
           lone.number("longest_gap_ns") >= SUSPENSION_NS and
           lone.number("suspension_ns_max") >= lone.number("suspension_ns_mean") >=
           SUSPENSION_NS)
    yield ("an attempt that may be suspended is not timed",
           0 < crowd.number("overshoot_samples") < crowd.number("timeouts")
           and lone.number("wait_samples") + lone.number("suspensions") <=
           lone.number("acquisitions"))
    yield ("each overshoot is there by the CPU's own clock, too", all(
        crowd.tables.total(name) == crowd.number("overshoot_samples") ==
        crowd.number(f"{name}_samples") and histogram_is_whole(crowd.tables.rows(name))
        for name in ("own_overshoot", "away")))
    off = crowd.number("overshoot_ns_mean") - crowd.number("own_overshoot_ns_mean")
    yield ("the own clock takes off absence, and nothing else",
           0 <= off <= crowd.number("away_ns_mean") + 1 and	# they are rounded down
           0 < crowd.number("own_overshoot_ns_max") <= crowd.number("overshoot_ns_max"))


def queued_measures(crowd, pair, lone):
    """The cases of such runs: more threads than cores, two, and a single one."""
    yield ("each acquisition is timed by the CPU's own clock, too", all(
        run.tables.total("own_wait") == run.number("own_wait_samples") ==
        run.number("acquisitions") > 0 and
        run.number("own_wait_ns_mean") <= run.number("wait_ns_mean")
        for run in (crowd, pair)))
    yield ("whose CPU was away was not passed while it ran",
           0 < crowd.tables.total("passed") == crowd.number("passed_samples") <
           crowd.number("acquisitions"))
    yield ("these histograms are whole, and their percentiles fit", all(
        histogram_is_whole(rows) and percentiles_fit(run, name, rows)
        for run in (crowd, pair) for name in ("own_wait", "passed")
        for rows in [run.tables.rows(name)]) and all(
            mean_fits(run, "passed", run.tables.rows("passed")) for run in (crowd, pair)))
    # Some enqueue between the read of the counter and the enqueue. An attempt that found
    # an empty queue, since the other's CPU was away, shows nothing.
    some, more = (sum(row["count"] for row in pair.tables.rows("passed")
                      if row["from"] >= least)
                  for least in (1, pair.settings["threads"] + 1))
    yield ("in a queue, predecessors alone are first",
           some and 100 * more <= some)
    yield ("uncontended, no waiter is passed", lone.number("passed_samples") and
           not lone.number("passed_max"))


def uncontended_measures(alone, blind, runs):
    """The cases of runs with a single thread: sampled, and not."""
    yield ("uncontended, there is no handoff", not alone.number("handoff_samples") and
           alone.number("acquisitions") == alone.number("attempts") and
           alone.number("jain_permille") == 1000)
    # The first attempt is one of them.
    yield (f"one of {SAMPLE_EVERY} attempts is timed", alone.number("wait_samples") ==
           -(-alone.number("attempts") // SAMPLE_EVERY))
    yield ("without samples there are no times", not any(
        blind.number(f"{name}_samples") for name in HISTOGRAMS[:4]) and
        blind.number("longest_gap_ns") == 0)
    yield ("a clock read, an empty turn and a busy loop cost something",
           all(run.number(f"{name}_ps") for run in runs
               for name in ("clock_read", "empty_loop", "busy_loop")))
    yield ("a lock is measured alone where one thread alone wants it",
           all((run.number(f"{name}_ps") > 0) == (run.number("threads") == 1) for run in runs
               for name in ("pair", "failed_try")))
    low, high = BUSY_PER_SECOND
    yield ("busy work takes about the time that it should",
           low < blind.number("acquisitions_per_second") < high)


def paused_measures(paused):
    """The cases of a run with interrupts that ends in a pause."""
    contenders = paused.tables.rows("contenders")
    yield ("in a pause there is no acquisition, in no context",
           len(contenders) == 2 + 2 * 4 and all(
               row["longest_gap_ns"] > 0.4e6 * PAUSE_MS for row in contenders))
    most = 4 * (paused.number("elapsed_ns") / INTERVAL_NS + 1)
    yield ("interrupts keep their distance, and are timed, too", all(
        0 < paused.number(f"attempts_{context}") <= most
        for context in ("softirq", "hardirq")) and
        paused.tables.total("wait") == paused.number("acquisitions"))
    yield ("fewest, most and the longest gap are those of threads",
           threads_only(paused, contenders))


@step("measures", LOAD)
@runs_on(USER_MODE, "stress")
def measures():
    """the stress driver's histograms, table of threads, costs, busy work"""
    common = {"duration_ms": 300, "patience_ns": 3000, "ncs_ns": 0}
    # One thread more than CPUs: they do not share evenly.
    full = measured("full", ("acquisitions", "failed_wait_samples", "overshoot_samples",
                             "handoff_samples", "skipped_max"),
                    threads=5, cs_ns=2000, sample_every=1, **common)
    alone = measured("alone", ("acquisitions",), threads=1, sample_every=SAMPLE_EVERY, cs_ns=0,
                     **common)
    blind = measured("blind", ("acquisitions",), threads=1, sample_every=0, cs_ns=BUSY_CS_NS,
                     **common)
    # Interrupts find the lock free, more often than not. It ends in a pause.
    paused = measured("paused", ("acquisitions_softirq", "acquisitions_hardirq"), threads=2,
                      sample_every=1, cs_ns=0, **{
                          **common, "ncs_ns": 100000, "stutter_ms": PAUSE_MS,
                          "interval_ns": INTERVAL_NS, "contexts": "task,softirq,hardirq",
                          "duration_ms": 2 * PAUSE_MS})
    common = {"duration_ms": 600, "ncs_ns": 0, "sample_every": 1, "own_clock": 1}
    # Threads are stalled now and then, in the middle of an attempt.
    suspended = {**common, "patience_ns": 1000, "retry": "at_once", "cs_ns": BUSY_CS_NS,
                 "suspend_every_ns": INTERVAL_NS, "suspend_ns": SUSPENSION_NS}
    crowd = measured("suspended-4", ("overshoot_samples", "own_overshoot_ns_max"), (
        "some timeouts are not timed", lambda run:
        run.number("overshoot_samples") < run.number("timeouts")), threads=4, **suspended)
    lone = measured("suspended-1", ("wait_samples", "suspensions"), (
        "there are several suspensions", lambda run: run.number("suspensions") > 1),
                    threads=1, **suspended)
    # Waiters of a queue are passed by their predecessors only.
    queue = {**common, "patience_ns": "max", "cs_ns": 2000}
    queued = (measured("queued-4", ("passed_samples",), (
        "some acquisitions have lost their CPU", lambda run:
        run.number("passed_samples") < run.number("acquisitions")), threads=4, **queue),
              measured("queued-2", ("passed_max",), threads=2, **queue),
              measured("queued-1", ("passed_samples",), threads=1, **queue))
    runs = (full, alone, blind, paused, crowd, lone, *queued)
    outcomes = until_seen(runs, make)
    report = "\n".join(map(guest_report, outcomes))
    unborn = Tables(outcomes[0].output, Run("unborn"))
    yield Case("measures: without a run, the files say so", all(
        unborn.lines.get(name) == ["no run yet"] for name in TABLES), report)
    complaints = [f"{run.name}: {run.complaint}" for run in runs if run.complaint]
    yield Case("measures: the runs pass, and have what is to be measured", not complaints,
               "\n".join([*complaints, report]))
    if complaints:
        return
    for claim, holds in (*contended_measures(full), *uncontended_measures(alone, blind, runs),
                         *paused_measures(paused), *suspended_measures(crowd, lone),
                         *queued_measures(*queued)):
        yield Case(f"measures: {claim}", bool(holds), report)
    yield clean_guest("measures", *outcomes)
