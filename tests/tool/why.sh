#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: the answer (holders, chains, deadlocks, what nests), by the scheduler's events, and by roles; the command
# line, and hostile logs.
. "$(dirname "$0")/whylib.sh"

the_answer_names_the_holder_and_who_ran_instead()
{
	make_inversion run.ptl
	cat >golden <<-END
		Job 7 of high was late by 6.40 ms: it waited 8.50 ms for lock 1, which low had and could not give back, because middle ran instead for 8.00 ms: a priority inversion. A mutex with PTHREAD_PRIO_INHERIT lets low finish first, if middle is less urgent than high.

		TIME LINE
		        ms
		     -0.990  low             has had lock 1 since then
		      0.000  high            high_begin  job=7  start_ns=0
		      0.500  high            lock_wait  lock=1  <- low has it
		      0.600  middle          middle_begin  job=3
		      8.600  middle          middle_end  job=3
		      9.000  low             lock_unlock  lock=1
		      9.010  high            lock_lock  lock=1
		      9.300  high            lock_unlock  lock=1
		      9.400  high            high_end  job=7
		      9.400  high            6.40 ms too late

		WHERE THE TIME WENT
		        ms   share
		      8.000   85.1%  waited for lock 1: low had it and could not run: middle did *
		      0.600    6.4%  not recorded: own work, or a call that blocked
		      0.500    5.3%  waited for lock 1: low had it
		      0.290    3.1%  not recorded: own work, or a call that blocked, with lock 1
		      0.010    0.1%  waited for lock 1: nobody had it, but low ran *
		      9.400  100.0%  from release to end

		MEANWHILE: spans of other threads, and for how long they overlapped
		      9.400 ms  low             low 1
		      8.000 ms  middle          middle 3

		* concluded from the order of events on one CPU, as no scheduler event says it;
		  a thread that slept there without an event for it seems to have run
	END
	run 0 why run.ptl
	same golden
}

the_answer_has_lines_of_80_columns_where_no_terminal_says_how_long()
{
	make_inversion run.ptl
	cat >golden <<-END
		Job 7 of high was late by 6.40 ms: it waited 8.50 ms for lock 1, which low had
		and could not give back, because middle ran instead for 8.00 ms: a priority
		inversion. A mutex with PTHREAD_PRIO_INHERIT lets low finish first, if middle is
		less urgent than high.
	END
	unset COLUMNS
	run 0 why run.ptl
	sed '/^$/,$d' out >paragraph
	cmp -s paragraph golden || fail "another paragraph: $(cat paragraph)"
}

locks_inside_each_other_are_told_apart()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		1000 high lock_lock 1
		2000 high lock_lock 2
		4000 high lock_lock 2
		5000 high lock_unlock 2
		6000 high lock_unlock 2
		9000 high lock_unlock 1
		9500 high high_end 1
		9501 high deadline_miss 1 1000000
	END
	run 0 why run.ptl
	out_has '4.000   47.1%  not recorded: own work, or a call that blocked, with lock 2'
	out_has '4.000   47.1%  not recorded: own work, or a call that blocked, with lock 1'
	out_has '0.500    5.9%  not recorded: own work, or a call that blocked'
}

a_deadlock_is_named()
{
	story run.ptl <<-END
		100 low lock_lock 1
		1000 high high_begin 1 0
		1100 high lock_lock 2
		1200 high lock_wait 1
		1300 low lock_wait 2
		9000 other note
		:unfinished
	END
	run 0 why --incomplete --thread high run.ptl
	answer 'Job 1 of high has not ended after 8.00 ms: it waited 7.80 ms for lock 1, which low had while that one waited for lock 2, which high had: a deadlock.'
	out_has 'Locks that are always taken in the same order cannot do that.'
}

time_before_the_begin_counts_from_the_release()
{
	story run.ptl <<-END
		1000 middle middle_begin 3
		2000 - high_release 7
		5000 middle middle_end 3
		5010 high high_begin 7 -1
		6010 high high_end 7
		6020 high deadline_miss 7 2000000
	END
	explains 'Job 7 of high was late by 2.00 ms: it began only 3.01 ms after its release, because middle ran.'
	out_has '4.010  100.0%  from release to end'
}

what_nests_inside_the_span_is_told()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		1100 high step_enter
		7100 high step_exit
		7200 high high_end 1
		7201 high deadline_miss 1 3000000
	END
	explains 'Job 1 of high was late by 3.00 ms: what it did for 6.20 ms is not recorded (own work, or a call that blocked), most of it in step.'
	out_has '6.000   96.8%  not recorded: own work, or a call that blocked, in step'
}

between_block_and_wake_the_thread_sleeps()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		1100 high wait_block 5
		8000 other wait_wake 101
		8050 high note
		8200 high high_end 1
		8201 high deadline_miss 1 3000000
	END
	run 0 why --json run.ptl
	is 'late["causes"][0]["kind"], late["causes"][0]["ns"]' 'blocked 6900000'
	add_up
}

a_job_behind_a_late_one_is_explained_by_it()
{
	story run.ptl <<-END
		500 low lock_lock 1
		1000 high high_begin 1 0
		1100 high lock_wait 1
		9000 low lock_unlock 1
		9010 high lock_lock 1
		9020 high lock_unlock 1
		9100 high high_end 1
		9200 high high_begin 2 5000000
		9300 high high_end 2
		9301 high deadline_miss 2 3000000
	END
	explains 'Job 2 of high was late by 3.00 ms: it began only 5.00 ms after its release, because its thread was still at the one before and waited for lock 1: low had it.'
	out_has '4.800   94.1%  released, but its thread was still at the one before and waited for lock 1: low had it'
	COLUMNS=60 "$pxtrace" why run.ptl >narrow || fail 'exit status'
	sed -n '/^WHERE/,$p' narrow >tables
	awk 'length > 60' tables >wide
	[ ! -s wide ] || fail "too wide: $(cat wide)"
	cat >expected <<-END
		      4.800   94.1%  released, but its thread was still at
		                     the one before and waited for lock 1:
		                     low had it
	END
	sed -n '/94.1%/,/low had it/p' tables | cmp -s - expected || fail "broken otherwise: $(cat tables)"
	# A span that is longer than its column has a line of its own.
	story long.ptl <<-END
		1000 middle high_begin 1234567890 0
		9000 middle high_end 1234567890
		9001 middle deadline_miss 1234567890 3000000
		11000 low low_begin 1 0
		19000 low low_end 1
		19001 low deadline_miss 1 2000000
	END
	COLUMNS=60 "$pxtrace" why long.ptl >narrow || fail 'exit status'
	grep -q '  high 1234567890 of middle$' narrow || fail "no line of its own: $(cat narrow)"
	sed -n '/^MISSED/,$p' narrow | awk 'length > 60' >wide
	[ ! -s wide ] || fail "too wide: $(cat wide)"
}

# ---- With events of the scheduler ----

# priorities of the kernel: smaller is more urgent
make_scheduled()
{
	story "$1" <<-END
		500 - sched_switch 0 0 120 0 103 $2
		1010 low lock_lock 1
		2000 - sched_switch 0 103 $2 0 101 10
		2000 high high_begin 7 0
		2500 high lock_wait 1
		2510 - sched_switch 0 101 10 1 103 $2
		2600 - sched_switch 0 103 $2 0 104 $3
		10600 - sched_switch 0 104 $3 1 103 $2
		11000 low lock_unlock 1
		11005 - sched_wakeup 101
		11008 - sched_switch 0 103 $2 0 101 10
		11010 high lock_lock 1
		11300 high lock_unlock 1
		11310 - sched_switch 0 101 10 0 104 $3
		12310 - sched_switch 0 104 $3 1 101 10
		12400 high high_end 7
		12410 high deadline_miss 7 6400000
	END
}

the_scheduler_says_who_ran_instead()
{
	make_scheduled run.ptl 30 20
	explains 'Job 7 of high was late by 6.40 ms: it waited 8.50 ms for lock 1, which low had and could not give back, because other ran instead for 8.00 ms: a priority inversion.'
	out_has 'A mutex with PTHREAD_PRIO_INHERIT lets low finish first.'
	out_has '1.000    9.6%  could run, but other did'
	out_has '0.600  other           runs on CPU 0, where low ran'
	out_lacks 'concluded'
	run 0 why --json run.ptl
	is 'late["causes"][0]["told_by_scheduler"]' True
	add_up
}

# QNX-56
priorities_of_a_dump_make_an_inversion_sure()
{
	make_inversion run.ptl
	run 0 why run.ptl
	out_has 'if middle is less urgent than high'
	for prio in 60 10; do
		{
			printf '100 high thread_state %d %d\n' 101 20 102 "$prio" 103 80
			cat <<-END
				1010 low lock_lock 1
				2000 high high_begin 7 0
				2500 high lock_wait 1
				2600 middle middle_begin 3
				10600 middle middle_end 3
				11000 low lock_unlock 1
				11010 high lock_lock 1
				11300 high lock_unlock 1
				11400 high high_end 7
				11410 high deadline_miss 7 6400000
			END
		} | story told.ptl
		run 0 why told.ptl
		if [ "$prio" = 60 ]; then
			out_has 'A mutex with PTHREAD_PRIO_INHERIT lets low finish first.'
		else
			out_lacks inversion
		fi
	done
}

a_more_urgent_thread_is_no_inversion()
{
	make_scheduled run.ptl 30 5
	run 0 why run.ptl
	out_lacks inversion
	out_lacks PRIO_INHERIT
}

a_sleeping_thread_is_told_by_the_scheduler()
{
	story run.ptl <<-END
		900 - sched_switch 0 0 120 0 101 10
		1000 high high_begin 1 0
		2000 - sched_switch 0 101 10 1 0 120
		7000 - sched_switch 0 0 120 0 101 10
		7100 high high_end 1
		7101 high deadline_miss 1 3000000
	END
	explains 'Job 1 of high was late by 3.00 ms: it slept for 5.00 ms.'
	out_has 'CPU 0 has nothing to do, where high ran'
}

# LPT-30: a scheduler that is recorded without privileges tells of the program's own threads only.
threads_that_the_scheduler_does_not_tell_of_are_others()
{
	story run.ptl <<-END
		900 - sched_switch 0 -1 0 0 101 10
		1000 high high_begin 7 0
		2000 - sched_switch 0 101 10 0 -1 0
		5000 - sched_switch 0 -1 0 0 101 10
		6000 high high_end 7
		6010 high deadline_miss 7 3000000
	END
	explains 'Job 7 of high was late by 3.00 ms: others ran instead of it for 3.00 ms.'
	out_has '3.000   60.0%  could run, but others did'
	out_has 'others          may run on CPU 0, where high ran'
	out_lacks 'nothing to do'
}

# Nobody knows whether others are urgent.
others_are_no_reason_for_an_inversion()
{
	story others.ptl <<-END
		500 - sched_switch 0 -1 0 0 103 30
		1010 low lock_lock 1
		2000 high high_begin 7 0
		2500 high lock_wait 1
		2600 - sched_switch 0 103 30 0 -1 0
		10600 - sched_switch 0 -1 0 0 103 30
		11000 low lock_unlock 1
		11010 high lock_lock 1
		11300 high lock_unlock 1
		12400 high high_end 7
		12410 high deadline_miss 7 6400000
	END
	run 0 why others.ptl
	out_has 'because others ran instead for 8.00 ms'
	out_lacks 'inversion'
	out_lacks PRIO_INHERIT
}

# ---- Roles, the command line, hostile logs ----

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
