# SPDX-License-Identifier: GPL-2.0
import unittest

from base.common import Failure
from measure.top.perf import libraries

LISTED = """\tlinux-vdso.so.1 (0x00007ffc51ba4000)
\tlibdw.so.1 => /cache/usr/lib/x86_64-linux-gnu/libdw.so.1 (0x00007f0d3a000000)
\tlibc.so.6 => /cache/usr/lib/x86_64-linux-gnu/libc.so.6 (0x00007f0d39e00000)
\t/lib64/ld-linux-x86-64.so.2 => /cache/ld-linux-x86-64.so.2 (0x00007f0d3a700000)
"""


class TestLibraries(unittest.TestCase):
    def test_names_and_files(self):
        found = libraries(LISTED)
        self.assertEqual(found["libdw.so.1"], "/cache/usr/lib/x86_64-linux-gnu/libdw.so.1")
        self.assertNotIn("linux-vdso.so.1", found)

    def test_missing_library_is_named(self):
        with self.assertRaisesRegex(Failure, "libslang.so.2"):
            libraries(LISTED + "\tlibslang.so.2 => not found\n")
