#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace recover: what is left of a trace whose program is gone.  (ZEP-46)

. "$(dirname "$0")/common.sh"
leave=$PXT_BUILD/tests/recover_leave

# Images that know nothing of the library's code, in both byte orders, word sizes and forms.
state() { "$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" "$pxtrace" "$1" >out || fail "$1"; }

whole_records_of_an_image_come_back() { state plain; state payloads; state no_context; }
process_threads_and_modules_come_along()
{
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" --make . || fail images
	for i in 0 1 2 3 4 5 6 7; do
		run 0 recover "plain-$i" -o "$i.ptl"
		err_has 'threads inside a trace point when it ended: 1'
		run 0 stat "$i.ptl"
		out_has '/opt/app/control (pid 4711) on box'
		out_has 'armv7l Linux 6.6.1, 6 CPUs'
		out_has 'image 1'
		run 0 print --address "$i.ptl"
		out_has 'control/4712      job                control+0x1000  number=4'
	done
	run 0 recover plain-0 --list
	out_has '/opt/app/control'
}
torn_records_are_counted_where_they_are_missing() { state torn; state torn_first; state nothing_but_torn; state spoiled; }
places_that_writers_gave_up_are_losses() { state voids; }
lanes_are_merged_by_the_smallest_front() { state lanes; }
stop_and_start_part_what_stamps_would_mix() { state barriers; }
start_and_stop_beside_the_lanes_find_their_place() { state sides; }
marks_of_refused_events_part_nothing() { state refusals; }
counts_that_no_stream_lived_to_are_not_believed() { state beyond_belief; }
what_the_program_had_read_is_left_out() { state unread; state died_between; }
option_all_takes_what_was_read_too() { state everything; }
positions_and_numbers_may_have_wrapped() { state wraps; }
words_that_are_one_behind_are_brought_up() { state followers; state late_epoch; }
without_a_directory_types_have_numbers() { state without_names; }
streams_of_a_memory_dump_are_found_by_search() { state dump; state far; }
a_smallest_cores_stream_is_found_by_its_label() { state small; }
a_smallest_core_may_have_lost_more_than_a_word_counts() { state small_after_years; state small_after_years_by_halves; }
a_block_may_lie_across_segments_of_a_core_file() { state segments; }
of_a_file_that_is_too_short_the_rest_is_taken() { state too_short; state shorter; }

# ---- Real processes ----

has_leave() { [ -x "$leave" ] || { echo "no streams with image headers in this configuration: skipped"; exit 77; }; }
# counted NAME: what stream NAME of ./said counted: written, retrieved, lost
counted() { sed -n "s/^$1 //p" said; }

# The story of stream $1 of file $2: what is in the log and what is not are all that was written.
is_told()
{
	run 0 recover "$2" --stream "$1" -o "$1.ptl"
	run "$3" check --json "$1.ptl"
	written=$(sed 's/.*"written":\([0-9]*\).*/\1/' out)
	set -- "$1" $(counted "$1")
	[ "$written" -eq $(($2 - $3)) ] || fail "$1: $written told, of $2 written and $3 read"
}

memory_of_a_process_tells_all_it_has_written()
{
	has_leave
	"$leave" dump 4 3 5000 memory >said || fail leave
	run 0 recover memory --list
	lines 4
	is_told flight memory 3
	"$pxtrace" print flight.ptl 2>err | tail -1 | grep -q 'number=4999$' || fail 'the last event is another one'
	is_told full memory 3
	"$pxtrace" print full.ptl 2>/dev/null | tail -2 | head -1 | grep -q posix_trace_stop || fail 'no automatic STOP'
	is_told read memory 0
	run 0 recover memory --stream read --all -o all.ptl
	run 0 print all.ptl
	out_has 'who=99'
}

a_core_file_tells_what_the_process_did()
{
	has_leave
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || { echo 'core files go elsewhere: skipped'; exit 77; }
	("$leave" abort 4 3 5000 >said) 2>/dev/null
	core=$(ls core* 2>/dev/null | head -1)
	[ -n "$core" ] || { echo 'no core file is written: skipped'; exit 77; }
	is_told flight "$core" 3
	is_told full "$core" 3
}

a_reader_of_ones_own_looks_into_a_ring_that_is_being_written()
{
	has_leave
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/own_reader.py" "$pxtrace" "$leave" >out
	case $? in
	0) ;;
	77) echo 'no streams in files in this configuration: skipped'; exit 77 ;;
	*) fail own_reader ;;
	esac
}

# gdb FILE-OR-OPTIONS...: streams, and the memory of the one named "flight"
debug()
{
	gdb -q --batch -nx -x "$PXT_SOURCE/scripts/gdb/pxtrace.py" -ex 'pxtrace streams' "$@" >out 2>err
	grep -qi 'ptrace.*not permitted' err && { echo 'no process may be traced here: skipped'; exit 77; }
	number=$(sed -n 's/^ *\([0-9]*\) .* flight$/\1/p' out)
	[ -n "$number" ] || fail 'no stream "flight"'
	gdb -q --batch -nx -x "$PXT_SOURCE/scripts/gdb/pxtrace.py" -ex "pxtrace dump $number flight.box" "$@" >out 2>err
	out_has 'pxtrace recover flight.box'
	is_told flight flight.box 3
	"$pxtrace" print flight.ptl 2>err | tail -1 | grep -q 'number=4999$' || fail 'the last event is another one'
}

gdb_dumps_a_stream_of_a_live_process()
{
	has_leave
	need gdb
	[ -z "${ASAN_OPTIONS-}" ] || { echo "a sanitizer's memory takes minutes to search: skipped"; exit 77; }
	"$leave" pause 2 2 5000 >said &
	child=$!
	trap 'kill -9 $child 2>/dev/null; rm -rf "$here"' EXIT
	until_has said read
	debug -p "$child"
}

gdb_dumps_a_stream_out_of_a_core_file()
{
	has_leave
	need gdb
	[ -z "${ASAN_OPTIONS-}" ] || { echo "a sanitizer's memory takes minutes to search: skipped"; exit 77; }
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || { echo 'core files go elsewhere: skipped'; exit 77; }
	("$leave" abort 2 2 5000 >said) 2>/dev/null
	core=$(ls core* 2>/dev/null | head -1)
	[ -n "$core" ] || { echo 'no core file is written: skipped'; exit 77; }
	debug "$leave" "$core"
	# Without symbols, by search.
	cp "$leave" bare
	strip bare 2>/dev/null || return 0
	rm flight.box
	debug bare "$core"
}

# ---- Logs ----

a_log_without_its_end_becomes_complete()
{
	run 2 print "$golden/no-trailer.ptl"
	err_has 'pxtrace recover'
	run 0 recover "$golden/no-trailer.ptl" -o whole.ptl
	err_has 'the end of the log was missing'
	"$pxtrace" print --incomplete "$golden/no-trailer.ptl" >expected 2>err
	"$pxtrace" print whole.ptl >out 2>err
	same expected
}

# Nothing tells what a program that died had not flushed yet.
of_a_log_without_its_end_nobody_knows_what_was_lost()
{
	for log in no-trailer loop-growing; do
		run 0 recover "$golden/$log.ptl" -o whole.ptl
		err_has 'events after the last flush: number unknown'
		if grep -q 'none lost' err; then fail 'none lost, it says'; fi
		run 3 recover --strict "$golden/$log.ptl" -o whole.ptl
	done
	make run.ptl <<-END
		event 1000 36 1 0
		unfinished
	END
	run 0 recover run.ptl -o whole.ptl
	err_has '1 events'
	run 0 check whole.ptl
	out_has 'whole.ptl: clean so far'
	out_has 'events after the last flush: number unknown'
	run 3 check --strict whole.ptl
	run 0 check --json whole.ptl
	out_has '"end_unknown":true'
	run 0 print whole.ptl
	err_has 'whole.ptl: events after the last flush: number unknown'
	run 3 stat --strict whole.ptl
	run 3 print --incomplete --strict run.ptl
	# Whatever is made of it.
	run 0 recover whole.ptl -o again.ptl
	err_has 'number unknown'
	run 0 merge -o merged.ptl whole.ptl
	run 3 check --strict merged.ptl
	run 0 merge --incomplete -o merged.ptl run.ptl
	run 3 check --strict merged.ptl
	make_story
	run 0 check --strict run.ptl
	out_lacks unknown
}

lanes_that_are_not_there_are_no_none_lost()
{
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" --make . || fail images
	head -c 1150 lanes-0 >half
	run 0 recover half -o half.ptl
	err_has 'events in them: number unknown'
	if grep -q ', none lost' err; then fail 'none lost, it says'; fi
	run 3 recover --strict half -o half.ptl
	run 3 check --strict half.ptl
	run 3 check --json half.ptl
	out_has '"end_unknown":true'
}

a_growing_loop_log_becomes_complete()
{
	for log in loop-growing loop-short loop-le64 loop-be32; do
		"$pxtrace" print --incomplete "$golden/$log.ptl" >expected 2>err
		"$pxtrace" recover "$golden/$log.ptl" -o whole.ptl 2>err || fail "$log"
		"$pxtrace" check whole.ptl >out || [ $? -eq 3 ] || fail "$log is not well"
		"$pxtrace" print whole.ptl >out 2>err || fail "$log cannot be read"
		grep -v LOST expected >kept
		grep -v LOST out >kept2
		mv kept2 out
		same kept
	done
}

every_sound_block_of_a_damaged_log_is_taken()
{
	for i in $(seq 20); do
		for k in 1 2 3 4 5; do echo "event $((i * 1000 + k)) 32 1 0 u32:$((i * 100 + k))"; done
		echo flush
	done | make run.ptl
	"$PXT_PYTHON" - <<-'END' || fail damage
		import re
		log = bytearray(open("run.ptl", "rb").read())
		blocks = [at.start() for at in re.finditer(b"PTLB\x01\x00", log)]
		assert len(blocks) >= 20, len(blocks)
		for block in (blocks[3], blocks[4], blocks[10]):
		    log[block + 130] ^= 0x40
		log[blocks[15] + 8] ^= 0x10  # its length
		open("bad.ptl", "wb").write(log[:blocks[19] + 120])
	END
	run 2 print bad.ptl
	run 0 recover bad.ptl -o good.ptl
	err_has 'good.ptl: 75 events; 25 EVENTS LOST:'
	err_has '25 that the log was given and does not hold whole'
	run 3 check good.ptl
	out_lacks 'the link lost them'
	run 0 print --event job_begin good.ptl
	[ "$(grep -c 'job=' out)" -eq 75 ] || fail "$(grep -c 'job=' out) events, not 75"
	grep -A1 'job=305$' out | grep -q '10 EVENTS LOST' || fail 'the loss stands elsewhere'
}

# Of two logs that were written one behind the other, the first one's stream is taken.
blocks_of_another_stream_are_counted()
{
	make_story
	cp run.ptl first.ptl
	make second.ptl 'uuid 2' <<-END
		event 1000 32 1 0 u32:1
	END
	cat first.ptl second.ptl >both.ptl
	run 0 recover both.ptl -o out.ptl
	err_has 'out.ptl: 7 events, none lost'
	grep -q " [1-9][0-9]* sound blocks of another stream were left out" err || fail "$(cat err)"
	run 3 recover --strict both.ptl -o out.ptl
	run 0 recover first.ptl -o out.ptl
	if grep -q 'another stream' err; then fail 'there is none'; fi
}

# LPT-96
files_of_one_log_become_one_file()
{
	make_rotated
	run 0 print run.ptl
	mv out expected
	run 0 recover run.ptl -o whole.ptl
	err_has ', none lost'
	run 0 check whole.ptl
	run 0 print whole.ptl
	same expected
	head -c 30000 run.ptl/run.ptl.0002 >short
	mv short run.ptl/run.ptl.0002
	run 0 recover run.ptl/* -o half.ptl
	err_has 'run.ptl.0002: bytes '
	set -- $(sed -n 's/.*: \([0-9]*\) events; \([0-9]*\) EVENTS LOST:$/\1 \2/p' err)
	[ "$1" -gt 0 ] && [ $(($1 + $2)) -eq "$(wc -l <expected)" ] || fail "$1 events and $2 lost"
	run 3 check half.ptl
}

# A trailer knows of losses that no block tells: in the stream, in the log, in the stream at its end.
what_only_the_trailer_knows_is_told()
{
	for missing in lost unlogged held; do
		make run.ptl <<-END
			event 1000 36 1 0
			$missing 46896
		END
		run 3 recover --strict run.ptl -o again.ptl
		err_has 'again.ptl: 1 events; 46896 EVENTS LOST:'
		run 3 check again.ptl
		out_has '46896 EVENTS LOST'
	done
	# Of frames, with and without what the log itself overwrote; nothing is counted twice.
	for log in loop-le64 loop-be32; do
		run 3 recover --strict "$golden/$log.ptl" -o again.ptl
		err_has 'again.ptl: 6 events; 14 EVENTS LOST:'
		if grep -q 'number unknown' err; then fail 'its end is known'; fi
		run 3 check --strict again.ptl
		out_has 'again.ptl: loss, 14 EVENTS LOST'
	done
}

# Records that are whole, in a block that the file ends in: a copy that is short, a writer that died.
records_of_a_block_that_is_cut_off_are_taken()
{
	make run.ptl <<-END
		event 1000 32 1 0 u32:1
		flush
		event 2000 32 1 0 u32:2
		event 3000 32 1 0 u32:3
		event 4000 32 1 0 u32:4
		unfinished
	END
	head -c $(($(wc -c <run.ptl) - 20)) run.ptl >short.ptl
	run 5 check short.ptl
	out_has '2 in damaged blocks look whole'
	run 3 recover --strict short.ptl -o whole.ptl
	err_has 'whole.ptl: 3 events; 1 EVENTS LOST:'
	err_has '2 of those in it are of the last block, which is cut off'
	run 3 check whole.ptl
	run 0 print --event job_begin --format '{field:job}' whole.ptl
	[ "$(grep -v LOST out | tr '\n' ' ')" = '1 2 3 ' ] || fail 'other events'
	# What lies in the file there is not always what was written: a stamp that the block does not have.
	"$PXT_PYTHON" - <<-'END' || fail python
		log = bytearray(open("short.ptl", "rb").read())
		at = log.rindex(b"PTLB") + 96 + 32
		log[at + 10] ^= 0xff
		open("odd.ptl", "wb").write(log)
	END
	run 0 recover odd.ptl -o whole.ptl
	err_has 'whole.ptl: 2 events; 2 EVENTS LOST:'
}

# change FILE TO FROM BYTES: the bytes of FILE from FROM on are others.
change()
{
	"$PXT_PYTHON" - "$@" <<-'END' || fail python
		import sys
		log = bytearray(open(sys.argv[1], "rb").read())
		for at in range(int(sys.argv[3]), int(sys.argv[3]) + int(sys.argv[4])): log[at] ^= 0x5a
		open(sys.argv[2], "wb").write(log)
	END
}

# Without the file's head no block can be read: blocks repeat it.
a_log_is_read_without_its_head()
{
	for order in le64 be64; do
		log=$golden/repeats-$order.ptl
		run 0 recover "$log" -o whole.ptl
		for what in '0 512' '0 1' '9 1' '17 1' '22 1' '25 2' '40 1' '200 9' '509 1'; do
			# shellcheck disable=SC2086
			change "$log" bad.ptl $what
			run 0 recover bad.ptl -o good.ptl
			err_has 'the head of the file is damaged: a block that repeats it was read'
			cmp -s whole.ptl good.ptl || fail "$order: another log after $what"
			run 5 check bad.ptl
			out_has '13 sound, 0 damaged, 0 missing'
		done
		# With more than the head.
		change "$log" bad.ptl 0 600
		run 0 recover bad.ptl -o good.ptl
		err_has 'a block that repeats it was read'
	done
	if [ -x "$PXT_BUILD/tests/contend" ]; then
		"$PXT_BUILD/tests/contend" real.ptl || fail contend
		change real.ptl bad.ptl 0 512
		run 0 recover bad.ptl -o good.ptl
		err_has 'a block that repeats it was read'
		"$pxtrace" print good.ptl >out
		"$pxtrace" print real.ptl >expected
		same expected
	fi
}

# Of older logs no block repeats the head; the checksum tells which byte was another one.
one_byte_of_an_older_log_s_head_is_mended()
{
	for log in le64 be32 loop-le64; do
		run 0 recover "$golden/$log.ptl" -o whole.ptl
		for at in 0 8 12 17 20 24 41 140 300 508 511; do
			change "$golden/$log.ptl" bad.ptl $at 1
			run 0 recover bad.ptl -o good.ptl
			err_has 'one byte of the file'
			cmp -s whole.ptl good.ptl || fail "$log: another log after byte $at"
		done
		change "$golden/$log.ptl" bad.ptl 40 2
		run 2 recover bad.ptl -o good.ptl
		err_has 'the checksum of the file'
	done
}

print_says_that_recover_reads_memory()
{
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" --make . || fail images
	run 2 print plain-0
	err_has '`pxtrace recover` makes a log of it'
	for i in 0 2 4 6; do
		run 2 print "segments-$i"
		err_has 'it is a core file: `pxtrace recover` finds the streams in it'
	done
}

a_complete_log_stays_what_it_was()
{
	make_story
	run 0 recover run.ptl -o again.ptl
	err_has 'none lost'
	"$pxtrace" print run.ptl >expected
	"$pxtrace" print again.ptl >out
	same expected
}

# ---- What people do ----

of_several_streams_one_must_be_chosen()
{
	has_leave
	"$leave" dump 1 1 10 memory >said || fail leave
	run 1 recover memory -o one.ptl
	err_has 'several streams are there; which one? (--stream)'
	err_has flight
	[ ! -e one.ptl ] || fail 'a log was written'
	run 1 recover memory --stream flght -o one.ptl
	err_has 'there is no such stream'
	run 0 recover memory --stream 2 -o one.ptl
	cat memory | run 0 recover - --stream flight -o two.ptl
}

recover_says_what_a_file_is_that_holds_no_stream()
{
	run 2 recover /bin/sh -o one.ptl
	err_has 'no stream is in it'
	err_has 'it is a program or library'
	: >empty
	run 2 recover empty -o one.ptl
	err_has 'the file is empty'
	head -c 4000 /dev/zero | tr '\0' '\245' >ram
	run 2 recover ram -o one.ptl
	err_has 'their labels (PTRACE_LABELS)'
	run 2 recover missing -o one.ptl
	run 1 recover empty
	err_has 'into which log?'
	run 1 recover -o one.ptl
	[ ! -e one.ptl ] || fail 'a log was written'
}

# target IMAGE [FAULT]: sets $target, what a debugger's server of that memory is called
target()
{
	rm -f where
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" --debugger "$1" where ${2:+"$2"} &
	server=$!
	until [ -s where ]; do sleep 0.05; done
	target=$(cat where)
}

# ZEP-43
memory_behind_a_debugger_s_server_is_read_as_its_file()
{
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" --make . || fail images
	run 0 recover plain-0 -o file.ptl
	for fault in '' spoilt processes; do
		target plain-0 "$fault"
		run 0 recover "$target" -o target.ptl
		cmp file.ptl target.ptl || fail "$fault"
		wait $server || fail "halted: $fault"
	done
}

a_debugger_s_server_that_makes_no_sense_is_told()
{
	"$PXT_PYTHON" "$PXT_SOURCE/tests/recover/check_images.py" --make . || fail images
	target plain-0 errors
	run 2 recover "$target" -o target.ptl
	err_has 'its memory cannot be read there'
	for fault in noise leaves; do
		target plain-0 "$fault"
		run 2 recover "$target" -o target.ptl
		err_has "no debugger's server answers"
	done
	run 2 recover gdb:localhost:3333,0x20000000 -o target.ptl
	err_has 'gdb:HOST:PORT,ADDRESS,BYTES'
	run 1 recover plain-0 --follow -o target.ptl
	err_has '--follow is for one target'
}

recover_never_writes_over_what_it_reads()
{
	cp "$golden/no-trailer.ptl" run.ptl
	run 1 recover run.ptl -o run.ptl
	err_has 'give the log another name'
	cmp "$golden/no-trailer.ptl" run.ptl || fail 'the log was changed'
	run 4 recover run.ptl -o nowhere/run.ptl
}

"$case"
