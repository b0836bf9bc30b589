# SPDX-License-Identifier: GPL-2.0
"""Tests of the report of what was verified."""
