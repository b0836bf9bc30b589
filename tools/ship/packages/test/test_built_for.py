# SPDX-License-Identifier: GPL-2.0
"""What a package says in the end, where dkms, uname and the headers are others."""

import os
import subprocess

from base.common import PROJECT
from base.test import InFolder

DKMS = """#!/bin/sh
[ "$*" = "status -m nbqlock -v 2.0.0" ] || exit 1
cat "${0%/*}/status"
"""


class BuiltForTest(InFolder):
    def said(self, status, running="6.1.0-56-amd64"):
        for name, text in (("dkms", DKMS), ("uname", f"#!/bin/sh\necho {running}\n")):
            self.write(f"bin/{name}", text)
            (self.folder / "bin" / name).chmod(0o755)
        self.write("bin/status", status)
        program = self.folder / "nbqlock-2.0.0/built-for"
        self.write(program, (PROJECT / "tools/ship/packages/install/built-for").read_text().replace(
            "/lib/modules", f"{self.folder}/modules"))
        program.chmod(0o755)
        done = subprocess.run([program], text=True, stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.STDOUT,
                              env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        return done.stdout.splitlines()

    def test_kernels_are_named_and_whether_the_running_one_is_among_them(self):
        self.assertEqual(self.said("nbqlock/2.0.0, 6.1.0-56-amd64, x86_64: installed\n"
                                   "nbqlock/2.0.0, 6.12.9-amd64, x86_64: installed\n"), [
            "nbqlock: the modules are built for 6.1.0-56-amd64, 6.12.9-amd64.",
            "nbqlock: The running kernel, 6.1.0-56-amd64, is among them."])

    def test_older_dkms_punctuates_otherwise(self):
        self.assertEqual(self.said("nbqlock, 2.0.0, 6.1.0-56-amd64, x86_64: installed "
                                   "(original_module exists)\n")[0],
                         "nbqlock: the modules are built for 6.1.0-56-amd64.")

    def test_running_kernel_without_headers_is_named_with_what_to_do(self):
        # Names are whole ones; built is not installed.
        for status, kernels in (
                ("", "no kernel"),
                ("nbqlock/2.0.0: added\n", "no kernel"),
                ("nbqlock/2.0.0, 6.1.0-56-amd64, x86_64: built\n", "no kernel"),
                ("nbqlock/2.0.0, 6.1.0-56-amd64-rt, x86_64: installed\n", "6.1.0-56-amd64-rt"),
                ("nbqlock/2.0.0, 6.12.9, x86_64: installed\n", "6.12.9")):
            self.assertEqual(self.said(status), [
                f"nbqlock: the modules are built for {kernels}.",
                "nbqlock: The running kernel, 6.1.0-56-amd64, is not among them: it cannot load "
                "the modules.",
                "nbqlock: Install its headers (Debian: linux-headers-6.1.0-56-amd64), then: "
                "dkms autoinstall"])

    def test_running_kernel_with_headers_is_told_where_the_reason_is(self):
        self.write("modules/6.1.0-56-amd64/build/include/config")
        self.assertEqual(self.said("")[-1], "nbqlock: Why: /var/lib/dkms/nbqlock/2.0.0/build/"
                         "make.log, or it is older than 6.1.")
