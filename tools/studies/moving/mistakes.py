# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the use of the locks: where they are in files."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import re

from base.common import PROJECT, Failure, cores
from studies.moving.coccinelle import run_spatch

COMMENT_OR_LITERAL = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)
SCRIPT = PROJECT / "tools/studies/moving/mistakes.cocci"
ACQUISITION = re.compile(r"\b(?:nbq_\w+_(?:try)?lock(?:_\w+)?|"
                         r"(?:raw_)?spin_(?:try)?lock_(?:timeout|unless)\w*)\s*\(")
DEFINITION = re.compile(r"#\s*define\b|[\w*]+[ \t*]+nbq_\w+\(")
REPORT = re.compile(r".*:(\d+):(\d+)-\d+: WARNING: (.*)")
SITE = re.compile(r"site (\d+)")
UNREAD = "Coccinelle does not understand the code around this line"


def files_in(paths):
    """The C files of these files and folders that acquire a lock of ours: {path: lines}."""
    found = {}
    for path in map(Path, paths):
        for file in sorted(path.rglob("*.[ch]")) if path.is_dir() else [path]:
            try:
                lines = lines_with_acquisitions(file.read_text(errors="replace"))
            except OSError as error:
                raise Failure(f"{file}: {error.strerror}") from None
            if lines:
                found[file] = lines
    return found


def lines_with_acquisitions(text):
    """The numbers of the lines that acquire, outside comments, literals and definitions."""
    code = COMMENT_OR_LITERAL.sub(lambda match: "\n" * match[0].count("\n"), text)
    return {number for number, line in enumerate(code.splitlines(), 1)
            if ACQUISITION.search(line) and not DEFINITION.match(line)}


def mistakes_in(path, lines):
    """[(path, line, column, text)] of a file, in order. lines: that acquire."""
    output = run_spatch(SCRIPT, path, "--no-includes", "-D", "sites")
    found = [(path, int(line), int(column) + 1, text)
             for line, column, text in REPORT.findall(output)]
    unread = lines - set(map(int, SITE.findall(output)))
    return sorted(found + [(path, line, 1, UNREAD) for line in unread])


def find_mistakes(paths):
    """The same of files and folders."""
    files = files_in(paths)
    with ThreadPoolExecutor(cores()) as pool:
        return [mistake for found in pool.map(mistakes_in, files, files.values())
                for mistake in found]
