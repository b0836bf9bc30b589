# SPDX-License-Identifier: GPL-2.0
"""The Debian packages in fresh systems: installed, loaded, used, upgraded, removed."""

import contextlib
import re
import shutil

from base.case import ONLY_ALL, Case, On, done, step
from base.common import BUILD
from base.versions import version
from guest.cases import clean_guest, guest_report
from guest.guest import run_guest
from guest.kernel_table import TestBed
from guest.systems import (ENTER, SUITES, DiskMachine, disk_modules, fresh_system, remove_system,
                           write_disk)
from ship.packages import installed_top, secure_boot
from ship.packages.build import build_consumer, build_packages, copy_project, field
from ship.packages.other_steps import build_rpms
from studies.tutorial.page import PAGE, commands, shown_of
from studies.tutorial.steps import typed_cases

FOLDER = BUILD / "systems"
CPUS = 2
PACKAGES = "srv/packages"	# in a system
INSTALL = "apt-get -q -y install {}"
# What the packages say in the end. In a folder, the running kernel is the host's.
BUILT_FOR = r"^nbqlock: the modules are built for {}\."
AMONG = rf"{BUILT_FOR}\nnbqlock: The running kernel, \S+, is among them\.$"
NOT_AMONG = rf"{BUILT_FOR}\nnbqlock: The running kernel, \S+, is not among them: .*\n" \
    r"nbqlock: Install its headers"
# Debian's rpm knows of nothing that is installed; Debian 12's wants to be told to go on.
RPM = """
option=$(rpm --force-debian --version >/dev/null 2>&1 && echo --force-debian) || true
rpm $option --nodeps {}
"""
MAKE_INSTALL = """
cd /root/nbqlock
kernel=/lib/modules/{release}
make install KDIR=$kernel/build
modprobe -n -v -S {release} nbqlock_stress
cp -r /usr/local/share/doc/nbqlock/example /tmp/example
make -C /tmp/example KDIR=$kernel/build
echo @example $(modinfo -F depends /tmp/example/nbq_example.ko)
rm -r /tmp/example
make uninstall KDIR=$kernel/build
modprobe -n -S {release} nbqlock || echo @gone
rm -r /root/nbqlock
"""
PURGE = "apt-get -q -y remove {}; dpkg --purge {}"

# Everything that was installed, at work. The kernel log is looked through afterwards.
AT_WORK = """
/usr/src/nbqlock-*/built-for
modprobe nbqlock_stress
modprobe nbq_example
nbq --version
nbq stress --locks nbq_spin,clh_nb --rounds 1 --seconds 0.3 --no-alone
nbq stress --locks nbq_spin --rounds 1 --seconds 20 --no-alone >/dev/null 2>&1 &
nbq top --interval 2 --count 2 && echo @watched
wait
dmesg | grep nbq_example
rmmod nbq_example nbqlock_stress nbqlock
echo @unloaded
"""
# A module of a user's own, from the package's example.
OWN_MODULE = """
cp -r /usr/share/doc/nbqlock-dev/examples /tmp/own
make -C /tmp/own KDIR=/lib/modules/{release}/build
modinfo -F depends /tmp/own/nbq_example.ko
rm -r /tmp/own
"""
# The tutorial, as a user takes it from the packages.
TUTORIAL = "/root/tutorial"
BUILD_TUTORIAL = f"""
cp -r /usr/share/doc/nbqlock-dev/examples/tutorial {TUTORIAL}
make -C {TUTORIAL} KDIR=/lib/modules/{{release}}/build
"""
BEGIN_TUTORIAL = f"""
modprobe nbqlock
cd {TUTORIAL}
"""
# A kernel that loads signed modules only, and has not been told DKMS's key.
ENFORCED = "module.sig_enforce=1"
REFUSED = f"""
modprobe nbqlock || echo @refused
insmod {TUTORIAL}/sampler_raw.ko || echo @refused
dmesg | grep -i 'loading of .* is rejected'
"""


def next_version():
    """A higher version than this one."""
    *first, last = version().split(".")
    return ".".join([*first, str(int(last) + 1)])


def named(paths):
    return " ".join(f"/{PACKAGES}/{path.name}" for path in paths)


def built_by_dkms(release, module, number):
    """What dkms status says of a module; the versions of DKMS punctuate it differently."""
    return rf"^{module}[/,] ?{re.escape(number)}, {re.escape(release)}, x86_64: installed"


@contextlib.contextmanager
def disk_of(system):
    """A disk with the system's files, while it is needed."""
    disk = FOLDER / f"{system.suite}.disk"
    write_disk(system, disk)
    try:
        yield disk
    finally:
        disk.unlink()


def booted(system, disk, script, append=(), machine=None):
    """The Outcome of a script in the system, which is booted from its disk."""
    return run_guest(machine or DiskMachine(system.kernel, disk), ENTER, cpus=CPUS, quiet=True,
                     append=append, modules=disk_modules(system),
                     extra={"script": (script.encode(), 0o644)})


def at_work(name, system, disk):
    """The system is booted; everything that was installed is used."""
    outcome = booted(system, disk, AT_WORK)
    for what, words in (("nbq stress compares locks", r"^nbq_spin .* PASS$"),
                        ("nbq top shows the locks at work", r"nbq_spin(.|\n)*^@watched$"),
                        ("the example times out and acquires",
                         r"timed out after \d+ ns, held by CPU \d(.|\n)*acquired"),
                        ("the packages know the running kernel", AMONG.format(
                            re.escape(system.release))),
                        ("the modules are unloaded", "^@unloaded$")):
        yield done(f"{name}: booted: {what}", outcome.output, outcome.status, words)
    # nbq top comes to waits that have begun.
    waiting = [int(number) for number in re.findall(r"^0x\w+ +(\d+) +\d+ \(", outcome.output,
                                                    re.MULTILINE)]
    yield Case(f"{name}: booted: nbq top has no more waiters than threads",
               waiting and (max(waiting) <= CPUS or "dropped" in outcome.output),
               f"{waiting}\n{guest_report(outcome)}")
    yield clean_guest(f"{name}: booted", outcome)


def tutorial_cases(name, system, disk):
    """The tutorial's commands, typed where the packages are installed."""
    def run(typed):
        options = typed.options()
        outcome = booted(system, disk, f"{BEGIN_TUTORIAL}{' '.join(options.command)}\n",
                         [word for words in options.append for word in words.split()])
        return shown_of(outcome.output, outcome.problem), outcome

    for typed in commands(PAGE.read_text()):
        if typed.in_guest:
            yield from typed_cases(typed, f"{name}: tutorial", run)


def enforced_cases(name, system, disk):
    outcome = booted(system, disk, REFUSED, [ENFORCED])
    wanted = (r"'?nbqlock'?: Key was rejected by service\n@refused",
              r"sampler_raw\.ko: Key was rejected by service\n@refused",
              "with unavailable key is rejected", "unsigned module is rejected")
    yield done(f"{name}: a kernel that has not been told the key refuses the modules",
               outcome.output, outcome.status, *wanted)


def secure_boot_cases(name, system, disk):
    folder = FOLDER / f"{system.suite}.firmware"
    machine = secure_boot.SecureBootMachine(system, disk, folder)
    try:
        yield from secure_boot.cases(
            name, machine, lambda script: booted(system, disk, script, machine=machine),
            f"{TUTORIAL}/sampler_raw.ko")
    finally:
        shutil.rmtree(folder)


def booted_cases(name, system):
    text, status = system.run(BUILD_TUTORIAL.format(release=system.release))
    yield done(f"{name}: the tutorial is built by its Makefile", text, status)
    with disk_of(system) as disk:
        yield from at_work(name, system, disk)
        outcome = booted(system, disk, installed_top.SCRIPT)
        yield from installed_top.cases(name, outcome)
        yield clean_guest(f"{name}: nbq top", outcome)
        yield from tutorial_cases(name, system, disk)
        yield from enforced_cases(name, system, disk)
        yield from secure_boot_cases(name, system, disk)
    system.run(f"rm -r {TUTORIAL}")


def install_cases(name, system, first, consumer):
    """The packages and a consumer's are installed: DKMS builds, signs and installs the modules."""
    text, status = system.run(INSTALL.format(named(first)) + "; dkms status")
    yield done(f"{name}: apt installs the packages, DKMS builds the modules", text, status,
               built_by_dkms(system.release, "nbqlock", version()),
               NOT_AMONG.format(re.escape(system.release)))
    yield Case(f"{name}: none of DKMS's commands failed", "bad exit status" not in text, text)
    # With DKMS's key: where the firmware has Secure Boot, a kernel with that key loads them.
    text, status = system.run(f"modinfo -F sig_id -k {system.release} nbqlock nbqlock_stress")
    yield done(f"{name}: the modules are signed", text, status, r"\APKCS#7\nPKCS#7$")
    text, status = system.run(OWN_MODULE.format(release=system.release))
    yield done(f"{name}: the example is built by its Makefile", text, status, "^nbqlock$")
    text, status = system.run(INSTALL.format(named([consumer])) + "; dkms status; "
                              f"modinfo -F depends -k {system.release} nbq_example")
    yield done(f"{name}: a consumer's own DKMS package is built", text, status,
               built_by_dkms(system.release, "nbq-example", "1.0"), "^nbqlock$")


def as_before(name, system, before):
    after = system.files()
    changes = [f"left: {path}" for path in sorted(after - before)] + \
        [f"gone: {path}" for path in sorted(before - after)]
    return Case(f"{name}: the system is as it was before", not changes, "\n".join(changes))


def rpm_cases(name, system, rpms, before):
    """The RPMs of DKMS's kind: (this version, the next, that again with another release)."""
    name = f"{name}: RPM"
    system.put(rpms, PACKAGES)
    for what, path, number in zip(("installed", "upgraded", "upgraded to the same version"), rpms,
                                  (version(), next_version(), next_version())):
        text, status = system.run(RPM.format(f"-U {named([path])}") + "dkms status")
        yield done(f"{name}: {what}: DKMS builds the modules", text, status,
                   built_by_dkms(system.release, "nbqlock", number),
                   NOT_AMONG.format(re.escape(system.release)))
    text, status = system.run(f"dkms status{RPM.format('-e nbqlock-dkms')}dkms status")
    yield done(f"{name}: there was one version, and it is removed", text, status,
               rf"\Anbqlock[^\n]*{re.escape(next_version())}(?!(.|\n)*^nbqlock)")
    yield as_before(name, system, before)


def make_install_cases(name, system, before):
    """make install in the running system, so to speak: its depmod, its folders."""
    name = f"{name}: make install"
    copy = FOLDER / "nbqlock"
    shutil.rmtree(copy, ignore_errors=True)
    copy_project(copy)
    system.put([copy], "root")
    text, status = system.run(MAKE_INSTALL.format(release=system.release))
    yield done(f"{name}: the modules are found, the example is built, nothing is found afterwards",
               text, status, rf"insmod \S+/{re.escape(system.release)}/updates/nbqlock/nbqlock\.ko",
               "^@example nbqlock$", "^@gone$")
    yield as_before(name, system, before)


def system_cases(name, system, packages, rpms, consumer):
    first, second = packages
    system.put([*first, *second, consumer], PACKAGES)
    # Recommended is openssl: without it DKMS signs nothing.
    needs = ", ".join(field(path, name) for path in (*first, consumer)
                      for name in ("Depends", "Recommends") if field(path, name))
    needs = re.sub(r"\bnbqlock-\w+( \([^)]*\))?(, |$)", "", needs).strip(", ")
    text, status = system.run(f"apt-get -q -y satisfy '{needs}, mokutil, rpm'; "
                              "rpm --initdb; mkdir /usr/share/licenses")
    yield done(f"{name}: what the packages depend on, mokutil and rpm are installed", text, status)
    before = system.files()
    yield from install_cases(name, system, first, consumer)
    yield from booted_cases(name, system)
    text, status = system.run(INSTALL.format(named(second)) + "; dkms status; "
                              f"modinfo -F version -k {system.release} nbqlock")
    yield done(f"{name}: an upgrade replaces the modules", text, status,
               built_by_dkms(system.release, "nbqlock", next_version()),
               rf"^{re.escape(next_version())}$")
    old = [path for path in (system.root / "usr/src").glob(f"nbqlock-{version()}*")]
    yield Case(f"{name}: an upgrade leaves nothing of the version before", not old, str(old))
    installed = " ".join(field(path, "Package") for path in (*first, consumer))
    text, status = system.run(PURGE.format(installed, installed))
    yield done(f"{name}: the packages are removed and purged", text, status)
    yield as_before(name, system, before)
    yield from rpm_cases(name, system, rpms, before)
    yield from make_install_cases(name, system, before)


@step("packages-all", ONLY_ALL)
def packages_systems():
    """the packages in fresh systems of Debian 12 and 13: installed, booted, upgraded, purged"""
    packages = (build_packages(FOLDER / "first"),
                build_packages(FOLDER / "second", next_version(), "-b", "-Pnodoc"))
    rpms = [build_rpms(FOLDER / f"rpm-{folder}", *words)["nbqlock-dkms"] for folder, *words in
            (("first",), ("second", next_version()), ("again", next_version(), ".2"))]
    # What is installed of the first and not built of the second stays as it is.
    consumer = build_consumer(FOLDER / "consumer")
    for suite, release in SUITES.items():
        name = f"Debian {release}"
        system = fresh_system(suite, FOLDER / suite)
        try:
            yield On(TestBed(f"{name}, installed", lambda system=system: system.kernel),
                     "packages")
            yield from system_cases(name, system, packages, rpms, consumer)
        finally:
            remove_system(FOLDER / suite)
