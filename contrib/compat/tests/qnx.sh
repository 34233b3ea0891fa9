#!/bin/sh
# SPDX-License-Identifier: MIT
#
# QNX-53, QNX-16: what pxtrace shows of events that were recorded through QNX's functions.
# usage: qnx.sh PXTRACE EMIT WORK PLUGIN
set -eu
pxtrace=$1
emit=$2
plugin=$4
mkdir -p "$3/qnx"
cd "$3/qnx"
"$emit" run.ptl

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
