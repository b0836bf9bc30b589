# SPDX-License-Identifier: GPL-2.0
"""The modules as their users meet them: parameters, files, loading, unloading."""

import re
import shlex

from base.case import Case, On, done, runs_on, step
from base.common import BUILD, PROJECT, Failure, answer_of, guest_cpus
from base.driver import read_figures
from base.parameters import DRIVER, RANGES, good_value
from guest.cases import (DEBIANS, STRESS_FOLDER, USER_MODE, clean_guest, commanded, guest_kernel,
                         guest_modules, guest_report, machine)
from guest.guest import run_guest
from guest.machines import UserModeMachine
from guest.modules import EXAMPLE, build_modules, build_user
from measure.stress import FILES as STRESS_FILES
from module.disturbed import REFUSED as REFUSED_DISTURBED
from module.shapes import PLAIN, REFUSED


@step("consumer")
@runs_on(USER_MODE, "modules")
def consumer():
    """the module of Documentation/example is built, loaded and run"""
    modules = {"files": build_modules(guest_kernel(), EXAMPLE),
               "load": ["nbqlock.ko", "nbq_example.ko"]}
    outcome = run_guest(machine(), "dmesg", modules=modules, quiet=True)
    for words in (r"timed out after \d+ ns, held by CPU \d", "acquired"):
        found = re.search(rf"nbq_example: .*{words}", outcome.output)
        yield Case(f"consumer: the kernel log says \"{words}\"", bool(found),
                   "" if found else guest_report(outcome))
    yield clean_guest("consumer", outcome)
    yield from warning_cases()
    for testbed in (USER_MODE, *DEBIANS):
        yield On(testbed, "build")
        yield from ignored_cases(testbed.find())


WARNS = """
#include <linux/module.h>
static int __init start(void)
{
	int forgotten;

	return 0;
}
module_init(start);
MODULE_LICENSE("GPL");
"""


def warning_cases():
    """What the compiler says of a user's module is shown, also if nothing has changed since."""
    folder = BUILD / "warns"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "warns.c").write_text(WARNS)
    (folder / "Kbuild").write_text("obj-m := warns.o\n")
    for when in ("is shown", "is shown again"):
        text, status = answer_of([PROJECT / "tools/nbq", "guest", "--build", folder, "true"])
        yield done(f"consumer: a warning of the compiler {when} by guest --build", text,
                   status, r"^warns\.c:5:\d+: warning: unused variable")


IGNORES = """
#include <linux/module.h>
#include <nbqlock/nbqlock.h>
static DEFINE_NBQ_SPIN(lock);
static int __init start(void)
{
	nbq_spin_lock_timeout(&lock, 1000);
	nbq_spin_unlock(&lock);
	return 0;
}
module_init(start);
MODULE_LICENSE("GPL");
"""
# What else its Kbuild says: how the compiler calls an ignored result then, and whether it is built.
SAYS = {"": ("an error", False),
        "ccflags-y := -Wno-error=unused-result\n": ("a warning", True)}


def ignored_cases(kernel):
    """nbqlock.mk refuses a user's module that ignores a result, unless its Kbuild allows it."""
    for line, (word, builds) in SAYS.items():
        sources = {"ignores.c": IGNORES.encode(),
                   "Kbuild": f"obj-m := ignores.o\n{line}include $(NBQLOCK)/nbqlock.mk\n".encode()}
        try:
            made = build_user(kernel, "ignores", sources)[1]
        except Failure:
            made = {}
        said = (BUILD / f"log/modules-{kernel.name}-ignores.log").read_text(errors="replace")
        found = re.search(rf"ignores\.c:7:\d+: {word.split()[1]}: .*unused.result", said)
        yield Case(f"consumer: Linux {kernel.version}: an ignored result is {word}",
                   bool(made) == builds and found, said)


def answered_cases(name, script, commands, modules, place=None, **options):
    """A case for each (what, command) in a guest: that it prints nothing. Returns the Outcome."""
    script += "".join(f"echo @case; {command}\n" for _, command in commands)
    outcome = run_guest(place or machine(), script, modules=modules, quiet=True, **options)
    answers = outcome.output.split("@case\n")[1:]
    for (what, _), answer in zip(commands, answers):
        yield Case(f"{name}: {what}", not answer.strip(), answer)
    if len(answers) != len(commands):
        yield Case(f"{name}: all inputs", False, guest_report(outcome))
    yield clean_guest(name, outcome)
    return outcome


MISUSES = (("threads", "many"), ("threads", "0"), ("threads", "-1"), ("threads", "100000000"),
           ("threads", "2 3"), ("lock", "nonsense"), ("cpus", "9-"), ("cpus", "x"),
           ("duration_ms", "-5"), ("duration_ms", "1.5"), ("cs_ns", "soon"), ("seed", "seed"),
           ("patience_ns", "long"), ("patience_ns", "-1"), ("patience_ns", "20-10"),
           ("patience_ns", "10-"), ("patience_ns", "1-2-3"), ("patience_ns", "max-1"),
           ("patience_ns", "0-9223372036854775808"), ("impatient_permille", "half"),
           ("impatient_ns", "1-2"), ("retry", "often"), ("retry", "1"), ("backoff_ns", "0"),
           ("backoff_ns", "max"), ("backoff_max_ns", "0"), ("chain", "0"),
           ("chain_order", "sorted"), ("stall_every", "-1"), ("free_lock", "yes"),
           ("contexts", "softirq"), ("contexts", "task irq"), ("contexts", ""),
           ("nesting", "deep"), ("nesting", "0"), ("interval_ns", "0"),
           ("suspend_every_ns", "max"), ("suspend_ns", "-1"), ("own_clock", "yes"),
           ("shuffle_ms", "-1"), ("hotplug_ms", "often"),
           *((name, str(most + 1)) for name, (_, most) in RANGES.items() if name in DRIVER),
           # a NUL, behind which there is something, or nothing
           ("threads", r"2\0000"), ("patience_ns", r"10\0000-20"), ("retry", r"at_once\0000x"),
           ("lock", r"clh_nb\0000"), ("cpus", r"0\0000-9"), ("contexts", r"task\0000irq"),
           # what user-mode Linux does not have
           ("contexts", "task nmi"), ("hotplug_ms", "100"))
MISRUNS = ("2", "-1", "yes", "1 1", "", r"1\0000", r"\00001")
# Runs for which the guest has no memory: the threads' own, that of the lock type.
TOO_LARGE = (("threads", {"lock": "clh_nb", "threads": 4096}),
             ("threads", {"lock": "clh_nb_paper", "threads": 1000, "chain": 8}))
MISUSE_SCRIPT = r"""
misuse() {
	file=$(echo %(folder)s/*/$1)
	before=$(cat $file) || echo "there is no $1"
	dmesg -c >/dev/null
	printf '%%b\n' "$2" >$file 2>/dev/null && echo "accepted"
	[ "$(cat $file)" = "$before" ] || echo "the old value is gone"
	dmesg | grep -q "$1" || echo "no line in the kernel log names $1"
}
misrun() {
	dmesg -c >/dev/null
	printf '%%b\n' "$1" 2>/dev/null >%(folder)s/run && echo "accepted"
	grep -q "no run yet" %(folder)s/result/summary || echo "there is a result"
	dmesg | grep -q "nbqlock_stress: run: " || echo "no line in the kernel log names run"
}
misfit() {
	file=$1
	shift
	cd %(folder)s
	for setting in "$@"; do
		echo "${setting#*=}" >"$(echo */${setting%%%%=*})" || echo "refused $setting"
	done
	dmesg -c >/dev/null
	echo 1 2>/dev/null >run && echo "it ran"
	grep -q "no run yet" result/summary || echo "there is a result"
	dmesg | grep -q "nbqlock_stress: $file: " || echo "the kernel log does not name $file"
}
"""


# More threads than there is memory for, again and again: as many can be made each time.
MOST_THREADS = 4096
SMALL_SCRIPT = f"""
cd {STRESS_FOLDER}
made() {{ dmesg | sed -n 's/.*only \\([0-9]*\\) of {MOST_THREADS} could.*/\\1/p' | tail -n 1; }}
refused() {{
	dmesg -c >/dev/null
	echo {MOST_THREADS} >load/threads
	echo 1 2>/root/said >run && echo "it ran"
	grep -q "Cannot allocate memory" /root/said || echo "it is not ENOMEM: $(cat /root/said)"
	[ $(made) -ge $1 ] || echo "only $(made) threads, not $1"
}}
runs() {{
	echo 4 >load/threads
	echo 1 >run && grep -q "verdict PASS" result/summary || echo "it does not pass"
}}
"""


def small_cases():
    """The cases that a run for which there is no memory is refused, and costs none."""
    yield from answered_cases(f"misuse: {MOST_THREADS} threads in 160 MB", SMALL_SCRIPT, [
        ("refused", "refused 1; enough=$(($(made) * 9 / 10))"),
        *((f"refused once more, {number}: no memory is lost", "refused $enough")
          for number in range(1, 4)),
        ("another run passes", "runs"), ("unloaded", "rmmod nbqlock_stress nbqlock")],
        guest_modules(), UserModeMachine(guest_kernel(), memory=160 - 16 * guest_cpus()))


# What the module refuses to be loaded with: no number at all.
BAD_PARAMETERS = ("pool_nodes=many", "pool_nodes=", "pool_nodes_max=99999999999999999999")
# What it clamps, with a warning: settings, and which parameter comes to what.
CLAMPED_PARAMETERS = (
    ("pool_nodes=0", "pool_nodes", 1), ("pool_nodes=-1", "pool_nodes", 1),
    ("pool_nodes=65537 pool_nodes_max=65536", "pool_nodes", 65536),
    ("pool_nodes=1 pool_nodes_max=0", "pool_nodes_max", 1),
    ("pool_nodes_max=4294967296", "pool_nodes_max", 65536),
    ("pool_nodes=9 pool_nodes_max=8", "pool_nodes", 8), ("pool_nodes=5000", "pool_nodes", 4096))
PARAMETER_SCRIPT = r"""
refused() {
	dmesg -c >/dev/null
	insmod /lib/modules/nbqlock.ko "$@" 2>/dev/null && echo "accepted"
	[ -e /sys/module/nbqlock ] && echo "it is loaded"
	dmesg | grep -q "nbqlock: ${1%%=*}" || echo "no line in the kernel log names ${1%%=*}"
}
clamped() {
	name=$1
	value=$2
	shift 2
	dmesg -c >/dev/null
	insmod /lib/modules/nbqlock.ko "$@" || echo "refused"
	[ "$(cat /sys/module/nbqlock/parameters/$name)" = $value ] || echo "$name is not $value"
	dmesg | grep -q "nbqlock: $name=.*: using $value" ||
		echo "no line in the kernel log says that $name is $value"
	rmmod nbqlock
}
"""


@step("parameters")
@runs_on(USER_MODE, "modules")
def parameters():
    """module parameters: clamped if out of range, refused if malformed"""
    yield from answered_cases("parameters", PARAMETER_SCRIPT, [
        *((f"{parameter} is refused", f"refused {parameter}") for parameter in BAD_PARAMETERS),
        *((f"{settings}: {name} is {value}", f"clamped {name} {value} {settings}")
          for settings, name, value in CLAMPED_PARAMETERS),
        ("pools of one node are accepted", "insmod /lib/modules/nbqlock.ko pool_nodes=1 "
         "pool_nodes_max=1 && [ $(cat /sys/module/nbqlock/parameters/pool_nodes) = 1 ] || "
         "echo refused, or another value")], {**guest_modules(), "load": []})


# The files that can be written and read: the parameters of a run.
PARAMETERS_SCRIPT = """
cd %(folder)s
for file in $(stat -c '%%a %%n' */* | sed -n 's/^644 //p'); do
	echo "@parameter ${file##*/} $(cat $file)"
done
"""


def parameter_cases(output):
    """The host's tools know every file, and take what it prints."""
    found = dict(re.findall(r"^@parameter (\S+) (.*)$", output, re.MULTILINE))
    there = set(found) - {"lock", "cpus"}	# which come from other options
    yield Case("misuse: tools/base/parameters.py has the driver's files", there == set(DRIVER),
               f"only in the driver: {sorted(there - set(DRIVER))}; "
               f"only in DRIVER: {sorted(set(DRIVER) - there)}")
    strange = [f"{name}: {found[name]}" for name in there & set(DRIVER)
               if not good_value(name, found[name])]
    yield Case("misuse: tools/base/parameters.py takes what the files print", not strange,
               "\n".join(strange))


@step("misuse")
@runs_on(USER_MODE, "modules")
def misuse():
    """malformed input to the stress driver is refused and changes nothing"""
    plain = " ".join(f"{name}={value}" for name, value in PLAIN.items())
    commands = [(f"{value!r} written to {file}", f"misuse {file} {shlex.quote(value)}")
                for file, value in MISUSES]
    commands += [(f"{value!r} written to run", f"misrun {shlex.quote(value)}")
                 for value in MISRUNS]
    for file, settings in (*REFUSED, *REFUSED_DISTURBED, *TOO_LARGE):
        words = " ".join(f"{name}={value}" for name, value in settings.items())
        commands.append((f"a run with {words}", f"misfit {file} {plain} {words}"))
    outcome = yield from answered_cases(
        "misuse", (MISUSE_SCRIPT + PARAMETERS_SCRIPT) % {"folder": STRESS_FOLDER}, commands,
        guest_modules())
    yield from parameter_cases(outcome.output)
    yield from small_cases()


# In a run that is longer than all that, wherever: wait until the lock was acquired. If
# that never happens, the guest's time limit or the end of the run is the end of it.
RUNNING = """
running() {
	until grep -q 'acquisitions [1-9]' %(folder)s/status; do
		kill -0 $1 || return 1
		sleep 0.1
	done
}
echo 3600000 >%(folder)s/load/duration_ms
""" % {"folder": STRESS_FOLDER}
UNLOAD_SCRIPT = f"""
{RUNNING}
echo 1 >{STRESS_FOLDER}/run &
running $! || {{ echo "it does not run"; exit 1; }}
rmmod nbqlock_stress || exit 2
wait
rmmod nbqlock || exit 3
[ ! -e /sys/module/nbqlock ] || exit 4
insmod /lib/modules/nbqlock.ko && insmod /lib/modules/nbqlock_stress.ko || exit 5
rmmod nbqlock && echo "nbqlock went while it was in use" && exit 6
exit 0
"""


@step("unload")
@runs_on(USER_MODE, "modules")
def unload():
    """the stress driver is unloaded during a run"""
    yield commanded("unload: rmmod during a run, then load again", UNLOAD_SCRIPT,
                    modules=guest_modules())


STOP_SCRIPT = f"""
{RUNNING}
cd {STRESS_FOLDER}
stopped() {{ wait; grep -q idle status && grep -q 'stopped 1' result/summary &&
	grep -q 'verdict PASS' result/summary; }}
echo 1 >run &
running $! || {{ echo "it does not run"; exit 1; }}
echo 1 >run 2>/dev/null && {{ echo "a second run began"; exit 2; }}
echo 3 >load/threads 2>/dev/null && {{ echo "a parameter changed during the run"; exit 3; }}
echo 0 >run && stopped || {{ echo "writing 0 did not stop it"; exit 4; }}
(echo 1 >run) &
running $! || {{ echo "it does not run again"; exit 5; }}
kill $! && stopped || {{ echo "a signal did not stop it"; exit 6; }}
exit 0
"""


@step("stop")
@runs_on(USER_MODE, "modules")
def stop():
    """a stress run is stopped, by a 0 or a signal, and has its result"""
    yield commanded("stop: a run stops early and keeps its result", STOP_SCRIPT,
                    modules=guest_modules())


# Something of each of these must have happened: in a longer run, if need be.
COUNTED = ("acquired_uncontended", "timeouts", "nodes_allocated", "pool_high_water")
COUNTERS_SCRIPT = f"""
cd /sys/kernel/debug/nbqlock
. /root/stress.sh
lacking() {{ grep -qE '^({"|".join(COUNTED)}) 0$' total; }}
for ms in 1000 4000 16000 64000; do
	stress_run clh_nb lock=clh_nb threads=2 cpus=0-1 patience_ns=1000 cs_ns=2000 \\
		duration_ms=$ms >/dev/null
	lacking || break
done
echo @events; cut -d: -f1 events
echo @total; cat total
echo @percpu; cat percpu
echo 1 >reset; echo @reset; cat total
"""
NOT_ADDED = ("most_skipped",)


@step("counters")
@runs_on(USER_MODE, "modules")
def counters():
    """event counters in debugfs: total, per CPU, reset"""
    outcome = run_guest(machine(), COUNTERS_SCRIPT, modules=guest_modules(), cpus=2,
                        extra=STRESS_FILES, quiet=True)
    parts = dict(re.findall(r"^@(\w+)\n((?:[^@].*\n?)*)", outcome.output, re.MULTILINE))
    names = parts.get("events", "").split()
    total = read_figures(parts.get("total", ""))
    head, *rows = [line.split() for line in parts.get("percpu", "cpu").splitlines()]
    added = {name: sum(int(row[column]) for row in rows)
             for column, name in enumerate(head)}
    reset = read_figures(parts.get("reset", ""))
    report = guest_report(outcome)
    yield Case("counters: every event has a total",
               bool(names) and list(total) == names and head == ["cpu", *names], report)
    yield Case("counters: the CPUs add up to the total", bool(total) and all(
        added.get(name) == total[name] for name in names
        if name not in NOT_ADDED), report)
    yield Case("counters: something was counted", all(
        total.get(name) for name in COUNTED), report)
    yield Case("counters: nodes taken are nodes given back and reclaimed",
               bool(total) and total["nodes_allocated"] ==
               total["nodes_freed"] + total["nodes_reclaimed"], report)
    yield Case("counters: reset clears them all", list(reset) == names and
               not any(reset.values()), report)
