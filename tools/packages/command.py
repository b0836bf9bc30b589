# SPDX-License-Identifier: GPL-2.0
"""Builds the Debian packages: modules for DKMS, headers, tools, documentation."""

import argparse
from pathlib import Path

from testbed.common import setup
from packages.build import FOLDER, build_packages


def body():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""Install what you need of them: apt install build/deb/nbqlock-dkms_*.deb
Documentation/install.rst describes them.""")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER",
                        help="where to build them (default: build/deb); it is emptied first")
    options = parser.parse_args()
    setup("deb")
    for package in build_packages(options.output):
        print(package)
    return 0
