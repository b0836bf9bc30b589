# SPDX-License-Identifier: GPL-2.0
"""Boots a stock Debian kernel in QEMU with the nbqlock modules and runs a shell command."""

import re

from testbed import guest_cli
from testbed.common import setup
from testbed.guest import QemuMachine
from testbed.kernels import debian_kernel


def body():
    parser = guest_cli.parser(__doc__)
    parser.add_argument("--series", default="6.12", metavar="X.Y",
                        help="series of Debian's kernel (default: %(default)s)")
    options = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+", options.series):
        parser.error(f"--series {options.series}: not of the form 6.12")
    setup("debian-guest")
    return guest_cli.run(options, QemuMachine(debian_kernel(options.series)))
