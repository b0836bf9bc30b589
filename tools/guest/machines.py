# SPDX-License-Identifier: GPL-2.0
"""The machines that kernels are booted on: user-mode Linux, and QEMU's."""

import os
from pathlib import Path
import shutil

from base.building import cache_folder, memory_environment
from base.common import MOST_CPUS, Failure, Unavailable, say
from guest.guest import run_guest

# Waiters that must queue behind CPUs which the host leaves without a core may wait for
# many of its turns, with preemption off. The kernel's detectors of that wait as long as
# they can; what really hangs meets the guest's limit.
UNHURRIED = ("rcupdate.rcu_cpu_stall_timeout=300", "watchdog_thresh=60",
             "workqueue.watchdog_thresh=300")


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

    def __init__(self, kernel, layout="as it comes", memory=512):
        self.kernel = kernel
        self.layout = LAYOUTS[layout]
        self.memory = memory		# in MB; and more for each CPU

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


# Of QEMU's machine "virt", which is like no other.
VIRT = {"line": "/dev/hvc0", "leave": "poweroff -f", "words": (), "accelerator": EMULATION,
        "second_line": ("-device", "virtio-serial-device",
                        "-device", "virtconsole,chardev=output")}
# The newest processor, and one before ARMv8.1, which puts atomics together of exclusive loads and
# stores. The kernel asks them.
ARM_PROCESSORS = ("max", "cortex-a53")
# QEMU's machines: what each has other than a QemuMachine, a PC.
KINDS = {
    "pc": {},
    # It looks like a real one: CPUID names no hypervisor.
    "pc, no hypervisor": {"hardware": ("-cpu", "max,-cx16,-hypervisor")},
    # By the topology that its kernel finds.
    "pc, 2 nodes of 10 CPUs": {
        "topology": ",sockets=2",
        "hardware": ("-cpu", "max,-cx16", *(
            word for node, cpus in enumerate(("0-9", "10-19"))
            for word in ("-object", f"memory-backend-ram,id=memory{node},size=512M",
                         "-numa", f"node,nodeid={node},cpus={cpus},memdev=memory{node}")))},
    # The processor "max" of 32 bits says that it is an old one of AMD's, which the kernel warns of.
    "pc, 32 bits": {"processor": "i386", "hardware": ("-cpu", "coreduo"),
                    "accelerator": EMULATION},
    **{f"arm64, {cpu}": {**VIRT, "processor": "aarch64", "console": "ttyAMA0",
                         "hardware": ("-machine", "virt,gic-version=3", "-cpu", cpu)}
       for cpu in ARM_PROCESSORS},
    # Started by OpenSBI. An older QEMU describes its processors by "riscv,isa" alone.
    "riscv64": {**VIRT, "processor": "riscv64", "words": ("riscv_isa_fallback",),
                "hardware": ("-machine", "virt")},
}


class QemuMachine:
    """An emulated machine, or a virtual one where that works: a PC, or another one of KINDS.

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

    def __init__(self, kernel, accelerator=None, kind="pc"):
        self.kernel = kernel
        self.accelerator = accelerator
        vars(self).update(KINDS[kind])

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
