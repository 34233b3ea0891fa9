#!/bin/sh
# SPDX-License-Identifier: MIT
#
# PXTRACE_OUT: a log of a program that creates no stream.
. "$(dirname "$0")/common.sh"

untraced=$PXT_BUILD/tests/untraced
[ -x "$untraced" ] || { echo 'the library is built without it: skipped'; exit 77; }

a_program_that_creates_no_stream_is_recorded_where_the_environment_asks()
{
	"$untraced" >plain || fail 'it fails by itself'
	[ ! -e run.ptl ] || fail 'a log without being asked'
	PXTRACE_OUT=run.ptl "$untraced" >traced 2>err || fail 'it fails when it is traced'
	cmp plain traced || fail 'another output'
	[ ! -s err ] || fail "a word on the error output: $(cat err)"
	run 0 print run.ptl
	out_has 'step 1 of two'
	out_has 'step 2 of two'
	out_has 'posix_trace_stop'
	run 0 check run.ptl
}

who_records_first_has_a_name_though_it_has_ended()
{
	PXTRACE_OUT=run.ptl "$untraced" thread >out || fail 'it fails'
	run 0 print run.ptl
	grep -q '  early/[0-9]*  *early  *number=1' out || fail "$(cat out)"
	grep -q '  untraced/[0-9]*  *step ' out || fail "$(cat out)"
}

a_program_that_is_interrupted_leaves_a_whole_log()
{
	for signal in INT TERM HUP QUIT; do
		# Not in the background, where a shell has SIGINT ignored.
		(ulimit -c 0 && PXTRACE_OUT=run.ptl timeout --preserve-status -s "$signal" 1 "$untraced" sleep >out)
		status=$?
		[ "$status" -gt 128 ] || fail "exit status $status"
		run 0 print run.ptl
		out_has 'step 1 of two'
		grep -q "SIG$signal" err || fail "no word of the signal: $(cat err)"
	done
}

programs_that_the_traced_one_starts_have_logs_of_their_own()
{
	PXTRACE_OUT=run.ptl "$untraced" run "$untraced" >out || fail 'it fails'
	set -- run.ptl.*
	[ $# = 1 ] && [ -f "$1" ] || fail "not one log more: $*"
	for log in run.ptl "$1"; do
		run 0 print "$log"
		out_has 'step 1 of two'
		out_has 'step 2 of two'
		run 0 check "$log"
	done
	rm -f run.ptl*
	PXTRACE_OUT=run-%p.ptl "$untraced" run "$untraced" >out || fail 'it fails'
	set -- run-[0-9]*.ptl
	[ $# = 2 ] || fail "not two logs: $*"
}

a_forked_child_is_not_in_the_log()
{
	PXTRACE_OUT=run.ptl "$untraced" fork >out || fail 'it fails'
	run 0 print run.ptl
	out_has 'step 2 of two'
	out_lacks 'the child'
}

a_log_that_cannot_be_written_is_told_and_the_program_runs()
{
	PXTRACE_OUT=none/run.ptl "$untraced" >out 2>err || fail 'the program failed'
	[ "$(cat err)" = 'libptrace: PXTRACE_OUT=none/run.ptl: No such file or directory' ] ||
		fail "$(cat err)"
	PXTRACE_OUT=. "$untraced" >out 2>err || fail 'the program failed'
	grep -q 'PXTRACE_OUT=.: Is a directory' err || fail "$(cat err)"
	PXTRACE_OUT=$(printf '%05000d' 0) "$untraced" >out 2>err || fail 'the program failed'
	grep -q 'ile *name too long' err || fail "$(cat err)"
	PXTRACE_OUT='' "$untraced" >out 2>err || fail 'the program failed'
	[ ! -s err ] || fail "$(cat err)"
}

a_program_with_more_rights_than_its_user_ignores_it()
{
	[ "$(id -u)" = 0 ] || { echo 'only root can make such programs: skipped'; exit 77; }
	[ -z "${ASAN_OPTIONS-}" ] || { echo 'a sanitizer cannot look into such a process: skipped'; exit 77; }
	chmod 755 "$here"
	cp "$(command -v id)" other
	chown 65534 other
	chmod 4755 other
	[ "$(./other -u)" = 65534 ] || { echo 'no such programs in this folder: skipped'; exit 77; }
	rm -f other
	cp "$untraced" other
	chown 65534 other
	chmod 4755 other
	PXTRACE_OUT="$here/run.ptl" ./other >out 2>err
	[ ! -e run.ptl ] || { rm -f run.ptl; fail 'a set-user-id program wrote where it was told'; }
	[ ! -s err ] || fail "$(cat err)"
}

a_program_that_closes_all_descriptors_loses_its_log_and_nothing_else()
{
	PXTRACE_OUT=run.ptl "$untraced" close >out 2>err || fail 'the program failed'
	[ "$(cat out)" = begun ] || fail 'another output'
}

the_program_gets_the_descriptors_that_it_would_get_without_it()
{
	"$untraced" lowest >plain || fail 'it fails by itself'
	PXTRACE_OUT=run.ptl "$untraced" lowest >traced || fail 'it fails when it is traced'
	cmp plain traced || fail "descriptor $(tail -n 1 traced), not $(tail -n 1 plain)"
}

"$case"
