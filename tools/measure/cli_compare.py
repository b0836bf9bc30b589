# SPDX-License-Identifier: GPL-2.0
"""tools/nbq compare: what has changed from one result to another."""

from itertools import groupby
from pathlib import Path

from base.common import Failure, say
from base.hardware import FORMAT
from measure import compare
from measure.cli import add
from measure.results import as_json
from measure.table import print_table

EXAMPLES = """A and B are folders that bench has made, scenario files in them, or files that
stress --json, share or bench --share have written. Each line has B divided by
A, for the medians and for the rounds that are farthest apart. "more" and "less"
mean that the rounds of A and B do not overlap; with fewer than four rounds a
side that shows nothing. Two passes of the same code can differ by more than the
rounds of one: compare A with another pass of A first.

Between two machines, figures show little. Ratios to another lock on the same
machine, round by round, show more: --relative-to.

The exit status is 2 if the machines, kernels or parameters of the two differ;
--anyway compares them all the same.

examples:
  tools/nbq compare results/before results/after
  tools/nbq compare --metric wait_ns_p99 before.json after.json
  tools/nbq compare --relative-to raw_spinlock theirs.json ours.json"""


def new_parser(verbs):
    parser = add(verbs, "compare", "compare two results, round by round", EXAMPLES, run)
    parser.add_argument("a", type=Path, metavar="A", help="the result before")
    parser.add_argument("b", type=Path, metavar="B", help="the result after, compared with A")
    parser.add_argument("--metric", default=compare.METRIC, metavar="NAME",
                        help="a number of the driver's result, or a metric of the figures "
                        "such as acquisition_misses (default: %(default)s)")
    parser.add_argument("--relative-to", metavar="LOCK", help="compare ratios to this lock "
                        "in the same round, also between different machines")
    parser.add_argument("--anyway", action="store_true",
                        help="compare also if machine or parameters differ")
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")


def rounded(number):
    return f"{number:.3f}" if number is not None else "-"


COLUMNS = (
    ("lock", lambda line: line.lock), ("B/A", lambda line: rounded(line.ratio)),
    ("lowest", lambda line: rounded(line.lowest)), ("highest", lambda line: rounded(line.highest)),
    ("rounds", lambda line: f"{len(line.before)}, {len(line.after)}"),
    ("", lambda line: line.word))


def print_lines(found):
    points = groupby(found, lambda line: f"{line.scenario}: {compare.point_words(line.point)}")
    print_table(COLUMNS, [(title, list(lines)) for title, lines in points])


def expected_by_chance(found):
    return sum(compare.chance(len(line.before), len(line.after)) for line in found
               if line.word != "too few rounds")


def print_summary(found):
    counts = {}
    for line in found:
        counts[line.word] = counts.get(line.word, 0) + 1
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    print(f"\n{len(found)} compared: {words}.")
    if counts.get("too few rounds", 0) < len(found):
        print(f"If nothing had changed, about {expected_by_chance(found):.1f} of them would "
              "be \"more\" or \"less\" by the rounds alone.\nWhat is the same in all rounds of "
              "a pass is not in their spread: another pass of A says how much that is.")


def as_data(options, a, b, found, alone, differing):
    return {"format": FORMAT, "metric": options.metric,
            "relative_to": options.relative_to,
            "a": {"path": str(options.a), "machine": a.machine},
            "b": {"path": str(options.b), "machine": b.machine},
            "differences": differing, "only_in_one": alone,
            "expected_by_chance": expected_by_chance(found),
            "lines": [line.as_data() for line in found]}


def run(options):
    a, b = compare.Side(options.a), compare.Side(options.b)
    differing = compare.differences(a, b)
    for sentence in differing:
        say(f"not the same: {sentence}")
    if options.relative_to:
        differing = compare.differences(a, b, hosts=False)
    if differing and not options.anyway:
        raise Failure("not compared, as more than the code has changed; --anyway compares "
                      "all the same")
    found, alone = compare.compare(a, b, options.metric, options.relative_to)
    for sentence in compare.doubts(a, b):
        say(sentence)
    if options.json:
        print(as_json(as_data(options, a, b, found, alone, differing)), end="")
        return 0
    print(f"A: {options.a}, {a.machine.get('commit', 'commit unknown')}; "
          f"B: {options.b}, {b.machine.get('commit', 'commit unknown')}; {options.metric}"
          + (f", times that of {options.relative_to}" if options.relative_to else ""))
    print_lines(found)
    print_summary(found)
    for sentence in alone:
        print(f"not compared: {sentence}")
    return 0
