#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: off.sh INCLUDE-FOLDER... -- COMPILER...
#
# The object of a file whose trace points are compiled out is, byte for byte, that of a file which never
# had any. (SHARK-03, QNX-40)
flags=
while [ "$1" != -- ]; do
	flags="$flags -I$1"
	shift
done
shift
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
failed=0

cat >work.c <<'END'
#if TRACED
#include <trace_np.h>
POSIX_TRACE_DEFINE_NP(late, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(tick);
POSIX_TRACE_DEFINE_TEXT_NP(said, "%u of %s", u32, a, string, b);
POSIX_TRACE_DEFINE_JOB_NP(pump);
#define TRACE(point) point
#else
#define TRACE(point)
#endif
int work(int n);
int asked(void);
int work(int n)
{
	TRACE(posix_trace_point_np(late, (unsigned)n, asked());)
	TRACE(posix_trace_job_begin_np(pump, (unsigned)n);)
	for (int i = 0; i < n; i++) {
		TRACE(posix_trace_point_np(tick);)
		n += i;
	}
	TRACE(posix_trace_point_np(said, (unsigned)n, "x");)
	TRACE(posix_trace_job_end_np(pump, (unsigned)n);)
	return n;
}
END
# Each type can be left out by a macro of its own; without an optimizer its definition stays, as data.
sed "/pump/d" work.c >types.c

# compile COMPILER...: source $file, into $object
compile()
{
	# shellcheck disable=SC2086
	"$@" -std=c11 $flags -c "$file" -o "$object" || failed=1
}

for level in -O0 -Os -O2; do
	for file in work.c types.c; do
		off=-DPOSIX_TRACE_OFF_NP
		[ $file = work.c ] || off='-DPOSIX_TRACE_WITHOUT_late_NP -DPOSIX_TRACE_WITHOUT_tick_NP -DPOSIX_TRACE_WITHOUT_said_NP'
		[ "$file $level" != 'types.c -O0' ] || continue
		object=never.o
		compile "$@" $level -DTRACED=0
		object=off.o
		# shellcheck disable=SC2086
		compile "$@" $level -DTRACED=1 $off
		object=on.o
		compile "$@" $level -DTRACED=1
		cmp never.o off.o || { echo "$file $level: another object"; failed=1; }
		! cmp -s never.o on.o || { echo "$file $level: nothing is traced at all"; failed=1; }
	done
done
echo "off: $failed failed"
exit "$failed"
