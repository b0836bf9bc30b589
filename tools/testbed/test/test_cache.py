# SPDX-License-Identifier: GPL-2.0
"""The cache: entries that are made again, and what is removed of it."""

import os
import platform
from unittest import mock

from testbed import debian, kernels
from testbed.building import cache_folder, cache_root, cached
from testbed.debian import unpacked
from testbed.kernel_command import clean
from testbed.kernels import Recipe, built_kernel
from testbed.test import InFolder


class CacheTest(InFolder):
    def setUp(self):
        super().setUp()
        self.patch(mock.patch.dict(os.environ, {"NBQ_CACHE": str(self.folder / "cache")}),
                   mock.patch("testbed.building.say"), mock.patch("testbed.kernel_command.say"))
        self.made = 0

    def make(self, folder):
        self.made += 1
        (folder / "image").write_text("whole")
        return ["image"]

    def test_an_entry_is_made_once_and_again_if_it_was_altered_or_left_half_made(self):
        def stop(folder):
            self.make(folder)
            raise KeyboardInterrupt

        entry = cache_folder("kind") / "entry"
        with self.assertRaises(KeyboardInterrupt):
            cached(entry, stop)
        for changed, made in ((None, 2), (None, 2), ("image", 3), (".sealed", 4), (None, 4)):
            if changed:
                (entry / changed).write_text("other")
            cached(entry, self.make)
            self.assertEqual((self.made, (entry / "image").read_text()), (made, "whole"))

    def test_a_package_that_the_cache_has_whole_is_not_looked_for(self):
        cached(cache_folder("kind") / "package_1", self.make)
        apt = mock.Mock(**{"field.return_value": "1:3", "unpack.side_effect":
                           lambda _, folder: self.make(folder)})
        with mock.patch.object(debian, "apt_offering", return_value=(apt, ["package"])), \
                mock.patch.object(debian, "say"):
            for altered, name, made in ((None, "package_1", 1), ("package_1", "package_1_3", 2)):
                if altered:
                    (cache_folder("kind") / altered / "image").write_text("other")
                self.assertEqual(unpacked("kind", "package_*", "package", [["suite"]], "package",
                                          lambda _, package: [package],
                                          lambda folder: [folder / "image"]).name, name)
                self.assertEqual(self.made, made)

    def test_a_kernel_that_the_cache_has_not_is_built_once(self):
        def make_all(recipe, tree, build_dir, log):
            self.assertEqual((tree / "Makefile").read_text(), "VERSION = 7\n")
            for file in (recipe.image, ".config", "Module.symvers"):
                (build_dir / file).write_text("whole")
            self.made += 1

        self.write("source/Makefile", "VERSION = 7\n")
        source = mock.Mock(path=self.folder / "source", version="7.2", identity="source")
        recipe = Recipe("small", platform.machine(), "linux", "guest")
        with mock.patch.multiple(kernels, make_all=make_all, get_source=lambda: source,
                                 compiler_identity=lambda *_: "gcc", say=mock.DEFAULT) as mocks:
            for _ in range(2):
                self.assertEqual(built_kernel(recipe).image.read_text(), "whole")
        self.assertEqual(self.made, 1)
        mocks["say"].assert_called_once()

    def test_clean_removes_what_was_put_there_and_nothing_else(self):
        cached(cache_folder("arm64") / "7.2-0123", self.make)
        self.write("cache/theses/mine")
        self.write("cache/file")
        clean(None)
        self.assertEqual(sorted(path.name for path in cache_root().iterdir()), ["file", "theses"])
