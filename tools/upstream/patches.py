# SPDX-License-Identifier: GPL-2.0
"""Patches as `git format-patch` makes them, from a scratch repository of the files touched."""

import os
from pathlib import Path
import re
import subprocess
import tempfile

from testbed.common import PROJECT, Failure, output_of

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

    def git(self, *words):
        done = subprocess.run(["git", *map(str, words)], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.environment, check=False)
        if done.returncode:
            raise Failure(f"git {words[0]}: status {done.returncode}\n{done.stdout}")
        return done.stdout

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


def applied(base, patches):
    """The files that come of the tree's by `git am`: {path: text} after each patch."""
    with tempfile.TemporaryDirectory(prefix="nbq-series-") as folder:
        scratch = Scratch(folder, Author("Series <series@localhost.invalid>"))
        scratch.commit({".base": "", **base}, "The tree before\n", signs=False)
        states = []
        for patch in patches:
            scratch.git("am", "-q", patch.absolute())
            names = scratch.git("ls-files").split()
            states.append({name: (scratch.folder / name).read_text()
                           for name in names if name != ".base"})
        return states
