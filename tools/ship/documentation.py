# SPDX-License-Identifier: GPL-2.0
"""Builds the documentation as HTML, by Sphinx with the kernel's extensions."""

import argparse
import re
import shutil

from base.common import BUILD, PROJECT, Unavailable, answer_of
from base.setup import setup
from guest.source import get_source

VERBS = {"docs": "build the documentation as HTML"}
FOLDER = BUILD / "docs"
INDEX = FOLDER / "html/index.html"

LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")	# in a .md file, to a file
FENCE = re.compile(r" *```[\w-]*")
FIGURE = re.compile(r"(?<![\w.])\d[\d,.]*")
SCREEN = 40			# lines of a page that a terminal or a browser shows at first
PAGE = re.compile(r"(?<![\w./*-])([\w/-]+\.rst)\b")		# the name of a page


def build_html():
    """All pages, from scratch: Sphinx warns only of pages that it reads. Returns the warnings."""
    if not shutil.which("sphinx-build"):
        raise Unavailable("sphinx-build is not installed; run tools/setup docs")
    source = get_source().path
    shutil.rmtree(FOLDER, ignore_errors=True)
    text, status = answer_of(
        ["sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-d", FOLDER / "doctrees",
         PROJECT / "Documentation", INDEX.parent],
        # Nothing is written to the kernel's source, compiled extensions neither.
        {"srctree": str(source), "PYTHONDONTWRITEBYTECODE": "1"})
    if status:
        return text or f"sphinx-build: exit status {status}"
    return ""


def broken_links():
    """Files that a .md file links to, and pages that a page names, which are not there."""
    pages = PROJECT / "Documentation"
    found = [(path, PROJECT / target) for path in sorted(PROJECT.glob("*.md"))
             for target in LINK.findall(path.read_text())]
    for path in sorted(pages.rglob("*.rst")):
        for name in PAGE.findall(path.read_text()):
            # From the project, from the pages, beside the page; what bench writes, as kept.
            places = [folder / name
                      for folder in (pages, PROJECT, path.parent, pages / "reference")]
            found.append((path, next((place for place in places if place.exists()), places[0])))
    return "".join(f"{path.relative_to(PROJECT)}: {target.relative_to(PROJECT)} is not there\n"
                   for path, target in found if not target.exists())


def lost_fences(root=PROJECT):
    """Fences of blocks in .md files that share their line with text, or lack the other end."""
    lost = []
    for path in sorted(root.glob("*.md")):
        fences = [(number, line) for number, line in
                  enumerate(path.read_text().splitlines(), 1) if "```" in line]
        lost += [f"{path.name}:{number}: text beside a fence: {line}\n"
                 for number, line in fences if not FENCE.fullmatch(line)]
        lost += [f"{path.name}: an odd number of fences\n"] * (len(fences) % 2)
    return "".join(lost)


def long_first_screen(root=PROJECT):
    """What README's first screen has too much of, or too late."""
    lines = (root / "README.md").read_text().splitlines()
    screen = "\n".join(lines[:SCREEN])
    code = next((number for number, line in enumerate(lines, 1) if FENCE.fullmatch(line)), SCREEN)
    return "".join(f"README.md, lines 1 to {SCREEN}: {count} {what}; {most} at most\n"
                   for what, count, most in (
                       ("words", len(screen.split()), 220),
                       ("figures", len(FIGURE.findall(screen)), 10),
                       ("lines before the first code", code - 1, 13)) if count > most)


def body():
    argparse.ArgumentParser(
        description=__doc__, epilog="A warning is an error.").parse_args()
    setup("docs", makes=["source"])
    problems = build_html() + broken_links() + lost_fences() + long_first_screen()
    print(problems or INDEX)
    return 1 if problems else 0
