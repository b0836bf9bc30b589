# SPDX-License-Identifier: GPL-2.0
"""The loads of tools/nbq bench kernel, short."""

from bench import metrics, runner, scenario_file
from bench.kernels import FALLBACK, OURS, OWN, KernelsPlace
from bench.progress import Progress
from ci.common import Case

CPUS = 4
SHORT_MS = 1000
# Ends what hangs, however busy the host is.
LIMIT_MS = 300000


def plan_of(locks, cpus, duration_ms, name="kernel"):
    """The scenario, once, with so many CPUs."""
    plan = scenario_file.read(scenario_file.SCENARIOS / f"{name}.ini", metrics.METRICS)
    plan.rounds, plan.locks = 1, list(locks)
    plan.sweep = {"cpus": [cpus], "load": plan.sweep["load"]}
    plan.load = {**plan.load, "duration_ms": duration_ms, "passes": 1, "limit_ms": LIMIT_MS}
    return plan


def wrong_with(run):
    """What is wrong with a run, or nothing. None of it is a question of speed."""
    found = run.result
    if not run.passed:
        return run.verdict
    if found.get("finished") != found.get("workers"):
        return f"{found.get('finished')} of {found.get('workers')} workers finished"
    if not found["operations"] or not found["least"] <= found["most"] <= found["operations"]:
        return f"{found['operations']} operations, {found['least']} to {found['most']} a worker"
    if found.get("nbq_deadlocks") or found.get("nbq_exhaustions"):
        return f"{found['nbq_deadlocks']} deadlocks, {found['nbq_exhaustions']} without a node"
    return ""


def load_cases(name):
    """A case for each load on the hybrid's kernel, and that the guests are clean."""
    yield from cases_of(name, plan_of([OURS], CPUS, SHORT_MS))


def path_cases(name):
    """The same for each kernel of the comparison in QEMU; the waiters are where they should be."""
    yield from cases_of(name, plan_of([OWN, FALLBACK, OURS], CPUS, SHORT_MS, "kernel-x86_64"))


def cases_of(name, plan):
    job, progress = runner.Job(plan, KernelsPlace(plan.locks, plan.testbed)), Progress()
    job.announce(progress)
    result = job.make(progress)
    for run in result.runs:
        wrong = wrong_with(run)
        yield Case(f"{name}: {run.lock}, {run.point['cpus']} CPUs: load {run.point['load']}",
                   not wrong, wrong)
    yield Case(f"{name}: every load was run, no guest was lost",
               result.complete and not result.problems, "\n".join(result.problems))
