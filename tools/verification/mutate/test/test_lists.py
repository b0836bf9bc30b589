# SPDX-License-Identifier: GPL-2.0
"""The lists of mutants, against the text as it is."""

from collections import Counter
from pathlib import Path
import tempfile
import unittest

from testbed.common import Trouble
from verification.mutate.edits import copy_with
from verification.mutate.layers import LAYERS
from verification.mutate.lists import MUTANTS
from verification.mutate.mutant import Mutant


def copied(*edits):
    """The file of the first edit, in a copy with the edits."""
    with tempfile.TemporaryDirectory() as scratch:
        copy_with(Path(scratch), edits)
        return (Path(scratch) / "nbqlock" / edits[0][0]).read_text()


class ListTest(unittest.TestCase):
    def test_every_edit_fits_the_text_exactly_once(self):
        for mutant in MUTANTS:
            for layer in LAYERS:
                if layer.name in mutant.layers:
                    with self.subTest(mutant.name):
                        copied(*layer.edits(mutant))

    def test_every_edit_changes_something(self):
        for mutant in MUTANTS:
            with self.subTest(mutant.name):
                self.assertNotEqual(mutant.old, mutant.new)

    def test_every_mutant_has_a_name_of_its_own(self):
        names = Counter(mutant.name for mutant in MUTANTS)
        self.assertEqual([name for name, number in names.items() if number > 1], [])

    def test_every_mutant_is_looked_for_by_layers_that_there_are(self):
        names = {layer.name for layer in LAYERS}
        for mutant in MUTANTS:
            with self.subTest(mutant.name):
                self.assertTrue(mutant.layers)
                self.assertLessEqual(mutant.layers.keys(), names)
                self.assertLessEqual(mutant.unseen.keys(),
                                     mutant.layers.keys() | {Mutant.ANY})


class EditTest(unittest.TestCase):
    def test_an_edit_is_made(self):
        text = copied(("node.c", "3 / 4", "1 / 4"))
        self.assertIn("1 / 4", text)
        self.assertNotIn("3 / 4", text)

    def test_text_that_is_not_there_is_no_edit(self):
        with self.assertRaisesRegex(Trouble, "0 places"):
            copied(("node.c", "no such text", ""))

    def test_text_that_is_there_twice_is_no_edit(self):
        with self.assertRaisesRegex(Trouble, "places, not 1"):
            copied(("node.c", "node", ""))


if __name__ == "__main__":
    unittest.main()
