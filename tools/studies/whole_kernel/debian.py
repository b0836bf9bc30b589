# SPDX-License-Identifier: GPL-2.0
"""Debian's kernel with another spinlock, by Debian's own configuration; and a system to boot it."""

import contextlib
import lzma
from pathlib import Path
import subprocess
import tempfile

from base.building import (cache_folder, cached, compiler_environment, compiler_for_make,
                           compiler_identity, digest, locked, run_logged)
from base.common import BUILD, Failure
from guest.debian import only, suites_of_main_archive, unpacked
from guest.hybrid import CHANGES, HYBRID, SWEEP
from guest.kernel_copy import built_copy
from guest.kernels import X86_64, Recipe
from guest.loads_of_others import ROOT, root_folder
from guest.source import SUITES, get_source
from guest.systems import as_root, fresh_system, remove_system, write_disk

FLAVOUR = "cloud-amd64"
# Modules that the guest loads, by udev or systemd.
LOADED = ("virtio_net", "virtio_rng", "nf_tables", "autofs4", "efi_pstore", "button", "evdev",
          "serio_raw")
# The tests' own.
MODULES = ("kernel/torture.ko", "kernel/locking/locktorture.ko", "kernel/rcu/rcutorture.ko")


def debian_configuration():
    """Debian's configuration for kernels of the source's series."""
    series = ".".join(get_source().version.split(".")[:2])
    package = f"linux-config-{series}"
    folder = unpacked("config", f"{package}_*", f"configuration of Debian's Linux {series}",
                      list(map(suites_of_main_archive, SUITES)), package,
                      lambda _, name: [name],
                      lambda folder: [only(folder, f"usr/src/{package}/*_{FLAVOUR}.xz")])
    return lzma.decompress(only(folder, f"usr/src/{package}/*_{FLAVOUR}.xz").read_bytes())


def reduced_configuration():
    """The same without the modules that the guest does not load; kept in the cache."""
    source, whole = get_source(), debian_configuration()
    key = digest(source.version, source.identity, whole, LOADED, compiler_identity())

    def make(folder):
        (folder / ".config").write_bytes(whole)
        # As lsmod prints it.
        (folder / "loaded").write_text("Module Size Used\n" +
                                       "".join(f"{name} 1 0\n" for name in LOADED))
        # In the tree itself: the script does not follow the links of a copy.
        run_logged(["make", "-C", source.path, f"O={folder}", "ARCH=x86_64", *compiler_for_make(),
                    f"LSMOD={folder / 'loaded'}", "localmodconfig"],
                   folder.with_suffix(".log"), "leaving modules out", env=compiler_environment())
        return [".config"]

    return (cached(cache_folder("config") / f"{FLAVOUR}-{key}", make) / ".config").read_text()


class DebianRecipe(Recipe):
    """Debian's configuration, less the modules that the guest does not load."""

    minutes, megabytes = 50, 900

    def __init__(self, side):
        super().__init__(f"debian-{side}", X86_64, "arch/x86/boot/bzImage", "debian")
        self.side = side

    @property
    def settings(self):
        return super().settings + "CONFIG_NBQ_SPINLOCKS=y\n" * (self.side == HYBRID)

    @property
    def key(self):
        return (*super().key, reduced_configuration())

    def write_configuration(self, make, build_dir, log):
        (build_dir / ".config").write_text(reduced_configuration() + self.settings)
        run_logged([*make, "olddefconfig"], log, "configuring the kernel",
                   env=compiler_environment())


def debian_kernel(side):
    """The kernel of a side, built or brought up to date."""
    modules = (*MODULES, SWEEP) if side == HYBRID else MODULES
    return built_copy(DebianRecipe(side), *CHANGES, modules=modules)



# The system

SUITE = "trixie"
INCLUDED = ("systemd-sysv", "udev", "dbus", "libpam-systemd", "kmod", "iproute2", "cron",
            "openssh-server", "kexec-tools")
FETCHED = ("at",)		# is installed in the guest, and brings a service
FOLDER = BUILD / "systems"
SCRIPTS = "root/parts"		# in the system
HOST = "guest"			# its name
# Anyone is let in as root, on the first serial line; the second has the kernel's log.
PREPARE = """
passwd -d root
systemctl enable serial-getty@ttyS0 systemd-networkd
systemctl mask serial-getty@ttyS1
printf '[Match]\\nName=e*\\n[Network]\\nDHCP=yes\\n' >/etc/systemd/network/all.network
echo {host} >/etc/hostname
echo torture >/etc/modules-load.d/torture.conf
depmod {release}
"""


def install_kernel(kernel, system):
    """The kernel's modules, and itself, in a system."""
    with tempfile.TemporaryDirectory() as stage, locked(kernel.lock, kernel.name):
        run_logged(["make", "-C", kernel.build_dir, *kernel.make_options,
                    f"INSTALL_MOD_PATH={stage}", "modules_install"],
                   BUILD / "log" / f"{kernel.name}-modules.log", "installing modules",
                   env=compiler_environment())
        system.put([Path(stage) / "lib/modules"], "lib")
    put_files(system, "lib/modules", kernel.modules)
    system.put([kernel.image], "boot")
    said, status = system.run(PREPARE.format(release=system.release, host=HOST))
    if status:
        raise Failure(f"the system cannot be prepared: {said}")


def put_files(system, folder, files):
    """files: {name: content}"""
    with tempfile.TemporaryDirectory() as stage:
        for name, content in files.items():
            (Path(stage) / name).write_bytes(content)
        system.put(sorted(Path(stage).iterdir()), folder)


@contextlib.contextmanager
def disk_with(kernel, scripts):
    """The disk of a system with the kernel and scripts, {name: text}, while it is needed."""
    folder = FOLDER / kernel.name
    system = fresh_system(SUITE, folder, INCLUDED, FETCHED)
    disk = folder.with_suffix(".disk")
    try:
        install_kernel(kernel, system)
        put_files(system, SCRIPTS, {name: text.encode() for name, text in scripts.items()})
        # Programs with their own libraries, beside the system's.
        subprocess.run([*as_root(), "cp", "-r", root_folder(), system.root / ROOT[1:]], check=True)
        write_disk(system, disk)
        yield disk
    finally:
        remove_system(folder)
        disk.unlink(missing_ok=True)
