#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program's log and the kernel's scheduler events of the same run (docs/kernel.md), for real:
# recorded by tracefs in an instance of its own, which is removed afterwards.
#
# alone with: tracefs
. "$(dirname "$0")/common.sh"

contend=$PXT_BUILD/tests/contend
[ -x "$contend" ] || { echo "the program was not built: skipped"; exit 77; }

# A mount of our own, which nobody else sees and which goes with this process.
if [ "$PXT_TRACEFS" = "" ]; then
	export PXT_TRACEFS=/sys/kernel/tracing
	if [ ! -w $PXT_TRACEFS/trace_clock ]; then
		[ "$(id -u)" = 0 ] || { echo "tracefs is for root: skipped"; exit 77; }
		need unshare
		export PXT_TRACEFS="$here/tracefs"
		mkdir "$PXT_TRACEFS"
		unshare -m sh -c 'mount -t tracefs none "$PXT_TRACEFS"' 2>/dev/null ||
			{ echo "tracefs cannot be mounted: skipped"; exit 77; }
		trap - EXIT
		exec unshare -m sh -c 'mount -t tracefs none "$PXT_TRACEFS" && exec sh "$@"' sh "$0" "$@"
	fi
fi

# record CLOCK: run.ptl, and sched.txt of the same run
record()
{
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
	threads='== "victim" || next_comm == "victim" || prev_comm == "bully" || next_comm == "bully"'
	echo "prev_comm $threads" >"$instance/events/sched/sched_switch/filter"
	echo 'comm == "victim" || comm == "bully"' >"$instance/events/sched/sched_waking/filter"
	"$contend" run.ptl || fail "contend"
	echo 0 >"$instance/tracing_on"
	cat "$instance/trace" >sched.txt
	rmdir "$instance"
}

# From the merged log alone: how long other threads ran on the victim's processor within its job is how
# late the job was, which the program measured by itself.  And its 200 marks lie where it ran.  A kernel may
# leave out a switch (from a task that a sandbox hides, say): one time slice in four may be unexplained, and
# then its first mark says when it ran again.
accounts()
{
	run 0 merge --ftrace sched.txt -o all.ptl run.ptl
	run 0 print all.ptl
	if grep -q 'EVENTS WERE LOST' err; then fail "the kernel's buffer was too small"; fi
	awk '
		{ time = $1 * 1e9 }
		/ job_begin / { inside = 1 }
		/ job_end / { if (out) away += time - left; late = $0; sub(/.*late_ns=/, "", late); printf "%.0f %.0f %d %d %d\n", away, late, marks, slices, stray; exit }
		inside && / runs / { marks++; if (out) away += time - left; stray += out; out = 0 }
		inside && /sched_switch.*prev_comm="victim"/ { left = time; out = 1; slices++ }
		inside && out && /sched_switch.*next_comm="victim"/ { away += time - left; out = 0 }
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
		out_has ', where victim ran'
	fi
}

the_scheduler_tells_who_ran_instead_by_the_clock_mono()
{
	record mono
	accounts
}

the_scheduler_tells_who_ran_instead_by_the_counter()
{
	record x86-tsc
	run 0 stat run.ptl
	grep -q '^ *clock .*counter\|^ *clock .*TSC' out || { echo "the log is not stamped by the counter: skipped"; exit 77; }
	accounts
}

"$case"
