# SPDX-License-Identifier: GPL-2.0
"""Boots user-mode Linux with the nbqlock modules and runs a shell command in it."""

from testbed import guest_cli
from testbed.common import setup
from testbed.guest import UserModeMachine
from testbed.kernels import user_mode_kernel


def body():
    options = guest_cli.parser(__doc__).parse_args()
    setup("run")
    return guest_cli.run(options, UserModeMachine(user_mode_kernel()))
