# SPDX-License-Identifier: GPL-2.0
"""Fences of .md files that no block begins or ends with; README's first screen."""

from base.test import InFolder
from ship.documentation import long_first_screen, lost_fences


class FencesTest(InFolder):
    def test_a_fence_stands_on_its_own_line_and_has_another(self):
        for text, lost in (("```\nmake\n```\n", []), ("1. so:\n   ```sh\n   make\n   ```\n", []),
                           ("`code`\n", []), ("``` make check ```\n", ["README.md:1", "README.md"]),
                           ("so:\n```\nmake check ```\n", ["README.md:3"]),
                           ("```\nmake\n", ["README.md"])):
            self.write("README.md", text)
            self.assertEqual([line.rsplit(": ", line.count(": "))[0] for line in
                              lost_fences(self.folder).splitlines()], lost, text)


class FirstScreenTest(InFolder):
    def problems(self, *lines):
        self.write("README.md", "\n".join(lines) + "\n")
        return [line.split(": ")[1].split("; ")[0]
                for line in long_first_screen(self.folder).splitlines()]

    def test_code_stands_before_line_15(self):
        self.assertEqual(self.problems(*["word"] * 13, "```c", "x;", "```"), [])
        self.assertEqual(self.problems(*["word"] * 14, "```c", "x;", "```"),
                         ["14 lines before the first code"])

    def test_the_words_and_figures_of_40_lines_are_counted(self):
        self.assertEqual(self.problems("```", "```", "a " * 208, "4 " * 10), [])
        self.assertEqual(self.problems("```", "```", "a " * 208, "4 " * 11),
                         ["221 words", "11 figures"])
        self.assertEqual(self.problems("```", "```", *["a"] * 38, "a " * 300), [])
