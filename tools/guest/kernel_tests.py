# SPDX-License-Identifier: GPL-2.0
"""The kernel's own tests and a load, parts of a boot; and the boot of a kernel that has all."""

import re

from base.common import BUILD, Failure
from base.driver import read_figures
from guest.kunit import ENABLED, parse_report, read_report
from guest.parts import BEGIN, Part, run_parts

BUSTED = "lock_busted"
BANGS = "a line with !!!"
# With lockdep, some tests say "SUCCESS [debug]".
SUCCESS = re.compile(r"--- End of test: SUCCESS\b")
WRITES = re.compile(r"Writes:\s+Total: (\d+)\s+Max/Min: (\d+)/(\d+)")
TIMEOUT = 3600
# Without what is judged by time, how long a callback or a boosted reader may take; and without
# pauses, in which rcutorture reports a stall of its writer.
RCU_PARAMETERS = {"fwd_progress": 0, "test_boost": 0, "stutter": 0}
READS = re.compile(r"Reads *:\s+Total: (\d+)")
SELFTESTS = re.compile(r"Locking API testsuite:(?!.*Good, all \d+ testcases passed)", re.DOTALL)
SPAN = re.compile(r"^\[ *([\d.]+)\] .*--- (?:Start|End) of test", re.MULTILINE)
READERS = re.compile(r"Reader Pipe: +(\d+) ")
# What a case of a suite says that makes attempts which cannot end.
PROVOKED = re.compile(r"provokes (\d+) deadlocks$", re.MULTILINE)


def with_lines(text, name, edits, adapt):
    """A text with lines of ours, or Failure. adapt: where the edits are."""
    for where, lines in edits:
        found = list(re.finditer(where, text, re.MULTILINE))
        if len(found) != 1:
            raise Failure(f"{name} of this kernel has {len(found)} places, not 1, like "
                          f"\"{where}\": adapt {adapt}")
        at = found[0].start()
        text = text[:at] + lines + text[at:]
    return text


def edited(source, name, edits, adapt):
    """A source of the kernel with lines of ours, or Failure."""
    path = source / name
    try:
        text = path.read_text()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}: no torture test of this kernel") from error
    return with_lines(text, name, edits, adapt)


class KernelTorture(Part):
    """A torture test of the kernel's, for a while; its verdict is its last line."""

    def __init__(self, name, module, seconds, **parameters):
        words = " ".join(f"{key}={value}" for key, value in parameters.items())
        super().__init__(name, f"insmod /lib/modules/{module}.ko {words} || exit 1\n"
                         f"sleep {seconds}\nrmmod {module}")

    @property
    def complaint(self):
        if "!!!" in self.log:
            return BANGS
        return super().complaint if SUCCESS.search(self.log) else "it does not end with SUCCESS"


class LockTorture(KernelTorture):
    """One run of locktorture."""

    def __init__(self, operations, seconds, module="locktorture", name=None, **parameters):
        super().__init__(name or operations, module, seconds, torture_type=operations,
                         stat_interval=max(1, seconds // 3), **parameters)

    @property
    def writes(self):
        """Of all threads, the most and the fewest of one."""
        found = WRITES.findall(self.log)
        return tuple(map(int, found[-1])) if found else (0, 0, 0)

    @property
    def complaint(self):
        return super().complaint or ("" if self.writes[0] else "no acquisition was counted")


class KernelLock(LockTorture):
    def __init__(self, operations, seconds, **more):
        super().__init__(operations, seconds, shuffle_interval=3, stutter=5, **more)

    @property
    def figure(self):
        reads = READS.findall(self.log)
        took = f" in {self.seconds:.1f} s" if self.seconds else ""
        total, most, least = self.writes
        return f"{total} writes{took}, {least} to {most} a thread" + \
            (f"; {reads[-1]} reads" if reads else "")

    @property
    def seconds(self):
        """How long it ran: longer than asked for, if the guest is too busy to end it."""
        times = SPAN.findall(self.log)
        return float(times[-1]) - float(times[0]) if len(times) == 2 else None


class RcuTorture(KernelTorture):
    def __init__(self, seconds, **more):
        super().__init__("rcutorture", "rcutorture", seconds, **RCU_PARAMETERS, **more)

    @property
    def readers(self):
        return int((READERS.findall(self.log) or [0])[-1])

    @property
    def complaint(self):
        return super().complaint or ("" if self.readers else "no reader was counted")

    @property
    def figure(self):
        return f"{self.readers} readers"


class Rhashtable(Part):
    """rhashtable's test: at insmod."""

    DONE = re.compile(r"Started \d+ threads, (\d+) failed, rhltable test returns (-?\d+)")
    # A traversal that a resize has come into sees some objects twice, and says so.
    RESIZED = re.compile(r".*Traversal complete: counted=(\d+), nelems=(\d+), entries=(\d+), "
                         r"table-jumps=[1-9].*\n.*Test failed: Total count mismatch.*")

    def __init__(self, threads, entries):
        super().__init__("rhashtable", "insmod /lib/modules/test_rhashtable.ko "
                         f"parm_entries={entries} runs=1 tcount={threads} &&\n"
                         "rmmod test_rhashtable")
        self.figure = f"{threads} threads"

    @property
    def complaint(self):
        done = self.DONE.search(self.log)
        if not done or done.groups() != ("0", "0"):
            return "its threads or rhltable failed"
        log = self.RESIZED.sub(self.unless_missed, self.log)
        failed = re.search(r".*(Test failed|YES, failed|: FAIL).*", log)
        return failed[0] if failed else super().complaint

    @staticmethod
    def unless_missed(traversal):
        """What is left of the complaint about a resized table: all, if an object was missed."""
        counted, nelems, entries = (int(number) for number in traversal.groups())
        return "" if counted >= nelems == entries else traversal[0]


class ShellLoad(Part):
    """Shells that run find, tar, dd, sort and pipes in parallel, and compare what comes out."""

    WORKER = r"""
work() {
	dir=/tmp/load$1
	for pass in $(seq $2); do
		mkdir -p $dir/copy
		dd if=/dev/urandom of=$dir/data bs=4k count=128 2>/dev/null
		sum=$(md5sum <$dir/data)
		[ "$(cat $dir/data | tee $dir/again | dd bs=1k 2>/dev/null | md5sum)" = "$sum" ] ||
			return 1
		tar -C $dir -cf - data again | tar -C $dir/copy -xf - || return 1
		cmp $dir/data $dir/copy/again || return 1
		seq 2000 | sort -r | sort -n | cmp - $3 || return 1
		find / -xdev >$dir/found && grep -q '^/bin/busybox$' $dir/found || return 1
		rm -r $dir
	done
}
"""

    def __init__(self, workers, passes):
        super().__init__("shells", f"""{self.WORKER}
seq 2000 >/tmp/numbers
pids=
for worker in $(seq {workers}); do
	work $worker {passes} /tmp/numbers & pids="$pids $!"
done
for pid in $pids; do wait $pid || exit 1; done
read -r now rest </proc/uptime""")
        self.figure = f"{workers} shells"


class Suites(Part):
    """The kernel's KUnit suites, which have run before the first program."""

    words = (*ENABLED, "kunit.filter=speed>slow")

    def __init__(self):
        super().__init__("kunit", ":")
        self.cases = []

    def take(self, outcome):
        super().take(outcome)
        log = BUILD / "log" / "whole-kernel-kunit.log"
        report = outcome.log.partition(BEGIN)[0]
        parse_report(report, log)
        self.cases, _ = read_report(log.with_suffix(".json"))
        self.deadlocks = sum(int(count) for count in PROVOKED.findall(report))

    @property
    def complaint(self):
        failed = [case.name for case in self.cases if case.status not in ("PASS", "SKIP")]
        return ", ".join(failed[:5]) or ("" if self.cases else "no case ran")

    @property
    def figure(self):
        return f"{len(self.cases)} cases"


READINGS = 6
# Before each reading the queues are swept: what the last waiter of a queue has left there is no
# lost node. A reading while a context waits has its node, or the node it has just freed and not
# yet its allocation.
COUNTERS = f"""
for reading in $(seq {READINGS}); do
	echo @sweep
	insmod /lib/modules/nbq_sweep.ko 2>&1 && rmmod nbq_sweep && echo @swept
	echo @counters; cat /sys/kernel/debug/nbqlock/total 2>/dev/null; echo @end
	sleep 0.1
done
"""


class Boot:
    """One boot of a kernel with parts, and what came of it.

    words: more of them for the kernel.
    """

    def __init__(self, machine, cpus, parts, is_hybrid=True, words=()):
        self.machine = machine
        self.cpus = cpus
        self.parts = parts
        self.is_hybrid = is_hybrid
        self.words = words
        self.outcome = None
        self.swept = ""		# @swept, or what went wrong with that
        self.readings = []

    def run(self, timeout=TIMEOUT):
        words = [*self.words, *(word for part in self.parts if isinstance(part, Suites)
                                for word in part.words)]
        # One start: a kernel that dies before its first program has failed the test, too.
        self.outcome = run_parts(
            self.machine, self.parts, after=COUNTERS, cpus=self.cpus, timeout=timeout,
            append=words, starts=1,
            modules={"files": self.modules, "load": ["torture.ko"]})
        self.take_counters()
        return self

    def take_counters(self):
        """What COUNTERS has said."""
        said = [text.strip() for text in re.findall(
            r"^@sweep$(.*?)^@counters$", self.outcome.output, re.MULTILINE | re.DOTALL)]
        self.swept = next((text for text in said if text != "@swept"), "@swept")
        self.readings = [read_figures(text) for text in re.findall(
            r"^@counters$(.*?)^@end$", self.outcome.output, re.MULTILINE | re.DOTALL)]

    @property
    def modules(self):
        """{file name: content}"""
        return self.machine.kernel.modules

    @property
    def counters(self):
        """The last reading."""
        return self.readings[-1] if self.readings else {}

    @property
    def left(self):
        """Queue nodes that were neither freed nor reclaimed, in each of the readings."""
        return [reading["nodes_allocated"] - reading["nodes_freed"] - reading["nodes_reclaimed"]
                for reading in self.readings]

    @property
    def complaint(self):
        """What is wrong with the boot as a whole, or nothing."""
        if self.outcome.problem:
            return self.outcome.problem
        if self.outcome.complaints:
            return self.outcome.complaints[0].strip()
        if SELFTESTS.search(self.outcome.log):
            return "the tests of locks at boot failed"
        return self.counted_wrong if self.is_hybrid else ""

    @property
    def wrong_deadlocks(self):
        provoked = sum(part.deadlocks for part in self.parts if isinstance(part, Suites))
        deadlocks = self.counters["deadlocks"]
        return f"{deadlocks} deadlocks, not the {provoked} that are provoked" \
            if deadlocks != provoked else ""

    @property
    def counted_wrong(self):
        """What the counters of nbqlock say against it.

        A node that is lost is in all readings; in some is that of a context that waits, one that
        was left since the queues were swept, or counted as freed before it was as allocated.
        """
        if not self.counters:
            return "no counters of nbqlock"
        if self.wrong_deadlocks:
            return self.wrong_deadlocks
        if self.swept != "@swept":
            return f"the queues could not be swept: {self.swept}"
        if min(self.left) > 0 or max(self.left) < 0:
            return f"{self.left} queue nodes are left"
        if self.counters["exhaustions"]:
            return f"{self.counters['exhaustions']} attempts found no queue node"
        return ""

    @property
    def summary(self):
        if not self.is_hybrid or not self.counters:
            return ""
        return (f"{self.counters['acquired_handoff']} waits, {min(self.left)} queue nodes left, "
                f"{self.counters['pool_high_water']} at most")

    def rows(self):
        """(CPUs, part, what is wrong, figure) of each part, and of the boot."""
        for part in self.parts:
            yield self.cpus, part.name, part.complaint, part.figure
        yield self.cpus, "kernel log, counters", self.complaint, self.summary
