# SPDX-License-Identifier: GPL-2.0
"""The copy of a kernel tree: what is changed in it, and what does not fit."""

from unittest import mock

from base.common import Failure
from base.test import InFolder
from guest import kernel_copy
from guest.kernel_copy import KernelCopy, changed_files, make_shadow

PATCH = """\
--- a/kernel/a.c
+++ b/kernel/a.c
@@ -1,3 +1,3 @@
 int a;
-int b;
+int c;

"""


class Source:
    version, identity = "7.2.0", "tree"

    def __init__(self, path):
        self.path = path


class Changes(InFolder):
    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        for name, text in (("kernel/a.c", "int a;\nint b;\n\nint d;\n"), ("kernel/b.c", "b"),
                           ("mm/m.c", "m"), ("Kconfig", "top\n"), ("Kbuild", "obj\n")):
            self.write(self.tree / name, text)
        self.change = self.folder / "spin/port"
        self.write(self.change / "spin.patch", PATCH)
        self.patch(mock.patch.object(kernel_copy, "TOOLS", self.folder),
                   mock.patch.object(kernel_copy, "PROJECT", self.folder),
                   mock.patch.object(kernel_copy, "cache_folder", lambda _: self.folder / "c"))

    def test_hunk_is_applied_where_it_fits(self):
        texts = changed_files(self.tree, ["spin"])
        self.assertEqual(texts["kernel/a.c"], "int a;\nint c;\n\nint d;\n")
        self.assertIn("nbq/nbqlock/Kconfig", texts["Kconfig"])

    def test_hunk_that_does_not_fit_names_file_and_place(self):
        for text in ("int a;\n", "int a;\nint b;\n\n" * 2):
            self.write(self.tree / "kernel/a.c", text)
            with self.assertRaisesRegex(Failure, r"spin\.patch.*kernel/a\.c.*@@ -1,3"):
                changed_files(self.tree, ["spin"])

    def test_file_that_the_kernel_lacks_is_named(self):
        (self.tree / "kernel/a.c").unlink()
        with self.assertRaisesRegex(Failure, r"spin\.patch.*kernel/a\.c: No such file"):
            changed_files(self.tree, ["spin"])

    def test_file_is_added_and_may_not_replace_one(self):
        self.write(self.change / "mm/new.c", "new")
        self.assertEqual(changed_files(self.tree, ["spin"])["mm/new.c"], "new")
        self.write(self.change / "mm/m.c", "other")
        with self.assertRaisesRegex(Failure, "mm/m.c.*a file of that name"):
            changed_files(self.tree, ["spin"])

    def test_shadow_links_all_but_the_changed(self):
        shadow = self.folder / "shadow"
        self.write(self.folder / "own.c", "own")
        for _ in range(2):
            make_shadow(self.tree, shadow, {"kernel/a.c": self.folder / "own.c",
                                            "new/n.c": self.folder / "own.c"})
        self.assertEqual((shadow / "kernel/a.c").read_text(), "own")
        self.assertEqual((shadow / "new/n.c").read_text(), "own")
        self.assertEqual((shadow / "kernel/b.c").resolve(), self.tree / "kernel/b.c")
        self.assertTrue((shadow / "mm").is_symlink())

    def refreshed(self, **options):
        copy = KernelCopy(Source(self.tree), ("spin",))
        with mock.patch.object(kernel_copy, "source_files",
                               lambda _: {"nbqlock/spin.c": b"spin"}):
            copy.refresh(**options)
        return copy

    def test_undone_file_is_as_in_the_tree_and_comes_back(self):
        changed = self.refreshed().tree / "kernel/a.c"
        ours = changed.read_text()
        self.refreshed(undone=["kernel/a.c"])
        self.assertEqual(changed.read_text(), (self.tree / "kernel/a.c").read_text())
        self.refreshed()
        self.assertEqual(changed.read_text(), ours)

    def test_refresh_leaves_the_dates_of_what_is_the_same(self):
        changed = self.refreshed().tree / "kernel/a.c"
        before = changed.stat().st_mtime_ns
        self.refreshed()
        self.assertEqual(changed.stat().st_mtime_ns, before)
        self.assertTrue((changed.parents[1] / "include/nbqlock/spin.c").exists())

    def test_objects_go_with_a_file_that_is_the_trees_again(self):
        self.write(self.change / "mm/new.c", "new")
        copy = self.refreshed()
        self.write(copy.folder / "obj/x/mm/new.o", "")
        self.refreshed()
        self.assertTrue((copy.folder / "obj").exists())
        (self.change / "mm/new.c").unlink()
        self.refreshed()
        self.assertFalse((copy.folder / "obj").exists())
        self.assertFalse((copy.tree / "mm/new.c").exists())
