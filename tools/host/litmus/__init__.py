# SPDX-License-Identifier: GPL-2.0
"""Memory ordering: the ordered accesses of the shipped code, their table, their tests."""
