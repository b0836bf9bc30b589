# SPDX-License-Identifier: GPL-2.0
"""Dumps of guests whose CPUs hang in locks, by QEMU."""

import mmap
from pathlib import Path
import socket
from typing import NamedTuple

from base.common import Failure, Unavailable
from guest.guest import run_guest
from guest.guest_cli import loaded
from guest.logs import log_excerpt
from guest.kernels import Kernel
from guest.machines import QemuMachine
from guest.modules import build_apart, build_user, user_sources
from guest.systems import plain

HANG = Path(__file__).parent / "hang"
MODULE = "nbq_hang.ko"
OF_KERNEL = "kernel"		# the type of lock: the kernel's own, which is the hybrid
CPUS = 13			# of nbq_hang.c, and one that goes on
HUNG, TOO_EARLY = "@hung", "@early"
# A vmcore needs the kernel's notes of where things are, which this driver hands to QEMU. A kernel
# without PCI does not find QEMU's side of it: there, notes_in() does.
NOTES = "qemu_fw_cfg.ko"
NOTE = b"VMCOREINFO\0\0OSRELEASE="
# Interrupts of the line to the host come to the one CPU that does not hang. A busy host is slow to
# tell the time, for which so many CPUs would give up the boot.
APPENDED = ("irqaffinity=0", "no_timer_check")
TIMEOUT = 3600			# of a guest that takes a minute; it only ends what hangs
FIRST_SECONDS, MOST_SECONDS = 10, 640

SCRIPT = f"""
insmod /root/{MODULE} seconds=@SECONDS@ checks=@CHECKS@ || exit 1
C=/sys/module/nbqlock/parameters/deadlock_checks
[ ! -e $C ] || echo @CHECKS@ >$C || exit 1
P=/sys/module/nbq_hang/parameters/hang
if echo @TYPE@ >$P; then echo {HUNG}; else echo {TOO_EARLY}; fi
while true; do :; done
"""


class DumpedMachine(QemuMachine):
    """A PC whose memory QEMU dumps."""

    memory = 512

    def __init__(self, kernel, folder):
        super().__init__(kernel)
        self.monitor = folder / "monitor"
        self.vmcore = folder / "vmcore"

    def command(self, *arguments):
        return [*super().command(*arguments), "-device", "vmcoreinfo",
                "-monitor", f"unix:{self.monitor},server=on,wait=off"]


class Dumper:
    """Gets the output of a guest, and dumps it when it says that it hangs. Then it ends."""

    def __init__(self, machine, option):
        self.machine = machine
        self.option = option
        self.said = b""
        self.ended = False

    def write(self, output):
        self.said += output
        if HUNG.encode() in self.said:
            self.end_with(f"dump-guest-memory {self.option} {self.machine.vmcore}\nquit\n")
        elif TOO_EARLY.encode() in self.said:
            self.end_with("quit\n")

    def end_with(self, commands):
        if self.ended:
            return
        self.ended = True
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.machine.monitor))
            monitor.sendall(commands.encode())
            while monitor.recv(4096):
                pass

    def flush(self):
        pass


def notes_driver(kernel):
    """QEMU's driver of a Debian kernel, by the name of the loaded file."""
    root = Path(str(kernel.build_dir).partition("/usr/src/")[0])
    found = list(root.glob(f"lib/modules/*/kernel/drivers/firmware/{NOTES}*"))
    if not found:
        raise Unavailable(f"Linux {kernel.version} has no {NOTES}")
    return plain(found[0])


def notes_in(vmcore):
    """The notes in the memory that was dumped: an ELF note; its size stands before its name."""
    with open(vmcore, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        name = data.find(NOTE)
        if name < 0:
            raise Failure("the memory of the guest has no VMCOREINFO")
        size = int.from_bytes(data[name - 8:name - 4], "little")
        begin = name + NOTE.index(b"OSRELEASE")
        return data[begin:begin + size]


class Hang(NamedTuple):
    """A guest that hangs: the lock type by the names of nbq_hang.c; whether waits that cannot end
    are found, given up and made again.
    """
    kernel: Kernel
    kind: str
    checks: bool
    option: str = ""		# of dump-guest-memory

    def modules(self):
        """(options for run_guest(), {name: what drgn needs of the modules})."""
        if self.kind == OF_KERNEL:
            sources = {path.name: path.read_bytes() for path in HANG.iterdir()}
            made = build_apart(self.kernel, "hang", sources)
            return {"append": APPENDED}, made
        modules = loaded(self.kernel)
        _, made = build_user(self.kernel, "hang", user_sources(HANG))
        modules["files"][NOTES] = notes_driver(self.kernel)
        modules["load"] = [NOTES, "nbqlock.ko"]
        return {"append": APPENDED, "modules": modules}, \
            {"nbqlock.ko": modules["files"]["nbqlock.ko"], **made}

    def script(self, seconds):
        script = SCRIPT
        for mark, text in (("SECONDS", str(seconds)), ("CHECKS", "ny"[self.checks]),
                           ("TYPE", self.kind)):
            script = script.replace(f"@{mark}@", text)
        return script

    def dump(self, folder):
        """Put the vmcore and the modules, with their debug information, into a folder."""
        machine = DumpedMachine(self.kernel, folder)
        options, made = self.modules()
        for name, content in made.items():
            (folder / name).write_bytes(content)
        seconds = FIRST_SECONDS
        while seconds <= MOST_SECONDS:
            outcome = run_guest(machine, self.script(seconds), cpus=CPUS, quiet=True,
                                extra={MODULE: (made[MODULE], 0o644)}, timeout=TIMEOUT,
                                sink=Dumper(machine, self.option), **options)
            if HUNG in outcome.output and machine.vmcore.exists():
                if self.kind == OF_KERNEL:
                    (folder / "vmcoreinfo").write_bytes(notes_in(machine.vmcore))
                return
            if TOO_EARLY not in outcome.output:
                raise Failure(f"the guest did not hang: {outcome.output}\n{log_excerpt(outcome)}")
            seconds *= 4
        raise Failure("in each guest the waiter gave up before its successor had stopped")
