#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: with events of the scheduler.
. "$(dirname "$0")/whylib.sh"

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
	answer 'Job 7 of high was late by 6.40 ms: it waited 8.50 ms for lock 1, which low had and could not give back, because other ran instead for 8.00 ms: a priority inversion.'
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
	run 0 why run.ptl
	answer 'Job 1 of high was late by 3.00 ms: it slept for 5.00 ms.'
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
	run 0 why run.ptl
	answer 'Job 7 of high was late by 3.00 ms: others ran instead of it for 3.00 ms.'
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

"$case"
