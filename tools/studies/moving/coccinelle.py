# SPDX-License-Identifier: GPL-2.0
"""Runs a Coccinelle script on a file."""

import shutil
import subprocess

from base.common import Failure, Unavailable

SECONDS = 7200			# for a file; ends what hangs


def run_spatch(script, path, *options):
    """What a script prints of a file."""
    if not shutil.which("spatch"):
        raise Unavailable("spatch is not installed; run tools/setup moving")
    try:
        done = subprocess.run(
            ["spatch", "--very-quiet", "--sp-file", script, *options, path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"{path}: spatch was not done after {SECONDS} s") from None
    if done.returncode:
        raise Failure(f"{path}: spatch failed:\n{done.stderr[-2000:]}")
    return done.stdout
