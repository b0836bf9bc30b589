# SPDX-License-Identifier: GPL-2.0
"""Tests of kunit."""
