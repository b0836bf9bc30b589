# SPDX-License-Identifier: GPL-2.0
"""Result folders and files: written once, never over something else.

Documentation/bench.rst describes them. To read, begin with open_folder().
"""

import csv
from dataclasses import dataclass, field
import io
import json
import os
from pathlib import Path
import re
from typing import NamedTuple

from base.common import Failure
from base.hardware import FORMAT
from measure import scenario as scenarios

MACHINE = "machine.json"
COUNTS = "counts.json"		# of tools/host/programs/count, see table1.py
PASS = "PASS"


@dataclass
class RunRecord:
    """One run of one lock.

    result is what the driver said, numbers as numbers; it is empty if the run
    did not end, and the verdict says why then. histograms: {name: [[from, to, count]]}, if
    they were wanted.
    """

    lock: str
    round: int
    point: dict
    settings: dict
    result: dict
    verdict: str
    histograms: dict = field(default_factory=dict)

    @property
    def passed(self):
        return self.verdict == PASS

    def as_data(self):
        return {name: value for name, value in vars(self).items()
                if value or name != "histograms"}


@dataclass
class ScenarioResult:
    """What came of a scenario.

    plan: the Scenario; locks: the names it meant there; points: the points it
    meant there; complete: whether every run that it asked for came to its end;
    problems: sentences about guests that were lost and kernels that complained; host: what
    host_load.py says of the time.
    """

    plan: scenarios.Scenario
    locks: list
    points: list
    kernel: str = ""
    complete: bool = False
    problems: list = field(default_factory=list)
    host: dict = field(default_factory=dict)
    runs: list = field(default_factory=list)

    @property
    def name(self):
        return self.plan.name

    @property
    def title(self):
        return self.plan.title

    def runs_of(self, lock, **axes):
        """The runs of a lock at the points with these values, by round."""
        return sorted((run for run in self.runs if run.lock == lock and
                       all(run.point.get(axis) == value for axis, value in axes.items())),
                      key=lambda run: run.round)

    def as_data(self):
        plan = {**self.plan.plan(), "lock_names": self.locks, "points": self.points}
        return {"format": FORMAT, "scenario": self.name, "title": self.title,
                "source": self.plan.source, "kernel": self.kernel, "plan": plan,
                "complete": self.complete, "problems": self.problems, "host": self.host,
                "runs": [run.as_data() for run in self.runs]}


class Folder(NamedTuple):
    """What a run of several scenarios left."""
    path: Path
    machine: dict
    scenarios: dict		# {name: ScenarioResult}


# Writing

def write_new(path, text):
    """Write a file that is not there yet; under its name only once it is whole."""
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        try:
            os.link(unfinished, path)
        finally:
            unfinished.unlink()
    except FileExistsError:
        raise Failure(f"{path} is there already; it is not overwritten") from None
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
    return path


# Of a list of three numbers, as a bucket of a histogram is: what json puts between them.
BUCKET = re.compile(r"\[\s+(\d+),\s+(\d+),\s+(\d+)\s+\]")


def as_json(data):
    return BUCKET.sub(r"[\1, \2, \3]", json.dumps(data, indent=1)) + "\n"


def in_a_cell(buckets):
    """A histogram as a word for each bucket: FROM-TO:COUNT."""
    return " ".join(f"{low}-{high}:{count}" for low, high, count in buckets)


def as_csv(results):
    """All runs of some ScenarioResults, a row each, a column for each name and histogram."""
    rows = []
    for result in results:
        for run in result.runs:
            point = {f"point_{axis}": value for axis, value in run.point.items()}
            row = {"scenario": result.name, "lock": run.lock, "round": run.round,
                   **point, "verdict": run.verdict}
            histograms = {f"histogram_{name}": in_a_cell(buckets)
                          for name, buckets in run.histograms.items()}
            rows.append({**run.settings, **run.result, **histograms, **row})
    first = ["scenario", "lock", "round"]
    names = list(dict.fromkeys(name for row in rows for name in row))
    points = [name for name in names if name.startswith("point_")]
    head = [*first, *points, "verdict"]
    text = io.StringIO()
    table = csv.DictWriter(text, [*head, *(name for name in names if name not in head)],
                           restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


# The machine

# Reading

def read_json(path):
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise Failure(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Failure(f"{path} is not a result of tools/nbq, or one of another version")
    return data


def modern(data):
    """What read_json() has read, with the names that older results have changed."""
    for part in (data, data.get("plan", {})):
        if "bed" in part:
            part["testbed"] = part.pop("bed")
    for run in data.get("runs", []):
        run["result"] = {re.sub("^walk_", "skipped_", name): value
                         for name, value in run["result"].items()}
    return data


def from_data(data, path):
    """The ScenarioResult in what read_json() has read."""
    try:
        modern(data)
        plan = scenarios.from_plan(data["scenario"], data["title"], data["source"],
                                   data["plan"])
        result = ScenarioResult(plan, data["plan"]["lock_names"], data["plan"]["points"],
                                data["kernel"])
        result.complete = data["complete"]
        result.problems = data["problems"]
        result.host = data.get("host", {})	# older results have none
        result.runs = [RunRecord(**run) for run in data["runs"]]
    except (KeyError, TypeError) as error:
        raise Failure(f"{path} is not the result of a scenario ({error})") from None
    return result


def open_folder(path):
    """Read a result folder."""
    path = Path(path)
    if not path.is_dir():
        raise Failure(f"{path} is not a folder of results")
    machine_file = path / MACHINE
    if not machine_file.exists():
        raise Failure(f"{path} is not a folder of results: it has no {MACHINE}")
    found = {}
    for file in sorted(path.glob("*.json")):
        if file.name not in (MACHINE, COUNTS):
            result = from_data(read_json(file), file)
            found[result.name] = result
    return Folder(path, modern(read_json(machine_file)), found)
