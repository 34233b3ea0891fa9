#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Logs that are compressed by zstd: read as they are, and written where the name says so. (SHARK-18)
. "$(dirname "$0")/common.sh"

# Whether this pxtrace can; the program zstd is not ours, so what it packs and unpacks is a second opinion.
need zstd
make_story
zstd -q run.ptl -o probe.zst
if "$pxtrace" stat probe.zst >probe 2>&1; then
	packs=yes
else
	packs=no
fi
can() { [ $packs = yes ] || { echo 'built without libzstd: skipped'; exit 77; }; }

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
	[ $packs = no ] || { echo 'this one was built with it: skipped'; exit 77; }
	run 2 print probe.zst
	err_has 'unzstd it first'
	err_has 'libzstd-dev'
	run 4 merge -o all.ptl.zst run.ptl
	[ ! -e all.ptl.zst ] || fail 'a log was written'
}

"$case"
