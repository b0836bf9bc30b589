# SPDX-License-Identifier: GPL-2.0
"""Moving drivers of the kernel tree to nbq_spin, by tools/studies/moving/convert."""

import re

from base.case import ONLY_ALL, Case, step
from base.common import PROJECT, Failure
from studies.moving.drivers import Driver, try_drivers

PAGE = PROJECT / "Documentation/moving.rst"
# A row of its table: driver, lock, sites, lines left.
ROW = re.compile(r"^(drivers/\S+\.c) +(\S+) +(\d+) +(\d+)$", re.MULTILINE)
FEW = 3				# rows for every day


def rows(text):
    """{Driver: (sites, lines left)} as the page has them."""
    found = {Driver(path, lock): (int(sites), int(left))
             for path, lock, sites, left in ROW.findall(text)}
    if len(found) <= FEW:
        raise Failure(f"{PAGE.name} has no table of drivers that can be read")
    return found


def driver_cases(shown):
    """That drivers compile as they were, convert as the page says, and compile converted."""
    for driver, one, built, output in try_drivers(list(shown)):
        listed = "".join(f"\n{number}: {line}" for number, line in one.left)
        yield Case(f"moving: {driver.name}: {one.sites} sites converted, {len(one.left)} left",
                   (one.sites, len(one.left)) == shown[driver],
                   f"the page says {shown[driver]}{listed}")
        yield Case(f"moving: {driver.name}: compiles as it was, and converted",
                   all(built.values()), f"{built}\n{output[-4000:]}")


def shown_drivers():
    return list(rows(PAGE.read_text()).items())


@step("moving")
def moving():
    """drivers of the kernel tree that tools/studies/moving/convert has moved compile"""
    yield from driver_cases(dict(shown_drivers()[:FEW]))


@step("moving-all", ONLY_ALL)
def moving_all():
    """as moving, with more drivers"""
    yield from driver_cases(dict(shown_drivers()[FEW:]))
