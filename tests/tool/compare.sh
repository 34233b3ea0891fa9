#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compare.sh - pxtrace compare: what differs between two sets of logs by more than noise, and what does not.
. "$(dirname "$0")/whylib.sh"

# spans NAME COUNT MICROSECONDS [WORST]: as many spans, one of 10 ms each; the last lasts WORST.
spans()
{
	awk -v name="$1" -v count="$2" -v us="$3" -v worst="${4:-$3}" 'BEGIN {
		for (i = 0; i < count; i++) {
			print i * 10000, name, name "_begin", i, (name == "high" ? 0 : "")
			print i * 10000 + (i == count - 1 ? worst : us), name, name "_end", i
		}
	}'
}

# set_of SIDE MICROSECONDS...: logs SIDE1.ptl and so on, of 20 spans "high" each, as long as that.
set_of()
{
	side=$1
	shift
	number=0
	for us; do
		number=$((number + 1))
		spans high 20 "$us" | story "$side$number.ptl"
	done
}
# Of runs of one version, which differ, too.
noisy_before() { set_of before 1000 1040 980 1010; }
compare() { wanted_status=$1; shift; run "$wanted_status" compare "$@" before?.ptl --with after?.ptl; }

# Of the name in JSON: an expression of Python in which "it" is its object.
holds()
{
	"${PXT_PYTHON:-python3}" -c "
import json
all = json.load(open('out'))
it = next(d for d in all['durations'] if d['name'] == '$1')
assert $2, it" 2>>err || fail "not: $2"
}

compare_finds_what_became_slower()
{
	noisy_before
	set_of after 1500 1470 1530 1490
	compare 0
	out_has 'More than noise: 3 slower, 0 faster, of 3 figures (logs: 4 before, 4 after).'
	grep -q '^  p99  *1.00 ms  *1.49 ms .* slower$' out || fail 'no line of the p99'
	compare 0 --json
	holds high "it['median']['verdict'] == 'slower' and it['median']['p'] <= 0.05"
	# All ratios of one log to another: 2 of 70 orders of the logs lie beyond them.
	holds high "abs(all['level'] - 68 / 70) < 1e-5 and abs(it['median']['low'] - 1470 / 1040) < 1e-5"
	holds high "1.41 < it['median']['low'] <= it['median']['ratio'] <= it['median']['high'] < 1.57"
}

compare_finds_what_became_faster()
{
	noisy_before
	set_of after 700 690 710 705
	compare 0 --fail-above 1%
	out_has 'More than noise: 0 slower, 3 faster'
}

noise_between_runs_gives_no_conclusion()
{
	noisy_before
	set_of after 1030 1050 990 1020
	compare 0 --fail-above 0%
	out_has 'No difference that is more than noise'
	out_lacks slower
}

# Forty names of pure noise: one of them would look like a difference by itself.
noise_of_many_names_gives_no_conclusion()
{
	for log in before1 before2 before3 before4 after1 after2 after3 after4; do
		awk -v seed="$log" 'BEGIN {
			n = substr(seed, length(seed)) + (seed ~ /after/ ? 4 : 0)
			for (k = 0; k < 40; k++)
				print "type", 40 + 2 * k, "n" k "_begin\ntype", 41 + 2 * k, "n" k "_end"
			print "thread 1 0x7f0000001000 101 high"
			for (k = 0; k < 40; k++) {
				us = 1000 + (n * 7919 + k * 104729 + n * k * 31) % 97
				print "event", k * 10000000, 40 + 2 * k, "1 0"
				print "event", k * 10000000 + us * 1000, 41 + 2 * k, "1 0"
			}
		}' | "$mklog" >$log.ptl || fail mklog
	done
	compare 0 --json
	"${PXT_PYTHON:-python3}" -c "
import json
all = json.load(open('out'))
assert all['noise'] == 120, all['noise']
alone = [d for d in all['durations'] if d['median']['low'] > 1 or d['median']['high'] < 1]
assert alone, 'by itself no interval leaves out 1: the test shows nothing'" 2>>err || fail 'not noise'
}

one_log_a_side_gives_no_interval()
{
	set_of before 1000
	set_of after 3000
	compare 0
	out_has '1 log before, 1 after: that gives no interval and no conclusion'
	out_has '+200.0 %'
	out_lacks slower
	compare 0 --json
	holds high "it['median'] == {'verdict': 'unjudged'}"
}

fail_above_has_a_status_of_its_own()
{
	noisy_before
	set_of after 1200 1210 1190 1205
	compare 6 --fail-above 10%
	compare 6 --fail-above 10
	out_has slower
	# At the low end of its interval it is 14 % slower.
	compare 0 --fail-above 18%
}

fail_above_refuses_logs_that_can_tell_nothing()
{
	set_of before 1000 1010 1020
	set_of after 3000 3010 3020
	compare 1 --fail-above 10%
	err_has '--fail-above wants more logs: of 3 before and 3 after nobody can tell a difference from noise'
	set_of after 3000 3010 3020 3030 3040
	compare 6 --fail-above 10%
}

fail_above_fails_where_nothing_can_be_judged()
{
	noisy_before
	for log in 1 2 3 4; do spans middle 20 1000 | story after$log.ptl; done
	compare 2 --fail-above 10%
	err_has 'nothing to judge: no name is in all logs'
}

compare_names_what_is_new_and_what_is_gone()
{
	for log in 1 2 3 4; do
		{ spans high 20 100$log; spans low 5 2000; } | sort -sn | story before$log.ptl
		{ spans high 20 100$log; spans middle 5 3000; } | sort -sn | story after$log.ptl
	done
	compare 0
	out_has 'new: span middle: 0 before, 20 after'
	out_has 'gone: span low: 20 before, 0 after'
	out_has 'No difference that is more than noise (figures: 3;'
	compare 0 --json
	holds middle "it['in'] == 'after' and it['after']['median_ns'] == 3000000"
	holds low "it['in'] == 'before' and it['after'] == {'logs': 0, 'count': 0}"
}

# One span of twenty is the worst, and the p99.
a_worst_case_that_grew_is_told_apart_from_the_median()
{
	for log in 1 2 3 4; do
		spans high 20 100$log 200$log | story before$log.ptl
		spans high 20 100$log 600$log | story after$log.ptl
	done
	compare 0 --json
	holds high "it['median']['verdict'] == 'noise' and it['worst']['verdict'] == 'slower'"
}

the_worst_of_more_spans_is_not_compared()
{
	for log in 1 2 3 4; do
		spans high 20 100$log 200$log | story before$log.ptl
		spans high 40 100$log 600$log | story after$log.ptl
	done
	compare 0
	out_has 'not judged'
	out_has 'No difference that is more than noise (figures: 1;'
}

# The loader puts the program elsewhere each time.
compare_knows_a_lock_at_another_address()
{
	needs_variables
	make_library
	BASE=0
	function=$(($(at look_up 1)))
	lock=$(($(at cache_lock)))
	for log in 1 2 3 4; do
		for side in before:20 after:900; do
			BASE=$((0x7f0000000000 + log * 0x100000))
			{
				image 0
				for at in 1000 11000 21000; do
					us=$((${side#*:} + log))
					echo "$at high@$((BASE + function)) mutex_wait $((BASE + lock)) 103"
					echo "$((at + us)) high@$((BASE + function)) mutex_lock $((BASE + lock)) $us 0"
					echo "$((at + us + 10)) high mutex_unlock $((BASE + lock)) 0"
				done
			} | traced "${side%:*}$log.ptl" || exit
		done
	done
	compare 0
	out_has 'waits for mutex cache_lock: 12 before, 12 after'
	out_has slower
}

# In the fourth log after, high waits longest.
a_wait_that_grew_says_who_had_the_lock()
{
	make_library
	for log in 1 2 3 4; do
		for side in before:20 after:900; do
			us=$((${side#*:} + log))
			traced "${side%:*}$log.ptl" <<-END || exit
				$(image 0)
				900 low@$(at refill 1) mutex_lock 64 0 0
				1000 high@$(at look_up 1) mutex_wait 64 103
				$((1000 + us)) low mutex_unlock 64 0
				$((1001 + us)) high@$(at look_up 1) mutex_lock 64 $us 0
				$((1002 + us)) high mutex_unlock 64 0
			END
		done
	done
	compare 0
	out_has 'waits for mutex first used in refill: 4 before, 4 after'
	out_has '  after, high waited 905 us while low had it, taken in refill (cache.c:4)'
	[ "$(grep -c 'had it' out)" = 1 ] || fail 'a holder of another wait'
	compare 0 --json
	holds 'mutex first used in refill' "it['longest'] == {'ns': 905000, 'thread': 'high', 'holder': 'low', 'place': 'refill (cache.c:4)'}"
}

# held SIDE MICROSECONDS [BEFORE]: 20 spans "high" of 1 ms and, of every fourth, a wait for what low had, inside of
# it or, with BEFORE, before it.
held()
{
	for log in 1 2 3 4; do
		awk -v us="$2" -v log_number="$log" -v before="${3:-}" 'BEGIN {
			for (i = 0; i < 20; i++) {
				at = i * 20000
				wait = us > 0 && i % 4 == 0 ? us + log_number : 0
				if (wait) print at - 100, "low lock_lock 7"
				if (!before) print at, "high high_begin", i, 0
				if (wait) {
					print at + 10, "high lock_wait 7"
					print at + 10 + wait, "low lock_unlock 7"
					print at + 11 + wait, "high lock_lock 7"
					print at + 12 + wait, "high lock_unlock 7"
				}
				if (before) print at + 20 + wait, "high high_begin", i, 0
				print at + 1000 + log_number + wait + (before && wait ? 2000 : 0), "high high_end", i
			}
		}' | awk '{ $1 += 1000; print }' | story "$1$log.ptl"
	done
}

what_became_slower_by_a_wait_says_for_what_and_who_had_it()
{
	held before 0
	held after 2000
	compare 0 --html page.html
	[ "$(sed -n 2p out)" = 'high p99 1.00 ms -> 3.00 ms: lock 7, held by low, 0 -> 2.00 ms' ] || fail 'another sentence'
	grep -q '^<p>high p99 1.00 ms -&gt; 3.00 ms: lock 7, held by low, 0 -&gt; 2.00 ms</p>$' page.html || fail 'not on the page'
	compare 0 --json
	holds high "it['cause'] == {'figure': 'p99', 'lock': 'lock 7', 'holder': 'low', 'place': None, 'before_ns': 0, 'after_ns': 2003000}"
}

a_wait_outside_of_what_became_slower_is_no_cause()
{
	held before 0
	held after 2000 before
	compare 0 --json
	holds high "it['p99']['verdict'] == 'slower' and 'cause' not in it"
}

a_wait_that_did_not_grow_is_no_cause()
{
	held before 2000
	held after 2000
	for log in 1 2 3 4; do spans high 20 500$log 700$log | story after$log.ptl; done
	compare 0 --json
	holds high "it['p99']['verdict'] == 'slower' and 'cause' not in it"
}

# A round a sleep of 10 ms; of every fifth a wait.
rounds_that_became_slower_by_a_wait_say_in_which_function_it_was_held()
{
	make_library
	for log in 1 2 3 4; do
		for side in before:0 after:3000; do
			{
				image 0
				awk -v us="${side#*:}" -v more="$log" -v refill="$(at refill 1)" -v look_up="$(at look_up 1)" 'BEGIN {
					for (i = 0; i < 20; i++) {
						print at + 10, "high call_enter 6 0 10"
						print at + 10010, "high call_exit 6 0 0 10000"
						at += 10010 + more
						if (!us || i % 5) { at += 200; continue }
						print at - 900, "low@" refill, "mutex_lock 64 0 0"
						print at, "high@" look_up, "mutex_wait 64 103"
						print at + us, "low mutex_unlock 64 0"
						print at + us + 1, "high@" look_up, "mutex_lock 64", us, 0
						print at + us + 2, "high mutex_unlock 64 0"
						at += us + 200
					}
				}'
			} | sort -sn | traced "${side%:*}$log.ptl" || exit
		done
	done
	compare 0
	grep -q '^high p99 2[0-9][0-9] us -> 3.2. ms: mutex first used in refill, held by low in refill (cache.c:4), 0 -> 3.00 ms$' out ||
		fail 'another sentence'
}

# Only the second wait shows that high is given what it never gives back.
a_wait_for_work_is_no_wait_for_a_lock()
{
	for log in 1 2 3 4; do
		for side in before after; do
			traced $side$log.ptl <<-END || exit
				1000 high call_enter 1 96 100
				2000 low call_exit 2 96 0 0
				2010 high call_exit 1 96 0 1010
				3000 high call_enter 1 96 100
				4000 low call_exit 2 96 0 0
				4010 high call_exit 1 96 0 1010
			END
		done
	done
	compare 0
	out_lacks semaphore
	lines 1
}

# Sleeps of 10 ms, and work between them.
compare_measures_rounds_where_no_log_has_spans()
{
	for log in 1 2 3 4; do
		for side in before:100 after:250; do
			awk -v us="${side#*:}" -v more="$log" 'BEGIN {
				for (i = 0; i < 20; i++) {
					print at + 0, "high call_enter 6 0 10"
					print at + 10000, "high call_exit 6 0 0 10000"
					at += 10000 + us + more
				}
			}' | traced "${side%:*}$log.ptl" || exit
		done
	done
	compare 0
	out_has 'rounds of high: 76 before, 76 after'
	grep -q '^  median  *102 us  *252 us .* slower$' out || fail 'no line of the median'
}

a_page_has_both_distributions_of_each_name_and_needs_nothing_else()
{
	for log in 1 2 3 4; do
		spans high 20 100$log | story before$log.ptl
		{ spans high 20 150$log; spans middle 5 3000; } | sort -sn | story after$log.ptl
	done
	compare 0 --html page.html
	out_has 'slower'
	grep -q '<h2>span high</h2>' page.html || fail 'no name'
	grep -q '<h2><b>new:</b> span middle</h2>' page.html || fail 'no name that is new'
	grep -q '<tr class="slower"><th>median</th><td>1.00 ms</td><td>1.50 ms</td><td>+49.9 %</td>' page.html || fail 'no figures'
	# Two curves of high, one of what is new; of each log a dot.
	[ "$(grep -c '<path class="b"' page.html) $(grep -c '<path class="a"' page.html)" = '1 2' ] || fail 'other curves'
	[ "$(grep -c '<circle class="a" .*r="3"' page.html)" -eq 8 ] || fail 'other dots'
	grep -Eq 'https?:|src=|href=|url\(|<script' page.html && fail 'it needs something else'
	compare 0 --html - --fail-above 90%
	cmp -s out page.html || fail 'another page on standard output'
	compare 1 --html - --json
}

a_page_shows_names_as_text()
{
	for log in 1 2 3 4; do
		for side in before after; do
			printf '%s\n' 'type 32 <b>&_begin' 'type 33 <b>&_end' 'thread 1 0x7f0000001000 101 high' \
				'event 1000 32 1 0' 'event 2000 33 1 0' | "$mklog" >$side$log.ptl || fail mklog
		done
	done
	compare 0 --html page.html
	grep -q '<h2>span &lt;b&gt;&amp;</h2>' page.html || fail 'a name is markup'
}

a_page_replaces_a_page_and_nothing_else()
{
	noisy_before
	set_of after 1000
	cp before1.ptl kept.ptl
	compare 1 --html before1.ptl
	err_has 'before1.ptl is one of the logs'
	cmp -s before1.ptl kept.ptl || fail 'the log is another one'
	echo mine >notes.html
	compare 1 --html notes.html
	err_has 'notes.html is there and is no page of pxtrace compare'
	[ "$(cat notes.html)" = mine ] || fail 'it was replaced'
	compare 0 --html page.html
	compare 0 --html page.html
	compare 4 --html nowhere/page.html
	run 2 compare before1.ptl --with none.ptl --html none.html
	[ ! -e none.html ] || fail 'a page of nothing'
}

a_log_counts_once()
{
	set_of before 1000
	set_of after 2000
	ln -s before1.ptl other.ptl
	run 2 compare before1.ptl other.ptl --with after1.ptl
	err_has 'other.ptl is the same log as before1.ptl'
	run 2 compare before1.ptl --with after1.ptl before1.ptl
}

compare_wants_logs_on_both_sides()
{
	set_of before 1000
	run 1 compare before1.ptl
	err_has 'which logs after: pxtrace compare BEFORE... --with AFTER...'
	run 1 compare --with before1.ptl
	err_has 'which logs before'
	run 1 compare before1.ptl --with before1.ptl --with before1.ptl
	err_has '--with stands once'
	run 1 compare before1.ptl --with before1.ptl --fail-above ten
	err_has '--fail-above wants a percentage, as 10%, not "ten"'
}

"$case"
