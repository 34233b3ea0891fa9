#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace run: programs that nobody changed (victim.c), recorded and explained. (LPT-30, QNX-51)

. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999
VICTIM=$PXT_BUILD/tests/victim
export VICTIM
need_preload "$VICTIM"
unset PXTRACE_PRELOAD LD_PRELOAD

# traced STATUS OPTIONS... -- PROGRAM...: the log is run.ptl
traced()
{
	wanted=$1
	shift
	run "$wanted" run -o run.ptl "$@"
}
# count TYPE: events of that type in the log
count() { "$pxtrace" print --event "posix_trace_$1" run.ptl | grep -c posix_trace_; }
# has COUNT TYPE
has() { [ "$(count "$2")" -eq "$1" ] || fail "$(count "$2") events $2, not $1"; }
# How often locks of the kind $2 (mutex) were taken, as the log has it, with and without waiting.
taken()
{
	sum=$("$pxtrace" print --event posix_trace_process run.ptl |
		sed -n "s/.*what=taken .*size=\([0-9]*\)  name=\"${2:-mutex}\".*/\1/p" | awk '{ n += $1 } END { print n + 0 }')
	[ "$sum" -eq "$1" ] || fail "$sum times taken, not $1"
}

# LPT-30, LPT-24
a_program_that_locks_five_times_has_five_locks_and_five_unlocks()
{
	traced 0 -q --all --only mutex -- "$VICTIM" locks
	has 5 mutex_lock
	has 5 mutex_unlock
	has 0 mutex_wait
	has 0 call_enter
	sound run.ptl
}

# QNX-24, SHARK-37
a_wait_names_the_variable_the_holder_and_its_place()
{
	traced 0 -- "$VICTIM" contend
	err_has 'none lost'
	err_has "pxtrace why run.ptl"
	run 0 why run.ptl
	grep -q '^victim waited .* ms for first_lock, which holder had, taken in hold_long' out ||
		fail 'another answer'
	grep -q 'was in sleep' out || fail 'no word of what the holder did'
}

locks_that_are_free_are_counted_and_only_waits_are_events()
{
	traced 0 -q --only mutex -- "$VICTIM" locks
	has 0 mutex_lock
	has 0 mutex_unlock
	taken 5
	traced 0 -q --only mutex -- "$VICTIM" contend
	[ "$(count mutex_wait)" -ge 1 ] || fail 'no wait'
	"$pxtrace" print --event 'posix_trace_mutex_wait' run.ptl >out
	grep -q 'holder=0' out && fail 'a holder that the lock knows is not told'
	run 0 why run.ptl
	grep -q 'for first_lock, which holder had, taken in hold_long' out || fail 'another answer'
}

semaphores_and_read_write_locks_tell_waits_and_who_ended_them()
{
	traced 0 -q --only sem,rwlock -- "$VICTIM" both
	has 1 call_enter
	# Its end, and the post that ended it; the other posts and waits waited for nothing.
	has 2 call_exit
	has 1 sync_wait
	has 1 sync_lock
	has 2 sync_unlock
}

the_locks_of_threads_that_come_and_go_are_counted()
{
	traced 137 -q --only mutex,threads -- "$VICTIM" comeandgo kill
	taken 600
	# Those of many threads have one number.
	"$pxtrace" print run.ptl | grep -q 'what=taken  number=0 ' || fail 'no slot was used again'
}

what_is_beyond_the_locks_that_are_counted_one_by_one_is_told()
{
	traced 0 --only mutex -- "$VICTIM" many
	err_has '4096 locks and others were taken 10000 times, waited for 0 times'
	taken 10000
	run 0 why --locks run.ptl
	out_has 'and locks beyond those that are counted one by one: taken 1808 times'
	run 0 why --locks --json run.ptl
	grep -q '"taken_beyond":1808' out || fail "$(cat out)"
}

# but_ours: an environment without what pxtrace run adds to it
but_ours() { grep -vE '^(_|LD_PRELOAD|PXTRACE_[A-Z_]*)=' | sort; }

a_child_has_the_environment_of_the_plain_program_and_ours()
{
	sh -c 'env; exit 0' | but_ours >plain
	traced 0 -q -- sh -c 'env; exit 0'
	but_ours <out >ours
	cmp plain ours || { diff plain ours; fail 'another environment'; }
}

a_program_is_as_large_as_plain_but_for_its_buffer_and_two_libraries()
{
	plain=$(awk '/^VmSize:/ { print $2 }' /proc/self/status)
	traced 0 -q -- awk '/^VmSize:/ { print $2 }' /proc/self/status
	# 4 MiB of events, 512 KiB of what makes them readable, and code and tables of the libraries.
	[ $(($(cat out) - plain)) -lt 7168 ] || fail "$(cat out) KiB, $plain without us"
}

hundreds_of_short_children_lose_nothing()
{
	traced 0 -q --only mutex -- "$VICTIM" forks
	taken 200
	sound run.ptl
	# Ten thousand with --full.
	[ "${PXT_STRESS:-}" = full ] || return 0
	traced 7 -q --only mutex -- sh -c 'for turn in $(seq 50); do "$VICTIM" forks || exit 1; done; exit 7'
	taken 10000
	sound run.ptl
}

a_program_that_closes_all_descriptors_goes_on_being_traced()
{
	traced 0 -q --only mutex -- "$VICTIM" close locks
	taken 5
}

a_program_that_closes_descriptors_by_system_calls_ends()
{
	timeout 120 "$pxtrace" run -q -o run.ptl --only mutex -- "$VICTIM" locks closebelow exit=5 >out 2>err
	[ $? -eq 5 ] || fail 'another status: does it hang?'
	taken 5
}

numbers_that_were_closed_by_system_calls_are_the_programs()
{
	timeout 120 "$pxtrace" run -q -o run.ptl --only mutex -- "$VICTIM" locks closebelow takebelow exit=5 >out 2>err
	[ $? -eq 5 ] || fail 'a number that was closed could not be had'
}

descriptors_have_the_numbers_that_they_would_have()
{
	"$VICTIM" descriptors >plain
	traced 0 -q -- "$VICTIM" descriptors
	cmp -s plain out || fail "other than $(cat plain)"
}

threads_signals_and_descriptors_are_those_of_the_plain_program()
{
	"$VICTIM" states >plain
	traced 0 -q -- "$VICTIM" states
	[ "$(grep -c Threads plain)" -eq 3 ] || fail 'the program says nothing'
	diff plain out >&2 || fail 'not as without'
}

a_program_whose_main_thread_leaves_ends_with_its_last_thread()
{
	timeout 120 "$pxtrace" run -q -o run.ptl -- "$VICTIM" last >out 2>err || fail 'it does not end'
	[ "$(cat out)" = last ] || fail 'another output'
	sound run.ptl
}

# At a thread's end, and in _exit(), too.
what_a_filter_of_system_calls_forbids_is_not_called()
{
	"$VICTIM" confined
	[ $? -eq 4 ] || { echo 'a process may not filter its calls here: skipped'; exit 77; }
	traced 4 -q --only mutex -- "$VICTIM" confined
	taken 6
	traced 4 -q --only mutex -- "$VICTIM" confinedchild
	taken 5
	sound run.ptl
}

a_child_that_filters_its_calls_where_nobody_sees_it_ends_as_without()
{
	"$VICTIM" confinedbyhand
	[ $? -eq 4 ] || { echo 'a process may not filter its calls here: skipped'; exit 77; }
	traced 4 -q --only mutex -- "$VICTIM" confinedbyhand
	taken 5
}

a_child_of_a_program_that_filters_its_calls_ends_as_without_and_is_counted()
{
	"$VICTIM" confinedparent
	[ $? -eq 4 ] || { echo 'a process may not filter its calls here: skipped'; exit 77; }
	traced 4 --only mutex -- "$VICTIM" confinedparent
	err_has '1 time a process was not traced: its parent filters system calls'
}

a_child_that_lowers_its_limit_of_descriptors_is_traced()
{
	traced 0 -q --only mutex -- "$VICTIM" limitedchild
	taken 5
}

# The second one of the victim's; each program attaches, too.
a_child_that_copies_and_closes_descriptors_before_it_executes_a_program_does_not_attach()
{
	traced 0 -q -- "$VICTIM" runtwice
	"$pxtrace" print --event posix_trace_process run.ptl >told
	[ "$(grep -c 'what=traced' told)" -eq 4 ] || fail "$(grep 'what=traced' told)"
}

a_descriptor_that_a_child_copied_before_its_first_event_has_its_name()
{
	traced 0 -q --only io -- "$VICTIM" copythenwrite
	"$pxtrace" print run.ptl >told
	grep 'what=descriptor.*number=9 ' told || fail "$(grep what=descriptor told)"
}

the_end_of_a_child_in_the_programs_memory_is_not_the_programs()
{
	traced 6 -q --only mutex -- "$VICTIM" lend locks exit=6
	taken 5
	"$pxtrace" print run.ptl | grep what=exit >exits
	[ "$(wc -l <exits)" -eq 1 ] || fail "$(cat exits)"
	grep -q number=6 exits || fail "$(cat exits)"
}

the_summary_names_threads_as_they_were_called_at_that_time()
{
	traced 0 --only mutex -- "$VICTIM" twonames
	grep -q 'for first_lock, which reader had' err || fail "not its first name: $(cat err)"
	grep -q 'for first_lock, which writer had' err || fail "not its second name: $(cat err)"
}

# As rustc's is, whose allocator has its locks made anew before any handler of ours runs.
a_child_that_no_handler_of_a_fork_prepared_locks_what_its_parent_had_counted()
{
	for how in '' --all; do
		# shellcheck disable=SC2086
		traced 0 -q $how --only mutex -- "$VICTIM" clone
		[ "$(cat out)" = '0 0' ] || fail "$how: $(cat out)"
	done
	traced 0 -q --only mutex -- "$VICTIM" clone
	"$pxtrace" print run.ptl | grep 'name="mutex"' | grep -q 'size=2 ' || fail 'its own locks are not counted'
}

# By exec and by a child; a library of ours that is loaded would end the second one, or be told of.
programs_that_cannot_be_traced_run_as_without_and_are_counted()
{
	need cc
	echo 'int main(void) { return 5; }' >static.c
	cc -static static.c -o static 2>/dev/null || { echo 'no static C library: skipped'; exit 77; }
	# The same loader by another name, as another C library has one.
	"$PXT_PYTHON" - "$VICTIM" other <<'EOF'
import re, shutil, sys
data = open(sys.argv[1], "rb").read()
loader = re.search(rb"/[^\0]*/ld-[^\0/]*(?=\0)", data)[0].decode()
name = "x" * len(loader)
shutil.copy(loader, name)
open(sys.argv[2], "wb").write(data.replace(loader.encode() + b"\0", name.encode() + b"\0", 1))
EOF
	chmod +x other
	traced 5 --only mutex -- sh -c './static; ./other print locks exit=3; [ $? -eq 3 ] && exec ./static'
	[ "$(cat out)" = out ] || fail 'another output'
	has 0 mutex_lock
	err_has '2 times a process was not traced: it is linked statically'
	err_has '1 time a process was not traced: it uses another C library'
}

# A file of ours may grow no further than the program's.
a_program_whose_files_may_not_grow_runs_as_without()
{
	traced 7 -- sh -c 'ulimit -f 8; exec "$VICTIM" print locks exit=7'
	[ "$(cat out)$(cat err | head -n 1)" = outerr ] || fail 'another output'
	err_has '1 time a process was not traced: Cannot allocate memory'
}

a_buffer_that_no_process_can_have_is_refused_before_the_program_starts()
{
	for bytes in 63K 1025M 2G; do
		if "$pxtrace" run --buffer "$bytes" -- touch started 2>err; then fail "$bytes is taken"; fi
		grep -q -- "--buffer: $bytes is too" err || fail "$(cat err)"
	done
	[ ! -e started ] || fail 'the program was started'
	for bytes in 64K 33M 1G; do
		traced 0 -q --only mutex --buffer "$bytes" -- "$VICTIM" locks
		taken 5
	done
}

a_log_that_is_overwritten_many_times_has_names_and_images()
{
	traced 0 -q --ring --size 128K --all --only mutex,threads -- "$VICTIM" often contend
	"$pxtrace" print --event posix_trace_process run.ptl >told
	! grep -q what=traced told || fail 'the beginning was not overwritten'
	grep -q "what=image .*victim" told || fail "no image: $(cat told)"
	grep -q 'what=thread_name .*name="holder"' told || fail "no name: $(cat told)"
}

memory_that_is_overwritten_many_times_loses_no_name()
{
	traced 0 -q --all --only mutex,threads --buffer 64K -- "$VICTIM" often contend
	"$pxtrace" print --event posix_trace_process run.ptl >told
	for what in traced image thread_create exit; do
		grep -q "what=$what " told || fail "no $what: $(cat told)"
	done
	[ "$(grep -c what=thread_begin told)" -eq "$(($(grep -c what=thread_create told) + 1))" ] || fail "$(cat told)"
	"$pxtrace" stat run.ptl | grep -q 'EVENTS LOST' || fail 'nothing was overwritten'
}

two_thousand_threads_are_told_that_came_and_went_while_the_recorder_was_stopped()
{
	set -- comeandgo comeandgo comeandgo comeandgo comeandgo
	traced 0 -q --only mutex,threads -- "$VICTIM" halt "$@" "$@" resume
	"$pxtrace" print --event posix_trace_process run.ptl >told
	for what in create begin end name; do
		told=$(grep -c "what=thread_$what " told)
		[ "$told" -ge 2000 ] || fail "$told times $what"
	done
}

an_ordinary_user_locks_the_memory_of_a_small_program()
{
	"$VICTIM" lockmemory >plain
	traced 0 -q --only mutex -- "$VICTIM" lockmemory locks
	cmp -s plain out || fail "$(cat out), plain $(cat plain)"
	taken 5
	# What does not fit beside the program's goes.
	traced 0 -q --only mutex --buffer 16M -- "$VICTIM" locks lockmemory locks
	cmp -s plain out || fail "$(cat out), plain $(cat plain)"
	taken 5
	"$pxtrace" print run.ptl | grep -q 'what=untraced .*mlockall' || fail 'the log does not say so'
}

a_program_that_forbids_itself_the_counter_is_recorded_until_then()
{
	traced 5 -q --only mutex -- "$VICTIM" locks ask locks exit=5
	taken 10
	traced 5 -q --only mutex -- "$VICTIM" locks blind locks exit=5
	[ "$(uname -m)" = x86_64 ] || exit 77
	taken 5
	"$pxtrace" print run.ptl | grep -q 'what=untraced .*counter' || fail 'the log does not say so'
}

what_a_killed_program_recorded_is_in_the_log()
{
	traced 137 -q --only mutex -- "$VICTIM" locks kill
	taken 5
	sound run.ptl
}

a_program_that_forgets_its_environment_is_traced_itself()
{
	traced 0 -q --only mutex -- "$VICTIM" forget locks
	taken 5
}

a_signal_to_the_command_reaches_the_program()
{
	"$pxtrace" run -q -o run.ptl -- "$VICTIM" await >out 2>err &
	command=$!
	until_has out waiting
	kill -USR1 $command
	wait $command
	[ $? -eq 9 ] || fail 'another status than the handler gave'
	out_has 'got it'
	sound run.ptl
}

# QNX-51
a_time_limit_ends_the_program()
{
	traced 9 -q --for 300ms -- "$VICTIM" await
	out_has 'got it'
	sound run.ptl
}

# Beside the scheduler, unless their group is left out; and one that only comes when it is asked for.
requests_to_a_disk_and_interrupts_are_recorded_by_groups()
{
	need dd
	dd if=/dev/urandom of=big bs=1M count=4 conv=fsync 2>/dev/null
	dd if=big iflag=direct of=copy bs=1M 2>/dev/null || { echo 'not on a disk: skipped'; exit 77; }
	# Some kernels of virtual machines tell nothing of a disk's interrupt that meets an idle CPU.
	loops=
	for cpu in $(seq "$(nproc)"); do
		timeout 10 sh -c 'while :; do :; done' &
		loops="$loops $!"
	done
	traced 0 -q --only file,block -- dd if=big iflag=direct of=copy bs=1M
	kill $loops
	run 0 print -e sched_waking run.ptl
	grep -q sched_waking out || { echo 'no tracepoints here: skipped'; exit 77; }
	run 0 print -e block_io run.ptl
	grep -q 'dd/.*block_io .*ns=[1-9].*bytes=[1-9].*rwbs="R' out || fail 'no request of the program'
	traced 0 --only file,block -- dd if=big iflag=direct of=copy bs=1M
	counted=$(sed -n 's/^  of \([0-9]*\) requests\{0,1\} to a disk no end was told: .*/\1/p' err)
	"$pxtrace" print -e block_io run.ptl >out 2>/dev/null
	[ $((${counted:-0} + $(grep -c 'dd/.*rwbs="R' out))) -ge 4 ] || fail 'a request neither told nor counted'
	traced 0 -q --only file,sched -- dd if=big iflag=direct of=copy bs=1M
	run 2 print -e block_io run.ptl
	err_has 'no event type is called "block_io"'
	traced 0 -q --only +softirq -- "$pxtrace" --version
	[ -e /sys/devices/system/cpu/cpu0/cpufreq ] || {
		traced 0 --only freq -- /bin/true
		err_has 'frequencies are not recorded: this machine does not tell them'
	}
	run 1 run --only +nothing -- "$VICTIM"
	err_has 'knows no group "nothing"'
	err_has 'sched, irq, block, softirq, freq'
}

# grouped SCRIPT: with $group, a cgroup of its own in which one CPU is had for 2 of 20 ms; nobody else sees the mount.
grouped()
{
	mkdir -p tree
	{
		cat <<-'END'
			mount -t cgroup -o cpu none tree 2>/dev/null || exit 77
			group=tree/pxtrace-$$
			mkdir -p $group/inner && echo 20000 >$group/cpu.cfs_period_us || exit 77
			echo 2000 >$group/cpu.cfs_quota_us || exit 77
		END
		cat
		cat <<-'END'
			status=$?
			echo $$ >tree/cgroup.procs
			# What gives tracepoints up is in it for a moment more.
			for i in 1 2 3 4 5 6 7 8 9 10; do rmdir $group/inner $group 2>/dev/null && break; sleep 0.2; done
			exit $status
		END
	} >limited.sh
	pxtrace=$pxtrace unshare -m sh ./limited.sh >out 2>err
	case $? in
	0) ;;
	*) echo 'no group of its own here: skipped'; exit 77 ;;
	esac
	grep -q '^its cgroup had used up its CPU time [1-9][0-9]* times, and was kept from running for ' err ||
		fail "nothing of the cgroup: $(cat err)"
	run 0 stat run.ptl
	out_has 'throttled: '
	run 0 print -e cpu_throttled run.ptl
}

a_program_that_its_cgroup_kept_from_running_is_told_so()
{
	grouped <<-'END'
		echo $$ >$group/cgroup.procs
		"$pxtrace" run --only mutex,sched -o run.ptl -- sh -c 'i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done'
	END
	grep -q 'cpu_throttled .*ns=[1-9]' out || fail 'no event of it'
}

# The limit is that of the cgroup around it.  The command's own has none, nor has its other child's.
a_child_that_goes_to_another_cgroup_is_told_to_be_kept_from_running()
{
	grouped <<-'END'
		export group
		"$pxtrace" run --only mutex,sched -o run.ptl -- sh -c '
			exec 3>$group/inner/cgroup.procs
			dash -c "echo \$\$ >&3; i=0; while [ \$i -lt 60000 ]; do i=\$((i+1)); done" & wait'
	END
	grep -q 'dash/.* cpu_throttled .*ns=[1-9]' out || fail "no event of it: $(cat out)"
	if grep -q ' sh/.*cpu_throttled' out; then fail "who was not in it: $(cat out)"; fi
}

# QNX-51
a_ring_keeps_the_newest_within_its_size()
{
	traced 0 -q --all --only mutex,threads --size 64K --ring -- "$VICTIM" forks
	[ "$(stat -c %s run.ptl)" -le 100000 ] || fail 'larger than asked for'
	"$pxtrace" print run.ptl >out 2>err || fail 'cannot be read'
	grep -q posix_trace_mutex_lock out || fail 'no events'
}

# LPT-96
a_log_of_several_files_is_read_as_one()
{
	traced 0 --all --only mutex,threads --rotate 64K,3 -- "$VICTIM" often
	err_has 'More: pxtrace why run.ptl'
	set -- run.ptl/run.ptl.*
	[ $# -eq 3 ] || fail "files: $*"
	for file; do
		[ "$(stat -c %s "$file")" -le 69632 ] || fail "$file is larger than asked for"
	done
	sound_but_for_losses run.ptl
	"$pxtrace" print run.ptl >whole 2>err || fail 'cannot be read'
	err_has 'run.ptl: begins with file '
	# The program's images are in what is left.
	grep -q 'what=image .*victim' whole || fail 'no image'
	"$pxtrace" print "$3" "$1" "$2" >out 2>err && cmp out whole || fail 'other events in another order of files'
	mv run.ptl/* . && rmdir run.ptl
	"$pxtrace" print run.ptl >out 2>err && cmp out whole || fail 'other events by the beginning of their names'
	rm "$(echo "$2" | sed 's,run.ptl/,,')"
	"$pxtrace" print run.ptl >out 2>err || fail 'cannot be read'
	err_has ' is MISSING'
	err_has ' EVENTS LOST'
}

# LPT-96
a_newer_log_of_several_files_takes_the_place_of_an_older_one()
{
	traced 0 -q --all --only mutex --rotate 64K -- "$VICTIM" locks
	touch run.ptl/other
	traced 0 --all --only mutex --rotate 64K -- "$VICTIM" locks
	has 5 mutex_lock
	[ "$(ls run.ptl)" = "other
run.ptl.0001" ] || fail "files: $(ls run.ptl)"
	mv run.ptl/run.ptl.0001 run.ptl/saved.0001
	traced 0 -q --all --only mutex --rotate 64K -- "$VICTIM" locks
	[ -s run.ptl/saved.0001 ] || fail 'a log of another name is gone'
	echo text >text
	run 4 run -o text --rotate 64K -- "$VICTIM" locks
	err_has 'is a file; --rotate wants a folder'
	[ "$(cat text)" = text ] || fail 'a file that is no log was written to'
	run 1 run --rotate 64K --ring -- "$VICTIM" locks
	run 1 run --rotate 1K -- "$VICTIM" locks
}

# LPT-96
a_log_goes_to_the_next_file_when_the_first_is_old_enough()
{
	# More than its buffer holds, so some of it is flushed when the file is that old.
	traced 0 -q --all --only mutex,threads --rotate 1s,3 -- sh -c 'sleep 1.1; exec "$0" often' "$VICTIM"
	[ -e run.ptl/run.ptl.0002 ] || fail "files: $(ls run.ptl)"
	run 0 print run.ptl/run.ptl.0001
	sound_but_for_losses run.ptl
	traced 0 -q --all --only mutex,threads --rotate 1h,3 -- "$VICTIM" often
	[ "$(ls run.ptl)" = run.ptl.0001 ] || fail "files: $(ls run.ptl)"
	run 1 run --rotate 10ms -- true
	err_has '--rotate wants a second at least'
	run 1 run --rotate 64M,1h,0 -- true
	run 1 run --rotate 64M,8,1h -- true
}

a_program_that_is_not_there_has_the_status_of_a_shell()
{
	run 127 run -o run.ptl -- ./nothing
	err_has './nothing: No such file'
	run 127 run -o run.ptl -- no-such-program
	err_has 'no program of that name in PATH'
	echo text >text
	run 126 run -o run.ptl -- ./text
	err_has 'is no program that may be started'
	[ ! -e run.ptl ] || fail 'a log of nothing'
}

# Its count of who took it is each process' own.
who_has_a_semaphore_that_processes_share_is_told()
{
	need cc
	cat >two.c <<-'END'
	#include <semaphore.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int main(void)
	{
		sem_t *sem = mmap(0, sizeof(*sem), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		int said[2];
		char byte;

		if (sem == MAP_FAILED || sem_init(sem, 1, 1) != 0 || pipe(said) != 0)
			return 1;
		if (fork() == 0) {
			sem_wait(sem);
			if (write(said[1], "", 1) == 1)
				usleep(60000);
			sem_post(sem);
			_exit(0);
		}
		if (read(said[0], &byte, 1) == 1)
			sem_wait(sem);
		return wait(0) < 0;
	}
	END
	cc -g two.c -o two -pthread || { echo 'not with this compiler: skipped'; exit 77; }
	traced 0 -q --only sem,sleep -- ./two
	run 0 why run.ptl
	tr '\n' ' ' <out | grep -q 'for semaphore .* which two/[0-9]* had, taken in main' || fail 'nobody has it'
}

# It is one lock in the log, and nobody has it.
a_named_semaphore_that_a_child_posts_is_one_for_both()
{
	need cc
	cat >named.c <<-'END'
	#include <fcntl.h>
	#include <semaphore.h>
	#include <stdio.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int main(void)
	{
		char name[32];
		sem_t *sem;

		snprintf(name, sizeof name, "/pxtrace-%ld", (long)getpid());
		sem = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
		if (sem == SEM_FAILED || sem_open(name, 0) != sem || sem_unlink(name))
			return 77;
		if (fork() == 0) {
			usleep(60000);
			sem_post(sem);
			_exit(0);
		}
		sem_wait(sem);
		return wait(0) < 0;
	}
	END
	cc -g named.c -o named -pthread || { echo 'not with this compiler: skipped'; exit 77; }
	./named || { echo 'no named semaphores here: skipped'; exit 77; }
	traced 0 --only sem,sleep -- ./named
	# Who waits for it has nothing to do: that is no lock's fault.
	grep -qE '^named/[0-9]+ +- +[0-9]' err || fail 'a time for locks'
	run 0 why --locks run.ptl
	[ "$(grep -c '^semaphore' out)" -eq 1 ] || fail 'not one semaphore'
	grep -q 'until named/[0-9]* posted it in main' out || fail 'nobody posted it'
	! grep -q 'had it' out || fail 'somebody had it'
}

what_a_program_does_that_cannot_be_seen_is_told_once()
{
	need cc
	cat >go.c <<-'END'
	__asm__(".section .note.go.buildid, \"a\", %note\n.balign 4\n.long 4, 4, 4\n.ascii \"Go\\0\\0abcd\"\n");
	#define _GNU_SOURCE
	#include <dlfcn.h>
	extern int uring(void);
	int main(void) { return dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW) ? uring() : 1; }
	END
	echo 'int uring(void) { return 0; }' >uring.c
	cc -shared -fPIC uring.c -o liburing.so.2 && cc go.c ./liburing.so.2 -o go -ldl ||
		{ echo 'not with this compiler: skipped'; exit 77; }
	traced 0 --only mutex -- sh -c './go; ./go; true'
	[ "$(grep -c 'locks of Go are not recorded' err)" -eq 1 ] || fail 'Go'
	[ "$(grep -c 'by io_uring is not recorded' err)" -eq 1 ] || fail 'io_uring'
	[ "$(grep -c 'dlmopen() loaded are not recorded' err)" -eq 1 ] || fail 'dlmopen'
	traced 0 --only mutex -- /bin/true
	! grep 'not recorded' err || fail 'of another program'
}

# Without a descriptor for its memory it stays out; nobody but its parent tells of it.
a_child_that_cannot_attach_is_counted()
{
	traced 0 --only mutex -- sh -c 'ulimit -n 3; (exit 3); exit 0'
	err_has ' of 1 process, none lost'
	err_has '1 time a process was not traced: it did not attach'
	traced 0 --only mutex -- sh -c '(exit 3); /bin/true; exit 0'
	! grep 'not traced' err || fail 'all are'
}

# Whose folder the recorder is not in cannot attach.
a_program_of_another_user_is_counted_as_such()
{
	need setpriv
	[ "$(id -u)" -eq 0 ] || { echo 'not as root: skipped'; exit 77; }
	user='setpriv --reuid=65534 --regid=65534 --clear-groups'
	traced 0 --only mutex -- sh -c "$user /bin/true; $user sh -c 'exit 0'; exit 0"
	err_has '2 times a process was not traced: it runs as another user'
	[ "$(grep -c 'not traced' err)" -eq 1 ] || fail 'told twice'
}

# Its memory has no room: it says nothing itself.
an_executed_program_that_cannot_attach_is_counted()
{
	traced 0 --only mutex -- sh -c 'sh -c "ulimit -n 3; exec /bin/true"; exec /bin/true'
	err_has '1 time a process was not traced: it did not attach'
}

a_program_that_is_started_without_the_library_is_counted()
{
	traced 0 --only mutex -- sh -c 'env -i /bin/true; LD_PRELOAD= /bin/true; exit 0'
	err_has '2 times a process was not traced: its LD_PRELOAD is another'
	[ "$(grep -c 'not traced' err)" -eq 1 ] || fail 'told twice'
}

# What was found out of a program is known by its file.
where_a_link_leads_elsewhere_the_program_is_looked_at_anew()
{
	echo 'int main(void) { return 0; }' >static.c
	cc -static static.c -o static 2>/dev/null || { echo 'no static C library: skipped'; exit 77; }
	ln -s /bin/true link
	# A file that has just changed is not known by its number.
	sleep 2.1
	traced 0 --only mutex -- sh -c './link; ./link; ln -sf static link; ./link; ./link'
	err_has '2 times a process was not traced: it is linked statically'
}

a_static_program_runs_untraced_with_a_sentence()
{
	need cc
	echo 'int main(void) { return 5; }' >static.c
	cc -static static.c -o static 2>/dev/null || { echo 'no static C library: skipped'; exit 77; }
	run 5 run -o run.ptl -- ./static
	err_has 'is linked statically: it runs without being traced'
}

a_script_is_run_by_its_interpreter()
{
	printf '#!/bin/sh\n"$VICTIM" locks\nexit 4\n' >script
	chmod +x script
	traced 4 -q --only mutex -- ./script
	taken 5
}

an_unknown_group_is_told_with_the_known_ones()
{
	run 1 run --only mutex,lokcs -- "$VICTIM"
	err_has 'knows no group "lokcs"'
	err_has 'mutex, cond, rwlock, spin, sync, sem'
	run 1 run
	err_has 'which program?'
	run 1 run --for soon -- "$VICTIM"
	err_has '--for wants a duration'
}

# A wrapper of syscall() that has seven parameters may write where a caller of five has something else.
the_stack_of_a_caller_of_syscall_is_not_touched()
{
	traced 0 -q -- "$VICTIM" futex
	[ "$(cat out)" = kept ] || fail "the caller's stack was $(cat out)"
	"$pxtrace" print --event posix_trace_call_enter run.ptl | grep -q 'call=futex_wait' || fail 'not recorded'
}

a_log_that_cannot_be_written_leaves_the_program_alone()
{
	run 4 run -o /nowhere/run.ptl -- "$VICTIM" print
	err_has '/nowhere'
	lines 0
	run 1 run -o - -- "$VICTIM" print
	err_has 'standard output is the program'
	lines 0
	run 1 run -o '' -- "$VICTIM" print
	err_has '-o wants the name of a file'
	lines 0
}

# LPT-24
groups_choose_kinds_of_locks_and_single_calls()
{
	traced 0 -q --all --only rwlock -- "$VICTIM" each
	has 1 sync_lock
	has 1 sync_unlock
	has 0 call_exit
	traced 0 -q --all --only spin -- "$VICTIM" each
	has 1 sync_lock
	"$pxtrace" print --event posix_trace_sync_lock run.ptl | grep -q 'kind=spin' || fail 'no spin lock'
	traced 0 -q --all --only sem,poll -- "$VICTIM" each
	has 0 sync_lock
	has 2 call_enter
	"$pxtrace" print --event posix_trace_call_enter run.ptl >out
	grep -q 'call=sem_wait' out && grep -q 'call=poll' out || fail 'other calls'
	traced 0 -q --all --only locks -- "$VICTIM" each
	has 2 sync_lock
	has 1 call_enter
	traced 0 -q --all --only io -- "$VICTIM" each
	has 0 sync_lock
	"$pxtrace" print --event posix_trace_call_enter run.ptl >out
	grep -q 'call=write' out && ! grep -q 'call=sleep' out || fail 'other calls'
}

what_threads_did_with_their_time_is_told()
{
	traced 0 -- "$VICTIM" contend
	err_has 'FOR LOCKS   IN CALLS    RUNNING   RUNNABLE'
	grep -q '^victim/[0-9]* *[0-9.]* ms ' err || fail 'no wait of the main thread'
	# A busy machine makes the holder wait for the other lock, too.
	grep -Eq '^holder/[0-9]* +(-|[0-9.]+ [um]s) +[0-9.]+ ms ' err || fail 'no time in calls of the holder'
	! grep -q '^pxt-helper' err || fail "the library's own thread is told of"
	grep -q '^victim waited .* for first_lock, which holder had' err || fail 'no sentence'
}

arguments_are_left_out_of_the_log_on_request()
{
	traced 3 -q --no-arguments -- "$VICTIM" locks exit=3
	run 0 stat run.ptl
	grep -q "command: $VICTIM\$" out || fail 'another command'
	! grep -q 'exit=3' run.ptl || fail 'the arguments are in the log'
}

# QNX-52
notes_command_and_status_are_in_the_log()
{
	traced 3 -q --note load=80 --note 'place=the =lab' -- "$VICTIM" locks exit=3
	run 0 stat run.ptl
	out_has "notes     command: $VICTIM locks exit=3"
	out_has '          load: 80'
	out_has '          place: the =lab'
	out_has '          status: 3'
	run 1 run --note load -- "$VICTIM"
	err_has 'wants KEY=VALUE'
	run 1 run --note "$(printf '%064d' 1)=2" -- "$VICTIM"
	err_has 'a key has at most 63 bytes, a value 255'
}

a_log_takes_an_older_ones_place_but_no_other_files()
{
	run 0 run -- "$VICTIM" locks
	err_has 'victim.ptl: '
	run 0 run -- "$VICTIM" locks
	err_has 'victim.ptl (in place of an older log): '
	echo 'a letter' >victim.ptl
	run 4 run -- "$VICTIM" print
	err_has 'victim.ptl is there, and is no log'
	lines 0
	[ "$(cat victim.ptl)" = 'a letter' ] || fail 'it was overwritten'
}

# The log's own name, and those of the parts that it is made of.
what_somebody_put_at_the_names_of_a_run_does_not_hold_it_up()
{
	mkdir run.ptl.own.ptl run.ptl.sched.ptl run.ptl.older.ptl
	traced 0 -q -- "$VICTIM" locks
	sound run.ptl
	rmdir run.ptl.*.ptl
	[ "$(echo run.ptl*)" = run.ptl ] || fail "something is left: $(echo run.ptl*)"
	mkfifo victim.ptl
	run 4 run -- "$VICTIM" print
	err_has 'victim.ptl is there, and is no log'
	run 4 run -o victim.ptl -- "$VICTIM" print
	err_has 'victim.ptl: is no file'
}

# What a program is called may be a command to the terminal.
names_reach_the_terminal_of_a_run_escaped()
{
	escape=$(printf '\033')
	cp "$VICTIM" "a${escape}[31mb"
	run 0 run -- "./a${escape}[31mb" locks
	err_has 'a\x1b[31mb.ptl: '
	err_has 'More: pxtrace why a\x1b[31mb.ptl'
	! grep -q "$escape" err || fail 'the terminal gets it as it is'
}

processes_that_are_left_behind_are_told()
{
	mkfifo go
	traced 0 --only mutex -- "$VICTIM" leave
	err_has '1 process that it started still runs: what comes now is not in the log'
	taken 0
	: <go
	rm go
	traced 6 --only mutex --children -- "$VICTIM" leave exit=6
	grep -q 'still run' err && fail 'it did not wait'
	taken 5
}

# QNX-51
a_program_that_does_not_mind_its_time_is_left_alone()
{
	traced 124 --for 1s -- "$VICTIM" stay
	err_has 'goes on after SIGTERM; the log ends here'
	err_has '1 process that it started still runs'
	sound run.ptl
}

# The program waits for a line, so that the limit is the command's alone.
a_full_disk_keeps_what_was_recorded_before()
{
	need prlimit
	mkfifo line
	"$pxtrace" run -o run.ptl --all --only mutex -- "$VICTIM" print line often exit=3 <line >out 2>err &
	command=$!
	exec 3>line
	until_has out out
	prlimit --pid $command --fsize=200000
	echo >&3
	exec 3>&-
	wait $command
	[ $? -eq 3 ] || fail 'not the status of the program'
	err_has 'File too large; what was recorded before is in the log'
	log=$(ls run.ptl* | head -n 1)
	"$pxtrace" print --incomplete --event posix_trace_mutex_lock "$log" >out 2>messages
	[ "$(wc -l <out)" -gt 100 ] || fail 'nothing is in the log'
	lost=$(sed -n 's/.* events of 1 process, \([0-9]*\) LOST, .* as the log could not be written$/\1/p' err)
	[ "${lost:-0}" -gt 1000 ] || fail "the losses are not told: $(cat err)"
}

# QNX-51
a_log_that_is_full_says_so()
{
	traced 0 --all --only mutex --size 64K -- "$VICTIM" often
	grep -q 'LOST, [0-9]* of them as the log was full (--size)$' err || fail 'not told'
	[ "$(stat -c %s run.ptl)" -le 80000 ] || fail 'larger than asked for'
	run 3 check run.ptl
	out_has 'records   '
	out_has '0 damaged, 0 missing'
}

# Each says that it is there, and goes when the pipe has no writer any more.
a_hundred_and_twenty_eight_processes_at_once_are_all_in_the_log()
{
	mkfifo go said
	traced 0 --only mutex -- sh -c 'exec 3<>go 4<>said
		for turn in $(seq 128); do { exec 3>&-; echo >&4; read word; } <go & done
		for turn in $(seq 128); do read word <&4; done
		exec 3>&-
		wait'
	! grep -q 'was not traced' err || fail "$(cat err)"
	err_has 'none lost'
	"$pxtrace" print --event posix_trace_process run.ptl >told
	for what in 'what=traced ' 'what=image ' 'what=thread_name .*name="sh"'; do
		[ "$(grep "$what" told | awk '{ print $2 }' | sort -u | wc -l)" -ge 129 ] || fail "not each has $what"
	done
}

# The program's own output is its own, also of those that are not traced.
processes_that_find_no_place_run_untraced_and_are_counted()
{
	# Each child says that it is there, and goes when all are and the recorder had time to hear of it.
	mkfifo go said
	export PXTRACE_PRELOAD="$PXT_BUILD/sysevents/libptrace-preload.so"
	traced 7 --only io -- sh -c 'exec 3<>go 4<>said
		for turn in $(seq 200); do { echo >&4; read word <&3; } & done
		for turn in $(seq 200); do read word <&4; done
		sleep 1
		for turn in $(seq 200); do echo >&3; done
		wait
		exit 7'
	grep -qE '^[1-9][0-9]* times? a process was not traced: at most [0-9]+ are at once$' err || fail 'not told'
	! grep -q preload err || fail 'the library writes where the program writes'
	sound run.ptl
}

# QNX-51: of a running program its locks alone, into a log of their own.
attach_records_groups_of_what_run_traces()
{
	# Locks, and calls that sleep, until there is a file.
	cat >go_on.py <<-'END'
	import os, threading, time
	lock = threading.Lock()
	print("waiting", flush=True)
	while not os.path.exists("enough"):
	    with lock:
	        time.sleep(0.001)
	END
	[ -x /usr/bin/python3 ] || { echo 'no python3 of the system: skipped'; exit 77; }
	"$pxtrace" run -q --all -o run.ptl -- /usr/bin/python3 go_on.py >out 2>err &
	command=$!
	until_has out waiting
	locks_come()
	{
		rm -f locks.ptl
		run 0 attach "run-$command" -o locks.ptl --only mutex --for 500ms
		"$pxtrace" print locks.ptl 2>messages | grep -q posix_trace_mutex_lock
	}
	await locks_come || fail 'no locks'
	run 1 attach "run-$command" -o locks.ptl --only nothing
	err_has 'attach: --only knows no group "nothing"'
	: >enough
	wait $command
	"$pxtrace" print locks.ptl >out 2>messages
	grep -v 'posix_trace_mutex\|posix_trace_process\|LOST' out >others && fail "others: $(head -n 3 others)"
	[ "$("$pxtrace" print run.ptl 2>messages | grep -vc 'posix_trace_mutex\|posix_trace_process')" -gt 0 ] || fail 'not a test'
}

# QNX-51: half of the room is the scheduler's.
with_the_scheduler_a_log_is_no_larger_than_asked_for()
{
	traced 0 -q --size 128K -- "$VICTIM" often
	"$pxtrace" print run.ptl >out 2>messages
	grep -q sched_switch out || { echo 'no events of the scheduler: skipped'; exit 77; }
	[ "$(stat -c %s run.ptl)" -le 160000 ] || fail 'larger than asked for'
	traced 0 -q --ring --size 128K -- "$VICTIM" often
	[ "$(stat -c %s run.ptl)" -le 160000 ] || fail 'a ring is larger than asked for'
	"$pxtrace" print run.ptl 2>messages | tail -n 100 >out
	grep -q 'what=thread_end\|sched_process_exit' out || fail 'the newest events are not in it'
	[ "$(ls run.ptl*)" = run.ptl ] || fail "left behind: $(ls run.ptl*)"
}

# So that nothing seems to go on from there to the end of what the scheduler recorded.
what_a_full_log_had_no_room_for_is_told_before_what_came_later()
{
	traced 0 -q --all --size 64K -- "$VICTIM" often
	"$pxtrace" print run.ptl >out 2>messages
	grep -q sched_switch out || { echo 'no events of the scheduler: skipped'; exit 77; }
	grep -q 'EVENTS LOST HERE' out || fail 'no loss inside'
	# What the stream held when the log was full is lost at its end, whether or not more came later.
	here=$(sed -n 's/.*\*\*\* \([0-9]*\) EVENTS LOST HERE.*/\1/p' out | head -n 1)
	behind=$(sed -n 's/.*\*\*\* \([0-9]*\) EVENTS LOST BEHIND.*/\1/p' out)
	[ "$here" -gt "${behind:-0}" ] || fail 'the loss comes at the end'
}

# QNX-51: what is there, what was overwritten and what was lost are all that was written; records of
# flushes and overflows, which readers make, come to that.
a_ring_says_how_much_was_overwritten()
{
	traced 0 --only mutex --size 64K --ring -- "$VICTIM" often
	older=$(sed -n 's/.*newest ones: \([0-9]*\) older ones were overwritten (--ring)/\1/p' err)
	written=$(sed -n 's/^run.ptl[^:]*: \([0-9]*\) events.*/\1/p' err)
	lost=$(sed -n 's/.*process[es]*, \([0-9]*\) LOST$/\1/p' err)
	sum=$(($("$pxtrace" print run.ptl 2>/dev/null | wc -l) + ${older:-0} + ${lost:-0}))
	[ $sum -ge "$written" ] && [ $sum -lt $((written + 100)) ] ||
		fail "what is there, ${older:-0} overwritten and ${lost:-0} lost are $sum, not $written"
}

signals_that_processes_send_reach_the_program()
{
	env --default-signal=INT true 2>/dev/null || { echo 'no env --default-signal: skipped'; exit 77; }
	env --default-signal=INT "$pxtrace" run -q -o run.ptl -- "$VICTIM" await >out 2>err &
	command=$!
	until_has out waiting
	kill -INT $command
	wait $command
	[ $? -eq 130 ] || fail 'the program was not interrupted'
	sound run.ptl
}

# As a shell ignores SIGINT for what it runs in the background, and nohup SIGHUP.
a_signal_that_was_ignored_at_the_beginning_reaches_a_program_that_handles_it()
{
	(trap '' TERM && exec "$pxtrace" run -q -o run.ptl -- "$VICTIM" await >out 2>err) &
	command=$!
	until_has out waiting
	kill -TERM $command
	wait $command
	[ $? -eq 9 ] || fail 'the program did not get it'
	sound run.ptl
	(trap '' INT && exec "$pxtrace" run -q -o run.ptl -- sh -c 'kill -INT $PPID; sleep 0.1; kill -INT $$; exit 8')
	[ $? -eq 8 ] || fail 'a program that ignores it was interrupted'
}

# Both are in the group that the terminal interrupts; the command goes on until the log is there.
an_interrupt_by_the_terminal_ends_the_program_and_finishes_the_log()
{
	cat >terminal.py <<'EOF'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"waiting" not in seen:
    seen += os.read(fd, 4096)
os.write(fd, b"\x03")
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOF
	"$PXT_PYTHON" terminal.py "$pxtrace" run -q -o run.ptl -- "$VICTIM" await
	[ $? -eq 130 ] || fail 'another status'
	sound run.ptl
}

a_killed_command_leaves_the_program_running()
{
	"$pxtrace" run -q -o run.ptl -- sh -c 'echo $$; exec "$VICTIM" locks await' >out 2>err &
	command=$!
	until_has out waiting
	kill -KILL $command
	wait $command 2>/dev/null
	kill -USR1 "$(head -n 1 out)"
	until_has out 'got it'
	out_has 'got it'
}

a_program_for_another_processor_is_told()
{
	cp "$VICTIM" other
	printf '\377' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
	run 126 run -o run.ptl -- ./other
	err_has 'is for another processor than libptrace-preload.so: it runs without being traced'
	err_has 'cannot be started'
}

# Nothing that was linked with one C library can be loaded beside another.
a_program_of_another_c_library_is_told()
{
	"$PXT_PYTHON" - "$VICTIM" other <<'EOF'
import re, sys
data = open(sys.argv[1], "rb").read()
made = re.sub(rb"/(ld-[^\0/]*)\0", lambda found: b"/" + b"x" * len(found[1]) + b"\0", data, 1)
assert made != data
open(sys.argv[2], "wb").write(made)
EOF
	chmod +x other
	"$pxtrace" run -o run.ptl -- ./other >out 2>err
	err_has 'uses another C library than libptrace-preload.so: it runs without being traced'
}

a_program_with_more_rights_is_told()
{
	[ "$(id -u)" = 0 ] || { echo 'not root: skipped'; exit 77; }
	cp "$VICTIM" rights
	chown 12345 rights && chmod u+s rights || exit 77
	findmnt -n -o OPTIONS -T . 2>/dev/null | grep -q nosuid && exit 77
	run 3 run -o run.ptl -- ./rights exit=3
	err_has 'has more rights than you, so nothing may be loaded into it: it runs without being traced'
	err_has 'run it as the user whose rights it takes'
}

# How many rows of threads end in this number.
rows() { run 0 stat run.ptl; sed -n '/^THREAD/,$p' out | grep -c "/$1  "; }

# A program that is executed in its place has another name, and a thread that ends its process has ended itself before.
a_thread_is_one_row_also_after_an_exec_and_at_the_end_of_its_process()
{
	traced 7 -q --only threads -- sh -c 'echo $$ >number; exec "$VICTIM" print exit=7'
	[ "$(rows "$(cat number)")" -eq 1 ] || fail 'not one row'
	traced 0 -q --only threads -- "$VICTIM" last
	number=$("$pxtrace" print --json --event posix_trace_process run.ptl |
		sed -n 's/.*"tid":\([0-9]*\),.*"what_name":"exit".*/\1/p')
	[ "$(rows "$number")" -eq 1 ] || fail 'not one row of the last thread'
}

an_exec_is_told_where_it_happens_and_as_failed_where_it_returns()
{
	mkdir first second
	: >second/word
	chmod 755 second/word
	printf '#!/nowhere\n' >second/begun
	chmod 755 second/begun
	traced 0 -q --only threads -- sh -c 'PATH=$PWD/first:$PWD/second:$PATH; export PATH
		"$0" -c "import os
for name in \"$PWD/first/word\", \"$PWD/second/word\", \"$PWD/second/begun\":
    try: os.execv(name, [name])
    except OSError: pass
os.execvp(\"true\", [\"true\"])"' "${PXT_PYTHON:-python3}"
	"$pxtrace" print --event posix_trace_process run.ptl |
		sed -n 's/.*what=exec  number=\([0-9]*\) .*\/\([a-z0-9.]*\)"$/\1 \2/p' | tail -n 5 >told
	printf '%s\n' '0 word' '8 word' '0 begun' '2 begun' '0 true' >expected
	diff expected told || fail 'other programs'
}

# Each has memory for a moment that is its next program's, and what it recorded before is not taken yet.
as_many_processes_as_may_be_traced_all_execute_another_program()
{
	mkfifo go said
	traced 0 --only threads -- sh -c 'exec 3<>go 4<>said
		for turn in $(seq 150); do sh -c "echo >&4; exec sh -c \"read word <&3; exit 3\"" & done
		for turn in $(seq 150); do read word <&4; done
		for turn in $(seq 150); do echo >&3; done
		wait'
	grep 'was not traced' err && fail 'one was refused'
	[ "$("$pxtrace" print --event posix_trace_process run.ptl | grep -c 'what=exit  number=3 ')" -eq 150 ] ||
		fail 'an end is not told'
}

"$case"
