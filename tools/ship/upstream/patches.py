# SPDX-License-Identifier: GPL-2.0
"""Patches as `git format-patch` makes them, from a scratch repository of the files touched."""

import os
from pathlib import Path
import re
import shlex
import subprocess
import tempfile

from base.common import PROJECT, Failure, output_of

RFC = re.compile(r"\d+-RFC-")	# a file's name
AUTHOR = re.compile(r"\s*([^<>]+?)\s*<([^<>\s]+@[^<>\s]+)>\s*")


class Author:
    """Whose the patches are, and who signs them off."""

    def __init__(self, text):
        found = AUTHOR.fullmatch(text)
        if not found:
            raise Failure(f"\"{text}\" is no author: it is to be \"Name <address>\"")
        self.name, self.mail = found.groups()

    def __str__(self):
        return f"{self.name} <{self.mail}>"


def author_of_git():
    """The one that git is set up for, here."""
    words = [output_of(["git", "-C", str(PROJECT), "config", f"user.{name}"])
             for name in ("name", "email")]
    if not all(words):
        raise Failure("git does not know your name: set user.name and user.email by `git "
                      "config`, or give --author \"Name <address>\"")
    return Author(f"{words[0].strip()} <{words[1].strip()}>")


def date():
    """That of the project's last commit: the same sources make the same patches."""
    return os.environ.get("SOURCE_DATE_EPOCH") or \
        (output_of(["git", "-C", str(PROJECT), "log", "-1", "--format=%ct"]) or "0").strip()


class Scratch:
    """A git repository of the files that a series touches."""

    def __init__(self, folder, author):
        self.folder = Path(folder)
        # Nothing of the user's own settings shapes the patches.
        self.environment = {
            **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", author.name), ("EMAIL", author.mail),
                                   ("DATE", f"@{date()} +0000"))}}
        self.git("init", "-q", "-b", "series")

    def run(self, *words):
        done = subprocess.run(words, cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.environment, check=False)
        if done.returncode:
            raise Failure(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}")
        return done.stdout

    def git(self, *words):
        return self.run("git", *map(str, words))

    def write(self, texts):
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, texts, message, signs=True):
        self.write(texts)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(message)
            file.flush()
            self.git("add", "-A", "-f")
            self.git("commit", "-q", *(["-s"] if signs else []), "-F", file.name)


def format_patches(made, author, output, prefix="PATCH"):
    """Write the patches of a series.

    made: {path: text} of the tree before, [(message, {path: text})], the cover letter.
    Returns their paths, the cover letter's first.
    """
    base, commits, cover = made
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("*.patch"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="nbq-series-") as folder:
        scratch = Scratch(folder, author)
        scratch.commit({".base": "", **base}, "The tree before\n", signs=False)
        for message, texts in commits:
            scratch.commit(texts, message)
        scratch.git("config", "branch.series.description", cover)
        scratch.git("format-patch", "-q", f"-{len(commits)}", "--cover-letter",
                    "--cover-from-description=subject",
                    f"--subject-prefix={prefix}", "--no-signature", "--stat=78",
                    "-o", output.absolute())
    return sorted(output.glob("*.patch"))


def pattern(patches):
    """What means these to a shell, and no other patch of their folder: 000[1-8]-*.patch."""
    by_ten = {}
    for patch in patches:
        number = patch.name.partition("-")[0]
        by_ten.setdefault(number[:-1], []).append(number[-1])
    folder = shlex.quote(str(patches[0].parent.absolute()))
    return " ".join(f"{folder}/{ten}{digits[0] if len(digits) == 1 else span(digits)}-*.patch"
                    for ten, digits in by_ten.items())


def span(digits):
    together = len(digits) == int(digits[-1]) - int(digits[0]) + 1
    return f"[{digits[0]}-{digits[-1]}]" if together else f"[{''.join(digits)}]"


def am_commands(patches):
    """The commands that apply a series: without the RFC, and the RFC, if there is one."""
    rfc = [patch for patch in patches if RFC.match(patch.name)]
    rest = [patch for patch in patches if patch not in rfc]
    return [f"git am {pattern(some)}" for some in (rest, rfc) if some]


def typed(base, commands):
    """The files that come of the tree's by a shell's commands: {path: text} after each."""
    with tempfile.TemporaryDirectory(prefix="nbq-series-") as folder:
        scratch = Scratch(folder, Author("Series <series@localhost.invalid>"))
        scratch.commit({".base": "", **base}, "The tree before\n", signs=False)
        states = []
        for command in commands:
            scratch.run("sh", "-c", command)
            names = scratch.git("ls-files").split()
            states.append({name: (scratch.folder / name).read_text()
                           for name in names if name != ".base"})
        return states


def applied(base, patches):
    """The same after `git am` of each patch."""
    return typed(base, [f"git am -q {shlex.quote(str(patch.absolute()))}" for patch in patches])
