# SPDX-License-Identifier: GPL-2.0
"""Loads that others wrote, for whole kernels: stress-ng, perf bench, hackbench, sysbench, make.

They are Debian's programs, unpacked into the cache and never installed. A guest in user-mode Linux
has their folder, read-only, as a root of its own, and a tmpfs as its /tmp.
"""

from functools import partial
from typing import NamedTuple

from guest.debian import only, suites_of_main_archive, unpacked
from guest.kernels import made_row
from guest.machines import UserModeMachine
from guest.source import get_source

PROGRAMS_ROW = made_row("others/*/.sealed", "stress-ng and other loads", download=150,
                        megabytes=500)
SUITE = "trixie"
PROGRAMS = ("stress-ng", "linux-perf", "rt-tests", "sysbench", "gcc", "libc6-dev", "make")
SYSTEM = ("base-files", "dash", "coreutils", "sed", "grep", "findutils")
# What some of them bring in order to draw, 150 MB: no load does.
NOT_NEEDED = ("libllvm", "mesa-libgallium", "libegl-mesa")
WANTED = ("stress-ng", "perf", "hackbench", "sysbench", "gcc", "make")
DEFAULT_LIMIT_MS = 60000
ROOT = "/others"		# in the guest
SOURCE = "usr/src"		# in that: the kernel's

# Of stress-ng, by the class that has them.
STRESSORS = {
    "scheduler": ("switch", "futex", "vfork", "mq"),
    "os": ("get", "pipe", "epoll", "kill"),
    "filesystem": ("dentry", "rename", "flock", "dir"),
    "vm": ("mmapaddr", "mprotect", "brk", "mlock"),
    "interrupt": ("timer", "itimer", "sigq", "sigfd"),
}


class Load(NamedTuple):
    """A command, and what awk is to print of its output: operations and seconds.

    Both know n, the CPUs, and s, the seconds to run; awk knows took, the seconds that it took.
    """
    command: str
    figures: str


def stressor(name):
    return Load(f"stress-ng --{name} $n --timeout $s --verify --metrics",
                f'$2 == "metrc:" && $4 == "{name}" && $6 > 0 {{ print $5, $6; exit }}')


FILES = "sysbench fileio --file-total-size=8M --file-num=8"
EVENTS = """
/total number of events:/ { events = $5 }
/total time:/ { seconds = $3 + 0 }
END { print events, seconds }
"""
LOADS = {
    **{f"stress-ng-{name}": stressor(name) for names in STRESSORS.values() for name in names},
    "perf-messaging": Load("perf bench sched messaging -g $n -l 100",
                           "/Total time:/ { print 100 * n, $3 }"),
    "perf-pipe": Load("perf bench sched pipe -l 5000", "/Total time:/ { print 5000, $3 }"),
    "perf-syscall": Load("perf bench syscall basic -l 100000",
                         "/Total time:/ { print 100000, $3 }"),
    "perf-futex": Load("perf bench futex hash -t $n -r $s -s",
                       "/^Averaged/ { print $2 * n * s, s }"),
    "perf-mem": Load("perf bench mem memset -f default -s 16MB -l 20", "END { print 20, took }"),
    "hackbench": Load("hackbench -g $n -l 100", "/^Time:/ { print 100 * n, $2 }"),
    "sysbench-threads": Load("sysbench --threads=$n --time=$s --thread-yields=10 threads run",
                             EVENTS),
    "sysbench-fileio": Load(f"{FILES} prepare && {FILES} --file-test-mode=rndrw --threads=$n "
                            "--time=$s run", EVENTS),
    # A library in C of the kernel's tools.
    "make": Load(f"make -j$n -C /{SOURCE}/tools/lib/subcmd O=/tmp/", "END { print 1, took }"),
}
# The kernel's own, where the programs look for them.
FILE_SYSTEMS = f"""
mount -t proc none {ROOT}/proc && mount -t sysfs none {ROOT}/sys || exit 2
mount -t devtmpfs none {ROOT}/dev || exit 2
mkdir -p {ROOT}/dev/shm {ROOT}/dev/pts {ROOT}/dev/mqueue
mount -t tmpfs none {ROOT}/dev/shm && mount -t devpts none {ROOT}/dev/pts
"""


def packages(apt, _):
    found = {name for package in (*PROGRAMS, *SYSTEM)
             for name in (package, *apt.dependencies(package))}
    return sorted(name for name in found if not name.startswith(NOT_NEEDED))


def root_folder():
    """The folder of the programs."""
    return unpacked("others", "stress-ng_*", f"loads of Debian's {SUITE}",
                    [suites_of_main_archive(SUITE)], "stress-ng", packages,
                    lambda folder: [only(folder, f"usr/bin/{name}") for name in WANTED],
                    megabytes=150)


# One whose memory is enough for these loads, which run in as many processes as they like.
RoomyMachine = partial(UserModeMachine, memory=1536)


def before():
    """What a guest's shell does before the first load."""
    return f"""
mkdir {ROOT} && mount -t hostfs -o ro,{root_folder()} none {ROOT} || exit 2
mount -t hostfs -o ro,{get_source().path} none {ROOT}/{SOURCE} || exit 2
{FILE_SYSTEMS}"""


def in_root(command, words="", limit=""):
    """Shell words that run a command among the programs, with a /tmp of its own; its $status."""
    return f"""
mount -t tmpfs none {ROOT}/tmp
{limit} chroot {ROOT} env -i PATH=/usr/bin LC_ALL=C HOME=/tmp {words} sh -ec 'cd /tmp; {command}'
status=$?
umount -l {ROOT}/tmp
"""


def load_of(run, unfinished):
    """Shell words that make /tmp/result of a run, and its $status: unfinished, if it was killed."""
    told, load = run.settings, LOADS[run.settings["load"]]
    words = f"n={told['threads']} s={max(1, round(told['duration_ms'] / 1000))}"
    limit = told.get("limit_ms", DEFAULT_LIMIT_MS)
    command = in_root(load.command, words, f"timeout -s KILL {limit // 1000}")
    return f"""
begin=$(cut -d' ' -f1 /proc/uptime)
{{ {command} }} >/tmp/said 2>&1
took=$(awk -v begin=$begin '{{ print $1 - begin }}' /proc/uptime)
[ $status = 0 ] || sed 's/^/@said /' /tmp/said
awk -v {" -v ".join(words.split())} -v took=$took '{load.figures}' /tmp/said >/tmp/figures
awk -v status=$status -v n={told['threads']} '
	{{ printf "operations %d\\nelapsed_ns %.0f\\n", $1, 1e9 * $2 }}
	END {{
		printf "workers %d\\nfinished %d\\nlimit_ms {limit}\\n", n, status ? 0 : n
		print "verdict " (status ? "FAIL exit status " status : NR ? "PASS" : "FAIL no figures")
	}}' /tmp/figures >/tmp/result
# What was killed may have left processes.
[ $status -gt 128 ] && status={unfinished} || status=0
"""
