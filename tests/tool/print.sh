#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace print: conditions, formats, JSON, following.
. "$(dirname "$0")/common.sh"

# Events of two threads with fields of every kind.
make_kinds()
{
	make kinds.ptl <<-END
		type 40 all u8 small, i16 minus, x32 mask, f64 real, u64 huge, text label
		type 41 named u32 pid, i64 time, char[4] code
		event 1000 32 1 0 u32:1
		event 2000 33 1 0 u32:1 i64:-5000
		event 3000 33 2 0 u32:2 i64:2000000
		event 4000 40 2 0 u8:200 i16:-3 u32:0xff00 f64:0.5 u64:18446744073709551615 text:warm
		event 5000 40 1 0 u8:0 i16:7 u32:1 f64:nan u64:9223372036854775808 text:
		event 6000 41 2 0 u32:5 i64:6 hex:41420000
		cut
		event 7000 33 1 0 u32:3
	END
}

# chosen LINES CONDITION: so many events, of those that make_kinds has
chosen()
{
	run 0 print --format '{ns}' --where "$2" kinds.ptl
	[ "$(tr '\n' ' ' <out)" = "$1${1:+ }" ] || fail "not $1: $2"
}

# refused COLUMN WORDS CONDITION: a caret below that column of the condition, counted from 0
refused()
{
	run 1 print --where "$3" kinds.ptl
	err_has "$2"
	caret=$(sed -n 's/^         \( *\)^$/\1/p' err)
	[ "${#caret}" -eq "$1" ] || fail "the caret is at ${#caret}, not $1: $3"
}

# ---- threads and processes ----

# The pthread_t of a thread that has ended is given to the next one.
threads_that_had_one_number_stay_apart()
{
	"$mklog" >run.ptl <<-END || fail mklog
		process 4711 box /opt/app/control
		thread 1 0x7f0000002000 0
		thread 2 0x7f0000002000 0
		thread 3 0x7f0000003000 4711
		type 32 job_begin
		type 33 job_end
		event 1000 32 1 0
		event 2000 33 2 0
		event 3000 32 3 0
		event 4000 33 3 0
	END
	run 0 print run.ptl
	out_has 'thread 0x7f0000002000#1  job_begin'
	out_has 'thread 0x7f0000002000#2  job_end'
	# The first thread of a process is called as its program.
	out_has 'control/4711      job_begin'
	run 0 stat run.ptl
	out_has 'unmatched: 1 begun 1 ended'
	run 0 merge -o merged.ptl run.ptl
	run 0 print --format '{thread}' merged.ptl
	[ "$(sort -u out | wc -l)" -eq 3 ] || fail 'merge makes one of them'
}

# The table was full when it came; the number was that of a thread that had ended.
a_thread_that_found_the_table_full_is_no_other_one()
{
	"$mklog" >run.ptl <<-END || fail mklog
		process 4711 box /opt/app/control
		thread 1 0x7f002000 4712 sensor
		type 32 job_begin
		event 1000 32 1 0
		stranger 0x7f002000 4711
		event 2000 32 65535 0
		stranger 0x7f002000 4713
		event 3000 32 65535 0
	END
	run 0 print --format '{thread}' run.ptl
	printf '%s\n' sensor/4712 'thread 0x7f002000' 'thread 0x7f002000 of 4713' |
		cmp -s - out || fail 'names'
	run 0 print --thread sensor run.ptl
	[ "$(wc -l <out)" -eq 1 ] || fail 'chosen by the name of another one'
	run 0 print --thread 4712 run.ptl
	[ "$(wc -l <out)" -eq 1 ] || fail 'chosen by the number of another one'
	run 0 print --json run.ptl
	[ "$(grep -c '"tid":4712' out)" -eq 1 ] || fail 'the tid of another one'
	run 0 export csv run.ptl
	[ "$(grep -c ',4711,4712,' out)" -eq 1 ] || fail 'the tid of another one in a table'
	run 0 merge -o merged.ptl run.ptl
	run 0 print --format '{thread}' merged.ptl
	[ "$(grep -c sensor out)" -eq 1 ] || fail 'merge makes one of them'
}

# LPT-25.  65536 and more: what failed; below: ENOSPC, EOWNERDEAD, EAGAIN, and one of a later library.
an_error_inside_is_told_in_words()
{
	make run.ptl <<-END
		event 1000 1 1 0 u32:65564
		event 2000 1 1 0 u32:131202
		event 3000 1 1 0 u32:196636
		event 4000 1 1 0 u32:262155
		event 5000 1 1 0 u32:6553605
	END
	run 0 print run.ptl
	out_has 'posix_trace_error  flush failed: No space left on device (28)'
	grep -q 'record never completed, passed over: .*wner died (130)' out || fail 'no dead owner'
	out_has 'no more event types: No space left on device (28)'
	out_has 'attach refused: Resource temporarily unavailable (11)'
	grep -q '  failed: I.* error (5)' out || fail 'no unknown cause'
	run 0 print --json run.ptl
	out_has '"error":28,"failed":"log"'
	out_has '"error":130,"failed":"record"'
	out_has '"error":5,"failed":""'
	run 0 export csv run.ptl
	out_has '{""error"":11,""failed"":""attach""}'
}

print_shows_the_process_where_there_are_several()
{
	make run.ptl <<-END
		event 1000 36 1 0
		stranger 0x7f0000009000 815
		event 2000 36 65535 0
	END
	run 0 print run.ptl
	tail -1 out | grep -q '815  *thread 0x7f0000009000' || fail 'no 815'
	make one.ptl <<-END
		event 1000 36 1 0
	END
	run 0 print one.ptl
	out_lacks '4711 '
	run 0 print one.ptl run.ptl
	grep -q ' 4711  *sensor/4712' out || fail 'no 4711'
	grep -q ' 815  *thread 0x7f0000009000' out || fail 'the process is that of the log'
}

# ---- conditions ----

# QNX-46
where_compares_fields_with_numbers()
{
	make_kinds
	chosen 3000 'late_ns > 1000000'
	chosen '2000 3000' 'late_ns != 0'
	chosen 2000 'late_ns == -5000'
	chosen '2000 3000' 'late_ns >= -5000'
	chosen 2000 'late_ns<-4999'
	chosen 3000 '1000 < late_ns'
	chosen '1000 2000' 'job = 1'
	chosen 4000 'mask == 0xFF00'
	chosen 4000 'small == 200'
	chosen 4000 'minus < 0'
}

where_takes_durations_as_nanoseconds()
{
	make_kinds
	chosen 3000 'late_ns > 1ms'
	chosen 3000 'late_ns == 2000us'
	chosen 3000 'late_ns == 0.002s'
	chosen 3000 'late_ns > 1.5ms'
	chosen 2000 'late_ns == -5us'
	chosen '' 'late_ns > 1min or late_ns > 1h'
	chosen '5000 6000 7000' 'time > 4us'
	# A plain number is seconds, as with --from.
	chosen '5000 6000 7000' 'time > 0.000004'
	chosen '5000 6000 7000' '0.000004 < time'
	chosen '5000 6000 7000' 'time > 4e-6'
	chosen '' 'time > 4'
}

where_compares_numbers_exactly_whatever_their_signs()
{
	make_kinds
	chosen 4000 'huge == 18446744073709551615'
	chosen 4000 'huge > 9223372036854775808'
	chosen 5000 'huge == 9223372036854775808'
	chosen '4000 5000' 'huge > -1'
	chosen '4000 5000' 'huge > minus'
	chosen 4000 'huge > 1.8e19'
	chosen '' 'huge < 0'
}

where_compares_floats()
{
	make_kinds
	chosen 4000 'real == 0.5'
	chosen 4000 'real > 0.25 and real < 7.5e-1'
	chosen 4000 'real > 0'
	chosen 5000 'real != real'
	chosen 4000 'real'
}

where_compares_texts_and_patterns()
{
	make_kinds
	chosen '1000' 'event == "job_begin"'
	chosen '1000 2000 3000 7000' "event ~ 'job_*'"
	chosen '4000 5000 6000' 'event !~ "job_*"'
	chosen 4000 'label == "warm"'
	chosen 4000 'label == "wa\x72m"'
	chosen 4000 'label > "wa"'
	chosen 5000 'label == ""'
	chosen 4000 'label'
	chosen 6000 'code == "AB"'
	chosen 6000 'code ~ "?B"'
	chosen '3000 4000 6000' 'thread == "control"'
}

where_knows_what_an_event_has_beside_its_fields()
{
	make_kinds
	chosen '1000 2000 5000 7000' 'tid == 4712'
	chosen '1000 2000 3000 4000 5000 6000 7000' 'pid == 4711 and cpu == 1'
	chosen 1000 'bytes == 4 and not cut'
	chosen 7000 'cut'
	chosen 7000 'cut == 1'
	chosen '' lost
	make_lossy
	run 0 print --where 'lost > 10' --format '{ns} {lost}' lossy.ptl
	out_has '5000 12'
}

where_takes_a_field_with_a_dot_where_a_built_in_has_its_name()
{
	make_kinds
	chosen 6000 '.pid == 5'
	chosen 6000 '.time == 6'
	chosen '' 'pid == 5'
}

where_joins_and_groups_conditions()
{
	make_kinds
	chosen '2000 3000' 'job == 1 and late_ns < 0 or job == 2'
	chosen '2000 3000' '(job == 1 && late_ns < 0) || job == 2'
	chosen '' 'job == 1 and (late_ns > 0 or job == 2)'
	chosen '1000 2000' 'not job != 1'
	chosen '1000 2000' '!(job > 1)'
	chosen 3000 'not not late_ns > 1ms'
}

# What an event does not have is neither true nor false.
where_chooses_no_event_without_the_field()
{
	make_kinds
	chosen 2000 'not late_ns > 1ms'
	chosen '2000 3000' 'has late_ns'
	chosen '1000 7000' 'has job and not has late_ns'
	chosen '' 'late_ns == "text"'
	chosen '2000 4000 5000' 'late_ns == -5000 or event == "all"'
}

where_says_at_which_place_it_does_not_understand()
{
	make_kinds
	refused 0 'an empty condition' ''
	refused 10 'to be expected' 'late_ns > '
	refused 13 'ns, us, ms' 'late_ns > 100sec'
	refused 13 'ns, us, ms' 'late_ns > 1e5ms'
	refused 13 'ns, us, ms' 'late_ns > 0xfms'
	refused 10 'has no room' 'late_ns > 99999999999999999999'
	refused 10 'finer than a nanosecond' 'late_ns > 0.5ns'
	refused 10 'two hex digits' 'label == "\q"'
	refused 9 'has no end' 'label == "warm'
	refused 0 'is not closed' '(late_ns > 1'
	refused 11 'never opened' 'late_ns > 1)'
	refused 12 'to be expected' 'late_ns > 1 2'
	refused 12 'only two things' 'late_ns > 1 < 5'
	refused 12 'cannot be compared' '(late_ns>1) == 3'
	refused 9 'wants quotes' 'event == job_end'
	refused 8 'compared with a text' 'event > 5'
	refused 9 'wants a "pattern"' 'thread ~ 5'
	refused 4 'behind "has"' 'has 5'
	refused 0 'means nothing' '%'
	refused 10 'at most 63' "late_ns > $(printf '%064d' 0 | tr 0 a)"
}

where_bounds_what_it_takes()
{
	make_kinds
	deep=$(printf '%040d' 0 | tr 0 '(')
	refused 32 'too many parentheses' "$deep"
	many=$(printf 'job==1 or %.0s' $(seq 70))
	run 1 print --where "$many job==1" kinds.ptl
	err_has 'more than 64'
	run 1 print --where "$(printf '%5000d' 1)" kinds.ptl
	err_has 'too long'
	run 1 print --where 'job==1' --where 'job==2' kinds.ptl
	err_has 'stands twice'
}

# A name that nothing has is told, with those that there are, and the answer is what it is.
names_that_no_thread_process_or_field_has_are_told()
{
	make_kinds
	for command in print stat 'export csv' 'report -o page'; do
		run 2 $command --thread nosuch kinds.ptl
		err_has '--thread: no thread is called "nosuch"'
		err_has 'kinds.ptl has: sensor control'
		run 2 $command --thread sensor --thread 99 kinds.ptl
		err_has '--thread: no thread is called "99"'
		run 2 $command --pid 1 kinds.ptl
		err_has '--pid: no event is of process 1'
		err_has 'kinds.ptl was written by 4711'
		run 0 $command --from 1h kinds.ptl
		err_has '--from: that is behind the last event, which came 0.000007000 s after the start'
		run 0 $command --from 2100-01-01T00:00:00Z kinds.ptl
		err_has '--from: that is behind the last event'
		run 2 $command --where 'lat_ns > 3' kinds.ptl
		err_has '--where: no event has a field called "lat_ns"; did you mean "late_ns"?'
		err_has 'job late_ns'
		run 2 $command --event 'job_*' --event nosuch kinds.ptl
		err_has '--event: no event type is called "nosuch"'
		run 2 $command --where 'event == "jobend" or thread ~ "c*" or thread == "sensr"' kinds.ptl
		err_has '--where: no event type is called "jobend"; did you mean "job_end"?'
		err_has '--where: no thread is called "sensr"; did you mean "sensor"?'
		[ "$(grep -c called err)" -eq 2 ] || fail 'more than the two'
		run 2 $command --event end kinds.ptl
		err_has 'did you mean "job_end"?'
	done
	for command in 'stat --pair job_begin,job_ent' 'report -o page --pair job_begin,job_ent'; do
		run 2 $command kinds.ptl
		err_has '--pair: no event type is called "job_ent"; did you mean "job_end"?'
	done
	run 2 print --fields late_ns,nosuch kinds.ptl
	err_has '--fields: no event has a field called "nosuch"'
	err_has 'kinds.ptl has: job late_ns'
	run 2 print --format '{event} {field:nosuch} {field:job}' kinds.ptl
	err_has '--format: no event has a field called "nosuch"'
	[ "$(grep -c 'no event has' err)" -eq 1 ] || fail 'more than one'
	run 2 print --format '{field:nosuch} {field:nosuch}' kinds.ptl
	[ "$(grep -c 'no event has' err)" -eq 1 ] || fail 'told twice'
	run 2 export csv --field late_ns --field nosuch kinds.ptl
	err_has '--field: no event has a field called "nosuch"'
	run 2 report -o page.html --counter '*.late_ns' --counter label kinds.ptl
	err_has '--counter: no event has a numeric field called "label"'
	[ "$(grep -c 'no event has' err)" -eq 1 ] || fail 'more than one'
	run 2 why --thread nosuch kinds.ptl
	out_has 'No span like that'
	err_has '--thread: no thread is called "nosuch"'
	run 2 why --json --pid 1 kinds.ptl
	err_has '--pid: no event is of process 1'
}

# What is there but was not chosen, or not read, is no mistake.
names_that_something_has_are_no_mistake()
{
	make_kinds
	for option in '--thread sensor' '--thread 4712' '--thread c*l' '--pid 4711' '--from 0.000007' '--event job_end' \
		'--to 0.000001 --thread control' '--thread control --event named --pid 4711'; do
		for command in print stat 'export csv' 'report -o page'; do
			run 0 $command $option kinds.ptl
			[ ! -s err ] || fail "a message without need: $command $option"
		done
	done
	run 0 print --where 'late_ns > 5ms' kinds.ptl
	[ ! -s err ] || fail 'a message without need'
	run 0 print --fields label,data,rest --format '{field:code}' kinds.ptl
	[ ! -s err ] || fail 'a message without need'
	# Behind the limit nobody looked.
	run 0 print --limit 1 --thread sensor --thread 5 --pid 4711 --pid 5 --from 0 kinds.ptl
	[ ! -s err ] || fail 'a message without need'
}

a_log_that_is_named_twice_is_refused()
{
	make_story
	ln -s run.ptl other.ptl
	run 1 print run.ptl other.ptl
	err_has 'other.ptl is the same log as run.ptl'
}

# Of several logs one is enough.
names_that_one_of_several_logs_has_are_no_mistake()
{
	make_kinds
	head_recipe='process 5 h /bin/x
thread 1 0x1000 7 other
type 32 else u32 lone'
	make more.ptl 'uuid 2' <<-END
		event 9000000 32 1 0 u32:1
	END
	for command in print 'export csv' stat; do
		run 0 $command --thread other --thread sensor --pid 5 --pid 4711 --from 0.0001 --where 'lone or job' \
			kinds.ptl more.ptl
		[ ! -s err ] || fail "a message without need: $command"
	done
	run 0 merge kinds.ptl more.ptl -o both.ptl
	run 2 print --pid 5 both.ptl
	err_has 'both.ptl does not say of which process it is'
	for command in print stat; do
		run 2 $command --thread nosuch kinds.ptl more.ptl
		err_has 'kinds.ptl has: sensor control'
		err_has 'more.ptl has: other'
	done
	run 0 stat --pair job_begin,else --pair else,job_end kinds.ptl more.ptl
	[ ! -s err ] || fail 'a pair of two logs'
}

pid_chooses_by_process()
{
	make_kinds
	run 0 print --pid 4711 kinds.ptl
	lines 7
	run 2 print --pid 4712 --pid 4713 kinds.ptl
	lines 0
	run 1 print --pid init kinds.ptl
	err_has '--pid wants the number of a process'
}

stat_counts_what_where_and_pid_choose()
{
	make_kinds
	run 0 stat --where 'late_ns > 1ms' kinds.ptl
	out_has 'job_end'
	out_lacks 'job_begin'
	run 2 stat --pid 1 kinds.ptl
	out_lacks 'job_begin'
}

# ---- formats ----

# QNX-53: a line in the form of that system's printer, which takes its format from the user, too.
format_replaces_what_stands_in_braces()
{
	make_kinds
	run 0 print --limit 3 --format 't:0x{ticks:08x} CPU:{cpu:02} {event}: {fields}' kinds.ptl
	cat >expected <<-END
		t:0x000003e8 CPU:01 job_begin: job=1
		t:0x000007d0 CPU:01 job_end: job=1  late_ns=-5000
		t:0x00000bb8 CPU:01 job_end: job=2  late_ns=2000000
	END
	same expected
}

format_knows_every_conversion_of_its_help()
{
	make_kinds
	run 0 print --help
	conversions=$(sed -n '/^      --format/,/^      --json/p' out | grep -o '{[a-z]*}' | sort -u)
	[ "$(echo "$conversions" | wc -l)" -ge 19 ] || fail 'the help names too few'
	for conversion in $conversions '{field:job}'; do
		run 0 print --format "$conversion" kinds.ptl
		lines 7
	done
	run 0 print --limit 1 --format '{time} {utc} {ns} {thread} {threadname} {tid} {pid} {id} {bytes} {data} {log}' kinds.ptl
	out_has '0.000001000 2023-11-14T22:13:20.000001000Z 1000 sensor/4712 sensor 4712 4711 32 4 01000000 kinds.ptl'
}

format_shows_fields_in_their_usual_form()
{
	make_kinds
	run 2 print --event all --format '{field:small}|{field:minus}|{field:mask}|{field:real}|{field:label}|{field:none}' kinds.ptl
	cat >expected <<-END
		200|-3|0xff00|0.5|warm|-
		0|7|0x1|nan||-
	END
	same expected
}

format_widths_fill_with_spaces_or_zeros()
{
	make_kinds
	run 2 print --where 'has late_ns' --format '[{event:10}][{field:late_ns:>9}][{field:late_ns:09}][{tid:x}][{field:none:03}]' kinds.ptl
	cat >expected <<-END
		[job_end   ][    -5000][-00005000][1268][  -]
		[job_end   ][  2000000][002000000][1269][  -]
	END
	same expected
}

format_keeps_braces_and_escapes()
{
	make_kinds
	run 0 print --limit 1 --format '{{{event}}}\t\\\n|' kinds.ptl
	printf '{job_begin}\t\\\n|\n' >expected
	same expected
}

format_says_at_which_place_it_does_not_understand()
{
	make_kinds
	for wrong in '{tim}' '{' '}' 'a{event' '\q' '{event:}' '{event:abc}' '{event:999}' '{field}' '{field:}' '{}'; do
		run 1 print --format "$wrong" kinds.ptl
		err_has '--format: '
		grep -q '^ *^$' err || fail "no caret: $wrong"
	done
	run 1 print --format '{evnt}' kinds.ptl
	err_has 'did you mean {event}?'
	run 1 print --format '{event}' --json kinds.ptl
	err_has 'choose one'
}

# ---- JSON ----

python() { "${PXT_PYTHON:-python3}" -c "$@" || fail 'python says no'; }

json_lines_hold_what_the_events_hold()
{
	make_kinds
	run 0 print --json kinds.ptl
	python '
import json, math
e = [json.loads(line) for line in open("out")]
assert len(e) == 7, len(e)
assert e[0] == {"time": 0.000001, "pid": 4711, "tid": 4712, "thread": "sensor", "cpu": 1,
                "event": "job_begin", "fields": {"job": 1}}, e[0]
assert e[1]["fields"] == {"job": 1, "late_ns": -5000}
assert e[3]["fields"] == {"small": 200, "minus": -3, "mask": 0xff00, "real": 0.5,
                          "huge": 18446744073709551615, "label": "warm"}
assert e[4]["fields"]["real"] == "nan" and e[4]["fields"]["label"] == ""
assert e[5]["fields"]["code"] == "AB"
assert e[6]["cut"] is True and e[6]["fields"] == {"job": 3}'
	run 0 print --json --utc --delta --limit 1 kinds.ptl
	python '
import json
e = json.loads(open("out").read())
assert e["time"] == "2023-11-14T22:13:20.000001000Z" and e["delta"] == 0'
	run 0 print --json --raw --fields late_ns --where 'has late_ns' --limit 1 kinds.ptl
	python '
import json
e = json.loads(open("out").read())
assert e["ticks"] == 2000 and e["fields"] == {"late_ns": -5000}'
}

json_lines_tell_losses_where_they_happened()
{
	make run.ptl <<-END
		event 1000 32 1 0 u32:1
		loss 12
		event 5000 33 1 0 u32:1 i64:0
		lost 3
	END
	run 0 print --json run.ptl
	python '
import json
e = [json.loads(line) for line in open("out")]
assert e[1] == {"time": 0.000005, "lost": 12} and e[3] == {"lost": 3}, e'
}

# Every byte in names, texts and data, each line read by another program.
json_is_valid_whatever_the_bytes()
{
	python '
bad = "".join("\\x%02x" % b for b in range(1, 256))
print("process 1 h /bin/x")
for i in range(0, 255, 15):
    print("thread %d 0x%x 0 %s" % (i // 15 + 1, 4096 + i, bad[4 * i:4 * i + 60]))
    print("type %d t%s text t" % (32 + i // 15, bad[4 * i:4 * i + 60].replace("\\x20", "_")))
print("type 60 raw")
for i in range(17):
    print("event %d %d %d 0 hex:%s" % (i, 32 + i, i + 1, bytes(range(256)).hex()))
    print("event %d 60 %d 0 hex:%s" % (i, i + 1, bytes(range(256)).hex()))
    print("event %d %d %d 0 hex:e280ae%02x%02x" % (i, 32 + i, i + 1, 0xc0 + 3 * i, 0x80 + i))' >recipe
	"$mklog" <recipe >run.ptl || fail mklog
	run 0 print --json run.ptl
	python '
import json
lines = open("out", "rb").read().split(b"\n")
assert lines.pop() == b"" and len(lines) == 51, len(lines)
for line in lines:
    assert not any(b < 32 or b == 127 for b in line), line
    text = line.decode("utf-8")
    assert not any("\x80" <= c < "\xa0" or c in "\u202e\u2028" for c in text)
    e = json.loads(text)
    if e["event"] == "raw":
        assert bytes.fromhex(e["data"]) == bytes(range(256))
seen = json.loads(lines[0])
assert seen["fields"]["t"][:128] == "".join(chr(b) for b in range(128))'
}

# ---- following ----

follow_shows_events_and_losses_while_the_log_grows()
{
	make_lossy
	size=$(wc -c <lossy.ptl)
	# In pieces, none of them a whole block.
	head -c 700 lossy.ptl >grow.ptl
	"$pxtrace" print --follow --where 'has job' --format '{event} {field:job}' grow.ptl >out 2>err &
	reader=$!
	at=700
	while [ "$at" -lt "$size" ]; do
		tail -c +$((at + 1)) lossy.ptl | head -c 999 >>grow.ptl
		at=$((at + 999))
		sleep 0.02
	done
	wait "$reader" || fail 'exit status'
	printf '%s\n' 'job_begin 1' '*** 12 EVENTS LOST HERE ***' 'job_end 1' 'job_begin 2' 'job_end 2' >expected
	same expected
}

follow_writes_each_event_as_soon_as_it_is_there()
{
	make part.ptl <<-END
		unfinished
		event 1000 32 1 0 u32:1
	END
	"$pxtrace" print --follow --json part.ptl >out 2>err &
	reader=$!
	until_has out '"event":"job_begin"'
	kill "$reader"
	wait "$reader" 2>/dev/null
	out_has '"event":"job_begin"'
}

# A block of its own for each of four events, the second one spoilt; without trailer.
make_damaged()
{
	make damaged.ptl <<-END
		event 1000 32 1 0 u32:1
		flush
		event 2000 32 1 0 u32:2
		flush
		event 3000 32 1 0 u32:3
		flush
		event 4000 32 1 0 u32:4
		unfinished
	END
	flip damaged.ptl $(($(data_blocks damaged.ptl | sed -n 2p) + 100))
}

damage_in_a_growing_log_is_told_and_what_follows_is_shown()
{
	make_damaged
	run 2 print --incomplete --format '{event} {field:job}' damaged.ptl
	err_has 'damaged.ptl: DAMAGED at byte'
	err_has 'the checksum of a block is wrong'
	out_has 'job_begin 1'
	out_has 'job_begin 3'
	out_has 'job_begin 4'
	out_lacks 'job_begin 2'
	err_has '1 EVENTS LOST'
	run 2 stat --incomplete damaged.ptl
	[ "$(grep -c DAMAGED err)" -eq 1 ] || fail 'not told once'
}

follow_waits_for_the_head_of_a_file_that_is_empty_yet()
{
	make_story
	: >grow.ptl
	"$pxtrace" print --follow --format '{event}' grow.ptl >out 2>err &
	follower=$!
	until_has err 'grow.ptl: is empty: waiting for a log in it' || fail 'it does not wait'
	cat run.ptl >>grow.ptl
	wait "$follower" || fail "exit status $?: $(cat err)"
	lines 7
}

follow_shows_what_a_pipe_brings_before_it_ends()
{
	make part.ptl <<-END
		unfinished
		event 1000 32 1 0 u32:1
	END
	mkfifo pipe
	"$pxtrace" print --follow --json pipe >out 2>err &
	reader=$!
	exec 3>pipe
	head -c 300 part.ptl >&3
	sleep 0.1
	tail -c +301 part.ptl >&3
	until_has out '"event":"job_begin"' || fail 'it is not shown'
	exec 3>&-
	wait "$reader" || fail 'exit status'
	err_has 'incomplete'
	make_story
	"$pxtrace" print --follow - <run.ptl >out 2>err || fail 'exit status'
	lines 7
	run 2 print --follow - </dev/null
	err_has 'the file is empty'
}

# LPT-96
from_and_to_choose_from_a_log_of_several_files()
{
	make_rotated
	"$pxtrace" print run.ptl >whole 2>err || fail 'cannot be read'
	lines=$(wc -l <whole)
	for tenth in 1 3 5 7 9; do
		from=$(awk "NR == int($lines * $tenth / 10) { print \$1 }" whole)
		to=$(awk "NR == int($lines * $tenth / 10) + 100 { print \$1 }" whole)
		awk -v from="$from" -v to="$to" '$1 + 0 >= from + 0 && $1 + 0 <= to + 0' whole >expected
		run 0 print --from "$from" --to "$to" run.ptl
		same expected
	done
}

# LPT-96: the oldest files are removed meanwhile, however many.
what_went_before_follow_came_to_it_is_lost()
{
	make_rotated
	mkdir aside
	mv run.ptl/run.ptl.* aside
	mv aside/run.ptl.0001 run.ptl
	: >run.ptl/run.ptl.0002
	: >out
	"$pxtrace" print --follow --format '{event} {field:number}' run.ptl >out 2>err &
	follower=$!
	n=0
	while [ ! -s out ] && [ $n -lt 300 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	mv aside/run.ptl.0004 run.ptl/run.ptl.0031
	mv aside/run.ptl.0003 run.ptl/run.ptl.0030
	rm run.ptl/run.ptl.0002
	wait $follower || fail 'it did not end well'
	lost=$(sed -n 's/.*: \(.* EVENTS LOST .*\)/\1/p' err)
	[ -n "$lost" ] || fail 'nothing is said of it'
	"$pxtrace" print --format '{event} {field:number}' run.ptl >expected 2>err || fail 'cannot be read'
	err_has "$lost"
	same expected
}

# LPT-96
a_log_has_more_files_than_a_program_begins_with_room_for()
{
	make_rotated
	run 0 print --format '{event} {field:number}' run.ptl
	cp out expected
	files=$(ls run.ptl | wc -l)
	(
		ulimit -S -n $((2 * files + 2))
		exec "$pxtrace" print --format '{event} {field:number}' run.ptl
	) >out 2>err || fail 'cannot be read'
	same expected
}

# LPT-96
a_folder_whose_only_file_is_empty_holds_no_log()
{
	mkdir run.ptl
	: >run.ptl/run.ptl.0001
	run 2 print run.ptl
	err_has 'nothing was written after this file was made'
	run 2 stat run.ptl/run.ptl.0001
	run 2 merge -o new.ptl run.ptl
}

# LPT-96
follow_goes_on_in_the_next_file()
{
	make_rotated
	run 0 print --format '{event} {field:number}' run.ptl
	cp out expected
	mkdir aside
	mv run.ptl/run.ptl.* aside
	mv aside/run.ptl.0001 run.ptl
	# The next file is made before the end of this one is written.
	: >run.ptl/run.ptl.0002
	: >out
	"$pxtrace" print --follow --format '{event} {field:number}' run.ptl >out 2>err &
	follower=$!
	n=0
	while [ ! -s out ] && [ $n -lt 300 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	kill -0 $follower || fail 'it did not wait'
	mv aside/run.ptl.0002 aside/new
	mv aside/run.ptl.* run.ptl
	mv aside/new run.ptl/run.ptl.0002
	wait $follower || fail 'it did not end well'
	same expected
}

"$case"
