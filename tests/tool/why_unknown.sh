#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: what is not known: losses, stops, locks that nobody was seen to take.
. "$(dirname "$0")/whylib.sh"

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
	explains 'Job 7 of high was late by 6.40 ms: what it did for 5.00 ms is not known, because 12 events were lost.'
	out_has '4.000                  12 EVENTS LOST up to here'
	out_has '5.000   67.6%  not known: 12 events were lost'
	out_has '1.500   20.3%  waited for lock 1: low had it'
	out_has '12 events are missing inside: what is not known is not guessed'
	err_has '12 EVENTS LOST'
	run 3 why --strict --json run.ptl
	is 'late["lost_inside"]' 12
	add_up
}

# The counter stepped back: times stand still until it is where it was, and lengths say nothing.
spans_across_a_step_back_of_the_clock_are_counted_and_not_judged()
{
	story run.ptl <<-END
		1000 high high_begin 1 0
		2000 high high_end 1
		3000 high high_begin 2 0
		4000 high high_end 2
		50000 high high_begin 3 0
		20000 high high_end 3
		21000 high high_begin 4 0
		22000 high high_end 4
		23000 high high_begin 5 0
		60000 high high_end 5
		60000 high high_begin 6 0
		67000 high high_end 6
	END
	run 0 why run.ptl
	out_lacks '0 ns is usual'
	grep -q '^Job 6 of high took 7.00 ms' out || fail "$(cat out)"
	err_has 'run.ptl: THE CLOCK STEPPED BACK: 4 events'
	err_has '3 spans are not judged: the clock stepped back while they were open'
	run 0 why --json run.ptl
	grep -q '"spans_read":3,"unjudged_by_clock":3,' out || fail "$(head -c 300 out)"
	run 0 stat run.ptl
	out_has 'high_begin .. high_end          3     1.00 ms'
	out_has 'unmatched: 3 ended 3 cut by a loss or the clock'
}

waits_rounds_and_locks_end_at_a_step_back_of_the_clock()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		49000 low lock_lock 2
		50000 high lock_wait 1
		20000 low lock_unlock 1
		90000 high lock_lock 1
		91000 high lock_unlock 1
	END
	run 0 why --waits run.ptl
	out_has 'No wait for a lock like that in this log.'
	run 0 why --locks run.ptl
	out_lacks '40.0 ms'
}

# As where a program gives a date, or what another clock says.
a_release_or_lateness_that_cannot_be_is_named_and_left_out()
{
	story run.ptl <<-END
		1000 high high_begin 7 1700000000000000000
		9000 high high_end 7
		9010 high deadline_miss 7 -5
	END
	run 0 why run.ptl
	out_has 'Job 7 of high missed its deadline after 8.00 ms'
	err_has 'start_ns cannot be 1700000000000000000 ns (negative, or longer than the log): 2 such times are left out'
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
	explains 'Job 7 of high was late by 6.40 ms: it waited 6.50 ms for lock 1: who had it is not in the log.'
	out_has 'lock_wait  lock=1  <- who has it is not in the log'
}

# The first field is a number of the thread's own: all seem to ask for other locks.
# The first field is a line: the thread has "line 10" when it waits for it the next time, and gets it.
a_lock_that_was_got_was_in_no_deadlock()
{
	{
		echo '100 high lock_wait 10'
		echo '110 high lock_lock 10'
		echo '5000 high lock_wait 10'
		echo '30000 high lock_lock 10'
		echo '30100 high lock_unlock 11'
	} | story run.ptl
	run 0 why --waits run.ptl
	out_has 'high waited 25.0 ms'
	! grep -q deadlock out || fail 'a deadlock that ended'
}

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
	out_has 'waited 6.51 ms for mtx 7: who had it is not known, no event says that anybody did'
	out_has 'The field "job" was taken for the lock.'
	run 0 why --json run.ptl
	is 'late["causes"][0]["holder_state"]' doubt
	# Called what it is, it is found wherever it stands.
	# shellcheck disable=SC2059
	printf "$threads$odd" job lock job lock job lock | "$mklog" >run.ptl || fail mklog
	explains 'Job 7 of high was late by 6.40 ms: it waited 6.50 ms for mtx 0xbeef, which low had.'
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
	explains 'Job 2 of high was late by 1.50 ms: it waited 1.20 ms for lock 1, which low had.'
	out_has 'MISSED DEADLINES, by most first'
	grep '^ .*job 2 of high' out | grep -q 'own work' || fail 'mostly something else'
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
	explains 'Job 7 of high was late by 6.40 ms: it waited 6.40 ms for lock 1, which low had.'
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
	explains 'Job 7 of high was late by 6.40 ms; why, is not known: its begin is not in the log.'
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
	explains 'Job 7 of high was late by 6.40 ms: what it did for 7.40 ms was not recorded.'
	out_has 'nothing was recorded up to here: the trace was stopped'
}

"$case"
