# SPDX-License-Identifier: GPL-2.0
"""Which functions of an object count the spinlocks held for mmiowb().

Where CONFIG_MMIOWB is set, an acquisition raises the count in the per-CPU variable
__mmiowb_state, and a release makes the barrier that a writel() between them has asked
for, as in <linux/spinlock.h>. Seen in the object code, by the relocations.
"""

import re
import subprocess

from base.building import compiler_environment, disassembly, locked
from base.common import BUILD, PROJECT, Failure, answer_of
from base.lock_types import NBQ as TYPES
from guest.kernels import RISCV64_TOOLS as TOOLS

STATE = "__mmiowb_state"
# (operation, what it returns, its further arguments)
OPERATIONS = (("lock_timeout", "int", ", 1000"), ("lock_until", "int", ", 1000"),
         ("trylock", "bool", ""), ("lock", "void", ""), ("unlock", "void", ""))
# Of the probe: what must use the state, and what must not, or the question is wrong.
CONTROLS = {"probe_spinlock": True, "probe_nothing": False}

PROBE_HEAD = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/spinlock.h>
#include <nbqlock/nbqlock.h>

int probe_nothing(int *word);
int probe_nothing(int *word)
{
	return READ_ONCE(*word);
}

void probe_spinlock(raw_spinlock_t *lock);
void probe_spinlock(raw_spinlock_t *lock)
{
	do_raw_spin_lock(lock);
}
"""
PROBE_OPERATION = """
{returns} probe_nbq_{lock}_{operation}(struct nbq_{lock} *lock);
{returns} probe_nbq_{lock}_{operation}(struct nbq_{lock} *lock)
{{
	{give}nbq_{lock}_{operation}(lock{arguments});
}}
"""
PROBE_TAIL = '\nMODULE_LICENSE("GPL");\n'


def probe_text():
    """A user of every operation, each in a function of its own."""
    return PROBE_HEAD + "".join(
        PROBE_OPERATION.format(lock=lock, operation=operation, returns=returns, arguments=arguments,
                          give="" if returns == "void" else "return ")
        for lock in TYPES for operation, returns, arguments in OPERATIONS) + PROBE_TAIL


def references(disassembly):
    """{function: the symbols that it refers to}, of `objdump -dr`."""
    found = {}
    function = None
    for line in disassembly.splitlines():
        start = re.match(r"[0-9a-f]+ <([^>]+)>:$", line)
        # The compiler's own labels lie inside functions.
        if start and not start[1].startswith(".L"):
            function = found.setdefault(start[1], set())
        relocation = re.match(r"\s+[0-9a-f]+: R_\w+\s+([^\s+]+)", line)
        if relocation and function is not None:
            function.add(relocation[1])
    return found


def users_of(symbol, disassembly):
    """{function: whether it refers to the symbol, itself or by what it calls here}."""
    graph = references(disassembly)
    users = {name for name, symbols in graph.items() if symbol in symbols}
    more = users
    while more:
        more = {name for name, symbols in graph.items() if symbols & more} - users
        users |= more
    return {name: name in users for name in graph}


def state_users(path):
    """users_of() the state, of an object file."""
    return users_of(STATE, disassembly(TOOLS, path))


def undefined_symbols(path):
    done = subprocess.run([f"{TOOLS}nm", "--undefined-only", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return re.findall(r"^ *U (\S+)$", done.stdout, re.MULTILINE)


def probe_users(kernel):
    """state_users() of the probe, built against a kernel's headers."""
    folder = BUILD / f"mmiowb-{kernel.name}"
    with locked(f"{folder}.lock", folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "probe.c").write_text(probe_text())
        (folder / "probe.o").unlink(missing_ok=True)
        (folder / "Kbuild").write_text(f"obj-m := probe.o\nccflags-y := -I{PROJECT}\n")
        text, status = answer_of(
            ["make", "-C", kernel.build_dir, f"M={folder}", *kernel.make_options, "probe.o"],
            compiler_environment(), timeout=600)
        if status:
            raise Failure(f"the probe does not compile:\n{text}")
        return state_users(folder / "probe.o")


def mmiowb_claims(kernel, copy):
    """What is claimed of the modules built in a copy, whether it holds, a report."""
    config = (kernel.build_dir / ".config").read_text()
    yield "the kernel has CONFIG_MMIOWB", "\nCONFIG_MMIOWB=y\n" in config, ""
    probe = probe_users(kernel)
    for name, uses in CONTROLS.items():
        yield (f"{name}() {'uses' if uses else 'does not use'} {STATE}",
               probe.get(name) is uses, str(probe))
    module = copy / "nbqlock/nbqlock.ko"
    yield f"{module.name} refers to {STATE}", STATE in undefined_symbols(module), ""
    shipped = {}
    for path in sorted((copy / "nbqlock").glob("*.o")):
        if path.stem not in ("nbqlock", "nbqlock.mod"):
            shipped.update(state_users(path))
    for lock in TYPES:
        for operation, _, _ in OPERATIONS:
            yield from operation_claims(f"nbq_{lock}_{operation}", shipped, probe)


def operation_claims(operation, shipped, probe):
    """An inline operation must count where it is used; what it falls back to, too."""
    if operation in shipped:
        yield f"{operation}() uses {STATE}", shipped[operation], ""
        return
    yield f"{operation}(), inline, uses {STATE}", probe.get(f"probe_{operation}", False), ""
    if f"__{operation}" in shipped:
        yield f"__{operation}() uses {STATE}", shipped[f"__{operation}"], ""
