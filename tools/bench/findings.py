# SPDX-License-Identifier: GPL-2.0
"""Whether what a paper found holds here: the "holds" line of a [finding].

    holds = success_rate(clh_nb, cpus=max) > 2 * success_rate(clh_try, cpus=max)

Known are numbers, + - * /, < <= > >=, "and", "or", brackets, min(...) and
max(...) of numbers, and METRIC(LOCK, AXIS=VALUE, ...), where VALUE is one that
was swept, or min or max for the least or greatest of them. cpus_per_core=N
stands for so many CPUs for each core of the machine. Every axis with more than
one value has to be named, but for those of a simulated machine, sockets and costs:
a line that does not name them is evaluated for each of their values. The line must
say yes or no, so it is a comparison at the end.

It is evaluated twice: on the medians, and on all that the rounds allow, from the
least to the greatest. Where only the medians decide it is not clear.
"""

import ast
import math
import re

from bench.testbeds import stand_in
from bench.parameters import A_CPU, MACHINE
from bench.metrics import (METRICS, matching, quantity, same, shown, size_of, summary,
                           values_of)
from testbed.common import Trouble

HOLDS = "holds"
FAILS = "does not hold"
UNCLEAR = "is not clear"
UNKNOWN = "cannot be said"

LONGEST = 2000			# characters of a line
PER_CORE = "cpus_per_core"

ARITHMETIC = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b,
              ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b if b else math.nan}
COMPARED = {ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b,
            ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b}
CHOICES = {"min": min, "max": max}


class Malformed(Trouble):
    """A line that is not in the grammar; says what is wrong with it."""


# Numbers with the range of their rounds

class Ranged:
    """A number as the medians have it, and the least and most it can be."""

    def __init__(self, middle, low, high):
        self.middle = middle
        self.low = low
        self.high = high

    @classmethod
    def spanning(cls, middle, ends):
        """Ends that cannot be computed may be anything."""
        if any(math.isnan(end) for end in ends):
            return cls(middle, -math.inf, math.inf)
        return cls(middle, min(ends), max(ends))


def combined(operation, left, right):
    """Arithmetic on the medians, and on the ends of the ranges."""
    if left is None or right is None:
        return None
    middle = operation(left.middle, right.middle)
    if math.isnan(middle):
        return None
    ends = [operation(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    # Somewhere in a range about 0 a divisor is as near to 0 as you like.
    if operation is ARITHMETIC[ast.Div] and right.low <= 0 <= right.high:
        ends = [math.nan]
    return Ranged.spanning(middle, ends)


def chosen(choose, numbers):
    if None in numbers:
        return None
    return Ranged(*(choose(getattr(number, end) for number in numbers)
                    for end in ("middle", "low", "high")))


class Answer:
    """Yes or no by the medians (None: not known), and whether the rounds agree.

    certain is None where they do not, or where it is not known.
    """

    def __init__(self, middle, certain):
        self.middle = middle
        self.certain = certain


def compared(operation, left, right):
    if left is None or right is None:
        return Answer(None, None)
    ways = {operation(a, b) for a in (left.low, left.high) for b in (right.low, right.high)}
    return Answer(operation(left.middle, right.middle),
                  ways.pop() if len(ways) == 1 else None)


def every(answers):
    """"and" where a part may be unknown: a single no settles it."""
    if False in answers:
        return False
    return None if None in answers else True


def either(answers):
    if True in answers:
        return True
    return None if None in answers else False


# The grammar

class Call:
    """METRIC(LOCK, AXIS=VALUE, ...) as written."""

    def __init__(self, metric, lock, point):
        self.metric = metric
        self.lock = lock
        self.point = point

    def __str__(self):
        words = [self.lock, *(f"{axis}={value}" for axis, value in self.point.items())]
        return f"{self.metric}({', '.join(words)})"


def word_or_number(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float)) \
            and not isinstance(node.value, bool):
        return node.value
    text = ast.unparse(node).replace(" ", "")
    if re.fullmatch(A_CPU, text):
        return text
    raise Malformed(f"\"{ast.unparse(node)}\" is neither a word nor a number")


def read_call(node):
    """The Call that a function call of the syntax tree stands for."""
    name = node.func.id
    if name not in METRICS:
        raise Malformed(f"there is no metric \"{name}\"; there are {', '.join(METRICS)}")
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        raise Malformed(f"\"{ast.unparse(node)}\" does not name one lock before its axes")
    if any(keyword.arg is None for keyword in node.keywords):
        raise Malformed(f"\"{ast.unparse(node)}\" does not name its axes")
    return Call(name, node.args[0].id,
                {keyword.arg: word_or_number(keyword.value) for keyword in node.keywords})


def is_choice(node):
    return node.func.id in CHOICES


class Finding:
    """A "holds" line, checked against the grammar."""

    def __init__(self, text):
        self.text = " ".join(text.split())
        self.calls = []
        if len(self.text) > LONGEST:
            raise Malformed(f"the line has more than {LONGEST} characters")
        try:
            self.tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Malformed(f"\"{self.text}\" is not a comparison "
                            f"({getattr(error, 'msg', error)})") from error
        self.check_answer(self.tree)

    @property
    def locks(self):
        return sorted({call.lock for call in self.calls})

    @property
    def axes(self):
        return sorted({axis for call in self.calls for axis in call.point})

    def check_answer(self, node):
        """What says yes or no."""
        if isinstance(node, ast.BoolOp):
            for part in node.values:
                self.check_answer(part)
        elif isinstance(node, ast.Compare) and all(type(op) in COMPARED for op in node.ops):
            for part in (node.left, *node.comparators):
                self.check_number(part)
        else:
            raise Malformed(f"\"{ast.unparse(node)}\" does not compare with < <= > >=")

    def check_number(self, node):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self.check_number(node.left)
            self.check_number(node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.check_number(node.operand)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            self.check_call(node)
        else:
            raise Malformed(f"\"{ast.unparse(node)}\" is not known here: numbers, + - * /, "
                            "min(), max() and METRIC(LOCK, AXIS=VALUE) are")

    def check_call(self, node):
        if not is_choice(node):
            self.calls.append(read_call(node))
        elif node.keywords or not node.args:
            raise Malformed(f"\"{ast.unparse(node)}\": {node.func.id}() takes numbers only")
        else:
            for part in node.args:
                self.check_number(part)

    def check_axes(self, sweep):
        """Against the axes of the experiment. sweep: {axis: its values}"""
        swept = {cpus_or(axis): values for axis, values in sweep.items()}
        swept.setdefault("cpus", [])
        for call in self.calls:
            named = [cpus_or(axis) for axis in call.point]
            for axis in named:
                if axis not in swept or named.count(axis) > 1:
                    raise Malformed(f"{call}: \"{axis}\" is no axis, or there twice; there are "
                                    f"{', '.join(swept)}")
            for axis, values in swept.items():
                if len(values) > 1 and axis not in (*named, *MACHINE):
                    raise Malformed(f"{call} does not say which {axis}")
            check_values(call, sweep)


def check_values(call, sweep):
    """Against what is swept, as far as an axis is called the same there."""
    for axis, value in call.point.items():
        values = sweep.get(axis)
        if values and value not in CHOICES and not any(same(value, each) for each in values):
            raise Malformed(f"{call}: {axis} is never {value}; it is "
                            f"{', '.join(str(each) for each in values)}")


def cpus_or(axis):
    """The name of an axis in a point."""
    return "cpus" if axis == PER_CORE else axis


def check(text, scenario):
    """Refuse a line that the scenario's runs can never be evaluated by."""
    finding = Finding(text)
    finding.check_axes(scenario.sweep)
    for lock in finding.locks:
        here = stand_in(lock, scenario.testbed)
        if f"-{here}" in scenario.locks or not {here, "all"} & set(scenario.locks):
            raise Malformed(f"the lock \"{lock}\" is not one of this scenario")


# Judging

class Reading:
    """What a Call came to: its point with real values, and the rounds' Summary."""

    def __init__(self, call, point, found):
        self.call = call
        self.point = point
        self.found = found

    def __str__(self):
        metric = METRICS[self.call.metric]
        words = [self.call.lock, *(f"{axis}={value}" for axis, value in self.point.items())]
        name = f"{self.call.metric}({', '.join(words)})"
        if self.found is None:
            return f"{name} is missing"
        return (f"{name} = {quantity(self.found.median, metric.unit)} "
                f"({shown(self.found.low)} to {shown(self.found.high)})")


class Evaluator:
    """Evaluates a Finding on the runs of an experiment."""

    def __init__(self, runs, context):
        self.runs = runs
        self.context = context
        self.readings = {}

    def real_point(self, call):
        """The call's point, with the values that were run."""
        point = {}
        for axis, value in call.point.items():
            if axis == PER_CORE:
                axis, value = "cpus", self.cpus_for(value)
            values = values_of(self.runs, axis)
            # Patience without end is called max, too, and is the greatest.
            if value in CHOICES and value not in values:
                value = CHOICES[value](values, key=size_of) if values else None
            point[axis] = value
        return point

    def cpus_for(self, per_core):
        """min and max stay; so many for each core otherwise."""
        if per_core in CHOICES or not self.context or not self.context.cores:
            return per_core
        return max(1, round(float(per_core) * self.context.cores))

    def read(self, call):
        name = str(call)
        if name not in self.readings:
            point = self.real_point(call)
            lock = stand_in(call.lock, self.context.testbed) if self.context else call.lock
            runs = matching(self.runs, lock, **point)
            if len({tuple(sorted(run.point.items())) for run in runs}) > 1:
                raise Malformed(f"{call} is more than one point")
            found = summary(call.metric, runs, self.context)
            self.readings[name] = Reading(call, point, found)
        return self.readings[name]

    def number(self, node):
        if isinstance(node, ast.Constant):
            return Ranged(node.value, node.value, node.value)
        if isinstance(node, ast.UnaryOp):
            return combined(ARITHMETIC[ast.Sub], Ranged(0, 0, 0), self.number(node.operand))
        if isinstance(node, ast.BinOp):
            return combined(ARITHMETIC[type(node.op)], self.number(node.left),
                            self.number(node.right))
        if is_choice(node):
            return chosen(CHOICES[node.func.id], [self.number(part) for part in node.args])
        found = self.read(read_call(node)).found
        return found and Ranged(found.median, found.low, found.high)

    def answer(self, node):
        if isinstance(node, ast.Compare):
            sides = [self.number(side) for side in (node.left, *node.comparators)]
            answers = [compared(COMPARED[type(op)], left, right)
                       for op, left, right in zip(node.ops, sides, sides[1:])]
            join = every
        else:
            answers = [self.answer(part) for part in node.values]
            join = every if isinstance(node.op, ast.And) else either
        return Answer(join([answer.middle for answer in answers]),
                      join([answer.certain for answer in answers]))


class Judgement:
    """What became of a finding: a word of those above, and why."""

    def __init__(self, word, numbers, substituted="", missing=(), leans=None):
        self.word = word
        self.numbers = numbers		# [Reading]
        self.substituted = substituted	# the line with numbers in it
        self.missing = missing		# names of calls without data
        self.leans = leans		# of UNCLEAR: what the medians say

    @property
    def doubtful(self):
        """It does not hold, or would not if the medians were all there is."""
        return self.word == FAILS or (self.word == UNCLEAR and not self.leans)

    def verdict(self):
        """The beginning of a sentence."""
        if self.word == UNCLEAR:
            return ("Not clear, within the spread of the rounds; by the medians it "
                    f"{HOLDS if self.leans else FAILS}")
        return {HOLDS: "Holds", FAILS: "Does not hold", UNKNOWN: "Cannot be said"}[self.word]

    def details(self):
        """Its end: the numbers."""
        if self.word == UNKNOWN:
            return f"no data for {', '.join(self.missing)}."
        return f"{self.substituted}, as {'; '.join(str(one) for one in self.numbers)}."


class Substituted(ast.NodeTransformer):
    """Puts the medians in the place of the calls."""

    def __init__(self, evaluator):
        self.evaluator = evaluator

    def visit_Call(self, node):		# pylint: disable=invalid-name
        if is_choice(node):
            self.generic_visit(node)
            return node
        found = self.evaluator.read(read_call(node)).found
        return ast.Name(id=shown(found.median if found else None))


def evaluated(text, runs, context=None):
    """The Judgement of a "holds" line on the runs of its experiment."""
    finding = Finding(text)
    evaluator = Evaluator(runs, context)
    answer = evaluator.answer(finding.tree)
    for call in finding.calls:		# those too that were not needed
        evaluator.read(call)
    readings = list(evaluator.readings.values())
    tree = ast.parse(finding.text, mode="eval").body
    substituted = ast.unparse(Substituted(evaluator).visit(tree))
    if answer.middle is None:
        return Judgement(UNKNOWN, readings, substituted,
                         [str(one.call) for one in readings if one.found is None])
    if answer.certain is None:
        return Judgement(UNCLEAR, readings, substituted, leans=answer.middle)
    return Judgement(HOLDS if answer.certain else FAILS, readings, substituted)
