# SPDX-License-Identifier: GPL-2.0
"""Verifies the shipped locks, and writes a report.

Without PARTs it explores all schedules of small configurations, and runs the
litmus tests, whole acquisitions under weak memory, and random schedules. The
report has the last result of each part.
"""

import argparse
from pathlib import Path

from base.common import folder_can_be_written, say
from base.progress import clock
from base.rst import replace
from base.setup import setup
from host import report
from host.parts import FOLDER, PARTS, VERIFIED

VERBS = {"verify": "verify the locks in all cases, and write a report"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The exit status is 0 only if nothing is wrong.")
    parser.add_argument("--no-run", action="store_true",
                        help="only write the report, from earlier results")
    parser.add_argument("--resume", action="store_true",
                        help="of explorer and mutants: go on where an earlier run with the same "
                        "sources was interrupted")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        default=FOLDER / "report.rst",
                        help="write the report there (default: %(default)s)")
    parser.add_argument("parts", nargs="*", metavar="PART", default=VERIFIED,
                        help="run only these: " + "; ".join(
                            f"{part.name}, {part.meaning}" for part in PARTS.values()))
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {' '.join(unknown)}; there are {' '.join(PARTS)}")
    folder_can_be_written(options.report.parent)
    return options


def run_parts(parts, resume):
    setup(*sorted({part.purpose for part in parts}),
          makes=[row for part in parts for row in part.makes])
    if not resume:
        minutes = sum(part.minutes for part in parts)
        say(f"{', '.join(part.name for part in parts)}: about {clock(60 * minutes)} on 2 cores")
    good = True
    for part in parts:
        say(f"{part.name}: {part.meaning}")
        good = part.run(resume) and good
    return good


def body():
    options = parse_arguments()
    good = True
    if not options.no_run:
        good = run_parts([PARTS[part] for part in options.parts], options.resume)
    print("\n".join(report.overview()))
    options.report.parent.mkdir(parents=True, exist_ok=True)
    print(f"report: {replace(options.report, report.text())}")
    return 0 if good else 1
