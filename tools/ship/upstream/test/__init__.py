# SPDX-License-Identifier: GPL-2.0
"""Tests of the series' tools: python3 -m unittest discover, in tools/."""
