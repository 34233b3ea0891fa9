#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Binaries that were made to harm the reader of their symbols: anybody's log may name them.
. "$(dirname "$0")/whylib.sh"

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
