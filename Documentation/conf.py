# SPDX-License-Identifier: GPL-2.0
"""Sphinx: HTML of this folder, by the extensions of the kernel's own documentation.

The environment variable srctree names the kernel's source tree, as in the kernel's build.
"""

import os
import re
import sys

from docutils import nodes

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.environ["srctree"], "Documentation/sphinx"))

import kernel_abi		# pylint: disable=import-error, wrong-import-position

project = "nbqlock"
highlight_language = "none"
c_id_attributes = ["__arena"]
primary_domain = "c"
html_theme = "alabaster"
html_theme_options = {"page_width": "75em", "sidebar_width": "17em"}
html_show_copyright = False

# kerneldoc: the API from comments in the headers. kernel_abi: the files of debugfs from
# ABI/. automarkup: names of pages, functions and structs become links.
extensions = ["automarkup", "kernel_abi", "kerneldoc"]
kerneldoc_srctree = os.path.dirname(HERE)
kernel_abi.path = os.path.join(HERE, "ABI")


def unquote_pages(_app, doctree):
    """The name of a page in double backquotes is text, so that automarkup links it."""
    for literal in list(doctree.findall(nodes.literal)):
        if re.fullmatch(r"[\w/-]+\.rst", literal.astext()):
            literal.replace_self(nodes.Text(literal.astext()))


def setup(app):
    app.connect("doctree-read", unquote_pages)
