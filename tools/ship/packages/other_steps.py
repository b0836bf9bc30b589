# SPDX-License-Identifier: GPL-2.0
"""Packages of other distributions, built on Debian: RPMs, and Arch's."""

import os
from pathlib import Path
import re
import shutil
import subprocess
import tempfile

from base.building import run_logged
from base.case import ONLY_ALL, Case, step
from base.common import BUILD, PROJECT, Failure, Unavailable, answer_of
from base.versions import set_version, version
from ship.packages.build import SYSTEM_PATH, copy_project, empty, write_original
from ship.packages.steps import WANTED, unlike

FOLDER = BUILD / "other-packages"
RECIPES = PROJECT / "tools/ship/packages/recipes"
NOBODY = 65534			# makepkg does not run as root
# {package: (Debian's with the same files but for what is distributions' own, what is there besides,
# what it depends on)}
OWN = re.compile(r"/usr/share/(doc|python3)/")
DOCS = r"/usr/share/(doc|licenses)/nbqlock-.+"
HOOK = r"/usr/share/libalpm/hooks/71-nbqlock\.hook"
RPMS = {"nbqlock-dkms": ("nbqlock-dkms", DOCS, "dkms"),
        "nbqlock-devel": ("nbqlock-dev", DOCS, r"nbqlock-dkms = \S+"),
        "nbqlock-tools": ("nbqlock-tools", DOCS, "python3")}
ARCHS = {"nbqlock-dkms": ("nbqlock-dkms", HOOK, "dkms"),
         "nbqlock-headers": ("nbqlock-dev", None, r"nbqlock-dkms=\S+"),
         "nbqlock-tools": ("nbqlock-tools", None, "python")}
# Debian 12's own is started by a shell that it is not for.
COMPRESS = "__os_install_post bash /usr/lib/rpm/brp-compress %{_prefix}"


def require(**programs):
    for program, package in programs.items():
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed (Debian: {package}); "
                              "run tools/setup check-all")


def asked(*command):
    """The lines that a command prints."""
    text, status = answer_of(command)
    if status:
        raise Failure(f"{' '.join(map(str, command))}: status {status}\n{text}")
    return text.splitlines()


def write_archive(folder, number):
    """The sources, as git archive writes them."""
    tree = folder / f"nbqlock-{number}"
    copy_project(tree)
    if number != version():
        set_version(tree, number)
    write_original(tree, folder / f"{tree.name}.tar.gz")
    shutil.rmtree(tree)
    return folder / f"{tree.name}.tar.gz"


def build_rpms(folder, number=None, again=""):
    """Build the RPMs, of another version if one is given. Returns {name: path}.

    again: the end of the release, for a later one of the same version.
    """
    require(rpmbuild="rpm")
    empty(folder)
    archive = write_archive(folder, number or version())
    # Of what the build needs, which is there, Debian's rpm knows nothing.
    run_logged(["rpmbuild", "-tb", "--nodeps", "--define", f"_topdir {folder}/rpm",
                "--define", COMPRESS, "--define", f"dist {again or '%{nil}'}", archive],
               folder / "build.log", "building the RPMs", env={"PATH": SYSTEM_PATH})
    return {asked("rpm", "-qp", "--qf", "%{NAME}", path)[0]: path
            for path in folder.glob("rpm/RPMS/noarch/*.rpm")}


def files_of_rpm(path):
    found = [line.split(" ", 1) for line in
             asked("rpm", "-qp", "--qf", r"[%{FILEMODES:perms} %{FILENAMES}\n]", path)]
    return [name for mode, name in found if not mode.startswith("d")]


def build_arch(folder):
    """Build Arch's packages in a folder that everybody can reach. Returns {name: path}."""
    require(makepkg="makepkg", bsdtar="libarchive-tools", pacman="pacman-package-manager")
    write_archive(folder, version())
    shutil.copy(RECIPES / "PKGBUILD", folder)
    user = []
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    run_logged([*user, "makepkg", "--nodeps"], FOLDER / "makepkg.log",
               "building Arch's packages", cwd=folder,
               env={"PATH": SYSTEM_PATH, "HOME": str(folder)})
    return {asked("pacman", "-Qqp", path)[0]: path for path in folder.glob("*.pkg.tar*")}


def files_of_arch(path):
    return [name for name in asked("pacman", "-Qlqp", path) if not name.endswith("/")]


def needs_of_arch(path):
    return [word for line in asked("pacman", "-Qip", path) if line.startswith("Depends On")
            for word in line.partition(": ")[2].split()]


def package_cases(kind, wanted, built, files, needs):
    yield Case(f"{kind}: {', '.join(wanted)} are built", built.keys() == wanted.keys(),
               " ".join(map(str, built.values())))
    for package, path in sorted(built.items()):
        like, more, need = wanted[package]
        patterns = [pattern.format(package=package, version=re.escape(version()))
                    for pattern in WANTED[like] if not OWN.match(pattern)]
        wrong = unlike([*patterns, *([more] if more else [])], files(path))
        if not any(re.fullmatch(need, line) for line in needs(path)):
            wrong.append(f"depends on {' '.join(needs(path))}")
        yield Case(f"{kind}: {package} has its files, and depends on what it needs", not wrong,
                   "\n".join(wrong))


@step("packages-other", ONLY_ALL)
def packages_other():
    """RPMs and packages of Arch's: built on Debian, listed; rpmlint is silent"""
    rpms = build_rpms(FOLDER / "rpm")
    yield from package_cases("RPM", RPMS, rpms, files_of_rpm,
                             lambda path: asked("rpm", "-qp", "--requires", path))
    require(rpmlint="rpmlint")
    words, status = answer_of(["rpmlint", "-c", RECIPES / "rpmlint.toml", RECIPES / "nbqlock.spec",
                               *rpms.values()])
    silent = re.search(r"3 packages and 1 specfiles checked; 0 errors, 0 warnings", words)
    yield Case("RPM: rpmlint finds no error and no warning", silent and not status, words)
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        os.chmod(folder, 0o755)
        yield from package_cases("Arch", ARCHS, build_arch(Path(folder)), files_of_arch,
                                 needs_of_arch)
