# SPDX-License-Identifier: GPL-2.0
"""The kernel's selftests of res_spin_lock: BPF programs that acquire locks, and a program.

They are built from the found tree against the types that a kernel's BTF has, with Debian's
clang, bpftool and libbpf; tools/studies/rqspinlock/load/selftest stands in for the main program of the BPF
selftests, of which there are thousands.
"""

import re

from base.building import cache_folder, cached, compiler_identity, digest
from base.common import PROJECT, Failure, Unavailable, output_of
from guest.bpf import (CLANG, CLANG_OPTIONS, FOR_A_GUEST, SELFTESTS, done, kernel_btf, tool,
                       with_libraries)

FOLDER = PROJECT / "tools/studies/rqspinlock/load/selftest"
TEST = f"{SELFTESTS}/prog_tests/res_spin_lock.c"
PROGRAMS = ("res_spin_lock", "res_spin_lock_fail")
LIBRARIES = ("-lbpf", "-lelf", "-lz", "-pthread")
LOCK_TYPE = re.compile(r"^struct bpf_res_spin_lock \{\n.*?^\}.*?;\n", re.MULTILINE | re.DOTALL)


def missing_types(types):
    """What the programs need and a kernel's types do not have: options for clang."""
    options = []
    if "bpf_res_spin_lock(" not in types:
        options.append("-DNO_KFUNCS")
    if "struct rqspinlock_held {" not in types:
        options.append("-DNO_HELD_TABLE")
    return options


def lock_type(types):
    """The definition of struct bpf_res_spin_lock, for the program's own side."""
    found = LOCK_TYPE.search(types)
    if not found:
        raise Failure("the kernel's BTF has no struct bpf_res_spin_lock")
    return found[0]


def build_in(folder, btf, source):
    """Make the program in a folder from the tree at source and a file with a kernel's BTF."""
    bpftool = tool("bpftool")
    types = folder / "kernel_types.h"
    done(bpftool, "btf", "dump", "file", btf, "format", "c", output=types)
    text = types.read_text()
    (folder / "lock_type.h").write_text(lock_type(text))
    tests = source / SELFTESTS
    includes = [f"-I{place}" for place in (FOLDER, folder, tests, source / "tools/lib",
                                           tests / "libarena/include")]
    for name in PROGRAMS:
        made = folder / f"{name}.o"
        done(CLANG, *CLANG_OPTIONS, *missing_types(text), *includes, "-idirafter",
             "/usr/include/bpf", "-c", tests / f"progs/{name}.c", "-o", made)
        done(bpftool, "gen", "skeleton", made, "name", name, output=folder / f"{name}.skel.h")
    done("gcc", *FOR_A_GUEST, f"-I{FOLDER}", f"-I{folder}", source / TEST,
         FOLDER / "runner.c", "-o", folder / "selftest", *LIBRARIES)


def selftest(kernel):
    """{name: content} of the program for a kernel, and of its libraries."""
    source = kernel.source
    if not (source / TEST).exists():
        raise Unavailable(f"Linux {kernel.version} has no {TEST} here")
    btf = kernel_btf(kernel)
    tools = [output_of([tool(name), "--version"]) for name in (CLANG, "bpftool")]
    texts = [path.read_bytes() for path in
             (*sorted(FOLDER.iterdir()), source / TEST,
              *(source / SELFTESTS / f"progs/{name}.c" for name in PROGRAMS))]
    key = digest(kernel.version, btf, *texts, *tools, compiler_identity(), CLANG_OPTIONS,
                 FOR_A_GUEST)

    def build(folder):
        (folder / "vmlinux.btf").write_bytes(btf)
        build_in(folder, folder / "vmlinux.btf", source)
        return ["selftest"]

    return with_libraries(cached(cache_folder("programs") / f"selftest-{key}", build), "selftest")
