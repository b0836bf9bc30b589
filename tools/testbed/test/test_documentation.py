# SPDX-License-Identifier: GPL-2.0
"""Fences of .md files: those that a block does not begin or end with."""

from testbed.documentation import lost_fences
from testbed.test import InFolder


class FencesTest(InFolder):
    def test_a_fence_stands_on_its_own_line_and_has_another(self):
        for text, lost in (("```\nmake\n```\n", []), ("1. so:\n   ```sh\n   make\n   ```\n", []),
                           ("`code`\n", []), ("``` make check ```\n", ["README.md:1", "README.md"]),
                           ("so:\n```\nmake check ```\n", ["README.md:3"]),
                           ("```\nmake\n", ["README.md"])):
            self.write("README.md", text)
            self.assertEqual([line.rsplit(": ", line.count(": "))[0] for line in
                              lost_fences(self.folder).splitlines()], lost, text)
