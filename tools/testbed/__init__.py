# SPDX-License-Identifier: GPL-2.0
"""The test testbeds: kernels to run nbqlock in, and ways to run it there."""
