# SPDX-License-Identifier: GPL-2.0
"""The layers of tests that look for a mistake, from cheap to dear.

A layer is a command that takes the folder with nbqlock/ from SRC and one for what it
builds from O, and prints lines "ok CLAIM" and "not ok CLAIM: WHAT".
"""

from pathlib import Path
import tempfile

from testbed.common import PROJECT, Trouble
from testbed.kernels import DEBUG, built_kernel
from verification.mutate.edits import copy_with


class Layer:
    environment = {}

    def __init__(self, name, program):
        self.name = name
        self.program = PROJECT / program

    def prepare(self):
        """See that it is there, and make what takes longer than a test may."""
        if not self.program.exists():
            raise Trouble(f"there is no {self.program}")

    def besides(self, _mutant):
        """Edits that are made in every copy for this layer."""
        return ()

    def arguments(self, _mutant):
        """What the program is run with, one time after the other."""
        return [()]

    def edits(self, mutant):
        """What to change for a mutant: it replaces an edit of the same text."""
        return [*(edit for edit in self.besides(mutant) if edit[0:2] != mutant.edit[0:2]),
                mutant.edit]

    def killer(self, mutant, processes):
        """The first line that says no to a mutant; None if all pass."""
        return self.first_no(self.edits(mutant), self.arguments(mutant), processes)

    def first_no(self, edits, runs, processes):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            copy_with(folder, edits)
            ran = False
            for arguments in runs:
                claims, no = self.run(folder, arguments, processes)
                if no:
                    return no
                ran = ran or claims > 0
        if not ran:
            raise Trouble(f"the layer \"{self.name}\" cannot be run here")
        return None

    def run(self, folder, arguments, processes):
        """(number of claims that hold, the first that does not, or None)."""
        status, output = processes.output_of([self.program, *arguments],
                                             {"SRC": str(folder), "O": str(folder / "build"),
                                              **self.environment})
        lines = output.splitlines()
        no = [line.removeprefix("not ok ") for line in lines if line.startswith("not ok ")]
        if status is None:
            raise Trouble(f"{self.name}: {' '.join(arguments)} came to no end")
        # A text that cannot be built says nothing of the tests.
        if no and no[0].endswith(": does not compile") or status == 2 and not no:
            raise Trouble(f"{self.name}: {' '.join(arguments)} cannot be run:\n{output}")
        if status and not no:
            no = [f"{' '.join([self.program.name, *arguments])}: exit status {status}"]
        for name in (folder, self.program.parent):
            no = [line.replace(f"{name}/", "") for line in no]
        return sum(line.startswith("ok ") for line in lines), no[0] if no else None


class HostTests(Layer):
    """Programs of tools/verification/host, up to the first thing that is not as expected."""

    environment = {"NBQ_STOP_AT_FAILURE": "1"}

    def __init__(self):
        super().__init__("host", "tools/verification/host/run")

    def besides(self, mutant):
        return mutant.layers[self.name].besides

    def arguments(self, mutant):
        return [tuple(test.replace("TYPE", name).split()) for name in mutant.types
                for test in mutant.layers[self.name].tests]


class Explorer(Layer):
    """All schedules of small configurations: it sees no ordering of memory."""

    def __init__(self):
        super().__init__("explorer", "tools/verification/explore/explore")

    def arguments(self, mutant):
        return [("--quick", "--first", "--type", name) for name in mutant.types]


class Litmus(Layer):
    """The litmus tests with the primitives that the code has."""

    def __init__(self):
        super().__init__("litmus", "tools/verification/litmus/run")

    def arguments(self, _mutant):
        return [("--shipped",)]


class Suites(Layer):
    """The KUnit suites of a name, in the kernel with all detectors."""

    def __init__(self):
        super().__init__("kunit", "tools/verification/mutate/suites")

    def prepare(self):
        super().prepare()
        built_kernel(DEBUG)

    def arguments(self, mutant):
        return [(suite,) for suite in mutant.layers[self.name]]


LAYERS = (HostTests(), Explorer(), Litmus(), Suites())
