# SPDX-License-Identifier: GPL-2.0
"""A mutant: the shipped text with one mistake, and the layers that must notice it."""

# The lock types that run a file's text.
TYPES = {"clh_nb.c": ("clh",), "mcs_nb.c": ("mcs",), "swap_nb.c": ("swap",),
         "bare_spin.c": ("spin", "fifo"), "bare_spin.h": ("spin", "fifo"),
         "spin.c": ("spin", "fifo"), "spin.h": ("spin",), "socket.c": ("spin",),
         "pool.c": ("spin",),
         "queue_lock.h": ("clh", "swap", "mcs"), "attempt.h": ("clh", "swap", "mcs", "spin"),
         "clh.h": ("clh",), "guard.h": ("clh",), "internal.h": ("clh", "swap"),
         "node.c": ("clh",), "wait.c": ("clh", "swap", "spin", "fifo"), "wait.h": ("clh", "swap"),
         "deadline.h": ("clh",), "relax.h": ("clh", "mcs", "swap", "spin", "fifo")}


class Mutant:
    """One edit of one file.

    layers: {layer that must notice it: what that layer must know}
    unseen: {layer that does not notice it: why}; under ANY the reason why no layer could:
	the text means the same.
    """

    ANY = "any"

    def __init__(self, name, file, old, new, layers, unseen):
        self.name = name
        self.file = file
        self.old = old
        self.new = new
        self.layers = layers
        self.unseen = unseen

    @property
    def edit(self):
        return (self.file, self.old, self.new)

    @property
    def types(self):
        return TYPES[self.file]

    def excuse(self, layer):
        """Why that layer may let it pass; None if it may not."""
        return self.unseen.get(layer, self.unseen.get(self.ANY))


def mutants(file, layers, rows):
    """Mutants of one file for the same layers.

    rows: (name, text as it is, text with the mistake[, unseen]), of which the last
	may be one reason for all layers.
    """
    for name, old, new, *unseen in rows:
        unseen = unseen[0] if unseen else {}
        if isinstance(unseen, str):
            unseen = {Mutant.ANY: unseen}
        yield Mutant(name, file, old, new, layers, unseen)
