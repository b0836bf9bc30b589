# SPDX-License-Identifier: GPL-2.0
"""The series as a whole: the sources, what becomes of them, the patches of that."""

from pathlib import Path
import subprocess

from base.building import cache_folder, cached, digest, file_hash, locked
from base.common import BUILD, PROJECT, Failure, answer_of
from guest.kernel_copy import hunks_of, patched
from guest.kernel_tests import with_lines
from guest.source import get_source
from ship.upstream import layout
from ship.upstream.patches import Author, format_patches

FOLDER = BUILD / "series"
TEXTS = PROJECT / "tools/ship/upstream/texts"


def unifdef_of(tree):
    """The kernel's own unifdef, compiled."""
    source = tree / "scripts/unifdef.c"
    if not source.exists():
        raise Failure(f"{tree} has no scripts/unifdef.c, which resolves conditions")

    def make(folder):
        text, status = answer_of(["gcc", "-O1", "-w", "-o", folder / "unifdef", source])
        if status:
            raise Failure(f"gcc cannot compile {source}:\n{text}")
        return ["unifdef"]

    return cached(cache_folder("unifdef") / digest(file_hash(source)), make) / "unifdef"


def resolved(unifdef, name, text, symbols):
    """A source without the conditions that have one answer in a kernel tree."""
    options = [f"-U{symbol}" if value is None else f"-D{symbol}={value}"
               for symbol, value in symbols.items()]
    done = subprocess.run([unifdef, *options], input=text, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise Failure(f"{name}: unifdef: {done.stderr}")
    return done.stdout


class Tree:
    """The files of a kernel tree, as the patches so far leave them."""

    def __init__(self, source):
        self.source = source
        self.base = {}		# the tree's own text of what is touched
        self.texts = {}		# what has become of it, and what was added

    def read(self, name):
        if name not in self.texts:
            try:
                self.texts[name] = (self.source.path / name).read_text()
            except OSError as error:
                raise Failure(f"{self.source.path} has no {name}, which the series changes: "
                              f"{error.strerror}") from error
            self.base[name] = self.texts[name]
        return self.texts[name]

    def add(self, name, text):
        if name in self.texts or (self.source.path / name).exists():
            raise Failure(f"{self.source.path} has a file {name} already")
        self.texts[name] = text

    def apply(self, diff):
        """The files that a unified diff changes: {path: text}."""
        texts = {name: self.read(name) for name, *_ in hunks_of(diff)}
        patched(self.source.path, diff, texts)
        self.texts.update(texts)
        return texts

    def edit(self, name, edits):
        self.texts[name] = with_lines(self.read(name), name, edits, "tools/ship/upstream/layout.py")


class Maker:
    """Makes the texts of a series for a tree."""

    def __init__(self, source, author):
        self.tree = Tree(source)
        self.author = author
        self.unifdef = unifdef_of(source.path)

    def text_of(self, made):
        """What becomes of one of the project's files, or of the series' own."""
        path = PROJECT / made.source
        if not path.exists():
            raise Failure(f"there is no {made.source}: adapt tools/ship/upstream/layout.py")
        text = path.read_text()
        if path.is_relative_to(TEXTS):
            return text
        return layout.renamed(resolved(self.unifdef, made.source, text, made.symbols))

    def commits(self):
        """[(message, {path: text})], patch by patch."""
        commits = []
        for patch in layout.patches(self.author):
            touched = {}
            for name, made in patch.files.items():
                self.tree.add(name, self.text_of(made))
                touched[name] = self.tree.texts[name]
            for name, edits in patch.edits.items():
                self.tree.edit(name, edits)
                touched[name] = self.tree.texts[name]
            if patch.diff:
                touched |= self.tree.apply(patch.diff)
            commits.append(((TEXTS / patch.message).read_text(), touched))
        return commits


class Series:
    """The patches, and what they are for."""

    def __init__(self, source, base, patches):
        self.source = source
        self.base = base		# {path: text} of the files of the tree that they change
        self.cover, *self.patches = patches


def make_series(author, output=FOLDER, prefix="PATCH"):
    """Write the series for the found tree. author: as "Name <address>"."""
    source = get_source()
    maker = Maker(source, Author(str(author)))
    commits = maker.commits()
    layout.check(maker.tree.texts, maker.tree.base)
    cover = (TEXTS / "cover-letter.txt").read_text().replace("@VERSION@", source.version)
    output = Path(output)
    with locked(f"{output}.lock", output):
        patches = format_patches((maker.tree.base, commits, cover), maker.author, output,
                                 prefix)
    return Series(source, maker.tree.base, patches)
