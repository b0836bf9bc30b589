# SPDX-License-Identifier: GPL-2.0
"""The KUnit suites as a host program."""
