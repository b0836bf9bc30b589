# SPDX-License-Identifier: GPL-2.0
"""Panics of a stock Debian kernel: a record whose lock is taken over is whole."""

import tempfile

from base.case import LOAD, ONLY_ALL, Case, runs_on, step
from guest.cases import DEBIAN_6_12
from studies.panic.command import table
from studies.panic.runs import SKIP, TAKEOVER, WHOLE, Panics, delays

PANICS = 10
MOST_PANICS = 40	# until the lock was held in one


def held(panics, way):
    return [record for record in panics.of(way) if record.first]


@step("panic", ONLY_ALL, LOAD)
@runs_on(DEBIAN_6_12, "panics")
def panic():
    """panics that stop the holder of a lock: with a takeover, no record is lost or torn"""
    complaints = []
    with tempfile.TemporaryDirectory(prefix="nbqlock-") as folder:
        panics = Panics(folder)
        for steps in delays(MOST_PANICS)[::MOST_PANICS // PANICS] + delays(MOST_PANICS):
            if len(panics.runs) >= PANICS and held(panics, SKIP) and held(panics, TAKEOVER):
                break
            complaints.append(panics.make(steps).complaint)
    shown = "\n".join(table(panics))
    yield Case("panics: each is as it is to be", not any(complaints), "\n".join(complaints))
    yield Case("panics: -EOWNERDEAD, and each record of a takeover is whole",
               held(panics, TAKEOVER) != [] and
               all(record.fate == WHOLE for record in panics.of(TAKEOVER)), shown)
    yield Case("panics: with spin_trylock(), records are lost",
               held(panics, SKIP) != [] and
               all(record.fate != WHOLE for record in held(panics, SKIP)), shown)
