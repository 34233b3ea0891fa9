#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What programs record through the interfaces, and the tools show of it under the interfaces' names.
# usage: tools.sh philosophers|events|qnx PROGRAM [PXTRACE WORK PLUGIN]
set -eu
case=$1
emit=$2
pxtrace=${3:-}
plugin=${5:-}
if [ $# -gt 2 ]; then
	mkdir -p "$4/$case"
	cd "$4/$case"
	"$emit" run.ptl
fi

fail()
{
	echo "$1"
	cat out
	exit 1
}

said()
{
	printf '%s\n' "$out" | grep -Eq "$1" || { printf '%s\n' "not said: $1" "$out"; exit 1; }
}

# ZEP-41, ZEP-42: the sample's tables, line by line by regular expressions.
philosophers()
{
	out=$("$emit" 20)
	# A collector that keeps pace loses nothing; where it does not, what is missing was counted.
	dropped=$(printf '%s\n' "$out" | sed -n 's/^Dropped events: //p')
	said '^Dropped events: [0-9]+$'
	switches=0
	for thread in 1 2 3 4 5; do
		said "^  thread $thread +[0-9]+\$"
		one=$(printf '%s\n' "$out" | sed -n "s/^  thread $thread *//p")
		switches=$((switches + one))
	done
	said '^  interrupt 16 +[1-9][0-9]*$'
	said '^Last sleep: [1-9][0-9]* ticks of the clock, ended by interrupt 16$'
	said '^Task monitor, the last 8 of [0-9]+$'
	monitored=$(printf '%s\n' "$out" | sed -n 's/^Task monitor, the last 8 of //p')
	# Two forks for each of 5 * 20 meals; two states and a packet for each, and a last event of each.
	if [ "$dropped" = 0 ]; then
		said '^  kernel event +[0-9]+ +[0-4] +0$'
		[ "$switches" = 200 ] && [ "$monitored" = 305 ] || { echo "$switches, $monitored"; exit 1; }
	else
		[ "$switches" -le 200 ] && [ "$((switches + monitored + dropped))" -ge 505 ]
	fi
}

# ZEP-30, ZEP-36, SHARK-14: jobs of Zephyr's and S.Ha.R.K.'s events, explained as well.
events()
{
	# Native events are in order between those of an interface.
	"$pxtrace" print --format '{event} {fields}' run.ptl >out
	grep -A 3 'zephyr_context_switch.*thread=0x3$' out | tr '\n' ' ' |
		grep -q 'thread=0x3 zephyr_kevent .*code=3 native number=3 zephyr_context_switch .*thread=0x4' || fail 'order'
	"$pxtrace" stat run.ptl >out
	for name in zephyr_context_switch zephyr_kevent FTrace_EVT_task_dispatch native; do
		grep -q "$name.* 9" out || fail "stat: $name"
	done

	cat >roles <<'END'
job-start zephyr_context_switch    span=turn     key=thread
job-end   zephyr_kevent            span=turn     key=code
job-start FTrace_EVT_task_dispatch span=dispatch key=par1
job-end   FTrace_EVT_task_epilogue span=dispatch key=par1
END
	COLUMNS=9999 "$pxtrace" why --roles roles run.ptl >out
	head -n 1 out | grep -Eq '^(turn 0x6|dispatch 6) of .* took .* what it did for .* is not recorded' || fail 'why: its answer'
	for span in 'turn 0x6 of' 'dispatch 6 of'; do
		grep -Eq "^ +[0-9.]+ +$span" out || fail "why: $span"
	done
	"$pxtrace" check run.ptl >out || fail 'check'

	[ -e "$plugin/babeltrace-plugin-ptrace.so" ] && command -v babeltrace2 >/dev/null || exit 0
	babeltrace2 --plugin-path "$plugin" run.ptl >out
	for name in zephyr_context_switch zephyr_kevent FTrace_EVT_task_dispatch native; do
		[ "$(grep -c "$name" out)" = 9 ] || fail "babeltrace2: $name"
	done
}

# QNX-53, QNX-16.
qnx()
{
	# Times and processors differ.
	"$pxtrace" print --style qnx --bytes 0 run.ptl |
		sed -E 's/^t:0x[0-9a-f]{8} CPU:[0-9]{2} /T /' >out
	cat >wanted <<'END'
T CONTROL :posix_trace_start
T USREVENT :job_begin
T KERNEL_CALL :0x00e d0:0x00000011 d1:0x00000022
T USREVENT :job_end
T USREVENT :native  number=42
T CONTAINER :0x007 bytes:11 6f 6e 65 20 61 6e 64 20 6f 6e 65 |one and one|
T CONTAINER :0x007 bytes:11 74 77 6f 20 61 6e 64 20 74 77 6f |two and two|
T CLASS_30 :0x3ff bytes:4 74 65 78 74 |text|
T CONTROL :posix_trace_stop
*** COMBINE EVENTS WITHOUT AN END: 1 ***
END
	sed -i 's/^\(T CONTROL :posix_trace_[a-z]*\).*/\1/' out
	diff wanted out

	# What was cut leaves no hole: the line ends at the cut, and says so.
	shown() { "$pxtrace" print --style qnx cut.ptl | sed -E 's/^t:0x[0-9a-f]{8} CPU:[0-9]{2} //; /^\*/d; /posix_trace_/d; /job_/d'; }
	"$emit" cut.ptl 10
	[ "$(shown)" = "KERNEL_CALL :0x00e d0:0x00000011  [cut]
USREVENT :native  number=42
CONTAINER :0x007 bytes:2 6f 6e |on|  [cut]
CONTAINER :0x007 bytes:2 74 77 |tw|  [cut]
CLASS_30 :0x3ff bytes:2 74 65 |te|  [cut]" ] || { shown; exit 1; }
	"$emit" cut.ptl 4
	[ "$(shown)" = "KERNEL_CALL :0x00e  [cut]
CONTAINER :0x007  [cut]
CONTAINER :0x007  [cut]
USREVENT :native  number=42
CLASS_30 :0x3ff  [cut]
CONTAINER :0x007  [cut]" ] || { shown; exit 1; }

	# From the middle of an event: parts without their begin are told.
	"$pxtrace" print --style qnx --tail 5 run.ptl | grep -q 'CONTAINER :0x007 part without a begin'
	"$pxtrace" print run.ptl | grep -q 'qnx_kernel_call'
	"$pxtrace" stat run.ptl | grep -q 'qnx_container'
	"$pxtrace" check run.ptl >check
	# What happened within a span, whichever interface recorded it.
	"$pxtrace" why --event job run.ptl >out
	grep -q 'qnx_kernel_call' out
	for other in --json "--format {event}"; do
		if "$pxtrace" print --style qnx $other run.ptl >out 2>err; then exit 1; fi
		grep -q 'two forms' err
	done
	if "$pxtrace" print --style linux run.ptl >out 2>err; then exit 1; fi
	grep -q 'qnx is' err
	if [ -e "$plugin/babeltrace-plugin-ptrace.so" ] && command -v babeltrace2 >/dev/null; then
		babeltrace2 --plugin-path "$plugin" run.ptl >out 2>err
		grep -q 'qnx_kernel_call:' out
		grep -q 'native: .*number = 42' out
	fi
}

$case
