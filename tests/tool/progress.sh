#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Long work tells on a terminal how far it is, and leaves nothing there (out.c has the line itself).
. "$(dirname "$0")/common.sh"

# At once: else only what takes half a second shows anything.
export PXTRACE_PROGRESS=0

# on_terminal ARGUMENTS...: what a terminal shows of it, in ./out
on_terminal()
{
	need script
	words=
	for word in "$pxtrace" "$@"; do
		words="$words '$word'"
	done
	script -qec "$words" /dev/null >out 2>err </dev/null
}

# shows PATTERN: such a line.
shows() { grep -q "$1" out || fail 'no line'; }

# The last line that was drawn is taken away before anything else is said.
gone() { tr '\r' '\n' <out | grep -A 1 "$1" | tail -n 1 | grep -q "^$(printf '\033')\[K" || fail 'the line stands there still'; }

make_long()
{
	{
		echo "$head_recipe"
		awk 'BEGIN { for (i = 1; i <= 50000; i++) printf "event %d 36 1 0\n", i * 1000 }'
	} | "$mklog" >long.ptl || fail mklog
}

recover_shows_how_far_it_has_searched()
{
	truncate -s 100M memory.bin 2>/dev/null || exit 77
	on_terminal recover -o run.ptl memory.bin
	shows 'search \[[#.]*\]  *[0-9]* %  [0-9]* k bytes'
	gone 'search \['
	out_has 'no stream is in it'
}

export_ctf_shows_what_was_written()
{
	need babeltrace2
	[ -e "$(dirname "$pxtrace")/babeltrace/babeltrace-plugin-ptrace.so" ] || exit 77
	preload_for_plugin
	make_long
	on_terminal export ctf -o run.ctf long.ptl
	[ -e run.ctf/metadata ] || fail 'nothing was written'
	shows 'export ctf: [0-9]*[ kM]* bytes'
	gone 'export ctf: '
}

merge_with_the_scheduler_shows_what_was_written()
{
	make_long
	awk 'BEGIN { for (i = 1; i <= 50000; i++)
		printf "a-1 [0] d... %.6f: sched_waking: comm=b pid=2 prio=120 target_cpu=000\n", 1000 + i / 1000000 }' >sched.txt
	on_terminal merge --ftrace sched.txt -o all.ptl long.ptl
	shows 'merge: [0-9]*[ k]* events'
	gone 'merge: '
}

"$case"
