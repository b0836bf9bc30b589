# SPDX-License-Identifier: GPL-2.0
"""The tests of tools/check: a file for each subject, a function for each step."""
