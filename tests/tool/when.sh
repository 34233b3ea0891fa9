#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace run --when, attach --when: only what is around something, as logs of their own.  The program
# (victim.c, "late") has rounds of a millisecond, of which one is late by 60 ms.

. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999
VICTIM=$PXT_BUILD/tests/victim
need_preload "$VICTIM"
unset PXTRACE_PRELOAD LD_PRELOAD

# recorded CONDITION OPTIONS...: what the program does while it is waited for that
recorded()
{
	condition=$1
	shift
	run 0 run --when "$condition" --keep 100ms -o run.ptl "$@" -- "$VICTIM" late
}
# logs COUNT: so many there are, and nothing else
logs()
{
	found=$(find . -name '*.ptl' | wc -l)
	[ "$found" -eq "$1" ] || fail "$found logs, not $1"
	[ -z "$(find . -name 'run.ptl*')" ] || fail 'something else was left behind'
}
# refused TEXT OPTIONS...: a wrong command line, and the program does not begin
refused()
{
	text=$1
	shift
	run 1 run "$@" -- touch begun
	err_has "$text"
	[ ! -e begun ] || fail 'the program began'
}

a_late_round_is_a_log_that_why_explains()
{
	recorded 'control late > 50ms'
	err_has 'control late > 50ms: control'
	for log in run.when-*.ptl; do
		sound "$log"
		"$pxtrace" why -t control "$log"
	done >answers
	grep -q '^control took .* ms for a round.*first_lock, which netsync had, taken in hold_up' answers ||
		fail 'another answer'
}

the_sentence_is_told_when_it_is_met()
{
	recorded 'wait first_lock > 50ms' --most 1
	# It may be met before it ends.
	grep -q '^control .*waited .* ms .*for first_lock, which netsync had, taken in hold_up' err ||
		fail 'another sentence'
	err_has 'the log of it: run.when-1.ptl'
}

what_never_ends_is_met_when_it_is_too_long()
{
	for condition in 'control late > 50ms' 'wait first_lock > 50ms'; do
		run 143 run --when "$condition" --for 700ms -o run.ptl -- "$VICTIM" stuck
		grep -q '^control has waited .* without end for first_lock, which netsync had' err ||
			fail "another sentence: $condition"
		err_has 'was met 1 time, 1 log written'
	done
}

a_log_has_nothing_from_before_or_after_its_time()
{
	recorded 'wait first_lock > 50ms' --most 1 --keep 20ms
	"$pxtrace" print --event 'posix_trace_call_*' run.when-1.ptl >lines
	# At most twice 20 ms before its end, and 20 after
	awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR > 0 && last - first < 0.1) }' lines ||
		fail 'it is of another length'
	"$pxtrace" print run.when-1.ptl | head -n 1 | awk '{ exit !($1 < 0.07) }' ||
		fail 'its times do not count from its begin'
}

where_it_is_never_met_nothing_is_written()
{
	recorded 'control late > 5s'
	logs 0
	err_has "'control late > 5s' was met 0 times, 0 logs written"
	if grep -q 'was called' err; then fail 'there is such a thread'; fi
}

a_name_that_nothing_has_is_told_at_the_end()
{
	recorded 'contrl late > 1ms'
	err_has 'no thread was called "contrl"'
	recorded 'event mark'
	err_has 'no type of events was called "mark"'
	recorded 'wait frist_lock > 1ms'
	err_has 'no lock was called "frist_lock"'
}

where_memory_is_full_a_log_has_less_before()
{
	run 0 run --when 'wait first_lock > 50ms' --keep 1s --most 1 --size 64K -o run.ptl -- "$VICTIM" often late
	[ "$(wc -c <run.when-1.ptl)" -lt 2000000 ] || fail 'more is in it than there was room for'
	sound run.when-1.ptl
}

a_full_disk_is_told_and_leaves_nothing_behind()
{
	mkdir small
	unshare -m sh -c 'mount -t tmpfs -o size=12k none small && umount small' 2>/dev/null || {
		echo 'no file system can be mounted: skipped'
		exit 77
	}
	export pxtrace VICTIM
	unshare -m sh -c 'mount -t tmpfs -o size=12k none small && cd small &&
		"$pxtrace" run --when "control late > 50ms" --keep 100ms -o run.ptl -- "$VICTIM" late;
		echo $? >../status; ls >../left' >out 2>err
	[ "$(cat status)" -eq 0 ] || fail 'the program had another status'
	err_has 'No space left on device'
	err_has 'more could not be written; the program itself was not touched'
	[ ! -s left ] || fail "left behind: $(cat left)"
}

there_are_no_more_logs_than_most_allows()
{
	recorded 'event posix_trace_call_exit.call == 6' --most 2 --keep 5ms
	logs 2
	err_has '2 logs written (--most allows no more)'
}

no_log_is_overwritten()
{
	echo mine >run.when-1.ptl
	recorded 'wait first_lock > 50ms' --most 1
	[ "$(cat run.when-1.ptl)" = mine ] || fail 'it was overwritten'
	sound run.when-2.ptl
}

a_wait_is_met_by_its_lock_or_by_its_call()
{
	recorded 'wait second_lock > 50ms'
	err_has 'met 0 times'
	recorded 'wait first_lock > 50s'
	err_has 'met 0 times'
	if grep -q 'was called' err; then fail 'there is such a lock'; fi
	recorded 'wait sleep > 50ms' --most 1
	err_has 'wait sleep > 50ms: netsync'
	grep -q '^netsync slept for [6-9].* ms in hold_up' err || fail 'another time is explained'
	run 0 run --when 'wait cond > 1ns' --most 1 -o cond.ptl -- "$VICTIM" contend
	err_has 'wait cond > 1ns: victim'
}

late_wakeups_want_the_scheduler()
{
	run 4 run --only locks --when 'wakeup > 1ms' -o run.ptl -- touch begun
	err_has '"wakeup" wants the scheduler'
	[ ! -e begun ] || fail 'the program began'
	logs 0
}

a_condition_that_makes_no_sense_is_refused_before_the_program_begins()
{
	refused '"soon" is no duration' --when 'control late > soon'
	refused '"lat" says nothing that could be met' --when 'control lat > 20ms'
	err_has "'THREAD late > 20ms'"
	refused 'here "> T" is missing' --when 'control late'
	refused '"span" wants the name of one' --when 'span > 5ms'
	refused '"event" wants the name of a type' --when event
	refused 'a field, a number or a "text"' --when 'event job.number =='
	refused '--when stands twice' --when 'wait > 1s' --when 'wait > 2s'
	refused '--keep and --most are of --when' --keep 1s
	refused 'no --ring beside it' --ring --when 'wait > 1s'
}

# begin_owner: a program with a stream "machine", which does what it is told at 3
begin_owner()
{
	named=$PXT_BUILD/tests/named
	[ -x "$named" ] || { echo 'no attached processes in this build: skipped'; exit 77; }
	XDG_RUNTIME_DIR=$here
	export XDG_RUNTIME_DIR
	mkfifo words
	"$named" owner machine loop <words >said 2>&1 &
	exec 3>words
	until_has said ready || fail 'the program does not begin'
}
# meet COMMAND...: what attaches to it, and a log of what it said then
meet()
{
	"$@" attach machine --when 'event mark.number == 7' --keep 50ms --for 3600s >out 2>err &
	follower=$!
	looks() { ls -l /proc/$follower/fd 2>/dev/null | grep -q pxtrace-attach; }
	await looks || fail 'attach does not begin'
	echo 'mark 7' >&3
	until_there machine.when-1.ptl
	echo shutdown >&3
	exec 3>&-
	wait "$follower" || fail 'attach failed'
	err_has 'the log of it: machine.when-1.ptl'
	"$pxtrace" print --event mark machine.when-1.ptl | grep -q 'number=7' || fail 'no mark in it'
	wait
}

a_stream_of_a_running_program_is_waited_at_too()
{
	begin_owner
	meet "$pxtrace"
}

a_civil_clock_that_was_set_since_the_stream_began_does_not_put_the_log_off()
{
	need cc
	cat >hour.c <<-'END'
	#define _GNU_SOURCE
	#include <sys/syscall.h>
	#include <time.h>
	#include <unistd.h>
	int clock_gettime(clockid_t clock, struct timespec *now)
	{
		int result = (int)syscall(SYS_clock_gettime, (long)clock, now);

		now->tv_sec -= clock == CLOCK_REALTIME ? 3600 : 0;
		return result;
	}
	END
	cc -shared -fPIC hour.c -o hour.so || fail 'cc'
	begin_owner
	meet env "LD_PRELOAD=$here/hour.so" "$pxtrace"
}

"$case"
