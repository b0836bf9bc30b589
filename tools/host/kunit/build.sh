# SPDX-License-Identifier: GPL-2.0
# For ../programs/run: the suites of kunit/ as a host program, with all of nbqlock/ and the stress
# driver's lock types.

# What suites have that do not run here: threads, CPUs that go offline, lockdep.
not_here='<linux/kthread\.h>|<linux/device\.h>|CONFIG_PROVE_LOCKING'

# In the order in which they run in kernels; what they share is not among them.
suites_here() {
	for object in $(sed -n 's/^nbqlock_kunit-.* [:+]= //p' "$kunit/Kbuild"); do
		case $object in
		*_test.o) grep -Eq "$not_here" "$kunit/${object%.o}.c" || echo "${object%.o}" ;;
		*) echo "${object%.o}" ;;
		esac
	done
}

build_suites() {
	kunit=$(cd "$here/../../../kunit" && pwd)
	source=$objects/source
	mkdir -p "$source/nbqlock" "$source/kunit"
	# A suite includes "../nbqlock": that of SRC.
	ln -s "$(cd "$SRC" && pwd)"/nbqlock/* "$source/nbqlock"
	cp "$kunit"/*.[ch] "$source/kunit"
	for header in $(sed -n 's,^#include <\(\(linux\|asm\)/.*\.h\)>.*,\1,p' "$source"/*/*.[ch] \
			"$source"/nbqlock/stress/ops*.[ch] "$source"/nbqlock/stress/driver.h); do
		mkdir -p "$objects/empty/${header%/*}" && : >"$objects/empty/$header"
	done

	# Not optimised: to compile takes longest, and a sanitizer sees every access.
	options="$options -O0 -include kernel.h -DCONFIG_NBQLOCK_KUNIT_TEST=1"
	# As kernels are compiled. To ignore a result is an error, as for users (nbqlock.mk).
	options="$options -Wno-missing-field-initializers -Werror=unused-result"
	options="$options -DSHIM_COUNTS_STEPS -DSHIM_CPUS=4U"
	includes="-I$here/../kunit/shim -I$here/../shim -I$source -idirafter $objects/empty"
	linked=
	for suite in $(suites_here); do
		compile "$source/kunit/$suite.c" || return 1
		linked="$linked $objects/$suite.o"
	done
	for file in "$source"/nbqlock/*.c "$source"/nbqlock/stress/ops*.c \
		"$source"/nbqlock/stress/papers/*.c "$source"/nbqlock/stress/histogram.c \
		"$source"/nbqlock/stress/statistics.c \
		"$here"/../kunit/*.c "$here"/../shim/host.c; do
		compile "$file" || return 1
		linked="$linked $objects/$(basename "${file%.c}").o"
	done
	# What host.c has instead of files that no other program has gives way to these.
	objcopy --weaken "$objects/host.o" &&
		"$compiler" $flags -o "$O/$name" $linked -lpthread
}
