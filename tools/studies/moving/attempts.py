# SPDX-License-Identifier: GPL-2.0
"""The kernel's attempts of spinlocks: where they are, and which recipe is for each."""

from concurrent.futures import ThreadPoolExecutor
import json
import os
from pathlib import Path
import re
import time

from base.common import PROGRESS_SECONDS, PROJECT, Failure, cores, say
from studies.moving.coccinelle import run_spatch

SCRIPT = PROJECT / "tools/studies/moving/attempts.cocci"
# What a class is; a site belongs to the first that it is of. Documentation/moving.rst has them.
CLASSES = {
    "loop": "in a loop that only waits, with a deadline or without end",
    "unless": "in a loop that ends for other reasons as well",
    "panic": "after a panic, oops or crash",
    "nolock": "the caller may not spin, in code that else waits",
    "once": "all others that are read",
    "unread": "Coccinelle does not understand the code",
}
# The sources of which no site is meant: the locks themselves, programs, tests.
OMITTED = re.compile(r"(?:kernel/locking|tools|Documentation)/|"
                     r"(?:.*/)?(?:tests?|selftests?|kunit)/|"
                     r"(?:.*/)?(?:test[-_].*|.*[-_](?:test|selftest|kunit))\.c$")
NAME = r"\b(?:(?:raw_)?spin_trylock(?:_irq|_irqsave|_bh)?|uart_port_trylock(?:_irqsave)?)\b"
# With its arguments, as Coccinelle prints it.
ATTEMPT = re.compile(NAME + r" \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
COMMENT_OR_LITERAL = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)
LOOP = re.compile(r"(?:while|do|\w*for|\w*for_each\w*)\b")
DELAY = r"(?:cpu_relax|cpu_chill|barrier|[mun]delay)"
CLOCK = re.compile(r"jiffies|\btime_|ktime|clock|cycles|timeout|deadline|\+\+|--")
# What a loop may call and still only wait.
IDLE = re.compile(rf"if|while|for|do|sizeof|likely|unlikely|{DELAY}|pr_\w+|dev_\w+|printk|WARN\w*")
PANIC = re.compile(r"oops|panic|crash|kmsg_dump|emerg", re.IGNORECASE)
NO_LOCK = re.compile(r"\b(?:ALLOC|FPI)_TRYLOCK\b|\ballow_spin|\w+_allow_spinning\b")


class Site:
    """An attempt in the source."""

    def __init__(self, file, line, function, kind):
        self.file = file
        self.line = line
        self.function = function
        self.kind = kind

    def __str__(self):
        return f"{self.file}:{self.line}: {self.kind} {self.function}".rstrip()


# One file

def facts_of(path):
    """What the script says of a file: lists of (start, end, function, text), by their kind."""
    facts = {kind: [] for kind in ("attempt", "call", "handler", "statement", "then", "else")}
    for line in sorted(set(run_spatch(SCRIPT, path, "--no-includes").splitlines())):
        kind, start, end, function, text = json.loads(line)
        facts[kind].append((start, end, function, text))
    return facts


def conditions(text):
    """What is in the brackets of each if, while and for of a text."""
    for match in re.finditer(r"\b(?:if|while|for) \(", text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield text[match.end():at - 1]


def only_waits(loop):
    """Whether a loop does no more than attempt, wait and look at the clock."""
    rest = ATTEMPT.sub("", loop)
    asked = [re.sub(r"\b(?:likely|unlikely|true)\b", "", condition)
             for condition in conditions(rest) if not CLOCK.search(condition)]
    return not any(re.search(r"[A-Za-z_]", condition) for condition in asked) and \
        all(IDLE.fullmatch(name) or CLOCK.search(name)
            for name in re.findall(r"(\w+) \(", rest))


def loop_around(place, facts):
    """The text of the innermost loop, if it attempts again because an attempt failed: it has the
    attempt in its condition, or delays.
    """
    loops = [(start, COMMENT_OR_LITERAL.sub('""', text))
             for start, end, _, text in facts["statement"]
             if start <= place < end and LOOP.match(text)]
    text = max(loops)[1] if loops else ""
    head = list(conditions(text))[{"while": slice(1), "for": slice(1),
                                   "do": slice(-1, None)}.get(text.split(" ")[0], slice(0))]
    if any(map(ATTEMPT.search, head)) or re.search(rf"\b{DELAY} \(", text):
        return text
    return None


def kind_of(place, function, facts):
    """The class of an attempt."""
    loop = loop_around(place, facts)
    if loop:
        return "loop" if only_waits(loop) else "unless"
    users = {function} | {caller for _, _, caller, called in facts["call"] if called == function}
    handlers = {name for _, _, _, name in facts["handler"]}
    under = {kind: " ".join(text for start, end, _, text in facts[kind] if start <= place < end)
             for kind in ("then", "else")}
    if users & handlers or any(map(PANIC.search, users)) or PANIC.search(under["then"]):
        return "panic"
    return "nolock" if any(map(NO_LOCK.search, under.values())) else "once"


def sites_in(path, name):
    """The sites in a file. name: what it is called."""
    facts = facts_of(path)
    return [Site(name, place[0], "in a macro" if function == "something_else" else function,
                 kind_of(place, function, facts))
            for place, _, function, _ in facts["attempt"]]


# Many files

def lines_with_attempts(text):
    """The numbers of the lines that attempt outside comments and literals."""
    code = COMMENT_OR_LITERAL.sub(lambda match: "\n" * match[0].count("\n"), text)
    return [number for number, line in enumerate(code.splitlines(), 1)
            if re.search(NAME + r"\s*\(", line)]


def files_to_read(source, folders):
    """{name: lines with attempts} of the files below folders of a source tree that have some."""
    found = {}
    for folder in folders or ["."]:
        if not (source / folder).exists():
            raise Failure(f"{source} has no {folder}")
        walk = os.walk(source / folder) if (source / folder).is_dir() else \
            [((source / folder).parent, [], [(source / folder).name])]
        for where, _, files in walk:
            for file in files:
                path = Path(where) / file
                name = os.path.relpath(path, source)
                if not file.endswith(".c") or OMITTED.match(name):
                    continue
                data = path.read_bytes()
                if b"_trylock" in data:
                    lines = lines_with_attempts(data.decode(errors="replace"))
                    if lines:
                        found[name] = lines
    return found


def find_sites(source, folders=()):
    """The Sites below folders of a source tree."""
    files = files_to_read(source, folders)
    say(f"{len(files)} files with attempts below {source}")
    pool = ThreadPoolExecutor(cores())
    said = time.monotonic()
    sites = []
    try:
        futures = [pool.submit(sites_in, source / name, name) for name in sorted(files)]
        for number, future in enumerate(futures, 1):
            sites += future.result()
            if time.monotonic() > said + PROGRESS_SECONDS:
                said = time.monotonic()
                say(f"  {number} of {len(files)} files, {len(sites)} sites")
    finally:
        pool.shutdown(cancel_futures=True)
    seen = {(site.file, site.line) for site in sites}
    return sites + [Site(name, line, "", "unread") for name, lines in sorted(files.items())
                    for line in lines if (name, line) not in seen]


def counts(sites):
    """{class: (sites, files)}"""
    return {kind: (sum(site.kind == kind for site in sites),
                   len({site.file for site in sites if site.kind == kind})) for kind in CLASSES}
