#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the tests of the kernel's scheduler have in common: kernel.sh by tracefs, sched.sh by perf_event_open.

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
