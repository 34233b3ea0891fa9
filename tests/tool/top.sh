#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace top against programs that trace (named.c): tables one after another, and the screen of a
# terminal (top_screen.py). (LPT-31, LPT-33)

. "$(dirname "$0")/common.sh"
named=$PXT_BUILD/tests/named
"$named" 2>/dev/null
[ $? -eq 2 ] || { echo 'no attached processes in this build, or not for this machine: skipped'; exit 77; }
name=$(printf '%s' "$case" | tail -c 40).$$
place=/dev/shm/pxtrace-$(id -u)/$name
trap 'kill -9 $owner 2>/dev/null; rm -rf "$here" "$place"' EXIT
owner=

# own KIND [LOG]: a program with a stream; words for it go to descriptor 8
own()
{
	mkfifo line8
	: >said
	"$named" owner "$name" "$@" <line8 >said 2>owner_err &
	owner=$!
	exec 8>line8
	until_has said ready && return
	cat owner_err
	fail 'the program does not begin'
}

# screen: what top_screen.py has under the name of this case.
screen()
{
	ldd "$pxtrace" | grep -q libncurses ||
		{ echo 'no ncurses in this build: skipped'; exit 77; }
	own "${1:-loop}"
	"$PXT_PYTHON" "$PXT_SOURCE/tests/tool/top_screen.py" "$case" "$pxtrace" "$name" >out 2>err || fail "$case"
}

# ---- Tables ----

batch_shows_rates_and_threads_of_a_stream()
{
	own loop
	run 0 top --batch -n 2 --interval 500ms "$name"
	[ "$(grep -c '^STREAM  *PID  STATE  *EVENTS/S  *LOST/S  FILL  *LOST  READ  PROGRAM$' out)" = 2 ] || fail heads
	grep -q '^20[0-9-]*T[0-9:]*  1 stream, the last 0.5 s$' out || fail 'the first title'
	grep -q '  1 stream, the last 1.0 s$' out || fail 'the second title'
	# Two events each 200 us and what the system adds to them, if the machine has nothing else to do.
	awk -v name="$name" -v pid=$owner '$1 == name { rows++
		if ($2 != pid || $3 != "running" || $4 < 100 || $4 > 10001 || $6 !~ /%$/ || $8 != "100%" || $9 !~ /named$/) exit 1 }
		END { exit rows != 2 }' out || fail 'the stream'
	awk '$1 ~ /^named\/[0-9]+$/ { rows++; if ($2 < 100 || $2 > 10001 || $3 !~ /^(100|9[0-9])%$/) exit 1 }
		END { exit rows != 2 }' out || fail 'the thread'
	[ ! -s err ] || fail 'it says something'
}

batch_shows_durations_of_pairs_and_waits_for_locks()
{
	own jobs
	run 0 top --batch -n 1 --interval 1500ms --by waits "$name"
	# Two milliseconds a job, and each of both threads waits for the other's: so about 2.
	awk '/^PAIR / { if ($0 !~ /COUNT +P50 +P99 +MAX$/) exit 1 }
		/^job_begin \.\. _end / { if ($4 < 20 || $5 < 2 || $5 > 50 || $6 != "ms" || $7 < $5 || $9 < $7) exit 1; jobs++ }
		/^LOCK / { if ($0 !~ /WAITED +LONGEST +WAITS +WAITING$/) exit 1 }
		/^mtx 5 / { if ($5 < 1.5 || $6 != "ms" || $7 < 20 || $8 > 2) exit 1; locks++ }
		END { exit jobs != 1 || locks != 1 }' out || fail 'jobs or locks'
}

# The same as is read from a log of the same seconds.
batch_agrees_with_stat_about_pairs()
{
	own jobs
	"$pxtrace" attach "$name" -o run.ptl --for 2s 2>/dev/null &
	run 0 top --batch -n 1 --interval 2s "$name"
	wait $!
	median=$("$pxtrace" stat --csv run.ptl 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		/job_begin .. job_end/ { print $column["median_ns"] / 1000000; exit }')
	awk -v median="$median" '/^job_begin/ { found = $5 > median * 0.7 && $5 < median * 1.3 } END { exit !found }' out ||
		fail "the median is $median ms"
}

batch_is_as_wide_as_it_is_told()
{
	own loop
	COLUMNS=80 "$pxtrace" top -b -n 1 --interval 300ms "$name" >out 2>err || fail 'exit status'
	out_has READ
	out_lacks PROGRAM
	awk 'length > 80 { exit 1 }' out || fail 'too wide'
	COLUMNS=40 "$pxtrace" top -b -n 1 --interval 300ms "$name" >out 2>err || fail 'exit status'
	awk 'length > 40 { exit 1 }' out || fail 'too wide'
	out_has EVENTS/S
	out_lacks FILL
}

batch_ends_with_the_streams_that_were_named()
{
	own loop
	"$pxtrace" top --batch --interval 200ms "$name" >out 2>err &
	looker=$!
	until_has out ' running ' || fail 'it is not shown'
	echo shutdown >&8
	wait $looker || fail "exit status $?"
	[ "$(grep "^$name" out | tail -n 1 | awk '{ print $3 }')" = ended ] || fail 'its end is not shown'
}

batch_ends_by_a_signal_with_success()
{
	own loop
	"$pxtrace" top --batch --interval 200ms >out 2>err &
	looker=$!
	until_has out "$name" || fail 'it is not shown'
	# Background jobs of a shell do not hear SIGINT.
	kill -TERM $looker
	wait $looker || fail "exit status $?"
}

batch_goes_on_while_a_program_is_stopped()
{
	own loop
	"$pxtrace" top --batch --interval 500ms -n 9 "$name" >out 2>err &
	looker=$!
	until_has out "$name" || fail 'it is not shown'
	kill -STOP $owner
	wait $looker || fail "exit status $?"
	kill -CONT $owner
	[ "$(grep -c "^$name" out)" = 9 ] || fail 'not nine tables'
	grep "^$name" out | tail -n 1 | grep -q ' no answer ' || fail 'it is said to run'
}

# What comes too fast is left out, and the memory that it goes through is given back.
batch_reads_what_it_can_of_a_busy_program()
{
	own busy
	"$pxtrace" top --batch -n 9 "$name" >out 2>err &
	looker=$!
	rows() { [ "$(grep -c "^$name" out)" -ge 6 ]; }
	await rows || fail 'no six tables'
	# It opens its memory anew for each table.
	blocks=
	in_memory()
	{
		memory=$(ls -l /proc/$looker/fd 2>/dev/null | sed -n 's/.* \([0-9]*\) -> .*pxtrace-top.*/\1/p' | head -1)
		[ -n "$memory" ] && blocks=$(stat -L -c '%b' /proc/$looker/fd/$memory 2>/dev/null)
	}
	await in_memory || fail 'no such descriptor'
	used=$((blocks / 2048))
	wait $looker || fail "exit status $?"
	[ "$used" -le 40 ] || fail "$used MiB"
	awk -v name="$name" '$1 == name { slow += $4 + 0 < 1000; rows++ } END { exit rows != 9 || slow > 3 }' out || fail rate
	# After six seconds of it its events are still those of the last five.
	tail -n 5 out | grep -q '^named/' || fail 'it was read at the beginning alone'
}

# Dead names are nobody's.
top_says_that_no_program_has_a_stream()
{
	for turn in $(seq 20); do
		run 0 top --batch -n 1
		if [ ! -s out ]; then
			err_has 'no running program of yours has a stream with a name'
			exit 0
		fi
		! grep -q '  0 streams' out || fail 'a table of nothing'
		sleep 0.2
	done
	echo 'other streams are there: skipped'
	exit 77
}

top_says_that_a_stream_is_not_there()
{
	run 2 top --batch "$name"
	err_has "there is no stream \"$name\""
	run 1 top --batch .
	err_has 'names no stream'
}

top_says_what_is_wrong_with_its_options()
{
	run 1 top --by p98
	err_has 'there is no column "p98"; did you mean "p99"?'
	run 1 top --interval 10ms
	err_has 'from 100ms to an hour'
	run 1 top -n 0
	run 1 top --rows x
	run 1 top --lines
}

# Standard input is none here: whoever forgets --batch in a script is told so, and nothing is waited for.
a_screen_wants_a_terminal()
{
	own loop
	"$pxtrace" top "$name" >out 2>err </dev/null
	[ $? -eq 1 ] || fail 'exit status'
	err_has 'use --batch'
}

# ---- The screen ----

keys_redraw_freeze_and_quit() { screen; }
a_stop_gives_the_terminal_back() { screen; }
a_signal_ends_it_and_the_terminal_is_restored() { screen; }
the_screen_follows_its_window() { screen; }
a_stream_that_ends_is_shown_as_such() { screen; }
it_ends_after_so_many_pictures() { screen; }
a_terminal_that_cannot_be_drawn_on_is_told_so() { screen; }

a_snapshot_says_where_it_is()
{
	screen
	for log in ./*.ptl; do sound_but_for_losses "$log"; done
}

"$case"
