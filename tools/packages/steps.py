# SPDX-License-Identifier: GPL-2.0
"""The Debian packages, and make install: what they have and leave, without a system to boot."""

import re

from ci.common import Case, stock_kernel
from testbed.building import compiler_environment, compiler_for_make, run_logged
from testbed.common import BUILD, answer_of
from packages.build import (SYSTEM_PATH, build_packages, complaints_of_lintian, contents,
                              field)
from testbed.versions import version

# Of each package: files that it must have, as patterns, and nothing else but those of its docs.
DOCS = r"/usr/share/doc/{package}/(changelog(\.Debian)?\.gz|copyright)"
HEADER_NAMES = ("bare_spin|bare_spin_types|clh|compat|counters|guard|mcs|nbqlock|spin|spin_types|"
                "stress|swap|types")
WANTED = {
    "nbqlock-dkms": (r"/usr/src/nbqlock-{version}/(dkms\.conf|Kbuild|keep-symvers)",
                     r"/usr/src/nbqlock-{version}/nbqlock/(stress/(papers/)?)?(Kbuild|\w+\.[ch])"),
    "nbqlock-dev": (r"/usr/src/nbqlock-headers/nbqlock\.mk",
                    rf"/usr/src/nbqlock-headers/nbqlock/({HEADER_NAMES})\.h",
                    r"/usr/src/nbqlock-headers/bpf/nbq_arena_lock(_types)?\.h",
                    r"/usr/share/doc/nbqlock-dev/examples/arena-example/"
                    r"(Makefile|arena_example(\.bpf)?\.[ch])",
                    r"/usr/share/doc/nbqlock-dev/examples/stress-example/"
                    r"(Kbuild|Makefile|ticket_timeout\.c)",
                    r"/usr/share/doc/nbqlock-dev/examples/(Kbuild|Makefile|nbq_example\.c)",
                    r"/usr/share/doc/nbqlock-dev/examples/(dkms\.conf|debian/.+)",
                    r"/usr/share/doc/nbqlock-dev/examples/tutorial/"
                    r"(Kbuild|Makefile|\w+\.([ch]|sh|txt))"),
    "nbqlock-tools": (r"/usr/bin/nbq", r"/usr/share/nbqlock/(nbq|version)",
                      r"/usr/share/nbqlock/(measure|testbed|top)/\w+\.py",
                      r"/usr/share/man/man1/nbq(-\w+)?\.1\.gz",
                      r"/usr/share/bash-completion/completions/nbq",
                      r"/usr/share/python3/runtime\.d/nbqlock-tools\.rtupdate"),
    "nbqlock-doc": (r"/usr/share/doc/nbqlock-doc/html/.+",
                    r"/usr/share/doc-base/nbqlock-doc\.nbqlock"),
}
DEPENDS = {"nbqlock-dkms": r"\bdkms\b", "nbqlock-dev": r"nbqlock-dkms \(= \S+\)",
           "nbqlock-tools": r"\bpython3\b", "nbqlock-doc": r"\blibjs-sphinxdoc\b"}

# Asks the completion as bash does: words, the last of which is completed.
COMPLETION = r"""
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_nbq "$1"
printf '%s\n' "${COMPREPLY[@]}"
"""


def wrong_contents(package, names):
    """What a package lacks, and what it should not have."""
    return unlike([pattern.format(package=package, version=re.escape(version()))
                   for pattern in (*WANTED[package], DOCS)], names)


def unlike(patterns, names):
    """The patterns that no file fits, and the files that fit no pattern."""
    lacking = [f"no file like {pattern}" for pattern in patterns
               if not any(re.fullmatch(pattern, name) for name in names)]
    return lacking + [f"not expected: {name}" for name in names
                      if not any(re.fullmatch(pattern, name) for pattern in patterns)]


def package_cases(built):
    found = {field(path, "Package"): path for path in built}
    yield Case("packages: the four of them are built", found.keys() == WANTED.keys(),
               " ".join(map(str, built)))
    for package, path in found.items():
        wrong = wrong_contents(package, contents(path))
        wrong += [] if re.search(DEPENDS[package], field(path, "Depends")) else \
            [f"depends on {field(path, 'Depends')}"]
        yield Case(f"packages: {package} has its files, and depends on what it needs", not wrong,
                   "\n".join(wrong))


def packages():
    """the Debian packages: built, lintian, contents; make install and uninstall"""
    folder = BUILD / "packages"
    built = build_packages(folder)
    yield from package_cases(built)
    words = complaints_of_lintian(next(folder.glob("*.changes")))
    yield Case("packages: lintian finds no error and no warning", not words, "\n".join(words))
    yield from install_cases(folder / f"nbqlock-{version()}")


# make install

# There before, and to be left alone.
OTHERS = ("usr/local/bin/other", "usr/local/share/man/man1/other.1",
          "lib/modules/{release}/updates/other.ko")
INSTALLED = (r"lib/modules/{release}/updates/nbqlock/nbqlock\.ko(\.\w+)?",
             r"lib/modules/{release}/updates/nbqlock/stress/nbqlock_stress\.ko(\.\w+)?",
             r"usr/local/src/nbqlock-headers/{release}/Module\.symvers",
             r"usr/local/src/nbqlock-headers/nbqlock\.mk",
             rf"usr/local/src/nbqlock-headers/nbqlock/({HEADER_NAMES})\.h",
             r"usr/local/src/nbqlock-headers/bpf/nbq_arena_lock(_types)?\.h",
             r"usr/local/share/doc/nbqlock/example/(Kbuild|Makefile|nbq_example\.c)",
             *(pattern.replace("/usr/", "usr/local/").removesuffix(r"\.gz")
               for pattern in WANTED["nbqlock-tools"] if "python3" not in pattern))


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if path.is_symlink() or not path.is_dir())


class Installation:
    """make install of a copy of the sources, below a folder of its own."""

    def __init__(self, tree, kernel):
        self.tree = tree
        self.kernel = kernel
        self.root = tree.parent / "root"
        self.nbq = self.root / "usr/local/bin/nbq"
        for name in OTHERS:
            path = self.root / name.format(release=kernel.version)
            path.parent.mkdir(parents=True)
            path.touch()
        self.before = files_below(self.root)

    def make(self, target, folder=None, *words):
        run_logged(["make", "-C", folder or self.tree, target, f"KDIR={self.kernel.build_dir}",
                    *self.kernel.make_options, *compiler_for_make(), *words],
                   self.tree.parent / "install.log", f"make {target}",
                   env={**compiler_environment(), "PATH": SYSTEM_PATH})

    def install(self, target):
        self.make(target, None, f"DESTDIR={self.root}")

    def added(self):
        return [name for name in files_below(self.root) if name not in self.before]

    def ask(self, *command):
        """What a command says of the installed nbq, and its status."""
        return answer_of(command, env={"PATH": f"{self.nbq.parent}:{SYSTEM_PATH}"})


def command_cases(there):
    """The installed nbq, its completion, its manual pages."""
    share = there.root / "usr/local/share"
    text, status = there.ask("nbq", "--version")
    yield Case("install: nbq has the version", (text, status) == (
        f"nbq (nbqlock) {version()}\n", 0), text)
    text, status = there.ask("nbq", "stress", "--folder", str(there.root))
    yield Case("install: nbq stress looks for the driver on this machine",
               status == 2 and "is no folder of the stress driver" in text, text)
    completion = share / "bash-completion/completions/nbq"
    for words, wanted in ((("",), {"stress", "top", "compare", "--version"}),
                          (("stress", "--lo"), {"--locks"})):
        text, _ = there.ask("bash", "-c", COMPLETION, "-", str(completion), "nbq", *words)
        yield Case(f"install: bash completes nbq {' '.join(words)}".rstrip(),
                   wanted <= set(text.split()), text)
    options = set(re.findall(r"--[a-z-]+", there.ask("nbq", "stress", "--help")[0]))
    page = (share / "man/man1/nbq-stress.1").read_text().replace(r"\-", "-")
    lacking = sorted(option for option in options if option not in page)
    yield Case("install: nbq-stress(1) has every option of --help", options and not lacking,
               " ".join(lacking))


def install_cases(tree):
    """make install, what it has placed, make uninstall."""
    there = Installation(tree, stock_kernel("6.12"))
    there.install("install")
    patterns = [pattern.format(release=re.escape(there.kernel.version))
                for pattern in INSTALLED]
    wrong = unlike(patterns, there.added())
    yield Case("install: make install places its files", not wrong, "\n".join(wrong))
    yield from command_cases(there)
    example = tree / "Documentation/example"
    there.make("modules", example, f"NBQLOCK={there.root}/usr/local/src/nbqlock-headers")
    log = (tree.parent / "install.log").read_text()
    yield Case("install: the example is built against what is installed",
               (example / "nbq_example.ko").exists() and "WARNING" not in log, log[-4000:])
    there.install("uninstall")
    left = there.added()
    own = [str(path) for path in there.root.rglob("*nbqlock*")]
    yield Case("install: make uninstall removes what make install has placed, and nothing else",
               not left and not own and files_below(there.root) == there.before,
               "\n".join([*left, *own]))
