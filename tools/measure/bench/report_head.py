# SPDX-License-Identifier: GPL-2.0
"""The head of a report: what was run, on which machine, beside what other work."""

from base.hardware import released
from base.rst import fields, heading
from measure import host_load
from measure.metrics import shown


def run_words(results, what):
    """How many runs, and how long they were; empty if there are none."""
    runs = [run for result in results for run in result.runs]
    seconds = sum(run.result.get("elapsed_ns", 0) for run in runs) / 1e9
    return f"{len(runs)}, {shown(seconds)} s {what}" if runs else ""


def other_work(results):
    """What other programs had of the host, from the least to the most of the experiments."""
    hosts = [result.host for result in results if "others_permille" in result.host]
    if not hosts:
        return ""
    loads, shares = ([host[name] for host in hosts]
                     for name in ("load_average", "others_permille"))
    busy = sum(map(host_load.is_busy, hosts))
    least, most = (f"{share / 10:.0f}" for share in (min(shares), max(shares)))
    return (f"load average {loads[0]:.1f} at the start; other programs had {least}" +
            (f" to {most}" if most != least else "") + " % of the cores' time" +
            (f"; the host was busy in {busy} of {len(hosts)} experiments" if busy else ""))


def what_was_run(folder):
    machine, results = folder.machine, list(folder.scenarios.values())
    rounds = sorted({result.plan.rounds for result in results})
    kernels = machine.get("kernels") or {machine.get("testbed"): machine.get("kernel")}
    measured, simulated = ([result for result in results if result.plan.is_simulated == kind]
                           for kind in (False, True))
    return [*heading("What was run", "="), *fields([
        ("Kernel", ", ".join(f"{version} ({testbed})" for testbed, version in kernels.items()
                             if version)),
        ("CPU", machine.get("cpu_model")), ("Cores", machine.get("cores")),
        ("Memory", f"{machine['memory_mb']} MB" if machine.get("memory_mb") else ""),
        ("Kernel of the host", released(machine.get("host_kernel"))),
        ("Other work", other_work(measured)),
        ("Compiler", machine.get("compiler")), ("Commit", machine.get("commit")),
        ("Date", machine.get("date")), ("Command", machine.get("command")),
        ("Rounds", ", ".join(str(each) for each in rounds)),
        ("Runs", run_words(measured, "of measuring")),
        ("Simulated by", machine.get("simulated")),
        ("Simulated runs", run_words(simulated, "of simulated time")),
        ("A quick pass", "for its shape; its figures mean little"
         if machine.get("quick") else "")])]
