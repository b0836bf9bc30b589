# SPDX-License-Identifier: GPL-2.0
"""The tracepoints: what they record, and what they cost when they are disabled."""

from ci.common import DEBIAN_6_12, Case
from ci.kernel_table import runs_on
from testbed.tracing import cost_claims, traced_claims


@runs_on(DEBIAN_6_12, "stress")
def tracing():
    """tracepoints: they agree with the counters; disabled, they are no-ops"""
    for claims in (cost_claims, traced_claims):
        for claim, holds, report in claims():
            yield Case(f"tracing: {claim}", holds, report)
