# SPDX-License-Identifier: GPL-2.0
"""The documentation as HTML."""

from ci.common import Case
from testbed.documentation import broken_links, build_html


def docs():
    """Sphinx builds the documentation without a warning, no link to a file is broken"""
    warnings = build_html()
    yield Case("docs: HTML without a warning", not warnings, warnings)
    broken = broken_links()
    yield Case("docs: every link in a .md file, every named page is there", not broken, broken)
