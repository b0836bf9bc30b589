# SPDX-License-Identifier: GPL-2.0
"""Imports that are against the rules are found, and no others."""

import unittest

from base.test import InFolder
from ship.walls import breaches


class Walls(InFolder, unittest.TestCase):
    def found(self, **files):
        """files: {path with __ for / and _py for .py: text}"""
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_py", ".py").replace("_c", ".c")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return breaches(self.folder)

    def test_a_room_imports_those_before_it(self):
        self.assertEqual(self.found(
            base__a_py="import re\n", guest__a_py="from base import a\n",
            measure__a_py="from guest.a import x\nfrom host import b\n", host__b_py="",
            module__a_py="from studies.one.a import x\n", studies__one__a_py="import base.a\n",
            ship__a_py="from measure import a\n"), [])

    def test_and_none_after_it(self):
        for files, why in (
                ({"base__a_py": "from guest import a\n"}, "base/ may not import guest/"),
                ({"host__a_py": "import measure.a\n"}, "host/ may not import measure/"),
                ({"module__a_py": "from ship.a import x\n"}, "module/ may not import ship/"),
                ({"ship__a_py": "from module.a import x\n"}, "ship/ may not import module/")):
            with self.subTest(why):
                self.assertIn(why, "\n".join(self.found(**files)))

    def test_no_study_imports_another(self):
        self.assertIn("a study imports another",
                      self.found(studies__one__a_py="from studies.two.a import x\n",
                                 studies__two__a_py="x = 1\n")[0])

    def test_imports_stand_at_the_top_without_a_condition(self):
        for text in ("def f():\n    from base import a\n", "if x:\n    from base import a\n"):
            self.assertIn("not at the top", self.found(guest__a_py=text, base__a_py="")[0])

    def test_files_of_a_room_import_each_other_in_no_circle(self):
        self.assertEqual(self.found(guest__a_py="from guest.b import x\n",
                                    guest__b_py="from guest import c\n",
                                    guest__c_py="from guest import a\n"),
                         ["in a circle: guest.a, guest.b, guest.c, guest.a"])

    def test_only_host_includes_the_shim(self):
        self.assertEqual(self.found(host__a_c='#include "../shim/x.h"\n'), [])
        self.assertEqual(len(self.found(studies__a_c='#include "../host/shim/x.h"\n')), 1)
