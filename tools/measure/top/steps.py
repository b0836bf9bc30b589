# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top: what it counts, against the driver, the counters and perf."""

from collections import Counter
import errno
import re

from base.case import LOAD, ONLY_ALL, Case, On, runs_on, step
from base.driver import Run
from guest import kernels
from guest.cases import DEBIAN_6_12, DEBIAN_OLDEST, clean_guest, from_source
from guest.guest import run_guest
from guest.guest_cli import loaded
from guest.kernel_table import TestBed
from guest.machines import QemuMachine, UserModeMachine
from measure.stress import FILES, Unseen, read_runs, until_seen
from measure.top import perf
from measure.top.counts import SYMBOL, Parts, Sample, counter_for, histograms
from measure.top.events import PREFIX, guest_start
from measure.top.view import View

CPUS = 3
# Waiters stand in the queue, and give up in it.
RUN = {"threads": CPUS, "cpus": f"0-{CPUS - 1}", "patience_ns": "1-5000000", "cs_ns": 1000000,
        "ncs_ns": 500, "duration_ms": 500, "sample_every": 0}
LOCKS = ("nbq_spin", "clh_nb")
TIMEOUT = 3600			# of guests that take a minute; it only ends what hangs
TRACE = TestBed("user-mode, event tracing", lambda: from_source(kernels.TRACE))
LEFT = f"ls -d $T/instances/{PREFIX}* 2>/dev/null"

# Each run has an instance of its own, which is read after it.
SCRIPT_OF_RUN = """
top_on
@RUN@
echo "@sample @NAME@"
top_sample
top_off
echo "@left @NAME@ $(@LEFT@)"
"""


def script_of(run, command=None):
    script = SCRIPT_OF_RUN
    for mark, text in (("@RUN@", command or run.command), ("@NAME@", run.name),
                       ("@LEFT@", LEFT)):
        script = script.replace(mark, text)
    return script


def samples_of(output, run):
    """(parts, Sample) of a run, or None."""
    found = re.search(rf"^@sample {run.name}\n(.*?^@over\n)", output, re.MULTILINE | re.DOTALL)
    heard = []
    if found:
        Parts(heard.append).write(found[1].encode())
    return (heard[0], counter_for(heard[0]).sample(heard[0])) if heard else None


def lacks_waits(run):
    """What there was not to be counted in a run, or nothing.

    The kernel drops an event where another CPU is inserting the same key, for as long as that
    is preempted.
    """
    if run.seen and run.seen[1].lost:
        return Unseen("not a run without dropped events")
    counts = counts_of(run)
    if not counts or not run.number("timeouts") or not counts.acquired:
        return Unseen("not a wait that succeeded and one that did not")
    return ""


def counts_of(run):
    """Of the only lock of a run; None if there are none, or several."""
    if not run.seen or len(run.seen[1].locks) != 1:
        return None
    return next(iter(run.seen[1].locks.values()))


def make_runs(machine, runs, command=None, more=None, before=""):
    """Make runs with nbq top on. Returns the Outcome; each run has its sample."""
    script = ". /root/stress.sh\n" + guest_start() + before
    script += "".join(script_of(run, command and command(run)) for run in runs)
    outcome = run_guest(machine, script, cpus=CPUS, modules=loaded(machine.kernel),
                        extra={**FILES, **(more or {})}, quiet=True, timeout=TIMEOUT)
    read_runs(outcome.output, runs)
    for run in runs:
        run.seen = samples_of(outcome.output, run)
        run.output = outcome.output
    return outcome


def new_runs():
    return [Run(lock, lacks_waits, lock=lock, **RUN) for lock in LOCKS]


def view_of(sample):
    start = Sample({"time": str(sample.seconds - 1), "total": ""}, {}, 0)
    return "\n".join(View().lines(start, sample))


def claims(run):
    """What must hold of a run whose events are all counted."""
    counts, (_, sample) = counts_of(run), run.seen
    results = Counter()
    for (ret, _), count in counts.results.items():
        results[ret] += count
    yield "each wait has ended", counts.waits == sum(results.values()) > 0
    yield "no waiter is left", counts.waiters == 0
    yield "timeouts are those of the driver", \
        results[-errno.ETIMEDOUT] == run.number("timeouts")
    yield "timeouts are those of the counters", \
        sample.total.get("timeouts") == run.number("timeouts")
    yield "acquired after a wait: no more than the driver has", \
        results[0] <= run.number("acquisitions")
    yield "the caller is the driver", all("[nbqlock_stress]" in caller
                                          for _, caller in counts.results)
    yield "a holder is a CPU of the run", counts.holder and counts.holder[0] < CPUS
    yield "waits have a time", 0 < counts.mean_ns and counts.percentile_ns(0.99)
    view = view_of(sample)
    yield "the view has the lock and the caller that gave up", \
        f"{counts.waits:>5}" in view and "timeout" in view
    yield "nothing is left of the instance", \
        re.search(rf"^@left {run.name} *$", run.output, re.MULTILINE)


def run_cases(name, runs, of_run):
    """The cases of runs that were made."""
    for run in runs:
        problem = run.complaint
        yield Case(f"{name}: {run.name}: a run with waits and timeouts", not problem,
                   f"{problem}\n{run.text}\n{run.seen}")
        if problem:
            continue
        for claim, holds in of_run(run):
            yield Case(f"{name}: {run.name}: {claim}", bool(holds),
                       f"{view_of(run.seen[1])}\n{run.text}\n{run.output[-3000:]}")


def counted_cases(name, machine, of_run=claims, **options):
    runs = new_runs()
    outcomes = until_seen(runs, lambda some: make_runs(machine, some, **options))
    yield from run_cases(name, runs, of_run)
    yield clean_guest(name, *outcomes)


@step("top", LOAD)
@runs_on(DEBIAN_6_12, "stress")
def top():
    """nbq top: its counts are those of the driver and of the counters"""
    yield from counted_cases("top", QemuMachine(DEBIAN_6_12.find()))


# perf, other kernels

# perf starts the run, so that it has all of its waits.
PERF_SHELL = perf.SHELL + """
perf_run() {
	echo "@run $1"
	name=$1
	shift
	set_parameters "$@"
	$PERF lock record -a -o /tmp/perf.data -- sh -c "echo 1 >$D/run" >/tmp/said 2>&1
	echo "@status $?"
	cat $D/result/summary
	echo "@end"
	echo "@perf $name"
	cat /tmp/said
	$PERF lock contention -l -F contended -x , -i /tmp/perf.data 2>&1
	echo "@perf-over"
	rm /tmp/perf.data
}
"""
PERF_ROW = re.compile(r"^(\d+), *\d+, *([0-9a-f]{16}),", re.MULTILINE)


def under_perf(run):
    return run.command.replace("stress_run", "perf_run", 1)


def perf_waits(run):
    """{address: waits} of each lock by perf lock contention."""
    found = re.search(rf"^@perf {run.name}\n(.*?)^@perf-over", run.output,
                      re.MULTILINE | re.DOTALL)
    return {address: int(count) for count, address in PERF_ROW.findall(found[1])} if found else {}


def top_waits(run):
    """{address: waits} of each lock by the histogram of begun waits."""
    found = Counter()
    for keys, values in histograms(run.seen[0]["begin"]):
        if "holder_cpu" in keys:
            found[SYMBOL.match(keys["lock"])[1]] += values["hitcount"]
    return found


def perf_claims(run):
    ours, theirs = top_waits(run), perf_waits(run)
    yield from claims(run)
    yield "perf lock contention has as many waits of the lock", \
        ours and all(theirs.get(address) == count for address, count in ours.items())


def recorded_claims(run):
    """Of a kernel without hist triggers, whose ring buffer has kept all events of the run."""
    yield from claims(run)
    yield "the view says that it may have a part of the events", \
        "recorded events" in view_of(run.seen[1])


@step("top-all", ONLY_ALL, LOAD)
@runs_on(DEBIAN_6_12, "stress")
def top_all():
    """nbq top: against perf lock contention; on 6.1; without hist triggers"""
    yield from counted_cases("top, perf", QemuMachine(DEBIAN_6_12.find()), perf_claims,
                             command=under_perf, more=perf.guest_files(), before=PERF_SHELL)
    yield On(DEBIAN_OLDEST, "stress")
    yield from counted_cases("top, 6.1", QemuMachine(DEBIAN_OLDEST.find()))
    yield On(TRACE, "stress")
    yield from counted_cases("top, recorded", UserModeMachine(TRACE.find()), recorded_claims)
