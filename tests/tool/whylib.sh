#!/bin/sh
# SPDX-License-Identifier: MIT
#
# whylib.sh - logs whose answer is known, because a recipe made them, for the tests of pxtrace why.
. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999

# story FILE: lines "MICROSECONDS THREAD EVENT NUMBER..." on standard input; other orders of mklog
# stand behind a colon.  Numbers become fields of the event's description.
story()
{
	awk '
	BEGIN {
		split("high middle low other", names)
		for (i = 1; i <= 4; i++) {
			index_of[names[i]] = i
			printf "thread %d 0x7f000000%d000 %d %s\n", i, i, 100 + i, names[i]
		}
		index_of["-"] = 0
		types = "high_begin:u32 job, i64 start_ns:u32 i64;high_end:u32 job:u32;" \
			"middle_begin:u32 job:u32;middle_end:u32 job:u32;low_begin:u32 job:u32;" \
			"low_end:u32 job:u32;lock_wait:u32 lock:u32;lock_lock:u32 lock:u32;" \
			"lock_unlock:u32 lock:u32;deadline_miss:u32 job, i64 late_ns:u32 i64;" \
			"sched_switch:u32 cpu, i32 prev_tid, i32 prev_prio, i64 prev_state, " \
			"i32 next_tid, i32 next_prio:u32 i32 i32 i64 i32 i32;" \
			"sched_wakeup:i32 tid:i32;high_release:u32 job:u32;step_enter::;step_exit::;" \
			"wait_block:u32 on:u32;wait_wake:i32 tid:i32;note::;high_late:u32 job:u32;" \
			"thread_state:i32 tid, i32 prio:i32 i32;" \
			"sched_process_fork:i32 child_tid:i32;" \
			"turn_begin:u32 job, i64 cpu_ns:u32 i64;turn_end:u32 job, i64 cpu_ns:u32 i64"
		count = split(types, list, ";")
		for (i = 1; i <= count; i++) {
			split(list[i], part, ":")
			id[part[1]] = 39 + i
			kinds[part[1]] = part[3]
			printf "type %d %s %s\n", 39 + i, part[1], part[2]
		}
	}
	/^[ \t]*:/ { sub(/^[ \t]*:/, ""); print; next }
	NF {
		if (!($3 in id) && $3 != "START" && $3 != "STOP") { print "what is " $3; exit }
		number = $3 == "START" ? 2 : $3 == "STOP" ? 3 : id[$3]
		line = sprintf("event %.0f %d %d 0", $1 * 1000, number, index_of[$2])
		split(kinds[$3], kind, " ")
		for (i = 4; i <= NF; i++) line = line " " kind[i - 3] ":" $i
		print line
	}' | "$mklog" >"$1" || fail mklog
}

# traced FILE: lines "MICROSECONDS THREAD[@ADDRESS] EVENT NUMBER..." of system events, and sched_switch,
# sched_wakeup; other orders of mklog stand behind a colon.  Numbers become fields as FORMAT.md has them.
traced()
{
	awk '
	BEGIN {
		split("high middle low other", names)
		for (i = 1; i <= 4; i++) {
			index_of[names[i]] = i
			printf "thread %d 0x7f000000%d000 %d %s\n", i, i, 100 + i, names[i]
		}
		index_of["-"] = 0
		print "system_types"
		print "type 40 sched_switch u32 cpu, i32 prev_tid, i32 prev_prio, i64 prev_state, i32 next_tid, i32 next_prio"
		print "type 41 sched_wakeup i32 tid"
		print "type 42 job_begin u32 job"
		print "type 43 job_end u32 job"
		print "type 44 page_faults u32 count, u8 major, u64 wait_ns"
		print "type 50 interrupts u64 ns, u32 count"
		print "type 51 block_io u64 ns, u32 bytes"
		print "type 52 cpu_frequency u32 khz"
		print "type 53 cpu_throttled u64 ns, u64 within_ns, u64 times"
		print "type 45 cpu_sample"
		print "type 47 sched_wakeup_new i32 tid"
		print "type 48 late_begin u32 job, i64 start_ns"
		print "type 49 late_end u32 job"
		print "type 46 task_rename i32 tid, char[16] oldcomm, char[16] newcomm, u8 exec"
		callers = " u64 u64 u64 u64 u64 u64 u64 u64"
		types = "mutex_wait:u64 u32;mutex_lock:u64 u32 i32" callers ";mutex_unlock:u64 i32;" \
			"cond_wait:u64 u64 i64;cond_resume:u64 u64 u32 i32" callers ";cond_signal:u64;" \
			"cond_broadcast:u64;sync_wait:u64 u32 u8;sync_lock:u64 u32 i32 u8" callers ";" \
			"sync_unlock:u64 i32 u8;process:u8 u32 u64 u64 text;call_enter:u16 u64 u64 i64;" \
			"call_exit:u16 u64 i64 u32" callers ";signal:u8 i32 u32 u64;" \
			"context_switch:u32 u32 u32 u32 i32 i32;task_state:u32 u8 i32 u64;" \
			"kernel_overhead:u8 u32 u64;function_enter:u64 u64;function_exit:u64 u64;" \
			"general_debug:u32 u64 text;sched_switch:u32 i32 i32 i64 i32 i32;sched_wakeup:i32;" \
			"job_begin:u32;job_end:u32;page_faults:u32 u8 u64;cpu_sample:;task_rename:i32 hex hex u8;" \
			"sched_wakeup_new:i32;late_begin:u32 i64;late_end:u32;interrupts:u64 u32;block_io:u64 u32;cpu_frequency:u32;" \
			"cpu_throttled:u64 u64 u64"
		count = split(types, list, ";")
		for (i = 1; i <= count; i++) {
			split(list[i], part, ":")
			id[part[1]] = i <= 20 ? 8 + i : 19 + i
			kinds[part[1]] = part[2]
		}
	}
	/^[ \t]*:thread / && !($5 in index_of) { index_of[$5] = $2 }
	/^[ \t]*:/ { sub(/^[ \t]*:/, ""); print; next }
	NF {
		if (!($3 in id)) { print "what is " $3; exit }
		split($2, who, "@")
		line = sprintf("event %.0f %d %d %s", $1 * 1000, id[$3], index_of[who[1]], who[2] ? who[2] : 0)
		split(kinds[$3], kind, " ")
		for (i = 4; i <= NF; i++) line = line " " kind[i - 3] ":" $i
		print line
	}' | "$mklog" >"$1" 2>mklog.err || {
		grep -q 'in this build' mklog.err && { echo 'a build without system events: skipped'; exit 77; }
		fail "mklog: $(cat mklog.err)"
	}
}

# comm NAME: as a field char[16]
comm() { printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n' | awk '{ printf "%s%0*d", $0, 32 - length, 0 }'; }

# A library with locks and functions, which lies at 0x7f0000000000, as an event of a process tells: image.
make_library()
{
	need cc
	need nm
	need addr2line
	cat >cache.c <<-'END'
	long cache_lock[8];
	static long table_lock[8];
	long queue_changed[8];
	void *refill(void) { return table_lock; }
	void *look_up(void) { return cache_lock; }
	void *store(void) { return queue_changed; }
	END
	cc -g -O0 -shared -fPIC cache.c -o libcache.so || fail 'no library'
	# As old as the logs.
	touch -d 2020-01-01 libcache.so
}
BASE=0x7f0000000000
# at SYMBOL [OFFSET]: its address; of a function, + 1 is as if it returned there
at() { printf '0x%x' $((BASE + 0x$(nm libcache.so | awk -v n="$1" '$3 == n { print $1 }') + ${2:-0})); }
# image MICROSECONDS [WHAT]
image() { echo "$1 high process ${2:-1} 0 $BASE 1048576 $PWD/libcache.so"; }

# Of the first span in JSON: an expression of Python in which "late" is it.
asked() { "${PXT_PYTHON:-python3}" -c "import json; late = json.load(open('out'))['late'][0]; print($1)"; }
# is EXPRESSION TEXT
is()
{
	found=$(asked "$1" 2>>err) || fail "JSON: $1"
	[ "$found" = "$2" ] || fail "$1 is $found, not $2"
}
add_up() { is 'sum(c["ns"] for c in late["causes"]) - late["length_ns"]' 0; }
answer() { case "$(head -n 1 out) " in "$1 "*) ;; *) fail "the answer is not \"$1\"" ;; esac; }

# tells PATTERN: the answer of pxtrace why for run.ptl has a line like it
tells()
{
	run 0 why run.ptl
	grep -q -- "$1" out || fail "another answer: $(head -n 1 out)"
}

# sleeps THREAD FROM_MS COUNT MS: as many sleeps of so many milliseconds, 0.1 ms of work between them.
sleeps()
{
	awk -v who="$1" -v from="$2" -v count="$3" -v ms="$4" 'BEGIN {
		for (i = 0; i < count; i++) {
			at = from * 1000 + i * (ms * 1000 + 100)
			printf "%d %s call_enter 6 0 %d\n", at, who, ms
			printf "%d %s call_exit 6 0 0 %d\n", at + ms * 1000, who, ms * 1000
		}
	}'
}

# Of traced lines, in order of time; the mutex is 0x40.
log() { sort -s -n -k 1,1 | traced "$1"; }

# round [FROM_MS [COUNT]]: run.ptl: high sleeps seven times until 71.7 ms, and COUNT times (6) from FROM_MS on (122);
# what happens in between is traced lines on standard input.
round() { { sleeps high 1 7 10; cat; sleeps high "${1:-122}" "${2:-6}" 10; } | log run.ptl; }

# explains TEXT: the answer of pxtrace why for run.ptl begins with it
explains()
{
	run 0 why run.ptl
	answer "$1"
}

# Twelve rounds of high, of which the seventh waits 50 ms for what low has.
late_round()
{
	sleeps high 1 7 10
	cat <<-END
		60000 low mutex_lock 64 0 0
		71700 high mutex_wait 64 103
		121700 low mutex_unlock 64 0
		121710 high mutex_lock 64 50010 0
		121720 high mutex_unlock 64 0
	END
	sleeps high 122 6 10
}

# What the kernel says of the time in which a thread ran: PAGES or samples.
ran()
{
	sleeps high 1 7 10
	cat <<-END
		71000 - sched_switch 0 0 120 0 101 120
		71700 high mutex_lock 64 0 0
		71710 high mutex_unlock 64 0
	END
	cat
	echo "121700 - sched_switch 0 101 120 1 0 120"
	sleeps high 121.8 6 10
}

make_inversion()
{
	story "$1" <<-END
		900 low low_begin 1
		1000 low lock_wait 1
		1010 low lock_lock 1
		2000 high high_begin 7 0
		2500 high lock_wait 1
		2600 middle middle_begin 3
		10600 middle middle_end 3
		11000 low lock_unlock 1
		11010 high lock_lock 1
		11300 high lock_unlock 1
		11400 high high_end 7
		11410 high deadline_miss 7 6400000
		12000 low low_end 1
	END
}

# Where the tool was built without libelf, variables have no names.
needs_variables()
{
	grep -q '^PTRACE_HAS_ELF:INTERNAL=1' "$PXT_BUILD/CMakeCache.txt" && return
	echo 'no names of variables in this build: skipped'
	exit 77
}
