#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace ps, start, stop, clear, flush, filter, attach, snapshot against programs that trace (named.c).
# (LPT-31, LPT-32)

. "$(dirname "$0")/common.sh"
named=$PXT_BUILD/tests/named
"$named" 2>/dev/null
[ $? -eq 2 ] || { echo 'no attached processes in this build, or not for this machine: skipped'; exit 77; }
name=$case.$$
[ ${#name} -le 63 ] || name=$(printf '%s' "$case" | tail -c 40).$$
place=/dev/shm/pxtrace-$(id -u)/$name
trap 'for pid in $owner $producer; do kill -9 $pid 2>/dev/null; done; rm -rf "$here" "$place"' EXIT
owner= producer=

# own KIND [LOG]: a program with a stream; words for it go to descriptor 8, what it says is in ./said
own()
{
	rm -f line8
	mkfifo line8
	: >said
	"$named" owner "$name" "$@" <line8 >said 2>owner_err &
	owner=$!
	exec 8>line8
	until_has said ready || { cat owner_err; fail 'the program does not begin'; }
}
visit()
{
	mkfifo line9
	: >producer_said
	"$named" producer "$name" <line9 >producer_said 2>producer_err 8>&- &
	producer=$!
	exec 9>line9
	until_has producer_said ready || { cat producer_err; fail 'the producer does not begin'; }
}
# of KEY: a value of ps --json
of() { "$pxtrace" ps --json "$name" | sed "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/"; }
# numbers LOG TYPE: of its events, a line each
numbers() { "$pxtrace" print --event "$2" --format '{field:number}' "$1" 2>/dev/null | grep '^[0-9]'; }
# is KEY VALUE, above KEY NUMBER: for await
is() { [ "$(of "$1")" = "$2" ]; }
above() { [ "$(of "$1")" -gt "$2" ]; }
# Another test's program may be stopped, and give no answer.
ps_of_all() { "$pxtrace" ps "$@" >out 2>err || [ $? -eq 2 ] || fail "exit status $?"; }
# A looker has what it shows from.
looks() { ls -l /proc/$looker/fd 2>/dev/null | grep -q pxtrace-attach; }

ps_shows_a_running_program()
{
	own loop
	run 0 ps "$name"
	COLUMNS=60 "$pxtrace" ps "$name" >narrow || fail 'exit status'
	grep -q '^NAME *PID  STATE     FILL          LOST$' narrow || fail "$(cat narrow)"
	lines 2
	grep -qE "^$name +$owner  running +loop +no +[0-9]+% +[0-9]+ +[0-9]+ +0  .*/named\$" out || fail row
	ps_of_all
	out_has "$name"
	[ "$(of trace)" = machine ] || fail 'the trace has another name'
	[ "$(of pid)" = $owner ] || fail 'another process'
}

ps_shows_that_a_stream_is_full()
{
	own full
	await is state full || fail 'it does not become full'
	run 0 ps "$name"
	# One lane being full is enough, and the program's threads had one or two of several.
	grep -qE " full +until-full +no +([2-9][0-9]|100)% " out || fail row
}

stop_and_start_take_effect()
{
	own loop
	run 0 stop "$name"
	[ "$(of state)" = stopped ] || fail 'it runs'
	written=$(of written)
	sleep 0.05
	[ "$(of written)" = "$written" ] || fail 'it was recorded nevertheless'
	run 0 start "$name"
	[ "$(of state)" = running ] || fail 'it does not run'
	await above written "$written" || fail 'nothing was recorded'
	run 2 stop "$name" "$name.not"
	err_has "there is no stream \"$name.not\""
	err_has 'there are: '
	[ "$(of state)" = stopped ] || fail 'the other one was not stopped'
}

filter_takes_patterns_and_lists_types()
{
	own loop
	run 0 filter "$name" list
	[ "$(head -n 1 out)" = step ] || fail 'the types of the program are not first'
	out_has other
	out_has posix_trace_start
	run 0 filter "$name" add 'st*' 'oth[a-f]r'
	run 0 filter "$name"
	out_has '2 types are left out'
	run 0 filter "$name" sub '*'
	run 0 filter "$name"
	out_has '0 types are left out'
	run 2 filter "$name" add other 'posix_*'
	err_has 'no type of the program is called like "posix_*"'
	run 0 filter "$name"
	out_has '0 types are left out'
	run 0 filter "$name" add 'posix_trace_st[ao]*'
	run 0 filter "$name"
	out_has '2 types are left out'
	run 0 filter "$name" none
	run 2 filter "$name" add 'posix_trace_no_*'
	err_has "no type that is not the program's is called like"
	run 1 filter "$name" list step
	run 1 filter "$name" adds step
	err_has 'add, sub, set, none or list?'
}

filter_decides_what_is_recorded()
{
	own loop
	run 0 filter "$name"
	out_has '0 types are left out'
	# It empties the filter as well.
	run 0 clear "$name"
	run 0 filter "$name" add step
	run 0 filter "$name"
	out_has '1 type is left out'
	ahead() { run 0 snapshot "$name" -o x.ptl; [ $(($(numbers x.ptl other | tail -1) - $(numbers x.ptl step | tail -1))) -gt 20 ]; }
	await ahead || fail 'the filtered type goes on, or the other one does not'
	run 0 clear "$name"
	run 0 filter "$name"
	out_has '0 types are left out'
	run 0 filter "$name" add step other
	run 0 filter "$name" sub step
	run 0 filter "$name"
	out_has '1 type is left out'
	run 0 filter "$name" set other mark
	run 0 filter "$name"
	out_has '2 types are left out'
	run 2 filter "$name" add step unheard_of
	err_has 'unheard_of'
	run 0 filter "$name"
	out_has '2 types are left out'
	run 0 filter "$name" none
	run 0 filter "$name"
	out_has '0 types are left out'
}

flush_writes_to_the_log()
{
	own loop live.ptl
	[ "$(of log)" = true ] || fail 'it has no log'
	await above held 50 || fail 'nothing to write'
	run 0 flush "$name"
	"$pxtrace" print --incomplete --event step live.ptl >out 2>err
	[ "$(wc -l <out)" -gt 10 ] || fail 'nothing was written'
}

attach_shows_events_at_once_and_ends_with_the_stream()
{
	own loop
	: >seen
	"$pxtrace" attach "$name" --event mark --format '{event} {field:number}' >seen 2>err &
	looker=$!
	await looks || fail 'it does not look'
	for i in 1 2 3; do
		echo "mark $i" >&8
		until_has seen "mark $i" || fail "event $i was not shown"
	done
	echo shutdown >&8
	wait $looker || fail "exit status $?"
	[ "$(grep -c mark seen)" = 3 ] || fail 'not three events'
	until_has said 'shut down' || fail 'the shutdown waits'
	run 2 start "$name"
	err_has 'there is no stream'
}

attach_that_is_stuck_takes_a_bounded_part_of_the_memory()
{
	own busy
	"$pxtrace" attach "$name" --event mark --format '{event} {field:number}' >seen 2>err &
	looker=$!
	await looks || fail 'it does not look'
	kill -STOP $looker
	memory=$(ls -l /proc/$looker/fd 2>/dev/null | sed -n 's/.* \([0-9]*\) -> .*pxtrace-attach.*/\1/p' | head -1)
	[ -n "$memory" ] || fail 'no such descriptor'
	takes() { used=$(($(stat -L -c '%b' /proc/$looker/fd/$memory) / 2048)); [ $used -ge "$1" ]; }
	await takes 10 || fail "only $used MiB were written: not a test"
	# 4 MiB each 50 ms would be 80 in that time.
	sleep 1
	takes 0
	kill -CONT $looker
	[ "$used" -le 40 ] || fail "$used MiB"
	# Some of these are lost, too.
	marks() { echo "mark 1" >&8; [ -s seen ]; }
	await marks || fail 'it does not go on'
	echo shutdown >&8
	wait $looker || fail "exit status $?"
	err_has 'EVENTS LOST'
}

record_from_the_start()
{
	own wide
	"$pxtrace" stop "$name" && "$pxtrace" clear "$name" || fail 'begin anew'
	"$pxtrace" attach "$name" -o run.ptl "$@" 2>err &
	looker=$!
	until_there run.ptl
	"$pxtrace" start "$name" || fail start
}

attach_records_as_long_as_it_is_told()
{
	record_from_the_start --for 1s
	wait $looker || fail "exit status $?: $(cat err)"
	err_has 'run.ptl: '
	run 0 check run.ptl
	out_lacks incomplete
	out_lacks 'number unknown'
	[ "$(numbers run.ptl step | wc -l)" -gt 0 ] || fail 'too few'
	[ "$(of state)" = running ] || fail 'the stream does not run any more'
	"$pxtrace" stop "$name" && "$pxtrace" clear "$name" || fail 'begin anew'
	run 0 attach "$name" -o quiet.ptl --for 50ms --quiet
	[ ! -s err ] || fail 'it says something'
}

attach_records_until_a_signal_and_until_a_size()
{
	own busy
	run 0 attach "$name" -o small.ptl --size 256K
	sound_but_for_losses small.ptl
	[ "$(wc -c <small.ptl)" -lt 400000 ] || fail "$(wc -c <small.ptl) bytes"
	[ "$(wc -c <small.ptl)" -gt 100000 ] || fail "$(wc -c <small.ptl) bytes"
	"$pxtrace" attach "$name" -o run.ptl 2>err &
	looker=$!
	until_there run.ptl
	kill -INT $looker
	wait $looker || fail "exit status $?: $(cat err)"
	sound_but_for_losses run.ptl
	out_lacks 'number unknown'
}

attach_records_what_there_was_of_a_process_that_died()
{
	own loop
	"$pxtrace" attach "$name" -o run.ptl 2>err &
	looker=$!
	until_there run.ptl
	# Of a step there are two events; what is recorded from now on is in the log.
	await above written $(($(of written) + 400)) || fail 'nothing is recorded'
	echo exit >&8
	status=0
	wait $looker || status=$?
	[ $status -eq 2 ] || fail "exit status $status"
	err_has 'its process ended without shutting the stream down'
	run 0 check run.ptl
	[ "$(numbers run.ptl step | wc -l)" -gt 100 ] || fail 'too few'
}

# QNX-51: what was not chosen takes no room.
attach_records_the_events_that_are_chosen()
{
	record_from_the_start --event mark --where 'number > 5'
	for number in 3 7 4 9; do
		echo "mark $number" >&8
	done
	echo shutdown >&8
	wait $looker || fail "exit status $?: $(cat err)"
	err_has '2 events chosen in '
	err_has ' 0 lost'
	run 0 check run.ptl
	out_has 'clean'
	run 0 print run.ptl
	[ "$(numbers run.ptl mark | tr '\n' ' ')" = '7 9 ' ] || fail 'other marks'
	lines 2
	run 0 stat run.ptl
	out_has '/named (pid'
	[ "$(wc -c <run.ptl)" -lt 20000 ] || fail 'large'
}

attach_records_what_is_chosen_for_a_time_and_up_to_a_size()
{
	own busy
	# On a busy machine the program may not run in that time.
	more_than_fifty()
	{
		run 0 attach "$name" -o run.ptl --event step --for 400ms
		[ "$(numbers run.ptl step | wc -l)" -gt 50 ]
	}
	await more_than_fifty || fail 'too few'
	sound_but_for_losses run.ptl
	# The stream goes on, but the log was to end here.
	out_lacks 'number unknown'
	run 0 attach "$name" -o small.ptl --event step --size 256K
	[ "$(wc -c <small.ptl)" -lt 500000 ] || fail "$(wc -c <small.ptl) bytes"
	[ "$(wc -c <small.ptl)" -gt 100000 ] || fail "$(wc -c <small.ptl) bytes"
	run 0 attach "$name" -o none.ptl --event nothing --for 200ms
	err_has '0 events chosen'
	sound_but_for_losses none.ptl
	run 1 attach "$name" -o run.ptl --where 'number >'
	[ ! -e /dev/full ] || { run 4 attach "$name" -o /dev/full --event step --for 300ms; err_has '/dev/full'; }
}

attach_into_a_log_takes_no_options_of_what_is_shown()
{
	own loop
	for option in --json '--limit 3' --utc '--fields number'; do
		# shellcheck disable=SC2086
		run 1 attach "$name" -o run.ptl $option
		err_has 'a log gets events as they are'
	done
	[ ! -e run.ptl ] || fail 'a log'
	run 1 attach "$name" --for 1s
	err_has 'into which? -o run.ptl'
	run 1 attach "$name" -o run.ptl --for never
	err_has '--for wants a duration'
	for size in 10X 12 '' -5 99999999999999999999G; do
		run 1 attach "$name" -o run.ptl --size "$size"
		err_has '--size'
	done
	run 4 attach "$name" -o nowhere/run.ptl
	[ ! -e /dev/full ] || { run 4 attach "$name" -o /dev/full --for 300ms; err_has '/dev/full'; }
}

attach_ends_by_a_signal_and_leaves_the_stream_as_it_was()
{
	own loop
	"$pxtrace" attach "$name" >seen 2>err &
	looker=$!
	until_has seen step || fail 'nothing was shown'
	kill -TERM $looker
	wait $looker || fail "exit status $?"
	[ "$(of state)" = running ] || fail 'it does not run'
}

attach_ends_by_a_signal_though_there_is_more_to_show()
{
	own busy
	mkfifo slow
	"$pxtrace" attach "$name" >slow 2>err &
	looker=$!
	{ await [ -e told ]; wc -c; } <slow >count &
	counter=$!
	# It has filled the pipe.
	full() { [ "$(sed -n 's/^wchar: //p' /proc/$looker/io 2>/dev/null || echo 0)" -gt 60000 ]; }
	await full || fail 'it shows nothing'
	kill -TERM $looker
	echo >told
	wait $looker || fail "exit status $?"
	wait $counter
	[ "$(cat count)" -gt 60000 ] || fail 'nothing was shown'
	# What was on its way when the signal came.
	[ "$(cat count)" -lt 400000 ] || fail "$(cat count) bytes"
	[ "$(of state)" = running ] || fail 'it does not run'
}

# Other tests beside this one may have streams with names.
ps_lists_streams_or_says_that_there_is_none()
{
	ps_of_all
	if [ -s out ]; then
		! grep -q 'no running program' err || fail 'it says that there is none'
	else
		err_has 'no running program of yours has a stream with a name'
	fi
	ps_of_all --json
	! grep -q 'no running program' err || fail 'programs are told nothing'
}

names_of_dead_processes_are_found_and_removed()
{
	own loop
	kill -9 $owner
	wait $owner 2>/dev/null
	run 2 ps "$name"
	out_has dead
	ps_of_all
	grep -qE "^$name +-  dead\$" out || fail 'it is not in the list'
	run 2 stop "$name"
	err_has 'its process is gone'
	run 0 ps --clean "$name"
	grep -qE "^$name +-  removed\$" out || fail 'it was not removed'
	[ ! -e "$place" ] || fail 'the name is still there'
}

other_users_are_refused()
{
	[ "$(id -u)" = 0 ] || { echo 'wants root: skipped'; exit 77; }
	need setpriv
	chmod 711 "$here"
	name=$here/socket
	own loop
	chmod 700 socket
	setpriv --reuid=65534 --regid=65534 --clear-groups "$pxtrace" --version >/dev/null 2>&1 ||
		{ echo 'no such user here: skipped'; exit 77; }
	for command in ps start stop clear flush filter attach; do
		setpriv --reuid=65534 --regid=65534 --clear-groups "$pxtrace" $command "$name" >out 2>err
		[ $? -eq 2 ] || fail "$command: exit status"
		err_has 'permission denied'
	done
	run 0 ps "$name"
	out_has running
	# In the folder of names nobody else sees whether there is one.
	setpriv --reuid=65534 --regid=65534 --clear-groups "$pxtrace" start "/dev/shm/pxtrace-0/x" >out 2>err
	[ $? -eq 2 ] || fail 'exit status'
	err_has 'permission denied'
}

attached_processes_are_counted_and_their_events_saved()
{
	own loop
	visit
	[ "$(of attached)" = 1 ] || fail "$(of attached) attached"
	saved()
	{
		echo 'mark 77' >&9
		run 0 snapshot "$name" -o x.ptl
		run 0 print --pid $producer --event mark --format '{event} {field:number} {pid}' x.ptl
		has_text out "mark 77 $producer"
	}
	await saved || fail 'its event is not in a snapshot'
	exec 9>&-
	wait $producer || fail "exit status $?"
	await is attached 0 || fail 'it is still counted'
}

# ---- Where names are ----

# A folder as a session has it; its path is short enough for a socket's behind it.
runtime()
{
	XDG_RUNTIME_DIR=$here/session
	[ ${#XDG_RUNTIME_DIR} -le 35 ] || { echo 'temporary folders have long names here: skipped'; exit 77; }
	mkdir -m "$1" session
	export XDG_RUNTIME_DIR
}

# As a user whose folder in the shared place is somebody else's.
locked_out=$((50000 + $$ % 10000))
squat()
{
	[ "$(id -u)" = 0 ] || { echo 'wants root: skipped'; exit 77; }
	need setpriv
	squatted=/dev/shm/pxtrace-$locked_out
	mkdir -m 755 "$squatted" || { echo 'no such folder here: skipped'; exit 77; }
	trap 'kill -9 $owner 2>/dev/null; rm -rf "$here" "$squatted"' EXIT
	chmod 711 "$here"
	as_user "$pxtrace" --version >/dev/null 2>&1 || { echo 'no such user here: skipped'; exit 77; }
}
as_user() { setpriv --reuid=$locked_out --regid=$locked_out --clear-groups "$@"; }

names_are_in_the_folder_of_the_session_where_there_is_one()
{
	runtime 700
	own loop
	[ -S "session/pxtrace/$name" ] || fail 'it is not there'
	[ ! -e "$place" ] || fail 'it is in the shared place'
	[ "$(stat -c %a session/pxtrace)" = 700 ] || fail 'others may enter the folder'
	ps_of_all
	out_has "$name"
	[ "$(of pid)" = $owner ] || fail 'another process'
	visit
	run 0 snapshot "$name" -o x.ptl
	exec 9>&-
	wait $producer || fail "exit status $? of the producer"
}

a_name_is_found_from_a_session_that_its_program_was_not_in()
{
	own loop
	[ -S "$place" ] || fail 'it is not in the shared place'
	runtime 700
	mkdir -m 700 session/pxtrace
	[ "$(of pid)" = $owner ] || fail 'it is not found'
	ps_of_all
	out_has "$name"
	visit
	exec 9>&-
	wait $producer || fail "exit status $? of the producer"
}

names_of_dead_processes_are_removed_from_either_folder()
{
	own loop
	kill -9 $owner
	wait $owner 2>/dev/null
	runtime 700
	own loop
	kill -9 $owner
	wait $owner 2>/dev/null
	for turn in session shared; do
		run 0 ps --clean "$name"
		out_has removed
	done
	[ ! -e "$place" ] && [ ! -e "session/pxtrace/$name" ] || fail 'one is still there'
}

a_folder_of_a_session_that_others_may_enter_is_left_alone()
{
	runtime 755
	own loop
	[ -S "$place" ] || fail 'it is not in the shared place'
	[ ! -e session/pxtrace ] || fail 'a folder was made'
	[ "$(of pid)" = $owner ] || fail 'it is not found'
}

a_folder_of_names_that_somebody_else_made_is_told()
{
	squat
	as_user "$pxtrace" ps >out 2>err
	[ $? -eq 2 ] || fail 'exit status'
	err_has "$squatted belongs to somebody else"
	chown $locked_out "$squatted"
	as_user "$pxtrace" ps >out 2>err
	[ $? -eq 2 ] || fail 'exit status'
	err_has "$squatted can be entered by others"
	chmod 700 "$squatted"
	as_user "$pxtrace" ps >out 2>err || fail 'exit status'
	grep -q 'no running program of yours' err && ! grep -q "$squatted" err || fail 'it is well'
}

a_session_has_names_though_somebody_else_made_the_shared_folder()
{
	squat
	runtime 700
	chown $locked_out session
	mkfifo line8
	as_user "$named" owner "$name" loop <line8 >said 2>owner_err &
	owner=$!
	exec 8>line8
	until_has said ready || { cat owner_err; fail 'the program does not begin'; }
	as_user "$pxtrace" ps >out 2>err || fail 'exit status'
	out_has "$name"
	err_has 'belongs to somebody else'
	as_user "$pxtrace" snapshot "$name" -q -o - >x.ptl 2>err || fail snapshot
}

a_program_with_more_rights_than_its_user_leaves_the_session_alone()
{
	squat
	need findmnt
	# A leak sanitizer would have to trace the process, and a program with such rights takes no options of it.
	if grep -q __asan_init "$pxtrace"; then echo 'not with a leak sanitizer: skipped'; exit 77; fi
	rmdir "$squatted"
	runtime 700
	mkdir -m 700 session/pxtrace
	chown $locked_out session session/pxtrace
	"$PXT_PYTHON" -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' session/pxtrace/planted
	as_user "$pxtrace" ps >out 2>err
	out_has planted
	cp "$pxtrace" more
	chown 0:0 more
	chmod 2755 more
	if findmnt -no OPTIONS --target . | grep -q nosuid; then echo 'nobody gets rights here: skipped'; exit 77; fi
	as_user ./more ps >out 2>err || fail 'exit status'
	out_lacks planted
	cp "$named" more
	chown 0:0 more
	chmod 2755 more
	mkfifo line8
	as_user ./more owner "$name" loop <line8 >said 2>owner_err &
	owner=$!
	exec 8>line8
	until_has said ready || { cat owner_err; fail 'the program does not begin'; }
	[ -S "$squatted/$name" ] || fail 'the library does as the session says'
}

"$case"
