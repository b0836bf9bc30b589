# SPDX-License-Identifier: GPL-2.0
"""make install and make uninstall: what they place and leave, for several kernels."""

import os
import re
import shutil

from base.building import compiler_environment, compiler_for_make
from base.case import ONLY_ALL, Case, On, done, runs_on, step
from base.common import BUILD, answer_of, cores
from base.versions import version
from guest.cases import CLANG, DEBIAN_6_12, DEBIAN_NEWEST, DEBIANS, USER_MODE
from ship.packages.build import SYSTEM_PATH, copy_project, empty
from ship.packages.steps import HEADER_NAMES, WANTED, unlike

FOLDER = BUILD / "install"
# There before, and to be left alone.
OTHERS = ("usr/local/bin/other", "usr/local/share/man/man1/other.1",
          "lib/modules/{release}/updates/other.ko")
EMPTY = "usr/local/src"
INSTALLED = (r"lib/modules/{release}/updates/nbqlock/nbqlock\.ko(\.\w+)?",
             r"lib/modules/{release}/updates/nbqlock/stress/nbqlock_stress\.ko(\.\w+)?",
             r"usr/local/src/nbqlock-headers/{release}/Module\.symvers",
             r"usr/local/src/nbqlock-headers/nbqlock\.mk",
             rf"usr/local/src/nbqlock-headers/nbqlock/({HEADER_NAMES})\.h",
             r"usr/local/src/nbqlock-headers/bpf/nbq_arena_lock(_types)?\.h",
             r"usr/local/share/nbqlock/folders",
             r"usr/local/share/doc/nbqlock/example/(Kbuild|Makefile|nbq_example\.c)",
             *(pattern.replace("/usr/", "usr/local/").removesuffix(r"\.gz")
               for pattern in WANTED["nbqlock-tools"] if "python3" not in pattern))

# Asks the completion as bash does: words, the last of which is completed.
COMPLETION = r"""
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_nbq "$1"
printf '%s\n' "${COMPREPLY[@]}"
"""


def paths_below(folder):
    """The files, and the folders."""
    paths = sorted(folder.rglob("*"))
    return [str(path.relative_to(folder)) for path in paths
            if path.is_symlink() or not path.is_dir()], \
        [str(path.relative_to(folder)) for path in paths
         if path.is_dir() and not path.is_symlink()]


class Installation:
    """make install of a copy of the sources for a kernel, below a folder of its own.

    where: the words that say so to make; {root} and {relative} in them stand for that folder.
    """

    def __init__(self, kernel, where):
        folder = FOLDER / kernel.name
        empty(folder)
        self.kernel = kernel
        self.tree = folder / "nbqlock"
        copy_project(self.tree)
        self.root = folder / "root"
        self.where = where.format(root=self.root, relative=os.path.relpath(self.root, self.tree))
        self.share = self.root / "usr/local/share"
        for name in OTHERS:
            path = self.root / name.format(release=kernel.version)
            path.parent.mkdir(parents=True)
            path.touch()
        (self.root / EMPTY).mkdir()
        self.before = paths_below(self.root)

    @property
    def is_by_clang(self):
        return "clang" in self.kernel.name

    @property
    def options(self):
        """For a kernel by clang no word names that: it is to be found."""
        words = [word for word in self.kernel.make_options if not word.startswith("CC=")]
        return [f"-j{cores()}", *words, *([] if self.is_by_clang else compiler_for_make())]

    def make(self, folder, target, *words):
        """(what make says, its exit status). The user lets no one else read what he creates."""
        return answer_of(["sh", "-c", 'umask 077; exec make "$@"', "make", "-C", folder, target,
                          f"KDIR={self.kernel.build_dir}", *self.options, *words],
                         env={**compiler_environment(), "PATH": SYSTEM_PATH})

    def added(self):
        return [name for name in paths_below(self.root)[0] if name not in self.before[0]]

    def hidden(self):
        """What has been placed and not every user can read."""
        return [str(path) for path in self.root.rglob("*") if not path.is_symlink() and
                path.stat().st_mode & (0o555 if path.is_dir() else 0o444) !=
                (0o555 if path.is_dir() else 0o444)]

    def ask(self, *command):
        """What a command says of the installed nbq, and its status."""
        return answer_of(command, env={"PATH": f"{self.root}/usr/local/bin:{SYSTEM_PATH}"})


def command_cases(name, there):
    """The installed nbq, its completion, its manual pages; what is installed for DKMS."""
    text, status = there.ask("nbq", "--version")
    yield Case(f"{name}: nbq has the version", (text, status) == (
        f"nbq (nbqlock) {version()}\n", 0), text)
    text, status = there.ask("nbq", "stress", "--folder", str(there.root))
    yield Case(f"{name}: nbq stress looks for the driver on this machine",
               status == 2 and "is no folder of the stress driver" in text, text)
    completion = there.share / "bash-completion/completions/nbq"
    for words, wanted in ((("",), {"stress", "top", "compare", "--version"}),
                          (("stress", "--lo"), {"--locks"})):
        text, _ = there.ask("bash", "-c", COMPLETION, "-", str(completion), "nbq", *words)
        yield Case(f"{name}: bash completes nbq {' '.join(words)}".rstrip(),
                   wanted <= set(text.split()), text)
    options = set(re.findall(r"--[a-z-]+", there.ask("nbq", "stress", "--help")[0]))
    page = (there.share / "man/man1/nbq-stress.1").read_text().replace(r"\-", "-")
    lacking = sorted(option for option in options if option not in page)
    yield Case(f"{name}: nbq-stress(1) has every option of --help", options and not lacking,
               " ".join(lacking))
    yield dkms_case(name, there)


def dkms_case(name, there):
    """The case that the sources for DKMS are built and cleaned by the commands of dkms.conf."""
    root = there.root.parent / "dkms"
    text, status = there.make(there.tree, "install-dkms", f"DESTDIR={root}", "prefix=/usr")
    source = root / f"usr/src/nbqlock-{version()}"
    before = paths_below(source)
    for target, made in (("modules", True), ("clean", False)):
        if not status:
            said, status = there.make(there.kernel.build_dir, target, f"M={source}")
            text += said
            status |= (source / "nbqlock/nbqlock.ko").exists() != made
    return Case(f"{name}: the sources for DKMS are built, and clean afterwards",
                not status and paths_below(source) == before, text[-4000:])


def example_case(name, there):
    """The case that the example is built, as it was installed, against what was installed."""
    example = there.root.parent / "example"
    shutil.copytree(there.share / "doc/nbqlock/example", example)
    text, status = there.make(example, "modules",
                              f"NBQLOCK={there.root}/usr/local/src/nbqlock-headers")
    return Case(f"{name}: the example is built against what is installed",
                not status and (example / "nbq_example.ko").exists() and "WARNING" not in text,
                text[-4000:])


def install_cases(kernel, where, more=lambda name, there: ()):
    """make install, what it has placed, make uninstall.

    more(name, there): other cases of what is installed.
    """
    there = Installation(kernel, where)
    name = f"install: {kernel.name}"
    text, status = there.make(there.tree, "install", there.where)
    yield done(f"{name}: make install", text, status)
    wrong = unlike([pattern.format(release=re.escape(kernel.version)) for pattern in INSTALLED],
                   there.added())
    yield Case(f"{name}: it places its files", not wrong, "\n".join(wrong))
    yield Case(f"{name}: every user can read them", not there.hidden(), "\n".join(there.hidden()))
    by_clang = b"clang version" in (there.tree / "nbqlock/nbqlock.ko").read_bytes()
    yield Case(f"{name}: the compiler is that of the kernel", by_clang == there.is_by_clang,
               f"by clang: {by_clang}")
    yield from more(name, there)
    yield example_case(name, there)
    text, status = there.make(there.tree, "uninstall", there.where)
    yield done(f"{name}: make uninstall", text, status)
    left = [name for kind, before in zip(paths_below(there.root), there.before)
            for name in set(kind) ^ set(before)]
    yield Case(f"{name}: it removes what make install has placed, and nothing else", not left,
               "\n".join(sorted(left)))


@step("install")
@runs_on(DEBIAN_6_12, "install")
def install():
    """make install and uninstall for Debian's kernels and the newest source, the example"""
    yield from install_cases(DEBIAN_6_12.find(), "DESTDIR={root}", command_cases)
    for testbed in DEBIANS[1:]:
        yield On(testbed, "install")
        yield from install_cases(testbed.find(), "DESTDIR={relative}")
    yield On(USER_MODE, "install")
    yield from install_cases(USER_MODE.find(), "INSTALL_MOD_PATH={root}")


@step("install-all", ONLY_ALL)
@runs_on(DEBIAN_NEWEST, "install")
def install_all():
    """the same for Debian's newest kernel, and for one that clang has built"""
    yield from install_cases(DEBIAN_NEWEST.find(), "DESTDIR={root}")
    yield On(CLANG, "install")
    yield from install_cases(CLANG.find(), "DESTDIR={root}")
