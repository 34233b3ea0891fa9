#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace ps, start, stop, clear, flush, filter, attach, snapshot against sockets that answer anything:
# fake_ctlsock.py has the ways, each a socket of that name.

. "$(dirname "$0")/common.sh"

# Answers until the test ends; logs for it: part.ptl, full.ptl.
fake_owner()
{
	[ -e full.ptl ] || make_story
	[ -e full.ptl ] || mv run.ptl full.ptl
	make part.ptl 'uuid 2' <<-END
		unfinished
		event 1000 32 1 0 u32:1
	END
	mkfifo line said
	"$PXT_PYTHON" "$PXT_SOURCE/tests/tool/fake_ctlsock.py" . part.ptl full.ptl <line >said 2>ctlsock_err &
	server=$!
	exec 9>line
	read -r word <said
	[ "$word" = ready ] || { cat ctlsock_err; fail 'no server'; }
}
# The test's end is the server's, as its input ends.

# What each command says against way $1, with exit status $2 and the words $3.
all_say()
{
	for command in ps start stop clear flush; do
		run "$2" $command "./$1"
		err_has "$3"
	done
	run "$2" filter "./$1"
	err_has "$3"
	run "$2" filter "./$1" add job_begin
	err_has "$3"
	run "$2" attach "./$1"
	err_has "$3"
	run "$2" snapshot "./$1" -o x.ptl
	err_has "$3"
	[ ! -e x.ptl ] || fail 'a log was written'
	[ -z "$(ls x.ptl.* 2>/dev/null)" ] || fail 'a temporary file stayed'
}

answers_that_are_none_are_told_from_errors()
{
	fake_owner
	for way in one_byte no_magic only_magic; do all_say $way 2 'its answer is none'; done
	for way in short half; do all_say $way 2 'its answer is too short'; done
	all_say noise 2 'its answer is none'
	for way in long very_long text_cut text_negative text_more; do
		all_say $way 2 'its answer has another length than it says'
	done
	for way in text_unterminated text_largest_unterminated; do all_say $way 2 "text has no end"; done
	for way in other_question no_question huge_question; do all_say $way 2 'it answers another question'; done
	for way in error_negative error_huge; do all_say $way 2 'an error number that does not exist'; done
	kill -0 $server || fail "the server died"
}

another_version_is_named()
{
	fake_owner
	all_say next_version 2 'its process has version 7 of what is said here, this pxtrace 6'
	all_say last_version 2 'use the pxtrace of the library'
}

an_owner_that_goes_away_is_told_from_one_that_does_not_answer()
{
	fake_owner
	all_say hangs_up 2 'its process went away'
	run 2 stop ./mute
	err_has 'no answer within 2 s'
	run 2 ps ./mute
	out_has unknown
}

what_the_owner_refuses_is_said_in_its_words()
{
	fake_owner
	for command in start clear; do
		run 2 $command ./refuses
		err_has "$command: ./refuses: the stream \\x1b[31mknows no type xyz"
		run 2 $command ./refuses_silently
		err_has 'Invalid argument'
		run 2 $command ./not_understood
		err_has 'an unknown request'
		run 2 $command ./longest_text
		err_has AAAA
		run 2 $command ./not_allowed
		err_has 'permission denied'
	done
	run 2 flush ./refuses_silently
	err_has 'it has no log'
}

descriptors_that_nobody_asked_for_are_let_go()
{
	fake_owner
	run 0 ps ./descriptors
	out_has running
	run 0 start ./descriptors
}

what_is_no_stream_is_told_by_kind()
{
	fake_owner
	: >file
	mkdir folder
	run 2 start ./dead
	err_has 'its process is gone'
	err_has 'pxtrace ps --clean'
	run 2 start ./file
	err_has 'is no socket'
	run 2 start ./folder
	err_has 'is no socket'
	run 2 start ./stream
	err_has 'a socket of another kind'
	run 2 start ./missing
	err_has 'there is no stream "./missing"'
	run 2 start ./file/below
	err_has 'there is no stream'
}

names_that_no_stream_can_have_are_wrong_words()
{
	run 1 start ''
	err_has 'it is empty'
	run 1 stop .
	run 1 stop ..
	run 1 stop "$(printf '%064d' 0)"
	err_has 'at most 63 bytes'
	run 2 stop "$(printf '%063d' 0)"
	run 1 stop "./$(printf '%0106d' 0)"
	err_has 'at most 107 bytes'
	run 2 stop "./$(printf '%0105d' 0)"
	err_has 'there is no stream'
	for command in start stop clear flush filter attach snapshot; do
		run 1 $command
			err_has 'which stream'
	done
}

ps_shows_how_a_stream_is()
{
	fake_owner
	run 0 ps ./good
	lines 2
	grep -qE '^./good +4711  running +loop +no +50% +100 +20 +2  /opt/app/control$' out || fail row
	run 0 ps ./full
	grep -qE '^./full +4711  full +until-full +yes +100% ' out || fail row
	run 0 ps ./empty
	grep -qE '^./empty +0  stopped +unknown +no +0% +0 +0 +0$' out || fail row
	run 2 ps ./good ./missing ./full
	lines 3
}

ps_lets_no_text_command_the_terminal()
{
	fake_owner
	run 0 ps ./odd
	if grep -q "$(printf '\033')" out; then fail 'an escape'; fi
	grep -qE ' -5  unknown +unknown +yes +99% +18446744073709551615' out || fail row
	run 0 ps --json ./odd
	"$PXT_PYTHON" -c 'import json, sys
line = json.loads(sys.stdin.read())
assert line["pid"] == -5 and line["state"] == "unknown" and line["written"] == 2**64 - 1, line
assert len(line["trace"]) >= 64 and line["program"].count("title") == 12, line' <out || fail json
}

top_shows_all_that_answer_and_lets_no_text_command_the_terminal()
{
	fake_owner
	ways=
	for way in *; do
		# A stream that is named and not there is an error; a socket of another kind is not a stream.
		case $way in dead | stream) continue ;; esac
		[ ! -S "$way" ] || ways="$ways ./$way"
	done
	[ "$(echo $ways | wc -w)" -gt 30 ] || fail 'only a few'
	# Nobody is waited for: 0.9 s and no more, if the machine has nothing else to do.
	begin=$(date +%s%N)
	run 0 top --batch -n 3 --interval 300ms $ways
	[ $((($(date +%s%N) - begin) / 1000000)) -lt 5000 ] || fail 'somebody was waited for'
	if tr -d '\n' <out | grep -q '[[:cntrl:]]'; then fail 'a control character'; fi
	[ "$(grep -c '^./odd ' out)" = 3 ] || fail 'odd'
	grep -qE '^./odd +-5  unknown ' out || fail 'the odd one'
	grep -qE '^./good +4711  running ' out || fail 'the good one'
	grep -qE '^./hangs_up .* ended ' out || fail 'one that hangs up'
	grep -qE '^./noise .* unknown ' out || fail 'one that makes noise'
	grep -qE '^./refuses .* refuses ' out || fail 'one that refuses'
	# What comes in place of events is no log, or ends, or never comes: the stream is there all the same.
	run 0 top --batch -n 3 --interval 300ms ./follow_*
	[ "$(grep -cE '^./follow_[a-z]+ +4711  running ' out)" = 21 ] || fail 'streams whose events are none'
	err_has './follow_noise: '
	if tr -d '\n' <err | grep -q '[[:cntrl:]]'; then fail 'a control character'; fi
	run 0 top --batch -n 1 --interval 2500ms ./mute
	grep -qE '^./mute .* no answer ' out || fail 'one that says nothing'
	kill -0 $server || fail 'the server died'
}

ps_json_has_everything()
{
	fake_owner
	run 0 ps --json ./good ./full
	lines 2
	"$PXT_PYTHON" -c 'import json, sys
good, full = map(json.loads, sys.stdin)
assert good == {"name": "./good", "path": "./good", "state": "running", "pid": 4711,
    "program": "/opt/app/control", "trace": "machine", "policy": "loop", "log": False,
    "created": 1700000000.000000005, "attached": 2, "filtered": 3, "slots": 1000, "used": 500,
    "written": 100, "retrieved": 10, "lost": 20, "cleared": 30, "held": 40}, good
assert full["state"] == "full" and full["log"] is True, full' <out || fail json
}

ps_clean_removes_dead_names_and_nothing_else()
{
	fake_owner
	run 2 ps ./dead
	out_has dead
	run 2 ps --clean ./good ./mute ./missing ./stream
	[ -e good ] && [ -e mute ] && [ -e stream ] || fail 'something was removed'
	run 0 ps --clean ./dead ./good
	out_has removed
	[ ! -e dead ] || fail 'the name is still there'
	run 2 ps ./dead
	: >file
	run 2 ps --clean ./file
	[ -e file ] || fail 'a file was removed'
}

requests_say_what_was_asked()
{
	fake_owner
	run 2 filter ./echo add one two
	err_has 'True 7 2 0 one;two;'
	run 2 filter ./echo sub one
	err_has 'True 7 3 0 one;'
	run 2 filter ./echo set one
	err_has 'True 7 1 0 one;'
	run 2 filter ./echo none
	err_has 'True 7 1 0 '
	run 2 filter ./echo
	err_has 'True 2 0 0 '
	run 0 filter ./good
	out_has '3 types are left out'
	run 1 filter ./good add
	err_has 'which types?'
	run 1 filter ./good but one
	err_has 'add, sub, set, none or list?'
	run 1 filter ./good none one
	run 1 filter ./good add ''
	run 1 filter ./good add "$(printf '%064d' 0)"
	run 2 attach ./echo
	err_has 'True 9 0 1 '
}

snapshot_appears_when_it_is_whole()
{
	fake_owner
	run 0 snapshot ./snapshot -o x.ptl
	cmp x.ptl full.ptl || fail 'another log'
	for way in snapshot_cut snapshot_noise snapshot_of_nothing; do
		run 2 snapshot ./$way -o x.ptl
		err_has 'is no complete log'
		cmp x.ptl full.ptl || fail 'the former log is gone'
	done
	run 4 snapshot ./snapshot_no_room -o x.ptl
	err_has 'No space left'
	run 1 snapshot ./snapshot
	err_has 'into which log?'
	[ "$(ls x.ptl*)" = x.ptl ] || fail 'a temporary file stayed'
}

the_owner_of_a_stream_never_gets_the_file_of_its_snapshot()
{
	fake_owner
	run 0 snapshot ./snapshot_into_memory -o x.ptl
	cmp x.ptl full.ptl || fail 'another log'
	"$pxtrace" snapshot ./snapshot -q -o - | cmp - full.ptl || fail 'another log through a pipe'
}

a_snapshot_is_not_changed_by_the_owner_afterwards()
{
	fake_owner
	run 0 snapshot ./snapshot_changed -o x.ptl
	await [ -e tried ] || fail 'nobody tried'
	cmp x.ptl full.ptl || fail 'it was changed'
}

a_snapshot_that_its_owner_can_still_change_is_refused()
{
	fake_owner
	run 2 snapshot ./snapshot_kept -o x.ptl
	err_has 'does not let go'
	[ "$(ls x.ptl* 2>/dev/null)" = '' ] || fail 'something was written'
}

a_snapshot_is_called_saved_only_when_it_is()
{
	fake_owner
	run 0 snapshot ./snapshot -o x.ptl
	err_has 'x.ptl: saved'
	run 2 snapshot ./snapshot_cut -o x.ptl
	! grep -q saved err || fail 'it was not'
	[ -c /dev/full ] || return 0
	for place in /dev/full elsewhere; do
		[ -e $place ] || ln -s /dev/full $place
		run 4 snapshot ./snapshot -o $place
		err_has "$place: cannot be written: No space left"
		! grep -q saved err || fail 'it was not'
	done
	"$pxtrace" snapshot ./snapshot -o - >/dev/full 2>err
	[ $? -eq 4 ] || fail 'standard output'
	! grep -q saved err || fail 'it was not'
}

attach_ends_with_the_stream()
{
	fake_owner
	run 0 attach ./follow_ends
	lines 7
	out_has 'label="warm"'
	run 0 attach ./follow_ends --event 'job_*' --format '{event} {field:job}'
	lines 2
	run 0 attach ./follow_ends --limit 3
	lines 3
	run 1 attach ./follow_ends --limit many
	run 2 attach ./follow_dies
	lines 1
	err_has 'ended without shutting the stream down'
	run 2 attach ./follow_noise
	run 2 attach ./follow_nothing
}

# The first million bytes alone are not worth a call of the system.
# QNX-51
attach_records_no_more_than_a_log_whatever_comes()
{
	fake_owner
	run 0 attach ./follow_ends -o ends.ptl
	run 0 check ends.ptl
	run 2 attach ./follow_dies -o dies.ptl
	err_has 'ended without shutting the stream down'
	"$pxtrace" check dies.ptl >out 2>err || [ $? -eq 3 ] || fail 'what was recorded is not sound'
	for way in noise nothing silent; do
		run 2 attach "./follow_$way" -o "$way.ptl"
		err_has 'its process wrote no log'
		[ ! -e "$way.ptl" ] || fail "a log of $way"
	done
	run 2 attach ./follow_two -o two.ptl
	[ ! -e two-2.ptl ] || fail 'a second log'
}

attach_gives_memory_back_that_was_read()
{
	text=$(printf '%03900d' 7)
	awk -v text="$text" 'BEGIN {
		for (i = 1; i <= 3000; i++)
			print "event " i * 1000 " 36 1 0 text:" i "x" text
	}' | make full.ptl
	fake_owner
	run 0 attach ./follow_memory --bytes 8
	lines 3000
	read -r size used <used
	[ "$size" -gt 11000000 ] || fail "the log has only $size bytes"
	[ "$used" -lt 3000000 ] || fail "$used bytes at once"
}

"$case"
