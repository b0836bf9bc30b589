# SPDX-License-Identifier: GPL-2.0
"""A program in which rules of the hybrid's policy can be taken out, one at a time.

Text of nbqlock/ is changed in a copy, where each change asks whether its rule is out. All rules
share a program, so that they differ in nothing else. A change is one of

    NAME = VALUE            a macro has another value
    function: STATEMENTS    the function begins with these
    function - BEGINNING    its statements that begin so are left out
    set KEY=VALUE           a setting of the simulator
"""

import itertools
import re
from statistics import median

from base.common import Failure
from host.mutate.edits import SOURCE, write_copy
from host.mutate.rules import functions
from host.simulate import program
from host.simulate.policy_rules import POINTS

FILES = ("bare_spin.c", "spin_queue.c", "spin_turns.c", "spin_policy.h", "spin_word.h")
# Not instrumented: to ask is no access to simulated memory.
ASKS = """#pragma once
#include <stdlib.h>
__attribute__((no_sanitize_thread, noinline, unused)) static _Bool is_out(int rule)
{
	static int out = -1;

	if (out < 0)
		out = atoi(getenv("RULE_OUT"));
	return out == rule;
}
"""
SEEDS = (1, 2, 3)
CHANGE = re.compile(r"(?P<name>\w+)(?: = (?P<value>.+)|: (?P<first>.+)| - (?P<drop>.+))")
NOTICED = re.compile(r"(\S+)(?: (b))?: (\w+) ([<>]) ([\d.]+)")
FIGURES = {
    "rate": lambda values: values["acquisitions"],
    "jain": lambda values: values["jain_permille"],
    "wait": lambda values: values["longest_gap_ns"],
    "late": lambda values: values["overshoot_ns_p99"],
    "misses": lambda values: values["misses"] / max(values["acquisitions"], 1),
}


def changed(text, number, change):
    """The text with a change that is made when this rule is out; None: it has no such place."""
    words = CHANGE.fullmatch(change)
    if not words:
        raise Failure(f"\"{change}\" is no change of a rule")
    if words["value"]:
        macro = rf"^(#define {words['name']}(?:\([^)]*\))?)\s((?:.*\\\n)*.*)$"
        found = re.sub(macro, lambda match: f"{match[1]} (is_out({number}) ? "
                       f"({words['value']}) : ({match[2].strip()}))", text, flags=re.M)
        return found if found != text else None
    for place in functions(text):
        if place.name == words["name"]:
            spans = [(place.begin, place.begin)] if words["first"] else \
                [(statement.begin, statement.end) for statement in place.statements()
                 if statement.kind != "declaration"
                 and place.code.startswith(words["drop"], statement.begin)]
            for begin, end in reversed(spans):
                instead = f"if (is_out({number})) {{ {words['first']} }}\n" if words["first"] \
                    else f"{{ if (!is_out({number})) {{ {text[begin:end]} }} }}"
                text = text[:begin] + instead + text[end:]
            return text if spans else None
    return None


def texts_without(rules, texts):
    """{file: text} in which each rule, by its index from 1 on, can be taken out."""
    for number, rule in enumerate(rules, 1):
        for change in rule.changes:
            if change.startswith("set "):
                continue
            found = {name: new for name, text in texts.items()
                     if (new := changed(text, number, change)) is not None}
            if len(found) != 1:
                raise Failure(f"{rule.name}: {len(found)} files, not 1, have a place for "
                              f"\"{change}\"")
            texts = {**texts, **found}
    return texts


def build(rules, folder):
    texts = {name: (SOURCE / "nbqlock" / name).read_text() for name in FILES}
    # A value that depends on the run is no constant.
    texts["spin_policy.h"] = re.sub(r"^static_assert\(.*\);$", "", texts["spin_policy.h"],
                                    flags=re.M)
    texts = texts_without(rules, texts)
    write_copy(folder, {name: lambda _, text=text: f'#include "is_out.h"\n{text}'
                        for name, text in texts.items()})
    (folder / "nbqlock/is_out.h").write_text(ASKS)
    return program.build(folder, folder / "build")


LEFT = "FAIL queue nodes have leaked"


def run(built, number, rule, point, costs="a"):
    """{figure: value} without a rule; rule None: of the whole."""
    settings = {"lock": "nbq_spin_sockets", "duration_us": 1000, **point}
    for change in rule.changes if rule else ():
        if change.startswith("set "):
            key, _, value = change[len("set "):].partition("=")
            settings[key] = value
    values = program.values_of(program.run(built, settings, program.COSTS[costs],
                                           environment={"RULE_OUT": str(number)}))
    # Without some rules, more places are left than the whole leaves.
    if values["verdict"] not in ("PASS", LEFT) and values["acquisitions"]:
        raise Failure(f"without {rule and rule.name}: {values['verdict']}")
    return {name: figure(values) for name, figure in FIGURES.items()}


def quotient(without, whole, figure):
    return max(without[figure], 1) / max(whole[figure], 1)


def checked(built, rules):
    """(rule, whether it is noticed, what was found) of those that have an experiment. rules: by
    their numbers. One run may be far from the others: the median of some counts.
    """
    rules = {number: rule for number, rule in rules.items() if rule.noticed}
    experiments = {number: NOTICED.fullmatch(rule.noticed).groups()
                   for number, rule in rules.items()}

    def found(number, seed):
        point, costs, figure, _, _ = experiments[number]
        where = {**POINTS[point], "seed": seed}, costs or "a"
        return quotient(run(built, number, rules[number], *where), run(built, 0, None, *where),
                        figure)

    values = iter(program.all_of(found, list(itertools.product(rules, SEEDS))))
    for number, rule in rules.items():
        *_, order, bound = experiments[number]
        middle = median(next(values) for _ in SEEDS)
        yield (rule, (middle < float(bound)) == (order == "<"),
               f"{rule.noticed}; it is {middle:.2f}")
