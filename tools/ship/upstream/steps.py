# SPDX-License-Identifier: GPL-2.0
"""The series of patches that `make series` writes: its style, and what it builds."""

import re
import subprocess
import tempfile

from base.case import LOAD, MORE, ONLY_ALL, Case, extent, once, runs_on, step
from base.common import BUILD, PROJECT, Failure
from guest.cases import guest_report
from guest.kernel_table import TestBed
from guest.kernel_tests import Boot, KernelLock, ShellLoad, Suites
from guest.kunit import run_built_in
from guest.machines import UserModeMachine
from guest.source import get_source
from ship.upstream.build import SPINLOCKS, SUITES, Build
from ship.upstream.libarena import HEADERS, INCLUDE, make_libarena, text_of
from ship.upstream.patches import am_commands, applied, typed
from ship.upstream.series import make_series
from studies.locktorture.steps import NO_TIMEOUT

SERIES = TestBed("user-mode, the series", get_source)
# What checkpatch is not asked, and why.
IGNORED = {
    "FILE_PATH_CHANGES": "the entry in MAINTAINERS comes with the first patch",
    "MACRO_ARG_UNUSED": "an X macro uses some of its columns",
    "TRAILING_SEMICOLON": "a row of an X macro becomes a member",
    "MACRO_ARG_REUSE": "what defines a lock needs its name twice",
    "EXPORT_SYMBOL": "it does not see an array behind DEFINE_PER_CPU()",
    "FUNCTION_ARGUMENTS": "it takes the argument of an annotation for a parameter",
    "UNNECESSARY_KERN_LEVEL": "printk_deferred() has its level in the format",
    "NEW_TYPEDEFS": "arch_spinlock_t is one, of each architecture",
}
TORTURE_SECONDS = 4
TORTURED = ("spin_lock", "spin_lock_irq", "raw_spin_lock", "raw_spin_lock_irq", "rw_lock")
TIMED_SUITE = "nbq_spinlock_timeout"
CPUS = 4


def maintainer():
    """As the project's own MAINTAINERS says: a test needs no git that knows its user."""
    return re.search(r"^M:\s+(.*)$", (PROJECT / "MAINTAINERS").read_text(), re.MULTILINE)[1]


@once
def series():
    return make_series(maintainer(), BUILD / "series-check")


def checkpatch_case(made, patch):
    """The case that checkpatch finds nothing. It writes where it is run."""
    tree = made.source.path
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["perl", tree / "scripts/checkpatch.pl", f"--root={tree}", "--strict", "--terse",
             "--no-summary", "--show-types", "--ignore", ",".join(IGNORED), patch],
            cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
    return Case(f"series: checkpatch --strict: {patch.name}",
                done.returncode == 0 and not done.stdout, done.stdout or "it failed")


def kernel_doc_case(made, build):
    """The case that kernel-doc reads the headers without a warning."""
    folder = build.folder / "changed/include/linux"
    headers = [*sorted(folder.glob("nbqlock*.h")), folder / "spinlock_timeout.h"]
    done = subprocess.run([made.source.path / "scripts/kernel-doc", "-none", *headers],
                          text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return Case(f"series: kernel-doc of {len(headers)} headers",
                len(headers) > 1 and done.returncode == 0 and not done.stdout.strip(),
                done.stdout or "no headers")


def static_cases(made):
    yield Case(f"series: {len(made.patches)} patches and a cover letter for Linux "
               f"{made.source.version}", bool(made.patches))
    for patch in made.patches:
        yield checkpatch_case(made, patch)
    again = make_series(maintainer(), BUILD / "series-again")
    same = [path.read_bytes() for path in (made.cover, *made.patches)] == \
        [path.read_bytes() for path in (again.cover, *again.patches)]
    yield Case("series: the same sources make the same patches", same)


def suites_cases(kernel):
    result = run_built_in(kernel, suites=SUITES)
    wrong = [f"{case.status} {case.name}" for case in result.cases
             if case.status not in ("PASS", "SKIP")]
    yield Case(f"series: {result.count('PASS')} cases of KUnit pass in the kernel with all "
               "patches", result.passed, "\n".join([*result.problems, *wrong, result.detail]))


def torture_cases(build, kernel):
    runs, outcome = build.torture(kernel, TORTURE_SECONDS, CPUS)
    for run in runs:
        # How often a patience ends is chance.
        complaint = "" if run.complaint == NO_TIMEOUT else run.complaint
        yield Case(f"series: locktorture, {run.name}", not complaint,
                   f"{complaint}\n{run.log[-2000:]}")
    reasons = [*([outcome.problem] if outcome.problem else []), *outcome.complaints[:5]]
    yield Case("series: the guest of locktorture ends, its kernel log is clean", not reasons,
               "\n".join([*reasons, guest_report(outcome)]) if reasons else "")


def build_cases(build, name):
    """A case for each patch that changes what is compiled; of a short run, for the last one."""
    numbers = list(build.to_build())
    for number in numbers if extent.is_long else [numbers[-1]]:
        try:
            warnings = build.warnings_of(number)
        except Failure as failure:
            warnings = [str(failure)]
        yield Case(f"series: {name} builds with patch {number}, no warning under W=1",
                   not warnings, "\n".join(warnings))


def spinlocks_cases(build):
    """The kernel all of whose spinlocks are the hybrid: its suite, torture tests, a load."""
    parts = [Suites(), *(KernelLock(operations, TORTURE_SECONDS) for operations in TORTURED),
             ShellLoad(CPUS, TORTURE_SECONDS)]
    # Without the module that sweeps the queues, which is for the counters, not in the series.
    boot = Boot(UserModeMachine(build.kernel()), CPUS, parts, is_hybrid=False).run()
    suite = [case for case in parts[0].cases if case.name.startswith(TIMED_SUITE)]
    yield Case(f"series: {len(suite)} cases of {TIMED_SUITE} ran", bool(suite),
               guest_report(boot.outcome))
    for _, part, wrong, _ in boot.rows():
        yield Case(f"series: all spinlocks the hybrid: {part}", not wrong,
                   f"{wrong}\n{guest_report(boot.outcome)}")


def libarena_case():
    """The case that the patch for libarena brings the project's headers into the tree."""
    made = make_libarena(maintainer(), BUILD / "libarena-check")
    wanted = {f"{INCLUDE}/{name}": text_of(name) for name in HEADERS}
    found = applied(made.base, made.patches)[-1]
    return Case("series: git am applies the patch for libarena", found == wanted,
                f"{sorted(found)}")


@step("series", MORE)
@runs_on(SERIES, "build")
def series_patches():
    """make series: checkpatch --strict, git am, a build with all patches"""
    yield libarena_case()
    made = series()
    yield from static_cases(made)
    build = Build(made)
    yield Case("series: git am applies all patches to the tree's files", True)
    commands = am_commands(made.patches)
    yield Case(f"series: so do the commands that make series says: {'; '.join(commands)}",
               typed(made.base, commands) == build.states[-len(commands):])
    with build.held():
        yield from build_cases(build, "the tree")
        yield kernel_doc_case(made, build)
    spinlocks = Build(made, SPINLOCKS)
    with spinlocks.held():
        yield from build_cases(spinlocks, "all spinlocks the hybrid")


@step("series-all", ONLY_ALL, LOAD)
@runs_on(SERIES, "kunit, locktorture")
def series_kernel():
    """KUnit and locktorture of the kernel with the series; the same with all spinlocks the hybrid"""
    build = Build(series())
    with build.held():
        kernel = build.kernel()
        yield from suites_cases(kernel)
        yield from torture_cases(build, kernel)
    spinlocks = Build(series(), SPINLOCKS)
    with spinlocks.held():
        yield from spinlocks_cases(spinlocks)
