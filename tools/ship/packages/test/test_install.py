# SPDX-License-Identifier: GPL-2.0
"""The Makefile's words for the kernel's build, which here takes notes and does nothing else."""

import os
import shutil
import subprocess

from base.common import PROJECT
from base.test import InFolder

HEADERS = """
modules modules_install:
	@echo "$@ compiler=$(CC),$(LLVM) path=$(INSTALL_MOD_PATH) dir=$(INSTALL_MOD_DIR)" >>{said}
"""
CLANG = "CONFIG_CC_IS_CLANG=y\nCONFIG_CLANG_VERSION=190107\n"
# What make reads of the project.
SOURCES = ("Makefile", "nbqlock.mk", "dkms.conf", "tools/ship/packages/install/install.mk")
# What it runs, besides compilers.
TOOLS = ("make", "sh", "sed", "expr", "tr", "uname", "find")


class WordsTest(InFolder):
    def setUp(self):
        super().setUp()
        self.tree = self.copied("tree")
        self.said = self.folder / "said"
        self.write("kernel/Makefile", HEADERS.format(said=self.said))
        self.write("kernel/include/config/kernel.release", "6.1.192\n")
        self.write("kernel/include/generated/utsrelease.h", '#define UTS_RELEASE "6.1.0-56"\n')
        self.configured("CONFIG_CC_IS_GCC=y\nCONFIG_CLANG_VERSION=0\n")
        self.program("depmod", f'echo "depmod $*" >>{self.said}')

    def configured(self, text):
        self.write("kernel/include/config/auto.conf", text)

    def program(self, name, text="exit 1"):
        self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n")
        (self.folder / "bin" / name).chmod(0o755)

    def copied(self, folder):
        for name in SOURCES:
            self.write(f"{folder}/{name}", (PROJECT / name).read_text())
        (self.folder / folder / "nbqlock").mkdir()
        return self.folder / folder

    def make(self, *words, tree=None, **environment):
        """(status, what make says, what the kernel's build and depmod were told)."""
        self.said.write_text("")
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith("MAKE") and name not in ("CC", "LLVM", "DESTDIR")}
        done = subprocess.run(
            ["make", "-C", tree or self.tree, f"KDIR={self.folder}/kernel", *words],
            text=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**inherited, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", **environment})
        return done.returncode, done.stdout, self.said.read_text().splitlines()

    def compiler(self, *words, **environment):
        status, text, (said,) = self.make("modules", *words, **environment)
        self.assertEqual(status, 0, text)
        return said.split("compiler=")[1].split()[0]

    def test_compiler_is_that_of_the_kernel(self):
        for config, programs, wanted in (
                ("CONFIG_CC_IS_GCC=y\nCONFIG_LD_IS_BFD=y\n", (), "cc,"),
                (CLANG + "CONFIG_LD_IS_BFD=y\n", (), "clang,"),
                (CLANG + "CONFIG_LD_IS_LLD=y\n", (), "cc,1"),
                (CLANG, ("clang-19",), "clang-19,"),
                (CLANG + "CONFIG_LD_IS_LLD=y\n", ("clang-19",), "cc,-19")):
            self.configured(config)
            # Of this machine's own compilers none is found.
            shutil.rmtree(self.folder / "bin")
            (self.folder / "bin").mkdir()
            for name in programs:
                self.program(name)
            for name in TOOLS:
                (self.folder / "bin" / name).symlink_to(shutil.which(name))
            self.assertEqual(self.compiler(PATH=f"{self.folder}/bin"), wanted, config)

    def test_compiler_that_is_named_stays(self):
        self.configured(CLANG + "CONFIG_LD_IS_LLD=y\n")
        self.assertEqual(self.compiler("CC=mine"), "mine,")
        self.assertEqual(self.compiler("LLVM=/usr/mine/"), "cc,/usr/mine/")
        self.assertEqual(self.compiler(LLVM="-18"), "cc,-18")
        # A package's builder has CC in its environment, which the kernel's build does not heed.
        self.assertRegex(self.compiler(CC="gcc"), ",(1|-19)$")

    def test_examples_and_tutorial_take_that_compiler_too(self):
        self.configured(CLANG)
        found = [path.parent for path in PROJECT.glob("Documentation/*/Makefile")
                 if "M=$(CURDIR)" in path.read_text()]
        self.assertIn(PROJECT / "Documentation/example", found)
        for tree in found:
            _, text, said = self.make("modules", f"NBQLOCK={PROJECT}", tree=tree)
            self.assertRegex(said[0], r"compiler=clang(-19)?,", text)

    def installed(self, *words, **environment):
        """What the kernel's build and depmod were told of an installation of the modules."""
        status, text, (_, *said) = self.make("modules_install", *words, **environment)
        self.assertEqual(status, 0, text)
        return [line.split(", ")[-1] for line in said]

    def test_place_of_the_modules(self):
        for words, place in (
                (["DESTDIR=/some/where"], "path=/some/where dir=updates"),
                (["DESTDIR=some/where"], f"path={self.tree}/some/where dir=updates"),
                (["DESTDIR=/some/where/", "INSTALL_MOD_DIR=extra"], "path=/some/where dir=extra"),
                (["INSTALL_MOD_PATH=some"], f"path={self.tree}/some dir=updates"),
                (["INSTALL_MOD_PATH=/some/usr", "DESTDIR=/some"], "path=/some/usr dir=updates")):
            self.assertEqual(self.installed(*words), [place], words)
            self.assertEqual(self.installed(**dict(word.split("=") for word in words)), [place])

    def test_running_system_has_its_list_of_modules_made_anew(self):
        for words in ([], ["DESTDIR=/"]):
            self.assertEqual(self.installed(*words), ["path= dir=updates", "depmod 6.1.0-56"])

    def test_place_of_the_rest(self):
        for words, place in ((["INSTALL_MOD_PATH=/some"], "/some/usr/local"),
                             (["INSTALL_MOD_PATH=/some/usr", "DESTDIR=/some"], "/some/usr/local"),
                             (["DESTDIR=some", "prefix=/usr"], f"{self.tree}/some/usr")):
            status, text, _ = self.make("-n", "install-headers", *words)
            self.assertEqual(status, 0)
            self.assertIn(f"mkdir -p {place}\n", text)

    def test_name_that_the_kernels_build_does_not_take_is_named_before_anything_is_done(self):
        for target in ("install", "uninstall", "modules_install", "install-headers"):
            for words, odd in ((["DESTDIR=/my package"], " "), (["INSTALL_MOD_PATH=/a:b"], ":"),
                               (["DESTDIR=/it's"], "'"), (["prefix=/usr/my own"], " "),
                               (["KDIR=/my linux"], " ")):
                status, text, said = self.make(target, *words)
                variable, folder = words[0].split("=")
                self.assertEqual((status, said), (2, []), text)
                self.assertRegex(text, rf'\*\*\* {variable} "{folder}": .* with "{odd}" in it')

    def test_prefix_begins_with_a_slash(self):
        status, text, _ = self.make("install-headers", "DESTDIR=/some", "prefix=usr")
        self.assertEqual(status, 2)
        self.assertIn('prefix=usr: no / at its start', text)

    def test_checkout_with_a_space_is_named(self):
        status, text, said = self.make("modules", tree=self.copied("my checkout"))
        self.assertEqual((status, said), (2, []))
        self.assertRegex(text, r'this folder "\S+/my checkout": .* with " " in it')

    def test_kernel_that_is_not_prepared_is_named(self):
        (self.folder / "kernel/include/generated/utsrelease.h").unlink()
        status, text, _ = self.make("modules_install")
        self.assertEqual(status, 2)
        self.assertIn(f"{self.folder}/kernel is not prepared for modules", text)
