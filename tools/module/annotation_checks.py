# SPDX-License-Identifier: GPL-2.0
"""Right and wrong uses of the locks, compiled: what the compilers report of them.

They are in tools/module/annotations/uses.c; the names of its functions say what must be
reported. The checks are clang's context analysis, by a clang of Debian's newest suite if
there is none here that has it, and the compiler's warning of ignored results.

Besides, what lock_stat must say after a run with contention.
"""

from concurrent.futures import ThreadPoolExecutor
import re
import shlex
import shutil

from base.building import compiler_environment, locked, run_logged
from base.common import BUILD, PROJECT, Failure, Unavailable, answer_of, cores, output_of
from guest.debian import (loader_in, only, own_suites, started_with_own_libraries,
                          suites_of_main_archive, unpacked)

USES = PROJECT / "tools/module/annotations"
FUNCTION = re.compile(r"^static .*?\b((?:right|wrong)_\w+)\(")

# The kernel turns the analysis on from this version on.
LEAST_CLANG = 23
CLANG_PACKAGE = r"clang-(2[3-9]|[3-9]\d)"
# As in the kernel's scripts/Makefile.context-analysis.
ANALYSIS = ("-DWARN_CONTEXT_ANALYSIS", "-fexperimental-late-parse-attributes",
            "-Wthread-safety", "-Wthread-safety-pointer", "-Wthread-safety-beta")
SUPPRESSIONS = "scripts/context-analysis-suppression.txt"
# What a command line for gcc has in it that another compiler wants to know, too.
COMMON_OPTIONS = ("-I", "-D", "-std=", "-nostdinc", "-fshort-wchar", "-funsigned-char",
                  "-fno-common", "-fms-extensions", "-m64", "-O")


# The uses

def uses():
    """The lines of each function: {name: {number: text}}."""
    found = {}
    name = None
    for number, line in enumerate((USES / "uses.c").read_text().splitlines(), 1):
        start = FUNCTION.match(line)
        if start:
            name = start[1]
            found[name] = {}
        if name:
            found[name][number] = line
        if line == "}":
            name = None
    return found


def named(prefix):
    names = [name for name in uses() if name.startswith(prefix)]
    if not names:
        raise Failure(f"{USES}/uses.c has no function called {prefix}*")
    return names


def reported_lines(output):
    """The lines of uses.c that a compiler has something to say of."""
    return {int(number) for number in
            re.findall(r"\buses\.c:(\d+):\d+: (?:warning|error|note):", output)}


def compiled(kernel, *options):
    """Compile the uses for a kernel. Returns (the folder, the output)."""
    folder = BUILD / f"annotations-{kernel.name}"
    log = BUILD / "log" / f"annotations-{kernel.name}.log"
    with locked(f"{folder}.lock", folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(USES, folder)
        log.unlink(missing_ok=True)
        run_logged(["make", "-C", kernel.build_dir, f"M={folder}", f"NBQLOCK={PROJECT}",
                    *kernel.make_options, *options, "uses.o"], log,
                   f"compiling the uses for Linux {kernel.version}",
                   env=compiler_environment())
    return folder, log.read_text(errors="replace")


# Each yields (what is claimed, the complaint or nothing).

def ignored_results(kernel):
    """Does the compiler warn of each result that is ignored, and of nothing right?"""
    _, output = compiled(kernel)
    yield from ignored_claims("the compiler", output)


def ignored_claims(compiler, output):
    functions = uses()
    lines = reported_lines(output)
    silent = [f"{number}: {text.strip()}" for name in named("wrong_ignored_")
              for number, text in functions[name].items()
              if re.match(r"\tnbq_\w+\(", text) and number not in lines]
    yield f"{compiler} warns of every result that is ignored", \
        f"silent on\n{chr(10).join(silent)}\n{output}" if silent else ""
    yield from right_claims(compiler, lines, output)


def right_claims(compiler, lines, output):
    functions = uses()
    blamed = [name for name in named("right_") if lines & functions[name].keys()]
    yield f"{compiler} accepts right uses", \
        f"reported: {blamed}\n{output}" if blamed else ""


def wrong_claims(compiler, prefix, reported, output):
    missed = set(named(prefix)) - reported
    yield f"{compiler} reports each of {len(named(prefix))} {prefix}*", \
        f"not reported: {sorted(missed)}\n{output}" if missed else ""


def context_analysis(kernel):
    """Does clang follow which locks are held, and what they guard?"""
    clang = analysing_clang()
    folder, _ = compiled(kernel)
    output = analyse(clang, kernel, folder / ".uses.o.cmd", folder)
    functions = uses()
    lines = reported_lines(output)
    reported = {name for name in functions if lines & functions[name].keys()}
    strange = re.findall(r"^.*\.h:\d+:\d+: warning: .*", output, re.MULTILINE)
    yield "clang accepts the headers", "\n".join(strange)
    for prefix in ("wrong_context_", "wrong_guarded_"):
        yield from wrong_claims("clang", prefix, reported, output)
    yield from ignored_claims("clang", output)


def analysed_modules(kernel):
    """Has clang nothing to say of our own modules, as they were built last?"""
    clang = analysing_clang()
    copy = BUILD / kernel.name
    commands = [path for path in sorted((copy / "nbqlock").rglob(".*.o.cmd"))
                if (path.parent / path.name[1:-len(".o.cmd")]).with_suffix(".c").exists()]
    with ThreadPoolExecutor(cores()) as pool:
        said = list(pool.map(lambda command: analyse(clang, kernel, command, copy),
                             commands))
    yield f"clang accepts our own {len(commands)} files", \
        "no files" if not commands else "\n".join(filter(None, said))


def analyse(clang, kernel, command_file, folder):
    """Let clang look at what a command of kbuild has compiled. Returns its output."""
    words = shlex.split(command_file.read_text().split(" := ", 1)[1].splitlines()[0])
    options = [word for word in words if word.startswith(COMMON_OPTIONS)]
    for before, word in zip(words, words[1:]):
        if before == "-include":
            options += [before, word]
    said, status = answer_of(
        [*clang, *options, "-Wno-everything", "-Wunused-result", *ANALYSIS,
         f"--warning-suppression-mappings={kernel.source / SUPPRESSIONS}",
         "-fsyntax-only", words[-1]], cwd=folder)
    if status:
        raise Failure(f"clang cannot read {words[-1]}:\n{said[-4000:]}")
    return said


# A clang that can

def analysing_clang():
    """The command of a clang with context analysis: one that is here, or Debian's."""
    for name in ("clang", *(f"clang-{number}" for number in range(40, LEAST_CLANG - 1, -1))):
        version = re.search(r"clang version (\d+)", output_of([name, "--version"]) or "")
        if version and int(version[1]) >= LEAST_CLANG:
            return [name]
    folder = unpacked("clang", "clang-[0-9]*", f"clang {LEAST_CLANG} or later",
                      [own_suites(), suites_of_main_archive("sid")], CLANG_PACKAGE,
                      clang_packages, clang_files, megabytes=60)
    return [*started_with_own_libraries(folder, clang_files(folder)[0]),
            "-resource-dir", str(only(folder, "usr/lib/llvm-*/lib/clang/*"))]


def clang_packages(apt, package):
    number = package.rpartition("-")[2]
    needs = apt.dependencies(f"libclang-cpp{number}")
    if f"libllvm{number}" not in needs:
        raise Unavailable(f"libclang-cpp{number} does not name the libraries it needs")
    return [package, f"libclang-common-{number}-dev", *needs]


def clang_files(folder):
    return only(folder, "usr/lib/llvm-*/bin/clang-[0-9]*"), loader_in(folder)


# lock_stat

class LockClass:
    """A class's line in /proc/lock_stat: its name and its counts."""

    def __init__(self, name, numbers):
        self.name = name
        self.contentions = int(numbers[1])
        self.acquisitions = int(numbers[7])


def read_lock_stat(text):
    """All classes of /proc/lock_stat."""
    return [LockClass(match[1], match[2].split()) for match in
            re.finditer(r"^\s*(\S.*?):((?:\s+[\d.]+){12})\s*$", text, re.MULTILINE)]


def lacks_contention(text, names):
    """What /proc/lock_stat fails to say of classes that were contended; or nothing."""
    classes = {entry.name: entry for entry in read_lock_stat(text)}
    if not classes:
        return f"no class at all in\n{text[:2000]}"
    for name in names:
        entry = classes.get(name)
        if not entry:
            return f"no class {name} among {sorted(classes)}"
        if not 0 < entry.contentions <= entry.acquisitions:
            return f"{name}: {entry.contentions} contentions, " \
                   f"{entry.acquisitions} acquisitions"
    return ""
