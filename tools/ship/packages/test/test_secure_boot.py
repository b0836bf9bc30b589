# SPDX-License-Identifier: GPL-2.0
"""How MokManager is answered."""

import subprocess
import unittest

from base.building import kill_group
from base.common import Failure
from ship.packages import secure_boot
from ship.packages.secure_boot import answer, enrolment

# Says each of its words with an escape sequence in it, awaits a line, and prints that.
MANAGER = r"""
for word in "$@"; do printf '\033[1;1H%s\033[0m' "$word"; read -r keys; echo "<$keys>"; done
"""


class Answers(unittest.TestCase):
    def setUp(self):
        pause, secure_boot.KEY_PAUSE = secure_boot.KEY_PAUSE, 0
        self.addCleanup(setattr, secure_boot, "KEY_PAUSE", pause)

    def answered(self, words, dialogue):
        process = subprocess.Popen(["sh", "-c", MANAGER, "sh", *words], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, start_new_session=True, bufsize=0)
        try:
            return answer(process, dialogue)
        finally:
            kill_group(process)
            process.stdin.close()
            process.stdout.close()

    def test_each_text_gets_its_keys(self):
        said = self.answered(["First", "Second"], ((b"First", b"1\n"), (b"Second", b"2\n")))
        self.assertIn("<1>", said)
        self.assertIn("<2>", said)

    def test_what_is_not_said_is_a_failure(self):
        with self.assertRaisesRegex(Failure, "did not say 'Second'(.|\n)*<1>"):
            self.answered(["First"], ((b"First", b"1\n"), (b"Second", b"2\n")))

    def test_the_password_is_typed(self):
        self.assertIn((b"Password", b"secret\r"), enrolment("secret"))
