# SPDX-License-Identifier: GPL-2.0
"""The testbed "simulated": runs made by tools/simulate, as many at a time as there are cores.

A run is one process of the simulation, and its round is its seed: the same round of the
same text is the same run, wherever and whenever it is made.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time

from bench.testbeds import TESTBEDS, SIMULATED
from simulate import program
from testbed.common import cores, digest, kill_group
from testbed.driver import BROKEN, LockType
from testbed.stress import SPARE_SECONDS

LOOK_SECONDS = 0.25		# between two lines of progress, if nothing ends
MOST_PROBLEMS = 3		# that are told of a group of runs
# Of a machine with more of them than CPUs, one for each CPU is what matters.
AT_MOST_CPUS = {"sockets", "cores"}
REFUSED = 2			# exit status: what was asked for cannot be done


def result_of(output):
    """A run's figures with the verdict at their end, without the table of places."""
    lines = [line for line in output.splitlines() if not line.startswith("place ")]
    verdicts = [line for line in lines if line.startswith("verdict ")]
    rest = [line for line in lines if not line.startswith("verdict ")]
    return "".join(f"{line}\n" for line in [*rest, *verdicts])


@contextlib.contextmanager
def interruptions_later():
    """A signal that ends this process does so after the block: a new process is not lost."""
    came = []
    before = {number: signal.signal(number, lambda number, _: came.append(number))
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


class Child:
    """A process that makes a run."""

    def __init__(self, run, command):
        self.run = run
        self.output = b""
        self.begun = time.monotonic()
        # Ctrl-C at a terminal goes to the parent of the processes, which ends them.
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)

    def read(self):
        """Take what it has said. Whether that is all."""
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.output += data
        return not data

    def end(self):
        """It has said all. Returns what is wrong, in a sentence, or nothing."""
        self.process.stdout.close()
        status = self.process.wait()
        text = self.output.decode(errors="replace")
        if status in (0, 1):
            self.run.text = result_of(text)
            self.run.complete = True
            return None
        said = text.strip().splitlines()[-1:] or ["it said nothing"]
        what = "refused this" if status == REFUSED else f"ended with status {status}"
        self.run.lost = f"the simulation {what}: {said[0]}"
        return f"{self.run.label}: {self.run.lost}"

    def kill(self):
        kill_group(self.process)
        self.process.stdout.close()


class Children:
    """The processes that make runs: so many at a time, ended with the block."""

    def __init__(self, most):
        self.most = most
        self.selector = selectors.DefaultSelector()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in list(self.there()):
            self.forget(child)
            child.kill()
        self.selector.close()

    def there(self):
        return [key.data for key in self.selector.get_map().values()]

    @property
    def full(self):
        return len(self.selector.get_map()) >= self.most

    def start(self, run, command):
        with interruptions_later():
            child = Child(run, command)
            self.selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def forget(self, child):
        self.selector.unregister(child.process.stdout)

    def ended(self, seconds):
        """Those that have said all by now, or within so many seconds."""
        done = [key.data for key, _ in self.selector.select(seconds) if key.data.read()]
        for child in done:
            self.forget(child)
        return done


class SimulatedPlace:
    """The simulation, ready: it is built for the text that is there, its locks are known."""

    name = SIMULATED
    testbed = TESTBEDS[SIMULATED]
    most_cpus = testbed.most_cpus
    meaning = testbed.meaning

    def __init__(self):
        self.program = program.build()
        types = [LockType(": ".join(words)) for words in program.lock_types(self.program)]
        self.types = [lock for lock in types if lock.name != BROKEN]
        self.at_a_time = cores()

    @property
    def version(self):
        """What the results depend on besides the text of the locks: the cost tables."""
        return ", ".join(f"cost table {name} ({digest(path.read_text())})"
                         for name, path in program.COSTS.items())

    def cpu_list(self, cpus):
        return cpus

    def command(self, run):
        settings = dict(run.settings)
        costs = settings.pop("costs", None)
        for parameter in AT_MOST_CPUS & settings.keys():
            settings[parameter] = min(settings[parameter], settings["cpus"])
        return [self.program, *program.words_of(settings, program.COSTS[costs] if costs else
                                                program.DEFAULT_COSTS)]

    def make(self, runs, _cpus, progress):
        """Make runs. Returns what went wrong, in sentences; each has lost one run."""
        problems = []
        left = list(runs)
        with Children(self.at_a_time) as children:
            while left or children.there():
                while left and not children.full:
                    run = left.pop(0)
                    run.settings["seed"] = run.settings.get("seed", 1) + run.round
                    children.start(run, self.command(run))
                done = children.ended(LOOK_SECONDS)
                problems += [child.end() for child in done] + self.overdue(children, done)
                for child in done:
                    self.show(child.run, progress)
                progress.show()
        problems = [problem for problem in problems if problem]
        more = len(problems) - MOST_PROBLEMS
        return problems[:MOST_PROBLEMS] + ([f"and {more} more like these"] if more > 0 else [])

    def overdue(self, children, done):
        """End those that hang, and add them to the ones that are done."""
        problems = []
        for child in children.there():
            limit = self.testbed.slowness * self.at_a_time * child.run.seconds + SPARE_SECONDS
            if time.monotonic() - child.begun > limit:
                children.forget(child)
                child.kill()
                child.run.lost = f"the simulation was not done after {limit:.0f} s"
                problems.append(f"{child.run.label}: {child.run.lost}")
                done.append(child)
        return problems

    def show(self, run, progress):
        """Runs overlap, so that one counts when it ends, at once and as a whole."""
        progress.begin(run.label, run.seconds)
        progress.end(run.number("acquisitions_per_second"))
