# SPDX-License-Identifier: GPL-2.0
"""An architecture on which a release of a spinlock orders writes to devices."""

from ci.common import RISCV64_PLAIN, Case, from_source
from ci.kernel_table import runs_on
from ci.text import WARNINGS, strict_build
from testbed import kernels
from testbed.common import BUILD
from testbed.mmiowb import mmiowb_claims


@runs_on(RISCV64_PLAIN, "build")
def riscv():
    """riscv64: the modules build under W=1, every operation counts for mmiowb()"""
    kernel = from_source(kernels.RISCV64_PLAIN)
    yield strict_build(kernel, WARNINGS)
    # Every acquisition and every release, inline ones too: one that leaves it out lets
    # the writel() of one holder reach the device after that of the next.
    for claim, holds, report in mmiowb_claims(kernel, BUILD / f"{kernel.name}-strict"):
        yield Case(f"riscv: {claim}", holds, report)
