# SPDX-License-Identifier: GPL-2.0
"""tools/nbq stress, where guests can be built: the testbeds, further modules, figures."""

import argparse
from pathlib import Path

from base.common import say
from base.driver import HISTOGRAMS
from base.setup import setup
from base.testbeds import STRESSED
from guest.modules import user_sources
from measure import stress_command
from measure.bench import distribution, gnuplot, plot
from measure.bench.places import needs, place_on
from measure.cli import add_modules
from measure.scenario import Plot


def figure(text):
    """HISTOGRAM=FILE, as (histogram, path)."""
    name, _, file = text.partition("=")
    if name not in HISTOGRAMS or not file.endswith((".svg", ".png")):
        raise argparse.ArgumentTypeError(f"{text} is not HISTOGRAM=FILE.svg or .png; there are "
                                         f"{', '.join(HISTOGRAMS)}")
    return name, Path(file)


class Guests(stress_command.Here):
    """This machine, or a guest."""

    def add_options(self, parser):
        parser.add_argument("--figure", type=figure, action="append", default=[],
                            metavar="HISTOGRAM=FILE", help="draw a histogram of the contended "
                            "runs, such as handoff, to a new file, .svg or .png; repeatable")
        add_modules(parser)
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--testbed", choices=STRESSED, default="uml", metavar="NAME",
                           help="the guest's kernel (default: %(default)s): " + "; ".join(
                               f"{name}, {testbed.meaning}" for name, testbed in STRESSED.items()))
        where.add_argument("--here", action="store_true", help="run on this machine, as root, "
                           "with the loaded module, not in a guest")

    def check(self, options):
        for folder in options.module:
            user_sources(folder)

    def place_for(self, options):
        purposes, makes = ((), ()) if options.here else needs(options.testbed)
        if options.figure:
            purposes = (*purposes, "figures")
        if purposes:
            setup(*purposes, makes=makes)
        if options.figure:
            gnuplot.gnuplot()
        if options.here:
            return super().place_for(options)
        return place_on(options.testbed, folders=options.module)

    def draw(self, options, machine, result):
        for name, path in options.figure:
            draw(name, path, machine, result)


def draw(name, path, machine, result):
    """A figure of a histogram."""
    drawn = distribution.Distribution(result, Plot(name, distribution.title_of(name),
                                                   histogram=name))
    if drawn.empty:
        say(f"{name}: no run has values, {path} is not drawn")
        return
    subtitle = plot.subtitle_of(argparse.Namespace(machine=machine), result, drawn.plot)
    plot.write(drawn, subtitle, path)
    say(f"written: {path}")


def new_parser(verbs):
    stress_command.new_parser(verbs, Guests())
