#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program's log and the kernel's scheduler events of the same run (docs/kernel.md), for real:
# recorded by tracefs in an instance of its own, which is removed afterwards.
#
# alone with: tracefs
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/schedlib.sh"

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
