# SPDX-License-Identifier: GPL-2.0
"""Traces the locks in a guest, and compares the trace with what was counted.

Each claim is yielded as (what is claimed, whether it holds, a report).
"""

import base64
from collections import Counter
import errno
import gzip
import re
import subprocess
import tempfile

from base.driver import OURS, Run, grows, read_figures
from guest.guest import run_guest
from guest.guest_cli import loaded
from guest.kernels import debian_kernel
from guest.logs import log_excerpt
from guest.machines import QemuMachine
from guest.modules import build_modules
from measure.stress import FILES as STRESS_FILES
from measure.stress import Unseen, read_runs, reloaded, until_seen

SERIES = "6.12"			# has event tracing, and lets modules use the kernel's own
CPUS = 3			# a holder, a waiter that times out, its successor
KILOBYTES = 32768		# of the trace of each CPU: many times what a run needs
TRACE_SCRIPT = f"""
. /root/stress.sh
T=/sys/kernel/tracing
mount -t tracefs tracefs $T || exit 1
echo 0 >$T/tracing_on
echo {KILOBYTES} >$T/buffer_size_kb
# Else each event that is enabled adds a probe to sched_switch and patches the scheduler,
# which a guest under emulation does not always survive.
echo 0 >$T/options/record-cmd
set_events() {{
	switch=$1
	shift
	for event in "$@"; do
		echo $switch >$T/events/$event/enable || echo "@lacks $event"
	done
}}
traced_run() {{
	echo >$T/trace
	echo 1 >/sys/kernel/debug/nbqlock/reset
	echo 1 >$T/tracing_on
	stress_run "$@"
	echo 0 >$T/tracing_on
	echo "@trace $1"
	cat $T/per_cpu/cpu*/stats | grep -E '^(overrun|dropped events|commit overrun):'
	echo "@events $1"
	# CPU, event, what it says; packed, since the line to the host is slow.
	sed -n 's/^.*\\[0*\\([0-9][0-9]*\\)\\] .*: \\(contention_[a-z]*\\|nbq_[a-z_]*\\): /\\1 \\2 /p' $T/trace | gzip | base64
	echo "@skipped $1"
	sed -n "s/^skipped //p" /sys/kernel/debug/nbqlock_stress/result/histograms
	echo "@total $1"
	cat /sys/kernel/debug/nbqlock/total
	echo "@over $1"
}}
set_events 1 lock/contention_begin lock/contention_end nbqlock
"""
# Growth only.
RELOAD_SMALL = f"""
set_events 0 lock nbqlock
{reloaded("pool_nodes=1")}
set_events 1 nbqlock/nbq_pool_grow
"""

EVENT = re.compile(r"(\d+) (contention_begin|contention_end|nbq_\w+) (.*)$")
TIMEOUT = 3600			# of a guest that takes a minute on an idle machine


class Event:
    """A line of the trace."""

    def __init__(self, match):
        self.cpu, self.name, self.words = match.groups()

    @property
    def lock(self):
        """Of a contention event, a wait or nbq_abandon."""
        return self.words.split()[0].removeprefix("lock=")

    @property
    def ret(self):
        match = re.search(r"ret=(-?\d+)", self.words)
        return int(match[1]) if match else None

    def figure(self, name):
        return int(re.search(rf"\b{name}=(\d+)", self.words)[1])


class Trace:
    """What the guest said of one run."""

    def __init__(self, output, run):
        def part(mark):
            match = re.search(rf"^@{mark} {run.name}\n(.*?)^@", output,
                              re.MULTILINE | re.DOTALL)
            return match[1] if match else ""

        packed = base64.b64decode(part("events"))
        self.text = gzip.decompress(packed).decode() if packed else ""
        self.events = [Event(match) for match in
                       map(EVENT.match, self.text.splitlines()) if match]
        self.lost = [int(count) for count in
                     re.findall(r"(?:overrun|dropped events): (\d+)", part("trace"))]
        self.skipped = [[int(word) for word in line.split()]
                      for line in part("skipped").splitlines()]
        self.total = read_figures(part("total"))

    def named(self, name, lock=None):
        return [event for event in self.events
                if event.name == name and (not lock or event.lock == lock)]

    def the_lock(self):
        """As the kernel's events name it. Its own locks are there, too: only ours time out."""
        locks = {event.lock for event in self.named("contention_end")
                 if event.ret == -errno.ETIMEDOUT}
        return locks.pop() if len(locks) == 1 else "no lock, or several"


def in_pairs(trace, lock):
    """Whether on each CPU each begin is followed by its end, and by nothing else."""
    last = {}
    for event in trace.events:
        if event.name.startswith("contention") and event.lock == lock:
            if event.name == last.get(event.cpu, "contention_end"):
                return False
            last[event.cpu] = event.name
    return set(last.values()) == {"contention_end"}


def reclaims_of(trace):
    """(fewest, most) abandoned nodes that the attempts of a run skipped."""
    return [sum(row[side] * row[2] for row in trace.skipped) for side in (0, 1)]


def lacks_waits(run):
    """What there was not to be traced in a run, or nothing."""
    ends = [event.ret for event in run.trace.named("contention_end", run.trace.the_lock())]
    if 0 not in ends or not run.number("timeouts"):
        return Unseen("not a wait that succeeded and one that did not")
    return not reclaims_of(run.trace)[0] and Unseen("no abandoned node was reclaimed")


def lacks_growth(run):
    grown = run.trace.named("nbq_pool_grow")
    return grows(run.settings["lock"]) and \
        not any(event.figure("from") == 1 for event in grown) and \
        Unseen("no pool of one node has grown")


def claims_of_run(run, trace):
    lock = trace.the_lock()
    ends = Counter(event.ret for event in trace.named("contention_end", lock))
    leaves = Counter(event.ret for event in trace.named("nbq_abandon"))
    reclaims = len(trace.named("nbq_reclaim"))
    timeouts, deadlocks = run.number("timeouts"), run.number("deadlocks")
    yield ("the run passes and loses no event", run.verdict == "PASS" and
           len(trace.lost) >= 2 * CPUS and not any(trace.lost))
    yield ("each contention_begin has its contention_end, on its CPU",
           in_pairs(trace, lock))
    yield ("contention_end tells successes and timeouts, and nothing else",
           0 < ends[0] <= run.number("acquisitions") and
           set(ends) <= {0, -errno.ETIMEDOUT, -errno.EDEADLK})
    yield ("as many end in a timeout as the driver has seen",
           ends[-errno.ETIMEDOUT] == timeouts > 0)
    gave_up = Counter({-errno.ETIMEDOUT: timeouts, -errno.EDEADLK: deadlocks}) - Counter()
    # The hybrid's waiters poll outside the queue first, which they need not leave.
    yield ("each that gave up in the queue has left it, and no other",
           leaves == gave_up or
           (run.settings["lock"] == "nbq_spin" and leaves and leaves <= gave_up))
    abandoned = sum("node=abandoned" in event.words for event in trace.named("nbq_abandon"))
    yield ("the nodes that timed-out waiters abandoned are those counted",
           abandoned == trace.total.get("nodes_abandoned"))
    yield from claims_of_waits(trace, lock, ends)
    fewest, most = reclaims_of(trace)
    yield ("each abandoned node that is skipped is reclaimed",
           0 < fewest <= reclaims <= most)
    yield ("a reclaimed node is of a CPU that took part", all(
        event.figure("of_cpu") < CPUS for event in trace.named("nbq_reclaim")))


def claims_of_waits(trace, lock, ends):
    """nbqlock's own tracepoints of waits against the kernel's. ends: of the kernel's."""
    begun, ended = trace.named("nbq_wait_begin"), trace.named("nbq_wait_end")
    yield ("nbq_wait_begin and nbq_wait_end are raised with the kernel's",
           len(begun) == len(trace.named("contention_begin", lock)) and
           Counter(event.ret for event in ended) == ends)
    yield ("they and nbq_abandon name the lock in the same way", len({
        event.lock for event in begun + ended + trace.named("nbq_abandon")}) == 1)
    yield ("they name the caller", all("[nbqlock_stress]" in event.words for event in
                                       begun + ended))
    holders = Counter(int(re.search(r"holder_cpu=(-?\d+)", event.words)[1])
                      for event in begun + ended)
    yield ("they name the holder's CPU, if there is a holder",
           any(cpu >= 0 for cpu in holders) and
           all(-1 <= cpu < CPUS for cpu in holders))
    yield ("nbq_wait_end has the time of the wait",
           any(event.figure("waited_ns") for event in ended if event.ret))


def claims_of_growth(run, trace):
    grown = trace.named("nbq_pool_grow")
    if not grows(run.settings["lock"]):
        yield ("no pool is asked to grow by nodes that the lock cannot encode",
               run.verdict == "PASS" and not grown and not trace.total.get("growths"))
        return
    yield ("a pool of one node grows as often as was counted",
           run.verdict == "PASS" and len(grown) == trace.total.get("growths", 0) > 0)
    yield ("growth is told as it was: of a CPU and level, from fewer to more",
           all(event.figure("of_cpu") < CPUS and event.figure("level") < 4 and
               1 <= event.figure("from") < event.figure("to") for event in grown) and
           any(event.figure("from") == 1 for event in grown))


# The functions in which a tracepoint may be: those behind contention, and growth. An
# acquisition has a no-op besides, which tells whether contention_begin is on: a wait is
# announced before it enqueues.
CONTENDED = re.compile(r"wait|await|slowpath|continue|deadlocked|skip|abandon|leave|grow|announce|"
                       r"end_contention|retries")
ASKED_BEFORE = "contention_begin"
JUMP_ENTRY = re.compile(r"^[0-9a-f]+ +\S+ +(\S+?)(?:([+-])0x([0-9a-f]+))?$", re.MULTILINE)
NO_OP = re.compile(r"\bnop|\bxchg +%ax,%ax|\bdata16")


def tracepoint_sites(module):
    """[(section, offset, tracepoint)] of all static branches on tracepoints."""
    text = subprocess.run(["objdump", "-r", "-j", "__jump_table", module], text=True,
                          check=True, stdout=subprocess.PIPE).stdout
    # Each branch has three: where it is, where it goes, on what.
    words = [(name, int(far or "0", 16)) for name, _, far in JUMP_ENTRY.findall(text)
             if name != "VALUE"]
    return [(*where, what[0].removeprefix("__tracepoint_"))
            for where, what in zip(words[0::3], words[2::3])
            if what[0].startswith("__tracepoint_")]


def instructions(module, section):
    """{offset: (function, instruction)} of a section."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", section, module],
                          text=True, check=True, stdout=subprocess.PIPE).stdout
    found, function = {}, ""
    for line in text.splitlines():
        match = re.match(r"[0-9a-f]+ <(.*)>:$| *([0-9a-f]+):\t(.*)$", line)
        if match and match[1]:
            function = match[1]
        elif match:
            found[int(match[2], 16)] = (function, match[3])
    return found


def cost_claims():
    """What a tracepoint is while it is off."""
    kernel = debian_kernel(SERIES)
    with tempfile.NamedTemporaryFile(suffix=".ko") as module:
        module.write(build_modules(kernel)["nbqlock.ko"])
        module.flush()
        sites = tracepoint_sites(module.name)
        code = {section: instructions(module.name, section) for section, _, _ in sites}
    there = [(what, *code[section].get(offset, ("nowhere", "nothing")))
             for section, offset, what in sites]
    report = "\n".join(f"{what} in {function}: {text}" for what, function, text in there)
    yield ("every tracepoint is used", {what for what, _, _ in there} == {
        "nbq_abandon", "nbq_reclaim", "nbq_pool_grow", "nbq_wait_begin", "nbq_wait_end",
        "contention_begin", "contention_end"}, report)
    yield ("one that is off is a no-op", bool(there) and all(
        NO_OP.search(text) for _, _, text in there), report)
    yield ("there is none where there is no contention", bool(there) and all(
        CONTENDED.search(function) or what == ASKED_BEFORE
        for what, function, _ in there), report)


def traced_claims():
    """Runs of each of our locks, with the events on."""
    kernel = debian_kernel(SERIES)
    modules = loaded(kernel)
    # Long enough for everybody to stand in the queue, and for those in the middle to
    # leave it, even if the machine takes a CPU away from time to time. An attempt without patience
    # fails before it waits, and for the driver that is a timeout, too.
    settings = {"threads": CPUS, "cpus": f"0-{CPUS - 1}", "sample_every": 1,
                "patience_ns": "1-5000000", "cs_ns": 1000000, "ncs_ns": 500,
                "duration_ms": 1000}
    runs, small = ([Run(f"{lock}-{name}", judge, lock=lock, **settings) for lock in OURS]
                   for name, judge in (("usual", lacks_waits), ("small", lacks_growth)))

    def make(some):
        script = TRACE_SCRIPT
        for run in some:
            script += RELOAD_SMALL if run in small else ""
            script += run.command.replace("stress_run", "traced_run", 1) + "\n"
        outcome = run_guest(QemuMachine(kernel), script, cpus=CPUS, modules=modules,
                            extra=STRESS_FILES, quiet=True, timeout=TIMEOUT)
        read_runs(outcome.output, some)
        for run in some:
            run.trace = Trace(outcome.output, run)
        return outcome

    outcomes = until_seen(runs + small, make)
    yield (f"Linux {kernel.version} has all events", all(
        outcome.ended_well and "@lacks" not in outcome.output for outcome in outcomes),
           "\n".join(outcome.output[-2000:] + log_excerpt(outcome) for outcome in outcomes))
    for group, claims in ((runs, claims_of_run), (small, claims_of_growth)):
        for run in group:
            trace = run.trace
            report = f"{run.complaint}\n{run.text}\n{trace.text[-3000:]}\n" \
                f"{trace.total}\n{trace.skipped}"
            for claim, holds in claims(run, trace):
                yield f"{run.settings['lock']}: {claim}", bool(holds), report
    yield ("the kernel log is clean", not any(outcome.complaints for outcome in outcomes),
           "\n".join(map(log_excerpt, outcomes)))
