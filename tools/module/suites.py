# SPDX-License-Identifier: GPL-2.0
"""The KUnit suites."""

from base.case import Case, once, runs_on, step
from guest.kernel_copy import built_copy
from guest.kernel_table import TestBed
from guest.kunit import MULTIPROCESSOR, SHORT_SUITE, UNIPROCESSOR, run_built_in
from guest.machines import LAYOUTS

# The daily kernel with the detectors that cost little, and that for one CPU.
WITH_LOCKDEP = TestBed("user-mode, lockdep", once(lambda: built_copy(MULTIPROCESSOR)))
FOR_ONE_CPU = TestBed("user-mode, 1 CPU", once(lambda: built_copy(UNIPROCESSOR)))

# Parameters out of range on the kernel's command line, and the warning of each: with
# pools that hold the nodes only that are there from the start, and with the largest.
SOME_SUITES = "nbq_[eop]*"
CLAMPED = {
    "nbqlock.pool_nodes=0": "pool_nodes=0 is out of range, 1 to 65536: using 1",
    "nbqlock.pool_nodes=5000":
        "pool_nodes=5000 is more than pool_nodes_max=4096: using 4096",
}


def whole_report(result):
    return "\n".join([*result.problems, result.detail, *(
        f"{case.status} {case.name}" for case in result.cases
        if case.status not in ("PASS", "SKIP"))])


def layout_cases(name, kernel):
    """The cases that it comes up wherever the host puts its memory."""
    for layout in LAYOUTS:
        result = run_built_in(kernel, SHORT_SUITE, layout=layout)
        yield Case(f"{name}: the kernel comes up, its memory laid out {layout}",
                   result.passed, whole_report(result))


@step("kunit")
@runs_on(WITH_LOCKDEP, "kunit")
def kunit():
    """the KUnit suites, with lockdep"""
    kernel = WITH_LOCKDEP.find()
    result = run_built_in(kernel)
    for case in result.cases:
        yield Case(f"kunit: {case.name}", case.status == "PASS",
                   skipped=case.status == "SKIP",
                   detail="" if case.status in ("PASS", "SKIP") else case.status)
    yield Case("kunit: the run as a whole", result.passed,
               "\n".join([*result.problems, result.detail]))
    for word, warning in CLAMPED.items():
        result = run_built_in(kernel, SOME_SUITES, (word,))
        warned = warning in result.said
        yield Case(f"kunit: {word} is clamped, and the suites pass", result.passed and warned,
                   f"{whole_report(result)}\n{'' if warned else f'no warning: {warning}'}")
    yield from layout_cases("kunit", kernel)


@step("uniprocessor")
@runs_on(FOR_ONE_CPU, "kunit")
def uniprocessor():
    """the KUnit suites in a kernel for one CPU"""
    result = run_built_in(FOR_ONE_CPU.find())
    yield Case(f"uniprocessor: {result.count('PASS')} cases of the suites; "
               f"{result.count('SKIP')} need a second CPU", result.passed,
               whole_report(result))
    yield from layout_cases("uniprocessor", FOR_ONE_CPU.find())
