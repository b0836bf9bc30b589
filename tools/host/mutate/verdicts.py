# SPDX-License-Identifier: GPL-2.0
"""What became of the mutants, and what the layers have done for it."""

from dataclasses import dataclass, fields
import json

KILLED, EXPLAINED, UNEXPLAINED, NONE = "killed", "explained", "survived", "does not compile"


@dataclass
class Verdict:
    """killers: {layer that has looked: "CLAIM: WHAT", or None}; seconds: {layer: time}.

    commit: the tests that have looked are of it.
    listed: why it survives, by the list; excuse: by a layer that has looked
    """
    name: str
    identity: str
    killers: dict
    seconds: dict
    commit: str
    compiles: bool = True
    listed: str = None
    excuse: str = None

    @property
    def reason(self):
        return self.listed or self.excuse

    @property
    def killed(self):
        return any(self.killers.values())

    @property
    def status(self):
        if not self.compiles:
            return NONE
        if self.killed:
            return KILLED
        return EXPLAINED if self.reason else UNEXPLAINED

    @property
    def refuted(self):
        """The list says that no test notices it, and one does."""
        return bool(self.killed and self.listed)

    @property
    def claims(self):
        """{layer that has looked: the claim that does not hold with the mistake, or None}."""
        return {layer: killer and killer.split(": ")[0]
                for layer, killer in self.killers.items()}

    @property
    def remark(self):
        said = "; ".join(f"{layer}: {claim}" for layer, claim in self.claims.items() if claim)
        if self.refuted:
            return f'{said}, although "{self.listed}"'
        return said or self.reason or ""

    def line(self):
        return f"{self.status:<17}{self.name}{'  -- ' if self.remark else ''}{self.remark}"


def summary(verdicts):
    statuses = [verdict.status for verdict in verdicts]
    mistakes = len(statuses) - statuses.count(NONE)
    return (f"{mistakes} mutants: " + ", ".join(
        f"{statuses.count(status)} {status}" for status in (KILLED, EXPLAINED, UNEXPLAINED))
        + f"; {statuses.count(NONE)} more do not compile")


def all_right(verdicts):
    return not any(verdict.status == UNEXPLAINED or verdict.refuted for verdict in verdicts)


def layer_rows(verdicts, layers):
    """(layer, mutants that it looked at, killed, killed alone, seconds) of each.

    Alone: of those at which another layer has looked as well.
    """
    for layer in layers:
        looked = [verdict for verdict in verdicts if layer in verdict.killers]
        killed = [verdict for verdict in looked if verdict.killers[layer]]
        alone = [verdict for verdict in killed
                 if sum(bool(killer) for killer in verdict.killers.values()) == 1]
        yield (layer, len(looked), len(killed), len(alone),
               round(sum(verdict.seconds.get(layer, 0) for verdict in verdicts)))


def layer_table(verdicts, layers):
    form = "{:<10}{:>10}{:>10}{:>10}{:>10}"
    return "\n".join([form.format("layer", "looked at", "killed", "alone", "seconds"),
                      *(form.format(*row) for row in layer_rows(verdicts, layers))])


# Kept

def row_of(verdict):
    """What is kept of a verdict: no defaults, and not the list's reason, which is read anew."""
    kept = {name: value for name, value in vars(verdict).items()
            if name != "listed" and value != getattr(Verdict, name, None)}
    return {**kept, "killers": verdict.claims}


def write_json(path, verdicts, layers):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(".new")
    rows = ",\n".join(json.dumps(row_of(verdict), separators=(",", ":")) for verdict in verdicts)
    made.write_text(f'{{"layers": {json.dumps(layers)}, "mutants": [\n{rows}\n]}}\n')
    made.replace(path)


def verdicts_in(data, reasons):
    """Those of a file, with the reasons of now. An older file has more of each."""
    names = {each.name for each in fields(Verdict)}
    return [Verdict(**{**{name: row[name] for name in names & set(row)},
                       "listed": reasons.get(row["name"])}) for row in data["mutants"]]


def read_json(path, reasons):
    """{identity: verdict} of what was judged before."""
    if not path.exists():
        return {}
    return {verdict.identity: verdict
            for verdict in verdicts_in(json.loads(path.read_text()), reasons)}
