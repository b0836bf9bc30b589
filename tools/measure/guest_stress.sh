# SPDX-License-Identifier: GPL-2.0
# In the guest: runs the stress driver and marks out its answers for the host.
D=/sys/kernel/debug/nbqlock_stress

# watch_run: print the progress of the run every second, if there is some: the last word of the
# state is how many acquisitions there were.
watch_run() {
	before=
	while sleep 1; do
		read -r state <$D/status && [ "${state##* }" != "$before" ] &&
			echo "@progress $state"
		before=${state##* }
	done
}

# Shorter runs are not watched: that would disturb them.
LONG_MS=2500

# because WORDS: the last line of the driver in the kernel log that begins so.
because() {
	dmesg | grep "nbqlock_stress: $1" | tail -n 1 | sed "s/^.*nbqlock_stress: /@because /"
}

# parameter NAME: its file.
parameter() {
	echo $D/*/$1
}

# set_parameters PARAMETER=VALUE...: false if the driver refuses one.
set_parameters() {
	refused=
	for setting in "$@"; do
		echo "${setting#*=}" >"$(parameter ${setting%%=*})" && continue
		echo "@refused $setting"
		because ${setting%%=*}
		refused=1
	done
	[ -z "$refused" ]
}

# stress_run NAME PARAMETER=VALUE...: set the parameters, run, print the summary, and what is in
# $histograms, names with | between them.
stress_run() {
	echo "@run $1"
	shift
	set_parameters "$@" && timed_run
	echo "@end"
}

# A run that cannot start leaves the result of the run before, which is not printed.
timed_run() {
	read -r ms <$D/load/duration_ms
	watcher=
	if [ $ms -ge $LONG_MS ]; then
		watch_run &
		watcher=$!
	fi
	echo 1 >$D/run
	status=$?
	if [ -n "$watcher" ]; then
		kill $watcher
		wait $watcher 2>/dev/null
	fi
	echo "@status $status"
	if [ $status -eq 0 ]; then
		cat $D/result/summary
		[ -z "$histograms" ] ||
			sed -nE "s/^($histograms) /@histogram &/p" $D/result/histograms
	else
		because
	fi
}
