# SPDX-License-Identifier: GPL-2.0
"""The project's texts: layout, style, the interface, the documentation."""

import re
import subprocess

from base.case import NO_KERNEL, STEPS, Case, order_of_steps, step
from base.common import PROJECT, answer_of
from base.versions import disagreements
from guest.cases import guest_kernel
from measure.bench.readable import kept_figures
from ship import layers, walls
from ship.documentation import broken_links, build_html, long_first_screen, lost_fences
from ship.interface import differences
from ship.kept import FOLDER, kept_results, papers_disagree
from ship.names import all_wrong
from ship.parameters_page import stale

KERNEL_FOLDERS = ("nbqlock", "kunit", "Documentation/example", "Documentation/stress-example",
                  "Documentation/tutorial", "tools/module/faults")
HOST_FOLDERS = ("tools/host/shim", "tools/host/programs", "tools/host/kunit",
                "tools/host/explore", "tools/host/weak_memory", "tools/host/simulate",
                "tools/measure/bench/kernel")
BPF_FOLDERS = ("nbqlock/bpf", "Documentation/arena-example")
# Besides what .checkpatch.conf names for all: the host shim defines what these
# ask to use: the kernel's own macros, attributes, per-CPU data and barriers.
HOST_IGNORES = ("ARRAY_SIZE", "AVOID_EXTERNS", "BIT_MACRO", "CAMELCASE", "COMPLEX_MACRO",
                "DATA_RACE", "IS_ENABLED_CONFIG", "MEMORY_BARRIER", "NEW_TYPEDEFS",
                "PREFER_DEFINED_ATTRIBUTE_MACRO", "VOLATILE")
# Programs have no such macros, and their users' sides are none of the kernel's.
BPF_IGNORES = (*HOST_IGNORES, "EMBEDDED_FUNCTION_NAME", "LINE_SPACING", "MACRO_WITH_FLOW_CONTROL",
               "SPACING", "SPLIT_STRING")


@step("layout", NO_KERNEL)
def layout():
    """which headers and symbols each layer uses; the interface is as recorded; one version"""
    for name, found in (("each layer keeps to its headers", layers.breaches(PROJECT)),
                        ("known breaches are found", layers.self_test())):
        yield Case(f"layout: {name}", not found, "\n".join(found))
    found = walls.breaches(PROJECT / "tools")
    yield Case("layout: each room of tools/ imports only what it may", not found, "\n".join(found))
    changed = differences()
    yield Case("layout: the interface is that of Documentation/ABI/symbols", not changed, changed)
    old = stale()
    yield Case("layout: the ABI page of the parameters is made from their list", not old, old)
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


@step("headers", NO_KERNEL)
def headers():
    """the generated headers are those of nbqlock/lock.h.in"""
    text, status = answer_of([PROJECT / "nbqlock/lock.sh", "--check"])
    yield Case("headers: nbqlock/lock.sh --check", status == 0, text)


def folders_of_loads():
    """(those with programs for the kernel, those with BPF programs) of the studies."""
    found = [path for name in ("load", "module")
             for path in sorted(PROJECT.glob(f"tools/studies/*/{name}"))]
    return ([path for path in found if not any(path.rglob("*.bpf.c"))],
            [path for path in found if any(path.rglob("*.bpf.c"))])


def c_files(folders):
    return sorted(path.relative_to(PROJECT) for folder in folders
                  for path in (PROJECT / folder).rglob("*.[ch]")
                  if not path.name.endswith(".mod.c"))


@step("checkpatch")
def checkpatch():
    """checkpatch.pl --strict over all C files"""
    script = guest_kernel().source / "scripts/checkpatch.pl"
    loads, bpf_loads = folders_of_loads()
    in_bpf = c_files((*BPF_FOLDERS, *bpf_loads))
    for name, folders, options in (
            ("modules", (*KERNEL_FOLDERS, *loads), []),
            ("host tests", HOST_FOLDERS, ["--ignore", ",".join(HOST_IGNORES)]),
            ("BPF programs", (), ["--ignore", ",".join(BPF_IGNORES)])):
        files = [path for path in c_files(folders) if path not in in_bpf] if folders else in_bpf
        done = subprocess.run(
            ["perl", script, "--strict", "--no-tree", "--terse", "--no-summary",
             "--show-types", *options, "-f", *files],
            cwd=PROJECT, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        # Its standard error has nothing on the files: that there is no git, or no .git.
        yield Case(f"checkpatch: {name}, {len(files)} files",
                   bool(files) and done.returncode == 0 and not done.stdout,
                   done.stdout + done.stderr or "no files")


@step("docs")
def docs():
    """the documentation builds without a warning; links, names, kept results and their figures"""
    yield from kept_results()
    yield from kept_figures(PROJECT / FOLDER)
    warnings = build_html()
    yield Case("docs: HTML without a warning", not warnings, warnings)
    broken = broken_links()
    yield Case("docs: every link in a .md file, every named page is there", not broken, broken)
    wrong = all_wrong()
    yield Case("docs: lock types, commands, options and symbols that are named exist", not wrong,
               "\n".join(f"{path}: {each}" for path, found in wrong.items() for each in found))
    lost = lost_fences()
    yield Case("docs: each fence in a .md file stands on its own line", not lost, lost)
    lacking = sorted(STEPS.keys() - set(order_of_steps()))
    yield Case("docs: testing.rst has a row for each step", not lacking, "\n".join(
        f"{name:<18}  {STEPS[name].__doc__}" for name in lacking))
    differs = papers_disagree()
    yield Case("docs: papers.rst has the findings of the kept reports", not differs, differs)
    long = long_first_screen()
    yield Case("docs: README's first screen is short, and has code", not long, long)
