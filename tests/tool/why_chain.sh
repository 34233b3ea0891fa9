#!/bin/sh
# SPDX-License-Identifier: MIT
#
# why_chain.sh - what held up a late round, followed to its end: each rule of docs/why.md, section 2.
. "$(dirname "$0")/whylib.sh"

# high waits for middle, which waits for low: both are late, high suffers.
chain()
{
	awk 'BEGIN {
		for (i = 0; i < 12; i++) {
			late = i >= 6 ? 60000 : 0
			from = 1000 + i * 10000 + late
			end = from + 9900 + (i == 5 ? 60000 : 0)
			printf "%d high cond_wait 512 576\n", from
			printf "%d middle call_enter 6 0 9\n", from + 10
			printf "%d middle call_exit 6 0 0 9000\n", from + 9010
			if (i == 5) {
				printf "%d low mutex_lock 64 0 0\n", from + 1000
				printf "%d low call_enter 7 5 16\n", from + 1010
				printf "%d middle mutex_wait 64 103\n", from + 9020
				printf "%d low call_exit 7 5 16 60000\n", from + 69000
				printf "%d low mutex_unlock 64 0\n", from + 69010
				printf "%d middle mutex_lock 64 60000 0\n", from + 69020
				printf "%d middle mutex_unlock 64 0\n", from + 69030
			}
			printf "%d middle cond_signal 512\n", end - 20
			printf "%d middle sched_wakeup 101\n", end - 10
			printf "%d high cond_resume 512 576 9900 0\n", end
			printf "%d high mutex_unlock 576 0\n", end + 10
		}
	}'
}

the_chain_is_followed_from_the_victim_to_its_end()
{
	chain | log run.ptl
	explains 'high was in pthread_cond_wait for 69.9 ms, until middle woke it; middle waited 60.0 ms for mutex 0x40, which low had; low was in read of descriptor 5 for 60.0 ms, where 9.90 ms is usual (1 of 12).'
	out_has '59.980  low             was in read of descriptor 5 for 60.0 ms'
	run 0 why --json run.ptl
	is '[(link["thread"], link["did"], link["by"]) for link in late["chain"]]' \
		"[('high', 'call', 'middle'), ('middle', 'lock', 'low'), ('low', 'call', None)]"
	is '(late["usual_ns"], late["usual_is"], late["late_rounds"], late["rounds"])' "(9900000, 'median', 1, 12)"
	run 0 why --thread middle run.ptl
	answer 'middle took 61.0 ms for a round, where 1.00 ms is usual (1 of 11): it waited 60.0 ms for mutex 0x40, which low had; low was in read of descriptor 5 for 60.0 ms.'
}

# With its places it would be more than a reader takes in; the table has them.
the_first_paragraph_is_four_lines_whatever_the_chain()
{
	make_library
	{
		image 10
		chain | sed "s/ high / high@$(at refill 1) /; s/ middle / middle@$(at look_up 1) /; s/ low / low@$(at store 1) /
			s/\(low@[^ ]*\) call_enter/\1 call_enter/"
		echo "65500 other@$(at refill 1) call_enter 8 5 16"
		echo "129000 other@$(at refill 1) call_exit 8 5 16 63500"
		echo "129500 low@$(at store 1) sched_wakeup 103"
	} | log run.ptl
	run 0 why run.ptl
	sed '/^$/,$d' out | fold -s -w 80 >paragraph
	[ "$(wc -l <paragraph)" -le 4 ] || fail "$(cat paragraph)"
	out_has 'low             was in read of descriptor 5 for 60.0 ms in store (cache.c:6)'
	run 0 why --json run.ptl
	is '"taken in store (cache.c:6)" in late["answer"]' True
}

page_faults_of_a_late_round_are_counted_and_placed()
{
	make_library
	{
		image 10
		for i in 1 2 3 4 5 6 7 8 9 10; do
			echo "$((72000 + i * 4000)) high@$(at refill 1) page_faults 640 0"
		done | ran
	} | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it ran for 50.1 ms, with 6400 page faults in refill (cache.c:4).'
}

# The kernel tells of many at once, at the place of the last one.
of_few_records_of_page_faults_the_place_is_not_told()
{
	make_library
	{
		image 10
		for i in 1 2; do echo "$((72000 + i * 4000)) high@$(at refill 1) page_faults 640 0"; done | ran
	} | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it ran for 50.1 ms, with some 1280 page faults.'
}

page_faults_that_waited_for_a_disk_have_their_time()
{
	{
		echo "71800 - sched_switch 0 101 120 2 0 120"
		echo "121100 - sched_switch 0 0 120 0 101 120"
		echo "121150 high page_faults 1 1 49300000"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it slept for 49.4 ms, with 1 page faults (some waited for a disk, 49.3 ms in all).'
}

interrupts_took_a_part_of_the_time_that_a_thread_ran()
{
	{ echo "90000 high interrupts 12300000 40"; echo "95000 low interrupts 9000000 9"; } | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it ran for 50.1 ms, of it 12.3 ms in interrupts.'
}

a_slow_cpu_is_told_where_a_thread_ran()
{
	{ echo "60000 high cpu_frequency 3200000"; echo "71750 high cpu_frequency 800000"; } | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it ran for 50.1 ms, at 800 of 3200 MHz.'
}

# Overlapping requests count once; the second is not waited for.
a_call_that_waited_for_the_disk_says_so()
{
	{
		echo "71750 high call_enter 7 5 16"
		echo "71800 - sched_switch 0 101 120 2 0 120"
		echo "111000 high block_io 39000000 4096"
		echo "111800 high block_io 20000000 4096"
		echo "111900 - sched_switch 0 0 120 0 101 120"
		echo "121600 high call_exit 7 5 16 49850"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it was in read of descriptor 5 for 49.9 ms, of it 39.8 ms for the disk.'
}

# low writes for all, as a thread of the kernel does.
a_call_that_waited_for_another_threads_request_names_it()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "71750 high call_enter 18 5 0"
		echo "71800 - sched_switch 0 101 120 2 0 120"
		echo "111000 low block_io 38000000 4096"
		echo "121500 - sched_switch 0 0 120 0 101 120"
		echo "121600 high call_exit 18 5 0 49850"
	} | ran | log run.ptl
	tells ', of it 38.0 ms for the disk (requests of low)'
}

who_could_run_and_had_used_up_its_cgroups_time_was_throttled()
{
	{
		echo "71800 - sched_switch 0 101 120 0 0 120"
		echo "121100 - sched_switch 0 0 120 0 101 120"
		echo "150000 high cpu_throttled 49000000 100000000 1"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 49.3 ms, but its cgroup was throttled: for 49.0 ms within 100 ms.'
}

where_a_thread_ran_is_told_by_samples()
{
	make_library
	{
		image 10
		for i in 1 2 3 4 5 6 7 8 9 10; do
			echo "$((72000 + i * 4000)) high@$(at $([ $((i % 4)) = 0 ] && echo store || echo look_up) 1) cpu_sample"
		done | ran
	} | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it ran for 50.1 ms, most of it in look_up (cache.c:5).'
}

who_was_stopped_is_told_by_whom()
{
	{
		echo "71700 low signal 3 19 103 0"
		echo "71800 - sched_switch 0 101 120 4 103 120"
		echo "121000 - sched_wakeup 101"
		echo "121100 - sched_switch 0 103 120 1 101 120"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it was stopped by SIGSTOP for 49.2 ms, which low sent.'
}

# Nothing less urgent can be in the way of what may run: the system's limit is.
who_was_throttled_could_run_while_less_urgent_threads_did()
{
	{
		echo "71800 - sched_switch 0 101 20 0 103 120"
		echo "121100 - sched_switch 0 103 120 0 101 20"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 49.3 ms and was throttled: less urgent threads ran, as low.'
}

# The same of a sleep whose timer was due.
a_sleeper_that_is_throttled_could_run()
{
	{
		sleeps high 1 12 10
		echo "500 - sched_switch 0 0 120 0 101 20"
		echo "122300 high call_enter 6 0 10"
		echo "122310 - sched_switch 0 101 20 1 103 120"
		echo "132300 - sched_wakeup 101"
		echo "172300 - sched_switch 0 103 120 0 101 20"
		echo "172310 high call_exit 6 0 0 50000"
		echo "600 low mutex_lock 128 0 0"
	} | log run.ptl
	explains 'high slept for 50.0 ms; for 40.0 ms of it it could run and was throttled: less urgent threads ran, as low, where 10.0 ms was asked for (1 of 13).'
}

# Nothing had to wake high: it ran in its call, and then low did.
who_was_preempted_in_a_call_says_by_whom()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "71750 high call_enter 8 5 16"
		echo "81800 - sched_switch 0 101 120 0 103 120"
		echo "121000 - sched_switch 0 103 120 0 101 120"
		echo "121600 high call_exit 8 5 16 49850"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it was in write of descriptor 5 for 49.9 ms; for 39.2 ms of it it could run, but low ran instead.'
}

# low had the CPU that high waited for; where high went afterwards is another matter.
who_ran_instead_had_the_cpu_that_was_waited_for()
{
	round 121.8 <<-END
		70000 - sched_switch 1 0 120 0 104 120
		71000 - sched_switch 0 0 120 0 101 120
		71800 - sched_switch 0 101 120 0 -1 0
		72000 - sched_switch 0 -1 0 0 103 120
		119000 - sched_switch 0 103 120 0 101 120
		120900 - sched_switch 0 101 120 1 0 120
		120950 - sched_wakeup 101
		121000 - sched_switch 1 104 120 0 101 120
		121700 - sched_switch 1 101 120 1 104 120
		60000 low mutex_lock 128 0 0
		60100 other mutex_lock 192 0 0
	END
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 47.2 ms, but low ran instead.'
}

# What the CPU did then, the scheduler did not tell.
# Another CPU was free at last and took it over.
who_had_the_cpu_for_which_a_thread_was_queued_ran_instead()
{
	round 121.8 <<-END
		60000 low mutex_lock 128 0 0
		71000 - sched_switch 0 0 120 0 101 120
		71800 - sched_switch 0 101 120 0 103 120
		119000 - sched_switch 1 0 120 0 101 120
		121700 - sched_switch 1 101 120 1 0 120
	END
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 47.2 ms, but low ran instead.'
}

who_ran_for_a_moment_did_not_run_instead()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "71800 - sched_switch 0 101 120 0 103 120"
		echo "73000 - sched_switch 0 103 120 1 0 120"
		echo "121100 - sched_switch 0 0 120 0 101 120"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 49.3 ms and did not.'
}

# low is one of the program: its time is no other program's.
a_thread_of_the_program_that_ran_as_well_is_called_so()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "101000 - sched_switch 0 101 120 0 103 120"
		echo "116000 - sched_switch 0 103 120 0 101 120"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it ran for 35.1 ms, and could run for 15.0 ms in which low ran.'
}

# Six programs, each for 8 ms in all.
of_many_who_ran_instead_the_one_that_ran_most_is_named()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "71800 - sched_switch 0 101 120 0 103 120"
		awk 'BEGIN { for (i = 0; i < 42; i++)
			printf "%d - sched_switch 0 %d 120 0 %d 120\n", 72900 + i * 1100,
				i ? 901 + (i - 1) % 6 : 103, 901 + i % 6 }'
		for i in 1 2 3 4 5 6; do echo "400 - task_rename 90$i $(comm sh) $(comm job$i) 1"; done
		echo "119100 - sched_switch 0 906 120 0 103 120"
		echo "121100 - sched_switch 0 103 120 0 101 120"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 49.3 ms, but others ran instead, most of them job1.'
}

# low ran longer than each thread of stress, but not than both.
threads_of_another_program_are_added_up()
{
	round 121.8 <<-END
		60000 low mutex_lock 128 0 0
		60100 - task_rename 901 $(comm sh) $(comm stress) 1
		60100 - task_rename 902 $(comm sh) $(comm stress) 1
		71000 - sched_switch 0 0 120 0 101 120
		71800 - sched_switch 0 101 120 0 901 120
		86800 - sched_switch 0 901 120 0 103 120
		106800 - sched_switch 0 103 120 0 902 120
		120800 - sched_switch 0 902 120 0 101 120
		121750 - sched_switch 0 101 120 1 0 120
	END
	tells '^high took 50.2 ms for a round.*: it could run for 49.0 ms, but stress ran instead'
	out_has ' 57.8%  could run, but 2 threads of stress did (stress/901 15.0 ms, stress/902 14.0 ms)'
}

# CPU 1 has nothing to do, and high waits for CPU 0: which CPUs it may use, no event tells.
who_waits_for_a_cpu_while_another_is_free_seems_bound()
{
	round 121.8 <<-END
		60000 low mutex_lock 128 0 0
		70000 - sched_switch 1 104 120 1 0 120
		71000 - sched_switch 0 0 120 0 101 120
		71800 - sched_switch 0 101 120 0 103 120
		121000 - sched_switch 0 103 120 0 101 120
		121750 - sched_switch 0 101 120 1 0 120
	END
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 49.2 ms, but low ran instead on CPU 0, to which it seems to be bound: another one was free.'
}

# The same, but on CPU 1 threads run that no event names, up to the log's end and before it on CPU 0, too.
a_cpu_on_which_others_run_is_not_free()
{
	round 121.8 <<-END
		60000 low mutex_lock 128 0 0
		65000 - sched_switch 1 104 120 1 -1 0
		66000 - sched_switch 0 0 120 0 -1 0
		71000 - sched_switch 0 -1 0 0 101 120
		71800 - sched_switch 0 101 120 0 103 120
		121000 - sched_switch 0 103 120 0 101 120
		121750 - sched_switch 0 101 120 1 0 120
	END
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it could run for 49.2 ms, but low ran instead.'
}

# No event tells of the call; low ran when high was woken.
a_lock_of_the_c_library_is_an_inference()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "71800 - sched_switch 0 101 120 1 103 120"
		echo "121000 low sched_wakeup 101"
		echo "121100 - sched_switch 0 103 120 1 101 120"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it slept for 49.3 ms in a call that is not recorded, until low woke it (an inference: a lock of the C library'"'"'s own, as malloc'"'"'s); low ran for 49.3 ms.'
}

# high sleeps as for a disk; who wakes it is the thread that it made just before, or else one that an interrupt met.
a_parent_whose_memory_its_child_has_waits_for_its_program()
{
	for state in 2 1; do
		{
			echo "60000 low mutex_lock 128 0 0"
			echo "71750 high sched_wakeup_new 10$((state + 1))"
			echo "71800 - sched_switch 0 101 120 2 103 120"
			echo "121000 low sched_wakeup 101"
			echo "121100 - sched_switch 0 103 120 1 101 120"
		} | ran | log run.ptl
		run 0 why run.ptl
		if [ "$state" = 2 ]; then
			answer 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it waited 49.3 ms for its child low to run its program (vfork); low ran for 49.2 ms.'
		else
			answer 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it slept for 49.3 ms in a call that is not recorded.'
		fi
	done
}

# The same twice, one behind the other: four lines have no room for the reason of both inferences.
a_long_answer_leaves_out_from_what_something_was_inferred()
{
	{
		echo ':thread 5 0x7f0000005000 105 allocator-late'
		echo ':thread 6 0x7f0000006000 106 compactor-late'
		echo '60000 allocator-late mutex_lock 128 0 0'
		echo '60000 compactor-late mutex_lock 192 0 0'
		echo '71800 - sched_switch 0 101 120 1 105 120'
		echo '71900 - sched_switch 0 105 120 1 106 120'
		echo '120900 compactor-late sched_wakeup 105'
		echo '120950 - sched_switch 0 106 120 1 105 120'
		echo '121000 allocator-late sched_wakeup 101'
		echo '121100 - sched_switch 0 105 120 1 101 120'
	} | ran | log run.ptl
	run 0 why run.ptl
	grep -q '^high .* until allocator-late woke it (inferred); allocator-late slept .* until compactor-late woke it (inferred); compactor-late ran' out ||
		fail 'another answer'
	COLUMNS=80 "$pxtrace" why run.ptl | sed '/^$/,$d' >paragraph
	[ "$(wc -l <paragraph)" -le 4 ] || fail 'more than four lines'
}

who_tries_a_lock_in_vain_waits_for_its_holder()
{
	{
		sleeps high 1 7 10
		echo "60000 low mutex_lock 64 0 0"
		awk 'BEGIN {
			for (at = 71700; at < 121000; at += 1000) {
				printf "%d high@1 mutex_lock 64 0 16\n", at
				printf "%d high@2 call_enter 6 0 1\n", at + 10
				printf "%d high@2 call_exit 6 0 0 980\n", at + 990
			}
		}'
		echo "121700 low mutex_unlock 64 0"
		echo "121710 high mutex_lock 64 0 0"
		echo "121720 high mutex_unlock 64 0"
		sleeps high 121.8 20 10
	} | log run.ptl
	tells '^high took 50.2 ms for a round, where 100 us is usual (1 of 26): it tried mutex 0x40 in vain .*and slept in between for .* ms, while low had it'
}

# A default recording tells of the lock when it was not got, not of its taking and giving back.
who_has_a_lock_that_is_tried_may_be_told_by_who_tries()
{
	{
		sleeps high 1 7 10
		echo "60000 low call_exit 6 0 0 10"
		awk 'BEGIN {
			for (at = 71700; at < 121000; at += 1000) {
				printf "%d high process 16 103 64 1 mutex\n", at - 1
				printf "%d high@1 mutex_lock 64 0 16\n", at
				printf "%d high@2 call_enter 6 0 1\n", at + 10
				printf "%d high@2 call_exit 6 0 0 980\n", at + 990
			}
		}'
		echo "121710 high mutex_lock 64 0 0"
		sleeps high 121.8 20 10
	} | log run.ptl
	tells '^high took 50.2 ms for a round, where 100 us is usual (1 of 26): it tried .* in vain .*and slept in between for .* ms, while low had it'
}

# It tried twice, and slept long in between.
who_tried_a_lock_now_and_then_did_not_wait_for_it()
{
	round 121.8 20 <<-END
		60000 low mutex_lock 64 0 0
		71700 high mutex_lock 64 0 16
		71710 high@2 call_enter 6 0 1
		121000 high@2 call_exit 6 0 0 49290
		121010 high mutex_lock 64 0 16
		121700 low mutex_unlock 64 0
	END
	run 0 why run.ptl
	out_lacks ' in vain'
}

# middle and low send the same signal, middle to another one.
a_handler_is_told_with_its_signal_and_who_sent_that()
{
	{
		echo "71620 low signal 3 10 0 101"
		echo "71630 middle signal 3 10 0 104"
		echo "71640 other signal 3 12 0 101"
		echo "71700 high signal 1 10 103 0"
		echo "121000 high signal 2 10 0 0"
	} | ran | log run.ptl
	run 0 why run.ptl
	out_has ': it was in the handler of signal 10 (SIGUSR1) for 49.3 ms, sent by low.'
}

# Nine jobs of 100 us; the tenth is as standard input says.
# A call that a handler interrupts goes on: its own calls are others.
a_call_in_a_handler_does_not_end_the_one_that_was_interrupted()
{
	round <<-END
		71700 high call_enter 17 5 $NO_SIZE
		90000 high signal 1 14 103 0
		90010 high call_enter 20 0 9
		90020 high call_exit 20 0 0 0
		90030 high signal 2 14 0 0
		121000 low call_enter 8 6 1
		121690 low call_exit 8 6 1 0
		121700 high call_exit 17 5 1 50000
	END
	tells '^high took 50.4 ms for a round, .*: it was in epoll_wait of .* for 50.0 ms'
	out_lacks 'timed out'
}

tenth_job()
{
	awk 'BEGIN { for (i = 1; i < 10; i++) {
		printf "%d high late_begin %d 0\n%d high late_end %d\n", i * 10000, i, i * 10000 + 100, i
	} }'
	cat
}

a_span_that_slept_says_where()
{
	make_library
	at=$(at refill 1)
	tenth_job <<-END | log run.ptl
		$(image 1)
		100000 high late_begin 10 0
		100010 high@$at call_enter 6 0 50
		150010 high@$at call_exit 6 0 0 50000
		150100 high late_end 10
	END
	explains 'late 10 of high took 50.1 ms, where 100 us is usual: it slept for 50.0 ms in refill (cache.c:4).'
}

a_span_that_began_late_says_what_its_thread_did_until_then()
{
	tenth_job <<-END | log run.ptl
		99900 low signal 3 10 0 101
		100000 high signal 1 10 103 0
		160000 high signal 2 10 0 0
		160010 high late_begin 10 61000000
		160110 high late_end 10
	END
	explains 'late 10 of high took 61.1 ms, where 100 us is usual: it began only 61.0 ms after its release: it was in the handler of signal 10 (SIGUSR1) for 60.0 ms, sent by low.'
}

# The tenth sleeps; the next ones come as fast as they can, and are late because of it.
jobs_that_follow_from_a_late_one_are_explained_at_that_one()
{
	{
		echo '100000 high late_begin 10 0'
		echo '100010 high call_enter 6 0 50'
		echo '150010 high call_exit 6 0 0 50000'
		echo '150100 high late_end 10'
		awk 'BEGIN { for (i = 1; i < 10; i++) {
			at = 150100 + i * 100
			printf "%d high late_begin %d %d\n%d high late_end %d\n", at, 10 + i, 49800000, at + 90, 10 + i
		} }'
	} | tenth_job | log run.ptl
	explains 'late 10 of high took 50.1 ms, where 100 us is usual: it slept for 50.0 ms.'
}

# The tenth is longest, as another program ran; the eleventh slept.
spans_that_other_programs_held_up_most_come_last()
{
	{
		echo '99000 - sched_switch 0 0 120 0 101 120'
		echo '100000 high late_begin 10 0'
		echo '100010 - sched_switch 0 101 120 0 900 120'
		echo '570010 - sched_switch 0 900 120 1 101 120'
		echo '570100 high late_end 10'
		echo '600000 high late_begin 11 0'
		echo '600010 high call_enter 6 0 50'
		echo '600020 - sched_switch 0 101 120 1 0 120'
		echo '650000 - sched_wakeup 101'
		echo '650005 - sched_switch 0 0 120 0 101 120'
		echo '650010 high call_exit 6 0 0 50000'
		echo '650100 high late_end 11'
	} | tenth_job | log run.ptl
	explains 'late 11 of high took 50.1 ms, where 100 us is usual: it slept for 50.0 ms.'
}

# What it was to run for is the cause, where that is unusually much.
a_span_that_ran_far_longer_than_usual_beside_other_programs_ran()
{
	{
		echo '99000 - sched_switch 0 0 120 0 101 120'
		echo '100000 high late_begin 10 0'
		echo '120000 - sched_switch 0 101 120 0 900 120'
		echo '160000 - sched_switch 0 900 120 1 101 120'
		echo '160100 high late_end 10'
	} | tenth_job | log run.ptl
	explains 'late 10 of high took 60.1 ms, where 100 us is usual: it ran for 20.1 ms, and could run for 40.0 ms in which another program ran (thread 900).'
}

who_posted_what_a_span_waited_for_was_held_up_itself()
{
	tenth_job <<-END | log run.ptl
		500 high call_enter 1 64 $NO_SIZE
		510 low call_exit 2 64 0 0
		520 high call_exit 1 64 0 20
		100000 high late_begin 10 0
		100010 high call_enter 1 64 $NO_SIZE
		100020 low call_enter 7 5 16
		150000 low call_exit 7 5 16 50000
		150010 low call_exit 2 64 0 0
		150020 high call_exit 1 64 0 50000
		150100 high late_end 10
	END
	explains 'late 10 of high took 50.1 ms, where 100 us is usual: it was in sem_wait for 50.0 ms, until low woke it; low was in read of descriptor 5 for 50.0 ms.'
}

# A call that the C library made says less than the function of the program that called it.
who_called_a_library_that_waited_is_the_programs_own_function()
{
	make_library
	cat <<-END | tenth_job | log run.ptl
		$(image 1)
		2 high process 1 0 0x7e0000000000 1048576 /usr/lib/libwait.so.6
		100000 high late_begin 10 0
		100010 high@0x7e0000000100 call_enter 6 0 50
		150010 high@0x7e0000000100 call_exit 6 0 0 50000 0x7e0000000200 $(at refill 1) $(at store 1)
		150100 high late_end 10
	END
	explains 'late 10 of high took 50.1 ms, where 100 us is usual: it slept for 50.0 ms in refill (cache.c:4), called by store.'
}

# What is told ends with the late round: what goes on then may end later.
a_sleep_that_outlasts_the_late_round_is_not_the_logs_end()
{
	{
		late_round
		echo "71800 low call_enter 6 0 50"
		echo "125000 low call_exit 6 0 0 53200"
	} | log run.ptl
	tells 'for mutex 0x40.*, which low had; low slept for 49.9 ms[.]'
}

# What the thread that had a lock did when it was free again, and the other waited for a CPU, held up nobody.
what_a_holder_did_behind_its_lock_is_not_told()
{
	round <<-END
		60000 low mutex_lock 64 0 0
		71700 high mutex_wait 64 103
		71710 - sched_switch 0 101 120 1 103 120
		107000 low mutex_unlock 64 0
		107010 low sched_wakeup 101
		107020 low call_enter 7 5 16
		107030 - sched_switch 0 103 120 1 900 120
		121700 - sched_switch 0 900 120 0 101 120
		121710 high mutex_lock 64 50010 0
		121720 high mutex_unlock 64 0
	END
	tells ', which low had[^;]*; low ran for 35.3 ms[.]'
}

# Of what lies beyond a library of the system nobody says that it called.
who_called_a_function_from_a_library_is_not_told()
{
	make_library
	cat <<-END | tenth_job | log run.ptl
		$(image 1)
		2 high process 1 0 0x7e0000000000 1048576 /usr/lib/libwait.so.6
		100000 high late_begin 10 0
		100010 high@$(at refill 1) call_enter 6 0 50
		150010 high@$(at refill 1) call_exit 6 0 0 50000 0x7e0000000200 $(at store 1)
		150100 high late_end 10
	END
	explains 'late 10 of high took 50.1 ms, where 100 us is usual: it slept for 50.0 ms in refill (cache.c:4).'
}

# The compiler put it there, so that no stack is needed.
who_called_a_helper_that_ran_is_told()
{
	need cc
	need nm
	need addr2line
	cat >cache.c <<-'END'
	static inline __attribute__((always_inline)) void spin(long n)
	{
		for (volatile long i = 0; i < n; i++)
			;
	}
	void refill(void) { spin(1000); }
	END
	cc -g -O1 -shared -fPIC cache.c -o libcache.so || fail 'no library'
	touch -d 2020-01-01 libcache.so
	{
		image 10
		for ms in 72 80 88 96 104 112 120; do
			echo "${ms}000 high@$(at refill 17) cpu_sample"
		done
	} | ran | log run.ptl
	tells ': it ran for 50.1 ms, most of it in spin (cache.c:3), called by refill[.]'
}

who_left_a_cpu_untold_has_left_it()
{
	round <<-END
		500 - sched_switch 0 101 120 1 900 120
		600 - sched_switch 0 102 120 1 101 120
		71720 - sched_switch 0 101 120 0 102 120
		121700 - sched_switch 0 102 120 1 101 120
		190000 - sched_switch 0 900 120 1 0 120
	END
	tells 'it could run for [0-9.]* ms, but middle ran instead'
}

# The sleep behind the call is over at once: that waking is not the end of the call.
who_ended_a_call_is_not_who_woke_from_the_next()
{
	{
		echo "60000 low mutex_lock 128 0 0"
		echo "71710 high call_enter 7 5 16"
		echo "71800 - sched_switch 0 101 120 1 103 120"
		echo "120980 low call_enter 8 6 1"
		echo "120990 low sched_wakeup 101"
		echo "121000 low call_exit 8 6 1 20"
		echo "121010 - sched_switch 0 103 120 1 101 120"
		echo "121020 high call_exit 7 5 1 49310"
		echo "121070 high sched_wakeup 101"
	} | ran | log run.ptl
	explains 'high took 50.2 ms for a round, where 100 us is usual (1 of 12): it was in read of descriptor 5 for 49.3 ms, until low woke it; low ran for 49.2 ms.'
}

# A read-write lock: high wants to write.
who_read_at_the_same_time_had_the_lock_together()
{
	round <<-END
		60000 low sync_lock 64 0 0 1
		71700 high sync_wait 64 103 2
		75000 middle sync_lock 64 0 0 1
		92000 low sync_unlock 64 0 1
		95000 other sync_lock 64 0 0 1
		105000 middle sync_unlock 64 0 1
		121700 other sync_unlock 64 0 1
		121710 high sync_lock 64 50010 0 2
		121720 high sync_unlock 64 0 2
	END
	tells 'which [a-z, ]* had together;'
}

# That other read at the same time was no event, as the lock was free.
who_read_a_lock_in_turn_may_have_had_it_together()
{
	round <<-END
		60000 low sync_lock 64 0 0 1
		71700 high sync_wait 64 103 2
		92000 low sync_unlock 64 0 1
		95000 middle sync_lock 64 0 0 1
		121700 middle sync_unlock 64 0 1
		121710 high sync_lock 64 50010 0 2
		121720 high sync_unlock 64 0 2
	END
	tells 'which [a-z, ]* had in turn or together;'
}

# A child that is waited for: it was made, and could not run for 48 ms.
who_never_ran_waits_for_a_cpu_from_its_making_on()
{
	round <<-END
		500 other mutex_lock 128 0 0
		71700 high call_enter 21 103 0
		71710 - sched_wakeup_new 103
		71720 - sched_switch 0 101 120 1 104 120
		120000 - sched_switch 0 104 120 0 103 120
		121590 low call_enter 8 6 1
		121600 low sched_wakeup 101
		121700 - sched_switch 0 103 120 128 101 120
		121720 high call_exit 21 103 103 50020
	END
	tells 'until low woke it; low could run for 48.3 ms, but other ran instead'
}

# Each had it for a part of the time: none of them is the one.
who_had_a_lock_in_turn_is_told_with_all_of_them()
{
	round <<-END
		60000 low mutex_lock 64 0 0
		71700 high mutex_wait 64 103
		85000 low mutex_unlock 64 0
		85010 other mutex_lock 64 0 0
		86000 other call_enter 8 5 16
		107000 other call_exit 8 5 16 21000
		107010 other mutex_unlock 64 0
		107020 middle mutex_lock 64 0 0
		121700 middle mutex_unlock 64 0
		121710 high mutex_lock 64 50010 0
		121720 high mutex_unlock 64 0
	END
	explains 'high took 50.4 ms for a round, where 100 us is usual (1 of 12): it waited 50.0 ms for mutex 0x40, which other, low and middle had in turn; other was in write of descriptor 5 for 21.0 ms.'
}

# low signals, and keeps the mutex for another 60 ms.
a_wait_in_a_condition_may_be_one_for_its_mutex()
{
	awk 'BEGIN {
		for (i = 0; i < 12; i++) {
			late = i >= 6 ? 60000 : 0
			from = 1000 + i * 10000 + late
			back = from + 9900 + (i == 5 ? 60000 : 0)
			printf "%d high cond_wait 512 576\n", from
			printf "%d low mutex_lock 576 0 0\n", from + 9000
			printf "%d low cond_signal 512\n", from + 9100
			printf "%d low sched_wakeup 101\n", from + 9110
			printf "%d low mutex_unlock 576 0\n", back - 50
			printf "%d low sched_wakeup 101\n", back - 40
			printf "%d high cond_resume 512 576 9900 0\n", back
			printf "%d high mutex_unlock 576 0\n", back + 10
		}
	}' | log run.ptl
	explains 'high waited 60.8 ms for mutex 0x240 to come back from pthread_cond_wait, which low had; low did for 60.7 ms what is not recorded: own work, or a call that blocked, where 9.90 ms is usual (1 of 12).'
}

three_that_wait_for_each_other_are_in_a_deadlock()
{
	log run.ptl <<-END
		1000 high mutex_lock 64 0 0
		1000 middle mutex_lock 128 0 0
		1000 low mutex_lock 192 0 0
		2000 high mutex_wait 128 102
		2010 middle mutex_wait 192 103
		2020 low mutex_wait 64 101
		1000000 other mutex_lock 256 0 0
	END
	run 0 why run.ptl
	out_has 'which high had: a deadlock.'
}

# A nice program gives way to low, which still runs: no priority keeps it from that for ever.
a_nice_program_is_no_priority_inversion()
{
	late_round >late
	for prio in 20 110; do
		{
			cat late
			echo "75000 - sched_switch 0 103 120 0 102 115"
			echo "120000 - sched_switch 0 102 115 0 103 120"
			echo "500 - sched_switch 1 0 120 0 101 $prio"
			echo "600 - sched_switch 1 101 $prio 1 0 120"
			echo "700 middle mutex_lock 192 0 0"
		} | log run.ptl
		run 0 why run.ptl
		out_has 'low could run for 45.0 ms, but middle ran instead'
		[ $prio = 110 ] || out_has ': a priority inversion.'
	done
	out_lacks 'inversion'
}

# The SIGSTOP came in a round that nobody waited in.
who_was_stopped_long_before_is_told_by_whom()
{
	round <<-END
		500 - sched_switch 1 0 120 0 102 120
		600 middle call_enter 9 5 1
		30000 low signal 3 19 102 0
		30010 - sched_switch 1 102 120 4 0 120
		71700 high call_enter 7 5 1
		120000 - sched_wakeup 102
		120010 - sched_switch 1 0 120 0 102 120
		121680 middle call_enter 8 6 1
		121690 middle sched_wakeup 101
		121700 high call_exit 7 5 1 50000
	END
	run 0 why run.ptl
	out_has 'until middle woke it; middle was stopped by SIGSTOP for 48.3 ms, which low sent'
}

# No event says that low took the mutex, which was free; but it woke high again, and did not signal then.
a_mutex_that_no_event_tells_of_was_given_back_by_who_woke_the_waiter_again()
{
	for again in call_exit cond_signal; do
		awk -v again="$again" 'BEGIN {
			for (i = 0; i < 12; i++) {
				late = i >= 6 ? 60000 : 0
				from = 1000 + i * 10000 + late
				back = from + 9900 + (i == 5 ? 60000 : 0)
				printf "%d high cond_wait 512 576\n", from
				printf "%d low cond_signal 512\n", from + 9100
				printf "%d low sched_wakeup 101\n", from + 9110
				printf "%d low call_enter 6 0 1\n", from + 9120
				printf "%d low call_exit 6 0 0 10\n", back - 60
				if (again == "cond_signal")
					printf "%d low cond_signal 512\n", back - 50
				printf "%d low sched_wakeup 101\n", back - 40
				printf "%d high cond_resume 512 576 9900 0\n", back
			}
		}' | log run.ptl
		run 0 why run.ptl
		if [ "$again" = call_exit ]; then
			grep -q '^high waited 60.8 ms for a mutex to come back from pthread_cond_wait, which low had; low slept' out ||
				fail "$(head -n 1 out)"
		else
			grep -q '^high was in pthread_cond_wait for 69.9 ms, until low woke it' out || fail "$(head -n 1 out)"
		fi
	done
}

# Of two late rounds the longer one is due to another program that had the CPU of who has the lock.
what_other_programs_caused_along_the_chain_comes_last()
{
	{
		sleeps high 1 7 10
		cat <<-END
			60000 low mutex_lock 64 0 0
			71700 high mutex_wait 64 103
			71710 - sched_switch 0 103 120 0 900 120
			131690 - sched_switch 0 900 120 1 103 120
			131700 low mutex_unlock 64 0
			131710 high mutex_lock 64 60010 0
			131720 high mutex_unlock 64 0
		END
		sleeps high 132 7 10
		cat <<-END
			190000 low mutex_lock 64 0 0
			202700 high mutex_wait 64 103
			202710 low call_enter 7 5 16
			202720 - sched_switch 0 103 120 1 0 120
			242680 - sched_switch 0 0 120 0 103 120
			242690 low call_exit 7 5 16 39900
			242700 low mutex_unlock 64 0
			242710 high mutex_lock 64 40010 0
			242720 high mutex_unlock 64 0
		END
		sleeps high 243 6 10
	} | log run.ptl
	tells '^high took 40.* for a round, .* (2 of 19): it waited 40.0 ms for mutex 0x40, which low had; low was in read'
}

"$case"
