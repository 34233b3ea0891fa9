#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The babeltrace2 plugin source.ptrace.log, through the command babeltrace2 and its Python module.
# PXT_STRESS=full: a million events instead of 20,000.
. "$(dirname "$0")/common.sh"

need babeltrace2
plugin=$PXT_BUILD/tools/babeltrace
[ -f "$plugin/babeltrace-plugin-ptrace.so" ] || { echo "no plugin was built: skipped"; exit 77; }
export BABELTRACE_PLUGIN_PATH="$plugin"
preload_for_plugin

# bt STATUS ARGUMENTS...: as run
bt()
{
	wanted=$1
	shift
	babeltrace2 "$@" >out 2>err
	status=$?
	[ "$status" -eq "$wanted" ] || fail "exit status $status, not $wanted: babeltrace2 $*"
}

# details ARGUMENTS...: every message, as babeltrace2 tells it
details() { bt 0 "$@" --component=sink.text.details; }
count_is() { [ "$(grep -c -- "$1" out)" -eq "$2" ] || fail "not $2 times \"$1\""; }

# The python that has bt2; its script is standard input.
with_bt2()
{
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import bt2' 2>/dev/null || continue
		env ${preload:+"LD_PRELOAD=$preload"} "$python" - >out 2>err || fail "python"
		return
	done
	echo "no python module bt2: skipped"
	exit 77
}

# In four blocks, with losses inside, between, in front and at the end.
make_blocks()
{
	make blocks.ptl "$1" <<-END
		loss 3
		event 1000 2 0 0
		event 100000 32 1 0x401000 u32:1
		flush
		event 150000 34 2 0x401100 u64:0xdead
		loss 12
		event 300000 33 1 0x401010 u32:1 i64:-5000
		flush
		event 400000 35 2 0x401110 u64:0xdead
		event 1500000000 37 2 0 f64:0.25 u8:7 text:warm
		flush
		event 1600000000 3 0 0 u32:0
		lost 5
	END
}

a_set_of_events_is_one_text()
{
	none=$(printf '%0256d' 0)
	make run.ptl <<-END
		event 1000 2 1 0 hex:$none
		event 2000 6 1 0 hex:${none}$none
		event 3000 2 1 0
	END
	bt 0 run.ptl
	out_has '{ filter = "none" }'
	out_has '{ old = "none", new = "none" }'
	out_lacks 'data_length'
}

# LPT-25: 28 is ENOSPC, 1 a flush.
an_error_inside_has_a_number_and_what_failed()
{
	make run.ptl <<-END
		event 1000 1 1 0 u32:65564
	END
	bt 0 run.ptl
	out_has '{ error = 28, failed = 1 }'
}

babeltrace2_knows_a_log_by_itself()
{
	make_story
	bt 0 run.ptl
	lines 7
	out_has '[22:13:20.000300000] (+0.000150000) box:control:(4711) job_end: { cpu_id = 1, vpid = 4711, vtid = 4712, procname = "sensor", ip = 0x401010 }, { job = 1, late_ns = -5000 }'
	out_has '{ lock = 0xDEAD }'
	out_has '{ value = 0.25, flags = 7, label = "warm" }'
	out_has 'posix_trace_stop: { cpu_id = 1, vpid = 4711, vtid = 0, procname = "", ip = 0x0 }, { automatic = 0 }'
	printf 'no log at all\n' >text
	bt 0 query source.ptrace.log babeltrace.support-info -p 'input="text",type="file"'
	out_has 'weight: 0'
}

# Of all kinds of payload, with losses, over many blocks.
text_of_a_log_and_of_its_ctf_is_identical()
{
	events=20000
	[ "$PXT_STRESS" = full ] && events=1000000
	awk -v events=$events 'BEGIN {
		print "event 1000 2 0 0"
		for (i = 1; i < events - 1; i++) {
			ns = 2000 + 700 * i
			if (i % 5000 == 4999) print "loss " i % 97 + 1
			if (i % 10 == 3) print "event", ns, 37, 2, 0, "f64:" i / 7, "u8:" i % 256, "text:t" i % 1000
			else if (i % 50 == 9) print "event", ns, 36, 1, 0, "hex:" (i % 90 + 10) "ff"
			else if (i % 2) print "event", ns, 32, 1, "0x401000", "u32:" i
			else print "event", ns, 33, 2, "0x401010", "u32:" i, "i64:-" i
		}
		print "event", 2000 + 700 * events, 3, 0, 0, "u32:0"
		print "lost 4"
	}' | make big.ptl
	"$pxtrace" export ctf -o big.ctf big.ptl 2>err || fail "export ctf"
	babeltrace2 big.ptl >log.txt 2>log.err
	babeltrace2 big.ctf >ctf.txt 2>ctf.err
	[ "$(wc -l <log.txt)" -eq $events ] || fail "$(wc -l <log.txt) lines, not $events"
	cmp log.txt ctf.txt || fail "the texts differ"
	# The same losses at the same times, too; only the trace is called otherwise.
	sed -i 's/ in trace .*//' log.err ctf.err
	cmp log.err ctf.err || fail "the losses differ"
	[ "$(grep -c discarded log.err)" -gt 3 ] || fail "no losses"
}

one_block_is_one_packet()
{
	make_blocks
	details blocks.ptl
	# One more in front, empty, because the first block tells a loss; one behind, for the trailer's.
	count_is 'Packet beginning' 6
	count_is 'Packet end' 6
	count_is 'Discarded events (3 events)' 1
	count_is 'Discarded events (12 events)' 1
	count_is 'Discarded events (5 events)' 1
	count_is '^Event `' 7
}

a_loss_lies_from_the_packet_before_to_the_end_of_its_own()
{
	make_blocks
	details blocks.ptl
	grep -B3 '^Discarded events (12 events)' out >place || fail "no loss of 12"
	grep -q '^\[100,000 cycles' place || fail "it does not begin at the end of the packet before"
	grep -q '^\[300,000 cycles' place || fail "it does not end with its own packet"
}

ctf_keeps_the_ticks_the_rate_and_the_offset()
{
	make_blocks 'uuid 1
clock 2500000000 777000000000 1700000000500000000 5000000000000'
	run 0 export ctf -o ctf blocks.ptl
	grep -q 'freq = 2500000000;' ctf/metadata || fail "the rate"
	# 1700000000.5 s less 777e9 / 2.5e9 = 310.8 s
	grep -q 'offset_s = 1699999689;' ctf/metadata || fail "the seconds"
	grep -q 'offset = 1750000000;' ctf/metadata || fail "the cycles"
	details ctf
	out_has '777,000,250,000 cycles'
	bt 0 blocks.ptl
	out_has '[22:13:20.500100000]'
}

several_logs_are_one_line_of_time()
{
	make a.ptl <<-END
		event 1000 32 1 0 u32:1
		event 3000 33 1 0 u32:1 i64:0
	END
	make b.ptl 'uuid 9' <<-END
		event 2000 32 1 0 u32:2
		event 3000 33 1 0 u32:2 i64:0
	END
	bt 0 a.ptl b.ptl
	lines 4
	[ ! -s err ] || fail "a message"
	sed -n 2p out >second
	grep -q 'job = 2' second || fail "the second event is not the other log's"
}

trimming_goes_by_the_time_of_events()
{
	make_blocks
	bt 0 blocks.ptl --begin 22:13:20.0002 --end 22:13:20.0005
	lines 2
	out_has 'job_end'
	out_has 'mtx_unlock'
}

a_growing_log_is_followed_to_its_end()
{
	make_story
	size=$(stat -c %s run.ptl)
	# The trailer is the last block: 96 + 304 bytes.
	head -c $((size - 400)) run.ptl >growing.ptl
	bt 1 growing.ptl
	err_has 'follow=yes'
	bt 0 --component=source.ptrace.log -p 'inputs=["growing.ptl"],incomplete=yes'
	lines 7
	babeltrace2 --component=source.ptrace.log -p 'inputs=["growing.ptl"],follow=yes' >out 2>err &
	follower=$!
	seven() { [ "$(wc -l <out)" -ge 7 ]; }
	await seven || fail 'it shows no seven lines'
	kill -0 $follower || fail "it did not wait"
	tail -c 400 run.ptl >>growing.ptl
	wait $follower || fail "it did not end well"
	lines 7
}

python_reads_typed_fields_and_goes_back_to_the_beginning()
{
	make_blocks
	with_bt2 <<-'END'
		import bt2
		for message in bt2.TraceCollectionMessageIterator("blocks.ptl"):
		    if type(message) is bt2._EventMessageConst and message.event.name == "job_end":
		        fields = message.event.payload_field
		        print(int(fields["job"]), int(fields["late_ns"]), message.default_clock_snapshot.value)

		class Twice(bt2._UserSinkComponent):
		    def __init__(self, config, params, obj):
		        self._port = self._add_input_port("in")
		    def _user_graph_is_configured(self):
		        self._iterator = self._create_message_iterator(self._port)
		    def _user_consume(self):
		        seen = []
		        for turn in range(2):
		            seen.append([type(m).__name__ for m in self._iterator])
		            self._iterator.seek_beginning()
		        print(len(seen[0]), seen[0] == seen[1])
		        raise bt2.Stop

		graph = bt2.Graph()
		classes = bt2.find_plugin("ptrace").source_component_classes
		source = graph.add_component(classes["log"], "log", {"inputs": ["blocks.ptl"]})
		sink = graph.add_component(Twice, "sink")
		graph.connect_ports(list(source.output_ports.values())[0], sink.input_ports["in"])
		graph.run()
	END
	out_has '1 -5000 300000'
	out_has '24 True'
}

a_cut_event_shows_the_fields_it_has()
{
	make cut.ptl <<-END
		cut
		event 1000 37 2 0 f64:0.5
		event 2000 37 2 0 f64:0.5 u8:1 text:all
		event 3000 32 2 0 u32:1 u8:255
	END
	bt 0 cut.ptl
	out_has '{ truncated = 1 }, { value = 0.5 }'
	out_has '{ value = 0.5, flags = 1, label = "all" }'
	out_has '{ job = 1, rest_length = 1, rest = [ [0] = 0xFF ] }'
}

layout_kernel_has_a_stream_for_each_cpu()
{
	make_blocks
	bt 0 --component=source.ptrace.log -p 'inputs=["blocks.ptl"],layout="kernel"'
	lines 7
	out_has 'job_begin: { cpu_id = 1 }, { cpu_id = 1,'
	run 0 export ctf --layout kernel -o ctf blocks.ptl
	grep -q 'domain = "kernel";' ctf/metadata || fail "the domain"
	mv out log.txt
	bt 0 ctf
	lines 7
}

trace_compass_finds_what_it_looks_for()
{
	make_story
	run 0 export ctf -o ctf run.ptl
	# What its types of traces are told apart by, and the contexts its views are made of.
	for line in 'domain = "ust";' 'tracer_name = "libptrace";' 'procname = "control";' \
		'vpid = 4711;' 'hostname = "box";' '_vtid;' '_procname;' '_ip;'; do
		grep -qF -- "$line" ctf/metadata || fail "no $line"
	done
}

the_offset_parameter_moves_all_times()
{
	make_story
	bt 0 --component=source.ptrace.log -p 'inputs=["run.ptl"],clock-class-offset-ns=-1'
	out_has '[22:13:20.000299999]'
	bt 0 --component=source.ptrace.log -p 'inputs=["run.ptl"],clock-class-offset-s=3600,clock="corrected"'
	out_has '[23:13:20.000300000]'
}

a_wrong_parameter_or_log_gets_a_sentence()
{
	make_story
	bt 1 --component=source.ptrace.log -p 'inputs=["run.ptl"],layut="kernel"'
	err_has '`layut` is no parameter'
	bt 1 --component=source.ptrace.log -p 'inputs=["run.ptl"],layout="kernal"'
	err_has '`layout` is ust or kernel'
	bt 1 --component=source.ptrace.log -p 'inputs=[]'
	err_has 'at least one path'
	head -c 3000 run.ptl | sed 's/control/contrrr/' >bad.ptl
	bt 1 bad.ptl
	err_has 'checksum'
}

# ZEP-45: nothing from a log reaches a terminal or TSDL as more than text.
hostile_names_and_texts_stay_text()
{
	make hostile.ptl <<-'END'
		type 40 od\x1b[31m"q\\ u8 int, char[8] event, text align
		event 1000 40 1 0 u8:1 text:\x1b]0;x\x07\xff\xfe text:\x1b[2J"\\
	END
	bt 0 hostile.ptl
	cp out log.txt
	if LC_ALL=C grep -q "$(printf '[\033\007\377]')" out; then fail "control characters"; fi
	run 0 export ctf -o ctf hostile.ptl
	bt 0 ctf
	same log.txt
}

export_ctf_leaves_a_whole_folder_or_none()
{
	make_lossy
	run 0 export ctf -o one lossy.ptl
	err_has '12 EVENTS LOST'
	[ -f one/metadata ] || fail "no metadata"
	run 3 export ctf --strict -o two lossy.ptl
	run 4 export ctf -o one lossy.ptl
	err_has 'is not empty'
	run 1 export ctf lossy.ptl
	err_has '-o FOLDER'
	run 2 export ctf -o three nowhere.ptl
	PATH=/nowhere "$pxtrace" export ctf -o three lossy.ptl 2>err
	[ $? -eq 4 ] || fail "no babeltrace2 went unnoticed"
	err_has 'is not installed'
	[ "$(ls -d three* 2>/dev/null)" = "" ] || fail "something is left"
	make other.ptl 'uuid 2' </dev/null
	run 0 export ctf -o both lossy.ptl other.ptl
	[ -f both/lossy/metadata ] && [ -f both/other/metadata ] || fail "not two traces"
}

export_ctf_of_a_log_in_several_files_has_all_events()
{
	make_rotated
	events=$("$pxtrace" print run.ptl 2>/dev/null | wc -l)
	for named in run.ptl run.ptl/run.ptl; do
		rm -rf ctf
		run 0 export ctf -o ctf $named
		[ "$(babeltrace2 ctf | wc -l)" -eq "$events" ] || fail "$named: not $events events"
	done
}

export_ctf_says_of_a_stream_that_it_was_never_started()
{
	echo 'process 1 box /x' | "$mklog" >never.ptl || fail mklog
	printf 'event 1000 2 0 0\nevent 2000 3 0 0 u32:0\n' | "$mklog" >closed.ptl || fail mklog
	run 0 export ctf -o ctf never.ptl closed.ptl
	err_has 'never.ptl: nothing was recorded, not even the start'
	if grep -qF 'closed.ptl: nothing' err; then fail 'it was started'; fi
}

export_ctf_keeps_the_mode_of_the_folder_that_it_fills()
{
	make_lossy
	mkdir -m 700 one
	run 0 export ctf -o one lossy.ptl
	[ -f one/metadata ] || fail "no metadata"
	[ "$(stat -c %a one)" = 700 ] || fail "its mode is $(stat -c %a one)"
}

"$case"
