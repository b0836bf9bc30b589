# SPDX-License-Identifier: GPL-2.0
"""rqspinlock, the kernel's own or in its place the bare hybrid: tests of it in guests.

The kernel's bpf_test_rqspinlock.c is built with tools/studies/rqspinlock/load/irq_event.h behind its
headers: a timer in hard interrupts instead of NMIs, which take hardware counters. Beside it a
module that makes a cycle of two queues, and a program that loads a BPF map.

Contexts that wait for one another for ever are recognised by the results, which CPU 0 prints
as they change, and takes no other part: no attempt has ended for STANDSTILL seconds, although
none may take longer than half a second. (Its programs may come to a halt, too, as RCU waits for
the other CPUs.)
"""

import functools
import re

from base.common import PROJECT, Failure
from guest.bpf import BTF
from guest.complaints import complaints
from guest.guest import HUNG
from guest.kernel_copy import built_copy
from guest.kernel_tests import edited
from guest.kernels import BPF, GUEST, X86_64, Recipe, built_kernel, user_mode_kernel
from guest.modules import build_apart
from guest.parts import Part, run_parts
from guest.programs import static_program
from studies.rqspinlock.selftest import selftest

FOLDER = PROJECT / "tools/studies/rqspinlock/load"
KERNEL_TEST = "tools/testing/selftests/bpf/test_kmods/bpf_test_rqspinlock.c"
CHANGES = "studies/rqspinlock"	# its port
# The found kernel with the bare hybrid as rqspinlock, built from a copy of the tree.
REPLACED = Recipe("rqspinlock", "um", "linux", "guest", "rqspinlock")
REPLACED_X86_64 = Recipe("rqspinlock-x86_64", X86_64, "arch/x86/boot/bzImage", "qemu", "x86_64",
                         "bpf", "rqspinlock")
REPLACED_X86_64.minutes, REPLACED_X86_64.megabytes = BPF.minutes, BPF.megabytes
EDITS = (
    (r"(?<=^#include <linux/slab.h>\n)", '#include "irq_event.h"\n'),
    (r"^\tstruct rqsl_cpu_hist \*hist = this_cpu_ptr\(",
     "\tcount_result(ctx == RQSL_CTX_NMI, ret);\n"),
)
LOCKS = ("stock", "nbqlock")	# the kernel's own, and ours
CPUS = 4
STANDSTILL = 60
TIMEOUT = 900
MODES = ("AA", "ABBA", "ABBCCA")
# Everything but the attempts is done by CPU 0.
ON_CPU_0 = "taskset -p 1 $$ >/dev/null\n"
# Prints a file of results when it has changed, until the command $gone succeeds.
WATCH = """
watch() {
	while ! eval "$gone"; do
		now=$(cat $1 2>/dev/null)
		[ "$now" = "$last" ] || echo "$now"
		last=$now
		sleep 1
	done
}
"""
RESULT = re.compile(r"^(task|irq) ok (\d+) EDEADLK (\d+) ETIMEDOUT (\d+) other (\d+)$",
                    re.MULTILINE)
# A line of the kernel test's histogram, or of a CPU whose waits were all short.
BUCKET = re.compile(r"(?:(\d+)-(\d+)ms|>= (\d+)ms): total \d+ \(normal (\d+), nmi (\d+)\)")
ALL_SHORT = re.compile(r"cpu\d+: total \d+ \(normal (\d+), nmi (\d+)\).*all within 0-(\d+)ms")
# The columns of the histogram here: waits of at most so many ms.
BOUNDS = (10, 50, 250)


# What is built

@functools.lru_cache
def test_modules(kernel):
    """The two test modules, built for a kernel: {file name: content}."""
    if not kernel.source:
        raise Failure(f"Linux {kernel.version} has no source here to take {KERNEL_TEST} from")
    sources = {file: (FOLDER / file).read_bytes()
               for file in ("Kbuild", "irq_event.h", "rqspinlock_cycle.c")}
    sources["bpf_test_rqspinlock.c"] = edited(kernel.source, KERNEL_TEST, EDITS,
                                              "tools/studies/rqspinlock/runs.py").encode()
    return build_apart(kernel, "rqspinlock", sources)


def kernels(lock, x86_64=False):
    """The found kernel as it is, or with the bare hybrid as rqspinlock."""
    if lock == LOCKS[1]:
        return built_copy(REPLACED_X86_64, CHANGES, modules=(BTF,)) if x86_64 else \
            built_copy(REPLACED, CHANGES)
    return built_kernel(BPF) if x86_64 else user_mode_kernel()


def row_of(lock, x86_64=False):
    """For setup(): the same."""
    if lock == LOCKS[1]:
        return (REPLACED_X86_64 if x86_64 else REPLACED).row_of_copy(CHANGES)
    return (BPF if x86_64 else GUEST).row()


# Runs

class Run(Part):
    """One test in a guest, and what it printed."""

    silence = STANDSTILL	# seconds without a word after which it hangs
    hung = False

    def files(self, _kernel):
        """Programs that it needs: {name: content}."""
        return {}

    @property
    def complaint(self):
        """What no lock of BPF may do; or nothing."""
        if self.hung:
            return "attempts never end"
        if self.status is None:
            return "it did not come to its end"
        return self.wrong or next(iter(complaints(self.log)), "")


class Deadlocks(Run):
    """The kernel's test: workers, and above them interrupts, in AA, ABBA or ABBCCA."""

    # Delays in ms.
    SCRIPT = f"""{WATCH}
insmod /lib/modules/bpf_test_rqspinlock.ko test_mode=%d normal_delay=2 nmi_delay=1 || exit 1
pauses=$(dmesg | grep -c 'Paused the test')
gone='[ $(dmesg | grep -c "Paused the test") -gt $pauses ]'
watch /sys/module/bpf_test_rqspinlock/parameters/results
cat /sys/module/bpf_test_rqspinlock/parameters/results
rmmod bpf_test_rqspinlock
"""

    def __init__(self, mode):
        super().__init__(mode, self.SCRIPT % MODES.index(mode))

    @property
    def results(self):
        """{"task" or "irq": {"ok": attempts, "EDEADLK": ..., ...}}, as far as it came."""
        return {found[1]: dict(zip(("ok", "EDEADLK", "ETIMEDOUT", "other"),
                                   map(int, found.groups()[1:])))
                for found in RESULT.finditer(self.output)}

    @property
    def waits(self):
        """Attempts by their length: (up to each of BOUNDS in ms ..., longer), all CPUs'."""
        counts = [0] * (len(BOUNDS) + 1)
        for line in self.log.splitlines():
            short = ALL_SHORT.search(line)
            bucket = BUCKET.search(line)
            if short:
                counts[0] += int(short[1]) + int(short[2])
            elif bucket:
                most = int(bucket[2]) if bucket[2] else BOUNDS[-1] + 1
                place = next((i for i, bound in enumerate(BOUNDS) if most <= bound),
                             len(BOUNDS))
                counts[place] += int(bucket[4]) + int(bucket[5])
        return counts

    @property
    def wrong(self):
        if len(self.results) < 2:
            return "it has no results"
        if not self.results["task"]["ok"]:
            return "no worker has acquired the lock"
        other = sum(counts["other"] for counts in self.results.values())
        return f"{other} attempts failed with an unknown error" if other else ""


class Cycle(Run):
    """Two queues, the middle of each in an interrupt above the head of the other."""

    def __init__(self):
        super().__init__("cycle", f"""
insmod /lib/modules/rqspinlock_cycle.ko || exit 1
verdict=/sys/module/rqspinlock_cycle/parameters/verdict
while grep -q running $verdict; do sleep 1; done
cat $verdict
dmesg | grep 'rqspinlock_cycle: ' | tail -n 7
grep -q hung $verdict && sleep {TIMEOUT}
rmmod rqspinlock_cycle
""")

    @property
    def verdict(self):
        found = re.search(r"^(ended|late|hung)$", self.output, re.MULTILINE)
        return found[1] if found else ""

    @property
    def attempts(self):
        """The lines about its attempts and locks."""
        return re.findall(r"rqspinlock_cycle: (.*)", self.output)

    @property
    def wrong(self):
        return "" if self.verdict in ("ended", "late") else "it has no verdict"


class MapLoad(Run):
    """A BPF hash map with one bucket, updated from each CPU."""

    def __init__(self, milliseconds=1000):
        super().__init__("map", f"taskset f ./map_load {CPUS} {milliseconds}")

    def files(self, _kernel):
        return {"map_load": static_program(FOLDER / "map_load.c")}

    @property
    def counts(self):
        line = re.search(r"^milliseconds=.*$", self.output, re.MULTILINE)
        return dict((name, int(value)) for name, value in
                    (word.split("=") for word in line[0].split())) if line else {}

    @property
    def lock_sizes(self):
        """What the kernel takes for a struct bpf_res_spin_lock: sizes in bytes."""
        return [int(size) for size in re.findall(r"\block(\d)=1\b", self.output)]

    @property
    def updates_a_second(self):
        counts = self.counts
        return counts["updates"] * 1000 / counts["milliseconds"] if counts else 0

    @property
    def wrong(self):
        if not self.counts:
            return "it has no results"
        wrong = re.findall(r"^wrong: .*", self.output, re.MULTILINE)
        if wrong:
            return wrong[0]
        if not self.counts["updates"] or not self.counts["creations"]:
            return "no update or no creation has succeeded"
        return f"{self.counts['other']} other errors" if self.counts["other"] else ""


class Selftest(Run):
    """The kernel's selftests of res_spin_lock, which are for the kernel's own lock.

    The last part of them ends when one of two programs, and not the other, finds that they
    have a deadlock. On two CPUs each does in some of the rounds; where the locks have queues
    that may take minutes.
    """

    silence = 300
    # A test acquires more locks than the kernel's own has a table for, and one of them again: it
    # wants -ETIMEDOUT, as the kernel's own finds no deadlock then, and returns 2 otherwise.
    # nbqlock has no table, and finds the deadlock.
    DIFFERENCES = {LOCKS[0]: [], LOCKS[1]: ["retval: 2"]}
    RESULT = re.compile(r"^(failure|success): checks=(\d+) failures=\d+$", re.MULTILINE)

    def __init__(self, lock):
        super().__init__("selftest", "./selftest failure\ntaskset 6 ./selftest success")
        self.expected = self.DIFFERENCES[lock]

    def files(self, kernel):
        return selftest(kernel)

    @property
    def checks(self):
        """{part: number of checks}, of the parts that came to their end."""
        return {found[1]: int(found[2]) for found in self.RESULT.finditer(self.output)}

    @property
    def failed(self):
        return re.findall(r"^failed: (.*)$", self.output, re.MULTILINE)

    @property
    def wrong(self):
        if len(self.checks) < 2 or not all(self.checks.values()):
            return "it has no results"
        if self.failed != self.expected:
            return f"failed checks: {self.failed}, not {self.expected}"
        return ""


def all_runs(milliseconds=1000):
    return [*(Deadlocks(mode) for mode in MODES), Cycle(), MapLoad(milliseconds)]


def run_all(machine, runs):
    """Make runs in one guest, one after the other. Returns its Outcome."""
    extra = {name: (content, 0o755) for run in runs
             for name, content in run.files(machine.kernel).items()}
    outcome = run_parts(machine, runs, before=ON_CPU_0, cpus=CPUS, timeout=TIMEOUT,
                        silence=max(run.silence for run in runs),
                        modules={"files": test_modules(machine.kernel)}, extra=extra)
    for run in runs:
        run.hung = run.begun and run.status is None and outcome.status == HUNG
    return outcome
