# SPDX-License-Identifier: GPL-2.0
"""The KUnit suites."""

from ci.common import Case
from ci.kernel_table import TestBed, runs_on
from testbed.guest import LAYOUTS
from testbed.kunit import SHORT_SUITE, UNIPROCESSOR, Boot, run_boots
from testbed.source import get_source

# The daily kernel with the detectors that cost little, and that for one CPU.
WITH_LOCKDEP = TestBed("user-mode, lockdep", get_source)
FOR_ONE_CPU = TestBed("user-mode, 1 CPU", get_source)

# Parameters out of range on the kernel's command line, and the warning of each: with
# pools that hold the nodes only that are there from the start, and with the largest.
SOME_SUITES = "nbq_[eop]*"
CLAMPED = {
    "nbqlock.pool_nodes=0": "pool_nodes=0 is out of range, 1 to 65536: using 1",
    "nbqlock.pool_nodes=5000":
        "pool_nodes=5000 is more than pool_nodes_max=4096: using 4096",
}
# It comes up wherever the host puts its memory.
IN_LAYOUTS = [Boot(SHORT_SUITE, layout=layout) for layout in LAYOUTS]


def whole_report(result):
    return "\n".join([*result.problems, result.detail, *(
        f"{case.status} {case.name}" for case in result.cases
        if case.status not in ("PASS", "SKIP"))])


def layout_cases(name, results):
    for boot, result in zip(IN_LAYOUTS, results):
        yield Case(f"{name}: the kernel comes up, its memory laid out {boot.layout}",
                   result.passed, whole_report(result))


@runs_on(WITH_LOCKDEP, "kunit.py")
def kunit():
    """the KUnit suites, with lockdep"""
    boots = run_boots([Boot(), *(Boot(SOME_SUITES, (word,)) for word in CLAMPED),
                       *IN_LAYOUTS])
    result = next(boots)
    for case in result.cases:
        yield Case(f"kunit: {case.name}", case.status == "PASS",
                   skipped=case.status == "SKIP",
                   detail="" if case.status in ("PASS", "SKIP") else case.status)
    yield Case("kunit: the run as a whole", result.passed,
               "\n".join([*result.problems, result.detail]))
    for (word, warning), result in zip(CLAMPED.items(), boots):
        warned = warning in result.said
        yield Case(f"kunit: {word} is clamped, and the suites pass", result.passed and warned,
                   "\n".join([whole_report(result),
                              *([] if warned else [f"no warning: {warning}"])]))
    yield from layout_cases("kunit", boots)


@runs_on(FOR_ONE_CPU, "kunit.py")
def uniprocessor():
    """the KUnit suites in a kernel for one CPU"""
    boots = run_boots([Boot(), *IN_LAYOUTS], UNIPROCESSOR)
    result = next(boots)
    yield Case(f"uniprocessor: {result.count('PASS')} cases of the suites; "
               f"{result.count('SKIP')} need a second CPU", result.passed,
               whole_report(result))
    yield from layout_cases("uniprocessor", boots)
