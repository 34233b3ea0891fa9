#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program's log and the kernel's scheduler events of the same run, for real: by perf_event_open of one's
# own threads (which everybody may watch), of the whole machine, and with tracepoints; and by tracefs
# (docs/kernel.md) in an instance of its own, which is removed afterwards.  Where the kernel does not allow one
# of them, its test is skipped; which is told.
#
# alone with: perf
. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999
contend=$PXT_BUILD/tests/contend
[ -x "$contend" ] && [ -x "$PXT_BUILD/tests/schedrun" ] || { echo "the program was not built: skipped"; exit 77; }

# accounts: from the merged log all.ptl alone: how long other threads ran on the sufferer's processor within its job is how
# late the job was, which the program measured by itself.  And its 200 marks lie where it ran.  A kernel may
# leave out a switch (from a task that a sandbox hides, say): one time slice in four may be unexplained, and
# then its first mark says when it ran again.
accounts()
{
	run 0 print all.ptl
	if grep -q 'EVENTS LOST' err; then fail "the kernel's buffer was too small"; fi
	awk '
		{ time = $1 * 1e9 }
		/ job_begin / { inside = 1 }
		/ job_end / { if (out) away += time - left; late = $0; sub(/.*late_ns=/, "", late); printf "%.0f %.0f %d %d %d\n", away, late, marks, slices, stray; exit }
		inside && / runs / { marks++; if (out) away += time - left; stray += out; out = 0 }
		inside && /sched_switch.*prev_comm="sufferer"/ { left = time; out = 1; slices++ }
		inside && out && /sched_switch.*next_comm="sufferer"/ { away += time - left; out = 0 }
	' out >account
	read -r away late marks slices stray <account || fail "no job in the merged log"
	[ "$marks" -gt 150 ] || fail "$marks marks"
	[ "$stray" -le $((1 + slices / 4)) ] ||
		fail "in $stray of $slices time slices marks lie where the thread did not run"
	[ "$away" -gt 0 ] || fail "nobody ran instead"
	difference=$((away > late ? away - late : late - away))
	[ $difference -lt $((late / 5 + 5000000)) ] || fail "late by $late ns, others ran for $away ns"
	if commands | grep -qx why; then
		run 0 why all.ptl
		out_has ', where sufferer ran'
	fi
}

schedrun=$PXT_BUILD/tests/schedrun

# as_nobody: the following programs run without privileges
as_nobody()
{
	as=
	[ "$(id -u)" = 0 ] || return 0
	need setpriv
	chmod 777 "$here"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	cp "$schedrun" "$contend" .
	schedrun=$here/schedrun contend=$here/contend
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
	watch own "$contend" pingpong 3000 100000
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
	watch own "$contend" pingpong 60000
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

# ---- By tracefs ----

# A mount of our own, which nobody else sees and which goes with this process.
mounted()
{
	[ "$PXT_TRACEFS" = "" ] || return 0
	export PXT_TRACEFS=/sys/kernel/tracing
	[ ! -w $PXT_TRACEFS/trace_clock ] || return 0
	[ "$(id -u)" = 0 ] || { echo "tracefs is for root: skipped"; exit 77; }
	need unshare
	export PXT_TRACEFS="$here/tracefs"
	mkdir "$PXT_TRACEFS"
	unshare -m sh -c 'mount -t tracefs none "$PXT_TRACEFS"' 2>/dev/null ||
		{ echo "tracefs cannot be mounted: skipped"; exit 77; }
	trap - EXIT
	exec unshare -m sh -c 'mount -t tracefs none "$PXT_TRACEFS" && exec sh "$@"' sh "$0" "$pxtrace" "$mklog" "$golden" "$case"
}

# record CLOCK: run.ptl, and sched.txt of the same run
record()
{
	mounted
	instance=$PXT_TRACEFS/instances/pxtrace-$$
	mkdir "$instance" 2>/dev/null || { echo "no instance of tracefs: skipped"; exit 77; }
	trap 'rmdir "$instance" 2>/dev/null; cd /; rm -rf "$here"' EXIT
	echo "$1" >"$instance/trace_clock" 2>/dev/null || { echo "no clock $1: skipped"; exit 77; }
	echo 16384 >"$instance/buffer_size_kb"
	for event in sched_switch sched_waking; do
		echo 1 >"$instance/events/sched/$event/enable" 2>/dev/null ||
			{ echo "no event $event: skipped"; exit 77; }
	done
	# The switches of both threads alone: a machine on which other threads wake each other a million times a second
	# fills the kernel's buffer within the job, and what it kept would be the job's end.
	threads='== "sufferer" || next_comm == "sufferer" || prev_comm == "bully" || next_comm == "bully"'
	echo "prev_comm $threads" >"$instance/events/sched/sched_switch/filter"
	echo 'comm == "sufferer" || comm == "bully"' >"$instance/events/sched/sched_waking/filter"
	"$contend" run.ptl || fail "contend"
	echo 0 >"$instance/tracing_on"
	cat "$instance/trace" >sched.txt
	rmdir "$instance"
}

merge_text()
{
	run 0 merge --ftrace sched.txt -o all.ptl run.ptl
}

the_scheduler_tells_who_ran_instead_by_the_clock_mono()
{
	record mono
	merge_text
	accounts
}

the_scheduler_tells_who_ran_instead_by_the_counter()
{
	record x86-tsc
	run 0 stat run.ptl
	grep -q '^ *clock .*counter\|^ *clock .*TSC' out || { echo "the log is not stamped by the counter: skipped"; exit 77; }
	merge_text
	accounts
}

"$case"
