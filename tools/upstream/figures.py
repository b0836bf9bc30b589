# SPDX-License-Identifier: GPL-2.0
"""The measured figures of the cover letter, from the report that is kept in Documentation/."""

import csv
import io
import re
import textwrap

from testbed.common import PROJECT, Trouble

REPORT = "Documentation/reference/report.rst"
CONTENDED = ("The hybrid, beside all others",
             "Acquisitions (1/s), patience 10 us: median (least to greatest)")
ALONE = ("Table 1: the cost of a lock alone", "")
LOCKS = ("nbq_spin", "raw_spinlock", "raw_trylock", "rqspinlock")
COLUMNS = ("2 CPUs", "4 CPUs", "8 CPUs")
WIDTH = 72


def section_of(report, title):
    """What stands below a title, up to the next one of its level."""
    found = re.search(rf"^{re.escape(title)}\n=+\n(.*?)(?=^[^\n]+\n=+\n|\Z)", report,
                      re.MULTILINE | re.DOTALL)
    if not found:
        raise Trouble(f"{REPORT} has no section \"{title}\": adapt tools/upstream/figures.py")
    return found[1]


def table(report, title, caption):
    """A table of a section: {lock: {column: text}}."""
    section = section_of(report, title)
    at = section.find(caption)
    rows = re.compile(r"\.\. csv-table::\n(?:   :.*\n)*\n((?:   .*\n)+)").search(section, at)
    if at < 0 or not rows:
        raise Trouble(f"{REPORT} has no table \"{caption or title}\": adapt "
                      "tools/upstream/figures.py")
    head, *lines = csv.reader(io.StringIO(textwrap.dedent(rows[1])))
    return {line[0]: dict(zip(head, line, strict=True)) for line in lines}


def in_thousands(cell):
    """"2 460 000 (1 490 000 to 2 710 000)" as "2460 (1490 to 2710)"."""
    numbers = [float(number.replace(" ", "")) for number in
               re.findall(r"\d[\d ]*(?:\.\d+)?(?= |\)|$)", cell)]
    median, least, greatest = (f"{number / 1000:.0f}" for number in numbers)
    return f"{median} ({least} to {greatest})"


def laid_out(rows):
    """A table of texts, the first column to the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(text.rjust(width) if column else text.ljust(width)
                               for column, (text, width) in enumerate(zip(row, widths)))
                     .rstrip() for row in rows)


def contended(report):
    cells = table(report, *CONTENDED)
    return laid_out([("1000/s", *COLUMNS),
                     *((lock, *(in_thousands(cells[lock][column]) for column in COLUMNS))
                       for lock in LOCKS)])


def alone(report):
    cells = table(report, *ALONE)
    rows = [("", "ns", "least", "greatest", "of raw_spinlock", "instructions")]
    for lock in LOCKS:
        row = cells[lock]
        counted = row["instructions"].replace("\\-", "-")
        rows.append((lock, row["ns"], row["min"], row["max"], row["of raw_spinlock"], counted))
    return laid_out(rows)


def conditions(report):
    """What the report is of: a paragraph."""
    field = dict(re.findall(r"^:([\w ]+): (.*)$", report, re.MULTILINE))
    return textwrap.fill(
        f"Measured with the module that is built from the same sources: {field['Kernel']}; "
        f"uml is user-mode Linux, icount is QEMU, which counts instructions. {field['CPU']}, "
        f"{field['Cores']} cores, {field['Compiler']}; commit {field['Commit']} of the "
        f"project, {field['Date'][:10]}. More CPUs than cores are preempted by the host, as "
        "vCPUs are.", WIDTH)


def load(report):
    found = re.search(r"Load: (.*?; \d+ rounds)\.", section_of(report, CONTENDED[0]))
    if not found:
        raise Trouble(f"{REPORT} does not state the load: adapt tools/upstream/figures.py")
    return found[1] + "."


def filled(text, version):
    """A text with the figures in the place of their names."""
    report = (PROJECT / REPORT).read_text()
    for name, value in (("REPORT", conditions), ("LOAD", load), ("CONTENDED", contended),
                        ("ALONE", alone), ("VERSION", lambda _: version)):
        if f"@{name}@" in text:
            text = text.replace(f"@{name}@", value(report))
    left = re.search(r"@[A-Z]+@", text)
    if left:
        raise Trouble(f"nothing is known of {left[0]}")
    return wrapped(text)


def wrapped(text):
    """Paragraphs of words that are too long, filled; tables are left."""
    return "\n\n".join(
        textwrap.fill(" ".join(part.split()), WIDTH)
        if max(map(len, part.splitlines()), default=0) > WIDTH and "  " not in part else part
        for part in text.split("\n\n"))
