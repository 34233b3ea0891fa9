#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: the answer: holders, chains, deadlocks, what nests.
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
		  whoever slept there without an event for it seems to have run
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
	run 0 why run.ptl
	answer 'Job 7 of high was late by 2.00 ms: it began only 3.01 ms after its release, because middle ran.'
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
	answer 'Job 1 of high was late by 3.00 ms: what it did for 6.20 ms is not recorded (own work, or a call that blocked), most of it in step.'
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
	run 0 why run.ptl
	answer 'Job 2 of high was late by 3.00 ms: it began only 5.00 ms after its release, because its thread was still at the one before and waited for lock 1: low had it.'
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

"$case"
