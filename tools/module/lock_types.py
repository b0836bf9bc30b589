# SPDX-License-Identifier: GPL-2.0
"""Lock types of other modules in the stress driver: Documentation/stress-example, and others like
it that are refused.
"""

import json
import re
import shutil

from base.building import run_logged
from base.case import MORE, Case, done, extent, runs_on, step
from base.common import BUILD, PROJECT
from guest.cases import STRESS_FOLDER, USER_MODE, guest_kernel
from guest.guest_cli import LOADED
from guest.modules import LOCK_TYPE, build_user, user_sources
from measure.stress import FILES as STRESS_FILES
from module.modules import RUNNING, answered_cases

NAME = "ticket_timeout"
# Modules that are the example but for this, and what the kernel log says of them.
REFUSED = {
    "name_of_own": ((f'"{NAME}"', '"clh_nb"'), 'type "clh_nb" is refused: there is one'),
    "name_of_other": ((), f'type "{NAME}" is refused: there is one of this name'),
    "name_of_two": ((f'"{NAME}"', '"ticket timeout"'), "is refused: a name is a letter, then"),
    "no_size": ((".size = sizeof(struct stress_lock)", ".size = 0"), "its size is not from 1 to"),
    "no_unlock": ((".unlock = ticket_unlock", ".leaves_places = !ticket_unlock"),
                  "it has no unlock"),
}
# One that is as large as can be, and writes to all of its memory.
LARGE = "large_ticket"
LARGER = (f'"{NAME}"', f'"{LARGE}"',
          "/* the ticket of the holder */", "\n\tchar rest[STRESS_LOCK_SIZE_MAX - 8];",
          "\tlock->serving = 0;",
          "\tlock->serving = 0;\n\tmemset(lock->rest, -1, sizeof(lock->rest));")
# One whose attempts do not return as long as its parameter says so.
STUCK = "stuck_ticket"
STICKS = (f'"{NAME}"', f'"{STUCK}"',
          "static int ticket_lock(",
          "static bool stuck;\nmodule_param(stuck, bool, 0644);\n\nstatic int ticket_lock(",
          "\tpreempt_disable();", "\twhile (READ_ONCE(stuck))\n\t\tcond_resched();\n"
          "\tpreempt_disable();")
SCRIPT = f"""
. /root/stress.sh
{RUNNING}
cd {STRESS_FOLDER}
load() {{ insmod /lib/modules/$1.ko; }}
refused() {{
	dmesg -c >/dev/null
	load $1 2>/dev/null && echo "it was loaded"
	# busybox tries twice.
	[ "$(dmesg | grep -o 'nbqlock_stress: .*' | sort -u | wc -l)" = 1 ] ||
		echo "the kernel log has not one line"
	dmesg | grep -q "nbqlock_stress: .*$2" || echo "the kernel log does not say $2"
}}
stays() {{
	rmmod $1 2>/dev/null && echo "$1 was unloaded"
	grep -q "^{NAME}: " locks || echo "the lock type is gone"
}}
started() {{
	echo $1 >load/lock && echo 3600000 >load/duration_ms
	echo 1 >run &
	running $! || echo "it does not run"
}}
passed() {{
	echo 0 >run
	wait
	grep -q "^lock $1$" result/summary || echo "the result is not of $1"
	grep -q "verdict PASS" result/summary || grep verdict result/summary
}}
"""
COMMANDS = (
    ("it is the last of the lock types",
     f"load {NAME}; tail -n 1 locks | grep -q '^{NAME}: a ticket lock' || cat locks"),
    *((f"{module} is refused, with one line in the kernel log", f"refused {module} '{said}'")
      for module, (_, said) in REFUSED.items()),
    ("after a run of it, it passes", f"started {NAME}; passed {NAME}"),
    ("a run of it holds its module",
     f"started {NAME}; stays {NAME}; [ $(cat /sys/module/{NAME}/refcnt) = 1 ] || echo refcnt; "
     f"grep -q running status || cat status; passed {NAME}; "
     f"[ $(cat /sys/module/{NAME}/refcnt) = 0 ] || echo refcnt"),
    ("so does one that cannot start, until then",
     f"echo 1 >load/free_lock; echo 2 >load/chain; echo 1 2>/dev/null >run && echo ran; "
     f"echo 0 >load/free_lock; echo 1 >load/chain; "
     f"[ $(cat /sys/module/{NAME}/refcnt) = 0 ] || echo refcnt"),
    ("it holds the driver", "stays nbqlock_stress"),
    ("unloaded, it is gone, but for the name in the result",
     f"rmmod {NAME}; grep {NAME} locks; [ $(cat load/lock) = clh_nb ] || cat load/lock; "
     f"grep -q '^lock {NAME}$' result/summary || head -n 1 result/summary; "
     f"dmesg -c >/dev/null; echo {NAME} 2>/dev/null >load/lock && echo accepted; "
     "dmesg | grep -q 'nbqlock_stress: lock: takes one of clh_nb' || dmesg"),
    ("one of the largest size passes, with several locks",
     f"load {LARGE}; echo 8 >load/chain; echo 200 >load/cs_ns; started {LARGE}; passed {LARGE}; "
     f"echo 1 >load/chain; echo 1 >load/free_lock; started {LARGE}; passed {LARGE}; "
     f"echo 0 >load/free_lock; rmmod {LARGE}"),
    ("a run of another lock type does not hold it",
     f"load {NAME}; started clh_nb; rmmod {NAME}; grep {NAME} locks; passed clh_nb"),
    ("both are loaded and unloaded again",
     f"load {NAME}; rmmod {NAME}; cd /; rmmod nbqlock_stress && rmmod nbqlock"),
)
# The driver waits for a minute.
STUCK_COMMANDS = (
    ("threads that do not come back hold the module, and let go of it when they do",
     f"load {STUCK}; stuck=/sys/module/{STUCK}; echo 2 >load/threads; started {STUCK}; "
     "echo Y >$stuck/parameters/stuck; echo 0 >run; wait; "
     "grep -q '^verdict FAIL a thread did not come' result/summary || tail -n 1 result/summary; "
     "[ $(cat $stuck/refcnt) = 1 ] || echo refcnt; "
     "echo 1 2>/dev/null >run && echo 'it runs again'; echo N >$stuck/parameters/stuck; "
     "until [ $(cat $stuck/refcnt) = 0 ]; do echo 0 >run; sleep 0.1; done; "
     f"started clh_nb; passed clh_nb; rmmod {STUCK}"),)


def changed(text, words):
    """The example with other words: what is there once, what is to be there, and so on."""
    for old, new in zip(words[::2], words[1::2]):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def variants():
    """The modules, built: {file name: content}."""
    sources = user_sources(PROJECT / LOCK_TYPE)
    text = sources[f"{NAME}.c"].decode()
    others = {**{module: words for module, (words, _) in REFUSED.items()}, LARGE: LARGER,
              STUCK: STICKS}
    for module, words in others.items():
        sources[f"{module}.c"] = changed(text, words).encode()
    sources["Kbuild"] = sources["Kbuild"].replace(
        b"obj-m := ", f"obj-m := {' '.join(f'{module}.o' for module in others)} ".encode())
    files, _ = build_user(guest_kernel(), "lock-types", sources)
    return files


SCENARIO = f"""[scenario]
title = A lock of another module
source = nowhere
locks = {NAME} clh_nb
rounds = 1
[load]
duration_ms = 100
cpus = 2
patience_ns = 2000
cs_ns = 500
[plot rate]
title = Rate
y = acquisitions_per_second
log = y
[plot waits]
title = Waits
histogram = wait
"""


def nbq(*words):
    """What a command of tools/nbq says, and its status."""
    log = BUILD / "log" / "lock-types.log"
    log.unlink(missing_ok=True)
    status = run_logged([PROJECT / "tools/nbq", *words], log, f"nbq {words[0]} --module",
                        check=False)
    return log.read_text(errors="replace"), status


def command_cases():
    """tools/nbq knows the lock type by its name."""
    folder = BUILD / "lock-types"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "mine.ini").write_text(SCENARIO)
    module = ("--module", PROJECT / LOCK_TYPE)
    files = {kind: folder / f"x.{kind}" for kind in ("json", "csv", "svg")}
    text, status = nbq(
        "stress", *module, "--locks", f"{NAME},clh_nb", "--cpus", "2", "--rounds", "1",
        "--seconds", "0.2", "--json", files["json"], "--csv", files["csv"],
        "--figure", f"wait={files['svg']}")
    yield done(f"lock-types: tools/nbq stress --module --locks {NAME}", text, status,
               rf"^{NAME} .* PASS$", r"^clh_nb .* PASS$")
    if status == 0:
        yield from file_cases(files)
    text, status = nbq("stress", *module, "--locks", "none")
    yield Case("lock-types: --locks that is none names it, too", status == 2 and re.search(
        rf"there is no lock type \"none\"; there are .*, {NAME}$", text, re.M), text)
    text, status = nbq("bench", *module, "--out", folder, folder / "mine.ini")
    drawn = sorted(path.name for path in folder.glob("*/figures/*.svg"))
    yield done("lock-types: tools/nbq bench --module", text, status, rf"^{NAME} .* PASS$")
    made = (*folder.glob("*/figures/*.svg"), *folder.glob("*/report.rst"))
    yield Case("lock-types: its figures and report have the lock",
               drawn == ["mine-rate.svg", "mine-waits.svg"] and
               all(NAME in path.read_text() for path in made), f"{drawn}\n{text}")


def file_cases(files):
    """What --json, --csv and --figure have of the histograms."""
    data = json.loads(files["json"].read_text())
    runs = data["scenarios"][0]["runs"]
    sums = {run["lock"]: (sum(bucket[2] for bucket in run["histograms"]["wait"]),
                          run["result"]["wait_samples"]) for run in runs}
    yield Case("lock-types: the histograms of --json are those of the result",
               set(sums) == {NAME, "clh_nb"} and
               all(count == samples > 0 for count, samples in sums.values()), str(sums))
    head, row, *_ = files["csv"].read_text().splitlines()
    cell = dict(zip(head.split(","), row.split(",")))["histogram_wait"]
    yield Case("lock-types: --csv has them",
               re.fullmatch(r"\d+-\d+:\d+( \d+-\d+:\d+)*", cell), cell)
    yield Case("lock-types: --figure has both locks", all(
        f">{lock}<" in files["svg"].read_text() for lock in (NAME, "clh_nb")))


@step("lock-types", MORE)
@runs_on(USER_MODE, "modules")
def lock_types():
    """a lock type of another module: registered, run, refused, unloaded; tools/nbq knows it"""
    commands = (*COMMANDS[:-1], *(STUCK_COMMANDS if extent.is_long else ()), COMMANDS[-1])
    yield from answered_cases("lock-types", SCRIPT, commands,
                              {"files": variants(), "load": LOADED}, extra=STRESS_FILES)
    yield from command_cases()
