# SPDX-License-Identifier: GPL-2.0
"""Boots a kernel with the modules in it, runs a command, brings the verdict.

The guest's console is its kernel log. The command writes to a serial line of
its own, which ends with a line that only this boot can know: a random word
and the exit status. No such line, no success.

A guest that dies before its first program has tested nothing: it is started
anew, a few times at most, and each such death is said, counted and its log kept.
"""

import contextlib
import os
from pathlib import Path
import re
import secrets
import select
import shutil
import subprocess
import tempfile
import time

from base.building import cache_folder, kill_group, memory_environment
from base.common import BUILD, MOST_CPUS, Failure, Unavailable, ends_with_us, guest_cpus, say
from guest.complaints import COMPLAINTS, complaints, without_known
from guest.initramfs import guest_files, initramfs

HUNG = 124			# exit status: killed, as it stood still
DIED = 125			# exit status: panicked, or never came up
# Seconds without a word of a guest's command or kernel. They end what makes no progress, and decide
# nothing else: a guest that takes seconds on an idle machine may take hours on a busy one.
DEFAULT_TIMEOUT = 900
POWER_OFF_SECONDS = 900
# User-mode Linux may say that it powers down, and its process not end (seen once, with 16
# CPUs). Then it is looked for so often, this far apart.
POWERED_OFF = "reboot: Power down"
ENDS_IN, ENDS_AFTER_SECONDS = 3, 10
LOGS_KEPT = 30			# of guests of which there was nothing to report
FAILED_KEPT = 100		# of the others
MOST_STARTS = 3			# of a guest that dies before its first program

LOGS = BUILD / "log"
EARLY_DEATHS = LOGS / "early-deaths"

# Waiters that must queue behind CPUs which the host leaves without a core may wait for
# many of its turns, with preemption off. The kernel's detectors of that wait as long as
# they can; what really hangs meets the guest's limit.
UNHURRIED = ("rcupdate.rcu_cpu_stall_timeout=300", "watchdog_thresh=60",
             "workqueue.watchdog_thresh=300")

LOG_LINES_SHOWN = 60
LOOK_SECONDS = 10		# between two looks at the kernel log

# A command for a guest: memory that is no longer referenced goes to the kernel log, if
# the kernel has kmemleak. What is younger than five seconds does not count as lost.
LEAK_SCAN = """
leaks=/sys/kernel/debug/kmemleak
if [ -e $leaks ]; then
	sleep 6
	echo scan >$leaks
	echo scan >$leaks
	head -n 60 $leaks | while read -r line; do echo "$line" >/dev/kmsg; done
fi
"""


class Outcome:
    """What became of a guest's run."""

    def __init__(self):
        self.status = DIED
        self.problem = "the guest ended without a verdict"
        self.output = ""
        self.log = ""
        self.log_path = None
        self.died_early = False		# before its first program
        self.early_deaths = []		# kernel logs of the starts before this one

    @property
    def ended_well(self):
        """The command ran to its end, whatever its exit status."""
        return not self.problem

    @property
    def complaints(self):
        return complaints(self.log)


# Machines: how a kernel is started

EMULATION = "tcg,thread=multi"
MOST_QEMU_CPUS = 255		# of its PC


# Where a CPU of user-mode Linux starts, it runs on a host thread's own stack, near its
# top, and frees memory there. What KASAN, kmemleak and lockdep record of that is a stack
# trace; it is taken from the stack pointer up to the next multiple of the kernel's
# THREAD_SIZE (16 KB). Kernel stacks end at such a multiple; a host thread's ends at any
# page, and behind it may lie nothing. There the kernel dies: "Segfault with no mm".
# Between the stack and the end of its mapping glibc has the thread's static TLS. With
# more of that than THREAD_SIZE the trace ends inside the mapping, wherever it lies.
STATIC_TLS = 4 * 16384


def user_mode_environment():
    """What user-mode Linux needs in its environment."""
    given = os.environ.get("GLIBC_TUNABLES")
    ours = f"glibc.rtld.optional_static_tls={STATIC_TLS}"
    return {"GLIBC_TUNABLES": f"{given}:{ours}" if given else ours}


# Ways to lay out a user-mode kernel's memory on the host: words before its command. It
# turns randomization off by itself. With a stack limit of 1 MB the stacks of successive
# threads end at every page of THREAD_SIZE in turn, a guard page behind each but the first.
LAYOUTS = {
    "as it comes": (),
    "not randomized": ("setarch", "-R"),
    "from the bottom up": ("setarch", "-R", "-L"),
    "stacks of 1 MB": ("prlimit", "--stack=1048576:"),
}
CPUS_IN_A_LAYOUT = 6		# the first, one above whose stack anything may lie, and four


class UserModeMachine:
    """A user-mode Linux process.

    layout: how its memory lies on the host; one of LAYOUTS.
    """

    line = "/dev/ttyS0"
    leave = "poweroff -f"
    processor = None		# this machine's own
    memory = 512		# in MB; and more for each CPU

    def __init__(self, kernel, layout="as it comes"):
        self.kernel = kernel
        self.layout = LAYOUTS[layout]

    def megabytes(self, cpus):
        return self.memory + 16 * cpus

    def environment(self, cpus):
        return {**user_mode_environment(), **memory_environment(self.megabytes(cpus))}

    def command(self, folder, initrd, cpus, append, output):
        if cpus > MOST_CPUS:
            raise Failure(f"the user-mode kernel takes at most {MOST_CPUS} CPUs")
        return [*self.layout, self.kernel.image, "seccomp=on", f"ncpus={cpus}",
                f"mem={self.megabytes(cpus)}M", f"initrd={initrd}",
                f"uml_dir={folder}/", "con=null", "con0=null,fd:1",
                "ssl=null", f"ssl0=null,fd:{output}", "panic=-1", *UNHURRIED,
                *self.kernel.words, *append]


class QemuMachine:
    """An emulated PC, or a virtual one where that works.

    The guest's memory is QEMU's to lay out: it is the same whatever the host's is like.
    """

    line = "/dev/ttyS1"
    leave = "reboot -f"
    processor = "x86_64"
    console = "ttyS0"
    words = ("tsc=reliable",)	# for the kernel
    # Emulated by QEMU 7.2, cmpxchg16b may leave garbage in the flags: the kernel's allocator,
    # which uses it where there is one, then dies of an unexpected trap, at boot mostly.
    hardware = ("-cpu", "max,-cx16")
    topology = ""	# behind the number of CPUs
    memory = 1024	# in MB
    second_line = ("-serial", "chardev:output")

    def __init__(self, kernel, accelerator=None):
        self.kernel = kernel
        self.accelerator = accelerator

    def environment(self, _cpus):
        return {}

    def command(self, folder, initrd, cpus, append, output):
        program = f"qemu-system-{self.processor}"
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed; run tools/setup")
        accelerator = self.accelerator or best_accelerator(self.kernel)
        arguments = " ".join([f"console={self.console}", "panic=-1", *UNHURRIED,
                              *self.words, *self.kernel.words, *append])
        return [program, "-accel", accelerator, *self.hardware,
                "-smp", f"{cpus}{self.topology}", "-m", str(self.memory), "-nodefaults", "-nographic",
                "-no-reboot", "-serial", "stdio",
                "-chardev", f"file,id=output,path=/dev/fd/{output}",
                *self.second_line, "-kernel", self.kernel.image,
                "-initrd", initrd, "-append", arguments]


class TwoSockets(QemuMachine):
    """A PC of 20 CPUs in 2 nodes, by the topology that its kernel finds."""

    topology = ",sockets=2"
    hardware = (*QemuMachine.hardware, *(
        word for node, cpus in enumerate(("0-9", "10-19"))
        for word in ("-object", f"memory-backend-ram,id=memory{node},size=512M",
                     "-numa", f"node,nodeid={node},cpus={cpus},memdev=memory{node}")))


class I386Machine(QemuMachine):
    """An emulated PC that has no more than 32 bits."""

    processor = "i386"
    # The processor "max" says that it is an old one of AMD's, which the kernel warns of.
    hardware = ("-cpu", "coreduo")

    def __init__(self, kernel):
        super().__init__(kernel, EMULATION)


class VirtMachine(QemuMachine):
    """QEMU's machine "virt", which is like no other."""

    line = "/dev/hvc0"
    leave = "poweroff -f"
    words = ()
    second_line = ("-device", "virtio-serial-device",
                   "-device", "virtconsole,chardev=output")

    def __init__(self, kernel):
        super().__init__(kernel, EMULATION)


class ArmMachine(VirtMachine):
    """An emulated machine with arm64 processors of some kind.

    They have atomic instructions from ARMv8.1 on; older ones, as the Cortex-A53,
    put atomics together of exclusive loads and stores. The kernel asks them.
    """

    processor = "aarch64"
    console = "ttyAMA0"

    def __init__(self, kernel, cpu="max"):
        super().__init__(kernel)
        self.hardware = ("-machine", "virt,gic-version=3", "-cpu", cpu)


class RiscvMachine(VirtMachine):
    """An emulated machine with riscv64 processors, started by OpenSBI."""

    processor = "riscv64"
    # An older QEMU describes its processors by "riscv,isa" alone.
    words = ("riscv_isa_fallback",)
    hardware = ("-machine", "virt")


class CountingMachine(QemuMachine):
    """An emulated PC of one CPU whose time is instructions: each takes 1 ns.

    Its clocks advance with the instructions that it executes and with nothing
    else, so that a duration in ns is a number of instructions, the same in every
    run, and says nothing about how long they take. While the guest is idle its
    time jumps to the next timer.
    """

    def __init__(self, kernel):
        super().__init__(kernel, "tcg,thread=single")

    def command(self, folder, initrd, cpus, append, output):
        if cpus != 1:
            raise Failure("instructions can be counted on one CPU only")
        # A kernel thread tests the ciphers for a second or two after the boot.
        quiet = ["cryptomgr.notests", *append]
        return [*super().command(folder, initrd, cpus, quiet, output),
                "-icount", "shift=0,sleep=off"]


def best_accelerator(kernel):
    """KVM if a trial boot shows that it works; remembered until a reboot."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return EMULATION
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    folder = cache_folder("kvm")
    memory = folder / boot
    if not memory.exists():
        say("trying whether KVM can boot a kernel here")
        trial = run_guest(QemuMachine(kernel, "kvm"), "true", cpus=1, timeout=60,
                          quiet=True, starts=1)
        for old in folder.glob("[!.]*"):
            old.unlink(missing_ok=True)
        memory.write_text("yes" if trial.ended_well else "no")
    return "kvm" if memory.read_text() == "yes" else EMULATION


# The run

class Stream:
    """Takes a guest's output apart into words for us and the command's output."""

    def __init__(self, word, sink):
        self.word = word.encode()
        self.sink = sink
        self.pending = b""
        self.begun = False
        self.ready = False
        self.failure = None
        self.status = None
        self.output = []

    def feed(self, data):
        self.pending += data
        if not self.ready:
            self.read_start()
        if self.ready and self.status is None:
            self.read_output()

    def read_start(self):
        while not self.ready and b"\n" in self.pending:
            line, self.pending = self.pending.split(b"\n", 1)
            if line.startswith(self.word + b" begun"):
                self.begun = True
            elif line.startswith(self.word + b" ready"):
                self.ready = True
            elif line.startswith(self.word + b" failed"):
                self.failure = line[len(self.word) + 8:].decode(errors="replace")
            elif line:
                say("guest: " + line.decode(errors="replace"))

    def read_output(self):
        mark = b"\n" + self.word + b" exit "
        place = self.pending.find(mark)
        if place >= 0:
            self.emit(self.pending[:place])
            self.pending = self.pending[place:]
            verdict = re.match(re.escape(mark) + rb"(\d+)\n", self.pending)
            if verdict:
                self.status = int(verdict.group(1))
            return
        held = next((length for length in range(len(mark) - 1, 0, -1)
                     if self.pending.endswith(mark[:length])), 0)
        cut = len(self.pending) - held
        self.emit(self.pending[:cut])
        self.pending = self.pending[cut:]

    def finish(self):
        if self.ready and self.status is None:
            self.emit(self.pending)

    def emit(self, data):
        self.output.append(data)
        if self.sink and data:
            self.sink.write(data)
            self.sink.flush()


def log_file(path, kernel):
    """Where the kernel log goes; old ones without a name of their own are removed."""
    if path:
        return Path(path)
    LOGS.mkdir(parents=True, exist_ok=True)
    remove_oldest(LOGS, "guest-*.log", LOGS_KEPT)
    return LOGS / f"guest-{kernel}-{os.getpid()}-{secrets.token_hex(3)}.log"


def remove_oldest(folder, pattern, kept):
    """All logs but the last; another guest's start may remove some meanwhile."""
    dates = {}
    for log in folder.glob(pattern):
        with contextlib.suppress(FileNotFoundError):
            dates[log] = log.stat().st_mtime
    for old in sorted(dates, key=dates.get)[:-kept]:
        old.unlink(missing_ok=True)


def keep_failed(outcome):
    """Put a log that is worth a look where later guests do not push it out."""
    if outcome.problem or outcome.complaints:
        remove_oldest(LOGS, "failed-guest-*.log", FAILED_KEPT)
        outcome.log_path = outcome.log_path.rename(
            outcome.log_path.with_name(f"failed-{outcome.log_path.name}"))


def keep_early_death(log, kernel, deaths=EARLY_DEATHS):
    """Put away the log of a kernel that has tested nothing. Returns where it is."""
    deaths.mkdir(parents=True, exist_ok=True)
    remove_oldest(deaths, "*.log", FAILED_KEPT)
    kept = deaths / f"{kernel}-{os.getpid()}-{secrets.token_hex(3)}.log"
    shutil.copyfile(log, kept)
    say(f"{kernel} died before its first program and is started anew; kernel log: {kept}")
    return kept


def early_deaths(since):
    """The logs of the kernels that were started anew since then (of time.time())."""
    return sorted(log for log in EARLY_DEATHS.glob("*.log")
                  if log.stat().st_mtime >= since)


def run_guest(machine, command, log=None, quiet=False, starts=MOST_STARTS,
              deaths=EARLY_DEATHS, guilty=None, **options):
    """Boot, run a shell command, and report.

    log: a file for the kernel log.
    starts: how often it may die before its first program; the last time is reported.
    deaths: the folder for the kernel logs of all but the last.
    guilty: a pattern; a death whose kernel log has it is no early one.
    options: for start_guest().
    """
    path = log_file(log, machine.kernel.name)
    died = []
    while True:
        outcome = start_guest(machine, command, path, **options)
        outcome.early_deaths = died
        outcome.died_early &= not (guilty and guilty.search(outcome.log))
        if not outcome.died_early or len(died) + 1 >= starts:
            break
        died.append(keep_early_death(path, machine.kernel.name, deaths))
    if outcome.died_early:
        outcome.problem = (f"{outcome.problem}; it died before its first program, "
                           f"{len(died) + 1} times of {starts}"
                           f"{''.join(f', {early}' for early in died)}")
    if not log:
        keep_failed(outcome)
    if outcome.problem and not quiet:
        say(outcome.problem)
    return outcome


def start_guest(machine, command, log, cpus=None, timeout=DEFAULT_TIMEOUT, append=(),
                modules=None, extra=None, sink=None, silence=None):
    """Start a guest once, whatever comes of it. Returns its Outcome.

    modules: {"files": {name: content}, "load": [names in order]}.
    extra: {name: (content, mode)} to find in /root.
    sink: a binary stream that gets the output as it comes.
    timeout: seconds without a word after which the guest counts as hung.
    silence: the same, once it is up.
    """
    cpus = cpus or guest_cpus()
    word = f"nbq-{secrets.token_hex(8)}"
    stream = Stream(word, sink)
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        initrd = Path(folder) / "initramfs"
        initrd.write_bytes(initramfs(guest_files(
            machine, command, modules or {}, extra, word)))
        hung, off = boot(machine, folder, initrd, cpus, list(append), log,
                         stream, timeout, silence)
    outcome = Outcome()
    outcome.log_path = log
    outcome.log, known = without_known(log.read_text(errors="replace"))
    outcome.output = b"".join(stream.output).decode(errors="replace")
    judge(outcome, stream, hung, off)
    for complaint in known:
        say(f"  passed over in the kernel log: {complaint}")
    return outcome


def boot(machine, folder, initrd, cpus, append, log, stream, timeout, silence):
    """Start the machine and feed the stream. Returns (how it hung, powered off)."""
    ours, theirs = os.pipe()
    # A guest that spins must not outlive its parent.
    words = ends_with_us(machine.command(folder, initrd, cpus, append, theirs))
    with open(log, "wb") as console:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=console,
                                   stderr=subprocess.STDOUT, pass_fds=[theirs],
                                   start_new_session=True, cwd=folder,
                                   env={**os.environ, **machine.environment(cpus)})
    os.close(theirs)
    try:
        hung = listen(ours, stream, log, timeout, silence)
        off = not hung and powered_off(process, log)
        return hung, off
    finally:
        kill_group(process)
        os.close(ours)


class KernelLog:
    """Whether a kernel says something new. After its first complaint that says nothing: one that
    hangs may report it for ever.
    """

    def __init__(self, path):
        self.path = path
        self.size = 0

    def goes_on(self):
        size = self.path.stat().st_size
        grew, self.size = size > self.size, size
        return grew and not complaints(self.path.read_text(errors="replace"))


def listen(line, stream, log, timeout, silence):
    """Read until the verdict or the end. How the guest hung, or nothing."""
    kernel, said = KernelLog(log), time.monotonic()
    while stream.status is None and stream.failure is None:
        quiet = silence if silence and stream.ready else timeout
        left = said + quiet - time.monotonic()
        if left <= 0:
            stream.finish()
            return f"no word for {quiet:g} s"
        if select.select([line], [], [], min(left, LOOK_SECONDS))[0]:
            data = os.read(line, 65536)
            if not data:
                break
            stream.feed(data)
        elif not kernel.goes_on():
            continue
        said = time.monotonic()
    stream.finish()
    return ""


def powered_off(process, log):
    """Whether the guest has powered off: its process has ended, or could have."""
    kernel, spoke = KernelLog(log), time.monotonic()
    said = 0
    while said < ENDS_IN and time.monotonic() < spoke + POWER_OFF_SECONDS:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=ENDS_AFTER_SECONDS)
            return True
        if kernel.goes_on():
            spoke = time.monotonic()
        said += POWERED_OFF in log.read_text(errors="replace")
    if said:
        say("  passed over: the guest has powered down, and its process does not end; killed")
    return bool(said)


def judge(outcome, stream, hung, off):
    """Turn what was seen into a status and, if all was not well, a sentence."""
    panic = next((line for line in outcome.log.splitlines()
                  if "Kernel panic" in line), None)
    outcome.died_early = not (stream.begun or hung)
    if stream.status is not None:
        outcome.status = stream.status if off else stream.status or HUNG
        outcome.problem = None if off else \
            f"the guest did not power off: no word for {POWER_OFF_SECONDS} s; killed"
    elif panic:
        outcome.problem = f"the guest panicked: {panic.strip()}"
    elif stream.failure:
        outcome.problem = f"the guest could not be set up: {stream.failure}"
    elif hung and stream.ready:
        outcome.status = HUNG
        outcome.problem = f"the guest hung: {hung}; killed"
    elif not stream.ready:
        outcome.problem = "the guest never came up"


def readable(log):
    """A console's text without control characters."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc|[^\t\n\x20-\x7e]", "", log)


def excerpt(log):
    """The lines of a kernel log that are worth a look when something is wrong."""
    lines = readable(log).splitlines()
    first = next((number for number, line in enumerate(lines)
                  if COMPLAINTS.search(line)), None)
    if first is not None:
        return lines[max(0, first - 10):first + LOG_LINES_SHOWN]
    # What the kernel says before it has a first process is seldom the reason.
    started = next((number for number, line in enumerate(lines)
                    if "Run /init as init" in line), 0)
    return lines[started:][-LOG_LINES_SHOWN:]


def log_excerpt(outcome):
    """A part of a guest's kernel log, under a heading that says why."""
    reason = outcome.problem or "; ".join(outcome.complaints[:3]) or "for reference"
    return "\n".join([f"--- from the kernel log ({reason})", *excerpt(outcome.log),
                      f"--- all of it: {outcome.log_path}"])
