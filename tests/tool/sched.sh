#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program's log and the kernel's scheduler events of the same run by perf_event_open, for real: of one's
# own threads (which everybody may watch), of the whole machine, and with tracepoints.  Where the kernel
# does not allow one of them, its test is skipped; which is told.
#
# alone with: perf
. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999
. "$(dirname "$0")/schedlib.sh"

schedrun=$PXT_BUILD/tests/schedrun
pingpong=$PXT_BUILD/tests/pingpong

# as_nobody: the following programs run without privileges
as_nobody()
{
	as=
	[ "$(id -u)" = 0 ] || return 0
	need setpriv
	chmod 777 "$here"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	cp "$schedrun" "$pingpong" "$contend" .
	schedrun=$here/schedrun pingpong=$here/pingpong contend=$here/contend
	$as "$schedrun" own try.ptl true >told 2>err
	case $? in 0 | 77) ;; *) echo "nobody cannot run programs here: skipped"; exit 77 ;; esac
}

# watch LEVEL PROGRAM...: sched.ptl, and the program's output in ./said
watch()
{
	level=$1
	shift
	# shellcheck disable=SC2086
	${as-} "$schedrun" ${unread-} "$level" sched.ptl "$@" >said 2>err
	status=$?
	tail -n 1 said >told
	read -r had _ <told
	if [ "$had" != "$level" ]; then
		echo "not allowed here: skipped: $(tr '\n' ' ' <err)"
		exit 77
	fi
	[ $status -eq 0 ] || fail "exit status $status: $*"
	sed -i '$d' said
}

# told NAME: the number behind a word of the last line
told() { sed "s/.* $1 \([0-9]*\).*/\1/" told; }

merge_both()
{
	run 0 merge -o all.ptl run.ptl sched.ptl
}

# The program's own threads and the kernel's are the same ones.
once_each()
{
	run 0 stat all.ptl
	for thread in sufferer bully; do
		[ "$(grep -c "^$thread/" out)" -eq 1 ] || fail "$thread is there several times"
	done
}

# LPT-30, QNX-24: without privileges; who runs else is nobody's business, but another own thread.
the_scheduler_tells_who_ran_instead_by_perf_event_without_privileges()
{
	as_nobody
	watch own "$contend" run.ptl
	merge_both
	accounts
	run 0 why all.ptl
	out_has 'could run, but bully did'
	once_each
	run 0 print -e sched_switch all.ptl
	grep -q 'prev_comm="sufferer".* prev_prio=1[0-9][0-9] ' out || fail 'no priority'
}

# ZEP-06
the_scheduler_tells_who_ran_instead_by_perf_event_of_the_machine()
{
	watch all "$contend" run.ptl
	merge_both
	accounts
	once_each
}

# SHARK-36: with priorities, states and wake-ups.
the_scheduler_tells_who_ran_instead_by_perf_event_and_tracepoints()
{
	watch points "$contend" run.ptl
	merge_both
	accounts
	once_each
	run 0 print -e 'sched_*' all.ptl
	grep -q 'sched_switch .*prev_comm="sufferer".*prev_prio=1[0-9]* .*next_comm="bully"' out || fail 'no priority'
	grep -q 'sched_wakeup_new' out || fail 'nobody woke the new threads'
	[ "$(told wakes)" -gt 0 ] || fail 'no wake-up'
}

# An independent count: the system's own, of both processes.  Some switches are before the first and
# behind the last that one of the two knows.
near() { [ $(($1 > $2 ? $1 - $2 : $2 - $1)) -le 20 ]; }

the_switches_of_a_log_are_as_many_as_the_kernel_counts()
{
	as_nobody
	watch own "$pingpong" 3000 100000
	read -r waited preempted _ <said || fail "no count"
	run 0 print -e sched_switch sched.ptl
	log_waited=$(grep -c 'prev_state=1 ' out)
	log_preempted=$(grep -c 'prev_tid=[1-9].*prev_state=0 ' out)
	[ "$waited" -gt 3000 ] || fail "$waited waits: they did not wait for each other"
	near "$log_waited" "$waited" || fail "$log_waited waits in the log, $waited counted"
	near "$log_preempted" "$preempted" || fail "$log_preempted preempted in the log, $preempted counted"
}

# LPT-30: two records a switch, of which each is an event or counted as lost; and at most one for each
# millisecond that the processes ran, or for 64 page faults.
records_that_had_no_room_are_counted_to_the_last_one()
{
	as_nobody
	ulimit -l 0 2>/dev/null || { echo "no limit of locked memory here: skipped"; exit 77; }
	unread=-u
	watch own "$pingpong" 60000
	read -r waited preempted cpu_ms <said || fail "no count"
	[ "$(told lost)" -gt 0 ] || { echo "the rings are large here, nothing was lost: skipped"; exit 77; }
	records=$(($(told events) + $(told lost)))
	switches=$((2 * (waited + preempted)))
	[ $records -ge $((switches - 20)) ] && [ $records -le $((switches + 20 + cpu_ms)) ] ||
		fail "$(cat told), but $waited + $preempted switches, and $cpu_ms ms"
	run 3 stat --strict sched.ptl
	run 3 check sched.ptl
	out_has "lost $(told lost)"
}

# QNX-24: threads that begin, are called otherwise, and end; also of programs that the program starts.
what_a_program_starts_is_watched_to_its_end()
{
	as_nobody
	# shellcheck disable=SC2016
	watch own sh -c 'sh -c "sleep 0.01; exit 0"; (exit 3); exit 0'
	run 0 print sched.ptl
	grep -q 'task_rename .*oldcomm="sh".*newcomm="sleep".*exec=1' out || fail 'sleep was not seen'
	[ "$(grep -c sched_process_exit out)" -eq "$(($(grep -c sched_process_fork out) + 1))" ] ||
		fail 'not all that began has ended'
}

"$case"
