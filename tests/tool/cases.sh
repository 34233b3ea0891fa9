#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace from outside: print and stat, losses, wrong files, the command line.
. "$(dirname "$0")/common.sh"

# ---- print ----

print_shows_time_thread_event_and_fields()
{
	make_story
	run 0 print run.ptl
	cat >expected <<-END
		    0.000001000  -                 posix_trace_start
		    0.000100000  sensor/4712       job_begin          job=1
		    0.000150000  control/4713      mtx_lock           lock=0xdead
		    0.000300000  sensor/4712       job_end            job=1  late_ns=-5000
		    0.000400000  control/4713      mtx_unlock         lock=0xdead
		    1.500000000  control/4713      sample             value=0.25  flags=7  label="warm"
		    1.600000000  -                 posix_trace_stop   by call
	END
	same expected
}

print_shows_data_without_description_as_bytes_and_text()
{
	make run.ptl <<-END
		event 1000 36 1 0 text:Hi\\x01 hex:00ff
	END
	run 0 print run.ptl
	out_has 'data[5]=48 69 01 00 ff |Hi...|'
}

print_stops_where_the_data_of_a_cut_event_ends()
{
	make run.ptl <<-END
		cut
		event 1000 33 1 0 u32:5 hex:0a0b
	END
	run 0 print run.ptl
	out_has 'job=5  rest[2]=0a 0b |..|  [cut]'
	out_lacks 'late_ns'
}

# Older logs have one number for both calls of a queue, and one for all that wait for signals.
calls_are_shown_by_the_words_of_their_numbers()
{
	make run.ptl <<-END
		system_types
		event 1000 20 1 0 u16:30 u64:4 u64:8 i64:0
		event 2000 20 1 0 u16:38 u64:4 u64:8 i64:0
		event 3000 20 1 0 u16:39 u64:0 u64:8 i64:0
		event 4000 20 1 0 u16:42 u64:4 u64:8 i64:0
	END
	run 0 print run.ptl
	for word in mq mq_receive sigwait fcntl; do
		out_has "call=$word "
	done
}

print_limits_the_bytes_shown()
{
	make run.ptl <<-END
		event 1000 36 1 0 hex:000102030405
	END
	run 0 print --bytes 2 run.ptl
	out_has '00 01 |..| +4 bytes'
}

print_utc_shows_the_date()
{
	make_story
	run 0 print --utc run.ptl
	out_has '2023-11-14T22:13:20.000100000Z  sensor/4712'
}

print_local_shows_the_offset()
{
	make_story
	TZ=EST5 run 0 print --local run.ptl
	out_has '2023-11-14T17:13:20.000100000-05:00  sensor/4712'
}

print_raw_shows_the_counter()
{
	make_story
	run 0 print --raw run.ptl
	out_has '              100000  sensor/4712'
}

print_delta_shows_the_time_since_the_line_before()
{
	make_story
	run 0 print --delta --event 'job_*' run.ptl
	out_has '0.000300000 +    0.000200000  sensor/4712'
}

print_thread_chooses_by_name_or_number()
{
	make_story
	run 0 print --thread 'sens*' run.ptl
	lines 2
	run 0 print --thread 4713 run.ptl
	lines 3
	narrow || run 0 print --thread 0x7f0000002000 run.ptl
	lines 3
}

print_from_and_to_bound_the_time()
{
	make_story
	run 0 print --from 150us --to 1s run.ptl
	lines 3
	run 0 print --from 2023-11-14T22:13:21Z run.ptl
	lines 2
}

# Both ends belong to it.
from_and_to_may_be_one_instant()
{
	make_story
	run 0 print --from 150us --to 150us run.ptl
	lines 1
	run 0 print --from 150001ns --to 299999ns run.ptl
	lines 0
}

# A thread whose number nobody knows has none, not 0.
threads_without_a_number_are_not_number_0()
{
	head_recipe='process 4711 host /bin/x
thread 1 0x1000 0 named
type 32 job u32 number'
	make run.ptl <<-END
		event 1000 32 1 0 u32:1
	END
	run 0 print --thread named run.ptl
	lines 1
	run 2 print --thread 0 run.ptl
	lines 0
}

a_leap_second_is_a_time_and_the_one_behind_it_none()
{
	make_story
	run 0 print --from 2016-12-31T23:59:60Z run.ptl
	lines 7
	run 1 print --from 2016-12-31T23:59:61Z run.ptl
	err_has 'does not understand the time'
	run 1 print --from 2016-12-31T23:60:00Z run.ptl
	run 1 print --from 2016-12-31T24:00:00Z run.ptl
	run 1 print --from 2016-12-32T00:00:00Z run.ptl
	run 1 print --from 2016-13-01T00:00:00Z run.ptl
	run 1 print --from 2016-00-01T00:00:00Z run.ptl
	run 1 print --from 2016-01-00T00:00:00Z run.ptl
}

print_limit_takes_the_first()
{
	make_story
	run 0 print --limit 2 run.ptl
	lines 2
	out_has job_begin
}

print_tail_takes_the_last()
{
	make_story
	run 0 print --tail 2 run.ptl
	lines 2
	out_has posix_trace_stop
}

print_fields_chooses_fields()
{
	make_story
	run 0 print --fields late_ns run.ptl
	out_has 'job_end            late_ns=-5000'
	out_lacks 'job=1'
	if grep -q ' $' out; then fail 'a line ends in a space'; fi
}

print_merges_logs_by_time()
{
	make a.ptl <<-END
		event 1000 32 1 0 u32:1
		event 3000 32 1 0 u32:3
	END
	make b.ptl <<-END
		event 2000 32 1 0 u32:2
	END
	run 0 print a.ptl b.ptl
	[ "$(sed 's/.*job=//' out | tr -d '\n')" = 123 ] || fail 'the order is wrong'
}

print_reads_standard_input()
{
	make_story
	"$pxtrace" print - <run.ptl >out 2>err || fail 'exit status'
	lines 7
}

print_address_names_the_function_of_the_same_build()
{
	command -v addr2line >/dev/null && command -v cc >/dev/null && command -v nm >/dev/null || exit 77
	command -v readelf >/dev/null || exit 77
	printf 'int other(void)\n{\n\treturn 1;\n}\nint main(void)\n{\n\treturn other();\n}\n' >prog.c
	cc -g -O0 -no-pie -Wl,--build-id -o prog prog.c 2>/dev/null || exit 77
	id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
	address=$(printf '%d' "0x$(nm prog | sed -n 's/ T main$//p')")
	for build in "$id" 00112233; do
		make run.ptl <<-END
			module 0 0x1000 0x7fffffff $build $here/prog
			event 1000 32 1 $((address + 5)) u32:1
		END
		run 0 print --address run.ptl
		if [ "$build" = "$id" ]; then
			out_has 'main (prog.c:'
		else
			out_has 'prog+0x'
			err_has 'another build'
		fi
	done
}

# Macros and inline functions of the library's headers are no place in the program.
print_address_names_the_line_that_uses_a_typed_point()
{
	need addr2line
	need cc
	cat >prog.c <<-'END'
		#include <fcntl.h>
		#include <trace_np.h>
		POSIX_TRACE_DEFINE_NP(typed, u32, number, text(4), label, string, why);
		POSIX_TRACE_DEFINE_NP(bare);
		POSIX_TRACE_DEFINE_JOB_NP(control);
		static const int six = 6;
		__attribute__((noinline)) static void last(void)
		{
			posix_trace_event_np(posix_trace_point_id_np(typed), &six, 4); /* line 9 */
		}
		__attribute__((noinline)) static void work(unsigned number)
		{
			static struct posix_trace_pieces_np pieces; static char data[8];
			posix_trace_point_np(typed, number, "ab", "cd"); /* line 14 */
			posix_trace_point_np(bare);
			posix_trace_job_begin_np(control, number);
			posix_trace_pieces_begin_np(&pieces, posix_trace_point_id_np(typed), data, sizeof(data));
			posix_trace_pieces_add_np(&pieces, "abcdefgh", 8);
			posix_trace_pieces_end_np(&pieces); /* line 19 */
			last();
		}
		int main(void)
		{
			trace_id_t trid;
			if (posix_trace_create_withlog(0, NULL, open("run.ptl", O_RDWR | O_CREAT | O_TRUNC, 0600), &trid) ||
			    posix_trace_start(trid))
				return 1;
			work(7);
			return posix_trace_shutdown(trid);
		}
	END
	{ printf 'work (prog.c:%d)\n' 14 15 16 19; echo 'last (prog.c:9)'; } >expected
	for build in 'cc -O0 -g' 'cc -O2 -g' 'cc -O2 -g1' 'clang -O0 -g' 'clang -O2 -g' 'c++ -xc++ -O2 -g'; do
		command -v "${build%% *}" >/dev/null || continue
		# shellcheck disable=SC2086
		$build prog.c -I"$PXT_SOURCE/include" -I"$PXT_BUILD/include" -xnone "$PXT_BUILD/libptrace.a" \
			-o prog -pthread -lm 2>/dev/null && ./prog || { echo "not by $build here: skipped"; exit 77; }
		run 0 print --format '{address}' --event typed --event bare --event 'control_*' run.ptl
		# C++ tells parameters, too.
		sed -i 's/^\([a-z]*\).* (prog/\1 (prog/' out
		same expected
	done
}

print_address_shows_module_and_offset_without_binary()
{
	if narrow; then
		exit 77
	fi
	make run.ptl <<-END
		module 0x555500000000 0x555500001000 0x555500009000 - /gone/prog
		event 1000 32 1 0x555500001234 u32:1
	END
	run 0 print --address run.ptl
	out_has 'prog+0x1234  job=1'
}

addresses_of_a_process_that_attached_have_no_names_of_the_owners_images()
{
	if narrow; then
		exit 77
	fi
	make run.ptl <<-END
		process 4711 box /opt/app/owner
		module 0x555500000000 0x555500001000 0x555500009000 - /gone/prog
		event 1000 32 1 0x555500001234 u32:1
		stranger 0x7f0000009000 4712
		event 2000 32 65535 0x555500001234 u32:2
	END
	run 0 print --address run.ptl
	out_has 'prog+0x1234  job=1'
	out_has '0x555500001234  job=2'
}

# ---- losses ----

print_shows_a_loss_where_it_happened()
{
	make_lossy
	run 0 print lossy.ptl
	[ "$(sed -n 2p out)" = '    0.000005000  *** 12 EVENTS LOST HERE ***' ] || fail 'no loss in line 2'
	err_has 'lossy.ptl: 12 EVENTS LOST (4 were kept)'
}

print_hides_no_loss_behind_a_filter()
{
	make_lossy
	run 2 print --event nothing lossy.ptl
	out_has '12 EVENTS LOST HERE'
	err_has 'no event type is called "nothing"'
	err_has 'job_begin'
}

stat_measures_nothing_across_a_loss()
{
	make_lossy
	run 0 stat --ns lossy.ptl
	out_has 'job_begin .. job_end            1        3000        3000        3000           0        3000        3000        3000'
	out_has 'unmatched: 1 ended 1 cut by a loss'
	out_has '12 EVENTS LOST'
}

# ---- stat ----

stat_counts_types_and_threads()
{
	make_story
	run 0 stat run.ptl
	grep -q '^job_begin  *1  *14.3%' out || fail 'no count of job_begin'
	grep -q '^control/4713  *3  *42.9%' out || fail 'no count of control'
}

stat_tells_where_the_log_comes_from()
{
	make_story
	run 0 stat run.ptl
	out_has '/opt/app/control (pid 4711) on box'
	out_has '2023-11-14T22:13:20.000000000Z, for 1.600001 s'
	out_has '"made", FLUSH'
	out_has 'APPEND'
	out_has 'losses    none'
}

stat_measures_all_four_kinds_of_pairs()
{
	make run.ptl <<-END
		type 40 io_start
		type 41 io_end
		event 1000 32 1 0 u32:1
		event 2000 34 1 0 u64:1
		event 3000 38 1 0
		event 4000 40 1 0
		event 4100 41 1 0
		event 5000 39 1 0
		event 6000 35 1 0 u64:1
		event 7000 33 1 0 u32:1 i64:0
	END
	run 0 stat --ns run.ptl
	grep -q '^job_begin .. job_end  *1  *6000 ' out || fail begin
	grep -q '^mtx_lock .. mtx_unlock  *1  *4000 ' out || fail lock
	grep -q '^call_enter .. call_exit  *1  *2000 ' out || fail enter
	grep -q '^io_start .. io_end  *1  *100 ' out || fail start
}

stat_matches_nested_pairs_from_inside()
{
	make run.ptl <<-END
		event 1000 38 1 0
		event 2000 38 1 0
		event 2010 39 1 0
		event 5000 39 1 0
	END
	run 0 stat --ns run.ptl
	grep -q '^call_enter .. call_exit  *2  *10  *10  *2005  *1995  *4000  *4000  *4000$' out || fail 'not 10 and 4000'
}

stat_matches_pairs_within_a_thread_and_has_a_row_for_each_on_request()
{
	make run.ptl <<-END
		event 1000 38 1 0
		event 2000 38 2 0
		event 2500 39 1 0
		event 9000 39 2 0
	END
	run 0 stat --ns run.ptl
	grep -q '^call_enter .. call_exit  *2  *1500 .* 7000$' out || fail 'not 1500 and 7000'
	run 0 stat --ns --by thread run.ptl
	grep -q '^call_enter .. call_exit  sensor/4712  *1  *1500 ' out || fail 'no row of sensor'
	grep -q '^call_enter .. call_exit  control/4713  *1  *7000 ' out || fail 'no row of control'
}

stat_matches_by_an_equal_first_field()
{
	make run.ptl <<-END
		event 1000 34 1 0 u64:1
		event 2000 34 1 0 u64:2
		event 2100 35 1 0 u64:1
		event 9000 35 1 0 u64:2
	END
	run 0 stat --ns run.ptl
	grep -q '^mtx_lock .. mtx_unlock  *2  *1100 .* 7000$' out || fail 'not 1100 and 7000'
	run 0 stat --ns --no-field run.ptl
	grep -q '^mtx_lock .. mtx_unlock  *2  *100 .* 8000$' out || fail 'not 100 and 8000'
	run 0 stat --ns --by field run.ptl
	grep -q '^mtx_lock .. mtx_unlock  lock=0x2  *1  *7000 ' out || fail 'no row of lock 2'
}

stat_pair_measures_what_was_asked_for()
{
	make run.ptl <<-END
		event 1000 36 1 0
		event 4000 32 2 0 u32:1
		event 5000 36 1 0
	END
	run 0 stat --ns --any-thread --pair note,job_begin --pair note,note run.ptl
	grep -q '^note .. job_begin  *1  *3000 ' out || fail 'no note to job_begin'
	grep -q '^note .. note  *1  *4000 ' out || fail 'no note to note'
	run 2 stat --pair note,nope run.ptl
	err_has '--pair: no event type is called "nope"; did you mean "note"?'
	run 0 stat --pair note,job_end run.ptl
	err_has '--pair: no event called "job_end" was read'
}

stat_sketch_stays_within_its_bound()
{
	awk 'BEGIN { for (i = 1; i <= 40000; i++) { t += 100000;
		printf "event %.0f 38 1 0\nevent %.0f 39 1 0\n", t, t + i } }' | make run.ptl
	run 0 stat --ns run.ptl
	grep '^call_enter [.]' out | tr -d '~' | awk '
		function near(a, b) { d = a > b ? a - b : b - a; return d <= b / 250 }
		{ exit !($4 == 40000 && $5 == 1 && near($6, 20000) && near($8, 11547) && near($9, 39600) &&
			near($10, 39960) && $11 == 40000) }' ||
		fail 'beyond 0.4 %'
	out_has '~'
}

# ---- what is not as it should be ----

names_and_texts_cannot_command_the_terminal()
{
	head_recipe='process 1 h\x1b]0;x\x07 /bin/\x1b[2J
thread 1 0x1000 7 a\x1b[31mb
type 32 evil\x1b[2J text t
type 33 \xc2\x9b31m
type 34 \xe2\x80\xaerev'
	make run.ptl <<-END
		event 1000 32 1 0 text:\\x1b[5m\\x7f\\x0d\\xff
		event 2000 33 1 0
		event 3000 34 1 0 text:\\x1b
	END
	for command in print stat; do
		run 0 "$command" run.ptl
		if LC_ALL=C tr -d '\n' <out | LC_ALL=C grep -q '[^ -~]'; then fail 'a byte beyond ASCII text'; fi
	done
	run 0 print run.ptl
	out_has 'a\x1b[31mb/7'
	out_has 'evil\x1b[2J'
	out_has 't="\x1b[5m\x7f\r\xff"'
	run 0 print --format '{thread} {threadname} {event:30} {field:t} {fields}' run.ptl
	if LC_ALL=C tr -d '\n' <out | LC_ALL=C grep -q '[^ -~]'; then fail 'a byte beyond ASCII text'; fi
	out_has 'a\x1b[31mb/7 a\x1b[31mb evil\x1b[2J'
}

well_formed_utf8_passes()
{
	head_recipe='type 32 stra\xc3\x9fe text t'
	make run.ptl <<-END
		event 1000 32 0 0 text:\\xe6\\xbc\\xa2
	END
	run 0 print run.ptl
	out_has "$(printf 'stra\303\237e')"
	out_has "$(printf 't="\346\274\242"')"
}

an_empty_log_is_no_error()
{
	make run.ptl </dev/null
	run 0 print run.ptl
	lines 0
	run 0 stat run.ptl
	out_has '(no events)'
}

a_program_is_explained()
{
	run 2 stat "$(command -v sh)"
	err_has 'it is a program or library'
}

a_missing_file_is_named()
{
	run 2 print nowhere.ptl
	err_has 'nowhere.ptl: No such file or directory'
	err_has 'is its name right'
}

a_directory_is_named()
{
	run 2 print .
	err_has 'is a directory'
}

an_incomplete_log_is_explained_and_can_be_read()
{
	make run.ptl <<-END
		unfinished
		event 1000 32 1 0 u32:1
	END
	run 2 print run.ptl
	err_has 'the log is incomplete: the traced program still runs'
	err_has 'posix_trace_shutdown()'
	run 0 print --incomplete run.ptl
	out_has 'job=1'
	err_has 'incomplete'
	run 0 stat --incomplete run.ptl
	out_has 'INCOMPLETE'
}

# The data of one event of the golden logs are the same bytes in both, not the same numbers.
logs_of_either_byte_order_and_word_size_read_the_same()
{
	"$pxtrace" print "$golden/le64.ptl" 2>err | grep -v '+224 bytes' >expected
	[ "$(wc -l <expected)" -ge 9 ] || fail 'le64.ptl holds too little'
	for log in be64 le32 be32; do
		run 0 print "$golden/$log.ptl"
		grep -v '+224 bytes' out >kept
		mv kept out
		same expected
	done
}

# ---- the command line ----

help_of_every_command_has_an_example()
{
	run 0 --help
	out_has '$ pxtrace print run.ptl'
	[ "$(commands | wc -l)" -ge 2 ] || fail 'no commands'
	for command in $(commands); do
		run 0 "$command" --help
		out_has "  \$ pxtrace $command"
		out_has 'exit status'
		run 0 help "$command"
		out_has 'usage:'
	done
}

# Twice: where the commands are told, and at its end among the pages to see.
the_manual_page_of_pxtrace_leads_to_every_command()
{
	for command in $(commands); do
		sed '/^# SEE ALSO/,$d' "$PXT_SOURCE/docs/man/pxtrace.1.scd" >told
		sed -n '/^# SEE ALSO/,$p' "$PXT_SOURCE/docs/man/pxtrace.1.scd" >see
		grep -Eq "^(pxtrace-.*, )?pxtrace-$command(,.*)? - " "$PXT_SOURCE"/docs/man/*.1.scd || fail "no manual page of $command"
		for part in told see; do
			grep -qF "*pxtrace-$command*(1)" $part || fail "$command is missing (${part})"
		done
	done
}

version_is_told()
{
	run 0 --version
	grep -q '^pxtrace [0-9]' out || fail 'no version'
	run 0 --help
	out_has '-V, --version'
}

a_mistyped_command_gets_a_suggestion()
{
	run 1 prnt x
	err_has 'did you mean "print"?'
	run 1
	err_has 'which command?'
}

a_mistyped_option_gets_a_suggestion()
{
	run 1 print --evnt x
	err_has 'did you mean --event?'
	run 1 stat run.ptl --pair
	err_has 'wants a value'
	run 1 print
	err_has 'which log?'
}

a_log_in_the_place_of_the_command_is_noticed()
{
	make_story
	run 1 run.ptl print
	err_has 'pxtrace print run.ptl'
	run 1 run.ptl
	err_has 'is a file, not a command'
}

senseless_values_are_refused_before_reading()
{
	run 1 print --from yesterday x
	run 1 print --from 2 --to 1 x
	run 1 print --limit many x
	run 1 print --limit 1 --tail 1 x
	run 1 print --color sometimes x
	run 1 stat --pair one x
	run 1 stat --by colour x
}

colour_is_for_terminals_only()
{
	make_story
	run 0 print run.ptl
	if grep -q "$(printf '\033')" out; then fail 'colour in a file'; fi
	run 0 print --color=always run.ptl
	grep -q "$(printf '\033')" out || fail 'no colour though asked for'
	command -v script >/dev/null || return 0
	script -qec "'$pxtrace' print run.ptl" /dev/null >out </dev/null
	grep -q "$(printf '\033')" out || fail 'no colour on a terminal'
	NO_COLOR=1 script -qec "'$pxtrace' print run.ptl" /dev/null >out </dev/null
	if grep -q "$(printf '\033')" out; then fail 'colour against NO_COLOR'; fi
}

output_that_cannot_be_written_is_an_error()
{
	[ -c /dev/full ] || exit 77
	make_story
	for command in print stat --help; do
		case $command in --help) log= ;; *) log=run.ptl ;; esac
		"$pxtrace" $command $log >/dev/full 2>err
		[ $? -eq 4 ] || fail "$command did not notice"
		err_has 'standard output'
	done
}

"$case"
