# SPDX-License-Identifier: GPL-2.0
"""Right and wrong uses of the locks, shown to the compilers."""

from ci.common import USER_MODE, Case, guest_kernel
from ci.kernel_table import runs_on
from testbed.annotations import analysed_modules, context_analysis, ignored_results
from testbed.modules import build_modules


@runs_on(USER_MODE, "build")
def analysis():
    """ignored results and unbalanced locks: the compiler's warnings, clang's context analysis"""
    build_modules(guest_kernel())
    for check in (ignored_results, context_analysis, analysed_modules):
        for claim, complaint in check(guest_kernel()):
            yield Case(f"analysis: {claim}", not complaint, complaint)
