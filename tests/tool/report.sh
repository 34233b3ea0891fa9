#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace report from outside; what its pages hold and show is tested in tests/report/.
. "$(dirname "$0")/common.sh"

whole_page() { tail -c 20 "$1" | grep -q '</html>' && head -c 15 "$1" | grep -q '<!DOCTYPE html>' || fail "$1 is no whole page"; }

report_writes_a_whole_page()
{
	make_story
	run 0 report run.ptl -o run.html
	[ ! -s out ] && [ ! -s err ] || fail 'it has something to say'
	whole_page run.html
	run 0 report -o - run.ptl
	same run.html
}

report_of_a_log_without_a_name_asks_where_to()
{
	make_story
	run 1 report -o run.html
	err_has 'which log?'
	[ ! -e run.html ] || fail 'a page of nothing'
	run 1 report - <run.ptl
	err_has 'where to? The log has no name: -o run.html'
}

report_without_a_name_for_the_page_puts_it_beside_the_log()
{
	make_story
	mkdir sub
	cp run.ptl sub/run.ptl
	run 0 report sub/run.ptl run.ptl
	[ "$(cat out)" = sub/run.html ] || fail 'its name is not told'
	whole_page sub/run.html
	# It may be made anew; but nothing else is replaced unless it is named.
	run 0 report sub/run.ptl
	echo 'a page of mine' >sub/run.html
	run 1 report sub/run.ptl
	err_has 'sub/run.html is there and is no page of pxtrace: -o sub/run.html replaces it'
	[ "$(cat sub/run.html)" = 'a page of mine' ] || fail 'it was replaced'
	run 0 report sub/run.ptl -o sub/run.html
	whole_page sub/run.html
	cp run.ptl log
	run 0 report log
	whole_page log.html
}

report_does_not_overwrite_the_log_it_reads()
{
	make_story
	cp run.ptl copy
	ln run.ptl other_name
	run 1 report run.ptl -o run.ptl
	err_has 'is the log itself'
	run 1 report run.ptl -o other_name
	cmp -s run.ptl copy || fail 'the log is another one'
}

report_leaves_no_half_page_behind()
{
	make_story
	seq 1 40000 | awk '{ print "event " 1000 * $1 " 36 1 0 hex:" $1 % 10 "7" }' | make long.ptl
	(
		ulimit -f 100
		trap '' XFSZ
		run 4 report long.ptl -o run.html
	) || exit 1
	err_has 'run.html was not written'
	[ ! -e run.html ] || fail 'a half page'
	[ ! -e /dev/full ] || run 4 report run.ptl -o /dev/full
}

report_of_a_log_that_cannot_be_read_is_refused()
{
	make_story
	echo 'this is no log at all' >text.ptl
	run 2 report text.ptl run.ptl -o run.html
	err_has 'text.ptl'
	[ ! -e run.html ] || fail 'a page'
	make half.ptl <<-END
		event 1000 32 1 0 u32:1
		unfinished
	END
	run 2 report half.ptl -o run.html
	err_has '--incomplete'
	run 0 report --incomplete half.ptl -o run.html
	whole_page run.html
	grep -q '"complete":false' run.html || fail 'the page does not know'
}

report_says_what_was_lost_and_what_is_not_on_the_page()
{
	make_lossy
	run 3 report --strict lossy.ptl -o run.html
	err_has '12 EVENTS LOST'
	run 0 report --max-events 2 lossy.ptl -o run.html
	err_has 'the first 2 of 4 events'
	run 1 report --max-events some lossy.ptl -o run.html
	err_has '--max-events wants a number'
	run 1 report --max-events 0 lossy.ptl -o run.html
}

report_takes_the_pairs_that_stat_takes()
{
	make_story
	run 2 report --pair nosuch,job_end run.ptl -o run.html
	err_has '--pair: no event type is called "nosuch"'
	whole_page run.html
	run 2 report --pair job_begin,job_end,nosuch run.ptl -o run.html
	err_has '--pair: no event has a field called "nosuch"'
	run 0 report --pair job_begin,mtx_unlock --any-thread run.ptl -o run.html
	grep -q '"begin":"job_begin","end":"mtx_unlock"' run.html || fail 'no such pair on the page'
}

report_takes_the_roles_of_a_file()
{
	make ask.ptl <<-END
		type 60 got u32 number
		type 61 done u32 number
		event 1000 60 1 0 u32:1
		event 9000 61 1 0 u32:1
	END
	printf 'job-start got span=ask\njob-end done span=ask\n' >roles
	run 0 report --roles roles ask.ptl -o ask.html
	grep -q '"span":"ask 1 of sensor"' ask.html || fail 'no span'
	printf 'job-start got span=ask key=nothing\n' >roles
	run 1 report --roles roles ask.ptl -o other.html
	err_has 'roles:1'
	[ ! -e other.html ] || fail 'a page'
	run 1 report --worst 17 ask.ptl -o other.html
	err_has '--worst'
}

report_explains_the_worst_spans_as_why_does()
{
	{
		printf 'type 60 sched_wakeup i32 tid\nevent 500 60 0 0 i32:4712\nevent 1000 32 1 0 u32:1\n'
		for i in $(seq 40); do
			printf 'event %d 34 1 0 u64:%d\nevent %d 35 1 0 u64:%d\n' "${i}2000" "$i" "${i}5000" "$i"
		done
		printf 'event 900000 33 1 0 u32:1 i64:0\n'
	} | make run.ptl
	run 0 report run.ptl -o run.html
	"$pxtrace" why --json run.ptl | sed 's/.*"late":\[{"answer":"\([^"]*\)".*/\1/' >answer
	grep -qF "\"answer\":\"$(cat answer)\"" run.html || fail 'another answer'
	# What finds no row of its own is one.
	grep -qE '"text":"[0-9]+ other causes"' run.html || fail 'the rest of the time is missing'
	grep -qF '"scheduler":{"deed":"wake","thread":0}' run.html || fail 'a wake-up is not known'
}

"$case"
