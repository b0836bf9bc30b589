# SPDX-License-Identifier: GPL-2.0
"""tools/nbq top: a live view of the locks of a running system."""
