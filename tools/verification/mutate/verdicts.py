# SPDX-License-Identifier: GPL-2.0
"""What became of the mutants: a row for each, a column for each layer."""

import json

from verification.mutate.edits import identity

KILLED, EXPLAINED, UNEXPLAINED = "killed", "explained", "survived unexplained"


class Verdict:
    """killers: {name of a layer that has looked: its words, or None: it saw nothing}

    commit: the tests that have looked are of it.
    """

    def __init__(self, mutant, killers, commit):
        self.mutant = mutant
        self.killers = killers
        self.commit = commit

    @property
    def unexplained(self):
        """Layers that should have seen it."""
        return [layer for layer, killer in self.killers.items()
                if not killer and not self.mutant.excuse(layer)]

    @property
    def refuted(self):
        """Layers that see it although the list says why they cannot."""
        return [layer for layer, killer in self.killers.items()
                if killer and self.mutant.excuse(layer)]

    @property
    def status(self):
        if self.unexplained:
            return UNEXPLAINED
        return KILLED if any(self.killers.values()) else EXPLAINED

    def remark(self, layer):
        """What has killed it, or why nothing has; None if there is nothing to say."""
        killer, excuse = self.killers.get(layer), self.mutant.excuse(layer)
        if layer in self.refuted:
            return f"{killer.split(': ')[0]}, although \"{excuse}\""
        return killer.split(": ")[0] if killer else excuse

    def cell(self, layer):
        if layer not in self.killers:
            return "-"
        if self.killers[layer]:
            return "killed"
        return "SURVIVES" if layer in self.unexplained else "survives"

    def line(self, layers):
        cells = "".join(f"{self.cell(layer):<10}" for layer in layers)
        remarks = dict.fromkeys(filter(None, (self.remark(layer) for layer in self.killers)))
        return f"{self.mutant.name:<60} {cells}{'; '.join(remarks)}"

    def as_json(self):
        return {"name": self.mutant.name, "file": self.mutant.file, "status": self.status,
                "identity": identity(self.mutant.edit), "commit": self.commit,
                "layers": {layer: {"killed": bool(killer), "by": killer,
                                   "explanation": self.mutant.excuse(layer)}
                           for layer, killer in self.killers.items()}}


def heading(layers):
    return f"{'mutant':<60} {''.join(f'{layer:<10}' for layer in layers)}by, or why not"


def summary(verdicts):
    count = {status: sum(verdict.status == status for verdict in verdicts)
             for status in (KILLED, EXPLAINED, UNEXPLAINED)}
    return (f"{len(verdicts)} mutants: " +
            ", ".join(f"{number} {status}" for status, number in count.items()))


def all_right(verdicts):
    return not any(verdict.unexplained or verdict.refuted for verdict in verdicts)


# Kept

def write_json(path, verdicts, layers, seconds):
    path.write_text(json.dumps({"layers": layers, "seconds": round(seconds),
                                "mutants": [verdict.as_json() for verdict in verdicts]},
                               indent=1) + "\n")


def read_json(path, mutants):
    """{name: verdict} of those mutants that were judged as they are now."""
    if not path or not path.exists():
        return {}
    rows = {row["name"]: row for row in json.loads(path.read_text())["mutants"]}
    kept = {}
    for mutant in mutants:
        row = rows.get(mutant.name)
        if row and row["identity"] == identity(mutant.edit):
            killers = {layer: said["by"] for layer, said in row["layers"].items()}
            kept[mutant.name] = Verdict(mutant, killers, row["commit"])
    return kept
