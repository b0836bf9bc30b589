# SPDX-License-Identifier: GPL-2.0
"""Runs the KUnit suites, and has the kernel's own kunit.py read what they report.

They are built into a kernel, which runs them before its first program; or, for kernels that are
also loaded with the modules, they are a module, too, loaded in a guest.
"""

import json
import re
import sys

from base.building import run_logged, tail
from base.common import BUILD, PROJECT, guest_cpus
from base.lock_types import NBQ
from guest.complaints import FIRST_PROCESS, complaints
from guest.guest import LEAK_SCAN, MOST_STARTS, run_guest
from guest.guest_cli import LOADED
from guest.kernels import Recipe
from guest.logs import excerpt
from guest.machines import CPUS_IN_A_LAYOUT, UserModeMachine
from guest.modules import build_suites
from guest.source import get_source

LOCK_TYPES = tuple(f"nbq_{word}" for word in NBQ)
BUILT_IN_SUITES = ("nbq_early",)	# of what comes before a module can
HOTPLUG_SUITES = ("nbq_hotplug",)	# where CPUs can go
# Each of the others must run.
SUITES = tuple(sorted({name for path in (PROJECT / "kunit").glob("*.c")
                       for name in re.findall(r'kunit_suite \w+ = {\n\t\.name = "(\w+)"',
                                              path.read_text())}
                      - {*BUILT_IN_SUITES, *HOTPLUG_SUITES}))
# Limits end what hangs, and decide nothing else: with a core to itself, a kernel takes half a
# minute for the suites, and two where each access is emulated or checked.
SLOW_TIMEOUT = 3600
CPUS = max(4, guest_cpus())
KUNIT_FOLDER = "tools/testing/kunit"
# With the suites built in (kernel_copy.py): the daily kernel, and one for one CPU.
MULTIPROCESSOR = Recipe("kunit", "um", "linux", "guest", "kunit", "kunit/.kunitconfig")
UNIPROCESSOR = Recipe("kunit-up", "um", "linux", "guest", "kunit", "kunit-up",
                      "kunit/.kunitconfig")
# A suite that is over at once.
SHORT_SUITE = "nbq_deadline"
ENABLED = ("kunit.enable=1", "kunit.autorun=1")
# A kernel that panics before the suites is started anew if nothing of ours had a part: no
# initcall, in which ours are initialized, and no line that names a part of ours. (The builder,
# in the line of the version, is "nbqlock".)
OURS = re.compile(r"KTAP version|do_one_initcall|^(?!.*(?:command line|Linux version)).*nbq",
                  re.MULTILINE | re.IGNORECASE)


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


# Built in

def run_built_in(kernel, name_filter=None, words=(), layout=None,
                 suites=(*SUITES, *BUILT_IN_SUITES)):
    """Boot a kernel that has the suites, check the run. Returns a Result.

    name_filter: of suites; else those that are named must run. words: more of them for the
    kernel. layout: of the host's memory, where that matters; what that has to do with does not
    get better by another start.
    """
    place = [layout.replace(" ", "-")] if layout else []
    log = BUILD / "log" / f"{'-'.join([kernel.name, *words, *place])}.log"
    append = [*ENABLED, *words, *([f"kunit.filter_glob={name_filter}"] if name_filter else [])]
    outcome = run_guest(UserModeMachine(kernel, *filter(None, [layout])), "true", quiet=True,
                        cpus=CPUS_IN_A_LAYOUT if layout else CPUS, timeout=SLOW_TIMEOUT,
                        append=append, starts=1 if layout else MOST_STARTS, guilty=OURS)
    return judge(outcome, outcome.log.partition(FIRST_PROCESS)[0], log,
                 () if name_filter else suites)


# The judgement

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


def judge(outcome, text, log, suites):
    """Decide from the guest's outcome, and from the text in which the suites have reported.

    log: what kunit.py says; beside it its report. suites: those that must have run.
    """
    status = parse_report(text, log)
    cases, problems = read_report(log.with_suffix(".json"))
    if status != 0:
        problems.append(f"kunit.py ended with status {status}")
    unprovoked, missing = without_provoked(outcome.log)
    complained = complaints(unprovoked)
    problems += [f"the kernel complained: {line.strip()}" for line in complained]
    problems += missing
    if not cases:
        problems.append("no case ran")
    problems += [f"the suite {suite} did not run" for suite in suites
                 if not any(case.name.startswith(suite + ".") for case in cases)]
    if outcome.problem or outcome.status:
        problems.append(outcome.problem or f"the guest's command ended with {outcome.status}")
    detail = [tail(log, 40), f"--- kernel log: {outcome.log_path}"]
    if complained or not cases:
        detail += excerpt(outcome.log)
    return Result(cases, problems, "\n".join(detail), outcome.log_path, outcome.log)


# The begin of a report, and lines of the kernel log that are none of the report.
STAMP = r"(?:\[[ \d.]+\])?\s*"
INTERRUPTED = re.compile(rf"^({STAMP}KTAP version 1\s*?\n)(?:(?!{STAMP}(?:# |1\.\.\d)).*\n)+",
                         re.MULTILINE)


def parse_report(text, log):
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
    return run_logged([sys.executable, get_source().path / KUNIT_FOLDER / "kunit.py", "parse",
                       f"--json={report}", said], log, "reading the suites' report",
                      check=False, env={"PYTHONDONTWRITEBYTECODE": "1"})


# As a module

# The kernel's own KUnit has reported on no suite before, when it came up.
BEGIN = "nbqlock: the suites begin"
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
    return judge(outcome, outcome.log.partition(BEGIN)[2], log,
                 () if name_filter else SUITES)
