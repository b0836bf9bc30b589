# SPDX-License-Identifier: GPL-2.0
# In the guest: runs the stress driver and marks out its answers for the host.
D=/sys/kernel/debug/nbqlock_stress

# stress_run NAME FILE=VALUE...: set the files, run, print the result.
stress_run() {
	echo "@run $1"
	shift
	for setting in "$@"; do
		echo "${setting#*=}" >$D/${setting%%=*} || echo "@refused $setting"
	done
	echo 1 >$D/run
	echo "@status $?"
	cat $D/result
	echo "@end"
}
