# SPDX-License-Identifier: GPL-2.0
"""The documentation as HTML."""

from testbed.documentation import build_html
from ci.common import Case


def docs():
    """Sphinx builds the documentation without a warning"""
    warnings = build_html()
    yield Case("docs: HTML without a warning", not warnings, warnings)
