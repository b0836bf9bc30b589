# SPDX-License-Identifier: GPL-2.0
"""The figures of a result folder, drawn as SVG and PNG."""

import os
from pathlib import Path

from base.common import Failure
from base.parameters import MACHINE
from base.testbeds import KERNELS, KERNELS_OTHERS, SIMULATED, WHOLE_KERNELS
from measure.bench.distribution import Distribution
from measure.bench.figure import Figure, drawn_runs, point_words
from measure.bench.gnuplot import description, run_gnuplot, script
from measure.bench.kernels import OWN
from measure.bench.metrics import FIGURE5, context_of, context_of_kernels, same
from measure.results import open_folder

FIGURES = "figures"		# in a result folder
FORMATS = ("svg", "png")


def tables_of(result, where=None):
    """The names of the cost tables that a result is simulated by; none of other testbeds.

    where: {axis: [values]}, the points that are shown, if not all are.
    """
    if not result.plan.is_simulated:
        return []
    return sorted({run.result["costs"] for run in drawn_runs(result.runs, where or {})
                   if "costs" in run.result})


def simulated_words(result, where=None):
    """"simulated, cost table A": for all that shows simulated figures."""
    tables = tables_of(result, where)
    return f"simulated, cost table{'' if len(tables) == 1 else 's'} {' and '.join(tables)}"


def rounds_words(count, name, histogram):
    """"5 rounds (mark: median; bar: least to greatest)"."""
    shown = " together" * (count > 1) if histogram else " (mark: median; bar: least to greatest)"
    return f"{count} {name}{'' if count == 1 else 's'}{shown}"


def subtitle_of(folder, result, plot):
    """The machine, in a line."""
    machine, histogram = folder.machine, plot.histogram
    rounds = max((run.round for run in result.runs), default=-1) + 1
    if result.plan.is_simulated:
        words = [f"S{simulated_words(result, plot.where)[1:]}",
                 *(point_words(parameter, value) for parameter, value in result.plan.load.items()
                   if parameter in ("sockets", "cores")),
                 rounds_words(rounds, "seed", histogram)]
    else:
        kind = "User-mode Linux" if result.plan.testbed in ("uml", KERNELS, KERNELS_OTHERS) else \
            result.plan.testbed
        words = [f"{kind} {result.kernel}".strip(), f"{machine.get('cores', '?')} cores",
                 rounds_words(rounds, "round", histogram)]
    return ", ".join([*words, "a quick pass"] if result.plan.is_quick else words)


def context_for(folder, result, where=None):
    """What the metrics of a folder's result need.

    where: {axis: value}, the simulated machine, if the result has several.
    """
    plan = result.plan
    if plan.testbed in WHOLE_KERNELS:
        return context_of_kernels(folder.machine.get("cores"), result.runs, OWN)
    if not plan.is_simulated:
        figure5 = folder.scenarios.get(FIGURE5)
        return context_of(folder.machine.get("cores"), figure5.runs if figure5 else [])
    figure5 = folder.scenarios.get(f"{FIGURE5}-{SIMULATED}")
    machine = {**plan.load, **(where or {})}
    runs = [run for run in figure5.runs if all(
        same(run.settings.get(axis, default), machine.get(axis, default))
        for axis, default in MACHINE.items())] if figure5 else []
    return context_of(plan.cores(None), runs, plan.testbed)


def figures_of(folder):
    """{scenario's name: [Figure]}; empty figures too, which draw() leaves out."""
    return {name: figures_of_result(folder, result)
            for name, result in folder.scenarios.items()}


def figures_of_result(folder, result):
    context = context_for(folder, result)
    return [Distribution(result, plot) if plot.histogram else Figure(result, plot, context)
            for plot in result.plan.plots]


def write(figure, subtitle, path):
    """Draw a figure to a file, of the kind that its name ends with."""
    if figure.plot.histogram:
        figure.draw(subtitle, path)
    else:
        run_gnuplot(script(figure, subtitle, path.suffix[1:], path), path, figure.plot.title,
                    description(figure, subtitle))


def draw(folder):
    """Draw all figures of a result folder, anew if they are there. Returns their paths."""
    opened = open_folder(folder)
    target = Path(folder) / FIGURES
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make {target}: {error.strerror}") from None
    if not os.access(target, os.W_OK | os.X_OK):
        raise Failure(f"cannot write to {target}")
    paths = []
    for name, figures in figures_of(opened).items():
        for figure in figures:
            if figure.empty:
                continue
            subtitle = subtitle_of(opened, opened.scenarios[name], figure.plot)
            for kind in FORMATS:
                path = target / f"{figure.name}.{kind}"
                write(figure, subtitle, path)
                paths.append(path)
    return paths
