# SPDX-License-Identifier: GPL-2.0
"""A Debian system from power on to power off, on a kernel with either spinlock.

It boots to its login on a serial line; what is done in it is typed there.
"""

import re
import subprocess

from base.building import kill_group
from base.common import Failure, ends_with_us
from base.dialogue import await_text
from guest.guest import Outcome
from guest.kernel_tests import COUNTERS, Boot, KernelLock, RcuTorture
from guest.loads_of_others import FILE_SYSTEMS
from guest.logs import keep_failed, log_file
from guest.machines import QemuMachine
from guest.parts import Part
from guest.systems import DiskMachine
from studies.whole_kernel.debian import FETCHED, HOST, SCRIPTS, disk_with
from studies.whole_kernel.others import BY_CHANCE, Programs, StressClass

SERVICES = ("systemd-journald", "systemd-udevd", "systemd-logind", "systemd-networkd", "dbus",
            "cron", "ssh")
TORTURED = ("spin_lock", "raw_spin_lock_irq", "rw_lock", "mutex_lock")
# Runs random instructions: one had a fault, emulated by QEMU, that the kernel took for its own.
EMULATED = ("opcode",)
WAIT = "for attempt in $(seq 300); do sleep 1;"	# for what comes at some time


class Started(Part):
    """All that systemd was to start runs."""

    def __init__(self):
        super().__init__("systemd", "systemctl is-system-running --wait\n"
                         "status=$?; systemctl --failed --no-legend; [ $status = 0 ]")

    @property
    def figure(self):
        return (self.output.split() or [""])[0]


class Lock(Part):
    """The kernel has the spinlocks that it is to have, and not the others."""

    OF = {True: "_raw_spin_lock_timeout", False: "(native_)?queued_spin_lock_slowpath"}

    def __init__(self, is_hybrid):
        super().__init__("spinlocks", "uname -a\n"
                         f"grep -wE '{self.OF[is_hybrid]}' /proc/kallsyms && "
                         f"! grep -wE '{self.OF[not is_hybrid]}' /proc/kallsyms")
        self.figure = "the hybrid" if is_hybrid else "qspinlock"


class Services(Part):
    """They are active; the log has what is logged; the network has an address."""

    def __init__(self):
        super().__init__("services", f"""
systemctl is-active {" ".join(SERVICES)} || exit 1
logger nbqlock-was-here && journalctl --sync && journalctl -b | grep nbqlock-was-here || exit 1
{WAIT} ip -4 addr | grep -F 10.0.2. && exit; done; exit 1""")
        self.figure = f"{len(SERVICES)} active, network"


class Package(Part):
    """A package with a service is installed, does its work, is purged."""

    def __init__(self):
        name, = FETCHED
        super().__init__("package", f"""
export DEBIAN_FRONTEND=noninteractive
apt-get -q -y install {name} && systemctl is-active atd || exit 1
echo 'touch /run/was-at-work' | at now
{WAIT} [ ! -e /run/was-at-work ] || break; done
[ -e /run/was-at-work ] && apt-get -q -y purge {name} && ! systemctl is-active atd""")
        self.figure = f"{name}: installed, at work, purged"


class Hotplug:
    """Of a torture test: CPUs go offline meanwhile."""

    LINES = re.compile(r"CPU \d+ is now offline")

    @property
    def offlines(self):
        return len(self.LINES.findall(self.log))

    @property
    def complaint(self):
        return super().complaint or ("" if self.offlines else "no CPU went offline")

    @property
    def figure(self):
        return f"{super().figure}; CPUs went offline {self.offlines} times"


class HotplugLock(Hotplug, KernelLock):
    def __init__(self, operations, seconds):
        super().__init__(operations, seconds, onoff_interval=1)


class HotplugRcu(Hotplug, RcuTorture):
    def __init__(self, seconds):
        super().__init__(seconds, onoff_interval=200)	# in jiffies


class Suspend(Part):
    """The firmware puts the machine to sleep; its clock wakes it up."""

    def __init__(self):
        super().__init__("suspend to memory", f"""
rtcwake -m mem -s 5 && dmesg | grep 'PM: suspend exit' && systemctl is-active {SERVICES[0]}""")


class Counters(Part):
    """The counters of nbqlock, of this boot of the kernel."""

    def __init__(self):
        super().__init__("counters", COUNTERS)


class Kexec(Part):
    """The kernel has started another one, in which the system runs."""

    BOOT = "/proc/sys/kernel/random/boot_id"

    def __init__(self):
        super().__init__("kexec", f"[ -s /root/boot_id ] && ! cmp {self.BOOT} /root/boot_id && "
                         "[ $(systemctl is-system-running --wait) = running ]")

    def leave(self, kernel):
        """What is typed at the kernel before."""
        return (f"cp {self.BOOT} /root/boot_id; "
                f"kexec -l /boot/{kernel.image.name} --reuse-cmdline && systemctl kexec")


def parts_of(is_hybrid, cpus, seconds, classes):
    """What is done before the kernel starts another one. seconds: of each torture test."""
    return [Started(), Lock(is_hybrid), Services(), Package(),
            *(HotplugLock(operations, seconds) for operations in TORTURED),
            HotplugRcu(2 * seconds), Suspend(),
            *[Programs(FILE_SYSTEMS)] * bool(classes),
            *(StressClass(name, cpus, (*BY_CHANCE, *EMULATED)) for name in classes)]


# Boots

LOGIN, PROMPT = f"{HOST} login: ".encode(), f"root@{HOST}:~# ".encode()
OFF = "reboot: Power down"
LONGEST = 3600			# until something is said, in seconds: a limit for hangs


class LoginMachine(DiskMachine):
    """An emulated PC that boots a system from its disk and has a terminal and a network."""

    console = "ttyS1"
    memory = 2048
    words = (*QemuMachine.words, "root=/dev/vda", "rw", "printk.devkmsg=on")

    def __init__(self, kernel, disk):
        super().__init__(kernel, disk)
        self.hardware = (*self.hardware, "-nic", "user,model=virtio-net-pci")

    def command(self, folder, initrd, cpus, append, output):
        words = super().command(folder, initrd, cpus, append, output)
        place = words.index("-initrd")
        return words[:place] + words[place + 2:]


class DebianBoot(Boot):
    """What is typed, and what came of it.

    classes: of stress-ng, all of whose stressors run.
    """

    def __init__(self, kernel, is_hybrid, cpus, seconds, classes=()):
        self.kernel = kernel
        self.first = parts_of(is_hybrid, cpus, seconds, classes)
        self.count, self.kexec = Counters(), Kexec()
        super().__init__(None, cpus, [*self.first, self.kexec], is_hybrid)
        self.said = b""
        self.process = None

    @property
    def typed(self):
        return [*self.first, self.count, self.kexec]

    def run(self, timeout=LONGEST):
        log = log_file(None, self.kernel.name)
        scripts = {script_of(part): part.script for part in self.typed}
        with disk_with(self.kernel, scripts) as disk, open(log, "wb") as lines:
            self.machine = LoginMachine(self.kernel, disk)
            problem = self.converse(self.machine.command("", "", self.cpus, [], lines.fileno()),
                                    timeout, pass_fds=[lines.fileno()])
        self.take(log, problem)
        keep_failed(self.outcome)
        return self

    def converse(self, words, timeout, **options):
        """Start the machine by a command; what went wrong, or nothing."""
        self.process = subprocess.Popen(
            ends_with_us(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, bufsize=0, **options)
        try:
            self.visit(timeout)
        except (Failure, BrokenPipeError) as reason:
            return str(reason)
        finally:
            kill_group(self.process)
            self.process.stdin.close()
            self.process.stdout.close()
        return ""

    def take(self, log, problem):
        """What came of it."""
        self.outcome = Outcome()
        self.outcome.log_path, self.outcome.log = log, log.read_text(errors="replace")
        self.outcome.output = self.said.decode(errors="replace").replace("\r", "")
        self.outcome.problem = problem or \
            ("" if OFF in self.outcome.log else "it did not power off")
        for part in self.typed:
            part.take(self.outcome)
        self.take_counters()

    def visit(self, timeout):
        """From power on to power off."""
        self.log_in(timeout)
        for part in (*self.first, self.count):
            self.type(part, timeout)
        self.send(self.kexec.leave(self.kernel))
        self.log_in(timeout)
        self.type(self.kexec, timeout)
        self.send("systemctl poweroff")
        self.await_text(None, timeout)

    def log_in(self, timeout):
        self.await_text(LOGIN, timeout)
        self.send("root")
        self.await_text(PROMPT, timeout)

    def type(self, part, timeout):
        self.send(f"sh /{SCRIPTS}/{script_of(part)}")
        self.await_text(PROMPT, timeout)

    def send(self, line):
        self.process.stdin.write(f"{line}\n".encode())

    def await_text(self, text, timeout):
        said = await_text(self.process, text, timeout)
        self.said += said
        if text and text not in said:
            lines = said.decode(errors="replace").splitlines()[-20:]
            raise Failure(f"{text.decode()!r} was not said:\n" + "\n".join(lines))


def script_of(part):
    return re.sub(r"\W+", "-", part.name)
