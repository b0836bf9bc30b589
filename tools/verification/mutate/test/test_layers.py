# SPDX-License-Identifier: GPL-2.0
"""What a layer makes of what its program prints."""

from pathlib import Path
import tempfile
import unittest

from testbed.common import Trouble
from verification.mutate.kinds import HostTests as Tests
from verification.mutate.layers import HostTests, Layer
from verification.mutate.mutant import Mutant
from verification.mutate.processes import Processes, Stopped


class LayerTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.processes = Processes()
        self.addCleanup(self.processes.stop)
        self.mutant = Mutant("quarter", "node.c", "3 / 4", "1 / 4",
                             {"test": (), "host": Tests("smoke TYPE")}, {})

    def program(self, script):
        program = Path(self.scratch.name) / "program"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    def layer(self, script):
        return Layer("test", self.program(script))

    def killer(self, script):
        return self.layer(script).killer(self.mutant, self.processes)

    def test_a_claim_that_does_not_hold_kills(self):
        self.assertEqual(self.killer('echo "ok a"; echo "not ok b: line 7"; exit 1'),
                         "b: line 7")

    def test_claims_that_hold_do_not(self):
        self.assertIsNone(self.killer('echo "ok a"'))

    def test_a_program_that_fails_without_a_word_kills(self):
        self.assertIn("exit status 3", self.killer('echo "ok a"; exit 3'))

    def test_a_program_that_claims_nothing_is_no_layer(self):
        with self.assertRaisesRegex(Trouble, "cannot be run here"):
            self.killer('echo "skip a: no compiler here"')

    def test_a_mistake_that_does_not_compile_is_not_killed(self):
        for script in ('echo "not ok smoke: does not compile"; exit 1', 'exit 2'):
            with self.subTest(script=script), self.assertRaisesRegex(Trouble, "cannot be run"):
                self.killer(script)

    def test_the_program_gets_the_text_with_the_mistake(self):
        seen = self.killer('grep -q "1 / 4" "$SRC/nbqlock/node.c" && echo "not ok seen"')
        self.assertEqual(seen, "seen")

    def test_a_program_of_the_host_tests_is_to_end_with_its_first_failure(self):
        layer = HostTests()
        layer.program = self.program('echo "not ok $* $NBQ_STOP_AT_FAILURE"')
        self.assertEqual(layer.killer(self.mutant, self.processes), "smoke clh 1")

    def test_a_program_that_is_not_there_is_trouble(self):
        with self.assertRaisesRegex(Trouble, "there is no"):
            Layer("test", "tools/nowhere").prepare()

    def test_after_the_end_nothing_is_started(self):
        self.processes.stop()
        with self.assertRaises(Stopped):
            self.killer('echo "ok a"')


if __name__ == "__main__":
    unittest.main()
