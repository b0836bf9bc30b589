# SPDX-License-Identifier: GPL-2.0
# In the guest: runs the stress driver and marks out its answers for the host.
D=/sys/kernel/debug/nbqlock_stress

# watch_run: say every second how far the run is, for whoever waits for it.
watch_run() {
	while sleep 1; do
		read -r state <$D/status && echo "@progress $state"
	done
}

# Shorter runs are left in peace.
LONG_MS=2500

# because WORDS: what the driver said last that begins so.
because() {
	dmesg | grep "nbqlock_stress: $1" | tail -n 1 | sed "s/^.*nbqlock_stress: /@because /"
}

# stress_run NAME FILE=VALUE...: set the files, run, print the result.
stress_run() {
	echo "@run $1"
	shift
	refused=
	for setting in "$@"; do
		echo "${setting#*=}" >$D/${setting%%=*} && continue
		echo "@refused $setting"
		because ${setting%%=*}
		refused=1
	done
	[ -n "$refused" ] || timed_run
	echo "@end"
}

# A result is printed only if it is this run's: a run that cannot start leaves
# that of the one before.
timed_run() {
	read -r ms <$D/duration_ms
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
		cat $D/result
	else
		because
	fi
}
