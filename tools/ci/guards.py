# SPDX-License-Identifier: GPL-2.0
"""The guards, compiled for each kernel that modules are built for."""

from ci.common import DEBIAN_6_1, DEBIAN_6_12, USER_MODE, Case
from ci.kernel_table import On
from testbed.guards import guard_claims

# (testbed, whether what only that kernel's guards have is looked for)
PLACES = ((USER_MODE, True), (DEBIAN_6_12, False), (DEBIAN_6_1, False))


def guards():
    """guards compile, unchecked ones are refused: 7.2, 6.12, 6.1"""
    for testbed, whole in PLACES:
        yield On(testbed, "build")
        kernel = testbed.find()
        for claim, holds, report in guard_claims(kernel, whole):
            yield Case(f"guards: Linux {kernel.version}: {claim}", holds, report)
