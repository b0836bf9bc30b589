# SPDX-License-Identifier: GPL-2.0
"""How busy other programs keep this machine while runs are made, which changes the figures.

A load average is that of the start of this process: later it would be that of builds, of the runs
themselves, or of those of the experiment before. What other programs had of the cores in the meantime is the
time that the cores were busy, less that of this process and its children.
"""

import os
from pathlib import Path
import resource

from measure.progress import counted
from testbed.common import cores

STAT = Path("/proc/stat")
AT_START = os.getloadavg()
# Of a line of it: user, nice, system, idle, iowait, irq, softirq, and what a hypervisor took away.
# Time of virtual machines is in the first two.
BUSY = (0, 1, 2, 5, 6, 7)
MOST_PERMILLE = 100		# that others may have of the cores before the host counts as busy


def cpu_seconds(text, cpus):
    """(that these CPUs were there since the boot, that they were busy) by /proc/stat."""
    rows = [list(map(int, line.split()[1:9])) for line in text.splitlines()
            if line.split(" ")[0] in {f"cpu{number}" for number in cpus}]
    tick = os.sysconf("SC_CLK_TCK")
    return (sum(map(sum, rows)) / tick,
            sum(row[place] for row in rows for place in BUSY) / tick)


def own_seconds():
    """That this process had, and those that it has started and awaited."""
    return sum(sum(resource.getrusage(who)[:2])
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class HostLoad:
    """Begins to count when it is made."""

    def __init__(self, read=STAT.read_text, own=own_seconds, load=AT_START):
        self.read, self.own = read, own
        self.load = round(load[0], 2)
        self.before = self.seconds()

    def seconds(self):
        return *cpu_seconds(self.read(), os.sched_getaffinity(0)), self.own()

    def figures(self, with_others=True):
        """So far, for a result. with_others: false where kernel threads do the work."""
        there, busy, own = (now - then for now, then in zip(self.seconds(), self.before))
        found = {"load_average": self.load, "cores": cores()}
        if with_others and there > 0:
            found["others_permille"] = max(0, round(1000 * (busy - own) / there))
        return found


def is_busy(host):
    return host.get("load_average", 0) > host.get("cores", 1) or \
        host.get("others_permille", 0) > MOST_PERMILLE


def load_words(host):
    return f"load average {host['load_average']:.1f} on {counted(host['cores'], 'core')}"


def warning(*hosts):
    """A sentence, if the host was busy in any of these; else nothing."""
    busy = [host for host in hosts if is_busy(host)]
    if not busy:
        return ""
    worst = max(busy, key=lambda host: (host.get("others_permille", 0), host["load_average"]))
    others = f", other programs had {worst['others_permille'] / 10:.0f} % of the cores' time" \
        if "others_permille" in worst else ""
    return (f"The host was busy: {load_words(worst)} at the start{others}. On an idle host these "
            "figures are others.")


def warning_before(simulated=False):
    """A sentence on a host that is busy already; else nothing. A simulation only lasts longer."""
    host = HostLoad().figures(with_others=False)
    return f"the host is busy ({load_words(host)}): it takes longer than said" + \
        ("" if simulated else ", and the figures will be off") if is_busy(host) else ""
