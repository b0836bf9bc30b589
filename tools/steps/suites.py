# SPDX-License-Identifier: GPL-2.0
"""The KUnit suites."""

from bed.guest import LAYOUTS
from bed.kunit import UNIPROCESSOR, run_suites
from bed.source import get_source
from steps.common import Case
from steps.kernel_table import Bed, runs_on

# The daily kernel with the detectors that cost little, and that for one CPU.
WITH_LOCKDEP = Bed("user-mode, lockdep", get_source)
FOR_ONE_CPU = Bed("user-mode, 1 CPU", get_source)


def whole_report(result):
    return "" if result.passed else "\n".join([*result.problems, result.detail])


def layout_cases(name, result):
    """The cases that the kernel comes up wherever the host puts its memory."""
    for layout, run in result.in_layouts.items():
        yield Case(f"{name}: the kernel comes up, its memory laid out {layout}",
                   run.passed, whole_report(run))


@runs_on(WITH_LOCKDEP, "kunit.py")
def kunit():
    """the KUnit suites, by kunit.py"""
    result = run_suites(layouts=LAYOUTS)
    for case in result.cases:
        yield Case(f"kunit: {case.name}", case.status == "PASS",
                   skipped=case.status == "SKIP",
                   detail="" if case.status in ("PASS", "SKIP") else case.status)
    yield Case("kunit: the run as a whole", result.passed,
               whole_report(result))
    yield from layout_cases("kunit", result)


@runs_on(FOR_ONE_CPU, "kunit.py")
def uniprocessor():
    """the KUnit suites in a kernel for one CPU"""
    result = run_suites(bed=UNIPROCESSOR, layouts=LAYOUTS)
    yield Case(f"uniprocessor: {result.count('PASS')} cases of the suites; "
               f"{result.count('SKIP')} need a second CPU", result.passed,
               "\n".join([*result.problems, result.detail, *(
                   f"{case.status} {case.name}" for case in result.cases
                   if case.status not in ("PASS", "SKIP"))]))
    yield from layout_cases("uniprocessor", result)
