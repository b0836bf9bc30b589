# SPDX-License-Identifier: GPL-2.0
"""The report of what was verified: every number in it was counted in a run."""

from collections import Counter
import re

from base.hardware import machine
from base.rst import escaped, fields, heading, paragraph, table
from host.mutate.survivors import survivors
from host.mutate.verdicts import EXPLAINED, UNEXPLAINED, layer_rows, verdicts_in
from host.parts import PARTS

SURVIVED = (EXPLAINED, UNEXPLAINED)
NAMES = {"clh": "CLH-NB", "mcs": "MCS-NB", "swap": "swap-only", "spin": "hybrid",
         "spin_bare": "hybrid, its bare layer", "arena": "in an arena"}


def counted(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds):
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def verdict(passed):
    return "pass" if passed else "**FAIL**"


# Each part: its line of the overview, and its section. Rows: what the tool has found.

def explorer_line(rows):
    states = sum(row["states"] for row in rows)
    wrong = sum(not row["passed"] for row in rows)
    return (f"{counted(len(rows), 'configuration')} explored, {states:,} states in all: "
            + ("nothing wrong" if not wrong else f"{wrong} with something wrong"))


def own_steps(rows):
    most = {}
    for row in rows:
        abandon, release = most.get(row["lock"], (0, 0))
        most[row["lock"]] = (max(abandon, row["steps_to_abandon"]),
                             max(release, row["steps_to_release"]))
    return [(NAMES[lock], *steps) for lock, steps in most.items()]


def explorer_section(rows):
    lines = paragraph(
        "All schedules of each, timeouts at any look at the clock, interrupts at any access. "
        "A *state* is one that differs from all others in what can still come of it; CPUs "
        "that do the same are interchangeable. *Ends*: times that all contexts had made "
        "all of their attempts. How a program reads, what is checked and why it is "
        "complete: Documentation/verification.rst, \"The explorer\".")
    for lock, name in NAMES.items():
        of_lock = [row for row in rows if row["lock"] == lock]
        lines += heading(name, "-")
        lines += table(
            ["configuration", "program", "nodes a pool", "states", "transitions", "ends",
             "longest schedule", "seconds", ""],
            [[escaped(row["name"]), f"``{row['program']}``", row["pool"],
              f"{row['states']:,}", f"{row['transitions']:,}", f"{row['ends']:,}",
              row["longest"], f"{row['seconds']:.1f}",
              verdict(row["passed"]) if row["passed"] else escaped(row["failure"])]
             for row in of_lock])
    lines += paragraph(
        "States are told apart by 64 bits. The number that may have been taken for another "
        f"one is {max((row['missed'] for row in rows), default=0):.0e} at most in any "
        "configuration.")
    lines += heading("Own steps", "-")
    lines += paragraph("The most that were counted in any schedule, and the bounds that the "
                       "files of the algorithms state: a run in which these differ fails.")
    return lines + table(["lock", "to abandon", "to release"], own_steps(rows))


def litmus_line(rows):
    tests = {row["test"] for row in rows}
    wrong = sum(not row["passed"] for row in rows)
    return (f"{counted(len(tests), 'litmus test')}, {counted(len(rows), 'run')}: "
            + ("all as expected" if not wrong else f"{wrong} not as expected"))


def question(name):
    return name.split("/")[-1].replace("-", " ").capitalize() + "?"


def without(rows, expected):
    """The orders without which a test ends as expected, and those that do not."""
    return ", ".join(
        re.sub("^without ", "", row["what"]) + ("" if row["passed"] else " **(FAIL)**")
        for row in rows if row["what"].startswith("without ")
        and row["expected"] == expected) or "-"


def litmus_section(rows):
    lines = paragraph("As shipped, each outcome must be impossible; without an order that it "
                      "needs, possible; without one that is spare, still impossible. The names "
                      "are those of Documentation/ordering.rst.")
    tests = {}
    for row in rows:
        tests.setdefault(row["test"], []).append(row)
    return lines + table(
        ["question", "of", "as shipped", "sometimes without", "never, also without",
         "seconds"],
        [[question(name), escaped(name.split("/")[0]),
          ", ".join(dict.fromkeys(row["outcome"] for row in found
                                  if row["what"].startswith("as shipped"))),
          without(found, "sometimes"), without(found, "never"),
          f"{sum(row['seconds'] for row in found):.1f}"]
         for name, found in sorted(tests.items())], widths=(30, 10, 8, 24, 20, 8))


def weak_memory_line(found):
    if found["missing"]:
        return f"whole acquisitions under weak memory: **not run**, {found['missing']}"
    shipped = [row for row in found["runs"] if not row["mistake"]]
    weakened = [row for row in found["runs"] if row["mistake"]]
    wrong = sum(bool(row["error"]) for row in shipped)
    noticed = sum(row["passed"] for row in weakened)
    return (f"{counted(len(shipped), 'run')} of whole acquisitions under weak memory, "
            f"{sum(row['complete'] for row in shipped):,} executions: "
            + ("nothing wrong" if not wrong else f"{wrong} with something wrong")
            + f", {sum(not row['ended'] for row in shipped)} did not end; "
            f"{noticed} of {counted(len(weakened), 'weakening')} noticed"
            + ("" if noticed == len(weakened) else " **(FAIL)**"))


def came_of(row):
    if row["error"]:
        return escaped(row["error"]) + ("" if row["passed"] else " **(FAIL)**")
    if row["mistake"]:
        return "**not noticed**"
    return "pass" if row["ended"] else "did not end"


def weak_memory_section(found):
    if found["missing"]:
        return paragraph(f"Not run: {found['missing']}.")
    runs = sorted(found["runs"], key=lambda row: list(NAMES).index(row["lock"]))
    lines = paragraph(
        "Two or three threads, each a CPU, by GenMC: ``tools/host/weak_memory/run``. What a "
        "program means, and what is checked: its ``configurations.py``, and "
        "Documentation/verification.rst, \"Whole acquisitions\". *Blocked*: an execution in which "
        "an attempt waits for what happens in another one. What did not end within its seconds of "
        "a core has shown nothing wrong up to then.")
    lines += table(
        ["lock", "configuration", "program", "model", "executions", "blocked", "seconds", ""],
        [[NAMES[row["lock"]], escaped(row["configuration"]), f"``{row['program']}``",
          row["model"], f"{row['complete']:,}" if row["ended"] else "-",
          f"{row['blocked']:,}" if row["ended"] else "-", f"{row['seconds']:.1f}", came_of(row)]
         for row in runs if not row["mistake"]])
    lines += paragraph("What must be noticed, and where:")
    return lines + table(
        ["weakening", "lock", "configuration", "model", "seconds", "noticed as"],
        [[escaped(row["mistake"]), NAMES[row["lock"]], escaped(row["configuration"]),
          row["model"], f"{row['seconds']:.1f}", came_of(row)] for row in runs if row["mistake"]])


def mixtures_line(found):
    failure = found["failure"]
    return (f"{found['schedules']:,} random schedules over all lock types, "
            f"{found['operations']:,} operations, {found['steps']:,} steps: "
            + (f"seed {found['failed_seed']} **fails**: {failure}" if failure
               else "nothing wrong"))


def mixtures_section(found):
    lines = paragraph(
        f"From seed {found['seed']} on: ``tools/host/programs/run mixtures all gcc plain "
        f"--seed {found['seed']} --runs {found['schedules']}`` makes the same. What is checked: "
        "Documentation/verification.rst, \"Mixtures\".")
    lines += table(["lock", "operation", "returned 0 or false", "returned something else"],
                   [[f"``{row['lock']}``", row["operation"], f"{row['zero']:,}",
                     f"{row['other']:,}"] for row in found["calls"]])
    return lines + table(["seen", "times"], [[name, f"{number:,}"]
                                             for name, number in found["events"].items()])


def mutants_line(found):
    statuses = [verdict.status for verdict in verdicts_in(found, survivors())]
    return f"{counted(len(statuses), 'mutant')}: " + ", ".join(
        f"{statuses.count(status)} {status}" for status in dict.fromkeys(sorted(statuses)))


def by_file_and_rule(verdicts):
    """Rows of a table: how many mutants of each rule are in a file, and how many survive."""
    rules = list(dict.fromkeys(each.name.split()[2] for each in verdicts))
    yield ["file", *rules]
    for file in dict.fromkeys(each.name.split()[0] for each in verdicts):
        cells = []
        for rule in rules:
            of_both = [each for each in verdicts if each.name.split()[0:3:2] == [file, rule]]
            survive = sum(each.status in SURVIVED for each in of_both)
            cells.append(f"{len(of_both)} ({survive})" if survive else len(of_both) or "-")
        yield [file, *cells]


def judged_at(verdicts):
    return sorted(Counter(each.commit for each in verdicts).items(), key=lambda row: -row[1])


def mutants_section(found):
    verdicts = verdicts_in(found, survivors())
    lines = paragraph("Made by rule; in parentheses: those that no test notices.")
    heads, *rows = by_file_and_rule(verdicts)
    lines += table(heads, rows)
    lines += paragraph("Each was judged by the text and the tests of a commit.")
    lines += table(["commit", "mutants"], judged_at(verdicts))
    lines += paragraph("A mutant ends with the first layer that notices it, unless each was let "
                       "look. *Alone*: no other layer that looked has noticed it.")
    lines += table(["layer", "looked at", "killed", "alone", "time"],
                   [[*counts, duration(seconds)]
                    for *counts, seconds in layer_rows(verdicts, found["layers"])])
    return lines + table(
        ["not noticed", "why"],
        [[escaped(each.name), escaped(each.reason) if each.reason else "**unexplained**"]
         for each in verdicts if each.status in SURVIVED])


SECTIONS = {
    "explorer": ("All schedules", explorer_line, explorer_section),
    "litmus": ("Memory ordering", litmus_line, litmus_section),
    "weak-memory": ("Whole acquisitions under weak memory", weak_memory_line,
                    weak_memory_section),
    "mixtures": ("Mixtures", mixtures_line, mixtures_section),
    "mutants": ("Mutants", mutants_line, mutants_section),
}


def found_parts():
    """(title, line, section's lines, seconds) of each part that was run."""
    for name, part in PARTS.items():
        title, line, section = SECTIONS[name]
        found, seconds = part.read()
        if found is not None:
            yield title, line(found), section(found), seconds


def overview():
    return [f"{line} ({duration(seconds)})" for _, line, _, seconds in found_parts()] or \
        ["nothing was verified yet"]


def text():
    here = machine({})
    lines = [".. SPDX-License-Identifier: GPL-2.0", "",
             *heading("What was verified", "="),
             *paragraph("Made by ``make verify`` and ``make mutate``."),
             *fields([("Commit", here["commit"]), ("Date", here["date"]),
                      ("CPU", here["cpu_model"]), ("Cores", here["cores"]),
                      ("Compiler", here["compiler"])])]
    lines += [f"- {line}" for line in overview()] + [""]
    for title, _, section, _ in found_parts():
        lines += heading(title, "=") + section
    return "\n".join(lines).rstrip() + "\n"
