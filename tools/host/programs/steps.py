# SPDX-License-Identifier: GPL-2.0
"""Tests that need no kernel: the locks on the host, the host's own tools."""

import re
import shutil
import sys

from base.building import compiler_environment, run_logged
from base.case import MORE, NO_KERNEL, Case, extent, step
from base.common import BUILD, PROJECT, Failure, answer_of


@step("host", MORE, NO_KERNEL)
def host():
    """the locks' algorithms as host programs under sanitizers: tools/host/programs"""
    folder = PROJECT / "tools/host/programs"
    if not (folder / "Makefile").exists():
        raise Failure("there is no tools/host/programs/Makefile")
    log = BUILD / "log" / "host.log"
    log.unlink(missing_ok=True)
    # A folder of its own: the step bench counts accesses at the same time.
    what = "check" if extent.is_long else "quick"
    cache = "ccache" if shutil.which("ccache") else ""
    status = run_logged(["make", "-C", folder, what, f"O={BUILD / 'host-check'}",
                         f"CACHE={cache}"], log, "host tests", check=False, timeout=7200,
                        env=compiler_environment())
    # [text before, word, name, text, word, name, text ...]
    parts = re.split(r"^(ok|not ok|skip) (.+)\n", log.read_text(errors="replace"),
                     flags=re.MULTILINE)
    results = list(zip(parts[1::3], parts[2::3], parts[0::3], parts[3::3]))
    for word, name, before, after in results:
        yield Case(f"host: {name}", word == "ok", skipped=word == "skip",
                   detail="" if word == "ok" else before[-2000:] + after[:2000])
    passed = status == 0 and bool(results)
    yield Case(f"host: make {what}", passed, "" if passed else
               f"status {status}, {len(results)} tests; log: {log}")


@step("tools")
def tools():
    """unit tests of the Python tools"""
    log = BUILD / "log" / "tools.log"
    log.unlink(missing_ok=True)
    status = run_logged([sys.executable, "-m", "unittest", "discover", "-v", "-b"], log,
                        "unit tests", check=False, timeout=3600, cwd=PROJECT / "tools")
    said = log.read_text(errors="replace")
    results = re.findall(r"^(\w+) \((?:\w+\.)+test\.([\w.]+)\) \.\.\. (ok|FAIL|ERROR|skipped)",
                         said, re.MULTILINE)
    for name, place, word in results:
        # Newer versions of Python name the method here, too.
        place = place.removesuffix(f".{name}").removeprefix("test_")
        report = re.search(rf"^(?:FAIL|ERROR): {name} \(.*?(?=^=====|\Z)", said,
                           re.MULTILINE | re.DOTALL)
        yield Case(f"tools: {place}.{name.removeprefix('test_')}", word == "ok",
                   report[0] if report else "", skipped=word == "skipped")
    ran = re.search(r"^Ran (\d+) tests?", said, re.MULTILINE)
    passed = status == 0 and ran and int(ran[1]) == len(results) > 0
    yield Case("tools: every test was run", bool(passed),
               "" if passed else said[-4000:])
    yield names_of_programs()


def names_of_programs():
    """No test runs each line of the tools: a name that is not defined is found without running."""
    programs = [path for path in (PROJECT / "tools").rglob("*") if is_program(path)]
    said, status = answer_of(["pyflakes3", *programs])
    return Case("tools: each name is defined, each import is used", status == 0 and bool(programs),
                said)


def is_program(path):
    return path.suffix == ".py" or (not path.suffix and path.is_file() and
                                    b"python3" in path.read_bytes().partition(b"\n")[0])
