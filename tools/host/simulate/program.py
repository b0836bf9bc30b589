# SPDX-License-Identifier: GPL-2.0
"""Building the simulation, running it, and naming the places in the code that it counts."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
import os
from pathlib import Path
import re
import subprocess
import sys

from base.common import PROJECT, Failure, Unavailable, answer_of, cores
from host.built import built, digest_of

HERE = Path(__file__).resolve().parent
SHIM = HERE.parent / "shim"
SOURCE = Path(os.environ.get("SRC", PROJECT))
FOLDER = Path(os.environ.get("O", SOURCE / "build")) / "simulate"
COSTS = {path.stem: path for path in sorted((HERE / "costs").glob("*.ini"))}
DEFAULT_COSTS = COSTS["a"]

# Without PIE addresses are those that addr2line knows, and the same in every run.
FLAGS = ("-std=gnu11", "-O2", "-g", "-no-pie", "-fno-pie", "-Wall", "-Wextra",
         "-Werror=implicit-function-declaration",
         "-Wno-unused-parameter", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE",
         "-DNBQ_STATIC_NODES=0", "-DSHIM_CPUS=256", "-DSHIM_MOST_NODES=4096U",
         "-DMOST_FIBERS=256U", "-DFIBER_STACK=65536UL")
# Its calls are all that is wanted of the sanitizer: sanitizer.c has them.
CHARGED = ("-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0", "-Wno-tsan")


def charged_files(source):
    """What is simulated: the shipped locks, the driver's comparators, the models."""
    shipped, stress = source / "nbqlock", source / "nbqlock" / "stress"
    return [*sorted(shipped.glob("*_nb.c")), *sorted(shipped.glob("*spin*.c")),
            shipped / "node.c", *sorted(shipped.glob("wait*.c")), stress / "ops_nbq.c",
            *sorted((stress / "papers").glob("*.c")), *sorted((HERE / "models").glob("*.c")),
            SHIM / "bpf/arena_lock.c"]


def own_files(source):
    """What simulates."""
    stress = source / "nbqlock" / "stress"
    return [*sorted(HERE.glob("*.c")), *sorted(SHIM.glob("fiber/*.[cS]")),
            SHIM / "host.c", stress / "histogram.c", stress / "statistics.c"]


def compile_one(source, objects, path, more):
    built = objects / f"{path.stem}.o"
    text, status = answer_of(
        ["gcc", *FLAGS, *more, f"-I{HERE}", f"-I{HERE}/shim", f"-I{SHIM}", f"-I{SHIM}/fiber",
         f"-I{source}", "-c", "-o", built, path])
    if status:
        raise Failure(f"the simulation does not compile: {path}\n{text}")
    return built


def build(source=SOURCE, folder=FOLDER):
    """The program for the files in SOURCE/nbqlock; built anew if any of them has changed."""
    if os.uname().machine != "x86_64":
        raise Unavailable("the simulation's fibers are written for x86-64")
    return built(folder / "simulate", partial(linked, source), FLAGS, CHARGED,
                 digest_of(HERE, SHIM, source / "nbqlock"))


def linked(source, folder):
    objects = folder / "objects"
    objects.mkdir(exist_ok=True)
    jobs = [(path, CHARGED) for path in charged_files(source)]
    jobs += [(path, ()) for path in own_files(source)]
    with ThreadPoolExecutor(cores()) as pool:
        made = list(pool.map(lambda job: compile_one(source, objects, *job), jobs))
    unfinished = folder / ".simulate"
    text, status = answer_of(["gcc", "-no-pie", "-o", unfinished, *made, "-lpthread", "-lm"])
    if status:
        raise Failure(f"the simulation does not link\n{text}")
    return unfinished


def words_of(settings, costs=DEFAULT_COSTS):
    """The command line of a run, without the program."""
    return [f"costs={costs}", *(f"{key}={value}" for key, value in settings.items())]


def run(program, settings, costs=DEFAULT_COSTS, places=False, cpu_seconds="unlimited",
        environment=None):
    """The result of a run as text. What cannot be run, or not within CPU_SECONDS of the processor's
    time, is a Failure, a FAIL is none.
    """
    done = subprocess.run(["prlimit", f"--cpu={cpu_seconds}", program,
                           *words_of(settings, costs), f"places={int(places)}"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode not in (0, 1):
        raise Failure(done.stderr.strip() or f"the simulation ended with {done.returncode}")
    return done.stdout


def all_of(call, jobs):
    """[call(*job)], as many at a time as there are cores; a terminal shows how far it is."""
    found = []
    with ThreadPoolExecutor(cores()) as pool:
        try:
            for result in pool.map(lambda job: call(*job), jobs):
                found.append(result)
                if sys.stderr.isatty():
                    print(f"\r{len(found)} of {len(jobs)} runs", end="\r", file=sys.stderr,
                          flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def values_of(text):
    """{name: value} of a result, numbers as numbers."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name != "place":
            found[name] = int(value) if re.fullmatch(r"-?\d+", value) else value
    return found


def lock_types(program):
    """[(name, meaning)] as the program has them."""
    done = subprocess.run([program, "locks"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, check=True)
    return [tuple(line.split(": ", 1)) for line in done.stdout.splitlines()]


@dataclass
class Place:
    """A line of the code, and the cache lines that it asked for."""

    function: str
    where: str
    kind: str
    same_socket: int = 0
    other_socket: int = 0
    memory: int = 0

    @property
    def misses(self):
        return self.same_socket + self.other_socket + self.memory


def places_of(program, text):
    """The places of a result, the dearest first; those of one line of code together."""
    rows = [line.split() for line in text.splitlines() if line.startswith("place ")]
    found = {}
    for row, named in zip(rows, where_are(program, [row[1] for row in rows])):
        place = found.setdefault((*named, row[2]), Place(*named, row[2]))
        place.same_socket += int(row[3])
        place.other_socket += int(row[4])
        place.memory += int(row[5])
    return sorted(found.values(), key=lambda place: (-place.misses, place.where))


def where_are(program, addresses):
    """[(function, file:line)], the innermost that is not a stand-in."""
    if not addresses:
        return []
    # A return address is behind its call.
    wanted = [hex(int(address, 16) - 1) for address in addresses]
    try:
        done = subprocess.run(["addr2line", "-f", "-i", "-a", "-e", program, *wanted],
                              stdout=subprocess.PIPE, text=True, check=True)
    except FileNotFoundError:
        raise Failure("addr2line is missing; it is in the package binutils") from None
    blocks = re.split(r"^0x[0-9a-f]+\n", done.stdout, flags=re.MULTILINE)[1:]
    return [innermost(block.splitlines()) for block in blocks]


def innermost(lines):
    for function, place in zip(lines[::2], lines[1::2]):
        path, _, number = place.partition(":")
        if "/shim/" not in path:
            return function, f"{Path(path).name}:{number.split()[0]}"
    return "?", "?"
