#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace stat: histograms, the longest spans, slices of time, forms for programs, bounds; pxtrace report: its page.
. "$(dirname "$0")/common.sh"

# 300 calls of 1 to 300 us, one each millisecond.
make_calls()
{
	awk 'BEGIN { for (i = 1; i <= 300; i++)
		printf "event %d 38 1 0\nevent %d 39 1 0\n", i * 1000000, i * 1000000 + i * 1000 }' | make run.ptl
}

stat_shows_the_tail_of_durations()
{
	awk 'BEGIN { for (i = 1; i <= 2000; i++)
		printf "event %d 38 1 0\nevent %d 39 1 0\n", i * 1000000, i * 1000000 + i }' | make run.ptl
	run 0 stat --ns run.ptl
	# MIN MEDIAN MEAN STDDEV P99 P99.9 MAX
	grep -q '^call_enter .. call_exit  *2000  *1  *1000  *1001  *577  *1980  *1998  *2000$' out || fail quantiles
}

stat_histogram_counts_each_length_once()
{
	make_calls
	run 0 stat --ns --histogram run.ptl
	grep -q '^ *65536 [.][.]  *131072  *66  *22.0%  ##*$' out || fail 'not 66 from 65.536 to 131.072 us'
	[ "$(awk '/%  #/ && / [.][.] / { n += $4 } END { print n }' out)" = 300 ] || fail 'the bars do not add up'
}

stat_histogram_fits_a_narrow_terminal()
{
	make_calls
	COLUMNS=60 "$pxtrace" stat --histogram run.ptl >out || fail 'exit status'
	grep -q '%  ##########$' out || fail 'no bar'
	awk 'length > 60 && / [.][.] /' out | grep . && fail 'too wide'
	COLUMNS=200 "$pxtrace" stat --histogram run.ptl >out || fail 'exit status'
	grep -q '%  ########################################$' out || fail 'a bar is cut where there is room'
}

# A length that is a border, also the longest one, belongs to the part that begins there; 0 to the first.
stat_histogram_counts_lengths_at_borders_once()
{
	for lengths in '1000 1024' '1024' '0 1' '0' '1' '2 4 8' '4096 5120 6144 7168 8192' '1023 1025'; do
		t=0
		for length in $lengths; do
			t=$((t + 1000000))
			printf 'event %d 38 1 0\nevent %d 39 1 0\n' $t $((t + length))
		done | make run.ptl
		run 0 stat --ns --histogram run.ptl
		set -- $lengths
		[ "$(awk '/ [.][.] / && /%/ && !/_/ { n += $4 } END { print n }' out)" = $# ] ||
			fail "not all of $lengths"
	done
	out_has ' 896 ..        1024           1'
}

# From the exact values to the histogram of parts, the bars stay what they are.
stat_histogram_of_many_durations_counts_them_all()
{
	awk 'BEGIN { for (i = 1; i <= 20000; i++) { t += 100000;
		printf "event %.0f 38 1 0\nevent %.0f 39 1 0\n", t, t + 1024 + i % 3000 } }' | make run.ptl
	run 0 stat --ns --histogram run.ptl
	out_has '~'
	[ "$(awk '/ [.][.] / && /%/ && !/_/ { n += $4 } END { print n }' out)" = 20000 ] || fail 'the bars do not add up'
}

stat_top_shows_what_happened_in_the_longest()
{
	make run.ptl <<-END
		event 1000 32 1 0 u32:1
		event 1500 33 1 0 u32:1 i64:-5
		event 2000 32 1 0 u32:2
		event 2100 36 1 0 text:slow
		event 2200 34 2 0 u64:7
		event 2300 36 2 0
		event 5000 33 1 0 u32:2 i64:99
		event 9000 35 2 0 u64:7
	END
	run 0 stat --top 2 run.ptl
	grep -A 20 '^LONGEST' out >longest
	cat >expected <<-END
		LONGEST
		    1. 6.80 us  mtx_lock .. mtx_unlock  control/4713  at     0.000002200
		        +0 ns         mtx_lock  lock=0x7
		        +100 ns       note
		        +6.80 us      mtx_unlock  lock=0x7
		        meanwhile 1 events of other threads
		    2. 3.00 us  job_begin .. job_end  sensor/4712  at     0.000002000
		        +0 ns         job_begin  job=2
		        +100 ns       note  data[4]=73 6c 6f 77 |slow|
		        +3.00 us      job_end  job=2  late_ns=99
		        meanwhile 2 events of other threads
	END
	cmp -s longest expected || { diff expected longest; fail 'the longest are others'; }
	run 1 stat --top 0 run.ptl
	err_has '--top wants a number'
}

stat_top_keeps_the_longest_of_many()
{
	make_calls
	run 0 stat --top 3 --csv run.ptl
	[ "$(awk -F, '$1 == "top" { printf "%s ", $17 }' out)" = '300000 299000 298000 ' ] || fail 'not the longest'
}

# ZEP-45: load per slice of time.
stat_slices_show_events_and_load()
{
	make run.ptl <<-END
		event 1000000 38 1 0
		event 6000000 39 1 0
		event 12000000 38 2 0
		loss 3
		event 55000000 36 1 0
		event 58000000 38 1 0
		event 59000000 39 1 0
	END
	run 0 stat --slice 10ms run.ptl
	grep -A 9 '^SLICES' out | sed 's/ *#*$//' >slices
	cat >expected <<-END
		SLICES of 10.0 ms; load: spans open on average; most by: the thread with most events
		  [1] call_enter .. call_exit
		          START      EVENTS         PER S     LOST LOAD [1]  MOST BY
		    0.000000000           2         200.0        0    0.500  sensor/4712
		    0.010000000           1         100.0        0    0.800  control/4713
		    0.020000000           0           0.0        0    1.000  -                     (3 slices)
		    0.050000000           3         300.0        3    0.600  sensor/4712
	END
	cmp -s slices expected || { diff expected slices; fail 'the slices are others'; }
	COLUMNS=60 "$pxtrace" stat --slice 10ms run.ptl >out || fail 'exit status'
	grep -A 9 '^SLICES' out >slices
	cat >expected <<-END
		SLICES of 10.0 ms; load: spans open on average
		  [1] call_enter .. call_exit
		          START      EVENTS     LOST LOAD [1]
		    0.000000000           2        0    0.500  #########
		    0.010000000           1        0    0.800  ####
		    0.020000000           0        0    1.000  (3 slices)
		    0.050000000           3        3    0.600  #############
	END
	cmp -s slices expected || { diff expected slices; fail 'the slices of a narrow terminal are others'; }
	run 1 stat --slice now run.ptl
	err_has '--slice wants a duration'
}

stat_slices_by_thread_are_the_load_of_each()
{
	make run.ptl <<-END
		event 0 38 1 0
		event 2500000 39 1 0
		event 2500000 38 2 0
		event 10000000 39 2 0
		event 20000000 36 1 0
	END
	run 0 stat --by thread --slice 10ms --csv run.ptl
	grep -q '^slice_pair,run.ptl,call_enter .. call_exit,sensor/4712,1,.*1700000000000000000,1700000000010000000,2500000,.*,0.25.$' out ||
		fail 'no load of sensor'
	grep -q '^slice_pair,run.ptl,call_enter .. call_exit,control/4713,0,.*1700000000000000000,.*,0.75.$' out ||
		fail 'no load of control'
}

# So that those of several logs are the same slices.
stat_slices_can_begin_at_full_seconds()
{
	make run.ptl <<-END
		event 200000000 36 1 0
		event 400000000 36 2 0
		event 500000000 36 2 0
		event 1500000000 36 1 0
	END
	run 0 stat --slice 3s --csv run.ptl
	grep -q '^slice,run.ptl,,,4,.*,1700000000000000000,1700000003000000000,' out || fail 'not from the start of the log'
	run 0 stat --slice 3s --aligned --csv run.ptl
	grep '^slice' out | cut -d, -f1,3,5,9,10 >slices
	# 1,700,000,000 is 2 more than a multiple of 3.
	cat >expected <<-END
		slice,,3,1699999998000000000,1700000001000000000
		slice_thread,control/4713,2,1699999998000000000,1700000001000000000
		slice,,1,1700000001000000000,1700000004000000000
		slice_thread,sensor/4712,1,1700000001000000000,1700000004000000000
	END
	cmp -s slices expected || { diff expected slices; fail 'the slices are others'; }
	run 1 stat --aligned run.ptl
	err_has '--aligned says where slices begin: give their length with --slice'
}

# Of two threads with as many events, the first by name; nobody, where the log names none.
stat_slices_tell_the_busiest_thread()
{
	make run.ptl <<-END
		event 1000000 36 1 0
		event 2000000 36 2 0
		event 12000000 36 0 0
		event 21000000 36 1 0
		event 22000000 36 1 0
		event 23000000 36 2 0
	END
	run 0 stat --slice 10ms --csv run.ptl
	grep '^slice_thread' out | cut -d, -f3,5 | tr '\n' ' ' >who
	[ "$(cat who)" = 'control/4713,1 sensor/4712,2 ' ] || fail "busiest: $(cat who)"
}

stat_tells_the_longest_silence()
{
	make run.ptl <<-END
		event 1000000 38 1 0
		event 6000000 39 1 0
		loss 3
		event 12000000 36 2 0
		event 13000000 36 1 0
		loss 4
		event 63000000 38 1 0
		event 113000000 36 1 0
	END
	run 0 stat run.ptl
	grep -qxF '  silence   at most 50.0 ms, from 0.013000000 on, behind note; 4 EVENTS LOST in it' out || fail 'no silence'
	run 0 stat --csv run.ptl
	grep '^silence' out | cut -d, -f3,8,9,10,17 >silence
	[ "$(cat silence)" = note,4,1700000000013000000,1700000000063000000,50000000 ] || fail "$(cat silence)"
	# Of the events that are chosen; what was lost in between is told, wherever it was told in the log.
	run 0 stat -e call_enter --csv run.ptl
	grep '^silence' out | cut -d, -f3,8,9,10,17 >silence
	[ "$(cat silence)" = call_enter,7,1700000000001000000,1700000000063000000,62000000 ] || fail "$(cat silence)"
	run 0 stat -e call_exit run.ptl
	out_lacks silence
}

a_narrow_terminal_gets_tables_that_fit()
{
	make_story
	COLUMNS=60 "$pxtrace" stat run.ptl >out || fail 'exit status'
	sed -n '/^EVENT/,$p' out | awk 'length > 60' >wide
	[ ! -s wide ] || fail "too wide: $(cat wide)"
	out_has '    COUNT      MEDIAN         P99         MAX'
	out_lacks 'STDDEV'
	out_lacks 'DATA BYTES'
	for columns in 200 0 no -1 60x; do
		COLUMNS=$columns "$pxtrace" stat run.ptl >out || fail 'exit status'
		out_has 'STDDEV'
		out_has 'DATA BYTES'
	done
}

stat_json_and_csv_say_the_same()
{
	make_calls
	run 0 stat --json --histogram --top 2 --slice 100ms run.ptl
	mv out json
	run 0 stat --csv --histogram --top 2 --slice 100ms run.ptl
	"$PXT_PYTHON" - <<-END || fail 'they differ'
		import csv, json
		objects = [json.loads(line) for line in open("json")]
		rows = list(csv.DictReader(open("out", newline="")))
		assert len(objects) == len(rows) > 10
		for one, other in zip(objects, rows):
		    other = {key: value for key, value in other.items() if value != ""}
		    one = {key: value for key, value in one.items() if value != ""}
		    assert set(one) == set(other), (one, other)
		    for key, value in one.items():
		        text = str(value).lower() if isinstance(value, bool) else value
		        assert str(text) == other[key] or float(other[key]) == value, (key, one, other)
		pair = [row for row in objects if row["table"] == "pair"][0]
		assert pair["count"] == 300 and pair["median_ns"] == 150000 and pair["p999_ns"] == 300000
		assert sum(row["count"] for row in objects if row["table"] == "histogram") == 300
	END
}

stat_takes_one_form_for_programs()
{
	make_calls
	run 1 stat --json --csv run.ptl
	err_has 'stat: --json and --csv are two forms: choose one'
	[ ! -s out ] || fail 'one was taken'
}

stat_csv_has_no_formulas()
{
	head_recipe='process 1 h /bin/x
thread 1 0x1000 7 =cmd
type 32 =SUM(A1)
type 33 @x,"y"
type 34 -1+1'
	make run.ptl <<-END
		event 1000 32 1 0
		event 2000 33 1 0
		event 3000 34 1 0
	END
	run 0 stat --csv run.ptl
	out_has "run.ptl,'=SUM(A1),"
	out_has "run.ptl,\"'@x,\"\"y\"\"\","
	out_has "run.ptl,'-1+1,"
	out_has "run.ptl,'=cmd/7,"
	if grep -q ',[=@+-][^,0-9]' out; then fail 'a formula'; fi
}

# Threads and pairs without end, open spans without end, durations of all magnitudes.
no_log_takes_more_memory_of_stat()
{
	count=40000
	[ "$PXT_STRESS" = full ] && count=400000
	{
		i=40
		while [ $i -lt 140 ]; do
			echo "type $i t${i}_begin u32 k"
			echo "type $((i + 500)) t${i}_end u32 k"
			i=$((i + 1))
		done
		awk -v n=$count 'BEGIN { srand(7); for (i = 0; i < n; i++) {
			t += int(exp(rand() * 20)); k = 40 + i % 100;
			printf "stranger %d 1\nevent %.0f %d 1 0 u32:%d\n", i * 7919, t, k, i;
			printf "event %.0f %d 2 0 u32:%d\n", t, k, i % 5000;
			printf "event %.0f %d 2 0 u32:%d\n", t + int(exp(rand() * 30)), k + 500, i % 5000 } }'
	} | make hostile.ptl
	for by in thread field; do
		within 204800 "$pxtrace" stat --by $by --histogram --top 1000 --slice 1s hostile.ptl >out 2>err ||
			fail "out of memory by $by"
	done
	out_has '(others)'
}

# QNX-52
stat_and_check_tell_the_notes_of_the_log()
{
	make run.ptl <<-END
		note load 80 %, without network
		note place \\x1b[31m
		event 1000 32 1 0 u32:1
	END
	run 0 stat run.ptl
	out_has '  notes     load: 80 %, without network'
	out_has '            place: \x1b[31m'
	make_story
	run 0 stat run.ptl
	out_lacks notes
}

stat_tells_the_machine_of_the_log()
{
	make run.ptl 'system 4 x86_64 Linux 6.1' <<-END
		event 1000 32 1 0 u32:1
	END
	run 0 stat run.ptl
	out_has 'x86_64 Linux 6.1, 4 CPUs'
	make run.ptl 'system 1 \x1b[31m' <<-END
		event 1000 32 1 0 u32:1
	END
	run 0 stat run.ptl
	out_has '\x1b[31m, 1 CPU'
	out_lacks '1 CPUs'
	make_story
	run 0 stat run.ptl
	out_lacks 'machine '
}

# ---- report ----

whole_page() { tail -c 20 "$1" | grep -q '</html>' && head -c 15 "$1" | grep -q '<!DOCTYPE html>' || fail "$1 is no whole page"; }

report_writes_a_whole_page()
{
	make_story
	run 0 report run.ptl -o run.html
	[ ! -s out ] && [ ! -s err ] || fail 'it has something to say'
	whole_page run.html
	run 0 report -o - run.ptl
	same run.html
}

report_of_a_log_without_a_name_asks_where_to()
{
	make_story
	run 1 report -o run.html
	err_has 'which log?'
	[ ! -e run.html ] || fail 'a page of nothing'
	run 1 report - <run.ptl
	err_has 'where to? The log has no name: -o run.html'
}

report_without_a_name_for_the_page_puts_it_beside_the_log()
{
	make_story
	mkdir sub
	cp run.ptl sub/run.ptl
	run 0 report sub/run.ptl run.ptl
	[ "$(cat out)" = sub/run.html ] || fail 'its name is not told'
	whole_page sub/run.html
	# It may be made anew; but nothing else is replaced unless it is named.
	run 0 report sub/run.ptl
	echo 'a page of mine' >sub/run.html
	run 1 report sub/run.ptl
	err_has 'sub/run.html is there and is no page of pxtrace: -o sub/run.html replaces it'
	[ "$(cat sub/run.html)" = 'a page of mine' ] || fail 'it was replaced'
	run 0 report sub/run.ptl -o sub/run.html
	whole_page sub/run.html
	cp run.ptl log
	run 0 report log
	whole_page log.html
}

report_does_not_overwrite_the_log_it_reads()
{
	make_story
	cp run.ptl copy
	ln run.ptl other_name
	run 1 report run.ptl -o run.ptl
	err_has 'is the log itself'
	run 1 report run.ptl -o other_name
	cmp -s run.ptl copy || fail 'the log is another one'
}

report_leaves_no_half_page_behind()
{
	make_story
	seq 1 40000 | awk '{ print "event " 1000 * $1 " 36 1 0 hex:" $1 % 10 "7" }' | make long.ptl
	(
		ulimit -f 100
		trap '' XFSZ
		run 4 report long.ptl -o run.html
	) || exit 1
	err_has 'run.html was not written'
	[ ! -e run.html ] || fail 'a half page'
	[ ! -e /dev/full ] || run 4 report run.ptl -o /dev/full
}

report_of_a_log_that_cannot_be_read_is_refused()
{
	make_story
	echo 'this is no log at all' >text.ptl
	run 2 report text.ptl run.ptl -o run.html
	err_has 'text.ptl'
	[ ! -e run.html ] || fail 'a page'
	make half.ptl <<-END
		event 1000 32 1 0 u32:1
		unfinished
	END
	run 2 report half.ptl -o run.html
	err_has '--incomplete'
	run 0 report --incomplete half.ptl -o run.html
	whole_page run.html
	grep -q '"complete":false' run.html || fail 'the page does not know'
}

report_says_what_was_lost_and_what_is_not_on_the_page()
{
	make_lossy
	run 3 report --strict lossy.ptl -o run.html
	err_has '12 EVENTS LOST'
	run 0 report --max-events 2 lossy.ptl -o run.html
	err_has 'the first 2 of 4 events'
	run 1 report --max-events some lossy.ptl -o run.html
	err_has '--max-events wants a number'
	run 1 report --max-events 0 lossy.ptl -o run.html
}

report_takes_the_pairs_that_stat_takes()
{
	make_story
	run 2 report --pair nosuch,job_end run.ptl -o run.html
	err_has '--pair: no event type is called "nosuch"'
	whole_page run.html
	run 2 report --pair job_begin,job_end,nosuch run.ptl -o run.html
	err_has '--pair: no event has a field called "nosuch"'
	run 0 report --pair job_begin,mtx_unlock --any-thread run.ptl -o run.html
	grep -q '"begin":"job_begin","end":"mtx_unlock"' run.html || fail 'no such pair on the page'
}

report_takes_the_roles_of_a_file()
{
	make ask.ptl <<-END
		type 60 got u32 number
		type 61 done u32 number
		event 1000 60 1 0 u32:1
		event 9000 61 1 0 u32:1
	END
	printf 'job-start got span=ask\njob-end done span=ask\n' >roles
	run 0 report --roles roles ask.ptl -o ask.html
	grep -q '"span":"ask 1 of sensor"' ask.html || fail 'no span'
	printf 'job-start got span=ask key=nothing\n' >roles
	run 1 report --roles roles ask.ptl -o other.html
	err_has 'roles:1'
	[ ! -e other.html ] || fail 'a page'
	run 1 report --worst 17 ask.ptl -o other.html
	err_has '--worst'
}

report_explains_the_worst_spans_as_why_does()
{
	{
		printf 'type 60 sched_wakeup i32 tid\nevent 500 60 0 0 i32:4712\nevent 1000 32 1 0 u32:1\n'
		for i in $(seq 40); do
			printf 'event %d 34 1 0 u64:%d\nevent %d 35 1 0 u64:%d\n' "${i}2000" "$i" "${i}5000" "$i"
		done
		printf 'event 900000 33 1 0 u32:1 i64:0\n'
	} | make run.ptl
	run 0 report run.ptl -o run.html
	"$pxtrace" why --json run.ptl | sed 's/.*"late":\[{"answer":"\([^"]*\)".*/\1/' >answer
	grep -qF "\"answer\":\"$(cat answer)\"" run.html || fail 'another answer'
	# What finds no row of its own is one.
	grep -qE '"text":"[0-9]+ other causes"' run.html || fail 'the rest of the time is missing'
	grep -qF '"scheduler":{"deed":"wake","thread":0}' run.html || fail 'a wake-up is not known'
}

"$case"
