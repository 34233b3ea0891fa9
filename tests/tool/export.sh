#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace export: csv, perfetto, chrome, speedscope, folded, CTF 2.  What was written is read by check_export.py, which knows the
# formats and nothing of the exporter, and by tools of others where they are there.
. "$(dirname "$0")/common.sh"

checker=$PXT_SOURCE/tests/tool/check_export.py

# check FORMAT FILE: what the checker says, in ./said
check() { "$PXT_PYTHON" "$checker" "$1" "$2" >said || { cat said; fail "check_export.py $1 $2"; }; }
said() { grep -qxF -- "$1" said || { cat said; fail "the checker did not say \"$1\""; }; }
perfetto() { ! "$pxtrace" export --help | grep -q 'not in this build' || { echo "no protobuf-c: skipped"; exit 77; }; }

uuid=01020304-0506-0708-090a-0b0c0d0e0f10
crlf() { awk '{ printf "%s\r\n", $0 }'; }

# ---- All formats ----

export_names_its_formats_and_helps_with_each()
{
	run 0 export --help
	for format in csv perfetto chrome speedscope folded; do
		out_has "  $format "
	done
	run 0 help export
	out_has 'formats:'
	for format in csv perfetto chrome speedscope folded; do
		run 0 export $format --help
		out_has '$ '
		cp out expected
		run 0 help export $format
		same expected
	done
	run 1 help export nix
	err_has 'there is no format "nix"'
}

export_says_what_is_wrong_with_the_command_line()
{
	make_story
	run 1 export
	err_has 'which format?'
	run 1 export run.ptl
	err_has 'perhaps: pxtrace export csv run.ptl'
	run 1 export run.ptl csv
	err_has 'the format comes first: pxtrace export csv run.ptl'
	run 1 export cs run.ptl
	err_has 'did you mean "csv"?'
	run 1 export csv
	err_has 'export csv: which log?'
	run 1 export csv --fild job run.ptl
	err_has 'did you mean --field?'
	run 1 export csv --target '' run.ptl
	err_has '--target wants a name'
	run 2 export csv none.ptl
	err_has 'none.ptl: No such file'
	run 2 export csv --event nix run.ptl
	err_has 'no event type is called "nix"'
}

an_exported_file_appears_whole_or_not_at_all()
{
	make_story
	run 0 export csv -o run.csv run.ptl
	run 0 export csv run.ptl
	cmp run.csv out || fail "a file is not what standard output gets"
	[ "$(ls)" = "$(printf 'err\nout\nrun.csv\nrun.ptl')" ] || fail "left behind: $(ls)"
	echo mine >kept.csv
	run 2 export csv -o kept.csv none.ptl
	[ "$(cat kept.csv)" = mine ] || fail "a failure changed the file"
	run 4 export csv -o none/run.csv run.ptl
	err_has 'none/run.csv: cannot be written'
	run 4 export csv -o . run.ptl
	err_has 'is a folder'
}

an_export_that_is_killed_leaves_nothing_behind()
{
	awk 'BEGIN { for (i = 0; i < 20000; i++) print "event", 1000 * i, 32, 1, 0, "u32:" i }' | make long.ptl
	echo mine >kept.csv
	# A limit on the size of files ends the program by a signal in the middle of its work.
	(ulimit -f 100; "$pxtrace" export csv -o kept.csv long.ptl >/dev/null 2>&1) && fail "it was not ended"
	[ "$(cat kept.csv)" = mine ] || fail "the file was changed"
	[ "$(ls)" = "$(printf 'kept.csv\nlong.ptl')" ] || fail "left behind: $(ls)"
}

an_export_does_not_replace_its_own_log()
{
	make_story
	cp run.ptl copy.ptl
	ln -s run.ptl link.ptl
	for name in run.ptl ./run.ptl link.ptl; do
		run 1 export csv -o $name run.ptl
		err_has 'is the log itself'
	done
	cmp run.ptl copy.ptl || fail "the log was changed"
}

nor_do_export_report_and_merge_replace_one_of_its_files()
{
	make_rotated
	cp -r run.ptl copy
	run 1 export csv -o run.ptl/run.ptl.0002 run.ptl
	err_has 'is the log itself'
	run 1 report -o run.ptl/run.ptl.0002 run.ptl
	err_has 'is the log itself'
	run 2 merge -o run.ptl/run.ptl.0002 run.ptl
	err_has 'by its own merger'
	diff -r run.ptl copy || fail "the log was changed"
}

# The address space is limited to what the program needs for a small log and a fraction of the large one.
memory_is_constant_in_the_size_of_the_log()
{
	awk 'BEGIN { for (i = 0; i < 120000; i++) {
		print "event", 2000 * i, 32, 1, 0, "u32:" i
		print "event", 2000 * i + 500, 37, 1, 0, "f64:0.5 u8:7 text:what_was_said_at_some_length_in_the_event"
		print "event", 2000 * i + 1000, 33, 1, 0, "u32:" i, "i64:5" } }' | make large.ptl
	make_story
	for command in 'export csv' 'export perfetto' print 'merge -o merged.ptl'; do
		[ "$command" = 'export perfetto' ] && "$pxtrace" export --help | grep -q '^  perfetto.*not in' && continue
		limit=16
		while ! (ulimit -v $((limit * 1024)) && "$pxtrace" $command run.ptl >/dev/null 2>&1); do
			limit=$((limit + 2))
			[ $limit -lt 100 ] || { echo "a sanitizer's memory cannot be limited: skipped"; exit 77; }
		done
		(ulimit -v $((limit * 1024 + 4096)) && "$pxtrace" $command large.ptl >out 2>err) ||
			fail "$command: more than $((limit + 4)) MiB for $(wc -c <large.ptl) bytes of log"
		[ "$command" = 'merge -o merged.ptl' ] && mv merged.ptl out
		[ "$(wc -c <out)" -gt 4000000 ] || fail "$command: $(wc -c <out) bytes only"
	done
}

# ---- csv ----

csv_has_the_columns_that_databases_load()
{
	make_story
	run 0 export csv run.ptl
	crlf >expected <<-END
		target,stream,seq,ts_ns,event,event_id,pid,tid,cpu,lost_before,payload
		box,$uuid,0,1700000000000001000,posix_trace_start,2,4711,,1,0,"{}"
		box,$uuid,1,1700000000000100000,job_begin,32,4711,4712,1,0,"{""job"":1}"
		box,$uuid,2,1700000000000150000,mtx_lock,34,4711,4713,1,0,"{""lock"":57005}"
		box,$uuid,3,1700000000000300000,job_end,33,4711,4712,1,0,"{""job"":1,""late_ns"":-5000}"
		box,$uuid,4,1700000000000400000,mtx_unlock,35,4711,4713,1,0,"{""lock"":57005}"
		box,$uuid,5,1700000001500000000,sample,37,4711,4713,1,0,"{""value"":0.25,""flags"":7,""label"":""warm""}"
		box,$uuid,6,1700000001600000000,posix_trace_stop,3,4711,,1,0,"{""automatic"":0}"
	END
	same expected
	check csv out
	said 'rows 7 lost 0'
}

csv_has_columns_for_fields_and_threads_on_request()
{
	make_story
	run 0 export csv --lf --no-header --no-payload --target 'rig, left' -f late_ns -f label --thread-name \
		-e job_end -e sample run.ptl
	cat >expected <<-END
		"rig, left",$uuid,3,1700000000000300000,job_end,33,4711,4712,1,0,-5000,,sensor
		"rig, left",$uuid,5,1700000001500000000,sample,37,4711,4713,1,0,,warm,control
	END
	same expected
}

csv_cells_that_a_spreadsheet_would_run_are_defused()
{
	{
		printf 'process 4711 %s /opt/app/control\n' '@host'
		printf '%s\n' 'thread 1 0x7f0000001000 4712 +thread' 'type 32 =cmd|x text say' 'type 33 -minus,"quoted"' \
			'type 34 @at text say' 'type 35 \x09tab' 'type 36 \x0dreturn' 'event 1 32 1 0 text:=1+1' 'event 2 33 1 0' \
			'event 3 34 1 0 text:\x09=1+1' 'event 4 34 1 0 text:\x0d=1+1' 'event 5 34 1 0 text:-1+1' \
			'event 6 35 1 0' 'event 7 36 1 0'
	} | "$mklog" >evil.ptl
	run 0 export csv --thread-name -f say evil.ptl
	check csv out
	said 'rows 7 lost 0'
	out_has "'@host,"
	out_has ",'=cmd|x,"
	out_has ",\"'-minus,\"\"quoted\"\"\","
	out_has ",'@at,"
	out_has ",'=1+1,"
	out_has ",'-1+1,"
	out_has ",'+thread"
	run 0 export csv --target '=1+1' evil.ptl
	check csv out
	out_has "'=1+1,$uuid"
}

csv_is_utf8_whatever_the_log_says()
{
	{
		printf '%s\n' 'process 4711 \xff\x80\xc3 /opt/app' 'thread 1 0x7f0000001000 4712 \xe2\x80' \
			'type 32 n\xfe\x1b[31m text say' 'type 33 \xe2\x80\xaeturned' \
			'event 1 32 1 0 text:\xc3\xa9\xff\x01\x1b[2J\x0a"\x7f\xc2\x9b\xf0\x9f\x98\x80\xed\xa0\x80\xe2\x80\xae' \
			'event 2 32 1 0 hex:61006200' 'event 3 33 1 0 hex:00ff'
	} | "$mklog" >evil.ptl
	run 0 export csv --thread-name -f say evil.ptl
	check csv out
	said 'rows 3 lost 0'
	out_has '\u001b[2J'
	out_has '\u202e'
	out_has '""@data"":""00ff""'
	"$PXT_PYTHON" - <<-'END' || fail "the texts are others"
		import csv, json
		rows = list(csv.DictReader(open("out", encoding="utf-8", newline="")))
		bad = "\ufffd"
		assert json.loads(rows[0]["payload"])["say"] == \
		    "é" + bad + "\x01\x1b[2J\n\"\x7f\x9b\U0001f600" + 3 * bad + "\u202e", rows[0]
		assert json.loads(rows[1]["payload"])["say"] == "a" + bad + "b", rows[1]
	END
}

csv_numbers_are_what_the_log_says_to_the_last_digit()
{
	make numbers.ptl <<-'END'
		type 40 wide u64 u, i64 i, x64 x, f64 d, f32 f
		event 1 40 1 0 u64:18446744073709551615 i64:-9223372036854775808 u64:0xffffffffffffffff f64:0.1 f32:0.1
		event 2 40 1 0 u64:0 i64:9223372036854775807 u64:1 f64:nan f32:inf
		event 3 40 1 0 u64:0 i64:0 u64:1 f64:-inf f32:16777216
	END
	run 0 export csv -f d -f f numbers.ptl
	check csv out
	out_has '{""u"":18446744073709551615,""i"":-9223372036854775808,""x"":18446744073709551615,""d"":0.1,""f"":0.1}",0.1,0.1'
	out_has '{""u"":0,""i"":9223372036854775807,""x"":1,""d"":""nan"",""f"":""inf""}",nan,inf'
	out_has '""d"":""-inf""'
}

csv_says_what_was_cut_or_is_not_described()
{
	make cut.ptl <<-'END'
		cut
		event 1 33 1 0 u32:7
		event 2 32 1 0 u32:7 hex:beef
		event 3 36 1 0 text:abc
		event 4 31 0 0
	END
	run 0 export csv cut.ptl
	check csv out
	out_has '{""job"":7,""@cut"":1}'
	out_has '{""job"":7,""@rest"":""beef""}'
	out_has '{""@data"":""616263""}'
	out_has 'posix_trace_unnamed_userevent,31,4711,,1,0,"{}"'
}

csv_losses_add_up_to_what_the_log_lost()
{
	make_lossy
	printf '%s\n' 'event 1000 32 1 0 u32:1' 'loss 12' 'event 2000 36 2 0' 'event 3000 33 1 0 u32:1 i64:0' 'lost 30' |
		make rest.ptl
	run 0 export csv rest.ptl
	check csv out
	said 'rows 4 lost 42'
	out_has ',3,1700000000000003000,(lost),0,4711,,,30,{}'
	# What was lost in front of an event that is left out is told by the next one.
	run 0 export csv -e 'job_*' rest.ptl
	check csv out
	said 'rows 3 lost 42'
	run 3 export csv --strict rest.ptl
	err_has 'rest.ptl: 42 EVENTS LOST'
}

csv_names_an_event_the_same_while_its_log_grows()
{
	events() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "event", 1000 * i, 32, 1, 0, "u32:" i }'; }
	events 9000 | make whole.ptl
	{ events 5000; echo 'lost 3'; echo unfinished; } | make growing.ptl
	run 0 export csv --incomplete growing.ptl
	mv out before
	run 0 export csv whole.ptl
	head -n "$(wc -l <before)" out | cmp - before || fail "a row is another one now"
	[ "$(wc -l <before)" -gt 4000 ] || fail "$(wc -l <before) rows only"
}

csv_of_logs_of_other_machines_is_the_same()
{
	run 0 export csv --target x "$golden/le64.ptl"
	cut -d, -f1-7 out >first
	check csv out
	for machine in be64 le32 be32; do
		run 0 export csv --target x "$golden/$machine.ptl"
		check csv out
		cut -d, -f1-7 out | cmp - first || fail "$machine: other rows"
	done
}

# ---- perfetto ----

# Spans inside each other, two that overlap, and a lock that is handed on.
make_spans()
{
	make spans.ptl <<-'END'
		type 40 step_start
		type 41 step_stop
		type 42 lonely_start
		type 43 sched_switch i32 prev_tid, i32 prev_prio, i64 prev_state, i32 next_tid, i32 next_prio, char[8] next_comm
		type 44 sched_wakeup i32 tid
		event 1000 32 1 0 u32:1
		event 2000 40 1 0
		event 2500 42 1 0
		event 3000 41 1 0
		event 4000 33 1 0 u32:1 i64:-7
		event 5000 34 1 0 u64:1
		event 6000 34 1 0 u64:2
		event 7000 35 1 0 u64:1
		event 8000 35 1 0 u64:2
		event 9000 38 2 0
		event 10000 39 2 0
		event 11000 39 2 0
		event 12000 43 0 0 u32:4712 u32:120 u64:1 u32:4713 u32:90 hex:636f6e74726f6c00
		event 13000 44 0 0 u32:4712
		event 14000 43 0 0 u32:4713 u32:90 u64:0 u32:0 u32:120 hex:7377617070657200
	END
}

perfetto_bars_nest_on_every_track()
{
	perfetto
	make_spans
	run 0 export perfetto spans.ptl
	check perfetto out
	said 'bar job 3000 on thread sensor'
	said 'bar step 1000 on thread sensor'
	said 'bar mtx 2000 on lane mtx'
	said 'bar call 1000 on thread control'
	[ "$(grep -c 'bar mtx 2000 on lane mtx' said)" = 2 ] || fail "two locks overlap"
	[ "$(grep -c 'track lane mtx' said)" = 2 ] || fail "on a lane each"
	grep -q 'unfinished 0' said || fail "a bar is open: $(tail -1 said)"
}

# Requests begin in one thread and end in another, but for one; a job's number is that of another thread's job once.
a_request_that_is_handed_on_is_a_bar_beside_the_threads()
{
	perfetto
	make moved.ptl <<-END
		type 40 request_begin u32 id
		type 41 request_end u32 id, i32 status
		event 500 33 2 0 u32:1 i64:0
		event 1000 40 1 0 u32:7
		event 2000 32 1 0 u32:1
		event 3000 40 1 0 u32:8
		event 4000 41 2 0 u32:7 i32:200
		event 5000 33 1 0 u32:1 i64:0
		event 6000 41 2 0 u32:8 i32:404
		event 6500 40 1 0 u32:9
		event 7000 41 1 0 u32:9 i32:200
		event 8000 32 1 0 u32:2
		event 8500 33 2 0 u32:2 i64:0
		event 9000 32 1 0 u32:3
		event 9500 33 1 0 u32:3 i64:0
	END
	run 0 export perfetto -o file moved.ptl
	check perfetto file
	[ "$(grep -c 'bar request 3000 on lane request' said)" = 2 ] || { cat said; fail 'no bar of its own'; }
	said 'bar request 500 on lane request'
	said 'bar job 3000 on thread sensor'
	said 'bar job 500 on thread sensor'
	run 0 export chrome moved.ptl
	"$PXT_PYTHON" -c '
import json
open_at = {}
for event in json.load(open("out"))["traceEvents"]:
    if event["name"] == "request" and event["ph"] == "b":
        open_at[event["id"]] = event["ts"]
    elif event.get("cat") == "request" and event["ph"] == "e":
        print(event["ts"] - open_at.pop(event["id"]))
' >said
	[ "$(sort said | tr '\n' ' ')" = '0.5 3.0 3.0 ' ] || fail "chrome: $(cat said)"
}

# Ten times as many open bars may take some ten times as long for each event, but not a hundred times.
many_open_bars_cost_each_event_no_square_of_them()
{
	perfetto
	for open in 10 1000; do
		awk -v open=$open 'BEGIN { for (i = 0; i < 10000; i++) { round = int(i / (2 * open)); at = i % (2 * open)
			print "event", 1000 * (i + 1), at < open ? 32 : 33, 1, 0, "u32:" round * open + at % open, at < open ? "" : "i64:0" } }' |
			make "$open.ptl"
	done
	"$PXT_PYTHON" - "$pxtrace" <<-'END' >said || { cat said; fail 'many open bars are slow'; }
		import os, subprocess, sys
		def seconds(form, log):
		    before = os.times()
		    subprocess.run([sys.argv[1], "export", form, log, "-o", "made"], check=True)
		    after = os.times()
		    return after[2] + after[3] - before[2] - before[3]
		for form in "perfetto", "chrome":
		    few, many = seconds(form, "10.ptl"), seconds(form, "1000.ptl")
		    print(form, few, many)
		    if many > 50 * (few + 0.01):
		        sys.exit(1)
	END
}

perfetto_is_read_by_the_decoder_of_protobuf()
{
	perfetto
	need protoc
	make_spans
	run 0 export perfetto --counter late_ns --counter 'job_end.*' --cpu spans.ptl
	check perfetto out
	protoc --decode=pxt.Trace -I "$PXT_SOURCE/tools/export" perfetto.proto <out >text 2>err || fail "protoc: $(cat err)"
	if grep -qE '^ *[0-9]+[:{ ]' text; then fail "a field that the description does not know"; fi
	for word in 'name: "job"' 'int_value: -7' 'counter_value: -7' 'machine_name: "box"' 'thread_name: "sensor"' \
		'pointer_value: 2' 'timestamp_clock_id: 3' 'process_name: "control"' 'TASK_STATE_RUNNING' 'comm: "control"'; do
		grep -qF "$word" text || fail "no $word"
	done
}

# A number that several threads have joins their events; other fields and numbers have flows of their own.
perfetto_joins_the_events_of_one_request_by_arrows()
{
	perfetto
	make flows.ptl <<-'END'
		type 40 request_begin u32 request, u32 size
		type 41 request_end u32 request
		type 42 handed_on u32 request
		event 1000 40 1 0 u32:7 u32:9
		event 2000 42 1 0 u32:7
		event 2500 40 2 0 u32:9 u32:7
		event 3000 42 2 0 u32:7
		event 4000 41 2 0 u32:9
		event 5000 41 1 0 u32:7
	END
	run 0 export perfetto --flow request flows.ptl
	check perfetto out
	grep '^flow' said | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ' >counts
	[ "$(cat counts)" = '1 3 ' ] || { cat said; fail "other flows: $(cat counts)"; }
	run 0 export perfetto flows.ptl
	check perfetto out
	! grep -q '^flow' said || fail 'flows that nobody asked for'
	run 2 export perfetto --flow reqest flows.ptl
	err_has '--flow: no event has a numeric field'
}

perfetto_shows_what_the_scheduler_did()
{
	perfetto
	make_spans
	run 0 export perfetto spans.ptl
	check perfetto out
	# 4 sleeps, 3 runs, 2 is ready; the idle thread, 0, is none.
	grep '^task' said >tasks
	printf 'task 4712 4\ntask 4713 3\ntask 4712 2\ntask 4713 2\n' | cmp - tasks || { cat tasks; fail "other states"; }
}

perfetto_ends_open_bars_at_a_loss_and_says_names_again()
{
	perfetto
	make gap.ptl <<-'END'
		event 1000 32 1 0 u32:1
		event 1500 36 2 0
		loss 5
		event 3000 33 1 0 u32:1 i64:0
		event 4000 32 1 0 u32:2
		event 5000 33 1 0 u32:2 i64:0
		lost 2
	END
	run 0 export perfetto gap.ptl
	check perfetto out
	said 'bar job 500 on thread sensor cut'
	said 'bar job 1000 on thread sensor'
	grep -q 'dropped 2 events' said || fail "two losses: $(tail -1 said)"
	[ "$(grep -ac 'EVENTS LOST' out)" -ge 1 ] || fail "no mark"
}

perfetto_relates_its_clock_to_the_civil_time()
{
	perfetto
	make_story
	run 0 export perfetto run.ptl
	check perfetto out
	said 'clocks 1=1700000000000000000 3=1000000000000 6=1000000000000'
	said 'clocks 1=1700000001600001000 3=1001600001000 6=1001600001000'
	said 'machine box'
	said 'mark posix_trace_start at 1700000000000001000'
	said 'mark sample at 1700000001500000000'
	run 0 export perfetto --target 'rig 7' run.ptl
	check perfetto out
	said 'machine rig 7'
}

perfetto_of_several_logs_is_an_archive_of_traces()
{
	perfetto
	make_story
	make_spans
	run 1 export perfetto run.ptl spans.ptl
	err_has 'say -o FILE'
	run 0 export perfetto -o all.tar run.ptl spans.ptl run.ptl
	tar tf all.tar >list || fail "tar does not read it"
	printf '%s-box-4711.pftrace\n' 001 002 003 | cmp - list || { cat list; fail "other names"; }
	tar xf all.tar
	run 0 export perfetto spans.ptl
	cmp out 002-box-4711.pftrace || fail "a trace in the archive is another one"
	check perfetto 003-box-4711.pftrace
}

perfetto_is_utf8_whatever_the_log_says()
{
	perfetto
	printf '%s\n' 'process 1 h\xff\x1b /\xffx' 'thread 1 0x7f0000001000 4712 \xe2\x80' 'type 32 n\xfe_begin text say' \
		'type 33 n\xfe_end text say' 'event 1 32 1 0 text:\xff\x00\x1b' 'event 2 33 1 0 text:\xff\x00\x1b' \
		'event 3 31 1 0 hex:ff00' | "$mklog" >evil.ptl
	run 0 export perfetto evil.ptl
	check perfetto out
	said 'machine h\xff\x1b'
}

a_build_without_protobuf_says_how_to_get_it()
{
	"$pxtrace" export --help | grep -q 'perfetto.*not in this build' || { echo "this build has it: skipped"; exit 77; }
	make_story
	run 1 export perfetto -o x run.ptl
	err_has 'built without protobuf-c'
	run 0 export perfetto --help
	out_has 'libprotobuf-c-dev'
}

# ---- chrome, speedscope, folded ----

# Jobs with another one inside, one that is passed on while the other runs, and a loss.
make_bars()
{
	make bars.ptl <<-'END'
		event 1000 32 1 0x401000 u32:1
		event 2000 34 1 0x401000 u64:0xdead
		event 5000 35 1 0x401000 u64:0xdead
		event 7000 33 1 0x401000 u32:1 i64:-5000
		event 8000 37 2 0 f64:0.25 u8:7 text:warm
		event 10000 32 1 0x401000 u32:2
		loss 5
		event 13000 33 1 0x401000 u32:2 i64:0
	END
}

chrome_has_a_bar_for_each_pair_and_a_mark_for_everything_else()
{
	make_bars
	run 0 export chrome -o bars.json bars.ptl
	"$PXT_PYTHON" - >said <<-'END' || fail 'it is no JSON'
		import json
		with open("bars.json", encoding="utf-8") as file:
		    trace = json.load(file)
		for event in trace["traceEvents"]:
		    print(event["ph"], event["tid"], event.get("ts", "-"), event["name"], event["args"])
	END
	said "M 0 - process_name {'name': 'control'}"
	said "B 4712 1.0 job {'job': 1}"
	said "E 4712 7.0 job {'job': 1, 'late_ns': -5000}"
	said "E 4712 10.0 job {'cut_by_loss': True}"
	said "i 0 13.0 EVENTS LOST {'lost': 5}"
	grep -q "^i [0-9]* 8.0 [a-z]* {'value': 0.25, 'flags': 7, 'label': 'warm'}" said ||
		{ cat said; fail 'no mark'; }
	[ "$(grep -c '^B' said)" = "$(grep -c '^E' said)" ] || { cat said; fail 'a bar without an end'; }
}

# A call's bar has the call's name, also at a loss; viewers end no bar by another name.
chrome_ends_each_bar_by_the_name_that_began_it()
{
	make calls.ptl <<-'END'
		system_types
		event 1000 20 1 0 u16:6 u64:0 u64:5 i64:0
		event 2000 21 1 0 u16:6 u64:0 i64:0 u32:1
		event 3000 20 1 0 u16:7 u64:0 u64:9 i64:0
		event 4000 20 2 0 u16:5 u64:0 u64:0 i64:0
		loss 5
		event 5000 20 1 0 u16:6 u64:0 u64:5 i64:0
		event 6000 21 1 0 u16:6 u64:0 i64:0 u32:1
	END
	run 0 export chrome -o calls.json calls.ptl
	"$PXT_PYTHON" - >said <<-'END' || { cat said; fail 'not as viewers end bars'; }
		import json
		with open("calls.json", encoding="utf-8") as file:
		    trace = json.load(file)
		open_now = {}
		for event in trace["traceEvents"]:
		    bars = open_now.setdefault(event["tid"], [])
		    if event["ph"] == "B":
		        bars.append(event["name"])
		    elif event["ph"] == "E":
		        print(event["name"])
		        assert bars.pop() == event["name"]
		assert not any(open_now.values())
	END
	[ "$(tr '\n' ' ' <said)" = 'sleep join read sleep ' ] || { cat said; fail 'other bars'; }
}

# Firefox Profiler's importer looks for Chrome's own object there, and ends by an error at a number.
chrome_has_another_name_for_a_field_that_is_called_data()
{
	make data.ptl <<-'END'
		type 40 packet u32 data, u8 port
		event 1000 40 1 0 u32:5 u8:7
	END
	run 0 export chrome data.ptl
	out_has '"args":{"data_":5,"port":7}'
	run 0 export csv data.ptl
	out_has '{""data"":5,""port"":7}'
}

chrome_tells_processes_of_one_number_apart()
{
	make_bars
	cp bars.ptl other.ptl
	run 0 export chrome bars.ptl other.ptl
	out_has '"pid":4711,'
	out_has '"pid":10004711,'
}

speedscope_has_a_profile_for_each_thread_with_what_was_open_when()
{
	make_bars
	run 0 export speedscope -o bars.json bars.ptl
	cat >read.py <<-'END'
		import json
		with open("bars.json", encoding="utf-8") as file:
		    trace = json.load(file)
		assert trace["$schema"] == "https://www.speedscope.app/file-format-schema.json"
		for profile in trace["profiles"]:
		    assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
		    open_now, at = [], profile["startValue"]
		    for event in profile["events"]:
		        name = trace["shared"]["frames"][event["frame"]]["name"]
		        assert event["at"] >= at
		        at = event["at"]
		        print(profile["name"], event["type"], name, at)
		        if event["type"] == "O":
		            open_now.append(name)
		        else:
		            assert open_now.pop() == name
		    assert not open_now and profile["endValue"] >= at
	END
	"$PXT_PYTHON" read.py >said || { cat said; fail 'it is not what speedscope reads'; }
	said 'sensor/4712 O job 1000'
	said 'sensor/4712 C job 7000'
	said 'sensor/4712 O job 10000'
	# Its end may be among what was lost.
	said 'sensor/4712 C job 10000'
	[ "$(wc -l <said)" = 6 ] || { cat said; fail 'other bars'; }
	if grep -q control said; then fail 'a thread without bars'; fi
	run 0 export speedscope --event job_end bars.ptl
	err_has 'speedscope refuses a file without profiles'
	# More than is kept in memory.
	{
		for i in $(seq 700); do
			printf 'event %d 32 1 0 u32:%d\nevent %d 33 1 0 u32:%d i64:0\n' "${i}1000" "$i" "${i}2000" "$i"
		done
	} | make bars.ptl
	run 0 export speedscope -o bars.json bars.ptl
	"$PXT_PYTHON" read.py >said || { cat said; fail 'it is not what speedscope reads'; }
	[ "$(wc -l <said)" = 1400 ] || fail "$(wc -l <said) beginnings and ends, not 1400"
	said 'sensor/4712 O job 3501000'
	said 'sensor/4712 C job 7002000'
}

folded_says_how_long_each_stack_was_on_top()
{
	make_bars
	run 0 export folded bars.ptl
	sort out >said
	said 'sensor/4712;job 3000'
	said 'sensor/4712 3000'
	grep -q '^sensor/4712;job;[a-z]* 3000$' said || { cat said; fail 'nothing on top of the job'; }
	[ "$(wc -l <said)" = 3 ] || { cat said; fail 'time around the loss, or of who did nothing'; }
}

# ---- Stacks that events tell ----

# refill() called by serve(), once by store(); a loss between; an event that tells nobody.
make_stacks()
{
	need cc
	need nm
	need addr2line
	printf '%s\n' 'void refill(void) {}' 'void serve(void) {}' 'void store(void) {}' 'void loop(void) {}' >cache.c
	cc -g -O0 -shared -fPIC -Wl,--build-id=none cache.c -o libcache.so || fail 'no library'
	touch -d 2001-01-01 libcache.so
	at() { printf '0x%x' $((0x7f0000000000 + 0x$(nm libcache.so | awk -v n="$1" '$3 == n { print $1 }') + 1)); }
	make stacks.ptl "module 0x7f0000000000 0x7f0000000000 0x7f0000100000 - $PWD/libcache.so" <<-END
		type 40 refilled u32 bytes, x64 caller1, x64 caller2
		event 1000 40 1 $(at refill) u32:1 u64:$(at serve) u64:$(at loop)
		event 2000 40 1 $(at refill) u32:2 u64:$(at serve) u64:$(at loop)
		event 3000 32 1 $(at loop) u32:1
		event 4000 40 2 $(at refill) u32:3 u64:$(at store)
		loss 5
		event 5000 40 1 $(at refill) u32:4 u64:$(at serve) u64:$(at loop)
	END
}

folded_counts_the_stacks_that_events_tell()
{
	make_stacks
	run 0 export folded --stacks stacks.ptl
	sort out >said
	printf '%s\n' 'control/4713;store;refill;refilled 1' 'sensor/4712;loop;serve;refill;refilled 3' | cmp - said ||
		fail 'other stacks'
	run 0 export folded --stacks -o file stacks.ptl
	sort file | cmp - said || fail 'a file has others'
	# As Rust calls a function of [u8; 4].
	printf '%s\n' 'void odd(void) __asm__("\"[u8; 4]\"");' 'void odd(void) {}' >odd.c
	cc -O0 -shared -fPIC -Wl,--build-id=none odd.c -o libcache.so || fail 'no library'
	touch -d 2001-01-01 libcache.so
	make odd.ptl "module 0x7f0000000000 0x7f0000000000 0x7f0000100000 - $PWD/libcache.so" <<-END
		type 40 refilled u32 bytes, x64 caller1
		event 1000 40 1 0 u32:1 u64:$(printf '0x%x' $((0x7f0000000000 + 0x$(nm libcache.so | sed -n 's/ T .u8; 4.$//p') + 1)))
	END
	run 0 export folded --stacks odd.ptl
	out_has 'sensor/4712;[u8: 4];refilled 1'
	run 0 export folded --stacks --event job_begin stacks.ptl
	err_has 'no event tells who called'
}

speedscope_has_a_sample_for_each_stack_that_an_event_tells()
{
	make_stacks
	run 0 export speedscope -o stacks.json stacks.ptl
	"$PXT_PYTHON" - >said <<-'END' || { cat said; fail 'it is not what speedscope reads'; }
		import json
		with open("stacks.json", encoding="utf-8") as file:
		    trace = json.load(file)
		for profile in trace["profiles"]:
		    if profile["type"] == "sampled":
		        assert profile["unit"] == "none" and profile["endValue"] == sum(profile["weights"])
		        assert len(profile["samples"]) == len(profile["weights"])
		        for sample in profile["samples"]:
		            frames = [trace["shared"]["frames"][frame] for frame in sample]
		            print(profile["name"], *(f"{frame['name']}@{frame['file']}:{frame['line']}" for frame in frames))
	END
	[ "$(grep -cx 'sensor/4712, who called loop@cache.c:4 serve@cache.c:2 refill@cache.c:1' said)" = 3 ] ||
		{ cat said; fail 'not three samples'; }
	said 'control/4713, who called store@cache.c:3 refill@cache.c:1'
}

# One address is refill() of the first library, drain() of the second, and refill() again.
stacks_are_called_as_the_images_that_were_there_then()
{
	make_stacks
	sed 's/refill/drain/; s/serve/empty/' cache.c >other.c
	cc -g -O0 -shared -fPIC -Wl,--build-id=none other.c -o libother.so || fail 'no library'
	touch -d 2001-01-01 libother.so
	image() { echo "event $1 19 1 0 u8:$2 u32:0 u64:0x7f0000000000 u64:0x100000 text:$PWD/$3"; }
	refilled() { echo "event $1 40 1 $(at refill) u32:1 u64:$(at serve) u64:$(at loop)"; }
	{
		echo 'system_types'
		echo 'type 40 refilled u32 bytes, x64 caller1, x64 caller2'
		image 1000 1 libcache.so
		refilled 2000
		image 3000 2 libcache.so
		image 3000 1 libother.so
		refilled 3000
		image 4000 2 libother.so
		image 5000 1 libcache.so
		refilled 6000
	} | make images.ptl
	run 0 export folded --stacks images.ptl
	sort out >said
	printf '%s\n' 'sensor/4712;loop;empty;drain;refilled 1' 'sensor/4712;loop;serve;refill;refilled 2' | cmp - said ||
		fail 'other stacks'
	run 0 export speedscope -o stacks.json images.ptl
	"$PXT_PYTHON" - >said <<-'END'
		import json
		with open("stacks.json", encoding="utf-8") as file:
		    trace = json.load(file)
		for sample in trace["profiles"][0]["samples"]:
		    print(*(trace["shared"]["frames"][frame]["name"] for frame in sample))
	END
	[ "$(tr '\n' ' ' <said)" = 'loop serve refill loop empty drain loop serve refill ' ] || { cat said; fail 'other samples'; }
}

chrome_has_the_stack_of_an_event_in_frames()
{
	make_stacks
	run 0 export chrome -o stacks.json stacks.ptl
	"$PXT_PYTHON" - >said <<-'END' || { cat said; fail 'it is not what viewers read'; }
		import json
		with open("stacks.json", encoding="utf-8") as file:
		    trace = json.load(file)
		for event in trace["traceEvents"]:
		    names, at = [], event.get("sf")
		    while at is not None:
		        names.append(trace["stackFrames"][str(at)]["name"])
		        at = trace["stackFrames"][str(at)].get("parent")
		    print(event["name"], event.get("ts"), "; ".join(names))
	END
	said 'refilled 2.0 refill (cache.c:1); serve (cache.c:2); loop (cache.c:4)'
	said 'refilled 4.0 refill (cache.c:1); store (cache.c:3)'
	said 'job_begin 3.0 '
	make_bars
	run 0 export chrome bars.ptl
	out_lacks stackFrames
}

perfetto_has_the_stack_of_an_event_also_after_a_loss()
{
	perfetto
	make_stacks
	run 0 export perfetto -o stacks.pf stacks.ptl
	check perfetto stacks.pf
	[ "$(grep -cx 'stack refilled loop (cache.c:4);serve (cache.c:2);refill (cache.c:1)' said)" = 3 ] ||
		{ cat said; fail 'not three stacks'; }
	said 'stack refilled store (cache.c:3);refill (cache.c:1)'
	grep -q '^dropped 1\|dropped 1' said || { cat said; fail 'no loss between'; }
}

# 128 bytes of which nobody reads one.
a_set_of_events_is_one_field()
{
	none=$(printf '%0256d' 0)
	make run.ptl <<-END
		event 1000 2 1 0 hex:$none
		event 2000 2 1 0 u32:0x40 u32:5 u32:0 u32:0
		event 3000 6 1 0 u32:0 u32:2
	END
	run 0 export csv run.ptl
	out_has '"{""filter"":""none""}"'
	out_lacks '@data'
	run 0 print --json run.ptl
	out_has '"fields":{"filter":"none"}'
	if [ "$("$PXT_PYTHON" -c 'import sys; print(sys.byteorder)')" = little ]; then
		out_has '"fields":{"filter":"6 32 34"}'
		out_has '"fields":{"old":"none","new":"1"}'
	fi
}

# A kernel's events in a merged log, older than the program's stream.
events_before_the_start_have_negative_times()
{
	make early.ptl 'clock 1000000000 5000000000 1700000000000000000 5000000000' <<-END
		event -3000000000 32 1 0 u32:1
		event -2000000000 33 1 0 u32:1 i64:0
		event 1000000000 36 1 0
	END
	run 0 export chrome early.ptl
	out_has '"ts":-3000000.000,"name":"job"'
	run 0 print --from -2.5 --to -1s --format '{time} {event}' early.ptl
	lines 1
	out_has '-2.000000000 job_end'
	run 0 print --where 'time < -2.5' --format '{event}' early.ptl
	lines 1
	out_has job_begin
}

# A file is written in one reading where that is enough, and taken back where it is not; a pipe needs two.
a_file_has_the_bytes_that_go_through_a_pipe()
{
	perfetto
	make_story
	make_lossy
	# Pairs that overlap; one that only begins; a function, whose name comes last; all three after a bar.
	make overlaps.ptl <<-END
		system_types
		event 1000 32 1 0 u32:1
		event 2000 33 1 0 u32:1 i64:0
		event 3000 32 1 0 u32:2
		event 4000 34 1 0 u64:5
		event 5000 33 1 0 u32:2 i64:0
		event 6000 35 1 0 u64:5
	END
	make begins.ptl <<-END
		event 1000 34 1 0 u64:5
		event 2000 35 1 0 u64:5
		event 3000 32 1 0 u32:1
	END
	make function.ptl <<-END
		system_types
		event 1000 32 1 0 u32:1
		event 2000 26 1 0 u64:0x401000 u64:0x401100
		event 3000 27 1 0 u64:0x401000 u64:0x401100
		event 4000 33 1 0 u32:1 i64:0
	END
	for log in run lossy overlaps begins function; do
		run 0 export perfetto -o file $log.ptl
		run 0 export perfetto $log.ptl
		cmp out file || fail "$log.ptl: other bytes"
		run 0 export chrome -o file $log.ptl begins.ptl
		run 0 export chrome $log.ptl begins.ptl
		cmp out file || fail "$log.ptl: other bytes for chrome"
		run 0 export chrome -o file $log.ptl run.ptl
		run 0 export chrome $log.ptl run.ptl
		cmp out file || fail "$log.ptl: other bytes for chrome, of two"
	done
	# In an archive, where what is taken back is in the middle.
	run 0 export perfetto -o all.tar run.ptl overlaps.ptl lossy.ptl
	tar xf all.tar
	run 0 export perfetto overlaps.ptl
	cmp out 002-*.pftrace || fail 'other bytes in the archive'
}

# ---- CTF 2 ----

ctf2_is_decoded_by_its_own_metadata()
{
	make run.ptl <<-END
		event 1000 2 0 0
		event 100000 32 1 0x401000 u32:1
		event 300000 33 1 0x401010 u32:1 i64:-5000
		event 350000 36 2 0 hex:00ff
		event 400000 37 2 0 f64:0.25 u8:7 text:warm
		loss 12
		event 500000 33 1 0 u32:2
		event 600000 34 2 0 u64:0xdead hex:0a
		cut
		event 700000 32 1 0
		event 800000 37 2 0 f64:0.25 u8:7 hex:ff41
	END
	run 0 export ctf --ctf2 -o ctf run.ptl
	err_has '12 EVENTS LOST'
	check ctf2 ctf
	said 'packet 0 discarded 0'
	said '1700000000000100000 4712 sensor job_begin {"job": 1}'
	said '1700000000000300000 4712 sensor job_end {"job": 1, "late_ns": -5000}'
	said '1700000000000350000 4713 control note {"cut": 0, "_data_length": 2, "data": "00ff"}'
	said '1700000000000400000 4713 control sample {"value": 0.25, "flags": 7, "_label_length": 4, "label": "warm"}'
	said 'packet 1 discarded 12'
	# Less or more than the description tells of: nothing is made up.
	said '1700000000000500000 4712 sensor job_end {"cut": 0, "_data_length": 4, "data": "02000000"}'
	said '1700000000000600000 4713 control mtx_lock {"cut": 0, "_data_length": 9, "data": "adde0000000000000a"}'
	said '1700000000000700000 4712 sensor job_begin {"cut": 1, "_data_length": 0, "data": ""}'
	# A string is UTF-8.
	said '1700000000000800000 4713 control sample {"cut": 0, "_data_length": 11, "data": "000000000000d03f07ff41"}'
}

every_log_is_a_ctf2_trace_of_its_own()
{
	make_story
	make_lossy
	run 0 export ctf --ctf2 -o both run.ptl lossy.ptl
	check ctf2 both/trace-1
	check ctf2 both/trace-2
	said 'packet 1 discarded 12'
	run 0 export ctf --ctf2 -o golden "$golden/be64.ptl"
	check ctf2 golden
	run 1 export ctf --ctf2 --clock ticks -o other run.ptl
	run 1 export ctf --ctf2 --layout kernel -o other run.ptl
	run 4 export ctf --ctf2 -o both run.ptl
	err_has 'is not empty'
}

"$case"
