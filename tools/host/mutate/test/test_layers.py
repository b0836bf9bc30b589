# SPDX-License-Identifier: GPL-2.0
"""What a layer makes of what its program prints, and which layers look at what."""

from pathlib import Path
import tempfile
import unittest

from base.common import PROJECT, Failure
from host.mutate.edits import write_copy
from host.mutate.layers import ARENA, LAYERS, DoesNotCompile, HostTests, Layer
from host.mutate.mutant import FILES, Mutant
from host.mutate.processes import Processes, Stopped


class LayerTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        self.processes = Processes()
        self.addCleanup(self.processes.stop)

    def program(self, script):
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    def killer(self, script):
        layer = Layer("test", self.program(script))
        return layer.killer([("a",), ("b",)], self.folder, self.processes)

    def test_what_kills(self):
        for script, killer in (
                ('echo "ok a"; echo "not ok b: line 7"; exit 1', "b: line 7"),
                ('echo "ok a"', None),
                # Each run is made up to the first that fails.
                ('[ $1 = a ] && echo "ok" || echo "not ok $1"', "b"),
                ('echo "ok a"; exit 3', "program a: exit status 3")):
            with self.subTest(script):
                self.assertEqual(self.killer(script), killer)

    def test_what_takes_much_longer_than_the_text_as_it_is_kills(self):
        layer = Layer("test", self.program("echo ok a"))
        self.assertEqual(layer.killer([("a",)], self.folder, self.processes), None)
        layer.text_as_it_is_has_passed()
        self.program("while :; do :; done")
        self.assertIn("exit status", layer.killer([("a",)], self.folder, self.processes))

    def test_programs_of_all_types_compile_from_a_copy(self):
        write_copy(self.folder, {})
        self.assertFalse([path for path in (PROJECT / "nbqlock/stress").rglob("*.h")
                          if not (self.folder / path.relative_to(PROJECT)).exists()])
        for arguments in (("mixtures", "all", "gcc", "plain", "--runs", "1"),
                          ("kunit", "all", "gcc", "plain", "nbq_deadline")):
            with self.subTest(arguments):
                layer = HostTests()
                held, no = layer.run(self.folder, arguments, self.processes)
                self.assertTrue(held)
                self.assertIsNone(no)

    def test_a_program_that_claims_nothing_is_no_layer(self):
        with self.assertRaisesRegex(Failure, "cannot be run here"):
            self.killer('echo "skip a: no compiler here"')

    def test_a_mistake_that_does_not_compile_is_none(self):
        for script in ('echo "not ok smoke: does not compile"; exit 1', 'exit 2'):
            with self.subTest(script=script), self.assertRaises(DoesNotCompile):
                self.killer(script)

    def test_a_program_of_the_host_tests_is_to_end_with_its_first_failure(self):
        layer = HostTests()
        layer.program = self.program('echo "not ok $* $NBQ_STOP_AT_FAILURE"')
        self.assertEqual(layer.killer([("smoke", "clh")], self.folder, self.processes),
                         "smoke clh 1")

    def test_a_program_that_is_not_there_is_a_failure(self):
        with self.assertRaisesRegex(Failure, "there is no"):
            Layer("test", "tools/nowhere").prepare()

    def test_after_the_end_nothing_is_started(self):
        self.processes.stop()
        with self.assertRaises(Stopped):
            self.killer('echo "ok a"')


class ChoiceTest(unittest.TestCase):
    @staticmethod
    def layers_of(file, rule):
        mutant = Mutant(file, "f", rule, "", 1, 0, 0, "")
        return {layer.name for layer in LAYERS if layer.looks_at(mutant)}

    def test_each_file_is_looked_at(self):
        for file in FILES:
            with self.subTest(file):
                self.assertIn("host" if file == ARENA else "kunit", self.layers_of(file, "store"))

    def test_each_host_program_looks_at_some_file(self):
        # But for that with threads, of which two runs differ.
        programs = {path.stem for path in (PROJECT / "tools/host/programs").glob("*.c")
                    if "return test_main(" in path.read_text()}
        tried = {run[0] for file in FILES
                 for run in HostTests().arguments(Mutant(file, "f", "store", "", 1, 0, 0, ""))}
        self.assertEqual(programs - tried, {"threads"})

    def test_litmus_tests_alone_look_at_orders(self):
        self.assertEqual(self.layers_of("clh_nb.c", "order"), {"litmus"})
        self.assertEqual(self.layers_of("clh_nb.c", "store"), 
                         {"host", "kunit-host", "kunit", "explorer"})

    def test_what_has_noticed_a_mutant_of_that_name_looks_first(self):
        mutant = Mutant("node.c", "f", "store", "", 1, 0, 0, "")
        host, on_host, suites = (next(layer for layer in LAYERS if layer.name == name)
                                 for name in ("host", "kunit-host", "kunit"))
        self.assertEqual(host.runs(mutant, "steps_mcs_gcc_plain.case")[0],
                         ("steps", "mcs", "gcc", "plain"))
        self.assertCountEqual(host.runs(mutant, "steps_mcs_gcc_plain"), host.arguments(mutant))
        lockdep = Mutant("spin.c", "f", "store", "", 1, 0, 0, "")
        self.assertEqual(on_host.runs(lockdep, "kunit_all_lockdep_gcc_plain.nbq_spin.case")[0],
                         ("kunit", "all_lockdep", "gcc", "plain"))
        self.assertEqual(suites.runs(mutant, "nbq_pool.case.row"),
                         [("nbq_pool",), *suites.arguments(mutant)])
        self.assertEqual(suites.runs(mutant, ""), suites.arguments(mutant))

    def test_what_suites_have_noticed_in_a_kernel_is_tried_on_the_host_first(self):
        asked = sorted(LAYERS, key=lambda layer: not layer.has_noticed({"kunit": "nbq_pool.case"}))
        self.assertEqual([layer.name for layer in asked[:2]], ["kunit-host", "kunit"])
