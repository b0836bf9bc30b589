# SPDX-License-Identifier: GPL-2.0
"""What building takes: the cache, commands that run for long, compilers."""

import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time

from base.common import (HELD, PROGRESS_SECONDS, PROJECT, Failure, Unavailable, bound,
                         fit_for_kbuild, output_of, say)

SHARED_MEMORY = "/dev/shm"	# where user-mode Linux keeps its memory, if it can choose
CACHE_MARK = ".nbqlock-cache"	# in every folder of the cache
SEAL = ".sealed"		# in every complete cache entry


# The cache

def home():
    """The user's folder; where HOME is not set, as in some builders, the password file has it."""
    user = os.environ.get("HOME")
    with contextlib.suppress(KeyError):
        return Path(user or pwd.getpwuid(os.getuid()).pw_dir)
    raise Failure("HOME is not set, and this user has no home folder; "
                  "name a folder for the cache with NBQ_CACHE=FOLDER")


def cache_root():
    """The folder for everything that is worth keeping between runs."""
    given = os.environ.get("NBQ_CACHE")
    if given:
        root = Path(given)
    else:
        user = os.environ.get("XDG_CACHE_HOME") or home() / ".cache"
        root = Path(user) / "nbqlock"
    root = fit_for_kbuild(root.absolute(), "the cache folder")
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"the cache folder {root} cannot be made ({error.strerror}); "
                      "name another with NBQ_CACHE=FOLDER") from error
    return root


def cache_folder(kind):
    """The folder of the cache for things of a kind, with the mark by which it is known as ours."""
    folder = cache_root() / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CACHE_MARK).touch()
    return folder


# Processes

def kill_group(process):
    """End a process that leads a group, and all of its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tail(path, lines=30):
    """The last lines of a log file."""
    text = Path(path).read_text(errors="replace") if Path(path).exists() else ""
    return "\n".join(text.splitlines()[-lines:])


def run_logged(command, log, what, progress=None, env=None, cwd=None,
               timeout=None, check=True):
    """Run a command with its output in a log file, and say how it goes on.

    progress() returns a few words on how far the step is. timeout: seconds without a word in the
    log, after which it counts as hung. A failing command is Failure with the end of its log, unless
    check is false. Returns the exit status.
    """
    log = Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    next_line = started + PROGRESS_SECONDS
    size, spoke = 0, started
    with open(log, "ab") as output:
        process = subprocess.Popen(**bound(command, group=True), stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, cwd=cwd,
                                   env={**os.environ, **(env or {})},
                                   start_new_session=True)
        try:
            while True:
                try:
                    status = process.wait(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    pass
                now = time.monotonic()
                if log.stat().st_size != size:
                    size, spoke = log.stat().st_size, now
                if timeout and now - spoke > timeout:
                    kill_group(process)
                    raise Failure(f"{what}: no word for {timeout:.0f} s, "
                                  f"killed; log: {log}\n{tail(log)}")
                if now >= next_line:
                    next_line = now + PROGRESS_SECONDS
                    words = f", {progress()}" if progress else ""
                    say(f"  {what}: {now - started:.0f} s{words}")
        except BaseException:
            kill_group(process)
            raise
    if check and status != 0:
        raise Failure(f"{what}: failed with status {status}; log: {log}\n{tail(log)}")
    return status


def compiled_files(log):
    """A progress() for make: how many files it has compiled so far."""
    def count():
        text = log.read_text(errors="replace") if log.exists() else ""
        return f"{len(re.findall(r'^ *(?:CC|AS|LD|AR) ', text, re.MULTILINE))} files made"
    return count


def holds_programs(place):
    """Whether files can be written there, and executed as user-mode Linux executes its memory."""
    try:
        flags = os.statvfs(place).f_flag
    except OSError:
        return False
    return not flags & os.ST_NOEXEC and os.access(place, os.W_OK | os.X_OK)


def has_room(place, megabytes):
    size = os.statvfs(place)
    return size.f_bavail * size.f_frsize >= megabytes << 20


def memory_environment(megabytes, place=SHARED_MEMORY):
    """The environment in which user-mode Linux finds a place for its memory.

    By itself it takes what the environment names, else /dev/shm. In a container that may be small
    or mounted noexec, in a chroot it may be closed to users: then that is where temporary files
    go, or the cache, in which the kernel is a program.
    """
    named = [os.environ[name] for name in ("TMPDIR", "TMP", "TEMP") if os.environ.get(name)][:1]
    own = named[0] if named else place
    if holds_programs(own) and (named or has_room(own, megabytes)):
        return {}
    places = [tempfile.gettempdir(), "/tmp", "/var/tmp", str(cache_root())]
    found = next(filter(holds_programs, places), None)
    if not found:
        raise Failure(f"user-mode Linux has no place for its memory: {', '.join([own, *places])} "
                      "are closed or mounted noexec; name another with TMPDIR=FOLDER")
    return {"TMPDIR": found}


# Compiler

def disassembly(tools, path):
    """The code of an object file, with its relocations. tools: prefix of their names."""
    done = subprocess.run([f"{tools}objdump", "-dr", "--no-show-raw-insn", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failure(f"{tools}objdump {path}: {done.stderr}")
    return done.stdout


def compiler_for_make(prefix="", program="gcc"):
    """The make variables for a compiler, before it a compiler cache if there is one.

    prefix: of a cross compiler's tools.
    """
    named = [f"CROSS_COMPILE={prefix}"] if prefix else []
    cache = "ccache " if shutil.which("ccache") else ""
    if cache or program != "gcc":
        named.append(f"CC={cache}{prefix}{program}")
    return named


def compiler_environment():
    """Keeps the compiler cache beside the rest of the cache, for all checkouts.

    It runs the preprocessor on what it does not know, since only there it sees an ".incbin", which
    it leaves alone. The compiler's list of files for make (CCACHE_DEPEND) lacks what that includes:
    a kernel's image could be that of another build. It does not work without a home.
    """
    folder = str(cache_folder("ccache"))
    return {"HOME": os.environ.get("HOME") or folder, "CCACHE_DIR": folder,
            "CCACHE_MAXSIZE": "2G",
            "CCACHE_BASEDIR": str(PROJECT),
            # Apart from what was kept with CCACHE_DEPEND.
            "CCACHE_NAMESPACE": "preprocessed",
            "CCACHE_SLOPPINESS": "time_macros", "KCONFIG_NOTIMESTAMP": "1",
            "KBUILD_BUILD_USER": "nbqlock", "KBUILD_BUILD_HOST": "guest"}


def compiler_identity(prefix="", program="gcc"):
    """Says which compiler and linker make what we make."""
    names = [prefix + program, prefix + "ld"]
    words = [output_of([name, "--version"]) for name in names]
    if None in words:
        raise Unavailable(f"{' and '.join(names)} are not installed; run tools/setup")
    return "".join(word.splitlines()[0] + "\n" for word in words)


# Locks and sealed cache entries

@contextlib.contextmanager
def locked(path, what):
    """Hold a lock file; says so when another process has it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that uses {what}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        HELD.add(handle.fileno())
        try:
            yield
        finally:
            HELD.remove(handle.fileno())


def digest(*parts):
    """A short name for everything that went into something."""
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(b"%d:" % len(data) + data)
    return total.hexdigest()[:12]


def file_hash(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def seal(folder, files):
    """Mark a cache entry as complete; remembers the named files' content."""
    marks = {str(name): file_hash(folder / name) for name in files}
    unfinished = folder / (SEAL + ".new")
    unfinished.write_text(json.dumps(marks, indent=1) + "\n")
    unfinished.rename(folder / SEAL)


def is_sealed(folder):
    """Whether a cache entry is complete and still what it was."""
    try:
        marks = json.loads((folder / SEAL).read_text())
        return all(file_hash(folder / name) == mark
                   for name, mark in marks.items())
    except (OSError, ValueError, AttributeError):
        return False


def cached(folder, make):
    """Return a cache entry, made now if it is missing, half-made or altered.

    make(folder) fills an empty folder and returns the files that must be
    unaltered for the entry to be trusted later.
    """
    folder = Path(folder)
    with locked(f"{folder}.lock", folder):
        if is_sealed(folder):
            return folder
        if folder.exists():
            say(f"{folder} is incomplete or was altered; making it again")
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        seal(folder, make(folder))
    return folder
