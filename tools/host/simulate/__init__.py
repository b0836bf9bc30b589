# SPDX-License-Identifier: GPL-2.0
"""A machine of many processors, simulated under the shipped sources."""
