#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Where results go, in folders that others write to as well: links of others, and modes; what is written is
# sound; how far long work has come; logs that are compressed.

. "$(dirname "$0")/common.sh"

# A folder like /tmp, with a link of another user's in it; $1: what it leads to.
plant()
{
	[ "$(id -u)" = 0 ] || { echo 'only root can make links of other users: skipped'; exit 77; }
	chmod 711 "$here"
	mkdir shared
	chmod 1777 shared
	ln -s "$1" shared/out
	chown -h 65534 shared/out
}

mode_of() { stat -c %a "$1"; }
has_mode() { [ "$(mode_of "$1")" = "$2" ] || fail "$1 has mode $(mode_of "$1"), not $2"; }

# Every command that writes a file, into $1, which must not happen; the source is run.ptl.
refused()
{
	while read -r words; do
		# shellcheck disable=SC2086
		"$pxtrace" $words >out 2>err <frames && fail "went through another user's link: $words"
		grep -q 'Permission denied' err || fail "no reason: $words"
	done <<-END
		export csv -o $1 run.ptl
		report -o $1 run.ptl
		merge -o $1 run.ptl other.ptl
		recover torn.ptl -o $1
		receive - -o $1
		receive - --raw $1 -o received.ptl
	END
}

make_sources()
{
	make_story
	make other.ptl 'uuid 2' <<-END
		event 1000 32 1 0 u32:1
	END
	head -c 2000 run.ptl >torn.ptl
	"$PXT_PYTHON" "$PXT_SOURCE/tests/line/make_frames.py" run.ptl >frames
}

a_link_that_another_user_planted_in_a_shared_folder_is_not_followed()
{
	make_sources
	echo precious >target
	chmod 600 target
	plant "$here/target"
	refused shared/out
	[ "$(cat target)" = precious ] || fail 'the file was replaced'
	has_mode target 600
	[ -h shared/out ] || fail 'the link is gone'
}

a_planted_link_that_leads_nowhere_makes_no_file()
{
	make_sources
	plant "$here/target"
	refused shared/out
	[ ! -e target ] || fail 'a file was made'
}

a_planted_link_is_not_followed_behind_a_link_of_ones_own()
{
	make_story
	echo precious >target
	plant "$here/target"
	ln -s shared/out mine
	run 4 export csv -o mine run.ptl
	err_has 'Permission denied'
	[ "$(cat target)" = precious ] || fail 'the file was replaced'
}

ones_own_link_in_a_shared_folder_is_followed()
{
	make_story
	mkdir shared
	chmod 1777 shared
	echo old >real
	ln -s ../real shared/first
	ln -s first shared/out
	run 0 export csv -o shared/out run.ptl
	grep -q job_begin real || fail 'the target was not written'
	[ -h shared/out ] && [ -h shared/first ] || fail 'a link is gone'
	rm real
	run 0 export csv -o shared/out run.ptl
	grep -q job_begin real || fail 'the target was not made'
}

links_that_lead_round_are_an_error()
{
	make_story
	ln -s b a
	ln -s a b
	run 4 export csv -o a run.ptl
	err_has 'ymbolic link' # glibc: Too many levels of symbolic links; musl: Symbolic link loop
}

what_is_replaced_keeps_its_mode()
{
	make_sources
	while read -r words; do
		for mode in 600 640 664 444; do
			echo old >result
			chmod $mode result
			# shellcheck disable=SC2086
			run 0 $words <frames
			[ "$(head -c 3 result)" != old ] || fail "not replaced: $words"
			has_mode result $mode
			rm -f result
		done
	done <<-END
		export csv -o result run.ptl
		merge -o result run.ptl other.ptl
		recover torn.ptl -o result
		receive - -o result
	END
}

a_new_file_has_the_mode_that_the_user_asks_for()
{
	make_sources
	umask 027
	run 0 export csv -o result run.ptl
	has_mode result 640
	run 0 merge -o merged run.ptl other.ptl
	has_mode merged 640
}

# The owner of a file in a shared folder may not say who reads the file that replaces it.
a_file_of_another_user_gives_no_rights_to_what_replaces_it()
{
	make_story
	plant nowhere
	umask 027
	for mode in 666 640 600; do
		echo old >shared/result
		chmod $mode shared/result
		chown 65534:65534 shared/result
		run 0 export csv -o shared/result run.ptl
		has_mode shared/result 600
		[ "$(stat -c %U shared/result)" = root ] || fail 'its owner is another one'
		rm shared/result
	done
}

the_next_log_of_a_receiver_goes_past_a_link_that_leads_nowhere()
{
	make_sources
	"$PXT_PYTHON" "$PXT_SOURCE/tests/line/make_frames.py" other.ptl >>frames
	ln -s nowhere received-2.ptl
	run 0 receive - -o received.ptl <frames
	[ -f received-3.ptl ] || fail 'no third log'
	[ ! -e nowhere ] || fail 'through the link'
}

# A file of another user's may be read by them while it is written.
a_file_that_another_user_planted_is_not_written_to()
{
	make_sources
	plant nowhere
	rm shared/out
	run 0 report -o page.html run.ptl
	for words in 'report -o shared/out run.ptl' 'receive - --raw shared/out -o received.ptl'; do
		cp page.html shared/out
		chown 65534 shared/out
		chmod 666 shared/out
		ln -f shared/out seen
		# shellcheck disable=SC2086
		"$pxtrace" $words >out 2>err <frames
		cmp -s page.html seen || fail "it was written to: $words"
	done
	cp run.ptl shared/
	mv seen shared/run.html
	run 0 report shared/run.ptl
	[ "$(stat -c %U shared/run.html)" = root ] || fail 'the page is the other one'"'"'s'
}

# Names of the results' forerunners cannot be guessed.
files_that_somebody_planted_beside_a_result_stop_no_command()
{
	make_sources
	for i in $(seq -w 0 99); do : >"result.new-$i"; done
	mkdir result.own.ptl result.sched.ptl result.older.ptl
	while read -r words; do
		# shellcheck disable=SC2086
		run 0 $words <frames
		rm -f result
	done <<-END
		merge -o result run.ptl other.ptl
		recover torn.ptl -o result
		receive - -o result
		export csv -o result run.ptl
		report -o result run.ptl
	END
}

# ---- Devices, pipes, folders ----

# What nobody named is never waited for, what somebody named not for ever.
a_fifo_without_another_end_holds_up_no_command()
{
	make_sources
	mkfifo fifo sink log.html
	while read -r status words; do
		{
			# shellcheck disable=SC2086
			timeout 120 "$pxtrace" $words <run.ptl >"out.$status.$$" 2>&1
			got=$?
			[ "$got" = "$status" ] || echo "status $got, not $status: $words" >>wrong
		} &
	done <<-END
		2 print fifo
		2 stat fifo
		2 check fifo
		2 why fifo
		2 report -o page.html fifo
		2 merge -o merged.ptl fifo run.ptl
		2 recover fifo -o recovered.ptl
		2 export csv -o table.csv fifo
		2 import shark fifo -o imported.ptl
		2 merge -o merged.ptl --ftrace fifo run.ptl
		1 why --roles fifo run.ptl
		4 report -o sink run.ptl
		4 export csv -o sink run.ptl
		4 receive - --raw sink -o received.ptl
		4 merge -o sink run.ptl other.ptl
	END
	wait
	[ ! -e wrong ] || fail "$(cat wrong)"
	cp run.ptl log.ptl
	run 1 report log.ptl
	err_has 'log.html is there and is no page of pxtrace'
}

a_pipe_whose_writer_comes_late_is_read()
{
	make_story
	mkfifo fifo
	(sleep 0.1 && exec cat run.ptl >fifo) &
	run 0 print fifo
	lines 7
	(sleep 0.1 && exec cat fifo >page) &
	run 0 report -o fifo run.ptl
	wait
	tail -c 20 page | grep -q '</html>' || fail 'no whole page came through'
}

# It may never end, and the copy would fill the disk.
what_comes_through_a_pipe_and_is_no_log_is_not_read_to_its_end()
{
	for words in print stat check why 'report -o page.html' 'merge -o merged.ptl' 'export csv'; do
		# shellcheck disable=SC2086
		yes | (ulimit -f 20480; timeout 120 "$pxtrace" $words /dev/stdin >out 2>err)
		got=$?
		[ "$got" = 2 ] || fail "status $got: $words"
		err_has 'not a trace log'
	done
}

memory_and_events_that_never_end_are_not_read_for_ever()
{
	(ulimit -v 2000000; timeout 120 "$pxtrace" recover -o run.ptl /dev/zero >out 2>err)
	[ $? = 2 ] || fail 'recover'
	err_has '/dev/zero: is no log and no core file, and still goes on behind 256 MiB'
	(ulimit -v 2000000; timeout 120 "$pxtrace" import shark -o run.ptl /dev/zero >out 2>err)
	[ $? = 2 ] || fail 'import shark'
	err_has '/dev/zero: has more than 16777216 events'
	[ ! -e run.ptl ] || fail 'a log was written'
}

# ---- What merge writes ----

# sound.py; PXT_STRESS=full: thousands of inputs instead of hundreds.
logs_that_are_merged_of_spoilt_ones_are_sound()
{
	count=100
	[ -z "${PXT_STRESS-}" ] || count=1500
	"$PXT_PYTHON" "$PXT_SOURCE/tests/tool/sound.py" "$pxtrace" "$golden" $count >out 2>err || fail sound
	out_has 'all sound'
}

# ---- On a terminal: long work tells how far it is, and leaves nothing there (out.c has the line itself) ----

# on_terminal ARGUMENTS...: what a terminal shows of it, in ./out
on_terminal()
{
	need script
	words=
	for word in "$pxtrace" "$@"; do
		words="$words '$word'"
	done
	# At once: else only what takes half a second shows anything.
	PXTRACE_PROGRESS=0 script -qec "$words" /dev/null >out 2>err </dev/null
}

# shows PATTERN: such a line.
shows() { grep -q "$1" out || fail 'no line'; }

# The last line that was drawn is taken away before anything else is said.
gone() { tr '\r' '\n' <out | grep -A 1 "$1" | tail -n 1 | grep -q "^$(printf '\033')\[K" || fail 'the line stands there still'; }

make_long()
{
	awk 'BEGIN { for (i = 1; i <= 50000; i++) printf "event %d 36 1 0\n", i * 1000 }' | make long.ptl
}

words_go_into_no_file_where_there_is_no_standard_error_output()
{
	make_sources
	"$pxtrace" export csv --incomplete -o with - <torn.ptl 2>err || fail 'not exported'
	err_has 'incomplete'
	"$pxtrace" export csv --incomplete -o without - <torn.ptl 2>&- || fail 'not exported without it'
	cmp with without || fail "$(cat without)"
}

recover_shows_how_far_it_has_searched()
{
	truncate -s 100M memory.bin 2>/dev/null || exit 77
	on_terminal recover -o run.ptl memory.bin
	shows 'search \[[#.]*\]  *[0-9]* %  [0-9]* k bytes'
	gone 'search \['
	out_has 'no stream is in it'
}

export_ctf_shows_what_was_written()
{
	need babeltrace2
	[ -e "$(dirname "$pxtrace")/babeltrace/babeltrace-plugin-ptrace.so" ] || exit 77
	preload_for_plugin
	make_long
	on_terminal export ctf -o run.ctf long.ptl
	[ -e run.ctf/metadata ] || fail 'nothing was written'
	shows 'export ctf: [0-9]*[ kM]* bytes'
	gone 'export ctf: '
}

merge_with_the_scheduler_shows_what_was_written()
{
	make_long
	awk 'BEGIN { for (i = 1; i <= 50000; i++)
		printf "a-1 [0] d... %.6f: sched_waking: comm=b pid=2 prio=120 target_cpu=000\n", 1000 + i / 1000000 }' >sched.txt
	on_terminal merge --ftrace sched.txt -o all.ptl long.ptl
	shows 'merge: [0-9]*[ k]* events'
	gone 'merge: '
}

# ---- Logs that are compressed by zstd: read as they are, and written where the name says so (SHARK-18) ----

# Whether this pxtrace can; the program zstd is not ours, so what it packs and unpacks is a second opinion.
packs()
{
	need zstd
	make_story
	zstd -q run.ptl -o probe.zst
	"$pxtrace" stat probe.zst >probe 2>&1
}
can() { packs || { echo 'built without libzstd: skipped'; exit 77; }; }

a_compressed_log_is_read_as_it_is()
{
	can
	run 0 print run.ptl
	mv out plain
	run 0 print probe.zst
	cmp plain out || fail 'another text'
	"$pxtrace" print - <probe.zst >out || fail 'exit status'
	cmp plain out || fail 'another text from standard input'
	cat probe.zst | "$pxtrace" print - >out || fail 'exit status'
	cmp plain out || fail 'another text from a pipe'
	run 0 print --follow probe.zst
	cmp plain out || fail 'another text by --follow'
	run 0 check probe.zst
	run 0 recover probe.zst -o again.ptl
	run 0 print again.ptl
	lines 7
}

what_was_compressed_in_pieces_is_one_log()
{
	can
	head -c 1000 run.ptl | zstd -q >pieces.zst
	tail -c +1001 run.ptl | zstd -q >>pieces.zst
	run 0 print pieces.zst
	lines 7
}

a_log_named_so_is_written_compressed()
{
	can
	run 0 merge -o all.ptl.zst run.ptl
	zstd -q -t all.ptl.zst || fail 'not for zstd'
	zstd -q -d all.ptl.zst -o all.ptl
	run 0 merge -o plain.ptl run.ptl
	run 0 print plain.ptl
	mv out plain
	run 0 print all.ptl
	cmp plain out || fail 'another log'
	run 0 print all.ptl.zst
	cmp plain out || fail 'another text'
	run 0 recover run.ptl -o saved.ptl.zst
	run 0 print saved.ptl.zst
	lines 7
	[ "$(ls | grep -c '\.zst\.')" = 0 ] || fail 'something is left'
}

# bomb MIB: a frame of blocks of 128 KiB of zeros, each of four bytes
bomb()
{
	"$PXT_PYTHON" -c 'import struct, sys
blocks = int(sys.argv[1]) * 8
block = lambda last: struct.pack("<I", last | 1 << 1 | 131072 << 3)[:3] + b"\0"
sys.stdout.buffer.write(struct.pack("<I", 0xFD2FB528) + b"\0\x38" + block(0) * (blocks - 1) + block(1))' "$1"
}

# A small file does not fill the disk. ulimit counts in kilobytes, or in half of them.
a_compressed_file_that_is_no_log_is_not_unpacked_to_its_end()
{
	can
	bomb 64 >bomb.zst
	(
		ulimit -f 2000
		trap '' XFSZ
		run 2 stat bomb.zst
		err_has 'not a trace log'
		run 2 check bomb.zst
		err_has 'not a trace log'
	) || exit 1
	# A log in front of it.
	{ cat probe.zst && bomb 512; } >hidden.zst
	(
		ulimit -f 100000
		trap '' XFSZ
		run 2 stat hidden.zst
		err_has 'hidden.zst: becomes more than 1000 times as much, as no log does'
		run 2 recover hidden.zst -o saved.ptl
		err_has 'as no log does'
	) || exit 1
}

a_full_device_leaves_no_compressed_log()
{
	can
	ln -s /dev/full full.ptl.zst
	run 4 merge -o full.ptl.zst run.ptl
	err_has 'full.ptl.zst'
}

what_is_damaged_or_cut_off_is_told()
{
	can
	head -c 200 probe.zst >cut.zst
	run 2 print cut.zst
	err_has 'cut.zst: the compressed log is damaged or cut off'
	{ head -c 100 probe.zst; printf '\377\377\377\377'; tail -c +105 probe.zst; } >damaged.zst
	run 2 print damaged.zst
	err_has 'damaged or cut off'
	printf '(\265/\375' >magic.zst
	run 2 check magic.zst
	err_has 'magic.zst: the compressed log is damaged or cut off'
	echo 'no log' | zstd -q >text.zst
	run 2 print text.zst
	err_has 'text.zst'
}

a_build_without_zstd_says_how_to_get_it()
{
	! packs || { echo 'this one was built with it: skipped'; exit 77; }
	run 2 print probe.zst
	err_has 'unzstd it first'
	err_has 'libzstd-dev'
	run 4 merge -o all.ptl.zst run.ptl
	[ ! -e all.ptl.zst ] || fail 'a log was written'
}

"$case"
