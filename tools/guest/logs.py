# SPDX-License-Identifier: GPL-2.0
"""Kernel logs of guests: which are kept, and what is shown of them."""

import contextlib
import os
from pathlib import Path
import re
import secrets
import shutil

from base.common import BUILD, say
from guest.complaints import COMPLAINTS

LOGS_KEPT = 30			# of guests of which there was nothing to report
FAILED_KEPT = 100		# of the others
LOGS = BUILD / "log"
EARLY_DEATHS = LOGS / "early-deaths"
LOG_LINES_SHOWN = 60


def log_file(path, kernel):
    """Where the kernel log goes; old ones without a name of their own are removed."""
    if path:
        return Path(path)
    LOGS.mkdir(parents=True, exist_ok=True)
    remove_oldest(LOGS, "guest-*.log", LOGS_KEPT)
    return LOGS / f"guest-{kernel}-{os.getpid()}-{secrets.token_hex(3)}.log"


def remove_oldest(folder, pattern, kept):
    """All logs but the last; another guest's start may remove some meanwhile."""
    dates = {}
    for log in folder.glob(pattern):
        with contextlib.suppress(FileNotFoundError):
            dates[log] = log.stat().st_mtime
    for old in sorted(dates, key=dates.get)[:-kept]:
        old.unlink(missing_ok=True)


def keep_failed(outcome):
    """Put a log that is worth a look where later guests do not push it out."""
    if outcome.problem or outcome.complaints:
        remove_oldest(LOGS, "failed-guest-*.log", FAILED_KEPT)
        outcome.log_path = outcome.log_path.rename(
            outcome.log_path.with_name(f"failed-{outcome.log_path.name}"))


def keep_early_death(log, kernel, deaths=EARLY_DEATHS):
    """Put away the log of a kernel that has tested nothing. Returns where it is."""
    deaths.mkdir(parents=True, exist_ok=True)
    remove_oldest(deaths, "*.log", FAILED_KEPT)
    kept = deaths / f"{kernel}-{os.getpid()}-{secrets.token_hex(3)}.log"
    shutil.copyfile(log, kept)
    say(f"{kernel} died before its first program and is started anew; kernel log: {kept}")
    return kept


def early_deaths(since):
    """The logs of the kernels that were started anew since then (of time.time())."""
    return sorted(log for log in EARLY_DEATHS.glob("*.log")
                  if log.stat().st_mtime >= since)


def readable(log):
    """A console's text without control characters."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc|[^\t\n\x20-\x7e]", "", log)


def excerpt(log):
    """The lines of a kernel log that are worth a look when something is wrong."""
    lines = readable(log).splitlines()
    first = next((number for number, line in enumerate(lines)
                  if COMPLAINTS.search(line)), None)
    if first is not None:
        return lines[max(0, first - 10):first + LOG_LINES_SHOWN]
    # What the kernel says before it has a first process is seldom the reason.
    started = next((number for number, line in enumerate(lines)
                    if "Run /init as init" in line), 0)
    return lines[started:][-LOG_LINES_SHOWN:]


def log_excerpt(outcome):
    """A part of a guest's kernel log, under a heading that says why."""
    reason = outcome.problem or "; ".join(outcome.complaints[:3]) or "for reference"
    return "\n".join([f"--- from the kernel log ({reason})", *excerpt(outcome.log),
                      f"--- all of it: {outcome.log_path}"])
