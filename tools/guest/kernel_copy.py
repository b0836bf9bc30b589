# SPDX-License-Identifier: GPL-2.0
"""A copy of the found kernel tree to build from: the project in it, and changes of ours.

The tree is not touched. The copy is folders of links to it; the project's sources are at nbq/,
its headers at include/nbqlock/, and CONFIG_NBQLOCK=y builds them in. The changes are
in tools/FOLDER/port: files are put where they are in that folder, and *.patch at its top are
unified diffs. Each hunk must fit in exactly one place of its file: a kernel in which one does not
is refused.

Copies and objects are kept in the cache and built incrementally: sources are written where
their content changes only, whichever clone they come from.
"""

from pathlib import Path
import re
import shutil

from base.building import cache_folder, digest, locked
from base.common import BUILD, PROJECT, Failure, say
from guest.kernels import Kernel, announce, copy_name, make_all, require_host
from guest.modules import set_files, source_files
from guest.source import get_source

TOOLS = PROJECT / "tools"
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*\n((?:[ +\-\\].*\n|\n)+)", re.MULTILINE)
FILE = re.compile(r"^--- a/(\S+).*\n\+\+\+ b/(\S+).*\n", re.MULTILINE)
# What puts the project into the tree: (file, lines behind its last).
PROJECT_LINES = (
    ("Kconfig", '\nsource "nbq/nbqlock/Kconfig"\n'),
    ("Kbuild", "\nobj-y += nbq/\n"),
)


def link_all(source, folder, but=()):
    """Fill a new folder with links to the entries of another.

    but: paths in it that get no link; the folders above them are folders of links.
    """
    folder.mkdir(parents=True)
    within = {}
    for path in but:
        first, _, rest = path.partition("/")
        within.setdefault(first, []).append(rest)
    for entry in source.iterdir():
        inner = within.get(entry.name)
        if inner is None:
            (folder / entry.name).symlink_to(entry)
        elif "" not in inner and entry.is_dir():
            link_all(entry, folder / entry.name, inner)


def make_shadow(tree, shadow, own=()):
    """A tree of links, made anew.

    own: {path: where it is} of what is added, or stands in the place of the tree's.
    """
    if shadow.exists():
        shutil.rmtree(shadow)
    link_all(tree, shadow, but=own)
    for path, target in dict(own).items():
        (shadow / path).parent.mkdir(parents=True, exist_ok=True)
        (shadow / path).symlink_to(target)


# Changes

def hunks_of(patch):
    """A unified diff: [(file, hunk's first line, old text, new text)]."""
    text = patch.read_text()
    files = list(FILE.finditer(text))
    if not files:
        raise Failure(f"{patch} is no unified diff with a/ and b/ before the names")
    found = []
    for number, file in enumerate(files):
        end = files[number + 1].start() if number + 1 < len(files) else len(text)
        for hunk in HUNK.finditer(text, file.end(), end):
            lines = [line or " " for line in hunk[1].splitlines()]
            old, new = ("".join(line[1:] + "\n" for line in lines if line[0] in kinds)
                        for kinds in (" -", " +"))
            found.append((file[2], hunk[0].splitlines()[0], old, new))
    return found


def patched(tree, patch, texts):
    """Apply a unified diff to the texts of files, which are read when they are needed."""
    for name, title, old, new in hunks_of(patch):
        if name not in texts:
            texts[name] = read(tree, name, patch)
        times = texts[name].count(old)
        if times != 1:
            raise Failure(f"{patch.relative_to(PROJECT)} does not fit this kernel: of {name}, "
                          f"\"{title}\" is in {times} places, not 1:\n{old}"
                          "Adapt the patch to the tree that `tools/nbq kernel source` prints.")
        texts[name] = texts[name].replace(old, new)


def read(tree, name, patch):
    try:
        return (tree / name).read_text()
    except OSError as error:
        raise Failure(f"{patch.relative_to(PROJECT)} does not fit this kernel: {name}: "
                      f"{error.strerror}") from error


def changed_files(tree, changes):
    """All that differs from the tree: {path: text}.

    changes: folders of tools/, each with its changes in its port/; later ones on top of earlier
    ones.
    """
    texts = {}
    for change in changes:
        folder = TOOLS / change / "port"
        if not folder.is_dir():
            raise Failure(f"there are no changes {folder}")
        patches = sorted(folder.glob("*.patch"))
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path not in patches:
                add(tree, texts, str(path.relative_to(folder)), path)
        for patch in patches:
            patched(tree, patch, texts)
    for name, lines in PROJECT_LINES:
        texts[name] = texts.get(name) or (tree / name).read_text()
        texts[name] += lines
    return texts


def add(tree, texts, name, path):
    if name in texts or (tree / name).exists():
        raise Failure(f"{path.relative_to(PROJECT)} does not fit this kernel: it has a file "
                      "of that name")
    texts[name] = path.read_text()


# The copy

class KernelCopy:
    """A place in the cache: tree, the files that are not links, and a build of each recipe."""

    def __init__(self, source, changes):
        self.source = source
        self.changes = changes
        self.folder = cache_folder(copy_name(changes)) / \
            f"{source.version}-{digest(source.identity)}"

    @property
    def tree(self):
        return self.folder / "tree"

    def refresh(self, replaced=None, undone=()):
        """Make it current. replaced: {path: text} of sources of the project that are others.

        undone: files that are as in the tree, although there is a change for them.
        A file that is the tree's again is older than its object: then all are made anew.
        """
        texts = changed_files(self.source.path, self.changes)
        texts |= {name: (self.source.path / name).read_text() for name in undone}
        wanted = {f"changed/{name}": text.encode() for name, text in texts.items()}
        wanted |= {f"nbq/{name}": text for name, text in source_files(PROJECT).items()}
        wanted |= {f"nbq/{name}": text.encode() for name, text in (replaced or {}).items()}
        present = {str(path.relative_to(self.folder)) for top in ("changed", "nbq")
                   for path in (self.folder / top).rglob("*") if path.is_file()}
        gone = set_files(self.folder, present, wanted)
        if any(name.startswith("changed/") for name in gone):
            shutil.rmtree(self.folder / "obj", ignore_errors=True)
        make_shadow(self.source.path, self.tree,
                    {**{name: self.folder / "changed" / name for name in texts},
                     "nbq": self.folder / "nbq",
                     "include/nbqlock": self.folder / "nbq/nbqlock"})

    def build(self, recipe, modules=(), replaced=None, undone=()):
        """The kernel of a recipe, built or brought up to date; and these modules of it."""
        require_host(recipe)
        key = digest(*recipe.key)
        build_dir = self.folder / "obj" / f"{recipe.folder}-{key}"
        whole = build_dir / ".whole"
        log = self.folder / f"{build_dir.name}.log"
        with locked(f"{self.folder}.lock", self.folder):
            self.refresh(replaced, undone)
            if build_dir.exists() and not whole.exists():
                say(f"{build_dir} was left half-made; making it again")
                shutil.rmtree(build_dir)
            if not build_dir.exists():
                announce(recipe, self.source)
            build_dir.mkdir(parents=True, exist_ok=True)
            whole.unlink(missing_ok=True)
            make_all(recipe, self.tree, build_dir, log)
            return self.kernel_of(recipe, build_dir, key, modules, bool(replaced or undone))

    def kernel_of(self, recipe, build_dir, key, modules, is_other):
        """The kernel as it is now: its files are copied, as the next build changes them."""
        name = f"{recipe.folder}-{self.source.version}" + "-replaced" * is_other
        image = BUILD / name / Path(recipe.image).name
        image.parent.mkdir(parents=True, exist_ok=True)
        image.unlink(missing_ok=True)
        shutil.copy(build_dir / recipe.image, image)
        kernel = Kernel(name, self.source.version, build_dir, image, recipe.options,
                        digest(key, (build_dir / "Module.symvers").read_bytes()), self.tree,
                        recipe.words, f"{self.folder}.lock")
        kernel.modules = {Path(path).name: (build_dir / path).read_bytes() for path in modules}
        return kernel


def built_copy(recipe, *changes, modules=(), replaced=None, undone=()):
    """A copy of the found tree with these changes, the kernel of a recipe built from it.

    The recipe's configurations say that the project is built in (CONFIG_NBQLOCK=y), and which
    of the changes take effect.
    modules: paths of modules of the kernel's own: their contents are in kernel.modules.
    replaced: {path: text} of sources of the project that are others in this kernel.
    undone: files that are as in the tree, although there is a change for them: for the other
    side of a comparison, of which little is made anew.
    """
    return KernelCopy(get_source(), changes).build(recipe, modules, replaced, undone)
