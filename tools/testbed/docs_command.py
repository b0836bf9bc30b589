# SPDX-License-Identifier: GPL-2.0
"""Builds the documentation as HTML, by Sphinx with the kernel's extensions."""

import argparse

from testbed.common import setup
from testbed.documentation import INDEX, broken_links, build_html


def body():
    argparse.ArgumentParser(
        description=__doc__, epilog="A warning is an error.").parse_args()
    setup("docs")
    problems = build_html() + broken_links()
    print(problems or INDEX)
    return 1 if problems else 0
