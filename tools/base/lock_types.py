# SPDX-License-Identifier: GPL-2.0
"""The lock types, as the rows of the stress driver's lock_types_list.h say."""

import re

from base.common import text_of_driver

ROW = re.compile(r"^STRESS_(\w+)\((\w+)(?:, (\w+),|\))$", re.MULTILINE)
NEWER = re.compile(r"^#ifdef STRESS_HAS_\w+\n(.*?)^#endif", re.MULTILINE | re.DOTALL)
LIST = text_of_driver("lock_types_list.h")

# Those of nbqlock: what X is in nbq_X.
WORDS = {name: word for _, name, word in ROW.findall(LIST) if word}
KERNEL = tuple(name for kind, name, _ in ROW.findall(LIST) if kind == "KERNEL")
PAPERS = tuple(name for kind, name, _ in ROW.findall(LIST) if kind == "PAPER")
# Of newer kernels only.
NEW_LOCKS = tuple(name for part in NEWER.findall(LIST) for _, name, _ in ROW.findall(part))

# Lock types with nbqlock's queue nodes.
OURS = tuple(WORDS)
NBQ = tuple(WORDS.values())
# First come, first served; each in a file X_nb.c.
QUEUES = tuple(word for kind, _, word in ROW.findall(LIST) if kind == "STRICT")
