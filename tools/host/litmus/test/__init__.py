# SPDX-License-Identifier: GPL-2.0
"""Tests of what compares code, table and litmus tests."""
