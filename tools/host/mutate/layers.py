# SPDX-License-Identifier: GPL-2.0
"""The layers of tests that look for a mistake, from cheap to dear.

A layer is a command that takes the folder with nbqlock/ from SRC and one for what it
builds from O, and prints lines "ok CLAIM" and "not ok CLAIM: WHAT".
"""

import math
import shutil

from base.common import PROJECT, Failure
from base.lock_types import NBQ, QUEUES
from guest.kernels import MUTANTS, built_kernel
from host.litmus.herd import kernel_model
from host.litmus.litmus_test import litmus_tests
from host.litmus.variants import Code, Variant, run_variant, shipped
from host.mutate.edits import SOURCE

ARENA = "bpf/nbq_arena_lock.h"
# What is run of a type.
PROGRAMS = ("smoke", "steps", "nesting", "schedules")
PROGRAMS_OF_ARENA = ("arena", "schedules")
HYBRID = ("bare_spin.c", "bare_spin.h", "socket.h", "spin_policy.h", "spin_queue.c",
          "spin_turns.c", "spin_turns.h", "spin_word.h")
# The lock types that run a file's text; none: the text is not in the host's programs.
TYPES = {**{f"{word}_nb.c": (word,) for word in QUEUES},
         "spin.c": ("spin",), "spin.h": ("spin",), **{name: ("spin",) for name in HYBRID},
         "wait_holder.c": ("spin",), "wait_pred.c": QUEUES, "queue_lock.h": QUEUES,
         "clh.h": ("clh",), "pool.c": (), "growth.c": (), "guard.h": (), ARENA: ("arena",)}
DEADLOCKS = ("clh", "spin")
WAITS = ("wait.c", "wait.h", "wait_deadlock.c", "wait_deadlock.h", "wait_holder.c", "wait_pred.c")
# More programs: of processors that wait for a word to change, of kernels with lockdep.
ARM64 = ("relax.h", *WAITS, "deadline.h", "bare_spin.c")
LOCKDEP = ("attempt.h", "queue_lock.h", "spin.c", "spin.h")
# What depends on the contexts of a CPU, for suites that wait for ticks.
CONTEXTS = (*LOCKDEP, *WAITS, "node.c", "pool.c", "internal.h", "clh.h", "guard.h")
# The suites that know a file best, by the letters with which their names begin after "nbq_". The
# others take twice as long.
BEST_SUITES = {**dict.fromkeys(HYBRID, "s"), **dict.fromkeys(("pool.c", "growth.c"), "pgs"),
               **dict.fromkeys((*WAITS, "deadline.h"), "d")}
CACHE = "ccache" if shutil.which("ccache") else ""


class DoesNotCompile(Exception):
    """The mistake is none that can be made."""


class Layer:
    """A program, and what it is run with for a mutant, one after the other."""

    environment = {}
    # Do its programs count their steps, and end by themselves?
    ends = False
    # Else a mutant that takes so many times as long as the text as it is, in the same run, has no
    # end.
    much = 5

    def __init__(self, name, program):
        self.name = name
        self.program = PROJECT / program
        # Seconds of a core: the longest run of the text as it is, and what a mutant's may take.
        self.longest = 0
        self.limit = None

    def prepare(self):
        """See that it is there, and make what takes longer than a test may."""
        if not self.program.exists():
            raise Failure(f"there is no {self.program}")

    def text_as_it_is_has_passed(self):
        if not self.ends:
            # A run can be too short to be timed.
            self.limit = max(1, math.ceil(self.much * self.longest))

    def looks_at(self, mutant):
        return bool(self.arguments(mutant))

    def arguments(self, mutant):
        raise NotImplementedError

    def has_noticed(self, claims):
        """Has it refuted a claim for a mutant of that name, or is likely to? claims: by layer."""
        return bool(claims.get(self.name))

    def runs(self, mutant, claim):
        """Its arguments; first what made this claim, which a mutant of that name has refuted."""
        return sorted(self.arguments(mutant), key=lambda run: "_".join(run) != claim.split(".")[0])

    def excuse(self, _folder):
        """Why it has let that pass, if it knows."""
        return None

    def killer(self, runs, folder, processes):
        """The first line that says no to what is in a folder; None if all pass."""
        claims = 0
        for arguments in runs:
            held, no = self.run(folder, arguments, processes)
            if no:
                return no
            claims += held
        if not claims:
            raise Failure(f"the layer \"{self.name}\" cannot be run here")
        return None

    def run(self, folder, arguments, processes):
        """(number of claims that hold, the first that does not, or None)."""
        what = " ".join([self.program.name, *arguments])
        status, output, took = processes.output_of(
            [self.program, *arguments],
            {"SRC": str(folder), "O": str(folder / "build"), **self.environment}, self.limit)
        lines = output.splitlines()
        no = [line.removeprefix("not ok ") for line in lines if line.startswith("not ok ")]
        # A text that cannot be built says nothing of the tests.
        if no and no[0].endswith("does not compile") or status == 2 and not no:
            raise DoesNotCompile
        if status and not no:
            no = [f"{what}: exit status {status}"]
        if self.limit is None:
            self.longest = max(self.longest, took)
        for name in (folder, self.program.parent):
            no = [line.replace(f"{name}/", "") for line in no]
        return sum(line.startswith("ok ") for line in lines), no[0] if no else None


class HostTests(Layer):
    """Programs of tools/host/programs, up to the first thing that is not as expected."""

    environment = {"NBQ_STOP_AT_FAILURE": "1", "CACHE": CACHE}
    ends = True

    def __init__(self):
        super().__init__("host", "tools/host/programs/run")

    def arguments(self, mutant):
        types = TYPES.get(mutant.file, NBQ)
        if mutant.rule == "order":
            return []
        tests = [f"{program} {lock} gcc plain" for lock in types
                 for program in (PROGRAMS_OF_ARENA if mutant.file == ARENA else PROGRAMS)]
        tests += [f"deadlock {lock} gcc plain" for lock in types if lock in DEADLOCKS]
        tests += ["overtaking spin gcc plain"] if "spin" in types else []
        if types and mutant.file != ARENA:
            tests.append("mixtures all gcc plain")
        if mutant.file in ARM64:
            tests += [f"relax {lock}_arm64 gcc plain" for lock in types]
        if mutant.file in LOCKDEP:
            tests += [f"smoke {lock}_lockdep gcc plain" for lock in types]
        return [tuple(test.split()) for test in tests]


class Explorer(Layer):
    """All schedules of small configurations: it sees no ordering of memory."""

    def __init__(self):
        super().__init__("explorer", "tools/host/explore/explore")

    def arguments(self, mutant):
        if mutant.rule == "order" or mutant.file in ("relax.h", "contention.h", "clh.h"):
            return []
        types = TYPES.get(mutant.file, DEADLOCKS)
        return [("--quick", "--first", "--type", name) for name in types]


class Litmus(Layer):
    """The litmus tests with the primitives that the code has: those that a mistake changes.

    No other layer looks at an order: the tests have every ordered access, by name.
    """

    def __init__(self):
        super().__init__("litmus", "tools/host/litmus/run")
        self.herd = None
        self.tests = ()
        self.as_shipped = set()

    def prepare(self):
        super().prepare()
        self.herd = kernel_model()
        self.tests = litmus_tests().values()
        self.as_shipped = set(self.variants(SOURCE))

    def variants(self, folder):
        code = Code(folder)
        return [(variant.test, variant.text, variant.problem, variant.expected)
                for test in self.tests for variant in shipped(test, code)]

    def changed(self, folder):
        return [Variant(test, "as mutated", text, expected, problem)
                for test, text, problem, expected in self.variants(folder)
                if (test, text, problem, expected) not in self.as_shipped]

    def arguments(self, mutant):
        return [()] if mutant.rule == "order" else []

    def excuse(self, folder):
        return "spare in the kernel's model: Documentation/ordering.rst" \
            if self.changed(folder) else None

    def killer(self, _runs, folder, _processes):
        for variant in self.changed(folder):
            result = run_variant(self.herd, variant)
            if not result.passed:
                return f"{variant.test}: {variant.problem or result.outcome}"
        return None


class HostSuites(Layer):
    """The KUnit suites that need no kernel, as a host program."""

    environment = {"NBQ_STOP_AT_FAILURE": "1", "CACHE": CACHE}
    ends = True

    def __init__(self):
        super().__init__("kunit-host", "tools/host/programs/run")

    def has_noticed(self, claims):
        """What the suites have noticed in a kernel they may notice here, in less time."""
        return super().has_noticed(claims) or bool(claims.get("kunit"))

    def arguments(self, mutant):
        if mutant.rule == "order" or mutant.file == ARENA:
            return []
        kinds = ["all"] + ["all_lockdep"] * (mutant.file in LOCKDEP)
        return [("kunit", kind, "gcc", "plain") for kind in kinds]


class Suites(Layer):
    """The KUnit suites, in a kernel with lockdep."""

    def __init__(self):
        super().__init__("kunit", "tools/host/mutate/suites")

    def prepare(self):
        super().prepare()
        built_kernel(MUTANTS)

    def arguments(self, mutant):
        if mutant.rule == "order" or mutant.file == ARENA:
            return []
        best = BEST_SUITES.get(mutant.file, "")
        suites = [f"nbq_[{best}]*"] if best else []
        suites.append(f"nbq_[!c{best}]*")
        if mutant.file in CONTEXTS:
            suites.append("nbq_c*")
        return [(name,) for name in suites]

    def runs(self, mutant, claim):
        suspects = [(claim.split(".")[0],)] if claim.startswith("nbq_") else []
        return suspects + self.arguments(mutant)


# The suites need half of the explorer's time, and seconds on the host.
LAYERS = (Litmus(), HostTests(), HostSuites(), Suites(), Explorer())
