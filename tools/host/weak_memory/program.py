# SPDX-License-Identifier: GPL-2.0
"""Building what GenMC runs from the shipped files and the client, and running it."""

from dataclasses import dataclass
import os
from pathlib import Path
import re
import shutil
import signal
import subprocess

from base.common import PROJECT, Failure, Unavailable, output_of
from host.mutate.edits import write_copy

HERE = Path(__file__).resolve().parent
SHIM = HERE.parent / "shim"
VERSION = "0.9"
HOW_TO_GET = (
    f"no GenMC {VERSION} here: with clang-14, llvm-14-dev, libclang-14-dev, libffi-dev, "
    "zlib1g-dev, libedit-dev, autoconf and automake installed, build tag "
    f"v{VERSION} of https://github.com/MPI-SWS/genmc by \"autoreconf --install && ./configure "
    "--with-llvm=/usr/lib/llvm-14 && make\", and name it by GENMC=FOLDER/src/genmc")
# What runs in the kernel only.
NOT_HERE = {"main", "growth", "pool", "panic", "report", "debugfs", "trace"}
# Not optimized, but what could be inlined can be. All locks share a queue, and the place that a
# pool remembers.
FLAGS = ("-c", "-emit-llvm", "-O1", "-Xclang", "-disable-llvm-passes",
         "-Xclang", "-disable-lifetime-markers", "-fno-discard-value-names", "-g", "-w",
         "-std=gnu11", "-fno-strict-aliasing", "-DNBQ_STATIC_NODES=0",
         "-DNBQ_QUEUE_BITS=0", "-DNBQ_PLACE_BITS=0", "-DNBQ_VISIT_BITS=0", "-include", HERE / "kernel.h", f"-I{SHIM}")
# Locals in registers as far as they can be: GenMC takes memory for shared.
PASSES = ("-internalize-public-api-list=main", "-inline-threshold=1000000",
          "-passes=internalize,function(sroa),cgscc(inline),globaldce,function(sroa,simplifycfg)")
# Its own changes of the text: one is wrong for what is inlined so far, others are not needed.
OPTIONS = ("-disable-code-condenser", "-disable-spin-assume", "-disable-function-inliner",
           "-print-error-trace", "-input-from-bitcode-file")


@dataclass(frozen=True)
class GenMC:
    """The checker, and the folder of the LLVM that it was built with."""
    command: str
    llvm: Path
    version: str


def find_genmc():
    command = os.environ.get("GENMC") or shutil.which("genmc")
    said = output_of([command, "--version"]) if command else None
    found = re.search(r"GenMC v(\S+).*?LLVM (\d+)", said or "", re.DOTALL)
    if not found or found[1] != VERSION:
        raise Unavailable(HOW_TO_GET + (f" (not {command})" if command else ""))
    llvm = Path(f"/usr/lib/llvm-{found[2]}/bin")
    for program in ("clang", "llvm-link", "opt"):
        if not (llvm / program).exists():
            raise Unavailable(f"there is no {llvm / program}, which GenMC was built for: install "
                              f"clang-{found[2]} and llvm-{found[2]}")
    return GenMC(command, llvm, found[1])


def shipped_files():
    """The files of the locks, by the kernel's list of them."""
    text = (PROJECT / "nbqlock/Kbuild").read_text()
    names = [name for line in re.findall(r"^nbqlock-y [:+]= (.*)", text, re.MULTILINE)
             for name in re.findall(r"(\w+)\.o", line)]
    return [f"nbqlock/{name}.c" for name in names if name not in NOT_HERE]


def with_whole_words(text):
    """deadline.h with a deadline of two whole words: GenMC knows no parts of one."""
    def whole(struct):
        struct, flags = re.subn(r"\bbool (\w+);", r"u64 \1:1;", struct)
        return struct.replace("\n};", f"\n\tu64 rest:{64 - flags};\n}};")

    return re.sub(r"^struct nbq_deadline \{.*?^\};", lambda struct: whole(struct[0]), text,
                  flags=re.MULTILINE | re.DOTALL)


def with_one_queue(text):
    """spin_queue.c without the looks at the last nodes of two queues, which choose between them:
    here both are the same, and GenMC explores what each read may return, 60 times as many
    executions."""
    look = "is_in_second(place->queue, second, wait->lock)"
    if text.count(look) != 1:
        raise Failure(f"spin_queue.c: {text.count(look)} times, not once: {look}")
    return text.replace(look, "false")


def compile_in(folder, what, *commands):
    for command in commands:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise Failure(f"{what} does not compile for GenMC\n{done.stdout[-2000:]}")


def flags_of(model):
    return [*FLAGS, *(["-DMODEL_LKMM"] if model == "lkmm" else [])]


def build_shipped(genmc, folder, model, mutant=None):
    """The shipped files, or what a rule has made of them: locks.bc in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_copy(folder, {"deadline.h": with_whole_words, "spin_queue.c": with_one_queue})
    if mutant:
        path = folder / "nbqlock" / mutant.file
        path.write_text(mutant.applied(path.read_text()))
    files = shipped_files()
    compile_in(folder, mutant.name if mutant else "nbqlock",
               [genmc.llvm / "clang", *flags_of(model), "-D__noinline__=__unused__", "-I.", *files],
               [genmc.llvm / "llvm-link", "-o", "locks.bc",
                *(Path(file).with_suffix(".bc").name for file in files)])


def build(genmc, folder, name, model, defines, is_header=False):
    """A configuration with the shipped files of a folder: what GenMC runs.

    is_header: the lock is one, nbq_arena_lock.h, and has a client of its own.
    """
    program, client = folder / f"{name}.bc", folder / f"{name}.client.bc"
    compile_in(folder, name,
               [genmc.llvm / "clang", *flags_of(model), "-I.", *defines, "-o", client,
                HERE / ("arena.c" if is_header else "client.c")],
               [genmc.llvm / "llvm-link", "-o", program, client,
                *([] if is_header else ["locks.bc"])],
               [genmc.llvm / "opt", *PASSES, program, "-o", program])
    client.unlink()
    return program


@dataclass
class Result:
    """What came of a run. error: what GenMC has found, in a line; output: all that it said."""
    ended: bool
    error: str
    complete: int
    blocked: int
    seconds: float
    output: str


def number_in(output, what):
    found = re.search(rf"{what}: (\d+)", output)
    return int(found[1]) if found else 0


def error_in(output):
    """The error in a line; "" if there is none."""
    found = re.search(r"^Error(?: detected)?: (.*)", output, re.MULTILINE)
    violation = re.search(r"^Assertion violation: (.*)", output, re.MULTILINE)
    return f"{found[1].strip()} {violation[1] if violation else ''}".strip() if found else ""


def run(genmc, processes, program, model, seconds):
    """seconds: of a core, at most; None: to the end."""
    status, output, took = processes.output_of(
        ["nice", genmc.command, f"-{model}", *OPTIONS, program], seconds=seconds)
    error = error_in(output)
    ended = status - 128 not in (signal.SIGXCPU, signal.SIGKILL)
    if ended and status and not error:
        raise Failure(f"GenMC ended with status {status} for {program.name}\n{output[-2000:]}")
    return Result(ended, error, number_in(output, "executions explored"),
                  number_in(output, "executions seen"), took, output)


def steps_of(output):
    """The trace of an error, a line of the text once where it has several accesses."""
    lines = output.partition("Trace to ")[2].splitlines()
    return [line for before, line in zip(["", *lines], lines) if line != before]
