# SPDX-License-Identifier: GPL-2.0
"""A Debian system booted by firmware with Secure Boot, by shim and GRUB as an installed one is.

The firmware knows Microsoft's keys, with which shim is signed; shim knows Debian's, with which
GRUB and the kernel are; a key of the machine's owner is enrolled by MokManager, at its console.
"""

import os
from pathlib import Path
import shutil
import subprocess
import time

from base.building import kill_group
from base.case import done
from base.common import Failure, Unavailable, ends_with_us
from base.dialogue import await_text
from guest.cases import clean_guest
from guest.systems import DiskMachine

FIRMWARE = Path("/usr/share/OVMF")
CODE, VARIABLES = FIRMWARE / "OVMF_CODE_4M.secboot.fd", FIRMWARE / "OVMF_VARS_4M.ms.fd"
# (package, file in it, file on the EFI system partition)
LOADERS = (
    ("shim-signed", "usr/lib/shim/shimx64.efi.signed", "EFI/BOOT/BOOTX64.EFI"),
    ("shim-helpers-amd64-signed", "usr/lib/shim/mmx64.efi.signed", "EFI/BOOT/mmx64.efi"),
    ("grub-efi-amd64-signed", "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed",
     "EFI/BOOT/grubx64.efi"),
)
CONFIGURATION = "EFI/debian/grub.cfg"
LONGEST = 3600			# seconds without a word: a hang
KEY_PAUSE = 1			# between what MokManager says and a key, in seconds
DOWN, ENTER_KEY = b"\x1b[B", b"\r"


def enrolment(password):
    """What MokManager says in turn, and the keys that answer.

    Those choose "Enroll MOK", "Continue" and "Yes", type the password, and choose "Reboot".
    """
    return ((b"Press any key to perform MOK management", b" "),
            (b"Enroll MOK", DOWN + ENTER_KEY),
            (b"View key 0", DOWN + ENTER_KEY),
            (b"Enroll the key", DOWN + ENTER_KEY),
            (b"Password", password.encode() + ENTER_KEY),
            (b"Reboot", ENTER_KEY))


def loaders(system, folder):
    """Unpack what boots the system, of the packages that it keeps."""
    packages = system.root / "var/cache/apt/archives"
    for package, source, target in LOADERS:
        found = sorted(packages.glob(f"{package}_*.deb"))
        if not found:
            raise Failure(f"{packages} has no {package}")
        subprocess.run(["dpkg", "-x", found[-1], folder / "unpacked"], check=True)
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "unpacked" / source, folder / target)
    shutil.rmtree(folder / "unpacked")


class SecureBootMachine(DiskMachine):
    """A PC whose firmware has Secure Boot. Its variables, such as enrolled keys, last."""

    def __init__(self, system, disk, folder):
        super().__init__(system.kernel, disk)
        if not CODE.exists():
            raise Unavailable("ovmf is not installed; run tools/setup check-all")
        shutil.rmtree(folder, ignore_errors=True)
        self.folder = folder
        self.partition = folder / "partition"
        self.partition.mkdir(parents=True)
        loaders(system, self.partition)
        self.variables = folder / "variables"
        shutil.copyfile(VARIABLES, self.variables)
        self.hardware = (
            *self.hardware, "-machine", "q35,smm=on",
            "-global", "driver=cfi.pflash01,property=secure,value=on",
            "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={CODE}",
            "-drive", f"if=pflash,unit=1,format=raw,file={self.variables}",
            "-drive", f"if=none,id=partition,format=raw,file=fat:rw:{self.partition}",
            "-device", "ide-hd,drive=partition,bootindex=0")

    def command(self, folder, initrd, cpus, append, output):
        """QEMU's command; the kernel is GRUB's to load, not QEMU's."""
        words = super().command(folder, initrd, cpus, append, output)
        given = {}
        for option in ("-kernel", "-initrd", "-append"):
            place = words.index(option)
            given[option] = words[place + 1]
            del words[place:place + 2]
        shutil.copyfile(given["-kernel"], self.partition / "vmlinuz")
        shutil.copyfile(given["-initrd"], self.partition / "initrd")
        configuration = self.partition / CONFIGURATION
        configuration.parent.mkdir(parents=True, exist_ok=True)
        configuration.write_text(f"linux /vmlinuz {given['-append']}\ninitrd /initrd\nboot\n")
        return words

    def enroll(self, password):
        """Boot, and answer MokManager, which a request to enroll a key has shim start."""
        initrd = self.folder / "no-initrd"
        initrd.touch()
        with open(os.devnull, "wb") as nothing:
            words = self.command(self.folder, initrd, 1, [], nothing.fileno())
            process = subprocess.Popen(ends_with_us(words), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       start_new_session=True, pass_fds=[nothing.fileno()],
                                       bufsize=0)
        try:
            answer(process, enrolment(password))
        finally:
            kill_group(process)


def answer(process, dialogue):
    """Await each text and send its keys, then the end. Returns what was said."""
    console = b""
    for text, keys in dialogue:
        said = await_text(process, text, LONGEST)
        console += said
        if text not in said:
            raise Failure(f"MokManager did not say {text.decode()!r}: "
                          f"{console.decode(errors='replace')[-2000:]}")
        time.sleep(KEY_PAUSE)
        process.stdin.write(keys)
    console += await_text(process, None, LONGEST)
    return console.decode(errors="replace")


# What is done there: refused, the key enrolled, used

PASSWORD = "once"		# that MokManager asks for
# Debian's kernels lock themselves down where the firmware has Secure Boot.
STATE = """
modprobe efivarfs || true
mount -t efivarfs efivarfs /sys/firmware/efi/efivars
mount -t securityfs securityfs /sys/kernel/security
mokutil --sb-state
cat /sys/kernel/security/lockdown
"""
REQUEST = f"""{STATE}
modprobe nbqlock || echo @refused
dmesg | grep -i 'loading of .* is rejected'
printf '{PASSWORD}\\n{PASSWORD}\\n' | mokutil --import /var/lib/dkms/mok.pub
echo @requested
"""
USE = """{state}
mokutil --test-key /var/lib/dkms/mok.pub || true
modprobe nbqlock_stress
modprobe nbq_example
dmesg | grep nbq_example
insmod {unsigned} || echo @refused
nbq stress --locks nbq_spin --rounds 1 --seconds 0.3 --no-alone || echo @stress $?
nbq top --interval 1 --count 1 && echo @watched
rmmod nbq_example nbqlock_stress nbqlock
echo @unloaded
"""
LOCKED_DOWN = (r"^SecureBoot enabled$", r"\[integrity\]")


def cases(name, machine, boot, unsigned):
    """boot(script) runs a script in the machine; unsigned is the path of a module there."""
    name = f"{name}: Secure Boot"
    request = boot(REQUEST)
    yield done(f"{name}: the modules are refused, the key's enrolment is requested",
               request.output, request.status, *LOCKED_DOWN,
               r"'?nbqlock'?: Key was rejected by service\n@refused",
               "module with unavailable key is rejected", "^@requested$")
    machine.enroll(PASSWORD)
    use = boot(USE.format(state=STATE, unsigned=unsigned))
    for what, *wanted in (
            ("MokManager has enrolled the key", *LOCKED_DOWN, "is already enrolled"),
            ("the example times out and acquires",
             r"timed out after \d+ ns, held by CPU \d(.|\n)*acquired"),
            ("an unsigned module is refused",
             r"(Key was rejected by service|Operation not permitted)\n@refused"),
            ("nbq stress says that the kernel is locked down",
             r"the kernel is locked down(.|\n)*^@stress 2$"),
            ("nbq top works", r"^nbq top: (.|\n)*^@watched$"),
            ("the modules are unloaded", "^@unloaded$")):
        yield done(f"{name}: {what}", use.output, use.status, *wanted)
    yield clean_guest(name, request, use)
