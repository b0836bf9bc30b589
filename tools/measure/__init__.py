# SPDX-License-Identifier: GPL-2.0
"""Runs of the stress driver and what they come to: with top, what is installed as nbq."""
