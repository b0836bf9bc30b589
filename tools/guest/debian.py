# SPDX-License-Identifier: GPL-2.0
"""Debian packages from any suite, unpacked into the cache, never installed."""

import os
from pathlib import Path
import re
import shutil
import subprocess
import tempfile

from base.building import cache_folder, cached, digest, is_sealed, locked, run_logged
from base.common import Failure, Unavailable, bound, output_of, say

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What apt says of an archive's host that it cannot reach; as in tools/setup.
UNREACHABLE = re.compile("Temporary failure resolving|Could not resolve|Could not connect|"
                         "Unable to connect|Cannot initiate the connection|[Cc]onnection timed out|"
                         "Connection refused|Network is unreachable|No route to host")
# So that this is known in seconds: no retry, short waits for a name server and for a host.
QUICK = ("-o", "Acquire::Retries=0", "-o", "Acquire::EnableSrvRecords=false",
         "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10")
QUICK_ENVIRONMENT = {"LC_ALL": "C", "RES_OPTIONS": "timeout:2 attempts:2"}


class NoNetwork(Unavailable):
    """Said once: what is needed from the network after that fails at once, by the same words."""

    found = None


def natural(text):
    """A sort key under which 6.12.9 comes before 6.12.10."""
    return [int(part) if part.isdigit() else part
            for part in re.split(r"(\d+)", text)]


def archives():
    """The machine's own Debian archives as (suite, address), from its apt."""
    fields = "$(RELEASE)|$(COMPONENT)|$(REPO_URI)|$(ORIGIN)"
    text = output_of(["apt-get", "indextargets", "--format", fields,
                      "Created-By: Packages"])
    found = []
    for line in (text or "").splitlines():
        suite, component, address, origin = line.split("|")
        # Before the first `apt-get update` apt does not know the origin.
        if component == "main" and origin in ("Debian", "", "$(ORIGIN)"):
            found.append((suite, address))
    return found


def main_archive():
    """The address of the archive that holds all suites."""
    given = os.environ.get("NBQ_MIRROR")
    if given:
        return given
    for suite, address in archives():
        if "security" not in suite and "debian" in address:
            return address
    return None


def own_suites():
    """The suites that the machine itself uses, as lines of a source list."""
    return sorted({f"{address} {suite}" for suite, address in archives()
                   if "debian" in address})


def suites_of_main_archive(*names):
    """Suites of the main archive, as lines of a source list."""
    address = main_archive()
    return [f"{address} {name}" for name in names] if address else []


def security_suites(*names):
    """Suites of the archive of security updates that stands beside the main one."""
    address = main_archive()
    return [f"{address.rstrip('/')}-security {name}" for name in names] if address else []


class PrivateApt:
    """An apt with its own source list, package lists and cache."""

    def __init__(self, lines, architecture="amd64"):
        self.lines = lines
        self.architecture = architecture
        other = [architecture] if architecture != "amd64" else []
        self.root = cache_folder("apt") / digest(*lines, *other)
        self.update_log = self.root / "update.log"
        self.updated = False

    def options(self):
        settings = {
            "Dir::Etc::sourcelist": self.root / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State": self.root / "state",
            "Dir::State::lists": self.root / "lists",
            "Dir::State::status": self.root / "status",
            "Dir::Cache": self.root / "cache",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
            "Acquire::Retries": "2",
            "APT::Update::Error-Mode": "any",
            "APT::Architecture": self.architecture,
            # Else apt would ask dpkg, and look for this machine's own besides.
            "APT::Architectures": self.architecture,
        }
        if os.geteuid() == 0:
            settings["APT::Sandbox::User"] = "root"
        return [word for name, value in settings.items()
                for word in ("-o", f"{name}={value}")]

    def lock(self):
        return locked(f"{self.root}.lock", "the package lists")

    def update(self):
        """Read the package lists. False if they cannot be had."""
        if self.updated:
            return True
        for folder in ("state", "lists/partial", "cache/archives/partial"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        (self.root / "status").touch()
        signed = f"[signed-by={KEYRING}] " if Path(KEYRING).exists() else ""
        (self.root / "sources.list").write_text(
            "".join(f"deb {signed}{line} main\n" for line in self.lines))
        self.update_log.unlink(missing_ok=True)
        status = run_logged(["apt-get", *self.options(), *QUICK, "-q", "update"],
                            self.update_log, "reading package lists",
                            env={**QUICK_ENVIRONMENT, **os.environ}, check=False)
        self.updated = status == 0
        return self.updated

    def complaints(self):
        """Why update() failed, in apt's own words: the first line of each error."""
        text = self.update_log.read_text() if self.update_log.exists() else ""
        errors = re.findall(r"^E: (.*?)(?: *\[IP: [^]]*\])?$", text, re.MULTILINE)
        return [error for error in errors if not error.startswith("Some index files failed")]

    def names(self, pattern):
        """The packages whose whole name matches, oldest version first."""
        text = output_of(["apt-cache", *self.options(), "pkgnames"]) or ""
        found = {name for name in text.split() if re.fullmatch(pattern, name)}
        return sorted(found, key=natural)

    def field(self, package, name):
        """One field of a package's newest version."""
        text = output_of(["apt-cache", *self.options(), "--no-all-versions",
                          "show", package]) or ""
        match = re.search(rf"^{name}: (.*)$", text, re.MULTILINE)
        return match.group(1) if match else ""

    def dependencies(self, package):
        """A package and all that it cannot do without."""
        absent = [f"--no-{word}" for word in ("recommends", "suggests", "conflicts",
                                              "breaks", "replaces", "enhances")]
        text = output_of(["apt-cache", *self.options(), "depends", "--recurse", *absent,
                          package]) or ""
        return re.findall(r"^[a-z0-9][\w.+-]*$", text, re.MULTILINE)

    def unpack(self, packages, destination, wanted=None):
        """Fetch packages and unpack them below a folder. wanted: a pattern of names of files."""
        with tempfile.TemporaryDirectory(dir=destination.parent) as fetched:
            log = Path(fetched) / "download.log"

            def size():
                done = sum(part.stat().st_size for part in Path(fetched).rglob("*")
                           if part.is_file())
                return f"{done // 1000000} MB"

            if os.geteuid() == 0:
                os.chmod(fetched, 0o755)
            run_logged(["apt-get", *self.options(), "-q", "download", *packages],
                       log, "fetching " + ", ".join(packages), progress=size,
                       cwd=fetched)
            for package in sorted(Path(fetched).glob("*.deb")):
                unpack_files(package, destination, wanted)
                package.unlink()


def unpack_files(package, destination, wanted=None):
    if not wanted:
        subprocess.run(**bound(["dpkg", "-x", package, destination]), check=True)
        return
    with subprocess.Popen(**bound(["dpkg-deb", "--fsys-tarfile", package]),
                          stdout=subprocess.PIPE) as archive:
        subprocess.run(**bound(["tar", "-x", "-C", destination, "--wildcards", wanted]),
                       stdin=archive.stdout, check=True)


def require_apt():
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise Unavailable("this is not a Debian system (no apt-get and dpkg)")


def apt_offering(pattern, *source_lists, architecture="amd64"):
    """The first of several source lists that offers a matching package.

    Returns (apt, the matching names).
    """
    require_apt()
    if NoNetwork.found:
        raise NoNetwork.found
    reached = False
    failures = []
    for lines in source_lists:
        if not lines:
            continue
        apt = PrivateApt(lines, architecture)
        with apt.lock():
            say("looking for a package in " +
                ", ".join(line.split()[-1] for line in lines))
            if not apt.update():
                failures += apt.complaints() or [f"see {apt.update_log}"]
                if UNREACHABLE.search(failures[-1]):
                    NoNetwork.found = NoNetwork(f"no network: {failures[-1]}")
                    raise NoNetwork.found
                continue
            reached = True
            names = apt.names(pattern)
        if names:
            return apt, names
    raise Unavailable(missing(pattern, reached, failures))


def missing(pattern, reached, failures):
    """Why no source list offers a package: what was reached lacks it, the rest failed."""
    said = "; ".join(dict.fromkeys(failures))
    if reached:
        return (f"no package named like {pattern} in the Debian archive" +
                (f", and some suites cannot be read: {said}" if said else ""))
    if said:
        return f"the Debian archive cannot be read: {said}"
    return "apt has no Debian source"


# What is unpacked in the cache

def kept_in(place, pattern):
    """The newest of the complete entries of the cache in a folder; None without one."""
    kept = [folder for folder in place.glob(pattern) if folder.is_dir() and is_sealed(folder)]
    return max(kept, key=lambda folder: natural(folder.name), default=None)


def version_in(apt, package):
    """The version of a package, for the name of a folder."""
    return apt.field(package, "Version").replace(":", "_")


def unpacked(kind, glob, need, source_lists, pattern, packages, files, architecture="",
             megabytes=1, wanted=None):
    """A folder of the cache with what packages hold, fetched if the cache does not have it.

    kind, glob: where the folder is. need: what this is, with "no" before it if it is not there.
    pattern: of the package that the source lists are looked through for.
    packages(apt, its name): those to unpack. files(folder): those that must be unaltered.
    wanted: a pattern of the files that are unpacked; without it all are.
    """
    place = cache_folder(kind)
    kept = kept_in(place, glob)
    if kept:
        return kept
    try:
        apt, names = apt_offering(pattern, *source_lists, architecture=architecture or "amd64")
    except Unavailable as reason:
        raise type(reason)(f"no {need}: {reason}. Install one, or give a cache filled elsewhere "
                           "with NBQ_CACHE=FOLDER.") from None
    package = names[-1]
    name = "_".join(filter(None, (package, version_in(apt, package), architecture)))

    def unpack(folder):
        say(f"fetching {name} (about {megabytes} MB)")
        apt.unpack(packages(apt, package), folder, wanted)
        return [path.relative_to(folder) for path in files(folder)]

    return cached(place / name, unpack)


# Programs of another suite than this system's, which bring their own libraries

def only(folder, pattern):
    """The file below a folder that a pattern means."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise Failure(f"{folder} has no {pattern}")
    return found[-1]


def loader_in(folder):
    return only(folder, "usr/lib/*-linux-gnu/ld-linux-*.so.*")


def started_with_own_libraries(folder, program):
    """The command for a program that was unpacked together with all that it needs."""
    loader = loader_in(folder)
    return [str(loader), "--library-path", str(loader.parent), str(program)]
