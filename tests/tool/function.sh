#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that were compiled with -finstrument-functions. (QNX-54)

. "$(dirname "$0")/common.sh"
need cc
archive=$PXT_BUILD/sysevents/libptrace-function.a
[ -e "$archive" ] && [ -e "$PXT_BUILD/libptrace.so.0" ] || { echo 'no library for that in this build: skipped'; exit 77; }
grep -q 'libc\.so\.6' "$PXT_BUILD/libptrace.so.0" || { echo 'the library is for another C library than cc: skipped'; exit 77; }

build()
{
	cat >work.c <<-'END'
	static int inner(int n) { return n + 1; }
	int outer(int n) { return inner(n) + inner(n); }
	int main(void) { return outer(1) != 4; }
	END
	cc -O0 -g -finstrument-functions work.c "$archive" "$PXT_BUILD/libptrace.so.0" \
		-Wl,-rpath,"$PXT_BUILD" -o work || fail 'cannot be linked'
}

functions_are_told_as_they_begin_and_end()
{
	build
	PXTRACE_OUT=work.ptl ./work || fail 'another result'
	run 0 print --event 'posix_trace_function_*' work.ptl
	lines 8
	[ "$(grep -c function_enter out)" -eq 4 ] || fail 'not four begins'
	run 0 stat work.ptl
	out_has 'posix_trace_function'
}

where_nobody_traces_the_program_is_as_it_was()
{
	build
	./work || fail 'another result'
}

"$case"
