# SPDX-License-Identifier: GPL-2.0
"""Building the explorer for a lock type, running it, reading its output."""

from functools import partial
import os
from pathlib import Path
import shutil
import subprocess

from base.common import Failure, Unavailable, columns
from host.built import built, digest_of
from host.explore.configurations import TYPES
from host.simulate.program import where_are

HERE = Path(__file__).resolve().parent
HOST = HERE.parent / "programs"
SHIM = HERE.parent / "shim"
# Without PIE the addresses are those that addr2line knows. The pools are filled before
# anything else; static nodes would only make states larger.
FLAGS = ("-std=gnu11", "-g", "-no-pie", "-Wall", "-Wextra", "-Wno-unused-parameter",
         "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-DNBQ_STATIC_NODES=0",
         # All locks share the queue of a socket, and the place that a pool remembers.
         "-DNBQ_QUEUE_BITS=0", "-DNBQ_PLACE_BITS=0", "-DNBQ_VISIT_BITS=1",
         # Of nbq_arena_lock: also a CPU that sweeps has nodes of its own.
         "-DNBQ_ARENA_CPUS=16U")
FLAGS_OF_TOOLS = ("-O2",)
# What a function has read is part of a state for as long as the function is on the stack:
# inlined, for as long as its caller is, although nothing uses it any more.
FLAGS_OF_SHIPPED = ("-O1", "-fno-inline", "-DSHIM_NO_INLINE", "-nostdlib", "-r")
SHORTEST_AMONG = 2_000_000
# Ten times as many as any quick configuration of the shipped text has.
MOST_OF_QUICK = 2_000_000


def type_flags(lock):
    """A type with _bare behind it is the bare layer of the hybrid."""
    name = lock.removesuffix("_bare")
    return [f"-DLOCK_TYPE={lock}", f"-DTYPE_{name.upper()}",
            *(["-DBARE_LAYER"] if name != lock else [])]


def build(source, folder):
    """The explorer of the files in SOURCE/nbqlock."""
    if os.uname().machine != "x86_64":
        raise Unavailable("the explorer's fibers are written for x86-64")
    return built(folder / "explore", partial(linked, source), FLAGS, FLAGS_OF_TOOLS,
                 FLAGS_OF_SHIPPED, TYPES, digest_of(HERE, SHIM, HOST, source / "nbqlock"))


def linked(source, folder):
    program = folder / ".explore"
    shipped = source / "nbqlock"
    compiler = ["gcc", *FLAGS, "-include", HERE / "spin_policy.h",
                "-include", HERE / "cpu_numbers.h", f"-I{SHIM}", f"-I{SHIM}/fiber",
                f"-I{HOST}", f"-I{source}"]
    compiler.append(f"-DLOCK_TYPES(WITH)={' '.join(f'WITH({lock})' for lock in TYPES)}")
    locks = folder / "locks.o"
    types = {lock: folder / f"type-{lock}.o" for lock in TYPES}
    for command in (
            *([*compiler, *FLAGS_OF_TOOLS, *type_flags(lock), "-c", "-o", made,
               HERE / "lock_type.c"] for lock, made in types.items()),
            [*compiler, *FLAGS_OF_SHIPPED, "-o", locks, *sorted(shipped.glob("*_nb.c")),
             *sorted(shipped.glob("*spin*.c")), shipped / "node.c",
             *sorted(shipped.glob("wait*.c")), *sorted(SHIM.glob("bpf/*.c"))],
            [*compiler, *FLAGS_OF_TOOLS, "-o", program,
             *sorted(file for file in HERE.glob("*.[cS]") if file.name != "lock_type.c"),
             *sorted(SHIM.glob("fiber/*.[cS]")), *sorted(SHIM.glob("*.c")), locks,
             *types.values(), "-lpthread"]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Failure(f"the explorer does not compile\n{done.stdout}")
    return program


class Result:
    """What came of a configuration."""

    def __init__(self, lock, configuration, status, output, seconds):
        self.lock = lock
        self.configuration = configuration
        self.name = f"{lock}.{configuration.name}"
        rows = [line.partition(" ") for line in output.splitlines()]
        self.text = output
        self.output = {name: value for name, _, value in rows}
        self.seconds = seconds
        self.good = status == 0 and "states" in self.output
        self.failure = self.output.get("failure", f"exit status {status}")
        self.schedule = self.output.get("schedule", "")

    def count(self, name):
        return int(self.output.get(name, 0))

    def line(self):
        if not self.good:
            return f"not ok {self.name}: {self.failure}"
        return (f"ok {self.name}: {self.count('states'):,} states, "
                f"{self.count('transitions'):,} transitions, {self.count('ends'):,} ends, "
                f"{self.count('quiet'):,} times quiet, {self.seconds:.1f} s")

    def as_json(self):
        return {"lock": self.lock, "name": self.configuration.name,
                "program": self.configuration.program,
                "types": self.configuration.types or self.lock, "pool": self.configuration.pool,
                "checks": self.configuration.checks,
                "sockets": self.configuration.sockets, "passed": self.good,
                "failure": None if self.good else self.failure,
                "schedule": self.schedule or None,
                "missed": float(self.output.get("missed", 0)),
                "seconds": round(self.seconds, 2),
                **{name: self.count(name) for name in
                   ("states", "transitions", "ends", "quiet", "longest", "steps_to_abandon",
                    "steps_to_release")}}


def arguments(program, lock, configuration, *more):
    return [program, configuration.types or lock, configuration.program, str(configuration.pool),
            str(configuration.checks), str(configuration.sockets), *more]


def places(program, addresses):
    """Where in the shipped text these are: function, file and line, as far as known."""
    if not shutil.which("addr2line"):
        return {}
    return {address: f"{function} ({where})" for address, (function, where)
            in zip(addresses, where_are(program, addresses)) if where != "?"}


def table(program, lock, configuration, schedule):
    """A schedule as lines of text."""
    done = subprocess.run(arguments(program, lock, configuration, "replay", schedule),
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise Failure(f"{configuration.name} has no schedule {schedule}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    known = places(program, sorted({row[3] for row in rows if row[3]}))
    for row in rows:
        row[3] = known.get(row[3], row[3])
        row[8] = row[8].rstrip("; ")
    rows.insert(0, ["step", "", "context", "where", "access", "place", "before", "after",
                    ""])
    return columns(rows)
