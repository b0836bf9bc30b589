# SPDX-License-Identifier: GPL-2.0
"""What studies have in common. A study compares kernels under loads, and claims something.

studies/NAME/study.py is found by tools/nbq and tools/check. It ends in "body = study(__name__)" and
has a docstring, which tools/nbq NAME --help prints, and

  VERBS		{the verb: its line in tools/nbq --help}
  needs		function(options): what is for setup(), (purposes, rows of what is made)
  SIDES		{name: TestBed} of the kernels that are compared
  PARTS		{name: function(name, side, machine, options)}: a guest with scripts and loads, such
		as Guest. A load prints lines "name value", as output or to the kernel's log
  ROWS		{words: function(loads): a text}, such as cell("value"), of a table with a column
		for each side
  CLAIMS	{what is claimed: whether it holds, of all that was made}, besides those of a load

and what differs from the constants of Study. sides(options) and parts(options) are functions where
these depend on options, and rows(made, options) gives tables of another form, heads first. Its
steps are functions under @step(), as in all rooms; without them it has one, with a case for each
load and claim.
"""

import argparse
import contextlib
import re
from statistics import median
import sys

from base.case import LOAD, ONLY_ALL, STEPS, Case, On, step
from base.common import MOST_CPUS, guest_cpus, positive, print_columns, say
from base.driver import value_of
from base.setup import setup
from guest.cases import clean_guest, guest_report
from guest.logs import log_excerpt
from guest.parts import Part, run_parts

# A line of a load: as it is, or from a module of the kernel.
LINE = re.compile(r"^(?:\[ *[\d.]+\] )?(?:\w+: )?([A-Za-z][\w.-]*) (\S+)\r?$", re.MULTILINE)


# What loads print

class Values(dict):
    """{name: value}, the last of each name."""

    def __init__(self, text):
        self.lines = [(name, value_of(name, value)) for name, value in LINE.findall(text)]
        super().__init__(self.lines)

    def all(self, name):
        """Of a name that is printed more than once."""
        return [value for each, value in self.lines if each == name]

    def below(self, head):
        """{name: value} of the names that begin with a head and a dot, without these."""
        return {name.removeprefix(f"{head}."): value for name, value in self.items()
                if name.startswith(f"{head}.")}


class Load(Part):
    """A script with a load. claims: {what is claimed: whether it holds, of its Values}."""

    claims = {}

    def __init__(self, name, command, claims=None):
        super().__init__(name, command)
        self.claims = claims or self.claims

    @property
    def values(self):
        return Values(f"{self.output}\n{self.log}")

    @property
    def complaint(self):
        if wrong := super().complaint:
            return ": ".join([wrong, *self.output.strip().splitlines()[-1:]])
        return next(filter(None, map(self.broken, self.claims)), "")

    def broken(self, claim):
        """What is wrong with a claim, or nothing. A value that was not printed breaks it."""
        try:
            return "" if self.claims[claim](self.values) else f"not so: {claim}"
        except KeyError as name:
            return f"{claim}: {name} was not printed"


class Guest:
    """A boot that runs parts, and what came of it. options: for run_parts()."""

    def __init__(self, machine, parts, **options):
        self.machine = machine
        self.parts = parts
        self.options = options
        self.outcome = None

    def run(self):
        self.outcome = run_parts(self.machine, self.parts, **self.options)
        return self

    @property
    def complaint(self):
        """What is wrong with the boot as a whole, or nothing."""
        return self.outcome.problem or next(iter(self.outcome.complaints), "")


def wrong_with(guest):
    """What is wrong with a guest or with one of its parts, or nothing."""
    return guest.complaint or next((f"{part.name}: {part.complaint}" for part in guest.parts
                                    if part.complaint), "")


class Made(dict):
    """{name of a part: {side: [its guest of each round]}}"""

    def add(self, name, side, guest):
        self.setdefault(name, {}).setdefault(side, []).append(guest)

    def guests(self, name, side):
        return self.get(name, {}).get(side, [])


# Cases

def judged(name, wrong, guest):
    """A case that nothing is wrong with what was made in a guest."""
    return Case(name, not wrong, f"{wrong}\n{guest_report(guest.outcome)}")


def load_cases(name, guest):
    """A case for each load of a guest."""
    for part in guest.parts:
        yield judged(f"{name}: {part.name}", part.complaint and f"{part.complaint}\n{part.output}",
                     guest)


# Tables

def ratios(ours, theirs):
    """One side's figures divided by another's, of each round: the median, the least, the most."""
    found = sorted(our / their for our, their in zip(ours, theirs))
    return f"{median(found):.2f} ({found[0]:.2f} to {found[-1]:.2f})"


def cell(name, of=median):
    """A row of a table: what becomes of a value in the rounds that came to their end."""
    def text(loads):
        found = [load.values[name] for load in loads
                 if load.status is not None and name in load.values]
        number = of(found) if found else None
        return number if number is None else \
            str(int(number)) if number == int(number) else f"{number:.1f}"
    return text


def side_by_side(made, rows, noun="load"):
    """A table with a column for each side, without the rows that no side has a text for."""
    sides = list(dict.fromkeys(side for by_side in made.values() for side in by_side))
    table = [(noun, "", *sides)]
    for name, by_side in made.items():
        loads = [[load for guest in by_side.get(side, ()) for load in guest.parts]
                 for side in sides]
        for words, row in rows.items():
            texts = [own and row(own) for own in loads]
            if any(texts):
                table.append((name, words, *(text or "-" for text in texts)))
                name = ""
    return table


# Options

def option(*words, **settings):
    return words, settings


def number(name, default, text, **settings):
    """An option that takes a number from 1 on."""
    return option(name, **{"type": positive, "default": default, "metavar": "N",
                           "help": f"{text} (default: %(default)s)", **settings})


def rounds(default, text="boots of each kernel", name="--rounds"):
    return number(name, default, text, dest="rounds")


CPUS = number("--cpus", guest_cpus(), "CPUs of the guest, by default one for each core")


class Study:
    """A study: what its module has, and what is the same in all."""

    EPILOG = "The exit status is 1 if a load or a claim fails, or if a kernel complains."
    OPTIONS = (rounds(3),)
    SIDES = PARTS = ROWS = CLAIMS = {}
    NEEDS = None
    REFUSED = None		# of options: why they cannot be, or nothing
    WITHIN = contextlib.nullcontext	# of options: what all guests need meanwhile
    CHOSEN = None		# a noun for PARTS, whose names are then arguments of the command
    JUDGED = None		# sides whose loads make the exit status 1; without it all
    STOPS = True		# at the first guest with which something is wrong
    RIGHT = ()			# columns of the tables that end at the right
    CHECKED = ()		# words of the command as a step without @step() runs it

    def __init__(self, module):
        self.doc = module.__doc__
        self.name = module.__name__.split(".")[-2].replace("_", "-")
        vars(self).update({name.upper(): value for name, value in vars(module).items()
                           if hasattr(Study, name.upper())})

    def arguments(self, words=None):
        parser = argparse.ArgumentParser(
            description=self.doc, epilog=self.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        for names, settings in self.OPTIONS:
            parser.add_argument(*names, **settings)
        if self.CHOSEN:
            parser.add_argument("parts", nargs="*", metavar=self.CHOSEN.upper(),
                                help=f"run only these {self.CHOSEN}s (default: all)")
        options = parser.parse_args(words)
        there = self.of(options, self.PARTS)
        unknown = [part for part in getattr(options, "parts", ()) if part not in there]
        refused = f"no such {self.CHOSEN}: {' '.join(unknown)}; there are {' '.join(there)}" \
            if unknown else self.of(options, self.REFUSED)
        if getattr(options, "cpus", 1) > MOST_CPUS:
            refused = f"--cpus {options.cpus}: {MOST_CPUS} at most"
        if refused:
            parser.error(refused)
        return options

    @staticmethod
    def of(options, what):
        return what(options) if callable(what) else what

    def guests(self, options):
        """(name of a part, side, guest), in the order in which they are made, sides by turns."""
        chosen = getattr(options, "parts", None)
        sides = self.of(options, self.SIDES)
        machines = {side: testbed.machine() for side, testbed in sides.items()}
        for options.round in range(getattr(options, "rounds", 1)):
            for name, make in self.of(options, self.PARTS).items():
                for side in list(machines)[::-1 if options.round % 2 else 1]:
                    if not chosen or name in chosen:
                        yield name, side, make(name, side, machines[side], options)

    def make(self, options, made):
        """Make all guests. Returns whether none had something wrong with it that counts."""
        passed = True
        for name, side, guest in self.guests(options):
            say(f"round {options.round + 1}: {name}, {side}")
            wrong = wrong_with(guest.run())
            made.add(name, side, guest)
            say(f"  {wrong or getattr(guest, 'figure', 'passed')}")
            if wrong:
                say(log_excerpt(guest.outcome))
                passed &= side not in (self.JUDGED or [side])
                if self.STOPS:
                    break
        return passed

    def body(self):
        """The command."""
        options = self.arguments()
        purposes, makes = self.NEEDS(options)
        setup(*purposes, makes=makes)
        made, passed = Made(), False
        try:
            with self.WITHIN(options) as options.within:
                passed = self.make(options, made)
        finally:
            if made and (passed or not self.STOPS):
                # Of what there is so far, too.
                for table in self.ROWS(made, options) if callable(self.ROWS) else \
                        [side_by_side(made, self.ROWS, self.CHOSEN or "load")]:
                    print_columns(table, self.RIGHT)
        return 0 if passed and all(holds(made) for holds in self.CLAIMS.values()) else 1

    def cases(self):
        """The step of a study that has none of its own."""
        options, made = self.arguments(self.CHECKED), Made()
        options.round = 0
        with self.WITHIN(options) as options.within:
            for side, testbed in self.of(options, self.SIDES).items():
                yield On(testbed, self.name)
                for name, make in self.of(options, self.PARTS).items():
                    guest = make(name, side, testbed.machine(), options).run()
                    made.add(name, side, guest)
                    yield from load_cases(f"{self.name}, {side}", guest)
                    yield clean_guest(f"{self.name}, {side}: {name}", guest.outcome)
        for claim, holds in self.CLAIMS.items():
            yield Case(f"{self.name}: {claim}", bool(holds(made)))


def study(name):
    """Of the module of a study: its step, if it has none; returns its command."""
    module = sys.modules[name]
    made = Study(module)
    if not any(function.__module__ == name for function in STEPS.values()):
        def cases():
            yield from made.cases()
        cases.__doc__ = made.doc.partition("\n")[0]
        step(made.name, ONLY_ALL, LOAD)(cases)
    return made.body
