#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace check: clean, loss and damage; where, and what to do.
. "$(dirname "$0")/common.sh"

check_says_clean_of_a_whole_log()
{
	make_story
	run 0 check run.ptl
	out_has 'run.ptl: clean'
	out_has '7 sound'
	out_has 'law       written 7, retrieved 7 + lost 0 + cleared 0 + held 0'
}

check_says_that_the_table_of_threads_was_full()
{
	make run.ptl <<-END
		event 1000 36 1 0
	END
	run 0 check run.ptl
	out_lacks 'table of threads'
	make run.ptl <<-END
		event 1000 36 1 0
		stranger 0x7f0000009000 4711
		event 2000 36 65535 0
		stranger 0x7f0000009000 4711
		event 3000 36 65535 0
	END
	run 0 check run.ptl
	out_has 'the table of threads was full: 2 events are of threads without a place in it'
	run 0 check --json run.ptl
	out_has '"events_placeless":2'
}

check_says_loss_where_events_were_lost()
{
	make_lossy
	run 3 check lossy.ptl
	out_has 'lossy.ptl: loss, 12 EVENTS LOST'
	out_has 'written 16, retrieved 4 + lost 12'
	out_has 'a larger stream'
}

check_says_where_a_block_is_damaged()
{
	make_lossy
	at=$(first_data lossy.ptl)
	flip lossy.ptl $((at + 112))
	run 5 check lossy.ptl
	out_has 'lossy.ptl: damaged'
	out_has "byte $at: the checksum of a block is wrong"
	out_has '1 damaged'
	out_has 'copy the log again'
	run 2 stat lossy.ptl
}

# A complete log with a block for each of four events, of which the first one is spoilt.
make_spoilt()
{
	make spoilt.ptl <<-END
		event 1000000 32 1 0 u32:1
		flush
		event 2000000 32 1 0 u32:2
		flush
		event 3000000 32 1 0 u32:3
		flush
		event 4000000 32 1 0 u32:4
	END
	at=$(first_data spoilt.ptl)
	flip spoilt.ptl $((at + 112))
}

damage_in_a_complete_log_is_told_where_it_is_read()
{
	make_spoilt
	run 2 print spoilt.ptl
	err_has "spoilt.ptl: byte $at: the checksum of a block is wrong"
	err_has '--incomplete'
	out_lacks job
	run 2 print --incomplete --format '{field:job}' spoilt.ptl
	err_has "spoilt.ptl: DAMAGED at byte $at: the checksum of a block is wrong"
	err_has '1 EVENTS LOST'
	printf '*** 1 EVENT LOST HERE ***\n2\n3\n4\n' >expected
	same expected
}

what_is_before_from_and_behind_to_is_not_read()
{
	make_spoilt
	run 0 print --from 3500us --format '{field:job}' spoilt.ptl
	printf '4\n' >expected
	same expected
	flip spoilt.ptl $((at + 112))
	flip spoilt.ptl $(($(data_blocks spoilt.ptl | tail -1) + 112))
	run 0 print --to 2500us --format '{field:job}' spoilt.ptl
	printf '1\n2\n' >expected
	same expected
	run 0 stat --to 2500us --slice 1ms spoilt.ptl
	run 0 export csv --to 2500us spoilt.ptl
	run 2 print spoilt.ptl
}

# Thread 1 is renamed in the first block of 64 KiB; the next ones tell no name, and one of them is damaged.
names_in_effect_at_a_time_are_known_though_blocks_before_it_are_not_read()
{
	{
		printf 'type 40 task_rename i32 tid, text[16] oldcomm, text[16] newcomm, i32 by_exec\n'
		echo 'event 1000 40 1 0 i32:4712 text:sensor hex:00000000000000000000 text:probe hex:0000000000000000000000 i32:0'
		awk 'BEGIN { for (i = 1; i < 9000; i++) print "event " i * 1000 " 32 1 0 u32:" i }'
	} | make one.ptl
	run 0 merge -o run.ptl one.ptl
	flip run.ptl $(($(data_blocks run.ptl | sed -n 2p) + 112))
	run 0 print --from 8990us --to 8990us --format '{thread} {field:job}' run.ptl
	echo 'probe/4712 8990' >expected
	same expected
	run 2 print run.ptl
}

# A complete log of which a byte was turned round has a trailer: no program runs any more.
damage_in_a_complete_log_is_not_taken_for_a_running_program()
{
	make_story
	flip run.ptl $(($(first_data run.ptl) + 112))
	for command in print stat why; do
		run 2 $command run.ptl
		err_has 'the log is damaged'
		err_has 'pxtrace recover run.ptl'
		if grep -q 'still runs' err; then fail "$command: it still runs"; fi
	done
}

# What the log overwrote no larger stream would have kept.
a_log_that_was_full_wants_a_larger_log()
{
	make run.ptl 'policies 3 2' <<-END
		event 1000 36 1 0
		unlogged 9
	END
	run 3 check run.ptl
	out_has '9 EVENTS LOST'
	out_has 'a larger log (posix_trace_attr_setlogsize())'
	out_lacks 'a larger stream'
}

# A thread that flushes and comes too late is helped by its priority; a loop has no such thread.
a_stream_that_was_not_emptied_in_time_wants_what_its_policy_offers()
{
	make flush.ptl 'policies 3 4' <<-END
		event 1000 36 1 0
		lost 9
	END
	run 3 check flush.ptl
	out_has 'next      the thread that flushes did not keep up: a higher priority for it (posix_trace_attr_setflushpriority_np())'
	make loop.ptl 'policies 1 4' <<-END
		event 1000 36 1 0
		lost 9
	END
	run 3 check loop.ptl
	out_has 'next      a larger stream (posix_trace_attr_setstreamsize()), flushes more often'
	out_lacks 'flushpriority'
}

# A log on a disk that was full: most events were held in the stream until its end, and are in no log.
what_a_stream_held_at_its_end_is_lost()
{
	make full.ptl 'policies 3 4' <<-END
		event 1000 36 1 0
		event 2000 36 1 0
		held 75618
		unlogged 381
		flusherror 28
	END
	run 3 check full.ptl
	out_has 'full.ptl: loss, 75999 EVENTS LOST'
	out_has 'the 75618 that were held at the stream'
	run 3 check --json full.ptl
	out_has '"lost":75999'
	run 3 stat --strict full.ptl
	out_has 'losses    75999 EVENTS LOST'
	for command in 'print' 'stat' 'export csv'; do
		# shellcheck disable=SC2086
		run 3 $command --strict full.ptl
		err_has 'full.ptl: 75999 EVENTS LOST'
	done
	run 3 print --strict full.ptl
	out_has '75999 EVENTS LOST BEHIND THE LAST ONE'
	run 0 why full.ptl
	err_has 'full.ptl: 75999 EVENTS LOST'
	run 0 report -o full.html full.ptl
	err_has 'full.ptl: 75999 EVENTS LOST'
	grep -q '"lostAll":"\{0,1\}75999' full.html || fail 'the page'
	run 0 merge -o merged.ptl full.ptl
	run 3 check merged.ptl
	out_has 'merged.ptl: loss, 75999 EVENTS LOST'
}

# What a full disk cost no log that is larger, or APPEND already, would have kept.
why_a_log_could_not_be_written_is_said_in_words()
{
	for error in '28 no space left on the device (ENOSPC)' '27 the file reached the largest size allowed (EFBIG)' \
		'9 its descriptor was closed, or became another file'\''s (EBADF)' '77 error 77 of write()'; do
		make full.ptl 'policies 3 4' <<-END
			event 1000 36 1 0
			lost 20
			unlogged 9
			flusherror ${error%% *}
		END
		for command in 'check' 'stat --strict'; do
			# shellcheck disable=SC2086
			run 3 $command full.ptl
			out_has "note      the log could not be written: ${error#* }"
			out_lacks 'the log was full'
			out_lacks 'APPEND by'
			out_lacks 'a larger stream'
		done
		run 3 print --strict full.ptl
		err_has "the log could not be written: ${error#* }"
	done
}

# What a newcomer forgets, with the function that he looks for.
every_command_says_of_a_stream_that_it_was_never_started()
{
	echo 'process 1 box /x' | "$mklog" >never.ptl || fail mklog
	printf 'event 1000 2 0 0\nevent 2000 3 0 0 u32:0\n' | "$mklog" >closed.ptl || fail mklog
	for command in print 'print --tail 1' 'print --json' stat 'stat --csv' why 'why --locks' \
		'report -o page.html' 'export csv' 'merge -o merged.ptl'; do
		run 0 $command never.ptl
		err_has 'never.ptl: nothing was recorded, not even the start: the stream was never started (posix_trace_start())'
		run 0 $command closed.ptl
		if grep -qF 'never started' out err; then fail "of $command: it was started"; fi
	done
	for command in check stat; do
		run 0 $command never.ptl
		out_has 'the stream was never started (posix_trace_start())'
		out_lacks 'no event type of its own'
	done
	"$pxtrace" report -o page.html never.ptl 2>err
	grep -qF 'the stream was never started' page.html || fail 'the page does not say it'
}

check_and_stat_say_what_was_forgotten()
{
	printf 'event 1000 2 0 0\nevent 2000 3 0 0 u32:0\n' | "$mklog" >closed.ptl || fail mklog
	for command in check stat; do
		run 0 $command closed.ptl
		out_has 'no event type of its own: it came to no trace point of a POSIX_TRACE_DEFINE_NP while'
		out_lacks 'never started'
	done
	printf 'event 1000 2 0 0\nevent 2000 31 0 0 u32:0\n' | "$mklog" >unnamed.ptl || fail mklog
	make_story
	make late.ptl <<-END
		loss 100
		event 5900000000 36 1 0
		event 7600000000 36 1 0
	END
	for command in check stat; do
		run 0 $command unnamed.ptl
		out_lacks 'note'
		run 0 $command run.ptl
		out_lacks '  note '
	done
	for command in 'check' 'stat --strict'; do
		# shellcheck disable=SC2086
		run 3 $command late.ptl
		out_has 'the log holds the last 1.70 s of 7.60 s: a larger stream (posix_trace_attr_setstreamsize()) holds more'
	done
	run 3 check --json late.ptl
	out_has '"notes":["the log holds the last'
	# A log that went round.
	make round.ptl 'policies 3 1' <<-END
		unlogged 9
		event 5900000000 36 1 0
		event 7600000000 36 1 0
	END
	for command in 'check' 'stat --strict'; do
		# shellcheck disable=SC2086
		run 3 $command round.ptl
		out_has 'the log holds the last 1.70 s of 7.60 s: a larger one (posix_trace_attr_setlogsize()), or the policy APPEND'
	done
}

# An NTP step of an hour, and a board that counted from 1970: what is between lasted as long as it lasted.
no_length_comes_from_a_civil_clock_that_was_set()
{
	for step in '3600000000000 forward' '-3600000000000 back' '-1690000000000000000 back'; do
		make run.ptl <<-END
			event 1000 36 1 0
			step ${step% *}
			event 500000000 36 1 0
		END
		run 0 stat run.ptl
		out_has 'started   2023-11-14T22:13:20.000000000Z, for 0.500001 s'
		out_has "note      the civil clock was set ${step#* } by"
		run 0 check run.ptl
		out_has "note      the civil clock was set ${step#* } by"
		run 0 report -o run.html run.ptl
		grep -q '"lasted":500001000[,}]' run.html || fail 'the page says another length'
	done
	make_story
	run 0 stat run.ptl
	out_lacks 'civil clock'
	# The part that a log holds, too.
	make round.ptl 'policies 3 1' <<-END
		unlogged 9
		event 5900000000 36 1 0
		step 3600000000000
		event 7600000000 36 1 0
	END
	run 3 check round.ptl
	out_has 'the log holds the last 1.70 s of 7.60 s'
}

# A reader leaves such a reading out; the log's times are by the head's rate there.
readings_of_the_clocks_that_stepped_back_are_told()
{
	make run.ptl <<-END
		event 1000000000 32 1 0 u32:1
		reading 2000000000
		event 3000000000 33 1 0 u32:1 i64:0
		reading 1500000000
	END
	run 0 check run.ptl
	out_has 'clock     READINGS STEPPED BACK: 1 readings of the clocks are before earlier ones'
	out_lacks 'events have stamps'
	run 0 check --json run.ptl
	out_has '"readings_backward":1'
	make run.ptl <<-END
		event 1000000000 32 1 0 u32:1
		reading 2000000000
		reading 2000000000
		event 3000000000 33 1 0 u32:1 i64:0
	END
	run 0 check run.ptl
	out_lacks 'STEPPED'
}

# A counter that wrapped, or a clock of the program's own that was set back.
a_clock_that_stepped_back_is_told_by_every_command()
{
	make run.ptl <<-END
		event 4000000000 32 1 0 u32:1
		event 4100000000 33 1 0 u32:1 i64:0
		event 1000000 32 1 0 u32:2
		event 4200000000 33 1 0 u32:2 i64:0
	END
	run 0 check run.ptl
	out_has 'clock     STEPPED BACK: 1 events have stamps up to 4.10 s before earlier ones'
	run 0 check --json run.ptl
	out_has '"stamps_backward":1,"stamps_backward_ns":4099000000'
	for command in print stat why 'export csv'; do
		# shellcheck disable=SC2086
		run 0 $command run.ptl
		err_has 'run.ptl: THE CLOCK STEPPED BACK: 1 events have stamps up to 4.10 s before earlier ones'
	done
	grep -q '0 ns is usual' out && fail 'a length that nobody knows'
	# What processors' counters differ by is no step.
	make run.ptl <<-END
		event 4000000 32 1 0 u32:1
		event 3999000 33 1 0 u32:1 i64:0
	END
	run 0 check run.ptl
	out_lacks 'STEPPED'
	run 0 print run.ptl
	if grep -q STEPPED err; then fail 'a microsecond is a step'; fi
}

# The event of a thread that was kept from running inside its trace point, behind the mark of a flush, too.
a_thread_that_was_late_to_record_is_no_step_of_the_clock()
{
	make run.ptl <<-END
		event 4000000000 32 1 0 u32:1
		event 4010000000 32 2 0 u32:1
		event 4090000000 32 1 0 u32:2
		event 4100000000 7 1 0
		event 4050000000 33 2 0 u32:1 i64:0
		event 4110000000 33 1 0 u32:1 i64:0
	END
	run 0 check run.ptl
	out_lacks 'STEPPED'
	run 0 print run.ptl
	if grep -q STEPPED err; then fail 'a late event is a step'; fi
	# Behind a step it is told as one as long as the counter is not where it was.
	make run.ptl <<-END
		event 4000000000 32 1 0 u32:1
		event 4010000000 32 2 0 u32:1
		event 1000000000 33 1 0 u32:1 i64:0
		event 4000500000 33 3 0 u32:1 i64:0
		event 4020000000 32 1 0 u32:1
		event 4015000000 33 2 0 u32:1 i64:0
	END
	run 0 check run.ptl
	out_has 'STEPPED BACK: 2 events have stamps up to 3.01 s'
	run 0 print run.ptl
	err_has 'STEPPED BACK: 2 events have stamps up to 3.01 s'
}

# The second slot of the first record becomes none; the rest of the block is still looked at.
check_counts_torn_and_orphan_slots()
{
	make run.ptl <<-END
		event 1000 36 1 0 text:0123456789012345678901234567890123456789
		event 2000 36 1 0 text:0123456789
	END
	at=$(first_data run.ptl)
	flip run.ptl $((at + 96 + 32))
	run 5 check run.ptl
	out_has 'slots     1 torn, 3 orphans'
	out_has '1 in damaged blocks look whole'
}

check_goes_on_behind_a_damaged_block()
{
	awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "event %d 36 1 0 text:hello\n", i * 1000 }' |
		make run.ptl
	run 0 check run.ptl
	flip run.ptl $(($(first_data run.ptl) + 112))
	run 5 check --json run.ptl
	sound=$(sed 's/.*"records":\([0-9]*\).*/\1/' out)
	suspect=$(sed 's/.*"records_suspect":\([0-9]*\).*/\1/' out)
	[ $((sound + suspect)) -ge 19999 ] && [ "$suspect" -lt 2500 ] || fail "$sound and $suspect records"
}

check_says_that_a_log_lacks_its_end()
{
	make run.ptl <<-END
		event 1000 36 1 0
		unfinished
	END
	run 5 check run.ptl
	out_has 'run.ptl: incomplete'
	out_has 'ends without its trailer'
	out_has '--incomplete'
	run 0 check --incomplete run.ptl
	out_has 'run.ptl: clean so far'
	make_story
	head -c $(($(wc -c <run.ptl) - 100)) run.ptl >short.ptl
	run 5 check short.ptl
	out_has 'cut off'
	run 0 check --incomplete short.ptl
}

check_says_that_the_law_is_broken()
{
	make_story
	"$PXT_PYTHON" - run.ptl <<-END || fail python
		import struct, sys, zlib
		log = bytearray(open(sys.argv[1], "rb").read())
		at = len(log) - 96 - 304
		assert log[at:at + 4] == b"PTLB"
		order = "<" if log[8] == 4 else ">"
		log[at + 96 + 40:at + 96 + 48] = struct.pack(order + "Q", 8)
		crc = zlib.crc32(log[at + 96:], zlib.crc32(log[at:at + 92]))
		log[at + 92:at + 96] = struct.pack(order + "I", crc)
		open(sys.argv[1], "wb").write(log)
	END
	run 5 check run.ptl
	out_has 'run.ptl: contradictory'
	out_has 'written is not retrieved + lost + cleared + held'
	out_has 'a defect of the writer'
	run 0 stat run.ptl
}

check_says_which_events_have_no_name()
{
	make run.ptl <<-END
		event 1000 77 1 0
		event 2000 77 1 0
	END
	run 5 check run.ptl
	out_has '2 events of type 77, which has no name'
}

check_of_several_logs_ends_with_the_worst()
{
	make_story
	make_lossy
	run 3 check -q run.ptl lossy.ptl
	lines 0
	cp lossy.ptl broken.ptl
	flip broken.ptl $(($(first_data broken.ptl) + 112))
	run 5 check -q broken.ptl run.ptl lossy.ptl
	run 2 check -q broken.ptl nowhere.ptl
	err_has 'nowhere.ptl: No such file'
}

check_knows_what_is_no_log()
{
	for i in 1 2 3 4 5 6 7 8 9; do echo 'just some text that is long enough to be the head of a log'; done >text
	run 2 check text
	err_has 'text: not a trace log'
	err_has 'it looks like a text file'
	run 2 check "$golden/newer-major.ptl"
	err_has 'needs a reader of format 2.2'
	: >empty
	run 2 check empty
	err_has 'the file is empty'
	run 1 check
	run 1 check --limit x text
}

check_json_is_an_object_a_log()
{
	make_story
	make_lossy
	flip lossy.ptl $(($(first_data lossy.ptl) + 112))
	run 5 check --json run.ptl lossy.ptl
	lines 2
	"$PXT_PYTHON" - <<-END || fail 'no JSON'
		import json
		first, second = map(json.loads, open("out"))
		assert first["verdict"] == "clean" and first["status"] == 0 and first["written"] == 7
		assert second["verdict"] == "damaged" and second["findings"][0]["kind"] == "damage"
		assert second["findings"][0]["byte"] > 512 and not second["findings"][0]["reason"] == ""
	END
}

# LPT-96
a_log_that_lacks_a_file_is_no_whole_one()
{
	make_rotated
	rm run.ptl/run.ptl.0002
	run 3 check run.ptl
	out_has '0003: loss'
	err_has 'file 2 is MISSING'
	run 3 check --json run.ptl
	out_has '"verdict":"loss","status":3'
	out_has '"files_missing":1'
}

a_log_whose_newest_file_is_empty_lacks_its_end()
{
	make_rotated
	last=$(ls run.ptl | tail -n 1)
	: >run.ptl/"$last"
	run 5 check run.ptl
	out_has ': incomplete'
	out_has 'end       events after the last flush: number unknown; the log'\''s next file is empty'
	run 0 check --incomplete run.ptl
	run 0 stat run.ptl
	out_has 'losses    none that is known'
	err_has 'events after the last flush: number unknown'
	run 3 print --strict run.ptl
}

# A head that speaks of 4 GiB frames costs no memory and no time; neither do findings without end.
no_log_takes_more_memory_of_check()
{
	"$PXT_PYTHON" - "$golden/loop-le64.ptl" <<-END || fail python
		import struct, sys, zlib
		log = bytearray(open(sys.argv[1], "rb").read())
		log[136:144] = struct.pack("<II", 1048576, 0xffffffff)
		log[120:124] = struct.pack("<I", 1048576)
		log[508:512] = struct.pack("<I", zlib.crc32(log[:508]))
		open("frames.ptl", "wb").write(log)
		head = open(sys.argv[1].replace("loop-le64", "le64"), "rb").read()
		block = head[512:512 + 96]
		open("many.ptl", "wb").write(head[:512] + block * 20000)
	END
	within 32768 "$pxtrace" check frames.ptl >out 2>err
	[ $? -eq 5 ] || fail 'frames'
	within 32768 "$pxtrace" check --limit 3 many.ptl >out 2>err
	[ $? -eq 5 ] || fail 'findings'
	out_has 'more (--limit)'
}

"$case"
