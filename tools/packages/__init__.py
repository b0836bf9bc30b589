# SPDX-License-Identifier: GPL-2.0
"""The Debian packages and make install."""
