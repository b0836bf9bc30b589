# SPDX-License-Identifier: GPL-2.0
"""What the tests of nbq_arena_lock are built from, for it and for libarena's arena_spin_lock."""

from pathlib import Path
import re
import shutil
import tempfile

from base.building import cache_folder, cached, compiler_identity, digest
from base.common import PROJECT, Unavailable, output_of
from guest.bpf import (CLANG, CLANG_OPTIONS, FOR_A_GUEST, SELFTESTS, done, kernel_btf,
                       libbpf_and_bpftool, tool, with_libraries)

LOAD = PROJECT / "tools/studies/arena/load"
HEADER = PROJECT / "nbqlock/bpf"
EXAMPLE = PROJECT / "Documentation/arena-example"
PACKET = PROJECT / "tools/studies/rqspinlock/load/selftest"	# network_helpers.h
LIBARENA = f"{SELFTESTS}/libarena/include"
PROGRAM, TEST = f"{SELFTESTS}/progs/arena_spin_lock.c", f"{SELFTESTS}/prog_tests/arena_spin_lock.c"
OBJECTS = 7	# of a linked program: so many definitions of the nodes do not fit in its arena
LIBRARIES = ("-lelf", "-lz", "-pthread")
LOCKS = OURS, THEIRS = "nbq_arena_lock", "arena_spin_lock"
OPTIONS = {
    OURS: (),
    THEIRS: ("-DOF_LIBARENA",),
}
# In the kernel's test, which names libarena's lock.
OPTIONS_OF_TEST = {
    OURS: ("-DIN_PLACE", f"-I{LOAD / 'in_place'}"),
    THEIRS: (),
}


def program_of(lock):
    return f"test-{lock}"


def kernels_test_of(lock):
    return f"kernels-test-{lock}"


class Build:
    """In a folder, against a kernel."""

    def __init__(self, folder, kernel):
        self.folder = folder
        self.source = kernel.source
        self.tools = libbpf_and_bpftool(kernel)
        btf = folder / "kernel.btf"
        btf.write_bytes(kernel_btf(kernel))
        types = folder / "kernel_types.h"
        done(self.tools / "bpftool", "btf", "dump", "file", btf, "format", "c", output=types)
        self.known = [] if "bpf_preempt_disable(" in types.read_text() else ["-DNO_KFUNCS"]

    def make(self, name, skeleton, program, user, options):
        """A program with its BPF programs in it. user: files and options of its own side."""
        place = self.folder / f"{name}.d"
        place.mkdir()
        self.compile(program, place / "programs.o", *options)
        self.make_program(name, place / "programs.o", skeleton, [*options, *user])

    def compile(self, program, made, *options):
        includes = [f"-I{folder}" for folder in
                    (LOAD, self.folder, HEADER, self.source / SELFTESTS, self.source / LIBARENA,
                     self.tools / "include")]
        done(CLANG, *CLANG_OPTIONS, "-DENABLE_ATOMICS_TESTS", *self.known, *options, *includes,
             "-c", program, "-o", made)

    def make_program(self, name, programs, skeleton, user):
        """The user's side of an object with programs."""
        done(self.tools / "bpftool", "gen", "skeleton", programs, "name", skeleton,
             output=programs.parent / f"{skeleton}.skel.h")
        done("gcc", *FOR_A_GUEST, f"-I{programs.parent}", f"-I{HEADER}",
             f"-I{self.tools / 'include'}", *user, self.tools / "libbpf.a", *LIBRARIES,
             "-o", self.folder / name)

    def make_linked(self):
        """A program of several objects, each with the lock's header."""
        place = self.folder / "linked.d"
        place.mkdir()
        sources = LOAD / "linked"
        objects = []
        for number in range(1, OBJECTS + 1):
            objects.append(place / f"{number}.o")
            self.compile(sources / "linked.bpf.c", objects[-1], f"-DOBJECT={number}")
        done(self.tools / "bpftool", "gen", "object", place / "linked.o", *objects)
        self.make_program("linked", place / "linked.o", "linked", [sources / "linked.c"])

    def make_example(self):
        """The example, by its own Makefile."""
        place = self.folder / "example"
        shutil.copytree(EXAMPLE, place)
        done("make", "-C", place, f"NBQLOCK={HEADER}", f"BTF={self.folder / 'kernel.btf'}",
             f"CLANG={CLANG}", f"BPFTOOL={self.tools / 'bpftool'}",
             f"LIBBPF_CFLAGS=-I{self.tools / 'include'}", f"LIBBPF={self.tools / 'libbpf.a'}",
             f"LDFLAGS={' '.join(FOR_A_GUEST)}")
        (place / "arena_example").rename(self.folder / "arena_example")


def build_in(folder, kernel):
    build = Build(folder, kernel)
    for lock in LOCKS:
        build.make(program_of(lock), "arena_test", LOAD / "arena_test.bpf.c",
                   [LOAD / "arena_test.c"], OPTIONS[lock])
        build.make(kernels_test_of(lock), "arena_spin_lock", kernel.source / PROGRAM,
                   [f"-I{LOAD / 'selftest'}", f"-I{PACKET}", kernel.source / TEST,
                    LOAD / "selftest/runner.c"], OPTIONS_OF_TEST[lock])
    build.make_linked()
    build.make_example()


def programs(kernel):
    """{name: content} of the programs for a guest, each with both its sides, and libraries."""
    if not (kernel.source / LIBARENA).exists():
        raise Unavailable(f"Linux {kernel.version} has no {LIBARENA} here")
    names = ["arena_example", "linked",
             *(name(lock) for lock in LOCKS for name in (program_of, kernels_test_of))]
    texts = [path.read_bytes() for path in
             (*sorted(LOAD.rglob("*.[ch]")), *sorted(HEADER.glob("*.h")),
              *sorted(EXAMPLE.iterdir()), kernel.source / PROGRAM, kernel.source / TEST,
              *sorted((kernel.source / LIBARENA).glob("*.h")))]
    key = digest(kernel.version, kernel_btf(kernel), *texts, output_of([tool(CLANG), "--version"]),
                 compiler_identity(), CLANG_OPTIONS, FOR_A_GUEST, LIBRARIES)

    def build(folder):
        build_in(folder, kernel)
        return names

    return with_libraries(cached(cache_folder("programs") / f"arena-{key}", build), *names)


RELEASE = """\
#include "vmlinux.h"
#include <bpf_atomic.h>
#include <nbq_arena_lock.h>

struct nbq_arena_lock __arena lock;

int release(void)
{
	nbq_arena_unlock(&lock);
	return 0;
}
"""


def release_off_x86(kernel):
    """The instructions of a release in a program for another processor than x86.

    In a program that has libarena's macros before.
    """
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        build = Build(Path(folder), kernel)
        source, made = Path(folder) / "release.c", Path(folder) / "release.s"
        source.write_text(RELEASE)
        done(CLANG, *(option for option in CLANG_OPTIONS if "TARGET_ARCH" not in option),
             *build.known, f"-I{LOAD}", f"-I{folder}", f"-I{HEADER}",
             f"-I{kernel.source / LIBARENA}", f"-I{build.tools / 'include'}", "-g0", "-S", source,
             "-o", made)
        return re.findall(r"^release:.*?exit", made.read_text(), re.MULTILINE | re.DOTALL)[0]


def host_program(kernel):
    """The path of a program that runs both locks' texts on this machine."""
    host = LOAD / "host"
    command = ["gcc", "-O2", "-Wall", f"-I{host}", f"-I{HEADER}", f"-I{kernel.source / LIBARENA}",
               host / "speed.c", "-pthread"]
    key = digest(kernel.version, *(path.read_bytes() for path in sorted(host.rglob("*.[ch]"))),
                 *(path.read_bytes() for path in sorted(HEADER.glob("*.h"))),
                 compiler_identity(), command)

    def build(folder):
        done(*command, "-o", folder / "speed")
        return ["speed"]

    return cached(cache_folder("programs") / f"arena-speed-{key}", build) / "speed"
