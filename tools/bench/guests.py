# SPDX-License-Identifier: GPL-2.0
"""Runs that are made in one guest after the other, as a guest can be lost."""

from testbed.common import say
from testbed.guest import log_excerpt

LOST_GUESTS = 3			# then the other runs are given up


def make_in_guests(runs, make_in_one, progress):
    """Make all runs. Returns what went wrong, in sentences.

    make_in_one: makes runs in one guest, as far as it comes; returns what went wrong. A guest
    that is lost takes only the run that it was lost in with it.
    """
    problems = []
    left = runs
    lost = 0
    while left and lost < LOST_GUESTS:
        found = make_in_one(left)
        still = [run for run in left if not run.settled]
        if not found and len(still) == len(left):
            found = ["the guest made no run"]
        lost += bool(found)
        problems += found
        left = still
    lose(left, f"not made, after {LOST_GUESTS} guests were lost", progress)
    return problems


def lose(runs, problem, progress):
    for run in runs:
        run.lost = problem
        progress.skip(run.seconds)


def lose_current(runs, listener, problem, progress):
    """Blame the run in which a guest was lost; all, if it did not get to the first."""
    guilty = [listener.run] if listener.run else []
    if not guilty and not any(run.settled for run in runs):
        guilty = runs
    lose(guilty, problem, progress)


def complaints(outcome):
    return [f"the kernel complained: {line}" for line in outcome.complaints[:3]]


def show_log(outcome, progress):
    progress.clear()
    say(log_excerpt(outcome))
