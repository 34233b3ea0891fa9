#!/bin/sh
# SPDX-License-Identifier: MIT
#
# why_rounds.sh - of programs without spans: which round is explained, and by whom it was held up.
. "$(dirname "$0")/whylib.sh"

a_late_round_is_explained_and_no_idle_worker()
{
	{
		late_round
		echo "500 other call_enter 1 96 0"
		echo "190000 high call_exit 2 96 0 0"
		echo "190010 other call_exit 1 96 0 189510"
	} | log run.ptl
	explains 'high took 50.4 ms for a round, where 100 us is usual (1 of 12): it waited 50.0 ms for mutex 0x40, which low had; low did for 50.0 ms what is not recorded: own work, or a call that blocked.'
	out_lacks 'sem_wait'
	run 0 why --json run.ptl
	is '(late["kind"], late["thread"], late["length_ns"])' "('round', 'high', 50400000)"
	add_up
}

# low was a copy of its parent until then.
a_thread_is_called_as_it_was_when_the_time_ended()
{
	{ echo "90000 - task_rename 103 $(comm parent) $(comm low) 0"; late_round; } | log run.ptl
	tells 'waited 50.0 ms for mutex 0x40, which low had'
}

# low is called so until 150 ms; high had another name before.
a_renamed_thread_is_called_as_it_was_then()
{
	{
		echo "30000 - task_rename 101 $(comm early) $(comm busy) 0"
		echo "150000 - task_rename 103 $(comm low) $(comm done) 0"
		echo "150010 - task_rename 101 $(comm busy) $(comm high) 0"
		late_round
	} | log run.ptl
	explains 'busy took 50.4 ms for a round, where 100 us is usual (1 of 12): it waited 50.0 ms for mutex 0x40, which low had; low did for 50.0 ms what is not recorded: own work, or a call that blocked.'
	run 0 why --thread busy run.ptl
	out_has 'busy took 50.4 ms for a round'
	run 0 print --thread busy run.ptl
	out_has ' busy/101 '
	out_lacks ' high/101 '
	run 0 print run.ptl
	[ "$(grep -c ' done/103 ' out)" = 0 ] || fail 'low was called otherwise before'
	grep -q '0\.1[5-9].* high/101 ' out || fail 'high has its former name'
}

# What two threads had at different times is one thing.
late_rounds_are_added_up_by_what_and_then_by_whom()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 20; i++) {
			printf "%d high call_enter 6 0 10\n", at
			printf "%d high call_exit 6 0 0 10000\n", at + 10000
			if (i % 7 != 3) {
				at += 10100
				continue
			}
			who = i == 10 ? "middle 102" : "low 103"
			split(who, part)
			printf "%d %s mutex_lock 64 0 0\n", at + 10, part[1]
			printf "%d high mutex_wait 64 %d\n", at + 10010, part[2]
			printf "%d %s mutex_unlock 64 0\n", at + 60000 + i, part[1]
			printf "%d high mutex_lock 64 50000 0\n", at + 60010 + i
			printf "%d high mutex_unlock 64 0\n", at + 60020 + i
			at += 61000
		}
	}' | log run.ptl
	run 0 why run.ptl
	out_has '       3  mutex 0x40, held by low (2), middle (1)'
	run 0 why --json run.ptl
	is '[(by["thread"], by["rounds"]) for by in late["held_up_by"][0]["threads"]]' "[('low', 2), ('middle', 1)]"
}

# Three late rounds, two of them for what low has.
a_cause_that_comes_again_is_counted()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 20; i++) {
			printf "%d high call_enter 6 0 10\n", at
			printf "%d high call_exit 6 0 0 10000\n", at + 10000
			if (i % 7 != 3) {
				at += 10100
				continue
			}
			lock = i == 10 ? 128 : 64
			printf "%d low mutex_lock %d 0 0\n", at + 10, lock
			printf "%d high mutex_wait %d 103\n", at + 10010, lock
			printf "%d low mutex_unlock %d 0\n", at + 60000 + i, lock
			printf "%d high mutex_lock %d 50000 0\n", at + 60010 + i, lock
			printf "%d high mutex_unlock %d 0\n", at + 60020 + i, lock
			at += 61000
		}
	}' | log run.ptl
	run 0 why run.ptl
	out_has 'WHAT HELD UP 3 LATE ROUNDS'
	out_has '    100.020       2  mutex 0x40, held by low'
	run 0 why --json run.ptl
	is '[(by["text"], by["rounds"]) for by in late["held_up_by"]]' \
		"[('mutex 0x40, held by low', 2), ('mutex 0x80, held by low', 1)]"
}

# The longest wait is the spare thread's; it is asked for by name.
waits_are_told_when_they_are_asked_for()
{
	late_round | log run.ptl
	run 0 why --waits run.ptl
	answer 'high waited 50.0 ms for mutex 0x40, which low had.'
}

a_sleep_longer_than_asked_for_is_late()
{
	{
		sleeps high 1 6 10
		cat <<-END
			61600 high call_enter 6 0 10
			61610 - sched_switch 0 101 120 1 103 120
			71600 - sched_wakeup 101
			101600 - sched_switch 0 103 120 0 101 120
			101610 high call_exit 6 0 0 40010
		END
		sleeps high 101.7 6 10
		echo "500 low@0 mutex_lock 128 0 0"
	} | log run.ptl
	explains 'high slept for 40.0 ms; for 30.0 ms of it it could run, but low ran instead, where 10.0 ms was asked for (1 of 13).'
}

what_a_thread_planned_itself_is_no_excess()
{
	{
		late_round
		sleeps middle 1 6 5
		echo "31600 middle call_enter 6 0 90"
		echo "121600 middle call_exit 6 0 0 90000"
		sleeps middle 121.7 6 5
	} | log run.ptl
	explains 'high took 50.4 ms for a round, where 100 us is usual (1 of 12): it waited 50.0 ms for mutex 0x40, which low had; low did for 50.0 ms what is not recorded: own work, or a call that blocked.'
}

a_wait_that_timed_out_says_how_long_it_was_to_be()
{
	awk 'BEGIN {
		for (i = 0; i < 12; i++) {
			at = 1000 + i * 10000 + (i > 6 ? 200000 : 0)
			took = i == 6 ? 200010 : 9000
			printf "%d high cond_wait 512 576 200000000\n", at
			printf "%d high cond_resume 512 576 %d %d\n", at + took, took, i == 6 ? 110 : 0
			printf "%d high mutex_unlock 576 0\n", at + took + 10
		}
	}' | log run.ptl
	explains 'high was in pthread_cond_wait for 200 ms, until it timed out: nobody signalled it within 200 ms, where 9.00 ms is usual (1 of 12).'
}

# Another program ran when the timers of middle were due, three times; high waited once for what low has.
late_timers_beside_other_programs_weigh_less_than_a_lock()
{
	{
		late_round
		echo "400 - task_rename 901 $(comm sh) $(comm stress) 1"
		echo "450 - sched_switch 1 0 120 0 102 120"
		sleeps middle 0.5 8 9
		awk 'BEGIN { for (i = 0; i < 3; i++) {
			at = 75000 + i * 51000
			printf "%d middle call_enter 6 0 10\n", at
			printf "%d - sched_switch 1 102 120 1 901 120\n", at + 10
			printf "%d - sched_wakeup 102\n", at + 10000
			printf "%d - sched_switch 1 901 120 0 102 120\n", at + 50000
			printf "%d middle call_exit 6 0 0 50010\n", at + 50010
		} }'
		sleeps middle 230 8 10
	} | log run.ptl
	tells '^high took 50.4 ms for a round'
}

# middle was stopped while it waited for work; high suffers once from it.
# Who was woken late by a thread that other programs kept from running is no sign of the program's.
what_kept_the_waker_from_running_counts_as_little()
{
	{
		late_round
		awk 'BEGIN { for (i = 0; i < 20; i++) {
			end = at += i > 0 ? 100 : 1000
			end += i % 5 == 4 ? 400000 : 9000
			printf "%d middle cond_wait 512 576\n", at
			printf "%d - sched_switch 1 102 120 1 901 120\n", at + 5
			printf "%d - sched_wakeup 104\n", i % 5 == 4 ? at + 1000 : end - 110
			printf "%d - sched_switch 1 901 120 0 104 120\n", end - 100
			printf "%d other cond_signal 512\n%d other sched_wakeup 102\n", end - 50, end - 45
			printf "%d - sched_switch 1 104 120 1 102 120\n", end - 40
			printf "%d middle cond_resume 512 576 0 0\n%d middle mutex_unlock 576 0\n", end, end + 5
			at = end
		} }'
	} | log run.ptl
	tells '^high took 50.4 ms for a round'
}

what_other_programs_make_late_often_is_not_usual()
{
	awk 'BEGIN {
		print "500 low mutex_lock 64 0 0\n600 - sched_switch 0 0 120 0 101 120"
		at = 1000
		for (i = 0; i < 20; i++) {
			printf "%d high call_enter 6 0 10\n%d high call_exit 6 0 0 10000\n", at, at + 10000
			at += 10010
			if (i == 10) {
				printf "%d high mutex_wait 64 103\n%d low mutex_unlock 64 0\n", at, at + 50000
				at += 50010
				printf "%d high mutex_lock 64 50010 0\n", at
			} else if (i % 4 == 1) {
				printf "%d - sched_switch 0 101 120 0 901 120\n", at
				printf "%d - sched_switch 0 901 120 0 101 120\n", at + 20000
				at += 20000
			}
			at += 90
		}
	}' | log run.ptl
	tells '^high took 50.1 ms for a round, where 100 us is usual (6 of 19)'
}

who_is_stopped_holds_up_who_asks_it()
{
	{
		sleeps high 1 7 10
		awk 'BEGIN {
			print "500 - sched_switch 1 0 120 0 102 120"
			for (i = 0; i < 12; i++) {
				at = 1000 + i * 10000 + (i > 2 ? 90000 : 0)
				printf "%d middle call_enter 9 5 1\n", at
				printf "%d middle call_exit 9 5 1 9000\n", at + 9000 + (i == 2 ? 90000 : 0)
			}
		}'
		cat <<-END
			30000 low signal 3 19 102 0
			30005 - sched_switch 1 102 120 4 0 120
			71700 high call_enter 7 5 1
			119900 - sched_wakeup 102
			119910 - sched_switch 1 0 120 0 102 120
			120040 middle call_enter 8 6 1
			120050 middle sched_wakeup 101
			120060 high call_exit 7 5 1 50000
			120070 middle call_exit 8 6 1 30
		END
		sleeps high 122 6 10
	} | log run.ptl
	tells '^high took 50.4 ms for a round.*; middle was stopped by SIGSTOP'
}

# Nobody planned that the signal is lost; the sleep that middle takes now and then is its own.
giving_up_a_wait_is_no_plan()
{
	{
		awk 'BEGIN {
			for (i = 0; i < 12; i++) {
				at = 1000 + i * 10000 + (i > 6 ? 200000 : 0)
				took = i == 6 ? 200010 : 9000
				printf "%d high cond_wait 512 576 200000000\n", at
				printf "%d high cond_resume 512 576 %d %d\n", at + took, took, i == 6 ? 110 : 0
				printf "%d high mutex_unlock 576 0\n", at + took + 10
			}
		}'
		sleeps middle 1 10 10
		echo "102100 middle call_enter 6 0 250"
		echo "352100 middle call_exit 6 0 0 250000"
		sleeps middle 352.2 6 10
	} | log run.ptl
	tells '^high was in pthread_cond_wait for 200 ms'
}

a_deadlock_comes_before_all()
{
	{
		late_round
		cat <<-END
			200000 middle mutex_lock 192 0 0
			200010 other mutex_lock 256 0 0
			200020 middle mutex_wait 256 104
			200030 other mutex_wait 192 102
			900000 high mutex_lock 64 0 0
		END
	} | log run.ptl
	explains 'middle has waited 700 ms without end for mutex 0x100, which other had while that one waited for mutex 0xc0, which middle had: a deadlock.'
}

# Where every second round is late, late is what is usual.
half()
{
	awk 'BEGIN {
		for (i = 0; i < 20; i++) {
			at = 1000 + i * 100000
			printf "%d high call_enter 6 0 10\n", at
			printf "%d high call_exit 6 0 0 10000\n", at + 10000
			if (i % 2)
				continue
			printf "%d high mutex_wait 64 103\n", at + 10010
			printf "%d high mutex_lock 64 50000 0\n", at + 60010
			printf "%d high mutex_unlock 64 0\n", at + 60020
		}
	}' | log run.ptl
}

what_is_late_most_of_the_time_is_not_unusual()
{
	half
	tells '^high waited 50.0 ms for mutex 0x40'
	sleeps high 1 10 10 >many
	awk 'BEGIN { for (i = 0; i < 10; i++) printf "%d high call_enter 6 0 10\n%d high call_exit 6 0 0 10000\n",
		110000 + i * 50000, 120000 + i * 50000 }' | cat many - | log run.ptl
	run 0 why run.ptl
	out_has 'No round of high is usual: more than a quarter are late. --deadline or --period NAME=TIME says what is late.'
}

a_deadline_is_a_measure_where_nothing_is_usual()
{
	half
	run 0 why --deadline 'hi*=95ms' run.ptl
	grep -q 'Nothing was late' out || fail "another answer: $(head -n 1 out)"
	run 0 why --deadline high=20ms --deadline 80ms run.ptl
	grep -q '^high took 90.0 ms for a round, where 80.0 ms is its deadline (19 of 19): ' out ||
		fail "another answer: $(head -n 1 out)"
	run 0 why --json --deadline high=80ms run.ptl
	is '(late["usual_ns"], late["usual_is"], late["late_rounds"], late["rounds"])' "(80000000, 'deadline', 19, 19)"
	run 2 why --deadline nobody=20ms run.ptl
	err_has '--deadline: no span and no thread that works in rounds is called "nobody"'
	run 1 why --deadline high=soon run.ptl
	err_has '--deadline wants a duration (5ms, 250us, 1.5), not "soon"'
}

# Ten milliseconds between two begins; once the wait lasts 40 ms.
a_period_is_a_measure_of_waits_and_rounds()
{
	{
		awk 'BEGIN { for (i = 0; i < 20; i++) {
			at = 1000 + i * 10000 + (i > 12) * 30000
			printf "%d high cond_wait 512 576\n", at
			printf "%d high cond_resume 512 576 0 0\n", at + 9000 + (i == 12) * 30000
		} }'
		echo "500 low mutex_lock 128 0 0"
	} | log run.ptl
	run 0 why --period high=10ms run.ptl
	answer 'high was in pthread_cond_wait for 39.0 ms, where 10.0 ms is its period (1 of 20).'
}

NO_SIZE=18446744073709551615

# Rounds of 12 ms, and a timer that is asked for dates 10 ms apart: each begins later than the one before.
a_timers_date_is_a_measure_where_all_rounds_are_late()
{
	awk -v none=$NO_SIZE 'BEGIN {
		printf "1000 high call_enter 6 0 %s 10000000\n11000 high call_exit 6 0 0 10000\n", none
		for (i = 0; i < 20; i++) {
			at = 23000 + i * 12010
			printf "%d high call_enter 6 0 %s %d\n", at, none, (21000 + i * 10000 - at) * 1000
			printf "%d high call_exit 6 0 0 0\n", at + 10
		}
	}' | log run.ptl
	explains 'high took 12.0 ms for a round, where its timer was due after 10.0 ms (20 of 20): it did for 12.0 ms what is not recorded: own work, or a call that blocked.'
	out_has '19 more follow from it.'
}

# Rounds that begin behind their date are late because the wait before them was.
what_delayed_a_timer_is_the_cause_of_the_rounds_behind_it()
{
	awk -v none=$NO_SIZE 'BEGIN {
		print "500 low mutex_lock 64 0 0"
		print "600 - sched_switch 0 0 120 0 101 120"
		at = 1000
		for (i = 1; i <= 40; i++) {
			due = 1000 + i * 10000
			end = due > at ? due + 10 : at + 10
			if (i % 15 == 8) {
				end = due + 70000
				printf "%d - sched_switch 0 101 120 1 0 120\n", at + 2
				printf "%d - sched_switch 0 0 120 0 103 10\n", at + 100
				printf "%d - sched_wakeup 101\n", due
				printf "%d - sched_switch 0 103 10 1 101 120\n", end - 5
			}
			printf "%d high call_enter 6 0 %s %d\n", at, none, (due - at) * 1000
			printf "%d high call_exit 6 0 0 0\n", end
			at = end + 200
		}
	}' | log run.ptl
	explains 'high slept for 79.8 ms; for 70.0 ms of it it could run, but low ran instead, where its timer was due after 9.79 ms (3 of 24).'
}

# The longest of three late waits is a sleep that nothing explains; in the two others low had the CPU.
of_rounds_about_as_late_one_with_the_reason_of_most_is_told()
{
	awk -v none=$NO_SIZE 'BEGIN {
		print "500 low mutex_lock 64 0 0"
		print "600 - sched_switch 0 0 120 0 101 120"
		at = 1000
		for (i = 1; i <= 40; i++) {
			due = 1000 + i * 10000
			end = due > at ? due + 10 : at + 10
			if (i % 15 == 8) {
				end = due + (i == 8 ? 71000 : 70000)
				printf "%d - sched_switch 0 101 120 1 0 120\n", at + 2
				printf "%d - sched_switch 0 0 120 0 103 10\n", at + 100
				printf "%d - sched_wakeup 101\n", i == 8 ? end - 10 : due
				printf "%d - sched_switch 0 103 10 1 101 120\n", end - 5
			}
			printf "%d high call_enter 6 0 %s %d\n", at, none, (due - at) * 1000
			printf "%d high call_exit 6 0 0 0\n", end
			at = end + 200
		}
	}' | log run.ptl
	explains 'high slept for 79.8 ms; for 70.0 ms of it it could run, but low ran instead, where its timer was due after 9.79 ms (3 of 24).'
}

a_sleep_up_to_a_date_may_be_too_long()
{
	awk -v none=$NO_SIZE 'BEGIN { for (i = 0; i < 12; i++) {
		at = 1000 + i * 10000 + (i > 7) * 30000
		printf "%d high call_enter 6 0 %s 9000000\n", at, none
		printf "%d high call_exit 6 0 0 9000\n", at + 9000 + (i == 7) * 30000
	} }' | log run.ptl
	explains 'high slept for 39.0 ms, where its timer was due after 9.00 ms (1 of 12).'
}

a_sleep_of_less_than_a_millisecond_is_held_against_what_it_asked_for()
{
	awk 'BEGIN { for (i = 0; i < 12; i++) {
		at = 1000 + i * 1000 + (i > 7) * 30000
		printf "%d high call_enter 6 0 0 200000\n", at
		printf "%d high call_exit 6 0 0 300\n", at + 300 + (i == 7) * 30000
	} }' | log run.ptl
	explains 'high slept for 30.3 ms, where 200 us was asked for (1 of 12).'
}

# A read of a timer: descriptor 5.
a_timers_descriptor_may_be_readable_too_late()
{
	awk 'BEGIN { for (i = 0; i < 12; i++) {
		at = 1000 + i * 10000 + (i > 7) * 30000
		printf "%d high call_enter 7 5 8 9000000\n", at
		printf "%d high call_exit 7 5 8 9000\n", at + 9000 + (i == 7) * 30000
	} }' | log run.ptl
	explains 'high was in read of descriptor 5 for 39.0 ms, where its timer was due after 9.00 ms (1 of 12).'
}

every_sleep_may_be_longer_than_asked_for()
{
	awk 'BEGIN { for (i = 0; i < 12; i++) {
		printf "%d high call_enter 6 0 10\n", 1000 + i * 30100
		printf "%d high call_exit 6 0 0 30000\n", 31000 + i * 30100
	} }' | log run.ptl
	explains 'high slept for 30.0 ms, where 10.0 ms was asked for (12 of 12).'
}

where_no_round_is_late_that_is_said()
{
	sleeps high 1 12 10 | log run.ptl
	explains 'Nothing was late: 11 rounds of 1 thread were read, from wait to wait; none is far beyond what is usual for its thread.'
}

# Twelve waits of high for what comes by descriptor 5; the eighth takes 500 ms.  $1 wakes it.
receives()
{
	awk -v by="$1" 'BEGIN { for (i = 0; i < 12; i++) {
		at = 1000 + i * 10000 + (i > 7) * 490000
		end = at + 9000 + (i == 7) * 490000
		printf "%d high call_enter 13 5 64\n", at
		printf "%d - sched_switch 0 101 120 1 0 120\n", at + 10
		printf "%d %s sched_wakeup 101\n", end - 20, by
		printf "%d - sched_switch 0 0 120 0 101 120\n", end - 10
		printf "%d high call_exit 13 5 64 9000\n", end
	} }'
	echo '500 low mutex_lock 64 0 0'
}

who_waits_for_a_client_outside_is_idle()
{
	receives - | log run.ptl
	run 0 why run.ptl
	out_has 'Nothing was late: 11 rounds of 1 thread were read, from wait to wait; none is far beyond what is usual for its thread.'
	out_has 'Long waits for somebody outside of the program, who delays nobody: 1, the longest of high (499 ms).'
	receives low | log run.ptl
	tells '^high was in recv of descriptor 5 for 499 ms'
}

# The same of who connected descriptor 5 and sends there before it waits: the eighth reply is late, whoever sends it.
a_reply_from_outside_is_late()
{
	{
		printf '100 high call_enter 12 5 0\n200 high call_exit 12 5 0 100\n'
		receives - | awk '$2 == "high" && $3 == "call_enter" {
			printf "%d high call_enter 14 5 64\n%d high call_exit 14 5 64 2\n", $1 - 10, $1 - 8
		}
		{ print }'
	} | log run.ptl
	explains 'high was in recv of descriptor 5 for 499 ms, where 9.00 ms is usual (1 of 12).'
}

# A server that waits for requests 100 ms at a time: nothing came once, and on a busy machine it came back 20 ms late.
who_waits_for_requests_is_idle_however_late_it_comes_back()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 30; i++) {
			took = i == 20 ? 120000 : 9000
			printf "%d high call_enter 17 5 100 100000000\n", at
			printf "%d low sched_wakeup 101\n", at + took - 5
			printf "%d high call_exit 17 5 %d %d\n", at + took, i != 20, took
			at += took + 1000
		}
		print "500 low mutex_lock 64 0 0"
	}' | log run.ptl
	run 0 why run.ptl
	out_has 'Nothing was late: 29 rounds of 1 thread were read'
}

# No scheduler: low sends something just before each of these waits ends, or nobody does.
who_waits_for_a_client_is_idle_also_without_a_scheduler()
{
	receives - | grep -v ' sched_' >waits
	log run.ptl <waits
	run 0 why run.ptl
	out_has 'Nothing was late: 11 rounds of 1 thread were read, from wait to wait; none is far beyond what is usual for its thread.'
	out_has 'Long waits that nobody of the program seems to have ended: 1, the longest of high (499 ms).'
	{ cat waits; awk '/call_exit/ { printf "%d low call_enter 14 6 1\n%d low call_exit 14 6 1 5\n", $1 - 60, $1 - 50 }' waits; } |
		log run.ptl
	tells '^high was in recv of descriptor 5 for 499 ms'
	# What is read comes from somebody far away, or nobody knows from where.
	sed 's/call_enter 13/call_enter 7/; s/call_exit 13/call_exit 7/' waits >reads
	{ echo "400 high process 11 5 0 0 10.0.0.7:443"; cat reads; } | log run.ptl
	run 0 why run.ptl
	out_has 'Long waits that nobody of the program seems to have ended: 1, the longest of high'
	log run.ptl <reads
	tells '^high was in read of descriptor 5 for 499 ms'
}

# Another thread waits for a client longer than high was late.
a_client_outside_is_not_explained_where_something_inside_is_late()
{
	{
		receives - | sed 's/ high / middle /; s/ 101/ 102/g'
		late_round
	} | log run.ptl
	explains 'high took 50.4 ms for a round, where 100 us is usual (1 of 12): it waited 50.0 ms for mutex 0x40, which low had; low did for 50.0 ms what is not recorded: own work, or a call that blocked.'
}

# As a shell does: it waits for children that take 1 ms or 5 ms, and asks each time whether there are more.  One
# took 200 ms.  Where no scheduler tells who woke it, the wait itself says which child had ended.
a_child_that_took_long_is_told_whatever_others_take()
{
	awk 'BEGIN {
		at = 1000
		for (i = 0; i < 16; i++) {
			took = i == 8 ? 200000 : i % 3 ? 5000 : 1000
			printf "%d high call_enter 21 0 0\n", at
			if (i == 8)
				printf "%d low call_enter 6 0 200\n%d low call_exit 6 0 0 199000\n", at + 500, at + 199500
			printf "%d low process 9 0 0 0\n%d low sched_wakeup 101\n", at + took - 10, at + took - 5
			printf "%d high call_exit 21 0 103 %d\n", at += took, took
			printf "%d high call_enter 21 0 0\n%d high call_exit 21 0 -10 1\n", at + 2, at + 3
			at += 900
		}
	}' >lines
	log run.ptl <lines
	grep -v sched_ lines | log alone.ptl
	for log in run alone; do
		run 0 why $log.ptl
		answer 'high was in wait for 200 ms, until low woke it; low slept for 199 ms, where 5.00 ms is usual (1 of 16).'
	done
}

where_no_round_is_three_times_as_long_half_as_long_again_is_late()
{
	awk 'BEGIN {
		for (i = 0; i < 12; i++) {
			printf "%d high call_enter 6 0 10\n", at += 1000 + (i == 7 ? 65000 : 40000)
			printf "%d high call_exit 6 0 0 10000\n", at += 10000
		}
	}' | log run.ptl
	tells '^high took 66.0 ms for a round, where 41.0 ms is usual (1 of 11)'
}

# Who ran when it was woken did not end its sleep.
a_sleep_is_ended_by_nobody()
{
	round 101.2 <<-END
		71050 high call_enter 6 0 10
		71060 - sched_switch 0 101 120 1 0 120
		81000 - sched_wakeup 101
		81001 - sched_switch 0 0 120 0 900 120
		101000 - sched_switch 0 900 120 1 101 120
		101100 high call_exit 6 0 0 30000
	END
	run 0 why --thread high run.ptl
	out_lacks 'its sleep, ended by'
}

# The wait of 400 ms ended by its limit, as high had planned; the other one was for low.
a_wait_that_was_planned_is_explained_last()
{
	awk 'BEGIN { for (i = 0; i < 14; i++) {
		long = i == 6 ? 70000 : i == 10 ? 391000 : 0
		printf "%d high call_enter 17 5 400 400000000\n", at += 1000
		if (i == 6)
			printf "%d low call_enter 8 6 1\n", at + 8970 + long
		if (i != 10)
			printf "%d low sched_wakeup 101\n", at + 8980 + long
		printf "%d high call_exit 17 5 %d 9000\n", at += 9000 + long, i != 10
	} }' | log run.ptl
	tells '^high was in epoll_wait of descriptor 5 for 79.0 ms'
}

# Twelve requests of high, which waits 40 ms at most for each answer of low; low writes for 55 ms to its disk before the eighth.
asks()
{
	awk 'BEGIN {
		at = 1000
		print "900 low call_enter 13 6 64"
		for (i = 0; i < 12; i++) {
			late = i == 7
			printf "%d high call_enter 6 0 10\n", at
			printf "%d high call_exit 6 0 0 10000\n", at += 10000
			printf "%d high call_exit 14 5 1 5\n", at += 10
			printf "%d high call_enter 15 5 40 40000000\n", at + 10
			printf "%d low call_exit 13 6 1 0\n", at + 20
			if (late) {
				printf "%d low call_enter 18 7 0\n", at + 30
				printf "%d high call_exit 15 5 0 40000\n", at + 40010
				printf "%d low call_exit 18 7 0 55000\n", at + 55030
				printf "%d low call_exit 14 6 1 5\n", at + 55040
				printf "%d low call_enter 13 6 64\n", at + 55050
				at += 60000
				continue
			}
			printf "%d low call_exit 14 6 1 5\n", at + 1000
			printf "%d low sched_wakeup 101\n", at + 1005
			printf "%d high call_exit 15 5 1 990\n", at + 1010
			printf "%d low call_enter 13 6 64\n", at + 1020
			at += 1100
		}
	}'
}

who_waits_in_vain_for_an_answer_had_not_planned_it()
{
	asks | log run.ptl
	tells '^high took [0-9.]* ms for a round.*: it was in poll of descriptor 5 for 40.0 ms, until it timed out: nothing came within 40.0 ms (mostly from low); low was in fsync of descriptor 7'
	# In the report no arrow comes from who did not end the wait.
	run 0 report run.ptl -o run.html
	grep -q '(mostly from low)' run.html || fail 'another answer in the report'
	grep -q '(mostly from low)[^}]*"by"' run.html && fail 'an arrow' || :
}

# The polls of middle are its timer: nothing ever comes.
a_poll_that_always_runs_out_is_a_timer()
{
	{
		late_round
		awk 'BEGIN { at = 1000; for (i = 0; i < 16; i++) {
			printf "%d middle call_enter 6 0 5\n%d middle call_exit 6 0 0 5000\n", at, at + 5000
			at += 5010
			ms = i == 9 ? 120 : 1
			printf "%d middle call_enter 15 7 %d\n%d middle call_exit 15 7 0 0\n", at, ms, at + ms * 1000
			at += ms * 1000 + 10
		} }'
	} | log run.ptl
	tells '^high took 50.4 ms for a round'
}

# The request of 400 ms was lost: high sends it again; low answers one late, after 79 ms.
who_asks_again_had_not_planned_to_wait_for_so_long()
{
	awk 'BEGIN { for (i = 0; i < 14; i++) {
		long = i == 6 ? 70000 : i == 10 ? 391000 : 0
		printf "%d high call_exit 14 5 1 5\n", at += 1000
		printf "%d high call_enter 15 5 400 400000000\n", at += 10
		if (i != 10) {
			printf "%d low call_exit 14 6 1 5\n", at + 8970 + long
			printf "%d low sched_wakeup 101\n", at + 8980 + long
		}
		printf "%d high call_exit 15 5 %d 9000\n", at += 9000 + long, i != 10
	} }' | log run.ptl
	tells '^high was in poll of descriptor 5 for 400 ms, until it timed out: nothing came within 400 ms'
}

# An event loop: clients come each 9 ms, or nobody for 100 ms, which is its timer; once it works for 60 ms.
who_waits_by_a_timer_while_no_client_comes_is_idle()
{
	awk 'BEGIN { at = 1000; for (i = 0; i < 40; i++) {
		idle = i % 8 == 3
		printf "%d high call_enter 17 5 100 100000000\n", at
		if (!idle)
			printf "%d - sched_wakeup 101\n", at + 8990
		printf "%d high call_exit 17 5 %d 9000\n", at += idle ? 100100 : 9000, !idle
		at += i == 20 ? 60000 : 500
	} }' | log run.ptl
	tells '^high took 60.0 ms for a round, where 500 us is usual (1 of 39)'
}

# Two requests of high are lost, and it waits 60 ms in vain; low hears nothing meanwhile.
who_waits_for_one_that_waits_in_vain_is_not_the_one_that_suffers()
{
	for wait in '15 5 60 60000000' '13 5 1'; do
		awk -v wait="$wait" 'BEGIN {
			at = 1000
			timed_out = wait ~ /^15/ ? 0 : -11
			split(wait, part)
			print "900 low call_enter 13 6 64"
			for (i = 0; i < 16; i++) {
				printf "%d high call_enter 6 0 10\n", at
				printf "%d high call_exit 6 0 0 10000\n", at += 10000
				if (i % 6 == 5) {
					printf "%d high call_enter %s\n", at + 20, wait
					printf "%d - sched_switch 0 101 120 1 0 120\n", at + 30
					printf "%d - sched_wakeup 101\n", at + 60000
					printf "%d - sched_switch 0 0 120 0 101 120\n", at + 60010
					printf "%d high call_exit %d 5 %d 60000\n", at += 60020, part[1], timed_out
					continue
				}
				printf "%d high call_enter 14 6 1\n", at + 5
				printf "%d high sched_wakeup 103\n", at + 8
				printf "%d high call_exit 14 6 1 5\n", at + 10
				printf "%d high call_enter %s\n", at + 20, wait
				printf "%d low call_exit 13 6 1 9000\n", at + 30
				printf "%d low call_enter 14 5 1\n", at + 990
				printf "%d low sched_wakeup 101\n", at + 995
				printf "%d low call_exit 14 5 1 5\n", at + 998
				printf "%d high call_exit %d 5 1 980\n", at + 1000, part[1]
				printf "%d low call_enter 13 6 64\n", at + 1010
				at += 1100
			}
		}' | log run.ptl
		run 0 why run.ptl
		grep -q '^high took 60.0 ms for a round.* until it timed out: nothing came .*(mostly from low)' out ||
			fail "another answer: $(head -n 1 out)"
	done
}

# abandoned [LINE]: high waits for a condition that low signals, and low ends; what high does at last
abandoned()
{
	awk -v end="$1" 'BEGIN {
		for (i = 0; i < 12; i++) {
			printf "%d high cond_wait 512 576\n", 1000 + i * 10000
			printf "%d low cond_signal 512\n", 10000 + i * 10000
			printf "%d low sched_wakeup 101\n", 10010 + i * 10000
			printf "%d high cond_resume 512 576 9000 0\n", 10020 + i * 10000
		}
		print "121000 high cond_wait 512 576"
		print "121010 low process 5 103 0 0"
		print end
	}'
	sleeps middle 1 90 10
}

who_waits_without_end_for_one_that_ended_comes_before_all()
{
	abandoned | log run.ptl
	explains 'high was in pthread_cond_wait for 789 ms, and the log ends in it (mostly low woke it), where 9.02 ms is usual (1 of 13).'
}

who_waits_when_its_process_calls_exit_had_nothing_to_do()
{
	abandoned '909000 middle process 9 0 0 0' | log run.ptl
	run 0 why run.ptl
	out_has 'Nothing was late'
}

"$case"

