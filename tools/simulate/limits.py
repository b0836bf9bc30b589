# SPDX-License-Identifier: GPL-2.0
"""The table of limits: how many cache misses an acquisition may cost."""

import configparser
import re
from statistics import median

from simulate import program
from testbed.common import Trouble

PATH = program.HERE / "limits.ini"
CPUS = 64
SEEDS = (1, 2, 3)
DURATION_US = 1500
LEEWAY = 1.1			# of a limit above the figure beside it


class Limit:
    """A row of the table."""

    def __init__(self, lock, sockets, most, figure):
        self.lock = lock
        self.sockets = sockets
        self.most = most
        self.figure = figure

    def settings(self):
        """Those of its runs."""
        return [{"lock": self.lock, "cpus": CPUS, "sockets": self.sockets, "seed": seed,
                 "duration_us": DURATION_US} for seed in SEEDS]


def read(path=PATH):
    """[Limit] of a file."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except configparser.Error as error:
        raise Trouble(f"{path} is no table of limits: {error}") from None
    found = []
    for section in parser.sections():
        sockets = re.fullmatch(r"([1-8]) sockets?", section)
        if not sockets:
            raise Trouble(f"{path}: [{section}] is not [N sockets]")
        for lock, text in parser[section].items():
            row = re.fullmatch(r"(\d+(?:\.\d+)?), *(\d+(?:\.\d+)?)", text)
            if not row:
                raise Trouble(f"{path}: {lock} is \"{text}\", not LIMIT, FIGURE")
            most, figure = (float(number) for number in row.groups())
            if most > round(LEEWAY * figure, 1):
                raise Trouble(f"{path}: the limit of {lock}, {most}, is more than a tenth "
                              f"above {figure}")
            found.append(Limit(lock, int(sockets[1]), most, figure))
    return found


def misses(texts):
    """Misses of an acquisition and its release, the median of some results."""
    found = []
    for text in texts:
        values = program.values_of(text)
        if values["verdict"] != "PASS":
            raise Trouble(f"{values['lock']}: {values['verdict']}")
        found.append(values["success_misses"] / values["success_misses_of"])
    return median(found)
