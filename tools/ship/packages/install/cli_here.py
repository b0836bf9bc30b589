# SPDX-License-Identifier: GPL-2.0
"""The verbs of an installed nbq that have guests in the project's sources."""

from measure import stress_command
from measure.top import command


def new_parser(verbs):
    stress_command.new_parser(verbs, stress_command.Here())
    command.new_parser(verbs)
