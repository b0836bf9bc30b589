# SPDX-License-Identifier: GPL-2.0
"""An installed nbq top: what it says where something is missing, and what it leaves."""

import re

from base.case import Case
from guest.cases import guest_report
from measure.top.events import PREFIX

SIGNALS = ("INT", "TERM", "HUP")
# A killer awaits the instance, whose name has the process; nbq top is in the foreground,
# as what a shell starts in the background ignores SIGINT.
SCRIPT = f"""
set +e
T=/sys/kernel/tracing
left() {{ ls -d $T/instances/{PREFIX}* 2>/dev/null; }}
settings() {{
	cat $T/current_tracer $T/tracing_on $T/set_event $T/buffer_size_kb $T/trace_options
}}
typed() {{
	echo "@top $1"
	shift
	"$@" 2>&1
	echo "@status $?"
}}
killed_by() {{
	( until left >/dev/null; do sleep 0.1; done; kill -$1 $(left | sed 's/.*{PREFIX}//') ) &
	nbq top --count 100000 >/dev/null 2>&1
	echo "@killed $1 $? $(left)"
	wait
}}
typed lacks-module nbq top --count 1
modprobe nbqlock
while umount $T 2>/dev/null; do :; done
typed lacks-tracefs nbq top --count 1
mount -t tracefs tracefs $T
typed refused nbq top --interval never
echo nbqlock:nbq_abandon >$T/set_event
settings >/tmp/before
typed counted nbq top --count 2 --interval 1
echo "@left counted $(left)"
for signal in {' '.join(SIGNALS)}; do killed_by $signal; done
killed_by KILL
typed after-killed nbq top --count 1 --interval 1
echo "@left after-killed $(left)"
settings | cmp - /tmp/before && echo "@settings the same"
echo >$T/set_event
rmmod nbqlock
"""


def claims(output):
    """(claim, whether it holds) of what SCRIPT has printed."""
    def said(mark):
        found = re.search(rf"^@top {mark}\n(.*?)^@status (\d+)$", output,
                          re.MULTILINE | re.DOTALL)
        return found.groups() if found else ("", None)

    def has(line):
        return re.search(rf"^{line}$", output, re.MULTILINE)

    for mark, words in (("lacks-module", "modprobe nbqlock"), ("lacks-tracefs", "mount -t tracefs"),
                        ("refused", "never")):
        text, status = said(mark)
        yield f"{mark}: it says what to do", words in text and status == "2"
    text, status = said("counted")
    yield "off a terminal it prints a block for each interval", \
        status == "0" and text.count("nbq top: ") == 2 and "\x1b" not in text
    yield "at its end nothing is left", has("@left counted *")
    for signal in SIGNALS:
        yield f"after SIG{signal} nothing is left", has(f"@killed {signal} 130 *")
    yield "killed, it leaves its instance", has(rf"@killed KILL 137 \S+{PREFIX}\d+")
    yield "the next one removes that, and says so", \
        has("@left after-killed *") and "a killed nbq top" in said("after-killed")[0]
    yield "other tracing is as before", has("@settings the same")


def cases(name, outcome):
    for claim, holds in claims(outcome.output):
        yield Case(f"{name}: nbq top: {claim}", bool(holds),
                   "" if holds else guest_report(outcome))
