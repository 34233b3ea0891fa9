#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: which spans are explained.
. "$(dirname "$0")/whylib.sh"

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
	explains 'Job 9 of high took 900 us, where 500 us is usual: what it did for 900 us is not recorded (own work, or a call that blocked).'
	out_has 'LONGER THAN USUAL'
	COLUMNS=60 "$pxtrace" why run.ptl >out || fail 'exit status'
	sed -n '/^LONGER/,$p' out | awk 'length > 60' >wide
	[ ! -s wide ] || fail "too wide: $(cat wide)"
	grep -q '^                  not recorded: own work' out || fail 'no cause'
}

# Each turn takes 1 ms but for the last one; the thread's CPU time tells what it did.
turns()
{
	{
		for i in 1 2 3 4; do
			echo "${i}0000 high turn_begin $i ${i}000000"
			echo "${i}1000 high turn_end $i ${i}900000"
		done
		echo "50000 high turn_begin 5 10000000"
		echo "59000 high turn_end 5 $1"
	} | story run.ptl
}

cpu_times_tell_own_work_from_waits_that_are_not_recorded()
{
	turns 18500000
	explains 'turn 5 of high took 9.00 ms, where 1.00 ms is usual: its own work took 8.50 ms.'
	out_lacks 'would tell'
	turns 11000000
	explains 'turn 5 of high took 9.00 ms, where 1.00 ms is usual: of 9.00 ms it ran for 1.00 ms only, by its CPU time; what it waited for is not recorded.'
	out_has '`pxtrace run` would tell'
	run 0 why --json run.ptl
	is 'late["ran_ns"]' 1000000
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
	explains 'Job 5 of high took 600 us, where 100 us is usual: what it did for 600 us is not recorded (own work, or a call that blocked).'
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
	out_has 'Job 9 of high took 900 us'
	out_has 'LONGER THAN ASKED FOR'
	[ "$(sed -n '/^LONGER THAN ASKED/,$p' out | grep -c 'job [0-9] of high')" -eq 3 ] || fail 'not three'
	run 0 why --longer-than 2s run.ptl
	answer 'Nothing was that long: 18 spans were read.'
}

a_moment_names_its_span()
{
	make_many run.ptl
	run 0 why --at 4.2ms run.ptl
	answer 'Job 4 of high took 400 us, where 500 us is usual: what it did for 400 us is not recorded (own work, or a call that blocked).'
	run 0 why --at 4.5ms run.ptl
	answer 'No span was open at that time.'
}

event_and_thread_choose()
{
	make_many run.ptl
	run 0 why --event middle run.ptl
	out_has 'of middle took 10.0 us'
	run 0 why --thread 102 run.ptl
	out_has 'of middle took 10.0 us'
	run 2 why --event nothing run.ptl
	out_has 'No span like that ended'
	err_has 'no event type is called "nothing"'
	run 2 why --event hihg run.ptl
	err_has '--event: no event type is called "hihg"; did you mean "high"?'
	run 2 why --event middle --thread 102 --thread nosuch run.ptl
	out_has 'of middle took 10.0 us'
	[ "$(grep -c 'called' err)" -eq 1 ] || fail 'a span that there is'
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
	explains 'No spans and no waits in this log: nothing can be late.'
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

spans_are_late_by_what_the_user_demands()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		2000 high high_end 1
		3000 high high_begin 2 0
		8000 high high_end 2
		9000 middle middle_begin 1
		29000 middle middle_end 1
	END
	run 0 why --deadline high=3ms run.ptl
	answer 'Job 2 of high was late by 2.00 ms, by its deadline of 3.00 ms: what it did for 5.00 ms is not recorded (own work, or a call that blocked).'
	run 0 why --period 900us run.ptl
	answer 'Job 1 of middle was late by 19.1 ms, by its period of 900 us: what it did for 20.0 ms is not recorded (own work, or a call that blocked).'
	run 0 why --json --deadline high=3ms run.ptl
	is '(late["missed_deadline"], late["usual_is"], late["late_ns"])' "(True, 'deadline', 2000000)"
	run 0 why --deadline 1s run.ptl
	answer 'Nothing was that long: 3 spans were read.'
}

# LPT-30: the program's own trace points have a place, too
a_lock_that_the_program_tells_of_was_taken_in_a_function()
{
	need readelf
	make_library
	id=$(readelf -n libcache.so | sed -n 's/.*Build ID: //p')
	"$mklog" >run.ptl <<-END || fail mklog
		thread 1 0x7f0000001000 101 high
		thread 2 0x7f0000002000 102 low
		type 40 job_begin u32 job
		type 41 job_end u32 job
		type 42 mtx_wait x64 lock
		type 43 mtx_lock x64 lock
		type 44 mtx_unlock x64 lock
		type 45 deadline_miss u32 job
		module $BASE $BASE $((BASE + 1048576)) ${id:--} $PWD/libcache.so
		event 1000000 43 2 $(at refill 1) u64:7
		event 2000000 40 1 $(at look_up 1) u32:1
		event 2010000 42 1 $(at look_up 1) u64:7
		event 9000000 44 2 $(at store 1) u64:7
		event 9001000 43 1 $(at look_up 1) u64:7
		event 9100000 41 1 $(at look_up 1) u32:1
		event 9101000 45 1 $(at look_up 1) u32:1
	END
	explains 'Job 1 of high missed its deadline after 7.10 ms: it waited 6.99 ms for mtx 0x7, which low had, taken in refill (cache.c:4).'
	# An address that nobody knows says less than the name of the lock.
	rm libcache.so
	explains 'Job 1 of high missed its deadline after 7.10 ms: it waited 6.99 ms for mtx 0x7, which low had.'
}

# Jobs 2 to 4 were released while job 1 went on: one line tells of them.
jobs_behind_a_late_one_follow_from_it()
{
	story run.ptl <<-END
		500 low lock_lock 1
		1000 high high_begin 1 0
		1100 high lock_wait 1
		9000 low lock_unlock 1
		9010 high lock_lock 1
		9020 high lock_unlock 1
		9100 high high_end 1
		9101 high deadline_miss 1 6100000
		9200 high high_begin 2 6200000
		10300 high high_end 2
		10301 high deadline_miss 2 5300000
		10400 high high_begin 3 5400000
		11500 high high_end 3
		11501 high deadline_miss 3 4500000
		21000 high high_begin 4 0
		25000 high high_end 4
		25001 high deadline_miss 4 2000000
	END
	explains 'Job 1 of high was late by 6.10 ms: it waited 7.90 ms for lock 1, which low had.'
	out_has '2 more follow from it, late by up to 5.30 ms.'
	run 0 why --json run.ptl
	is 'late["followers"]' 2
	is 'json.load(open("out"))["missed_deadlines"]' 4
}

what_kept_a_job_from_beginning_may_not_be_recorded()
{
	story run.ptl <<-END
		9000 high high_begin 7 8000000
		9400 high high_end 7
		9410 high deadline_miss 7 6400000
	END
	explains 'Job 7 of high was late by 6.40 ms: it began only 8.00 ms after its release; what it waited for is not recorded.'
	out_has '`pxtrace run` would tell'
}

# nested DEPTH
nested()
{
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++) print i + 1000, "high high_begin", i, 0
		for (i = n; i-- > 0;) print 3 * n - i + 2000, "high high_end", i
	}' | story run.ptl
}

spans_that_find_no_place_are_counted_aloud()
{
	nested 300
	run 0 why run.ptl
	[ ! -s err ] || fail 'not all were kept'
	grep -q '^Job 0 of high took' out || fail "another answer: $(head -n 1 out)"
	nested 4100
	run 0 why run.ptl
	err_has '4 threads, spans, waits or locks found no place in memory and are left out'
	run 0 why --longer-than 1s run.ptl
	err_has '4 threads, spans, waits or locks found no place in memory and are left out'
}

"$case"
