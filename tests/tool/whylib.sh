#!/bin/sh
# SPDX-License-Identifier: MIT
#
# whylib.sh - logs whose answer is known, because a recipe made them, for the tests of pxtrace why.
. "$(dirname "$0")/common.sh"

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
			"sched_process_fork:i32 child_tid:i32"
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

# Of the first span in JSON: an expression of Python in which "late" is it.
asked() { "${PXT_PYTHON:-python3}" -c "import json; late = json.load(open('out'))['late'][0]; print($1)"; }
# is EXPRESSION TEXT
is()
{
	found=$(asked "$1" 2>>err) || fail "JSON: $1"
	[ "$found" = "$2" ] || fail "$1 is $found, not $2"
}
add_up() { is 'sum(c["ns"] for c in late["causes"]) - late["length_ns"]' 0; }
answer() { [ "$(head -n 1 out)" = "$1" ] || fail "the answer is not \"$1\""; }

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
