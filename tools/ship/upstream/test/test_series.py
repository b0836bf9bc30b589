# SPDX-License-Identifier: GPL-2.0
"""Words of the module, patches that git makes and applies."""

from pathlib import Path
import tempfile
from types import SimpleNamespace
import unittest

from base.common import PROJECT, Failure
from guest.kernel_copy import hunks_of
from ship.upstream import layout
from ship.upstream.patches import Author, am_commands, applied, format_patches, typed
from ship.upstream.series import Tree


class Leftovers(unittest.TestCase):
    def test_words_of_the_module_are_refused(self):
        for word in ("LINUX_VERSION_CODE", "nbq_clh_lock()", "module_param(x)", "the explorer",
                     "Documentation/design.rst", "#ifdef NBQ_QUEUE_LOCKS",
                     '#include "compat.h"', "as in the module", "growth of pool_nodes"):
            with self.assertRaisesRegex(Failure, "a.c:2: .* is left"):
                layout.check({"a.c": f"/* x */\n/* {word} */\n"}, {})

    def test_names_are_those_of_the_tree(self):
        for name, becomes in (
                ('#include "compat.h"\n#include "bare_spin_types.h"\n',
                 "#include <linux/nbqlock_bare_types.h>\n"),
                ("#include <nbqlock/bare_spin.h>\n", "#include <linux/nbqlock_bare.h>\n"),
                ('#include "spin_types.h"\n#include "../nbqlock/wait.h"\n',
                 '#include <linux/nbqlock_types.h>\n#include "../wait.h"\n'),
                ("/* as spin.h and bare_spin.h say */", "/* as nbqlock.h and nbqlock_bare.h say */"),
                ("_NBQLOCK_SPIN_H _NBQLOCK_SPIN_TYPES_H _NBQLOCK_BARE_SPIN_TYPES_H",
                 "_LINUX_NBQLOCK_H _LINUX_NBQLOCK_TYPES_H _LINUX_NBQLOCK_BARE_TYPES_H"),
                ("__nbq_lock_struct(nbq_spin) __nbq_acquires(lock)",
                 "context_lock_struct(nbq_spin) __acquires(lock)")):
            self.assertEqual(layout.renamed(name).strip(), becomes.strip())

    def test_what_the_tree_has_is_its_own(self):
        layout.check({"a.c": "module_param(x);\n"}, {"a.c": ""})


class Diffs(unittest.TestCase):
    def test_diffs_of_the_port_are_applied_on_top_of_one_another(self):
        with tempfile.TemporaryDirectory() as folder:
            source = SimpleNamespace(path=Path(folder))
            (source.path / "Makefile").write_text("one\n")
            tree = Tree(source)
            for number, lines in enumerate((" one\n+two\n", " two\n+three\n")):
                diff = PROJECT / f"build/test-{number}.patch"
                diff.parent.mkdir(exist_ok=True)
                diff.write_text(f"--- a/Makefile\n+++ b/Makefile\n@@ -1 +1,2 @@\n{lines}")
                self.assertEqual(list(tree.apply(diff)), ["Makefile"])
                diff.unlink()
            self.assertEqual(tree.texts["Makefile"], "one\ntwo\nthree\n")
            self.assertEqual(tree.base["Makefile"], "one\n")

    def test_diffs_of_the_port_are_there(self):
        for patch in (layout.SPINLOCKS, layout.TIMEOUTS):
            self.assertTrue(hunks_of(patch.diff))


class Patches(unittest.TestCase):
    BASE = {"a/Makefile": "one\n"}
    COMMITS = [("a: First\n\nWhy.\n", {"a/Makefile": "one\ntwo\n", "a/b.c": "int b;\n"}),
               ("a: Second\n\nWhy.\n", {"a/b.c": "int c;\n"})]

    def made(self, folder):
        return format_patches((self.BASE, self.COMMITS, "a: Both\n\nThe letter.\n"),
                              Author("A B <a@b.c>"), Path(folder))

    def test_patches_have_author_sign_off_and_cover_letter(self):
        with tempfile.TemporaryDirectory() as folder:
            cover, first, _ = self.made(folder)
            self.assertIn("Subject: [PATCH 0/2] a: Both\n\nThe letter.\n", cover.read_text())
            self.assertNotIn("***", cover.read_text())
            self.assertIn("From: A B <a@b.c>", first.read_text())
            self.assertIn("\nSigned-off-by: A B <a@b.c>\n---\n", first.read_text())

    def test_patches_are_the_same_each_time_and_old_ones_are_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = [path.read_bytes() for path in self.made(folder)]
            (Path(folder) / "0009-old.patch").write_text("")
            self.assertEqual([path.read_bytes() for path in self.made(folder)], texts)

    def test_patches_can_be_applied(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(applied(self.BASE, self.made(folder)[1:]),
                             [{"a/Makefile": "one\ntwo\n", "a/b.c": "int b;\n"},
                              {"a/Makefile": "one\ntwo\n", "a/b.c": "int c;\n"}])

    def test_commands_apply_all_but_the_letter_and_the_rfc_by_itself(self):
        commits = [(f"a: Number {number}\n\nWhy.\n", {"a/b.c": f"int b{number};\n"})
                   for number in range(1, 13)]
        commits.append(("RFC: a: The last\n\nWhy.\n", {"a/b.c": "int c;\n"}))
        with tempfile.TemporaryDirectory() as folder:
            made = format_patches((self.BASE, commits, "a: All\n\nThe letter.\n"),
                                  Author("A B <a@b.c>"), Path(folder) / "my series")
            commands = am_commands(made[1:])
            self.assertEqual([[texts["a/b.c"]] for texts in typed(self.BASE, commands)],
                             [["int b12;\n"], ["int c;\n"]])
            self.assertEqual(commands[0], f"git am '{folder}/my series'/000[1-9]-*.patch "
                             f"'{folder}/my series'/001[0-2]-*.patch")
            self.assertRegex(am_commands([made[2], made[4]])[0], r"/000\[24\]-\*\.patch$")

    def test_tree_that_they_do_not_fit_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            patches = self.made(folder)[1:]
            with self.assertRaisesRegex(Failure, "git am .*: status"):
                applied({"a/Makefile": "other\n"}, patches)

    def test_author_without_an_address_is_refused(self):
        with self.assertRaisesRegex(Failure, "is no author"):
            Author("A B")
