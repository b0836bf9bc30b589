# SPDX-License-Identifier: GPL-2.0
"""A guest's output, line by line as it comes."""


class Lines:
    """A sink for run_guest(): hear(line), of a class below, gets each line that is complete."""

    pending = ""

    def write(self, data):
        lines = (self.pending + data.decode(errors="replace")).split("\n")
        self.pending = lines.pop()
        for line in lines:
            self.hear(line)

    def flush(self):
        pass

    def hear(self, line):
        raise NotImplementedError
