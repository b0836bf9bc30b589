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
import subprocess
import tempfile
import time

from base.building import kill_group
from base.common import ends_with_us, guest_cpus, say
from guest.complaints import complaints, without_known
from guest.initramfs import guest_files, initramfs
from guest.logs import EARLY_DEATHS, keep_early_death, keep_failed, log_file

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
MOST_STARTS = 3			# of a guest that dies before its first program
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
