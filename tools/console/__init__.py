# SPDX-License-Identifier: GPL-2.0
"""The virtio console with an nbq_spin, whose device stalls."""
