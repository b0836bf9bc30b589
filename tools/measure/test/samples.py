# SPDX-License-Identifier: GPL-2.0
"""What several tests need: a scenario, runs, a place that makes no guests."""

import argparse
import contextlib
import io
from pathlib import Path
import tempfile

from base.driver import LockType
from measure import results
from measure import scenario as scenarios
from measure.bench import scenario_file
from measure.runner import PlannedRun

SAMPLE = """\
# A sample.
[scenario]
title = A title
    on two lines
source = Nobody 2002, figure 1
locks = all -clh        # but one
rounds = 3
[load]
patience_ns = 1000
duration_ms = 200
[sweep]
cpus = 1 2
cs_ns = 0 500
[quick]
rounds = 2
duration_ms = 10
cs_ns = 500
[plot rate]
title = Rate
x = cpus
y = some_metric
log = y
panel = cs_ns
[finding better]
paper = ours is better
holds = a(clh_nb) > 1
"""

SIMULATED = SAMPLE.replace("[plot rate]", """\
[simulated]
rounds = 4
locks = clh_nb raw_spinlock rqspinlock
duration_us = 500
cpus = 8 256
sockets = 1 8
patience_ns = 200*cpus
[simulated quick]
rounds = 1
cpus = 8
[plot rate]""")


def changed(text, *words):
    """The text with some of it changed: what is there once, what is to be there, and so on."""
    for old, new in zip(words[::2], words[1::2]):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def options_of(command, *words):
    """The options of a subcommand's module, as it reads them."""
    parser = argparse.ArgumentParser()
    command.new_parser(parser.add_subparsers())
    return parser.parse_args([command.__name__.partition("cli_")[2], *map(str, words)])


@contextlib.contextmanager
def captured():
    """What is printed, and what is said on stderr."""
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        yield out, said


class Folders:
    """For a TestCase: a folder that is gone after the test."""

    def setUp(self):
        super().setUp()
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def scenario(self, *words, text=SAMPLE, **options):
        """The sample, or another text, with some of it changed."""
        return scenario_file.read(self.file("sample.ini", changed(text, *words)), **options)


def record(lock="clh_nb", round=0, rate=1000, cpus=1, verdict="PASS", **more):
    result = {"lock": lock, "threads": cpus, "attempts": 10, "acquisitions": 10,
              "acquisitions_per_second": rate, "thread_stddev": 0, **more}
    return results.RunRecord(lock, round, {"cpus": cpus}, {"lock": lock},
                             result if verdict == "PASS" else {}, verdict)


def scenario_result(rates, name="sample", cpus=1, load=None):
    """rates: {lock: [a rate for each round]}"""
    plan = scenarios.Scenario(name)
    plan.locks = list(rates)
    plan.load = dict(load or {})
    plan.sweep = {"cpus": [cpus]}
    result = results.ScenarioResult(plan, list(rates), [{"cpus": cpus}], "7.2")
    result.complete = True
    result.runs = [record(lock, number, rate, cpus) for lock, each in rates.items()
                   for number, rate in enumerate(each)]
    return result


def planned(count, cpus=2):
    """Runs of a lock, in so many rounds."""
    return [PlannedRun(f"run-{number}", "clh", number, {"cpus": cpus},
                       {"lock": "clh", "cpus": cpus}, 0.01) for number in range(count)]


class NoPlace:
    """Where runs are only pretended to be made, by a function."""

    name = "none"
    meaning = "nowhere"
    version = "0"

    def __init__(self, names=("clh_nb", "clh", "raw_spinlock"), make=None, most_cpus=64):
        self.types = [LockType(f"{name}: a lock") for name in names]
        self.most_cpus = most_cpus
        self.pretend = make or pretend_pass
        self.made = []

    def cpu_list(self, cpus):
        return f"0-{cpus - 1}"

    def make(self, runs, cpus, progress):
        self.made.append((cpus, list(runs)))
        return self.pretend(runs) or []


def pretend_pass(runs):
    for run in runs:
        run.text = f"lock {run.lock}\nacquisitions_per_second 1000\nverdict PASS\n"
        run.complete = True
