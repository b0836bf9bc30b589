# SPDX-License-Identifier: GPL-2.0
"""The cache: entries that are made again, and what is removed of it."""

import os
from pathlib import Path
import platform
import pwd
from unittest import mock

from base import common
from base.building import cache_folder, cache_root, cached, compiler_environment, home
from base.common import Failure
from base.test import InFolder
from guest import debian, kernels
from guest.debian import unpacked
from guest.kernel_command import clean
from guest.kernels import Recipe, built_kernel


class CacheTest(InFolder):
    def setUp(self):
        super().setUp()
        self.patch(mock.patch.dict(os.environ, {"NBQ_CACHE": str(self.folder / "cache")}),
                   mock.patch("base.building.say"), mock.patch("guest.kernel_command.say"))
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
                           lambda _, folder, wanted: self.make(folder)})
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

    def test_home_is_that_of_the_password_file_where_it_is_not_set(self):
        listed = Path(pwd.getpwuid(os.getuid()).pw_dir)
        for given, wanted in (({"HOME": "/some"}, Path("/some")), ({}, listed),
                              ({"HOME": ""}, listed)):
            with mock.patch.dict(os.environ, given):
                if not given:
                    del os.environ["HOME"]
                self.assertEqual(home(), wanted)

    def test_user_who_has_no_home_is_told_what_to_name(self):
        with mock.patch.dict(os.environ), mock.patch("pwd.getpwuid", side_effect=KeyError):
            os.environ.pop("HOME", None)
            # ccache does not work without one.
            self.assertEqual(compiler_environment()["HOME"], str(cache_root() / "ccache"))
            del os.environ["NBQ_CACHE"]
            os.environ.pop("XDG_CACHE_HOME", None)
            with self.assertRaisesRegex(Failure, "no home folder.* NBQ_CACHE=FOLDER"):
                cache_root()

    def test_checkout_whose_name_kbuild_does_not_take_is_named_before_anything_is_done(self):
        begun = mock.Mock()
        with mock.patch.object(common, "PROJECT", self.folder / "my checkout"), \
                mock.patch.object(common, "say") as said, mock.patch("signal.signal"):
            with self.assertRaisesRegex(SystemExit, "2"):
                common.main(begun)
        self.assertRegex(said.call_args[0][0], 'this folder ".*/my checkout": .*" " in it')
        begun.assert_not_called()

    def test_cache_whose_name_kbuild_does_not_take_is_named(self):
        for odd in " :'#":
            with mock.patch.dict(os.environ, {"NBQ_CACHE": f"{self.folder}/my{odd}cache"}):
                with self.assertRaisesRegex(Failure, f'the cache folder ".*{odd}cache": .*"{odd}"'):
                    cache_root()
        with mock.patch.dict(os.environ, {"NBQ_CACHE": f"{self.folder}/jörg/7.2~1+b,=%@-x_"}):
            self.assertTrue(cache_root().is_dir())
