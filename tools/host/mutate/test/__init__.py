# SPDX-License-Identifier: GPL-2.0
"""Tests of the mutants, none of which is made here."""
