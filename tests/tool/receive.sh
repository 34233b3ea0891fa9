#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace receive from outside: a traced program at the other end of a pipe, FIFO, pseudo-terminal
# or socket of this computer.

. "$(dirname "$0")/common.sh"
target=$PXT_BUILD/tests/line_target
relay="$PXT_PYTHON $PXT_SOURCE/tests/line/relay.py"
[ -x "$target" ] || { echo "no frames in this configuration: skipped"; exit 77; }
events=400
receiver=
sender=
# Whatever was started here ends here, also when a test fails.
trap 'kill $receiver $sender 2>/dev/null; rm -rf "$here"' EXIT

# Any free port of this computer, for sockets of type $1.
port() { "$PXT_PYTHON" -c "import socket; s = socket.socket(type=socket.SOCK_$1); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"; }
# The events of log $1, and their numbers are 0 to $2 - 1
holds()
{
	run 0 print "$1"
	grep -c 'number=' out | grep -qx "$2" || fail "$(grep -c 'number=' out) events in $1, not $2"
}
# Waits until file $1 holds text $2.
told() { until_has "$1" "$2" || fail "no \"$2\" in $1"; }
# What is received can be read.
seen() { "$pxtrace" print --incomplete run.ptl 2>/dev/null | grep -q "number=$1"; }
until_number() { await seen "$1" || fail "no event $1 to be seen"; }
finished() { wait "$1"; status=$?; [ "$status" -eq "$2" ] || fail "exit status $status, not $2: receive"; }

frames_through_a_pipe_become_a_log()
{
	"$target" frames $events | "$pxtrace" receive - -o run.ptl --strict 2>err || fail receive
	err_has 'run.ptl: receiving from -'
	holds run.ptl $events
	run 0 stat run.ptl
	out_has tick
	out_has '  notes     line: frames'
}

a_fifo_may_be_opened_before_the_target_starts()
{
	mkfifo line
	"$pxtrace" receive line -o run.ptl --once 2>err &
	receiver=$!
	sleep 0.2
	"$target" frames $events >line
	finished $receiver 0
	holds run.ptl $events
}

# Its second run: a new UUID, a log of its own, and a word about it.
a_target_that_starts_again_gets_its_next_log()
{
	mkfifo line
	"$pxtrace" receive line -o run.ptl 2>err &
	receiver=$!
	"$target" frames 100 >line
	told err 'run.ptl: 1'
	"$target" frames 60 >line
	told err 'the target began anew'
	told err 'run-2.ptl: 6'
	kill -INT $receiver
	finished $receiver 0
	holds run.ptl 100
	holds run-2.ptl 60
}

an_interrupt_leaves_a_whole_log()
{
	mkfifo line
	"$pxtrace" receive line -o run.ptl 2>err &
	receiver=$!
	"$target" frames 100000 5000 >line &
	sender=$!
	until_number 19
	kill -INT $receiver
	finished $receiver 0
	kill $sender 2>/dev/null
	run 0 print run.ptl
	grep -q 'number=19' out || fail 'no events'
	out_has tick
}

a_cable_may_be_pulled_and_plugged_again()
{
	"$target" frames 4000 2000 | $relay ./tty --cut 30000 50000 &
	"$pxtrace" receive serial:./tty,115200 -o run.ptl --once 2>err || fail receive
	wait
	err_has 'went away'
	err_has 'frames are missing'
	run 0 print run.ptl
	[ "$(grep -c 'number=' out)" -gt 1000 ] || fail 'too little'
	[ "$(grep -c 'number=' out)" -lt 4000 ] || fail 'nothing was lost?'
	err_has 'EVENTS LOST'
	grep -q 'number=3999' out || fail 'the end is missing'
	# No log was too small, and no stream.
	run 3 check run.ptl
	out_has 'the link lost them'
	out_lacks 'larger log'
	run 0 stat run.ptl
	grep -qE 'lost_on_link: [0-9]+ events' out || fail 'no note'
}

a_terminal_gets_frames_by_itself()
{
	# A program's own terminal device, raw: what it writes is read at the other end.
	"$PXT_PYTHON" - "$target" >bytes <<-'END' || fail target
		import os, pty, select, subprocess, sys, tty
		master, slave = pty.openpty()
		tty.setraw(slave)
		child = subprocess.Popen([sys.argv[1], os.ttyname(slave), "60"])
		while select.select([master], [], [], 0.3)[0] or child.poll() is None:
		    os.write(1, os.read(master, 4096))
		sys.exit(child.wait())
	END
	run 0 receive bytes -o run.ptl
	holds run.ptl 60
}

packets_are_received()
{
	port=$(port DGRAM)
	"$pxtrace" receive "udp:127.0.0.1:$port" -o run.ptl --once --strict --raw raw 2>err &
	receiver=$!
	until_heard "$port"
	"$target" "udp:$port" $events 200
	finished $receiver 0
	holds run.ptl $events
	run 0 receive raw -o again.ptl
	holds again.ptl $events
}

# Anybody may send to the port: 1,100 heads, the target's own frames once more, whole streams of others.
strangers_neither_end_nor_spoil_a_targets_log()
{
	"$target" frames $events | cat >bytes
	port=$(port DGRAM)
	"$pxtrace" receive "udp:$port" -o run.ptl --raw raw 2>messages &
	receiver=$!
	until_heard "$port"
	"$PXT_PYTHON" "$PXT_SOURCE/tests/line/relay.py" --strangers "$port" raw <bytes || fail strangers
	told messages 'run.ptl: 4'
	kill $receiver
	finished $receiver 0
	grep -q 'a trace was refused: as many others as can be received at once' messages || fail "$(cat messages)"
	grep -q '25 traces were refused in all' messages || fail "$(cat messages)"
	grep -q '5 frames were not taken: they are of a trace that another address sends' messages ||
		fail "$(cat messages)"
	holds run.ptl $events
	run 0 check run.ptl
	[ "$(ls run-*.ptl | wc -l)" = 15 ] || fail "$(ls run*) are there"
}

# Nobody on the network reaches a receiver that was not told to listen there.
without_an_address_this_machine_alone_is_heard()
{
	for source in udp tcp-listen; do
		[ $source = udp ] && type=DGRAM || type=STREAM
		port=$(port $type)
		"$pxtrace" receive "$source:$port" -o run.ptl 2>err &
		receiver=$!
		until_heard "$port"
		grep -h ":$(printf %04X "$port") " /proc/net/udp /proc/net/tcp >sockets
		kill $receiver
		finished $receiver 2
		grep -q "0100007F:$(printf %04X "$port")" sockets || fail "$source: $(cat sockets)"
	done
}

# A target that nobody listens to goes on; who comes late gets the rest and knows what is missing.
packets_that_nobody_waits_for_are_lost_and_counted()
{
	port=$(port DGRAM)
	"$target" "udp:$port" 6000 15000 &
	sender=$!
	sleep 0.3
	"$pxtrace" receive "udp:127.0.0.1:$port" -o run.ptl --once 2>err || fail receive
	wait $sender || fail 'the target minded'
	err_has 'before anybody listened'
	run 0 print run.ptl
	grep -q 'number=5999' out || fail 'the end is missing'
	out_has tick
}

a_connection_is_made_or_waited_for()
{
	port=$(port STREAM)
	"$pxtrace" receive "tcp-listen:127.0.0.1:$port" -o one.ptl --once 2>err &
	receiver=$!
	"$target" "tcp:$port" $events
	finished $receiver 0
	holds one.ptl $events
	port=$(port STREAM)
	"$pxtrace" receive "tcp:127.0.0.1:$port" -o two.ptl --once 2>err &
	receiver=$!
	told err 'waiting for tcp:'
	"$target" "tcp-listen:$port" $events
	finished $receiver 0
	holds two.ptl $events
}

# Frames made from FORMAT.md by a program that knows nothing of the library, of every kind of machine.
frames_of_either_byte_order_and_word_size_are_understood()
{
	for log in le64 be64 le32 be32; do
		"$pxtrace" print "$golden/$log.ptl" >expected 2>/dev/null
		for slots in 1 7 91; do
			"$PXT_PYTHON" "$PXT_SOURCE/tests/line/make_frames.py" "$golden/$log.ptl" $slots >bytes
			run 0 receive bytes -o run.ptl
			if grep -q 'on the line:' err; then fail "$log: $(cat err)"; fi
			run 0 print run.ptl
			same expected
		done
	done
}

# Bytes dropped, flipped and doubled: what a line makes of them does not depend on the line.
damaged_bytes_give_the_same_log_over_every_line()
{
	"$target" frames 2000 | cat >bytes
	for seed in 1 2 3; do
		"$PXT_PYTHON" "$PXT_SOURCE/tests/line/relay.py" --damage $seed 3000 <bytes >damaged
		"$pxtrace" receive damaged -o file.ptl 2>err || fail receive
		"$pxtrace" print file.ptl >expected 2>/dev/null
		"$pxtrace" receive - -o run.ptl <damaged 2>err
		"$pxtrace" print run.ptl >out 2>/dev/null
		same expected
		$relay ./tty <damaged &
		sender=$!
		"$pxtrace" receive serial:./tty,3000000 -o run.ptl --once 2>err
		# It takes the device's name away when it ends.
		wait $sender
		"$pxtrace" print run.ptl >out 2>/dev/null
		same expected
		port=$(port STREAM)
		"$pxtrace" receive "tcp-listen:127.0.0.1:$port" -o run.ptl --once 2>err &
		receiver=$!
		"$PXT_PYTHON" "$PXT_SOURCE/tests/line/relay.py" --tcp "$port" <damaged
		finished $receiver 0
		"$pxtrace" print run.ptl >out 2>/dev/null
		same expected
	done
}

# Three kinds of loss are three numbers.
a_terminal_shows_a_status_line()
{
	need script
	mkfifo line
	script -qec "'$pxtrace' receive line -o run.ptl --once" typescript >/dev/null </dev/null &
	receiver=$!
	"$target" frames 2000 8000 >line
	finished $receiver 0
	grep -q '/s | bad CRC 0 | frames missing 0 (0 events) | lost on target 0' typescript || fail "$(cat -v typescript)"
	"$target" frames 20 | "$pxtrace" receive - -o run.ptl 2>err
	if grep -q 'bad CRC' err; then fail 'a status line without a terminal'; fi
}

# ---- A console ----

# Standard input as a console shows it: times in front, other lines between.
on_console()
{
	base64 -w "$1" | sed 's/^/[   12.345678] PTL:/; 3a\
boot\
[   12.400000] eth0: link \x1b[2Jup' | sed "$2"
}

# ZEP-44
a_trace_is_taken_out_of_the_text_of_a_console()
{
	"$target" plain $events | on_console 76 '' >console.txt
	run 0 receive --console console.txt -o run.ptl
	grep -q '^boot$' out || fail 'text of the console is gone'
	grep -q 'link' out || fail 'text of the console is gone'
	if grep -q "$(printf '\033')" out; then fail 'a control character came through'; fi
	out_lacks PTL:
	holds run.ptl $events
	"$target" frames $events | on_console 400 '' | sed 's/$/\r/' >console.txt
	run 0 receive --console console.txt -o run.ptl --quiet
	lines 0
	holds run.ptl $events
}

a_spoilt_line_of_a_console_costs_what_it_held()
{
	"$target" frames $events | on_console 400 's/^//' >whole.txt
	# In the middle there are events; how long what comes before them is, the target's path says.
	middle=$(grep -n PTL: whole.txt | sed -n "$(($(grep -c PTL: whole.txt) / 2))p" | cut -d: -f1)
	sed "${middle}s/PTL:..../PTL:*~.?/" whole.txt >console.txt
	run 3 receive --console console.txt -o run.ptl --strict
	err_has 'bad CRC'
	run 0 print run.ptl
	[ "$(grep -c 'number=' out)" -gt $((events / 2)) ] || fail 'too few events are left'
}

a_strict_receiver_fails_when_something_was_lost()
{
	"$target" frames $events | cat >bytes
	# One byte of a frame in the middle.
	size=$(wc -c <bytes)
	{ head -c $((size / 2)) bytes; tail -c +$((size / 2 + 2)) bytes; } >damaged
	run 3 receive damaged -o run.ptl --strict
	err_has 'lost on the line'
	err_has 'bad CRC 1'
	run 0 receive damaged -o run.ptl
	run 3 print --strict run.ptl
}

of_a_target_that_did_not_end_its_log_the_loss_is_unknown()
{
	"$target" frames $events | cat >bytes
	head -c $(($(wc -c <bytes) / 2)) bytes >cut
	run 0 receive cut -o run.ptl
	err_has 'the target did not end its log; events after the last that came: number unknown'
	run 3 receive cut -o run.ptl --strict
	run 0 receive bytes -o whole.ptl
	if grep -q unknown err; then fail 'the end is known'; fi
}

what_arrived_can_be_kept_and_taken_again()
{
	"$target" frames $events | "$pxtrace" receive - -o run.ptl --raw raw 2>err || fail receive
	"$pxtrace" print run.ptl >expected
	run 0 receive raw -o again.ptl
	run 0 print again.ptl
	same expected
}

# What arrived exists once.
receive_does_not_write_over_its_source()
{
	"$target" frames 40 | cat >bytes
	cp bytes copy
	ln bytes other_name
	ln -s bytes link
	for name in bytes ./bytes other_name link; do
		run 1 receive bytes -o $name
		err_has 'is the source itself; the log needs a name of its own'
		run 1 receive bytes -o run.ptl --raw $name
		err_has 'is the source itself; --raw needs a name of its own'
		run 1 receive - -o run.ptl --raw $name <bytes
		err_has 'is the source itself'
		cmp -s bytes copy || fail "$name: the source is another one"
	done
	[ ! -e run.ptl ] || fail 'a log'
}

receive_wants_different_files_for_log_and_bytes()
{
	"$target" frames 40 | cat >bytes
	run 1 receive bytes -o run.ptl --raw ./run.ptl
	err_has './run.ptl cannot be both the log (-o) and the bytes as they came (--raw)'
	[ ! -e run.ptl ] || fail 'it was made'
	echo mine >run.ptl
	ln run.ptl raw
	run 1 receive bytes -o run.ptl --raw raw
	err_has 'cannot be both'
	grep -qx mine run.ptl || fail 'it was written'
}

nothing_received_is_told_with_a_reason()
{
	: >empty
	run 2 receive empty -o run.ptl
	err_has 'no trace was received'
	[ ! -e run.ptl ] || fail 'a log of nothing'
	head -c 5000 /dev/urandom >noise
	run 2 receive noise -o run.ptl
	err_has 'no trace was received'
}

# Who sends nothing any more is not asked whether he flushes.
nothing_in_a_file_is_told_of_the_file()
{
	: >empty
	head -c 5000 /dev/urandom >noise
	for source in empty noise; do
		run 2 receive $source -o run.ptl
		err_has 'no head of a trace is in it'
		run 2 receive - -o run.ptl <$source
		err_has 'no head of a trace is in it'
		if grep -q flush err; then fail 'it asks a file'; fi
	done
	run 2 receive --console noise -o run.ptl
	err_has 'no line in it has PTL:'
	if "$pxtrace" receive - -o run.ptl </dev/null 2>err; then fail 'a trace of nothing'; fi
	err_has 'does the target flush'
}

a_console_that_is_taken_for_bytes_is_noticed()
{
	"$target" frames $events | on_console 400 '' >console.txt
	run 2 receive console.txt -o run.ptl
	err_has '--console takes the trace out of them'
}

what_came_over_a_line_is_known_when_it_is_taken_for_a_log()
{
	"$target" frames $events | cat >bytes
	# A recording that began in the middle of a frame.
	{ echo boot; tail -c +100 bytes; cat bytes; } >later
	on_console 76 '' <bytes >console.txt
	for command in print stat check 'recover --list'; do
		"$pxtrace" $command bytes >out 2>err && fail "$command took it"
		err_has '`pxtrace receive bytes -o NEW.ptl` makes a log of it'
		"$pxtrace" $command later >out 2>err && fail "$command took it"
		err_has '`pxtrace receive later -o NEW.ptl`'
		"$pxtrace" $command console.txt >out 2>err && fail "$command took it"
		err_has '`pxtrace receive --console console.txt -o NEW.ptl` makes a log of it'
	done
	# As said.
	run 0 receive bytes -o NEW.ptl
	holds NEW.ptl $events
	run 0 receive --console console.txt -o NEW.ptl
	echo 'lines with PTL: and base64 are the trace' >notes.txt
	run 2 print notes.txt
	err_has 'text file'
}

a_source_that_makes_no_sense_is_explained()
{
	run 1 receive
	err_has 'serial:/dev/ttyUSB0,115200'
	run 1 receive -
	err_has '-o run.ptl'
	run 1 receive serial:/dev/ttyUSB0 -o x
	err_has 'device and speed'
	run 1 receive serial:/dev/ttyUSB0,115201 -o x
	err_has '921600'
	run 1 receive udp:loopback:http -o x
	err_has 'is no port'
	run 1 receive tcp:5555 -o x
	err_has 'tcp-listen'
	run 1 receive nowhere -o x
	err_has 'sources are'
	run 1 receive /dev/null -o x
	err_has 'serial:'
	run 1 receive . -o x
	err_has 'neither a FIFO nor a file'
	run 1 receive - - -o x
	err_has 'one source at a time'
}

# 18446744073709552 seconds in milliseconds are 384 modulo 2^64.
link_waits_for_seconds_of_its_range_alone()
{
	for wait in 0 -1 1x 86401 18446744073709552 99999999999999999999; do
		run 1 link --wait $wait tcp:127.0.0.1:1 stat
		err_has "--wait wants a number from 1 to 86400, not \"$wait\""
	done
}

a_log_that_cannot_be_written_is_an_error()
{
	"$target" frames 20 | cat >bytes
	run 4 receive bytes -o nowhere/run.ptl
	err_has 'nowhere/run.ptl: cannot be written: No such file'
	if grep -q 'receiving from' err; then fail 'it began before it looked'; fi
	run 4 receive bytes -o .
	err_has '.: is a folder; -o wants the name of a file'
	[ -c /dev/full ] || exit 77
	run 4 receive bytes -o run.ptl --raw /dev/full
	err_has '/dev/full'
}

"$case"
