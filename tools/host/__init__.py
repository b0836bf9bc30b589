# SPDX-License-Identifier: GPL-2.0
"""What is known of the locks because it was checked in all cases, and its report."""
