# SPDX-License-Identifier: GPL-2.0
"""Who holds a lock, after the fact: nbqlock_drgn for drgn, and its test on dumps."""
