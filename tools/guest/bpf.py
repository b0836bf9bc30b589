# SPDX-License-Identifier: GPL-2.0
"""What BPF programs are built with: clang, bpftool, a kernel's types, and libbpf of its source."""

import os
from pathlib import Path
import re
import shutil
import subprocess

from base.building import cache_folder, cached, compiler_identity, digest, run_logged
from base.common import Failure, Unavailable, bound, cores, output_of, say
from guest.kernels import made_row

SELFTESTS = "tools/testing/selftests/bpf"	# in a kernel's source
BTF = ".tmp_vmlinux1.btf.o"	# in the folder of a kernel's build
CLANG = "clang-19"
TOOLS_ROW = made_row("bpf-tools/*/.sealed", "libbpf and bpftool of the source", 1, megabytes=40)
# As the Makefile of the selftests has them.
CLANG_OPTIONS = ("-g", "-O2", "-Wall", "-Werror", "--target=bpfel", "-mcpu=v3", "-std=gnu11",
                 "-fno-strict-aliasing", "-fms-extensions", "-Wno-microsoft-anon-tag",
                 "-Wno-compare-distinct-pointer-types", "-D__TARGET_ARCH_x86")

# A guest has no libraries, and Debian 13's libelf.a lacks what it uses: programs for guests, which
# are in /root there, take the libraries from there.
LOADER = Path("/lib64/ld-linux-x86-64.so.2")
FOR_A_GUEST = ("-O2", "-Wall", f"-Wl,--dynamic-linker=/root/{LOADER.name}",
               # Also for what libraries need.
               "-Wl,--disable-new-dtags,-rpath,/root",
               # For pthread_exit().
               "-Wl,--push-state,--no-as-needed,-lgcc_s,--pop-state")


def with_libraries(folder, *names):
    """{name: content} of programs that were linked FOR_A_GUEST, and of what they need besides."""
    files = {LOADER.name: LOADER}
    for name in names:
        files[name] = folder / name
        listed = output_of([LOADER, "--list", folder / name]) or ""
        files |= {library: Path(path) for library, path in
                  re.findall(r"([^\s/]+) => (/\S+)", listed)}
    return {name: path.read_bytes() for name, path in files.items()}


def tool(name):
    """A program, also one in a folder that only root has in its path."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if not found:
        raise Unavailable(f"{name} is not installed; run tools/setup check-all")
    return found


def done(*command, output=None):
    """Run a command, its output to a file."""
    words = [str(word) for word in command]
    result = subprocess.run(**bound(words), stdin=subprocess.DEVNULL, capture_output=True,
                            check=False)
    if result.returncode:
        raise Failure(f"{' '.join(words)}: {result.stderr.decode(errors='replace')}")
    if output:
        output.write_bytes(result.stdout)


def kernel_btf(kernel):
    """A kernel's BTF. What is built from a copy of the tree keeps it, as the copy changes."""
    return kernel.modules[BTF] if kernel.lock else (kernel.build_dir / BTF).read_bytes()


def libbpf_and_bpftool(kernel):
    """A folder with libbpf.a, include/ and bpftool of a kernel's source.

    Debian 12 has versions that know no arena.
    """
    key = digest(kernel.version, compiler_identity(), output_of([tool(CLANG), "--version"]))
    folder = cache_folder("bpf-tools") / f"{kernel.version}-{key}"

    def build(made):
        say("building libbpf and bpftool (about 20 CPU-seconds)")
        run_logged(["make", "-C", kernel.source / "tools/bpf/bpftool", f"OUTPUT={made}/",
                    f"-j{cores()}", "bootstrap"], folder.with_suffix(".log"), "building bpftool")
        (made / "bootstrap/bpftool").rename(made / "bpftool")
        (made / "bootstrap/libbpf/libbpf.a").rename(made / "libbpf.a")
        (made / "bootstrap/libbpf/include").rename(made / "include")
        return ["bpftool", "libbpf.a", "include/bpf/libbpf.h"]

    return cached(folder, build)
