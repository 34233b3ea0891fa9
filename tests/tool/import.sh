#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace import of CTF, of what the Linux kernel's tracers recorded, and of SystemView; import shark, and receive of S.Ha.R.K.'s datagrams: whole, cut, foreign, out of order.
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
	err_has 'shark, ctf, perf, trace-cmd, ftrace and systemview are known'
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

# ---- CTF ----

need_plugin()
{
	need babeltrace2
	[ -f "$PXT_BUILD/tools/babeltrace/babeltrace-plugin-ptrace.so" ] || { echo "no plugin was built: skipped"; exit 77; }
	preload_for_plugin
}

# ctf FOLDER HOST EVENT...: a trace of CPU 3 whose events, after 1 us each, are "sched_switch", "mixed" or "tick".
ctf()
{
	"$PXT_PYTHON" - "$@" <<-'END'
		import os, struct, sys
		folder, host, names = sys.argv[1], sys.argv[2], sys.argv[3:]
		os.mkdir(folder)
		with open(folder + "/metadata", "w") as out:
		    out.write("""/* CTF 1.8 */
		typealias integer { size = 8; align = 8; signed = false; } := u8;
		typealias integer { size = 16; align = 8; signed = true; } := i16;
		typealias integer { size = 32; align = 8; signed = false; } := u32;
		typealias integer { size = 32; align = 8; signed = true; } := i32;
		typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := letter;
		trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
		env { hostname = "%s"; };
		clock { name = c; freq = 1000000000; offset_s = 1700000000; };
		typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := stamp;
		stream { packet.context := struct { u32 cpu_id; }; event.header := struct { u8 id; stamp timestamp; }; };
		event { id = 0; name = sched_switch; fields := struct { letter prev_comm[16]; i32 prev_tid; i32 prev_prio;
		    i32 prev_state; letter next_comm[16]; i32 next_tid; i32 next_prio; }; };
		event { id = 1; name = mixed; fields := struct { enum : u8 { low = 0, high } kind; struct { i16 x; i16 y; } at;
		    u8 pair[2]; u8 n; u8 rest[n]; string name;
		    floating_point { exp_dig = 8; mant_dig = 24; align = 8; } part; string why; }; };
		event { id = 2; name = tick; };
		""" % host)
		body = {
		    "sched_switch": b"\0" + b"%b" + struct.pack("<16siii16sii", b"swapper/3", 0, 120, 0, b"worker", 77, 10),
		    "mixed": b"\1" + b"%b" + struct.pack("<BhhBBB", 1, -2, 3, 8, 9, 2) + b"ab" + b"half\0" +
		             struct.pack("<f", 0.5) + b"a long tale\0",
		    "tick": b"\2" + b"%b"}
		with open(folder + "/stream", "wb") as out:
		    out.write(struct.pack("<II", 0xc1fc1fc1, 3))
		    for place, name in enumerate(names):
		        out.write(body[name] % struct.pack("<Q", 1000 * (place + 1)))
	END
}

a_ctf_trace_is_a_log_that_says_the_same()
{
	need_plugin
	make_story
	run 0 export ctf -o run.ctf run.ptl
	run 0 import ctf -o again.ptl run.ctf
	run 0 check again.ptl
	run 0 print --thread 4712 --event 'job_*' run.ptl
	sed 's/.*\(job_[a-z]*\) */\1 /' out >expected
	[ -s expected ] || fail 'nothing to compare with'
	run 0 print --thread 4712 --event 'job_*' again.ptl
	sed 's/.*\(job_[a-z]*\) */\1 /' out | cmp -s - expected || fail 'other events'
	run 0 why run.ptl
	head -1 out >expected
	run 0 why again.ptl
	head -1 out | cmp -s - expected || fail 'another answer'
}

# By their numbers `pxtrace why` knows them.
system_events_that_were_exported_to_ctf_are_system_events_again()
{
	need_plugin
	victim=$PXT_BUILD/tests/victim
	[ -x "$victim" ] || exit 77
	"$pxtrace" run -q --only mutex -o run.ptl -- "$victim" contend >out 2>err || fail 'not recorded'
	run 0 export ctf -o run.ctf run.ptl
	run 0 import ctf -o again.ptl run.ctf
	"$pxtrace" print --event 'posix_trace_mutex_*' run.ptl | sed 's/.*\(posix_trace_[a-z]*\)/\1/' >expected
	grep -q mutex_wait expected || fail 'nothing to compare with'
	"$pxtrace" print --event 'posix_trace_mutex_*' again.ptl | sed 's/.*\(posix_trace_[a-z]*\)/\1/' >out
	same expected
}

fields_of_ctf_are_fields_of_the_log()
{
	need_plugin
	ctf run.ctf box mixed
	run 0 import ctf -o run.ptl run.ctf
	err_has 'mixed: 1 of its fields is left out, among them rest'
	run 0 print run.ptl
	out_has 'kind=1  at_x=-2  at_y=3  pair_0=8  pair_1=9  n=2  name="half"  part=0.5  why="a long tale"'
	run 0 stat run.ptl
	out_has 'on box'
	out_has 2023-11-14T22:13:20.000001000Z
}

# Contexts say nothing here: the kernel's events are of the thread that its scheduler let run.
the_thread_of_a_kernels_event_is_the_one_that_was_switched_to()
{
	need_plugin
	ctf run.ctf box tick sched_switch tick
	run 0 import ctf -o run.ptl run.ctf
	err_has 'of 1 events nothing says which thread recorded them'
	run 0 print --json --event tick run.ptl
	sed -n 1p out | grep -q worker && fail 'before it was switched to'
	sed -n 2p out | grep -q '"name":"worker"\|"thread":"worker' || fail 'not the worker'
	sed -n 2p out | grep -q '"cpu":3' || fail 'another CPU'
	run 0 print --event sched_switch run.ptl
	out_has 'prev_comm="swapper/3"'
	out_has 'next_tid=77'
}

losses_of_a_ctf_trace_are_losses_of_the_log()
{
	need_plugin
	make_lossy
	run 0 export ctf -o lossy.ctf lossy.ptl
	run 0 import ctf -o again.ptl lossy.ctf
	err_has '12 EVENTS LOST by the tracer'
	run 0 print again.ptl
	out_has '12 EVENTS LOST'
	run 3 stat --strict again.ptl
}

what_is_no_trace_of_one_machine_is_refused_and_no_log_is_left()
{
	need_plugin
	mkdir empty
	run 2 import ctf -o run.ptl empty
	err_has 'import ctf: babeltrace2 failed'
	ctf one.ctf box tick
	ctf two.ctf pod tick
	run 2 import ctf -o run.ptl one.ctf two.ctf
	err_has 'of several machines'
	run 1 import ctf --hz 5 -o run.ptl one.ctf
	err_has 'no --hz'
	"$PXT_PYTHON" -c 'import os; os.truncate("one.ctf/stream", 9)'
	run 2 import ctf -o run.ptl one.ctf
	[ "$(echo run.ptl*)" = 'run.ptl*' ] || fail 'something was written'
	mkdir -p waits/kernel
	for name in waits/metadata waits/kernel/metadata; do
		mkfifo "$name"
		timeout 60 "$pxtrace" import ctf -o run.ptl waits 2>err
		[ $? -eq 2 ] || fail "$name"
		err_has "$name: is no regular file"
		rm "$name"
	done
	PATH=/nowhere "$pxtrace" import ctf -o run.ptl two.ctf 2>err
	[ $? -eq 2 ] || fail 'without babeltrace2'
	err_has 'babeltrace2, which reads and writes CTF, is not installed'
}

# ---- The Linux kernel ----

# job/42 sleeps, is woken by irq/7, and waits while other/43 runs: once for long.
make_kernel()
{
	at=1000
	for i in 1 2 3 4 5 6 7 8 9 10; do
		long=$((i == 7 ? 30 : 1))
		printf '  other-43 [001] d..2. 5.%06d: sched_switch: prev_comm=job prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=other next_pid=43 next_prio=120\n' $at
		printf '  irq/7-7 (7) [000] d..3. 5.%06d: sched_waking: comm=job pid=42 prio=120 target_cpu=001\n' $((at + 5000))
		printf '  other-43 [001] d..2. 5.%06d: sched_switch: prev_comm=other prev_pid=43 prev_prio=120 prev_state=R ==> next_comm=job next_pid=42 next_prio=120\n' $((at + 5000 + long * 1000))
		printf '  job-42 (41) [001] ..... 5.%06d: sched_migrate_task: comm=a b pid=44 prio=20 orig_cpu=0 dest_cpu=%d\n' $((at + 5001 + long * 1000)) $i
		at=$((at + 6000 + long * 1000))
	done
	printf 'CPU:1 [LOST 5 EVENTS]\n'
	printf '  job-42 (41) [001] ..... 5.900000: note: NR 1 (3, 7f)\n'
	printf '  job-42 (41) [001] ..... 5.900001: note: fd=3\n'
}

events_of_the_kernel_are_events_of_the_log()
{
	make_kernel >sched.txt
	run 0 import ftrace -o run.ptl sched.txt
	err_has 'sched.txt: 5 EVENTS LOST by the tracer'
	run 3 check run.ptl
	out_has '0 damaged'
	run 0 print run.ptl
	out_has 'prev_comm="job"  prev_tid=42  prev_prio=120  prev_state=1  next_comm="other"'
	out_has 'sched_migrate_task  comm="a b"  tid=44  prio=20  orig_cpu=0  dest_cpu=10'
	# Its events do not all say the same.
	out_has 'payload="NR 1 (3, 7f)"'
	out_has 'payload="fd=3"'
	run 0 stat run.ptl
	out_has sched_waking
}

why_answers_for_what_others_recorded()
{
	make_kernel >sched.txt
	run 0 import ftrace -o run.ptl sched.txt
	run 0 why --thread job run.ptl
	out_has 'job'
	out_has 'other'
}

# Stand-ins for the commands: their text is not ours to test.
files_of_perf_and_trace_cmd_are_read_by_their_own_commands()
{
	make_kernel >sched.txt
	run 0 import ftrace -o expected.ptl sched.txt
	run 0 print expected.ptl
	mv out expected
	mkdir bin
	for name in perf trace-cmd; do
		printf '#!/bin/sh\necho "$0" "$@" >asked\ncat sched.txt\n' >bin/$name
		chmod 755 bin/$name
	done
	printf 'PERFILE2and more' >perf.data
	printf '\027\010Dtracing6' >trace.dat
	PATH=$here/bin:$PATH "$pxtrace" import perf -o run.ptl perf.data 2>err || fail perf
	grep -q 'perf script .* -i perf.data' asked || fail 'perf was asked for something else'
	run 0 print run.ptl
	same expected
	PATH=$here/bin:$PATH "$pxtrace" import trace-cmd -o run.ptl trace.dat 2>err || fail trace-cmd
	grep -q 'trace-cmd report -t -i trace.dat' asked || fail 'trace-cmd was asked for something else'
	run 0 print run.ptl
	same expected
	rm run.ptl
	PATH=/nowhere "$pxtrace" import perf -o run.ptl perf.data 2>err
	[ $? -eq 2 ] || fail 'without perf'
	err_has 'perf, which reads this file, is not installed'
	printf '#!/bin/sh\nexit 3\n' >bin/perf
	PATH=$here/bin:$PATH "$pxtrace" import perf -o run.ptl perf.data 2>err
	[ $? -eq 2 ] || fail 'perf failed'
	[ ! -e run.ptl ] || fail 'a log was written'
}

what_is_no_trace_of_the_kernel_is_refused()
{
	printf 'nothing\n' >nothing.txt
	run 2 import ftrace -o run.ptl nothing.txt
	err_has 'there is no event of the kernel in it'
	err_has 'of a trace.dat that is cut, trace-cmd says nothing'
	printf '  job-42 [001] d..2. 4000000: sched_waking: comm=job pid=42 prio=120 target_cpu=001\n' >ticks.txt
	run 2 import ftrace -o run.ptl ticks.txt
	err_has 'say its rate by --hz'
	run 0 import ftrace --hz 1000000 -o run.ptl ticks.txt
	make_kernel | head -c -6 >cut.txt
	run 2 import ftrace -o cut.ptl cut.txt
	err_has 'its last line has no end'
	[ ! -e cut.ptl ] || fail 'a log was written'
	run 1 import ftrace -o run.ptl ticks.txt nothing.txt
	err_has 'one file'
}

# ---- SystemView ----

# sysview FILE: two tasks and an interrupt, by 1 MHz; the words are what SEGGER_SYSVIEW.c sends.
sysview()
{
	"$PXT_PYTHON" - "$1" <<-'END'
		import sys
		def number(value):
		    out = b""
		    while value > 127:
		        out += bytes([value & 127 | 128])
		        value >>= 7
		    return out + bytes([value])
		def text(value):
		    return bytes([len(value)]) + value
		def short(id, delta, *data):
		    return bytes([id]) + b"".join(d if isinstance(d, bytes) else number(d) for d in data) + number(delta)
		def long(id, delta, data):
		    return number(id) + number(len(data)) + data + number(delta)
		out = b"; SEGGER SystemViewer data\n;\n" + bytes(10) + short(10, 0)
		out += long(24, 0, number(1000000) + number(168000000) + number(0x20000000) + number(2))
		out += short(14, 0, text(b"N=App,O=FreeRTOS")) + short(13, 0, 0, 0)
		out += short(9, 0, 300, 5, text(b"control")) + short(9, 0, 400, 3, text(b"logger")) + short(21, 0, 300, 99, 512, 0)
		out += short(22, 0, 0, 512, text(b"M=FreeRTOS"))
		out += short(4, 1000, 400)            # logger runs
		for i in range(10):
		    out += short(2, 500, 15) + short(6, 10, 300) + short(18, 5)  # SysTick wakes control
		    out += short(4, 9000 if i == 6 else 20, 300)
		    out += long(600, 3, number(7)) + long(28, 4, number(600))
		    out += short(7, 50, 300, 4) + short(4, 5, 400)
		out += long(26, 1, text(b"temp %d") + number(0) + number(1) + number(21))
		out += short(15, 1, 2) + short(16, 70, 2) + short(1, 1, 4) + short(17, 2) + long(31, 0, number(1)) + short(11, 1)
		open(sys.argv[1], "wb").write(out)
	END
}

a_recording_of_systemview_is_a_log_of_switches_and_interrupts()
{
	sysview run.SVDat
	run 0 import systemview -o run.ptl run.SVDat
	err_has '1 extended events are left out'
	run 3 check run.ptl
	out_has '0 damaged'
	run 0 print run.ptl
	out_has 'prev_comm="idle"  prev_tid=0  prev_state=0  next_comm="logger"  next_tid=3'
	out_has 'prev_comm="control"  prev_tid=2  prev_state=1  next_comm="logger"'
	out_has 'isr=15'
	out_has 'message="temp %d"'
	out_has '5 EVENTS LOST'
	grep -q '0\.001500000 .*interrupts' out || fail 'the rate, or whose event it is'
	run 0 stat --pair isr_enter,isr_exit run.ptl
	run 0 why --thread control run.ptl
	out_has 'logger ran instead'
}

what_is_no_recording_of_systemview_is_refused()
{
	sysview run.SVDat
	printf 'nothing' >nothing.dat
	run 2 import systemview -o run.ptl nothing.dat
	err_has 'no recording of SystemView'
	{ cat run.SVDat; printf '\027\001'; } >odd.SVDat
	run 2 import systemview -o run.ptl odd.SVDat
	err_has 'has a packet with number 23, whose form is not known'
	[ ! -e run.ptl ] || fail 'a log was written'
	# Cut where it may be cut: what came before is there.
	head -c 300 run.SVDat >cut.SVDat
	run 0 import systemview -o run.ptl cut.SVDat
}

$case
