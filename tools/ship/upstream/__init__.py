# SPDX-License-Identifier: GPL-2.0
"""A series of patches for a kernel tree, made from the project's sources."""
