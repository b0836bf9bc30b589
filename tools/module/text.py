# SPDX-License-Identifier: GPL-2.0
"""Static checks: layout, style, documentation, compiler warnings, sparse, annotations, objects."""

import re
import subprocess

from ship import layers
from guest.cases import (ARM64, DEBIAN_6_1, DEBIAN_6_12, DEBIAN_NEWEST, DEBIAN_RT, DEBUG, I386, KCSAN,
                       RISCV64, RISCV64_PLAIN, RT, USER_MODE, guest_kernel, stock_kernel)
from ship.kept import kept_results, papers_disagree
from ship.names import all_wrong
from measure.bench.readable import kept_figures
from module.annotation_checks import analysed_modules, context_analysis, ignored_results
from base.case import Case, On, claim_cases, runs_on
from base.common import BUILD, PROJECT, Unavailable, answer_of
from ship.documentation import broken_links, build_html, long_first_screen, lost_fences
from module.guards import guard_claims
from ship.interface import differences
from module.mmiowb import mmiowb_claims
from guest.modules import build_modules, checked_build
from guest.programs import new_sparse
from base.versions import disagreements

KERNEL_FOLDERS = ("nbqlock", "kunit", "Documentation/example", "Documentation/stress-example",
                  "Documentation/tutorial", "tools/module/faults", "tools/studies/console/load",
                  "tools/studies/locktorture/module", "tools/studies/nolock/load", "tools/studies/rqspinlock/load")
HOST_FOLDERS = ("tools/host/shim", "tools/host/programs", "tools/host/explore",
                "tools/host/weak_memory", "tools/host/simulate", "tools/measure/bench/kernel")

BPF_FOLDERS = ("nbqlock/bpf", "tools/studies/arena/load", "Documentation/arena-example")

# Besides what .checkpatch.conf names for all: the host shim defines what these
# ask to use: the kernel's own macros, attributes, per-CPU data and barriers.
HOST_IGNORES = ("ARRAY_SIZE", "AVOID_EXTERNS", "BIT_MACRO", "CAMELCASE", "COMPLEX_MACRO",
                "DATA_RACE", "IS_ENABLED_CONFIG", "MEMORY_BARRIER", "NEW_TYPEDEFS",
                "PREFER_DEFINED_ATTRIBUTE_MACRO", "VOLATILE")
# Programs have no such macros, and their users' sides are none of the kernel's.
BPF_IGNORES = (*HOST_IGNORES, "EMBEDDED_FUNCTION_NAME", "LINE_SPACING", "MACRO_WITH_FLOW_CONTROL",
               "SPACING", "SPLIT_STRING")


def layout():
    """which headers and symbols each layer uses; the interface is as recorded; one version"""
    for name, found in (("each layer keeps to its headers", layers.breaches(PROJECT)),
                        ("known breaches are found", layers.self_test())):
        yield Case(f"layout: {name}", not found, "\n".join(found))
    changed = differences()
    yield Case("layout: the interface is that of Documentation/ABI/symbols", not changed, changed)
    lost = rooms()
    yield Case("layout: CONTRIBUTING.md has a row for each folder", not lost, "\n".join(lost))
    versions = disagreements()
    yield Case("layout: one version in the modules, the packages, the changelog", not versions,
               versions)


def rooms():
    """The folders that CONTRIBUTING.md has no row for, and its rows without a folder."""
    text = (PROJECT / "CONTRIBUTING.md").read_text()
    rows = {name for row in re.findall(r"^\| (`.+?`) \|", text, re.MULTILINE)
            for name in re.findall(r"`([\w./]+)/`", row)}
    there = {f"tools/{path.name}" for path in (PROJECT / "tools").iterdir()
             if path.is_dir() and path.name != "__pycache__"}
    return [f"{name}/ has no row" for name in sorted(there - rows)] + \
        [f"there is no {name}/" for name in sorted(rows) if not (PROJECT / name).is_dir()]


def headers():
    """the generated headers are those of nbqlock/lock.h.in"""
    text, status = answer_of([PROJECT / "nbqlock/lock.sh", "--check"])
    yield Case("headers: nbqlock/lock.sh --check", status == 0, text)


def c_files(folders):
    return sorted(path.relative_to(PROJECT) for folder in folders
                  for path in (PROJECT / folder).rglob("*.[ch]")
                  if not path.name.endswith(".mod.c"))


def checkpatch():
    """checkpatch.pl --strict over all C files"""
    script = guest_kernel().source / "scripts/checkpatch.pl"
    for name, folders, options in (
            ("modules", KERNEL_FOLDERS, []),
            ("host tests", HOST_FOLDERS, ["--ignore", ",".join(HOST_IGNORES)]),
            ("BPF programs", BPF_FOLDERS, ["--ignore", ",".join(BPF_IGNORES)])):
        files = c_files(folders)
        if folders is not BPF_FOLDERS:
            files = [path for path in files if path not in c_files(BPF_FOLDERS)]
        done = subprocess.run(
            ["perl", script, "--strict", "--no-tree", "--terse", "--no-summary",
             "--show-types", *options, "-f", *files],
            cwd=PROJECT, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        # Its standard error has nothing on the files: that there is no git, or no .git.
        yield Case(f"checkpatch: {name}, {len(files)} files",
                   bool(files) and done.returncode == 0 and not done.stdout,
                   done.stdout + done.stderr or "no files")


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


@runs_on(USER_MODE, "build")
def build():
    """the modules build without a warning under W=1: 7.2, 6.1"""
    yield strict_build(guest_kernel(), WARNINGS)
    yield On(DEBIAN_6_1, "build")
    yield strict_build(stock_kernel("6.1"), WARNINGS)


@runs_on(DEBIAN_6_12, "build")
def sparse():
    """the modules build without a warning under sparse: Debian 6.12, 7.2"""
    yield strict_build(stock_kernel("6.12"), SPARSE)
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
STRICT = (DEBIAN_6_12, DEBIAN_6_1, DEBIAN_NEWEST, DEBIAN_RT, RT, DEBUG, KCSAN, ARM64,
          RISCV64, I386)


def strict_on(testbed):
    """The case of one kernel: warnings and sparse in one build."""
    try:
        kernel = testbed.find()
        return strict_build(kernel, WARNINGS, SPARSE,
                            options=[f"CHECK={new_sparse()}", *suites_of(kernel)])
    except Unavailable as reason:
        return Case(f"build: {testbed.name}", False, str(reason), skipped=True)


def strict():
    """the modules build without a warning under W=1 and sparse for every other kernel"""
    for testbed in STRICT:
        yield On(testbed, "build")
        yield strict_on(testbed)


def docs():
    """the documentation builds without a warning; links, names, kept results and their figures"""
    yield from kept_results()
    yield from kept_figures()
    warnings = build_html()
    yield Case("docs: HTML without a warning", not warnings, warnings)
    broken = broken_links()
    yield Case("docs: every link in a .md file, every named page is there", not broken, broken)
    wrong = all_wrong()
    yield Case("docs: lock types, commands, options and symbols that are named exist", not wrong,
               "\n".join(f"{path}: {each}" for path, found in wrong.items() for each in found))
    lost = lost_fences()
    yield Case("docs: each fence in a .md file stands on its own line", not lost, lost)
    differs = papers_disagree()
    yield Case("docs: papers.rst has the findings of the kept reports", not differs, differs)
    long = long_first_screen()
    yield Case("docs: README's first screen is short, and has code", not long, long)


@runs_on(USER_MODE, "build")
def analysis():
    """ignored results and unbalanced locks: the compiler's warnings, clang's context analysis"""
    build_modules(guest_kernel())
    for check in (ignored_results, context_analysis, analysed_modules):
        for claim, complaint in check(guest_kernel()):
            yield Case(f"analysis: {claim}", not complaint, complaint)


def guards():
    """guards compile, unchecked ones are refused: 7.2, 6.12, 6.1"""
    # What only the newest kernel's guards have is looked for there.
    for testbed, whole in ((USER_MODE, True), (DEBIAN_6_12, False), (DEBIAN_6_1, False)):
        yield On(testbed, "build")
        kernel = testbed.find()
        yield from claim_cases(f"guards: Linux {kernel.version}", guard_claims(kernel, whole))


@runs_on(RISCV64_PLAIN, "build")
def riscv():
    """riscv64: the modules build under W=1, every operation counts for mmiowb()"""
    kernel = RISCV64_PLAIN.find()
    yield strict_build(kernel, WARNINGS, options=[NO_SYMBOLS])
    # Every acquisition and every release, inline ones too: one that leaves it out lets
    # the writel() of one holder reach the device after that of the next.
    yield from claim_cases("riscv", mmiowb_claims(kernel, BUILD / f"{kernel.name}-strict"))
