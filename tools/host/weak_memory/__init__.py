# SPDX-License-Identifier: GPL-2.0
"""Whole acquisitions of the shipped files under weak memory: GenMC."""
