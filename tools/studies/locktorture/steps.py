# SPDX-License-Identifier: GPL-2.0
"""The kernel's locktorture with the operations of nbqlock, out of tree.

locktorture.c of the found kernel source is built with module/nbq_ops.h, once for each
lock type, in front of its table of operations, and entries of ours in that; torture.c beside it,
where the kernel has none. What is added are lines, at places that are searched for: a kernel in
which one of them is not there is refused.
"""

import re

from base.case import LOAD, MORE, ONLY_ALL, Case, On, extent, runs_on, step
from base.common import PROJECT, Failure
from base.lock_types import OURS
from guest.cases import DEBUG, RT, USER_MODE, clean_guest, guest_report
from guest.kernel_tests import BUSTED, LockTorture, edited
from guest.modules import build_user
from guest.parts import run_parts

FOLDER = PROJECT / "tools/studies/locktorture/module"
ADAPT = "tools/studies/locktorture/steps.py"		# if a source of the kernel has changed
TYPES = ("nbq_spin", *(name for name in OURS if name != "nbq_spin"))
FORMS = ("", "_irq", "_timed", "_timed_irq", "_try")
MOST_THINGS = "_timed_irq"		# at once: what a short run makes of a strict lock
OPERATIONS = tuple(f"{kind}{form}" for kind in TYPES for form in FORMS)
CPUS = 4
TIMEOUT = 1800
# The end of a test of nbq_spin, and of the other lock types, whose locks are destroyed.
AT_END_OF_SPIN = """\
	nbq_torture_report((num_possible_cpus() + 1) * (1 + nested_locks));
"""
AT_END = """\
	int i, err = nbq_spin_destroy(&torture_nbq_spin_lock);

	for (i = 0; i < MAX_NESTED_LOCKS; i++)
		err = nbq_spin_destroy(&torture_nbq_spin_nested[i]) ?: err;
	if (err)
		pr_alert("!!! nbqlock: destroy failed with %d\\n", err);
	nbq_torture_report(0);
"""


def operations():
    """The operations of nbq_spin, and the same of the other lock types."""
    made = (FOLDER / "nbq_ops.h").read_text()
    spin = made[made.index("/* The operations of nbq_spin */"):]
    before, end, after = spin.partition(AT_END_OF_SPIN)
    if not end:
        raise Failure("nbq_ops.h has another end of a test: adapt " + ADAPT)
    spin = before + AT_END + after
    for kind in TYPES[1:]:
        made += spin.replace("torture_nbq_spin", f"torture_{kind}").replace(
            '"nbq_spin', f'"{kind}').replace("nbq_spin", f"nbq_{kind.removesuffix('_nb')}")
    return made + "\n"


def locktorture_edits():
    """(where, what is put in front of it)"""
    return ((r"^static int lock_torture_writer\(", operations()),
            (r"(?<=static struct lock_torture_ops \*torture_ops\[\] = \{\n)",
             "".join(f"\t\t&torture_{name}_ops,\n" for name in OPERATIONS)))


# The module has two sources, one of which names it; and what rcu/update.c has only where
# the kernel has torture tests.
TORTURE_EDITS = (
    (r"^MODULE_LICENSE\(", """
long torture_sched_setaffinity(pid_t pid, const struct cpumask *in_mask, bool dowarn);
long torture_sched_setaffinity(pid_t pid, const struct cpumask *in_mask, bool dowarn)
{
	return -ENOSYS;
}

"""),
)
# What a longer run may still have.
NO_TIMEOUT = "no attempt has timed out"
FAILED = re.compile(r"nbqlock: (\d+) attempts failed, (\d+) nodes in use")
# At the end of a run, when what was offline is online again.
ONLINE = re.compile(r"nbqlock: (\d+) of (\d+) CPUs online, ")
# Successes of all attempts, without those at the end: online, offline.
HOTPLUG = re.compile(r"\bonoff: (\d+)/\d+:(\d+)/\d+ ")


def torture_modules(kernel):
    """nbqlock and the torture test, built for a kernel: {file name: content}."""
    if not kernel.source:
        raise Failure(f"Linux {kernel.version} has no source here to take locktorture.c from")
    sources = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    for file, name, edits in (
            ("locktorture.c", "kernel/locking/locktorture.c", locktorture_edits()),
            ("torture.c", "kernel/torture.c", TORTURE_EDITS)):
        sources[file] = edited(kernel.source, name, edits, ADAPT).encode()
    return build_user(kernel, "torture", sources)[0]


class Torture(LockTorture):
    """The same with the operations of nbqlock."""

    module = "nbq_locktorture"

    def __init__(self, operations, seconds, **parameters):
        nested = parameters.get("nested_locks")
        # In seconds; each of them several times in a run.
        often = max(1, seconds // 3)
        super().__init__(operations, seconds, self.module,
                         operations + (f", {nested} nested locks" if nested else ""),
                         **{"shuffle_interval": often, "stutter": often, **parameters})
        self.operations = operations
        self.has_hotplug = parameters.get("onoff_interval", 0) > 0

    @property
    def offlines(self):
        """How many times CPUs went offline in it; None if it does not say."""
        found = HOTPLUG.search(self.log)
        return found and int(found[2])

    @property
    def hotplug_complaint(self):
        online = ONLINE.search(self.log)
        if not online or self.offlines is None:
            return "it does not report its CPU hotplug"
        return "" if online[1] == online[2] else "not all CPUs are online at its end"

    @property
    def complaint(self):
        """What its part of the kernel log lacks or has too much; or nothing."""
        if super().complaint:
            return super().complaint
        failed = FAILED.search(self.log)
        if not failed:
            return "it does not report its queue nodes"
        if self.has_hotplug and self.hotplug_complaint:
            return self.hotplug_complaint
        if "_timed" in self.operations and not int(failed[1]):
            return NO_TIMEOUT
        return ""


def torture_all(machine, runs, modules):
    """Make runs in one guest, one after the other. Returns its Outcome; each run has a log."""
    return run_parts(machine, runs, cpus=CPUS, timeout=TIMEOUT,
                     modules={"files": modules, "load": ["nbqlock.ko"]})


# Cases

SHORT, MEDIUM, LONG = 1, 4, 9
# Timed operations below others of their kind, and plain ones.
NESTED = (*(f"{kind}_timed" for kind in TYPES), "nbq_spin")


def runs(seconds, **parameters):
    made = [operations for operations in OPERATIONS
            if seconds > SHORT or operations.startswith(TYPES[0])
            or operations.endswith(MOST_THINGS)]
    return [*(Torture(operations, seconds, **parameters) for operations in made),
            *(Torture(operations, seconds, nested_locks=8, **parameters)
              for operations in NESTED)]


def torture_cases(name, machine, seconds, **parameters):
    """A case for each run, that the guests are clean, and that a broken lock is seen."""
    modules = torture_modules(machine.kernel)
    made = runs(seconds, **parameters)
    outcomes = [torture_all(machine, made, modules)]
    again = [number for number, run in enumerate(made)
             if run.complaint == NO_TIMEOUT and seconds < LONG]
    if again:
        longer = runs(LONG, **parameters)
        outcomes.append(torture_all(machine, [longer[number] for number in again], modules))
        made = [longer[number] if number in again else run for number, run in enumerate(made)]
    for run in made:
        yield Case(f"{name}: {run.name}", not run.complaint,
                   f"{run.complaint}\n{run.log[-2000:]}")
    if any(run.has_hotplug for run in made):
        # In a short run none may, by chance. That all are back is judged with each run.
        yield Case(f"{name}: CPUs went offline", any(run.offlines for run in made))
    yield clean_guest(name, *outcomes)
    busted = torture_all(machine, [Torture(BUSTED, seconds)], modules)
    yield Case(f"{name}: {BUSTED} fails", "!!!" in busted.log and
               "End of test: FAILURE" in busted.log, guest_report(busted))


@step("locktorture", MORE, LOAD)
@runs_on(USER_MODE, "locktorture")
def locktorture():
    """the kernel's locktorture over all lock types, plain, irq, timed, try, nested"""
    yield from torture_cases("locktorture", USER_MODE.machine(),
                             LONG if extent.is_long else SHORT)


@step("torture-all", ONLY_ALL, LOAD)
@runs_on(RT, "locktorture")
def locktorture_kernels():
    """locktorture with CPU hotplug in QEMU, and on the debug kernel"""
    yield from torture_cases("locktorture, CPU hotplug", RT.machine(), MEDIUM,
                             onoff_interval=1)
    yield On(DEBUG, "locktorture")
    yield from torture_cases("locktorture, debug", DEBUG.machine(), MEDIUM)
