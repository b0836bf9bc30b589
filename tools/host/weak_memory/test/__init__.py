# SPDX-License-Identifier: GPL-2.0
"""Tests of what runs whole acquisitions under weak memory."""
