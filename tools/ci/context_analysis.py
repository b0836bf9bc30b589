# SPDX-License-Identifier: GPL-2.0
"""Right and wrong uses of the locks, shown to the checkers of a compiler run."""

from ci.common import USER_MODE, Case, guest_kernel, stock_kernel
from ci.kernel_table import runs_on
from testbed.annotations import (analysed_modules, context_analysis, ignored_results,
                                 sparse_contexts)
from testbed.modules import build_modules


def cases(step, claims):
    for claim, complaint in claims:
        yield Case(f"{step}: {claim}", not complaint, complaint)


def sparse_uses():
    """For the step sparse: it follows who has a lock."""
    yield from cases("sparse", sparse_contexts(stock_kernel("6.12")))


@runs_on(USER_MODE, "build")
def analysis():
    """results that are ignored, locks that are kept: the compilers notice"""
    yield from cases("analysis", ignored_results(guest_kernel()))
    build_modules(guest_kernel())
    for look in (context_analysis, analysed_modules):
        yield from cases("analysis", look(guest_kernel()))
