# SPDX-License-Identifier: GPL-2.0
"""The Debian packages: what they have, without a system to boot."""

import re

from base.case import Case, step
from base.common import BUILD
from base.lock_types import NBQ
from base.versions import version
from ship.packages.build import build_packages, complaints_of_lintian, contents, field

# Of each package: files that it must have, as patterns, and nothing else but those of its docs.
DOCS = r"/usr/share/doc/{package}/(changelog(\.Debian)?\.gz|copyright)"
HEADER_NAMES = "|".join(("bare_spin", "bare_spin_types", "compat", "counters", "guard", "nbqlock",
                         "spin_types", "stress", "types", *NBQ))
WANTED = {
    "nbqlock-dkms": (r"/usr/src/nbqlock-{version}/(dkms\.conf|Kbuild|keep-symvers|"
                     r"built-for)",
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
    "nbqlock-tools": (r"/usr/bin/nbq", r"/usr/share/nbqlock/(nbq|version|\w+_list\.h)",
                      r"/usr/share/nbqlock/(base|measure|measure/top|nbqlock_drgn)/\w+\.py",
                      r"/usr/lib/python3/dist-packages/nbqlock_drgn",
                      r"/usr/share/man/man1/nbq(-\w+)?\.1\.gz",
                      r"/usr/share/bash-completion/completions/nbq",
                      r"/usr/share/python3/runtime\.d/nbqlock-tools\.rtupdate"),
    "nbqlock-doc": (r"/usr/share/doc/nbqlock-doc/html/.+",
                    r"/usr/share/doc-base/nbqlock-doc\.nbqlock"),
}
DEPENDS = {"nbqlock-dkms": r"\bdkms\b", "nbqlock-dev": r"nbqlock-dkms \(= \S+\)",
           "nbqlock-tools": r"\bpython3\b", "nbqlock-doc": r"\blibjs-sphinxdoc\b"}


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


@step("packages")
def packages():
    """the Debian packages: built, lintian, contents"""
    folder = BUILD / "packages"
    built = build_packages(folder)
    yield from package_cases(built)
    words = complaints_of_lintian(next(folder.glob("*.changes")))
    yield Case("packages: lintian finds no error and no warning", not words, "\n".join(words))
