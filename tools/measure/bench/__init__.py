# SPDX-License-Identifier: GPL-2.0
"""Measuring locks: scenarios, the runs that they ask for, and what becomes of them."""
