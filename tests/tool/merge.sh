#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace merge: several logs, and the kernel's scheduler, on one line of time.
. "$(dirname "$0")/common.sh"

# The counter of mklog's logs runs at 1 GHz from 0, the second log's at 2.5 GHz from elsewhere.
other='uuid 2
clock 2500000000 5000000000 1700000000000500000 1000000500000'

# job FILE NUMBER [HEAD]: a log of one event, 1000 ns after its beginning.
job()
{
	make "$1" "${3-}" <<-END
		event 1000 32 1 0 u32:$2
	END
}

# second_at SECONDS WHAT OPTIONS LOGS...: merged into one, their second event lies there; else it says WHAT.
second_at()
{
	place=$1 what=$2
	shift 2
	run 0 merge -o both.ptl "$@"
	run 0 print both.ptl
	sed -n 2p out | grep -q "^ *$place " || fail "$what"
}

# Two logs of one boot, half a millisecond apart in their beginnings.
make_two()
{
	make one.ptl <<-END
		event 1000 2 0 0
		event 1000000 32 1 0x401000 u32:1
		loss 4
		event 3000000 33 1 0x401010 u32:1 i64:-5
		event 9000000 3 0 0 u32:0
		lost 2
	END
	make two.ptl "$other" <<-END
		event 500000 32 1 0x402000 u32:2
		event 2000000 33 2 0x402010 u32:2 i64:7
	END
}

merged_logs_are_in_the_order_of_time()
{
	make_two
	run 0 merge -o both.ptl one.ptl two.ptl
	run 0 print both.ptl
	sed 's/^ *\([0-9.]*\) .*\(posix_trace_st[a-z]*\|job_[a-z]*\) */\1 \2 /' out >lines
	cat >expected <<-END
		0.000001000 posix_trace_start
		0.001000000 job_begin job=1
		0.001000000 job_begin job=2
		0.002500000 job_end job=2  late_ns=7
		0.003000000 job_end job=1  late_ns=-5
		0.009000000 posix_trace_stop by call
	END
	grep -v LOST lines | sed 's/ *$//' | cmp -s - expected || { cat lines; fail "another order"; }
}

a_merged_log_is_sound_and_its_losses_are_exact()
{
	make_two
	run 0 merge -o both.ptl one.ptl two.ptl
	err_has 'one.ptl: 6 EVENTS LOST'
	run 0 print both.ptl
	out_has '4 EVENTS LOST'
	err_has '6 EVENTS LOST (6 were kept)'
	run 3 merge --strict -o both.ptl one.ptl two.ptl
	if commands | grep -qx check; then
		run 3 check both.ptl
		out_has '6'
	fi
}

threads_with_one_number_in_two_processes_stay_apart()
{
	make one.ptl <<-END
		event 1000 32 1 0 u32:1
		event 9000 33 1 0 u32:1 i64:0
	END
	make two.ptl "$other" <<-END
		process 815 box /opt/app/sensor
		thread 1 0x7f0000001000 816 sensor
		event 1000 32 1 0 u32:1
		event 5000 33 1 0 u32:1 i64:0
	END
	run 0 merge -o both.ptl one.ptl two.ptl
	run 0 print --thread 4712 both.ptl
	lines 2
	run 0 print --thread 816 both.ptl
	lines 2
	# Were they one thread, the job of the second log would end within the first one's.
	run 0 stat both.ptl
	if grep -q 'without' out; then fail "jobs got mixed up"; fi
}

types_of_one_name_and_two_descriptions_stay_apart()
{
	make one.ptl <<-END
		event 1000 32 1 0 u32:1
		event 2000 33 1 0 u32:1 i64:0
	END
	{ printf '%s\n' "$other" "process 815 box /opt/app/sensor" "thread 1 0x7f0000001000 816 sensor" \
		"type 40 job_begin u64 job" "type 41 job_end u64 job" "event 3000 40 1 0 u64:9" \
		"event 5000 41 1 0 u64:9"; } | "$mklog" >two.ptl || fail mklog
	run 0 merge -o both.ptl one.ptl two.ptl
	err_has 'two.ptl: its job_begin is described otherwise than that of one.ptl'
	run 0 print both.ptl
	out_has 'sensor:job_begin'
	out_has 'job=9'
	run 0 stat both.ptl
	out_has 'sensor:job'
}

a_log_that_cannot_be_placed_is_refused_with_the_reason()
{
	make_two
	# A board that counts from its start: no date, another host's boot.
	make board.ptl 'uuid 3
clock 1000000 0 5000000000 5000000000' <<-END
		process 1 board -
		event 1000 32 1 0 u32:1
	END
	run 2 merge -o all.ptl one.ptl board.ptl
	err_has 'board.ptl: cannot be placed'
	err_has '--same-boot'
	[ ! -e all.ptl ] || fail "something was written"
	run 2 merge -o all.ptl one.ptl one.ptl
	err_has 'the same stream'
	run 2 merge -o one.ptl one.ptl two.ptl
	err_has 'overwritten'
	run 1 merge one.ptl
	err_has '-o OUT'
	run 2 merge -o all.ptl one.ptl nowhere.ptl
}

logs_of_one_boot_are_placed_by_the_monotonic_clock()
{
	# The civil clock was set one second forward between the two creations.
	job one.ptl 1
	job two.ptl 2 'uuid 2
clock 1000000000 0 1700000001000500000 1000000500000'
	second_at 0.000501000 "not half a millisecond later" one.ptl two.ptl
	# Ten seconds: another boot, as far as the clocks tell; then civil time counts.
	job late.ptl 3 'uuid 4
clock 1000000000 0 1700000010000500000 1000000500000'
	second_at 10.000501000 "not ten seconds later" one.ptl late.ptl
	second_at 0.000501000 "--same-boot counts for nothing" --same-boot one.ptl late.ptl
}

a_boot_id_says_which_logs_are_of_one_boot()
{
	# An hour forward between the two creations: clocks alone would say, another boot.
	job one.ptl 1 'boot 7'
	job two.ptl 2 'boot 7
uuid 2
clock 1000000000 0 1700003600000500000 1000000500000'
	second_at 0.000501000 "not half a millisecond later" one.ptl two.ptl
	# The new log is of that boot, too.
	job three.ptl 3 'boot 7
uuid 3
clock 1000000000 0 1700007200001000000 1000001000000'
	run 0 merge -o all.ptl both.ptl three.ptl
	run 0 print all.ptl
	sed -n 3p out | grep -q '^ *0.001001000 ' || fail "the merged log forgot its boot"
	# Half a millisecond later, but restarted in between.
	job other.ptl 4 'boot 8
uuid 4
clock 1000000000 0 1700000000500000000 1000000500000'
	second_at 0.500001000 "placed by another boot's clock" one.ptl other.ptl
	# Where one of the two does not say it, host and clocks count.
	job older.ptl 5 'uuid 5
clock 1000000000 0 1700000001000500000 1000000500000'
	second_at 0.000501000 "an older log's clocks count for nothing" one.ptl older.ptl
}

# later FILE FIRST TICKS: by CLOCK_MONOTONIC a day after one.ptl, by civil time a second.
later()
{
	job "$1" 2 "$2
boot 7
uuid 2
clock 1000000000 $3 1700000001000000000 87400000000000"
}

# Processes may have time namespaces of their own, and somebody may set the civil clock.
clocks_of_one_boot_that_contradict_each_other_are_told()
{
	job one.ptl 1 'boot 7'
	later two.ptl 'boot 7' 0
	run 0 merge -o both.ptl one.ptl two.ptl
	err_has 'contradict each other: by CLOCK_MONOTONIC the second began 86400 s later, by civil time 1.00 s later'
	err_has 'placed by CLOCK_MONOTONIC; --by-date takes civil time'
	run 0 print both.ptl
	sed -n 2p out | grep -q '^ *86400.000001000 ' || fail 'not a day later'
	second_at 1.000001000 'not a second later' --by-date one.ptl two.ptl
	run 1 merge --by-date --same-boot -o both.ptl one.ptl two.ptl
	err_has 'choose one'
	# The processor's counter is one for all: it says which of the two was another one.
	job one.ptl 1 'boot 7
counter'
	later two.ptl counter 1000000000
	run 0 merge -o both.ptl one.ptl two.ptl
	err_has 'time namespaces): placed by civil time'
	run 0 print both.ptl
	sed -n 2p out | grep -q '^ *1.000001000 ' || fail 'not a second later'
	later two.ptl counter 86400000000000
	run 0 merge -o both.ptl one.ptl two.ptl
	err_has 'the civil clock was set between them: placed by CLOCK_MONOTONIC'
	run 0 print both.ptl
	sed -n 2p out | grep -q '^ *86400.000001000 ' || fail 'not a day later'
}

# The civil clock was set between two logs of one boot.
the_date_of_a_merged_log_does_not_depend_on_the_order_of_files()
{
	job one.ptl 1 'boot 7'
	job two.ptl 2 'boot 7
uuid 2
clock 1000000000 0 1700003600000500000 1000000500000'
	for order in 'one.ptl two.ptl' 'two.ptl one.ptl'; do
		# shellcheck disable=SC2086
		run 0 merge -o both.ptl $order
		run 0 print --utc --event job_begin both.ptl
		[ "$(grep -c '^2023-11-14T22:13:20.000' out)" = 2 ] || fail "another date with $order"
	done
	# A machine that learnt the date meanwhile: the log that knows it counts.
	job early.ptl 3 'boot 7
uuid 3
clock 1000000000 0 5000000000 999999500000'
	for order in 'one.ptl early.ptl' 'early.ptl one.ptl'; do
		# shellcheck disable=SC2086
		run 0 merge -o both.ptl $order
		run 0 print --utc --event job_begin both.ptl
		[ "$(grep -c '^2023-11-14T22:13:' out)" = 2 ] || fail "another date with $order"
	done
}

# The first process of each container is 1.
processes_of_two_logs_that_have_one_number_stay_apart()
{
	contained='process 4711 box /opt/app/worker
module 0x400000 0x555500000000 0x555500010000 - /opt/app/worker'
	make one.ptl 'boot 7' <<-END
		$contained
		thread 1 0x7f0000001000 1 worker
		event 1000 32 1 0 u32:1
	END
	# Elsewhere in memory; on another host; begun at another time.
	make two.ptl 'boot 7
uuid 2' <<-END
		process 4711 box /opt/app/worker
		module 0x400000 0x666600000000 0x666600010000 - /opt/app/worker
		thread 1 0x7f0000001000 1 worker
		event 1000 32 1 0 u32:2
	END
	make three.ptl 'boot 7
uuid 3' <<-END
		process 4711 pod /opt/app/worker
		thread 1 0x7f0000001000 1 worker
		event 1000 32 1 0 u32:3
	END
	make same.ptl 'boot 7
uuid 4' <<-END
		$contained
		thread 1 0x7f0000001000 1 worker
		event 1000 32 1 0 u32:4
	END
	run 0 merge -o all.ptl one.ptl two.ptl three.ptl same.ptl
	err_has 'two.ptl: its process 4711 is another one than that of one.ptl: in the new log it has the number 10004711'
	err_has 'three.ptl: its process 4711 is another one than that of'
	run 0 print --json --event job_begin all.ptl
	for pair in '1 4711' '2 10004711' '3 20004711' '4 4711'; do
		grep "\"job\":${pair% *}" out | grep -q "\"pid\":${pair#* }[,}]" || fail "pid of $pair"
	done
	run 0 print --event job_begin all.ptl
	out_has 'worker/10000001'
	run 0 check all.ptl
	# Begun at another time, a second apart.
	for second in 10 11; do
		make "$second.ptl" "boot 7
uuid $second
started 16999990${second}000000000" <<-END
			event 1000 32 1 0 u32:$second
		END
	done
	run 0 merge -o all.ptl 10.ptl 11.ptl
	err_has '11.ptl: its process 4711 is another one'
}

# Types 61 and 99 are in the new set; nobody named 99, so it has no number in the merged log.
filters_of_merged_logs_keep_the_types_that_have_names()
{
	none=$(printf '%0256d' 0)
	wanted=00000000000000200000000008$(printf '%0230d' 0)
	printf '%s\n' "type 60 alpha" "type 61 beta" "event 1000 6 0 0 hex:$none hex:$wanted" "event 2000 61 0 0" |
		"$mklog" >one.ptl || fail mklog
	run 0 print one.ptl
	out_has 'posix_trace_filter  old=none  new=2 types'
	run 0 merge -o both.ptl one.ptl
	run 0 print both.ptl
	out_has 'posix_trace_filter  old=none  new=1 types'
}

# ---- The kernel ----

# Stamps of CLOCK_MONOTONIC: the log begins at 1000 s.
make_sched()
{
	cat >sched.txt <<-'END'
		# tracer: nop
		# entries-in-buffer/entries-written: 95/100   #P:2
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		          <idle>-0       [001] d..2.   999.500000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sensor next_pid=4712 next_prio=20
		          sensor-4712    [001] d..2.  1000.000150: sched_switch: prev_comm=sensor prev_pid=4712 prev_prio=20 prev_state=R+ ==> next_comm=a=b c-1 next_pid=99 next_prio=10
		CPU:1 [LOST 7 EVENTS]
		         a=b c-1-99      [001] d..2.  1000.000250: sched_waking: comm=sensor pid=4712 prio=20 target_cpu=001
		         a=b c-1-99      [001] d..2.  1000.000280: sched_switch: prev_comm=a=b c-1 prev_pid=99 prev_prio=10 prev_state=D ==> next_comm=sensor next_pid=4712 next_prio=20
		          sensor-4712    [001] .....  1000.000290: sys_enter: NR 1
	END
}

scheduler_events_of_ftrace_come_into_the_log_as_typed_events()
{
	make_story
	make_sched
	run 0 merge --ftrace sched.txt -o all.ptl run.ptl
	err_has 'sched.txt: 12 EVENTS LOST'
	err_has '1 lines tell of other events'
	run 0 print all.ptl
	out_has 'prev_comm="sensor"  prev_tid=4712  prev_prio=20  prev_state=256  next_comm="a=b c-1"  next_tid=99  next_prio=10'
	grep -A1 '7 EVENTS LOST' out | grep -q sched_waking || fail "the loss is elsewhere"
	# In the thread that the log knows, between its own events.
	run 0 print --thread 4712 all.ptl
	sed -n 's/.*\(job_begin\|job_end\|sched_[a-z]*\) .*/\1/p' out | tr '\n' ' ' >order
	[ "$(cat order)" = "job_begin sched_switch job_end " ] || fail "order: $(cat order)"
}

text_of_trace_cmd_says_the_same()
{
	make_story
	make_sched
	run 0 merge --ftrace sched.txt -o all.ptl run.ptl
	run 0 print all.ptl
	grep sched_ out >expected
	cat >cmd.txt <<-'END'
		cpus=2
		          <idle>-0     [001]   999.500000000: sched_switch:         swapper/1:0 [120] R ==> sensor:4712 [20]
		          sensor-4712  [001]  1000.000150000: sched_switch:         sensor:4712 [20] R+ ==> a=b c-1:99 [10]
		CPU:1 [7 EVENTS DROPPED]
		         a=b c-1-99    [001]  1000.000250000: sched_waking:         comm=sensor pid=4712 prio=20 target_cpu=001
		         a=b c-1-99    [001]  1000.000280000: sched_switch:         a=b c-1:99 [10] D ==> sensor:4712 [20]
	END
	run 0 merge --ftrace cmd.txt -o all2.ptl run.ptl
	err_has 'cmd.txt: 7 EVENTS LOST'
	run 0 print all2.ptl
	grep sched_ out | cmp - expected || fail "trace-cmd's text says something else"
}

text_of_perf_says_the_same()
{
	make_story
	make_sched
	run 0 merge --ftrace sched.txt -o all.ptl run.ptl
	run 0 print all.ptl
	# The idle task has another name there.
	grep sched_ out | sed 's/<idle> /swapper/' >expected
	# By the kernel's own format, by perf's, with and without the process' number.
	cat >perf.txt <<-'END'
		swapper     0 [001]   999.500000000:       sched:sched_switch: swapper/1:0 [120] R ==> sensor:4712 [20]
		sensor  4711/4712  [001]  1000.000150000: sched:sched_switch: prev_comm=sensor prev_pid=4712 prev_prio=20 prev_state=R+ ==> next_comm=a=b c-1 next_pid=99 next_prio=10
		CPU:1 [LOST 7 EVENTS]
		a=b c-1    99 [001]  1000.000250000:       sched:sched_waking: comm=sensor pid=4712 prio=20 target_cpu=001
		a=b c-1    99 [001]  1000.000280000:       sched:sched_switch: a=b c-1:99 [10] D ==> sensor:4712 [20]
		a=b c-1    99 [001]  1000.000290000:       irq:irq_handler_entry: irq=1 name=x
	END
	run 0 merge --ftrace perf.txt -o all2.ptl run.ptl
	err_has '1 lines tell of other events'
	run 0 print all2.ptl
	grep sched_ out | cmp - expected || fail "perf's text says something else"
}

a_kernel_trace_of_another_time_or_clock_is_refused()
{
	make_story
	make_sched
	sed 's/\(  *\)1000\.000/\17000.000/; s/999\.5/6999.5/' sched.txt >later.txt
	run 2 merge --ftrace later.txt -o all.ptl run.ptl
	err_has 'later.txt: cannot be placed: it begins'
	sed 's/ *\([0-9]*\)\.\([0-9]*\): sched/ \1\2: sched/' sched.txt >ticks.txt
	run 2 merge --ftrace ticks.txt -o all.ptl run.ptl
	err_has 'its stamps are a counter'
	printf 'nothing\n' >nothing.txt
	run 2 merge --ftrace nothing.txt -o all.ptl run.ptl
	err_has 'there is no scheduler event'
	run 1 merge --ftrace sched.txt --ftrace-clock local -o all.ptl run.ptl
	err_has 'mono, boot or x86-tsc'
}

# QNX-52
# QNX-52
merge_keeps_the_notes_of_all_logs_once()
{
	number=0
	for note in 'load 80 %' 'load 80 %' 'load 90 %'; do
		number=$((number + 1))
		printf 'note %s\nevent 1000 32 1 0 u32:1\n' "$note" | make "$number.ptl" "uuid $number
			boot 5"
	done
	run 0 merge 1.ptl 2.ptl 3.ptl -o all.ptl
	run 0 stat all.ptl
	[ "$(grep -c 'load: 80 %' out)" -eq 1 ] || fail 'not once'
	out_has 'load: 90 %'
}

merge_says_of_the_machine_what_is_the_same_for_all()
{
	number=0
	for machine in '4 x86_64 Linux 6.1' '4 x86_64 Linux 6.1' '2 x86_64 Linux 6.1'; do
		number=$((number + 1))
		printf 'event 1000 32 1 0 u32:1\n' | make "$number.ptl" "system $machine
			uuid $number
			boot 5"
	done
	run 0 merge 1.ptl 2.ptl -o same.ptl
	run 0 stat same.ptl
	out_has 'x86_64 Linux 6.1, 4 CPUs'
	run 0 merge 1.ptl 3.ptl -o other.ptl
	run 0 stat other.ptl
	out_has 'x86_64 Linux 6.1'
	out_lacks CPU
}

# LPT-30: of the log of tools/sched; 0x6b000000 and a number are a thread of which the kernel told.
a_thread_that_the_kernel_told_of_is_the_programs_own_one()
{
	make run.ptl 'boot 5' <<-END
		event 1000 32 1 0 u32:1
		event 9000 33 1 0 u32:1 i64:0
	END
	"$mklog" >sched.ptl <<-END || fail mklog
		uuid 2
		boot 5
		process 99 box /usr/bin/pxtrace
		thread 1 0x6b001268 4712 called-so
		thread 2 0x6b00270f 9999 stranger
		type 40 sched_switch i32 prev_tid, i32 next_tid
		event 3000 40 1 0 i32:4712 i32:9999
		event 5000 40 2 0 i32:9999 i32:4712
	END
	for order in 'run.ptl sched.ptl' 'sched.ptl run.ptl'; do
		# shellcheck disable=SC2086
		run 0 merge -o all.ptl $order
		run 0 stat all.ptl
		[ "$(grep -c '/4712 ' out)" -eq 1 ] || fail 'thread 4712 is there twice'
		grep -q '^sensor/4712  *3 ' out || fail 'its events are not together'
		grep -q '^stranger/9999  *1 ' out || fail 'the other one is not there'
	done
}

context_switches_of_a_board_and_of_others_say_the_same_fields()
{
	make short.ptl 'uuid 2
boot 5' <<-END
		type 23 posix_trace_context_switch u16 prev_tid, u16 next_tid, u8 prev_state, i8 next_prio
		event 1000 23 1 0 u16:1 u16:2 u8:1 i8:-3
	END
	make full.ptl 'boot 5' <<-END
		type 23 posix_trace_context_switch u32 cpu, u32 prev_tid, u32 next_tid, u32 prev_state, i32 prev_prio, i32 next_prio
		event 2000 23 1 0 u32:4 u32:10 u32:11 u32:0 i32:7 i32:-5
	END
	for order in 'short.ptl full.ptl' 'full.ptl short.ptl'; do
		# shellcheck disable=SC2086
		run 0 merge -o all.ptl $order
		run 0 print all.ptl
		out_has 'prev_tid=1  next_tid=2  prev_state=1  next_prio=-3'
		out_has 'cpu=4  prev_tid=10  next_tid=11  prev_state=0  next_prio=-5'
	done
}

# ---- Machines whose clocks are not one ----

# sync FILE HOST HEAD: on standard input "TIME NUMBER" of events that the other machine has, too.
sync()
{
	{
		printf 'process 1 %s -\ntype 50 sync u32 number\n' "$2"
		while read -r time number; do printf 'event %s 50 1 0 u32:%s\n' "$time" "$number"; done
	} | make "$1" "$3"
}

# One that counts from its start, a second behind the first sync, and runs 100 ppm slow.
make_board()
{
	sync board.ptl board 'uuid 3
clock 1000000000 0 5000000000 5000000000' <<-END
		999900000 1
		1999800000 2
		2999700000 3
		3999600000 4
	END
}

make_host()
{
	sync host.ptl host '#' <<-END
		2000000000 1
		3000000000 2
		4000000000 3
		5000000000 4
	END
}

a_shift_moves_the_logs_of_a_host()
{
	echo '1000 1' | sync one.ptl here '#'
	echo '1000 2' | sync two.ptl there 'uuid 2
clock 1000000000 0 1700000010000000000 1000000500000'
	second_at 10.000001000 'not ten seconds later' one.ptl two.ptl
	second_at 7.500001000 'the host did not count' --shift there=-2.5 one.ptl two.ptl
	second_at 10.250001000 'the name of the log did not count' --shift two.ptl=250ms one.ptl two.ptl
	run 2 merge -o both.ptl --shift two.ptl=3000000000 --shift two.ptl=3000000000 --shift two.ptl=3000000000 one.ptl two.ptl
	err_has 'by more than 97 years'
	run 2 merge -o both.ptl --shift elsewhere=1 one.ptl two.ptl
	err_has 'no log is of a host elsewhere'
	err_has 'two.ptl of host there'
	for wrong in there =1 there= there=soon there=2026-01-31T12:00:00Z; do
		run 1 merge -o both.ptl --shift "$wrong" one.ptl two.ptl
		err_has "--shift is HOST=TIME, as box=1.5 or box=-20ms, not \"$wrong\""
	done
}

events_in_common_place_a_machine_without_a_date()
{
	make_host
	make_board
	run 2 merge -o both.ptl host.ptl board.ptl
	err_has '--align by an event that both have'
	for order in 'host.ptl board.ptl' 'board.ptl host.ptl'; do
		# shellcheck disable=SC2086
		run 0 merge -o both.ptl --align sync,number $order
		err_has 'by 4 pairs of sync with host.ptl; its clock is 100 ppm slow; the pairs agree to'
		run 0 print --utc --event sync both.ptl
		[ "$(grep -c '22:13:2[2345].0000000' out)" = 8 ] || fail "elsewhere with $order"
	done
	run 0 stat both.ptl
	out_has 'clock: board.ptl: moved'
}

events_without_a_field_belong_together_by_their_order_where_none_is_missing()
{
	make_host
	make_board
	run 0 merge -o both.ptl --align sync host.ptl board.ptl
	err_has 'by 4 pairs'
	sync fewer.ptl board 'uuid 4' <<-END
		2000000000 2
		3000000000 3
	END
	run 2 merge -o both.ptl --align sync host.ptl fewer.ptl
	err_has 'which belong together is not known'
	err_has '--align sync,FIELD'
	run 0 merge -o both.ptl --align sync,number host.ptl fewer.ptl
	err_has 'moved 1.00 s forward by 2 pairs of sync with host.ptl; too few to tell how its clock runs'
}

clocks_that_cannot_be_compared_are_told()
{
	make_host
	make_board
	run 2 merge -o both.ptl --align nothing host.ptl board.ptl
	err_has 'no log has an event nothing'
	run 2 merge -o both.ptl --align sync,late host.ptl board.ptl
	err_has 'no event sync has a field late'
	# A number that stands twice belongs to nobody.
	sync twice.ptl board 'uuid 5' <<-END
		2000000000 2
		3000000000 2
	END
	run 0 merge -o both.ptl --align sync,number host.ptl twice.ptl
	err_has 'twice.ptl: has no sync that belongs to one of the other logs: its clock was not compared'
	run 1 merge -o both.ptl --align sync, host.ptl board.ptl
	err_has '--align is EVENT or EVENT,FIELD'
}

# The third has pairs with the second alone.
clocks_are_compared_through_a_machine_between()
{
	make_host
	sync between.ptl between 'uuid 6
clock 1000000000 0 1700000000500000000 1000000000000' <<-END
		1000000000 1
		1500000000 90
	END
	sync far.ptl far 'uuid 7
clock 1000000000 0 5000000000 5000000000' <<-END
		700000000 90
	END
	run 0 merge -o all.ptl --align sync,number far.ptl between.ptl host.ptl
	err_has 'far.ptl: moved'
	err_has 'by 1 pair of sync with host.ptl'
	run 0 print --utc --where number=90 all.ptl
	[ "$(grep -c '22:13:22.500000000' out)" = 2 ] || fail 'not half a second after the first sync'
}

# A process in a pid namespace of its own does not know its threads by the kernel's numbers.  Two of its threads had one
# CPU, and another program's, in turn.
a_thread_of_another_pid_namespace_is_one_with_what_the_scheduler_tells_of_it()
{
	"$mklog" >own.ptl 2>err <<-END || { cat err; exit 77; }
		boot 3
		process 1 box /bin/run
		system_types
		pid 800
		thread 5 0x7f0000005000 800 red
		thread 6 0x7f0000006000 0 red-hold
		thread 7 0x7f0000007000 0 red-idle
		event 600 19 6 0 u8:4 u32:2 u64:0 u64:0
		event 700 19 7 0 u8:4 u32:3 u64:0 u64:0
		event 800 19 6 0 u8:4 u32:2 u64:0 u64:0
		event 850 19 6 0 u8:4 u32:2 u64:0 u64:0
		event 1000 19 5 0 u8:4 u32:1 u64:0 u64:0
	END
	"$mklog" >sched.ptl <<-END || fail mklog
		uuid 2
		boot 3
		process 1 box /bin/run
		pid 800
		thread 1 0x6b000320 800 red
		thread 2 0x6b000322 802 red
		thread 3 0x6b000323 803 red
		pid 900
		thread 4 0x6b000384 900 blue
		type 40 sched_switch i32 prev_tid, i64 prev_state, i32 next_tid
		type 41 sched_process_fork i32 child_tid, i32 child_pid
		event 100 41 1 0 i32:802 i32:800
		event 110 41 1 0 i32:803 i32:800
		event 500 40 1 0 i32:800 i64:1 i32:802
		event 650 40 2 0 i32:802 i64:1 i32:803
		event 750 40 3 0 i32:803 i64:1 i32:802
		event 830 40 2 0 i32:802 i64:1 i32:900
		event 950 40 4 0 i32:900 i64:1 i32:800
	END
	run 0 merge --same-boot -o all.ptl own.ptl sched.ptl
	run 0 stat all.ptl
	for thread in red/800 red-hold/802 red-idle/803 blue/900; do
		[ "$(grep -c " *$thread  " out)" -eq 1 ] || fail "$thread is not one row"
	done
	grep -c '/80[023]  ' out | grep -qx 3 || fail 'a number has two threads'
}

"$case"
