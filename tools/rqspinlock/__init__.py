# SPDX-License-Identifier: GPL-2.0
"""BPF's locks on the bare hybrid, in the seat of rqspinlock."""
