# SPDX-License-Identifier: GPL-2.0
"""Runs the KUnit suites by the kernel's own kunit.py, and checks the run.

The kernel tree is not touched: a shadow of it, folders of links with the
project beside them as nbq/, is what kunit.py works in. Shadow and objects
are kept; the project's objects are made anew each time, because the next run
may be another clone's.

For kernels that are also loaded with the modules there is another way: the suites
are a module, too, loaded in a guest, and kunit.py reads the kernel's log only.
"""

import json
import os
import re
import shutil
import sys

from testbed.common import (BUILD, PROJECT, Trouble, cache_root,
                            compiler_environment, compiler_for_make,
                            compiler_identity, cores, digest, guest_cpus, locked,
                            memory_environment, run_logged, say, tail)
from testbed.complaints import complaints
from testbed.guest import (CPUS_IN_A_LAYOUT, LAYOUTS, LEAK_SCAN, MOST_STARTS, UNHURRIED,
                           excerpt, keep_early_death, run_guest, user_mode_environment)
from testbed.guest_cli import LOADED
from testbed.kernel_copy import link_all
from testbed.kernels import require_um_host
from testbed.modules import build_suites, refresh_copy
from testbed.source import get_source

LOCK_TYPES = ("nbq_clh", "nbq_mcs", "nbq_swap", "nbq_spin")
SUITES = ("nbq_mcs", "nbq_spin", "nbq_spin_bare", "nbq_sockets", "nbq_operations", "nbq_guards",
          "nbq_contexts", "nbq_threads", "nbq_deadlocks", "nbq_cycles", "nbq_lockdep",
          "nbq_report", "nbq_pool", "nbq_growth", "nbq_deadline", "nbq_events",
          "nbq_stress_histogram", "nbq_stress_statistics")
BUILT_IN_SUITES = ("nbq_early",)	# of what comes before a module can
# Limits end what hangs, and decide nothing else: with a core to itself, a build takes
# minutes, the suites half a minute, and two where each access is emulated or checked.
BUILD_TIMEOUT = 7200
SLOW_TIMEOUT = 3600
RUN_TIMEOUT = 1800		# kunit.py's own limit for the boot and the suites
KUNIT_MEMORY = 1024		# in MB: what kunit.py gives a kernel
CPUS = max(4, guest_cpus())
KUNIT_FOLDER = "tools/testing/kunit"


class TestBed:
    """A kernel to run the suites in; its settings are in tools/testbed/config/NAME.config."""

    def __init__(self, name, cpus=None):
        self.name = name
        self.config = PROJECT / "tools/testbed/config" / f"{name}.config"
        self.cpus = cpus		# nothing, if it knows one only

    def arguments(self, layout):
        """The kernel's, in a layout or where it does not matter."""
        arguments = [f"--kernel_args={argument}" for argument in ("seccomp=on", *UNHURRIED)]
        if self.cpus:
            cpus = CPUS_IN_A_LAYOUT if layout else self.cpus
            arguments.append(f"--kernel_args=ncpus={cpus}")
        return arguments


MULTIPROCESSOR = TestBed("kunit", CPUS)
UNIPROCESSOR = TestBed("kunit-up")


class Case:
    def __init__(self, name, status):
        self.name = name		# suite.case or suite.case.parameter
        self.status = status		# PASS, FAIL, SKIP, ERROR


class Result:
    """The cases of a run, and what is wrong with the run as a whole."""

    def __init__(self, cases, problems, detail, kernel_log=None, said=""):
        self.cases = cases
        self.problems = problems
        self.detail = detail
        self.kernel_log = kernel_log	# where it is
        self.said = said		# all of it

    def count(self, *statuses):
        return sum(1 for case in self.cases if case.status in statuses)

    @property
    def passed(self):
        return not self.problems and self.count("PASS") == \
            len(self.cases) - self.count("SKIP")

    def summary(self):
        return (f"KUnit: {self.count('PASS')} passed, "
                f"{self.count('FAIL', 'ERROR')} failed, {self.count('SKIP')} skipped, "
                f"{len(self.problems)} problems of the run")


def make_shadow(tree, shadow):
    """A tree of links in which kunit.py finds itself and the project."""
    if shadow.exists():
        shutil.rmtree(shadow)
    link_all(tree, shadow, but=("nbq", KUNIT_FOLDER))
    # kunit.py looks for the tree from where it really lies: a copy.
    shutil.copytree(tree / KUNIT_FOLDER, shadow / KUNIT_FOLDER)


def write_kconfig(tree, path):
    """The tree's Kconfig with the project's appended."""
    path.write_text((tree / "Kconfig").read_text() +
                    '\nsource "nbq/nbqlock/Kconfig"\n')


# A suite that is over at once.
SHORT_SUITE = "nbq_deadline"


def run_suites(name_filter):
    """Build the kernel with the suites in it, boot it, check the run. Returns a Result."""
    [result] = run_boots([Boot(name_filter)])
    return result


class Boot:
    """One of several of a kernel with the suites.

    name_filter: of suites, or None. words: more of them for the kernel. layout: of the
    host's memory, where that matters.
    """

    def __init__(self, name_filter=None, words=(), layout=None):
        self.name_filter = name_filter
        self.words = words
        self.layout = layout

    @property
    def name(self):
        """For the names of its logs."""
        place = (self.layout.replace(" ", "-"),) if self.layout else ()
        return "-".join(("", *self.words, *place))


def run_boots(boots, testbed=MULTIPROCESSOR):
    """The same for several boots of one build. Yields a Result for each."""
    require_um_host()
    project_config = PROJECT / "kunit" / ".kunitconfig"
    if not project_config.exists():
        raise Trouble("there is no kunit/.kunitconfig")
    source = get_source()
    options = compiler_for_make()
    key = digest(source.version, source.identity, testbed.config.read_bytes(),
                 compiler_identity(), options)
    folder = cache_root() / testbed.name / f"{source.version}-{key}"
    with locked(f"{folder}.lock", "the KUnit kernel"):
        prepare(folder, source, key, testbed)
        for boot in boots:
            yield run_in(folder, options, boot, testbed)


def prepare(folder, source, key, testbed):
    """Make the shadow and the project's copy current; drop what is not whole."""
    whole = folder / ".whole"
    if folder.exists() and not whole.exists():
        say(f"{folder} was left half-made; making it again")
        shutil.rmtree(folder)
    if not folder.exists():
        say(f"building a KUnit kernel, Linux {source.version} "
            f"(about 6 CPU-minutes; {cores()} CPUs here)")
    (folder / "obj").mkdir(parents=True, exist_ok=True)
    whole.unlink(missing_ok=True)
    make_shadow(source.path, folder / "tree")
    write_kconfig(source.path, folder / "Kconfig")
    copy = BUILD / testbed.name
    refresh_copy(copy, key)
    (folder / "tree/nbq").symlink_to(copy)
    shutil.rmtree(folder / "obj/nbq", ignore_errors=True)


def kunit_command(folder, options, testbed, boot):
    """kunit.py's, to build the kernel and boot it; only to boot it, if in a layout."""
    before, what = (LAYOUTS[boot.layout], ["exec"]) if boot.layout else \
        ((), ["run", f"--jobs={cores() + 1}"])
    return [*before, sys.executable, folder / "tree" / KUNIT_FOLDER / "kunit.py", *what,
            "--arch=um", f"--build_dir={folder / 'obj'}",
            f"--kunitconfig={testbed.config}",
            f"--kunitconfig={folder / 'tree/nbq/kunit/.kunitconfig'}",
            f"--timeout={RUN_TIMEOUT}", *testbed.arguments(boot.layout),
            *(f"--kernel_args={word}" for word in boot.words),
            f"--make_options=KBUILD_KCONFIG={folder / 'Kconfig'}",
            "--make_options=drivers-m=nbq/",
            *(f"--make_options={option}" for option in options)]


def run_in(folder, options, boot, testbed):
    """Run kunit.py, anew if the kernel dies before the suites. Returns a Result."""
    report = folder / "obj/result.json"
    test_log = folder / "obj/test.log"
    log = BUILD / "log" / f"{testbed.name}{boot.name}.log"
    log.unlink(missing_ok=True)
    command = [*kunit_command(folder, options, testbed, boot), f"--json={report}"]
    if boot.name_filter:
        command.append(boot.name_filter)
    # What a layout has to do with does not get better by itself.
    starts = 1 if boot.layout else MOST_STARTS
    for start in range(1, starts + 1):
        for old in (test_log, report):
            old.unlink(missing_ok=True)
        status = run_logged(command, log, "KUnit", cwd=folder,
                            env={**compiler_environment(), **user_mode_environment(),
                                 **memory_environment(KUNIT_MEMORY),
                                 "PYTHONDONTWRITEBYTECODE": "1"},
                            timeout=BUILD_TIMEOUT, check=False,
                            progress=compiled_objects(folder / "obj"))
        # kunit.py came to its end by itself: what make left is whole.
        (folder / ".whole").touch()
        died = test_log.exists() and died_early(test_log.read_text(errors="replace"))
        if start == starts or not died:
            break
        keep_early_death(test_log, testbed.name)
    result = judge(status, report, test_log, log, bool(boot.name_filter))
    if died:
        result.problems.insert(0, "the kernel died before the suites, "
                               f"{start} times of {starts}")
    return result


# The suites' report begins so. Ours are initialized before it, by an initcall; a line
# that names a part of ours is no part of the version, whose builder is "nbqlock".
REPORT = "KTAP version"
OURS = re.compile(r"do_one_initcall|^(?!.*(?:command line|Linux version)).*nbq",
                  re.MULTILINE | re.IGNORECASE)


def died_early(kernel_log):
    """Whether a kernel panicked before the suites, and nothing of ours had a part."""
    return REPORT not in kernel_log and "Kernel panic" in kernel_log and \
        not OURS.search(kernel_log)


def compiled_objects(folder):
    """A progress(): kunit.py keeps make's output to itself, so count objects."""
    def count():
        made = sum(name.endswith(".o") for _, _, files in os.walk(folder) for name in files)
        return f"{made} object files"
    return count


def read_cases(group, prefix=""):
    """All cases of a group of kunit.py's JSON report."""
    cases = [Case(prefix + (case["name"] or "(crashed)"), case["status"])
             for case in group.get("test_cases", [])]
    for inner in group.get("sub_groups", []):
        cases += read_cases(inner, f"{prefix}{inner['name']}.")
    return cases


def read_report(report):
    """The cases of a report, and what is wrong with it."""
    try:
        return read_cases(json.loads(report.read_text())), []
    except (OSError, ValueError, KeyError) as error:
        return [], [f"kunit.py wrote no usable report ({error})"]


def judge(status, report, test_log, log, filtered):
    """Decide from the exit status, the report and the kernel's log."""
    if not test_log.exists():
        return Result([], [f"kunit.py built no kernel (status {status}); log: {log}"],
                      tail(log, 60))
    kernel_log = test_log.read_text(errors="replace")
    kept = log.with_name(f"{log.stem}-kernel.log")
    kept.write_text(kernel_log)
    return judge_log(status, report, kernel_log, kept, log, filtered,
                     (*SUITES, *BUILT_IN_SUITES))


# What a case says that misuses a lock; what the kernel says then; how the case ends.
PROVOKES = re.compile(r"provokes (?:a report|(\d+) reports of different locks): (.+)$")
PROVOKED = re.compile(r"nbqlock: BUG: ([^:]+): ([^ ,]+),")
CASE_END = re.compile(r"(?:^|\] )\s*(?:not )?ok \d+")


def without_provoked(log):
    """A kernel log without the reports that cases provoke. Returns (log, problems).

    A case that announces so many reports must have provoked exactly these.
    """
    kept, problems = [], []
    what, wanted, locks = None, None, []

    def end():
        if wanted and (len(locks) != int(wanted) or len(set(locks)) != len(locks)):
            problems.append(f"{len(locks)} reports of {len(set(locks))} locks, "
                            f"not {wanted}: {what}")

    for line in log.splitlines():
        announced = PROVOKES.search(line)
        report = PROVOKED.search(line)
        if announced:
            wanted, what = announced.groups()
            locks = []
        elif what and CASE_END.search(line):
            end()
            what, wanted = None, None
        elif report and report[1] == what:
            locks.append(report[2])
            continue
        kept.append(line)
    end()
    return "\n".join(kept), problems


def judge_log(status, report, kernel_log, kept, log, filtered=False, suites=SUITES):
    """The same; kept is where the kernel's log is, log what kunit.py has said."""
    cases, problems = read_report(report)
    if status != 0:
        problems.append(f"kunit.py ended with status {status}")
    unprovoked, missing = without_provoked(kernel_log)
    complained = complaints(unprovoked)
    problems += [f"the kernel complained: {line.strip()}" for line in complained]
    problems += missing
    if not cases:
        problems.append("no case ran")
    if not filtered:
        problems += [f"the suite {suite} did not run" for suite in suites
                     if not any(case.name.startswith(suite + ".") for case in cases)]
    detail = [tail(log, 40), f"--- kernel log: {kept}"]
    if complained or not cases:
        detail += excerpt(kernel_log)
    return Result(cases, problems, "\n".join(detail), kept, kernel_log)


# In a guest

# The kernel's own KUnit has reported on no suite before, when it came up.
BEGIN = "nbqlock: the suites begin"
ENABLED = ("kunit.enable=1", "kunit.autorun=1")
SUITES_SCRIPT = f"""
echo "{BEGIN}" >/dev/kmsg
insmod /lib/modules/nbqlock_kunit.ko
"""
WITH_LEAK_SCAN = f"""
{SUITES_SCRIPT}
status=$?
{LEAK_SCAN}
exit $status
"""


# The begin of a report, and lines of the kernel log that are none of the report.
STAMP = r"(?:\[[ \d.]+\])?\s*"
INTERRUPTED = re.compile(rf"^({STAMP}KTAP version 1\s*?\n)(?:(?!{STAMP}(?:# |1\.\.\d)).*\n)+",
                         re.MULTILINE)


def parse_report(kernel, text, log):
    """Have kunit.py read the report in a kernel's log. Returns its status.

    log: what kunit.py says; beside it its report, and what it has read.
    """
    report = log.with_suffix(".json")
    for old in (log, report):
        old.unlink(missing_ok=True)
    said = log.with_suffix(".ktap")
    said.parent.mkdir(parents=True, exist_ok=True)
    # kunit.py takes another line than "# Subtest" there for a suite without a name: one of
    # another CPU, or of an asynchronous initcall.
    said.write_text(INTERRUPTED.sub(r"\1", text))
    return run_logged([sys.executable, kernel.source / KUNIT_FOLDER / "kunit.py", "parse",
                       f"--json={report}", said], log, "reading the suites' report",
                      check=False, env={"PYTHONDONTWRITEBYTECODE": "1"})


def run_suites_in_guest(machine, cpus=CPUS, append=(), clean=None):
    """Load the suites in a guest, check the run. Returns a Result.

    append: more words for the kernel.
    clean: takes the guest's outcome, and leaves what is to be checked.
    """
    log = BUILD / "log" / f"kunit-{machine.kernel.name}.log"
    return load_suites(machine, build_suites(machine.kernel), log, cpus=cpus, append=append,
                       clean=clean, script=WITH_LEAK_SCAN)


def load_suites(machine, files, log, name_filter=None, cpus=CPUS, append=(), clean=None,
                script=SUITES_SCRIPT, timeout=SLOW_TIMEOUT):
    """Load suites that were built, those of a name; the rest as above.

    log: what kunit.py says; beside it its report.
    """
    if name_filter:
        append = [*append, f"kunit.filter_glob={name_filter}"]
    outcome = run_guest(machine, script, cpus=cpus,
                        modules={"files": files, "load": LOADED}, timeout=timeout,
                        quiet=True, append=[*ENABLED, *append])
    if clean:
        clean(outcome)
    status = parse_report(machine.kernel, outcome.log.partition(BEGIN)[2], log)
    result = judge_log(status, log.with_suffix(".json"), outcome.log, outcome.log_path, log,
                       bool(name_filter))
    if outcome.problem or outcome.status:
        result.problems.append(outcome.problem or
                               f"loading the suites ended with status {outcome.status}")
    return result
