#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: logs whose answer is known, because a recipe made them.
. "$(dirname "$0")/common.sh"

# story FILE: lines "MICROSECONDS THREAD EVENT NUMBER..." on standard input; other orders of mklog
# stand behind a colon.  Numbers become fields of the event's description.
story()
{
	awk '
	BEGIN {
		split("high middle low other", names)
		for (i = 1; i <= 4; i++) {
			index_of[names[i]] = i
			printf "thread %d 0x7f000000%d000 %d %s\n", i, i, 100 + i, names[i]
		}
		index_of["-"] = 0
		types = "high_begin:u32 job, i64 start_ns:u32 i64;high_end:u32 job:u32;" \
			"middle_begin:u32 job:u32;middle_end:u32 job:u32;low_begin:u32 job:u32;" \
			"low_end:u32 job:u32;lock_wait:u32 lock:u32;lock_lock:u32 lock:u32;" \
			"lock_unlock:u32 lock:u32;deadline_miss:u32 job, i64 late_ns:u32 i64;" \
			"sched_switch:u32 cpu, i32 prev_tid, i32 prev_prio, i64 prev_state, " \
			"i32 next_tid, i32 next_prio:u32 i32 i32 i64 i32 i32;" \
			"sched_wakeup:i32 tid:i32;high_release:u32 job:u32;step_enter::;step_exit::;" \
			"wait_block:u32 on:u32;wait_wake:i32 tid:i32;note::;high_late:u32 job:u32"
		count = split(types, list, ";")
		for (i = 1; i <= count; i++) {
			split(list[i], part, ":")
			id[part[1]] = 39 + i
			kinds[part[1]] = part[3]
			printf "type %d %s %s\n", 39 + i, part[1], part[2]
		}
	}
	/^[ \t]*:/ { sub(/^[ \t]*:/, ""); print; next }
	NF {
		if (!($3 in id) && $3 != "START" && $3 != "STOP") { print "what is " $3; exit }
		number = $3 == "START" ? 2 : $3 == "STOP" ? 3 : id[$3]
		line = sprintf("event %.0f %d %d 0", $1 * 1000, number, index_of[$2])
		split(kinds[$3], kind, " ")
		for (i = 4; i <= NF; i++) line = line " " kind[i - 3] ":" $i
		print line
	}' | "$mklog" >"$1" || fail mklog
}

# Of the first span in JSON: an expression of Python in which "late" is it.
asked() { "${PXT_PYTHON:-python3}" -c "import json; late = json.load(open('out'))['late'][0]; print($1)"; }
# is EXPRESSION TEXT
is()
{
	found=$(asked "$1" 2>>err) || fail "JSON: $1"
	[ "$found" = "$2" ] || fail "$1 is $found, not $2"
}
add_up() { is 'sum(c["ns"] for c in late["causes"]) - late["length_ns"]' 0; }
answer() { [ "$(head -n 1 out)" = "$1" ] || fail "the answer is not \"$1\""; }

make_inversion()
{
	story "$1" <<-END
		900 low low_begin 1
		1000 low lock_wait 1
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
		12000 low low_end 1
	END
}

# ---- The answer ----

the_answer_names_the_holder_and_who_ran_instead()
{
	make_inversion run.ptl
	cat >golden <<-END
		Job 7 of high was late by 6.400 ms: it waited 8.500 ms for lock 1, which low had and could not give back, because middle ran instead for 8.000 ms: a priority inversion.
		A mutex with PTHREAD_PRIO_INHERIT lets low finish first, if middle is less urgent than high.

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
		      9.400  high            6.400 ms too late

		WHERE THE TIME WENT
		        ms   share
		      8.000   85.1%  waited for lock 1: low had it and could not run: middle did *
		      0.600    6.4%  its own work
		      0.500    5.3%  waited for lock 1: low had it
		      0.290    3.1%  its own work, with lock 1
		      0.010    0.1%  waited for lock 1: nobody had it, but low ran *
		      9.400  100.0%  from release to end

		MEANWHILE: spans of other threads, and for how long they overlapped
		      9.400 ms  low             low 1
		      8.000 ms  middle          middle 3

		* concluded from the order of events on one CPU, as no scheduler event says it;
		  whoever slept there without an event for it seems to have run
	END
	run 0 why run.ptl
	same golden
}

a_chain_of_holders_is_followed_to_its_end()
{
	story run.ptl <<-END
		100 other lock_lock 3
		200 low lock_lock 2
		300 low lock_wait 3
		1000 high high_begin 1 0
		1100 high lock_wait 2
		5000 other lock_unlock 3
		5010 low lock_lock 3
		5500 low lock_unlock 3
		5600 low lock_unlock 2
		5610 high lock_lock 2
		5700 high lock_unlock 2
		6000 high high_end 1
		6001 high deadline_miss 1 1000000
	END
	run 0 why run.ptl
	answer 'Job 1 of high was late by 1.000 ms: it waited 4.500 ms for lock 2, which low had while that one waited for lock 3, which other had.'
	out_has '3.900   78.0%  waited for lock 2: low had it, which waited for lock 3: other had it'
	out_has '-0.900  other           has had lock 3 since then'
	run 0 why --json run.ptl
	is '[(l["lock"], l["holder"]) for l in late["causes"][0]["chain"]]' "[('lock 2', 'low'), ('lock 3', 'other')]"
	add_up
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
	out_has '4.000   47.1%  its own work, with lock 2'
	out_has '4.000   47.1%  its own work, with lock 1'
	out_has '0.500    5.9%  its own work'
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
	answer 'Job 1 of high has not ended after 8.000 ms: it waited 7.800 ms for lock 1, which low had while that one waited for lock 2, which high had: a deadlock.'
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
	run 0 why run.ptl
	answer 'Job 7 of high was late by 2.000 ms: it began only 3.010 ms after its release, because middle ran.'
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
	run 0 why run.ptl
	answer 'Job 1 of high was late by 3.000 ms: its own work took 6.200 ms, most of it in step.'
	out_has '6.000   96.8%  its own work, in step'
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
	run 0 why run.ptl
	answer 'Job 2 of high was late by 3.000 ms: it began only 5.000 ms after its release, because its thread was still at the one before and waited for lock 1: low had it.'
	out_has '4.800   94.1%  released, but its thread was still at the one before and waited for lock 1: low had it'
}

# ---- What is not known ----

lost_events_hide_time_and_nothing_else()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		2000 high high_begin 7 0
		2500 high lock_wait 1
		4000 middle middle_begin 3
		:loss 12
		6000 middle middle_end 3
		9000 high lock_lock 1
		9300 high lock_unlock 1
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms: what it did for 5.000 ms is not known, because 12 events were lost.'
	out_has '4.000                  12 EVENTS WERE LOST up to here'
	out_has '5.000   67.6%  not known: 12 events were lost'
	out_has '1.500   20.3%  waited for lock 1: low had it'
	out_has '12 events are missing inside: what is not known is not guessed'
	err_has '12 EVENTS WERE LOST'
	run 3 why --strict --json run.ptl
	is 'late["lost_inside"]' 12
	add_up
}

a_lock_is_unknown_behind_a_loss_until_somebody_takes_it()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		:loss 1
		2000 high high_begin 7 0
		2500 high lock_wait 1
		9000 high lock_lock 1
		9300 high lock_unlock 1
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms: it waited 6.500 ms for lock 1: who had it is not in the log.'
	out_has 'lock_wait  lock=1  <- who has it is not in the log'
}

# The first field is a number of the thread's own: all seem to ask for other locks.
a_free_lock_that_is_waited_for_is_no_certain_thing()
{
	odd='type 32 high_begin u32 job
type 33 high_end u32 job
type 34 mtx_wait u32 %s, x64 %s
type 35 mtx_lock u32 %s, x64 %s
type 36 mtx_unlock u32 %s, x64 %s
type 37 deadline_miss u32 job, i64 late_ns
event 100000 35 1 0 u32:7 u64:0xdead
event 200000 36 1 0 u32:7 u64:0xdead
event 300000 35 2 0 u32:3 u64:0xbeef
event 1000000 32 1 0 u32:7
event 1500000 34 1 0 u32:7 u64:0xbeef
event 8000000 36 2 0 u32:3 u64:0xbeef
event 8010000 35 1 0 u32:7 u64:0xbeef
event 8500000 36 1 0 u32:7 u64:0xbeef
event 9000000 33 1 0 u32:7
event 9001000 37 1 0 u32:7 i64:6400000
'
	threads='thread 1 0x1000 11 high
thread 2 0x2000 12 low
'
	# shellcheck disable=SC2059
	printf "$threads$odd" job where job where job where | "$mklog" >run.ptl || fail mklog
	run 0 why run.ptl
	out_lacks 'nobody had it'
	out_has 'waited 6.510 ms for mtx 7: who had it is not known, no event says that anybody did'
	out_has 'The field "job" was taken for the lock.'
	run 0 why --json run.ptl
	is 'late["causes"][0]["holder_state"]' doubt
	# Called what it is, it is found wherever it stands.
	# shellcheck disable=SC2059
	printf "$threads$odd" job lock job lock job lock | "$mklog" >run.ptl || fail mklog
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms: it waited 6.500 ms for mtx 0xbeef, which low had.'
	out_lacks 'was taken for the lock'
}

the_list_names_what_most_of_the_time_went_to()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		1100 high lock_wait 1
		1200 high lock_lock 1
		1300 high lock_unlock 1
		2000 high high_end 1
		2001 high deadline_miss 1 100000
		5000 low lock_lock 1
		6000 high high_begin 2 0
		6100 high lock_wait 1
		7300 low lock_unlock 1
		7310 high lock_lock 1
		7320 high lock_unlock 1
		16000 high high_end 2
		16001 high deadline_miss 2 1500000
	END
	run 0 why run.ptl
	answer 'Job 2 of high was late by 1.500 ms: it waited 1.200 ms for lock 1, which low had.'
	out_has 'MISSED DEADLINES, by most first'
	grep '^ .*job 2 of high' out | grep -q 'its own work' || fail 'mostly something else'
}

who_gives_a_lock_back_had_it_before()
{
	story run.ptl <<-END
		2000 high high_begin 7 0
		2500 high lock_wait 1
		8900 low lock_unlock 1
		9000 high lock_lock 1
		9300 high lock_unlock 1
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms: it waited 6.400 ms for lock 1, which low had.'
	run 0 why --json run.ptl
	is 'late["causes"][0]["holder_state"]' seen
	add_up
}

who_gives_it_back_says_nothing_of_an_earlier_wait()
{
	story run.ptl <<-END
		2000 high high_begin 7 0
		2500 high lock_wait 1
		3500 high lock_lock 1
		3600 high lock_unlock 1
		:loss 2
		4000 high note
		4500 high lock_wait 1
		8000 low lock_unlock 1
		8010 high lock_lock 1
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	run 0 why run.ptl
	out_has '3.500   47.3%  waited for lock 1: low had it'
	out_has '1.000   13.5%  waited for lock 1: who had it is not in the log'
	out_has '0.400    5.4%  not known: 2 events were lost'
}

what_another_log_says_does_not_shorten_a_gap()
{
	story a.ptl <<-END
		2000 high high_begin 7 0
		:loss 3
		9000 high note
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	story b.ptl <<-END
		3000 middle note
		6000 middle note
	END
	run 0 why --json a.ptl b.ptl
	is '[c["ns"] for c in late["causes"] if c["kind"] == "lost"]' '[7000000]'
	is 'late["lost_inside"]' 3
	add_up
}

a_number_matches_begin_and_end_across_a_loss()
{
	story run.ptl <<-END
		1000 high high_begin 7 0
		:loss 3
		9000 high high_end 7
		9001 high deadline_miss 7 3000000
		10000 high step_enter
		:loss 2
		19000 high step_exit
	END
	run 0 why --json run.ptl
	is 'late["length_ns"], late["number"]' '8000000 7'
	run 0 why --event step run.ptl
	out_has 'No span like that ended in this log.'
}

a_miss_without_its_begin_says_so()
{
	story run.ptl <<-END
		:loss 9
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms; why, is not known: its begin is not in the log.'
}

a_stopped_trace_is_a_gap()
{
	story run.ptl <<-END
		1000 high high_begin 7 0
		2000 - STOP
		7000 - START
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms: what it did for 7.400 ms was not recorded.'
	out_has 'nothing was recorded up to here: the trace was stopped'
}

# ---- The scheduler ----

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
	run 0 why run.ptl
	answer 'Job 7 of high was late by 6.400 ms: it waited 8.500 ms for lock 1, which low had and could not give back, because other ran instead for 8.000 ms: a priority inversion.'
	out_has 'A mutex with PTHREAD_PRIO_INHERIT lets low finish first.'
	out_has '1.000    9.6%  could run, but other did'
	out_has '0.600  other           runs on CPU 0, where low ran'
	out_lacks 'concluded'
	run 0 why --json run.ptl
	is 'late["causes"][0]["told_by_scheduler"]' True
	add_up
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
	run 0 why run.ptl
	answer 'Job 1 of high was late by 3.000 ms: it slept for 5.000 ms.'
	out_has 'CPU 0 has nothing to do, where high ran'
}

# ---- Which spans ----

make_many()
{
	{
		for i in 1 2 3 4 5 6 7 8 9; do
			echo "${i}000 high high_begin $i 0"
			echo "${i}${i}00 high high_end $i"
			echo "${i}950 middle middle_begin $i"
			echo "${i}960 middle middle_end $i"
		done
	} | story "$1"
}

without_deadlines_the_unusual_is_explained()
{
	make_many run.ptl
	run 0 why run.ptl
	answer 'Job 9 of high took 900.0 us, where 500.0 us is usual: its own work took 900.0 us.'
	out_has 'LONGER THAN USUAL'
}

what_is_always_long_is_not_unusual()
{
	{
		for i in 1 2 3 4 5; do
			echo "${i}0000 middle middle_begin $i"
			echo "${i}8000 middle middle_end $i"
			echo "${i}8100 high high_begin $i 0"
			echo "${i}8$((i / 5 * 5 + 2))00 high high_end $i"
		done
	} | story run.ptl
	run 0 why run.ptl
	answer 'Job 5 of high took 600.0 us, where 100.0 us is usual: its own work took 600.0 us.'
}

jobs_of_one_thread_may_overlap()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		2000 high high_begin 2 0
		3000 high step_enter
		4000 high high_end 1
		9000 high high_end 2
		9001 high deadline_miss 2 3000000
	END
	run 0 why --json run.ptl
	is 'late["number"], late["length_ns"]' '2 7000000'
	is '[c["ns"] for c in late["causes"]]' '[6000000, 1000000]'
	run 0 why --json --at 1.5ms run.ptl
	is 'late["number"], late["length_ns"]' '1 3000000'
}

longer_than_counts_what_is_longer()
{
	make_many run.ptl
	run 0 why --longer-than 650us run.ptl
	out_has 'Job 9 of high took 900.0 us'
	out_has 'LONGER THAN ASKED FOR'
	[ "$(sed -n '/^LONGER THAN ASKED/,$p' out | grep -c 'job [0-9] of high')" -eq 3 ] || fail 'not three'
	run 0 why --longer-than 2s run.ptl
	answer 'Nothing was that long: 18 spans were read.'
}

a_moment_names_its_span()
{
	make_many run.ptl
	run 0 why --at 4.2ms run.ptl
	answer 'Job 4 of high took 400.0 us, where 500.0 us is usual: its own work took 400.0 us.'
	run 0 why --at 4.5ms run.ptl
	answer 'No span was open at that time.'
}

event_and_thread_choose()
{
	make_many run.ptl
	run 0 why --event middle run.ptl
	out_has 'of middle took 10.00 us'
	run 0 why --thread 102 run.ptl
	out_has 'of middle took 10.00 us'
	run 0 why --event nothing run.ptl
	out_has 'No span like that ended'
	err_has 'no event type is called "nothing"'
}

worst_explains_several()
{
	make_many run.ptl
	run 0 why --worst 2 run.ptl
	out_has 'Job 9 of high'
	out_has 'Job 8 of high'
	[ "$(grep -c '^WHERE THE TIME WENT' out)" -eq 2 ] || fail 'not two'
}

a_log_without_spans_says_what_a_span_is()
{
	story run.ptl <<-END
		1000 high note
	END
	run 0 why run.ptl
	answer 'No spans in this log: nothing can be late.'
	err_has 'a span is what lies between X_begin and X_end'
}

several_logs_are_one_story()
{
	story a.ptl <<-END
		2000 high high_begin 7 0
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	story b.ptl <<-END
		2600 middle middle_begin 3
		8600 middle middle_end 3
		:loss 5
		8700 middle note
	END
	run 0 why --json a.ptl b.ptl
	is 'late["meanwhile"][0]["span"], late["meanwhile"][0]["ns"], late["lost_inside"]' 'middle 6000000 0'
	add_up
}

long_time_lines_are_cut_in_the_middle()
{
	{
		echo '1000 high high_begin 1 0'
		seq -f '%.0f high note' 2000 11999
		echo '20000 high high_end 1'
		echo '20001 high deadline_miss 1 3000000'
	} | story run.ptl
	run 0 why --lines 10 run.ptl
	out_has '... 9992 more (--lines shows more)'
	[ "$(sed -n '/^TIME LINE/,/^$/p' out | wc -l)" -eq 15 ] || fail 'not ten lines'
	run 0 why --json run.ptl
	is 'late["time_line_left_out"], len(late["time_line"])' '5906 4096'
}

# ---- Roles ----

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
	answer 'frame 5 of worker was late by 4.000 ms: it waited 5.900 ms for mutex 0xbeef, which writer had.'
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

# ---- The command line, hostile logs ----

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
