# SPDX-License-Identifier: GPL-2.0
"""Names that do not exist, in pages, figures and kept reports: of lock types, commands, options,
and of nbqlock's own symbols.
"""

import argparse
import csv
import functools
import html
import os
import re
import shlex
import subprocess
from unittest import mock

from base.commands import Accepted, started
from base.common import PROJECT
from base.driver import BROKEN
from base.lock_types import NBQ
from base.parameters import LOADS, LOADS_OF_OTHERS
from base.testbeds import TESTBEDS

# They tell of what was.
PAST = ("prior-art.rst", "from-1.x.rst")
# They quote the sources as they were when these were verified, and call locks by words.
OF_A_COMMIT = ("reference/verification.rst", "reference/mutants.json")
KINDS = (".rst", ".md", ".svg", ".txt", ".json")
# Where the symbols of nbqlock are, and what the tools call things; tests make names up.
SOURCES = ("nbqlock", "kunit", "tools", "debian", "Documentation/example", "Documentation/tutorial",
           "Documentation/arena-example", "Documentation/stress-example", "Documentation/ABI",
           "Makefile", "Kbuild", "dkms.conf", "nbqlock.mk")
OURS = re.compile(r"\b_*(?:nbq|NBQ)_\w+\*?")
WORD = re.compile(r"\w+")

LITERAL = re.compile(r"``([^`]+)``|(?<!`)`([^`\n]+)`(?![`_])")
# A line of a block that is typed: what follows three blanks explains it.
TYPED = re.compile(r"[ \t]*(?:[$#] )?((?:sudo )?(?:tools/|nbq |make )\S.*?)(?: {3,}.*)?")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# Of the kernel's tree.
KERNELS = ("tools/memory-model", "tools/testing")
PLACEHOLDER = re.compile(r"\.\.\.|…|^[A-Z][A-Z.,|=_]*$|=[A-Z]+$|[\[\]|]|^N$")
# What a refusal by an unknown name says; others are of files that the reader has.
UNKNOWN = re.compile(r"unrecognized arguments|invalid choice|there is no|no such|ambiguous option|"
                     r"expected one argument")
# Verbs and programs whose words are checked up to where they would install something. Of others
# only the parser is asked.
CHECKED = ("bench", "verify")	# and the studies
PROGRAMS = ("tools/check", "tools/host/simulate/simulate")


def files(project=PROJECT):
    found = [project / "README.md", project / "CONTRIBUTING.md",
             *sorted((project / "Documentation").rglob("*"))]
    return [path for path in found
            if path.suffix in KINDS and path.name not in PAST and "ABI" not in path.parts]


# Symbols

@functools.lru_cache(maxsize=None)
def known_words():
    """All words of the sources."""
    words = set()
    for top in SOURCES:
        for folder, folders, names in os.walk(PROJECT / top) if (PROJECT / top).is_dir() else \
                [(PROJECT, [], [top])]:
            folders[:] = [name for name in folders if name not in ("test", "__pycache__")]
            for name in names:
                if not name.endswith((".ko", ".o", ".mod.c", ".cmd", ".pyc")):
                    text = (PROJECT / folder / name).read_bytes().decode(errors="replace")
                    words.update(WORD.findall(text))
    return words


def exists(symbol):
    """Whether it is a word, or the beginning of some (nbq_clh_*); X is any lock."""
    names = {symbol.replace("_X_", f"_{lock}_") for lock in NBQ}
    return any(name in known_words() or name[-1] in "_*" and
               any(word.startswith(name.rstrip("*")) for word in known_words()) for name in names)


def lock_types():
    return {BROKEN, *(lock for testbed in TESTBEDS.values() for lock in testbed.locks)}


def symbols_in(text):
    """Ours, and what continues the name of a lock type."""
    heads = "|".join(sorted(lock_types(), key=len, reverse=True))
    return set(OURS.findall(text)) | set(re.findall(rf"\b(?:{heads})_\w+", text))


# Lock types

TABLE = re.compile(r"^\.\. csv-table::\n(?:   :.*\n)*\n((?:   .*\n)+)", re.MULTILINE)


def in_column(text):
    """The cells below a head "lock" of the tables of a report."""
    for table in TABLE.findall(text):
        heads, *rows = csv.reader(line.strip() for line in table.splitlines())
        for place, head in enumerate(heads):
            if head in ("lock", "kernel's spinlock"):
                yield from (row[place] for row in rows if len(row) > place)


def in_figure(text):
    """The names in a figure: texts of one word that has the form of an identifier."""
    for words in re.findall(r">([^<>]+)<", re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)):
        if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+|[a-z]+lock", words.strip()):
            yield html.unescape(words.strip())


def locks_in(path, text):
    known = lock_types() | {*LOADS, *LOADS_OF_OTHERS, "spinlock_t", ""}
    found = in_figure(text) if path.suffix == ".svg" else in_column(text)
    return {name.strip("*") for name in found} - known


# Commands and options

def is_python(program):
    return "python3" in (PROJECT / program).read_text(errors="replace")[:200]


@functools.lru_cache(maxsize=None)
def help_of(program, verb=""):
    done = subprocess.run([PROJECT / program, *[verb] * bool(verb), "--help"], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return done.stdout


@functools.lru_cache(maxsize=None)
def verbs():
    return re.findall(r"^    ([a-z-]{3,})(?:  |$)", help_of("tools/nbq"), re.MULTILINE)


@functools.lru_cache(maxsize=None)
def all_options():
    """Of any program of ours, those in C and in shell too."""
    found = set()
    for path in sorted((PROJECT / "tools").rglob("*")):
        if path.is_file() and path.suffix in ("", ".py", ".c", ".sh") and "test" not in path.parts:
            found.update(OPTION.findall(path.read_text(errors="replace")))
    return found


TARGET = re.compile(r"^([\w -]+):(?!=)", re.MULTILINE)


def targets(folder=PROJECT):
    """Of a Makefile, and of what ours includes."""
    text = (folder / "Makefile").read_text()
    if folder == PROJECT:
        text += (PROJECT / "tools/ship/packages/install/install.mk").read_text()
    return {name for names in TARGET.findall(text) for name in names.split()}


def wrong_target(words):
    folder = PROJECT
    for place, word in enumerate(words):
        if word == "-C":
            folder = PROJECT / words[place + 1]
            words = words[:place] + words[place + 2:]
            break
    if not (folder / "Makefile").exists():
        return ""
    wanted = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return " ".join(word for word in wanted if word not in targets(folder))


def parsed(words):
    """Why the parser of a command refuses it; or nothing."""
    parse = argparse.ArgumentParser.parse_args

    def accept(parser, *arguments):
        parse(parser, *arguments)
        raise Accepted([])

    with mock.patch("argparse.ArgumentParser.parse_args", accept):
        return started(words)[0]


def is_study(verb):
    return (PROJECT / "tools/studies" / verb.replace("-", "_")).is_dir()


def is_checked(words):
    return words[0] in PROGRAMS or \
        words[1:2] and (words[1] in CHECKED or is_study(words[1])) and "--no-run" not in words or \
        words[1:2] == ["stress"] and "--here" not in words and words[0] == "tools/nbq"


def wrong_in(command):
    """What is wrong with the names of a command; or nothing."""
    try:
        words = shlex.split(command.removeprefix("sudo ").replace("\\\n", " "), comments=True)
    except ValueError:
        return ""
    words = list(iter(words[:next((place for place, word in enumerate(words)
                                   if word in ("|", "&&", ";", "--") or word[0] == ">"),
                                  len(words))]))
    program = "tools/nbq" if words[0] == "nbq" else words[0]
    if program == "make":
        return wrong_target(words)
    if "*" in program or PLACEHOLDER.search(program) or program.startswith(KERNELS):
        return ""
    if not (PROJECT / program.rstrip("./,:;")).exists():
        return f"no {program}"
    if program == "tools/nbq":
        if words[1:] and re.match("[a-z]", words[1]) and words[1] not in verbs():
            return f"no verb {words[1]}"
    elif not os.access(PROJECT / program, os.X_OK) or (PROJECT / program).is_dir():
        return ""
    if any(map(PLACEHOLDER.search, words[1:])) or not is_python(program):
        verb = words[1:2] if program == "tools/nbq" and words[1] in verbs() else []
        known = OPTION.findall(help_of(program, *verb)) if is_python(program) and (
            verb or program != "tools/nbq") else all_options()
        options = [word.partition("=")[0] for word in words[1:] if word.startswith("--")]
        return " ".join(option for option in options if option not in known)
    refused = started([program, *words[1:]])[0] if is_checked(words) else \
        parsed([program, *words[1:]])
    return refused.splitlines()[-1] if refused and UNKNOWN.search(refused) else ""


def block_lines(text):
    """The lines of blocks of text as it is: indented behind ::, or between fences."""
    inside, fenced = None, False
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or inside is not None and depth > inside:
            yield line
        elif line.strip():
            inside = depth if line.endswith("::") else None


def commands_in(text):
    """The commands of a page: literals, lines of blocks, and what a report was made by."""
    joined = re.sub(r"\\\n\s*", " ", text)
    literals = [" ".join((one or other).split()) for one, other in LITERAL.findall(joined)]
    found = [words for words in literals if re.match(r"(?:sudo )?(?:tools/|nbq |make )", words)]
    found += [match[1] for match in map(TYPED.fullmatch, block_lines(joined)) if match]
    found += re.findall("^:Command: (nbq .*)$", text, re.MULTILINE)
    return dict.fromkeys(found)


def options_in(text):
    """Options that stand by themselves."""
    for one, other in LITERAL.findall(text):
        literal = (one or other).strip()
        if literal.startswith("--"):
            yield from OPTION.findall(literal)


# All of it

def wrong_names(path, text):
    """Sentences on the names of a file."""
    found = []
    if not str(path).endswith(OF_A_COMMIT):
        found += [f"no lock type {name}" for name in locks_in(path, text)]
        found += [f"no symbol {name}" for name in symbols_in(text) - lock_types()
                  if not exists(name) and f"no lock type {name}" not in found]
    if path.suffix in (".rst", ".md"):
        for command in commands_in(text):
            wrong = wrong_in(command)
            found += [f"{command}: {wrong}"] if wrong else []
        found += [f"no option {option}" for option in options_in(text)
                  if option not in all_options()]
    return sorted(set(found))


def all_wrong(project=PROJECT):
    """{file: what is wrong with its names}"""
    found = {path.relative_to(project): wrong_names(path, path.read_text(encoding="utf-8"))
             for path in files(project)}
    return {path: wrong for path, wrong in found.items() if wrong}
