#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the test files of this folder begin with: . "$(dirname "$0")/common.sh"
#
# A test file is called as FILE PXTRACE MKLOG GOLDEN-DIRECTORY CASE and ends in the line "$case".
# A case is a function whose name states one fact, in three words or more (programs.cmake makes a CTest
# of each; helpers have shorter names).  It makes a log (recipes: mklog.c) in an empty folder, which
# is removed afterwards, runs the command and looks at output, messages and exit status.  exit 77: skipped.
#
# In the environment: PXT_SOURCE (the source tree), PXT_BUILD (the build folder), PXT_PYTHON, and
# PXT_STRESS=full for the long form.

pxtrace=$1
mklog=$2
golden=$3
case=$4
here=$(mktemp -d) || exit 1
# Tables have all their columns, whatever terminal a test is called from.
unset COLUMNS
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
unset NO_COLOR XDG_RUNTIME_DIR
export LC_ALL=C TZ=UTC TERM=xterm

fail()
{
	printf 'FAILED: %s\n--- output\n' "$*"
	cat -v out 2>/dev/null
	printf -- '--- messages\n'
	cat -v err 2>/dev/null
	exit 1
}

# run STATUS ARGUMENTS...: output in ./out, messages in ./err
run()
{
	wanted=$1
	shift
	"$pxtrace" "$@" >out 2>err
	status=$?
	[ "$status" -eq "$wanted" ] || fail "exit status $status, not $wanted: pxtrace $*"
}

out_has() { grep -qF -- "$1" out || fail "no \"$1\" in the output"; }
out_lacks() { if grep -qF -- "$1" out; then fail "\"$1\" in the output"; fi; }
err_has() { grep -qF -- "$1" err || fail "no \"$1\" in the messages"; }
# A tool of 32 bits: its pthread_t and its pointers hold no more of a wider recorder's.
narrow() { [ "$(head -c 5 "$pxtrace" | tail -c 1 | od -An -tu1 | tr -d ' ')" = 1 ]; }
lines() { [ "$(wc -l <out)" -eq "$1" ] || fail "$(wc -l <out) lines, not $1"; }
# The names of all commands.
commands() { "$pxtrace" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }
# sound_but_for_losses LOG: at full speed some events may be lost.
sound_but_for_losses()
{
	"$pxtrace" check "$1" >out 2>err || [ $? -eq 3 ] || fail "$1 is not sound"
}
# What a test cannot do without.
need() { command -v "$1" >/dev/null || { echo "no $1: skipped"; exit 77; }; }
# FILE, which this build may not have, and the library that is loaded before others.
need_preload()
{
	[ -x "$1" ] && [ -e "$PXT_BUILD/sysevents/libptrace-preload.so" ] && return
	echo 'no library that is loaded before others in this build: skipped'
	exit 77
}
# A plugin of babeltrace2 that was built under AddressSanitizer wants its library in the process before all
# else: then $preload is that, and babeltrace2 is called with it, by pxtrace too. What babeltrace2 and Python
# themselves never free is not ours.
preload_for_plugin()
{
	preload=$(ldd "$PXT_BUILD/tools/babeltrace/babeltrace-plugin-ptrace.so" 2>/dev/null |
		sed -n 's/.*libasan[^ ]* => \([^ ]*\) .*/\1/p')
	[ -n "$preload" ] || return 0
	mkdir .path
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$preload" "$(command -v babeltrace2)" >.path/babeltrace2
	chmod 755 .path/babeltrace2
	PATH=$here/.path:$PATH
	export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
}
# within KIB COMMAND...: runs it with so much address space; skipped where the program does not even start
# with that (a sanitizer, an emulator).
within()
{
	(ulimit -v "$1" && "$pxtrace" --version) >/dev/null 2>&1 || { echo 'no such limit here: skipped'; exit 77; }
	(ulimit -v "$1" && shift && exec "$@")
}
same() { cmp -s "$1" out || { diff "$1" out; fail "the output is another one"; }; }

head_recipe='process 4711 box /opt/app/control
thread 1 0x7f0000001000 4712 sensor
thread 2 0x7f0000002000 4713 control
type 32 job_begin u32 job
type 33 job_end u32 job, i64 late_ns
type 34 mtx_lock x64 lock
type 35 mtx_unlock x64 lock
type 36 note
type 37 sample f64 value, u8 flags, text label
type 38 call_enter
type 39 call_exit'

# make FILE [FIRST]: head_recipe and standard input; FIRST are orders that stand in front of all
make() { { printf '%s\n' "${2:-#}" "$head_recipe"; cat; } | "$mklog" >"$1" || fail mklog; }

make_story()
{
	make run.ptl <<-END
		event 1000 2 0 0
		event 100000 32 1 0x401000 u32:1
		event 150000 34 2 0x401100 u64:0xdead
		event 300000 33 1 0x401010 u32:1 i64:-5000
		event 400000 35 2 0x401110 u64:0xdead
		event 1500000000 37 2 0 f64:0.25 u8:7 text:warm
		event 1600000000 3 0 0 u32:0
	END
}

# A log in several files.
make_rotated()
{
	[ -x "$PXT_BUILD/tests/untraced" ] || { echo 'the library was built without it: skipped'; exit 77; }
	PXTRACE_OUT=run.ptl,rotate=64K,files=99 "$PXT_BUILD/tests/untraced" many >out 2>err
	[ -e run.ptl/run.ptl.0003 ] || { echo 'logs of several files are not built: skipped'; exit 77; }
	run 0 check run.ptl
}

make_lossy()
{
	make lossy.ptl <<-END
		event 1000 32 1 0 u32:1
		loss 12
		event 5000 33 1 0 u32:1 i64:0
		event 6000 32 1 0 u32:2
		event 9000 33 1 0 u32:2 i64:0
	END
}

# flip FILE OFFSET: turns all bits of one byte round.
flip()
{
	byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	printf "\\$(printf %o $((255 - byte)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# Offsets of the DATA blocks, a line each.
data_blocks()
{
	size=$(wc -c <"$1")
	block=512
	while [ "$block" -lt "$size" ]; do
		[ "$(od -An -tu2 -j $((block + 4)) -N 2 "$1" | tr -d ' ')" = 1 ] && echo "$block"
		block=$((block + $(od -An -tu4 -j $((block + 8)) -N 4 "$1" | tr -d ' ')))
	done
}
first_data() { data_blocks "$1" | head -n 1; }

# await COMMAND...: until it succeeds, however busy the machine is; a minute without is a failure
await()
{
	for turn in $(seq 1200); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
has_text() { grep -qF -- "$2" "$1" 2>/dev/null; }
# until_has FILE TEXT
until_has() { await has_text "$@"; }
# until_heard PORT: somebody waits for packets or connections there
heard() { grep -qsh ":$(printf %04X "$1") " /proc/net/udp /proc/net/tcp; }
until_heard() { await heard "$1" || fail "nobody listens at $1"; }
# until_there FILE: with something in it
until_there() { await [ -s "$1" ] || fail "no $1"; }

# sound LOG: nothing is wrong with it, and nothing lost but, on a busy machine, of the scheduler's records.
sound()
{
	"$pxtrace" check "$1" >out 2>err && return
	missing=$(sed -n 's/.*: loss, \([0-9]*\) EVENTS LOST.*/\1/p' out)
	[ -n "$missing" ] && "$pxtrace" stat "$1" 2>/dev/null | grep -q "lost_by_scheduler: $missing events" ||
		fail "$1 is not sound"
}
