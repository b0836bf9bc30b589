# SPDX-License-Identifier: GPL-2.0
"""What nbq top switches on, on this machine or in a guest, and what it then reads.

Two ways: histograms that the kernel keeps of the tracepoints (hist triggers), which lose
nothing; or, in a kernel without these, the events that its ring buffer has kept of an interval.
Both are in a trace instance of nbq top's own, which shares nothing with other tracing.
"""

PREFIX = "nbq-top-"		# of the instance; then the process
BEGIN, END = "nbq_wait_begin", "nbq_wait_end"
EVENTS = (BEGIN, END)
ENTRIES = 2048			# of a histogram: locks times what else is in its key
KILOBYTES = 1024		# of the ring buffer of each CPU, where there are no histograms


def triggers(process):
    """[(event, trigger)]. Names of histograms are common to all instances."""
    waiters = f"hist:name=nbq_top_{process}:keys=lock.sym-offset:vals=waiters:size={ENTRIES}"
    return [
        # One sum of both events, so that it is right whenever it is read. Waits that begin
        # before both are counted must not be in it for ever: ends are counted first.
        (END, waiters), (BEGIN, waiters),
        (BEGIN, f"hist:keys=lock.sym-offset,holder_cpu:vals=hitcount:size={ENTRIES}"),
        (END, "hist:keys=lock.sym-offset,ret,caller.sym:vals=hitcount,waited_ns:"
              f"size={ENTRIES}"),
        (END, "hist:keys=lock.sym-offset,waited_ns.log2:vals=hitcount:"
              f"size={ENTRIES} if waited_ns > 0"),
    ]


def setup(process, has_histograms):
    """[(file of the instance, text)]: to be written in order."""
    if has_histograms:
        return [("buffer_size_kb", "16"),
                *((f"events/nbqlock/{event}/trigger", text) for event, text in triggers(process))]
    return [("tracing_on", "0"), ("options/overwrite", "0"), ("buffer_size_kb", str(KILOBYTES)),
            *((f"events/nbqlock/{event}/enable", "1") for event in EVENTS), ("tracing_on", "1")]


def removal(process, has_histograms):
    """The same, to take it back."""
    if has_histograms:
        return [(f"events/nbqlock/{event}/trigger", f"!{text}")
                for event, text in reversed(triggers(process))]
    return [(f"events/nbqlock/{event}/enable", "0") for event in EVENTS]


# The part for a guest, which has a shell and no Python. @NAME: what the next lines are.
GUEST_START = """
T=/sys/kernel/tracing
grep -q tracefs /proc/filesystems || { echo "@lacks tracefs"; exit 1; }
mount -t tracefs tracefs $T 2>/dev/null
[ -d $T/events/nbqlock/nbq_wait_begin ] || { echo "@lacks tracepoints"; exit 1; }
I=$T/instances/nbq-top-1
top_write() {
	# Opened to be truncated, the file of triggers would remove those that it has.
	echo "$2" >>$I/$1 || echo "@refused $1: $2"
}
top_read() {
	echo "@part $1"
	shift
	cat "$@" 2>/dev/null
}
top_on() {
	mkdir $I || exit 1
	if [ -e $I/events/nbqlock/nbq_wait_end/hist ]; then
@HISTOGRAMS@
	else
@RECORDING@
	fi
}
top_off() {
	if [ -e $I/events/nbqlock/nbq_wait_end/hist ]; then
@REMOVAL@
	fi
	rmdir $I
}
top_sample() {
	top_read time /proc/uptime
	top_read total /sys/kernel/debug/nbqlock/total
	if [ -e $I/events/nbqlock/nbq_wait_end/hist ]; then
		top_read begin $I/events/nbqlock/nbq_wait_begin/hist
		top_read end $I/events/nbqlock/nbq_wait_end/hist
	else
		echo 0 >$I/tracing_on
		top_read trace $I/trace
		top_read lost $I/per_cpu/cpu*/stats
		echo >$I/trace
		echo 1 >$I/tracing_on
	fi
	echo "@over"
}
"""


def guest_start():
    """The functions top_on, top_off and top_sample of a guest's shell."""
    script = GUEST_START
    for mark, writes in (("@HISTOGRAMS@", setup(1, True)), ("@RECORDING@", setup(1, False)),
                         ("@REMOVAL@", removal(1, True))):
        script = script.replace(mark, "\n".join(f"\t\ttop_write {file} '{text}'"
                                                for file, text in writes))
    return script
