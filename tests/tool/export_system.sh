#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace export, print and report of system events: bars that have the names of functions and calls, words in
# place of numbers. (LPT-30, QNX-22, QNX-54)
. "$(dirname "$0")/whylib.sh"

checker=$PXT_SOURCE/tests/tool/check_export.py
perfetto() { ! "$pxtrace" export --help | grep -q 'not in this build' || { echo "no protobuf-c: skipped"; exit 77; }; }
check() { "$PXT_PYTHON" "$checker" "$1" "$2" >said || { cat said; fail "check_export.py $1 $2"; }; }
said() { grep -qxF -- "$1" said || { cat said; fail "the checker did not say \"$1\""; }; }

make_nested()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low function_enter $(at refill) 0
			1100 low function_enter $(at store) 0
			1200 low call_enter 7 5 0
			1300 low call_exit 7 5 0 100
			1400 low mutex_lock 64 0 0
			1500 low mutex_wait 80 101
			1700 low mutex_lock 80 200 0
			1750 low mutex_unlock 80 0
			1800 low mutex_unlock 64 0
			1900 low function_exit $(at store) 0
			2000 low function_exit $(at refill) 0
			2100 low signal 1 14 0 4096
			2150 low call_exit 23 4096 0 0
			2200 low signal 2 14 0 4096
		END
	} | traced run.ptl
}

functions_and_calls_are_bars_inside_each_other_in_perfetto()
{
	perfetto
	make_nested
	run 0 export perfetto run.ptl
	check perfetto out
	said 'bar refill 1000000 on thread low'
	said 'bar store 800000 on thread low'
	said 'bar read 100000 on thread low'
	said 'bar mutex wait 200000 on thread low'
	said 'bar signal handler 14 100000 on thread low'
	# A mutex that was free, and a call that does not block, are marks.
	[ "$(grep -c '^mark posix_trace_mutex_lock' said)" = 1 ] || fail 'another number of mutexes'
	[ "$(grep -c '^mark posix_trace_call_exit' said)" = 1 ] || fail 'another number of calls'
	grep -q 'unfinished 0' said || fail 'a bar is open'
	# Where only functions were asked for, their image is known all the same.
	run 0 export perfetto --event 'posix_trace_function_*' run.ptl
	check perfetto out
	said 'bar refill 1000000 on thread low'
}

functions_and_calls_have_their_names_on_a_page()
{
	make_nested
	run 0 report run.ptl -o run.html
	PYTHONPATH="$PXT_SOURCE/tests/report" "${PXT_PYTHON:-python3}" - >bars <<-'END' || fail 'python'
	import pages
	meta, events, spans = pages.read("run.html")
	base = {pair["number"]: pair["base"] for pair in meta["pairs"]}
	for begin, end, number in sorted(spans):
	    print(base[number], events[end][0] - events[begin][0])
	types = {kind["name"]: kind for kind in meta["types"]}
	print(types["posix_trace_call_enter"]["fields"][0][5][7])
	print("scheduler" in types["posix_trace_call_exit"])
	END
	[ "$(tr '\n' ';' <bars)" = 'refill 1000000;store 800000;read 100000;mutex held 400000;mutex wait 200000;mutex held 50000;signal handler 14 100000;read;False;' ] ||
		fail "$(cat bars)"
}

# QNX-22
numbers_of_system_events_are_shown_as_words()
{
	traced run.ptl <<-END
		1000 low call_enter 17 5 100
		1100 low call_exit 17 5 3 100
		1200 low sync_lock 64 0 0 2
		1300 low process 6 103 0 0 low
		1400 low signal 3 10 101 102
		1500 low task_state 103 4 10 0
		1600 low kernel_overhead 1 7 0
		1700 low call_enter 999 5 100
	END
	run 0 print --format '{event} {fields}' run.ptl
	out_has 'posix_trace_call_enter call=epoll_wait  object=0x5  size=100'
	out_has 'posix_trace_sync_lock lock=0x40  waited_us=0  result=0  kind=write'
	out_has 'posix_trace_process what=thread_name  number=103'
	out_has 'posix_trace_signal what=sent  signo=10'
	out_has 'posix_trace_task_state tid=103  state=blocked'
	out_has 'posix_trace_kernel_overhead what=interrupt  number=7'
	out_has 'posix_trace_call_enter call=999'
	run 0 print --json run.ptl
	out_has '"call":17,"call_name":"epoll_wait"'
	run 0 export csv run.ptl
	out_has 'epoll_wait'
	out_has 'thread_name'
	out_has '""call"":999'
}

conditions_take_words_for_numbers()
{
	traced run.ptl <<-END
		1000 low call_enter 7 5 100
		1100 low call_exit 7 5 100 100
		1200 low call_enter 8 5 100
		1300 low call_exit 8 5 100 100
		1400 low sync_lock 64 0 0 2
	END
	run 0 print --where 'call == "read"' run.ptl
	lines 2
	run 0 print --where 'call != "read"' run.ptl
	lines 2
	run 0 print --where 'call ~ "wri*"' run.ptl
	lines 2
	run 0 print --where 'call == 8' run.ptl
	lines 2
	run 0 print --where 'kind == "write"' run.ptl
	lines 1
}

# QNX-22, QNX-54: words as an enumeration, and functions as Trace Compass' view of call stacks knows them
babeltrace2_has_words_and_names_of_functions_that_its_readers_know()
{
	need babeltrace2
	plugin=$PXT_BUILD/tools/babeltrace
	[ -f "$plugin/babeltrace-plugin-ptrace.so" ] || { echo "no plugin was built: skipped"; exit 77; }
	export BABELTRACE_PLUGIN_PATH="$plugin"
	preload_for_plugin
	traced run.ptl <<-END
		1000 low call_enter 17 5 100
		1100 low call_enter 999 5 100
		1200 low function_enter 4096 8192
		1300 low function_exit 4096 8192
		1400 low mutex_lock 64 20000 0 4097
		1500 low sync_lock 64 0 0 2
	END
	babeltrace2 run.ptl >out 2>err || fail 'babeltrace2'
	out_has 'posix_trace_call_enter:'
	out_has 'call = ( "epoll_wait" : container = 17 )'
	out_has 'call = ( <unknown> : container = 999 )'
	out_has 'lttng_ust_cyg_profile:func_entry:'
	out_has '{ addr = 0x1000, call_site = 0x2000 }'
	out_has 'lttng_ust_cyg_profile:func_exit:'
	out_has 'caller1 = 0x1001'
	out_has 'kind = ( "write" : container = 2 )'
	"$pxtrace" export ctf -o ctf run.ptl >out 2>err || fail 'export ctf'
	babeltrace2 ctf >out 2>err || fail 'babeltrace2 of CTF'
	out_has 'call = ( "epoll_wait" : container = 17 )'
	out_has 'lttng_ust_cyg_profile:func_entry:'
}

"$case"
