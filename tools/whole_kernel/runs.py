# SPDX-License-Identifier: GPL-2.0
"""A kernel all of whose spinlocks are the hybrid (tools/whole_kernel/port), put to the test.

One boot runs all parts: the kernel's KUnit suites, its torture tests of locks and of RCU, the test
of rhashtable, a load of shells. Each is judged by its part of the kernel log or by its exit status,
the boot by the complaints in its log and by the counters of nbqlock. The same tree and
configuration with the kernel's own spinlock is the other side.
"""

import re

from testbed.common import BUILD
from testbed.driver import read_figures
from testbed.guest import QemuMachine, UserModeMachine, run_guest
from testbed.kernel_copy import built_copy
from testbed.kernels import X86_64, Recipe
from testbed.kunit import ENABLED, parse_report, read_report
from locktorture.runs import WRITES

CHANGES = ("whole_kernel",)
HYBRID, STOCK = "nbq-spin", "qspinlock"
UML, QEMU = "uml", "qemu"
CPUS = {UML: (1, 2, 4, 8), QEMU: (1, 2, 4)}
TORTURED = ("spin_lock", "spin_lock_irq", "raw_spin_lock", "raw_spin_lock_irq", "rw_lock",
            "mutex_lock", "rwsem_lock")
BUSTED = "lock_busted"
BANGS = "a line with !!!"
TIMEOUT = 3600
# Without what is judged by time, how long a callback or a boosted reader may take; and without
# pauses, in which rcutorture reports a stall of its writer.
RCU_PARAMETERS = {"fwd_progress": 0, "test_boost": 0, "stutter": 0}
MODULES = ("kernel/torture.ko", "kernel/locking/locktorture.ko", "kernel/rcu/rcutorture.ko",
           "lib/test_rhashtable.ko")
SWEEP = "kernel/locking/nbq_sweep.ko"	# of the port
READS = re.compile(r"Reads *:\s+Total: (\d+)")
# With lockdep, some tests say "SUCCESS [debug]".
SUCCESS = re.compile(r"--- End of test: SUCCESS\b")
SELFTESTS = re.compile(r"Locking API testsuite:(?!.*Good, all \d+ testcases passed)", re.DOTALL)
SPAN = re.compile(r"^\[ *([\d.]+)\] .*--- (?:Start|End) of test", re.MULTILINE)
READERS = re.compile(r"Reader Pipe: +(\d+) ")
# What a case of a suite says that makes attempts which cannot end.
PROVOKED = re.compile(r"provokes (\d+) deadlocks$", re.MULTILINE)
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
BEGIN, END = "nbqlock-part: begin ", "nbqlock-part: end "


def recipe_of(side, testbed=UML, lockdep=False):
    """How the kernel of a side is built."""
    configs = {UML: ["guest"], QEMU: ["qemu", "x86_64"]}[testbed]
    configs.append("kernel-on-nbq")
    configs += ["kernel-on-nbq-lockdep"] * lockdep
    # qspinlock has another path in a guest of a hypervisor: that side has not.
    if side == HYBRID:
        configs += ["nbq-spinlocks"] + ["hypervisor"] * (testbed == QEMU)
    name = f"kernel-{side}" + "-x86_64" * (testbed == QEMU) + "-lockdep" * lockdep
    if testbed == QEMU:
        return Recipe(name, X86_64, "arch/x86/boot/bzImage", *configs)
    return Recipe(name, "um", "linux", *configs)


def machine_of(side, testbed=UML, lockdep=False, replaced=None):
    """A machine with the kernel, which is built or brought up to date.

    replaced: {path: text} of sources of the project that are others in this kernel.
    """
    modules = (*MODULES, SWEEP) if side == HYBRID else MODULES
    kernel = built_copy(recipe_of(side, testbed, lockdep), *CHANGES, modules=modules,
                        replaced=replaced)
    return {UML: UserModeMachine, QEMU: QemuMachine}[testbed](kernel)


# Parts

class Part:
    """Something to run in the guest."""

    deadlocks = 0		# so many attempts of it are to end with -EDEADLK

    def __init__(self, name, command):
        self.name = name
        self.command = command
        self.log = ""		# its part of the kernel log
        self.status = None	# of the command

    @property
    def result(self):
        """(what is wrong, or nothing; a figure to show)."""
        return "" if self.status == 0 else f"exit status {self.status}", ""

    @property
    def script(self):
        return (f"echo '{BEGIN}{self.name}' >/dev/kmsg\n( {self.command}\n)\n"
                f"echo \"@{self.name}@ $?\"\necho '{END}{self.name}' >/dev/kmsg\n")

    def read(self, outcome, _kernel):
        """Take what it needs from the outcome of its boot."""
        part = re.search(rf"{BEGIN}{re.escape(self.name)}$(.*?){END}{re.escape(self.name)}$",
                         outcome.log, re.MULTILINE | re.DOTALL)
        self.log = part[1] if part else ""
        status = re.search(rf"@{re.escape(self.name)}@ (\d+)", outcome.output)
        self.status = int(status[1]) if status else None


def load_and_unload(module, seconds, **parameters):
    words = " ".join(f"{name}={value}" for name, value in parameters.items())
    return (f"insmod /lib/modules/{module}.ko {words} || exit 1\nsleep {seconds}\n"
            f"rmmod {module}")


class TorturePart(Part):
    """A torture test of the kernel's; its verdict is its last line."""

    @property
    def result(self):
        if "!!!" in self.log:
            return BANGS, ""
        if not SUCCESS.search(self.log):
            return "it does not end with SUCCESS", ""
        return super().result


class LockTorture(TorturePart):
    def __init__(self, operations, seconds):
        super().__init__(operations, load_and_unload(
            "locktorture", seconds, torture_type=operations,
            stat_interval=max(1, seconds // 3), shuffle_interval=3, stutter=5))

    @property
    def result(self):
        writes = WRITES.findall(self.log)
        if not writes or not int(writes[-1][0]):
            return "no acquisition was counted", ""
        total, most, least = writes[-1]
        reads = READS.findall(self.log)
        took = f" in {self.seconds:.1f} s" if self.seconds else ""
        figure = f"{total} writes{took}, {least} to {most} a thread"
        return super().result[0], figure + (f"; {reads[-1]} reads" if reads else "")

    @property
    def seconds(self):
        """How long it ran: longer than asked for, if the guest is too busy to end it."""
        times = SPAN.findall(self.log)
        return float(times[-1]) - float(times[0]) if len(times) == 2 else None


class RcuTorture(TorturePart):
    def __init__(self, seconds):
        super().__init__("rcutorture", load_and_unload(
            "rcutorture", seconds, **RCU_PARAMETERS))

    @property
    def result(self):
        pipes = READERS.findall(self.log)
        if not pipes or not int(pipes[-1]):
            return "no reader was counted", ""
        return super().result[0], f"{pipes[-1]} readers"


class Rhashtable(Part):
    """rhashtable's test: at insmod."""

    DONE = re.compile(r"Started (\d+) threads, (\d+) failed, rhltable test returns (-?\d+)")
    # A traversal that a resize has come into sees some objects twice, and says so.
    RESIZED = re.compile(r".*Traversal complete: counted=(\d+), nelems=(\d+), entries=(\d+), "
                         r"table-jumps=[1-9].*\n.*Test failed: Total count mismatch.*")

    def __init__(self, threads, entries):
        super().__init__("rhashtable", "insmod /lib/modules/test_rhashtable.ko "
                         f"parm_entries={entries} runs=1 tcount={threads} &&\n"
                         "rmmod test_rhashtable")

    @property
    def result(self):
        done = self.DONE.search(self.log)
        if not done or done[2] != "0" or done[3] != "0":
            return "its threads or rhltable failed", ""
        log = self.RESIZED.sub(self.unless_missed, self.log)
        failed = re.search(r".*(Test failed|YES, failed|: FAIL).*", log)
        return (failed[0] if failed else super().result[0]), f"{done[1]} threads"

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
        self.workers = workers

    @property
    def result(self):
        return super().result[0], f"{self.workers} shells"


class Suites(Part):
    """The kernel's KUnit suites, which have run before the first program."""

    def __init__(self):
        super().__init__("kunit", ":")
        self.cases = []

    def read(self, outcome, kernel):
        super().read(outcome, kernel)
        log = BUILD / "log" / f"{kernel.name}-kunit.log"
        report = outcome.log.partition(BEGIN)[0]
        parse_report(kernel, report, log)
        self.cases, _ = read_report(log.with_suffix(".json"))
        self.deadlocks = sum(int(count) for count in PROVOKED.findall(report))

    @property
    def result(self):
        failed = [case.name for case in self.cases if case.status not in ("PASS", "SKIP")]
        if failed or not self.cases:
            return ", ".join(failed[:5]) or "no case ran", ""
        return "", f"{len(self.cases)} cases"


class Clocksource(Part):
    """The clock that the kernel was told to have is the one that it has."""

    def __init__(self, name):
        super().__init__(f"clocksource {name}", f"grep -qx {name} {CLOCKSOURCE}")


def parts_of(cpus, seconds):
    """All parts of a boot; seconds: of each torture test."""
    return [Suites(), *(LockTorture(operations, seconds) for operations in TORTURED),
            RcuTorture(3 * seconds), Rhashtable(2 * cpus, 1000 * seconds),
            ShellLoad(max(2, cpus), 2 * seconds)]


# Boots

READINGS = 9
# A reading while a context waits has its node, or the node it has just freed and not yet
# its allocation.
COUNTERS = f"""
echo @sweep
[ ! -e /lib/modules/nbq_sweep.ko ] || insmod /lib/modules/nbq_sweep.ko 2>&1 && echo @swept
for reading in $(seq {READINGS}); do
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
        self.swept = ""
        self.readings = []

    def run(self, timeout=TIMEOUT):
        kernel = self.machine.kernel
        script = "".join(part.script for part in self.parts) + COUNTERS
        # All marks of parts get into the log, however soon one follows another.
        words = ["printk.devkmsg=on", *self.words]
        if any(isinstance(part, Suites) for part in self.parts):
            words += [*ENABLED, "kunit.filter=speed>slow"]
        # One start: a kernel that dies before its first program has failed the test, too.
        self.outcome = run_guest(self.machine, script, quiet=True, cpus=self.cpus,
                                 timeout=timeout, append=words, starts=1,
                                 modules={"files": kernel.modules, "load": ["torture.ko"]})
        for part in self.parts:
            part.read(self.outcome, kernel)
        self.swept = self.outcome.output.partition("@sweep\n")[2].partition("@counters\n")[0].strip()
        self.readings = [read_figures(text) for text in re.findall(
            r"^@counters$(.*?)^@end$", self.outcome.output, re.MULTILINE | re.DOTALL)]
        return self

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
    def counted_wrong(self):
        """What the counters of nbqlock say against it.

        The queues have been swept. A node that is lost is in all readings; that of a context that
        waits is in one, and so is a node that was counted as freed before it was as allocated.
        """
        if not self.counters:
            return "no counters of nbqlock"
        provoked = sum(part.deadlocks for part in self.parts)
        if self.counters["deadlocks"] != provoked:
            return f"{self.counters['deadlocks']} deadlocks, not the {provoked} that are provoked"
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
            yield (self.cpus, part.name, *part.result)
        yield self.cpus, "kernel log, counters", self.complaint, self.summary
