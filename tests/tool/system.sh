#!/bin/sh
# SPDX-License-Identifier: MIT
#
# System events as commands show them: durations of pxtrace stat; in export, print and report bars that have the
# names of functions and calls, words in place of numbers. (LPT-30, QNX-22, QNX-54)
. "$(dirname "$0")/whylib.sh"

# row NAME GROUP: COUNT, MIN, MAX and begins without an end of that row, of stat --json
row()
{
	"${PXT_PYTHON:-python3}" -c "
import json
for line in open('out'):
    row = json.loads(line)
    if row['table'] == 'pair' and row['name'] == '$1' and row.get('group', '') == '$2':
        print(row['count'], row.get('min_ns', '-'), row.get('max_ns', '-'), row['begun'])"
}
# has_row NAME GROUP TEXT
has_row() { [ "$(row "$1" "$2")" = "$3" ] || fail "$1 $2: $(row "$1" "$2"), not $3"; }

calls_have_durations_by_their_names()
{
	traced run.ptl <<-END
		1000 low call_enter 7 5 100
		3000 low call_exit 7 5 100 2000
		4000 low call_enter 8 5 100
		4500 low call_exit 8 5 100 500
		5000 high call_enter 7 6 100
		5100 low call_exit 23 4096 0 0
		9000 high call_exit 7 6 100 4000
		9100 high call_enter 18 6 0
	END
	run 0 stat --json run.ptl
	has_row call read '2 2000000 4000000 0'
	has_row call write '1 500000 500000 0'
	has_row call fsync '0 - - 1'
	# What cannot block tells of its end alone: that is no mistake.
	has_row call free ''
	run 0 stat --by thread --json run.ptl
	has_row call 'read  low/103' '1 2000000 2000000 0'
	run 0 stat --top 1 run.ptl
	out_has '1. 4.00 ms  call read  high/101'
}

# SHARK-37, LPT-24
waits_for_locks_and_holding_them_have_durations()
{
	traced run.ptl <<-END
		1000 low mutex_lock 64 0 0
		2000 high mutex_wait 64 103
		2500 middle mutex_wait 64 103
		4000 middle mutex_lock 64 1500 110
		5000 low mutex_unlock 64 0
		5100 high mutex_lock 64 3100 0
		5200 high cond_wait 80 64
		6000 low mutex_lock 64 0 0
		6500 low mutex_unlock 64 0
		8000 high cond_resume 80 64 2800 0
		8200 high mutex_unlock 64 0
		9000 low sync_wait 96 101 2
		9900 low sync_lock 96 900 0 2
		9910 low sync_unlock 96 0 2
	END
	run 0 stat --json run.ptl
	# Also a wait that was given up is one, and holding does not go on in the wait for a condition.
	has_row 'mutex wait' '' '2 1500000 3100000 0'
	has_row 'mutex held' '' '4 100000 4000000 0'
	has_row 'condition wait' '' '1 2800000 2800000 0'
	has_row 'lock wait' '' '1 900000 900000 0'
	has_row 'lock held' '' '1 10000 10000 0'
	run 0 stat --by field --json run.ptl
	has_row 'mutex wait' 'lock=0x40' '2 1500000 3100000 0'
}

# QNX-54
functions_nest_and_are_called_as_their_symbols()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low function_enter $(at refill) 0
			1100 low function_enter $(at store) 0
			1200 low function_enter $(at refill) 0
			1300 low function_exit $(at refill) 0
			1900 low function_exit $(at store) 0
			2000 low function_exit $(at refill) 0
			2100 low function_exit $(at look_up) 0
		END
	} | traced run.ptl
	run 0 stat --json run.ptl
	has_row function refill '2 100000 1000000 0'
	has_row function store '1 800000 800000 0'
	run 0 stat run.ptl
	out_has 'function  look_up'
	out_has '1 ended'
	run 0 print --address --event 'posix_trace_function_enter' --format '{address}' --limit 1 run.ptl
	[ "$(cat out)" = 'refill (cache.c:4)' ] || fail 'not the function that begins'
}

handlers_and_interrupts_have_durations()
{
	traced run.ptl <<-END
		1000 low signal 1 14 0 4096
		1500 low signal 2 14 0 4096
		1600 low signal 3 10 101 102
		2000 - kernel_overhead 1 7 0
		2100 - kernel_overhead 9 1 0
		2200 - kernel_overhead 10 1 0
		2300 - kernel_overhead 2 7 0
	END
	run 0 stat --json run.ptl
	has_row 'signal handler' 14 '1 500000 500000 0'
	has_row interrupt 7 '1 300000 300000 0'
	has_row 'critical section' '' '1 100000 100000 0'
}

# Of a free lock there is no event each time: the program counts, and tells it now and then.
locks_that_were_counted_are_added_up_by_their_kind()
{
	traced run.ptl <<-END
		1000 low process 17 103 64 20 mutex
		2000 low process 17 102 64 300 mutex
		3000 low process 17 103 80 7 semaphore
		4000 low process 17 0 0 1000 mutex
	END
	run 0 stat run.ptl
	out_has '  locks     taken, as the program counted: mutex 1320 times, semaphore 7 times'
	run 0 stat --json run.ptl
	out_has '"table":"taken"'
	grep -q '"name":"mutex".*"count":1320' out || fail 'no sum of mutexes'
	run 0 stat --event posix_trace_mutex_lock run.ptl
	out_lacks 'counted'
	run 0 report -o - run.ptl
	out_has '"taken":[["mutex",1320],["semaphore",7]]'
}

# ---- Export, print, report ----

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
