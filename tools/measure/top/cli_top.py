# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top, where guests can be built."""

from measure.top import command, guest


def new_parser(verbs):
    command.new_parser(verbs, guest)
