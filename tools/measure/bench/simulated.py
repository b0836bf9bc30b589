# SPDX-License-Identifier: GPL-2.0
"""The testbed "simulated": runs made by tools/host/simulate, as many at a time as there are cores.

A run is one process of the simulation, and its round is its seed: the same round of the
same text is the same run, wherever and whenever it is made.
"""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
import subprocess
import threading

from base.building import digest
from base.common import cores, ends_with_us
from base.driver import BROKEN, LockType
from base.testbeds import SIMULATED, TESTBEDS
from host.simulate import program
from measure.stress import SPARE_SECONDS

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


class Processes:
    """So many processes at a time, each awaited by a thread; ended with the block.

    A signal interrupts the main thread only, so that no process is lost while it is started.
    """

    def __init__(self, most):
        self.pool = ThreadPoolExecutor(most)
        self.there = set()
        self.lock = threading.Lock()
        self.over = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.lock:
            self.over = True
            for process in self.there:
                process.kill()
        self.pool.shutdown(cancel_futures=True)

    def start(self, command, limit):
        """A future of (exit status, output); the status is None after so many seconds."""
        return self.pool.submit(self.await_one, command, limit)

    def await_one(self, command, limit):
        with self.lock:
            if self.over:
                return None, ""
            # Ctrl-C at a terminal goes to the parent of the processes, which ends them.
            process = subprocess.Popen(ends_with_us(command), stdin=subprocess.DEVNULL, text=True,
                                       errors="replace", stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            self.there.add(process)
        with process:
            try:
                output, _ = process.communicate(timeout=limit)
                status = process.returncode
            except subprocess.TimeoutExpired:
                process.kill()
                status, output = None, ""
        with self.lock:
            self.there.remove(process)
        return status, output


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

    def limit_of(self, run):
        """Seconds after which it hangs."""
        return self.testbed.slowness * self.at_a_time * run.seconds + SPARE_SECONDS

    def make(self, runs, _cpus, progress):
        """Make runs. Returns what went wrong, in sentences; each has lost one run."""
        problems = []
        with Processes(self.at_a_time) as processes:
            left = {}
            for run in runs:
                run.settings["seed"] = run.settings.get("seed", 1) + run.round
                left[processes.start(self.command(run), self.limit_of(run))] = run
            while left:
                for future in wait(left, LOOK_SECONDS, FIRST_COMPLETED).done:
                    run = left.pop(future)
                    self.settle(run, *future.result())
                    problems += [f"{run.label}: {run.lost}"] if run.lost else []
                    # Runs overlap, so that one counts when it ends, at once and as a whole.
                    progress.begin(run.label, run.seconds)
                    progress.end(run.number("acquisitions_per_second"))
                progress.show()
        more = len(problems) - MOST_PROBLEMS
        return problems[:MOST_PROBLEMS] + ([f"and {more} more like these"] if more > 0 else [])

    def settle(self, run, status, output):
        """What has become of a run."""
        if status in (0, 1):
            run.text = result_of(output)
            run.complete = True
        elif status is None:
            run.lost = f"the simulation was not done after {self.limit_of(run):.0f} s"
        else:
            said = output.strip().splitlines()[-1:] or ["it said nothing"]
            what = "refused this" if status == REFUSED else f"ended with status {status}"
            run.lost = f"the simulation {what}: {said[0]}"
