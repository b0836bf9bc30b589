# SPDX-License-Identifier: GPL-2.0
"""The experiments of tools/nbq bench."""

import shutil

from base.building import run_logged
from base.case import MORE, Case, extent, runs_on, step
from base.common import BUILD, PROJECT, cores
from base.driver import Run
from base.testbeds import SIMULATED, STRESSED
from guest.cases import USER_MODE, guest_modules, machine
from measure import results
from measure.bench import plot, scenario_file
from measure.stress import run_stress


def planned(result):
    """Every (lock, point, round) that a scenario asks for, as text."""
    return {f"{lock} {point} {number}" for lock in result.locks for point in result.points
            for number in range(result.plan.rounds)}


def scenario_cases(name, result):
    """The cases that a scenario's quick pass has the shape of one."""
    made = [f"{run.lock} {run.point} {run.round}" for run in result.runs]
    lacking = sorted(planned(result) - set(made))
    yield Case(f"bench: {name}: every planned run was made, once",
               not lacking and len(made) == len(set(made)),
               "\n".join([f"{len(lacking)} are lacking:", *lacking[:10]]))
    bad = [f"{run.lock} {run.point}: {run.verdict}" for run in result.runs
           if not run.passed]
    yield Case(f"bench: {name}: every verdict is PASS", bool(made) and not bad,
               "\n".join(bad[:10]))
    yield Case(f"bench: {name}: it is complete, no guest was lost", result.complete and
               not result.problems, "\n".join(result.problems))


# Without --all, those that have each test testbed between them.
QUICK = ("busy-host", "figure5", "table1", "table1-contended", "table1-instructions")


def chosen():
    """The paths of the scenarios that are run."""
    paths = sorted(scenario_file.SCENARIOS.glob("*.ini"))
    return [path for path in paths if extent.is_long or path.stem in QUICK]


def names_of(plan):
    """The results of a scenario: on its testbed, and simulated if it says so."""
    return [plan.name] + ([plan.on("simulated").name] if plan.simulated is not None else [])


def quick_pass():
    """(status, output, folder) of tools/nbq bench --quick."""
    parent = BUILD / "bench"
    shutil.rmtree(parent, ignore_errors=True)
    log = BUILD / "log" / "bench.log"
    log.unlink(missing_ok=True)
    status = run_logged([PROJECT / "tools/nbq", "bench", "--quick", "--out", parent,
                         *(path.stem for path in chosen())], log, "experiments, shortened",
                        check=False, timeout=7200)
    folders = sorted(parent.glob("*")) if parent.is_dir() else []
    return status, log.read_text(errors="replace"), folders[0] if folders else None


def accepted_cases():
    """The cases that the driver takes each point of each scenario, with a lock that heeds patience.

    The runs are as short as they can be: what comes of them does not matter here.
    """
    plans = [plan for plan in map(scenario_file.read, sorted(scenario_file.SCENARIOS.glob("*.ini")))
             if plan.testbed in STRESSED and plan.testbed != SIMULATED]
    runs = {plan.name: [Run(f"{plan.name}-{number}",
                            **{**plan.settings("nbq_spin", point), "duration_ms": 1})
                        for number, point in enumerate(plan.points(cores(), plan.bed.most_cpus))]
            for plan in plans}
    made = [run for each in runs.values() for run in each]
    run_stress(machine(), made, max(run.settings["threads"] for run in made), guest_modules(),
               quiet=True)
    for name, each in runs.items():
        refused = [f"{run.settings}: {run.verdict}" for run in each
                   if not run.verdict.startswith(("PASS", "FAIL"))]
        yield Case(f"bench: {name}: the driver takes each of {len(each)} points",
                   bool(each) and not refused, "\n".join(refused))


@step("bench", MORE)
@runs_on(USER_MODE, "bench")
def bench():
    """experiments of tools/nbq bench, shortened: every run is made, figures are drawn"""
    yield from accepted_cases()
    status, said, folder = quick_pass()
    yield Case("bench: tools/nbq bench --quick, exit status 0", status == 0,
               f"status {status}\n{said[-4000:]}")
    if folder is None:
        return
    opened = results.open_folder(folder)
    for path in chosen():
        for name in names_of(scenario_file.read(path)):
            if name in opened.scenarios:
                yield from scenario_cases(name, opened.scenarios[name])
            else:
                yield Case(f"bench: {name}: it was run", False, said[-4000:])
    names = [f"{plot.FIGURES}/{figure.name}.{kind}" for figures in
             plot.figures_of(opened).values() for figure in figures for kind in plot.FORMATS]
    for name in [*names, "report.rst", "report.html"]:
        path = folder / name
        yield Case(f"bench: {name} is there", path.exists() and path.stat().st_size > 0,
                   f"{path} is missing or empty")
