# SPDX-License-Identifier: GPL-2.0
"""The report of a result folder: report.rst, and report.html by docutils.

Every number and every verdict in it comes from the folder; the words about the
papers come from the scenarios.
"""

from collections import Counter, namedtuple
from itertools import product
from pathlib import Path

from base.common import Failure, say
from base.parameters import MACHINE
from base.rst import escaped, heading, paragraph, replace, table
from base.testbeds import SIMULATED, WHOLE_KERNELS
from measure import host_load
from measure.bench import aims, findings, kernel_report, plot, rivals, table1
from measure.bench.figure import drawn_runs, point_words
from measure.bench.metrics import METRICS, matching, points_of, summary, values_of
from measure.bench.report_head import what_was_run
from measure.metrics import shown
from measure.results import open_folder
from measure.table import host_words

RATE = rivals.RATE
MISSES = "acquisition_misses"

# A finding of a result, what it came to, and on which of the simulated machines.
Evaluated = namedtuple("Evaluated", "result finding where evaluation")
# Of headings: the title of an experiment, its parts, a finding in one.
LEVELS = "=-~"
SIMULATED_LEVELS = "-~^"
SIMULATED_MARK = ", simulated"	# of titles


# Cells

def ranged(found):
    """A cell: median, and the range of the rounds."""
    if found is None:
        return "-"
    return shown(found.median) if found.rounds == 1 else str(found)


def point_name(point):
    return ", ".join(point_words(axis, value) for axis, value in point.items())


def results_of(folder, simulated=False):
    """The results of the kernels, or those of the simulation, in their order."""
    return [result for _, result in sorted(folder.scenarios.items(), key=tables_first)
            if result.plan.is_simulated == simulated]


# The parts

def machines_of(result, finding):
    """The simulated machines that a finding is evaluated for: those that it does not name."""
    try:
        named = findings.Finding(finding.holds).axes
    except Failure:
        named = []
    axes = {axis: values_of(result.runs, axis) for axis in MACHINE if axis not in named}
    axes = {axis: values for axis, values in axes.items() if len(values) > 1}
    return [dict(zip(axes, values)) for values in product(*axes.values())]


def evaluation_of(folder, result, finding, where):
    """A Judgement; a line that these runs cannot answer is one, too."""
    runs = drawn_runs(result.runs, {axis: [value] for axis, value in where.items()})
    try:
        return findings.evaluated(finding.holds, runs, plot.context_for(folder, result, where))
    except Failure as failure:
        return findings.Judgement(findings.UNKNOWN, [], missing=[str(failure)])


def evaluations(folder, simulated=False):
    """[Evaluated] of all experiments."""
    return [Evaluated(result, finding, where, evaluation_of(folder, result, finding, where))
            for result in results_of(folder, simulated) for finding in result.plan.findings
            for where in machines_of(result, finding)]


def overview(evaluated):
    """All findings in a table."""
    if not evaluated:
        return []
    rows = [[escaped(each.finding.title), escaped(each.result.name),
             f"**{each.evaluation.word}**"] for each in evaluated]
    return [*heading("Findings", "="),
            *paragraph(f"Of {len(evaluated)} findings {count_words(evaluated)}."),
            *table(["finding", "experiment", "here"], rows, (60, 20, 20))]


def count_words(evaluated):
    count = Counter(each.evaluation.word for each in evaluated)
    return ", ".join(f"{count[word]} {said}" for word, said in (
        (findings.HOLDS, "hold here"), (findings.FAILS, "do not"),
        (findings.UNCLEAR, "are not clear within the spread of the rounds"),
        (findings.UNKNOWN, "cannot be said")) if count[word])


WHAT_AN_AIM_IS = """\
An aim is for each of its points; the worst of them is shown: medians, and of ratios and of \
figures without another lock also the least and the greatest of the rounds. Ratios are round \
by round, of locks that ran right after one another. "By the medians": some rounds say \
otherwise."""


def aims_part(folder, simulated=False, level="="):
    """What ours were meant to reach, and whether they do."""
    evaluated = aims.verdicts(folder, simulated)
    if not evaluated:
        return []
    met = sum(each.word.startswith(aims.MET) for each in evaluated)
    return [*heading("Aims" + SIMULATED_MARK * simulated, level),
            *paragraph(f"Of {len(evaluated)} aims {met} are met. {WHAT_AN_AIM_IS}"),
            *table(aims.HEADINGS, [each.cells() for each in evaluated], aims.WIDTHS)]


def table1_part(folder):
    """Table 1, from its own runs."""
    heads, rows, notes = table1.table(folder)
    if not rows:
        return []
    return [*heading("Table 1: the cost of a lock alone", "="),
            *table([escaped(head) for head in heads],
                   [[escaped(cell) for cell in row] for row in rows]),
            *(line for note in notes for line in paragraph(escaped(note)))]


def load_sentence(result):
    """What every run of an experiment had in common."""
    length = {"duration_ms": "ms", "duration_us": "us of simulated time"}
    words = [point_words(parameter, value) if parameter not in length else
             f"{value} {length[parameter]} a run" for parameter, value in result.plan.load.items()]
    return f"Load: {', '.join(words)}; {result.plan.rounds} rounds." if words else ""


def host_sentence(result):
    """How busy others kept the host; empty where that was left as it was."""
    points = [matching(result.runs, **point) for point in points_of(result.runs)]
    words = dict.fromkeys(filter(None, map(host_words, points)))
    return f"The host: {'; '.join(words)}." if words else ""


def simulated_mark(result, where=None):
    """For the title of a figure or a table; empty if it is measured."""
    return f" ({plot.simulated_words(result, where)})" if result.plan.is_simulated else ""


def figure_part(folder, result, figure):
    path = folder.path / plot.FIGURES / f"{figure.name}.svg"
    title = escaped(figure.plot.title + simulated_mark(result, figure.plot.where))
    if figure.empty:
        return paragraph(f"*{title}*: no data.")
    if not path.exists():
        return paragraph(f"*{title}*: not drawn.")
    return [f".. figure:: {plot.FIGURES}/{path.name}", f"   :alt: {title}", "",
            f"   {title}", ""]


def medians(result, name, context):
    """A table of a metric: a row for each lock, a column for each number of CPUs."""
    metric = METRICS[name]
    columns = values_of(result.runs, "cpus")
    others = list({tuple((axis, value) for axis, value in point.items() if axis != "cpus"): 0
                   for point in points_of(result.runs)})
    lines = []
    for other in others:
        rows = [[escaped(lock), *(ranged(summary(
            name, matching(result.runs, lock, cpus=cpus, **dict(other)), context))
            for cpus in columns)] for lock in result.locks]
        rows = [row for row in rows if set(row[1:]) != {"-"}]
        if not rows:
            continue
        where = f", {escaped(point_name(dict(other)))}" if other else ""
        lines += paragraph(f"{metric.axis[:1].upper()}{metric.axis[1:]}{where}"
                           f"{escaped(simulated_mark(result))}: median (least to greatest)")
        lines += table(["lock", *(point_words("cpus", cpus) for cpus in columns)], rows)
    return lines


def finding_part(evaluated, level):
    """A finding and what it came to, on each of the machines."""
    finding = evaluated[0].finding
    lines = [*heading(escaped(finding.title), level), f":Paper: {escaped(finding.paper)}"]
    for each in evaluated:
        where = f" {point_name(each.where)}" if each.where else ""
        name = f"Simulated{where}" if each.result.plan.is_simulated else "Here"
        lines.append(f":{name}: **{each.evaluation.verdict()}**: "
                     f"{escaped(each.evaluation.details())}")
    if finding.why and any(each.evaluation.doubtful for each in evaluated):
        lines.append(f":Why: {escaped(finding.why)}")
    return [*lines, ""]


def main_metrics(result):
    """Acquisitions, and what the first figure shows; of the simulation also the misses."""
    first = [each.y for each in result.plan.plots[:1] if each.y]
    if result.plan.testbed in WHOLE_KERNELS:
        return ["operations_per_second"]
    misses = [MISSES] if result.plan.is_simulated else []
    return list(dict.fromkeys([*first, RATE, *misses]))


def experiment(folder, result, evaluated, levels=LEVELS):
    context = plot.context_for(folder, result)
    lines = heading(escaped(result.title + simulated_mark(result)), levels[0])
    lines += paragraph(f"Experiment ``{result.name}``, after {escaped(result.plan.source)}. "
                       f"{escaped(load_sentence(result))} {escaped(host_sentence(result))}")
    if not result.complete:
        lines += paragraph("**Incomplete**: it was stopped before all rounds were run.")
    if busy := host_load.warning(result.host):
        lines += paragraph(f"**{escaped(busy)}**")
    for figure in plot.figures_of_result(folder, result):
        lines += figure_part(folder, result, figure)
    if evaluated:
        lines += heading("What was found", levels[1])
        for finding in result.plan.findings:
            lines += finding_part([each for each in evaluated if each.finding is finding],
                                  levels[2])
    if result.plan.testbed in WHOLE_KERNELS:
        lines += kernel_report.part(result, context)
    lines += heading("Medians", levels[1])
    for name in main_metrics(result):
        lines += medians(result, name, context)
    return lines


def experiments(folder, evaluated, simulated=False, levels=LEVELS):
    lines = []
    for result in results_of(folder, simulated):
        mine = [each for each in evaluated if each.result is result]
        if result.plan.plots or mine or result.plan.testbed in WHOLE_KERNELS:
            lines += experiment(folder, result, mine, levels)
    return lines


# Space

def most_nodes(runs, lock):
    """Most nodes, and in brackets most for each thread, over all runs of a lock."""
    mine = [run for run in runs if run.lock == lock]
    most, a_thread = (summary(name, mine) for name in ("nodes_max", "nodes_per_thread"))
    return f"{shown(most.high)} ({shown(a_thread.high)})" if most and a_thread else "-"


def space(folder, simulated=False, level="="):
    """The most queue nodes in use, in each experiment."""
    results = results_of(folder, simulated)
    locks = dict.fromkeys(lock for result in results for lock in result.locks)
    rows = [[escaped(lock), *(most_nodes(result.runs, lock) for result in results)]
            for lock in locks]
    rows = [row for row in rows if set(row[1:]) != {"-"}]
    if not rows:
        return []
    return [*heading("Space" + SIMULATED_MARK * simulated, level),
            *paragraph("The most queue nodes in use at one time in any run of each experiment, "
                       "and in brackets the most for each thread. The paper saw 84 with 16 "
                       "threads, about 5 for each. Locks without queue nodes are left out."),
            *table(["lock", *(escaped(result.name) for result in results)], rows)]


# Where ours lose

WHAT_LOSING_IS = """\
Ratios are of acquisitions per second, ours by those of another lock at the same point, by \
medians. Lost and won are clear: the ranges of the rounds do not meet, and there are four \
rounds or more of each. Bold: lost. With "~": not clear. Locks that wait for ever and locks \
that give up do not do the same work: a waiter that gives up has tried in vain."""


def duel_rows(result, fought):
    """Every point of an experiment; its name stands before the first of its rows."""
    ours = list(dict.fromkeys(pair[0] for pair in fought))
    others = list(dict.fromkeys(pair[1] for pair in fought))
    return others, [[escaped(point_name(point)) if lock == ours[0] else "", escaped(lock),
                     *(fought[lock, rival][number].cell() for rival in others)]
                    for number, point in enumerate(points_of(result.runs)) for lock in ours]


def with_rivals(result, fought):
    """The duels of an experiment: what they come to, and each of those that were measured."""
    simulated = result.plan.is_simulated
    lines = [*heading(escaped(result.title + simulated_mark(result)), "~" if simulated else "-"),
             *table(*rivals.scores(fought))]
    if simulated:
        return lines
    others, points = duel_rows(result, fought)
    return [*lines, *paragraph("At each point:"),
            *table(["point", "lock", *(f"of {escaped(rival)}" for rival in others)], points)]


def rivals_alone(folder):
    rows = rivals.alone(folder)
    if not rows:
        return []
    return [*heading("Alone", "-"),
            *paragraph("What an acquisition and its release cost more than those of another "
                       "lock, by the medians of Table 1; its notes hold here, too."),
            *table(rivals.ALONE, rows)]


def all_duels(folder, simulated):
    """{experiment's name: its duels}, of those that have any."""
    # Table 1 has its own ratios; it is the one without figures. So have whole kernels.
    fought = {result.name: rivals.duels(result, plot.context_for(folder, result))
              for result in results_of(folder, simulated)
              if result.plan.plots and result.plan.testbed not in WHOLE_KERNELS}
    return {name: each for name, each in fought.items() if each}


def where_ours_lose(folder, simulated=False, level="="):
    fought = all_duels(folder, simulated)
    every = rivals.together(fought.values())
    said = rivals.sentence(every)
    lines = [] if simulated else rivals_alone(folder)
    if said and len(fought) > 1 and not simulated:
        lines += [*heading("All experiments", "-"), *table(*rivals.scores(every))]
    for name, each in fought.items() if said else ():
        lines += with_rivals(folder.scenarios[name], each)
    if not lines:
        return []
    return [*heading("Where ours lose" + SIMULATED_MARK * simulated, level),
            *paragraph(escaped(said)), *paragraph(WHAT_LOSING_IS), *lines]


# What is simulated

WHAT_IS_SIMULATED = """\
No hardware and no kernel: the shipped sources on a simulated machine \
(``Documentation/simulation.rst``), whose caches cost what a table says. A round is a seed. \
``qspinlock``, ``pv_qspinlock``, ``virt_spin_lock``, ``cna`` and ``hmcs`` are models of locks that \
cannot be compiled there; where a finding says ``raw_spinlock``, ``qspinlock`` answers, and what \
asks for ``rqspinlock`` or ``raw_trylock`` cannot be said."""


def simulated_part(folder):
    """Section "Many processors (simulated)"."""
    results = results_of(folder, True)
    if not results:
        return []
    evaluated = evaluations(folder, True)
    tables = sorted({name for result in results for name in plot.tables_of(result)})
    return [*heading("Many processors (simulated)", "="),
            *paragraph(WHAT_IS_SIMULATED),
            *paragraph(f"Cost table{'' if len(tables) == 1 else 's'}: {', '.join(tables)}."),
            *simulated_overview(folder, evaluated),
            *aims_part(folder, True, "-"),
            *experiments(folder, evaluated, True, SIMULATED_LEVELS),
            *space(folder, True, "-"), *where_ours_lose(folder, True, "-")]


def simulated_overview(folder, evaluated):
    """The findings on many processors, beside what they came to on this machine."""
    if not evaluated:
        return []
    here = {(each.result.name, each.finding.name): each.evaluation.word
            for each in evaluations(folder)}
    # Of the experiment that a simulated one is the counterpart of, if there is one.
    words = [here.get((each.result.name.removesuffix(f"-{SIMULATED}"), each.finding.name), "-")
             for each in evaluated]
    cores = folder.machine.get("cores", "?")
    rows = [[escaped(each.finding.title), escaped(each.result.name),
             escaped(point_name(each.where)) or "-", word, f"**{each.evaluation.word}**"]
            for each, word in zip(evaluated, words)]
    return [*heading("Findings" + SIMULATED_MARK, "-"),
            *paragraph(f"Of {len(evaluated)} findings {count_words(evaluated)}."
                       .replace("hold here", "hold")),
            *newly_clear([each for each, word in zip(evaluated, words)
                          if word == findings.UNCLEAR], cores),
            *table(["finding", "experiment", "machine", f"on {cores} cores", "simulated"],
                   rows, (44, 18, 10, 14, 14))]


def newly_clear(unclear, cores):
    """What is clear on many processors, of what is not clear on this machine."""
    lines = []
    for word, said in ((findings.HOLDS, "hold"), (findings.FAILS, "do not hold")):
        names = [escaped(each.finding.title + f" ({point_name(each.where)})" * bool(each.where))
                 for each in unclear if each.evaluation.word == word]
        if names:
            lines += paragraph(f"Not clear on {cores} cores, and {said} on the simulated machine: "
                               f"{'; '.join(names)}.")
    return lines


def failed_runs(folder):
    failed = [(result, run) for result in folder.scenarios.values() for run in result.runs
              if not run.passed]
    lines = heading("Runs that failed", "=")
    if not failed:
        return [*lines, *paragraph("None.")]
    rows = [[escaped(result.name), escaped(run.lock), escaped(point_name(run.point)),
             str(run.round + 1), escaped(run.verdict)] for result, run in failed]
    return [*lines, *paragraph("Nothing of these is in a figure or a table above."),
            *table(["experiment", "lock", "point", "round", "verdict"], rows)]


# The whole

def title_of(folder):
    kernels = folder.machine.get("kernel")
    if not kernels and not results_of(folder):
        return "Queue locks with timeout" + SIMULATED_MARK
    return f"Queue locks with timeout on Linux {kernels or 'an unknown kernel'}"


def tables_first(item):
    """Table 1 is the papers' first experiment; what is found in it belongs to it."""
    return not item[0].startswith("table"), item[0]


def text_of(folder):
    """report.rst of an opened folder."""
    evaluated = evaluations(folder)
    title = escaped(title_of(folder))
    lines = ["=" * len(title), title, "=" * len(title), "",
             *what_was_run(folder), *aims_part(folder), *overview(evaluated),
             *table1_part(folder), *experiments(folder, evaluated),
             *space(folder), *where_ours_lose(folder), *simulated_part(folder),
             *failed_runs(folder)]
    return "\n".join(lines).rstrip() + "\n"


def as_html(text, path):
    """The report for a browser; None without docutils."""
    try:
        from docutils.core import publish_string	# pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    settings = {"stylesheet_path": "", "report_level": 2, "halt_level": 3,
                "output_encoding": "utf-8", "input_encoding": "unicode",
                "file_insertion_enabled": False, "raw_enabled": False,
                "_disable_config": True}
    page = publish_string(text, source_path=str(path), writer_name="html5",
                          settings_overrides=settings).decode("utf-8")
    return page.replace("</head>", f"<style>\n{STYLE}</style>\n</head>", 1)


STYLE = """body { max-width: 72em; margin: 0 auto; padding: 1em; font-family: sans-serif;
  line-height: 1.4; }
h1, h2, h3, h4 { line-height: 1.2; }
h2 { margin-top: 2em; border-bottom: 1px solid #888; }
table { border-collapse: collapse; font-size: 85%; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.6em; border-bottom: 1px solid #ccc; text-align: left;
  vertical-align: top; }
td p, th p, dd p { margin: 0; }
dt { float: left; clear: left; font-weight: bold; }
dd { margin-left: 10em; }
figure { margin: 1.5em 0; }
figure img { max-width: 100%; height: auto; }
figcaption { font-style: italic; }
"""


def drawn_first(folder, opened):
    """Figures that are missing; a report without them is better than none."""
    paths = [folder / plot.FIGURES / f"{figure.name}.{kind}"
             for figures in plot.figures_of(opened).values() for figure in figures
             if not figure.empty for kind in plot.FORMATS]
    if all(path.exists() for path in paths):
        return
    try:
        plot.draw(folder)
    except Failure as failure:
        say(f"the report is without figures: {failure}")


def write(folder):
    """Write report.rst and report.html of a result folder. Returns the one to read."""
    folder = Path(folder)
    opened = open_folder(folder)
    drawn_first(folder, opened)
    text = text_of(opened)
    path = replace(folder / "report.rst", text)
    page = as_html(text, path)
    if page is None:
        say("no report.html: docutils is not installed; tools/setup figures installs it")
        return path
    return replace(folder / "report.html", page)
