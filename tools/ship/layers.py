# SPDX-License-Identifier: GPL-2.0
"""Which headers and symbols each layer of the project uses.

Rules: 1 the locks' algorithms stay low-level, 2 they do not know each other, 3 debugfs.c
only sums counters, 4 stress/ and the examples use the public headers alone, 5 only kunit/
and the host shim see internal.h from outside of nbqlock/, and no .c file is included.
"""

from pathlib import Path
import re
import tempfile

from base.c_text import without_comments
from base.lock_types import NBQ, QUEUES

LAYERS = ("nbqlock", "kunit", "Documentation/example", "Documentation/stress-example", "tools/host/shim",
          "tools/host/programs", "tools/host/explore", "tools/host/simulate")
PUBLIC_HEADERS = {"nbqlock.h", "types.h", "counters.h", "stress.h"}
# Parts of nbqlock.h, one for each lock.
LOCK_HEADERS = {f"{word}.h" for word in NBQ}
OWN_HEADERS = {*PUBLIC_HEADERS, *LOCK_HEADERS, "attempt.h", "bare_spin.h",
               "bare_spin_types.h", "compat.h", "contention.h",
               "deadline.h", "events.h", "events_list.h", "guard.h", "internal.h",
               "queue_lock.h", "relax.h", "report.h", "socket.h", "spin_policy.h", "spin_queue.h",
               "spin_turns.h", "spin_types.h", "spin_word.h", "trace.h",
               "wait.h", "wait_deadlock.h"}

ALGORITHMS = {**{f"{word}_nb.c": word for word in QUEUES}, "spin.c": "spin",
              "bare_spin.c": "spin", "spin_queue.c": "spin", "spin_turns.c": "spin"}
# Code of the algorithms that they share, or that is inline.
SHARED = {"attempt.h", "bare_spin.h", "bare_spin_types.h", "queue_lock.h", "spin_word.h"}
LOW_LEVEL = {*ALGORITHMS, *SHARED, *LOCK_HEADERS}
# trace.h, contention.h: tracepoints take no lock and allocate nothing.
ALGORITHM_HEADERS = {*SHARED, *LOCK_HEADERS, "compat.h", "contention.h", "deadline.h",
                     "events.h", "guard.h", "internal.h", "relax.h", "report.h", "socket.h",
                     "spin_policy.h", "spin_queue.h", "spin_turns.h", "spin_types.h",
                     "spin_word.h", "trace.h", "types.h"}
HIGH_LEVEL = {"cpuhotplug", "debugfs", "delay", "device", "fs", "gfp", "hrtimer",
              "init", "irq_work", "kernel", "kthread", "mm", "module",
              "moduleparam", "mutex", "percpu-refcount", "printk", "proc_fs",
              "sched", "seq_file", "slab", "timer", "uaccess", "vmalloc",
              "wait", "workqueue"}
HIGH_LEVEL_CALLS = re.compile(
    r"\b(k[mzc]alloc\w*|kvm?alloc\w*|kfree\w*|vmalloc\w*|alloc_pages?\w*|alloc_percpu"
    r"|printk\w*|pr_(?:emerg|alert|crit|err|warn|notice|info|debug|cont)\w*"
    r"|debugfs_\w+|seq_\w+|module_param\w*|kthread_\w+|schedule\w*|msleep\w*"
    r"|mutex_lock\w*)\s*\(")
NODE_ACCESS = re.compile(rf"\bstruct nbq_(?:node|{'|'.join(NBQ)})\b"
                         r"|(?:->|\.)\s*(?:prev|next|status|next_in_pool|alloc_seq|free_seq|tail"
                         r"|holder|state|handoff|queue)\b"
                         r"|(?:->|\.)\s*(?:hint|first|last)\s*->")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class File:
    """A C file with its includes, and the place of anything found in it."""

    def __init__(self, root, path):
        self.name = str(path.relative_to(root))
        self.base = path.name
        self.layer = next(layer for layer in LAYERS if self.name.startswith(layer + "/"))
        self.in_stress = self.name.startswith("nbqlock/stress/")
        self.text = without_comments(path.read_text(errors="replace"))
        self.includes = [(self.line(match.start(2)), match.group(1) == "<",
                          match.group(2)) for match in INCLUDE.finditer(self.text)]

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def breach(self, line, rule, text):
        return f"{self.name}:{line}: rule {rule}: {text}"

    def own_include(self, path):
        """The name of one of nbqlock/'s own headers, or nothing."""
        folder, _, base = path.rpartition("/")
        # The kernel has a wait.h and a types.h, too.
        return base if base in OWN_HEADERS and folder not in ("linux", "asm") else None


def algorithm_stays_low_level(file):
    if file.layer != "nbqlock" or file.in_stress or file.base not in LOW_LEVEL:
        return
    for line, angle, path in file.includes:
        if not angle:
            if path not in ALGORITHM_HEADERS:
                yield file.breach(line, 1, f"an algorithm includes {path}")
        elif not path.startswith(("linux/", "asm/")):
            yield file.breach(line, 1, f"an algorithm includes <{path}>")
        else:
            head = path.split("/")[1].removesuffix(".h")
            if head in HIGH_LEVEL:
                yield file.breach(line, 1, f"an algorithm includes <{path}>")
    for match in HIGH_LEVEL_CALLS.finditer(file.text):
        yield file.breach(file.line(match.start()), 1,
                          f"an algorithm uses {match.group(1)}()")


def algorithms_are_apart(file):
    own = ALGORITHMS.get(file.base)
    if file.layer != "nbqlock" or not own:
        return
    others = "|".join(name for name in ALGORITHMS.values() if name != own)
    for match in re.finditer(rf"\bnbq_({others})(?:_\w+)?\b", file.text):
        yield file.breach(file.line(match.start()), 2,
                          f"{own} uses {match.group(0)}")
    for line, _, path in file.includes:
        if path.rpartition("/")[2] in {f"{name}.h" for name in others.split("|")}:
            yield file.breach(line, 2, f"{own} includes {path}")


def debugfs_only_sums(file):
    if file.name != "nbqlock/debugfs.c":
        return
    for match in NODE_ACCESS.finditer(file.text):
        yield file.breach(file.line(match.start()), 3,
                          f"debugfs.c touches a lock or a node ({match.group(0).strip()})")


def users_have_the_public_headers(file):
    if not file.in_stress and not file.layer.startswith("Documentation/"):
        return
    for line, angle, path in file.includes:
        header = file.own_include(path)
        inside = not file.in_stress and path.startswith("nbqlock/stress/")
        if header and header not in PUBLIC_HEADERS or inside:
            yield file.breach(line, 4, f"{path} is not public")
        elif header and path != f"nbqlock/{header}":
            yield file.breach(line, 4, f"{path}; it is <nbqlock/{header}>")
        elif not angle and "/" in path:
            yield file.breach(line, 4, f"{path} is in another folder")


def internals_stay_inside(file):
    for line, _, path in file.includes:
        # The host shim stands where pool.c stands in the kernel.
        inside = file.layer == "kunit" or \
            file.name.startswith("tools/host/shim/") or \
            (file.layer == "nbqlock" and not file.in_stress)
        if path.rpartition("/")[2] == "internal.h" and not inside:
            yield file.breach(line, 5, f"includes {path} from outside")
        if path.endswith(".c"):
            yield file.breach(line, 5, f"includes a .c file, {path}")


RULES = (algorithm_stays_low_level, algorithms_are_apart, debugfs_only_sums,
         users_have_the_public_headers, internals_stay_inside)


def breaches(root):
    """All breaches below a project folder."""
    found = []
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*.[ch]")):
            if not path.name.endswith(".mod.c"):
                file = File(root, path)
                found += [text for rule in RULES for text in rule(file)]
    return found


BREACHES = (
    (1, "nbqlock/clh_nb.c", "#include <linux/printk.h>\n"),
    (1, "nbqlock/clh_nb.c", "#include <linux/sched/clock.h>\n"),
    (1, "nbqlock/clh_nb.c", '#include "pool.h"\n'),
    (1, "nbqlock/mcs_nb.c", "void f(void)\n{\n\tkmalloc(1, 2);\n}\n"),
    (1, "nbqlock/swap_nb.c", 'void f(void)\n{\n\tpr_warn_once("x");\n}\n'),
    (1, "nbqlock/attempt.h", "#include <linux/slab.h>\n"),
    (1, "nbqlock/queue_lock.h", "#include <linux/sched.h>\n"),
    (1, "nbqlock/spin.h", '#include "wait.h"\n'),
    (1, "nbqlock/spin.h", "void f(void)\n{\n\tprintk(0);\n}\n"),
    (1, "nbqlock/spin.c", '#include "pool.h"\n'),
    (2, "nbqlock/spin.c", "void f(void)\n{\n\tnbq_clh_enqueue(0, 0);\n}\n"),
    (2, "nbqlock/clh_nb.c", "void f(void)\n{\n\tnbq_spin_unlock(0);\n}\n"),
    (2, "nbqlock/mcs_nb.c", "void f(void)\n{\n\tnbq_clh_unlock(0);\n}\n"),
    (2, "nbqlock/clh_nb.c", '#include "mcs.h"\n'),
    *((3, "nbqlock/debugfs.c", f"int f(void *p)\n{{\n\treturn p->{field};\n}}\n")
      for field in ("prev", "next", "status", "holder", "state.all", "hint->x")),
    (3, "nbqlock/debugfs.c", "struct nbq_spin *lock;\n"),
    (3, "nbqlock/debugfs.c", "struct nbq_node *node;\n"),
    (4, "nbqlock/stress/main.c", '#include "../nbqlock.h"\n'),
    *((4, "nbqlock/stress/main.c", f"#include <nbqlock/{header}.h>\n")
      for header in ("events", "spin", "queue_lock", "trace")),
    *((4, f"Documentation/{folder}/x.c", "#include <nbqlock/deadline.h>\n")
      for folder in ("example", "stress-example")),
    (4, "Documentation/stress-example/x.c", "#include <nbqlock/stress/ops.h>\n"),
    (5, "nbqlock/stress/main.c", '#include "../internal.h"\n'),
    (5, "tools/host/programs/x.c", '#include "internal.h"\n'),
    (5, "tools/host/explore/x.c", '#include <nbqlock/internal.h>\n'),
    (5, "kunit/x.c", '#include "../nbqlock/clh_nb.c"\n'),
)
ALLOWED = (
    ("nbqlock/clh_nb.c", '#include <linux/atomic.h>\n#include "internal.h"\n'
     '#include "trace.h"\n'
     '#include "clh.h"\n#include "queue_lock.h"\n'
     "/* as printk() and nbq_mcs_lock() would */\n"),
    ("nbqlock/debugfs.c", '#include <linux/debugfs.h>\n#include "internal.h"\n'),
    ("nbqlock/stress/main.c", '#include <nbqlock/nbqlock.h>\n#include <nbqlock/counters.h>\n'
     '#include "ops.h"\n'),
    ("Documentation/stress-example/x.c", "#include <nbqlock/stress.h>\n"),
    ("kunit/x.c", '#include <nbqlock/internal.h>\n'),
)


def breaches_of(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return breaches(Path(folder))


def self_test():
    """Each of the known breaches must be found, and what is allowed must pass."""
    wrong = []
    for rule, name, text in BREACHES:
        if not any(f": rule {rule}: " in line for line in breaches_of(name, text)):
            wrong.append(f"rule {rule} does not see in {name}: {text!r}")
    for name, text in ALLOWED:
        wrong += [f"not a breach: {line}" for line in breaches_of(name, text)]
    return wrong
