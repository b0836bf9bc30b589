# SPDX-License-Identifier: GPL-2.0
"""A guest whose console is a terminal: what it says is awaited, and answered by keys."""

import os
import re
import select
import time

ESCAPES = re.compile(rb"\x1b\[[0-9;=?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def await_text(process, text, longest):
    """Read until the text was said, the end, or a hang; what was said, without escapes.

    text: bytes; None for the end. longest: seconds without a word, a hang.
    """
    said = time.monotonic()
    raw = b""
    while time.monotonic() < said + longest:
        if not select.select([process.stdout], [], [], 1)[0]:
            continue
        data = os.read(process.stdout.fileno(), 65536)
        if not data:
            break
        raw += data
        said = time.monotonic()
        if text and text in ESCAPES.sub(b"", raw):
            break
    return ESCAPES.sub(b"", raw)
