# SPDX-License-Identifier: GPL-2.0
"""The rules by which mistakes are made from the text of a file.

A rule yields (begin, end, the text instead) for each mistake. Left out are, since the text
would mean the same or no test can know: traces, assertions, what only lockdep or a compiler
sees, barriers against the compiler, a first value without which the text does not compile.
"""

from dataclasses import dataclass
import re

from base.c_statements import CLOSE, OPEN, end_of_group, statements
from base.c_text import FUNCTION, TOKEN, arguments_at

# Calls of which no test can know, and those that have a rule of their own.
SILENT = re.compile(r"smp_|trace_|__nbq_|lockdep_assert|cpu_relax|BUILD_BUG|WARN|pr_|prefetch|might_"
                    r"|barrier")
SWAPS = r"(?:this_cpu_)?(?:try_)?(?:cmp)?xchg|atomic(?:_long|64)?_\w+_return"
# What to weaken: (primitive, those that order less).
ORDERS = (
    (re.compile(rf"\b({SWAPS})_(?:acquire|release)(?=\()"), (r"\1_relaxed",)),
    (re.compile(rf"\b({SWAPS})(?=\()"), (r"\1_acquire", r"\1_release")),
    (re.compile(r"\bsmp_load_acquire(?=\()"), ("READ_ONCE",)),
    (re.compile(r"\b(?:nbq_)?smp_store_release(?=\()"), ("WRITE_ONCE",)),
    (re.compile(r"\bsmp_(?:mb|rmb|wmb|mb__\w+|acquire__after_ctrl_dep)(?=\()"), ("",)),
)
STORE = re.compile(r"(?:WRITE_ONCE|(?:nbq_)?smp_store_release)\(|[^=;{]*?[\w)\]]\s*(?:[-+*/|&^]|<<|>>)?=[^=]"
                   r"|[^=;{(]*(?:\+\+|--);")
CALL = re.compile(r"(?:\w+|\w+->\w+)\(")
FREE = re.compile(r"nbq_node_(?:free|reclaim)\w*\(")
BOUND = re.compile(r"(?<= )(<=|>=|<|>)(?= )")
STRICT = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
TRUTH = re.compile(r"\b(?:true|false)\b")
OF_OTHER_RULES = re.compile(rf"= (?:true|false);|^(?:{SILENT.pattern})")
ERROR = re.compile(r"-E[A-Z]+\b")
# A 1 is an index or a bit, mostly.
NUMBER = re.compile(r"(?<![\w.])(?:0x[0-9a-f]+|[2-9]|[1-9]\d+)(?:U|L|UL|ULL)?\b(?!\.)",
                    re.IGNORECASE)
# Not the values of states, which only differ.
DEFINED = re.compile(r"^#define[ \t]+(\w+)[ \t]+(?P<value>\d\w*(?: \* \w+)?)[ \t]*$", re.MULTILINE)
# Steps that others see, and stores among them.
STORED = re.compile(r"WRITE_ONCE|smp_store|xchg|publish|notify")
SEEN = re.compile(rf"{STORED.pattern}|nbq_held_|nbq_note_|_free|reclaim|mmiowb")


@dataclass(frozen=True)
class Place:
    """A function: where its body is, of a text in which comments, strings, directives are blank."""

    name: str
    head: str
    code: str
    begin: int
    end: int

    def statements(self):
        for statement in statements(self.code, self.begin, self.end):
            yield from statement.flat()

    def text(self, span):
        return self.code[span[0]:span[1]]

    def blocks(self):
        """Lists of the statements that follow each other."""
        outer = statements(self.code, self.begin, self.end)
        yield outer
        for statement in outer:
            for inner in statement.flat():
                if inner.kind == "block":
                    yield inner.inner


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code_of(text):
    """Code only, with every offset as it was."""
    code = TOKEN.sub(blank, text)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.MULTILINE)


def functions(text):
    code = code_of(text)
    for match in FUNCTION.finditer(code):
        name = re.search(r"(\w+)\s*\(", match["head"])[1]
        yield Place(name, match["head"], code, match.start("body"), match.end("body"))


def weaken_order(place):
    for pattern, weaker in ORDERS:
        for match in pattern.finditer(place.code, place.begin, place.end):
            arguments, end = arguments_at(place.code, match.end())
            for instead in weaker:
                yield match.start(), end, weakened(match.expand(instead), arguments)


def weakened(primitive, arguments):
    if not primitive:
        return "(void)0"
    first, *others = arguments
    if primitive in ("READ_ONCE", "WRITE_ONCE"):
        first = first[1:] if first.startswith("&") else f"*{first}"
    return f"{primitive}({', '.join([first, *others])})"


def drop_store(place):
    for statement in place.statements():
        if statement.kind == "simple" and not is_first_value(place, statement) \
                and STORE.match(place.text((statement.begin, statement.end))):
            yield statement.begin, statement.end, ";"


def is_first_value(place, statement):
    name = re.match(r"(\w+) = ", place.text((statement.begin, statement.end)))
    return name and not re.search(rf"\b{name[1]}\s*[-+|&]?=[^=]",
                                  place.head + place.text((place.begin, statement.begin)))


def calls(place):
    """Statements that are a call; not that which is all of a function."""
    found = list(place.statements())
    for statement in found if len(found) > 1 else ():
        text = place.text((statement.begin, statement.end))
        call = CALL.match(text)
        if statement.kind == "simple" and call and not SILENT.match(text) \
                and not STORE.match(text) \
                and end_of_group(text, call.end() - 1) == len(text) - 1:
            yield statement, text


def drop_call(place):
    for statement, _ in calls(place):
        yield statement.begin, statement.end, ";"


def double_free(place):
    for statement, text in calls(place):
        if FREE.match(text):
            yield statement.begin, statement.end, f"{{ {text} {text} }}"


def drop_jump(place):
    """The end of a void function, of a loop, of a turn of it."""
    for statement in place.statements():
        if place.text((statement.begin, statement.end)) in ("return;", "break;", "continue;"):
            yield statement.begin, statement.end, ";"


def negate(place):
    for statement in place.statements():
        if statement.kind in ("if", "while", "do", "for"):
            begin, end = statement.condition
            if statement.kind == "for":
                begin, end = (place.code.index(";", begin) + 1, place.code.rindex(";", begin, end))
            condition = place.text((begin, end))
            if not condition.strip() or drops_all(statement):
                continue
            yield begin, end, f"!({condition})" if statement.kind == "if" else \
                f"({condition}) && false"
        elif statement.kind == "return" and re.search(r"\bbool\b", place.head):
            begin, end = statement.begin + len("return "), statement.end - 1
            value = place.text((begin, end))
            if value not in ("true", "false") and "?" not in value:
                yield begin, end, f"!({value})"
    for begin, end in ternaries(place):
        yield begin, end, f"!({place.text((begin, end))})"


def drops_all(statement):
    """Whether all that a condition decides is a statement that is dropped by another rule."""
    return statement.kind == "if" and len(statement.inner) == 1 and \
        statement.inner[0].kind == "simple"


def ternaries(place):
    for match in re.finditer(r"\?(?!\s*:)", place.code[place.begin:place.end]):
        end = place.begin + match.start()
        begin = left_end(place.code, end)
        text = place.text((begin, end))
        yield begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())


def left_end(code, place):
    """Where the operand of ?: begins."""
    depth = 0
    while True:
        letter = code[place - 1]
        depth += (letter in CLOSE) - (letter in OPEN)
        if depth < 0 or (depth == 0 and letter in ",;{}?:"):
            return place
        if depth == 0 and letter == "=" and code[place - 2] not in "=!<>" and code[place] != "=":
            return place
        if depth == 0 and re.search(r"\breturn $", code[place - 8:place]):
            return place
        place -= 1


def move_bound(place):
    for match in BOUND.finditer(place.code, place.begin, place.end):
        yield *match.span(), STRICT[match[0]]


def move_constant(place):
    # A store of a truth is dropped by another rule.
    others = [range(statement.begin, statement.end) for statement in place.statements()
              if statement.kind == "simple" and
              OF_OTHER_RULES.search(place.text((statement.begin, statement.end)))]
    for pattern, other in ((TRUTH, opposite), (ERROR, "-EIO"), (NUMBER, r"(\g<0> * 2)")):
        for match in pattern.finditer(place.code, place.begin, place.end):
            if not any(match.start() in statement for statement in others):
                yield *match.span(), other(match) if callable(other) else match.expand(other)


def opposite(truth):
    return "false" if truth[0] == "true" else "true"


def exchange(place):
    """A step that others see comes before the one that precedes it."""
    for block in place.blocks():
        made = set()
        for steps in (SEEN, STORED):
            seen = [statement for statement in block if statement.kind in ("simple", "if")
                    and steps.search(place.text((statement.begin, statement.end)))
                    and not place.code.startswith("trace_", statement.begin)]
            for first, second in zip(seen, seen[1:]):
                if (first.begin, second.begin) not in made:
                    made.add((first.begin, second.begin))
                    late = place.text((second.begin, second.end))
                    yield (first.begin, second.end,
                           f"{late} {place.text((first.begin, second.begin)).rstrip()}")


RULES = {"order": weaken_order, "store": drop_store, "call": drop_call, "twice": double_free,
         "jump": drop_jump, "negate": negate, "bound": move_bound,
         "constant": move_constant, "exchange": exchange}


def constants(text):
    """(name, begin, end, text instead) of the numbers that have a name."""
    code = TOKEN.sub(blank, text)
    for match in DEFINED.finditer(code):
        number = NUMBER.search(code, match.start("value"), match.end("value"))
        if number:
            yield match[1], *number.span(), f"({number[0]} * 2)"
