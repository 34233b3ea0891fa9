#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace why: system events of programs that nobody changed, by their numbers. (LPT-30, QNX-22, QNX-24)
. "$(dirname "$0")/whylib.sh"

# What a part of the JSON of --locks is: an expression of Python in which "told" is it.
part()
{
	"$pxtrace" why --locks --json "$1" >out 2>err || fail 'exit status'
	found=$("${PXT_PYTHON:-python3}" -c "import json; told = json.load(open('out')); print($2)" 2>>err) || fail "JSON: $2"
	[ "$found" = "$3" ] || fail "$2 is $found, not $3"
}

# LPT-30, SHARK-37: one lock waited for three times; its holder sits in fsync, then runs
make_convoy()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low@$(at refill 1) mutex_lock $(at cache_lock) 0 0
			1100 low@$(at refill 1) call_enter 18 7 0
			2000 high@$(at look_up 1) mutex_wait $(at cache_lock) 103
			13900 low@$(at refill 1) call_exit 18 7 0 12800
			14400 low@$(at refill 1) mutex_unlock $(at cache_lock) 0
			14410 high@$(at look_up 1) mutex_lock $(at cache_lock) 12410 0
			14500 middle@$(at look_up 1) mutex_wait $(at cache_lock) 101
			14900 high@$(at look_up 1) mutex_unlock $(at cache_lock) 0
			15000 middle@$(at look_up 1) mutex_lock $(at cache_lock) 500 0
			15100 middle@$(at look_up 1) mutex_unlock $(at cache_lock) 0
		END
	} | traced "$1"
}

the_lock_its_holder_the_place_and_what_was_done_meanwhile_are_told()
{
	needs_variables
	make_convoy run.ptl
	explains 'high waited 12.4 ms for cache_lock, which low had, taken in refill (cache.c:4); low was in fsync of descriptor 7 for 11.9 ms in refill (cache.c:4). Waits for it: 2, 12.9 ms in all.'
	run 0 why --json run.ptl
	is 'late["variable"], late["waits"], late["waits_ns"]' 'cache_lock 2 12910000'
	is 'late["first_used_in"]' 'refill (cache.c:4)'
	is 'late["causes"][0]["call"], late["causes"][0]["call_object"]' 'fsync 7'
	is 'late["causes"][0]["chain"][0]["taken_in"]' 'refill (cache.c:4)'
	add_up
}

locks_of_programs_are_told_with_variables_and_places()
{
	needs_variables
	make_convoy run.ptl
	run 0 why --locks run.ptl
	out_has 'cache_lock                 3       2     12.9 ms     12.4 ms     13.4 ms'
	out_has 'high waited 12.4 ms for it at 2.00 ms, while low had it, taken in refill (cache.c:4)'
	out_has 'low had it longest: 13.4 ms, taken in refill (cache.c:4)'
	part run.ptl '[told["locks"][0][k] for k in ("lock", "waits", "longest_holder", "longest_holder_place")]' \
		"['cache_lock', 2, 'low', 'refill (cache.c:4)']"
}

# LPT-24: what the scheduler says of a thread in a call; it sleeps in it, is kept from running, and runs
in_a_call_a_thread_sleeps_is_kept_from_running_and_runs()
{
	traced run.ptl <<-END
		900 - sched_switch 0 0 120 0 103 20
		1000 low mutex_lock 64 0 0
		1100 low call_enter 7 5 100
		1200 - sched_switch 0 103 20 1 104 20
		2000 high mutex_wait 64 103
		5000 - sched_wakeup 103
		7000 - sched_switch 0 104 20 0 103 20
		8000 - sched_switch 0 103 20 1 104 20
		12000 - sched_wakeup 103
		12500 - sched_switch 0 104 20 0 103 20
		13000 low call_exit 7 5 100 11900
		13100 low mutex_unlock 64 0
		13200 high mutex_lock 64 11200 0
	END
	run 0 why --json run.ptl
	is 'late["answer"]' 'high waited 11.2 ms for mutex 0x40, which low had; low was in read of descriptor 5 for 11.0 ms.'
	is '[c["ns"] for c in late["causes"] if c["text"].endswith("was in read of descriptor 5")]' '[7000000]'
	is '[c["ns"] for c in late["causes"] if c["text"].endswith("could not run: other did")]' '[2500000]'
	is '[c["ns"] for c in late["causes"] if c["text"].endswith("low had it")]' '[1600000]'
	add_up
	run 0 why --off-cpu --thread low run.ptl
	answer 'low was off the CPU for 5.80 ms: it was in read of descriptor 5 for 5.80 ms; for 2.00 ms of it it could run, but other ran instead.'
}

a_lock_that_was_not_had_ends_the_wait_alone()
{
	traced run.ptl <<-END
		1000 low mutex_lock 64 0 0
		2000 high mutex_wait 64 103
		7000 high mutex_lock 64 5000 110
		7100 high mutex_unlock 64 1
		9000 middle mutex_wait 64 103
		9500 low mutex_unlock 64 0
		9600 middle mutex_lock 64 600 130
		9700 middle mutex_unlock 64 0
	END
	explains 'high waited 5.00 ms for mutex 0x40, which low had. Waits for it: 2, 5.60 ms in all.'
	part run.ptl '[told["locks"][0][k] for k in ("taken", "waits", "wait_ns", "held_by")]' "[2, 2, 5600000, 'low']"
}

# Nothing of a lock that is free is recorded: the lock itself tells who has it.
with_waits_alone_the_holder_is_known_from_the_lock_and_its_release()
{
	needs_variables
	make_library
	{
		image 10
		cat <<-END
			2000 high@$(at look_up 1) mutex_wait $(at cache_lock) 103
			7000 low@$(at store 1) mutex_unlock $(at cache_lock) 0
			7010 high@$(at look_up 1) mutex_lock $(at cache_lock) 5010 0
			8000 high@$(at look_up 1) mutex_wait $(at table_lock) 103
			8500 low@$(at store 1) mutex_unlock $(at table_lock) 0
			8510 high@$(at look_up 1) mutex_lock $(at table_lock) 510 0
			9000 low@$(at store 1) mutex_wait $(at table_lock) 101
			9100 high@$(at look_up 1) mutex_unlock $(at table_lock) 0
			9200 low@$(at store 1) mutex_lock $(at table_lock) 200 0
			9300 low@$(at store 1) mutex_wait $(at cache_lock) 101
			9400 high@$(at look_up 1) mutex_unlock $(at cache_lock) 0
			9500 low@$(at store 1) mutex_lock $(at cache_lock) 200 0
		END
	} | traced run.ptl
	explains 'high waited 5.01 ms for cache_lock, which low had, given back in store (cache.c:6). Waits for it: 2, 5.21 ms in all.'
	out_has 'holder=103  <- low has it'
	run 0 why --locks run.ptl
	out_has 'while low had it, given back in store (cache.c:6)'
	# A thread seems to have what it gave back long ago: no order is concluded.
	out_has 'in which orders locks are taken is not known'
	out_lacks 'COULD DEADLOCK'
	part run.ptl 'told["orders_known"], told["could_deadlock"]' 'False []'
}

# In a pid namespace of their own threads have numbers that another process' threads have there, too.
a_holder_is_a_thread_of_the_process_that_names_it()
{
	{
		printf ':%s\n' 'pid 800' 'thread 5 0x7f0000005000 800 red' 'thread 6 0x7f0000006000 0 red-hold' \
			'pid 900' 'thread 7 0x7f0000007000 900 blue' 'thread 8 0x7f0000008000 0 blue-hold'
		cat <<-END
			1000 blue process 4 1 0 0 -
			1010 blue-hold process 4 2 0 0 -
			1020 red process 4 1 0 0 -
			1030 red-hold process 4 2 0 0 -
			2000 red mutex_wait 64 2
			2500 blue mutex_wait 64 2
			3000 blue-hold mutex_unlock 64 0
			3010 blue mutex_lock 64 510 110
			7000 red-hold mutex_unlock 64 0
			7010 red mutex_lock 64 5010 110
		END
	} | traced run.ptl
	explains 'red waited 5.01 ms for mutex 0x40, which red-hold had.'
	out_has 'holder=2  <- red-hold has it'
}

# What it says of one of its threads says nothing of another process' thread with that number.
a_name_is_given_to_a_thread_of_the_process_that_says_it()
{
	{
		printf ':%s\n' 'pid 800' 'thread 5 0x7f0000005000 800 red' 'thread 6 0x7f0000006000 0 red-hold'
		cat <<-END
			900 low mutex_lock 72 0 0
			1000 red process 4 1 0 0 -
			1020 red-hold process 4 103 0 0 -
			1030 red process 6 103 0 0 red-late
			2000 low mutex_lock 64 0 0
			2010 red-hold mutex_lock 64 0 0
		END
	} | traced run.ptl
	run 0 print --event posix_trace_mutex_lock run.ptl
	out_has 'low/103'
	out_has 'red-late'
	out_lacks 'red-late/103'
}

orders_that_could_deadlock_name_both_places()
{
	needs_variables
	make_library
	{
		image 10
		cat <<-END
			1000 high@$(at refill 1) mutex_lock $(at cache_lock) 0 0
			1100 high@$(at look_up 1) mutex_lock $(at table_lock) 0 0
			1200 high@$(at look_up 1) mutex_unlock $(at table_lock) 0
			1300 high@$(at refill 1) mutex_unlock $(at cache_lock) 0
			2000 low@$(at store 1) mutex_lock $(at table_lock) 0 0
			2100 low@$(at store 1) mutex_lock $(at cache_lock) 0 0
			2200 low@$(at store 1) mutex_unlock $(at cache_lock) 0
			2300 low@$(at store 1) mutex_unlock $(at table_lock) 0
		END
	} | traced run.ptl
	run 0 why --locks run.ptl
	out_has 'cache_lock in refill (cache.c:4), then table_lock in look_up (cache.c:5): high, 1 time'
	out_has 'table_lock in store (cache.c:6), then cache_lock in store (cache.c:6): low, 1 time'
	part run.ptl '[(o["first_place"], o["place"]) for o in told["could_deadlock"][0]][0]' \
		"('refill (cache.c:4)', 'look_up (cache.c:5)')"
}

several_readers_have_a_lock_until_the_last_gives_it_back()
{
	traced run.ptl <<-END
		1000 low sync_lock 64 0 0 1
		1100 middle sync_lock 64 0 0 1
		1200 other sync_lock 64 0 0 1
		2000 high sync_wait 64 0 2
		3000 low sync_unlock 64 0 1
		5000 other sync_unlock 64 0 1
		9000 middle sync_unlock 64 0 1
		9010 high sync_lock 64 7010 0 2
		9100 low sync_wait 64 101 1
		9200 high sync_unlock 64 0 2
		9300 low sync_lock 64 200 0 1
		9400 low sync_unlock 64 0 1
	END
	explains 'high waited 7.01 ms for rwlock 0x40 (to write), which middle had. Waits for it: 2, 7.21 ms in all.'
	out_has 'waited for rwlock 0x40: low and 2 more had it'
	out_has 'waited for rwlock 0x40: middle had it'
	run 0 why --json run.ptl
	is 'late["to"]' write
	is '[c["ns"] for c in late["causes"] if c["chain"][0]["holder"] == "middle"]' '[4000000, 2000000]'
	is '[c["priority_inversion"] for c in late["causes"]]' '[False, False, False, False]'
	run 0 why --thread low run.ptl
	answer 'low waited 200 us for rwlock 0x40 (to read), which high had. Waits for it: 2, 7.21 ms in all.'
	part run.ptl '[told["locks"][0][k] for k in ("lock", "taken", "held_by", "held_ns")]' "['rwlock 0x40', 5, 'middle', 7900000]"
}

a_holder_that_nobody_saw_take_the_lock_is_who_gave_it_back()
{
	traced run.ptl <<-END
		2000 high sync_wait 64 0 2
		3000 low sync_lock 64 0 0 1
		4000 middle sync_lock 64 0 0 1
		7000 low sync_unlock 64 0 1
		9000 middle sync_unlock 64 0 1
		9010 high sync_lock 64 7010 0 2
		9100 high sync_unlock 64 0 2
	END
	part run.ptl '[told["locks"][0][k] for k in ("waits", "longest_by", "longest_holder")]' "[1, 'high', 'middle']"
}

where_nobody_waited_nothing_is_missing()
{
	printf '1000 low mutex_lock 64 0 0\n2000 low mutex_unlock 64 0\n' | traced run.ptl
	run 0 why --locks run.ptl
	out_has 'mutex 0x40'
	out_lacks 'waits are not known'
	part run.ptl 'told["waits_known"]' True
}

spin_locks_and_condition_variables_are_told_by_what_they_are()
{
	needs_variables
	make_library
	{
		image 10
		cat <<-END
			1000 low sync_lock 64 0 0 3
			2000 high sync_wait 64 103 3
			3000 low sync_unlock 64 0 3
			3010 high sync_lock 64 1010 0 3
			4000 low mutex_lock $(at cache_lock) 0 0
			4100 low mutex_lock $(at table_lock) 0 0
			4200 low cond_wait $(at queue_changed) $(at table_lock)
			5000 high mutex_wait $(at cache_lock) 103
			5100 middle mutex_lock $(at table_lock) 0 0
			5200 middle mutex_unlock $(at table_lock) 0
			8000 other cond_signal $(at queue_changed)
			8500 low cond_resume $(at queue_changed) $(at table_lock) 4300 0
			8600 low mutex_unlock $(at table_lock) 0
			8700 low mutex_unlock $(at cache_lock) 0
			8800 high mutex_lock $(at cache_lock) 3800 0
		END
	} | traced run.ptl
	explains 'high waited 3.80 ms for cache_lock, which low had; low was in pthread_cond_wait of queue_changed for 3.50 ms, until other woke it; other did for 3.50 ms what is not recorded: own work, or a call that blocked.'
	run 0 why --worst 2 run.ptl
	out_has 'high waited 1.01 ms for spin lock 0x40, which low had.'
	# While it waits for the condition the mutex is another one's.
	part run.ptl '[row["taken"] for row in told["locks"] if row["lock"] == "table_lock"]' '[3]'
	part run.ptl '[row["waits"] for row in told["locks"] if row["lock"] == "table_lock"]' '[0]'
}

a_lock_without_a_name_is_told_by_where_it_was_first_used()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low@$(at refill 1) mutex_lock 64 0 0
			2000 high@$(at look_up 1) mutex_wait 64 103
			3000 low@$(at store 1) mutex_unlock 64 0
			3010 high@$(at look_up 1) mutex_lock 64 1010 0
		END
	} | traced run.ptl
	explains 'high waited 1.01 ms for mutex 0x40 (first used in refill (cache.c:4)), which low had, taken in refill (cache.c:4).'
}

# QNX-24: addresses mean something in one process, for as long as the image is there
an_image_is_there_from_its_event_until_it_is_gone()
{
	make_library
	{
		image 1000
		cat <<-END
			1010 low@$(at refill 1) mutex_lock $(at cache_lock) 0 0
			1020 low@$(at refill 1) mutex_unlock $(at cache_lock) 0
			1100 high process 2 0 $BASE 0 $PWD/libcache.so
			1110 low@$(at refill 1) mutex_lock 64 0 0
			1120 low@$(at refill 1) mutex_unlock 64 0
			1200 high process 1 0 $BASE 1048576 /nowhere/libother.so
			1210 low@$(at refill 1) mutex_lock 64 0 0
			1220 low@$(at refill 1) mutex_unlock 64 0
			1300 high process 10 4711 0 1 /bin/another
			1310 low@$(at refill 1) mutex_lock 64 0 0
		END
	} | traced run.ptl
	run 0 print --address --event 'posix_trace_mutex_lock' --format '{address}' run.ptl
	sed -i 's/+0x.*//; s/^0x.*/a number/' out
	[ "$(cat out)" = "$(printf 'refill (cache.c:4)\na number\nlibother.so\na number')" ] || fail 'other places'
	# What runs a moment before its image is told of belongs to it.
	{
		echo "500 low@$(at refill 1) mutex_lock 64 0 0"
		image 1000
	} | traced early.ptl
	run 0 print --address --event 'posix_trace_mutex_lock' --format '{address}' early.ptl
	[ "$(cat out)" = 'refill (cache.c:4)' ] || fail 'another place'
}

# place_of [BUILD] [OPTION...]: what the place of one event is called; with BUILD the log tells of the image's build.
place_of()
{
	{
		[ -z "${1-}" ] || echo "10 high process 15 0 $BASE 1048576 $([ "$1" = none ] || echo "$1")"
		image 10
		echo "1000 low@$(at refill 1) mutex_lock $(at cache_lock) 0 0"
	} | traced run.ptl
	[ $# -eq 0 ] || shift
	run 0 print --address --event 'posix_trace_mutex_lock' --format '{address}' "$@" run.ptl
	cat out
}
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }

an_image_is_the_same_build_by_its_build_id_and_not_by_its_date()
{
	need readelf
	make_library
	id=$(build_id libcache.so)
	[ -n "$id" ] || { echo 'no build-ids here: skipped'; exit 77; }
	touch libcache.so
	[ "$(place_of "$id")" = 'refill (cache.c:4)' ] || fail 'a newer date took the names'
	[ ! -s err ] || fail 'something is wrong with a copy'
	mkdir -p "copy$PWD"
	cp libcache.so "copy$PWD"
	[ "$(place_of "$id" --root copy)" = 'refill (cache.c:4)' ] || fail 'a copy has no names'
	# Another build, that is as old as the log.
	cc -g -O1 -shared -fPIC cache.c -o libcache.so
	touch -d 2020-01-01 libcache.so
	other=$(build_id libcache.so)
	case $(place_of "$id") in libcache.so+0x*) ;; *) fail 'names of another build' ;; esac
	err_has "libcache.so: is another build than the one that was traced (build-id $other, not $id)"
	# What was stripped from the traced one is found by its build-id, whatever is in its place.
	debug=copy/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)
	mkdir -p "$debug"
	objcopy --only-keep-debug "copy$PWD/libcache.so" "$debug/$(echo "$id" | cut -c 3-).debug"
	rm "copy$PWD/libcache.so"
	[ "$(place_of "$id" --root copy)" = 'refill (cache.c:4)' ] || fail 'no names by the build-id'
	cp "libcache.so" "$debug/$(echo "$id" | cut -c 3-).debug"
	case $(place_of "$id" --root copy) in libcache.so+0x*) ;; *) fail 'a debug file of another build' ;; esac
}

without_a_build_id_the_date_of_an_image_has_to_do()
{
	need readelf
	make_library
	cc -g -O0 -shared -fPIC -Wl,--build-id=none cache.c -o libcache.so
	touch -d 2020-01-01 libcache.so
	for told in '' none; do
		[ "$(place_of $told)" = 'refill (cache.c:4)' ] || fail "an old file: ${told:-log from before}"
	done
	touch libcache.so
	for told in '' none; do
		case $(place_of $told) in libcache.so+0x*) ;; *) fail "another place: ${told:-log from before}" ;; esac
		err_has 'by its date is another build than the one that was traced, of which the log has no build-id'
	done
	touch -d 2020-01-01 libcache.so
	case $(place_of 00112233) in libcache.so+0x*) ;; *) fail 'the traced one had a build-id' ;; esac
	err_has 'is another build than the one that was traced (without a build-id, not 00112233)'
	# The log says that it had none: a file that has one is another.
	cc -g -O0 -shared -fPIC -Wl,--build-id=0x4455 cache.c -o libcache.so
	touch -d 2020-01-01 libcache.so
	case $(place_of none) in libcache.so+0x*) ;; *) fail 'the traced one had no build-id' ;; esac
	err_has '(build-id 4455, not one without a build-id)'
	# The log's own table of modules likewise.
	make_module() { printf 'module 0x%x 0x%x 0x%x - %s\nevent 1000 32 1 %d u32:1\n' \
		$((BASE)) $((BASE)) $((BASE + 1048576)) "$PWD/libplain.so" "$(($(at refill 1)))" | "$mklog" >run.ptl; }
	cc -g -O0 -shared -fPIC -Wl,--build-id=none cache.c -o libplain.so
	cp libplain.so libcache.so
	make_module || fail mklog
	touch -d 2001-01-01 libplain.so
	run 0 print --address --format '{address}' run.ptl
	out_has 'refill (cache.c:4)'
	touch libplain.so
	run 0 print --address --format '{address}' run.ptl
	out_has 'libplain.so+0x'
	err_has 'libplain.so: by its date is another build'
}

the_functions_that_called_are_told_with_a_long_wait()
{
	make_library
	{
		image 10
		echo "1000 low@$(at refill 1) mutex_lock 64 20000 0 $(at look_up 1) $(at store 1)"
		echo "1100 low@$(at refill 1) mutex_unlock 64 0"
	} | traced run.ptl
	run 0 print --address --event 'posix_trace_mutex*' run.ptl
	out_has 'posix_trace_mutex_lock  refill (cache.c:4)  lock=0x40  waited_us=20000  result=0'
	[ "$(sed -n 's/^ *called by //p' out | tr '\n' ';')" = 'look_up (cache.c:5);store (cache.c:6);' ] || fail 'other callers'
	lines 4
	run 0 print --json --address --event 'posix_trace_mutex_lock' run.ptl
	out_has '"callers":["look_up (cache.c:5)","store (cache.c:6)"]'
}

# LPT-30: who waited, and in which functions it was
where_a_thread_waited_is_told_with_the_functions_that_called()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low@$(at refill 1) mutex_lock 64 0 0
			2000 high@$(at look_up 1) mutex_wait 64 103
			3000 low@$(at store 1) mutex_unlock 64 0
			3010 high@$(at look_up 1) mutex_lock 64 1010 0 $(at store 1) $(at refill 1)
		END
	} | traced run.ptl
	run 0 why run.ptl
	sed -n '/^WHERE IT WAITED/,/^$/p' out | sed 1d | tr -s ' ' >waited
	[ "$(cat waited)" = "$(printf ' look_up (cache.c:5)\n called by store (cache.c:6)\n called by refill (cache.c:4)')" ] ||
		fail "other places: $(cat waited)"
	run 0 why --json run.ptl
	is 'late["asked_for_in"], late["callers"]' "look_up (cache.c:5) ['store (cache.c:6)', 'refill (cache.c:4)']"
}

# QNX-54
functions_say_what_a_thread_did_meanwhile()
{
	make_library
	{
		image 10
		cat <<-END
			900 low function_enter $(at store) 0
			1000 low@$(at store 1) mutex_lock 64 0 0
			2000 high@$(at look_up 1) mutex_wait 64 103
			2500 low function_enter $(at refill) 0
			2600 low function_enter $(at look_up) 0
			2700 low function_exit $(at refill) 0
			6000 low function_enter $(at refill) 0
			11000 low function_exit $(at refill) 0
			11100 low mutex_unlock 64 0
			11110 high mutex_lock 64 9110 0
			12000 middle job_begin 1
			12100 middle function_enter $(at store) 0
			19000 middle function_exit $(at store) 0
			20000 middle job_end 1
		END
	} | traced run.ptl
	run 0 why --waits run.ptl
	answer 'high waited 9.11 ms for mutex 0x40 (first used in store (cache.c:6)), which low had, taken in store (cache.c:6); that one was in refill (cache.c:4) for 5.10 ms.'
	run 0 why --waits --json run.ptl
	is '[(c.get("function"), c["ns"]) for c in late["causes"]][:2]' \
		"[('refill (cache.c:4)', 5100000), ('store (cache.c:6)', 3900000)]"
	add_up
	explains 'Job 1 of middle took 8.00 ms: what it did for 8.00 ms is not recorded (own work, or a call that blocked), most of it in store (cache.c:6).'
}

# The thread is the same, and its functions, holds and waits are not.
after_an_exec_a_thread_is_in_no_function_of_the_program_before()
{
	make_library
	{
		image 10
		cat <<-END
			900 low function_enter $(at store) 0
			1000 low process 8 0 0 0 /bin/next
			1100 low process 10 103 0 0 /bin/next
			1200 low mutex_lock 64 0 0
			2000 high mutex_wait 64 103
			11100 low mutex_unlock 64 0
			11110 high mutex_lock 64 9110 0
		END
	} | traced run.ptl
	run 0 why --waits run.ptl
	out_has 'which low had'
	out_lacks store
	run 0 why --waits --json run.ptl
	out_lacks store
}

who_signalled_a_condition_is_told_of_the_wait_for_it()
{
	needs_variables
	make_library
	{
		image 10
		cat <<-END
			900 - sched_switch 0 0 120 0 101 20
			1000 high mutex_lock $(at table_lock) 0 0
			1100 high cond_wait $(at queue_changed) $(at table_lock)
			1200 - sched_switch 0 101 20 1 103 20
			3000 low@$(at refill 1) cond_signal $(at table_lock)
			5000 low@$(at store 1) cond_broadcast $(at queue_changed)
			6000 - sched_switch 0 103 20 0 101 20
			6100 high cond_resume $(at queue_changed) $(at table_lock) 5000 0
			6200 high mutex_unlock $(at table_lock) 0
		END
	} | traced run.ptl
	run 0 why --off-cpu --thread high run.ptl
	answer 'high was off the CPU for 4.80 ms: it was in pthread_cond_wait of queue_changed for 4.80 ms, until low signalled it in store (cache.c:6).'
}

# SHARK-38: Python's locks are semaphores, which who waits takes and gives back
a_semaphore_that_is_used_as_a_lock_has_a_holder()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low@$(at refill 1) call_enter 1 64 0
			1010 low@$(at refill 1) call_exit 1 64 0 1
			2000 high@$(at look_up 1) call_enter 1 64 0
			2010 high@$(at look_up 1) call_exit 1 64 -11 1
			3000 high@$(at look_up 1) call_enter 1 64 100
			8000 low@$(at store 1) call_exit 2 64 0 0
			8010 high@$(at look_up 1) call_exit 1 64 0 5010
			8100 high@$(at store 1) call_exit 2 64 0 0
		END
	} | traced run.ptl
	explains 'high waited 5.01 ms for semaphore 0x40 (first used in refill (cache.c:4)), which low had, taken in refill (cache.c:4).'
	part run.ptl '[told["locks"][0][k] for k in ("lock", "taken", "waits", "longest_holder", "held_by", "held_ns")]' \
		"['semaphore 0x40 (first used in refill (cache.c:4))', 2, 1, 'low', 'low', 6990000]"
	run 0 why --locks run.ptl
	out_lacks 'orders locks are taken is not known'
}

# Who takes one that others post has nothing that it could give back.
a_semaphore_that_others_post_has_none()
{
	make_library
	{
		image 10
		cat <<-END
			1000 low@$(at store 1) call_exit 2 64 0 0
			1100 high@$(at look_up 1) call_enter 1 64 100
			1110 high@$(at look_up 1) call_exit 1 64 0 10
			2000 high@$(at look_up 1) call_enter 1 64 100
			5000 low@$(at store 1) call_exit 2 64 0 0
			5010 high@$(at look_up 1) call_exit 1 64 0 3010
			6000 middle@$(at look_up 1) call_enter 1 64 100
			9500 low@$(at refill 1) call_exit 2 64 0 0
			9510 middle@$(at look_up 1) call_exit 1 64 0 3510
		END
	} | traced run.ptl
	explains 'middle waited 3.51 ms for semaphore 0x40 (first used in store (cache.c:6)), until low posted it in refill (cache.c:4). Waits for it: 3, 6.53 ms in all.'
	out_has 'waited for semaphore 0x40: low posted it'
	run 0 why --thread high run.ptl
	answer 'high waited 3.01 ms for semaphore 0x40 (first used in store (cache.c:6)), until low posted it in store (cache.c:6). Waits for it: 3, 6.53 ms in all.'
	run 0 why --locks run.ptl
	out_has 'until low posted it in refill (cache.c:4)'
	out_lacks 'DEADLOCK'
}

# Rust's locks: nothing is told of one that is free, and of one that is not, who wakes whom.
who_woke_a_thread_from_a_futex_is_told()
{
	make_library
	{
		image 10
		cat <<-END
			1000 high@$(at look_up 1) call_enter 19 64 0
			1010 high@$(at look_up 1) call_exit 19 64 -11 10
			2000 high@$(at look_up 1) call_enter 19 64 0
			5000 low@$(at store 1) call_exit 32 64 0 0
			5010 high@$(at look_up 1) call_exit 19 64 0 3010
			6000 - sched_switch 0 0 120 0 101 20
			6010 high@$(at look_up 1) call_enter 19 64 0
			6020 - sched_switch 0 101 20 1 102 20
			6100 low@$(at store 1) call_exit 32 64 0 0
			6110 - sched_wakeup 101
			9000 - sched_switch 0 102 20 0 101 20
			9010 high@$(at look_up 1) call_exit 19 64 0 3000
		END
	} | traced run.ptl
	run 0 why --worst 2 run.ptl
	out_has 'high waited 3.01 ms for futex 0x40 (first used in look_up (cache.c:5)), until low woke it in store (cache.c:6).'
	out_has 'for futex 0x40 (first used in look_up (cache.c:5)): for 2.89 ms it was woken, but middle ran.'
	run 0 why --locks run.ptl
	out_lacks 'orders locks are taken is not known'
}

# Locks of C++ are taken in functions of its library that the compiler puts into their callers.
a_place_in_a_library_that_was_put_into_its_caller_is_the_callers()
{
	need c++
	need nm
	need addr2line
	cat >queue.cc <<-'END'
	#include <mutex>
	std::mutex gate;
	extern "C" long refill(long n)
	{
		std::lock_guard<std::mutex> guard(gate);
		return n + 1;
	}
	END
	c++ -g -O2 -shared -fPIC queue.cc -o libcache.so || fail 'no library'
	touch -d 2020-01-01 libcache.so
	first=$(nm libcache.so | awk '$3 == "refill" { print $1 }')
	# All places in it, whatever the compiler made.
	{
		image 10
		for offset in 5 9 13 17 21 25 29 33; do
			echo "$((1000 + offset)) low@$(at refill "$offset") mutex_lock 64 0 0"
		done
	} | traced run.ptl
	run 0 print --address --event 'posix_trace_mutex_lock' --format '{address}' run.ptl
	grep -v '^refill (queue.cc:[3-7])$' out >others && fail "in $first other places: $(cat others)"
	lines 8
}

variables_of_cplusplus_have_the_names_of_their_source()
{
	needs_variables
	need c++
	need nm
	need c++filt
	cat >queue.cc <<-'END'
	namespace app { long lock[8]; struct queue { static long changed[8]; }; long queue::changed[8]; }
	END
	c++ -g -O0 -shared -fPIC queue.cc -o libcache.so || fail 'no library'
	touch -d 2020-01-01 libcache.so
	{
		image 10
		cat <<-END
			1000 low mutex_lock $(at _ZN3app5queue7changedE 8) 0 0
			2000 high mutex_wait $(at _ZN3app5queue7changedE 8) 103
			3000 low mutex_unlock $(at _ZN3app5queue7changedE 8) 0
			3010 high mutex_lock $(at _ZN3app5queue7changedE 8) 1010 0
		END
	} | traced run.ptl
	explains 'high waited 1.01 ms for app::queue::changed+8, which low had.'
}

threads_of_one_name_are_told_with_their_numbers()
{
	traced run.ptl <<-END
		:thread 5 0x7f0000005000 105 high
		1000 low mutex_lock 64 0 0
		:event 1500000 9 5 0 u64:80 u32:101
		:event 1600000 10 5 0 u64:80 u32:100 i32:0
		:event 1700000 11 5 0 u64:80 i32:0
		2000 high mutex_wait 64 103
		7000 low mutex_unlock 64 0
		7010 high mutex_lock 64 5010 0
	END
	explains 'high/101 waited 5.01 ms for mutex 0x40, which low had.'
	out_has 'high/105, mutex 0x50'
}

# SHARK-36: an inherited priority is told as a call that has no end.
a_change_of_priority_is_no_call_that_blocks()
{
	traced run.ptl <<-END
		1000 high job_begin 1
		1100 high call_enter 33 102 5 0
		1977 high job_end 1
		5000 high job_begin 2
		5100 high call_enter 33 102 5 0
		14000 high job_end 2
	END
	run 0 why run.ptl
	out_lacks 'in priority'
	out_lacks 'was in '
}

"$case"
