# SPDX-License-Identifier: GPL-2.0
"""Gets and builds the user-mode kernel, and runs the KUnit suites in it."""

import argparse
import fnmatch
import shutil

from base.building import CACHE_MARK, cache_root
from base.common import Failure, say
from base.setup import setup
from guest.kernel_copy import built_copy
from guest.kernels import GUEST, user_mode_kernel
from guest.kunit import BUILT_IN_SUITES, MULTIPROCESSOR, SUITES, run_built_in
from guest.source import get_source

VERBS = {"kernel": "get and build kernels, run the KUnit suites"}


def source(_options):
    setup("source", makes=["source"])
    print(get_source().path)
    return 0


def guest(_options):
    setup("run", makes=["source", GUEST.row()])
    print(user_mode_kernel().build_dir)
    return 0


def kunit(options):
    suites = (*SUITES, *BUILT_IN_SUITES)
    pattern = (options.filter or "*").partition(".")[0]
    if not fnmatch.filter(suites, pattern):
        raise Failure(f"there is no suite {pattern}; there are {', '.join(sorted(suites))}")
    setup("run", makes=["source", MULTIPROCESSOR.row_of_copy()])
    result = run_built_in(built_copy(MULTIPROCESSOR), options.filter)
    for case in result.cases:
        print(f"{case.status} {case.name}")
    for problem in result.problems:
        print(f"FAIL: {problem}")
    if not result.passed:
        print(result.detail)
    print(result.summary())
    return 0 if result.passed else 1


def clean(_options):
    """Folders without a mark may be another's, or those of an older version."""
    for entry in sorted(cache_root().iterdir()):
        if (entry / CACHE_MARK).exists():
            say(f"removing {entry}")
            shutil.rmtree(entry)
        elif entry.is_dir():
            say(f"{entry} stays: it has no {CACHE_MARK}")
    return 0


def body():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""environment:
  KSRC=FOLDER       a Linux source tree (6.19 or later), instead of Debian's
  NBQ_KERNEL=X.Y    series of Debian's linux-source package (default 7.2)
  NBQ_CACHE=FOLDER  where sources and kernels are kept (~/.cache/nbqlock)
  NBQ_MIRROR=URL    a Debian archive, if apt does not know one""")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs.add_parser("source", help="print the source tree's folder; fetch it first if needed"
                     ).set_defaults(run=source)
    verbs.add_parser("guest", help="print the guest kernel's folder; build it first if needed"
                     ).set_defaults(run=guest)
    suites = verbs.add_parser("kunit", help="run the KUnit suites")
    suites.add_argument("filter", nargs="?", metavar="SUITE[.CASE]",
                        help="run only these, * and ? allowed (default: all)")
    suites.set_defaults(run=kunit)
    verbs.add_parser("clean", help="remove what the tools keep in the cache"
                     ).set_defaults(run=clean)
    options = parser.parse_args()
    return options.run(options)
