#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ZEP-30, ZEP-36, SHARK-14: the tools show what was recorded through the interfaces under the
# interfaces' names, and explain it.
# usage: tools.sh PXTRACE EMIT WORK PLUGIN
set -eu
pxtrace=$1
emit=$2
plugin=$4
mkdir -p "$3/tools"
cd "$3/tools"
"$emit" run.ptl

fail()
{
	echo "$1"
	cat out
	exit 1
}

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
