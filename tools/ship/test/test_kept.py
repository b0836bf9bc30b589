# SPDX-License-Identifier: GPL-2.0
"""Kept results: their commits, and what of the locks has changed since."""

import subprocess

from base.test import InFolder
from ship.kept import FOLDER, age, papers_disagree, results

LOCK = "int taken; /* %s */\n"


class KeptTest(InFolder):
    def setUp(self):
        super().setUp()
        self.project = self.folder
        self.git("init", "-q")
        self.write("nbqlock/spin.c", LOCK % "first")
        self.first = self.commit()

    def git(self, *words):
        return subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", self.project, *words],
            check=True, text=True, stdout=subprocess.PIPE).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "--short=12", "HEAD").strip()

    def age_after(self, name, text):
        self.write(name, text)
        self.commit()
        return age([self.first], self.project)

    def test_each_says_its_commits(self):
        for name, text in (("report.rst", ":Cores: 2\n:Commit: 0123456789ab\n"),
                           ("all.json", '[{"commit":"0123456789ab-dirty"},'
                            '{"commit":"ba9876543210"}]'),
                           ("sub/one.svg", "<text>2 cores, commit 0123456789ab.</text>"),
                           ("sub/none.rst", ":Commit: unknown\n"),
                           ("sub/figures/part.svg", "<svg/>")):
            self.write(f"{FOLDER}/{name}", text)
        self.assertEqual(results(self.project), {
            "report.rst": ["0123456789ab"], "all.json": ["0123456789ab", "ba9876543210"],
            "sub/one.svg": ["0123456789ab"], "sub/none.rst": []})

    def test_comments_and_the_stress_driver_are_not_the_locks_code(self):
        for change in (("nbqlock/spin.c", LOCK % "second"), ("nbqlock/spin.c", "int\ttaken;\n"),
                       ("nbqlock/stress/run.c", LOCK % ""), ("kunit/spin.c", LOCK % ""),
                       ("nbqlock/README", "")):
            self.assertEqual(self.age_after(*change),
                             f"of {self.first}, the locks' code is the same")

    def test_what_is_of_other_code_is_older(self):
        self.assertIn("older than the locks: 1 of", self.age_after("nbqlock/spin.c", "int x;\n"))

    def test_a_new_file_and_one_that_has_gone_are_changes(self):
        self.git("mv", "nbqlock/spin.c", "nbqlock/swap.c")
        self.commit()
        self.assertIn("older than the locks: 2 of", age([self.first], self.project))

    def test_one_old_commit_of_several_makes_it_old(self):
        self.write("nbqlock/spin.c", "int x;\n")
        second = self.commit()
        self.assertIn("the same", age([second], self.project))
        self.assertIn("older", age([second, self.first], self.project))

    def test_what_git_does_not_know_cannot_be_told(self):
        self.assertIn("cannot be told", age(["0123456789ab"], self.project))
        self.assertIn("older", self.age_after("nbqlock/spin.c", "int x;\n"))


class PapersTest(InFolder):
    REAL = '''   "Holds here","table1","**holds**"
   "Of no paper","hybrid","**holds**"
'''
    SIMULATED = '''   "Both beds","figure5-simulated","1 socket","\\-","**holds**"
   "Both beds","figure5-simulated","8 sockets","\\-","**is not clear**"
'''
    PAGE = '''   "finding","2 cores","simulated"
   "Holds here","holds","-"
   "Both beds","-","holds; is not clear"
'''

    def disagree(self, page):
        self.write(f"{FOLDER}/report.rst", self.REAL)
        self.write(f"{FOLDER}/simulated/report.rst", self.SIMULATED)
        self.write("Documentation/papers.rst", page)
        return [line.split(":")[0] for line in papers_disagree(self.folder).splitlines()]

    def test_the_page_says_what_the_reports_say(self):
        self.assertEqual(self.disagree(self.PAGE), [])

    def test_another_verdict_a_row_too_few_and_one_too_many_are_named(self):
        self.assertEqual(self.disagree(self.PAGE.replace('"holds","-"', '"is not clear","-"')),
                         ["Holds here"])
        self.assertEqual(self.disagree(self.PAGE.rsplit("\n", 2)[0] + "\n"), ["Both beds"])
        self.assertEqual(self.disagree(self.PAGE + '   "Gone","holds","-"\n'), ["Gone"])
