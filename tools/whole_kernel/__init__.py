# SPDX-License-Identifier: GPL-2.0
"""A kernel all of whose spinlocks are the hybrid."""
