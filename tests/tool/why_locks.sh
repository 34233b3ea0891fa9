#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why --locks: how locks were used, and orders that could deadlock; names of variables out of hostile
# binaries.
. "$(dirname "$0")/whylib.sh"

# deeds THREAD FROM WORD LOCK...: 10 us apart; words are wait, lock, unlock
deeds()
{
	who=$1
	at=$2
	shift 2
	while [ $# -gt 1 ]; do
		echo "$at $who lock_$1 $2"
		at=$((at + 10))
		shift 2
	done
}
# What a part of the JSON is: an expression of Python in which "told" is it.
part()
{
	"$pxtrace" why --locks --json "$1" >out 2>err || fail 'exit status'
	found=$("${PXT_PYTHON:-python3}" -c "import json; told = json.load(open('out')); print($2)" 2>>err) || fail "JSON: $2"
	[ "$found" = "$3" ] || fail "$2 is $found, not $3"
}

locks_are_told_by_what_was_waited_for_them()
{
	{
		deeds middle 100 wait 9 lock 9 unlock 9
		cat <<-END
			1000 low lock_wait 1
			1010 low lock_lock 1
			2500 high lock_wait 1
			11000 low lock_unlock 1
			11010 high lock_lock 1
			11300 high lock_unlock 1
		END
	} | story run.ptl
	run 0 why --locks run.ptl
	[ "$(sed -n 2p out | awk '{ print $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 }')" = 'lock 1 2 1 8.51 ms 8.51 ms 9.99 ms' ] || fail 'the first row'
	out_has 'high waited 8.51 ms for it at 2.50 ms, while low had it'
	COLUMNS=60 "$pxtrace" why --locks run.ptl >narrow || fail 'exit status'
	awk '/^LOCK/ || /^lock/ { if (length > 60) exit 1 }' narrow || fail "too wide: $(cat narrow)"
	[ "$(sed -n 2p narrow | tr -s ' ')" = 'lock 1 1 8.51 ms 8.51 ms 9.99 ms' ] || fail 'the first row of a narrow terminal'
	out_has 'low had it longest: 9.99 ms'
	out_has 'No locks were taken in orders that could deadlock.'
	part run.ptl '[row["lock"] for row in told["locks"]]' "['lock 1', 'lock 9']"
	part run.ptl '[told["locks"][0][k] for k in ("taken", "waits", "wait_ns", "held_ns")]' '[2, 1, 8510000, 9990000]'
	part run.ptl '[told["locks"][0][k] for k in ("longest_by", "longest_holder", "held_by")]' "['high', 'low', 'low']"
}

threads_are_called_as_they_were_at_that_time()
{
	{
		late_round
		echo "150000 - task_rename 103 $(comm low) $(comm done) 0"
		echo "150010 - task_rename 101 $(comm high) $(comm over) 0"
	} | log run.ptl
	run 0 why --locks run.ptl
	out_has 'high waited 50.0 ms for it at 71.7 ms, while low had it'
	out_has 'low had it longest: 61.7 ms'
}

# lives EVENT [BEGIN]: 100 is taken before 200; EVENT happens; 200 is taken before 100, which is waited for
lives()
{
	cat <<-END | traced run.ptl
		${2:-900 high function_enter 1 1}
		1000 high mutex_lock 100 0 0
		1100 high mutex_lock 200 0 0
		1200 high mutex_unlock 200 0
		1300 high mutex_unlock 100 0
		$1
		3000 low mutex_lock 200 0 0
		3100 low mutex_wait 100 104
		3200 other mutex_unlock 100 0
		3300 low mutex_lock 100 200 0
		3400 low mutex_unlock 100 0
		3500 low mutex_unlock 200 0
	END
	run 0 why --locks run.ptl
}

a_lock_that_was_made_at_the_address_of_another_is_another()
{
	lives '2000 high function_enter 1 1'
	out_has 'COULD DEADLOCK'
	out_has 'if an object was freed in between'
	# Its life is told: it has had another one.
	lives '2000 high function_enter 1 1' "$(
		printf '%s\n' '800 high mutex_lock 100 0 0' '810 high mutex_unlock 100 0' '820 high mutex_lock 200 0 0' \
			'830 high mutex_unlock 200 0' '900 high process 13 0 100 4096 -'
	)"
	out_has 'COULD DEADLOCK'
	out_lacks 'freed in between'
	# Destroyed, or made anew; the memory around it given back; another program.
	for event in 'process 13 0 100 40 -' 'process 13 0 0 4096 -' 'process 10 5 0 1 /bin/sh'; do
		lives "2000 high $event"
		out_lacks 'COULD DEADLOCK'
		[ "$(grep -c '0x64' out)" -ge 2 ] || fail "two locks in one row after $event: $(cat out)"
	done
	lives '2000 high process 13 0 104 40 -'
	out_has 'COULD DEADLOCK'
	# A read-write lock there says that the mutex is gone.
	lives '2000 high sync_lock 100 0 0 2'
	out_lacks 'COULD DEADLOCK'
}

without_the_scheduler_a_programs_locks_have_no_inversion()
{
	cat <<-END | traced run.ptl
		1000 low mutex_lock 100 0 0
		2500 high mutex_wait 100 103
		2600 middle job_begin 3
		10600 middle job_end 3
		11000 low mutex_unlock 100 0
		11010 high mutex_lock 100 8510 0
	END
	run 0 why --waits run.ptl
	out_has 'high waited 8.51 ms for'
	out_lacks inversion
	run 0 why --waits --json run.ptl
	grep -q '"priority_inversion":true' out && fail 'an inversion without priorities'
	return 0
}

a_semaphore_that_nobody_can_have_at_first_has_no_holder()
{
	waits='1000 low call_exit 2 64 0 0
		1100 high call_enter 1 64 100
		1110 high call_exit 1 64 0 10
		2000 middle call_enter 1 64 100
		5000 middle call_exit 1 64 -110 3000'
	echo "900 low process 14 1 64 32 -
		$waits" | traced run.ptl
	run 0 why --locks run.ptl
	out_has 'while high had it'
	for value in 0 5; do
		echo "900 low process 14 $value 64 32 -
			$waits" | traced run.ptl
		run 0 why --locks run.ptl
		out_lacks 'while high had it'
	done
}

waits_that_ended_by_their_limits_are_told_though_nobody_took_the_lock()
{
	traced run.ptl <<-END
		1000 low call_enter 1 64 100
		4000 low call_exit 1 64 -110 3000
		5000 low call_enter 1 64 100
		7000 low call_exit 1 64 -110 2000
		90000 middle job_end 3
	END
	run 0 why --locks run.ptl
	out_has 'semaphore 0x40             0       2     5.00 ms     3.00 ms'
}

locks_taken_in_both_orders_by_two_threads_could_deadlock()
{
	{
		deeds high 1000 lock 1 lock 2 unlock 2 unlock 1
		deeds low 2000 lock 2 lock 1 unlock 1 unlock 2
		deeds low 3000 lock 2 lock 1 unlock 1 unlock 2
	} | story run.ptl
	run 0 why --locks run.ptl
	out_has 'COULD DEADLOCK'
	out_has 'lock 1, then lock 2: high, 1 time, first at 1.01 ms'
	out_has 'lock 2, then lock 1: low, 2 times, first at 2.01 ms'
	part run.ptl 'len(told["could_deadlock"])' 1
	part run.ptl '[(o["first"], o["then"], o["thread"], o["count"]) for o in told["could_deadlock"][0]]' \
		"[('lock 1', 'lock 2', 'high', 1), ('lock 2', 'lock 1', 'low', 2)]"
}

# Each waits for what the other has, for ever.
a_deadlock_is_told_though_neither_got_its_second_lock()
{
	{
		deeds high 1000 lock 1
		deeds low 1100 lock 2
		deeds high 1200 wait 2
		deeds low 1300 wait 1
		deeds middle 9000 lock 3 unlock 3
	} | story run.ptl
	part run.ptl '[(o["first"], o["then"], o["thread"], o["count"]) for o in told["could_deadlock"][0]]' \
		"[('lock 1', 'lock 2', 'high', 1), ('lock 2', 'lock 1', 'low', 1)]"
	part run.ptl '[(row["lock"], row["taken"], row["waits"]) for row in told["locks"] if row["waits"]]' \
		"[('lock 2', 1, 1), ('lock 1', 1, 1)]"
	part run.ptl '[row["wait_ns"] // 1000 for row in told["locks"] if row["waits"]]' '[7810, 7710]'
}

both_orders_of_one_thread_alone_are_no_danger()
{
	{
		deeds high 1000 lock 1 lock 2 unlock 2 unlock 1
		deeds high 2000 lock 2 lock 1 unlock 1 unlock 2
	} | story run.ptl
	part run.ptl 'told["could_deadlock"]' '[]'
}

a_lock_around_both_orders_makes_them_safe()
{
	{
		deeds high 1000 lock 7 lock 1 lock 2 unlock 2 unlock 1 unlock 7
		deeds low 2000 lock 7 lock 2 lock 1 unlock 1 unlock 2 unlock 7
	} | story run.ptl
	part run.ptl 'told["could_deadlock"]' '[]'
	# Only where it is around both, ...
	{
		deeds high 1000 lock 7 lock 1 lock 2 unlock 2 unlock 1 unlock 7
		deeds low 2000 lock 2 lock 1 unlock 1 unlock 2
	} | story run.ptl
	part run.ptl 'len(told["could_deadlock"])' 1
	# ... and each time.
	{
		deeds high 1000 lock 7 lock 1 lock 2 unlock 2 unlock 1 unlock 7
		deeds high 1500 lock 1 lock 2 unlock 2 unlock 1
		deeds low 2000 lock 7 lock 2 lock 1 unlock 1 unlock 2 unlock 7
	} | story run.ptl
	part run.ptl 'len(told["could_deadlock"])' 1
}

a_ring_of_three_locks_is_found()
{
	{
		deeds high 1000 lock 1 lock 2 unlock 2 unlock 1
		deeds low 2000 lock 2 lock 3 unlock 3 unlock 2
		deeds middle 3000 lock 3 lock 1 unlock 1 unlock 3
		deeds other 4000 lock 3 lock 4 unlock 4 unlock 3
	} | story run.ptl
	part run.ptl '[[(o["first"][-1], o["then"][-1]) for o in ring] for ring in told["could_deadlock"]]' \
		"[[('1', '2'), ('2', '3'), ('3', '1')]]"
}

a_wait_across_a_loss_is_not_counted()
{
	{
		deeds low 1000 wait 1 lock 1
		echo '2000 high lock_wait 1'
		echo ':loss 3'
		deeds high 9000 lock 1 unlock 1
	} | story run.ptl
	part run.ptl '[told["locks"][0][k] for k in ("taken", "waits", "wait_ns")]' '[2, 0, 0]'
}

a_log_that_does_not_say_who_asks_has_no_waits()
{
	deeds low 1000 lock 1 unlock 1 | story run.ptl
	run 0 why --locks run.ptl
	out_has 'No event says when a lock is asked for'
	part run.ptl 'told["waits_known"]' False
	make_story
	printf 'event 1000 36 1 0\n' | make none.ptl
	run 0 why --locks none.ptl
	out_has 'No lock was taken in this log.'
}

a_choice_of_spans_is_none_of_locks()
{
	make_inversion run.ptl
	for option in '--event high*' '--thread high' '--at 1ms' '--longer-than 1ms' '--worst 2'; do
		# shellcheck disable=SC2086
		run 1 why --locks $option run.ptl
		err_has '--locks is of all locks'
	done
}

# ---- Binaries that were made to harm the reader of their symbols: anybody's log may name them ----

# names FILE: run.ptl is of a process that has mapped it, with locks in it
names()
{
	touch -d 2020-01-01 "$1"
	{
		echo "10 high process 1 0 $BASE 1048576 $PWD/$1"
		for i in 1 2 3 4; do
			echo "${i}000 low@$((BASE + 0x1000 + i)) mutex_wait $((BASE + 0x1000 + 8 * i)) 1"
			echo "${i}500 low@$((BASE + 0x1000 + i)) mutex_lock $((BASE + 0x1000 + 8 * i)) 500 0"
			echo "${i}600 low@$((BASE + 0x1000 + i)) mutex_unlock $((BASE + 0x1000 + 8 * i)) 0"
		done
	} | traced run.ptl
}

# elf NAME COPIES: symbols.elf, with a variable of that name, whose table of symbols is in so many sections
elf()
{
	"$PXT_PYTHON" - "$1" "$2" >symbols.elf <<-'END'
		import struct, sys
		name, copies = sys.argv[1].encode(), int(sys.argv[2])
		names = b"\0" + name + b"\0"
		symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x11, 0, 1, 0x1000, 4096) * 2000
		def section(kind, at, size, link=0, info=0, each=0):
		    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, link, info, 8, each)
		table = section(2, 64 + len(names), len(symbols), 1, 1, 24)
		sections = bytes(64) + section(3, 64, len(names)) + table * copies
		sys.stdout.buffer.write(b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0,
		    64 + len(names) + len(symbols), 0, 64, 56, 0, 64, copies + 2, 1) + names + symbols + sections)
	END
}

# instead PROGRAM: a program of that name comes first; its text is standard input
instead()
{
	mkdir -p .path
	cat >".path/$1"
	chmod 755 ".path/$1"
	PATH=$here/.path:$PATH
}

one_table_in_many_sections_takes_the_memory_of_one()
{
	needs_variables
	need addr2line
	elf v 3000
	names symbols.elf
	within 200000 "$pxtrace" print -a run.ptl >out 2>err || fail 'exit status'
	within 200000 "$pxtrace" why --locks run.ptl >out 2>err || fail 'exit status'
	out_has 'v+8'
}

# Some hundred bytes of a C++ name may stand for more than any memory holds.
a_name_that_cannot_be_demangled_stays_as_it_is()
{
	needs_variables
	elf _Z1xv 1
	names symbols.elf
	instead c++filt <<-'END'
		#!/bin/sh
		exec sleep 60
	END
	timeout 120 "$pxtrace" why --locks run.ptl >out 2>err || fail "exit status $?"
	out_has '_Z1xv'
	err_has 'keeps addr2line or c++filt from answering'
}

programs_that_are_asked_for_symbols_have_limits()
{
	needs_variables
	elf _Z1xv 1
	names symbols.elf
	for program in addr2line c++filt; do
		instead $program <<-'END'
			#!/bin/sh
			echo "$(ulimit -v) $(ulimit -t) $(ulimit -c)" >"${0##*/}.limits"
			cat
		END
	done
	run 0 why --locks run.ptl
	[ "$(cat c++filt.limits)" = '262144 20 0' ] || fail "limits of c++filt: $(cat c++filt.limits)"
	run 0 print -a run.ptl
	[ "$(cat addr2line.limits)" = '2097152 20 0' ] || fail "limits of addr2line: $(cat addr2line.limits)"
}

# addr2line looks for the file that .gnu_debuglink names, and opens it whatever it is.
a_fifo_in_place_of_debugging_information_is_not_waited_for()
{
	need objcopy
	make_library
	strip libcache.so
	printf 'cache.debug\0\1\2\3\4' >link
	objcopy --add-section .gnu_debuglink=link libcache.so
	mkfifo cache.debug
	names libcache.so
	timeout 120 "$pxtrace" print -a run.ptl >out 2>err || fail "exit status $?"
	out_has 'libcache.so+0x1'
}

"$case"
