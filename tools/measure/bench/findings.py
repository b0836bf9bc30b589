# SPDX-License-Identifier: GPL-2.0
"""Whether what a paper found holds here: the "holds" line of a [finding].

    holds = success_rate(clh_nb, cpus=max) > 2 * success_rate(clh_try, cpus=max)

The line is Python, of which numbers, + - * /, < <= > >=, "and", "or", brackets, min() and max()
are known, and METRIC(LOCK, AXIS=VALUE, ...): a figure of the table of results, where VALUE is
one that was swept, or min or max for the least or greatest of them. cpus_per_core=N
stands for so many CPUs for each core of the machine. A|B in the place of a lock or a value
is a figure for each, for min() and max(). Every axis with more than
one value has to be named, but for those of a simulated machine, sockets and costs:
a line that does not name them is evaluated for each of their values.

It is evaluated on the medians, and on all that the rounds allow, from the
least to the greatest. Where only the medians decide it is not clear.
"""

from dataclasses import dataclass
from functools import partialmethod
from itertools import product
import math
import operator
import re
from typing import NamedTuple, Optional

from base.common import Failure
from base.parameters import A_CPU, MACHINE
from base.testbeds import stand_in
from measure.bench.metrics import (METRICS, Summary, matching, quantity, same, size_of, summary,
                                   values_of)
from measure.metrics import shown

HOLDS = "holds"
FAILS = "does not hold"
UNCLEAR = "is not clear"
UNKNOWN = "cannot be said"

LONGEST = 2000			# characters of a line
PER_CORE = "cpus_per_core"
A_VALUE = rf"[\w.]+|{A_CPU}|'[^']+'"
CHOICES = {"min": min, "max": max}
FIGURE = re.compile(r"\b(\w+)\(([^()]*)\)")	# METRIC(LOCK, AXIS=VALUE, ...)
# What else may be in a line. Nothing of it reaches anything but the numbers there.
OTHERS = re.compile(r"(?:\s|\d+(?:\.\d+)?|[<>]=?|[-+(),]|\*(?!\*)|/(?!/)|"
                    r"\b(?:and|or|min|max|figure\d+)\b)*")


class Malformed(Failure):
    """A line that is no such expression; says what is wrong with it."""


# The expression

class Call(NamedTuple):
    """METRIC(LOCK, AXIS=VALUE, ...) as written."""
    metric: str
    lock: str
    point: dict

    def __str__(self):
        words = [self.lock, *(f"{axis}={value}" for axis, value in self.point.items())]
        return f"{self.metric}({', '.join(words)})"


def every(found):
    """METRIC(A|B, AXIS=1|2) as METRIC(A, AXIS=1), METRIC(A, AXIS=2), METRIC(B, AXIS=1), ..."""
    choices = []
    for word in found[2].split(","):
        axis, equals, values = word.rpartition("=")
        choices.append([f"{axis}{equals}{value}" for value in values.split("|")])
    if math.prod(map(len, choices)) > LONGEST:
        raise Malformed(f"the line has more than {LONGEST} figures")
    return ", ".join(f"{found[1]}({','.join(words)})" for words in product(*choices))


def call_of(text, metric, words):
    """The Call of a line that is so written."""
    if metric not in METRICS:
        raise Malformed(f"there is no metric \"{metric}\"; there are {', '.join(METRICS)}")
    lock, *axes = words.split(",")
    axes = [[part.strip() for part in axis.partition("=")[::2]] for axis in axes]
    if not re.fullmatch(r"[a-z]\w*", lock.strip()):
        raise Malformed(f"\"{text}\" does not name one lock before its axes")
    for axis, value in axes:
        if not axis.isidentifier() or not re.fullmatch(A_VALUE, value):
            raise Malformed(f"\"{text}\": \"{axis}={value}\" is not AXIS=VALUE")
    point = {axis: value.strip("'") for axis, value in axes}
    if len(point) < len(axes):
        raise Malformed(f"\"{text}\" names an axis twice")
    return Call(metric, lock.strip(), point)


class Finding:
    """A "holds" line that is one."""

    def __init__(self, text):
        self.text = FIGURE.sub(every, " ".join(text.split()))
        self.calls = []
        if len(self.text) > LONGEST:
            raise Malformed(f"the line has more than {LONGEST} characters")
        self.with_figures(self.calls.append)
        line = self.with_figures(lambda call: f"figure{self.calls.index(call)}")
        rest = line[OTHERS.match(line).end():]
        if rest:
            rest = re.sub(r"figure(\d+)", lambda found: str(self.calls[int(found[1])]), rest)
            raise Malformed(f"\"{rest}\" is not known here: numbers, + - * /, < <= > >=, and, or, "
                            "min(), max() and METRIC(LOCK, AXIS=VALUE) are")
        try:
            self.code = compile(line, "<holds>", "eval")
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise Malformed(f"\"{self.text}\" is not a comparison "
                            f"({getattr(error, 'msg', error)})") from error
        self.answer([None] * len(self.calls), True)

    def with_figures(self, word):
        """The line with word(call) in the place of each figure."""
        return FIGURE.sub(lambda found: found[0] if found[1] in CHOICES else
                          str(word(call_of(*found.group(0, 1, 2)))), self.text)

    @property
    def locks(self):
        return sorted({call.lock for call in self.calls})

    @property
    def axes(self):
        return sorted({axis for call in self.calls for axis in call.point})

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
            # As far as an axis is called the same there.
            for axis, value in call.point.items():
                values = sweep.get(axis)
                if values and value not in CHOICES and not any(same(value, each)
                                                               for each in values):
                    raise Malformed(f"{call}: {axis} is never {value}; it is "
                                    f"{', '.join(str(each) for each in values)}")

    def answer(self, figures, spread):
        """Whether it holds by all of these figures, [Summary] of the calls; None: some say no.

        spread: whether a figure is all from the least to the greatest of its rounds, or the
        median. A comparison that this leaves open may be true and may be false. As there is no
        "not", the line is decided where it comes to the same with all of these true and with
        all of them false.
        """
        answers = set()
        for doubt in (False, True):
            names = {f"figure{index}": Number.of(found, spread, doubt)
                     for index, found in enumerate(figures)}
            names |= {name: chosen(choose, doubt) for name, choose in CHOICES.items()}
            try:
                answers.add(eval(self.code, {"__builtins__": {}, **names}))
            except (TypeError, ValueError, NameError, ArithmeticError) as error:
                raise Malformed(f"\"{self.text}\" is not a comparison ({error})") from error
        if not all(isinstance(answer, bool) for answer in answers):
            raise Malformed(f"\"{self.text}\" does not compare with < <= > >=")
        return answers.pop() if len(answers) == 1 else None


def cpus_or(axis):
    """The name of an axis in a point."""
    return "cpus" if axis == PER_CORE else axis


def check(text, scenario):
    """Refuse a line that the scenario's runs can never be evaluated by."""
    finding = Finding(text)
    finding.check_axes(scenario.sweep)
    for lock in finding.locks:
        if not scenario.has_lock(lock):
            raise Malformed(f"the lock \"{lock}\" is not one of this scenario")


# What it is evaluated on

class Number:
    """A number of which only the least and the greatest are known; NaN: there is none.

    doubt: what a comparison says that this leaves open.
    """

    def __init__(self, low, high, doubt):
        self.low = low
        self.high = high
        self.doubt = doubt

    @classmethod
    def of(cls, found, spread, doubt):
        """Of the rounds' Summary, or of None."""
        if found is None:
            return cls(math.nan, math.nan, doubt)
        return cls(found.low, found.high, doubt) if spread else \
            cls(found.median, found.median, doubt)

    def ends(self, operation, other):
        """What an operation comes to on the ends of the two."""
        return [operation(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]

    def combined(self, operation, other):
        other = number(other, self.doubt)
        ends = self.ends(operation, other)
        if math.isnan(self.low + other.low):
            ends = [math.nan]
        elif any(map(math.isnan, ends)):	# infinite less infinite
            ends = [-math.inf, math.inf]
        return Number(min(ends), max(ends), self.doubt)

    def compared(self, operation, other):
        other = number(other, self.doubt)
        ways = set(self.ends(operation, other))
        known = not math.isnan(self.low + other.low)
        return ways.pop() if known and len(ways) == 1 else self.doubt

    def __bool__(self):
        raise TypeError("a number by itself is not true or false")

    def __neg__(self):
        return Number(-self.high, -self.low, self.doubt)

    __add__ = __radd__ = partialmethod(combined, operator.add)
    __sub__ = partialmethod(combined, operator.sub)
    __mul__ = __rmul__ = partialmethod(combined, operator.mul)
    __lt__ = partialmethod(compared, operator.lt)
    __le__ = partialmethod(compared, operator.le)
    __gt__ = partialmethod(compared, operator.gt)
    __ge__ = partialmethod(compared, operator.ge)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        other = number(other, self.doubt)
        if other.low == other.high == 0:
            return Number(math.nan, math.nan, self.doubt)
        # Somewhere in a range about 0 a divisor is as near to 0 as you like.
        if other.low <= 0 <= other.high:
            other = Number(-math.inf, math.inf, self.doubt)
            return self.combined(operator.mul, other)
        return self.combined(operator.truediv, other)

    def __rtruediv__(self, other):
        return number(other, self.doubt) / self


def number(value, doubt):
    return value if isinstance(value, Number) else Number(value, value, doubt)


def chosen(choose, doubt):
    """min() and max() of numbers."""
    def chosen_of(*values):
        numbers = [number(value, doubt) for value in values]
        unknown = [each for each in numbers if math.isnan(each.low)]
        return unknown[0] if unknown else Number(
            choose(each.low for each in numbers), choose(each.high for each in numbers), doubt)
    return chosen_of


class Reading(NamedTuple):
    """What a Call came to: its point with real values, and the rounds' Summary."""
    call: Call
    point: dict
    found: Optional[Summary]

    def __str__(self):
        name = str(self.call._replace(point=self.point))
        if self.found is None:
            return f"{name} is missing"
        return (f"{name} = {quantity(self.found.median, METRICS[self.call.metric].unit)} "
                f"({shown(self.found.low)} to {shown(self.found.high)})")


def reading(call, runs, context):
    point = real_point(call, runs, context)
    lock = stand_in(call.lock, context.testbed) if context else call.lock
    mine = matching(runs, lock, **point)
    if len({tuple(sorted(run.point.items())) for run in mine}) > 1:
        raise Malformed(f"{call} is more than one point")
    return Reading(call, point, summary(call.metric, mine, context))


def real_point(call, runs, context):
    """The call's point, with the values that were run."""
    point = {}
    for axis, value in call.point.items():
        if axis == PER_CORE:
            axis = "cpus"
            if value not in CHOICES and context and context.cores:
                value = max(1, round(float(value) * context.cores))
        values = values_of(runs, axis)
        # Patience without end is called max, too, and is the greatest.
        if value in CHOICES and value not in values:
            value = CHOICES[value](values, key=size_of) if values else None
        point[axis] = value
    return point


@dataclass
class Judgement:
    """What became of a finding: a word of those above, and why."""
    word: str
    numbers: list			# of Readings
    substituted: str = ""		# the line with numbers in it
    missing: tuple = ()			# names of calls without data
    leans: Optional[bool] = None	# of UNCLEAR: what the medians say

    @property
    def doubtful(self):
        """It does not hold, or would not if the medians were all there is."""
        return self.word == FAILS or (self.word == UNCLEAR and not self.leans)

    def verdict(self):
        """The beginning of a sentence."""
        if self.word == UNCLEAR:
            return ("Not clear, within the spread of the rounds; by the medians it "
                    f"{HOLDS if self.leans else FAILS}")
        return self.word.capitalize()

    def details(self):
        """Its end: the numbers."""
        if self.word == UNKNOWN:
            return f"no data for {', '.join(self.missing)}."
        return f"{self.substituted}, as {'; '.join(str(one) for one in self.numbers)}."


def evaluated(text, runs, context=None):
    """The Judgement of a "holds" line on the runs of its experiment."""
    finding = Finding(text)
    figures = [reading(call, runs, context) for call in finding.calls]
    medians = iter([shown(figure.found and figure.found.median) for figure in figures])
    substituted = finding.with_figures(lambda _: next(medians))
    numbers = list({str(figure.call): figure for figure in figures}.values())
    leans, certain = (finding.answer([figure.found for figure in figures], spread)
                      for spread in (False, True))
    if leans is None:
        return Judgement(UNKNOWN, numbers, substituted,
                         [str(figure.call) for figure in numbers if figure.found is None])
    if certain is None:
        return Judgement(UNCLEAR, numbers, substituted, leans=leans)
    return Judgement(HOLDS if certain else FAILS, numbers, substituted)
