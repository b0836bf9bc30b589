# SPDX-License-Identifier: GPL-2.0
"""Whole Debian systems: packages are installed in a folder, which a guest then boots as its disk.

What is compiled is compiled there by the host's processor, in a root, mounts and processes of its
own; an emulated one would take many times as long.
"""

import lzma
import os
from pathlib import Path
import re
import shutil
import subprocess

from base.building import cache_folder, cached, digest, run_logged
from base.common import Failure, Unavailable, answer_of, say
from guest.debian import KEYRING, security_suites, suites_of_main_archive
from guest.kernels import Kernel
from guest.machines import QemuMachine

SUITES = {"bookworm": "12", "trixie": "13"}
# What a system has besides Debian's least: the small kernel for virtual machines.
INCLUDED = ("linux-image-cloud-amd64", "linux-headers-cloud-amd64")
# Kept there as files, so that apt installs without a network what the packages depend on.
FETCHED = ("dkms", "openssl", "python3", "libjs-sphinxdoc", "mokutil", "rpm",
           "shim-signed", "grub-efi-amd64-signed")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = (f"PATH={PATH}", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
LONGEST = 3600			# of a command in a system, in seconds: a limit for hangs
# For the kernel of a guest to reach its disk.
DISK_MODULES = ("virtio_pci", "virtio_blk", "ext4")
# Not compared: what dpkg, apt, the linker, the log and the initramfs keep for themselves, the
# signing key, which is of DKMS, and what the test has put there.
KEPT = re.compile(r"/(proc|sys|dev|run|tmp|srv|var/tmp|var/log|var/cache|var/lib/(dpkg|apt))/.*|"
                  r"/var/lib/dkms/mok\.\w+|/boot/initrd\S*")


def as_root():
    """What begins the commands that only root may run."""
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        raise Unavailable("only root can install packages in a folder; run this as root")
    return ["sudo"]


def source_list(suite):
    lines = [*suites_of_main_archive(suite, f"{suite}-updates"),
             *security_suites(f"{suite}-security")]
    if not lines:
        raise Unavailable("apt has no Debian archive to make a system from")
    return "".join(f"deb [signed-by={KEYRING}] {line} main\n" for line in lines)


def base_system(suite, included=INCLUDED, fetched=FETCHED):
    """The archive of a fresh system, made if the cache does not have it.

    included, fetched: packages that it has, or keeps as files with what they depend on.
    """
    if not shutil.which("mmdebstrap"):
        raise Unavailable("mmdebstrap is not installed; run tools/setup check-all")
    sources = source_list(suite)
    folder = cache_folder("systems") / f"{suite}-{digest(sources, included, fetched)}"

    def make(folder):
        (folder / "sources.list").write_text(sources)
        say(f"making a Debian system, {suite} (about 250 MB to download)")
        run_logged([*as_root(), "mmdebstrap", "--mode=root", "--variant=minbase",
                    f"--include={','.join(included)}",
                    '--aptopt=APT::Install-Recommends "false"',
                    '--aptopt=Acquire::Languages "none"',
                    "--skip=cleanup/apt,cleanup/reproducible",
                    '--customize-hook=chroot "$1" apt-get clean',
                    '--customize-hook=chroot "$1" apt-get -q -y --download-only install '
                    + " ".join(fetched),
                    suite, folder / "root.tar", folder / "sources.list"],
                   folder / "make.log", f"making a system of {suite}", timeout=LONGEST)
        return ["sources.list"]

    return cached(folder, make) / "root.tar"


def fresh_system(suite, folder, *packages):
    """A system as it is after the installation of Debian, in an empty folder.

    packages: as for base_system().
    """
    archive = base_system(suite, *packages)
    remove_system(folder)
    folder.mkdir(parents=True)
    run_logged([*as_root(), "tar", "-x", "--numeric-owner", "-f", archive, "-C", folder],
               folder.with_suffix(".log"), f"unpacking a system of {suite}")
    return System(suite, folder)


def remove_system(folder):
    subprocess.run([*as_root(), "rm", "-rf", "--one-file-system", folder], check=True)


class System:
    """A Debian system in a folder."""

    def __init__(self, suite, root):
        self.suite = suite
        self.root = root

    @property
    def release(self):
        """Of its kernel."""
        releases = [path.name for path in (self.root / "lib/modules").iterdir()
                    if path.is_dir()]
        if len(releases) != 1:
            raise Failure(f"{self.root} has the kernels {releases}, not one")
        return releases[0]

    def run(self, script):
        """Run a shell script in the system. Returns what it has printed, and its status."""
        return answer_of(
            [*as_root(), "unshare", "--mount", "--pid", "--fork", "--kill-child",
             f"--root={self.root}", "--wd=/", "--mount-proc", "env", "-i", *ENVIRONMENT,
             "sh", "-ec", script], timeout=LONGEST)

    def put(self, paths, folder):
        """Copy files to a folder of the system's; packages there can be named to apt."""
        target = self.root / folder
        subprocess.run([*as_root(), "mkdir", "-p", target], check=True)
        subprocess.run([*as_root(), "cp", "-r", *paths, target], check=True)

    def files(self):
        """The names of all files and folders, but for those that the system itself keeps."""
        text, status = self.run("find / -xdev -mindepth 1")
        if status:
            raise Failure(f"find failed in {self.root}: {text[-2000:]}")
        return {name for name in text.splitlines() if not KEPT.fullmatch(name)}

    @property
    def kernel(self):
        return Kernel(f"system-{self.suite}", self.release, self.root / "usr/src",
                      self.root / f"boot/vmlinuz-{self.release}", [],
                      digest(self.suite, self.release))


# Booting it

class DiskMachine(QemuMachine):
    """An emulated PC with a disk, to which nothing is written."""

    def __init__(self, kernel, disk):
        super().__init__(kernel)
        self.hardware = (*QemuMachine.hardware, "-drive",
                         f"file={disk},if=virtio,format=raw,snapshot=on")


def write_disk(system, disk):
    """An image of a disk with the system's files, and room for more."""
    disk.unlink(missing_ok=True)
    run_logged([*as_root(), "/usr/sbin/mke2fs", "-q", "-t", "ext4", "-d", system.root, disk,
                "4G"], disk.with_suffix(".log"), "writing a disk")


def disk_modules(system):
    """The modules by which a kernel reaches its disk, for run_guest()."""
    folder = system.root / "lib/modules" / system.release
    needs = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        name, _, others = line.partition(":")
        needs[module_name(name)] = (name, others.split())
    wanted = []
    for module in DISK_MODULES:
        # What is not a module is a part of the kernel.
        if module in needs:
            name, others = needs[module]
            wanted += [*reversed(others), name]
    wanted = list(dict.fromkeys(wanted))
    names = [f"{module_name(path)}.ko" for path in wanted]
    return {"files": {name: plain(folder / path) for name, path in zip(names, wanted)},
            "load": names}


def module_name(path):
    return Path(path).name.split(".")[0].replace("-", "_")


def plain(path):
    """A module's content, as insmod of any kernel takes it."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


# A script in a guest that has such a disk: mounts it and runs the system's own programs.
ENTER = """
mkdir /disk
mount -t tracefs tracefs /sys/kernel/tracing
mount -t ext4 /dev/vda /disk || exit 1
for folder in proc sys dev; do mount -o rbind /$folder /disk/$folder || exit 1; done
mount -t tmpfs tmpfs /disk/tmp
mount -t tmpfs tmpfs /disk/run
cp /root/script /disk/tmp/script
exec chroot /disk /usr/bin/env -i {environment} sh -e /tmp/script
""".format(environment=" ".join(ENVIRONMENT))


