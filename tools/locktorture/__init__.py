# SPDX-License-Identifier: GPL-2.0
"""The kernel's locktorture over the lock types."""
