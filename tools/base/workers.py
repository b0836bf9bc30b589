# SPDX-License-Identifier: GPL-2.0
"""Runs steps in worker processes. What they yield is printed in the order of the steps."""

from collections import deque
import contextlib
import ctypes
import multiprocessing
from multiprocessing.connection import wait
import os
import resource
import signal
import sys
import threading
import time
import traceback

from base.case import Case, On
from base.common import Failure, Unavailable, say

FORK = multiprocessing.get_context("fork")
SECONDS_TO_END = 60		# for a worker that is told to stop
PR_SET_PDEATHSIG = 1

# What a worker sends, each with its content: a text; (case, seconds, (kernel, how) or None);
# (step, seconds, CPU seconds, {kernel: version}).
MESSAGE, CASE, END = "message", "case", "end"


# In a worker

class Messages:
    """A worker's stderr: the parent prints it with the step's cases."""

    def __init__(self, send):
        self.send = send

    def write(self, text):
        self.send((MESSAGE, text))

    def flush(self):
        pass

    def isatty(self):
        return False


def sender(connection):
    """connection.send(), for several threads."""
    lock = threading.Lock()

    def send(event):
        with lock:
            connection.send(event)
    return send


def cases_of(name, step):
    """(case, On) of a step. Its failure is a case, never the end of the run."""
    on = getattr(step, "on", None)
    try:
        for case in step():
            if isinstance(case, On):
                on = case
            else:
                yield case, on
    except Unavailable as reason:
        yield Case(name, False, str(reason), skipped=True), on
    except Failure as failure:
        yield Case(name, False, str(failure)), on
    except Exception:
        yield Case(name, False, traceback.format_exc()), on


def cpu_seconds():
    """Of this process, and of those that were started and awaited."""
    return sum(sum(resource.getrusage(who)[:2])
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run_step(name, step, send):
    say(f"{name}: {step.__doc__}")
    testbeds = {}
    begun, used = time.monotonic(), cpu_seconds()
    last = begun
    for case, on in cases_of(name, step):
        now = time.monotonic()
        if on:
            testbeds[on.testbed.name] = on.testbed
        send((CASE, (case, now - last, on and (on.testbed.name, on.how))))
        last = now
    versions = {on: testbed.version for on, testbed in testbeds.items()}
    send((END, (name, time.monotonic() - begun, cpu_seconds() - used, versions)))


def work(connection, steps):
    """Run the steps that the parent sends the names of, until it sends none."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    send = sender(connection)
    sys.stderr = Messages(send)
    with contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError):
        while name := connection.recv():
            run_step(name, steps[name], send)


# In the parent

class Worker:
    """A process that runs one step after the other.

    It leads a process group: Ctrl-C reaches the parent only, which stops the group.
    """

    def __init__(self, steps):
        self.connection, theirs = FORK.Pipe()
        self.process = FORK.Process(target=work, args=(theirs, steps))
        self.process.start()
        theirs.close()
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.setpgid(self.process.pid, self.process.pid)
        self.step = None

    def begin(self, name):
        self.step = name
        self.connection.send(name)

    def events(self):
        """What it has sent; of one that died, a case that says so."""
        try:
            return [self.connection.recv()]
        except (EOFError, OSError):
            self.process.join()
            case = Case(self.step, False,
                        f"its process ended with status {self.process.exitcode}")
            return [(CASE, (case, 0, None)), (END, (self.step, 0, 0, {}))]

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def end(self):
        """Wait until it has ended, and end the rest of its group."""
        self.process.join(SECONDS_TO_END)
        self.signal(signal.SIGKILL)
        self.process.join()


class Order:
    """Prints events in the order of the steps.

    Those of the first step that has not ended are printed as they come, later ones kept.
    """

    def __init__(self, names, show):
        self.names = deque(names)
        self.kept = {name: deque() for name in names}
        self.show = show

    def add(self, name, event):
        self.kept[name].append(event)
        while self.names and self.kept[self.names[0]]:
            what, rest = self.kept[self.names[0]].popleft()
            self.show(what, rest)
            if what == END:
                self.names.popleft()


def next_step(waiting, running, loads, jobs):
    """The step to start: one half of the jobs is for loads, as long as there are both.

    A load sits out its time in a guest, whatever the CPUs do besides.
    """
    if jobs > 1:
        load = sum(name in loads for name in running) < jobs // 2
        for name in waiting:
            if (name in loads) == load:
                return name
    return waiting[0]


class Workers:
    """Runs steps, {name: function}, so many at a time."""

    def __init__(self, steps, loads, jobs):
        self.steps = steps
        self.loads = loads
        self.jobs = jobs
        self.idle = []
        self.running = []

    def run(self, names, show):
        """show(what, rest): takes each CASE, MESSAGE, END, in the order of the names."""
        waiting, order = list(names), Order(names, show)
        try:
            while waiting or self.running:
                self.start(waiting)
                ready = wait([worker.connection for worker in self.running])
                for worker in [each for each in self.running if each.connection in ready]:
                    self.listen(worker, order)
        except BaseException:
            self.stop(signal.SIGTERM)
            raise
        self.stop()

    def start(self, waiting):
        while waiting and len(self.running) < self.jobs:
            worker = self.idle.pop() if self.idle else Worker(self.steps)
            name = next_step(waiting, [each.step for each in self.running], self.loads,
                             self.jobs)
            waiting.remove(name)
            self.running.append(worker)
            worker.begin(name)

    def listen(self, worker, order):
        for event in worker.events():
            if event[0] == END:
                self.running.remove(worker)
                if worker.process.is_alive():
                    self.idle.append(worker)
            order.add(worker.step, event)

    def stop(self, number=None):
        """End all workers; with a signal, also what they are doing."""
        workers = self.idle + self.running
        if number:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        for worker in workers:
            worker.signal(number) if number else worker.connection.send(None)
        for worker in workers:
            worker.end()
