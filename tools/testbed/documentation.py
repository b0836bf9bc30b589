# SPDX-License-Identifier: GPL-2.0
"""Documentation/ as HTML. The extensions of Sphinx are those of the kernel's source."""

import os
import shutil
import subprocess

from testbed.common import BUILD, PROJECT, Unavailable
from testbed.source import get_source

FOLDER = BUILD / "docs"
INDEX = FOLDER / "html/index.html"


def build_html():
    """All pages, from scratch: Sphinx warns only of pages that it reads. Returns the warnings."""
    if not shutil.which("sphinx-build"):
        raise Unavailable("sphinx-build is not installed; run tools/setup docs")
    source = get_source().path
    shutil.rmtree(FOLDER, ignore_errors=True)
    done = subprocess.run(
        ["sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-d", FOLDER / "doctrees",
         PROJECT / "Documentation", INDEX.parent],
        # Nothing is written to the kernel's source, compiled extensions neither.
        env={**os.environ, "srctree": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False)
    if done.returncode:
        return done.stdout or f"sphinx-build: exit status {done.returncode}"
    return ""
