# SPDX-License-Identifier: GPL-2.0
"""Tests of the host tools: python3 -m unittest discover, in tools/."""

from pathlib import Path
import tempfile
import unittest

HANGS = 600			# seconds after which a test has hung, on any machine


class InFolder(unittest.TestCase):
    """Each test has an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def patch(self, *patches):
        """Have what mock.patch() has made in effect until the end of the test."""
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, text=""):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)
