# SPDX-License-Identifier: GPL-2.0
"""Builds of the modules: compiler warnings, sparse, annotations, objects."""

import re

from base.case import ONLY_ALL, Case, On, claim_cases, runs_on, step
from base.common import BUILD, Unavailable
from guest.cases import (ARM64, DEBIAN_6_12, DEBIAN_NEWEST, DEBIAN_OLDEST, DEBIAN_RT, DEBIANS,
                         DEBUG, I386, KCSAN, RISCV64, RISCV64_PLAIN, RT, USER_MODE, guest_kernel)
from guest.modules import build_modules, checked_build
from guest.programs import new_sparse
from module.annotation_checks import analysed_modules, context_analysis, ignored_results
from module.guards import guard_claims
from module.mmiowb import mmiowb_claims

# kbuild's options, and how its lines begin that say it has heeded them.
WARNINGS = ("W=1", "  CC ")
# What the kernel's Makefile says where pahole has come or gone since the kernel was built: of
# no matter to modules without BTF.
PAHOLE = "warning: pahole version differs"
SPARSE = ("C=2", "  CHECK ")
# Where only what modules are built with was made of a kernel, none of its symbols is known.
NO_SYMBOLS = "KBUILD_MODPOST_WARN=1"
UNDEFINED = re.compile(r'WARNING: (\S+/Module\.symvers is missing|'
                       r'modpost: (suppressed \d+ unresolved|"\w+" \[\S+\] undefined!))')


def strict_build(kernel, *checks, options=()):
    """The case that the modules build without a warning under these checks of kbuild."""
    names = [option for option, _ in checks]
    output = checked_build(kernel, *names, *options)
    warnings = [line for line in output.splitlines()
                if re.search(r"\b(warning|error):|WARNING:", line)
                and not line.startswith((f"{kernel.source}/", "./include/", PAHOLE))
                and not (NO_SYMBOLS in options and UNDEFINED.match(line))]
    warnings += [f"no line of the build starts with \"{sign}\"" for _, sign in checks
                 if sign not in output]
    return Case(f"build: no warning under {' '.join(names)}, Linux {kernel.version}",
                not warnings, "\n".join(warnings))


@step("build")
@runs_on(USER_MODE, "build")
def build():
    """the modules build without a warning under W=1: the newest source, the oldest supported"""
    yield strict_build(guest_kernel(), WARNINGS)
    yield On(DEBIAN_OLDEST, "build")
    yield strict_build(DEBIAN_OLDEST.find(), WARNINGS)


@step("sparse")
@runs_on(DEBIAN_6_12, "build")
def sparse():
    """the modules build without a warning under sparse: Debian's usual kernel, the newest source"""
    yield strict_build(DEBIAN_6_12.find(), SPARSE)
    yield On(USER_MODE, "build")
    # Debian 12's sparse is too old for the newest kernels: their make would say so
    # and go on without it.
    yield strict_build(guest_kernel(), SPARSE, options=[f"CHECK={new_sparse()}"])


def suites_of(kernel):
    """The option that builds the KUnit suites, too, where there is KUnit."""
    config = kernel.build_dir / ".config"
    there = config.exists() and "\nCONFIG_KUNIT=" in config.read_text()
    return ["CONFIG_NBQLOCK_KUNIT_TEST=m"] if there else []


# Besides those of the two steps above.
STRICT = (*DEBIANS, DEBIAN_NEWEST, DEBIAN_RT, RT, DEBUG, KCSAN, ARM64,
          RISCV64, I386)


def strict_on(testbed):
    """The case of one kernel: warnings and sparse in one build."""
    try:
        kernel = testbed.find()
        return strict_build(kernel, WARNINGS, SPARSE,
                            options=[f"CHECK={new_sparse()}", *suites_of(kernel)])
    except Unavailable as reason:
        return Case(f"build: {testbed.name}", False, str(reason), skipped=True)


@step("strict", ONLY_ALL)
def strict():
    """the modules build without a warning under W=1 and sparse for every other kernel"""
    for testbed in STRICT:
        yield On(testbed, "build")
        yield strict_on(testbed)


@step("analysis")
@runs_on(USER_MODE, "build")
def analysis():
    """ignored results and unbalanced locks: the compiler's warnings, clang's context analysis"""
    build_modules(guest_kernel())
    for check in (ignored_results, context_analysis, analysed_modules):
        for claim, complaint in check(guest_kernel()):
            yield Case(f"analysis: {claim}", not complaint, complaint)


@step("guards")
def guards():
    """guards compile, unchecked ones are refused: the newest source, Debian's kernels"""
    # What only the newest kernel's guards have is looked for there.
    for testbed, whole in ((USER_MODE, True), *((testbed, False) for testbed in DEBIANS)):
        yield On(testbed, "build")
        kernel = testbed.find()
        yield from claim_cases(f"guards: Linux {kernel.version}", guard_claims(kernel, whole))


@step("riscv")
@runs_on(RISCV64_PLAIN, "build")
def riscv():
    """riscv64: the modules build under W=1, every operation counts for mmiowb()"""
    kernel = RISCV64_PLAIN.find()
    yield strict_build(kernel, WARNINGS, options=[NO_SYMBOLS])
    # Every acquisition and every release, inline ones too: one that leaves it out lets
    # the writel() of one holder reach the device after that of the next.
    yield from claim_cases("riscv", mmiowb_claims(kernel, BUILD / f"{kernel.name}-strict"))
