# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top: what it counts, against the driver, the counters and perf."""

from collections import Counter
import errno
import re

from ci.common import DEBIAN_6_1, DEBIAN_6_12, Case, clean_guest, from_source
from ci.kernel_table import On, TestBed, runs_on
from testbed import kernels, perf
from testbed.common import PROJECT
from testbed.guest import QemuMachine, UserModeMachine, run_guest
from testbed.guest_cli import loaded
from testbed.stress import FILES, Run, Unseen, problem_with, read_runs, until_seen
from top.counts import SYMBOL, Parts, Sample, counter_for, histograms
from top.events import PREFIX, guest_start
from top.view import View

CPUS = 3
# Waiters stand in the queue, and give up in it.
LOAD = {"threads": CPUS, "cpus": f"0-{CPUS - 1}", "patience_ns": "1-5000000", "cs_ns": 1000000,
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
    """What there was not to be counted in a run, or nothing."""
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
    return [Run(lock, lock=lock, **LOAD) for lock in LOCKS]


def view_of(sample):
    start = Sample(sample.seconds - 1, {}, {}, 0)
    return "\n".join(View().lines(start, sample))


def claims(run):
    """What must hold of a run whose events are all counted."""
    counts, (_, sample) = counts_of(run), run.seen
    results = Counter()
    for (ret, _), (count, _) in counts.results.items():
        results[ret] += count
    yield "no event is lost", not sample.lost
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
        problem = problem_with(run, lacks_waits)
        yield Case(f"{name}: {run.name}: a run with waits and timeouts", not problem,
                   f"{problem}\n{run.text}\n{run.seen}")
        if problem:
            continue
        for claim, holds in of_run(run):
            yield Case(f"{name}: {run.name}: {claim}", bool(holds),
                       f"{view_of(run.seen[1])}\n{run.text}\n{run.output[-3000:]}")


def counted_cases(name, machine, of_run=claims, **options):
    runs = new_runs()
    outcomes = until_seen(runs, lambda some: make_runs(machine, some, **options),
                          lambda run: problem_with(run, lacks_waits))
    yield from run_cases(name, runs, of_run)
    yield clean_guest(name, *outcomes)


@runs_on(DEBIAN_6_12, "stress")
def top():
    """nbq top: its counts are those of the driver and of the counters"""
    yield from counted_cases("top", QemuMachine(DEBIAN_6_12.find()))


# perf, python3 and kernels without histograms

def under_perf(run):
    """The run, recorded by perf; then what perf lock contention says of each lock."""
    start = run.command.replace("stress_run", "set_run", 1)
    return (f"{start}\n$PERF lock record -q -a -o /tmp/perf.data -- sh -c 'echo 1 >$D/run'\n"
            f"end_run\n"
            f"echo '@perf {run.name}'\n"
            "$PERF lock contention -l -F contended -x , -i /tmp/perf.data 2>&1\n"
            "echo '@perf-over'\n")


PERF_SHELL = """
set_run() {
	echo "@run $1"
	shift
	for setting in "$@"; do
		echo "${setting#*=}" >"$(parameter ${setting%%=*})" || echo "@refused $setting"
	done
}
end_run() {
	echo "@status 0"
	cat $D/result/summary
	echo "@end"
}
""" + perf.SHELL


def perf_counts(run):
    """{address: contended waits} of perf lock contention."""
    found = re.search(rf"^@perf {run.name}\n(.*?)^@perf-over", run.output,
                      re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^ *(\d+)[,;] *(?:0x)?([0-9a-f]{8,16})\b", found[1] if found else "",
                      re.MULTILINE)
    return {int(address, 16): int(count) for count, address in rows}


def top_counts(run):
    """The same of the histogram of begun waits."""
    found = Counter()
    for keys, values in histograms(run.seen[0]["begin"]):
        if "holder_cpu" in keys:
            found[int(SYMBOL.match(keys["lock"])[1], 16)] += values["hitcount"]
    return found


def perf_claims(run):
    ours, theirs = top_counts(run), perf_counts(run)
    yield from claims(run)
    yield "perf lock contention counts as many waits of the lock", \
        ours and all(theirs.get(address) == count for address, count in ours.items())


@runs_on(DEBIAN_6_12, "stress")
def top_all():
    """nbq top: against perf lock contention; on 6.1; without hist triggers"""
    machine = QemuMachine(DEBIAN_6_12.find())
    yield from counted_cases("top, perf", machine, perf_claims, command=under_perf,
                             more=perf.guest_files(), before=PERF_SHELL)
    yield On(DEBIAN_6_1, "stress")
    yield from counted_cases("top, 6.1", QemuMachine(DEBIAN_6_1.find()))
