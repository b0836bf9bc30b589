# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the use of the locks: which are found, and which uses are right."""

from pathlib import Path
import re
import shutil
import subprocess
import unittest

from base.common import PROJECT, Failure
from base.test import InFolder
from studies.moving.mistakes import UNREAD, find_mistakes, lines_with_acquisitions

USES = Path(__file__).parent
KINDS = {"unlock": "unlock, although", "held": "leaves &d->lock held", "loop": "this loop goes on"}
OPERATIONS = sorted(set(re.findall(r"\bnbq_(?:@lock@|spin)_((?:try)?lock\w*)\(",
                                   (PROJECT / "nbqlock/lock.h.in").read_text())))
# In a function for each operation: the line that is to be found is the last but two.
INVERTED = """
void {name}(struct dev *d)
{{
	if ({no}{op}(&d->lock)) {{
		work(d);
		{unlock}(&d->lock);
	}}
}}
"""
HELD = """
void {name}(struct dev *d)
{{
	if ({no}{op}(&d->lock))
		return;
	if (d->dead)
		return;
	{unlock}(&d->lock);
}}
"""
AFTER_LOCK = HELD.replace("if ({no}{op}(&d->lock))\n\t\treturn", "{op}(&d->lock)")


def unlock_of(operation):
    for suffix, unlock in (("irqsave", "unlock_irqrestore"), ("irq", "unlock_irq"),
                           ("bh", "unlock_bh")):
        if operation.removesuffix("_nested").endswith(f"_{suffix}"):
            return unlock
    return "unlock"


def forms_of(operation):
    """The mistakes that can be made with it, and what is said then."""
    if operation.startswith("trylock") or re.search("timeout|until|unless", operation):
        return ((INVERTED, KINDS["unlock"]), (HELD, KINDS["held"]))
    return ((AFTER_LOCK, KINDS["held"]),)


@unittest.skipUnless(shutil.which("spatch"), "spatch is not installed")
class MistakesTest(InFolder):
    def found(self, *names):
        return {(line, text) for _, line, _, text in
                find_mistakes([self.folder / name for name in names])}

    def test_each_mistake_is_found_where_it_is(self):
        marked = {(number, KINDS[mark[1]])
                  for number, line in enumerate((USES / "wrong.c").read_text().splitlines(), 1)
                  for mark in [re.search(r"/\* (\w+) \*/$", line)] if mark}
        mistakes = find_mistakes([USES / "wrong.c"])
        found = {(line, kind) for _, line, _, text in mistakes for kind in KINDS.values()
                 if text.startswith(kind)}
        self.assertEqual(found, marked)
        self.assertEqual(len(mistakes), len(marked))

    def test_right_uses_are_not_found(self):
        self.assertEqual(find_mistakes([USES / "right.c"]), [])

    def test_it_is_found_of_each_lock_and_operation(self):
        self.assertLess({"trylock", "lock", "lock_timeout_irqsave", "lock_until_bh",
                         "lock_unless", "lock_timeout_info"}, set(OPERATIONS))
        for lock in ("spin", "clh", "mcs", "swap"):
            text, wanted = "", set()
            for operation in OPERATIONS:
                op = f"nbq_{lock}_{operation}"
                for number, (form, words) in enumerate(forms_of(operation)):
                    text += form.format(
                        name=f"f{number}_{op}", op=op, unlock=f"nbq_{lock}_{unlock_of(operation)}",
                        no="!" if operation.startswith("trylock") else "")
                    wanted.add((text.count("\n") - 2, words))
            self.write(f"{lock}.c", text)
            self.assertEqual({(line, next((words for words in KINDS.values()
                                           if text.startswith(words)), text))
                              for line, text in self.found(f"{lock}.c")}, wanted)

    def test_text_has_operation_and_line(self):
        self.write("a.c", INVERTED.format(name="f", no="", op="nbq_clh_lock_timeout",
                                          unlock="nbq_clh_unlock"))
        self.assertEqual(self.found("a.c"), {
            (6, "unlock, although nbq_clh_lock_timeout() in line 4 has failed: 0 is success")})

    def test_what_coccinelle_does_not_understand_is_said(self):
        self.write("odd.c", "int f(void)\n{\n\treturn nbq_spin_trylock(&l) +* } else (;\n}\n")
        self.assertEqual(self.found("odd.c"), {(3, UNREAD)})

    def test_lines_that_acquire(self):
        text = ('/* nbq_spin_lock(&l) */\n"nbq_spin_lock(&l)"\n\tnbq_mcs_trylock_irq(&l);\n'
                "#define LOCK nbq_spin_lock(&l)\n\tif (spin_trylock_timeout_irqsave(&l))\n"
                "\tspin_trylock(&l);\n\tnbq_spin_unlock(&l);\n\tnbq_spin_is_locked(&l);\n")
        self.assertEqual(lines_with_acquisitions(text), {3, 5})
        with self.assertRaisesRegex(Failure, "none.c: No such file"):
            find_mistakes([self.folder / "none.c"])

    def test_the_command_prints_them_and_fails(self):
        self.write("a/b.c", HELD.format(name="f", no="", op="nbq_spin_lock_until",
                                        unlock="nbq_spin_unlock"))
        self.write("a/c.txt", "nbq_spin_lock(&l)")
        done = self.run_command("a")
        self.assertEqual((done.returncode, done.stdout), (
            1, "a/b.c:7:3: leaves &d->lock held, which nbq_spin_lock_until() in line 4 has "
               "acquired\n"))
        self.assertEqual(self.run_command(USES / "right.c").returncode, 0)
        self.assertEqual(self.run_command("none").returncode, 2)

    def run_command(self, *words):
        return subprocess.run([PROJECT / "tools/studies/moving/mistakes", *words], cwd=self.folder,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
