# SPDX-License-Identifier: GPL-2.0
"""What the patches of the series are made of: which source becomes which file.

A source is taken whole. Conditions that have one answer in a kernel tree are resolved, which
leaves out what only the module has, and names of headers are those of the tree. No other line
differs.
"""

import re

from base.common import PROJECT, Failure
from base.lock_types import QUEUES
from studies.locktorture.steps import FORMS

# The conditions that have one answer in a kernel tree; None: not defined. Those at the end are
# what the explorer and the host tests have of their own.
SYMBOLS = {"MODULE": None, "NBQ_QUEUE_LOCKS": None, "NBQ_OUT_OF_TREE": None,
           "__NBQ_DEFINE_GUARD_COND": None, "__NBQ_GUARDS": 1, "WITH_LOCK_GUARD_1_ATTRS": 1,
           "NBQ_CONTENTION_EVENTS": 1, "lockdep_set_notrack_class": 1,
           "KUNIT_ARRAY_PARAM_DESC": 1, "NBQ_SPIN_POLICY": None, "NBQ_WAIT_TIMES": None,
           "NBQ_QUEUE_BITS": None, "NBQ_PLACE_BITS": None}
# Words of every source: (regular expression, what it becomes).
WORDS = (
    (r"^/\* Written by nbqlock/lock\.sh.*\n|#include \"compat\.h\"\n", ""),
    (r'"guard\.h"', "<linux/cleanup.h>"),
    (r'"(?:spin_)?types\.h"|<nbqlock/types\.h>', "<linux/nbqlock_types.h>"),
    (r'"spin\.h"|<nbqlock/nbqlock\.h>', "<linux/nbqlock.h>"),
    (r'["<](?:(?:\.\./)?nbqlock/)?bare_spin(_types)?\.h[">]', r"<linux/nbqlock_bare\1.h>"),
    (r'"counters\.h"|<nbqlock/counters\.h>', "<linux/nbqlock_counters.h>"),
    (r'"\.\./nbqlock/(\w+\.h)"', r'"../\1"'),
    (r"\b__nbq_(acquires?|releases?|cond_acquires)\b", r"__\1"),
    (r"\b__nbq_lock_struct\b", "context_lock_struct"),
    (r"(?<![\w/])spin\.h\b", "nbqlock.h"),
    (r"(?<![\w/])bare_spin(_types)?\.h\b", r"nbqlock_bare\1.h"),
    (r"\b_NBQLOCK(_BARE)?_SPIN(_TYPES)?_H\b", r"_LINUX_NBQLOCK\1\2_H"),
    (r"\b_NBQLOCK_COUNTERS_H\b", "_LINUX_NBQLOCK_COUNTERS_H"),
    (r"\bDocumentation/nbqlock\.rst", "Documentation/locking/nbqlock.rst"),
    (r"^( \* @\w+: )hybrid: ", r"\1"),
    (r" The explorer has a\n \* policy of its own, [^.]*\.", ""),
    (r"different from clh_nb\.c", "different from the paper"),
    (r"^MODULE_AUTHOR\(.*\);\n|\.acquired_uncontended = [^,]*,\s*(?:\\\n\s*)?", ""),
)
# What is left of these is a mistake.
LEFTOVERS = re.compile(
    r"\bLINUX_VERSION_CODE|\bKERNEL_VERSION\(|\bIS_MODULE\(|\bNBQ_(?:QUEUE_LOCKS|OUT_OF_TREE)"
    r"|\bnbqlock\.ko|<nbqlock/|\bcompat\.h|[Ee]xplorer"
    rf"|(?:{'|'.join(QUEUES)})_nb|\bnbq_(?:{'|'.join(QUEUES)})(?:\b|_)"
    r"|\btools/(?:guest|module|check|host)|\bpool_nodes|Documentation/(?!locking)\w+\.rst"
    r"|MCS-NB|queue_lock|\bmodule_param|\bthe module\b", re.ASCII)

CODE = "kernel/locking/nbqlock"
SUITES = f"{CODE}/tests"
TEXTS = "tools/ship/upstream/texts"
PORT = "tools/guest/port"	# of a kernel all of whose spinlocks are the hybrid


class Made:
    """A file of the series, made from a file of the project."""

    def __init__(self, source, **symbols):
        self.source = source
        self.symbols = {**SYMBOLS, **symbols}


class Patch:
    """One patch: files that it adds, {path: Made}; files that it changes, {path: edits}.

    diff: a unified diff of the project's, of more files that it changes.
    """

    def __init__(self, message, files=None, edits=None, diff=None):
        self.message = f"{message}.txt"
        self.files = files or {}
        self.edits = edits or {}
        self.diff = PROJECT / diff if diff else None


def renamed(text):
    """A source as it is in the tree: names of headers, no two blank lines in a row."""
    for word, becomes in WORDS:
        text = re.sub(word, becomes, text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def check(texts, base):
    """Nothing of the module is left in what the series adds."""
    for name, text in texts.items():
        if name in base:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = LEFTOVERS.search(line)
            if found:
                raise Failure(f"{name}:{number}: \"{found[0]}\" is left: {line.strip()}\n"
                              "adapt tools/ship/upstream/layout.py")


def own(name):
    """A text of the series itself."""
    return Made(f"{TEXTS}/{name}")


def text(name):
    return (PROJECT / TEXTS / name).read_text()


def code(*names, **symbols):
    """Sources that keep their names."""
    return {f"{CODE}/{name}": Made(f"nbqlock/{name}", **symbols) for name in names}


BARE = Patch("1-bare", {
    "include/linux/nbqlock_bare.h": Made("nbqlock/bare_spin.h"),
    "include/linux/nbqlock_bare_types.h": Made("nbqlock/bare_spin_types.h"),
    "include/linux/nbqlock_counters.h": Made("nbqlock/counters.h"),
    "include/linux/nbqlock_types.h": Made("nbqlock/spin_types.h"),
    f"{CODE}/Kconfig": own("Kconfig"),
    f"{CODE}/Makefile": own("Makefile"),
    f"{CODE}/start.c": own("start.c"),
    **code("bare_spin.c", "contention.h", "deadline.h", "events.h", "events_list.h", "panic.c",
           "pool.c", "relax.h", "socket.h", "spin_policy.h", "spin_queue.c", "spin_queue.h",
           "spin_turns.c", "spin_turns.h", "spin_word.h", "trace.c", "trace.h", "wait.c", "wait.h",
           "wait_deadlock.c", "wait_deadlock.h", "wait_holder.c"),
    **code("internal.h", NBQ_STATIC_NODES=None),
    **code("node.c", NBQ_STATIC_NODES=16),
}, {
    "kernel/Kconfig.locks": [(r"\Z", f'\nsource "{CODE}/Kconfig"\n')],
    "kernel/locking/Makefile": [
        (r"(?<=^obj-\$\(CONFIG_LOCK_EVENT_COUNTS\) \+= lock_events\.o\n)",
         "obj-$(CONFIG_NBQLOCK) += nbqlock/\n")],
})

OPERATIONS = Patch("2-operations", {
    "include/linux/nbqlock.h": Made("nbqlock/spin.h"),
    **code("attempt.h", "report.c", "report.h", "spin.c"),
}, {
    f"{CODE}/Makefile": [(r"^(?=\n# <trace)", "obj-y += spin.o report.o\n")],
})

COUNTERS = Patch("3-counters", code("debugfs.c"), {
    f"{CODE}/Makefile": [(r"^(?=\n# <trace)", "obj-y += debugfs.o\n")],
    f"{CODE}/start.c": [(r"^\treturn ret;\n", "\tnbq_debugfs_start();\n")],
})

KUNIT = Patch("4-kunit", {
    **code("kunit_hooks.c"),
    f"{SUITES}/.kunitconfig": own("kunitconfig"),
    f"{SUITES}/Makefile": own("Makefile.tests"),
    **{f"{SUITES}/{name}": Made(f"kunit/{name}") for name in (
        "bare_spin_test.c", "common.c", "common.h", "deadline_test.c", "deadlocks_test.c",
        "lock_type_ops.h", "lock_types.c", "lock_types.h", "operations_test.c", "pool_test.c",
        "socket_test.c", "spin_sweep.h", "spin_test.c", "spin_type.c", "unless_test.c")},
}, {
    f"{CODE}/Kconfig": [(r"\Z", text("Kconfig.kunit"))],
    f"{CODE}/Makefile": [
        (r"^(?=\n# <trace)", "obj-$(if $(CONFIG_NBQLOCK_KUNIT_TEST),y) += kunit_hooks.o\n"),
        (r"\Z", "\nobj-$(CONFIG_NBQLOCK_KUNIT_TEST) += tests/\n")],
})


def torture():
    source = (PROJECT / "tools/studies/locktorture/module/nbq_ops.h").read_text()
    operations = source[source.index("/* Below the longer holds"):]
    rows = "".join(f"\t\t&torture_nbq_spin{form}_ops,\n" for form in FORMS)
    return Patch("5-locktorture", {}, {
        "kernel/locking/locktorture.c": [
            (r"(?<=^#include <linux/delay\.h>\n)",
             "#include <linux/nbqlock.h>\n#include <linux/nbqlock_counters.h>\n"),
            (r"^/\*\n \* Lock torture writer kthread\.",
             f"#ifdef CONFIG_NBQLOCK\n\n{operations}\n#endif /* CONFIG_NBQLOCK */\n\n"),
            (r"(?<=\n)\t\t&rw_lock_ops,", f"#ifdef CONFIG_NBQLOCK\n{rows}#endif\n")],
        "Documentation/locking/locktorture.rst": [
            (r"^\n\nTorture-framework \(RCU \+ locking\)\n", text("locktorture.rst"))],
    })


def port(*names):
    """Files of the port, at their places."""
    return {name: Made(f"{PORT}/{name}") for name in names}


SPINLOCKS = Patch("6-spinlocks", port(
    "include/asm-generic/nbq_spinlock.h", "include/asm-generic/nbq_spinlock_types.h",
    "kernel/locking/nbq_spinlock.c"), {
    "MAINTAINERS": [
        (r"(?<=^F:\tDocumentation/locking/nbqlock\.rst\n)",
         "F:\tinclude/asm-generic/nbq_spinlock*.h\n"),
        (rf"^(?=F:\t{CODE}/\n)", "F:\tkernel/locking/nbq_spinlock*.c\n")],
    f"{CODE}/Kconfig": [(r"(?<=or by locktorture; otherwise say N\.\n)",
                         "\n\t  NBQ_SPINLOCKS makes it every spinlock of the kernel.\n")],
}, f"{PORT}/spinlock.patch")

TIMEOUTS = Patch("7-timeouts", port(
    "include/linux/spinlock_timeout.h", "kernel/locking/nbq_spinlock_timeout.c",
    "kernel/locking/nbq_spinlock_timeout_test.c"), {
    "MAINTAINERS": [
        (r"(?<=^F:\tinclude/linux/nbqlock\*\.h\n)", "F:\tinclude/linux/spinlock_timeout.h\n")],
}, f"{PORT}/timeout.patch")

DOCUMENTATION = Patch("8-documentation", {
    "Documentation/locking/nbqlock.rst": own("nbqlock.rst"),
}, {
    "Documentation/locking/index.rst": [(r"(?<=^    mutex-design\n)", "    nbqlock\n")],
})


NOLOCK = Patch("9-nolock", diff=f"{PORT}/nolock.patch")


def patches(author):
    BARE.edits["MAINTAINERS"] = [
        (r"(?<=\n\n)NCR 5380 ", "NBQLOCK: QUEUED SPINLOCK WITH TIMEOUTS\n"
         f"M:\t{author}\nL:\tlinux-kernel@vger.kernel.org\nS:\tMaintained\n"
         f"F:\tDocumentation/locking/nbqlock.rst\nF:\tinclude/linux/nbqlock*.h\nF:\t{CODE}/\n"
         "K:\t\\bnbq_(bare_)?spin_\n\n")]
    return (BARE, OPERATIONS, COUNTERS, KUNIT, torture(), SPINLOCKS, TIMEOUTS, DOCUMENTATION,
            NOLOCK)
