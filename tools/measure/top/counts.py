# SPDX-License-Identifier: GPL-2.0
"""What is read, as counts of each lock."""

from collections import Counter, defaultdict
import errno
import re

from base.driver import read_figures
from base.lines import Lines

ENTRY = re.compile(r"^\{ (.*?) *\} +(.*)$")
KEY = re.compile(r"(\w+): +(.*?) *(?:, +(?=\w+: )|$)")
SYMBOL = re.compile(r"\[([0-9a-f]+)\] *(.*)")
NUMBER = re.compile(r"(\w+): +(\d+)")
EVENT = re.compile(r"\[(\d+)\] .*?: (nbq_wait_begin|nbq_wait_end): lock=(.*?) caller=(.*?) "
                   r"holder_cpu=(-?\d+)(?: ret=(-?\d+) waited_ns=(\d+))?$")
DROPPED = re.compile(r"(?:Dropped|overrun|dropped events): (\d+)")


def signed(number):
    """A histogram prints all numbers without sign: of 32 or 64 bits."""
    for bits in (32, 64):
        if 1 << (bits - 1) <= number < 1 << bits:
            return number - (1 << bits)
    return number


def plain_symbol(text):
    """name+0x0/0x8 [module], without what says nothing."""
    name, _, module = text.strip().partition(" ")
    name = re.sub(r"\+0x0(/0x[0-9a-f]+)?$|/0x[0-9a-f]+$", "", name)
    return f"{name} {module}".strip()


class LockCounts:
    """Of one lock, since nbq top began or of an interval.

    holders: begun waits by the CPU of the holder. results: ended waits by (error, caller).
    times: waits of up to 2^N ns.
    """

    def __init__(self):
        self.waiters = self.waited_ns = 0
        self.holders, self.results, self.times = Counter(), Counter(), Counter()

    def since(self, before):
        """What has come since an earlier count. The waiters are those of now."""
        new = LockCounts()
        new.waiters, new.waited_ns = self.waiters, self.waited_ns - before.waited_ns
        new.holders = self.holders - before.holders
        new.results = self.results - before.results
        new.times = self.times - before.times
        return new

    @property
    def waits(self):
        return sum(self.holders.values())

    def ended(self, error):
        """Waits that ended in an error; 0: acquired."""
        return sum(count for (ret, _), count in self.results.items() if ret == error)

    @property
    def acquired(self):
        return self.ended(0)

    @property
    def timeouts(self):
        return self.ended(-errno.ETIMEDOUT)

    @property
    def deadlocks(self):
        return self.ended(-errno.EDEADLK)

    @property
    def mean_ns(self):
        ended = sum(self.times.values())
        return self.waited_ns / ended if ended else 0

    def percentile_ns(self, share):
        """The least power of two that at least this share of the waits was not longer than."""
        left = share * sum(self.times.values())
        for power in sorted(self.times):
            left -= self.times[power]
            if left <= 0:
                return 1 << power
        return 0

    @property
    def holder(self):
        """The CPU that most waits found as the holder's, and its share; or None."""
        known = Counter({cpu: count for cpu, count in self.holders.items() if cpu >= 0})
        if not known:
            return None
        cpu, count = known.most_common(1)[0]
        return cpu, count / self.waits

    @property
    def failures(self):
        """Counter of the callers whose attempts failed, by (caller, error)."""
        return Counter({(caller, ret): count for (ret, caller), count in self.results.items()
                        if ret})


class Sample:
    """What was read at one time. locks: {name: LockCounts}, from the start on."""

    def __init__(self, parts, locks, lost, is_part=False):
        self.seconds = float(parts["time"].split()[0])
        self.locks = locks
        self.total = read_figures(parts["total"])
        self.lost = lost
        self.is_part = is_part	# of the events only


def histograms(text):
    """The entries of an event's histograms: ({key: text}, {value: number})."""
    for line in text.splitlines():
        match = ENTRY.match(line)
        if match:
            yield (dict(KEY.findall(match[1])),
                   {name: int(number) for name, number in NUMBER.findall(match[2])})


def symbol(text):
    """Of an address that a histogram prints with its symbol."""
    match = SYMBOL.match(text)
    if not match:
        return text
    name = plain_symbol(match[2])
    return name if name and not name.startswith("0x") else f"0x{match[1]}"


class Histograms:
    """Counts out of the kernel's histograms, which hold all from the start on.

    The sum of waiters lacks the waits that had begun before it. It cannot have been below 0: by
    what it was, it is put right.
    """

    def __init__(self):
        self.least = Counter()		# waiters by the histogram, of each lock

    def sample(self, parts):
        locks = defaultdict(LockCounts)
        for event in ("begin", "end"):
            for keys, values in histograms(parts.get(event, "")):
                self.add(locks[symbol(keys["lock"])], keys, values)
        for name, counts in locks.items():
            self.least[name] = min(self.least[name], counts.waiters)
            counts.waiters -= self.least[name]
        lost = sum(map(int, DROPPED.findall(parts.get("begin", "") + parts.get("end", ""))))
        return Sample(parts, locks, lost)

    @staticmethod
    def add(counts, keys, values):
        if "holder_cpu" in keys:
            counts.holders[signed(int(keys["holder_cpu"]))] += values["hitcount"]
        elif "ret" in keys:
            result = signed(int(keys["ret"])), symbol(keys["caller"])
            counts.results[result] += values["hitcount"]
            counts.waited_ns += values["waited_ns"]
        elif "waited_ns" in keys:
            counts.times[int(keys["waited_ns"].partition("^")[2])] += values["hitcount"]
        elif "waiters" in values:
            # Both events show the sum.
            counts.waiters = signed(values["waiters"])


class Recording:
    """Counts out of the events in the ring buffer, read and emptied at each sample.

    What happens while it is read, and what finds it full, is not in it. A wait is known to go
    on if no later event is from its CPU.
    """

    def __init__(self):
        self.locks = defaultdict(LockCounts)
        self.begun = {}		# CPU: lock
        self.lost = 0

    def sample(self, parts):
        for line in parts.get("trace", "").splitlines():
            match = EVENT.search(line)
            if match:
                self.add(*match.groups())
        self.lost += sum(map(int, DROPPED.findall(parts.get("lost", ""))))
        for counts in self.locks.values():
            counts.waiters = 0
        for name in self.begun.values():
            self.locks[name].waiters += 1
        locks = {name: counts.since(LockCounts()) for name, counts in self.locks.items()}
        return Sample(parts, locks, self.lost, is_part=True)

    def add(self, cpu, event, lock, caller, holder_cpu, ret, waited_ns):
        name = plain_symbol(lock)
        counts = self.locks[name]
        self.begun.pop(cpu, None)
        if event == "nbq_wait_begin":
            self.begun[cpu] = name
            counts.holders[int(holder_cpu)] += 1
            return
        # The name of a function, as a histogram has it.
        caller = re.sub(r"\+0x[0-9a-f]+", "", plain_symbol(caller))
        counts.results[int(ret), caller] += 1
        counts.waited_ns += int(waited_ns)
        if int(waited_ns):
            counts.times[max(0, int(waited_ns) - 1).bit_length()] += 1


def counter_for(parts):
    """Histograms or a Recording: what the parts of a sample need."""
    return Recording() if "trace" in parts else Histograms()


class Parts(Lines):
    """Takes a guest's output apart into samples: heard(parts) gets each."""

    def __init__(self, heard):
        self.heard = heard
        self.parts = {}
        self.name = None
        self.refused = []

    def hear(self, line):
        if line.startswith("@part "):
            self.name = line[6:].strip()
            self.parts[self.name] = ""
        elif line == "@over":
            parts, self.parts, self.name = self.parts, {}, None
            self.heard(parts)
        elif line.startswith(("@refused ", "@lacks ")):
            self.refused.append(line[1:])
        elif self.name:
            self.parts[self.name] += line + "\n"
