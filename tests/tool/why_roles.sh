#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: roles, the command line, hostile logs.
. "$(dirname "$0")/whylib.sh"

roles_name_events_of_other_programs()
{
	"$mklog" >run.ptl <<-END
		thread 1 0x7f0000001000 101 worker
		thread 2 0x7f0000002000 102 writer
		type 40 frame_in u32 size, u32 number, i64 age
		type 41 frame_out u32 number
		type 42 mtx_ask x64 addr, u32 line
		type 43 mtx_got u32 line, x64 addr
		type 44 mtx_gone x64 addr
		type 45 frame_bad u32 number, i64 by_ns
		event 1000000 43 2 0 u32:1 u64:0xbeef
		event 2000000 40 1 0 u32:640 u32:5 i64:500000
		event 2100000 42 1 0 u64:0xbeef u32:17
		event 8000000 44 2 0 u64:0xbeef
		event 8100000 43 1 0 u32:17 u64:0xbeef
		event 8200000 44 1 0 u64:0xbeef
		event 8500000 41 1 0 u32:5
		event 8500100 45 1 0 u32:5 i64:4000000
	END
	cat >roles <<-END
		# what our program calls things
		job-start     frame_in   span=frame key=number delay=age
		job-end       frame_out  span=frame key=number
		deadline-miss frame_bad  span=frame key=number late=by_ns

		lock-wait     mtx_ask    lock=addr class=mutex
		lock-acquire  mtx_got    lock=addr class=mutex
		lock-release  mtx_gone   lock=addr class=mutex   # first field
	END
	run 0 why --roles roles run.ptl
	answer 'frame 5 of worker was late by 4.00 ms: it waited 5.90 ms for mutex 0xbeef, which writer had.'
	out_has '7.000  100.0%  from release to end'
	[ ! -s err ] || fail 'complaints'
}

# complains LINE MESSAGE: of a roles file with these two lines
complains()
{
	printf '# roles\n%s\n' "$1" >roles
	run 1 why --roles roles run.ptl
	err_has "roles:2: $2"
}

a_wrong_roles_file_is_told_by_line()
{
	make_inversion run.ptl
	complains 'job-strat x_in' 'there is no role "job-strat"; did you mean "job-start"?'
	complains 'lock-wait' 'lock-wait wants the name of an event behind it'
	complains 'lock-wait lock=addr' 'lock-wait wants the name of an event behind it'
	complains 'lock-wait mtx addr' '"addr" is no option: an option is NAME=VALUE'
	complains 'lock-wait mtx key=addr' 'lock-wait has no option "key"'
	err_has 'lock-wait EVENT takes: class=NAME lock=FIELD'
	complains 'job-start frame_in' 'of which span is "frame_in" the start? Say span=NAME'
	complains 'switch ctx to=x' 'a switch needs from=FIELD and to=FIELD'
	complains 'lock-wait lock_wait lock=addr' 'the event "lock_wait" has no field "addr"'
	err_has 'it has: lock'
	run 1 why --roles missing run.ptl
	err_has '--roles: missing: No such file or directory'
	err_has 'a line for each event'
	run 1 why --roles run.ptl run.ptl
	err_has 'is no text file'
	printf '# nothing\n' >roles
	run 1 why --roles roles run.ptl
	err_has 'says nothing'
}

a_wait_without_its_lock_is_no_lock()
{
	"$mklog" >run.ptl <<-END
		thread 1 0x7f0000001000 101 t
		type 40 job_begin u32 job
		type 41 job_end u32 job
		type 42 please_wait
		type 43 data_block u32 number
		event 1000000 40 1 0 u32:1
		event 2000000 42 1 0
		event 3000000 43 1 0 u32:9
		event 9000000 41 1 0 u32:1
	END
	run 0 why --json run.ptl
	is '[c["kind"] for c in late["causes"]]' "['own']"
}

a_role_whose_event_never_came_is_told()
{
	make_inversion run.ptl
	echo 'lock-wait mtx_ask' >roles
	run 0 why --roles roles run.ptl
	err_has 'roles:1: no event "mtx_ask" was read'
}

a_wrong_command_line_of_why_gets_a_sentence()
{
	run 1 why
	err_has 'why: which log?'
	run 1 why --worst 0 x
	err_has '--worst wants a number from 1 to 16, not "0"'
	run 1 why --longer-than soon x
	err_has '--longer-than wants a duration (5ms, 250us, 1.5), not "soon"'
	run 1 why --at soon x
	err_has '--at does not understand the time "soon"'
	run 1 why --thraed x y
	err_has 'did you mean --thread?'
	run 2 why nowhere.ptl
	err_has 'nowhere.ptl: No such file or directory'
}

names_reach_neither_terminal_nor_json_unescaped()
{
	printf '%s\n' 'thread 1 0x7f0000001000 101 ev\x1b[2J"l\x5c' 'thread 2 0x7f0000002000 102 x\x07' \
		'type 40 a\x1b]0;x\x07"b_begin u32 job' 'type 41 a\x1b]0;x\x07"b_end u32 job' \
		'type 42 l\x1b"k_lock text name' 'type 43 l\x1b"k_wait text name' \
		'event 500 42 2 0 text:\x1b[31m"' 'event 1000 40 1 0 u32:1' \
		'event 1500 43 1 0 text:\x1b[31m"' 'event 9000 41 1 0 u32:1' | "$mklog" >run.ptl
	run 0 why run.ptl
	if grep -q "$(printf '[\001-\010\016-\037]')" out; then fail 'control characters'; fi
	run 0 why --json run.ptl
	if grep -q "$(printf '[\001-\010\016-\037]')" out; then fail 'control characters'; fi
	is 'late["causes"][0]["kind"]' wait
	is 'late["number"]' 1
}

types_without_fields_and_cut_events_do_no_harm()
{
	"$mklog" >run.ptl <<-END
		thread 1 0x7f0000001000 101 t
		type 40 a_begin u32 job
		type 41 a_end u32 job
		type 42 m_lock
		type 43 m_unlock
		type 44 deadline_miss u32 job, i64 late_ns
		event 1000 40 1 0
		event 2000 42 1 0
		event 3000 43 1 0
		event 4000 43 1 0
		event 5000 41 1 0 u32:2
		event 6000 44 1 0 u32:2
		event 7000 44 1 0
		event 7001 44 0 0 u32:9 i64:1
		event 7002 41 1 0 u32:9
	END
	run 0 why run.ptl
	run 0 why --json run.ptl
	add_up
}

"$case"
