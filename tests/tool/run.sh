#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace run: programs that nobody changed (victim.c), recorded and explained. (LPT-30, QNX-51)

. "$(dirname "$0")/common.sh"
VICTIM=$PXT_BUILD/tests/victim
export VICTIM
[ -x "$VICTIM" ] && [ -e "$PXT_BUILD/sysevents/libptrace-preload.so" ] || {
	echo 'no library that is loaded before others in this build: skipped'
	exit 77
}
unset PXTRACE_PRELOAD LD_PRELOAD

# traced STATUS OPTIONS... -- PROGRAM...: the log is run.ptl
traced()
{
	wanted=$1
	shift
	run "$wanted" run -o run.ptl "$@"
}
# count TYPE: events of that type in the log
count() { "$pxtrace" print --event "posix_trace_$1" run.ptl | wc -l; }
# has COUNT TYPE
has() { [ "$(count "$2")" -eq "$1" ] || fail "$(count "$2") events $2, not $1"; }
sound() { "$pxtrace" check run.ptl >out 2>err || fail 'the log is not sound'; }

# LPT-30, LPT-24
a_program_that_locks_five_times_has_five_locks_and_five_unlocks()
{
	traced 0 -q --only mutex -- "$VICTIM" locks
	has 5 mutex_lock
	has 5 mutex_unlock
	has 0 mutex_wait
	has 0 call_enter
	sound
}

output_and_exit_status_are_the_programs()
{
	traced 7 -q -- "$VICTIM" print exit=7
	[ "$(cat out)" = out ] || fail 'other output'
	[ "$(cat err)" = err ] || fail 'other messages'
	"$pxtrace" run -q -o run.ptl -- sh -c 'kill -9 $$' >out 2>err
	[ $? -eq 137 ] || fail 'not the status of a killed program'
}

# QNX-24, SHARK-37
a_wait_names_the_variable_the_holder_and_its_place()
{
	traced 0 -- "$VICTIM" contend
	err_has 'none lost'
	err_has "pxtrace why run.ptl"
	run 0 why run.ptl
	grep -q '^victim waited .* ms for first_lock, which holder had, taken in hold_long' out ||
		fail 'another answer'
	grep -q 'was in sleep' out || fail 'no word of what the holder did'
}

where_nobody_waits_contended_locks_are_not_recorded()
{
	traced 0 -q --only mutex --contended -- "$VICTIM" locks
	has 0 mutex_lock
	has 0 mutex_unlock
	traced 0 -q --only mutex --contended -- "$VICTIM" contend
	[ "$(count mutex_wait)" -ge 1 ] || fail 'no wait'
	"$pxtrace" print --event 'posix_trace_mutex_wait' run.ptl >out
	grep -q 'holder=0' out && fail 'a holder that the lock knows is not told'
	run 0 why run.ptl
	grep -q 'for first_lock, which holder had' out || fail 'another answer'
}

# QNX-24
forked_children_are_in_the_same_log()
{
	traced 0 -q -- "$VICTIM" fork
	has 1 mutex_lock
	pid=$("$pxtrace" print --event 'posix_trace_process' run.ptl | sed -n 's/.*what=fork  number=\([0-9]*\).*/\1/p')
	"$pxtrace" print --event 'posix_trace_mutex_lock' --pid "$pid" run.ptl >out
	lines 1
}

# QNX-24
programs_that_it_starts_are_in_the_same_log()
{
	traced 0 -q --only mutex -- "$VICTIM" child locks
	has 10 mutex_lock
}

hundreds_of_short_children_lose_nothing()
{
	traced 0 -q --only mutex -- "$VICTIM" forks
	has 200 mutex_lock
	sound
}

a_program_that_closes_all_descriptors_goes_on_being_traced()
{
	traced 0 -q --only mutex -- "$VICTIM" close locks
	has 5 mutex_lock
}

descriptors_have_the_numbers_that_they_would_have()
{
	"$VICTIM" descriptors >plain
	traced 0 -q -- "$VICTIM" descriptors
	cmp -s plain out || fail "other than $(cat plain)"
}

what_a_killed_program_recorded_is_in_the_log()
{
	traced 137 -q --only mutex -- "$VICTIM" locks kill
	has 5 mutex_lock
	sound
}

a_program_that_forgets_its_environment_is_traced_itself()
{
	traced 0 -q --only mutex -- "$VICTIM" forget locks
	has 5 mutex_lock
}

a_signal_to_the_command_reaches_the_program()
{
	"$pxtrace" run -q -o run.ptl -- "$VICTIM" await >out 2>err &
	command=$!
	for turn in $(seq 250); do
		grep -q waiting out && break
		sleep 0.02
	done
	kill -USR1 $command
	wait $command
	[ $? -eq 9 ] || fail 'another status than the handler gave'
	out_has 'got it'
	sound
}

# QNX-51
a_time_limit_ends_the_program()
{
	traced 9 -q --for 300ms -- "$VICTIM" await
	out_has 'got it'
	sound
}

# QNX-51
a_ring_keeps_the_newest_within_its_size()
{
	traced 0 -q --only mutex,threads --size 64K --ring -- "$VICTIM" forks
	[ "$(stat -c %s run.ptl)" -le 100000 ] || fail 'larger than asked for'
	"$pxtrace" print run.ptl >out 2>err || fail 'cannot be read'
	grep -q posix_trace_mutex_lock out || fail 'no events'
}

a_program_that_is_not_there_has_the_status_of_a_shell()
{
	run 127 run -o run.ptl -- ./nothing
	err_has './nothing: No such file'
	run 127 run -o run.ptl -- no-such-program
	err_has 'no program of that name in PATH'
	echo text >text
	run 126 run -o run.ptl -- ./text
	err_has 'is no program that may be started'
	[ ! -e run.ptl ] || fail 'a log of nothing'
}

a_static_program_runs_untraced_with_a_sentence()
{
	need cc
	echo 'int main(void) { return 5; }' >static.c
	cc -static static.c -o static 2>/dev/null || { echo 'no static C library: skipped'; exit 77; }
	run 5 run -o run.ptl -- ./static
	err_has 'is linked statically: it runs without being traced'
}

a_script_is_run_by_its_interpreter()
{
	printf '#!/bin/sh\n"$VICTIM" locks\nexit 4\n' >script
	chmod +x script
	traced 4 -q --only mutex -- ./script
	has 5 mutex_lock
}

an_unknown_group_is_told_with_the_known_ones()
{
	run 1 run --only mutex,lokcs -- "$VICTIM"
	err_has 'knows no group "lokcs"'
	err_has 'mutex, cond, sync'
	run 1 run
	err_has 'which program?'
	run 1 run --for soon -- "$VICTIM"
	err_has '--for wants a duration'
}

a_log_that_cannot_be_written_leaves_the_program_alone()
{
	run 4 run -o /nowhere/run.ptl -- "$VICTIM" print
	err_has '/nowhere'
}

"$case"
