# SPDX-License-Identifier: GPL-2.0
"""The tutorial: its commands are run, its page shows what they print."""

from base.case import Case, On, runs_on, step
from guest.cases import DEBIAN_6_12, USER_MODE, clean_guest, guest_report
from studies.tutorial.page import (PAGE, Typed, breaks_a_promise, commands, is_as_shown, tracked,
                                   unread)

# A flush that no interrupt came into, a CPU that the host did not run for seconds.
MOST_RUNS = 4
HANGS = "raw"			# this one is meant to
ON_DEBIAN = "tools/nbq debian-guest"


def typed_cases(typed, name="tutorial", run=Typed.run):
    """That a command prints what the page shows, and that its guest is clean."""
    shown = typed.path.read_text()
    for _ in range(MOST_RUNS):
        output, outcome = run(typed)
        if is_as_shown(typed, output, shown) or breaks_a_promise(typed, output, shown):
            break
    passed = is_as_shown(typed, output, shown) and not breaks_a_promise(typed, output, shown)
    yield Case(f"{name}: {typed.name}.txt is what its command prints", passed,
               f"the page shows:\n{shown}\nit printed:\n{output}\n"
               f"{guest_report(outcome) if outcome else ''}\n"
               f"tools/nbq tutorial --write {typed.name} keeps a new output")
    if outcome and typed.name != HANGS:
        yield clean_guest(f"{name}: {typed.name}", outcome)


@step("tutorial")
@runs_on(USER_MODE, "modules")
def tutorial():
    """the tutorial's listings are built and run, its outputs compared"""
    text = PAGE.read_text()
    left = unread(text, tracked())
    yield Case("tutorial: the page shows each of its files", not left, "\n".join(left))
    for typed in sorted(commands(text), key=lambda one: one.command.startswith(ON_DEBIAN)):
        yield On(DEBIAN_6_12 if typed.command.startswith(ON_DEBIAN) else USER_MODE, "modules")
        yield from typed_cases(typed)
