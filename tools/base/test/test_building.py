# SPDX-License-Identifier: GPL-2.0
import os
import shutil
import subprocess
import unittest
from unittest import mock

from base import building
from base.test import InFolder


@unittest.skipUnless(shutil.which("ccache"), "ccache is not installed")
class CompilerCache(InFolder):
    def compiled(self, source, listed):
        """An object file that includes a text as it is, as kernels include their packed image."""
        self.write("included", listed)
        with mock.patch.object(building, "cache_folder", return_value=self.folder / "cache"):
            environment = {**os.environ, **building.compiler_environment()}
            compiler = building.compiler_for_make()[0].removeprefix("CC=").split()
        subprocess.run([*compiler, "-Wp,-MMD,made.d", "-c", source, "-o", "made.o"],
                       cwd=self.folder, env=environment, check=True)
        return (self.folder / "made.o").read_bytes()

    def test_what_a_source_includes_as_it_is_is_that_of_this_build(self):
        self.write("piggy.S", '.section ".rodata", "a"\n.incbin "included"\n')
        self.write("configs.c", 'asm(".section .rodata\\n.incbin \\"included\\"");\n')
        for source in ("piggy.S", "configs.c"):
            for listed in ("of one build", "of another "):
                self.assertIn(listed.encode(), self.compiled(source, listed), source)

    def test_what_is_known_is_not_compiled_again(self):
        self.write("a.c", "int a;\n")
        for name in ("a.c", "a.c"):
            self.compiled(name, "")
        with mock.patch.object(building, "cache_folder", return_value=self.folder / "cache"):
            said = subprocess.run(["ccache", "--print-stats"], env={
                **os.environ, **building.compiler_environment()}, capture_output=True, text=True,
                                  check=True).stdout
        self.assertIn("direct_cache_hit\t1\n", said)
