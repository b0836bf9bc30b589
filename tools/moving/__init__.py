# SPDX-License-Identifier: GPL-2.0
"""Drivers whose locks are moved to nbqlock."""
