# SPDX-License-Identifier: GPL-2.0
"""The project's Debian packages, built in a copy of the sources by Debian's own tools."""

import argparse
from pathlib import Path
import re
import shutil
import tarfile

from base.building import run_logged
from base.common import (BUILD, PROJECT, Failure, Unavailable, answer_of, folder_can_be_written,
                         output_of)
from base.setup import setup
from base.versions import set_version, version
from guest.modules import EXAMPLE
from guest.source import get_source

VERBS = {"deb": "build the Debian packages"}
FOLDER = BUILD / "deb"
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"	# of the distribution's own programs
MARK = ".nbqlock-packages"	# in a folder that may be emptied
# Of a tree that is no checkout: what a build leaves.
MADE = re.compile(r"(^|/)(build|results|__pycache__|\.git|[^/]*\.(o|ko|mod|mod\.c|cmd|d)|"
                  r"Module\.symvers|modules\.order)(/|$)")


def project_files():
    """The names of the project's own files."""
    listed = output_of(["git", "-C", PROJECT, "ls-files", "-z", "-co", "--exclude-standard"])
    if listed is None:
        return sorted(name for name in
                      (str(path.relative_to(PROJECT)) for path in PROJECT.rglob("*")
                       if path.is_file()) if not MADE.search(name))
    return sorted(name for name in listed.split("\0") if name and (PROJECT / name).is_file())


def copy_project(tree):
    """A copy of the sources without what was built."""
    for name in project_files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tree / name)


def write_original(tree, path):
    """The archive of the sources that the packages are made from: all but debian/."""
    def entry(info):
        if info.name.startswith(f"{tree.name}/debian"):
            return None
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        return info

    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        archive.add(tree, tree.name, filter=entry)


def can_be_emptied(folder):
    """Refuse a folder that other things are in."""
    folder_can_be_written(folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise Failure(f"{folder} holds other files; name an empty folder")


def empty(folder):
    can_be_emptied(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()


def require_packager():
    for program, package in (("dpkg-buildpackage", "dpkg-dev"), ("dh", "debhelper"),
                             ("dh_dkms", "dh-dkms"), ("sphinx-build", "python3-sphinx")):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed (Debian: {package}); "
                              "run tools/setup deb")


def build_packages(folder=FOLDER, number=None, *options):
    """Build the packages in a folder, of another version if one is given. Returns the .debs.

    options: for dpkg-buildpackage.
    """
    require_packager()
    folder = Path(folder).absolute()
    empty(folder)
    number = number or version()
    tree = folder / f"nbqlock-{number}"
    copy_project(tree)
    if number != version():
        set_version(tree, number)
    write_original(tree, folder / f"nbqlock_{number}.orig.tar.gz")
    package(tree, folder / "build.log", *options)
    return sorted(folder.glob("*.deb"))


def build_consumer(folder):
    """The package of Documentation/example, a user of nbqlock. Returns the .deb."""
    require_packager()
    empty(folder)
    shutil.copytree(PROJECT / EXAMPLE, folder / "nbq-example")
    package(folder / "nbq-example", folder / "build.log", "-b")
    return next(folder.glob("*.deb"))


def package(tree, log, *options):
    """dpkg-buildpackage in a tree; the packages come to lie beside it."""
    run_logged(["dpkg-buildpackage", "-us", "-uc", *options], log,
               "building the Debian packages", cwd=tree,
               env={"KSRC": str(get_source().path), "PATH": SYSTEM_PATH})


def complaints_of_lintian(changes):
    """What lintian says of all packages of a build, line by line.

    They are not uploaded to Debian: no bug there is closed by their first version.
    """
    if not shutil.which("lintian"):
        raise Unavailable("lintian is not installed; run tools/setup check")
    text, status = answer_of(["lintian", "--allow-root", "--no-cfg", "--fail-on", "none",
                              "--profile", "debian",
                              "--suppress-tags", "initial-upload-closes-no-bugs", changes],
                             env={"LC_ALL": "C.UTF-8"})
    if status:
        raise Failure(f"lintian failed with status {status}: {text}")
    return text.splitlines()


def field(package_file, name):
    """A field of a .deb, such as Depends; empty, if it has none."""
    return (output_of(["dpkg-deb", "--field", package_file, name]) or "").strip()


def contents(package_file):
    """The names of the files in a .deb."""
    listed = output_of(["dpkg-deb", "--contents", package_file])
    if listed is None:
        raise Failure(f"dpkg-deb cannot read {package_file}")
    return sorted(line.split(maxsplit=5)[5].split(" -> ")[0].removeprefix(".")
                  for line in listed.splitlines() if not line.startswith("d"))


# tools/nbq deb

def body():
    parser = argparse.ArgumentParser(
        description="Builds the Debian packages: modules for DKMS, headers, tools, "
        "documentation.", formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""Install what you need of them: apt install build/deb/nbqlock-dkms_*.deb
Documentation/install.rst describes them.""")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER",
                        help="where to build them (default: build/deb); it is emptied first")
    options = parser.parse_args()
    can_be_emptied(options.output)
    setup("deb", makes=["source"])
    for package in build_packages(options.output):
        print(package)
    return 0
