# SPDX-License-Identifier: GPL-2.0
"""A result in one file for other people: what one must know of the machine, nothing private.

Only what is named here is written. tools/nbq compare reads the file as it reads a folder.
"""

import re

from base import hardware
from base.common import Failure
from base.hardware import FORMAT, released
from measure.results import PASS, as_json, open_folder, write_new

# Of a result's machine. Not its command, nor the name of its kernel's build.
MACHINE = ("kernel", "testbed", "kernels", "simulated", "cpu_model", "cores", "memory_mb",
           "compiler", "commit", "date", "quick")
HARDWARE = (*hardware.FIELDS, *hardware.FILES, "load_average", "distribution")
PATH = re.compile(r"(?<![\w.])/(?:[^\s/:,;]+/)*([^\s/:,;]*)")
MAIL = re.compile(r"\S+@\S+")


def without_names(text):
    """A sentence of ours without folders, users and machines: of a path, its last part."""
    return MAIL.sub("...", PATH.sub(r"\1", text))


def shared_machine(machine):
    found = {key: machine[key] for key in MACHINE if key in machine}
    found["format"] = FORMAT
    found["host_kernel"] = released(machine.get("host_kernel"))
    known = machine.get("hardware", {})
    found["hardware"] = {key: known[key] for key in HARDWARE if key in known}
    return found


def shared_scenario(result):
    data = result.as_data()
    data["problems"] = [without_names(sentence) for sentence in data["problems"]]
    data["runs"] = [{**run, "verdict": run["verdict"] if run["verdict"] == PASS else
                     without_names(run["verdict"])} for run in data["runs"]]
    return data


def shared(folder):
    """The data of a folder of results."""
    if not folder.scenarios:
        raise Failure(f"{folder.path} has no results to share")
    return {"format": FORMAT, "machine": shared_machine(folder.machine),
            "scenarios": [shared_scenario(result)
                          for _, result in sorted(folder.scenarios.items())]}


def share(path, file):
    """Write a folder's results to a file that is not there yet. Returns the data."""
    data = shared(open_folder(path))
    write_new(file, as_json(data))
    return data
