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

functions_that_called_a_point_are_shown_by_name()
{
	case $(uname -m) in x86_64 | aarch64) ;; *) echo 'not on this machine: skipped'; exit 77 ;; esac
	PXTRACE_OUT=run.ptl "$untraced" stack >out || { echo 'built without it: skipped'; exit 77; }
	run 0 print --event refilled run.ptl
	out_has 'bytes=64  caller1=0x'
	run 0 print --address --event refilled --limit 1 run.ptl
	grep -q 'refilled *refill.*bytes=64$' out || fail "not the point's function: $(cat out)"
	[ "$(sed -n 's/ *called by \([a-z_]*\).*/\1/p' out | tr '\n' ' ')" = 'serve record_stack ' ] ||
		fail "others called: $(cat out)"
	run 0 print --json --address --event refilled --limit 1 run.ptl
	out_has '"callers":["serve'
	run 0 export csv --event refilled run.ptl
	out_has '""caller2"":'
	run 0 export folded --stacks run.ptl
	grep -q ';record_stack;serve[^;]*;refill;refilled 2$' out || fail "another stack: $(cat out)"
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

# LPT-96
a_log_may_go_from_file_to_file()
{
	PXTRACE_OUT=run.ptl,rotate=64K,files=2 "$untraced" many >out 2>err || fail 'it fails'
	[ ! -s err ] || fail "a word on the error output: $(cat err)"
	[ "$(ls run.ptl | wc -l)" -eq 2 ] || fail "files: $(ls run.ptl)"
	run 0 check run.ptl
	run 0 print run.ptl
	out_has 'step 2 of two'
	[ ! -e run.ptl.box ] || fail 'the black box is left'
	# The next log, and a program that closes what it does not know.
	PXTRACE_OUT=run.ptl,rotate=64K "$untraced" close true >out 2>err || fail 'it fails'
	[ -d run.ptl.~1~ ] || fail "the older log is not aside: $(ls)"
	steps run.ptl 1 2
	PXTRACE_OUT=other.ptl,rotate=1K "$untraced" >out 2>err || fail 'it fails'
	err_has 'a number of bytes is wanted, 65536 at least'
	[ ! -e other.ptl ] || fail 'a log after all'
	for wrong in 0s 1m h 99999999999d; do
		PXTRACE_OUT=other.ptl,rotate=$wrong "$untraced" >out 2>err || fail 'it fails'
		err_has 'or a time, as 10min, 1h'
	done
	PXTRACE_OUT=old.ptl,rotate=1h,rotate=64K,files=2 "$untraced" many >out 2>err || fail 'it fails'
	[ "$(ls old.ptl | wc -l)" -eq 2 ] || fail "files: $(ls old.ptl)"
	PXTRACE_OUT=young.ptl,rotate=1h "$untraced" many >out 2>err || fail 'it fails'
	[ "$(ls young.ptl)" = young.ptl.0001 ] || fail "files: $(ls young.ptl)"
	PXTRACE_OUT=folder.ptl/,rotate=64K "$untraced" run "$untraced" >out 2>err || fail 'it fails'
	[ ! -s err ] || fail "a word on the error output: $(cat err)"
	[ "$(ls folder.ptl)" = folder.ptl.0001 ] || fail "files: $(ls folder.ptl)"
	[ "$(ls -d folder.ptl.* | wc -l)" -eq 1 ] || fail "the child's: $(ls -d folder.ptl*)"
	ln -s run.ptl link.ptl
	PXTRACE_OUT=link.ptl,rotate=64K "$untraced" >out 2>err || fail 'it fails'
	[ -L link.ptl ] && [ -s err ] || fail 'a link was followed'
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

# only NAME...: these are all the files of run.ptl
only() { [ "$(echo run.ptl*)" = "$*" ] || fail "files: $(echo run.ptl*)"; }
# steps LOG N...: its steps are these
steps()
{
	run 0 print --event step "$1"
	shift
	[ "$(sed -n 's/.*step \([0-9]*\) of .*/\1/p' out | tr '\n' ' ')" = "$* " ] || fail "not steps $*"
}
# recovered FILE N...: the same of what a process left that could not end its log
recovered()
{
	run 0 recover -o recovered.ptl "$1"
	shift
	steps recovered.ptl "$@"
}

a_child_that_executes_a_program_leaves_no_log()
{
	PXTRACE_OUT=run.ptl "$untraced" exec true >out 2>err || fail 'it fails'
	[ ! -s err ] || fail "$(cat err)"
	only run.ptl
}

a_childs_first_event_may_be_in_a_handler()
{
	PXTRACE_OUT=run.ptl "$untraced" handler >out || fail 'it fails'
	set -- run.ptl.*
	steps "$1" 10
}

what_a_child_recorded_is_left_however_it_ends()
{
	PXTRACE_OUT=run.ptl "$untraced" killed >out || fail 'it fails'
	[ "$(ls run.ptl.*[0-9] | wc -l)" = 3 ] || fail "not three children's logs: $(echo run.ptl*)"
	[ "$(ls run.ptl.*.box | wc -l)" = 2 ] || fail "not two black boxes: $(echo run.ptl*)"
	for log in run.ptl.*[0-9]; do
		if [ -e "$log.box" ]; then
			recovered "$log.box" 9
		else
			run 0 print "$log"
			out_has 'the child'
			grep -q SIGTERM err || fail "no word of the signal: $(cat err)"
		fi
	done
}

a_daemon_goes_on_in_a_log_of_its_own()
{
	PXTRACE_OUT=run.ptl "$untraced" daemon >out 2>err || fail 'it fails'
	recovered run.ptl.box 1
	ended() { set -- run.ptl.*[0-9]; [ -e "$1" ] && [ ! -e "$1.box" ]; }
	await ended || fail 'the daemon does not end'
	set -- run.ptl.*[0-9]
	[ ! -s err ] || fail "$(cat err)"
	steps "$1" 3 2
}

a_killed_program_leaves_what_it_recorded()
{
	PXTRACE_OUT=run.ptl "$untraced" kill >out 2>err && fail 'it lives'
	only run.ptl run.ptl.box
	recovered run.ptl.box 1
	# The way to it is told where the log's own end is missing.
	run 2 print run.ptl
	err_has 'pxtrace recover run.ptl.box'
	run 0 recover -o begin.ptl run.ptl
	err_has 'pxtrace recover run.ptl.box'
	rm -f run.ptl*
	PXTRACE_OUT=run.ptl,box=no "$untraced" kill >out 2>err && fail 'it lives'
	only run.ptl
}

no_log_of_before_is_written_over()
{
	PXTRACE_OUT=run.ptl "$untraced" again >out || fail 'it fails'
	only run.ptl 'run.ptl.~1~' 'run.ptl.~1~.box'
	recovered 'run.ptl.~1~.box' 1
	steps run.ptl 1 2
	cp run.ptl first
	PXTRACE_OUT=run.ptl "$untraced" >out || fail 'it fails'
	cmp first 'run.ptl.~2~' || fail 'another log than before'
	steps run.ptl 1 2
}

size_policy_lanes_and_mode_are_chosen()
{
	PXTRACE_OUT=run.ptl,size=128K,policy=loop,lanes=2,mode=600 "$untraced" >out 2>err || fail 'it fails'
	[ ! -s err ] || fail "$(cat err)"
	only run.ptl
	[ "$(stat -c %a run.ptl)" = 600 ] || fail 'another mode'
	run 0 stat run.ptl
	out_has 'LOOP, 131072 bytes'
	steps run.ptl 1 2
	PXTRACE_OUT=room.ptl,lanes=2 "$untraced" >out || fail 'it fails'
	run 0 stat room.ptl
	out_has 'FLUSH, 4194304 bytes'
	PXTRACE_OUT=lanes.ptl,lanes=2 "$untraced" kill >out && fail 'it lives'
	run 0 recover --list lanes.ptl.box
	grep -q ' 0  *2  *\/' out || fail 'not two lanes'
}

a_value_that_makes_no_sense_is_named_and_the_program_runs()
{
	for option in size=64Q size= policy=lop lanes=3 lanes=0 mode=9 mode=400 box=yes colour=red; do
		PXTRACE_OUT="run.ptl,$option" "$untraced" >out 2>err || fail 'the program failed'
		[ "$(cat out)" = begun ] || fail 'another output'
		[ "$(wc -l <err)" = 1 ] && grep -q "^libptrace: PXTRACE_OUT=run.ptl,$option: $option: .* wanted\|only" err ||
			fail "$option: $(cat err)"
		[ ! -e run.ptl ] || fail 'a log'
	done
}

a_link_of_another_user_is_not_followed()
{
	[ "$(id -u)" = 0 ] || { echo 'only root can make such links: skipped'; exit 77; }
	echo precious >victim
	ln -s victim run.ptl
	chown -h 65534 run.ptl
	PXTRACE_OUT=run.ptl "$untraced" >out 2>err || fail 'the program failed'
	[ "$(cat victim)" = precious ] || fail 'the file was overwritten'
	grep -q 'PXTRACE_OUT=run.ptl: a symbolic link of another user' err || fail "$(cat err)"
	# Nor is anything of theirs, as a pipe that they read, or a file in a folder where all may make some.
	rm -f run.ptl
	mkfifo run.ptl
	chown 65534 run.ptl
	PXTRACE_OUT=run.ptl timeout 120 "$untraced" >out 2>err || fail 'the program failed'
	grep -q 'PXTRACE_OUT=run.ptl: Operation not permitted' err || fail "$(cat err)"
	# The user's own leads where they want it, and is not written over either.
	rm -f run.ptl
	ln -s elsewhere run.ptl
	: >elsewhere
	PXTRACE_OUT=run.ptl "$untraced" >out 2>err || fail 'the program failed'
	steps elsewhere 1 2
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

a_program_that_closes_all_descriptors_has_its_whole_log()
{
	PXTRACE_OUT=run.ptl "$untraced" close >out 2>err || fail 'the program failed'
	[ "$(cat out)" = begun ] || fail 'another output'
	[ ! -s err ] || fail "$(cat err)"
	only run.ptl
	steps run.ptl 1 2
	run 0 check run.ptl
}

a_log_that_was_closed_and_moved_is_told_at_the_end_and_nothing_else_is_written()
{
	PXTRACE_OUT=run.ptl,size=64K "$untraced" close run.ptl >out 2>err || fail 'the program failed'
	[ "$(cat err)" = 'libptrace: PXTRACE_OUT=run.ptl,size=64K: the log is not complete: the program closed it, and the file is not there any more' ] ||
		fail "$(cat err)"
	[ ! -e run.ptl ] || fail 'a new file'
	"$pxtrace" recover -o recovered.ptl run.ptl.box >out 2>err
	err_has 'that the program had counted as lost itself'
}

# The pipe has 16 pages.
a_pipe_that_nobody_reads_holds_no_program_up_and_is_told()
{
	mkfifo pipe
	exec 5<>pipe
	timeout 5 head -c 65536 /dev/zero >&5 || : fewer
	PXTRACE_OUT=pipe,size=64K timeout 60 "$untraced" many >out 2>err || fail "the program failed: $?"
	[ "$(cat err)" = 'libptrace: PXTRACE_OUT=pipe,size=64K: the pipe is full, and nobody reads it' ] || fail "$(cat err)"
	timeout 5 head -c 10000 <&5 >begun || : fewer
	PXTRACE_OUT=pipe,size=64K timeout 60 "$untraced" many >out 2>err || fail "the program failed: $?"
	[ "$(cat err)" = 'libptrace: PXTRACE_OUT=pipe,size=64K: the log is not complete: its end could not be written' ] ||
		fail "$(cat err)"
}

nothing_is_said_into_a_file_that_the_program_has_in_place_of_its_error_output()
{
	PXTRACE_OUT=run.ptl "$untraced" own run.ptl >out 2>err || fail 'the program failed'
	[ ! -s own ] || fail "$(cat own)"
	mv elsewhere run.ptl
	PXTRACE_OUT=other.ptl "$untraced" own other.ptl >out 2>&- || fail 'the program without an error output failed'
	[ ! -s own ] || fail "$(cat own)"
}

the_program_gets_the_descriptors_that_it_would_get_without_it()
{
	"$untraced" lowest >plain || fail 'it fails by itself'
	PXTRACE_OUT=run.ptl "$untraced" lowest >traced || fail 'it fails when it is traced'
	cmp plain traced || fail "descriptor $(tail -n 1 traced), not $(tail -n 1 plain)"
}

"$case"
