# SPDX-License-Identifier: GPL-2.0
"""Compares rqspinlock, the lock of BPF, with nbqlock's hybrid lock in its place.

Two kernels of one tree are booted by turns, one of them with
CONFIG_NBQ_RQSPINLOCK. Each test has its own guest, since a test may hang:

  AA ABBA ABBCCA  the kernel's bpf_test_rqspinlock, with a timer in hard
                  interrupts instead of NMIs: failures by kind, lengths of waits
  cycle           two queues, built step by step: the waiter in the middle of
                  each has interrupted the head of the other
  map             updates a second of a BPF hash map with one bucket, by 4 CPUs
  selftest        the kernel's selftests of res_spin_lock (only with --x86-64:
                  BPF programs call the lock through the kernel's JIT)

Documentation/rqspinlock.rst explains the results, and what they leave out.
"""

# The kernel's bpf_test_rqspinlock.c is built with load/irq_event.h behind its headers: a timer in
# hard interrupts instead of NMIs, which take hardware counters.
#
# Contexts that wait for one another for ever are recognised by the results, which CPU 0 prints
# as they change, and takes no other part: no attempt has ended for STANDSTILL seconds, although
# none may take longer than half a second. (Its programs may come to a halt, too, as RCU waits for
# the other CPUs.)

import errno
import re
from statistics import median

from base.case import LOAD, MORE, ONLY_ALL, Case, On, extent, once, runs_on, step
from base.common import PROJECT, Failure
from guest.bpf import BTF, TOOLS_ROW
from guest.cases import RQSPINLOCK, clean_guest
from guest.complaints import complaints
from guest.guest import HUNG
from guest.kernel_copy import built_copy
from guest.kernel_table import TestBed
from guest.kernel_tests import edited
from guest.kernels import BPF, GUEST, X86_64, Recipe, built_kernel, user_mode_kernel
from guest.machines import QemuMachine, UserModeMachine
from guest.modules import build_apart
from guest.programs import static_program
from studies.frame import Guest, Load, cell, judged, load_cases, number, option, rounds, study
from studies.rqspinlock.selftest import selftest

VERBS = {"rqspinlock": "compare rqspinlock with the hybrid in its place"}
EPILOG = "The exit status is 1 if a test of nbqlock's kernel does not pass."
LOCKS = STOCK, OURS = "stock", "nbqlock"	# the kernel's own, and ours
OPTIONS = (
    rounds(3, "how often each test is run on each kernel"),
    option("--only", choices=LOCKS,
           help="only one of the kernels: stock has the kernel's own lock"),
    option("--x86-64", action="store_true",
           help="run x86-64 under QEMU instead of user-mode Linux"),
    number("--milliseconds", 3000, "length of each part of the test \"map\""))
CHOSEN = "test"
JUDGED = (OURS,)
STOPS = False

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
# A line of the kernel test's histogram, or of a CPU whose waits were all short.
BUCKET = re.compile(r"(?:(\d+)-(\d+)ms|>= (\d+)ms): total \d+ \(normal (\d+), nmi (\d+)\)")
ALL_SHORT = re.compile(r"cpu\d+: total \d+ \(normal (\d+), nmi (\d+)\).*all within 0-(\d+)ms")
# The columns of the histogram here: waits of at most so many ms.
BOUNDS = (10, 50, 250)


# What is built

@once
def test_modules(kernel):
    """The two test modules, built for a kernel: {file name: content}."""
    if not kernel.source:
        raise Failure(f"Linux {kernel.version} has no source here to take {KERNEL_TEST} from")
    sources = {file: (FOLDER / file).read_bytes()
               for file in ("Kbuild", "irq_event.h", "rqspinlock_cycle.c")}
    sources["bpf_test_rqspinlock.c"] = edited(kernel.source, KERNEL_TEST, EDITS,
                                              "tools/studies/rqspinlock/study.py").encode()
    return build_apart(kernel, "rqspinlock", sources)


@once
def kernel_of(lock, x86_64=False):
    """The found kernel as it is, or with the bare hybrid as rqspinlock."""
    if lock == OURS:
        return built_copy(REPLACED_X86_64, CHANGES, modules=(BTF,)) if x86_64 else \
            built_copy(REPLACED, CHANGES)
    return built_kernel(BPF) if x86_64 else user_mode_kernel()


def row_of(lock, x86_64):
    """For setup(): the same."""
    if lock == OURS:
        return (REPLACED_X86_64 if x86_64 else REPLACED).row_of_copy(CHANGES)
    return (BPF if x86_64 else GUEST).row()


def sides(options):
    boots = QemuMachine if options.x86_64 else UserModeMachine
    return {lock: TestBed(lock, lambda lock=lock: kernel_of(lock, options.x86_64), boots)
            for lock in LOCKS if options.only in (None, lock)}


def needs(options):
    return ["bpf" if options.x86_64 else "run"], [
        "source", *(row_of(lock, options.x86_64) for lock in sides(options)),
        *[TOOLS_ROW] * options.x86_64]


# Runs

class Run(Load):
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
        return super().complaint or next(iter(complaints(self.log)), "")


class Deadlocks(Run):
    """The kernel's test: workers, and above them interrupts, in AA, ABBA or ABBCCA."""

    claims = {"workers acquire the lock": lambda values: values["task.ok"],
              "attempts fail with known errors": lambda values:
              values["task.other"] + values["irq.other"] == 0}
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


class Cycle(Run):
    """Two queues, the middle of each in an interrupt above the head of the other."""

    claims = {"it ends": lambda values: values["verdict"] in ("ended", "late")}

    def __init__(self):
        super().__init__("cycle", f"""
insmod /lib/modules/rqspinlock_cycle.ko || exit 1
verdict=/sys/module/rqspinlock_cycle/parameters/verdict
while grep -q running $verdict; do sleep 1; done
echo verdict $(cat $verdict)
grep -q hung $verdict && sleep {TIMEOUT}
rmmod rqspinlock_cycle
""")


class MapLoad(Run):
    """A BPF hash map with one bucket, updated from each CPU."""

    claims = {"updates and creations succeed": lambda values:
              values["updates"] and values["creations"],
              "nothing goes wrong": lambda values: not values["wrong"] and not values["other"]}

    def __init__(self, milliseconds=1000):
        super().__init__("map", f"taskset f ./map_load {CPUS} {milliseconds}")

    def files(self, _kernel):
        return {"map_load": static_program(FOLDER / "map_load.c")}


class Selftest(Run):
    """The kernel's selftests of res_spin_lock, which are for the kernel's own lock.

    The last part of them ends when one of two programs, and not the other, finds that they
    have a deadlock. On two CPUs each does in some of the rounds; where the locks have queues
    that may take minutes.
    """

    silence = 300
    claims = {"both parts come to their end": lambda values:
              values["failure.checks"] and values["success.checks"]}
    # A test acquires more locks than the kernel's own has a table for, and one of them again: it
    # wants -ETIMEDOUT, as the kernel's own finds no deadlock then, and returns 2 otherwise.
    # nbqlock has no table, and finds the deadlock.
    DIFFERENCES = {STOCK: [], OURS: ["retval: 2"]}

    def __init__(self, lock):
        super().__init__("selftest", "./selftest failure\ntaskset 6 ./selftest success")
        self.expected = self.DIFFERENCES[lock]

    def files(self, kernel):
        return selftest(kernel)

    @property
    def failed(self):
        return re.findall(r"^failed: (.*)$", self.output, re.MULTILINE)

    @property
    def complaint(self):
        return super().complaint or (
            f"failed checks: {self.failed}, not {self.expected}"
            if self.failed != self.expected else "")


class Tested(Guest):
    """One guest that makes runs, one after the other."""

    complaint = ""		# each run has its own

    def __init__(self, machine, runs):
        extra = {name: (content, 0o755) for run in runs
                 for name, content in run.files(machine.kernel).items()}
        super().__init__(machine, runs, before=ON_CPU_0, cpus=CPUS, timeout=TIMEOUT, extra=extra,
                         silence=max(run.silence for run in runs),
                         modules={"files": test_modules(machine.kernel)})

    def run(self):
        super().run()
        for run in self.parts:
            run.hung = run.begun and run.status is None and self.outcome.status == HUNG
        return self


def parts(options):
    tests = {**{mode: lambda mode, *_: Deadlocks(mode) for mode in MODES},
             "cycle": lambda *_: Cycle(), "map": lambda *_: MapLoad(options.milliseconds)}
    if options.x86_64:
        tests["selftest"] = lambda _name, side: Selftest(side)
    return {name: lambda name, side, machine, _, make=make: Tested(machine, [make(name, side)])
            for name, make in tests.items()}


# Table: rows of each test

def attempts(run):
    """{"cpu1.irq.b": result} of a Cycle."""
    return {name: result for name, result in run.values.items() if name.startswith("cpu")}


def failed_by(error):
    return lambda runs: isinstance(runs[0], Cycle) and str(
        sum(list(attempts(run).values()).count(-error) for run in runs))


def wait_row(place):
    def text(runs):
        ended = [run for run in runs if isinstance(run, Deadlocks) and not run.hung]
        return ended and str(sum(run.waits[place] for run in ended))
    return text


def rates(runs):
    """Updates a second of each round."""
    return sorted(run.values["updates"] * 1000 / run.values["milliseconds"]
                  for run in runs if "milliseconds" in run.values)


ROWS = {
    "rounds that hang": lambda runs: f"{sum(run.hung for run in runs)} of {len(runs)}",
    **{f"{who}, {kind}": cell(f"{who}.{kind}", sum) for who in ("task", "irq")
       for kind in ("ok", "EDEADLK", "ETIMEDOUT", "other")},
    **{f"waits {name}": wait_row(place) for place, name in enumerate(
        (*(f"to {bound} ms" for bound in BOUNDS), f"over {BOUNDS[-1]} ms"))},
    "attempts, EDEADLK": failed_by(errno.EDEADLK),
    "attempts, ETIMEDOUT": failed_by(errno.ETIMEDOUT),
    "updates a second, median": lambda runs: rates(runs) and f"{median(rates(runs)):.0f}",
    "of rounds": lambda runs: " ".join(f"{rate:.0f}" for rate in rates(runs)),
    "bytes of a lock": lambda runs: " ".join(str(size) for size in (4, 8)
                                             if runs[0].values.get(f"lock{size}") == 1),
    "operations, EDEADLK": cell("deadlocks", sum), "operations, ETIMEDOUT": cell("timeouts", sum),
    "wrong": cell("wrong", sum),
    "checks that must be refused": cell("failure.checks", sum),
    "checks that must succeed": cell("success.checks", sum),
    "failed checks": lambda runs: isinstance(runs[0], Selftest) and ("; ".join(dict.fromkeys(
        check for run in runs for check in run.failed)) or "none")}


# Cases

USER_MODE = TestBed("user-mode, the hybrid as rqspinlock", lambda: kernel_of(OURS))
IN_QEMU = TestBed("x86-64, the hybrid as rqspinlock", lambda: kernel_of(OURS, True), QemuMachine)
SHORT, LONG = 500, 5000		# ms of each part of the test of the map
# Of what a busy machine may keep from coming up.
STARTS = 3
# In the cycle of queues, an interrupt above a waiter that got its lock.
HEAD = re.compile(r"cpu[12]\.irq\.[ab]")


def interrupts_ended_right(aa, cycle):
    """AA: one above the holder got -EDEADLK. Cycle: both above a waiter acquired, as head."""
    return [bool(aa.values.get("irq.EDEADLK")),
            sum(bool(HEAD.match(name)) and result == 0
                for name, result in attempts(cycle).items()) == 2]


def bpf_cases(name, testbed, milliseconds):
    runs = [*map(Deadlocks, MODES), Cycle(), MapLoad(milliseconds)]
    guest = Tested(testbed.machine(), runs).run()
    outcomes = [guest.outcome]
    yield from load_cases(name, guest)
    yield Case(f"{name}: struct bpf_res_spin_lock has the lock's size for BTF",
               ROWS["bytes of a lock"](runs[-1:]) == "4", runs[-1].output)
    found = interrupts_ended_right(runs[0], runs[-2])
    while not all(found) and len(outcomes) < STARTS and not any(run.hung for run in guest.parts):
        guest = Tested(testbed.machine(), [Deadlocks(MODES[0]), Cycle()]).run()
        outcomes.append(guest.outcome)
        found = [a or b for a, b in zip(found, interrupts_ended_right(*guest.parts))]
    yield Case(f"{name}: interrupts get -EDEADLK above the holder, the lock in a cycle of queues",
               all(found), "".join(run.output for run in runs))
    yield clean_guest(name, *outcomes)


def selftest_cases(lock, testbed):
    """The kernel's selftests: the checks that fail are those that are expected to."""
    name = f"rqspinlock, x86-64, {lock}"
    for _ in range(STARTS):
        guest = Tested(testbed.machine(), [Selftest(lock)]).run()
        if guest.parts[0].status is not None:
            break
    yield judged(f"{name}: the kernel's selftests of res_spin_lock", guest.parts[0].complaint,
                 guest)
    yield clean_guest(name, guest.outcome)


@step("rqspinlock", MORE, LOAD)
@runs_on(USER_MODE, "the hybrid as rqspinlock")
def rqspinlock():
    """BPF's locks on the bare hybrid: AA, ABBA, ABBCCA, a cycle of queues, a contended map"""
    yield from bpf_cases("rqspinlock", USER_MODE, LONG if extent.is_long else SHORT)


@step("rqspinlock-all", ONLY_ALL, LOAD)
@runs_on(IN_QEMU, "the hybrid as rqspinlock")
def rqspinlock_kernels():
    """as rqspinlock, on x86-64 in QEMU, and the kernel's selftests, there and on its own lock"""
    yield from bpf_cases("rqspinlock, x86-64", IN_QEMU, LONG)
    yield from selftest_cases(OURS, IN_QEMU)
    yield On(RQSPINLOCK, "its own selftests")
    yield from selftest_cases(STOCK, RQSPINLOCK)


body = study(__name__)
