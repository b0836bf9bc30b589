# SPDX-License-Identifier: GPL-2.0
"""Tests of what the steps themselves stand on."""
