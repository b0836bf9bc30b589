# SPDX-License-Identifier: GPL-2.0
"""Texts as the kernel prints them, and a folder that plays tracefs."""

import os
import shutil

from measure.top.events import BEGIN, END
from measure.top.instance import Instance

M = 1 << 64			# a negative number, as a histogram prints it


def lock(name, address="ffffffffc0a01040"):
    return f"[{address}] {name:<40}"


def histogram(keys, rows, dropped=0):
    """The text of a histogram; rows: ({key: text}, {value: number})."""
    entries = ["{ " + ", ".join(f"{name}: {text}" for name, text in key.items()) + " } " +
               " ".join(f"{name}: {number:10}" for name, number in values.items())
               for key, values in rows]
    return "\n".join([f"# event histogram\n#\n# trigger info: hist:keys={keys} [active]\n#\n",
                      *entries, "", "Totals:", "    Hits: 1", f"    Entries: {len(entries)}",
                      f"    Dropped: {dropped}", ""])


def waiters(*rows):
    return histogram("lock.sym-offset", [
        ({"lock": lock(name)}, {"hitcount": 9, "waiters": number % M}) for name, number in rows])


def holders(*rows):
    return histogram("lock.sym-offset,holder_cpu", [
        ({"lock": lock(name), "holder_cpu": f"{cpu % M:10}"}, {"hitcount": count})
        for name, cpu, count in rows])


def results(*rows, dropped=0):
    return histogram("lock.sym-offset,ret,caller.sym", [
        ({"lock": lock(name), "ret": f"{ret % M:10}", "caller": lock(caller, "ffffffffc0b00123")},
         {"hitcount": count, "waited_ns": waited})
        for name, ret, caller, count, waited in rows], dropped)


def times(*rows):
    return histogram("lock.sym-offset,waited_ns.log2", [
        ({"lock": lock(name), "waited_ns": f"~ 2^{power:<2}"}, {"hitcount": count})
        for name, power, count in rows])


def total(**values):
    names = ("acquired_uncontended", "acquired_handoff", "timeouts", "failed_tries",
             "deadlocks", "nodes_allocated", "nodes_freed", "nodes_reclaimed",
             "nodes_abandoned", "nodes_resumed", "exhaustions", "growths")
    return "".join(f"{name} {values.get(name, 0)}\n" for name in names)


TRACE = """# tracer: nop
#
           <...>-71    [000] d..1.   12.000001: nbq_wait_begin: lock=dev_lock+0x0/0x8 [drv] \
caller=drv_irq+0x12/0x80 [drv] holder_cpu=1
           <...>-71    [000] d..1.   12.000009: nbq_wait_end: lock=dev_lock+0x0/0x8 [drv] \
caller=drv_irq+0x12/0x80 [drv] holder_cpu=1 ret=-110 waited_ns=5000
           <...>-72    [002] d..1.   12.000010: nbq_wait_begin: lock=0xffff888003a01040 \
caller=drv_slow+0x42/0x90 [drv] holder_cpu=-1
"""


class FakeTracefs(Instance):
    """An instance in a folder: it has its files as soon as it is made."""

    def __init__(self, root, has_histograms=True):
        self.root = root
        self.written = []
        self.refused = None	# a file that takes nothing
        for folder in ("tracing/instances", f"tracing/events/nbqlock/{BEGIN}",
                       f"tracing/events/nbqlock/{END}", "debug/nbqlock", "module", "proc"):
            (root / folder).mkdir(parents=True)
        (root / "debug/nbqlock/total").write_text(total())
        super().__init__(root / "tracing", root / "debug", root / "module", root / "proc")
        self.with_histograms = has_histograms

    def make_folder(self, folder):
        folder.mkdir()
        for event in (BEGIN, END):
            (folder / "events/nbqlock" / event).mkdir(parents=True)
            for file in ("enable", "trigger", *["hist"] * self.with_histograms):
                (folder / "events/nbqlock" / event / file).touch()
        (folder / "options").mkdir()
        for file in ("options/overwrite", "buffer_size_kb", "tracing_on", "trace"):
            (folder / file).touch()

    def remove_folder(self, folder):
        shutil.rmtree(folder)

    def write(self, folder, file, text):
        if file == self.refused:
            raise OSError(22, os.strerror(22), str(folder / file))
        self.written.append((file, text))
        super().write(folder, file, text)

    @property
    def folders(self):
        return sorted(path.name for path in (self.tracefs / "instances").iterdir())
