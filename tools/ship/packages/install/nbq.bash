# SPDX-License-Identifier: GPL-2.0
# Completion of nbq for bash. Verbs and options are those that --help has.

_nbq_verbs() {
	"$1" --help 2>/dev/null | sed -n 's/^    \([a-z]\{2,\}\)  .*/\1/p'
}

_nbq_options() {
	"$@" --help 2>/dev/null | grep -oE -e '(^|[[:space:],[])--[a-z][a-z-]*' | grep -o -e '--.*' |
		sort -u
}

# The lock types of the loaded driver, as far as they can be read.
_nbq_locks() {
	echo all
	sed 's/:.*//' /sys/kernel/debug/nbqlock_stress/locks 2>/dev/null
}

_nbq() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
	if ((COMP_CWORD == 1)); then
		words="$(_nbq_verbs "$1") --help --version"
	elif [[ $before == --locks ]]; then
		words=$(_nbq_locks)
	elif [[ $word == -* ]]; then
		words=$(_nbq_options "$1" "${COMP_WORDS[1]}")
	fi
	# Without an answer bash completes names of files.
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _nbq nbq
