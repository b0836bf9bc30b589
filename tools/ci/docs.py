# SPDX-License-Identifier: GPL-2.0
"""The documentation as HTML."""

from ci.common import Case
from ci.kept import kept_results
from testbed.documentation import broken_links, build_html


def docs():
    """Sphinx builds the documentation without a warning, no link is broken; age of kept results"""
    yield from kept_results()
    warnings = build_html()
    yield Case("docs: HTML without a warning", not warnings, warnings)
    broken = broken_links()
    yield Case("docs: every link in a .md file, every named page is there", not broken, broken)
