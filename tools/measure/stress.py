# SPDX-License-Identifier: GPL-2.0
"""Runs the stress driver in a guest and reads its results."""

from pathlib import Path
import re

from base.case import Case
from base.common import Failure, say
from base.driver import listed, value_of
from guest.guest import run_guest

# stress_run() for a guest's shell, as /root/stress.sh.
FILES = {"stress.sh": (Path(__file__).with_name("guest_stress.sh").read_bytes(), 0o644)}
# A time limit only ends what hangs: a machine with other work may be twenty times as
# slow as an idle one, and the driver itself may make a run a minute longer.
SPARE_SECONDS = 600		# on top of SLOWNESS times what the runs should take
SLOWNESS = 20
# Of runs that have not shown what they should: how often, and how much longer each time.
ROUNDS = 4
LONGER = 4


def reloaded(parameter):
    """A command for a guest: the modules are loaded anew, nbqlock with a parameter."""
    return f"""
rmmod nbqlock_stress && rmmod nbqlock
insmod /lib/modules/nbqlock.ko {parameter} && insmod /lib/modules/nbqlock_stress.ko
"""


def lock_types(machine, modules, cpus=None):
    """All that the driver has in this kernel, in its order, but for the broken one."""
    outcome = run_guest(machine, "cat /sys/kernel/debug/nbqlock_stress/locks",
                        modules=modules, quiet=True, cpus=cpus)
    if outcome.problem or outcome.status:
        said = re.findall(r"nbqlock_stress: (.*)", outcome.log)
        raise Failure(f"cannot read \"locks\": {outcome.problem or outcome.output}" +
                      (f" ({said[-1].strip()})" if said else ""))
    return listed(outcome.output)


class Unseen(str):
    """A complaint about something that did not happen in a run.

    Unlike something that must not happen, it says nothing against the lock: the host
    may not have run the guest's CPUs at the same time, or not for long enough.
    """


def until_seen(runs, make):
    """Make runs; then those again, longer, that have not shown what they should.

    make(runs): makes them, and returns an Outcome. Returns the Outcomes, at most ROUNDS; each
    run has its last result.
    """
    outcomes = [make(runs)]
    while len(outcomes) < ROUNDS and not outcomes[-1].problem:
        runs = [run for run in runs if isinstance(run.complaint, Unseen)]
        if not runs:
            break
        for run in runs:
            say(f"  {run.name}: {run.complaint}; once more, longer")
            run.settings["duration_ms"] *= LONGER
            run.forget()
        outcomes.append(make(runs))
    return outcomes


def stress_until_seen(machine, runs, cpus, modules, **options):
    """until_seen() with run_stress()."""
    return until_seen(runs, lambda some: run_stress(machine, some, cpus, modules, **options))


def run_stress(machine, runs, cpus, modules, before="", after_each="", after="", append=(),
               **options):
    """Make all runs in one guest, one after the other. Returns its Outcome.

    before: a shell command for the guest before each run.
    after_each: one for after each run, in which %s is its name.
    after: one for when the runs are over.
    options: for run_guest().
    """
    seconds = sum(run.settings["duration_ms"] for run in runs) / 1000
    commands = [command for run in runs for command in
                (before, run.command, after_each.replace("%s", run.name))]
    script = "\n".join([". /root/stress.sh", *commands, after])
    options.setdefault("timeout", SLOWNESS * seconds + SPARE_SECONDS)
    outcome = run_guest(machine, script, cpus=cpus, modules=modules, append=append,
                        extra=FILES, **options)
    read_runs(outcome.output, runs)
    return outcome


def read_runs(output, runs):
    """Give each run its part of the guest's output."""
    by_name = {run.name: run for run in runs}
    for part in re.split(r"^@run ", output, flags=re.MULTILINE)[1:]:
        name, _, text = part.partition("\n")
        run = by_name.get(name.strip())
        if run:
            text, end, _ = text.partition("@end\n")
            run.text = re.sub(r"^@progress .*\n", "", text, flags=re.MULTILINE)
            run.complete = bool(end)


class Tables:
    """What the files of a run's result hold, each printed behind "@file RUN NAME": header, rows."""

    def __init__(self, output, run):
        parts = re.split(rf"^@file {run.name} (\w+)\n", output, flags=re.MULTILINE)
        texts = {name: re.split("^@", text, flags=re.MULTILINE)[0]
                 for name, text in zip(parts[1::2], parts[2::2])}
        self.lines = {name: text.splitlines() for name, text in texts.items()}

    def table(self, name):
        """The rows of a file, each a {column: number, or text}."""
        head, *rows = self.lines.get(name) or [""]
        return [{column: value_of(column, text) for column, text in
                 zip(head.split(), row.split())} for row in rows]

    def rows(self, name):
        """Those of the contenders, or of a histogram."""
        if name in self.lines:
            return self.table(name)
        return [row for row in self.table("histograms") if row["histogram"] == name]

    def total(self, name, column="count"):
        return sum(row[column] for row in self.rows(name))


def run_case(name, run):
    """The case of a run: that there is no complaint about it."""
    return Case(f"{name}: {run.name}", not run.complaint, f"{run.complaint}\n{run.text}")


def made_cases(name, machine, runs, cpus, modules, **options):
    """Make runs in guests, until they have shown what they should: a case for each.

    options: for run_stress(). Returns the Outcomes.
    """
    outcomes = stress_until_seen(machine, runs, cpus, modules, **options)
    for run in runs:
        yield run_case(name, run)
    return outcomes
