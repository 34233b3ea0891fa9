#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: waits, of logs that have no spans or where they are asked for.
. "$(dirname "$0")/whylib.sh"

# Nobody's span: low has the lock, high waits for it, other runs instead of low.
make_waits()
{
	story "$1" <<-END
		500 - sched_switch 0 0 120 0 103 30
		1000 low lock_wait 1
		1010 low lock_lock 1
		2000 - sched_switch 0 103 30 0 101 10
		2500 high lock_wait 1
		2510 - sched_switch 0 101 10 1 103 30
		2600 - sched_switch 0 103 30 0 104 20
		10600 - sched_switch 0 104 20 1 103 30
		11000 low lock_unlock 1
		11008 - sched_switch 0 103 30 0 101 10
		11010 high lock_lock 1
		11300 high lock_unlock 1
		12000 high lock_wait 2
		12100 high lock_lock 2
		12200 high lock_unlock 2
	END
}

without_spans_the_longest_wait_is_explained()
{
	make_waits run.ptl
	explains 'high waited 8.51 ms for lock 1, which low had and could not give back, because other ran instead for 8.00 ms: a priority inversion.'
	out_has 'A mutex with PTHREAD_PRIO_INHERIT lets low finish first.'
	out_has '100.0%  the whole wait'
	out_has 'WAITS FOR LOCKS, the longest first'
	[ "$(grep -c 'high, lock 2  *100 us' out)" = 1 ] || fail 'no row of the second wait'
	run 0 why --json run.ptl
	is 'late["kind"], late["lock"], late["number"], late["thread"]' 'lock lock 1 high'
	is 'late["length_ns"]' 8510000
	add_up
}

where_there_are_spans_waits_are_asked_for()
{
	make_inversion run.ptl
	explains 'Job 7 of high was late by 6.40 ms: it waited 8.50 ms for lock 1, which low had and could not give back, because middle ran instead for 8.00 ms: a priority inversion.'
	run 0 why --waits run.ptl
	answer 'high waited 8.51 ms for lock 1, which low had and could not give back, because middle ran instead for 8.00 ms: a priority inversion.'
	run 0 why --waits --thread low run.ptl
	answer 'low waited 10.0 us for lock 1: who had it is not in the log.'
	run 0 why --waits --longer-than 9ms run.ptl
	answer 'No wait for a lock like that in this log.'
	run 2 why --waits --event 'nothing*' run.ptl
	answer 'No wait for a lock like that in this log.'
}

a_wait_that_never_ended_is_explained_as_a_deadlock()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		1100 high lock_lock 2
		1200 low lock_wait 2
		1300 high lock_wait 1
		9300 other note
	END
	explains 'low has waited 8.10 ms without end for lock 2, which high had while that one waited for lock 1, which low had: a deadlock.'
	out_has 'Locks that are always taken in the same order cannot do that.'
	run 0 why --json --worst 2 run.ptl
	is 'late["unfinished"]' True
	add_up
}

a_deadlock_on_one_lock_is_not_about_orders()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		1200 low lock_wait 1
		9300 other note
	END
	run 0 why run.ptl
	out_has 'It asked for a lock that it had.'
	out_lacks 'same order'
	log run.ptl <<-END
		1000 high sync_lock 64 0 1 0
		1010 low sync_lock 64 0 1 0
		2000 high sync_wait 64 103 2
		2010 low sync_wait 64 101 2
		1000000 other mutex_lock 256 0 0
	END
	run 0 why run.ptl
	out_has 'It asked for a lock that it had.'
}

# By the kernel's word when it left its CPU: 16 and 32, it is dead.
who_ended_with_a_lock_does_not_sleep()
{
	for state in 1 16 32; do
		log run.ptl <<-END
			500 - sched_switch 0 0 120 0 103 120
			1000 low mutex_lock 64 0 0
			1010 low call_enter 6 0 50
			1100 - sched_switch 0 103 120 0 101 120
			2000 high mutex_wait 64 103
			2100 - sched_switch 0 101 120 1 103 120
			3000 - sched_switch 0 103 120 $state 104 120
			900000 other mutex_lock 256 0 0
		END
		run 0 why run.ptl
		head -n 1 out >"answer.$state"
		run 0 why --locks run.ptl
		out_has 'low had it longest: 899 ms'
	done
	grep -q 'which low had; .*slept for ' answer.1 || fail "who sleeps does: $(cat answer.1)"
	for state in 16 32; do
		grep -q 'which low had; that one had ended[.].* Nobody else can give it back[.]' answer.$state ||
			fail "another answer: $(cat answer.$state)"
	done
}

a_wait_that_was_given_up_ends_there()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		2000 high lock_wait 1
		7000 high lock_wait 2
		7010 high lock_lock 2
		9000 high lock_unlock 2
	END
	explains 'high waited 5.00 ms for lock 1, which low had.'
}

a_wait_across_a_loss_is_none()
{
	story run.ptl <<-END
		1000 low lock_lock 1
		2000 high lock_wait 1
		:loss 3
		7000 high lock_lock 1
		7500 low lock_wait 1
		7600 low lock_lock 1
	END
	explains 'low waited 100 us for lock 1, which high had.'
}

the_longest_time_off_the_cpu_is_told_as_slept_and_kept_from_it()
{
	story run.ptl <<-END
		1000 - sched_switch 0 0 120 0 101 10
		2000 - sched_switch 0 101 10 1 104 20
		5000 - sched_wakeup 101
		9000 - sched_switch 0 104 20 0 101 10
		9500 - sched_switch 0 101 10 0 104 20
	END
	explains 'high was off the CPU for 7.00 ms: other ran instead of it for 4.00 ms.'
	out_has '3.000   42.9%  slept'
	out_has '4.000   57.1%  could run, but other did'
	out_has '100.0%  off the CPU'
	run 0 why --off-cpu --thread other run.ptl
	answer 'other was off the CPU for 500 us: high ran instead of it for 500 us.'
	run 0 why --json --off-cpu run.ptl
	is 'late["kind"]' off_cpu
	add_up
}

off_the_cpu_a_thread_is_known_by_the_scheduler_alone()
{
	story run.ptl <<-END
		500 low note
		:loss 3
		600 low note
		1000 - sched_switch 0 0 120 0 109 10
		2000 - sched_switch 0 109 10 1 104 20
		5000 - sched_wakeup 109
		9000 - sched_switch 0 104 20 0 109 10
	END
	run 0 why --off-cpu run.ptl
	answer 'thread 109 was off the CPU for 7.00 ms: other ran instead of it for 4.00 ms.'
}

what_never_came_back_to_a_cpu_was_not_off_it()
{
	story run.ptl <<-END
		1000 - sched_switch 0 0 120 0 101 10
		2000 - sched_switch 0 101 10 1 104 20
		9000 other note
	END
	run 0 why --off-cpu run.ptl
	answer 'No time off the CPU like that in this log.'
}

waits_and_times_off_the_cpu_are_two_questions()
{
	make_waits run.ptl
	run 1 why --waits --off-cpu run.ptl
	err_has 'two questions'
	run 1 why --locks --waits run.ptl
	err_has '--locks is of all locks'
}

# Of another program's threads it is told only what concerns this one: they may have run meanwhile.
where_not_all_is_told_only_own_threads_were_off_the_cpu()
{
	story run.ptl <<-END
		100 high note
		200 high sched_process_fork 110
		1000 - sched_switch 0 109 20 1 101 10
		3000 - sched_switch 0 101 10 1 -1 0
		5000 - sched_switch 0 -1 0 0 101 10
		6000 - sched_switch 0 101 10 1 109 20
		7000 - sched_switch 0 109 20 1 110 20
		7500 - sched_switch 0 110 20 1 -1 0
		8500 - sched_switch 0 -1 0 0 110 20
	END
	run 0 why --off-cpu run.ptl
	answer 'high was off the CPU for 2.00 ms: it slept for 2.00 ms.'
	out_has 'thread 110, off the CPU'
	out_lacks 'thread 109, off the CPU'
}

# Another program had the CPU when ten timers of high were due; once high waited for what low has.
late_timers_of_a_busy_machine_hide_no_late_round()
{
	{
		late_round
		echo "400 - task_rename 901 $(comm sh) $(comm stress) 1"
		awk 'BEGIN { for (i = 0; i < 10; i++) {
			at = 182600 + i * 50110
			printf "%d high call_enter 6 0 10\n", at
			printf "%d - sched_switch 1 101 120 1 901 120\n", at + 10
			printf "%d - sched_wakeup 101\n", at + 10000
			printf "%d - sched_switch 1 901 120 0 101 120\n", at + 50000
			printf "%d high call_exit 6 0 0 50010\n", at + 50010
		} }'
		sleeps high 683.8 20 10
	} | log run.ptl
	tells '^high took 50.4 ms for a round.*low had'
}

# high sleeps, and then reads what low answers: three times late.
a_timer_is_home_however_long_the_rounds_are()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 20; i++) {
			printf "%d high call_enter 6 0 10\n", at
			printf "%d high call_exit 6 0 0 10000\n", at + 10000
			took = i % 6 == 5 ? 400000 : 300
			printf "%d high call_enter 7 5 1\n", at + 10010
			printf "%d high call_exit 7 5 1 %d\n", at + 10010 + took, took
			at += 10100 + took
		}
	}' | log run.ptl
	tells '^high took 400 ms for a round, where 400 us is usual (3 of 19): it was in read'
}

# As an interpreter does that waits 5 ms at a time for its lock; low signals it at last.
who_waits_again_when_its_time_is_up_waits_on()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 14; i++) {
			printf "%d high call_enter 6 0 10\n", at
			at += 10000
			printf "%d high call_exit 6 0 0 10000\n", at
			count = i == 7 ? 24 : 3
			for (k = 0; k < count; k++) {
				printf "%d high cond_wait 512 576 5000000\n", at += 10
				if (k == count - 1) {
					printf "%d low cond_signal 512\n", at + 1990
					printf "%d low sched_wakeup 101\n", at + 1995
				}
				at += k < count - 1 ? 5000 : 2000
				printf "%d high cond_resume 512 576 5000 %d\n", at, k < count - 1 ? 110 : 0
			}
			at += 10
		}
	}' | log run.ptl
	explains 'high took 117 ms for a round, where 12.0 ms is usual (1 of 13): it was in pthread_cond_wait for 117 ms, until low woke it; low did for 117 ms what is not recorded: own work, or a call that blocked.'
}

# As a virtual machine does that waits for a monitor: 1 ms, 8 ms, 64 ms, and the mutex given back in between.
who_waits_again_for_longer_each_time_waits_on()
{
	{
		sleeps high 1 7 10
		awk 'BEGIN {
			at = 71700
			for (ms = 1; ms <= 64; ms *= 8) {
				printf "%d high cond_wait 512 576 %d\n", at += 10, ms * 1000000
				if (ms == 64) {
					printf "%d low cond_signal 512\n", at + 40000
					printf "%d low sched_wakeup 101\n", at + 40005
				}
				at += ms < 64 ? ms * 1000 : 40010
				printf "%d high cond_resume 512 576 %d %d\n", at, ms * 1000, ms < 64 ? 110 : 0
				printf "%d high mutex_unlock 576 0\n", at + 2
			}
		}'
		sleeps high 121.8 6 10
	} | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it was in pthread_cond_wait for 49.0 ms, until low woke it; low did for 49.0 ms what is not recorded: own work, or a call that blocked.'
}

# As of an interpreter's lock: three rounds wait 30 ms until low signals, one 100 ms in waits of 5 ms that time out.
who_mostly_ends_a_wait_within_rounds_is_told_of_one_that_timed_out()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 30; i++) {
			printf "%d high call_enter 6 0 10\n%d high call_exit 6 0 0 10000\n", at, at + 10000
			at += 10010
			late = i == 5 || i == 10 || i == 15
			for (k = 0; k < (i == 20 ? 20 : late); k++) {
				printf "%d high cond_wait 512 576 5000000\n", at
				if (late)
					printf "%d low cond_signal 512\n%d low sched_wakeup 101\n", at + 29980, at + 29990
				at += late ? 30000 : 5000
				printf "%d high cond_resume 512 576 5000 %d\n", at, late ? 0 : 110
				at += 10
			}
			at += 100
		}
	}' | log run.ptl
	tells '^high took 100 ms .*nobody signalled it within 5.00 ms each time (mostly low does); low did for'
}

# 270,000 switches of two threads fill what is kept of them; the wait that ends behind these is told all the same.
a_wait_finds_its_place_however_often_others_run_meanwhile()
{
	{
		sleeps high 1 7 10
		echo '71700 high call_enter 7 5 16'
		awk 'BEGIN { for (i = 0; i < 270000; i++)
			printf "%d - sched_switch 0 %d 120 1 %d 120\n", 71710 + i * 20, 103 + i % 2, 104 - i % 2 }'
		echo '5472000 high call_exit 7 5 16 5400300'
		sleeps high 5472.1 6 10
	} | log run.ptl
	tells '^high took 5.40 s for a round, .*: it was in read of descriptor 5 for 5.40 s'
}

# Twenty waits, the eighth of which is four that time out, one after the other.
who_waits_again_in_vain_says_how_long_each_time()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 20; i++)
			for (k = i == 7 ? 4 : 1; k > 0; k--) {
				printf "%d high cond_wait 512 576 50000000\n", at
				at += i == 7 ? 50000 : 9000
				printf "%d high cond_resume 512 576 9000 %d\n", at, i == 7 ? 110 : 0
				at += k > 1 ? 10 : 1000
			}
	}' | log run.ptl
	run 0 why run.ptl
	out_has 'until it timed out: nobody signalled it within 50.0 ms each time'
}

# The eighth of twelve waits is ended by its time; then the thread gives back the mutex, as it found what it waited for.
who_waits_for_the_next_thing_does_not_wait_on()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 12; i++) {
			printf "%d high cond_wait 512 576 200000000\n", at
			at += i == 7 ? 200010 : 9000
			printf "%d high cond_resume 512 576 9000 %d\n", at, i == 7 ? 110 : 0
			printf "%d high mutex_unlock 576 0\n", at + 2
			at += 10
		}
	}' | log run.ptl
	tells 'for 200 ms, until it timed out: nobody signalled it within 200 ms, where'
}

# high yields while it runs: a busy machine lets it run for 8 of 60 ms.
of_what_ran_of_itself_other_programs_are_not_the_cause()
{
	{
		sleeps high 1 7 10
		echo "400 - task_rename 901 $(comm sh) $(comm stress) 1"
		echo "500 - sched_switch 1 0 120 0 101 120"
		awk 'BEGIN { for (i = 0; i < 8; i++) {
			printf "%d - sched_switch 1 101 120 0 901 120\n", 72700 + i * 7500
			printf "%d - sched_switch 1 901 120 0 101 120\n", 79200 + i * 7500
		} }'
		sleeps high 132.7 8 10
	} | log run.ptl
	tells '^high took 61.* ms for a round.*: it ran for 9.* ms, and could run for 52.0 ms in which'
}

# ---- Without a scheduler: what threads did that ends a wait ----

# Twelve waits of high for 10 ms; the eighth lasts 80 ms.  $1: its event, and what stands behind; $2: its end; then
# lines of others, in which AT is when it ends.
unscheduled()
{
	awk -v wait="$1" -v end="$2" -v others="$3" 'BEGIN {
		at = 1000
		for (i = 0; i < 12; i++) {
			took = i == 7 ? 80000 : 10000
			printf "%d high %s\n", at, wait
			text = others
			while (match(text, /AT[-+][0-9]+/)) {
				by = substr(text, RSTART + 2, RLENGTH - 2)
				text = substr(text, 1, RSTART - 1) sprintf("%d", at + took + by) substr(text, RSTART + RLENGTH)
			}
			print text
			printf "%d high %s\n", at + took, end
			at += took + 100
		}
	}'
}

who_signals_a_condition_ends_its_wait_without_a_scheduler()
{
	unscheduled 'cond_wait 512 576' 'cond_resume 512 576 10000 0' \
		"AT-60 low cond_signal 512
AT-30 middle cond_signal 640" | log run.ptl
	tells '^high was in pthread_cond_wait for 80.0 ms, until low woke it; low did'
}

# A pipe of descriptors 5 and 6; middle writes to a file meanwhile.
who_writes_just_before_ended_the_wait_by_inference()
{
	{
		for fd in 5 6; do echo "$fd low process 11 $fd 0 0 pipes"; done
		echo "7 middle process 11 7 0 0 /var/log/x"
		unscheduled 'call_enter 7 5 1' 'call_exit 7 5 1 10000' \
			"AT-50 low call_enter 8 6 1
AT-45 low call_exit 8 6 1 5
AT-30 middle call_enter 8 7 1
AT-20 middle call_exit 8 7 1 10"
	} | log run.ptl
	tells '^high was in read from pipes for 80.0 ms, until low woke it (an inference from the order of events); low did'
}

# Two wrote to pipes long before: neither is known to have ended it.
of_two_who_might_have_ended_a_wait_neither_is_named()
{
	{
		for fd in 5 6 7; do echo "$fd low process 11 $fd 0 0 pipes"; done
		unscheduled 'call_enter 7 5 1' 'call_exit 7 5 1 10000' \
			"AT-3050 low call_enter 8 6 1
AT-3045 low call_exit 8 6 1 5
AT-3030 middle call_enter 8 7 1
AT-3020 middle call_exit 8 7 1 10"
	} | log run.ptl
	tells '^high was in read from pipes for 80.0 ms, where'
}

who_sends_a_signal_ends_a_wait_for_signals_without_a_scheduler()
{
	unscheduled "call_enter 29 0 0" "call_exit 29 0 -4 10000" \
		"AT-50 low signal 3 10 103 101
AT-40 middle signal 3 10 102 104" | log run.ptl
	tells '^high was in .* for 80.0 ms, until low woke it; low did'
}

how_sure_an_answer_is_stands_in_json()
{
	late_round | log run.ptl
	run 0 why --json run.ptl
	is 'late["confidence"], [link["confidence"] for link in late["chain"]]' "not recorded ['recorded', 'not recorded']"
	{
		for fd in 5 6; do echo "$fd low process 11 $fd 0 0 pipes"; done
		unscheduled 'call_enter 7 5 1' 'call_exit 7 5 1 10000' \
			"AT-50 low call_enter 8 6 1
AT-45 low call_exit 8 6 1 5"
	} | log run.ptl
	run 0 why --json run.ptl
	is 'late["confidence"], [link["confidence"] for link in late["chain"]]' "not recorded ['inferred', 'not recorded']"
	make_inversion run.ptl
	run 0 why --json run.ptl
	is 'late["confidence"]' 'recorded'
}

"$case"
