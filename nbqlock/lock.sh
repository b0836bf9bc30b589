#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Writes the header X.h of each lock nbq_X from lock.h.in; with --check, says which of them
# differ from what it would write; with --list, prints X of each.
set -eu
cd "$(dirname "$0")"

# Lines between "@if WORD" and "@end", or "@else", are for the lock of that name. "@align" goes up to
# the column behind the parenthesis of the line before.
one() {
	awk -v lock="$1" '
		/^@if /		{ depth++; keep[depth] = ($2 == lock); next }
		/^@else$/	{ keep[depth] = !keep[depth]; next }
		/^@end$/	{ depth--; next }
		{ for (i = 1; i <= depth; i++) if (!keep[i]) next; print }
	' lock.h.in | sed -e "s/@lock@/$1/g" -e "s/@LOCK@/$(echo "$1" | tr a-z A-Z)/g" |
	awk '
		sub(/^@align /, "")	{
			for (column = index(before, "("); column >= 8; column -= 8)
				indent = indent "\t"
			while (column--) indent = indent " "
			$0 = indent $0
			indent = ""
		}
		{ before = $0; print }
	'
}

case ${1-} in
"" | --check | --list) ;;
*)	echo "usage: nbqlock/lock.sh [--check | --list]" >&2; exit 2 ;;
esac
for lock in $(sed -n 's/^STRESS_[A-Z]*.\w*, \(\w*\),.*/\1/p' stress/lock_types_list.h); do
	case ${1-} in
	--list)	echo $lock ;;
	--check) one $lock | diff -u $lock.h - || { status=1; echo "run nbqlock/lock.sh" >&2; } ;;
	*)	one $lock >$lock.h ;;
	esac
done
exit ${status-0}
