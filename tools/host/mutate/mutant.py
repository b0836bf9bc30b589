# SPDX-License-Identifier: GPL-2.0
"""The mutants of the shipped text: each a mistake that a rule makes, known by its content."""

from collections import Counter
from dataclasses import dataclass
import re

from base.building import digest
from base.lock_types import QUEUES
from host.mutate.edits import SOURCE
from host.mutate.rules import RULES, constants, functions

FILES = (*(f"{word}_nb.c" for word in QUEUES), "bare_spin.c", "bare_spin.h",
         "spin_queue.c", "spin_turns.c", "spin_turns.h", "spin_word.h", "spin_policy.h", "socket.h",
         "spin.c", "spin.h", "queue_lock.h", "attempt.h", "internal.h", "node.c", "pool.c",
         "wait.c", "wait.h", "wait_deadlock.c", "wait_deadlock.h", "wait_holder.c", "wait_pred.c",
         "deadline.h", "relax.h", "contention.h", "clh.h", "guard.h",
         "bpf/nbq_arena_lock.h")
# Its functions are made of the same lines of lock.h.in as those of clh.h, but for some.
TEMPLATE = ("spin.h", "clh.h")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# What runs only when the module is loaded or unloaded, or when a CPU comes.
LEFT_OUT = re.compile(r"pool\.c (?:\w+_socket|socket_of_node|enlarge_machine|has_one_node"
                      r"|nbq_sockets_st\w+|nbq_pool_prepare|set_up_for_others)")


@dataclass(frozen=True)
class Mutant:
    """Text of a file from begin to end, and what stands there instead."""

    file: str
    function: str
    rule: str
    what: str		# of the text, and what became of it
    number: int		# among those that read the same
    begin: int
    end: int
    instead: str

    def lines(self, text):
        """The numbers of the lines that it changes, the first and the last."""
        return (text.count("\n", 0, self.begin) + 1, text.count("\n", 0, self.end) + 1)

    @property
    def name(self):
        number = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file} {self.function} {self.rule} {self.what}{number}"

    def applied(self, text):
        return text[:self.begin] + self.instead + text[self.end:]

    def identity(self, text):
        """Of the code of the file with the mistake: what was judged is known by it."""
        return digest(self.name, " ".join(COMMENT.sub(" ", self.applied(text)).split()))


def one_line(text):
    words = " ".join(text.split())
    return words if len(words) <= 72 else f"{words[:69]}..."


def line_at(code, begin):
    return code[code.rindex("\n", 0, begin) + 1:code.index("\n", begin)]


def described(rule, code, begin, end, instead):
    """A few words that tell a mistake of a rule from the others."""
    text = code[begin:end]
    if rule == "order":
        return f"{one_line(text)}: {re.match(r'[^(]*', instead)[0] or 'none'}"
    if rule in ("bound", "constant"):
        return f"{one_line(line_at(code, begin))}: {text} to {instead}"
    if rule == "exchange":
        return f"{one_line(instead)}"
    return one_line(text)


def found_in(file, text):
    """(function, rule, description, begin, end, instead) of all mistakes in a file."""
    for place in functions(text):
        if not LEFT_OUT.fullmatch(f"{file} {place.name}"):
            for rule, make in RULES.items():
                for begin, end, instead in make(place):
                    yield (place.name, rule, described(rule, place.code, begin, end, instead),
                           begin, end, instead)
    for name, begin, end, instead in constants(text):
        yield "-", "constant", f"{name}: {text[begin:end]} to {instead}", begin, end, instead


def mutants_of(file, text, shared=frozenset()):
    """Those of a file, in the order of its lines; not of functions that others share."""
    seen = Counter()
    for function, rule, what, begin, end, instead in sorted(found_in(file, text),
                                                           key=lambda found: found[3:5]):
        if function not in shared:
            seen[function, rule, what] += 1
            yield Mutant(file, function, rule, what, seen[function, rule, what],
                         begin, end, instead)


def of_template(text, template):
    """Names of functions of a header that stand in another one, but for the lock's name."""
    others = {place.text((place.begin, place.end)).replace("nbq_clh", "nbq_spin")
              for place in functions(template)}
    return {place.name for place in functions(text)
            if place.text((place.begin, place.end)) in others}


def all_mutants(source=None):
    texts = {file: ((source or SOURCE) / "nbqlock" / file).read_text() for file in FILES}
    header, template = TEMPLATE
    for file, text in texts.items():
        shared = of_template(text, texts[template]) if file == header else frozenset()
        yield from mutants_of(file, text, shared)
