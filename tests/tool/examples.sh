#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What users begin with: the programs of examples/ do what they say, and their logs can be read; bash completes
# what each command says of itself.
. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999

# example NAME [ARGUMENT...]: its output in ./said
example()
{
	program=$PXT_BUILD/examples/$1
	shift
	case $pxtrace in */emulated/*) echo 'built for another machine: skipped'; exit 77 ;; esac
	[ -x "$program" ] || { echo "no $program in this configuration: skipped"; exit 77; }
	"$program" "$@" >said 2>err || fail "$program: exit status $?"
}

said() { grep -qE -- "$1" said || { cat said; fail "it did not say \"$1\""; }; }

each_stream_keeps_what_it_is_for()
{
	example several_streams run.ptl
	said '^several_streams: setup  holds 5 events, number 0 to 4; none is lost$'
	said '^several_streams: recent holds [0-9]+ events, number [0-9]+ to 99999; older ones are overwritten$'
	said '^several_streams: faults wrote 3 events to run.ptl$'
	run 0 print run.ptl
	[ "$(grep -c 'fault .*what="overheated"' out)" -eq 3 ] || fail 'not three faults'
	out_lacks sample
}

# QNX-58
what_is_chosen_is_recorded()
{
	example chosen
	said '^chosen: 10 samples$'
	[ "$(grep -c '^chosen: of a frame 4 bytes$' said)" -eq 2 ] || fail "$(cat said)"
	said '^chosen: 10 of 100 samples are enough$'
	said '^chosen: the handler was asked 100 times and dropped 90$'
}

the_watchdog_lets_a_hanging_job_go()
{
	example watchdog
	said '^watchdog: job 3 is not done after 100 ms: let go$'
	said '^watchdog: job 3 ended after all$'
	said '^watchdog: all 6 jobs are done$'
}

the_flight_recorder_keeps_the_last_before_the_trigger()
{
	example flight_recorder run.ptl
	said '^flight_recorder: [0-9]+ events happened, the last [0-9]+ before the incident are in run.ptl$'
	run 0 print --event sample run.ptl
	grep -q 'number=77776$' out || fail 'the last sample is missing'
	if grep -q 'number=0$' out; then fail 'the first sample is still there'; fi
}

the_deadline_recorder_saves_what_led_to_a_late_job_and_goes_on()
{
	example deadline_recorder run.ptl
	said '^deadline_recorder: a job was late; the last [0-9]+ events are in run.ptl, and [1-9][0-9]* were recorded since$'
	# A flight recorder overwrites what is older than its window: 3, where it has been full.
	status=0
	"$pxtrace" check --incomplete run.ptl >out 2>err || status=$?
	case $status in 0 | 3) ;; *) fail "exit status $status: pxtrace check run.ptl" ;; esac
	run 0 print --event deadline_miss run.ptl
	# A busy machine makes more jobs late than the one that works for too long.
	grep -q 'deadline_miss .*late_ns=' out || fail 'no job that was late'
	run 0 why run.ptl
	head -n 1 out | grep -qE '^Job [0-9]+ of control was late by ' || fail 'no answer'
}

# Killed or crashed, and restarted: the last run's file stays.
# SHARK-33: the answer names it
a_job_that_overran_its_budget_is_named()
{
	example periodic run.ptl
	said '^periodic: 20 jobs; pxtrace why run.ptl says which was late$'
	run 0 print --event 'control_overrun' run.ptl
	grep -q 'number=12  over_ns=' out || { cat out; fail 'no overrun of job 12'; }
	run 0 why --where 'number = 12' run.ptl
	grep -Eq '^control 12 of periodic was late by ' out || { cat out; fail 'not job 12'; }
}

a_black_box_has_what_came_before_the_crash()
{
	commands | grep -qx recover || { echo 'no recover: skipped'; exit 77; }
	case $pxtrace in */emulated/*) exit 77 ;; esac
	[ -x "$PXT_BUILD/examples/black_box" ] || { echo 'no black boxes here: skipped'; exit 77; }
	for turn in first second; do
		status=0
		"$PXT_BUILD/examples/black_box" run.box >said 2>err || status=$?
		[ "$status" -eq 134 ] || fail "the $turn run: exit status $status, not that of a crash"
		said 'pxtrace recover run.box -o black_box.ptl'
	done
	for box in run.box run.box.last; do
		run 0 recover "$box" -o run.ptl
		run 0 print --event valve run.ptl
		grep -q 'step=4711 ' out || fail 'the last event is missing'
		run 3 check run.ptl
	done
}

# DEC-23
the_log_of_a_crash_ends_with_what_led_to_it()
{
	[ -z "${ASAN_OPTIONS-}" ] || { echo 'a sanitizer ends the program before its signal: skipped'; exit 77; }
	example last_words run.ptl
	said '^last_words: 1000 requests are in run.ptl$'
	if "$PXT_BUILD/examples/last_words" run.ptl crash >said 2>err; then fail 'it did not crash'; fi
	run 0 print --tail 2 run.ptl
	out_has 'request            number=1000  verb="delete"'
	out_has 'posix_trace_stop   automatic: by a signal'
	# The handler could not ask who runs: the signal's thread is known by its number.
	grep -q 'last_words/[0-9]*  *posix_trace_stop' out || fail 'the main thread has no name'
	err_has 'the process was ended by signal 11 (SIGSEGV) about address 0x0, in thread'
	run 0 stat run.ptl
	out_has 'by signal 11 (SIGSEGV) about address 0x0, in thread'
	run 0 check run.ptl
}

# LPT-31, LPT-32, LPT-45: who was late, and which request of the other process was the reason.  Numbers
# become N; what else was late on this machine is the machine's, how often is too.
three_processes_tell_one_story()
{
	case $pxtrace in */emulated/*) exit 77 ;; esac
	programs=$PXT_BUILD/examples/three_roles
	[ -x "$programs/analyser" ] || { echo 'no attached processes here: skipped'; exit 77; }
	sh "$PXT_SOURCE/examples/three_roles/run" "$programs" >said 2>err || { cat said err; fail 'run'; }
	said '^analyser: server answered 9 requests; 0 events lost$'
	grep -vE 'of sampler was|server was idle$|a lookup$' said | sed 's/[0-9][0-9.]*/N/g' | sort -u >out
	same /dev/stdin <<-END
		analyser: control (pid N) recorded N events
		analyser: control ran N jobs, N of them late
		analyser: job N of control was late by N ms; server was at request N, a report
		analyser: sampler ran N jobs, N of them late
		analyser: server (pid N) recorded N events
		analyser: server answered N requests; N events lost
	END
}

# LPT-37: what a line brings is a log
a_serial_line_brings_every_event()
{
	commands | grep -qx receive || { echo 'no receive: skipped'; exit 77; }
	case $pxtrace in */emulated/*) exit 77 ;; esac
	[ -x "$PXT_BUILD/examples/serial_line" ] || exit 77
	"$PXT_BUILD/examples/serial_line" >said 2>err &
	sender=$!
	until_has said ' -o' || fail 'no pseudo terminal'
	line=$(sed -n 's/.*pxtrace receive \(serial:[^ ]*\) -o.*/\1/p' said)
	timeout 120 "$pxtrace" receive "$line" -o run.ptl --once >out 2>received || { cat received; fail 'receive'; }
	wait $sender || fail 'serial_line'
	said '^serial_line: 202 events sent, 0 lost$'
	run 0 print --event measured run.ptl
	lines 200
}

python_reads_through_babeltrace_what_stat_reads()
{
	example late_job run.ptl
	system=$(command -v /usr/bin/python3) && "$system" -c 'import bt2' 2>/dev/null || { echo 'no bt2: skipped'; exit 77; }
	plugins=$(dirname "$(find "$PXT_BUILD/tools" -name 'babeltrace-plugin-*.so' | head -n 1)")
	[ "$plugins" != . ] || { echo 'no plugin: skipped'; exit 77; }
	preload_for_plugin
	BABELTRACE_PLUGIN_PATH=$plugins env ${preload:+"LD_PRELOAD=$preload"} "$system" "$PXT_SOURCE/examples/analysis.py" --babeltrace run.ptl \
		>python 2>err || fail 'analysis.py'
	# Each span's count and largest duration, within a microsecond: babeltrace2 counts ticks by its own sum.
	run 0 stat --ns run.ptl
	for span in control logger vision; do
		found=$(awk -v s=$span '$1 == s { printf "%d %.0f", $2, $5 * 1000 }' python)
		wanted=$(awk -v s=${span}_begin '$1 == s && $2 == ".." { most = 0
			for (i = 5; i <= NF; i++) if ($i + 0 > most) most = $i + 0
			printf "%d %.0f", $4, most }' out)
		echo "$found $wanted" | awk '{ exit !(NF == 4 && $1 == $3 && $2 - $4 < 1000 && $4 - $2 < 1000) }' ||
			{ cat python; fail "$span: $found, not $wanted"; }
	done
}

# ---- Completion in bash ----

# complete WORDS...: what bash would offer for the last of them, a line each, in ./out
complete()
{
	need bash
	bash -c '. "$1/tools/completion.bash" || exit 1
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_pxtrace
		[ "${#COMPREPLY[@]}" = 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$PXT_SOURCE" "$pxtrace" "$@" >out 2>err ||
		fail "completion of: $*"
	[ ! -s err ] || fail "a message of the completion of: $*"
}

bash_completes_every_option_of_every_help()
{
	count=0
	for command in $(commands); do
		complete "$command" -
		for option in $("$pxtrace" "$command" --help | grep -E '^ +-' |
			grep -oE -- '(^|[ ,])--?[a-zA-Z0-9][a-z0-9-]*' | tr -d ' ,' | sort -u); do
			grep -qx -- "$option" out || fail "$command $option"
			count=$((count + 1))
		done
	done
	[ "$count" -gt 40 ] || fail "only $count options were seen"
}

bash_completes_what_an_option_wants()
{
	complete print --color a
	lines 2
	out_has always
	complete print --color = n
	out_has never
	complete stat --by ''
	out_has thread
	out_has field
	mkdir folder
	: >fog
	complete print --root fo
	lines 1
	out_has folder
	complete print --from ''
	lines 0
	complete print fo
	lines 2
}

bash_completes_the_file_that_a_command_writes()
{
	mkdir folder
	: >fog
	for command in 'receive udp:5555' 'recover core' 'merge a.ptl' 'snapshot machine' report 'export csv'; do
		for option in -o --output; do
			complete $command $option fo
			out_has folder
			out_has fog
			lines 2
		done
	done
	complete export ctf run.ptl -o fo
	lines 1
	out_has folder
	complete print -n ''
	lines 0
}

bash_completes_the_words_that_an_option_knows()
{
	complete export ctf --layout ''
	printf '%s\n' ust kernel >expected
	same expected
	complete export ctf --clock ''
	printf '%s\n' ticks corrected >expected
	same expected
	complete merge --ftrace-clock ''
	printf '%s\n' mono boot x86-tsc >expected
	same expected
	complete stat --colour ''
	printf '%s\n' auto always never >expected
	same expected
}

bash_completes_the_formats_of_export_and_their_options()
{
	complete export cs
	lines 1
	out_has csv
	complete export csv --thread-n
	lines 1
	out_has --thread-name
	: >file.ptl
	complete export csv fil
	out_has file.ptl
}

bash_completes_the_names_of_streams()
{
	folder=/dev/shm/pxtrace-$(id -u)
	[ -d "$folder" ] || mkdir -m 700 "$folder" || { echo 'no such folder here: skipped'; exit 77; }
	name=completion$$
	"$PXT_PYTHON" -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' "$folder/$name" || exit 77
	trap 'rm -rf "$here" "$folder/$name"' EXIT
	for command in ps top attach snapshot start stop clear flush filter; do
		complete $command compl
		out_has "$name"
	done
	complete filter "$name" s
	lines 2
	out_has sub
	out_has set
	complete snapshot --output ./
}

"$case"
