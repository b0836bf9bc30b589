# SPDX-License-Identifier: GPL-2.0
"""Panics a Debian kernel in QEMU: what becomes of records whose lock is held?

Each panic stops three CPUs that write a record each; most of them hold its lock
then. The panic's kmsg_dumper appends an entry to each record in another way:

  skip      spin_trylock(); if that fails, nothing
  ignore    spin_trylock(); if that fails, the entry without the lock
  takeover  nbq_spin_lock_timeout_info(); on -EOWNERDEAD nbq_spin_takeover()
            and a repair

A record is lost if the entry is missing, torn if an entry in it is
half-written, else whole. Documentation/panic.rst has the results.
"""

import argparse
import tempfile

from base.common import columns, positive, say, terminal_columns
from base.setup import setup
from guest.kernels import debian_row
from guest.logs import log_excerpt
from studies.panic.runs import FATES, STEPS, TAKEOVER, WAYS, WHOLE, Panics, delays

VERBS = {"panic": "show what a panic does to a record whose lock is held"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The exit status is 1 if a record of \"takeover\" is not whole.")
    parser.add_argument("--panics", type=positive, default=100, metavar="N",
                        help="number of panics, each after another delay; at most 250 (default: "
                        "%(default)s)")
    options = parser.parse_args()
    if options.panics > STEPS:
        parser.error(f"--panics {options.panics}: there are {STEPS} delays")
    return options


def table(panics):
    """The lines of a table: a row for each way."""
    rows = [("", "panics", "lock held", *FATES)]
    for way in WAYS:
        records = panics.of(way)
        fates = [record.fate for record in records]
        rows.append((way, str(len(records)), str(sum(record.first != 0 for record in records)),
                     *(str(fates.count(fate)) for fate in FATES)))
    return columns(rows, range(1, len(rows[0])), terminal_columns())


def body():
    options = parse_arguments()
    setup("debian-guest", makes=[debian_row("6.12")])
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        panics = Panics(folder)
        try:
            for number, steps in enumerate(delays(options.panics), 1):
                run = panics.make(steps)
                if run.complaint:
                    say(f"{run.complaint}\n{log_excerpt(run.outcome)}")
                    return 1
                say(f"panic {number} of {options.panics}, after {run.delay_us} us: " + ", ".join(
                    f"{record.way} {record.fate}" for record in run.records))
        finally:
            # Of what there is so far, too.
            print("\n".join(table(panics)))
    return 0 if all(record.fate == WHOLE for record in panics.of(TAKEOVER)) else 1
