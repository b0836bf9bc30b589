# SPDX-License-Identifier: GPL-2.0
"""The KUnit suites as a host program, under sanitizers."""

import re
import shutil

from base.building import compiler_environment, run_logged
from base.case import MORE, NO_KERNEL, Case, extent, step
from base.common import BUILD, PROJECT

# As a kernel with lockdep, and as one without it; the type and the rest of programs/run.
QUICK = ("all gcc asan", "all_lockdep gcc asan", "all gcc tsan")
LONG = (*QUICK, "all clang asan", "all clang tsan")
# A suite with one of these in its text runs in kernels only.
KERNEL_ONLY = {"<linux/kthread.h>": "it starts threads",
               "<linux/device.h>": "it takes CPUs offline",
               "CONFIG_PROVE_LOCKING": "it asks lockdep"}
RESULT = re.compile(r"^(ok|not ok|skip) (kunit_\w+)(?:\.(\w+)\.)?(.*)\n", re.MULTILINE)


def suites():
    """{name of a suite: the text of its file}, of all of kunit/."""
    texts = [path.read_text() for path in sorted((PROJECT / "kunit").glob("*_test.c"))]
    return {name: text for text in texts
            for name in re.findall(r"^\t\.name = \"(nbq_\w+)\",", text, re.MULTILINE)}


def unexplained(texts, ran):
    """The suites that have not run, although nothing in their text needs a kernel."""
    return [name for name, text in texts.items()
            if name not in ran and not any(word in text for word in KERNEL_ONLY)]


def suite_cases(said):
    """A case for each suite and build, of what programs/run has printed."""
    results = {}
    for word, build, suite, rest in RESULT.findall(said):
        results.setdefault((build, suite), []).append((word, rest))
    for (build, suite), lines in results.items():
        failed = [rest for word, rest in lines if word == "not ok"]
        yield Case(f"kunit-host: {build.removeprefix('kunit_')}: {suite or 'it runs'}", not failed,
                   "\n".join(failed), skipped=all(word == "skip" for word, _ in lines))


@step("kunit-host", MORE, NO_KERNEL)
def kunit_host():
    """the KUnit suites that need no kernel as host programs under sanitizers: tools/host/kunit"""
    log = BUILD / "log" / "kunit-host.log"
    log.unlink(missing_ok=True)
    cache = "ccache" if shutil.which("ccache") else ""
    statuses = [run_logged([PROJECT / "tools/host/programs/run", "kunit", *build.split()], log,
                           f"kunit on the host, {build}", check=False, timeout=7200,
                           env={**compiler_environment(), "O": str(BUILD / "kunit-host"),
                                "CACHE": cache})
                for build in (LONG if extent.is_long else QUICK)]
    said = log.read_text(errors="replace")
    yield from suite_cases(said)
    ran = {suite for _, _, suite, _ in RESULT.findall(said)}
    forgotten = unexplained(suites(), ran)
    yield Case("kunit-host: each suite runs here, or its text says what it needs a kernel for",
               bool(ran) and not forgotten, "\n".join(forgotten))
    yield Case("kunit-host: each build was made and passes", not any(statuses),
               f"statuses {statuses}; log: {log}\n{said[-2000:]}")
