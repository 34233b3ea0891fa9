#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace import shark, and receive of S.Ha.R.K.'s datagrams: whole, cut, foreign, out of order.
# (SHARK-23, SHARK-45, SHARK-46, SHARK-47)

. "$(dirname "$0")/common.sh"
receiver=
trap 'kill $receiver 2>/dev/null; rm -rf "$here"' EXIT

# file NAME (CODE PAR1 STAMP PAR2)...: the 16 bytes of each event.
file()
{
	"$PXT_PYTHON" -c '
import struct, sys
numbers = [int(word, 0) for word in sys.argv[2:]]
with open(sys.argv[1], "wb") as out:
    for at in range(0, len(numbers), 4):
        code, one, stamp, two = numbers[at:at + 4]
        out.write(struct.pack("<HHIII", code, one, stamp >> 32, stamp & 0xffffffff, two))
' "$@"
}
# Names of the events, in their order, in one line.
order() { [ "$(sed -n 's/.*FTrace_\([A-Za-z_]*\).*/\1/p' out | tr '\n' ' ')" = "$1 " ] || fail "not: $1"; }

# SHARK-46: a chunk that went round is not in time order, and has places that are empty.
files_are_joined_and_sorted_by_their_stamps()
{
	file 0trace.dat 0x60 1 0x100000005 11 0x20 0 0x1fffffff0 1000 0 0 0 0
	file 1trace.dat 0x30 0 0x300000000 0 0x01 6000 0x200000001 0
	run 0 import shark -o run.ptl 1trace.dat 0trace.dat
	run 0 print run.ptl
	order 'EVT_id EVT_trace_start EVT_ipoint EVT_trace_stop'
	out_has 'number=6000'
	run 0 stat run.ptl
	out_has FTrace_EVT_ipoint
	run 0 check run.ptl
}

# SHARK-29: 1000 ticks in a millisecond, told by the event that is there for it.
the_rate_comes_from_the_trace_or_from_an_option()
{
	file a.dat 0x10 0 0 1000 0x01 1 2000000 0
	run 0 import shark -o run.ptl a.dat
	run 0 print run.ptl
	grep -q '2\.000000000 .*FTrace_EVT_ipoint' out || fail 'the rate of the event'
	run 0 import shark --hz 4000000 -o run.ptl a.dat
	run 0 print run.ptl
	grep -q '0\.500000000 .*FTrace_EVT_ipoint' out || fail 'the rate of the option'
	file b.dat 0x01 1 0 0 0x01 2 5 0
	run 0 import shark -o run.ptl b.dat
	err_has 'no event tells a rate'
	# More ticks than a log can have in a second.
	file c.dat 0x10 0 0 0xf2f2f2f2 0x01 2 5 0
	run 0 import shark -o run.ptl c.dat
	err_has 'no event tells a rate'
	run 0 check run.ptl
}

# The names of the manual's tables are those of begins and ends.
what_took_long_is_explained_under_the_tracers_names()
{
	set -- 0x10 0 0 1000000
	at=0
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		long=$((i == 9 ? 9000000 : 1000000))
		set -- "$@" 0x03 7 $((at + 5000000)) 0 0x13 7 $((at + 5000000 + long)) 0
		at=$((at + 5000000 + long))
	done
	file a.dat "$@"
	run 0 import shark -o run.ptl a.dat
	run 0 why run.ptl
	out_has 'FTrace_EVT_interrupt 7 of shark took 9.00 ms, where 1.00 ms is usual'
}

# SHARK-27, SHARK-37: as the manual prints it, as the source has it, as the unchecked macro logs it.
codes_of_other_versions_are_understood()
{
	file a.dat 0x43 1 1 2 0x36 3 2 4 0x8001 9 3 0 0x77 1 4 2 0x20 0 5 1
	run 0 import shark -o run.ptl a.dat
	run 0 print run.ptl
	order 'EVT_set_mutex_unlock EVT_set_mutex_unlock EVT_ipoint EVT_other EVT_trace_start'
	out_has 'code=0x77'
}

a_file_that_is_cut_or_foreign_is_refused()
{
	file a.dat 0x20 0 1 1000 0x01 1 2 0
	head -c 31 a.dat >cut.dat
	run 2 import shark -o run.ptl cut.dat
	err_has 'in the middle of an event (15 bytes behind 1 whole ones)'
	"$mklog" run >log.ptl 2>/dev/null || cp "$golden/le64.ptl" log.ptl
	head -c 1600 log.ptl >foreign.dat
	run 2 import shark -o run.ptl foreign.dat
	err_has "no file of S.Ha.R.K.'s tracer"
	: >empty.dat
	run 2 import shark -o run.ptl empty.dat
	err_has "no file of S.Ha.R.K.'s tracer"
	run 2 import shark -o run.ptl missing.dat
	err_has 'missing.dat'
	# One of them is enough, and nothing was written.
	run 2 import shark -o run.ptl a.dat cut.dat
	[ ! -e run.ptl ] || fail 'a log was written'
}

an_import_wants_a_tracer_a_log_and_files()
{
	run 1 import
	run 1 import lptrace -o run.ptl a.dat
	err_has 'shark is known'
	run 1 import shark -o run.ptl
	run 1 import shark a.dat
	run 1 import shark --hz 0 -o run.ptl a.dat
	run 4 import shark -o /nowhere/run.ptl "$(file a.dat 0x20 0 1 1000; echo a.dat)"
}

# packets ORDER: datagrams 0, 1, 2 of 60, 60 and 30 events, in this order; x: rubbish, s: a short one.
packets()
{
	port=$("$PXT_PYTHON" -c "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])")
	"$pxtrace" receive "udp:127.0.0.1:$port" -o run.ptl --once --strict 2>err &
	receiver=$!
	until_heard "$port"
	"$PXT_PYTHON" -c '
import socket, struct, sys
out = socket.socket(type=socket.SOCK_DGRAM)
def packet(n, events):
    body = b"".join(struct.pack("<HHIII", 1, (n * 60 + i) % 65536, 1, (n * 60 + i) % 65536, 0) for i in range(events))
    return struct.pack("<12sIII", b"TRACER-V1.0", n, events, 24 + len(body)) + body
kinds = {"0": packet(0, 60), "1": packet(1, 60), "2": packet(2, 30), "s": packet(7, 9)[:100],
         "l": packet(8, 61), "x": b"TRACER-V1.0\0", "n": packet(99999999, 1)}
for letter in sys.argv[2]:
    out.sendto(kinds[letter], ("127.0.0.1", int(sys.argv[1])))
' "$port" "$1"
	wait $receiver
	status=$?
	receiver=
}

datagrams_out_of_order_become_a_log_in_order()
{
	packets 2101
	[ $status -eq 0 ] || fail "exit status $status"
	err_has '150 events in 3 datagrams; missing 0, spoilt 0, twice 1'
	run 0 print run.ptl
	sed -n 's/.*number=\([0-9]*\).*/\1/p' out >numbers
	seq 0 149 | cmp - numbers || fail 'not in order'
	run 0 check run.ptl
}

a_datagram_that_is_missing_is_told()
{
	packets 02
	[ $status -eq 3 ] || fail "exit status $status"
	err_has '90 events in 2 datagrams; missing 1, spoilt 0, twice 0'
	run 0 print run.ptl
	[ "$(grep -c 'number=' out)" -eq 90 ] || fail 'not 90 events'
}

datagrams_that_are_spoilt_are_counted()
{
	packets 0sxl12n
	[ $status -eq 3 ] || fail "exit status $status"
	err_has '150 events in 3 datagrams; missing 0, spoilt 4, twice 0'
}

$case
