# SPDX-License-Identifier: GPL-2.0
"""Mistakes made on purpose, and which layer of tests notices each."""
